"""Two triangles at rest: how far apart they are, and where they are closest.

Two triangles are closest at a corner of one and the other, or at an edge of each; or an edge goes through a
face. All of these are tried, as points that lie on the one and on the other triangle, so that none of them
claims less than the distance. Triangles have no sides here, and may be segments or points.
"""

from __future__ import annotations

import numpy as np

from .arrays import Floats, cross, dot, length, unit
from .batch import common_batch
from .closest_points import closest_on_triangle
from .shapes import Triangle
from .sweep_spheres import unit_of_size
from .witness import WitnessPoints

TOUCH = 16 * np.finfo(np.float64).eps
"""Triangles no farther apart than this, against their largest coordinate, touch."""

_PAIRS_AT_ONCE = 1024
_NEXT = [1, 2, 0]


def separation_triangle_triangle(a: Triangle, b: Triangle) -> Floats:
    """The distance of two triangles, (...) >= 0; 0 where they touch or cross.

    Exact up to float64 rounding of the largest coordinate: what is closer than that touches. Raises
    InvalidShapeError for batches that do not broadcast.
    """
    return _closest(a, b)[1]


def closest_points_triangle_triangle(a: Triangle, b: Triangle) -> WitnessPoints:
    """Points where two triangles are closest, (..., 3), and the unit vector from `a` to `b`.

    Where they touch or cross, a point that they share, to rounding, and the direction along which they
    overlap least. Exact and raises like `separation_triangle_triangle`.
    """
    witness, distance = _closest(a, b)
    touching = np.flatnonzero(distance.ravel() == 0)
    if not len(touching):
        return witness
    batch = distance.shape
    first, second = (corners_of(t.broadcast_to(batch)).reshape(-1, 3, 3)[touching] for t in (a, b))
    normal = witness.normal.reshape(-1, 3).copy()
    normal[touching] = best_axis(first, second, separating_axes(first, second))[1]
    return witness._replace(normal=normal.reshape(*batch, 3))


def corners_of(triangles: Triangle) -> Floats:
    """(..., 3, 3) the corners, one a row."""
    return np.stack([triangles.a, triangles.b, triangles.c], axis=-2)


def triangles_of(corners: Floats) -> Triangle:
    """Triangles with corners (..., 3, 3)."""
    return Triangle.trusted(corners[..., 0, :], corners[..., 1, :], corners[..., 2, :])


def separating_axes(a: Floats, b: Floats) -> Floats:
    """(17, m, 3) unit vectors, one of which shows a gap between triangles, corners (m, 3, 3), that are apart.

    The normals, the crossings of edges, and for triangles in one plane the normals of edges in it; zero for
    what a triangle does not have. Two segments or points may be apart and none shows it.
    """
    sides_a, sides_b = (_unit_or_zero(corners[:, _NEXT] - corners) for corners in (a, b))
    normal_a, normal_b = (_normals((corners[:, _NEXT] - corners).T).T for corners in (a, b))
    crossings = _unit_or_zero(cross(sides_a[:, :, None], sides_b[:, None])).reshape(-1, 9, 3)
    in_plane = [cross(n[:, None], sides) for n, sides in ((normal_a, sides_a), (normal_b, sides_b))]
    axes = np.concatenate([normal_a[:, None], normal_b[:, None], crossings, *in_plane], axis=1)
    return np.moveaxis(axes, 1, 0)


def best_axis(a: Floats, b: Floats, axes: Floats) -> tuple[Floats, Floats]:
    """The largest gap (m,) that axes (k, m, 3) show from corners `a` to `b`, and along which (m, 3).

    Negative for an overlap; +X and -inf if no axis has a length.
    """
    shadow_a, shadow_b = (dot(axes[:, :, None], corners - a[:, :1]) for corners in (a, b))
    ahead = shadow_b.min(axis=-1) - shadow_a.max(axis=-1)
    behind = shadow_a.min(axis=-1) - shadow_b.max(axis=-1)
    gaps = np.where((axes != 0).any(axis=-1), np.maximum(ahead, behind), -np.inf)
    best, rows = gaps.argmax(axis=0), np.arange(len(a))
    sign = np.where(ahead >= behind, 1.0, -1.0)[best, rows]
    return gaps[best, rows], unit(axes[best, rows] * sign[:, None])


def _unit_or_zero(vectors: Floats) -> Floats:
    return np.where((vectors != 0).any(axis=-1)[..., None], unit(vectors), 0.0)


def _closest(a: Triangle, b: Triangle) -> tuple[WitnessPoints, Floats]:
    """Closest points of batches and their distance; no directions yet for those that touch."""
    batch = common_batch("triangles", a.shape, b.shape)
    first, second = (corners_of(t.broadcast_to(batch)).reshape(-1, 3, 3) for t in (a, b))
    on_a, on_b, normal = (np.empty((len(first), 3)) for _ in range(3))
    distance = np.empty(len(first))
    for start in range(0, len(first), _PAIRS_AT_ONCE):
        rows = slice(start, start + _PAIRS_AT_ONCE)
        on_a[rows], on_b[rows], normal[rows], distance[rows] = _closest_of(first[rows], second[rows])
    witness = WitnessPoints(*(points.reshape(*batch, 3) for points in (on_a, on_b, normal)))
    return witness, distance.reshape(batch)


def _closest_of(a: Floats, b: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Of corners (m, 3, 3): closest points and the unit vector between (m, 3) each, and the distance (m,)."""
    coordinate = np.maximum(np.abs(a), np.abs(b)).max(axis=(1, 2))
    # Seen from a corner and in units of their own size, halved first as a difference may overflow.
    origin = a[:, :1]
    scale = unit_of_size(np.abs(np.concatenate([a, b], axis=1) * 0.5 - origin * 0.5).max(axis=(1, 2)))
    scale = scale[:, None, None] * 2
    p, q = (
        np.ascontiguousarray(np.moveaxis(x / scale - origin / scale, 0, -1).swapaxes(0, 1)) for x in (a, b)
    )
    on_p, on_q = _nearest_features(p, q)
    _take_crossings(p, q, on_p, on_q)
    offset = (on_q - on_p).T
    scale = scale[:, :, 0]
    distance = length(offset) * scale[:, 0]
    distance[distance <= TOUCH * coordinate] = 0
    return on_p.T * scale + origin[:, 0], on_q.T * scale + origin[:, 0], unit(offset), distance


def _nearest_features(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Closest points (3, m) of triangles (3 axes, 3 corners, m) that do not cross."""
    u, v = p[:, _NEXT] - p, q[:, _NEXT] - q
    uu, vv = dot_first(u, u), dot_first(v, v)
    # Edge i of the first and edge j of the second, (3, i, j, m): w goes from the start of one to the other's.
    w, u, v = q[:, None] - p[:, :, None], u[:, :, None], v[:, None]
    wu, wv = dot_first(w, u), dot_first(w, v)
    n = cross_first(u, v)
    zero = np.zeros_like(wu)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # The ends of each edge on the other: those that begin there. Each corner begins an edge.
        on_u, on_v = _clamped(wu / uu[:, None]), _clamped(-wv / vv[None])
        # Where the lines are closest. By cross products: dot products cancel for nearly parallel edges. What
        # is beyond an end is put there, and then a corner is as close.
        s = _clamped(dot_first(cross_first(w, v), n) / dot_first(n, n))
        t = _clamped((s * dot_first(u, v) - wv) / vv[None])
        s = _clamped((t * dot_first(u, v) + wu) / uu[:, None])
    s, t = np.stack([on_u, zero, s]), np.stack([zero, on_v, t])
    offset = w[:, None] + t * v[:, None] - s * u[:, None]
    squared = dot_first(offset, offset)
    m = p.shape[-1]
    every = np.arange(m)
    best = squared.reshape(27, m).argmin(axis=0)
    least = np.sqrt(squared.reshape(27, m)[best, every])
    way, i, j = np.unravel_index(best, (3, 3, 3))
    on_p = p[:, i, every] + s[way, i, j, every] * u[:, i, 0, every]
    on_q = q[:, j, every] + t[way, i, j, every] * v[:, 0, j, every]
    for corners, face, edges, to_edge, on_corner, on_face in (
        (p, q, v[:, 0], np.sqrt(squared[1].min(axis=1)), on_p, on_q),
        (q, p, u[:, :, 0], np.sqrt(squared[0].min(axis=0)), on_q, on_p),
    ):
        foot, height = _feet(corners, face, edges, to_edge)
        corner = height.argmin(axis=0)
        better = np.flatnonzero(height[corner, every] < least)
        least[better] = height[corner[better], better]
        on_corner[:, better] = corners[:, corner[better], better]
        on_face[:, better] = foot[:, corner[better], better]
    return on_p, on_q


def _feet(corners: Floats, face: Floats, edges: Floats, to_edge: Floats) -> tuple[Floats, Floats]:
    """Of corners (3, 3, m) the points (3, 3, m) straight below in a face, and how far; inf if not in it."""
    normal = _normals(edges)[:, None]
    height = dot_first(corners - face[:, :1], normal)
    # Twice the areas, seen along the normal, that the corner spans with the edges; all of them over the face.
    areas = dot_first(cross_first(edges[:, :, None], corners[:, None] - face[:, :, None]), normal[:, None])
    # A thin triangle's normal is mostly rounding: a point of it is no farther from its edges than it is wide.
    beside = np.sqrt(np.maximum(to_edge * to_edge - height * height, 0))
    longest = np.abs(edges).max(axis=(0, 1))
    over = (areas.min(axis=0) >= 0) & (beside * longest < areas.sum(axis=0))
    return corners - height * normal, np.where(over, np.abs(height), np.inf)


def _normals(sides: Floats) -> Floats:
    """(3, m) unit normals of triangles with sides (3 axes, 3 sides, m); zero where they have none.

    At right angles to the longest side, to rounding, however thin a triangle is: what goes through a needle
    far from its corners is not mistaken.
    """
    sides = sides / np.where(sides.any(axis=(0, 1)), np.abs(sides).max(axis=(0, 1)), 1.0)
    longest, every = dot_first(sides, sides).argmax(axis=0), np.arange(sides.shape[-1])
    along, other = sides[:, longest, every], sides[:, (longest + 1) % 3, every]
    squared = dot_first(along, along)
    part = np.divide(dot_first(other, along), squared, out=np.zeros_like(squared), where=squared > 0)
    return _unit_or_zero(cross_first(along, _unit_or_zero((other - part * along).T).T).T).T


def _take_crossings(p: Floats, q: Floats, on_p: Floats, on_q: Floats) -> None:
    """Where edges of one triangle go through the face of the other, note a point there as the closest."""
    normal_p, normal_q = (_normals(corners[:, _NEXT] - corners)[:, None] for corners in (p, q))
    of_p, of_q = dot_first(p - q[:, :1], normal_q), dot_first(q - p[:, :1], normal_p)
    straddle = [(height.min(axis=0) <= 0) & (height.max(axis=0) >= 0) for height in (of_p, of_q)]
    rows = np.flatnonzero(straddle[0] & straddle[1])
    if not len(rows):
        return
    nearest = length((on_q - on_p)[:, rows].T)
    for edges, face, height, on_edge, on_face in ((p, q, of_p, on_p, on_q), (q, p, of_q, on_q, on_p)):
        edges, face, height = edges[..., rows].T, face[..., rows].T, height[:, rows].T
        with np.errstate(divide="ignore", invalid="ignore"):
            t = _clamped(height / (height - height[:, _NEXT]))[..., None]
        through = edges + t * (edges[:, _NEXT] - edges)
        opposite = closest_on_triangle(through, triangles_of(face[:, None]))
        distance = length(opposite - through)
        best, every = distance.argmin(axis=1), np.arange(len(rows))
        better = np.flatnonzero(distance[every, best] < nearest)
        nearest[better] = distance[better, best[better]]
        on_edge[:, rows[better]] = through[better, best[better]].T
        on_face[:, rows[better]] = opposite[better, best[better]].T


def _clamped(part: Floats) -> Floats:
    """Within [0, 1]; 0 for what is not a number."""
    return np.where(np.isfinite(part), np.clip(part, 0.0, 1.0), 0.0)


def dot_first(a: Floats, b: Floats) -> Floats:
    """Dot products over the first axis, which is the faster one for many short vectors."""
    result: Floats = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return result


def cross_first(a: Floats, b: Floats) -> Floats:
    """Cross products over the first axis."""
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
