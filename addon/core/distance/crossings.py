"""Crossings of moving triangles that last: edges that go through the other triangle throughout an interval.

An edge crosses a triangle as long as its ends are on different sides of the plane and it passes all sides of
the triangle on the same side. Each of these is the sign of a volume of four corners. Of corners that move in
straight lines, a volume is a cubic polynomial in time, which is never below its least Bernstein coefficient.
"""

from __future__ import annotations

import numpy as np

from ..numeric.arrays import Floats, cross_first, dot_first, length_first
from ..numeric.tolerances import DISTANCE_ROUNDING

_NEXT = [1, 2, 0]


def crossing_margins(a: Floats, a_end: Floats, b: Floats, b_end: Floats) -> Floats:
    """Find by how much the corners of triangles may be elsewhere so that they still cross, at all times.

    If the corners of both triangles deviate from their motion by less than this together, an edge of one
    crosses the other throughout. Conservative: there may be a crossing that is not found.

    a, a_end, b, b_end : (m, 3, 3) float64. Corners of both triangles at both ends, in one space and unit.
    Returns margin : (m,) float64. 0 or less where no crossing lasts throughout.
    """
    corners = np.concatenate([a, b, a_end, b_end], axis=1)
    # Coordinates first, and the first corner as origin.
    corners = np.ascontiguousarray(np.moveaxis(corners - corners[:, :1], 0, -1).swapaxes(0, 1))
    rounding = DISTANCE_ROUNDING * np.abs(corners).max(axis=(0, 1))
    p, q, p_end, q_end = np.split(corners, 4, axis=1)
    u, v, u_end, v_end = (each[:, _NEXT] - each for each in (p, q, p_end, q_end))
    # Of edge i of the first and edge j of the second, (3 coordinates, i, j, m).
    area = _Product(u[:, :, None], u_end[:, :, None], v[:, None], v_end[:, None])
    passes = area.volumes(q[:, None] - p[:, :, None], q_end[:, None] - p_end[:, :, None])
    of_first = _crossings((p, p_end), (q, q_end), (v, v_end), [each.min(axis=1) for each in passes])
    of_second = _crossings((q, q_end), (p, p_end), (u, u_end), [each.min(axis=0) for each in passes])
    return np.asarray(np.maximum(of_first, of_second) - rounding)


def _crossings(
    edges: tuple[Floats, Floats],
    face: tuple[Floats, Floats],
    sides: tuple[Floats, Floats],
    passes: list[Floats],
) -> Floats:
    """Margins (m,) of the best crossing of an edge of one triangle with the face of the other.

    edges, face, sides : (3 coordinates, 3, m) at both ends: corners of both triangles, and sides of the face
    passes : (3, m) least distances of the edges from the sides of the face, if they pass it from above to
        below, and from below to above
    """
    normal = _Product(*(each[:, k : k + 1] for k in range(2) for each in sides))
    above, below = normal.volumes(*(edge - each[:, :1] for edge, each in zip(edges, face, strict=True)))
    down, up = passes
    falls = np.minimum(np.minimum(above, below[_NEXT]), down)
    rises = np.minimum(np.minimum(below, above[_NEXT]), up)
    return np.asarray(np.maximum(falls, rises).max(axis=0))


class _Product:
    """Cross products of vectors (3 coordinates, ..., m) that change linearly, by Bernstein coefficients."""

    def __init__(self, u: Floats, u_end: Floats, v: Floats, v_end: Floats) -> None:
        self._first, self._last = cross_first(u, v), cross_first(u_end, v_end)
        self._middle = (cross_first(u, v_end) + cross_first(u_end, v)) / 2
        # No norm in between is larger than that of all coefficients.
        coefficients = self._first, self._middle, self._last
        self._largest = np.maximum.reduce([length_first(each) for each in coefficients])

    def volumes(self, w: Floats, w_end: Floats) -> tuple[Floats, Floats]:
        """Bound the dot products with vectors that change linearly, divided by the norms, from below.

        Also those with the opposite sign: both (..., m).
        """
        first, middle, last = self._first, self._middle, self._last
        coefficients = (
            dot_first(first, w),
            (dot_first(first, w_end) + 2 * dot_first(middle, w)) / 3,
            (2 * dot_first(middle, w_end) + dot_first(last, w)) / 3,
            dot_first(last, w_end),
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = [np.nan_to_num(each / self._largest) for each in coefficients]
        return np.minimum.reduce(parts), -np.maximum.reduce(parts)
