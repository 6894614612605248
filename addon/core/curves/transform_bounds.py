"""Objects over intervals of time: matrices at both ends, and bounds of the deviation of points in between."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np

from ..numeric.arrays import Bools, Floats, Ints, dot, length
from ..numeric.tolerances import CHAIN_ROUNDING
from .chords import Chords
from .rotation import rotation_matrices
from .rotation_bounds import rotation_bounds
from .transforms import (
    DELTA_LOCATION,
    DELTA_SCALE,
    LOCATION,
    ROTATION,
    SCALE,
    Hierarchy,
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
    """Matrices (m, 4, 4) of objects without their parents, and bounds (m,) of what they do in between.

    turn : norm of the change of the linear part
    """

    begin: Floats
    end: Floats
    offset: Floats
    linear: Floats
    arc: Floats
    turn: Floats
    largest_scale: Floats


_ChordsOf: TypeAlias = Callable[[Ints, Ints], Chords]
"""Function that returns the chords of curves (k,) over the intervals of rows (k,)."""


def transform_chords(transforms: Transforms, objects: Ints, begin: Floats, end: Floats) -> TransformChords:
    """Compute the motion of objects over intervals of time, with bounds of what happens in between.

    Conservative up to rounding of float64, for values as `AnimatedValues` has them.

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
    return _chords(transforms, objects, _chords_between(transforms, begin, end))


def location_deviations(transforms: Transforms, objects: Ints, begin: Floats, end: Floats) -> Floats:
    """Bound the deviation from linear motion of objects that only move, over intervals of time.

    The same as `offset` of `transform_chords`, without the matrices.

    Parameters
    ----------
    transforms : Transforms
        All objects.
    objects : (m,) int64
        Indices of objects without parents that curves neither turn nor scale: see `only_moves`.
    begin, end : (m,) float64
        Times in frames, begin before end.

    Returns
    -------
    deviations : (m,) float64
        Conservative, in world space.
    """
    return _offsets(transforms, objects, np.arange(len(objects)), _chords_between(transforms, begin, end))


def only_moves(transforms: Transforms) -> Bools:
    """Return a mask (n,) of objects without parents that curves neither turn nor scale."""
    return (transforms.parent < 0) & ~transforms.changes_form


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
    chords_of = _successive_chords(transforms, len(objects), times)
    return _chords(transforms, np.tile(objects, len(times) - 1), chords_of)


def successive_location_deviations(transforms: Transforms, objects: Ints, times: Floats) -> Floats:
    """Compute `location_deviations` (t, m) of objects (m,) between successive times (t + 1,).

    Parameters
    ----------
    transforms : Transforms
        All objects.
    objects : (m,) int64
        Indices of objects that only move.
    times : (t + 1,) float64
        Increasing, in frames.

    Returns
    -------
    deviations : (t, m) float64
    """
    count = len(times) - 1
    chords_of = _successive_chords(transforms, len(objects), times)
    rows = np.arange(count * len(objects))
    return _offsets(transforms, np.tile(objects, count), rows, chords_of).reshape(count, -1)


def hierarchy_chords(
    transforms: Transforms, hierarchy: Hierarchy, begin: Floats, end: Floats
) -> TransformChords:
    """Compute the motion of objects over intervals of time, for hierarchies that are deep, as of bones.

    The bounds are as conservative as those of `transform_chords`. They are computed from parents to children,
    so that those of a parent are computed once for all its children.

    Parameters
    ----------
    transforms : Transforms
        All objects.
    hierarchy : Hierarchy, (m,)
        Objects whose motion is wanted, and their parents.
    begin, end : (m,) float64
        Times in frames, begin before end; those of an object and its parent are equal.

    Returns
    -------
    chords : TransformChords, (m,)
        `arc` is inf.
    """
    return _hierarchy_chords(transforms, hierarchy, _chords_between(transforms, begin, end))


def successive_hierarchy_chords(
    transforms: Transforms, hierarchy: Hierarchy, times: Floats
) -> TransformChords:
    """Compute `hierarchy_chords` between successive times (t + 1,), each in a t-th part of a hierarchy."""
    count = len(times) - 1
    chords_of = _successive_chords(transforms, len(hierarchy.objects) // count, times)
    return _hierarchy_chords(transforms, hierarchy, chords_of)


def _hierarchy_chords(transforms: Transforms, hierarchy: Hierarchy, chords_of: _ChordsOf) -> TransformChords:
    """Chords of objects (m,) of a hierarchy, each over the interval of its row."""
    objects, parents = hierarchy
    begin, end, offset, linear, _, turn, scale = _level(
        transforms, objects, np.arange(len(objects)), chords_of
    )
    generations = hierarchy.generations()[1:]
    children = np.flatnonzero(parents >= 0)
    inverses, norms = (values[objects[children]] for values in transforms.precise_parent_inverse)
    both = np.stack([begin, end], axis=1)
    both[children] = inverses[:, None] @ both[children]
    # Of each object's origin, in the space of its parent.
    places = both[:, :, :3, 3]
    reach, path = _norms(places).max(axis=1), _norms(places[:, 1] - places[:, 0])
    for rows in generations:
        both[rows] = both[parents[rows]] @ both[rows]
    change = (both[:, 1] - both[:, 0])[children, :3, :3]
    turn_alone, norm = turn.copy(), np.ones(len(objects))
    turn[children] = np.sqrt((change**2).sum(axis=(1, 2))) * (1 + CHAIN_ROUNDING)
    norm[children] = norms
    for rows in generations:
        # The same bound as in `_chords`: of a point at distance r, each is a constant and a factor of r.
        parent, factor = parents[rows], norm[rows]
        size, bent, turned = scale[parent] * factor, linear[parent], turn[parent] / 4
        deviation = size * offset[rows] + (bent * reach[rows] + turned * path[rows]) * (1 + CHAIN_ROUNDING)
        linear[rows] = size * linear[rows] + factor * (bent * scale[rows] + turned * turn_alone[rows])
        offset[rows] = offset[parent] + deviation
        scale[rows] *= size
    return TransformChords(both[:, 0], both[:, 1], offset, linear, np.full(len(objects), np.inf))


def _norms(vectors: Floats) -> Floats:
    """Lengths (...) of vectors (..., 3) of single precision, whose squares neither overflow nor underflow."""
    return np.asarray(np.sqrt(dot(vectors, vectors)))


def _chords_between(transforms: Transforms, begin: Floats, end: Floats) -> _ChordsOf:
    """Return a function that returns chords over intervals (m,), computed on demand."""

    def chords_of(curves: Ints, rows: Ints) -> Chords:
        return transforms.animated.chords(curves, begin[rows], end[rows])

    return chords_of


def _successive_chords(transforms: Transforms, count: int, times: Floats) -> _ChordsOf:
    """Return a function that returns chords between times (t + 1,), of `count` rows for each interval."""
    interval = np.repeat(np.arange(len(times) - 1), count)

    # Not computed where no object has a curve.
    @cache
    def grid() -> Chords:
        return transforms.animated.successive_chords(times)

    def chords_of(curves: Ints, rows: Ints) -> Chords:
        return grid().take((curves, interval[rows]))

    return chords_of


def _chords(transforms: Transforms, objects: Ints, chords_of: _ChordsOf) -> TransformChords:
    """Chords of objects (m,), each over the interval of its row."""
    level = _level(transforms, objects, np.arange(len(objects)), chords_of)
    first, last = level.begin, level.end
    # Of the path of a point at distance r: each bound is a constant and a factor of r.
    constant = np.zeros(len(objects))
    deviation, reach, path = (
        np.stack([part, factor], axis=1)
        for part, factor in (
            (level.offset, level.linear),
            (constant, level.largest_scale),
            (constant, level.turn),
        )
    )
    arc, has_turned = level.arc, (level.turn > 0) | (level.linear > 0)
    current, rows = objects, np.arange(len(objects))
    while True:
        parent = transforms.parent[current]
        above = parent >= 0
        rows, current, parent = rows[above], current[above], parent[above]
        if not len(rows):
            return TransformChords(first, last, deviation[:, 0], deviation[:, 1], arc)
        inverses, norms = transforms.precise_parent_inverse
        inverse, norm = inverses[current], norms[current, None]
        deviation[rows], path[rows], reach[rows] = (norm * bound[rows] for bound in (deviation, path, reach))
        first[rows], last[rows] = inverse @ first[rows], inverse @ last[rows]
        # Of the object's origin, both are known. A sum of lengths would be much larger where a parent's
        # inverse matrix takes back the location of the object.
        places = first[rows, :3, 3], last[rows, :3, 3]
        reach[rows, 0] = np.maximum(*map(length, places)) * (1 + CHAIN_ROUNDING)
        path[rows, 0] = length(places[1] - places[0]) * (1 + CHAIN_ROUNDING)
        current = parent
        level = _level(transforms, current, rows, chords_of)
        scale = level.largest_scale[:, None]
        deviation[rows] = (
            scale * deviation[rows]
            + level.linear[:, None] * reach[rows]
            + level.turn[:, None] * path[rows] / 4
        )
        deviation[rows, 0] += level.offset
        path[rows] = scale * path[rows] + level.turn[:, None] * reach[rows]
        reach[rows] *= scale
        first[rows], last[rows] = level.begin @ first[rows], level.end @ last[rows]
        turns = (level.turn > 0) | (level.linear > 0)
        arc[rows] = np.where(turns, np.where(has_turned[rows], np.inf, level.arc), arc[rows])
        has_turned[rows] |= turns


def _level(transforms: Transforms, objects: Ints, rows: Ints, chords_of: _ChordsOf) -> _Level:
    """Objects (m,) over the intervals of rows (m,), without their parents."""
    channels = _channels(transforms, objects, rows, chords_of)
    location, delta = (channels.take((slice(None), group)) for group in (LOCATION, DELTA_LOCATION))
    matrices = []
    for values, added in ((location.begin, delta.begin), (location.end, delta.end)):
        matrix = np.zeros((len(objects), 4, 4))
        matrix[:, :3, :3] = transforms.precise_rest_linear[objects]
        matrix[:, :3, 3], matrix[:, 3, 3] = values + added, 1
        matrices.append(matrix)
    rest = transforms.rest.astype(np.float64)
    largest = np.abs(rest[:, SCALE] * rest[:, DELTA_SCALE]).max(axis=1)[objects]
    linear, arc, turn = np.zeros((3, len(objects)))
    changing = np.flatnonzero(transforms.changes_form[objects])
    if len(changing):
        form = _form(transforms, objects[changing], channels.take(changing))
        for matrix, part in zip(matrices, (form.begin, form.end), strict=True):
            matrix[changing, :3, :3] = part
        linear[changing], arc[changing], turn[changing] = form.linear, form.arc, form.turn
        largest[changing] = form.largest_scale
    offset = length(location.deviation + delta.deviation)
    return _Level(matrices[0], matrices[1], offset, linear, arc, turn, largest)


def _offsets(transforms: Transforms, objects: Ints, rows: Ints, chords_of: _ChordsOf) -> Floats:
    """Deviation (m,) of the location of objects (m,) over the intervals of rows (m,)."""
    deviation = np.zeros((len(objects), 3))
    for group in (LOCATION, DELTA_LOCATION):
        curve = transforms.curve_of[:, group]
        if (curve >= 0).any():
            of_rows = curve[objects]
            row, channel = np.nonzero(of_rows >= 0)
            if len(row):
                deviation[row, channel] += chords_of(of_rows[row, channel], rows[row]).deviation
    return length(deviation)


class _Form(NamedTuple):
    """Linear parts (m, 3, 3) of objects without their parents, and bounds (m,) as `_Level` has them."""

    begin: Floats
    end: Floats
    linear: Floats
    arc: Floats
    turn: Floats
    largest_scale: Floats


def _form(transforms: Transforms, objects: Ints, channels: Chords) -> _Form:
    """Rotation and scale of objects (m,) with chords (m, CHANNELS), without their parents."""
    angles, scale = channels.take((slice(None), ROTATION)), channels.take((slice(None), SCALE))
    modes, turning = transforms.modes[objects], np.flatnonzero(transforms.turns[objects])
    from_chord, from_arc = np.zeros((2, len(objects)))
    from_chord[turning], from_arc[turning] = rotation_bounds(
        modes[turning], *(values[turning] for values in angles)
    )
    delta_scale = transforms.rest[:, DELTA_SCALE].astype(np.float64)[objects]
    delta, rest_turns = (rotations[objects] for rotations in transforms.precise_rest_rotations)
    turns, scales = [rest_turns, rest_turns.copy()], [scale.begin * delta_scale, scale.end * delta_scale]
    for rotation, values in zip(turns, (angles.begin, angles.end), strict=True):
        rotation[turning] = rotation_matrices(modes[turning], values[turning])
    scale_error = (scale.deviation * np.abs(delta_scale)).max(axis=1)
    scale_change = np.abs(scales[1] - scales[0]).max(axis=1)
    largest = np.maximum(*(np.abs(sizes).max(axis=1) for sizes in scales)) + scale_error
    # A product of two linear changes deviates from its chord by a quarter of the product of both changes.
    difference = np.minimum(np.sqrt(((turns[1] - turns[0]) ** 2).sum(axis=(1, 2))), 2.0)
    linear = largest * from_chord + scale_error + difference * scale_change / 4
    begin, end = (delta @ rotation * sizes[:, None, :] for rotation, sizes in zip(turns, scales, strict=True))
    turn = np.sqrt(((end - begin) ** 2).sum(axis=(1, 2)))
    arc = np.where((scale_change > 0) | (scale_error > 0), np.inf, from_arc)
    return _Form(begin, end, linear, arc, turn, largest)


def _channels(transforms: Transforms, objects: Ints, rows: Ints, chords_of: _ChordsOf) -> Chords:
    """Chords (m, CHANNELS) of objects (m,) over the intervals of rows (m,)."""
    first = transforms.rest.astype(np.float64)[objects]
    last, deviation, of_rows = first.copy(), np.zeros_like(first), transforms.curve_of[objects]
    row, channel = np.nonzero(of_rows >= 0)
    if len(row):
        first[row, channel], last[row, channel], deviation[row, channel] = chords_of(
            of_rows[row, channel], rows[row]
        )
    return Chords(first, last, deviation)
