"""Bounding volume hierarchy of a mesh, down to single triangles.

A mesh that moves rigidly carries its nodes along. For a mesh that deforms, spheres and boxes are fitted again
around the nodes of the mesh at first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..numeric.arrays import Bools, Floats, Ints, concatenated_ranges, length
from ..numeric.cached import CachedAttribute
from ..numeric.tolerances import DISTANCE_ROUNDING
from ..shapes.primitives import closest_on_triangle, triangles_from_corners
from ..trees.builder import TrianglePartition, partition_triangles
from ..trees.curve import partition_along_curve
from .containment import ClosedSurface, ConnectedComponents, RayColumns
from .fitted_nodes import ClusterBoxes, ClusterSpheres, FittedNodes, MeshNodes

_TRIANGLES_IN_COLUMNS = 1 << 12
"""Triangles from which on rays are compared with those in columns alone."""
_FEW_TRIANGLES = 1 << 15
"""Triangles of a rigid mesh up to which all nodes are fitted at once: searches come to few of very many."""
_MANY_TRIANGLES, _LEAF_TRIANGLES = 1 << 18, 4
"""Triangles above which the tree is built faster, and those of one node then, at most: then depths
of gears of 100,000 triangles take three times as long.
"""


@dataclass(frozen=True, eq=False)
class MeshBvh:
    """The triangles of a mesh, and the nodes of a tree of them, computed when they are first needed.

    vertices : (v, 3) float64 or float32, to take less memory. Each is of a triangle.
    given : (t, 3) int64. The vertices of each triangle, as they were given.
    deforms : Whether the vertices are elsewhere at other times.
    rest : MeshBvh. The same triangles as they were at first, when the tree was built; None for these.
    is_solid : Whether closed components have an inside.
    one_sided : Whether triangles do not touch what is behind them: those with their centers behind the plane.
    """

    vertices: NDArray[Any]
    given: Ints
    deforms: bool = False
    rest: MeshBvh | None = None
    is_solid: bool = True
    one_sided: bool = False

    def moved(self, vertices: NDArray[Any]) -> MeshBvh:
        """Return the same triangles with their vertices (v, 3) elsewhere."""
        return MeshBvh(vertices, self.given, True, self.first, self.is_solid, self.one_sided)

    def as_surface(self, one_sided: bool) -> MeshBvh:
        """Return the same triangles without an inside."""
        return MeshBvh(self.vertices, self.given, self.deforms, self.first, False, one_sided)

    def recut(self, triangles: Ints) -> MeshBvh:
        """Return the mesh with other triangles (t, 3), each at the place in the tree of the one before."""
        result = MeshBvh(self.vertices, triangles, self.deforms, None, self.is_solid, self.one_sided)
        result.__dict__["tree"] = self.tree
        return result

    @property
    def is_large(self) -> bool:
        """Return whether there are so many triangles that a search comes to few of the nodes."""
        return len(self.given) > _FEW_TRIANGLES

    @property
    def is_very_large(self) -> bool:
        """Return whether there are so many triangles that the tree is built along a curve."""
        return len(self.given) > _MANY_TRIANGLES

    @property
    def vertex_count(self) -> int:
        """Number of vertices."""
        return len(self.vertices)

    @property
    def points(self) -> Floats:
        """The vertices (v, 3)."""
        return np.asarray(self.vertices, dtype=np.float64)

    @property
    def first(self) -> MeshBvh:
        """The mesh as it was at first; meshes with the same one have the same triangles."""
        return self.rest or self

    @CachedAttribute
    def tree(self) -> TrianglePartition:
        """Nodes of the tree, which depend on where the triangles were at first."""
        if self.rest is not None:
            return self.rest.tree
        if self.is_very_large:
            return partition_along_curve(self.vertices, self.given, _LEAF_TRIANGLES)
        return partition_triangles(triangles_from_corners(self.points[self.given]), 1)

    @CachedAttribute
    def triangles(self) -> Ints:
        """Return the vertices (t, 3) of the triangles in the order of the tree."""
        return self.given[self.tree.order] if self.rest is None else self.rest.triangles

    @property
    def corners(self) -> Floats:
        """Corners (t, 3, 3) of the triangles in the order of the tree."""
        return np.asarray(self.vertices[self.triangles], dtype=np.float64)

    @CachedAttribute
    def box(self) -> Floats:
        """Low and high corner (2, 3) of the box around all of them."""
        # By coordinates, because reductions over the first axis of three columns take five times as long.
        columns = np.ascontiguousarray(self.vertices.T)
        return np.array([columns.min(axis=1), columns.max(axis=1)], dtype=np.float64)

    @CachedAttribute
    def sphere(self) -> tuple[Floats, float]:
        """Center (3,) and radius of the sphere around all of them, which is that of the first node."""
        center = self.box[0] * 0.5 + self.box[1] * 0.5
        return center, float(length(self.points - center).max()) * (1 + DISTANCE_ROUNDING)

    @CachedAttribute
    def nodes(self) -> MeshNodes:
        """Nodes of the tree."""
        return MeshNodes.of(self.tree, self.triangles) if self.rest is None else self.rest.nodes

    @CachedAttribute
    def leaves(self) -> Ints:
        """Nodes (t,) that are the triangles in the order of the tree."""
        if self.rest is not None:
            return self.rest.leaves
        leaves = np.flatnonzero(self.nodes.child_count == 0)
        return leaves[np.argsort(self.nodes.first_triangle[leaves])]

    @CachedAttribute
    def triangle_of_vertex(self) -> Ints:
        """One triangle (v,) of each vertex in the order of the tree; 0 for a vertex without any."""
        if self.rest is not None:
            return self.rest.triangle_of_vertex
        triangle = np.zeros(self.vertex_count, dtype=np.int64)
        triangle[self.triangles] = np.arange(len(self.triangles))[:, None]
        return triangle

    def fit(self) -> tuple[Ints, FittedNodes]:
        """Fit nodes: all of a rigid mesh of few triangles, else the large ones. Returns these nodes.

        Every triangle is inside the spheres and boxes of all nodes above it.
        """
        if self.deforms:
            return self._fit_large()
        return self._kept_large if self.is_large else self._kept

    def _fit_large(self) -> tuple[Ints, FittedNodes]:
        rows, fitted = FittedNodes.large(self.nodes, self.points)
        fitted.radius[0] = self.sphere[1]
        return rows, fitted

    @CachedAttribute
    def _kept_large(self) -> tuple[Ints, FittedNodes]:
        """Fit the large nodes of a rigid mesh."""
        return self._fit_large()

    @CachedAttribute
    def _kept(self) -> tuple[Ints, FittedNodes]:
        """All nodes of a rigid mesh."""
        large, fitted = self._fit_large()
        above = np.setdiff1d(large, self.nodes.clusters[self.nodes.clusters > 0])
        rows = np.setdiff1d(np.arange(len(self.nodes.first_child)), above)
        sizes = self.nodes.triangle_count[rows]
        triangles = concatenated_ranges(self.nodes.first_triangle[rows], sizes)
        measured = FittedNodes.measured(self.corners[triangles], sizes)
        is_above = np.isin(large, above)
        columns = (np.concatenate([a[is_above], b]) for a, b in zip(fitted, measured, strict=True))
        return np.append(large[is_above], rows), FittedNodes._make(columns)

    @CachedAttribute
    def spheres(self) -> ClusterSpheres:
        """Spheres around its triangles and clusters."""
        return ClusterSpheres.of(self.nodes, self.corners)

    @CachedAttribute
    def vertices_once(self) -> tuple[Ints, Ints]:
        """Vertices (k,) of the clusters, each in one of them only, and where those of each begin (c + 1,)."""
        order = np.sort(np.unique(self.nodes.vertices, return_index=True)[1])
        ends = np.append(self.nodes.first_vertex, len(self.nodes.vertices))
        return self.nodes.vertices[order], np.searchsorted(order, ends)

    @CachedAttribute
    def cluster_boxes(self) -> ClusterBoxes:
        """Boxes around its clusters, of which there are two at least, and around the nodes above them."""
        return ClusterBoxes.of(self.nodes, self._kept_large[1])

    @CachedAttribute
    def components(self) -> ConnectedComponents:
        """Components of the triangles in the order of the tree, connected as they were at rest."""
        if self.rest is not None:
            return self.rest.components
        return ConnectedComponents.of(self.points, self.triangles)

    @CachedAttribute
    def surface(self) -> ClosedSurface:
        """Its closed components, if they are solid."""
        components = self.components
        if not self.is_solid:
            components = components._replace(is_closed=np.zeros_like(components.is_closed))
        axes = None if self.rest is None else self.rest.surface.axes
        return ClosedSurface.of(self.corners, components, axes)

    def contains(self, points: Floats) -> Bools:
        """Decide which points (n, 3) are inside, (n,): see `ClosedSurface.contains`."""
        is_kept = (
            not self.deforms and len(self.given) > _TRIANGLES_IN_COLUMNS and len(self.surface.corners) > 0
        )
        return self.surface.contains(points, self._columns if is_kept else None)

    @CachedAttribute
    def _columns(self) -> RayColumns:
        """Columns of the triangles of a large mesh that keeps its shape, along rays."""
        return RayColumns.of(self.surface)

    @property
    def has_inside(self) -> bool:
        """Return whether anything can be inside; fewer than four vertices hold nothing."""
        return self.is_solid and self.vertex_count > 3 and bool(self.components.is_closed.any())

    @property
    def component_corners(self) -> Floats:
        """One corner (p, 3) of each component."""
        return np.asarray(self.vertices[self.triangles.ravel()[self.components.corner]], dtype=np.float64)

    @CachedAttribute
    def inner_radius(self) -> float:
        """Radius of a ball about the center of the sphere that is within the closed components.

        A triangle is within the negative of a negative radius. Meshes that deform have no ball.
        """
        center = self.sphere[0]
        if self.deforms or not self.surface.contains(center[None])[0]:
            return -float(length(self.points - center).min()) * (1 + DISTANCE_ROUNDING)
        nearest = closest_on_triangle(center, triangles_from_corners(self.corners)) - center
        return float(length(nearest).min()) * (1 - DISTANCE_ROUNDING)
