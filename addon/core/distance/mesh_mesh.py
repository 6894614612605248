"""Distance and overlap of two triangles, and of two triangle meshes.

Space: matrices transform each mesh to the world, and results are in world space and its unit; those of
triangles are in their space and unit.

Sign: the distance is that of the surfaces, never negative; 0 where they touch or cross. Overlap of meshes
counts containment too: a closed component is solid, and a mesh inside overlaps it without touching a
triangle.

Guarantee: exact up to float64 rounding of the largest coordinate; closer triangles touch. All triangles are
two-sided, and may be degenerate to segments or points.

The closest features of two triangles are a corner and a face, or two edges, or an edge crosses a face. All
are evaluated as points on both triangles, so that no candidate gives less than the distance. A simultaneous
traversal of both sphere trees finds the pairs of triangles of two meshes that can be closest.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShapeError
from ..mesh.meshes import Meshes, moving_nodes
from ..mesh.node_pool import MovingNodes, offsets_between
from ..mesh.pair_search import QueuedPairs
from ..mesh.points_inside import are_inside
from ..mesh.support_search import SupportSearch
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arguments import require_type
from ..numeric.arrays import (
    Bools,
    Floats,
    Ints,
    as_floats,
    cross,
    cross_first,
    dot,
    dot_first,
    largest_component,
    length,
    normalized,
    power_of_two_scale,
    unit_or_zero,
)
from ..numeric.tolerances import DISTANCE_ROUNDING, GAP_ROUNDING
from ..shapes.primitives import closest_on_triangle, triangles_from_corners
from .separating_axis import WitnessPoints

_PAIRS_AT_ONCE = 1024
_NEXT = [1, 2, 0]
_BEHIND = 1e-12
"""Part of the coordinates by which a center is behind a plane that it does not pass just now."""
_FAR = 1e3
"""Multiple of rounding that triangles are apart which do not touch."""
_FLAT = 0.25
"""Part of the size of two nodes below which a distance is small for them."""
TOUCHING = np.nextafter(0.0, 1.0)
"""The least distance that is more than 0."""


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
    normal_a, normal_b = (_normals((corners[:, _NEXT] - corners).T).T for corners in (a, b))
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
    normal = _normals(edges)[:, None]
    height = dot_first(corners - face[:, :1], normal)
    # Twice the signed areas that the projection spans with the edges; none is negative inside the face.
    areas = dot_first(cross_first(edges[:, :, None], corners[:, None] - face[:, :, None]), normal[:, None])
    # The normal of a thin triangle is mostly rounding. So also check that the projection is no farther from
    # the nearest edge than the triangle is wide.
    in_plane = np.sqrt(np.maximum(least * least - height * height, 0))
    longest = np.abs(edges).max(axis=(0, 1))
    is_inside = (areas.min(axis=0) >= 0) & (in_plane * longest < areas.sum(axis=0))
    return corners - height * normal, np.where(is_inside, np.abs(height), np.inf)


def _normals(sides: Floats) -> Floats:
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
    normal_p, normal_q = (_normals(corners[:, _NEXT] - corners)[:, None] for corners in (p, q))
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


class MeshSeparation(NamedTuple):
    """The distance of two meshes.

    Attributes
    ----------
    distance : float
        Distance of the surfaces, >= 0; 0 where they touch or cross.
    witness : WitnessPoints, (3,) each
        Closest points in world space and the unit vector from the first mesh to the second; a shared point
        where they touch.
    triangles : two int
        Indices of the triangles that the points are on.
    """

    distance: float
    witness: WitnessPoints
    triangles: tuple[int, int]


def mesh_separation(
    a: TriangleMesh, b: TriangleMesh, matrix_a: ArrayLike | None = None, matrix_b: ArrayLike | None = None
) -> MeshSeparation:
    """Find the distance between the surfaces of two meshes.

    Exact up to float64 rounding of the largest coordinate: closer triangles touch. One-sided triangles count
    from both sides. Containment makes no difference: see `meshes_overlap`.

    Parameters
    ----------
    a, b : TriangleMesh
        Each in its local space.
    matrix_a, matrix_b : (4, 4) float, optional
        Affine matrices to the world; the identity by default.

    Returns
    -------
    separation : MeshSeparation
        In world space.

    Raises
    ------
    InvalidShapeError, NonFiniteGeometryError
        For an invalid matrix.
    """
    first, second = _posed(a, matrix_a, "a"), _posed(b, matrix_b, "b")
    nodes = moving_nodes((first, first), (second, second))
    distance, triangles = closest_triangles(*nodes, np.array([np.inf]))
    witness = closest_points_of_nodes(*nodes, np.zeros(1, dtype=np.int64), triangles)
    numbers = (
        int(mesh.nodes.tree.order[mesh.nodes.nodes.first_triangle[node]])
        for mesh, node in zip((a, b), triangles[:, 0], strict=True)
    )
    return MeshSeparation(
        float(distance[0]), WitnessPoints(*(points[0] for points in witness)), (next(numbers), next(numbers))
    )


def meshes_overlap(
    a: TriangleMesh, b: TriangleMesh, matrix_a: ArrayLike | None = None, matrix_b: ArrayLike | None = None
) -> bool:
    """Decide whether triangles of two meshes touch, or a component of one mesh is inside the other.

    Components are connected by corners with exactly equal coordinates. A component is closed if each of its
    edges belongs to an even number of triangles; open components contain nothing. A mesh is solid where the
    winding number of its closed components is not zero: components that overlap are both solid, and a shell
    is hollow if its inner wall is oriented against the outer one. A closed component of mixed orientation is
    solid where a ray crosses it an odd number of times.

    Exact up to float64 rounding of the largest coordinate, like `mesh_separation`.

    Parameters
    ----------
    a, b : TriangleMesh
        Each in its local space.
    matrix_a, matrix_b : (4, 4) float, optional
        Affine matrices to the world; the identity by default.

    Returns
    -------
    overlap : bool

    Raises
    ------
    InvalidShapeError, NonFiniteGeometryError
        For an invalid matrix.
    """
    first, second = _posed(a, matrix_a, "a"), _posed(b, matrix_b, "b")
    touching = closest_triangles(*moving_nodes((first, first), (second, second)), np.array([TOUCHING]))[1]
    return bool(touching[0, 0] >= 0 or are_inside(first, second)[0])


def _posed(mesh: TriangleMesh, matrix: ArrayLike | None, name: str) -> Meshes:
    """Pose a mesh by a matrix (4, 4) or None, in a batch of one; raises the errors of `mesh_separation`."""
    require_type(mesh, TriangleMesh, name)
    pose = np.eye(4) if matrix is None else as_floats(matrix, f"matrix_{name}", (4, 4))
    if pose.ndim != 2:
        raise InvalidShapeError(f"matrix_{name}: one (4, 4) is needed, not {pose.shape}")
    return Meshes(mesh, pose[None])


def closest_triangles(
    a: MovingNodes,
    b: MovingNodes,
    limit: Floats,
    rows: Ints | None = None,
    slack: Floats | None = None,
    guess: Ints | None = None,
) -> tuple[Floats, Ints]:
    """Find the closest triangles of pairs of meshes (m,) at the start of their motion.

    Exact up to float64 rounding of the largest coordinate: closer triangles touch.

    a, b : MovingNodes, (m,). In one space and unit.
    limit : (m,) float64. Only smaller distances count, and not those of triangles behind one-sided ones.
    rows : (r,) int64. Pairs to solve; all by default.
    slack : (m,) float64. Triangles that are nearer by less than this need not be found; 0 by default.
    guess : (2, m) int64. Nodes of triangles that may be the closest ones; -1 for unknown.
    Returns distance : (m,) float64, >= 0. The limit where there is no smaller one.
    Returns nodes : (2, m) int64. Nodes of the triangles; -1 for none.
    """
    search = DistanceSearch(a, b, limit, slack)
    rows = np.arange(len(limit)) if rows is None else rows
    if guess is not None:
        guessed = rows[guess[0, rows] >= 0]
        search.solve(guessed, guess[:, guessed])
    search.run(rows)
    return search.best, search.nodes


def closest_on_any_side(a: MovingNodes, b: MovingNodes) -> Ints:
    """Find nodes (2, m) of the closest triangles of meshes, at the start of their motion.

    Those behind one-sided triangles count if there are no others: because of rounding, what just comes to the
    front of a face may be behind it.
    """
    limit = np.full(len(a.start.root), np.inf)
    nodes = closest_triangles(a, b, limit)[1]
    behind = np.flatnonzero(nodes[0] < 0)
    if len(behind):
        nodes[:, behind] = closest_triangles(a.two_sided(), b.two_sided(), limit, behind)[1][:, behind]
    return nodes


def closest_points_of_nodes(a: MovingNodes, b: MovingNodes, rows: Ints, triangles: Ints) -> WitnessPoints:
    """Closest points (r, 3) of triangles (2, r) of pairs of meshes in rows (r,), at the start of a motion.

    Exact like `closest_points_triangle_triangle`.
    """
    corners = (
        each.corners_at_once(each.start, rows, node) for each, node in zip((a, b), triangles, strict=True)
    )
    return closest_points_triangle_triangle(*corners)


class DistanceSearch(SupportSearch):
    """Search for the closest triangles of meshes, at the start of their motion."""

    def __init__(self, a: MovingNodes, b: MovingNodes, limit: Floats, slack: Floats | None) -> None:
        super().__init__(a, b, limit, slack)
        self._scale = a.radius_of_roots() + b.radius_of_roots()
        self._scale[self._scale == 0] = 1.0
        # Not all triangles of these count, so a node proves nothing about the least distance.
        self._is_partial = a.start.one_sided | b.start.one_sided

    @cached_property
    def _offset(self) -> Floats:
        """Unit vectors (m, 3) from the centers of the first meshes to those of the second ones."""
        a, b = self._a, self._b
        return normalized(b.around(b.start)[0] - a.around(a.start)[0])

    def directions(self, rows: Ints) -> Floats:
        result = self._offset[rows]
        known = np.flatnonzero(self.nodes[0, rows] >= 0)
        row = rows[known]
        result[known] = closest_points_of_nodes(self._a, self._b, row, self.nodes[:, row]).normal
        return result

    def lowest_values(self, rows: Ints, first: Floats, last: Floats) -> Floats:
        return first

    def most(self, rows: Ints) -> Floats:
        # Triangles that share a corner are as near: of these, one is enough.
        rounding, best = 4 * self._rounding[rows], self.best[rows]
        is_found = (self.nodes[0, rows] >= 0) & (best > _FAR * rounding)
        return np.asarray(best - np.maximum(self._slack[rows], np.where(is_found, rounding, 0.0)))

    def may_be_less(self, pairs: QueuedPairs) -> Bools:
        a, b = (
            each.corners_at_once(each.start, pairs.row, node)
            for each, node in ((self._a, pairs.i), (self._b, pairs.j))
        )
        apart = np.maximum(b.min(axis=1) - a.max(axis=1), a.min(axis=1) - b.max(axis=1))
        return np.asarray(length(np.maximum(apart, 0.0)) - self._rounding[pairs.row] < self.most(pairs.row))

    def bounds(self, row: Ints, i: Ints, j: Ints) -> tuple[Ints, Floats, Floats, Floats]:
        first, second = self._a.at_once(self._a.start, row, i), self._b.at_once(self._b.start, row, j)
        apart, radii = second[0] - first[0], first[1] + second[1]
        size = np.maximum(largest_component(first[0]), largest_component(second[0])) + radii
        slack, distance = DISTANCE_ROUNDING * size, length(apart)
        places = np.flatnonzero(distance - radii - slack <= self.reached[row])
        row, i, j, apart = row[places], i[places], j[places], apart[places]
        spheres = tuple(each[places] for each in (*first, *second))
        offset, is_large = offsets_between(self._a, self._b, row, (i, j), spheres)
        direction = normalized(offset)
        reach = self._a.extents(self._a.start, row, i, direction, spheres[1])
        reach += self._b.extents(self._b.start, row, j, -direction, spheres[3])
        low = np.maximum((distance - radii)[places], dot(apart, direction) - reach) - slack[places]
        self._raise_along_normals(low, row, (i, j), spheres, slack[places])
        near = self._a.near_distance(row, i), self._b.near_distance(row, j)
        high = length(offset) + np.where(is_large, 0.0, near).sum(axis=0)
        # The upper bound is the priority, because small nodes close together soon give a distance that culls
        # others.
        above = np.where(self._is_partial[row], np.inf, high)
        return places, np.maximum(low, 0.0), above, high / self._scale[row]

    def _raise_along_normals(
        self, low: Floats, row: Ints, nodes: tuple[Ints, Ints], spheres: tuple[Floats, ...], slack: Floats
    ) -> None:
        """Raise lower bounds (n,) of distances of nodes (n,) in place, where these may be near each other.

        Nodes of surfaces that lie along each other are apart along their normals alone.
        """
        best = (self.best - self._slack)[row]
        for moving, node in zip((self._a, self._b), nodes, strict=True):
            rows = np.flatnonzero((low < best) & (best < _FLAT * (spheres[1] + spheres[3])))
            if not len(rows):
                continue
            near, i, j = row[rows], nodes[0][rows], nodes[1][rows]
            normal = moving.facing(moving.start, near, node[rows])
            apart = dot((spheres[2] - spheres[0])[rows], normal)
            ahead = np.where(apart[:, None] < 0, -normal, normal)
            reach = self._a.extents(self._a.start, near, i, ahead, spheres[1][rows])
            reach += self._b.extents(self._b.start, near, j, -ahead, spheres[3][rows])
            low[rows] = np.maximum(low[rows], np.abs(apart) - reach - slack[rows])

    def values(self, row: Ints, i: Ints, j: Ints, low: Floats, is_quick: bool) -> tuple[Floats, Floats]:
        pairs = (self._a, i), (self._b, j)
        sides = [nodes.corners_at_once(nodes.start, row, node) for nodes, node in pairs]
        distance = separation_triangle_triangle(*sides)
        if self._is_partial.any():
            for nodes, (face, other) in ((self._a, sides), (self._b, sides[::-1])):
                distance[nodes.start.one_sided[row] & _are_behind(face, other)] = np.nan
        return distance, np.full(len(row), np.nan)


def _are_behind(face: Floats, other: Floats) -> Bools:
    """Mask (m,) of triangles whose center is behind the plane of a face; corners (m, 3, 3) each."""
    normal = _normals((face[:, _NEXT] - face).T).T
    least = _BEHIND * np.maximum(np.abs(face), np.abs(other)).max(axis=(1, 2))
    return np.asarray(dot(other.mean(axis=1) - face[:, 0], normal) < -least)
