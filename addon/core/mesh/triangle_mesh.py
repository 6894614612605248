"""Triangle mesh as an obstacle for spheres and sphere trees, with its acceleration structures.

Overlapping triangles are found by a BVH of boxes. The nearest triangle of a sphere that overlaps none is
found by a sphere tree with distance bounds. Both structures are built at first use and kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..broad_phase.bvh import Bvh
from ..broad_phase.overlapping_pairs import overlapping_pairs_between
from ..errors import EmptyGeometryError, InvalidShapeError
from ..numeric.arguments import require_type
from ..numeric.arrays import CHUNK_ROWS, Floats, Ints
from ..numeric.tolerances import DISTANCE_ROUNDING
from ..shapes import Aabb, Triangle
from ..trees.builder import TrianglePartition, partition_triangles
from .part_bounds import LEAF_TRIANGLES, MeshParts

_MAX_BVH_QUERIES = 4096
"""Above this many boxes, one search in a grid with all triangles is faster than queries to the BVH."""


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
        one, two = self.triangles, other.triangles
        is_same_kind = one.shape == two.shape and one.one_sided == two.one_sided
        if not (is_same_kind and all(np.array_equal(getattr(one, k), getattr(two, k)) for k in "abc")):
            raise InvalidShapeError(
                "meshes: the two samples differ; hold the mesh still and move the other shape"
            )

    def aabb(self) -> Aabb:
        """Return the box around the mesh. Exact.

        Returns
        -------
        box : Aabb, batch ()
        """
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
    def partition(self) -> TrianglePartition:
        """Nodes of the sphere tree of `parts`, without the spheres: half as much work."""
        return partition_triangles(self.triangles, LEAF_TRIANGLES)

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
