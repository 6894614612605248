"""Spheres, sphere trees, oriented boxes, capsules and cylinders that are moved instead of fitted again.

A subject that moves, rotates and scales uniformly keeps the form of its vertices, and so its fit. It is
fitted again when its shear or its non-uniform scale changes, and when an oriented box along the world's axes
rotates. All vertices are inside in every case: where a single-precision matrix is not quite a similarity, the
fit grows by the residual.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from ...core import CollisionBoundsError, Shape
from ...core.numeric.arrays import Floats, Ints
from ..settings import DrawnShape, FitSettings
from .axial import AxialFits
from .fit import PartVertices, fit_around_origins, grouped_by_settings, in_batches, smallest_box_axes
from .moved_arrays import (
    MAX_RESIDUAL,
    MovedArrays,
    Rows,
    moved_arrays,
    product_of_matrices,
    uniform_scale_and_residual,
)
from .tree_parts import leaf_vertices

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
        shape: DrawnShape,
        settings: Sequence[FitSettings],
        groups: Sequence[PartVertices] | None,
        without: Ints,
        vertices: Mapping[int, NDArray[np.float32]],
    ) -> None:
        """Make room for the fits of all subjects.

        Parameters
        ----------
        shape : DrawnShape
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
        self._shape: DrawnShape = shape
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
        self._frames: dict[int, Floats] = {}
        self._axial = AxialFits(shape) if shape in ("capsule", "cylinder") else None
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
            _put(self._arrays, self._layout.rows(fitted), shape)
            self._inverse[fitted] = _inverse_or_zero(linear[entries])

    def take(self, subjects: Ints) -> MovedArrays:
        """Copy the shapes of all parts of subjects (m,)."""
        rows = self._layout.rows(subjects) if self.has_parts else subjects
        copies = {name: values[rows] for name, values in vars(self._arrays).items()}
        return type(self._arrays)(**copies)

    def follow(
        self, arrays: MovedArrays, subjects: Ints, linear: Floats, changed: Ints, errors: _Errors
    ) -> None:
        """Bring shapes to linear maps (m, 3, 3) that differ from the fitted ones at `changed` (k,)."""
        motion = product_of_matrices(linear[changed], self._inverse[subjects[changed]])
        scale, residual = uniform_scale_and_residual(motion)
        is_moved = residual < MAX_RESIDUAL
        if arrays.has_rotation:
            is_moved &= ~self._is_along_world[subjects[changed]]
        moved, again = changed[is_moved], changed[~is_moved]
        # As a rule all are moved: then a slice avoids copies.
        rows: Rows = slice(None) if len(moved) == len(subjects) else moved
        entries: Rows = slice(None)
        part_entry = np.arange(len(subjects))
        if self.has_parts:
            part_entry = part_entry.repeat(self._layout.counts[subjects])
            position = np.full(len(subjects), -1)
            position[moved] = np.arange(len(moved))
            rows = np.flatnonzero(position[part_entry] >= 0)
            entries = position[part_entry][rows]
        motion, scale, residual = (values[is_moved][entries] for values in (motion, scale, residual))
        stretch = scale * np.sqrt(1 + residual) * (1 + 1e-14)
        arrays.apply_motion(rows, motion, scale, residual, stretch)
        if not len(again):
            return
        points = [self._vertices[k] for k in subjects[again].tolist()]
        for entries, shape in self._fit_in_batches(subjects[again], points, linear[again], errors):
            _put(arrays, np.flatnonzero(np.isin(part_entry, again[entries])), shape)

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
        if self._axial is not None:
            return self._axial.fit(subjects, points, linear, radii)
        frames = None
        if self._shape == "obb" and settings.axes == "smallest":
            frames = self._box_frames(subjects, points, linear)
        shape = fit_around_origins(points, linear, self._shape, settings, groups, radii, frames)
        if groups is not None:
            # The last part counts several times if there are fewer than at first.
            given = np.array([len(bounds) - 1 for _, bounds in groups])
            counts = self._layout.counts[subjects]
            number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            first, last = np.repeat(np.cumsum(given) - given, counts), np.repeat(given - 1, counts)
            shape = shape[first + np.minimum(number, last)]
        return shape

    def _box_frames(self, subjects: Ints, points: Sequence[NDArray[np.float32]], linear: Floats) -> Floats:
        """Axes (m, 3, 3) of the smallest boxes, which subjects keep when they are fitted again.

        Other axes at each sample would not turn with the subject, and the box in between would be wrong.
        """
        for subject, vertices, map_ in zip(subjects.tolist(), points, linear, strict=True):
            if subject not in self._frames:
                self._frames[subject] = smallest_box_axes(vertices, map_)
        return np.stack([self._frames[subject] for subject in subjects.tolist()])


def _put(arrays: MovedArrays, rows: Ints, shape: Shape) -> None:
    """Replace the shapes at rows (k,) with a batch (k,)."""
    for name, values in vars(arrays).items():
        values[rows] = getattr(shape, name)


def _inverse_or_zero(linear: Floats) -> Floats:
    """Inverses of linear maps (m, 3, 3); zeros for singular ones."""
    result = np.zeros_like(linear)
    with np.errstate(all="ignore"):
        determinant = np.linalg.det(linear)
        invertible = np.isfinite(determinant) & (determinant != 0)
        result[invertible] = np.linalg.inv(linear[invertible])
    result[~np.isfinite(result).all(axis=(1, 2))] = 0.0
    return result
