"""Quads of a mesh that bends, and the two triangles that each is cut into.

Blender cuts a quad from its first corner to its third one, unless both others are on one side of that
diagonal: then from the second to the fourth. Where rounding decides, either may be.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numeric.arrays import Bools, Floats, Ints, cross_first, dot, dot_first, length
from ..shapes.primitives import Segment, closest_on_segment

_CLEAR = 1e-3
"""Part of the product of two areas from which on rounding does not decide on which side a corner is."""


class QuadCuts(NamedTuple):
    """Quads (q,) of a mesh, as they are cut at one time.

    corners : (4, q) int64. Vertices, in order around each quad.
    is_other : (q,) bool. Quads that are cut from the second corner to the fourth.
    """

    corners: Ints
    is_other: Bools

    def unsure(self, vertices: Floats) -> Ints:
        """Return the quads (k,) that may be cut in the other way where the vertices (v, 3) are elsewhere."""
        # Of single precision, from a vertex, because large coordinates leave no digits.
        columns = np.ascontiguousarray((vertices - vertices[0]).T, dtype=np.float32)
        a, b, c, d = (columns.take(corner, axis=1) for corner in self.corners)
        diagonal = c - a
        one, two = cross_first(b - a, diagonal), cross_first(d - a, diagonal)
        product, first, second = dot_first(one, two), dot_first(one, one), dot_first(two, two)
        is_clear = product * product > _CLEAR * _CLEAR * first * second
        # Blender may also compare both corners with the normal of the whole quad: then a corner is beyond the
        # diagonal if its area is the smaller one, by that part of the product.
        is_folded = product > (1 + _CLEAR) * np.minimum(first, second)
        is_sure = is_clear & np.where(self.is_other, is_folded, product < 0)
        return np.flatnonzero(~is_sure)

    def gaps(self, vertices: Floats, quads: Ints) -> Floats:
        """Bound the distances (k,) of the two ways to cut quads (k,), with vertices (v, 3).

        Each triangle of one cut is swept by segments from a corner to the diagonal that is its side. That
        diagonal and the path from one of its ends over a point of the other diagonal to the other end are
        nowhere farther apart than at that point, and the segments to the path are in the other cut. So no
        point of either is farther from the other one than the diagonals are from each other.
        """
        a, b, c, d = vertices[self.corners[:, quads]]
        one, two = Segment(a, c), Segment(b, d)
        # Any two points will do; of lines that cross, those where they are nearest.
        first, second, offset = c - a, d - b, b - a
        square, other, mixed = dot(first, first), dot(second, second), dot(first, second)
        below = square * other - mixed * mixed
        above = dot(offset, first) * other - dot(offset, second) * mixed
        part = np.clip(np.divide(above, below, out=np.zeros_like(below), where=below > 0), 0, 1)
        starts = [a, c, a + part[:, None] * first]
        distances = [length(closest_on_segment(point, two) - point) for point in starts]
        distances += [length(closest_on_segment(point, one) - point) for point in (b, d)]
        return np.asarray(np.min(distances, axis=0))
