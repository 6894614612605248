"""Pieces of meshes, whether they are closed, and which points are inside.

How often a closed surface winds around a point is told by the triangles above it: each that is passed on the
way up counts one, up or down. A point exactly below an edge or a corner belongs to one of the triangles that
meet there, since the same edge is seen in the same way from both of its sides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Bools, Floats, Ints
from .broad_phase import overlapping_pairs_between
from .separation_triangles import triangles_of
from .shapes import Aabb

_NEXT = [1, 2, 0]


class Pieces(NamedTuple):
    """What of a mesh of t triangles hangs together by corners, as p pieces.

    of_triangle : (t,) int64
    corner : (p,) int64 one corner of each, of 3 t in a row
    closed : (p,) each edge belongs to an even number of triangles
    oriented : (p,) and to as many in one direction as in the other
    """

    of_triangle: Ints
    corner: Ints
    closed: Bools
    oriented: Bools

    @classmethod
    def of(cls, corners: Floats) -> Pieces:
        """The pieces of triangles with corners (t, 3, 3)."""
        names = _same_points(corners.reshape(-1, 3)).reshape(-1, 3)
        start, end = names.ravel(), names[:, _NEXT].ravel()
        piece = _hanging_together(int(names.max()) + 1, start, end)
        _, corner, of_corner = np.unique(piece[names.ravel()], return_index=True, return_inverse=True)
        of_triangle = of_corner.reshape(-1, 3)[:, 0]
        low, high = np.minimum(start, end), np.maximum(start, end)
        # A side without length is no edge.
        real = np.flatnonzero(low < high)
        _, edge = np.unique(low[real] * (int(names.max()) + 1) + high[real], return_inverse=True)
        edge = edge.ravel()
        uses = np.bincount(edge)
        turns = np.bincount(edge, np.where(start < end, 1.0, -1.0)[real])
        owner = np.repeat(of_triangle, 3)[real]
        bad_use, bad_turn = (np.unique(owner[wrong[edge]]) for wrong in (uses % 2 != 0, turns != 0))
        closed, oriented = np.ones(len(corner), dtype=bool), np.ones(len(corner), dtype=bool)
        closed[bad_use] = False
        oriented[bad_turn] = False
        return cls(of_triangle, corner, closed, oriented)


def any_piece_inside(pieces: Floats, solid: Floats) -> bool:
    """Whether a piece of one mesh is inside another that it does not touch, both with corners (t, 3, 3)."""
    parts = Pieces.of(solid)
    closed = parts.closed[parts.of_triangle]
    if not closed.any():
        return False
    points = pieces.reshape(-1, 3)[Pieces.of(pieces).corner]
    return bool(_is_inside(points, solid[closed], parts.of_triangle[closed], parts.oriented).any())


def is_inside(points: Floats, corners: Floats) -> Bools:
    """(n,) which points (n, 3) are inside the closed pieces of triangles with corners (t, 3, 3).

    Exact but for points within float64 rounding of a triangle.
    """
    parts = Pieces.of(corners)
    closed = parts.closed[parts.of_triangle]
    return _is_inside(points, corners[closed], parts.of_triangle[closed], parts.oriented)


def _is_inside(points: Floats, corners: Floats, piece: Ints, oriented: Bools) -> Bools:
    if not len(corners):
        return np.zeros(len(points), dtype=bool)
    boxes = triangles_of(corners).aabb()
    top = np.maximum(points[:, 2], boxes.max[:, 2].max())
    upward = Aabb.trusted(points, np.stack([points[:, 0], points[:, 1], top], axis=1))
    i, t = overlapping_pairs_between(upward, boxes).T
    passes = _passed_upward(points[i], corners[t])
    pieces = len(oriented)
    signed = oriented[piece[t]]
    around = np.bincount(i[signed], passes[signed], len(points)) != 0
    # Of pieces that face both ways each is told on its own: by whether it is passed an odd number of times.
    key, row = np.unique(i[~signed] * pieces + piece[t[~signed]], return_inverse=True)
    odd = np.bincount(row.ravel(), np.abs(passes[~signed]), len(key)) % 2 == 1
    around[key[odd] // pieces] = True
    return np.asarray(around)


def _passed_upward(points: Floats, corners: Floats) -> Floats:
    """Of points (n, 3) and triangles with corners (n, 3, 3): 1 or -1 for one straight above, else 0.

    The sign is that of the way in which it turns, seen from above.
    """
    start, end = corners, corners[:, _NEXT]
    x, y = points.T[:2, :, None]
    is_up, is_down = (start[..., 1] <= y) & (end[..., 1] > y), (end[..., 1] <= y) & (start[..., 1] > y)
    crosses = is_up | is_down
    # From the lower end to the upper one, whichever triangle asks: both sides of an edge say the same.
    low, high = np.where(is_up[..., None], start, end), np.where(is_up[..., None], end, start)
    rise = high - low
    part = np.divide(y - low[..., 1], rise[..., 1], out=np.zeros(crosses.shape), where=crosses)[..., None]
    place = np.clip(low + part * rise, np.minimum(low, high), np.maximum(low, high))
    beyond = crosses & (x < place[..., 0])
    turn = (beyond & is_up).sum(axis=1) - (beyond & is_down).sum(axis=1)
    rows = np.flatnonzero(turn)
    # The point is between two of the edges there, and below or above what joins them.
    right = place[rows, beyond[rows].argmax(axis=1)]
    left = place[rows, (crosses & ~beyond)[rows].argmax(axis=1)]
    between = (points[rows, 0] - left[:, 0]) / (right[:, 0] - left[:, 0])
    height = left[:, 2] + between * (right[:, 2] - left[:, 2])
    passed = np.zeros(len(points))
    passed[rows] = np.where(height > points[rows, 2], turn[rows], 0)
    return passed


def _same_points(points: Floats) -> Ints:
    """(n,) a number for each of points (n, 3), the same for those that are equal."""
    points = points + 0.0  # no negative zeros
    order = np.lexsort(points.T)
    ordered = points[order]
    is_new = np.concatenate([[False], (ordered[1:] != ordered[:-1]).any(axis=1)])
    names = np.empty(len(points), dtype=np.int64)
    names[order] = is_new.cumsum()
    return names


def _hanging_together(count: int, start: Ints, end: Ints) -> Ints:
    """(count,) the least point that each is connected with, by edges from `start` to `end`."""
    least = np.arange(count)
    while True:
        one, other = least[start], least[end]
        apart = np.flatnonzero(one != other)
        if not len(apart):
            return least
        one, other = one[apart], other[apart]
        np.minimum.at(least, np.maximum(one, other), np.minimum(one, other))
        while (least[least] != least).any():
            least = least[least]
