"""Batches of triangle meshes in world space, and the nodes of their trees in one set of arrays.

A batch may hold one mesh in a thousand poses, a thousand meshes, or one mesh that deforms from time to time.
Its nodes are those of `MeshBvh`, whose spheres each matrix carries along.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidShapeError
from ..numeric.arguments import as_flag, require_type
from ..numeric.arrays import (
    Bools,
    Floats,
    Ints,
    Table,
    as_floats,
    chunks_by_cost,
    concatenated_ranges,
    dot,
    first_index,
    length,
    normalized,
    transform_points,
    transform_vectors,
)
from ..numeric.batch import Batched, common_batch
from ..numeric.floating_point import singular_value_range
from ..numeric.tolerances import DISTANCE_ROUNDING
from ..shapes import Aabb, Sphere
from ..shapes.primitives import closest_on_triangle, triangles_from_corners
from .fitted_nodes import FittedNodes
from .mesh_bvh import MeshBvh
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
        nodes = _objects([mesh.nodes if solid else mesh.surface_nodes for mesh in listed])
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
        return cls.unchecked(np.full(spheres.shape, _POINT, dtype=object), matrix, spheres.radius)

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
_POINT = MeshBvh(np.zeros((1, 3)), np.zeros((1, 3), dtype=np.int64))


def distinct_objects(objects: NDArray[Any]) -> tuple[list[Any], Ints]:
    """Return the distinct ones of objects (m,), in order of their first, and which of them each is (m,)."""
    ids = np.fromiter(map(id, objects), dtype=np.int64, count=len(objects))
    if len(ids) and (ids == ids[0]).all():
        return [objects[0]], np.zeros(len(ids), dtype=np.int64)
    _, first, which = np.unique(ids, return_index=True, return_inverse=True)
    return [objects[row] for row in first.tolist()], which.ravel()


_VERTICES_AT_ONCE = 1 << 20
"""Vertices of meshes that deform, about, whose nodes are in one pool: those of all may not fit the memory."""


def moving_vertices(meshes: Meshes) -> Ints:
    """Return the numbers (m,) of vertices of meshes (m,) that deform; 0 for others."""
    kinds, which = distinct_objects(meshes.nodes)
    return np.array([each.vertex_count if each.deforms else 0 for each in kinds], np.int64)[which]


def chunks_by_vertices(*batches: Meshes) -> list[slice]:
    """Cut rows (m,) into chunks, so that the meshes in each that deform have few vertices together."""
    return chunks_by_cost(np.sum([moving_vertices(batch) for batch in batches], axis=0), _VERTICES_AT_ONCE)


class NodePool:
    """The nodes of k meshes in one set of arrays, and what they consist of, once for equal trees.

    roots : (k,) int64. Row of the root of each mesh among the fitted nodes.
    trees : (k,) int64. Row of the root of the tree of each mesh.
    vertices : (k,) int64. Row of the first vertex of each mesh.
    first_child : (n,) int64. First child of each node of all trees, counted from the root of its tree.
    child_count : (n,) int64. Number of children; 0 for a triangle.
    first_triangle, triangle_count : (n,) int64. Range of the triangles.
    triangles : (t, 3) int64. Vertices of the triangles of all trees, counted from the first of their mesh.
    points : (v, 3) float64 or float32. Vertices of all meshes.
    row : (n,) int64. Row of each node among those that are fitted; -1 if it is none of these.
    kinds : The meshes.
    fitted : FittedNodes. In arrays that grow: few of very many nodes are ever needed.
    """

    def __init__(self, kinds: list[MeshBvh]) -> None:
        """Join the nodes of meshes."""
        trees, tree_of = distinct_objects(_objects([each.first for each in kinds]))
        sizes = np.array([len(each.nodes.first_child) for each in trees])
        triangles = [each.triangles for each in trees]
        counts, points = np.array([len(each) for each in triangles]), [each.vertices for each in kinds]
        self.first_child, self.child_count, self.first_triangle, self.triangle_count = (
            _joined(list(parts)) for parts in zip(*(each.nodes[:4] for each in trees), strict=True)
        )
        if len(trees) > 1:
            self.first_triangle = self.first_triangle + _starts(counts).repeat(sizes)
        self.triangles, self.points = _joined(triangles), _joined(points)
        self.roots, self.trees = _starts(sizes[tree_of]), _starts(sizes)[tree_of]
        self.vertices = _starts(np.array([len(each) for each in points]))
        self.kinds, self.row, self._used = kinds, np.full(int(sizes[tree_of].sum()), -1), 0
        self.fitted = FittedNodes(*(np.empty((0, *tail)) for tail in ((3,), (), (3, 3), (3,), (3,), ())))

    def fit(self, kinds: Ints) -> None:
        """Fit the large nodes of meshes (k,), unless they are."""
        for kind in np.unique(kinds[self.row[self.roots[kinds]] < 0]).tolist():
            rows, fitted = self.kinds[kind].fit()
            self.add(self.roots[kind] + rows, fitted)

    def add(self, nodes: Ints, fitted: FittedNodes) -> None:
        """Add nodes (m,) that have been fitted."""
        used, self._used = self._used, self._used + len(nodes)
        if self._used > len(self.fitted.radius):
            columns = []
            for old in self.fitted:
                new = np.empty((2 * self._used, *old.shape[1:]))
                new[:used] = old[:used]
                columns.append(new)
            self.fitted = FittedNodes._make(columns)
        for column, values in zip(self.fitted, fitted, strict=True):
            column[used : self._used] = values
        self.row[nodes] = np.arange(used, self._used)


def _objects(items: Sequence[Any]) -> NDArray[Any]:
    """Return an array (m,) of objects."""
    result = np.empty(len(items), dtype=object)
    result[:] = items
    return result


def _starts(sizes: Ints) -> Ints:
    """Return where each of consecutive ranges with these sizes (k,) begins."""
    return np.cumsum(sizes) - sizes


def _joined(parts: list[Any]) -> NDArray[Any]:
    """Concatenate arrays, without a copy if there is one only."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


class PosedNodes(Table):
    """Nodes of meshes (m,) in world space, at one time.

    root, tree, vertex : (m,) int64. Rows of their roots, trees and vertices in the pool.
    linear : (m, 3, 3) float64, and offset : (m, 3) float64. The matrices.
    stretch : (m,) float64. Largest factor by which each scales a length.
    one_sided : (m,) bool. Meshes whose triangles do not touch what is behind them.
    is_mirrored : (m,) bool. Those whose corners are in reverse order, so that their front stays in front.
    """

    root: Ints
    tree: Ints
    vertex: Ints
    linear: Floats
    offset: Floats
    stretch: Floats
    one_sided: Bools
    is_mirrored: Bools


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

    def two_sided(self, are_chosen: Bools | bool = True) -> MovingNodes:
        """Return the motion with all triangles of chosen meshes (m,) two-sided."""
        one_sided = self.start.one_sided & ~np.asarray(are_chosen)
        start = self.start.replaced(one_sided=one_sided)
        end = start if self.end is self.start else self.end.replaced(one_sided=one_sided)
        return MovingNodes(self.pool, start, end)

    def at_once(self, nodes: PosedNodes, row: Ints, node: Ints) -> tuple[Floats, Floats]:
        """Centers (n, 3) and radii (n,) of nodes (n,) of meshes in rows (n,), at one time."""
        which, fitted = self._fitted(nodes, row, node)
        return _transformed(nodes, row, fitted.center[which]), fitted.radius[which] * nodes.stretch[row]

    def radii(self, nodes: PosedNodes, row: Ints, node: Ints) -> Floats:
        """Radii (n,) of the spheres around nodes (n,), at one time."""
        which, fitted = self._fitted(nodes, row, node)
        return np.asarray(fitted.radius[which] * nodes.stretch[row])

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

        A node is within its sphere and within its box; of triangles, the corners count.

        radius : (n,) of the spheres
        """
        which, fitted = self._fitted(nodes, row, node)
        local = transform_vectors(np.swapaxes(nodes.linear, 1, 2)[row], direction)
        along = transform_vectors(fitted.axes[which], local)
        box = np.maximum(along * fitted.highest[which], along * fitted.lowest[which]).sum(axis=1)
        extent = np.asarray(np.fmin(radius, box))
        leaves = np.flatnonzero(self.is_triangle(row, node))
        if len(leaves):
            corners = self._local_corners(nodes, row[leaves], node[leaves])
            offset = (corners - fitted.center[which[leaves], None]).reshape(-1, 3)
            turned = transform_vectors(nodes.linear[row[leaves].repeat(3)], offset).reshape(-1, 3, 3)
            farthest = dot(turned, direction[leaves, None]).max(axis=1)
            extent[leaves] = farthest + DISTANCE_ROUNDING * radius[leaves]
        return extent

    def facing(self, nodes: PosedNodes, row: Ints, node: Ints) -> Floats:
        """Return unit vectors (n, 3) that are about the normals of the triangles of nodes (n,)."""
        which, fitted = self._fitted(nodes, row, node)
        return normalized(transform_vectors(nodes.linear[row], fitted.axes[which, 0]))

    def corners(self, row: Ints, node: Ints) -> tuple[Floats, Floats]:
        """Corners (n, 3, 3) at both ends of triangles that are nodes (n,) of meshes in rows (n,)."""
        first = self.corners_at_once(self.start, row, node)
        return first, first if self.end is self.start else self.corners_at_once(self.end, row, node)

    def corners_at_once(self, nodes: PosedNodes, row: Ints, node: Ints) -> Floats:
        """Corners (n, 3, 3) of triangles that are nodes (n,) of meshes in rows (n,), at one time."""
        corners = self._local_corners(nodes, row, node)
        return _transformed(nodes, row.repeat(3), corners.reshape(-1, 3)).reshape(-1, 3, 3)

    def _local_corners(self, nodes: PosedNodes, row: Ints, node: Ints) -> Floats:
        """Corners (n, 3, 3) of triangles that are nodes (n,), before the matrices."""
        triangle = self.pool.triangles[self.pool.first_triangle[nodes.tree[row] + node]]
        if nodes.is_mirrored.any():
            triangle = np.where(nodes.is_mirrored[row, None], triangle[:, ::-1], triangle)
        return np.asarray(self.pool.points[triangle + nodes.vertex[row, None]], dtype=np.float64)

    def near_distance(self, row: Ints, node: Ints) -> Floats:
        """Distances (n,) from centers of nodes (n,) within which each has a triangle, at the start."""
        which, fitted = self._fitted(self.start, row, node)
        return np.asarray(fitted.near_distance[which] * self.start.stretch[row])

    def children(self, row: Ints, node: Ints) -> tuple[Ints, Ints]:
        """First children (n,) of nodes (n,), and the numbers (n,) of children; 0 for a triangle."""
        which = self.start.tree[row] + node
        return self.pool.first_child[which], self.pool.child_count[which]

    def is_triangle(self, row: Ints, node: Ints) -> Bools:
        """Mask (n,) of nodes (n,) that are triangles."""
        return np.asarray(self.children(row, node)[1] == 0)

    def radius_of_roots(self) -> Floats:
        """Radii (m,) of the spheres around the meshes at the start."""
        radius = np.array([each.sphere[1] for each in self.pool.kinds])
        return np.asarray(radius[self.kinds_of(self.start)] * self.start.stretch)

    def kinds_of(self, nodes: PosedNodes) -> Ints:
        """Return which mesh of the pool each of the meshes (m,) is."""
        return np.asarray(np.searchsorted(self.pool.roots, nodes.root))

    def around(self, nodes: PosedNodes) -> tuple[Floats, Floats]:
        """Centers (m, 3) and radii (m,) of the spheres around the meshes, at one time."""
        kind = self.kinds_of(nodes)
        center, radius = (np.array(each) for each in zip(*(k.sphere for k in self.pool.kinds), strict=True))
        every = np.arange(len(kind))
        return _transformed(nodes, every, center[kind]), radius[kind] * nodes.stretch

    def triangles(self, row: Ints) -> Ints:
        """Numbers (n,) of triangles of meshes in rows (n,)."""
        return np.asarray(self.pool.triangle_count[self.start.tree[row]])

    def fit_roots(self, row: Ints) -> None:
        """Fit the large nodes of meshes in rows (n,) at both ends, unless they are."""
        self.pool.fit(self.kinds_of(self.start)[row])
        if self.end is not self.start:
            self.pool.fit(self.kinds_of(self.end)[row])

    def fit(self, row: Ints, node: Ints) -> None:
        """Fit nodes (n,) of meshes that deform, which have not been needed before, at both ends."""
        pool = self.pool
        for nodes in (self.start,) if self.end is self.start else (self.start, self.end):
            which = nodes.root[row] + node
            new = np.flatnonzero(pool.row[which] < 0)
            if not len(new):
                continue
            which, places = np.unique(which[new], return_index=True)
            place, tree = row[new[places]], nodes.tree[row[new[places]]] + node[new[places]]
            sizes = pool.triangle_count[tree]
            triangles = pool.triangles[concatenated_ranges(pool.first_triangle[tree], sizes)]
            corners = pool.points[triangles + nodes.vertex[place].repeat(sizes)[:, None]]
            pool.add(which, FittedNodes.measured(corners.astype(np.float64), sizes))

    def _fitted(self, nodes: PosedNodes, row: Ints, node: Ints) -> tuple[Ints, FittedNodes]:
        """Return the rows (n,) of nodes (n,) among those that have been fitted, and these."""
        return self.pool.row[nodes.root[row] + node], self.pool.fitted


def offsets_between(
    a: MovingNodes, b: MovingNodes, row: Ints, nodes: tuple[Ints, Ints], spheres: tuple[Floats, ...]
) -> tuple[Floats, Bools]:
    """Return the offsets (n, 3) along which nodes (n,) may be apart at the start of their motion.

    They are from one center to the other, or from a triangle that is much larger than the other node. Returns
    which nodes (2, n) are such triangles, too.

    spheres : centers (n, 3) and radii (n,) of the first nodes, then of the second ones
    """
    center_a, radius_a, center_b, radius_b = spheres
    offset, is_large = center_b - center_a, np.zeros((2, len(row)), dtype=bool)
    for side, (moving, radius, small, center) in enumerate(
        ((a, radius_a, radius_b, center_b), (b, radius_b, radius_a, center_a))
    ):
        rows = np.flatnonzero((2 * small < radius) & moving.is_triangle(row, nodes[side]))
        if len(rows):
            corners = moving.corners_at_once(moving.start, row[rows], nodes[side][rows])
            nearest = closest_on_triangle(center[rows], triangles_from_corners(corners))
            offset[rows] = (1 - 2 * side) * (center[rows] - nearest)
            is_large[side, rows] = True
    return offset, is_large


def moving_nodes(a: tuple[Meshes, Meshes], b: tuple[Meshes, Meshes]) -> tuple[MovingNodes, MovingNodes]:
    """Put the nodes of meshes (m,) in motion, from start to end each, into one pool: see `ends_of_motion`."""
    every = [a[0], ends_of_motion(*a), b[0], ends_of_motion(*b)]
    kinds, which = distinct_objects(np.concatenate([each.nodes for each in every]))
    # Without meshes, the pool has the nodes of any other one.
    pool = NodePool(kinds or [_POINT])
    one_sided = np.array([each.one_sided for each in kinds], dtype=bool)
    posed: list[PosedNodes] = []
    for place, (meshes, kind) in enumerate(zip(every, np.split(which, len(every)), strict=True)):
        if place % 2 and meshes is every[place - 1]:
            posed.append(posed[-1])
            continue
        root, tree, vertex = pool.roots[kind], pool.trees[kind], pool.vertices[kind]
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


def _transformed(nodes: PosedNodes, row: Ints, points: Floats) -> Floats:
    """Transform points (n, 3) by the matrices of rows (n,)."""
    return transform_vectors(nodes.linear[row], points) + nodes.offset[row]


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
    rows = rows[b[rows].have_inside]
    if not len(rows):
        return result
    a, b = a[rows], b[rows]
    row, _, local = points_within_boxes(a, b, lambda nodes: nodes.component_corners)
    result[rows[row[are_points_inside(b, row, local)]]] = True
    return result


def points_within_boxes(
    a: Meshes, b: Meshes, points_of: Callable[[MeshBvh], Floats]
) -> tuple[Ints, Floats, Floats]:
    """Find the points of the first meshes (m,), at least one, in the boxes around the second ones.

    points_of : points (k, 3) of a mesh before its matrix
    Returns row : (n,) int64. Pair of meshes of each point.
    Returns points, local : (n, 3) float64. In world space, and in the spaces of the second meshes.
    """
    kinds, which = distinct_objects(a.nodes)
    points = [points_of(each) for each in kinds]
    counts = np.array([len(each) for each in points])
    row = np.arange(len(which)).repeat(counts[which])
    every = np.concatenate(points)[concatenated_ranges(_starts(counts)[which], counts[which])]
    place, world, local = points_within(a, b, row, every)
    return row[place], world, local


def points_within(a: Meshes, b: Meshes, row: Ints, points: Floats) -> tuple[Ints, Floats, Floats]:
    """Select points (k, 3) of the first meshes in rows (k,), before matrices: see `points_within_boxes`.

    Returns place : (n,) int64. Of those selected.
    """
    world, box = transform_points(a.matrix[row], points), b.aabb()
    is_within = ((world >= box.min[row]) & (world <= box.max[row])).all(axis=-1)
    # A flat image of a mesh has nothing inside.
    is_within &= (np.linalg.matrix_rank(b.matrix[:, :3, :3]) == 3)[row]
    place = np.flatnonzero(is_within)
    row, world = row[place], world[place]
    local = np.linalg.solve(b.matrix[row, :3, :3], (world - b.matrix[row, :3, 3])[..., None])
    return place, world, np.asarray(local[..., 0], np.float64)


def are_points_inside(meshes: Meshes, row: Ints, points: Floats) -> Bools:
    """Mask (n,) of points (n, 3) inside the closed components of meshes in rows (n,), in their space."""
    result = np.zeros(len(row), dtype=bool)
    nodes = meshes.nodes[row]
    for kind in distinct_objects(nodes)[0] if len(row) else ():
        of_kind = np.flatnonzero(nodes == kind)
        result[of_kind] = kind.surface.contains(points[of_kind])
    return result
