"""Meshes of many subjects as their shapes: trees of triangles, built once and posed by matrices.

A mesh that deforms keeps its tree; only its vertices are read again. Subjects with the same vertices and
triangles, such as instances, share one tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ...core import CollisionBoundsError, EmptyGeometryError, NonFiniteGeometryError, Sphere
from ...core.fitting.hull_surface import box_hull
from ...core.mesh.mesh_bvh import MeshBvh
from ...core.mesh.meshes import Meshes
from ...core.numeric.arrays import Bools, Floats, Ints
from ...core.numeric.batch import concatenated
from ...core.numeric.floating_point import largest_singular_value
from ...core.shapes import Shape
from ..blender.mesh_data import Geometry
from ..settings import DrawnShape, FitSettings
from .fit_cache import Errors, FitCache, SkinMeshes, Skins
from .parts import PartVertices

_NOWHERE = MeshBvh(np.zeros((1, 3)), np.zeros((1, 3), dtype=np.int64))
"""Stands for the mesh of a subject that has none: its shape means nothing."""


class Obstacles(NamedTuple):
    """Subjects that are surfaces without an inside, of which two are no pair.

    mask : (n,) bool
    one_sided : Whether they do not touch what is behind their faces.
    """

    mask: Bools
    one_sided: bool = False


class MeshFits(FitCache):
    """Meshes of subjects 0 to n - 1; see `new_fits`.

    obstacles : Those of them that are surfaces.
    """

    def __init__(self, settings: Sequence[FitSettings], deforms: Bools, obstacles: Obstacles) -> None:
        """Make room for meshes.

        deforms : (n,) bool. Subjects whose vertices may move in their own space.
        obstacles : Of the same subjects.
        """
        super().__init__("mesh", settings, None)
        self.padding[:] = 0
        self._deforms, self.obstacles = deforms, obstacles
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
        shared: dict[tuple[bytes, bytes, bool], MeshBvh] = {}
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
        self, subject: int, geometry: Geometry, shared: dict[tuple[bytes, bytes, bool], MeshBvh]
    ) -> MeshBvh:
        """Return the tree of a subject around its vertices; raises CollisionBoundsError for none.

        shared : trees of this fit, by their vertices and triangles
        """
        points = geometry.points
        if subject not in self._triangles:
            # Of a custom shape: the box around its points, or a point.
            corners = points.astype(np.float64)
            if len(points) == 1:
                return MeshBvh(corners, np.zeros((1, 3), dtype=np.int64))
            hull = box_hull(corners.min(axis=0), corners.max(axis=0))
            return MeshBvh(hull.vertices, hull.faces)
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
        is_surface = bool(self.obstacles.mask[subject])
        sides = not is_surface, is_surface and self.obstacles.one_sided
        if deforms:
            return MeshBvh(points, within, True, None, *sides)
        key = points.tobytes(), within.tobytes(), is_surface
        return shared.setdefault(key, MeshBvh(points.astype(np.float64), within, False, None, *sides))

    def shapes_at(
        self, subjects: Ints, matrices: Floats, replaced: Skins | None = None
    ) -> tuple[Shape, Errors]:
        """See `FitCache`: padding is around bounds, not around meshes."""
        nodes = self._nodes[subjects]
        if replaced is not None:
            assert isinstance(replaced, SkinMeshes), "boxes have other fits"
            nodes[replaced.rows], matrices = replaced.nodes, matrices.copy()
            matrices[replaced.rows] = np.eye(4)
        margin = self._radii[subjects] * largest_singular_value(matrices[:, :3, :3])
        shapes: Any = Meshes.unchecked(nodes, matrices, margin)
        return shapes, {}

    def first_meshes(self, subjects: Ints) -> dict[int, MeshBvh]:
        """Return the meshes of fitted subjects (m,) when their trees were built."""
        return {subject: self._nodes[subject].first for subject in subjects.tolist()}

    def by_part(self) -> FitCache:
        return self

    def of_owners(self, owners: Ints) -> MeshFits:
        """Return the meshes of the owners (m,) of parts, each as the mesh of a subject."""
        result = copy(self)
        for name in ("_nodes", "_radii", "is_fitted"):
            setattr(result, name, getattr(self, name)[owners])
        return result

    def restart(self, subjects: Any) -> None:
        """See `FitCache`: the trees of the next vertices are those of the first ones."""
        self._outdated.update(subjects)
        for subject, nodes in enumerate(self._nodes):
            self._nodes[subject] = nodes.first


class BallFits(FitCache):
    """Spheres of subjects 0 to n - 1, or of their parts, as balls, and meshes of those that are obstacles."""

    def __init__(
        self,
        shape: DrawnShape,
        settings: Sequence[FitSettings],
        groups: Sequence[PartVertices] | None,
        meshes: MeshFits,
    ) -> None:
        """Make room for balls.

        shape, groups : As for `new_fits`: of spheres. Obstacles have one group.
        meshes : Of the obstacles among the subjects.
        """
        super().__init__(shape, settings, groups)
        self._meshes, self.is_mesh = meshes, meshes.obstacles.mask
        self.padding[self.is_mesh] = 0

    def set_triangles(
        self,
        subject: int,
        points: NDArray[np.float32],
        triangles: NDArray[np.int32],
        faces: NDArray[np.int32] | None,
    ) -> None:
        if self.is_mesh[subject]:
            self._meshes.set_triangles(subject, points, triangles, faces)
        else:
            super().set_triangles(subject, points, triangles, faces)

    def is_fitted_to(self, index: int, points: NDArray[np.float32]) -> bool:
        if self.is_mesh[index]:
            return self._meshes.is_fitted_to(index, points)
        return super().is_fitted_to(index, points)

    def fit(
        self, subjects: Sequence[int], geometries: Sequence[Geometry], is_wanted: Bools | None = None
    ) -> Errors:
        errors: Errors = {}
        for is_mesh in (False, True):
            rows = [row for row, subject in enumerate(subjects) if self.is_mesh[subject] == is_mesh]
            chosen = [subjects[row] for row in rows], [geometries[row] for row in rows]
            if rows:
                errors |= self._meshes.fit(*chosen) if is_mesh else super().fit(*chosen, is_wanted)
        self.is_fitted[self.is_mesh] = self._meshes.is_fitted[self.is_mesh]
        return errors

    def shapes_at(
        self, subjects: Ints, matrices: Floats, replaced: Skins | None = None
    ) -> tuple[Shape, Errors]:
        assert replaced is None, "spheres are not replaced"
        is_mesh = self.is_mesh[subjects]
        spheres, errors = super().shapes_at(subjects[~is_mesh], matrices[~is_mesh])
        assert isinstance(spheres, Sphere), "balls are spheres"
        meshes, _ = self._meshes.shapes_at(subjects[is_mesh], matrices[is_mesh])
        # In the order of the subjects.
        is_mesh = is_mesh.repeat(self._counts[subjects])
        place = np.where(is_mesh, len(spheres.radius) + np.cumsum(is_mesh), np.cumsum(~is_mesh)) - 1
        every: Any = concatenated(Meshes.balls(spheres), meshes)
        return every[place], errors

    def by_part(self) -> FitCache:
        result: Any = super().by_part()
        result._meshes, result.is_mesh = self._meshes.of_owners(self.owners), self.is_mesh[self.owners]
        return cast(FitCache, result)

    def restart(self, subjects: Any) -> None:
        super().restart(subject for subject in subjects if not self.is_mesh[subject])
        self._meshes.restart(subject for subject in subjects if self.is_mesh[subject])

    def reach_and_counts(self) -> tuple[Floats, Ints]:
        both = zip(super().reach_and_counts(), self._meshes.reach_and_counts(), strict=True)
        reach, counts = (np.where(self.is_mesh, of_mesh, of_ball) for of_ball, of_mesh in both)
        return reach, counts
