"""Triangle mesh as an obstacle for spheres and sphere trees, with the nodes of its tree.

The nodes are built at first use and kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import EmptyGeometryError, InvalidShapeError
from ..numeric.arguments import require_type
from ..numeric.arrays import as_floats
from ..numeric.cached import CachedAttribute
from ..shapes import Aabb, Triangle
from ..shapes.primitives import triangle_corners
from .mesh_bvh import MeshBvh
from .node_pool import POINT, NodePool
from .normal_ranges import NormalRanges


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

    @CachedAttribute
    def nodes(self) -> MeshBvh:
        """Nodes of the tree down to single triangles."""
        points = triangle_corners(self.triangles).reshape(-1, 3)
        return MeshBvh(points, np.arange(len(points)).reshape(-1, 3))

    @CachedAttribute
    def surface_nodes(self) -> MeshBvh:
        """Nodes of the same tree for a surface, which has no inside."""
        return self.nodes.as_surface(self.triangles.one_sided)

    @CachedAttribute
    def pool(self) -> NodePool:
        """Join the nodes of a point and of the surface, which searches for spheres compare."""
        return NodePool([POINT, self.surface_nodes])

    @CachedAttribute
    def normal_ranges(self) -> NormalRanges:
        """Ranges of the normals below the nodes of the surface."""
        return NormalRanges.of(self.surface_nodes)
