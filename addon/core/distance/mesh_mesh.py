"""Distance and overlap of two triangle meshes.

Space: matrices transform each mesh to the world, and results are in world space and its unit.

Sign: the distance is that of the surfaces, never negative; 0 where they touch or cross. Overlap counts
containment too: a closed component is solid, and a mesh inside overlaps it without touching a triangle.

Guarantee: exact up to float64 rounding of the largest coordinate; closer triangles touch.

A simultaneous traversal of both sphere trees finds the pairs of triangles that can be closest. Those are
solved by the method of two triangles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShapeError
from ..mesh.containment import has_component_inside
from ..mesh.mesh_bvh import MeshPairSearch, PosedMesh
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arguments import require_type
from ..numeric.arrays import Floats, Ints, as_floats, length
from ..numeric.tolerances import DISTANCE_ROUNDING
from ..shapes.primitives import closest_on_triangle, triangles_from_corners
from .triangle_triangle import closest_points_triangle_triangle, separation_triangle_triangle
from .witness import WitnessPoints


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
    return posed_separation(*_posed(a, b, matrix_a, matrix_b))


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
    return posed_overlap(*_posed(a, b, matrix_a, matrix_b))


def posed_separation(a: PosedMesh, b: PosedMesh) -> MeshSeparation:
    """Find the distance between the surfaces of two posed meshes, like `mesh_separation`. Exact.

    a, b : In world space.
    Returns separation : MeshSeparation. In world space.
    """
    distance, i, j = _closest(a, b, np.inf)
    pair = np.array([i]), np.array([j])
    witness = closest_points_triangle_triangle(a.triangles(pair[0]), b.triangles(pair[1]))
    slots = int(a.order[a.slots(pair[0])][0]), int(b.order[b.slots(pair[1])][0])
    return MeshSeparation(distance, WitnessPoints(*(points[0] for points in witness)), slots)


def posed_overlap(a: PosedMesh, b: PosedMesh) -> bool:
    """Decide whether two posed meshes overlap, like `meshes_overlap`. Exact.

    a, b : In world space.
    """
    if posed_within(a, b, 0.0):
        return True
    box_a, box_b = (triangles_from_corners(mesh.corners()).aabb() for mesh in (a, b))
    extents = [(box.min.min(axis=0), box.max.max(axis=0)) for box in (box_a, box_b)]
    if (extents[0][0] > extents[1][1]).any() or (extents[1][0] > extents[0][1]).any():
        return False
    return has_component_inside(a.corners(), b.corners()) or has_component_inside(b.corners(), a.corners())


def posed_within(a: PosedMesh, b: PosedMesh, clearance: float) -> bool:
    """Decide whether the surfaces of two posed meshes are within a distance. Exact up to float64 rounding.

    a, b : In world space.
    clearance : Largest distance, in the unit of the meshes.
    """
    limit = np.nextafter(clearance, np.inf)
    return _closest(a, b, limit)[1] >= 0


def _posed(
    a: TriangleMesh, b: TriangleMesh, matrix_a: ArrayLike | None, matrix_b: ArrayLike | None
) -> tuple[PosedMesh, PosedMesh]:
    """Pose two meshes by matrices (4, 4) or None; raises the errors of `mesh_separation`."""
    posed = []
    for mesh, matrix, name in ((a, matrix_a, "a"), (b, matrix_b, "b")):
        require_type(mesh, TriangleMesh, name)
        posed.append(PosedMesh.of(mesh, None if matrix is None else _as_matrix(matrix, f"matrix_{name}")))
    return posed[0], posed[1]


def _as_matrix(matrix: ArrayLike, name: str) -> Floats:
    """Convert to one finite affine matrix (4, 4); errors name the argument."""
    array = as_floats(matrix, name, (4, 4))
    if array.ndim != 2:
        raise InvalidShapeError(f"{name}: one (4, 4) is needed, not {array.shape}")
    return array


def _closest(a: PosedMesh, b: PosedMesh, limit: float) -> tuple[float, int, int]:
    """Smallest distance of triangles below `limit`, and their nodes; `limit` and -1 for none."""
    search = _DistanceSearch(a, b, limit)
    search.run()
    return search.best, *search.nodes


class _DistanceSearch(MeshPairSearch):
    """Search for the closest triangles of two posed meshes."""

    def __init__(self, a: PosedMesh, b: PosedMesh, limit: float) -> None:
        super().__init__(a.nodes, b.nodes, limit)
        self._meshes = a, b

    def bounds(self, i: Ints, j: Ints) -> tuple[Ints, Floats, Floats, Floats]:
        a, b = self._meshes
        first, second = a.spheres(i), b.spheres(j)
        distance, radii = length(second.center - first.center), first.radius + second.radius
        size = np.maximum(np.abs(first.center), np.abs(second.center)).max(axis=-1) + radii
        slack = DISTANCE_ROUNDING * size
        near_a, near_b = a.near_distance(i), b.near_distance(j)
        low, high = distance - radii - slack, distance + near_a + near_b
        rows = np.flatnonzero(low <= min(self.reached, float(high.min(initial=np.inf))))
        low, high, slack = low[rows], high[rows], slack[rows]
        for mesh, nodes, large, small, near in (
            (a, i[rows], first[rows], second[rows], near_b[rows]),
            (b, j[rows], second[rows], first[rows], near_a[rows]),
        ):
            # Tighten the bounds for triangles larger than the other node: instead of its sphere.
            at = np.flatnonzero((mesh.slots(nodes) >= 0) & (small.radius < large.radius))
            if len(at):
                center = small.center[at]
                to_triangle = length(closest_on_triangle(center, mesh.triangles(nodes[at])) - center)
                low[at] = np.maximum(low[at], to_triangle - small.radius[at] - slack[at])
                high[at] = np.minimum(high[at], to_triangle + near[at])
        # The upper bound is the priority, because small nodes close together soon give a distance that culls
        # others.
        return rows, np.maximum(low, 0.0), high, high

    def values(self, i: Ints, j: Ints, low: Floats) -> tuple[float, int]:
        a, b = self._meshes
        distance = separation_triangle_triangle(a.triangles(i), b.triangles(j))
        nearest = int(distance.argmin())
        return float(distance[nearest]), nearest
