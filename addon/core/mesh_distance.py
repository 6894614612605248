"""Two meshes of triangles at rest: how far apart their surfaces are, and whether they overlap.

Both are gone down at once by spheres around their parts, to the pairs of triangles that may be closest; those
answer by the method of two triangles. A mesh that is closed has an inside, and what is in there overlaps it
without touching a triangle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats, Ints, as_floats, length
from .closest_points import closest_on_triangle
from .errors import InvalidShapeError
from .mesh_inside import any_piece_inside
from .mesh_nodes import PosedMesh, least_pair
from .separation_triangles import (
    closest_points_triangle_triangle,
    separation_triangle_triangle,
    triangles_of,
)
from .triangle_mesh import TriangleMesh
from .witness import WitnessPoints

_ROUNDING = 64 * np.finfo(np.float64).eps


class MeshSeparation(NamedTuple):
    """How far two meshes are apart.

    distance : of their surfaces, >= 0; 0 where they touch or cross
    witness : points (3,) where they are closest and the unit vector from the first to the second; of meshes
        that touch, a point that they share
    triangles : the two triangles that these are on, by their places in the meshes
    """

    distance: float
    witness: WitnessPoints
    triangles: tuple[int, int]


def mesh_separation(
    a: TriangleMesh, b: TriangleMesh, matrix_a: ArrayLike | None = None, matrix_b: ArrayLike | None = None
) -> MeshSeparation:
    """The distance between the surfaces of two meshes, each moved by an affine matrix (4, 4) if one is given.

    Exact up to float64 rounding of the largest coordinate: triangles closer than that touch. One-sided
    ones count from both sides, and being inside makes no difference: see `meshes_overlap`. Raises
    InvalidShapeError or NonFiniteGeometryError for what is no matrix.
    """
    return posed_separation(*_posed(a, b, matrix_a, matrix_b))


def meshes_overlap(
    a: TriangleMesh, b: TriangleMesh, matrix_a: ArrayLike | None = None, matrix_b: ArrayLike | None = None
) -> bool:
    """Whether a triangle of one mesh touches one of the other, or a piece of one is inside the other.

    A piece is what hangs together by corners, and those are the same if their coordinates are, exactly. It is
    closed if each of its edges belongs to an even number of triangles; one that is not contains nothing. A
    mesh is solid where its closed pieces wind around, in whatever direction: pieces that overlap are both
    solid, and a shell whose inner wall faces the other way than the outer is hollow. A closed piece whose
    triangles do not all face the same way is solid where a line has to pass it an odd number of times.

    Exact up to float64 rounding of the largest coordinate, as `mesh_separation`, and raises like it; matrices
    are affine, (4, 4).
    """
    return posed_overlap(*_posed(a, b, matrix_a, matrix_b))


def posed_separation(a: PosedMesh, b: PosedMesh) -> MeshSeparation:
    """`mesh_separation` of meshes in the world."""
    distance, i, j = _closest(a, b, np.inf)
    pair = np.array([i]), np.array([j])
    witness = closest_points_triangle_triangle(a.triangles(pair[0]), b.triangles(pair[1]))
    places = int(a.order[a.places(pair[0])][0]), int(b.order[b.places(pair[1])][0])
    return MeshSeparation(distance, WitnessPoints(*(points[0] for points in witness)), places)


def posed_overlap(a: PosedMesh, b: PosedMesh) -> bool:
    """`meshes_overlap` of meshes in the world."""
    if posed_within(a, b, 0.0):
        return True
    box_a, box_b = (triangles_of(mesh.corners()).aabb() for mesh in (a, b))
    reach = [(box.min.min(axis=0), box.max.max(axis=0)) for box in (box_a, box_b)]
    if (reach[0][0] > reach[1][1]).any() or (reach[1][0] > reach[0][1]).any():
        return False
    return any_piece_inside(a.corners(), b.corners()) or any_piece_inside(b.corners(), a.corners())


def posed_within(a: PosedMesh, b: PosedMesh, clearance: float) -> bool:
    """Whether surfaces in the world are no farther apart than `clearance`."""
    limit = np.nextafter(clearance, np.inf)
    return _closest(a, b, limit)[1] >= 0


def _posed(
    a: TriangleMesh, b: TriangleMesh, matrix_a: ArrayLike | None, matrix_b: ArrayLike | None
) -> tuple[PosedMesh, PosedMesh]:
    posed = []
    for mesh, matrix in ((a, matrix_a), (b, matrix_b)):
        posed.append(PosedMesh.of(mesh, None if matrix is None else as_matrix(matrix)))
    return posed[0], posed[1]


def as_matrix(matrix: ArrayLike) -> Floats:
    """One affine matrix, (4, 4). Raises InvalidShapeError or NonFiniteGeometryError."""
    array = as_floats(matrix, "matrix", (4, 4))
    if array.ndim != 2:
        raise InvalidShapeError(f"matrix: one (4, 4) is needed, not {array.shape}")
    return array


def _closest(a: PosedMesh, b: PosedMesh, limit: float) -> tuple[float, int, int]:
    """The least distance of triangles below `limit`, and their nodes; -1 for none."""

    def bounds(i: Ints, j: Ints, reached: float) -> tuple[Ints, Floats, Floats, Floats]:
        first, second = a.spheres(i), b.spheres(j)
        apart = length(second.center - first.center)
        radii = first.radius + second.radius
        size = np.maximum(np.abs(first.center), np.abs(second.center)).max(axis=-1) + radii
        slack = _ROUNDING * size
        near_a, near_b = a.near(i), b.near(j)
        low, high = apart - radii - slack, apart + near_a + near_b
        reached = min(reached, float(high.min(initial=np.inf)))
        rows = np.flatnonzero(low <= reached)
        low, high, slack = low[rows], high[rows], slack[rows]
        # A large triangle is told from the sphere around it.
        for mesh, nodes, around, other, near in (
            (a, i, first, second, near_b),
            (b, j, second, first, near_a),
        ):
            large = np.flatnonzero(
                (mesh.places(nodes[rows]) >= 0) & (other.radius[rows] < around.radius[rows])
            )
            if len(large):
                at = rows[large]
                nearest = closest_on_triangle(other.center[at], mesh.triangles(nodes[at]))
                distance = length(nearest - other.center[at])
                low[large] = np.maximum(low[large], distance - other.radius[at] - slack[large])
                high[large] = np.minimum(high[large], distance + near[at])
        # Near each other and small: those soon tell a distance that drops the rest.
        return rows, np.maximum(low, 0.0), high, high

    def values(i: Ints, j: Ints, low: Floats, best: float) -> tuple[float, int]:
        distance = separation_triangle_triangle(a.triangles(i), b.triangles(j))
        nearest = int(distance.argmin())
        return float(distance[nearest]), nearest

    return least_pair(a.nodes, b.nodes, bounds, values, limit)
