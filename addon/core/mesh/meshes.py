"""Batches of triangle meshes in world space, and the nodes of their trees in one set of arrays.

A batch may hold one mesh in a thousand poses, a thousand meshes, or one mesh that deforms from time to time.
Its nodes are those of `MeshBvh`, whose spheres each matrix carries along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidShapeError
from ..numeric.arguments import require_type
from ..numeric.arrays import (
    Bools,
    Floats,
    Ints,
    Table,
    as_floats,
    concatenated_ranges,
    cross,
    dot,
    first_index,
    length,
    transform_points,
    transform_vectors,
)
from ..numeric.batch import Batched, common_batch
from ..numeric.floating_point import largest_singular_value, smallest_singular_value
from ..shapes import Aabb
from ..shapes.primitives import closest_on_triangle, triangles_from_corners
from ..trees.builder import partition_triangles
from .mesh_bvh import MeshBvh, PosedMesh
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

    def __init__(self, meshes: TriangleMesh | Sequence[TriangleMesh], matrix: ArrayLike) -> None:
        """Pose meshes (...), or one mesh for all, by matrices (..., 4, 4)."""
        poses = as_floats(matrix, "matrix", (4, 4))
        if not isinstance(meshes, TriangleMesh | Sequence):
            raise InvalidShapeError(f"meshes: a mesh or a sequence is needed, not {type(meshes).__name__}")
        listed = [meshes] if isinstance(meshes, TriangleMesh) else list(meshes)
        for mesh in listed:
            require_type(mesh, TriangleMesh, "meshes")
        nodes = np.empty(len(listed), dtype=object)
        nodes[:] = [mesh.nodes for mesh in listed]
        given = nodes[0] if isinstance(meshes, TriangleMesh) else nodes
        batch = common_batch("meshes", np.shape(given), poses.shape[:-2])
        whole = np.empty(batch, dtype=object)
        whole[...] = given
        self._freeze((whole, np.broadcast_to(poses, (*batch, 4, 4)), np.zeros(batch)))

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
        center = np.array([each.center[0] for each in kinds]).reshape(-1, 3)[which].reshape(*self.shape, 3)
        radius = np.array([each.radius[0] for each in kinds], np.float64)[which].reshape(self.shape)
        stretch = largest_singular_value(self.matrix[..., :3, :3])
        return transform_points(self.matrix, center), radius * stretch + self.margin

    @property
    def center(self) -> Floats:
        """Centers (..., 3) of the spheres around the meshes."""
        return self.around()[0]

    def aabb(self) -> Aabb:
        """Return boxes around the meshes, margins included: around those before the matrix."""
        kinds, which = self._kinds()
        low, high = (np.array([each.box[side] for each in kinds]).reshape(-1, 3)[which] for side in range(2))
        local = Aabb.unchecked(low.reshape(*self.shape, 3), high.reshape(*self.shape, 3))
        return local.transformed(self.matrix).padded(self.margin)

    def inner_radii(self) -> Floats:
        """Return radii (...) of balls about the centers of meshes, within these without margins.

        Negative for none: then a triangle is within the negative of the radius.
        """
        kinds, which = self._kinds()
        radius = np.array([each.inner_radius for each in kinds], np.float64)[which].reshape(self.shape)
        linear = self.matrix[..., :3, :3]
        scale = np.where(radius > 0, smallest_singular_value(linear), largest_singular_value(linear))
        return np.asarray(radius * scale)

    def _kinds(self) -> tuple[list[MeshBvh], Ints]:
        """Return the distinct trees, and which of them each mesh (m,) has."""
        return distinct_objects(self.nodes.ravel())

    def corners_of_boxes(self) -> Floats:
        """Corners (..., 8, 3) of the boxes around the meshes before the matrix, in world space."""
        kinds, which = self._kinds()
        low, high = (np.array([each.box[side] for each in kinds]).reshape(-1, 3)[which] for side in range(2))
        corners = Aabb.unchecked(low, high).corners().reshape(*self.shape, 8, 3)
        return transform_points(self.matrix[..., None, :, :], corners)


def distinct_objects(objects: NDArray[Any]) -> tuple[list[Any], Ints]:
    """Return the distinct ones of objects (m,), in order of their first, and which of them each is (m,)."""
    ids = np.fromiter(map(id, objects), dtype=np.int64, count=len(objects))
    if len(ids) and (ids == ids[0]).all():
        return [objects[0]], np.zeros(len(ids), dtype=np.int64)
    _, first, which = np.unique(ids, return_index=True, return_inverse=True)
    return [objects[row] for row in first.tolist()], which.ravel()


class NodePool(NamedTuple):
    """The n nodes of several meshes in one set of arrays, whose rows are numbered through.

    roots : (k,) int64. Row of the root of each mesh.
    center, radius, normal, lowest, highest, near_distance, child_count : (n, ...) As in `MeshBvh`.
    first_child : (n,) int64. Row of the first child, from that of the root.
    corner_row : (n,) int64. Row of the corners of a triangle.
    corners : (t, 3, 3) float64
    """

    roots: Ints
    center: Floats
    radius: Floats
    normal: Floats
    lowest: Floats
    highest: Floats
    near_distance: Floats
    first_child: Ints
    child_count: Ints
    corner_row: Ints
    corners: Floats

    @classmethod
    def of(cls, kinds: list[MeshBvh]) -> NodePool:
        """Join the nodes of meshes."""
        sizes = np.array([len(each.radius) for each in kinds])
        counts = np.array([len(each.corners) for each in kinds])
        slots = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes - counts), sizes)

        def joined(name: str) -> NDArray[Any]:
            parts = [getattr(each, name) for each in kinds]
            # Without a copy if there is one mesh only.
            return parts[0] if len(parts) == 1 else np.concatenate(parts)

        given = {"roots": np.cumsum(sizes) - sizes, "corner_row": slots}
        return cls(**given, **{name: joined(name) for name in cls._fields if name not in given})


class PosedNodes(Table):
    """Nodes of meshes (m,) in world space, at one time.

    root : (m,) int64. Rows of their roots in the pool.
    linear : (m, 3, 3) float64, and offset : (m, 3) float64. The matrices.
    stretch : (m,) float64. Largest factor by which each scales a length.
    normals : (m, 3, 3) float64. Matrices for normals: the inverse, transposed; zero for none.
    """

    root: Ints
    linear: Floats
    offset: Floats
    stretch: Floats
    normals: Floats


class MovingNodes(NamedTuple):
    """Nodes of meshes (m,) whose corners move in straight lines, from one time to another.

    pool : NodePool
    start, end : PosedNodes, (m,). Of the same triangles. At one time both are one object.
    """

    pool: NodePool
    start: PosedNodes
    end: PosedNodes

    def reversed_in_time(self) -> MovingNodes:
        """Return the motion from end to start."""
        return MovingNodes(self.pool, self.end, self.start)

    def at_once(self, nodes: PosedNodes, row: Ints, node: Ints) -> tuple[Floats, Floats]:
        """Centers (n, 3) and radii (n,) of nodes (n,) of meshes in rows (n,), at one time."""
        which = nodes.root[row] + node
        center = _transformed(nodes, row, self.pool.center[which])
        return center, self.pool.radius[which] * nodes.stretch[row]

    def radii(self, nodes: PosedNodes, row: Ints, node: Ints) -> Floats:
        """Radii (n,) of the spheres around nodes (n,), at one time."""
        return np.asarray(self.pool.radius[nodes.root[row] + node] * nodes.stretch[row])

    def spheres(self, row: Ints, node: Ints) -> tuple[Floats, Floats, Floats]:
        """Centers (n, 3) at both ends, and the larger radii (n,), of nodes (n,) of meshes in rows (n,).

        The sphere whose center moves in a straight line holds the triangles throughout.
        """
        first, radius = self.at_once(self.start, row, node)
        if self.end is self.start:
            return first, first, radius
        last, radius_end = self.at_once(self.end, row, node)
        return first, last, np.maximum(radius, radius_end)

    def extents(self, nodes: PosedNodes, row: Ints, node: Ints, direction: Floats, radius: Floats) -> Floats:
        """Bound how far nodes (n,) reach beyond their centers along unit vectors (n, 3), at one time.

        A node is within its sphere, and thin along its normal.

        radius : (n,) of the spheres
        """
        which = nodes.root[row] + node
        normal = transform_vectors(nodes.normals[row], self.pool.normal[which])
        size = length(normal)
        with np.errstate(divide="ignore", invalid="ignore"):
            cosine = dot(normal, direction) / size
            lift = np.maximum(cosine * self.pool.highest[which], cosine * self.pool.lowest[which]) / size
        thin = lift + radius * np.sqrt(np.maximum(1 - cosine * cosine, 0))
        return np.asarray(np.fmin(radius, thin))

    def corners(self, row: Ints, node: Ints) -> tuple[Floats, Floats]:
        """Corners (n, 3, 3) at both ends of triangles that are nodes (n,) of meshes in rows (n,)."""
        first = self.corners_at_once(self.start, row, node)
        return first, first if self.end is self.start else self.corners_at_once(self.end, row, node)

    def corners_at_once(self, nodes: PosedNodes, row: Ints, node: Ints) -> Floats:
        """Corners (n, 3, 3) of triangles that are nodes (n,) of meshes in rows (n,), at one time."""
        corners = self.pool.corners[self.pool.corner_row[nodes.root[row] + node]]
        return _transformed(nodes, row.repeat(3), corners.reshape(-1, 3)).reshape(-1, 3, 3)

    def near_distance(self, row: Ints, node: Ints) -> Floats:
        """Distances (n,) from centers of nodes (n,) within which each has a triangle, at the start."""
        return np.asarray(self.pool.near_distance[self.start.root[row] + node] * self.start.stretch[row])

    def is_triangle(self, row: Ints, node: Ints) -> Bools:
        """Mask (n,) of nodes (n,) that are triangles."""
        return np.asarray(self.pool.child_count[self.start.root[row] + node] == 0)

    def radius_of_roots(self) -> Floats:
        """Radii (m,) of the spheres around the meshes at the start."""
        return np.asarray(self.pool.radius[self.start.root] * self.start.stretch)


def moving_nodes(a: tuple[Meshes, Meshes], b: tuple[Meshes, Meshes]) -> tuple[MovingNodes, MovingNodes]:
    """Put the nodes of meshes (m,) in motion, from start to end each, into one pool.

    Raises InvalidShapeError: where a mesh has other triangles at the end than at the start.
    """
    every = [*a, *b]
    kinds, which = distinct_objects(np.concatenate([each.nodes for each in every]))
    # Without meshes, the pool has the nodes of any other one.
    pool = NodePool.of(
        kinds or [MeshBvh.from_tree(partition_triangles(np.zeros((1, 3, 3))), np.zeros((1, 3, 3)))]
    )
    roots = np.split(pool.roots[which], len(every))
    posed: list[PosedNodes] = []
    for place, (meshes, root) in enumerate(zip(every, roots, strict=True)):
        if place % 2 and meshes is every[place - 1]:
            posed.append(posed[-1])
            continue
        linear = np.ascontiguousarray(meshes.matrix[:, :3, :3])
        stretch = np.asarray(largest_singular_value(linear))
        posed.append(PosedNodes(root, linear, meshes.matrix[:, :3, 3], stretch, _inverse_transposed(linear)))
    for start, end in (a, b):
        is_other = start.nodes != end.nodes
        for before, after in zip(start.nodes[is_other], end.nodes[is_other], strict=True):
            if before.tree is not after.tree:
                raise InvalidShapeError("meshes: the triangles change from start to end")
    return MovingNodes(pool, posed[0], posed[1]), MovingNodes(pool, posed[2], posed[3])


def single(posed: PosedMesh) -> Meshes:
    """Return a batch (1,) of one posed mesh."""
    nodes = np.empty(1, dtype=object)
    nodes[0] = posed.nodes
    matrix = np.eye(4) if posed.matrix is None else posed.matrix
    return Meshes.unchecked(nodes, matrix[None], np.zeros(1))


def interpolated_meshes(start: Meshes, end: Meshes, time: Floats) -> Meshes:
    """Return meshes whose corners move in straight lines, at times in [0, 1]; batches broadcast."""
    batch = np.broadcast_shapes(start.shape, end.shape, time.shape)
    part = np.broadcast_to(time, batch)
    a, b = start.broadcast_to(batch), end.broadcast_to(batch)
    whole = part[..., None, None]
    matrix = a.matrix * (1 - whole) + b.matrix * whole
    nodes, margin = a.nodes, a.margin * (1 - part) + b.margin * part
    is_other = a.nodes != b.nodes
    if is_other.any():
        nodes, matrix = nodes.copy(), np.ascontiguousarray(matrix)
        for index in zip(*np.nonzero(is_other), strict=True):
            first, last = (transform_points(each.matrix[index], each.nodes[index].corners) for each in (a, b))
            corners = first * (1 - part[index]) + last * part[index]
            nodes[index], matrix[index] = MeshBvh.of_ordered(a.nodes[index].tree, corners), np.eye(4)
    return Meshes.unchecked(nodes, matrix, margin)


def _transformed(nodes: PosedNodes, row: Ints, points: Floats) -> Floats:
    """Transform points (n, 3) by the matrices of rows (n,)."""
    return transform_vectors(nodes.linear[row], points) + nodes.offset[row]


def _inverse_transposed(linear: Floats) -> Floats:
    """Matrices (m, 3, 3) that transform normals as others transform points; zero where there are none."""
    columns = np.moveaxis(linear, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        cofactors = np.stack([cross(columns[k - 2], columns[k - 1]) for k in range(3)], axis=-1)
        result = cofactors / dot(columns[0], cofactors[..., 0])[:, None, None]
    is_finite = np.isfinite(result.reshape(-1, 9).sum(axis=1))
    return np.where(is_finite[:, None, None], result, 0.0)


def radii_of_meshes(meshes: Meshes) -> tuple[Floats, Floats]:
    """Radii (...) of spheres about the centers of meshes that hold them, and that are within them."""
    return meshes.around()[1], meshes.inner_radii() + meshes.margin


def velocities_of_meshes(start: Meshes, end: Meshes, now: Meshes, point: Floats) -> Floats:
    """Compute the velocities (m, 3) of points (m, 3) of meshes now (m,), in lengths per interval.

    start, end : Meshes, (m,). At both ends of the interval, in which all corners move in straight lines.
    """
    # A flat image of a mesh has no inverse, but each of its points has an origin.
    inverse = np.asarray(np.linalg.pinv(now.matrix[:, :3, :3]), np.float64)
    local = transform_vectors(inverse, point - now.matrix[:, :3, 3])
    velocity = transform_points(end.matrix, local) - transform_points(start.matrix, local)
    for row in np.flatnonzero(start.nodes != end.nodes).tolist():
        corners, first, last = (
            transform_points(each.matrix[row], each.nodes[row].corners) for each in (now, start, end)
        )
        nearest = length(
            closest_on_triangle(point[row], triangles_from_corners(corners)) - point[row]
        ).argmin()
        # Parts of the corners that add up to the point.
        parts = np.linalg.pinv(np.vstack([corners[nearest].T, np.ones(3)])) @ np.append(point[row], 1.0)
        velocity[row] = parts @ (last - first)[nearest]
    return velocity


def longest_paths(start: Meshes, end: Meshes) -> Floats:
    """Bound the lengths (m,) of the straight paths of all points of meshes (m,) from start to end."""
    paths = length(end.corners_of_boxes() - start.corners_of_boxes()).max(axis=-1)
    for row in np.flatnonzero(start.nodes != end.nodes).tolist():
        before, after = (transform_points(each.matrix[row], each.nodes[row].corners) for each in (start, end))
        paths[row] = length(after - before).max()
    return np.asarray(paths)


def are_inside(a: Meshes, b: Meshes) -> Bools:
    """Decide for which pairs (m,) of meshes with disjoint surfaces a component of one is inside the other.

    Exact like `ClosedSurface.contains`: one point of each component is tested.
    """
    return _have_component_inside(a, b) | _have_component_inside(b, a)


def _have_component_inside(a: Meshes, b: Meshes) -> Bools:
    """Decide for which pairs (m,) a component of the first is inside the second: one point of each counts."""
    result = np.zeros(a.shape, dtype=bool)
    inner, outer = a.aabb(), b.aabb()
    rows = np.flatnonzero(((inner.min <= outer.max) & (outer.min <= inner.max)).all(axis=-1))
    if not len(rows):
        return result
    kinds, which = distinct_objects(a.nodes[rows])
    points = [each.component_corners for each in kinds]
    counts = np.array([len(each) for each in points])
    starts = np.cumsum(counts) - counts
    every = np.concatenate(points)[concatenated_ranges(starts[which], counts[which])]
    row = rows.repeat(counts[which])
    world = transform_points(a.matrix[row], every)
    is_within = ((world >= outer.min[row]) & (world <= outer.max[row])).all(axis=-1)
    row, world = row[is_within], world[is_within]
    # A flat image of a mesh has nothing inside.
    is_solid = np.linalg.matrix_rank(b.matrix[row, :3, :3]) == 3
    for kind in distinct_objects(b.nodes[row])[0] if len(row) else ():
        of_kind = np.flatnonzero((b.nodes[row] == kind) & is_solid)
        matrix = b.matrix[row[of_kind]]
        local = np.linalg.solve(matrix[:, :3, :3], (world[of_kind] - matrix[:, :3, 3])[..., None])[..., 0]
        result[row[of_kind[kind.surface.contains(local)]]] = True
    return result
