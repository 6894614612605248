"""Triangle mesh as an obstacle for spheres and sphere trees, with its acceleration structures.

Overlapping triangles are found by a BVH of boxes. The nearest triangle of a sphere that overlaps none is
found by a sphere tree with distance bounds. Both structures are built at first use and kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..broad_phase.bvh import Bvh
from ..broad_phase.overlapping_pairs import overlapping_pairs_between
from ..errors import EmptyGeometryError, InvalidShapeError
from ..numeric.arguments import require_type
from ..numeric.arrays import CHUNK_ROWS, Floats, Ints, as_floats, concatenated_ranges, dot, length
from ..numeric.tolerances import DISTANCE_ROUNDING
from ..shapes import Aabb, Sphere, Triangle
from ..shapes.primitives import closest_on_triangle, triangle_corners
from ..trees.builder import sphere_tree_from_triangles
from ..trees.sphere_tree import SphereTree, inner_nodes_upward, leaves_in_order
from ..trees.traversal import SINGLE_NODE, NodePairBounds, NodePairs, find_candidate_leaf_pairs
from .mesh_bvh import MeshBvh

LEAF_TRIANGLES = 8
"""Triangles in a leaf: measuring this many costs as much as traversing the levels that would split them."""
_MAX_BVH_QUERIES = 4096
"""Above this many boxes, one search in a grid with all triangles is faster than queries to the BVH."""


class MeshParts(NamedTuple):
    """A sphere tree of m nodes around a mesh, with distance bounds for each node.

    tree : SphereTree
    one_sided : Spheres behind a triangle are infinitely far away from it.
    near_distance : (m,) float64. At least one triangle of the node is within this distance of the center of
        its sphere.
    min_normal, max_normal : (m, 3) float64. Box around the unit normals of the node's triangles.
    min_height, max_height : (m,) float64. Range of the signed heights of the sphere's center above the
        planes of the triangles.
    """

    tree: SphereTree
    one_sided: bool
    near_distance: Floats
    min_normal: Floats
    max_normal: Floats
    min_height: Floats
    max_height: Floats

    @classmethod
    def of(cls, triangles: Triangle) -> MeshParts:
        """Build the tree and its bounds for triangles (t,)."""
        tree = sphere_tree_from_triangles(triangles, depth=len(triangles.a), leaf_triangles=LEAF_TRIANGLES)
        nodes = len(tree.children)
        leaves, starts, sizes = leaves_in_order(tree.children, tree.parts)
        center = tree.center[leaves].repeat(sizes, axis=0)
        ordered = triangles[tree.order]
        normal = ordered.normal
        near = np.empty(nodes)
        near[leaves] = np.minimum.reduceat(length(closest_on_triangle(center, ordered) - center), starts)
        normals, heights = np.empty((2, nodes, 3)), np.empty((2, nodes))
        for values, of_leaves in ((normals, normal), (heights, dot(center - ordered.a, normal))):
            for least, side in zip((np.minimum, np.maximum), values, strict=True):
                side[leaves] = least.reduceat(of_leaves, starts, axis=0)
        for node, *both in inner_nodes_upward(tree.children):
            children = np.stack(both, axis=1)
            offset = tree.center[node][:, None] - tree.center[children]
            near[node] = (near[children] + length(offset)).min(axis=1)
            lift = _height_range(offset, normals[0][children], normals[1][children])
            for k, least in enumerate((np.minimum, np.maximum)):
                normals[k, node] = least.reduce(normals[k][children], axis=1)
                heights[k, node] = least.reduce(heights[k][children] + lift[k], axis=1)
        return cls(tree, triangles.one_sided, near, *normals, *heights)

    def candidates(self, elements: Ints, bounds: NodePairBounds) -> tuple[Ints, Ints]:
        """Elements and triangles (k,), the pairs of which may have the smallest value of their element."""
        rows, _ = find_candidate_leaf_pairs(elements, SINGLE_NODE, self.tree.children, bounds)
        first, last = self.tree.parts[rows.b].T
        sizes = last - first
        return rows.element.repeat(sizes), self.tree.order[concatenated_ranges(first, sizes)]

    def bounds(self, sphere: Sphere) -> NodePairBounds:
        """Return traversal bounds of the separation between spheres (n,) and their nearest triangle.

        The second node of a pair is one of this tree; the first stands for the sphere. Lower bounds allow
        for the rounding of the separation.
        """
        tree = self.tree
        size = np.abs(tree.center[0]).max() + tree.radius[0]
        slack = DISTANCE_ROUNDING * (size + np.abs(sphere.center).max(axis=-1) + sphere.radius)

        def bounds(rows: NodePairs) -> tuple[Floats, Floats]:
            i, node = rows.element, rows.b
            offset = sphere.center[i] - tree.center[node]
            distance, rounding = length(offset), slack[i]
            low = distance - tree.radius[node] - sphere.radius[i] - rounding
            high = distance + self.near_distance[node] - sphere.radius[i]
            if self.one_sided:
                lowest, highest = _height_range(offset, self.min_normal[node], self.max_normal[node])
                low = np.where(highest + self.max_height[node] < -rounding, np.inf, low)
                high = np.where(lowest + self.min_height[node] < rounding, np.inf, high)
            return low, high

        return bounds


def _height_range(offset: Floats, min_normal: Floats, max_normal: Floats) -> tuple[Floats, Floats]:
    """Range (...) of the dot products of vectors (..., 3) with all normals in a box (..., 3)."""
    one, other = offset * min_normal, offset * max_normal
    return np.minimum(one, other).sum(axis=-1), np.maximum(one, other).sum(axis=-1)


def require_at_rest(start: Triangle, end: Triangle, name: str) -> None:
    """Raise InvalidShapeError, with `name`, unless both samples of triangles are equal."""
    same_side = start.one_sided == end.one_sided
    if not (same_side and all(np.array_equal(getattr(start, k), getattr(end, k)) for k in "abc")):
        raise InvalidShapeError(f"{name}: the two samples differ; hold them still and move the other shape")


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """One obstacle made of triangles.

    It is a surface, not a solid: a shape inside that touches no triangle does not overlap it.

    Attributes
    ----------
    triangles : Triangle, batch (t,), t >= 1
        The mesh is one-sided if they are.

    Raises
    ------
    EmptyGeometryError
        Without triangles.
    InvalidShapeError
        For a batch with other axes.
    """

    triangles: Triangle

    def __post_init__(self) -> None:
        require_type(self.triangles, Triangle, "triangles")
        if len(self.triangles.shape) != 1:
            raise InvalidShapeError(f"mesh: the batch must be (t,), not {self.triangles.shape}")
        if self.triangles.shape == (0,):
            raise EmptyGeometryError("a mesh without triangles")

    @property
    def shape(self) -> tuple[int, ...]:
        """The batch shape (), because a mesh is one obstacle."""
        return ()

    def require_same(self, other: TriangleMesh) -> None:
        """Require that `other` is the same mesh, because meshes rest between two samples.

        Parameters
        ----------
        other : TriangleMesh
            The mesh at the other sample.

        Raises
        ------
        InvalidShapeError
            If the triangles or their sides differ.
        """
        if self is other:
            return
        require_type(other, TriangleMesh, "other")
        require_at_rest(self.triangles, other.triangles, "meshes")

    def moved(self, corners: ArrayLike) -> TriangleMesh:
        """Return the same triangles with their corners elsewhere, as they are at another time.

        In samples of a motion, the corners of a mesh that was moved go from one sample to the next.

        Parameters
        ----------
        corners : (t, 3, 3) float
            In the order of the triangles.

        Returns
        -------
        mesh : TriangleMesh

        Raises
        ------
        InvalidShapeError, NonFiniteGeometryError
            For another number of triangles.
        """
        points = as_floats(corners, "corners", (3, 3))
        if points.shape[:-2] != self.triangles.shape:
            raise InvalidShapeError(f"corners: {points.shape} do not fit {self.triangles.shape[0]} triangles")
        a, b, c = np.moveaxis(points, 1, 0)
        mesh = TriangleMesh(Triangle(a, b, c, self.triangles.one_sided))
        mesh.__dict__["nodes"] = self.nodes.moved(points.reshape(-1, 3))
        return mesh

    def aabb(self) -> Aabb:
        """Return the box around the mesh. Exact."""
        boxes = self.triangles.aabb()
        return Aabb.unchecked(boxes.min.min(axis=0), boxes.max.max(axis=0))

    @cached_property
    def normals(self) -> Floats:
        """Unit normals (t, 3) of the triangles; zero for a triangle without area."""
        return self.triangles.normal

    @cached_property
    def bvh(self) -> Bvh:
        """BVH of the boxes around the triangles."""
        return Bvh(self.triangles.aabb())

    @cached_property
    def nodes(self) -> MeshBvh:
        """Nodes of the tree down to single triangles."""
        points = triangle_corners(self.triangles).reshape(-1, 3)
        return MeshBvh(points, np.arange(len(points)).reshape(-1, 3))

    @cached_property
    def surface_nodes(self) -> MeshBvh:
        """Nodes of the same tree for a surface, which has no inside."""
        return self.nodes.as_surface(self.triangles.one_sided)

    @cached_property
    def parts(self) -> MeshParts:
        """Sphere tree around the mesh, with distance bounds."""
        return MeshParts.of(self.triangles)

    def box_triangle_pairs(self, boxes: Aabb) -> Iterator[tuple[Ints, Ints]]:
        """Yield index pairs of boxes and of overlapping boxes of triangles, in chunks.

        Conservative: boxes are enlarged by the rounding of spheres' boxes and of closest points, so that no
        contact is missed.

        Parameters
        ----------
        boxes : Aabb, batch (n,)
            In the space of the mesh.

        Yields
        ------
        i, t : (k,) int64
            Indices of boxes and of triangles, sorted by box, then triangle.
        """
        require_type(boxes, Aabb, "boxes")
        # A center plus a radius is rounded, and so is the closest point of a triangle.
        slack = self._slack + DISTANCE_ROUNDING * np.maximum(np.abs(boxes.min), np.abs(boxes.max))
        loose = Aabb.unchecked(boxes.min - slack, boxes.max + slack)
        if len(slack) > _MAX_BVH_QUERIES:
            pairs = overlapping_pairs_between(loose, self.triangles.aabb())
        else:
            pairs = self.bvh.find_overlapping(loose)
        for start in range(0, len(pairs), CHUNK_ROWS):
            i, t = pairs[start : start + CHUNK_ROWS].T
            yield i, t

    @cached_property
    def _slack(self) -> float:
        around = self.aabb()
        return float(np.maximum(np.abs(around.min), np.abs(around.max)).max() * DISTANCE_ROUNDING)
