"""Distance and overlap of two triangle meshes.

Space: matrices transform each mesh to the world, and results are in world space and its unit.

Sign: the distance is that of the surfaces, never negative; 0 where they touch or cross. Overlap of meshes
counts containment too: a closed component is solid, and a mesh inside overlaps it without touching a
triangle.

Guarantee: exact up to float64 rounding of the largest coordinate; closer triangles touch. All triangles are
two-sided, and may be degenerate to segments or points.

A simultaneous traversal of both sphere trees finds the pairs of triangles that can be closest.
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
    dot,
    largest_component,
    length,
    normalized,
)
from ..numeric.tolerances import DISTANCE_ROUNDING
from .separating_axis import WitnessPoints
from .triangle_triangle import closest_points_triangle_triangle, separation_triangle_triangle, unit_normals

_NEXT = [1, 2, 0]
_BEHIND = 1e-12
"""Part of the coordinates by which a center is behind a plane that it does not pass just now."""
_FAR = 1e3
"""Multiple of rounding that triangles are apart which do not touch."""
_FLAT = 0.25
"""Part of the size of two nodes below which a distance is small for them."""
TOUCHING = np.nextafter(0.0, 1.0)
"""The least distance that is more than 0."""


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

    def run(self, rows: Ints) -> None:
        # Where only a touch counts, no other distances cull anything.
        is_touch = self.best[rows] <= _FAR * self._rounding[rows]
        self.dive(rows[self._are_very_large[rows] & ~is_touch])
        super().run(rows)

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
        best = np.minimum(self.best - self._slack, self.reached)[row]
        for moving, node, sign in zip((self._a, self._b), nodes, (1, -1), strict=True):
            is_near = self._are_very_large[row] | (best < _FLAT * (spheres[1] + spheres[3]))
            rows = np.flatnonzero((low < best) & is_near)
            if not len(rows):
                continue
            near, i, j = row[rows], nodes[0][rows], nodes[1][rows]
            offset = (spheres[2] - spheres[0])[rows]
            normal = moving.facing(moving.start, near, node[rows], sign * offset, self._are_very_large[near])
            apart = dot(offset, normal)
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
    normal = unit_normals((face[:, _NEXT] - face).T).T
    least = _BEHIND * np.maximum(np.abs(face), np.abs(other)).max(axis=(1, 2))
    return np.asarray(dot(other.mean(axis=1) - face[:, 0], normal) < -least)
