"""Distance and closest points of two triangles, and the axes that may separate them.

Space: corners and results are in one space and unit.

Sign: the distance is never negative; 0 where triangles touch or cross.

Guarantee: exact up to float64 rounding of the largest coordinate; closer triangles touch. All triangles are
two-sided, and may be degenerate to segments or points.

The closest features of two triangles are a corner and a face, or two edges, or an edge crosses a face. All
are evaluated as points on both triangles, so that no candidate gives less than the distance.
"""

from __future__ import annotations

import numpy as np

from ..numeric.arrays import (
    Floats,
    cross,
    cross_first,
    dot,
    dot_first,
    length,
    normalized,
    power_of_two_scale,
    unit_or_zero,
)
from ..numeric.tolerances import GAP_ROUNDING
from ..progress import pause
from ..shapes.primitives import closest_on_triangle, triangles_from_corners
from .separating_axis import WitnessPoints

_PAIRS_AT_ONCE = 1024
_NEXT = [1, 2, 0]


def separation_triangle_triangle(a: Floats, b: Floats) -> Floats:
    """Compute the distance of two triangles. Exact up to float64 rounding of the largest coordinate.

    a, b : (m, 3, 3) float64. Corners, one in each row, in one space.
    Returns separation : (m,) float64, >= 0. 0 where they touch or cross; triangles closer than that
        rounding touch.
    """
    return _closest(a, b)[1]


def closest_points_triangle_triangle(a: Floats, b: Floats) -> WitnessPoints:
    """Closest points of two triangles, and the unit vector from `a` to `b`.

    Exact like `separation_triangle_triangle`.

    a, b : (m, 3, 3) float64. Corners, one in each row, in one space.
    Returns witness : WitnessPoints, (m, 3) each. Where triangles touch or cross, a shared point, to rounding,
        and the axis along which they overlap least.
    """
    witness, distance = _closest(a, b)
    touching = np.flatnonzero(distance == 0)
    if len(touching):
        first, second = a[touching], b[touching]
        witness.normal[touching] = best_axis(first, second, separating_axes(first, second))[1]
    return witness


def separating_axes(a: Floats, b: Floats) -> Floats:
    """Compute candidate separating axes of triangles.

    They are the normals, the cross products of edges, and for coplanar triangles the normals of edges
    within the plane. Exact: triangles that are apart have a gap along one of them, except for two segments or
    points.

    a, b : (m, 3, 3) float64. Corners, one in each row.
    Returns axes : (17, m, 3) float64. Unit vectors; zero where a degenerate triangle has none.
    """
    sides_a, sides_b = (unit_or_zero(corners[:, _NEXT] - corners) for corners in (a, b))
    normal_a, normal_b = (unit_normals((corners[:, _NEXT] - corners).T).T for corners in (a, b))
    crossings = unit_or_zero(cross(sides_a[:, :, None], sides_b[:, None])).reshape(-1, 9, 3)
    in_plane = [cross(n[:, None], sides) for n, sides in ((normal_a, sides_a), (normal_b, sides_b))]
    axes = np.concatenate([normal_a[:, None], normal_b[:, None], crossings, *in_plane], axis=1)
    return np.moveaxis(axes, 1, 0)


def best_axis(a: Floats, b: Floats, axes: Floats, later: Floats | None = None) -> tuple[Floats, Floats]:
    """Find the axis of the largest gap between triangles with corners (m, 3, 3).

    a, b : (m, 3, 3) float64. Corners, one in each row.
    axes : (k, m, 3) float64. Unit vectors, or zero for none.
    later : (k, m, 3) float64. These axes at a later time, at which the best one is returned.
    Returns gap : (m,) float64. Negative for an overlap; -inf if there are no axes.
    Returns axis : (m, 3) float64. Unit vectors from `a` to `b`; +X if there are no axes.
    """
    interval_a, interval_b = (dot(axes[:, :, None], corners - a[:, :1]) for corners in (a, b))
    ahead = interval_b.min(axis=-1) - interval_a.max(axis=-1)
    behind = interval_a.min(axis=-1) - interval_b.max(axis=-1)
    gaps = np.where((axes != 0).any(axis=-1), np.maximum(ahead, behind), -np.inf)
    best, rows = gaps.argmax(axis=0), np.arange(len(a))
    axis, is_ahead = axes[best, rows], (ahead >= behind)[best, rows]
    if later is not None:
        axis = np.where((later[best, rows] != 0).any(axis=1, keepdims=True), later[best, rows], axis)
    return gaps[best, rows], normalized(np.where(is_ahead[:, None], axis, -axis))


def _closest(a: Floats, b: Floats) -> tuple[WitnessPoints, Floats]:
    """Witness points and distances (m,) of corners (m, 3, 3); the normal is undefined where they touch."""
    on_a, on_b, normal = (np.empty((len(a), 3)) for _ in range(3))
    distance = np.empty(len(a))
    for start in range(0, len(a), _PAIRS_AT_ONCE):
        pause()
        rows = slice(start, start + _PAIRS_AT_ONCE)
        on_a[rows], on_b[rows], normal[rows], distance[rows] = _closest_of(a[rows], b[rows])
    return WitnessPoints(on_a, on_b, normal), distance


def _closest_of(a: Floats, b: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Closest points and unit vectors (m, 3) each, and distances (m,), of corners (m, 3, 3)."""
    coordinate = np.maximum(np.abs(a), np.abs(b)).max(axis=(1, 2))
    # Scale to unit size before moving a corner to the origin, because a difference can overflow.
    origin, scale = a[:, :1], power_of_two_scale(coordinate)[:, None, None]
    p, q = (
        np.ascontiguousarray(np.moveaxis(x / scale - origin / scale, 0, -1).swapaxes(0, 1)) for x in (a, b)
    )
    on_p, on_q = _nearest_features(p, q)
    _add_crossings(p, q, on_p, on_q)
    offset = (on_q - on_p).T
    scale = scale[:, :, 0]
    distance = length(offset) * scale[:, 0]
    distance[distance <= GAP_ROUNDING * coordinate] = 0
    return on_p.T * scale + origin[:, 0], on_q.T * scale + origin[:, 0], normalized(offset), distance


def _nearest_features(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Closest points (3, m) of triangles (3 axes, 3 corners, m), without crossings.

    Those of two edges, unless a corner is closer to the face of the other triangle.
    """
    on_p, on_q, least = _nearest_on_edges(p, q)
    every = np.arange(p.shape[-1])
    for corners, face, on_corner, on_face in ((p, q, on_p, on_q), (q, p, on_q, on_p)):
        foot, height = _project_on_face(corners, face, least)
        corner = height.argmin(axis=0)
        better = np.flatnonzero(height[corner, every] < least)
        corner = corner[better]
        least[better] = height[corner, better]
        on_corner[:, better], on_face[:, better] = corners[:, corner, better], foot[:, corner, better]
    return on_p, on_q


def _nearest_on_edges(p: Floats, q: Floats) -> tuple[Floats, Floats, Floats]:
    """Closest points (3, m) on edges of triangles (3 axes, 3 corners, m), and their distances (m,).

    Of edge i of the first and edge j of the second, (3, i, j, m), these are p + s u and q + t v, or an end of
    one and its projection on the other: every corner is the start of an edge.
    """
    u, v = (p[:, _NEXT] - p)[:, :, None], (q[:, _NEXT] - q)[:, None]
    # From the start of one edge to that of the other.
    w, n = q[:, None] - p[:, :, None], cross_first(u, v)
    uu, vv, uv, wu, wv = (dot_first(a, b) for a, b in ((u, u), (v, v), (u, v), (w, u), (w, v)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # Closest points of the lines, by cross products, because dot products cancel for nearly parallel
        # edges. Points beyond an end are clamped to it; then a corner is as close.
        s = _clamped(dot_first(cross_first(w, v), n) / dot_first(n, n))
        t = _clamped((s * uv - wv) / vv)
        s = _clamped((t * uv + wu) / uu)
        # By feature: the start of the second edge, that of the first, and both lines.
        t = np.stack([np.zeros_like(t), _clamped(-wv / vv), t])
        s = np.stack([_clamped(wu / uu), np.zeros_like(s), s])
    offset = w[:, None] + t * v[:, None] - s * u[:, None]
    squared = dot_first(offset, offset).reshape(27, -1)
    best, every = squared.argmin(axis=0), np.arange(p.shape[-1])
    feature, i, j = np.unravel_index(best, (3, 3, 3))
    on_p = p[:, i, every] + s[feature, i, j, every] * u[:, i, 0, every]
    on_q = q[:, j, every] + t[feature, i, j, every] * v[:, 0, j, every]
    return on_p, on_q, np.sqrt(squared[best, every])


def _project_on_face(corners: Floats, face: Floats, least: Floats) -> tuple[Floats, Floats]:
    """Project corners (3, 3, m) on faces (3, 3, m).

    Returns the projections (3, 3, m) and the distances (3, m); inf where the projection is outside the face.
    `least` (m,) are the distances of other features; a corner may be closer only above the face.
    """
    edges = face[:, _NEXT] - face
    normal = unit_normals(edges)[:, None]
    height = dot_first(corners - face[:, :1], normal)
    # Twice the signed areas that the projection spans with the edges; none is negative inside the face.
    areas = dot_first(cross_first(edges[:, :, None], corners[:, None] - face[:, :, None]), normal[:, None])
    # The normal of a thin triangle is mostly rounding. So also check that the projection is no farther from
    # the nearest edge than the triangle is wide.
    in_plane = np.sqrt(np.maximum(least * least - height * height, 0))
    longest = np.abs(edges).max(axis=(0, 1))
    is_inside = (areas.min(axis=0) >= 0) & (in_plane * longest < areas.sum(axis=0))
    return corners - height * normal, np.where(is_inside, np.abs(height), np.inf)


def unit_normals(sides: Floats) -> Floats:
    """Compute unit normals (3, m) from sides (3 axes, 3 sides, m); zero where the area is zero.

    Perpendicular to the longest side, to rounding, however thin a triangle is. So crossings of a needle are
    exact even far from its corners.
    """
    sides = sides / power_of_two_scale(np.abs(sides).max(axis=(0, 1)))
    longest, every = dot_first(sides, sides).argmax(axis=0), np.arange(sides.shape[-1])
    along, other = sides[:, longest, every], sides[:, (longest + 1) % 3, every]
    across = other * dot_first(along, along) - dot_first(other, along) * along
    return unit_or_zero(cross_first(along, unit_or_zero(across.T).T).T).T


def _add_crossings(p: Floats, q: Floats, on_p: Floats, on_q: Floats) -> None:
    """Replace the closest points (3, m) in place where edges of one triangle cross the face of the other."""
    normal_p, normal_q = (unit_normals(corners[:, _NEXT] - corners)[:, None] for corners in (p, q))
    # The first corner of `p` is the origin.
    of_p, of_q = dot_first(p - q[:, :1], normal_q), dot_first(q, normal_p)
    is_straddling = [(height.min(axis=0) <= 0) & (height.max(axis=0) >= 0) for height in (of_p, of_q)]
    rows = np.flatnonzero(is_straddling[0] & is_straddling[1])
    if not len(rows):
        return
    nearest = length((on_q - on_p)[:, rows].T)
    for edges, face, height, on_edge, on_face in ((p, q, of_p, on_p, on_q), (q, p, of_q, on_q, on_p)):
        edges, face, height = edges[..., rows].T, face[..., rows].T, height[:, rows].T
        with np.errstate(divide="ignore", invalid="ignore"):
            t = _clamped(height / (height - height[:, _NEXT]))[..., None]
        through = edges + t * (edges[:, _NEXT] - edges)
        opposite = closest_on_triangle(through, triangles_from_corners(face[:, None]))
        distance = length(opposite - through)
        best, every = distance.argmin(axis=1), np.arange(len(rows))
        better = np.flatnonzero(distance[every, best] < nearest)
        nearest[better] = distance[better, best[better]]
        on_edge[:, rows[better]] = through[better, best[better]].T
        on_face[:, rows[better]] = opposite[better, best[better]].T


def _clamped(part: Floats) -> Floats:
    """Clamp parameters to [0, 1]; 0 where they are not finite."""
    return np.where(np.isfinite(part), np.clip(part, 0.0, 1.0), 0.0)
