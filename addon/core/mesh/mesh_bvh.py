"""Bounding volume hierarchy of a mesh, down to single triangles, and the simultaneous traversal of two.

The nodes are those of the sphere tree around the mesh at rest, followed by its triangles. A mesh that moves
rigidly carries its spheres along. For a mesh that deforms the spheres are fitted again around the same nodes.
The traversal is a best-first branch and bound over pairs of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..numeric.arrays import (
    Floats,
    Ints,
    concatenated_ranges,
    cross,
    dot_first,
    length,
    transform_points,
    unit_or_zero,
)
from ..numeric.tolerances import DISTANCE_ROUNDING
from ..shapes import Sphere, Triangle
from ..shapes.primitives import closest_on_triangle, triangle_corners, triangles_from_corners
from ..trees.builder import TrianglePartition, partition_triangles
from ..trees.sphere_tree import inner_nodes_upward, leaves_in_order, level_starts
from .containment import ClosedSurface, ConnectedComponents


@dataclass(frozen=True, eq=False)
class MeshBvh:
    """The m nodes of a sphere tree, followed by the t triangles in the order of the tree.

    center : (m + t, 3) float64. Centers of spheres around the triangles of each node.
    radius : (m + t,) float64. Radii of these spheres, rounded up.
    normal : (m + t, 3) float64. Unit vectors along which nodes are thin; zero for none.
    lowest, highest : (m + t,) float64. Range of the heights of the corners above the center along the normal.
    near_distance : (m + t,) float64. At least one triangle of the node is within this distance of the
        center; 0 for a triangle.
    first_child : (m + t,) int64. The first of the children, which are consecutive nodes.
    child_count : (m + t,) int64. The number of children; 0 for a triangle.
    corners : (t, 3, 3) float64. Corners of the triangles in the order of the tree.
    box : (2, 3) float64. Low and high corner of the box around all of them.
    tree : TrianglePartition. Meshes with one tree have the same triangles, maybe with corners elsewhere.
    """

    center: Floats
    radius: Floats
    normal: Floats
    lowest: Floats
    highest: Floats
    near_distance: Floats
    first_child: Ints
    child_count: Ints
    corners: Floats
    box: Floats
    tree: TrianglePartition

    @classmethod
    def of(cls, triangles: Triangle) -> MeshBvh:
        """Build the nodes of a mesh in its own space from its triangles (t,)."""
        return cls.from_tree(partition_triangles(triangles, 1), triangle_corners(triangles))

    @classmethod
    def from_tree(cls, tree: TrianglePartition, corners: Floats) -> MeshBvh:
        """Fit spheres to corners (t, 3, 3) of the triangles of a tree, which may have been built at rest.

        Every triangle is inside the spheres of all nodes above it.
        """
        return cls.of_ordered(tree, corners[tree.order])

    @classmethod
    def of_ordered(cls, tree: TrianglePartition, ordered: Floats) -> MeshBvh:
        """Fit spheres to corners (t, 3, 3) in the order of a tree: see `from_tree`."""
        low, high = _node_boxes(tree, ordered)
        center = low * 0.5 + high * 0.5
        centroid = ordered[:, 0] / 3 + ordered[:, 1] / 3 + ordered[:, 2] / 3
        faces = cross(ordered[:, 1] - ordered[:, 0], ordered[:, 2] - ordered[:, 0])
        # The sum of the normals of the triangles, which count by their areas.
        sums = np.concatenate([np.zeros((1, 3)), np.cumsum(faces, axis=0)])
        normal = unit_or_zero(sums[tree.parts[:, 1]] - sums[tree.parts[:, 0]])
        points = np.ascontiguousarray(np.concatenate([ordered, centroid[:, None]], axis=1).T)
        of_nodes = _measured_nodes(tree, points, center, normal)
        leaves, starts, sizes = leaves_in_order(tree.children, tree.parts)
        first, count = tree.children[:, 0].copy(), np.full(len(center), 2)
        first[leaves], count[leaves] = len(center) + starts, sizes
        none = np.zeros(len(ordered), dtype=np.int64)
        of_triangles = _measured(points, centroid.T, unit_or_zero(faces).T)
        radius, near, lowest, highest = np.concatenate([of_nodes, of_triangles], axis=1)
        return cls(
            np.concatenate([center, centroid]),
            radius * (1 + DISTANCE_ROUNDING),
            np.concatenate([normal, unit_or_zero(faces)]),
            lowest,
            highest,
            near,
            np.concatenate([first, none]),
            np.concatenate([count, none]),
            ordered,
            np.stack([low[0], high[0]]),
            tree,
        )

    @cached_property
    def surface(self) -> ClosedSurface:
        """Its closed components."""
        return ClosedSurface.of(self.corners)

    @cached_property
    def component_corners(self) -> Floats:
        """One corner (p, 3) of each component."""
        return self.corners.reshape(-1, 3)[ConnectedComponents.of(self.corners).corner]

    @cached_property
    def inner_radius(self) -> float:
        """Radius of a ball about the first center that is within the closed components; negative for none.

        A triangle is within the negative of a negative radius.
        """
        center = self.center[:1]
        if not self.surface.contains(center)[0]:
            return -float(self.near_distance[0])
        nearest = closest_on_triangle(center, triangles_from_corners(self.corners)) - center
        return float(length(nearest).min()) * (1 - DISTANCE_ROUNDING)


def _node_boxes(tree: TrianglePartition, ordered: Floats) -> tuple[Floats, Floats]:
    """Low and high corners (m, 3) of the boxes of nodes around corners (t, 3, 3) in the order of the tree."""
    a, b, c = ordered.transpose(1, 0, 2)
    leaves, starts, _ = leaves_in_order(tree.children, tree.parts)
    sides = []
    for least in (np.minimum, np.maximum):
        side = np.empty((len(tree.children), 3))
        side[leaves] = least.reduceat(least(least(a, b), c), starts)
        for nodes, left, right in inner_nodes_upward(tree.children):
            side[nodes] = least(side[left], side[right])
        sides.append(side)
    return sides[0], sides[1]


def _measured_nodes(tree: TrianglePartition, points: Floats, center: Floats, normal: Floats) -> Floats:
    """Measure the triangles of all nodes (m,) from their centers, along their normals: see `_measured`."""
    measured, levels = np.empty((4, len(center))), level_starts(tree.children)
    for nodes in map(slice, levels, levels[1:]):
        sizes = np.diff(tree.parts[nodes])[:, 0]
        starts = np.cumsum(sizes) - sizes
        of_level = points
        if starts[-1] + sizes[-1] < len(tree.order):
            of_level = points[..., concatenated_ranges(tree.parts[nodes, 0], sizes)]
        around = (each[nodes].T.repeat(sizes, axis=1) for each in (center, normal))
        for column, reduce, values in zip(measured, _REDUCED, _measured(of_level, *around), strict=True):
            column[nodes] = reduce.reduceat(values, starts)
    return measured


_REDUCED = np.maximum, np.minimum, np.minimum, np.maximum


def _measured(points: Floats, center: Floats, normal: Floats) -> Floats:
    """Measure triangles (t,) from points (3, t): see `MeshBvh`.

    points : (3 coordinates, 4, t). Corners and centroids.
    Returns columns : (4, t). Distance of the farthest corner, distance of the centroid, and range of the
        heights of the corners along unit vectors (3, t).
    """
    offset = points - center[:, None]
    distances = length(np.moveaxis(offset, 0, -1))
    heights = dot_first(offset[:, :3], normal[:, None])
    return np.stack([distances[:3].max(axis=0), distances[3], heights.min(axis=0), heights.max(axis=0)])


@dataclass(frozen=True, eq=False)
class PosedMesh:
    """A mesh in world space.

    nodes : Its nodes, in the space before the matrix.
    order : (t,) int64. The index in the mesh of the triangle at each slot.
    matrix : (4, 4) float64, optional. Affine matrix from the space of the nodes to the world; None where
        they are in the world.

    A slot is an index into the triangles in the order of the tree.
    """

    nodes: MeshBvh
    order: Ints
    matrix: Floats | None = None

    @classmethod
    def of(cls, nodes: MeshBvh, matrix: Floats | None = None) -> PosedMesh:
        """Pose the nodes of a mesh by an affine matrix (4, 4), or leave them in their space."""
        return cls(nodes, nodes.tree.order, matrix)

    @cached_property
    def max_scale(self) -> float:
        """The largest factor by which the matrix scales a length."""
        return 1.0 if self.matrix is None else float(Sphere(np.zeros(3), 1.0).transformed(self.matrix).radius)

    def spheres(self, nodes: Ints) -> Sphere:
        """Return world-space spheres around nodes (n,).

        They enclose the triangles up to the rounding of the transformed centers, which callers add as slack.
        """
        center, radius = self.nodes.center[nodes], self.nodes.radius[nodes]
        if self.matrix is not None:
            center, radius = transform_points(self.matrix, center), radius * self.max_scale
        return Sphere.unchecked(center, radius)

    def corners(self, slots: Ints | slice = slice(None)) -> Floats:
        """World-space corners (n, 3, 3) of the triangles at slots (n,), by default of all."""
        corners = self.nodes.corners[slots]
        return corners if self.matrix is None else transform_points(self.matrix, corners)

    def triangles(self, nodes: Ints) -> Triangle:
        """World-space triangles of nodes (n,), all of which must be triangles."""
        return triangles_from_corners(self.corners(self.slots(nodes)))

    def slots(self, nodes: Ints) -> Ints:
        """Slots of nodes (n,); negative for a node that is no triangle."""
        return nodes - (len(self.nodes.first_child) - len(self.order))
