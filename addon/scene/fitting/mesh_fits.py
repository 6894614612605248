"""Meshes of many subjects as their shapes: trees of triangles, built once and posed by matrices.

A mesh that deforms keeps its tree; only its vertices are read again. Subjects with the same vertices and
triangles, such as instances, share one tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import CollisionBoundsError, EmptyGeometryError, NonFiniteGeometryError
from ...core.fitting.hull_surface import box_hull
from ...core.mesh.mesh_bvh import MeshBvh
from ...core.mesh.meshes import Meshes
from ...core.numeric.arrays import Bools, Floats, Ints
from ...core.numeric.floating_point import largest_singular_value
from ...core.shapes import Shape
from ..blender.mesh_data import Geometry
from ..settings import FitSettings
from .fit_cache import Errors, FitCache, SkinMeshes, Skins

_NOWHERE = MeshBvh(np.zeros((1, 3)), np.zeros((1, 3), dtype=np.int64))
"""Stands for the mesh of a subject that has none: its shape means nothing."""


class MeshFits(FitCache):
    """Meshes of subjects 0 to n - 1; see `new_fits`."""

    def __init__(self, settings: Sequence[FitSettings], without: Ints, deforms: Bools) -> None:
        """Make room for meshes.

        without : (k,) int. Subjects that get no shape.
        deforms : (n,) bool. Subjects whose vertices may move in their own space.
        """
        counts = np.ones(len(settings), dtype=np.int64)
        counts[without] = 0
        super().__init__("mesh", settings, None, counts)
        self.padding[:] = 0
        self._deforms = deforms
        self._nodes = np.full(len(settings), _NOWHERE, dtype=object)
        # Triangles of each subject, as indices of vertices, and the vertices that any of them has.
        self._triangles: dict[int, tuple[NDArray[np.int32], Ints]] = {}

    def set_triangles(
        self,
        subject: int,
        points: NDArray[np.float32],
        triangles: NDArray[np.int32],
        faces: NDArray[np.int32] | None,
    ) -> None:
        """Set the triangles of a subject, as indices of its vertices, for its next fit."""
        self._triangles[subject] = triangles, np.unique(triangles).astype(np.int64)
        self._nodes[subject] = _NOWHERE

    def fit(
        self, subjects: Sequence[int], geometries: Sequence[Geometry], is_wanted: Bools | None = None
    ) -> Errors:
        """See `FitCache`: subjects without triangles are those with a custom shape."""
        errors: Errors = {}
        shared: dict[tuple[bytes, bytes], MeshBvh] = {}
        for subject, geometry in zip(subjects, geometries, strict=True):
            self._points[subject], self._radii[subject] = geometry.points, geometry.radius
            self._outdated.discard(subject)
            try:
                self._nodes[subject] = self._tree_of(subject, geometry, shared)
            except CollisionBoundsError as error:
                errors[subject] = error
                del self._points[subject]
            self.is_fitted[subject] = subject not in errors
        return errors

    def _tree_of(
        self, subject: int, geometry: Geometry, shared: dict[tuple[bytes, bytes], MeshBvh]
    ) -> MeshBvh:
        """Return the tree of a subject around its vertices; raises CollisionBoundsError for none.

        shared : trees of this fit, by their vertices and triangles
        """
        points = geometry.points
        if subject not in self._triangles:
            return _mesh_of_custom_shape(points.astype(np.float64))
        triangles, used = self._triangles[subject]
        if not len(triangles):
            raise EmptyGeometryError("no faces")
        if used[-1] >= len(points):
            raise EmptyGeometryError("faces of vertices that are not there")
        points = points[used] if len(used) < len(points) else points
        if not np.isfinite(points).all():
            raise NonFiniteGeometryError("points: not all are finite")
        known: MeshBvh = self._nodes[subject]
        if known is not _NOWHERE:
            return known.moved(points)
        deforms, within = bool(self._deforms[subject]), np.searchsorted(used, triangles)
        if deforms:
            return MeshBvh(points, within, deforms)
        key = points.tobytes(), within.tobytes()
        return shared.setdefault(key, MeshBvh(points.astype(np.float64), within))

    def shapes_at(
        self, subjects: Ints, matrices: Floats, replaced: Skins | None = None
    ) -> tuple[Shape, Errors]:
        """See `FitCache`: padding is around bounds, not around meshes."""
        nodes = self._nodes[subjects]
        if replaced is not None:
            assert isinstance(replaced, SkinMeshes), "boxes have other fits"
            nodes[replaced.rows], matrices = replaced.nodes, matrices.copy()
            matrices[replaced.rows] = np.eye(4)
        has_shape = self._counts[subjects] > 0
        rows, matrices = subjects[has_shape], matrices[has_shape]
        margin = self._radii[rows] * largest_singular_value(matrices[:, :3, :3])
        shapes: Any = Meshes.unchecked(nodes[has_shape], matrices, margin)
        return shapes, {}

    def first_meshes(self, subjects: Ints) -> dict[int, MeshBvh]:
        """Return the meshes of fitted subjects (m,) when their trees were built."""
        return {subject: self._nodes[subject].first for subject in subjects.tolist()}

    def by_part(self) -> FitCache:
        """See `FitCache`."""
        result = copy(self)
        for name in ("_nodes", "_radii", "_counts", "is_fitted"):
            setattr(result, name, getattr(self, name)[self.owners])
        result.owners = np.arange(len(self.owners))
        return result

    def restart(self, subjects: Any) -> None:
        """See `FitCache`: the trees of the next vertices are those of the first ones."""
        self._outdated.update(subjects)
        for subject, nodes in enumerate(self._nodes):
            self._nodes[subject] = nodes.first


def _mesh_of_custom_shape(points: Floats) -> MeshBvh:
    """Return the mesh of a custom shape: of the box around its points (k, 3), or a point."""
    if len(points) == 1:
        return MeshBvh(points, np.zeros((1, 3), dtype=np.int64))
    hull = box_hull(points.min(axis=0), points.max(axis=0))
    return MeshBvh(hull.vertices, hull.faces)
