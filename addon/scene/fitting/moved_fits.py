"""Spheres, sphere trees and oriented boxes that are moved by matrices instead of fitted again.

A subject that moves, rotates and scales uniformly keeps the form of its vertices, and so its fit. It is
fitted again when its shear or its non-uniform scale changes, and when an oriented box along the world's axes
rotates. All vertices are inside in every case: where a single-precision matrix is not quite a similarity, the
fit grows by the residual.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ...core import CollisionBoundsError, Shape
from ...core.numeric.arrays import Floats, Ints
from ..settings import FitSettings, ShapeName
from .fit import PartVertices, fit_around_origins, grouped_by_settings, in_batches
from .rigid_motion import inverse_or_zero, matrix_product, uniform_scale_and_residual
from .shape_arrays import MovedArrays, moved_arrays
from .tree_parts import leaf_vertices

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

    def rows_among(self, chosen: Ints, subjects: Ints) -> tuple[Ints | slice, Ints | slice]:
        """Rows of the parts of `subjects[chosen]` among those of subjects, and entries in `chosen`."""
        if self.is_trivial:
            # As a rule all are chosen: then a slice avoids copies.
            return slice(None) if len(chosen) == len(subjects) else chosen, slice(None)
        position = np.full(len(subjects), -1)
        position[chosen] = np.arange(len(chosen))
        of_part = position[np.repeat(np.arange(len(subjects)), self.counts[subjects])]
        rows = np.flatnonzero(of_part >= 0)
        return rows, of_part[rows]


class MovedFits:
    """Fits of subjects 0 to n - 1 around their origins, one for each part of a subject.

    Attributes
    ----------
    owners : (N,) int
        Subject that each part belongs to.
    has_parts : bool
        Whether any subject has more or fewer parts than one.
    """

    def __init__(
        self,
        shape: ShapeName,
        settings: Sequence[FitSettings],
        groups: Sequence[PartVertices] | None,
        without: Ints,
        vertices: Mapping[int, NDArray[np.float32]],
    ) -> None:
        """Make room for the fits of all subjects.

        Parameters
        ----------
        shape : ShapeName
            Shape of all subjects, not "aabb".
        settings : sequence of FitSettings
            Of each subject. Oriented boxes have the subjects' own axes unless "world".
        groups : sequence of PartVertices, optional
            Parts of each subject, for sphere trees.
        without : (k,) int
            Subjects that get no shape.
        vertices : mapping
            Vertices that each subject was fitted to last.

        Raises
        ------
        ValueError
            For a kind of shape that is unknown, or that a scan cannot test.
        """
        self._shape: ShapeName = shape
        self._settings = settings
        self._groups = None if groups is None else list(groups)
        self._vertices = vertices
        count = len(settings)
        parts = [1] * count if groups is None else [len(offsets) - 1 for _, offsets in groups]
        counts = np.array(parts, dtype=np.int64)
        counts[without] = 0
        self._layout = PartLayout(counts)
        self.owners = self._layout.owners
        self.has_parts = not self._layout.is_trivial
        self._is_along_world = np.array([each.axes == "world" for each in settings], dtype=bool)
        self._radii = np.zeros(count)
        self._has_radii = False
        # Inverses of the linear maps at which the subjects were fitted.
        self._inverse = np.zeros((count, 3, 3))
        self._arrays = moved_arrays(shape, len(self.owners))

    def by_part(self) -> MovedFits:
        """All parts as they are now, each as the only part of a subject; they cannot be fitted again."""
        result = copy(self)
        result._settings = [self._settings[owner] for owner in self.owners.tolist()]
        result._groups, result._vertices = None, {}
        result._layout = PartLayout(np.ones(len(self.owners), dtype=np.int64))
        result.owners, result.has_parts = result._layout.owners, False
        result._is_along_world = self._is_along_world[self.owners]
        result._radii, result._inverse = self._radii[self.owners], self._inverse[self.owners]
        return result

    def set_triangles(
        self,
        subject: int,
        points: NDArray[np.float32],
        triangles: NDArray[np.int32],
        faces: NDArray[np.int32] | None,
    ) -> None:
        """Group the vertices of a subject by other triangles; see `FitCache.set_triangles`."""
        assert self._groups is not None, "only sphere trees have parts"
        depth, most = self._settings[subject].depth, int(self._layout.counts[subject])
        self._groups[subject] = leaf_vertices(points, triangles, depth, faces, most)

    def fit(
        self,
        subjects: Ints,
        points: Sequence[NDArray[np.float32]],
        linear: Floats,
        radii: Floats,
        errors: _Errors,
    ) -> None:
        """Fit shapes to the vertices of subjects (m,); see `FitCache.fit`. Adds to `errors`."""
        self._radii[subjects] = radii
        self._has_radii = bool(self._radii.any())
        for entries, shape in self._fit_in_batches(subjects, points, linear, errors):
            fitted = subjects[entries]
            self._arrays.put(self._layout.rows(fitted), shape)
            self._inverse[fitted] = inverse_or_zero(linear[entries])

    def per_part(self, values: NDArray[_Number], subjects: Ints) -> NDArray[_Number]:
        """Values of subjects (m, ...), repeated for each of their parts."""
        return self._layout.per_part(values, subjects)

    def take(self, subjects: Ints) -> MovedArrays:
        """Copy the shapes of all parts of subjects (m,)."""
        return self._arrays.take(self._layout.rows(subjects))

    def follow(
        self, arrays: MovedArrays, subjects: Ints, linear: Floats, changed: Ints, errors: _Errors
    ) -> None:
        """Bring shapes to linear maps (m, 3, 3) that differ from the fitted ones at `changed` (k,)."""
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
        if not len(again):
            return
        points = [self._vertices[k] for k in subjects[again].tolist()]
        part_entry = np.repeat(np.arange(len(subjects)), self._layout.counts[subjects])
        for entries, shape in self._fit_in_batches(subjects[again], points, linear[again], errors):
            arrays.put(np.flatnonzero(np.isin(part_entry, again[entries])), shape)

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
            # The last part counts several times if there are fewer than at first.
            given = np.array([len(bounds) - 1 for _, bounds in groups])
            counts = self._layout.counts[subjects]
            number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            first, last = np.repeat(np.cumsum(given) - given, counts), np.repeat(given - 1, counts)
            shape = shape[first + np.minimum(number, last)]
        return shape
