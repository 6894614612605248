"""Objects over intervals of time: matrices at both ends, and bounds of the deviation of points in between.

Also the times at which objects jump, because a curve of theirs goes from one value to another at once. By
these, `scene.motion.known_motion` bounds how far shapes of a scan are from linear motion between frames.

The distance of two rotations is the largest distance of the two images of a unit vector, at most 2. The chord
of a rotation is the straight path of each image; the arc is the rotation at a constant rate about one axis.
"""

from __future__ import annotations

import numpy as np

from ..numeric.arrays import Bools, Floats, Ints, Table, dot, length
from ..numeric.tolerances import CHAIN_ROUNDING
from .keyframes import CONSTANT, Chords
from .transforms import (
    AXIS_ANGLE,
    DELTA_LOCATION,
    DELTA_SCALE,
    LOCATION,
    QUATERNION,
    ROTATION,
    SCALE,
    Hierarchy,
    Transforms,
    rotation_matrices,
)

_LARGEST_TURN = 2.0
"""Distance of two rotations about one axis that differ by half a turn."""


class TransformChords(Table):
    """Motion of objects (m,) over intervals.

    A point at distance r from an object's origin, in its own space, deviates from the straight path between
    its places at both ends by at most `offset + linear * r`.

    begin, end : (m, 4, 4) float64. World matrices at the begin, and their limits at the end.
    offset, linear : (m,) float64. In world space.
    arc : (m,) float64. For objects that keep their size, and of which the object or one of its parents
        turns: how far a point at distance 1 from a center, in world space, deviates from a rotation about
        that center at a constant rate between both ends, along the shorter arc. Inf for other objects.
    """

    begin: Floats
    end: Floats
    offset: Floats
    linear: Floats
    arc: Floats


def only_moves(transforms: Transforms) -> Bools:
    """Return a mask (n,) of objects without parents that curves neither turn nor scale."""
    return (transforms.parent < 0) & ~transforms.changes_form


def location_deviations(transforms: Transforms, objects: Ints, begin: Floats, end: Floats) -> Floats:
    """Bound the deviation from linear motion of objects (m,) that only move, over intervals of time (m,).

    The same as `offset` of `transform_chords`, without the matrices, for objects of the mask `only_moves`.
    """
    curve = transforms.curve_of[objects[:, None], np.r_[LOCATION, DELTA_LOCATION]]
    row, channel = np.nonzero(curve >= 0)
    deviation = np.zeros(curve.shape)
    deviation[row, channel] = transforms.curves.chords(curve[row, channel], begin[row], end[row]).deviation
    return length(deviation[:, :3] + deviation[:, 3:])


def transform_chords(transforms: Transforms, objects: Ints, begin: Floats, end: Floats) -> TransformChords:
    """Compute the motion of objects (m,) over intervals (m,), with bounds of what happens in between.

    Conservative up to rounding of float64, for values as `Curves` has them. Intervals are in frames, and end
    later than they begin.
    """
    if (transforms.parent[objects] < 0).all():
        return _without_parents(transforms, objects, begin, end)[0]
    hierarchy, row, places = transforms.hierarchy_of(objects, np.arange(len(objects)))
    return hierarchy_chords(transforms, hierarchy, begin[row], end[row]).take(places)


def hierarchy_chords(
    transforms: Transforms, hierarchy: Hierarchy, begin: Floats, end: Floats
) -> TransformChords:
    """Compute `transform_chords` of a hierarchy (m,), from parents to children: of each object once.

    The interval of an object is that of its parent.
    """
    parents = hierarchy.parents
    level, turn, scale = _without_parents(transforms, hierarchy.objects, begin, end)
    if (parents < 0).all():
        return level
    generations = hierarchy.generations()[1:]
    matrices, norms, reaches, paths, all_turns = _carried(transforms, hierarchy, generations, level, turn)
    _, _, offset, linear, arc = level
    turns = (turn > 0) | (linear > 0)
    for rows in generations:
        # Of a point at distance r from the origin, each bound is a constant and a factor of r. A product of
        # two linear changes deviates from its chord by a quarter of the product of both changes.
        parent = parents[rows]
        size, bent, turned = scale[parent] * norms[rows], linear[parent], all_turns[parent] / 4
        deviation = (bent * reaches[rows] + turned * paths[rows]) * (1 + CHAIN_ROUNDING)
        offset[rows] = offset[parent] + (size * offset[rows] + deviation)
        linear[rows] = size * linear[rows] + norms[rows] * (bent * scale[rows] + turned * turn[rows])
        scale[rows] *= size
        arc[rows] = np.where(turns[parent], np.where(turns[rows], np.inf, arc[parent]), arc[rows])
        turns[rows] |= turns[parent]
    return level.replaced(begin=matrices[:, 0], end=matrices[:, 1])


def _carried(
    transforms: Transforms,
    hierarchy: Hierarchy,
    generations: list[Ints],
    level: TransformChords,
    turn: Floats,
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Carry objects (m,) by their parents, from generation to generation.

    turn : (m,) as of `_without_parents`
    Returns the world matrices (m, 2, 4, 4) at both ends; by how much longer the inverse of the parent makes a
    vector, at most; how far the origin is away in the space of the parent, and how far it moves there; and
    the norm of the change of the linear part in the world, (m,) each.
    """
    objects, parents = hierarchy
    children = np.flatnonzero(parents >= 0)
    both, norm, turn = np.stack([level.begin, level.end], axis=1), np.ones(len(objects)), turn.copy()
    inverses, norm[children] = (values[objects[children]] for values in transforms.precise_parent_inverse)
    both[children] = inverses[:, None] @ both[children]
    places = both[:, :, :3, 3]
    reach, path = _norms(places).max(axis=1), _norms(places[:, 1] - places[:, 0])
    for rows in generations:
        both[rows] = both[parents[rows]] @ both[rows]
    change = (both[:, 1] - both[:, 0])[children, :3, :3]
    turn[children] = np.sqrt((change**2).sum(axis=(1, 2))) * (1 + CHAIN_ROUNDING)
    return both, norm, reach, path, turn


def _norms(vectors: Floats) -> Floats:
    """Lengths (...) of vectors (..., 3) of single precision, whose squares neither overflow nor underflow."""
    return np.asarray(np.sqrt(dot(vectors, vectors)))


def _without_parents(
    transforms: Transforms, objects: Ints, begin: Floats, end: Floats
) -> tuple[TransformChords, Floats, Floats]:
    """Objects (m,) over their intervals (m,), without their parents.

    Returns also the norm of the change of the linear part, and the largest scale, (m,) each.
    """
    first = transforms.rest.astype(np.float64)[objects]
    channels, of_rows = Chords(first, first.copy(), np.zeros_like(first)), transforms.curve_of[objects]
    row, channel = np.nonzero(of_rows >= 0)
    if len(row):
        chords = transforms.curves.chords(of_rows[row, channel], begin[row], end[row])
        channels.assign((row, channel), chords)
    matrices = np.zeros((2, len(objects), 4, 4))
    matrices[:, :, :3, :3], matrices[:, :, 3, 3] = transforms.precise_rest[1][objects], 1
    for matrix, values in zip(matrices, (channels.begin, channels.end), strict=True):
        matrix[:, :3, 3] = values[:, LOCATION] + values[:, DELTA_LOCATION]
    offset = length(channels.deviation[:, LOCATION] + channels.deviation[:, DELTA_LOCATION])
    rest = transforms.rest.astype(np.float64)
    bounds = np.zeros((4, len(objects)))
    bounds[3] = np.abs(rest[:, SCALE] * rest[:, DELTA_SCALE]).max(axis=1)[objects]
    changing = np.flatnonzero(transforms.changes_form[objects])
    if len(changing):
        form = _form(transforms, objects[changing], channels.take(changing))
        matrices[:, changing, :3, :3], bounds[:, changing] = form
    linear, arc, turn, largest_scale = bounds
    return TransformChords(matrices[0], matrices[1], offset, linear, arc), turn, largest_scale


def _form(transforms: Transforms, objects: Ints, channels: Chords) -> tuple[Floats, Floats]:
    """Rotation and scale of objects (m,) with chords (m, CHANNELS), without their parents.

    Returns the linear parts (2, m, 3, 3) at both ends, and (4, m) linear and arc as of `TransformChords`,
    the norm of the change, and the largest scale.
    """
    angles, scale = (channels.take((slice(None), group)) for group in (ROTATION, SCALE))
    modes = transforms.modes[objects]
    rotations = np.stack([rotation_matrices(modes, values) for values in (angles.begin, angles.end)])
    from_chord, from_arc = rotation_bounds(modes, *angles)
    delta_scale = transforms.rest[:, DELTA_SCALE].astype(np.float64)[objects]
    scales = np.stack([scale.begin * delta_scale, scale.end * delta_scale])
    scale_error = (scale.deviation * np.abs(delta_scale)).max(axis=1)
    scale_change = np.abs(scales[1] - scales[0]).max(axis=1)
    largest = np.abs(scales).max(axis=(0, 2)) + scale_error
    # A product of two linear changes deviates from its chord by a quarter of the product of both changes.
    difference = np.minimum(np.sqrt(((rotations[1] - rotations[0]) ** 2).sum(axis=(1, 2))), 2.0)
    linear = largest * from_chord + scale_error + difference * scale_change / 4
    ends = transforms.precise_rest[0][objects] @ rotations * scales[:, :, None]
    arc = np.where((scale_change > 0) | (scale_error > 0), np.inf, from_arc)
    turn = np.sqrt(((ends[1] - ends[0]) ** 2).sum(axis=(1, 2)))
    return ends, np.stack([linear, arc, turn, largest])


def rotation_bounds(modes: Ints, begin: Floats, end: Floats, deviation: Floats) -> tuple[Floats, Floats]:
    """Bound the deviation of rotations from chord and arc over an interval.

    Conservative. If each angle followed its chord, a product of rotations would turn by at most the sum W of
    all changes of angles, and with it the path of a unit vector had a second derivative of at most W^2: so it
    deviates by at most W^2 / 8 from its chord. Deviations of the angles themselves are added.

    modes : (m,) int64. See `rotation_matrices`.
    begin, end : (m, 4) float64. Components at both ends.
    deviation : (m, 4) float64. Deviation of each component from its chord.
    Returns from_chord : (m,) float64. For points at distance 1: deviation from the straight paths between
        both ends.
    Returns from_arc : (m,) float64. From the rotation at a constant rate between both ends, along the
        shorter arc.
    """
    turn, error, is_single = np.zeros(len(modes)), np.zeros(len(modes)), np.zeros(len(modes), dtype=bool)
    change = np.abs(end - begin)
    rows = np.flatnonzero(modes < QUATERNION)
    turn[rows], error[rows] = change[rows, :3].sum(axis=1), deviation[rows, :3].sum(axis=1)
    is_single[rows] = ((change[rows, :3] > 0) | (deviation[rows, :3] > 0)).sum(axis=1) <= 1
    rows = np.flatnonzero(modes == QUATERNION)
    if len(rows):
        speed, wobble = _speed_on_sphere(begin[rows], end[rows], deviation[rows])
        # It turns by twice the angle of the quaternion, at a rate r that changes by at most r^2 / 2.
        turn[rows], error[rows] = np.sqrt(6) * speed, 2 * wobble
    rows = np.flatnonzero(modes == AXIS_ANGLE)
    if len(rows):
        speed, wobble = _speed_on_sphere(begin[rows, 1:], end[rows, 1:], deviation[rows, 1:])
        # Rotations by one angle about axes at a small angle d differ by at most 2 d. The second derivative
        # along the path of the axis is below 7 times the square of its speed.
        turn[rows], error[rows] = change[rows, 0] + 3 * speed, deviation[rows, 0] + 2 * wobble
        is_single[rows] = speed + wobble == 0
    from_chord = np.minimum(error + turn * turn / 8, _LARGEST_TURN)
    sagitta = np.minimum(turn * turn / 8, 1.0)
    # An angle that follows its chord about one axis turns at a constant rate: along the shorter arc only if
    # it turns by less than half a turn.
    from_arc = np.where(is_single & (turn < np.pi), error, from_chord + sagitta)
    return from_chord, np.minimum(from_arc, _LARGEST_TURN)


def _speed_on_sphere(begin: Floats, end: Floats, deviation: Floats) -> tuple[Floats, Floats]:
    """Bound the paths (m,) on the unit sphere of normalized vectors (m, k) that follow their chords.

    Returns the largest speed on the path, per interval, and the angles (m,) that deviations add; inf where
    the vectors may pass through 0.
    """
    change, error = np.linalg.norm(end - begin, axis=-1), np.linalg.norm(deviation, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.clip(-(begin * (end - begin)).sum(axis=-1) / (change * change), 0, 1)
        closest = begin + np.nan_to_num(part)[:, None] * (end - begin)
        nearest = np.linalg.norm(closest, axis=-1)
        speed, angle = change / nearest, np.pi / 2 * error / nearest
    is_safe, is_still = nearest > error, change + error == 0
    speed, angle = (np.where(is_safe, bound, np.inf) for bound in (speed, angle))
    return np.where(is_still, 0.0, speed), np.where(is_still, 0.0, angle)


SHORT = 2.0**-10
"""Frames before or after a time from which its limit is computed; any would do."""


class Jumps:
    """Jumps of objects (n,), those of their parents included.

    times : list of (j,) float64. Times of each object's jumps, increasing, in frames.
    """

    def __init__(self, transforms: Transforms) -> None:
        self._transforms, curves = transforms, transforms.curves
        segments = curves.segments
        # A segment that is constant ends with a jump if its end has another value.
        ends = np.flatnonzero((segments.kind == CONSTANT) & (segments.start[:, 1] != segments.end[:, 1]))
        curve_of = np.searchsorted(segments.first, ends, side="right") - 1
        by_curve: dict[int, list[float]] = {}
        for curve, time in zip(curve_of.tolist(), segments.end[ends, 0].tolist(), strict=True):
            by_curve.setdefault(curve, []).append(time)
        self.times: list[Floats] = []
        for row, parent in enumerate(transforms.parent.tolist()):
            inherited = [] if parent < 0 else self.times[parent].tolist()
            curves_of_row = transforms.curve_of[row].tolist() if by_curve else ()
            mine = (time for curve in curves_of_row for time in by_curve.get(curve, ()))
            self.times.append(np.unique([*inherited, *mine]))
        # Numbers of all jumps, by object and time, in order.
        self._times = np.unique(np.concatenate([[np.inf], *self.times]))
        owner = np.repeat(np.arange(len(self.times)), [len(times) for times in self.times])
        of_time = np.searchsorted(self._times, np.concatenate([np.empty(0), *self.times]))
        self._numbers = owner * len(self._times) + of_time

    def next_after(self, objects: Ints, begin: Floats) -> Floats:
        """First jump (m,) of each object after its time (m,); inf for none."""
        count = len(self._times)
        wanted = objects * count + np.searchsorted(self._times, begin, side="right")
        found = np.append(self._numbers, -1)[np.searchsorted(self._numbers, wanted)]
        is_same = found // count == objects
        return np.where(is_same, self._times[np.where(is_same, found % count, -1)], np.inf)

    def put_limits(self, matrices: Floats, objects: Ints, times: Floats, is_before: bool) -> None:
        """Replace world matrices (m, 4, 4) of objects (m,) at times (m,) by limits where jumps are near.

        Blender shows a key from a little before it on. Between a time before that and one after it, a jump at
        the key would be very fast linear motion.

        is_before : Whether limits are from earlier times, of jumps at these times, or from later ones, of
            jumps that follow at once.
        """
        since = times - SHORT if is_before else times
        rows = np.flatnonzero(self.next_after(objects, since) < times + SHORT)
        if not len(rows):
            return
        near, times = objects[rows], times[rows]
        if is_before:
            matrices[rows] = transform_chords(self._transforms, near, times - SHORT, times).end
        else:
            matrices[rows] = transform_chords(self._transforms, near, times, times + SHORT).begin
