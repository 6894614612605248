"""Spheres, sphere trees, oriented boxes, boxes of parts, capsules and cylinders: moved, not fitted again.

A subject that moves, rotates and scales uniformly keeps the form of its vertices, and so its fit. It is
fitted again when its shear or its non-uniform scale changes, and when an oriented box along the world's axes
rotates. All vertices are inside in every case: where a single-precision matrix is not quite a similarity, the
fit grows by the residual.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...core import Capsule, CollisionBoundsError, Cylinder, Obb, Shape, Sphere
from ...core.numeric.arrays import Bools, Floats, Ints, length, normalized, transform_vectors
from ..blender.mesh_data import Geometry
from ..settings import AXIAL_SHAPES, DrawnShape, FitSettings, shape_kind
from ..subjects.geometry import SubjectGeometry
from .axial import AxialFits
from .box_axes import BoxAxes
from .fit import (
    LEAF_POINTS_AT_ONCE,
    POINTS_AT_ONCE,
    PartVertices,
    fit_around_origins,
    grouped_by_settings,
    in_batches,
)
from .part_groups import part_vertices

_MAX_RESIDUAL = 1e-4
"""Largest residual of a motion for which a fit is moved instead of made again."""

_NOTHING = 1e-100
"""Scale that stands for 0, and has a rotation."""

_THIN = 0.2
"""Determinant, relative to the size, up to which a linear map counts as nearly flat."""

_Errors = dict[int, CollisionBoundsError]

Rows: TypeAlias = Ints | slice


class MovedArrays(ABC):
    """Numbers of N shapes of one kind; the fields are those of the shape.

    Attributes
    ----------
    has_rotation : bool
        Whether the shapes have axes that rotate with a subject.
    """

    has_rotation: ClassVar[bool] = False

    @abstractmethod
    def apply_motion(
        self, rows: Rows, motion: Floats, scale: Floats, residual: Floats, stretch: Floats
    ) -> None:
        """Rotate and scale the shapes at rows (k,) by linear maps (k, 3, 3) that nearly are similarities.

        The shapes grow by what the maps lack of a similarity, so that all points stay inside.

        scale, residual : (k,), see `uniform_scale_and_residual`
        stretch : factors (k,) by which the maps lengthen vectors at most
        """

    @abstractmethod
    def grow(self, rows: Rows, amounts: Floats) -> None:
        """Move all surfaces of the shapes at rows (k,) outward by amounts (k,)."""

    @abstractmethod
    def enlarge_to(self, room: Floats) -> Bools:
        """Enlarge shapes that are smaller than a half size (N,) on any side, and return which these were."""

    @abstractmethod
    def at(self, offset: Floats) -> Shape:
        """Shapes (N,) moved by offsets (N, 3)."""


@dataclass
class SphereArrays(MovedArrays):
    """Spheres: center (N, 3), radius (N,)."""

    center: Floats
    radius: Floats

    def apply_motion(
        self, rows: Rows, motion: Floats, scale: Floats, residual: Floats, stretch: Floats
    ) -> None:
        """Rotate and scale the spheres at rows (k,); see `MovedArrays`."""
        self.center[rows] = transform_vectors(motion, self.center[rows])
        slack = 1e-15 * length(self.center[rows])
        self.radius[rows] = self.radius[rows] * stretch + slack

    def grow(self, rows: Rows, amounts: Floats) -> None:
        """Grow the spheres at rows (k,); see `MovedArrays`."""
        self.radius[rows] += amounts

    def enlarge_to(self, room: Floats) -> Bools:
        """Enlarge spheres that are smaller than a radius (N,), and return which these were."""
        is_smaller = self.radius < room
        self.radius[is_smaller] = room[is_smaller]
        return np.asarray(is_smaller)

    def at(self, offset: Floats) -> Sphere:
        """Spheres (N,) moved by offsets (N, 3)."""
        return Sphere.unchecked(self.center + offset, self.radius)


@dataclass
class ObbArrays(MovedArrays):
    """Oriented boxes: center (N, 3), half_extents (N, 3), rotation (N, 3, 3)."""

    center: Floats
    half_extents: Floats
    rotation: Floats

    has_rotation: ClassVar[bool] = True

    def apply_motion(
        self, rows: Rows, motion: Floats, scale: Floats, residual: Floats, stretch: Floats
    ) -> None:
        """Rotate and scale the boxes at rows (k,); see `MovedArrays`."""
        self.center[rows] = transform_vectors(motion, self.center[rows])
        half = self.half_extents[rows]
        self.rotation[rows] = nearest_rotation(_product(motion, self.rotation[rows]) / scale[:, None, None])
        slack = 2 * residual * length(half) + 1e-14 * length(self.center[rows])
        self.half_extents[rows] = half * stretch[:, None] + (slack * scale)[:, None]

    def grow(self, rows: Rows, amounts: Floats) -> None:
        """Grow the boxes at rows (k,); see `MovedArrays`."""
        self.half_extents[rows] += amounts[:, None]

    def enlarge_to(self, room: Floats) -> Bools:
        """Enlarge boxes that are smaller than a half size (N,), and return which these were."""
        sides = room[:, None]
        is_smaller = (self.half_extents < sides).any(axis=1)
        self.half_extents[is_smaller] = sides[is_smaller]
        return np.asarray(is_smaller)

    def at(self, offset: Floats) -> Obb:
        """Boxes (N,) moved by offsets (N, 3)."""
        return Obb.unchecked(self.center + offset, self.half_extents, self.rotation)


@dataclass
class CapsuleArrays(MovedArrays):
    """Capsules: center (N, 3), axis (N, 3), half_length (N,), radius (N,)."""

    center: Floats
    axis: Floats
    half_length: Floats
    radius: Floats

    def apply_motion(
        self, rows: Rows, motion: Floats, scale: Floats, residual: Floats, stretch: Floats
    ) -> None:
        """Rotate and scale the capsules at rows (k,); see `MovedArrays`."""
        self.center[rows] = transform_vectors(motion, self.center[rows])
        self.axis[rows] = normalized(transform_vectors(motion, self.axis[rows]))
        half, radius = self.half_length[rows], self.radius[rows]
        # What is perpendicular to an axis is not quite perpendicular to its image.
        slack = 2 * residual * (half + radius) * scale + 1e-14 * length(self.center[rows])
        self.half_length[rows] = half * stretch + slack
        self.radius[rows] = radius * stretch + slack

    def grow(self, rows: Rows, amounts: Floats) -> None:
        """Grow the capsules at rows (k,); see `MovedArrays`."""
        self.radius[rows] += amounts
        self.half_length[rows] += amounts

    def enlarge_to(self, room: Floats) -> Bools:
        """Enlarge capsules that are smaller than a radius (N,), and return which these were."""
        is_smaller = self.radius < room
        self.radius[is_smaller] = room[is_smaller]
        return np.asarray(is_smaller)

    def at(self, offset: Floats) -> Capsule | Cylinder:
        """Capsules (N,) moved by offsets (N, 3)."""
        return Capsule.unchecked(self.center + offset, self.axis, self.half_length, self.radius)


class CylinderArrays(CapsuleArrays):
    """Cylinders: center (N, 3), axis (N, 3), half_length (N,), radius (N,)."""

    def enlarge_to(self, room: Floats) -> Bools:
        """Enlarge cylinders whose radius or half length is less than a size (N,), and return which."""
        is_smaller = np.minimum(self.radius, self.half_length) < room
        for values in (self.radius, self.half_length):
            values[is_smaller] = np.maximum(values, room)[is_smaller]
        return np.asarray(is_smaller)

    def at(self, offset: Floats) -> Cylinder:
        """Cylinders (N,) moved by offsets (N, 3)."""
        return Cylinder.unchecked(self.center + offset, self.axis, self.half_length, self.radius)


def _moved_arrays(shape: DrawnShape, count: int) -> MovedArrays:
    """Arrays for `count` shapes of one kind; one for each leaf of a sphere tree, or part of a compound.

    Raises ValueError for a kind of shape that is unknown, that is fitted again instead of moved, or that can
    neither be scanned nor shown.
    """
    if shape in AXIAL_SHAPES:
        kind = CapsuleArrays if shape == "capsule" else CylinderArrays
        along_z = np.tile([0.0, 0.0, 1.0], (count, 1))
        return kind(np.zeros((count, 3)), along_z, np.zeros(count), np.zeros(count))
    tested_as = shape_kind(shape).tested_as
    if tested_as is Sphere:
        return SphereArrays(np.zeros((count, 3)), np.zeros(count))
    if tested_as is Obb:
        return ObbArrays(np.zeros((count, 3)), np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1)))
    raise ValueError(f"shape {shape!r} cannot be moved: it is fitted again, or neither scanned nor shown")


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
    are_parts_alone : bool
        Whether `fit` can fit some parts of a subject alone: nothing that it finds is shared between them.
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
            Parts of each subject, for sphere trees and compounds.
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
        parts = [1] * count if groups is None else [len(each.offsets) - 1 for each in groups]
        counts = np.array(parts, dtype=np.int64)
        counts[without] = 0
        self._layout = PartLayout(counts)
        self.owners = self._layout.owners
        self.has_parts = not self._layout.is_trivial
        self.are_parts_alone = self.has_parts and shape == "spheres"
        self._is_along_world = np.array(
            [each.axes == "world" and shape != "compound" for each in settings], dtype=bool
        )
        self._kept_groups = self._groups
        self._box_axes = BoxAxes()
        self._axial = AxialFits(shape, _is_similarity) if shape in AXIAL_SHAPES else None
        self._radii = np.zeros(count)
        self._has_radii = False
        # Inverses of the linear maps at which the subjects were fitted.
        self._inverse = np.zeros((count, 3, 3))
        # The linear maps of subjects that are nearly flat, of which inverses are not precise, and the largest
        # distance of their vertices from their origin; infinite for the others.
        self._flat = np.zeros((count, 3, 3))
        self._reach = np.full(count, np.inf)
        self._arrays = _moved_arrays(shape, len(self.owners))

    def by_part(self) -> MovedFits:
        """All parts as they are now, each as the only part of a subject; they cannot be fitted again.

        So boxes along the world's axes turn with their subject.
        """
        result = copy(self)
        result._settings = [self._settings[owner] for owner in self.owners.tolist()]
        result._groups, result._vertices = None, {}
        result._layout = PartLayout(np.ones(len(self.owners), dtype=np.int64))
        result.owners, result.has_parts = result._layout.owners, False
        result._is_along_world = np.zeros(len(self.owners), dtype=bool)
        result._radii, result._inverse = self._radii[self.owners], self._inverse[self.owners]
        result._flat, result._reach = self._flat[self.owners], self._reach[self.owners]
        return result

    def groups_of(self, subject: int) -> PartVertices:
        """Return the parts of a subject, as of `__init__` or `set_triangles`."""
        assert self._groups is not None, "only sphere trees and compounds have parts"
        return self._groups[subject]

    @property
    def turns_with_subject(self) -> Bools:
        """Mask (n,) of subjects whose shapes turn with them: not boxes along the world's axes."""
        is_turning: Bools = ~self._is_along_world
        return is_turning if self._shape == "obb" else np.ones_like(is_turning)

    def keep_frames(self) -> None:
        """Keep the axes and groups of all subjects as they are now; see `FitCache.keep_frames`."""
        self._kept_groups = self._groups and list(self._groups)
        self._box_axes.keep()
        if self._axial is not None:
            self._axial.keep_axes()

    def restart(self) -> None:
        """Forget the axes and groups that were found later; see `FitCache.restart`."""
        self._groups = self._kept_groups and list(self._kept_groups)
        self._box_axes.restart()
        if self._axial is not None:
            self._axial.restart()

    def set_triangles(
        self,
        subject: int,
        points: NDArray[np.float32],
        triangles: NDArray[np.int32],
        faces: NDArray[np.int32] | None,
    ) -> None:
        """Group the vertices of a subject by other triangles; see `FitCache.set_triangles`."""
        assert self._groups is not None, "only sphere trees and compounds have parts"
        source = SubjectGeometry(subject, Geometry(points, np.eye(4)), self._settings[subject], triangles)
        most = int(self._layout.counts[subject])
        self._groups[subject] = part_vertices(self._shape, source, faces, most)

    def fit(
        self,
        subjects: Ints,
        points: Sequence[NDArray[np.float32]],
        linear: Floats,
        radii: Floats,
        errors: _Errors,
        is_wanted: Bools | None = None,
    ) -> None:
        """Fit shapes to the vertices of subjects (m,); see `FitCache.fit`. Adds to `errors`.

        is_wanted : (N,) mask of parts, if `are_parts_alone`
        """
        self._radii[subjects] = radii
        self._has_radii = bool(self._radii.any())
        for entries, shape in self._fit_in_batches(subjects, points, linear, errors, is_wanted):
            fitted = subjects[entries]
            rows = self._layout.rows(fitted)
            _put(self._arrays, rows if is_wanted is None else rows[is_wanted[rows]], shape)
            self._inverse[fitted] = _inverse_or_zero(linear[entries])
            self._flat[fitted], self._reach[fitted] = linear[entries], np.inf
            for entry in entries[_is_nearly_flat(linear[entries])].tolist():
                precise = points[entry].astype(np.float64)
                reach = np.sqrt((precise * precise).sum(axis=1).max(initial=0)) + radii[entry]
                self._reach[subjects[entry]] = reach

    def take(self, subjects: Ints) -> MovedArrays:
        """Copy the shapes of all parts of subjects (m,)."""
        rows = self._layout.rows(subjects) if self.has_parts else subjects
        copies = {name: values[rows] for name, values in vars(self._arrays).items()}
        return type(self._arrays)(**copies)

    def follow(
        self, arrays: MovedArrays, subjects: Ints, linear: Floats, changed: Ints, errors: _Errors
    ) -> None:
        """Bring shapes to linear maps (m, 3, 3) that differ from the fitted ones at `changed` (k,)."""
        inverse = self._inverse[subjects[changed]]
        motion = _product(linear[changed], inverse)
        # What has no size can be moved from anywhere.
        motion[~linear[changed].any(axis=(1, 2)) & inverse.any(axis=(1, 2))] = _NOTHING * np.eye(3)
        scale, residual = uniform_scale_and_residual(motion)
        is_moved = residual < _MAX_RESIDUAL
        errors_of_flat = np.zeros(len(changed))
        flat = np.flatnonzero(~is_moved & np.isfinite(self._reach[subjects[changed]]))
        if len(flat):
            members = subjects[changed[flat]]
            turns, deviations = _rotations_of_flat(self._flat[members], linear[changed[flat]])
            found = np.isfinite(deviations)
            flat, members, turns = flat[found], members[found], turns[found]
            motion[flat], scale[flat], residual[flat], is_moved[flat] = turns, 1.0, 0.0, True
            errors_of_flat[flat] = deviations[found] * self._reach[members]
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
        if len(flat):
            arrays.grow(rows, errors_of_flat[is_moved][entries])
        if not len(again):
            return
        points = [self._vertices[k] for k in subjects[again].tolist()]
        for entries, shape in self._fit_in_batches(subjects[again], points, linear[again], errors):
            _put(arrays, np.flatnonzero(np.isin(part_entry, again[entries])), shape)

    def _fit_in_batches(
        self,
        subjects: Ints,
        points: Sequence[NDArray[np.float32]],
        linear: Floats,
        errors: _Errors,
        is_wanted: Bools | None = None,
    ) -> Iterator[tuple[Ints, Shape]]:
        """Entries of `subjects` (m,), and the shapes of all their parts without padding around the origins.

        As many subjects at once as there is room for. Those that cannot be fitted are added to `errors`.

        is_wanted : (N,) mask of parts; all without one
        """
        parts = self._parts_of(subjects, points, is_wanted)
        sized = points if parts is None else [each.rows for each in parts]
        most = LEAF_POINTS_AT_ONCE if self._shape == "spheres" else POINTS_AT_ONCE
        for candidates in in_batches(range(len(points)), sized.__getitem__, most):
            for settings, members in grouped_by_settings([self._settings[subjects[k]] for k in candidates]):
                batch = [candidates[member] for member in members]
                entries = np.array(batch)
                vertices = [points[k] for k in batch]
                try:
                    groups = None if parts is None else [parts[k] for k in batch]
                    yield (
                        entries,
                        self._fit_together(
                            subjects[entries],
                            vertices,
                            linear[entries],
                            settings,
                            groups,
                            is_wanted is not None,
                        ),
                    )
                except CollisionBoundsError as error:
                    if len(batch) == 1:
                        errors[int(subjects[entries[0]])] = error
                        continue
                    # Retry one by one, so that only the subject that fails reports the error.
                    for k in batch:
                        alone = subjects[[k]], [points[k]], linear[[k]]
                        for _, shape in self._fit_in_batches(*alone, errors, is_wanted):
                            yield np.array([k]), shape

    def set_axis(self, subject: int, axis: Floats) -> None:
        """Set the axis (3,) of a capsule or cylinder, see `FitCache.set_axis`."""
        if self._axial is not None:
            self._axial.set_axis(subject, axis)

    def _parts_of(
        self, subjects: Ints, points: Sequence[NDArray[np.float32]], is_wanted: Bools | None
    ) -> list[PartVertices] | None:
        """Parts of subjects (m,) with vertices, those that a mask (N,) has; None if each is one part."""
        if self._groups is None:
            return None
        # With other vertices than the groups were made for, one shape around all stands for each group.
        found = [
            parts if parts.are_of(vertices) else PartVertices.whole(len(vertices))
            for parts, vertices in zip((self._groups[k] for k in subjects.tolist()), points, strict=True)
        ]
        if is_wanted is None:
            return found
        numbers = (np.flatnonzero(is_wanted[self._layout.rows(np.array([k]))]) for k in subjects)
        return [parts.take(each) for parts, each in zip(found, numbers, strict=True)]

    def _fit_together(
        self,
        subjects: Ints,
        points: Sequence[NDArray[np.float32]],
        linear: Floats,
        settings: FitSettings,
        groups: Sequence[PartVertices] | None,
        is_part: bool,
    ) -> Shape:
        """Shapes of the parts of subjects (m,) around their origins; raises the error of any of them.

        groups : what `_parts_of` returns for these
        is_part : whether these are some parts of each subject, not all
        """
        radii = self._radii[subjects] if self._has_radii else None
        if self._axial is not None:
            return self._axial.fit(subjects, points, linear, radii)
        frames = None
        if self._shape == "compound":
            assert groups is not None, "compounds have parts"
            frames = self._box_axes.of_parts(subjects, groups, points, linear)
        elif self._shape == "obb" and settings.axes == "smallest":
            frames = self._box_axes.of_subjects(subjects, points, linear)
        shape = fit_around_origins(points, linear, self._shape, settings, groups, radii, frames)
        if groups is not None and not is_part:
            # The last part counts several times if there are fewer than at first.
            given = np.array([len(each.offsets) - 1 for each in groups])
            counts = self._layout.counts[subjects]
            number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            first, last = np.repeat(np.cumsum(given) - given, counts), np.repeat(given - 1, counts)
            shape = shape[first + np.minimum(number, last)]
        return shape


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


def _is_nearly_flat(linear: Floats) -> Bools:
    """Mask (m,) of linear maps (m, 3, 3) whose images are flat or thin."""
    size = np.sqrt((linear * linear).sum(axis=(1, 2)) / 3)
    with np.errstate(all="ignore"):
        return np.asarray(np.isfinite(size) & (np.abs(np.linalg.det(linear)) <= _THIN * size**3))


def _rotations_of_flat(fitted: Floats, linear: Floats) -> tuple[Floats, Floats]:
    """Find the rotations (m, 3, 3) that carry nearly flat maps (m, 3, 3) to others (Kabsch's method).

    Also returns how far (m,) the images of points at a distance of 1 from the origin are from these; infinite
    where it is no rotation.
    """
    rotations, deviations = np.tile(np.eye(3), (len(linear), 1, 1)), np.full(len(linear), np.inf)
    size = np.sqrt((linear * linear).sum(axis=(1, 2)))
    rows = np.flatnonzero(np.isfinite(size))
    left, _, right = np.linalg.svd(linear[rows] @ fitted[rows].transpose(0, 2, 1))
    # Without a mirror image: a flat object does not show which of both it is.
    left[:, :, 2] *= np.where(np.linalg.det(left @ right) < 0, -1, 1)[:, None]
    rotations[rows] = left @ right
    difference = linear[rows] - rotations[rows] @ fitted[rows]
    of_unit = np.sqrt((difference * difference).sum(axis=(1, 2)))
    is_near = of_unit <= _MAX_RESIDUAL * size[rows]
    deviations[rows[is_near]] = of_unit[is_near]
    return rotations, deviations


def _product(first: Floats, second: Floats) -> Floats:
    """Products (m, 3, 3) of two arrays of matrices (m, 3, 3)."""
    # On arrays (3, 3, m), because NumPy multiplies long rows many times faster than small matrices.
    product = np.einsum(
        "ijn,jkn->ikn",
        np.ascontiguousarray(first.transpose(1, 2, 0)),
        np.ascontiguousarray(second.transpose(1, 2, 0)),
    )
    return np.asarray(product.transpose(2, 0, 1))


def uniform_scale_and_residual(linear: Floats) -> tuple[Floats, Floats]:
    """Find the best uniform scale of linear maps, and how far they are from a rotation with that scale.

    A map with a residual below 1e-4 is a rotation with uniform scale, up to the rounding of its matrix.

    Parameters
    ----------
    linear : (m, 3, 3) float64
        Linear maps, finite or not.

    Returns
    -------
    scale : (m,) float64
    residual : (m,) float64
        Frobenius norm of M M^T / scale^2 - I. It is infinite for mirrored and singular maps.
    """
    m = np.ascontiguousarray(linear.transpose(1, 2, 0))
    gram = np.einsum("kin,kjn->ijn", m, m)
    squared = (gram[0, 0] + gram[1, 1] + gram[2, 2]) / 3
    with np.errstate(divide="ignore", invalid="ignore"):
        off = gram / squared - np.eye(3)[..., None]
    residual = np.sqrt(np.einsum("ijn,ijn->n", off, off))
    minors = [m[1, (k + 1) % 3] * m[2, (k + 2) % 3] - m[1, (k + 2) % 3] * m[2, (k + 1) % 3] for k in range(3)]
    determinant = m[0, 0] * minors[0] + m[0, 1] * minors[1] + m[0, 2] * minors[2]
    # Mirrored and singular maps are no rotations, so whatever they move is fitted again.
    is_proper = np.isfinite(residual) & (determinant > 0)
    return np.sqrt(squared), np.where(is_proper, residual, np.inf)


def nearest_rotation(linear: Floats) -> Floats:
    """Rotations nearest to maps (m, 3, 3) whose residual is below 1e-4 (Newton's method, polar factor)."""
    r = np.ascontiguousarray(linear.transpose(1, 2, 0))
    # Each step squares the error: 1e-4, then 1e-8, then below the rounding.
    for _ in range(2):
        r = 1.5 * r - 0.5 * np.einsum("ijn,jkn->ikn", np.einsum("ijn,kjn->ikn", r, r), r)
    return r.transpose(2, 0, 1)


def _is_similarity(motion: Floats) -> bool:
    """Return whether a fit can be moved by a linear map (3, 3)."""
    return bool(uniform_scale_and_residual(motion[None])[1][0] < _MAX_RESIDUAL)
