"""One fit for each of many subjects, made once and then brought to the subjects' matrices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from ...core import CollisionBoundsError, Shape
from ...core.numeric.arrays import Bools, Floats, Ints, dot
from ..blender.mesh_data import Geometry
from ..curves.skin_poses import SkinBoxes
from ..settings import DrawnShape, FitSettings
from .fit import PartVertices, padded, padding_error
from .moved_fits import MovedArrays, MovedFits
from .world_boxes import AabbArrays, WorldBoxes

_LEAST_SIZE = 1e-30
"""Scale of a matrix in single precision down to which all its digits count."""
_THINNEST = 1e-4
"""Second largest scale of a matrix, relative to the largest, from which on turns follow from it."""


class FitCache:
    """Shapes of subjects 0 to n - 1, each with one part, a part for each of its groups of vertices, or none.

    Attributes
    ----------
    is_fitted : (n,) bool
        Whether each subject has a fit.
    owners : (N,) int
        Subject that each part belongs to.
    """

    def __init__(
        self,
        count: int,
        shape: DrawnShape,
        settings: FitSettings | Sequence[FitSettings],
        groups: list[PartVertices] | None,
        without: Ints,
    ) -> None:
        """Make room for the fits of `count` subjects.

        Parameters
        ----------
        count : int
            Number of subjects.
        shape : DrawnShape
            Shape of all subjects.
        settings : FitSettings or sequence of FitSettings
            Settings of all subjects, or of each. Oriented boxes have the subjects' own axes unless "world".
        groups : list of PartVertices, optional
            Parts of each subject, for sphere trees.
        without : (k,) int
            Subjects that get no shape.

        Raises
        ------
        ValueError
            For a kind of shape that is unknown, or that can neither be scanned nor shown.
        """
        each = [settings] * count if isinstance(settings, FitSettings) else list(settings)
        # One number, as long as all have the same padding.
        self._padding: float | Floats = np.array([one.padding for one in each])
        if (self._padding == self._padding[:1]).all():
            self._padding = float(self._padding[0]) if count else 0.0
        self._points: dict[int, NDArray[np.float32]] = {}
        # Subjects that are fitted again, whatever their next vertices are.
        self._outdated: set[int] = set()
        self.is_fitted: Bools = np.zeros(count, dtype=bool)
        # Linear parts of the matrices at which the subjects were fitted.
        self._linear = np.zeros((count, 3, 3))
        self._fits: WorldBoxes | MovedFits = (
            WorldBoxes(count, without, self._points)
            if shape == "aabb"
            else MovedFits(shape, each, groups, without, self._points)
        )
        self.owners = self._fits.owners
        self._counts = np.bincount(self.owners, minlength=count)

    def by_part(self) -> FitCache:
        """Fits of all parts as they are now, each as the only part of a subject.

        They can be moved to matrices which differ from those of the fit by a rotation and a uniform scale.
        """
        if isinstance(self._fits, WorldBoxes):
            return self
        result, owners = copy(self), self.owners
        result._fits, result._points = self._fits.by_part(), {}
        result.owners = result._fits.owners
        result._counts = np.ones(len(owners), dtype=np.int64)
        result.is_fitted, result._linear = self.is_fitted[owners], self._linear[owners]
        if not isinstance(self._padding, float):
            result._padding = self._padding[owners]
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
        self._fits.keep_frames()

    def restart(self, subjects: Iterable[int]) -> None:
        """Fit some subjects again to the vertices that come next, with the axes and groups that were kept."""
        self._outdated.update(subjects)
        self._fits.restart()

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
        if isinstance(self._fits, WorldBoxes):
            return np.zeros(len(self.is_fitted), dtype=bool)
        return self._fits.turns_with_subject

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
        assert isinstance(self._fits, WorldBoxes), "other shapes have no kinks"
        return self._fits.kinks(subjects, reach, begin, end)

    def set_axis(self, subject: int, axis: Floats) -> None:
        """Set the axis (3,) of a capsule or cylinder that was not fitted yet, in the space of its subject.

        Other subjects have the axis of the smallest one.
        """
        if isinstance(self._fits, MovedFits):
            self._fits.set_axis(subject, axis)

    def set_padding(self, subject: int, padding: float) -> None:
        """Set the padding of one subject, from now on."""
        if isinstance(self._padding, float):
            self._padding = np.full(len(self.is_fitted), self._padding)
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
        """Build the sphere tree of one subject again, for its next fit; its number of spheres stays.

        Parameters
        ----------
        subject : int
            Index of the subject.
        points, triangles, faces : array
            As for `leaf_vertices`.
        """
        assert isinstance(self._fits, MovedFits), "boxes have no parts"
        self._fits.set_triangles(subject, points, triangles, faces)

    def groups_of(self, subject: int) -> PartVertices:
        """Return the groups of vertices of a subject with several parts."""
        assert isinstance(self._fits, MovedFits), "boxes have no parts"
        return self._fits.groups_of(subject)

    def fit(
        self, subjects: Sequence[int], geometries: Sequence[Geometry], is_wanted: Bools | None = None
    ) -> dict[int, CollisionBoundsError]:
        """Fit subjects again.

        Parameters
        ----------
        subjects : sequence of int
            Indices of the subjects, each once.
        geometries : sequence of Geometry
            Vertices and matrix of each of them.
        is_wanted : (N,) bool, optional
            Parts to fit, of all subjects. The others mean nothing until all are fitted again.

        Returns
        -------
        errors : dict
            Error of each subject that cannot be fitted. Such a subject has no fit any more.
        """
        linear = np.array([geometry.matrix[:3, :3] for geometry in geometries]).reshape(-1, 3, 3)
        points = [geometry.points for geometry in geometries]
        radii = np.array([geometry.radius for geometry in geometries])
        index = np.array(subjects, dtype=np.int64)
        errors: dict[int, CollisionBoundsError] = {}
        if is_wanted is not None and isinstance(self._fits, MovedFits) and self._fits.are_parts_alone:
            self._fits.fit(index, points, linear, radii, errors, is_wanted)
            self._outdated.update(subjects)
        else:
            self._fits.fit(index, points, linear, radii, errors)
            self._outdated.difference_update(subjects)
        self._points.update(zip(subjects, points, strict=True))
        self._linear[index] = linear
        self.is_fitted[index] = True
        for subject in errors:
            del self._points[subject]
            self.is_fitted[subject] = False
        return errors

    def shapes_at(
        self, subjects: Ints, matrices: Floats, replaced: SkinBoxes | None = None
    ) -> tuple[Shape, dict[int, CollisionBoundsError]]:
        """Move the fits of subjects to their matrices, padding included.

        All vertices are inside. Subjects are fitted again where a fit cannot be moved.

        Parameters
        ----------
        subjects : (m,) int
            Indices of subjects; the same one may occur at several matrices.
        matrices : (m, 4, 4) float64
            World matrices.
        replaced : SkinBoxes, optional
            World boxes of those subjects that are bent, among boxes along the world's axes.

        Returns
        -------
        shapes : Shape
            One per part, in the order of `subjects`.
        errors : dict
            Error of each subject that cannot be fitted at its matrix; its shapes mean nothing.
        """
        linear, offset = matrices[:, :3, :3], matrices[:, :3, 3]
        differs = linear != self._linear[subjects]
        arrays = self._fits.take(subjects)
        errors: dict[int, CollisionBoundsError] = {}
        if replaced is not None:
            differs[replaced.rows] = False
        if differs.any():
            changed = np.flatnonzero(differs.any(axis=(1, 2)) & self.is_fitted[subjects])
            if len(changed):
                self._fits.follow(arrays, subjects, linear, changed, errors)  # type: ignore[arg-type]  # its own
        if replaced is not None:
            assert isinstance(arrays, AabbArrays), "only boxes along the world's axes are replaced"
            arrays.min[replaced.rows] = replaced.low - offset[replaced.rows]
            arrays.max[replaced.rows] = replaced.high - offset[replaced.rows]
        owners = subjects
        if self._fits.has_parts:
            owners = subjects.repeat(self._counts[subjects])
            offset = offset.repeat(self._counts[subjects], axis=0)
        if isinstance(self._padding, float) and not self._padding:
            return arrays.at(offset), errors
        return self._padded(arrays, offset, owners, errors), errors

    def _padded(
        self,
        arrays: MovedArrays | AabbArrays,
        offset: Floats,
        owners: Ints,
        errors: dict[int, CollisionBoundsError],
    ) -> Shape:
        """Move shapes (k,) by offsets (k, 3) and pad them; owners (k,) that vanish are added to `errors`."""
        padding = self._padding
        if not isinstance(padding, float):
            padding = padding[owners]
        if np.min(padding, initial=0.0) < 0:
            is_lost = arrays.enlarge_to(np.broadcast_to(np.maximum(-padding, 0.0), len(owners)))
            amounts = np.broadcast_to(padding, len(is_lost))[is_lost]
            for subject, amount in zip(owners[is_lost].tolist(), amounts, strict=True):
                errors.setdefault(subject, padding_error(amount))
        return padded(arrays.at(offset), padding)
