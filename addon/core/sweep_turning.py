"""Oriented boxes that move and turn, with each other and with spheres: directional advancement.

At a time at which a pair is apart there is an axis along which it is, with a gap. The axis belongs to the
shapes, a face's normal or the crossing of two edges, and turns with them. How its gap changes is known
exactly at both ends of any stretch of time, and within it a bound on the second derivative says how far it
may sag below the straight line between. So the pair is apart until that lower bound crosses zero: the time
advances to there, and a new axis is taken. The time reached is never late. For motion without turning the
bound is the gap itself, and a few steps end at the contact exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Bools, Floats, Ints, cross, length
from .interpolation import Turn
from .separating_axes import BoxPair, batch_last, separating_axis
from .shapes import Aabb, Obb, Sphere
from .sweep_boxes import entry_within
from .sweep_spheres import time_of_impact_sphere_sphere, unit_of_size

EXACT, CONSERVATIVE, UNRESOLVED = 0, 1, 2

_CHUNK_PAIRS = 2048
_MAX_STEPS = 100
"""Steps after which a pair counts as unresolved. Ordinary pairs need two to eight; what needs more slides
along the other shape within rounding of a contact."""
_PARALLEL = 0.05
"""Edges whose crossing is shorter than this: it turns too fast to follow, and is kept as it is."""
_CONTACT = 4 * np.finfo(np.float64).eps
"""A gap of this much of the size of a pair, its distance included, is rounding: contact."""
_TRIALS = 2


def time_of_impact_obb_obb(
    a_start: Obb | Aabb, a_end: Obb | Aabb, b_start: Obb | Aabb, b_end: Obb | Aabb
) -> tuple[Floats, Ints]:
    """First time in [0, 1] at which the boxes touch, NaN for never, and how sure it is, (...) each.

    Centres and half extents change linearly, rotations at a constant rate the shorter way. EXACT up to
    float64 rounding where neither box turns; else CONSERVATIVE: never late, and early by no more than the
    time in which a gap of about 1e-15 of the pair's size closes. UNRESOLVED: not finished after many steps,
    possible contact from the time given.
    """
    batch = a_start.shape
    a0, a1, b0, b1 = (box.oriented().reshaped((-1,)) for box in (a_start, a_end, b_start, b_end))
    nothing = np.zeros(a0.shape)
    times, status = _advanced(a0, a1, b0, b1, nothing, nothing)
    return times.reshape(batch), status.reshape(batch)


def time_of_impact_sphere_obb(
    a_start: Sphere, a_end: Sphere, b_start: Obb, b_end: Obb
) -> tuple[Floats, Ints]:
    """As `time_of_impact_obb_obb`, for a sphere whose radius may change and a box.

    Boxes that keep their rotation are axis-aligned ones seen from themselves, and solved as such.
    """
    a0, a1, b0, b1 = (shape.reshaped((-1,)) for shape in (a_start, a_end, b_start, b_end))
    times, status = np.full(a0.shape, np.nan), np.full(a0.shape, EXACT, dtype=np.int64)
    turns = (b0.rotation != b1.rotation).any(axis=(-2, -1))
    rows = np.flatnonzero(~turns)
    if len(rows):
        start, end = (
            np.concatenate([side - box.half_extents for side in (seen, -seen)], axis=-1).T
            for seen, box in ((b0.to_local(a0.center), b0), (b1.to_local(a1.center), b1))
        )
        times[rows] = entry_within(start[:, rows], end[:, rows], a0.radius[rows], a1.radius[rows])
    rows = np.flatnonzero(turns)
    if len(rows):
        a0, a1, b0, b1 = a0[rows], a1[rows], b0[rows], b1[rows]
        # A sphere is a box without extent that is met a radius early; it does not matter how it turns.
        points = [Obb.trusted(s.center, np.zeros_like(s.center), b0.rotation) for s in (a0, a1)]
        times[rows], status[rows] = _advanced(*points, b0, b1, a0.radius, a1.radius, is_sphere=True)
    return times.reshape(a_start.shape), status.reshape(a_start.shape)


class _Motion(NamedTuple):
    """Pairs in motion, batch last, in units of their own size; axes 0 of both shapes where there is one.

    offset, offset_change : (3, n) centre of the second seen from the first, in world directions
    half, half_change : (2, 3, n) half extents
    angle : (2, n) radians that they turn
    spin : (2, 3, n) the same as vectors along the axes that they turn about, in world directions
    still, sideways, across : (2, 3, 3, n) parts of the rotations, see Turn
    radius, radius_change : (n,) of a sphere that stands for the first box
    """

    offset: Floats
    offset_change: Floats
    half: Floats
    half_change: Floats
    angle: Floats
    spin: Floats
    still: Floats
    sideways: Floats
    across: Floats
    radius: Floats
    radius_change: Floats

    def picked(self, rows: Ints) -> _Motion:
        """Some of the pairs."""
        return _Motion(*(np.take(field, rows, axis=-1) for field in self))

    def at(self, time: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Offset (3, n), half extents (2, 3, n), rotations (2, 3, 3, n) and radius (n,) at `time` (n,)."""
        rotation = self.still
        if self.turns:
            turned = self.angle * time
            sine, cosine = np.sin(turned)[:, None, None], np.cos(turned)[:, None, None]
            rotation = rotation + sine * self.sideways
            rotation += cosine * self.across
        half = np.maximum(self.half + self.half_change * time, 0)
        return (
            self.offset + self.offset_change * time,
            half,
            rotation,
            self.radius + self.radius_change * time,
        )

    @property
    def turns(self) -> bool:
        """Whether anything turns at all."""
        return bool(self.angle.any())

    @classmethod
    def of(cls, a0: Obb, a1: Obb, b0: Obb, b1: Obb, r0: Floats, r1: Floats) -> _Motion:
        """The pairs of batches (n,)."""
        start, end = batch_last(b0.center - a0.center), batch_last(b1.center - a1.center)
        size = np.maximum(np.abs(start), np.abs(end)).max(axis=0)
        size = np.max([size, *(box.half_extents.max(axis=-1) for box in (a0, a1, b0, b1)), r0, r1], axis=0)
        scale = unit_of_size(size)
        offset = start / scale
        change = end / scale - offset
        half, half_end = (
            np.stack([batch_last(box.half_extents) / scale for box in pair]) for pair in ((a0, b0), (a1, b1))
        )
        turns = [_turn(a0, a1), _turn(b0, b1)]
        angle = np.stack([turn.angle for turn in turns])
        spin = np.stack([batch_last(turn.axis) for turn in turns]) * angle[:, None]
        still, sideways, across = (np.stack([batch_last(turn.parts[k]) for turn in turns]) for k in range(3))
        return cls(
            offset,
            change,
            half,
            half_end - half,
            angle,
            spin,
            still,
            sideways,
            across,
            r0 / scale,
            (r1 - r0) / scale,
        )


def _turn(start: Obb, end: Obb) -> Turn:
    """The turn of a batch (n,); quickly where nothing does."""
    if np.array_equal(start.rotation, end.rotation):
        nothing = np.zeros_like(start.rotation)
        return Turn(start.center, np.zeros(start.shape), (start.rotation, nothing, nothing))
    return Turn.between(start.rotation, end.rotation)


def _advanced(
    a0: Obb, a1: Obb, b0: Obb, b1: Obb, r0: Floats, r1: Floats, is_sphere: bool = False
) -> tuple[Floats, Ints]:
    """Times and statuses of batches (n,)."""
    times, status = np.full(a0.shape, np.nan), np.full(a0.shape, EXACT, dtype=np.int64)
    # No box is met before the sphere around it, wherever it turns.
    begin = time_of_impact_sphere_sphere(*_balls(a0, a1, r0, r1), *_balls(b0, b1, 0.0, 0.0))
    near = np.flatnonzero(~np.isnan(begin))
    if not len(near):
        return times, status
    motion = _Motion.of(a0[near], a1[near], b0[near], b1[near], r0[near], r1[near])
    # The spheres' time carries a rounding too.
    time = np.maximum(begin[near] - 1e-12, 0.0)
    trial = 1 - time
    active = np.arange(len(near))
    for _ in range(_MAX_STEPS):
        going_on = []
        for start in range(0, len(active), _CHUNK_PAIRS):
            rows = active[start : start + _CHUNK_PAIRS]
            part = motion if len(rows) == len(near) else motion.picked(rows)
            now, stretch = time[rows], trial[rows]
            gap, axis = _gap_and_axis(part, now, is_sphere)
            touching = gap <= _CONTACT
            times[near[rows[touching]]] = now[touching]
            turning = (part.angle[:, touching] > 0).any(axis=0)
            status[near[rows[touching]]] = np.where(turning, CONSERVATIVE, EXACT)
            step, crosses = _safe_step(part, now, axis, stretch)
            later = np.where(crosses, now + step, now + stretch)
            # What stays apart to the end never meets; where it may touch at the end, one more look decides.
            rest = ~touching & (now < 1) & (crosses | (later < 1))
            time[rows] = now = later
            # The next contact is expected about as far ahead as the last step was long, or farther.
            trial[rows] = np.minimum(2 * np.where(crosses, np.maximum(step, 1e-9), stretch), 1 - now)
            going_on.append(rows[rest])
        active = np.concatenate(going_on)
        if not len(active):
            return times, status
    times[near[active]], status[near[active]] = time[active], UNRESOLVED
    return times, status


def _balls(start: Obb, end: Obb, r0: Floats | float, r1: Floats | float) -> tuple[Sphere, Sphere]:
    """Spheres around boxes (n,) however they turn, a little too large."""
    first, last = (
        Sphere.trusted(box.center, length(box.half_extents) * (1 + 1e-12) + radius)
        for box, radius in ((start, r0), (end, r1))
    )
    return first, last


class _Axis(NamedTuple):
    """A direction for each pair, in which the gap is looked at over a stretch of time.

    gap : (n,) along it at the time at which it was chosen
    world : (3, n) its direction at that time
    kind : (n,) FIXED: it is `fixed` (3, n) in world directions; OF_A or OF_B: `fixed` as seen from that box,
        turning with it; CROSSED: the crossing of the edge along axis i of the first box with the one along
        axis j of the second, times `sign`, of changing length
    """

    gap: Floats
    world: Floats
    kind: Ints
    fixed: Floats
    i: Ints
    j: Ints
    sign: Floats

    def at(self, rotation: Floats) -> Floats:
        """(3, n) the directions for rotations (2, 3, 3, n)."""
        result = self.fixed.copy()
        for kind, box in ((_OF_A, 0), (_OF_B, 1)):
            rows = np.flatnonzero(self.kind == kind)
            if len(rows):
                turned = (rotation[box][:, :, rows] * self.fixed[:, rows]).sum(axis=1)
                result[:, rows] = turned
        rows = np.flatnonzero(self.kind == _CROSSED)
        if len(rows):
            first, second = rotation[0][:, self.i[rows], rows], rotation[1][:, self.j[rows], rows]
            result[:, rows] = cross(first.T, second.T).T * self.sign[rows]
        return result


_FIXED, _OF_A, _OF_B, _CROSSED = range(4)


def _gap_and_axis(motion: _Motion, time: Floats, is_sphere: bool) -> tuple[Floats, _Axis]:
    """The gap (n,) at `time` along the axis that shows most of it, and that axis."""
    offset, half, rotation, radius = motion.at(time)
    count = len(time)
    nothing = np.zeros(count, dtype=np.int64)
    if is_sphere:
        # Seen from the box: the way from the centre to the closest point. None from inside.
        local = -(rotation[1] * offset[:, None]).sum(axis=0)
        outside = local - np.clip(local, -half[1], half[1])
        distance = np.sqrt((outside * outside).sum(axis=0))
        direction = np.divide(-outside, distance, out=np.zeros_like(outside), where=distance > 0)
        gap = np.where(distance > 0, distance - radius, -np.inf)
        world = (rotation[1] * direction).sum(axis=1)
        return gap, _Axis(gap, world, np.full(count, _OF_B), direction, nothing, nothing, np.ones(count))
    local = (rotation[0] * offset[:, None]).sum(axis=0)
    turn = np.empty((3, 3, count))
    for i in range(3):
        turn[i] = (rotation[0][:, i, None] * rotation[1]).sum(axis=0)
    gap, seen, best = separating_axis(BoxPair(local, turn, half[0], half[1]))
    if not motion.turns:
        axis = (rotation[0] * seen).sum(axis=1)
        return gap, _Axis(gap, axis, np.full(count, _FIXED), axis, nothing, nothing, np.ones(count))
    # A face's normal is seen best from its own box, and a crossing as what it is.
    kind = np.where(best < 3, _OF_A, np.where(best < 6, _OF_B, _CROSSED))
    first, second = np.divmod(np.maximum(best - 6, 0), 3)
    every = np.arange(count)
    axis = (rotation[0] * seen).sum(axis=1)
    crossing = cross(rotation[0][:, first, every].T, rotation[1][:, second, every].T).T
    along = (crossing * axis).sum(axis=0)
    kind[(kind == _CROSSED) & (np.abs(along) < _PARALLEL)] = _FIXED
    fixed = np.where(kind == _OF_A, seen, axis)
    of_b = np.flatnonzero(kind == _OF_B)
    fixed[:, of_b] = (turn[:, :, of_b] * seen[:, None, of_b]).sum(axis=0)
    scaled = np.where(kind == _CROSSED, gap * np.abs(along), gap)
    return gap, _Axis(scaled, axis, kind, fixed, first, second, np.where(along < 0, -1.0, 1.0))


def _safe_step(motion: _Motion, time: Floats, axis: _Axis, trial: Floats) -> tuple[Floats, Bools]:
    """How far the time can go on before the gap along `axis` may close, within `trial`; (n,).

    Also whether it may close at all within `trial`. From g0 to g1 over a stretch D a function whose second
    derivative is at most M stays above the line between less M d (D - d) / 2, a parabola in d. Its root over
    the whole stretch gives a shorter stretch, over which the same bound is better, and so on.
    """
    bend = _bend(motion, axis, trial) if motion.turns else np.zeros_like(time)

    def gap_at(t: Floats) -> Floats:
        offset, half, rotation, radius = motion.at(t)
        n = axis.at(rotation)
        gap = (n * offset).sum(axis=0) - radius
        for box in range(2):
            gap -= (half[box] * np.abs((n[:, None] * rotation[box]).sum(axis=0))).sum(axis=0)
        return np.asarray(gap)

    start = np.maximum(axis.gap, 0)
    stretch, best = trial, np.zeros_like(time)
    crosses = np.ones(time.shape, dtype=bool)
    for index in range(_TRIALS if motion.turns else 1):
        end = gap_at(time + stretch)
        slope = (end - start) / np.where(stretch > 0, stretch, 1) - 0.5 * bend * stretch
        discriminant = slope * slope - 2 * bend * start
        has_root = (slope < 0) & (discriminant >= 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.where(has_root, 2 * start / (np.sqrt(discriminant) - slope), np.inf)
        if index == 0:
            # What ends within rounding of a contact may have one.
            crosses = (root <= stretch) | (end <= 2 * _CONTACT)
        best = np.maximum(best, np.minimum(root, stretch))
        stretch = np.minimum(stretch, 2 * best)
    return best, crosses


def _bend(motion: _Motion, axis: _Axis, trial: Floats) -> Floats:
    """(n,) what the second derivative of the gap along `axis` is at most, over the time `trial` from now.

    A vector n that turns at the angular velocity c changes at |c x n|, and that changes at up to |c| |c x n|.
    Its dot product with a unit vector that turns at w is what it would be if n stood still and the other
    turned at W = w - c, where W turns with -c: it changes at up to |W x n|, and bends by up to
    |c x w| + |W| |W x n|. So what spins about the axis that separates it does not bend the gap. Times a
    length that changes at rate k, the product bends by 2 k times the change more.
    """
    crossed = axis.kind == _CROSSED
    own = np.where(axis.kind == _OF_A, motion.spin[0], np.where(axis.kind == _OF_B, motion.spin[1], 0.0))
    # A crossing turns with both boxes.
    both = motion.angle.sum(axis=0)
    rate = np.where(crossed, both, _crossing(own, axis.world))
    offset = np.maximum(np.abs(motion.offset), np.abs(motion.offset + motion.offset_change))
    bend: Floats = rate * (
        np.where(crossed, both, _size(own)) * _size(offset) + 2 * _size(motion.offset_change)
    )
    largest = np.maximum(motion.half, motion.half + motion.half_change).sum(axis=1)
    change = np.abs(motion.half_change).sum(axis=1)
    for box, spin in enumerate(motion.spin):
        # Seen from one of its two boxes a crossing is the crossing of a fixed direction with a turning one.
        carrier = np.where(crossed, motion.spin[1 - box], own)
        relative = spin - carrier
        speed = _size(relative)
        first = np.where(
            crossed, speed, np.minimum(speed, _crossing(relative, axis.world) + speed * rate * trial)
        )
        bend += (_crossing(carrier, spin) + speed * first) * largest[box] + 2 * first * change[box]
    return bend


def _size(vectors: Floats) -> Floats:
    """(n,) lengths of vectors (3, n) of ordinary size."""
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=0)))


def _crossing(a: Floats, b: Floats) -> Floats:
    """(n,) lengths of the cross products of vectors (3, n) of ordinary size."""
    return _size(cross(a.T, b.T).T)
