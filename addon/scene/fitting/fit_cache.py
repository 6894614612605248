"""Fits of many subjects, made once and then brought to the subjects' matrices: what all kinds share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...core import CollisionBoundsError, Shape
from ...core.numeric.arrays import Bools, Floats, Ints, dot, rotation_matrix
from ..blender.mesh_data import Geometry, decompose_matrices
from ..settings import FitSettings
from .columns import FitColumns
from .fit import PartVertices, padded, padding_error

_LEAST_SIZE = 1e-30
"""Scale of a matrix in single precision down to which all its digits count."""
_THINNEST = 1e-4
"""Second largest scale of a matrix, relative to the largest, from which on turns follow from it."""

_STEP = 2.0**-40
"""Part of the largest number to which linear maps without their rotation are rounded.

Removing a rotation leaves rounding errors, which would differ at each frame, and each subject would be fitted
again.
"""

_Value = TypeVar("_Value")
Errors: TypeAlias = dict[int, CollisionBoundsError]


class FoundBefore(dict[int, _Value], Generic[_Value]):
    """Results of searches for each subject, which later fits use again; `restart` returns to those kept."""

    _kept: dict[int, _Value] | None = None

    def keep(self) -> None:
        """Keep everything as it is now."""
        self._kept = dict(self)

    def restart(self) -> None:
        """Return to what was kept, if anything was."""
        if self._kept is not None:
            self.clear()
            self.update(self._kept)


class SkinBoxes(NamedTuple):
    """World boxes of some of the rows of a batch.

    rows : (k,) int64. Increasing.
    low, high : (k, 3) float64. Minima and maxima.
    """

    rows: Ints
    low: Floats
    high: Floats


class FitCache(ABC):
    """Shapes of subjects 0 to n - 1, each with one part, a part for each of its groups of vertices, or none.

    is_fitted : (n,) bool. Whether each subject has a fit.
    owners : (N,) int. Subject that each part belongs to.
    has_parts : Whether any subject may have more or fewer parts than one.
    are_parts_alone : Whether `fit` can fit some parts of a subject alone: nothing that it finds is shared
        between them.
    in_own_frames : Whether `shapes_at` returns shapes in the frames of the subjects, as `local` ones of
        documents: world matrices without scale and shear. All vertices are inside, but for rounding errors of
        1e-12 of their distance from the origin.
    """

    has_parts = False
    are_parts_alone = False
    in_own_frames = False
    _rows: Callable[[Ints], Ints]
    """Rows of all parts of subjects (m,), in their order; needed with `has_parts`."""

    def __init__(self, settings: Sequence[FitSettings], owners: Ints, columns: FitColumns) -> None:
        """Make room for the fits of subjects with settings, as `new_fits`."""
        count = len(settings)
        self._padding = np.array([each.padding for each in settings], dtype=np.float64)
        self._points: dict[int, NDArray[np.float32]] = {}
        self._radii = np.zeros(count)
        # Subjects that are fitted again, whatever their next vertices are.
        self._outdated: set[int] = set()
        self.is_fitted: Bools = np.zeros(count, dtype=bool)
        # Linear parts of the matrices at which the subjects were fitted.
        self._linear = np.zeros((count, 3, 3))
        self.owners, self._columns = owners, columns
        self._counts = np.bincount(owners, minlength=count)
        self._found: tuple[FoundBefore[Any], ...] = ()

    @abstractmethod
    def _fit(
        self,
        subjects: Ints,
        points: Sequence[NDArray[np.float32]],
        linear: Floats,
        errors: Errors,
        is_wanted: Bools | None,
    ) -> None:
        """Fit shapes around the origins of subjects (m,); see `fit`. Adds to `errors`."""

    @abstractmethod
    def _follow(
        self, columns: FitColumns, subjects: Ints, linear: Floats, changed: Ints, errors: Errors
    ) -> None:
        """Bring shapes of subjects (m,) to linear maps (m, 3, 3); those at `changed` (k,) differ."""

    def by_part(self) -> FitCache:
        """Fits of all parts as they are now, each as the only part of a subject.

        They can be moved to matrices which differ from those of the fit by a rotation and a uniform scale.
        """
        result, owners = copy(self), self.owners
        result._points, result._found = {}, ()
        result.owners, result._counts = np.arange(len(owners)), np.ones(len(owners), dtype=np.int64)
        result.is_fitted, result._linear = self.is_fitted[owners], self._linear[owners]
        result._padding, result._radii = self._padding[owners], self._radii[owners]
        return result

    def is_fitted_to(self, index: int, points: NDArray[np.float32]) -> bool:
        """Return whether a subject has been fitted to these vertices (k, 3)."""
        known = self._points.get(index)
        return (
            index not in self._outdated
            and known is not None
            and (known is points or np.array_equal(known, points))
        )

    def keep_frames(self) -> None:
        """Keep the axes and the groups of vertices of all subjects as they are now, for `restart`."""
        for found in self._found:
            found.keep()

    def restart(self, subjects: Iterable[int]) -> None:
        """Fit some subjects again to the vertices that come next, with the axes and groups that were kept."""
        self._outdated.update(subjects)
        for found in self._found:
            found.restart()

    @property
    def has_orientation(self) -> Bools:
        """Mask (n,) of subjects whose turns follow from their matrices.

        Not those that scales of nearly 0 make a line or a point, or whose matrices lost their precision.
        """
        linear = np.where(np.isfinite(self._linear), self._linear, 0.0)
        sizes = np.linalg.svd(linear, compute_uv=False)
        return np.asarray((sizes[:, 0] >= _LEAST_SIZE) & (sizes[:, 1] >= _THINNEST * sizes[:, 0]))

    @property
    def turns_with_subject(self) -> Bools:
        """Mask (n,) of subjects whose shapes turn with them: not boxes along the world's axes."""
        return np.zeros(len(self.is_fitted), dtype=bool)

    def reach(self) -> Floats:
        """Largest distance (n,) of each subject's vertices from its origin, in its own space."""
        result = np.zeros(len(self.is_fitted))
        for index, points in self._points.items():
            precise = points.astype(np.float64)
            result[index] = np.sqrt(dot(precise, precise).max(initial=0))
        return result

    def vertex_counts(self) -> Ints:
        """Numbers (n,) of the vertices that each subject was fitted to."""
        result = np.zeros(len(self.is_fitted), dtype=np.int64)
        for index, points in self._points.items():
            result[index] = len(points)
        return result

    def kinks(self, subjects: Ints, reach: Floats, begin: Floats, end: Floats) -> Floats:
        """Bound how far the sides of boxes of subjects (m,) along the world's axes are from linear motion.

        All vertices move linearly between linear maps (m, 3, 3), and another one becomes the outermost. They
        have no radius: subjects with custom shapes are not known.

        reach : (m,) as `reach` returns it
        """
        raise TypeError("only boxes along the world's axes have kinks")

    def set_axis(self, subject: int, axis: Floats) -> None:  # noqa: B027  # as a rule there is none
        """Set the axis (3,) of a capsule or cylinder that was not fitted yet, in the space of its subject.

        Other subjects have the axis of the smallest one, and other shapes have none.
        """

    def set_padding(self, subject: int, padding: float) -> None:
        """Set the padding of one subject, from now on."""
        self._padding[subject] = padding

    @property
    def is_padding_negative(self) -> bool:
        """True if shapes may vanish by their padding."""
        return bool(np.min(self._padding, initial=0.0) < 0)

    def set_triangles(
        self,
        subject: int,
        points: NDArray[np.float32],
        triangles: NDArray[np.int32],
        faces: NDArray[np.int32] | None,
    ) -> None:
        """Group the vertices of one subject again, for its next fit; its number of parts stays.

        subject : Index of the subject.
        points, triangles, faces : As for `leaf_vertices`.
        """
        raise TypeError("only sphere trees and compounds have parts")

    def groups_of(self, subject: int) -> PartVertices:
        """Return the groups of vertices of a subject with several parts."""
        raise TypeError("only sphere trees and compounds have parts")

    def fit(
        self, subjects: Sequence[int], geometries: Sequence[Geometry], is_wanted: Bools | None = None
    ) -> Errors:
        """Fit subjects again.

        subjects : Indices of the subjects, each once.
        geometries : Vertices and matrix of each of them.
        is_wanted : (N,) bool, optional. Parts to fit, of all subjects. The others mean nothing until all
            are fitted again.
        Returns errors : dict. Error of each subject that cannot be fitted. Such a subject has no fit any
            more.
        """
        linear = np.array([geometry.matrix[:3, :3] for geometry in geometries]).reshape(-1, 3, 3)
        points = [geometry.points for geometry in geometries]
        index = np.array(subjects, dtype=np.int64)
        self._radii[index] = [geometry.radius for geometry in geometries]
        errors: Errors = {}
        if is_wanted is not None and self.are_parts_alone:
            self._outdated.update(subjects)
        else:
            is_wanted = None
            self._outdated.difference_update(subjects)
        self._fit(index, points, linear, errors, is_wanted)
        self._points.update(zip(subjects, points, strict=True))
        self._linear[index] = linear
        self.is_fitted[index] = True
        for subject in errors:
            del self._points[subject]
            self.is_fitted[subject] = False
        return errors

    def shapes_at(
        self, subjects: Ints, matrices: Floats, replaced: SkinBoxes | None = None
    ) -> tuple[Shape, Errors]:
        """Move the fits of subjects to their matrices, padding included.

        All vertices are inside. Subjects are fitted again where a fit cannot be moved.

        subjects : (m,) int. Indices of subjects; the same one may occur at several matrices.
        matrices : (m, 4, 4) float64. World matrices.
        replaced : World boxes of those subjects that are bent, among boxes along the world's axes.
        Returns shapes : Shape. One per part, in the order of `subjects`.
        Returns errors : dict. Error of each subject that cannot be fitted at its matrix; its shapes mean
            nothing.
        """
        if self.in_own_frames:
            assert replaced is None, "boxes of bent meshes are along the world's axes"
            matrices = _without_pose(matrices)
        linear, offset = matrices[:, :3, :3], matrices[:, :3, 3]
        differs = linear != self._linear[subjects]
        rows = self._rows(subjects) if self.has_parts else subjects
        columns = self._columns.take(rows)
        errors: Errors = {}
        if replaced is not None:
            differs[replaced.rows] = False
        if differs.any():
            changed = np.flatnonzero(differs.any(axis=(1, 2)) & self.is_fitted[subjects])
            if len(changed):
                self._follow(columns, subjects, linear, changed, errors)
        if replaced is not None:
            columns.fields["min"][replaced.rows] = replaced.low - offset[replaced.rows]
            columns.fields["max"][replaced.rows] = replaced.high - offset[replaced.rows]
        owners = subjects
        if self.has_parts:
            owners = subjects.repeat(self._counts[subjects])
            offset = offset.repeat(self._counts[subjects], axis=0)
        padding = self._padding[owners]
        if (padding < 0).any():
            is_lost = columns.enlarge_to(np.maximum(-padding, 0.0))
            for subject, amount in zip(owners[is_lost].tolist(), padding[is_lost], strict=True):
                errors.setdefault(subject, padding_error(amount))
        shapes: Shape = columns.at(offset)
        return (padded(shapes, padding) if padding.any() else shapes), errors


def _without_pose(matrices: Floats) -> Floats:
    """World matrices (m, 4, 4) without their rotation and translation."""
    placements, _ = decompose_matrices(matrices)
    turns = rotation_matrix(placements.rotation)
    linear = np.einsum("mji,mjk->mik", turns, matrices[:, :3, :3])
    size = np.abs(linear).max(axis=(1, 2), initial=0.0)[:, None, None]
    step = _STEP * np.exp2(np.ceil(np.log2(np.where(size > 0, size, 1.0))))
    result = np.tile(np.eye(4), (len(matrices), 1, 1))
    result[:, :3, :3] = np.rint(linear / step) * step
    return result
