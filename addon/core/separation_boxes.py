"""Two boxes at rest, axis-aligned or oriented. Exact up to float64 rounding of the coordinates.

Boxes with one centre are parted along the first axis that serves, the second box towards its positive side.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from .arrays import Bools, Floats, Ints, dot, transform_vectors, unit
from .separating_axes import PARALLEL, AxisGaps, BoxPair, separating_axis
from .separation_spheres import signed_distance
from .shapes import Aabb, Obb
from .witness import WitnessPoints

_CHUNK_PAIRS = 2048
"""Pairs worked on at a time, which have to stay in the cache."""
_CHUNK_WITNESSES = 512
"""The same where each pair takes 160 pairs of points."""
_ROUNDING = 2e-14
"""Offsets that differ by less than this much of the size are the same, seen rounded."""
_SAME_GAP = 1e-13
"""Of the size of a pair: gaps that differ by less may be the same, seen rounded."""
_CORNERS = np.array(list(product((-1.0, 1.0), repeat=3))).T
_SIDES = np.array(list(product((-1.0, 1.0), repeat=2))).T


def separation_aabb_aabb(a: Aabb, b: Aabb) -> Floats:
    """The Euclidean gap when apart; when overlapping, minus the overlap on the shallowest axis."""
    return signed_distance(aabb_gaps(a, b))


def overlaps_aabb_aabb(a: Aabb, b: Aabb) -> Bools:
    """By comparisons alone: exact."""
    return np.asarray(((a.min <= b.max) & (b.min <= a.max)).all(axis=-1))


def aabb_gaps(a: Aabb, b: Aabb) -> Floats:
    """(..., 3) signed gap on each axis; negative is the shortest way out along that axis."""
    return np.maximum(a.min - b.max, b.min - a.max)


def witness_points_aabb_aabb(a: Aabb, b: Aabb) -> WitnessPoints:
    """Apart: the closest points. Overlapping: on the two faces of the shallowest axis.

    Where faces or edges lie side by side, the points are in the middle of what they share.
    """
    gaps = aabb_gaps(a, b)
    b_is_above = b.min - a.max >= a.min - b.max
    shared = np.maximum(a.min, b.min) * 0.5 + np.minimum(a.max, b.max) * 0.5
    facing_a, facing_b = np.where(b_is_above, a.max, a.min), np.where(b_is_above, b.min, b.max)
    deepest = gaps.max(axis=-1, keepdims=True)
    on_shallowest = np.arange(3) == gaps.argmax(axis=-1)[..., None]
    at_faces = np.where(deepest > 0, gaps > 0, on_shallowest)
    on_a, on_b = np.where(at_faces, facing_a, shared), np.where(at_faces, facing_b, shared)
    along_axis = np.where(on_shallowest, np.where(b_is_above, 1.0, -1.0), 0.0)
    return WitnessPoints(on_a, on_b, np.where(deepest > 0, unit(on_b - on_a), along_axis))


def separation_obb_obb(a: Obb | Aabb, b: Obb | Aabb) -> Floats:
    """The Euclidean gap when apart; when overlapping, minus the depth along the best separating axis."""
    first, second, batch = _flat(a, b)
    parts = [np.empty(0)]
    for chunk in _chunks(len(first.center), _CHUNK_PAIRS):
        pair, scale = _scaled(first[chunk], second[chunk])
        gaps = AxisGaps.of(pair)
        gap = gaps.largest
        apart = np.flatnonzero(gap > 0)
        if len(apart):
            # The gap along an axis is never more than the distance, rounding aside.
            distance = np.sqrt(_squared(_closest_offset(pair, gaps, gap, apart)))
            gap[apart] = np.maximum(gap[apart], distance)
        parts.append(gap * scale)
    result: Floats = np.concatenate(parts).reshape(batch)
    return result


def separation_and_axis(a: Obb, b: Obb) -> tuple[Floats, Floats]:
    """As `separation_obb_obb`, and the direction in which it shows: (..., 3) unit vectors to the second box.

    Of boxes that hardly are apart, it is the axis that parts them.
    """
    first, second, batch = _flat(a, b)
    separations, axes = np.empty(len(first.center)), np.empty((len(first.center), 3))
    for chunk in _chunks(len(separations), _CHUNK_PAIRS):
        pair, scale = _scaled(first[chunk], second[chunk])
        gaps = AxisGaps.of(pair)
        gap, axis, _ = gaps.best(pair)
        apart = np.flatnonzero(gap > 0)
        if len(apart):
            offset = _closest_offset(pair, gaps, gap, apart)
            distance = np.sqrt(_squared(offset))
            far = np.flatnonzero(distance > _ROUNDING)
            axis[:, apart[far]] = offset[:, far] / distance[far]
            gap[apart] = np.maximum(gap[apart], distance)
        separations[chunk] = gap * scale
        axes[chunk] = transform_vectors(first.rotation[chunk], axis.T)
    return separations.reshape(batch), axes.reshape(*batch, 3)


def _closest_offset(pair: BoxPair, gaps: AxisGaps, gap: Floats, apart: Ints) -> Floats:
    """(3, m) from the closest point of the first box to that of the second, of the pairs `apart` (m,).

    gap : (n,) their largest gaps along an axis

    Closest is a corner to a box, or an edge to an edge with both points inside. Those are as far apart as the
    gap along their crossing says, which then is the largest: only edges with such a gap are looked at.
    """
    some = pair.picked(apart)
    offsets = np.concatenate([on_b - on_a for on_a, on_b in _close_to_corners(some)], axis=1)
    squared = _squared(offsets)
    closest = squared.argmin(axis=0)
    every = np.arange(len(apart))
    offset, squared = offsets[:, closest, every], squared[closest, every]
    edges, norm, gap = gaps.edges[..., apart], gaps.norm[..., apart], gap[apart]
    # The direction of a short crossing is known less well, and so is the gap along it.
    with np.errstate(divide="ignore"):
        is_largest = edges >= gap - _SAME_GAP * (1 + 0.01 / norm)
    i, j, rows = np.nonzero(is_largest & (np.sqrt(squared) > gap))
    if len(rows):
        # With those two axes first, they all are the same edges.
        on_a, on_b = _close_on_edges(_turned_to(some, i, j, rows), 0, 0)
        offsets = on_b - on_a
        of_edges = _squared(offsets)
        closest = of_edges.argmin(axis=0)
        every = np.arange(len(rows))
        offsets, of_edges = offsets[:, closest, every], of_edges[closest, every]
        # The closest edges of each pair, and the axes in their own order again.
        order = np.lexsort((of_edges, rows))
        order = order[np.diff(rows[order], prepend=-1) != 0]
        order = order[of_edges[order] < squared[rows[order]]]
        for k in range(3):
            offset[(i[order] + k) % 3, rows[order]] = offsets[k, order]
    return offset


def _turned_to(pair: BoxPair, i: Ints, j: Ints, rows: Ints) -> BoxPair:
    """Some `rows` (m,) of pairs; axis i (m,) of the first box, and j (m,) of the second, become the first."""
    of_a, of_b = (np.arange(3)[:, None] + first for first in (i, j))
    of_a, of_b = of_a % 3, of_b % 3
    return BoxPair(
        pair.offset[of_a, rows],
        pair.turn[of_a[:, None], of_b[None], rows],
        pair.half_a[of_a, rows],
        pair.half_b[of_b, rows],
    )


def axis_gap_obb_obb(a: Obb, b: Obb) -> Floats:
    """The largest gap along a separating axis, (...): the separation of boxes that overlap.

    Of boxes that are apart it is at most that: what is quick to know about how far.
    """
    first, second, batch = _flat(a, b)
    parts = [np.empty(0)]
    for chunk in _chunks(len(first.center), _CHUNK_PAIRS):
        pair, scale = _scaled(first[chunk], second[chunk])
        parts.append(AxisGaps.of(pair).largest * scale)
    result: Floats = np.concatenate(parts).reshape(batch)
    return result


def axis_gap_and_axis(a: Obb, b: Obb) -> tuple[Floats, Floats]:
    """As `axis_gap_obb_obb`, and the axis as unit vectors (..., 3) from the first box to the second."""
    first, second, batch = _flat(a, b)
    gaps, axes = np.empty(len(first.center)), np.empty((len(first.center), 3))
    for chunk in _chunks(len(gaps), _CHUNK_PAIRS):
        pair, scale = _scaled(first[chunk], second[chunk])
        gap, axis, _ = separating_axis(pair)
        gaps[chunk] = gap * scale
        axes[chunk] = transform_vectors(first.rotation[chunk], axis.T)
    return gaps.reshape(batch), axes.reshape(*batch, 3)


def gap_along(axis: Floats, a: Obb, b: Obb) -> Floats:
    """The gap (...) along unit vectors (..., 3) to the second box: the separation, or less."""
    gap = dot(axis, b.center - a.center)
    for box in (a, b):
        gap -= dot(np.abs((axis[..., None] * box.rotation).sum(axis=-2)), box.half_extents)
    return gap


def overlaps_obb_obb(a: Obb | Aabb, b: Obb | Aabb) -> Bools:
    """By the separating axes alone, (...). A gap within rounding of the size counts as touching."""
    first, second, batch = _flat(a, b)
    parts = [np.empty(0, dtype=bool)]
    for chunk in _chunks(len(first.center), _CHUNK_PAIRS):
        gap = AxisGaps.of(_scaled(first[chunk], second[chunk])[0]).largest
        parts.append(gap <= 4 * np.finfo(np.float64).eps)
    result: Bools = np.concatenate(parts).reshape(batch)
    return result


def witness_points_obb_obb(a: Obb | Aabb, b: Obb | Aabb) -> WitnessPoints:
    """Apart: the closest points. Overlapping: where the boxes touch once moved apart by the shortest move.

    Where faces or edges lie side by side, the points are somewhere inside of what they share.
    """
    first, second, batch = _flat(a, b)
    on_a, on_b, normals = (np.empty((len(first.center), 3)) for _ in range(3))
    for chunk in _chunks(len(first.center), _CHUNK_WITNESSES):
        pair, scale = _scaled(first[chunk], second[chunk])
        gap, axis, _ = separating_axis(pair)
        depth = axis * np.minimum(gap, 0)
        close = zip(*_close_points(pair._replace(offset=pair.offset - depth)), strict=True)
        points_a, points_b = (np.concatenate(points, axis=1) for points in close)
        offsets = points_b - points_a
        # The shortest offset between two convex shapes is one only, whichever points show it. Where any have
        # it along the axis, that is the better known direction: points that are close together, or whose
        # distance is the same but for rounding, may slant.
        shortest = axis * np.maximum(gap, 0)
        away = _squared(offsets - shortest[:, None])
        slanted = np.flatnonzero((gap > 0) & (away.min(axis=0) > _ROUNDING**2))
        if len(slanted):
            others = offsets[..., slanted]
            closest = np.take_along_axis(others, _squared(others).argmin(axis=0)[None, None], axis=1)
            away[:, slanted] = _squared(others - closest)
            axis[:, slanted] = unit(closest[:, 0].T).T
        # In the middle of all that show it.
        weight = (away <= np.maximum(away.min(axis=0), _ROUNDING**2)).astype(np.float64)
        middle_a = np.einsum("ik...,k...->i...", points_a, weight) / weight.sum(axis=0)
        middle_b = np.einsum("ik...,k...->i...", points_b, weight) / weight.sum(axis=0) + depth
        box = first[chunk]
        on_a[chunk] = box.to_world(scale[:, None] * middle_a.T)
        on_b[chunk] = box.to_world(scale[:, None] * middle_b.T)
        normals[chunk] = transform_vectors(box.rotation, axis.T)
    return WitnessPoints(on_a.reshape(*batch, 3), on_b.reshape(*batch, 3), unit(normals).reshape(*batch, 3))


def _flat(a: Obb | Aabb, b: Obb | Aabb) -> tuple[Obb, Obb, tuple[int, ...]]:
    """Both as oriented boxes in one flat batch, and the batch that they came in."""
    first, second = a.oriented(), b.oriented()
    batch = np.broadcast_shapes(first.shape, second.shape)
    return first.broadcast_to(batch).reshaped((-1,)), second.broadcast_to(batch).reshaped((-1,)), batch


def _chunks(count: int, size: int) -> Iterator[slice]:
    for start in range(0, count, size):
        yield slice(start, start + size)


def _scaled(a: Obb, b: Obb) -> tuple[BoxPair, Floats]:
    """Pairs in units of their own size, so that no square over- or underflows, and the unit (n,)."""
    pair = BoxPair.of(a, b)
    largest = np.maximum(np.abs(pair.offset).max(axis=0), np.maximum(pair.half_a, pair.half_b).max(axis=0))
    # A power of two, which scales without a rounding.
    scale = np.ldexp(0.5, np.frexp(np.where(largest > 0, largest, 1.0))[1])
    return BoxPair(pair.offset / scale, pair.turn, pair.half_a / scale, pair.half_b / scale), scale


def _close_points(pair: BoxPair) -> Iterator[tuple[Floats, Floats]]:
    """Pairs of points of both boxes, (3, k, n) each, seen from the first box; the closest pair is among them.

    Two boxes that do not overlap are closest at a corner of one and any point of the other, or at an edge of
    each: 16 corners against boxes and 144 pairs of edges.
    """
    yield from _close_to_corners(pair)
    for i, j in product(range(3), repeat=2):
        yield _close_on_edges(pair, i, j)


def _close_to_corners(pair: BoxPair) -> Iterator[tuple[Floats, Floats]]:
    """The corners of each box with the closest points of the other, (3, 8, n) each."""
    d, c, ha, hb = (array[..., None, :] for array in pair)
    corners_a = _CORNERS[..., None] * ha
    seen = np.einsum("ij...,i...->j...", c, corners_a - d)
    yield corners_a, d + np.einsum("ij...,j...->i...", c, np.clip(seen, -hb, hb))
    corners_b = d + np.einsum("ij...,j...->i...", c, _CORNERS[..., None] * hb)
    yield np.clip(corners_b, -ha, ha), corners_b


def _close_on_edges(pair: BoxPair, i: int, j: int) -> tuple[Floats, Floats]:
    """The closest points of the four edges along axis i of the first box and the four along j of the second.

    Those of two lines, clamped to the first edge, then to the second, then to the first once more (Ericson).
    """
    d, c, ha, hb = pair
    along = [c[k, j] for k in range(3)]
    sides = _SIDES[:, :, None]
    i1, i2, j1, j2 = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
    middle_a = [np.zeros((4, 1, 1))] * 3
    for k, side in zip((i1, i2), sides, strict=True):
        middle_a[k] = (side * ha[k])[:, None]
    middle_b = [d[k] + c[k, j1] * (sides[0] * hb[j1]) + c[k, j2] * (sides[1] * hb[j2]) for k in range(3)]
    # How far the middles are apart along the second edge, less what of that is along the first. By the parts
    # across the first edge, without the cancellation of 1 - cos^2, which leaves nothing of a small angle.
    aside = sum(middle_b[k] * along[k] for k in (i1, i2)) - sum(middle_a[k] * along[k] for k in (i1, i2))
    across = along[i1] * along[i1] + along[i2] * along[i2]
    is_parallel = across <= PARALLEL**2
    factor = np.where(is_parallel, 0.0, along[i] / np.where(is_parallel, 1.0, across))
    s = np.clip(middle_b[i] - factor * aside, -ha[i], ha[i])
    t = np.clip(along[i] * (s - middle_b[i]) - aside, -hb[j], hb[j])
    s = np.clip(along[i] * t + middle_b[i], -ha[i], ha[i])
    points_a, points_b = np.empty((3, *s.shape)), np.empty((3, *s.shape))
    for k in range(3):
        points_a[k] = s if k == i else middle_a[k]
        points_b[k] = middle_b[k] + along[k] * t
    shape = (3, 16, d.shape[1])
    return points_a.reshape(shape), points_b.reshape(shape)


def _squared(offsets: Floats) -> Floats:
    """Squared lengths (k, n) of vectors (3, k, n)."""
    squared: Floats = np.einsum("i...,i...->...", offsets, offsets)
    return squared
