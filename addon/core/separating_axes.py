"""Two oriented boxes and the axis that separates them most, over batches.

Arrays here have the batch last, (3, n), so that each step runs over contiguous memory. All is seen from the
first box: its centre is the origin, its axes are the coordinate axes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Floats, Ints
from .shapes import Obb

# The two other axes of each axis, in turning order.
_NEXT, _LAST = [1, 2, 0], [2, 0, 1]

PARALLEL = 1e-100
"""Edges whose crossing is shorter are parallel: its square underflows, and the faces' axes say the same."""
_PREFER_FACES = 1e-14
"""Of the size: by less than this a crossing of edges does not win over a face."""


class BoxPair(NamedTuple):
    """Pairs of oriented boxes as the first of each sees the second.

    offset : (3, n) centre of the second box
    turn : (3, 3, n) its axes, as columns
    half_a, half_b : (3, n) half extents
    """

    offset: Floats
    turn: Floats
    half_a: Floats
    half_b: Floats

    @classmethod
    def of(cls, a: Obb, b: Obb) -> BoxPair:
        """Pairs of two batches (n,)."""
        axes_a, axes_b = batch_last(a.rotation), batch_last(b.rotation)
        apart = batch_last(b.center - a.center)
        offset = np.stack([(axes_a[:, i] * apart).sum(axis=0) for i in range(3)])
        turn = np.stack([(axes_a[:, i, None] * axes_b).sum(axis=0) for i in range(3)])
        return cls(offset, turn, batch_last(a.half_extents), batch_last(b.half_extents))

    def picked(self, index: Ints) -> BoxPair:
        """Some of the pairs."""
        return BoxPair(*(np.ascontiguousarray(array[..., index]) for array in self))


class AxisGaps(NamedTuple):
    """Signed gaps of pairs along the 15 candidate axes; where one is positive the boxes are apart.

    faces : (6, n) along the axes of the first box, then those of the second
    edges : (3, 3, n) along the crossing of edge i of the first with edge j of the second; -inf if parallel
    norm : (3, 3, n) lengths of those crossings, the sines of the angles between the edges
    crossings : two (3, 3, n); crossing i, j is (0, -second, first) in the order i, i + 1, i + 2
    tie : (n,) by how much a crossing must win: on a tie a face gives the plainer direction
    """

    faces: Floats
    edges: Floats
    norm: Floats
    crossings: tuple[Floats, Floats]
    tie: Floats

    @classmethod
    def of(cls, pair: BoxPair) -> AxisGaps:
        """Every axis is measured by what it is after rounding, so that the crossing of two nearly parallel
        edges, whose direction is noise, still gives no gap that is not there.
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
        # Its dot products with the other axes of the second box. They equal entries of `turn`, but only to
        # the rounding of those, which a short crossing would magnify.
        minors = np.abs(c1 * c2[:, _NEXT] - c2 * c1[:, _NEXT])
        reach_b = hb[_NEXT] * minors + hb[_LAST] * minors[:, _LAST]
        parallel = np.full_like(norm, -np.inf)
        edges = np.divide(distance - reach_a - reach_b, norm, out=parallel, where=norm > PARALLEL)
        return cls(faces, edges, norm, (c1, c2), _PREFER_FACES * (ha + hb).max(axis=0))

    @property
    def largest(self) -> Floats:
        """(n,) the gap along the best axis."""
        of_faces, of_edges = self.faces.max(axis=0), self.edges.max(axis=(0, 1))
        return np.asarray(np.where(of_edges - self.tie > of_faces, of_edges, of_faces))

    def best(self, pair: BoxPair) -> tuple[Floats, Floats, Ints]:
        """See `separating_axis`."""
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
    """The signed gap along the best of the 15 candidate axes, and that axis.

    Where the gap is positive the boxes are apart, by at least that much; where it is negative they overlap
    and it is minus the length of the shortest move that parts them (Gottschalk's separating axes).

    Returns
    -------
    gap : (n,)
    axis : (3, n) unit vectors seen from the first box, from the first box to the second
    which : (n,) 0 to 2 for the first box's own axes, 3 to 5 for the second's, 6 + 3 i + j for the crossing of
        edge i of the first with edge j of the second
    """
    return AxisGaps.of(pair).best(pair)


def batch_last(values: Floats) -> Floats:
    """(n, ...) -> (..., n), contiguous."""
    return np.ascontiguousarray(np.moveaxis(values, 0, -1))
