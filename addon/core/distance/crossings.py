"""Crossings of moving triangles that last: edges that go through the other triangle throughout an interval.

An edge crosses a triangle as long as its ends are on different sides of the plane and it passes all sides of
the triangle on the same side. Each of these is the sign of a volume of four corners. Of corners that move in
straight lines, a volume is a cubic polynomial in time, which is never below its least Bernstein coefficient.
"""

from __future__ import annotations

import numpy as np

from ..numeric.arrays import Floats, cross_first, dot_first, length_first
from ..numeric.tolerances import SUM_ROUNDING

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
    rounding = SUM_ROUNDING * np.abs(corners).max(axis=(0, 1))
    p, q, p_end, q_end = np.split(corners, 4, axis=1)
    u, v, u_end, v_end = (each[:, _NEXT] - each for each in (p, q, p_end, q_end))
    # Of edge i of the first and edge j of the second, (3 coordinates, i, j, m).
    area = _Product((u[:, :, None], u_end[:, :, None]), (v[:, None], v_end[:, None]), rounding)
    passes = area.volumes(q[:, None] - p[:, :, None], q_end[:, None] - p_end[:, :, None])
    of_first = _crossings((p, p_end), (q, q_end), (v, v_end), [each.min(axis=1) for each in passes], rounding)
    of_second = _crossings(
        (q, q_end), (p, p_end), (u, u_end), [each.min(axis=0) for each in passes], rounding
    )
    return np.asarray(np.maximum(of_first, of_second))


def _crossings(
    edges: tuple[Floats, Floats],
    face: tuple[Floats, Floats],
    sides: tuple[Floats, Floats],
    passes: list[Floats],
    rounding: Floats,
) -> Floats:
    """Margins (m,) of the best crossing of an edge of one triangle with the face of the other.

    edges, face, sides : (3 coordinates, 3, m) at both ends: corners of both triangles, and sides of the face
    passes : (3, m) least distances of the edges from the sides of the face, if they pass it from above to
        below, and from below to above
    rounding : (m,) error of a difference of two corners
    """
    first, second = (tuple(each[:, k : k + 1] for each in sides) for k in range(2))
    normal = _Product(first, second, rounding)
    above, below = normal.volumes(*(edge - each[:, :1] for edge, each in zip(edges, face, strict=True)))
    down, up = passes
    falls = np.minimum(np.minimum(above, below[_NEXT]), down)
    rises = np.minimum(np.minimum(below, above[_NEXT]), up)
    return np.asarray(np.maximum(falls, rises).max(axis=0))


class _Product:
    """Cross products of vectors (3 coordinates, ..., m) that change linearly, by Bernstein coefficients.

    u, v : two (3 coordinates, ..., m) each. The vectors at both ends.
    rounding : (m,) float64. Errors of their coordinates, and of those that the products are multiplied by.
    """

    def __init__(self, u: tuple[Floats, ...], v: tuple[Floats, ...], rounding: Floats) -> None:
        self._first, self._last = (cross_first(*each) for each in zip(u, v, strict=True))
        self._middle = (cross_first(u[0], v[1]) + cross_first(u[1], v[0])) / 2
        # No norm in between is larger than that of all coefficients.
        coefficients = self._first, self._middle, self._last
        self._largest = np.maximum.reduce([length_first(each) for each in coefficients])
        longest = [np.maximum(*(length_first(each) for each in ends)) for ends in (u, v)]
        # Of nearly parallel vectors, the product is mostly rounding.
        with np.errstate(divide="ignore", invalid="ignore"):
            self._error = rounding * longest[0] * longest[1] / self._largest
            self._error_of_length = rounding * (longest[0] + longest[1]) / self._largest

    def volumes(self, w: Floats, w_end: Floats) -> tuple[Floats, Floats]:
        """Bound the dot products with vectors that change linearly, divided by the norms, from below.

        Also those with the opposite sign: both (..., m). Rounding reduces them.
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
            error = self._error + self._error_of_length * np.maximum(length_first(w), length_first(w_end))
        error = np.nan_to_num(error)
        return np.minimum.reduce(parts) - error, -np.maximum.reduce(parts) - error
