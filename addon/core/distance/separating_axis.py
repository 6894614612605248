"""Closest points of two shapes, and gaps of boxes along axes: separating axis test (Gottschalk 1996).

Space: results of boxes along the axes are in their space and unit, (...) for batches that broadcast.
Oriented boxes are tested in the local space of the first one, with its center at the origin and its axes as
coordinate axes; these arrays have the batch last, (3, n), so that each step runs over contiguous memory.

Sign: a gap along an axis is positive where it separates the boxes, and minus the depth along the axis where
it does not. Separation is the Euclidean distance where boxes along the axes are apart, and minus the depth
along the shallowest axis where they overlap.

Guarantee: exact up to float64 rounding of the coordinates; gaps of oriented boxes are never larger than the
distance by more than rounding of the size of a pair. For concentric boxes along the axes, the normal is the
first axis of least depth, in its positive direction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numeric.arrays import Bools, Floats, Ints, Table, length, normalized
from ..shapes import Aabb, Obb

# The next two axes of each axis, in cyclic order.
_NEXT, _LAST = [1, 2, 0], [2, 0, 1]

PARALLEL = 1e-100
"""Edges with a shorter cross product are parallel: its square underflows, and face axes cover its direction.
"""
_PREFER_FACES = 1e-14
"""In units of the size: a cross product of edges must beat a face axis by at least this."""


class BoxPair(Table, last=True):
    """Pairs (n,) of oriented boxes in the local space of the first.

    offset : (3, n) float64. Center of the second box.
    rotation : (3, 3, n) float64. Axes of the second box, as columns.
    half_a, half_b : (3, n) float64. Half extents of both boxes along their own axes.
    """

    offset: Floats
    rotation: Floats
    half_a: Floats
    half_b: Floats

    @classmethod
    def of(cls, a: Obb, b: Obb) -> BoxPair:
        """Pair two batches (n,)."""
        axes_a, axes_b = batch_last(a.rotation), batch_last(b.rotation)
        apart = batch_last(b.center - a.center)
        offset = np.stack([(axes_a[:, i] * apart).sum(axis=0) for i in range(3)])
        rotation = np.stack([(axes_a[:, i, None] * axes_b).sum(axis=0) for i in range(3)])
        return cls(offset, rotation, batch_last(a.half_extents), batch_last(b.half_extents))


class AxisGaps(NamedTuple):
    """Signed gaps of pairs (n,) along the 15 candidate axes; where one is positive the boxes are apart.

    faces : (6, n) float64. Along the axes of the first box, then of the second.
    edges : (3, 3, n) float64. Along the cross product of edge i of the first box and edge j of the second;
        -inf if they are parallel.
    norm : (3, 3, n) float64. Lengths of the cross products: the sines of the angles between the edges.
    crossings : two (3, 3, n) float64. Components of the cross products: i, j is (0, -second, first) in the
        order i, i + 1, i + 2.
    tie : (n,) float64. Margin by which a cross product must win, because on a tie a face axis is the more
        precise direction.
    """

    faces: Floats
    edges: Floats
    norm: Floats
    crossings: tuple[Floats, Floats]
    tie: Floats

    @classmethod
    def of(cls, pair: BoxPair) -> AxisGaps:
        """Measure the gaps of pairs along all axes.

        Each axis is used as it is after rounding. So the cross product of nearly parallel edges
        shows no gap that does not exist, though its direction is noise.
        """
        d, c, ha, hb = pair
        size = np.abs(c)
        faces = np.empty((6, d.shape[1]))
        faces[:3] = np.abs(d) - ha - (size * hb[None]).sum(axis=1)
        faces[3:] = np.abs((d[:, None] * c).sum(axis=0)) - hb - (size * ha[:, None]).sum(axis=0)
        c1, c2 = c[_NEXT], c[_LAST]
        norm = np.sqrt(c1 * c1 + c2 * c2)
        distance = np.abs(d[_LAST][:, None] * c1 - d[_NEXT][:, None] * c2)
        reach_a = ha[_NEXT][:, None] * np.abs(c2) + ha[_LAST][:, None] * np.abs(c1)
        # Dot products of the cross product with the other axes of the second box. They equal entries of
        # `rotation`, but only up to the rounding of those, which division by a short length would magnify.
        minors = np.abs(c1 * c2[:, _NEXT] - c2 * c1[:, _NEXT])
        reach_b = hb[_NEXT] * minors + hb[_LAST] * minors[:, _LAST]
        parallel = np.full_like(norm, -np.inf)
        edges = np.divide(distance - reach_a - reach_b, norm, out=parallel, where=norm > PARALLEL)
        return cls(faces, edges, norm, (c1, c2), _PREFER_FACES * (ha + hb).max(axis=0))

    @property
    def largest(self) -> Floats:
        """Gaps (n,) along the best axis."""
        of_faces, of_edges = self.faces.max(axis=0), self.edges.max(axis=(0, 1))
        return np.asarray(np.where(of_edges - self.tie > of_faces, of_edges, of_faces))

    def best(self, pair: BoxPair) -> tuple[Floats, Floats, Ints]:
        """Select the best axis; the result is that of `separating_axis`."""
        d, c, *_ = pair
        faces, edges, norm, (c1, c2), tie = self
        gaps = np.concatenate([faces, edges.reshape(9, -1) - tie])
        best = gaps.argmax(axis=0)
        every = np.arange(d.shape[1])
        gap = gaps[best, every]
        axis = np.zeros_like(d)
        of_a = best < 3
        axis[best[of_a], every[of_a]] = 1.0
        of_b = (best >= 3) & (best < 6)
        axis[:, of_b] = c[:, best[of_b] - 3, every[of_b]]
        crossed = np.flatnonzero(best >= 6)
        if len(crossed):
            i, j = np.divmod(best[crossed] - 6, 3)
            n = norm[i, j, crossed]
            axis[(i + 1) % 3, crossed] = -c2[i, j, crossed] / n
            axis[(i + 2) % 3, crossed] = c1[i, j, crossed] / n
            gap[crossed] = edges[i, j, crossed]
        axis *= np.where((axis * d).sum(axis=0) < 0, -1.0, 1.0)
        return gap, axis, best


def separating_axis(pair: BoxPair) -> tuple[Floats, Floats, Ints]:
    """Find the best of the 15 candidate axes and the signed gap along it.

    Where the gap is positive the boxes are apart, by at least that much. Where it is negative they overlap,
    and it is minus the length of the minimum translation.

    pair : Pairs (n,) of boxes in the local space of the first.
    Returns gap : (n,) float64
    Returns axis : (3, n) float64. Unit vectors in the local space of the first box, from the first box to
        the second.
    Returns index : (n,) int64. 0 to 2 for the axes of the first box, 3 to 5 for the second, 6 + 3 i + j for
        the cross product of edge i of the first and edge j of the second.
    """
    return AxisGaps.of(pair).best(pair)


def batch_last(values: Floats) -> Floats:
    """Move the batch axis last. Exact.

    values : (n, ...) float64. With one batch axis, the first.
    Returns values : (..., n) float64. Contiguous.
    """
    return np.ascontiguousarray(np.moveaxis(values, 0, -1))


class WitnessPoints(NamedTuple):
    """Closest points of two shapes, or of their surfaces at the deepest overlap.

    `on_b - on_a` is `normal` times the separation, to rounding: moving the first shape by it makes the two
    touch.

    Attributes
    ----------
    on_a, on_b : (..., 3) float64
        Points on the surfaces, in the space of the shapes.
    normal : (..., 3) float64
        Unit vector from the first shape to the second.
    """

    on_a: Floats
    on_b: Floats
    normal: Floats

    @property
    def middle(self) -> Floats:
        """Midpoints (..., 3) of the two points."""
        return self.on_a * 0.5 + self.on_b * 0.5

    def swapped(self) -> WitnessPoints:
        """Return the result for the two shapes in the other order. Exact.

        Returns
        -------
        witness : WitnessPoints
            With the points exchanged and the normal negated.
        """
        return WitnessPoints(self.on_b, self.on_a, -self.normal)


def separation_aabb_aabb(a: Aabb, b: Aabb) -> Floats:
    """Euclidean gap (...) where apart; minus the overlap on the shallowest axis where overlapping."""
    gaps = np.maximum(a.min - b.max, b.min - a.max)
    # Several times as fast as a reduction over so short an axis.
    deepest = np.maximum(np.maximum(gaps[..., 0], gaps[..., 1]), gaps[..., 2])
    return np.where(deepest > 0, length(np.maximum(gaps, 0)), deepest)


def overlaps_aabb_aabb(a: Aabb, b: Aabb) -> Bools:
    """Compare the faces, (...) bool. Exact, without rounding."""
    return np.asarray(((a.min <= b.max) & (b.min <= a.max)).all(axis=-1))


def witness_points_aabb_aabb(a: Aabb, b: Aabb) -> WitnessPoints:
    """Closest points where apart; points on the two faces of the shallowest axis where overlapping.

    Where faces or edges are parallel, the points are in the middle of their common part.
    """
    below, above = a.min - b.max, b.min - a.max
    gaps, b_is_above = np.maximum(below, above), above >= below
    shared = np.maximum(a.min, b.min) * 0.5 + np.minimum(a.max, b.max) * 0.5
    facing_a, facing_b = np.where(b_is_above, a.max, a.min), np.where(b_is_above, b.min, b.max)
    deepest = gaps.max(axis=-1, keepdims=True)
    on_shallowest = np.arange(3) == gaps.argmax(axis=-1)[..., None]
    at_faces = (gaps > 0) | on_shallowest
    on_a, on_b = np.where(at_faces, facing_a, shared), np.where(at_faces, facing_b, shared)
    along_axis = np.where(on_shallowest, np.where(b_is_above, 1.0, -1.0), 0.0)
    return WitnessPoints(on_a, on_b, np.where(deepest > 0, normalized(on_b - on_a), along_axis))
