"""Distances between two boxes, at least one of them oriented, and of capsules.

Space: results are in the space and unit of the boxes, (...) for batches that broadcast.

Sign: separation is the Euclidean distance where boxes are apart, and minus the depth along the best
separating axis where they overlap. The depth is the length of the shortest translation that separates them.

Guarantee: exact up to float64 rounding of the coordinates. For concentric boxes the normal is the first axis
of least depth, in its positive direction.

Separating axes decide overlaps (Gottschalk 1996). The distance of boxes that are apart is that of the closest
features: a corner and a box, or two edges (Ericson, Real-Time Collision Detection, 5.1.9).

A capsule is a segment with a radius around it, and a segment is a box without width: its pairs with spheres,
boxes and capsules are solved as pairs of boxes, and the radii are subtracted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, TypeAlias, TypeVar

import numpy as np

from ..numeric.arrays import (
    UNIT_BOX_CORNERS,
    Bools,
    Floats,
    Ints,
    cross,
    dot,
    normalized,
    perpendicular,
    transform_vectors,
)
from ..numeric.tolerances import LENGTH_ROUNDING, SAME_DISTANCE
from ..shapes import Aabb, Capsule, Obb, Sphere
from ..shapes.boxes import world_points
from .separating_axis import PARALLEL, AxisGaps, BoxPair, WitnessPoints, separating_axis

_CHUNK_PAIRS = 2048
"""Pairs solved at a time, so few that they fit the cache."""
_CHUNK_WITNESSES = 128
"""Pairs at a time for witness points, because each pair takes 160 candidate pairs of points."""
_ROUNDING = 2e-14
"""Offsets that differ by less, in units of a pair's size, are equal up to rounding."""
_SIDES = np.array(list(product((-1.0, 1.0), repeat=2))).T
_Arrays = TypeVar("_Arrays", bound=tuple[Any, ...])
Rounded: TypeAlias = Capsule | Sphere | Aabb | Obb
"""Shapes that are a box, which may have no width, with a radius around it."""


def separation_obb_obb(a: Obb | Aabb, b: Obb | Aabb) -> Floats:
    """Euclidean gap (...) where apart; minus the depth along the best separating axis where overlapping."""

    def solve(_box: Obb, pair: BoxPair, scale: Floats) -> tuple[Floats]:
        gaps = AxisGaps.of(pair)
        gap = gaps.largest
        apart = np.flatnonzero(gap > 0)
        if len(apart):
            # The gap along an axis is at most the distance, up to rounding.
            distance = np.sqrt(_squared(_shortest_offset(pair, gaps, gap, apart)))
            gap[apart] = np.maximum(gap[apart], distance)
        return (gap * scale,)

    return _solved(a, b, solve)[0]


def separation_and_axis(a: Obb, b: Obb, along_axes: bool = False) -> tuple[Floats, Floats]:
    """Compute `separation_obb_obb` and its direction. Exact up to float64 rounding.

    For boxes that are apart by no more than rounding, the direction is the separating axis.

    a, b : Batches that broadcast.
    along_axes : Whether to take the largest gap along a separating axis, which is quicker to compute: at most
        the separation of boxes that are apart, and that of boxes that overlap.
    Returns separation : (...) float64. Signed distance, in the unit of the boxes.
    Returns axis : (..., 3) float64. Unit vectors in world space, from the first box to the second.
    """

    def solve(box: Obb, pair: BoxPair, scale: Floats) -> tuple[Floats, Floats]:
        gap, axis = separating_axis(pair)[:2] if along_axes else separation_in_frame(pair)
        return gap * scale, transform_vectors(box.rotation, axis.T)

    return _solved(a, b, solve)


def separation_in_frame(pair: BoxPair) -> tuple[Floats, Floats]:
    """Compute `separation_and_axis` of pairs (n,) whose size is about 1, in the local space of the first box.

    Returns separation : (n,) float64
    Returns axis : (3, n) float64. Unit vectors.
    """
    is_point = not pair.half_b.any()
    if is_point:
        outside = pair.offset - np.clip(pair.offset, -pair.half_a, pair.half_a)
        beyond = np.abs(pair.offset) - pair.half_a
        gap, face = beyond.max(axis=0), beyond.argmax(axis=0)
        axis = np.where(np.arange(3)[:, None] == face, np.copysign(1.0, pair.offset), 0.0)
    else:
        gaps = AxisGaps.of(pair)
        gap, axis, _ = gaps.best(pair)
    apart = np.flatnonzero(gap > 0)
    if len(apart):
        offset = outside[:, apart] if is_point else _shortest_offset(pair, gaps, gap, apart)
        distance = np.sqrt(_squared(offset))
        far = np.flatnonzero(distance > _ROUNDING)
        axis[:, apart[far]] = offset[:, far] / distance[far]
        gap[apart] = np.maximum(gap[apart], distance)
    return gap, axis


def _shortest_offset(pair: BoxPair, gaps: AxisGaps, gap: Floats, apart: Ints) -> Floats:
    """Offsets (3, m) between the closest points of the pairs `apart` (m,), in the axes of the first box.

    gap : (n,) float64
        Largest gaps along an axis, of all pairs.

    The closest features are a corner and a box, or the inner points of two edges. The distance of two such
    edges is the gap along their cross product, which then is the largest of all axes. So only edges with the
    largest gap are solved.
    """
    apart_pairs = pair.take(apart)
    offsets = np.concatenate([on_b - on_a for on_a, on_b in _closest_to_corners(apart_pairs)], axis=1)
    offset, squared = _shortest(offsets)
    edges, norm, gap = gaps.edges[..., apart], gaps.norm[..., apart], gap[apart]
    # A short cross product has a less precise direction, and so has the gap along it.
    with np.errstate(divide="ignore"):
        is_largest = edges >= gap - SAME_DISTANCE * (1 + 0.01 / norm)
    i, j, rows = np.nonzero(is_largest & (np.sqrt(squared) > gap))
    if len(rows):
        # Permute the axes of both boxes, so that these edges are along the first axis of each.
        on_a, on_b = _closest_on_edges(_with_leading_axes(apart_pairs, i, j, rows), 0, 0)
        offsets, edge_squared = _shortest(on_b - on_a)
        # Keep the closest edges of each pair, and restore the order of the axes.
        order = np.lexsort((edge_squared, rows))
        order = order[np.diff(rows[order], prepend=-1) != 0]
        order = order[edge_squared[order] < squared[rows[order]]]
        for k in range(3):
            offset[(i[order] + k) % 3, rows[order]] = offsets[k, order]
    return offset


def _with_leading_axes(pair: BoxPair, i: Ints, j: Ints, rows: Ints) -> BoxPair:
    """Select pairs `rows` (m,) and rotate their axes, so that i and j (m,) come first in each box."""
    of_a, of_b = (np.arange(3)[:, None] + first for first in (i, j))
    of_a, of_b = of_a % 3, of_b % 3
    return BoxPair(
        pair.offset[of_a, rows],
        pair.rotation[of_a[:, None], of_b[None], rows],
        pair.half_a[of_a, rows],
        pair.half_b[of_b, rows],
    )


def gap_along_axis(axis: Floats, a: Obb, b: Obb) -> Floats:
    """Compute the gap of two boxes along a direction. Conservative: at most the separation.

    axis : (..., 3) float64. Unit vectors in world space, from the first box to the second.
    a, b : Batches that broadcast.
    Returns gap : (...) float64. In the unit of the boxes; negative where the projections overlap.
    """
    gap = dot(axis, b.center - a.center)
    for box in (a, b):
        gap -= dot(np.abs((axis[..., None] * box.rotation).sum(axis=-2)), box.half_extents)
    return gap


def overlaps_obb_obb(a: Obb | Aabb, b: Obb | Aabb) -> Bools:
    """Decide by the separating axes, (...) bool. A gap within rounding of the size counts as touching."""
    return _solved(a, b, lambda _box, pair, _scale: (AxisGaps.of(pair).largest <= LENGTH_ROUNDING,))[0]


def witness_points_obb_obb(a: Obb | Aabb, b: Obb | Aabb) -> WitnessPoints:
    """Closest points where apart; points that touch after the minimum translation where overlapping.

    Where faces or edges are parallel, the points are inside their common part.
    """

    def solve(box: Obb, pair: BoxPair, scale: Floats) -> tuple[Floats, Floats, Floats]:
        on_a, on_b, axis = _local_witness_points(pair)
        on_a, on_b = (world_points(box, scale[:, None] * local.T) for local in (on_a, on_b))
        return on_a, on_b, normalized(transform_vectors(box.rotation, axis.T))

    return WitnessPoints(*_solved(a, b, solve, _CHUNK_WITNESSES))


def _local_witness_points(pair: BoxPair) -> tuple[Floats, Floats, Floats]:
    """Witness points and their axis (3, n), in the local space of the first box.

    The closest features of two boxes that do not overlap are a corner and any point of the other box, or two
    edges: 16 corners against boxes and 144 pairs of edges. The shortest offset between two convex shapes is
    unique. If several pairs of points have it, return their mean.
    """
    gap, axis, _ = separating_axis(pair)
    depth = axis * np.minimum(gap, 0)
    touching = pair.replaced(offset=pair.offset - depth)
    edges = (_closest_on_edges(touching, i, j) for i, j in product(range(3), repeat=2))
    close = zip(*_closest_to_corners(touching), *edges, strict=True)
    points_a, points_b = (np.concatenate(points, axis=1) for points in close)
    offsets = points_b - points_a
    # Where one of them is along the axis, keep the axis, because it is the more precise direction: the
    # offset of points that are close together is mostly rounding.
    away = _squared(offsets - (axis * np.maximum(gap, 0))[:, None])
    slanted = np.flatnonzero((gap > 0) & (away.min(axis=0) > _ROUNDING**2))
    if len(slanted):
        candidates = offsets[..., slanted]
        closest = np.take_along_axis(candidates, _squared(candidates).argmin(axis=0)[None, None], axis=1)
        away[:, slanted] = _squared(candidates - closest)
        axis[:, slanted] = normalized(closest[:, 0].T).T
    weight = (away <= np.maximum(away.min(axis=0), _ROUNDING**2)).astype(np.float64)
    middle_a, middle_b = (
        np.einsum("ik...,k...->i...", points, weight) / weight.sum(axis=0) for points in (points_a, points_b)
    )
    return middle_a, middle_b + depth, axis


def _solved(
    a: Obb | Aabb, b: Obb | Aabb, solve: Callable[[Obb, BoxPair, Floats], _Arrays], size: int = _CHUNK_PAIRS
) -> _Arrays:
    """Solve pairs of one batch (...) in chunks, in units of their size, so that squares stay in range.

    solve : from the first boxes (n,), the pairs (n,) and their units (n,), arrays (n, ...)
    Returns arrays (..., ...), one for each of those.
    """
    batch = np.broadcast_shapes(a.shape, b.shape)
    first, second = (boxes.oriented().broadcast_to(batch).reshaped((-1,)) for boxes in (a, b))
    parts = []
    for start in range(0, max(len(first.center), 1), size):
        box = first[start : start + size]
        d, rotation, ha, hb = BoxPair.of(box, second[start : start + size])
        largest = np.maximum(np.abs(d).max(axis=0), np.maximum(ha, hb).max(axis=0))
        # Use powers of two, because they scale without rounding.
        scale = np.ldexp(0.5, np.frexp(np.where(largest > 0, largest, 1.0))[1])
        parts.append(solve(box, BoxPair(d / scale, rotation, ha / scale, hb / scale), scale))
    columns = map(np.concatenate, zip(*parts, strict=True))
    return tuple(column.reshape((*batch, *column.shape[1:])) for column in columns)  # type: ignore[return-value]


def _closest_to_corners(pair: BoxPair) -> Iterator[tuple[Floats, Floats]]:
    """Yield the corners of each box with the closest points of the other, (3, 8, n) each."""
    d, c, ha, hb = (array[..., None, :] for array in pair)
    corners_a = UNIT_BOX_CORNERS.T[..., None] * ha
    local = np.einsum("ij...,i...->j...", c, corners_a - d)
    yield corners_a, d + np.einsum("ij...,j...->i...", c, np.clip(local, -hb, hb))
    corners_b = d + np.einsum("ij...,j...->i...", c, UNIT_BOX_CORNERS.T[..., None] * hb)
    yield np.clip(corners_b, -ha, ha), corners_b


def _closest_on_edges(pair: BoxPair, i: int, j: int) -> tuple[Floats, Floats]:
    """Closest points of the edges along axis i of the first box and along j of the second, (3, 16, n) each.

    Those of two lines, clamped to the first edge, then to the second, then to the first again (Ericson
    5.1.9).
    """
    d, c, ha, hb = pair
    along = [c[k, j] for k in range(3)]
    sides = _SIDES[:, :, None]
    i1, i2, j1, j2 = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
    middle_a = [np.zeros((4, 1, 1))] * 3
    for k, side in zip((i1, i2), sides, strict=True):
        middle_a[k] = (side * ha[k])[:, None]
    middle_b = [d[k] + c[k, j1] * (sides[0] * hb[j1]) + c[k, j2] * (sides[1] * hb[j2]) for k in range(3)]
    # Project the offset of the middles on the second edge, without its component along the first. Computed
    # from the components across the first edge, because 1 - cos^2 would cancel for small angles.
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
    return points_a.reshape(3, 16, -1), points_b.reshape(3, 16, -1)


def _shortest(offsets: Floats) -> tuple[Floats, Floats]:
    """Shortest (3, n) of vectors (3, k, n), and their squared lengths (n,)."""
    squared = _squared(offsets)
    closest, every = squared.argmin(axis=0), np.arange(offsets.shape[-1])
    return offsets[:, closest, every], squared[closest, every]


def _squared(offsets: Floats) -> Floats:
    """Squared lengths (k, n) of vectors (3, k, n)."""
    squared: Floats = np.einsum("i...,i...->...", offsets, offsets)
    return squared


def separation_capsule_shape(a: Capsule, b: Rounded) -> Floats:
    """Separation of the boxes within the shapes minus the radii, (...)."""
    (first, reach), (second, more) = box_and_radius(a), box_and_radius(b)
    return separation_obb_obb(first, second) - (reach + more)


def witness_points_capsule_shape(a: Capsule, b: Rounded) -> WitnessPoints:
    """Closest points of the boxes within the shapes, moved out to the surfaces.

    Where segments cross, the normal is perpendicular to both.
    """
    (first, reach), (second, more) = box_and_radius(a), box_and_radius(b)
    within = witness_points_obb_obb(first, second)
    return WitnessPoints(
        within.on_a + within.normal * np.asarray(reach)[..., None],
        within.on_b - within.normal * np.asarray(more)[..., None],
        within.normal,
    )


def box_and_radius(shape: Rounded) -> tuple[Obb, Floats]:
    """Split a shape into a box and a radius around it. Exact up to float64 rounding.

    shape : Capsule, Sphere, Aabb or Obb, batch (...). In any space and unit.
    Returns box : Obb, batch (...). Without width for capsules, and without any size for spheres.
    Returns radius : (...) float64. 0 for boxes.
    """
    return _BOXES_AND_RADII[type(shape)](shape)


def _point_and_radius(shape: Sphere) -> tuple[Obb, Floats]:
    axes = np.broadcast_to(np.eye(3), (*shape.shape, 3, 3))
    return Obb.unchecked(shape.center, np.zeros_like(shape.center), axes), shape.radius


def _segment_and_radius(shape: Capsule) -> tuple[Obb, Floats]:
    side = perpendicular(shape.axis)
    axes = np.stack([side, cross(shape.axis, side), shape.axis], axis=-1)
    half = np.zeros_like(shape.center)
    half[..., 2] = shape.half_length
    return Obb.unchecked(shape.center, half, axes), shape.radius


_BOXES_AND_RADII: dict[type, Callable[[Any], tuple[Obb, Floats]]] = {
    **{kind: lambda shape: (shape.oriented(), np.zeros(shape.shape)) for kind in (Aabb, Obb)},
    Sphere: _point_and_radius,
    Capsule: _segment_and_radius,
}
