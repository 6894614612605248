"""One fit for each of many subjects, made once and then moved by the subjects' matrices.

A subject that moves, rotates and scales uniformly keeps the form of its vertices, and so its fit. It is
fitted again when its shear or its non-uniform scale changes, and when a box along the world's axes rotates.
All vertices are inside in every case: where a single-precision matrix is not quite a similarity, the fit
grows by the residual.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ...core import CollisionBoundsError, Shape
from ...core.numeric.arrays import Bools, Floats, Ints, length
from ..blender.mesh_data import Geometry
from ..settings import FitSettings, ShapeName
from .fit import PartVertices, fit_around_origins
from .growth import padded, padding_error
from .rigid_motion import inverse_or_zero, matrix_product, uniform_scale_and_residual
from .shape_arrays import AabbArrays, Rows, ShapeArrays, shape_arrays
from .shape_choice import grouped_by_settings, in_batches
from .vertex_stacks import VertexStacks

_MAX_RESIDUAL = 1e-4
"""Largest residual of a motion for which a fit is moved instead of made again."""

_Number = TypeVar("_Number", np.int64, np.float64)

_Errors = dict[int, CollisionBoundsError]


class PartLayout:
    """Rows of the parts of subjects in arrays of all parts.

    Attributes
    ----------
    counts : (n,) int
        Number of parts of each subject.
    owners : (N,) int
        Subject that each part belongs to; the parts of a subject are adjacent.
    """

    def __init__(self, counts: Ints) -> None:
        self.counts = counts
        self.owners: Ints = np.repeat(np.arange(len(counts)), counts)
        self._first = np.cumsum(counts) - counts
        self.is_trivial = bool((counts == 1).all())

    def rows(self, subjects: Ints) -> Ints:
        """Rows of all parts of subjects (m,), in their order."""
        if self.is_trivial:
            return subjects
        counts = self.counts[subjects]
        return np.repeat(self._first[subjects] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())

    def per_part(self, values: NDArray[_Number], subjects: Ints) -> NDArray[_Number]:
        """Values of subjects (m, ...), repeated for each of their parts."""
        return values if self.is_trivial else values.repeat(self.counts[subjects], axis=0)

    def rows_among(self, chosen: Ints, subjects: Ints) -> tuple[Rows, Rows]:
        """Rows of the parts of `subjects[chosen]` among those of subjects, and entries in `chosen`."""
        if self.is_trivial:
            # As a rule all are chosen: then a slice avoids copies.
            return slice(None) if len(chosen) == len(subjects) else chosen, slice(None)
        position = np.full(len(subjects), -1)
        position[chosen] = np.arange(len(chosen))
        of_part = position[np.repeat(np.arange(len(subjects)), self.counts[subjects])]
        rows = np.flatnonzero(of_part >= 0)
        return rows, of_part[rows]


class FitCache:
    """Shapes of subjects 0 to n - 1, each with one part, a part for each of its groups of vertices, or none.

    Attributes
    ----------
    is_fitted : (n,) bool
        Whether each subject has a fit.
    """

    def __init__(
        self,
        count: int,
        shape: ShapeName,
        settings: FitSettings | Sequence[FitSettings],
        groups: list[PartVertices] | None,
        without: Ints,
    ) -> None:
        """Make room for the fits of `count` subjects.

        Parameters
        ----------
        count : int
        shape : ShapeName
        settings : FitSettings or sequence of FitSettings
            Settings of all subjects, or of each. Oriented boxes have the subjects' own axes unless "world".
        groups : list of PartVertices, optional
            Parts of each subject, for sphere trees.
        without : (k,) int
            Subjects that get no shape.

        Raises
        ------
        ValueError
            For a kind of shape that is unknown, or that a scan cannot test.
        """
        self._shape = shape
        self._settings = [settings] * count if isinstance(settings, FitSettings) else list(settings)
        # One number, as long as all have the same padding.
        self._padding: float | Floats = np.array([each.padding for each in self._settings])
        if (self._padding == self._padding[:1]).all():
            self._padding = float(self._padding[0]) if count else 0.0
        self._is_along_world = np.array([each.axes == "world" for each in self._settings], dtype=bool)
        self._radii = np.zeros(count)
        self._has_radii = False
        self._groups = groups
        self._points: dict[int, NDArray[np.float32]] = {}
        self._stacks: VertexStacks | None = None
        parts = [1] * count if groups is None else [len(offsets) - 1 for _, offsets in groups]
        counts = np.array(parts, dtype=np.int64)
        counts[without] = 0
        self._layout = PartLayout(counts)
        self.is_fitted: Bools = np.zeros(count, dtype=bool)
        # Linear parts at which the subjects were fitted, and the fits around the subjects' origins.
        self._linear, self._inverse = np.zeros((count, 3, 3)), np.zeros((count, 3, 3))
        self._arrays = shape_arrays(shape, len(self.owners))

    @property
    def owners(self) -> Ints:
        """(N,) subject that each part belongs to."""
        return self._layout.owners

    def is_fitted_to(self, index: int, points: NDArray[np.float32]) -> bool:
        """Return whether a subject has been fitted to these vertices (k, 3)."""
        known = self._points.get(index)
        return known is not None and (known is points or np.array_equal(known, points))

    def set_padding(self, subject: int, padding: float) -> None:
        """Set the padding of one subject, from now on."""
        if isinstance(self._padding, float):
            self._padding = np.full(len(self._settings), self._padding)
        self._padding[subject] = padding

    def fit(self, subjects: Sequence[int], geometries: Sequence[Geometry]) -> dict[int, CollisionBoundsError]:
        """Fit subjects again.

        Parameters
        ----------
        subjects : sequence of int
        geometries : sequence of Geometry
            Vertices and matrix of each of them.

        Returns
        -------
        errors : dict
            Error of each subject that cannot be fitted. Such a subject has no fit any more.
        """
        linear = np.array([geometry.matrix[:3, :3] for geometry in geometries]).reshape(-1, 3, 3)
        points = [geometry.points for geometry in geometries]
        index = np.array(subjects, dtype=np.int64)
        self._radii[index] = [geometry.radius for geometry in geometries]
        self._has_radii = bool(self._radii.any())
        errors: _Errors = {}
        for entries, shape in self._fit_in_batches(index, points, linear, errors):
            fitted = index[entries]
            self._arrays.put(self._layout.rows(fitted), shape)
            self._linear[fitted] = linear[entries]
            if not isinstance(self._arrays, AabbArrays):  # such boxes are refitted
                self._inverse[fitted] = inverse_or_zero(linear[entries])
            self.is_fitted[fitted] = True
        for subject, vertices in zip(subjects, points, strict=True):
            if subject in errors:
                self._points.pop(subject, None)
                self.is_fitted[subject] = False
            elif self._points.get(subject) is not vertices:
                self._points[subject] = vertices
                self._stacks = None
        return errors

    def shapes_at(self, subjects: Ints, matrices: Floats) -> tuple[Shape, dict[int, CollisionBoundsError]]:
        """Move the fits of subjects to their matrices, padding included.

        All vertices are inside. Subjects are fitted again where a fit cannot be moved.

        Parameters
        ----------
        subjects : (m,) int
        matrices : (m, 4, 4) float64
            World matrices.

        Returns
        -------
        shapes : Shape
            One per part, in the order of `subjects`.
        errors : dict
            Error of each subject that cannot be fitted at its matrix; its shapes mean nothing.
        """
        linear, offset = matrices[:, :3, :3], matrices[:, :3, 3]
        differs = linear != self._linear[subjects]
        arrays = self._arrays.take(self._layout.rows(subjects))
        errors: _Errors = {}
        if differs.any():
            changed = np.flatnonzero(differs.any(axis=(1, 2)) & self.is_fitted[subjects])
            if len(changed):
                self._follow(arrays, subjects, linear, changed, errors)
        return self._placed(arrays, offset, subjects, errors), errors

    def _follow(
        self, arrays: ShapeArrays, subjects: Ints, linear: Floats, changed: Ints, errors: _Errors
    ) -> None:
        """Bring shapes to linear maps (m, 3, 3) that differ from the fitted ones at `changed` (k,)."""
        if isinstance(arrays, AabbArrays):
            self._refit_boxes(arrays, subjects, linear, changed)
            return
        motion = matrix_product(linear[changed], self._inverse[subjects[changed]])
        scale, residual = uniform_scale_and_residual(motion)
        is_moved = residual < _MAX_RESIDUAL
        if arrays.has_rotation:
            is_moved &= ~self._is_along_world[subjects[changed]]
        rows, entries = self._layout.rows_among(changed[is_moved], subjects)
        arrays.apply_motion(
            rows, motion[is_moved][entries], scale[is_moved][entries], residual[is_moved][entries]
        )
        again = changed[~is_moved]
        points = [self._points[k] for k in subjects[again].tolist()]
        part_entry = np.repeat(np.arange(len(subjects)), self._layout.counts[subjects])
        for entries, shape in self._fit_in_batches(subjects[again], points, linear[again], errors):
            arrays.put(np.flatnonzero(np.isin(part_entry, again[entries])), shape)

    def _refit_boxes(self, arrays: AabbArrays, subjects: Ints, linear: Floats, changed: Ints) -> None:
        """Fit boxes along the world's axes again, from the stacked vertices of all changed subjects (k,)."""
        self._stacks = self._stacks or VertexStacks(self._points)
        low, high = self._stacks.boxes(subjects[changed], linear[changed])
        extent = self._radii[subjects[changed], None] * length(linear[changed]) if self._has_radii else 0.0
        rows, _ = self._layout.rows_among(changed, subjects)
        arrays.min[rows], arrays.max[rows] = low - extent, high + extent

    def _fit_in_batches(
        self, subjects: Ints, points: Sequence[NDArray[np.float32]], linear: Floats, errors: _Errors
    ) -> Iterator[tuple[Ints, Shape]]:
        """Entries of `subjects` (m,), and the shapes of all their parts without padding around the origins.

        As many subjects at once as there is room for. Those that cannot be fitted are added to `errors`.
        """
        for candidates in in_batches(range(len(points)), points.__getitem__):
            for settings, members in grouped_by_settings([self._settings[subjects[k]] for k in candidates]):
                batch = [candidates[member] for member in members]
                entries = np.array(batch)
                vertices = [points[k] for k in batch]
                try:
                    yield entries, self._fit_together(subjects[entries], vertices, linear[entries], settings)
                except CollisionBoundsError as error:
                    if len(batch) == 1:
                        errors[int(subjects[entries[0]])] = error
                        continue
                    # Retry one by one, so that only the subject that fails reports the error.
                    for k in batch:
                        for _, shape in self._fit_in_batches(subjects[[k]], [points[k]], linear[[k]], errors):
                            yield np.array([k]), shape

    def _fit_together(
        self, subjects: Ints, points: Sequence[NDArray[np.float32]], linear: Floats, settings: FitSettings
    ) -> Shape:
        """Shapes of all parts of subjects (m,) around their origins; raises the error of any of them."""
        groups = None
        if self._groups is not None:
            # With other vertices than the groups were made for, one sphere around all stands for each group.
            whole = [(np.arange(len(vertices)), np.array([0, len(vertices)])) for vertices in points]
            known = [self._groups[k] for k in subjects.tolist()]
            groups = [
                parts if len(points[k]) == parts[0].max(initial=-1) + 1 > 0 else whole[k]
                for k, parts in enumerate(known)
            ]
        radii = self._radii[subjects] if self._has_radii else None
        shape = fit_around_origins(points, linear, self._shape, settings, groups, radii)
        if groups is not None:
            given = np.array([len(bounds) - 1 for _, bounds in groups])
            counts = self._layout.counts[subjects]
            repeats = np.where(given == counts, 1, counts)
            shape = shape[np.repeat(np.arange(given.sum()), np.repeat(repeats, given))]
        # Raises where a negative padding leaves nothing of a shape.
        padded(shape, self._padding_of(subjects))
        return shape

    def _padding_of(self, subjects: Ints) -> float | Floats:
        """Return the padding of each part of subjects, or one number for all."""
        padding = self._padding
        return padding if isinstance(padding, float) else self._layout.per_part(padding[subjects], subjects)

    def _placed(self, arrays: ShapeArrays, offset: Floats, subjects: Ints, errors: _Errors) -> Shape:
        """Move shapes by offsets (m, 3) and pad them; subjects of which nothing is left go to `errors`."""
        offset, padding = self._layout.per_part(offset, subjects), self._padding_of(subjects)
        if (padding if isinstance(padding, float) else padding.min(initial=0.0)) < 0:
            owners = self._layout.per_part(subjects, subjects)
            is_lost = arrays.enlarge_to(np.broadcast_to(np.maximum(-padding, 0.0), len(owners)))
            amounts = np.broadcast_to(padding, len(is_lost))[is_lost]
            for subject, amount in zip(owners[is_lost].tolist(), amounts, strict=True):
                errors.setdefault(subject, padding_error(amount))
        return padded(arrays.at(offset), padding)
