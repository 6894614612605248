"""Batches of triangle meshes in world space, and their motion from one time to another.

A batch may hold one mesh in a thousand poses, a thousand meshes, or one mesh that deforms from time to time.
Its nodes are those of `MeshBvh`, whose spheres each matrix carries along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidShapeError
from ..numeric.arguments import as_flag, require_type
from ..numeric.arrays import (
    Bools,
    Floats,
    Ints,
    as_floats,
    chunks_by_cost,
    first_index,
    length,
    normalized,
    transform_points,
    transform_vectors,
)
from ..numeric.batch import Batched, common_batch
from ..numeric.floating_point import singular_value_range
from ..shapes import Aabb, Sphere
from ..shapes.primitives import closest_on_triangle, triangles_from_corners
from .mesh_bvh import MeshBvh
from .node_pool import POINT, MovingNodes, PosedNodes, distinct_objects, object_array, pool_of
from .triangle_mesh import TriangleMesh


@dataclass(frozen=True, eq=False)
class Meshes(Batched):
    """Triangle meshes, each with a matrix to the world, and with a distance around its surface.

    Attributes
    ----------
    nodes : (...) MeshBvh
        The tree of each mesh in the space before the matrix.
    matrix : (..., 4, 4) float64
        Affine matrices to the world.
    margin : (...) float64
        Points within this distance of the surface belong to it; 0 for the mesh itself.

    Raises
    ------
    InvalidShapeError, NonFiniteGeometryError
        For matrices, and for anything that is no mesh.
    """

    nodes: NDArray[Any]
    matrix: Floats
    margin: Floats
    field_shapes: ClassVar[dict[str, tuple[int, ...]]] = {"nodes": (), "matrix": (4, 4), "margin": ()}

    def __init__(
        self, meshes: TriangleMesh | Sequence[TriangleMesh], matrix: ArrayLike, is_solid: bool = True
    ) -> None:
        """Pose meshes (...), or one mesh for all, by matrices (..., 4, 4).

        is_solid : Whether closed components have an inside, where others overlap them too. Surfaces have
            none, and those of one-sided triangles do not touch what is behind them.
        """
        poses = as_floats(matrix, "matrix", (4, 4))
        if not isinstance(meshes, TriangleMesh | Sequence):
            raise InvalidShapeError(f"meshes: a mesh or a sequence is needed, not {type(meshes).__name__}")
        listed = [meshes] if isinstance(meshes, TriangleMesh) else list(meshes)
        for mesh in listed:
            require_type(mesh, TriangleMesh, "meshes")
        solid = as_flag(is_solid, "is_solid")
        nodes = object_array([mesh.nodes if solid else mesh.surface_nodes for mesh in listed])
        given = nodes[0] if isinstance(meshes, TriangleMesh) else nodes
        batch = common_batch("meshes", np.shape(given), poses.shape[:-2])
        whole = np.empty(batch, dtype=object)
        whole[...] = given
        self._freeze((whole, np.broadcast_to(poses, (*batch, 4, 4)), np.zeros(batch)))

    @classmethod
    def balls(cls, spheres: Sphere) -> Meshes:
        """Return spheres (...) as meshes: each is a point, and its radius the margin around that."""
        require_type(spheres, Sphere, "spheres")
        matrix = np.zeros((*spheres.shape, 4, 4))
        matrix[...] = np.eye(4)
        matrix[..., :3, 3] = spheres.center
        return cls.unchecked(np.full(spheres.shape, POINT, dtype=object), matrix, spheres.radius)

    @property
    def are_balls(self) -> Bools:
        """Mask (...) of meshes that are a single point."""
        kinds, which = self._kinds()
        return np.array([each.vertex_count == 1 for each in kinds], dtype=bool)[which].reshape(self.shape)

    def _freeze(self, arrays: tuple[Any, ...]) -> None:
        """Set the fields; the nodes are objects."""
        fields = self.__dict__
        for name, values in zip(self.field_shapes, arrays, strict=True):
            kind = object if name == "nodes" else np.float64
            view = np.asarray(values, kind).view()
            view.setflags(write=False)
            fields[name] = view

    def padded(self, amount: ArrayLike) -> Meshes:
        """Return the meshes with more around their surfaces, as a sphere with a larger radius."""
        margin = self.margin + self._broadcastable(amount, "amount")
        if (margin < 0).any():
            raise InvalidShapeError(f"amount: element {first_index(margin < 0)} makes a margin negative")
        batch = margin.shape
        return Meshes.unchecked(
            np.broadcast_to(self.nodes, batch), np.broadcast_to(self.matrix, (*batch, 4, 4)), margin
        )

    def around(self) -> tuple[Floats, Floats]:
        """Centers (..., 3) and radii (...) of spheres around the meshes, margins included."""
        kinds, which = self._kinds()
        spheres = [each.sphere for each in kinds]
        center = np.array([sphere[0] for sphere in spheres]).reshape(-1, 3)[which].reshape(*self.shape, 3)
        radius = np.array([sphere[1] for sphere in spheres], np.float64)[which].reshape(self.shape)
        return transform_points(self.matrix, center), radius * self.stretches[1] + self.margin

    @property
    def center(self) -> Floats:
        """Centers (..., 3) of the spheres around the meshes."""
        return self.around()[0]

    def aabb(self) -> Aabb:
        """Return boxes around the meshes, margins included: around those before the matrix."""
        return self._local_boxes().transformed(self.matrix).padded(self.margin)

    def _local_boxes(self) -> Aabb:
        """Boxes (...) around the meshes before the matrix."""
        kinds, which = self._kinds()
        boxes = np.array([each.box for each in kinds]).reshape(-1, 2, 3)[which].reshape(*self.shape, 2, 3)
        return Aabb.unchecked(boxes[..., 0, :], boxes[..., 1, :])

    @property
    def are_very_large(self) -> Bools:
        """Mask (...) of meshes whose trees are built along a curve."""
        kinds, which = self._kinds()
        return np.array([each.is_very_large for each in kinds], dtype=bool)[which].reshape(self.shape)

    @property
    def deforms(self) -> Bools:
        """Mask (...) of meshes whose vertices move in their own space."""
        kinds, which = self._kinds()
        return np.array([each.deforms for each in kinds], dtype=bool)[which].reshape(self.shape)

    @property
    def are_one_sided(self) -> Bools:
        """Mask (...) of meshes whose triangles do not touch what is behind them."""
        kinds, which = self._kinds()
        return np.array([each.one_sided for each in kinds], dtype=bool)[which].reshape(self.shape)

    @property
    def have_inside(self) -> Bools:
        """Mask (...) of meshes that something can be inside."""
        kinds, which = self._kinds()
        return np.array([each.has_inside for each in kinds], dtype=bool)[which].reshape(self.shape)

    def inner_radii(self) -> Floats:
        """Return radii (...) of balls about the centers of meshes, within these without margins.

        Negative for none: then a triangle is within the negative of the radius.
        """
        kinds, which = self._kinds()
        radius = np.array([each.inner_radius for each in kinds], np.float64)[which].reshape(self.shape)
        return np.asarray(radius * np.where(radius > 0, *self.stretches))

    @property
    def stretches(self) -> tuple[Floats, Floats]:
        """Factors (...) by which matrices lengthen vectors at least, and at most, as far as is certain."""
        kept: tuple[Floats, Floats, Floats] | None = self.__dict__.get("_stretches")
        # Meshes that were selected from these have their attributes, but other matrices.
        if kept is None or kept[0] is not self.matrix:
            kept = self.__dict__["_stretches"] = (
                self.matrix,
                *singular_value_range(self.matrix[..., :3, :3]),
            )
        return kept[1:]

    def _kinds(self) -> tuple[list[MeshBvh], Ints]:
        """Return the distinct trees, and which of them each mesh (m,) has."""
        return distinct_objects(self.nodes.ravel())

    def corners_of_boxes(self) -> Floats:
        """Corners (..., 8, 3) of boxes around the meshes before the matrix, with margins, in world space."""
        corners = transform_points(self.matrix[..., None, :, :], self._local_boxes().corners())
        return np.asarray(corners + self.margin[..., None, None] * _OUTWARD)


_OUTWARD = Aabb(np.full(3, -1.0), np.ones(3)).corners()


_VERTICES_AT_ONCE = 1 << 20
"""Vertices of meshes that deform, about, whose nodes are in one pool: those of all may not fit the memory."""


def moving_vertices(meshes: Meshes) -> Ints:
    """Return the numbers (m,) of vertices of meshes (m,) that deform; 0 for others."""
    kinds, which = distinct_objects(meshes.nodes)
    return np.array([each.vertex_count if each.deforms else 0 for each in kinds], np.int64)[which]


def chunks_by_vertices(*batches: Meshes) -> list[slice]:
    """Cut rows (m,) into chunks, so that the meshes in each that deform have few vertices together."""
    return chunks_by_cost(np.sum([moving_vertices(batch) for batch in batches], axis=0), _VERTICES_AT_ONCE)


def moving_nodes(a: tuple[Meshes, Meshes], b: tuple[Meshes, Meshes]) -> tuple[MovingNodes, MovingNodes]:
    """Put the nodes of meshes (m,) in motion, from start to end each, into one pool: see `ends_of_motion`."""
    every = [a[0], ends_of_motion(*a), b[0], ends_of_motion(*b)]
    kinds, which = distinct_objects(np.concatenate([each.nodes for each in every]))
    # Without meshes, the pool has the nodes of any other one.
    pool, place_of = pool_of(kinds or [POINT])
    one_sided = np.array([each.one_sided for each in kinds], dtype=bool)
    posed: list[PosedNodes] = []
    for place, (meshes, kind) in enumerate(zip(every, np.split(which, len(every)), strict=True)):
        if place % 2 and meshes is every[place - 1]:
            posed.append(posed[-1])
            continue
        root, tree, vertex = (each[place_of[kind]] for each in (pool.roots, pool.trees, pool.vertices))
        linear = np.ascontiguousarray(meshes.matrix[:, :3, :3])
        sides = one_sided[kind], one_sided[kind]
        if one_sided.any():
            # At the end as at the start.
            sides = sides[0], posed[-1].is_mirrored if place % 2 else sides[0] & (np.linalg.det(linear) < 0)
        posed.append(
            PosedNodes(root, tree, vertex, linear, meshes.matrix[:, :3, 3], meshes.stretches[1], *sides)
        )
    return MovingNodes(pool, posed[0], posed[1]), MovingNodes(pool, posed[2], posed[3])


def ends_of_motion(start: Meshes, end: Meshes) -> Meshes:
    """Return meshes (...) at the end of an interval with the triangles that they have at the start.

    Where triangles change, the vertices of the end take those of the start. Meshes with another number of
    vertices stay as they are until the end.
    """
    is_other = start.nodes != end.nodes
    if not is_other.any():
        return end
    nodes, matrix = end.nodes.copy(), end.matrix.copy()
    for row in map(tuple, np.argwhere(is_other).tolist()):
        before, after = start.nodes[row], end.nodes[row]
        if before.first is after.first:
            continue
        if before.vertices.shape == after.vertices.shape:
            nodes[row] = before.moved(after.vertices)
        else:
            nodes[row], matrix[row] = before, start.matrix[row]
    return Meshes.unchecked(nodes, matrix, end.margin)


def interpolated_meshes(start: Meshes, end: Meshes, time: Floats) -> Meshes:
    """Return meshes whose corners move in straight lines, at times in [0, 1]; batches broadcast."""
    batch = np.broadcast_shapes(start.shape, end.shape, time.shape)
    part = np.broadcast_to(time, batch)
    a = start.broadcast_to(batch)
    b = ends_of_motion(a, end.broadcast_to(batch))
    whole = part[..., None, None]
    matrix = a.matrix * (1 - whole) + b.matrix * whole
    nodes, margin = a.nodes, a.margin * (1 - part) + b.margin * part
    is_other = a.nodes != b.nodes
    if is_other.any():
        nodes, matrix = nodes.copy(), np.ascontiguousarray(matrix)
        for index in zip(*np.nonzero(is_other), strict=True):
            if part[index] in (0, 1):
                given = b if part[index] else a
                nodes[index], matrix[index] = given.nodes[index], given.matrix[index]
                continue
            first, last = (transform_points(each.matrix[index], each.nodes[index].points) for each in (a, b))
            points = first * (1 - part[index]) + last * part[index]
            nodes[index], matrix[index] = a.nodes[index].moved(points), np.eye(4)
    return Meshes.unchecked(nodes, matrix, margin)


def velocities_of_meshes(start: Meshes, end: Meshes, now: Meshes, point: Floats) -> Floats:
    """Compute the velocities (m, 3) of points (m, 3) on meshes now (m,): see `velocities_of_points`.

    Those on balls move outward as these grow.
    """
    velocity, growth = velocities_of_points(start, end, now, point), end.margin - start.margin
    if growth.any():
        velocity += np.where(now.are_balls, growth, 0.0)[:, None] * normalized(point - now.center)
    return velocity


def velocities_of_points(
    start: Meshes, end: Meshes, now: Meshes, point: Floats, node: Ints | None = None
) -> Floats:
    """Compute the velocities (m, 3) of points (m, 3) of meshes now (m,), in lengths per interval.

    start, end : Meshes, (m,). At both ends of the interval, in which all corners move in straight lines.
    node : (m,) int64. Nodes of the triangles that the points are on, if they are known.
    """
    # A flat image of a mesh has no inverse, but each of its points has an origin.
    inverse = np.asarray(np.linalg.pinv(now.matrix[:, :3, :3]), np.float64)
    local = transform_vectors(inverse, point - now.matrix[:, :3, 3])
    end = ends_of_motion(start, end)
    velocity = transform_points(end.matrix, local) - transform_points(start.matrix, local)
    for row in np.flatnonzero(start.nodes != end.nodes).tolist():
        if node is not None:
            triangle = now.nodes[row].nodes.first_triangle[node[row]]
        else:
            nearest = closest_on_triangle(local[row], triangles_from_corners(now.nodes[row].corners))
            triangle = length(nearest - local[row]).argmin()
        corners, first, last = (
            transform_points(each.matrix[row], each.nodes[row].vertices[each.nodes[row].triangles[triangle]])
            for each in (now, start, end)
        )
        # Parts of the corners that add up to the point.
        parts = np.linalg.pinv(np.vstack([corners.T, np.ones(3)])) @ np.append(point[row], 1.0)
        velocity[row] = parts @ (last - first)
    return velocity


def longest_paths(start: Meshes, end: Meshes) -> Floats:
    """Bound the lengths (m,) of the straight paths of all points of meshes (m,) from start to end."""
    end = ends_of_motion(start, end)
    paths = length(end.corners_of_boxes() - start.corners_of_boxes()).max(axis=-1)
    for row in np.flatnonzero(start.nodes != end.nodes).tolist():
        before, after = (transform_points(each.matrix[row], each.nodes[row].points) for each in (start, end))
        paths[row] = length(after - before).max()
    return np.asarray(paths)
