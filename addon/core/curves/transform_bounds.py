"""Objects over intervals of time: matrices at both ends, and bounds of the deviation of points in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from ..numeric.arrays import Floats, Ints, length
from .chords import Chords, curve_chords, successive_chords
from .rotation import rotation_matrices
from .rotation_bounds import rotation_bounds
from .transforms import (
    CHANNELS,
    DELTA_LOCATION,
    DELTA_SCALE,
    LOCATION,
    ROTATION,
    SCALE,
    Transforms,
)


class TransformChords(NamedTuple):
    """Motion of objects (m,) over intervals.

    A point at distance r from an object's origin, in its own space, deviates from the straight path between
    its places at both ends by at most `offset + linear * r`.

    Attributes
    ----------
    begin, end : (m, 4, 4) float64
        World matrices at the begin, and their limits at the end.
    offset, linear : (m,) float64
        In world space.
    arc : (m,) float64
        For objects that keep their size, and of which the object or one of its parents turns: how far a point
        at distance 1 from a center, in world space, deviates from a rotation about that center at a constant
        rate between both ends, along the shorter arc. Inf for other objects.
    """

    begin: Floats
    end: Floats
    offset: Floats
    linear: Floats
    arc: Floats


class _Level(NamedTuple):
    """Matrices (m, 4, 4) of objects without their parents, and bounds (m,) of what they do in between."""

    begin: Floats
    end: Floats
    offset: Floats
    linear: Floats
    arc: Floats
    largest_scale: Floats


_ChordsOf: TypeAlias = Callable[[Ints, Ints], Chords]
"""Function that returns the chords of curves (k,) over the intervals of rows (k,)."""


def transform_chords(transforms: Transforms, objects: Ints, begin: Floats, end: Floats) -> TransformChords:
    """Compute the motion of objects over intervals of time, with bounds of what happens in between.

    Conservative up to rounding of float64, for curves as `keyframes.Curves` has them.

    Parameters
    ----------
    transforms : Transforms
        All objects, parents included.
    objects : (m,) int64
        Indices of objects.
    begin, end : (m,) float64
        Times in frames, begin before end.

    Returns
    -------
    chords : TransformChords, (m,)
    """

    def chords_of(curves: Ints, rows: Ints) -> Chords:
        return curve_chords(transforms.curves, curves, begin[rows], end[rows])

    return _chords(transforms, objects, chords_of)


def successive_transform_chords(transforms: Transforms, objects: Ints, times: Floats) -> TransformChords:
    """Compute `transform_chords` of objects (m,) between successive times (t + 1,): t * m rows.

    Parameters
    ----------
    transforms : Transforms
        All objects, parents included.
    objects : (m,) int64
        Indices of objects.
    times : (t + 1,) float64
        Increasing, in frames.

    Returns
    -------
    chords : TransformChords, (t * m,)
        Those of all objects in the first interval, then in the second, and so on.
    """
    grid = successive_chords(transforms.curves, times)
    interval = np.repeat(np.arange(len(times) - 1), len(objects))

    def chords_of(curves: Ints, rows: Ints) -> Chords:
        cells = curves, interval[rows]
        return Chords(grid.begin[cells], grid.end[cells], grid.deviation[cells])

    return _chords(transforms, np.tile(objects, len(times) - 1), chords_of)


def _chords(transforms: Transforms, objects: Ints, chords_of: _ChordsOf) -> TransformChords:
    """Chords of objects (m,), each over the interval of its row."""
    first, last = (np.tile(np.eye(4), (len(objects), 1, 1)) for _ in range(2))
    # Of the path of a point at distance r: each bound is a constant and a factor of r.
    deviation, reach, path = (np.zeros((len(objects), 2)) for _ in range(3))
    reach[:, 1] = 1
    arc, has_turned = np.zeros(len(objects)), np.zeros(len(objects), dtype=bool)
    rows, current = np.arange(len(objects)), objects
    while len(rows):
        level = _level(transforms, current, rows, chords_of)
        change = level.end - level.begin
        turn = np.sqrt((change[:, :3, :3] ** 2).sum(axis=(1, 2)))
        scale = level.largest_scale
        deviation[rows] = (
            scale[:, None] * deviation[rows]
            + level.linear[:, None] * reach[rows]
            + turn[:, None] * path[rows] / 4
        )
        deviation[rows, 0] += level.offset
        path[rows] = scale[:, None] * path[rows] + turn[:, None] * reach[rows]
        reach[rows] *= scale[:, None]
        first[rows], last[rows] = level.begin @ first[rows], level.end @ last[rows]
        turns = (turn > 0) | (level.linear > 0)
        arc[rows] = np.where(turns, np.where(has_turned[rows], np.inf, level.arc), arc[rows])
        has_turned[rows] |= turns
        parent = transforms.parent[current]
        above = parent >= 0
        rows, current, parent = rows[above], current[above], parent[above]
        inverse = transforms.parent_inverse[current].astype(np.float64)
        norm = np.linalg.norm(inverse[:, :3, :3], 2, axis=(1, 2))[:, None] * (1 + 1e-12)
        deviation[rows], path[rows], reach[rows] = (norm * bound[rows] for bound in (deviation, path, reach))
        first[rows], last[rows] = inverse @ first[rows], inverse @ last[rows]
        # Of the object's origin, both are known. A sum of lengths would be much larger where a parent's
        # inverse matrix takes back the location of the object.
        places = first[rows, :3, 3], last[rows, :3, 3]
        reach[rows, 0] = np.maximum(*map(length, places)) * (1 + 1e-12)
        path[rows, 0] = length(places[1] - places[0]) * (1 + 1e-12)
        current = parent
    return TransformChords(first, last, deviation[:, 0], deviation[:, 1], arc)


def _level(transforms: Transforms, objects: Ints, rows: Ints, chords_of: _ChordsOf) -> _Level:
    """Objects (m,) over the intervals of rows (m,), without their parents."""
    rest = transforms.rest[objects].astype(np.float64)
    first, last, deviation = rest, rest.copy(), np.zeros((len(objects), CHANNELS))
    curve = transforms.curve_of[objects]
    row, channel = np.nonzero(curve >= 0)
    chords = chords_of(curve[row, channel], rows[row])
    first[row, channel], last[row, channel], deviation[row, channel] = chords
    turning = np.flatnonzero(transforms.turns[objects])
    modes, from_chord, from_arc = transforms.modes[objects[turning]], *np.zeros((2, len(objects)))
    both = first[turning, ROTATION], last[turning, ROTATION]
    from_chord[turning], from_arc[turning] = rotation_bounds(modes, *both, deviation[turning, ROTATION])
    scales = [np.abs(values[:, SCALE] * rest[:, DELTA_SCALE]) for values in (first, last)]
    scale_error = (deviation[:, SCALE] * np.abs(rest[:, DELTA_SCALE])).max(axis=1)
    largest = np.maximum(*(scale.max(axis=1) for scale in scales)) + scale_error
    # A product of two linear changes deviates from its chord by a quarter of the product of both changes.
    delta, rest_turns = (rotations[objects] for rotations in transforms.precise_rest_rotations)
    turns = [rest_turns, rest_turns.copy()]
    for rotation, values in zip(turns, both, strict=True):
        rotation[turning] = rotation_matrices(modes, values)
    scale_change = (np.abs(last - first)[:, SCALE] * np.abs(rest[:, DELTA_SCALE])).max(axis=1)
    turn = np.minimum(np.sqrt(((turns[1] - turns[0]) ** 2).sum(axis=(1, 2))), 2.0)
    linear = largest * from_chord + scale_error + turn * scale_change / 4
    matrices = []
    for values, rotation in ((first, turns[0]), (last, turns[1])):
        matrix = np.tile(np.eye(4), (len(objects), 1, 1))
        matrix[:, :3, :3] = delta @ rotation * (values[:, SCALE] * rest[:, DELTA_SCALE])[:, None, :]
        matrix[:, :3, 3] = values[:, LOCATION] + rest[:, DELTA_LOCATION]
        matrices.append(matrix)
    changes_size = (scale_change > 0) | (scale_error > 0)
    arc = np.where(changes_size, np.inf, from_arc)
    return _Level(matrices[0], matrices[1], length(deviation[:, LOCATION]), linear, arc, largest)
