"""Oriented boxes that move and turn, with each other and with spheres: directional advancement.

At a time at which a pair is apart there is an axis along which it is, with a gap. While the axis stands
still, how that gap changes is known exactly at both ends of any stretch of time, and within it a bound on its
second derivative says how far it may sag below the straight line between. So the pair is apart until that
lower bound crosses zero: the time advances to there, and a new axis is taken. The time reached is never late.
For motion without turning the bound is the gap itself, and a few steps end at the contact exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Floats, Ints
from .interpolation import Turn
from .separating_axes import BoxPair, batch_last, separating_axis
from .shapes import Aabb, Obb, Sphere
from .sweep_spheres import time_of_impact_sphere_sphere

EXACT, CONSERVATIVE, UNRESOLVED = 0, 1, 2

_CHUNK_PAIRS = 2048
_MAX_STEPS = 100
"""Steps after which a pair counts as unresolved. Ordinary pairs need three to eight; what needs more slides
along the other shape within rounding of a contact."""
_CONTACT = 4 * np.finfo(np.float64).eps
"""A gap of this much of the size of a pair, its distance included, is rounding: contact."""
_TRIALS = 3


def time_of_impact_obb_obb(
    a_start: Obb | Aabb, a_end: Obb | Aabb, b_start: Obb | Aabb, b_end: Obb | Aabb
) -> tuple[Floats, Ints]:
    """First time in [0, 1] at which the boxes touch, NaN for never, and how sure it is, (...) each.

    Centres and half extents change linearly, rotations at a constant rate the shorter way. EXACT up to
    float64 rounding where neither box turns; else CONSERVATIVE: never late, and early by no more than the
    time in which a gap of about 1e-15 of the pair's size closes. UNRESOLVED: not finished after many steps,
    possible contact from the time given.
    """
    boxes = [box.oriented() for box in (a_start, a_end, b_start, b_end)]
    batch = np.broadcast_shapes(*(box.shape for box in boxes))
    a0, a1, b0, b1 = (box.broadcast_to(batch).reshaped((-1,)) for box in boxes)
    times, status = np.full(a0.shape, np.nan), np.zeros(a0.shape, dtype=np.int64)
    for start in range(0, len(times), _CHUNK_PAIRS):
        rows = slice(start, start + _CHUNK_PAIRS)
        nothing = np.zeros_like(times[rows])
        times[rows], status[rows] = _advanced(a0[rows], a1[rows], b0[rows], b1[rows], nothing, nothing)
    return times.reshape(batch), status.reshape(batch)


def time_of_impact_sphere_obb(
    a_start: Sphere, a_end: Sphere, b_start: Obb, b_end: Obb
) -> tuple[Floats, Ints]:
    """As `time_of_impact_obb_obb`, for a sphere whose radius may change and a box."""
    batch = np.broadcast_shapes(*(shape.shape for shape in (a_start, a_end, b_start, b_end)))
    a0, a1 = (sphere.broadcast_to(batch).reshaped((-1,)) for sphere in (a_start, a_end))
    b0, b1 = (box.broadcast_to(batch).reshaped((-1,)) for box in (b_start, b_end))
    times, status = np.full(a0.shape, np.nan), np.zeros(a0.shape, dtype=np.int64)
    for start in range(0, len(times), _CHUNK_PAIRS):
        rows = slice(start, start + _CHUNK_PAIRS)
        # A sphere is a box without extent that is met a radius early; it does not matter how it turns.
        points = [
            Obb.trusted(s.center[rows], np.zeros_like(s.center[rows]), b0.rotation[rows]) for s in (a0, a1)
        ]
        times[rows], status[rows] = _advanced(
            points[0], points[1], b0[rows], b1[rows], a0.radius[rows], a1.radius[rows], is_sphere=True
        )
    return times.reshape(batch), status.reshape(batch)


class _Motion(NamedTuple):
    """Pairs in motion, batch last: the first box at the start is the origin, lengths are in units of a pair.

    offset, offset_change : (3, n) centre of the second seen from the first, in world directions
    half, half_change : (2, 3, n) half extents of both
    angle : (2, n) radians that they turn
    still, sideways, across : (2, 3, 3, n) parts of the rotations, see Turn
    radius, radius_change : (n,) of a sphere that stands for the first box
    """

    offset: Floats
    offset_change: Floats
    half: Floats
    half_change: Floats
    angle: Floats
    still: Floats
    sideways: Floats
    across: Floats
    radius: Floats
    radius_change: Floats

    def picked(self, rows: Ints) -> _Motion:
        return _Motion(*(field[..., rows] for field in self))

    def rotations(self, time: Floats) -> Floats:
        """(2, 3, 3, n) of both boxes."""
        turned = self.angle * time
        sine, cosine = np.sin(turned)[:, None, None], np.cos(turned)[:, None, None]
        result: Floats = self.still + sine * self.sideways + cosine * self.across
        return result


def _motion(a0: Obb, a1: Obb, b0: Obb, b1: Obb, r0: Floats, r1: Floats) -> _Motion:
    """The pairs of batches (n,)."""
    size = np.max([np.abs(box.center - a0.center).max(axis=-1) for box in (a1, b0, b1)], axis=0)
    size = np.max([size, *(box.half_extents.max(axis=-1) for box in (a0, a1, b0, b1)), r0, r1], axis=0)
    # A power of two, which scales without a rounding.
    scale = np.ldexp(1.0, np.frexp(np.where(size > 0, size, 1.0))[1])
    offset = batch_last(b0.center - a0.center) / scale
    end = batch_last(b1.center - a1.center) / scale
    half, half_end = (
        np.stack([batch_last(box.half_extents) / scale for box in pair]) for pair in ((a0, b0), (a1, b1))
    )
    turns = [Turn.between(a0.rotation, a1.rotation), Turn.between(b0.rotation, b1.rotation)]
    parts = [np.stack([batch_last(turn.parts[k]) for turn in turns]) for k in range(3)]
    angles = np.stack([turn.angle for turn in turns])
    change = end - offset, half_end - half
    return _Motion(
        offset,
        change[0],
        half,
        change[1],
        angles,
        parts[0],
        parts[1],
        parts[2],
        r0 / scale,
        (r1 - r0) / scale,
    )


def _advanced(
    a0: Obb, a1: Obb, b0: Obb, b1: Obb, r0: Floats, r1: Floats, is_sphere: bool = False
) -> tuple[Floats, Ints]:
    """Times and statuses of batches (n,)."""
    times, status = np.full(a0.shape, np.nan), np.full(a0.shape, EXACT, dtype=np.int64)
    # No box is met before the sphere around it, wherever it turns.
    balls = [_ball(a0, a1, r0, r1), _ball(b0, b1)]
    begin = time_of_impact_sphere_sphere(*balls[0], *balls[1])
    rows = np.flatnonzero(~np.isnan(begin))
    if not len(rows):
        return times, status
    motion = _motion(a0[rows], a1[rows], b0[rows], b1[rows], r0[rows], r1[rows])
    # The spheres' time carries a rounding too.
    time = np.maximum(begin[rows] - 1e-12, 0.0)
    trial = 1 - time
    for _ in range(_MAX_STEPS):
        gap, axis = _gap_and_axis(motion, time, is_sphere)
        touching = gap <= _CONTACT
        done = rows[touching]
        times[done] = time[touching]
        status[done] = np.where((motion.angle[:, touching] > 0).any(axis=0), CONSERVATIVE, EXACT)
        step, crosses = _safe_step(motion, time, axis, trial)
        time = np.where(crosses, time + step, time + trial)
        # What stays apart to the end never meets; exactly at the end, one more look decides.
        going_on = np.flatnonzero(~touching & (crosses | (time < 1)))
        # The next contact is expected about as far ahead as the last step was long; after none, look farther.
        trial = np.minimum(np.where(crosses, np.maximum(step, 1e-9), 4 * trial), 1 - time)[going_on]
        rows, time = rows[going_on], time[going_on]
        if not len(rows):
            return times, status
        motion = motion.picked(going_on)
    times[rows], status[rows] = time, UNRESOLVED
    return times, status


def _ball(start: Obb, end: Obb, r0: Floats | float = 0.0, r1: Floats | float = 0.0) -> tuple[Sphere, Sphere]:
    """Spheres around boxes (n,) however they turn, a little too large."""
    return tuple(  # type: ignore[return-value]
        Sphere.trusted(box.center, np.sqrt((box.half_extents**2).sum(axis=-1)) * (1 + 1e-12) + radius)
        for box, radius in ((start, r0), (end, r1))
    )


def _gap_and_axis(motion: _Motion, time: Floats, is_sphere: bool) -> tuple[Floats, Floats]:
    """The gap (n,) at `time` along the axis (3, n), in world directions, that shows most of it."""
    rotation = motion.rotations(time)
    offset = motion.offset + motion.offset_change * time
    half = np.maximum(motion.half + motion.half_change * time, 0)
    if is_sphere:
        # Seen from the box: the way from the closest point to the centre. None from inside.
        local = -(rotation[1] * offset[:, None]).sum(axis=0)
        outside = local - np.clip(local, -half[1], half[1])
        distance = np.sqrt((outside * outside).sum(axis=0))
        direction = np.divide(outside, distance, out=np.zeros_like(outside), where=distance > 0)
        axis = -(rotation[1] * direction).sum(axis=1)
        gap = distance - (motion.radius + motion.radius_change * time)
        return np.where(distance > 0, gap, -np.inf), axis
    local = (rotation[0] * offset[:, None]).sum(axis=0)
    turn = np.stack([(rotation[0][:, i, None] * rotation[1]).sum(axis=0) for i in range(3)])
    gap, seen = separating_axis(BoxPair(local, turn, half[0], half[1]))
    return gap, (rotation[0] * seen).sum(axis=1)


def _safe_step(motion: _Motion, time: Floats, axis: Floats, trial: Floats) -> tuple[Floats, np.ndarray]:
    """How far the time can go on before the gap along `axis` may close, within `trial`; (n,).

    Also whether it may close at all within `trial`. From g0 to g1 over a stretch D a function whose second
    derivative is at most M stays above the line between less M d (D - d) / 2, a parabola in d. Its root over
    the whole stretch gives a shorter stretch, over which the same bound is better, and so on.
    """
    # x(t) = n.axis_k(t) is P + S sin + C cos of the turned angle, exactly.
    along = axis[:, None]
    parts = [(along * part).sum(axis=1) for part in (motion.still, motion.sideways, motion.across)]
    swing = np.sqrt(parts[1] ** 2 + parts[2] ** 2)
    rate = motion.angle[:, None]
    largest = np.maximum(motion.half, motion.half + motion.half_change)
    bend = (rate * swing * (rate * largest + 2 * np.abs(motion.half_change))).sum(axis=(0, 1))
    near = (axis * motion.offset).sum(axis=0) - motion.radius
    speed = (axis * motion.offset_change).sum(axis=0) - motion.radius_change

    def gap_at(t: Floats) -> Floats:
        turned = rate * t
        x = parts[0] + np.sin(turned) * parts[1] + np.cos(turned) * parts[2]
        half = motion.half + motion.half_change * t
        gap: Floats = near + speed * t - (half * np.abs(x)).sum(axis=(0, 1))
        return gap

    start = np.maximum(gap_at(time), 0)
    stretch = trial
    best = np.zeros_like(time)
    crosses = np.ones(time.shape, dtype=bool)
    for index in range(_TRIALS):
        slope = (gap_at(time + stretch) - start) / np.where(stretch > 0, stretch, 1) - 0.5 * bend * stretch
        discriminant = slope * slope - 2 * bend * start
        has_root = (slope < 0) & (discriminant >= 0)
        root = np.where(
            has_root, 2 * start / (np.sqrt(np.maximum(discriminant, 0)) - np.minimum(slope, -1e-300)), np.inf
        )
        if index == 0:
            crosses = has_root & (root <= stretch)
        best = np.maximum(best, np.minimum(root, stretch))
        stretch = np.minimum(stretch, 2 * best)
    return best, crosses
