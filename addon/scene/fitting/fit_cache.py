"""Fits of many subjects, made once and then brought to the subjects' matrices.

A subject that moves, rotates and scales uniformly keeps the form of its vertices, and so its fit. It is
fitted again when its shear or its non-uniform scale changes, and when an oriented box along the world's axes
rotates. All vertices are inside in every case: where a single-precision matrix is not quite a similarity, the
fit grows by the residual. Boxes along the world's axes are fitted again whenever their subject turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...core import (
    Aabb,
    CollisionBoundsError,
    EmptyGeometryError,
    NonFiniteGeometryError,
    Obb,
    Shape,
    Sphere,
    aabbs_from_groups,
    spheres_from_groups,
)
from ...core.numeric.arrays import Bools, Floats, Ints, concatenated_ranges, dot
from ..blender.mesh_data import Geometry
from ..settings import AXIAL_SHAPES, SHAPE_KINDS, DrawnShape, FitSettings
from ..subjects.reader import SubjectGeometry
from .fit import (
    LEAF_POINTS_AT_ONCE,
    MANY_VERTICES,
    POINTS_AT_ONCE,
    boxes_along,
    extreme_candidates,
    grouped_by_settings,
    grown_by_point_radii,
    in_batches,
    padded,
    padding_error,
    transformed_points,
)
from .fit_columns import (
    AT_REST,
    MAX_RESIDUAL,
    PLACES,
    Fields,
    Line,
    Motions,
    PosedVertices,
    Rows,
    are_nearly_flat,
    are_vanishing,
    fit_along_lines,
    inverses_or_zeros,
    matrix_products,
    move_shapes,
    put_shapes,
    rotations_of_flat,
    uniform_scale_and_residual,
    without_pose,
)
from .parts import PartVertices, fit_parts, part_vertices
from .searches import rotations_of, smallest_box_axes
from .world_boxes import VertexStacks


class SkinBoxes(NamedTuple):
    """World boxes of some of the rows of a batch.

    rows : (k,) int64. Increasing.
    low, high : (k, 3) float64. Minima and maxima.
    """

    rows: Ints
    low: Floats
    high: Floats


class SkinMeshes(NamedTuple):
    """Meshes in world space of some of the rows of a batch.

    rows : (k,) int64. Increasing.
    nodes : (k,) MeshBvh
    """

    rows: Ints
    nodes: NDArray[Any]


Skins: TypeAlias = SkinBoxes | SkinMeshes
"""Shapes of subjects that bones bend."""


_NOTHING = 1e-100
"""Scale that stands for 0, and has a rotation."""


_LEAST_SIZE = 1e-30
"""Scale of a matrix in single precision down to which all its digits count."""
_THINNEST = 1e-4
"""Second largest scale of a matrix, relative to the largest, from which on turns follow from it."""

Errors: TypeAlias = dict[int, CollisionBoundsError]


class FitCache:
    """Shapes of subjects 0 to n - 1, each with one part, a part for each of its groups of vertices, or none.

    is_fitted : (n,) bool. Whether each subject has a fit.
    owners : (N,) int. Subject that each part belongs to.
    has_parts : Whether any subject may have more or fewer parts than one.
    groups : Vertices of the parts of each subject, by its index; empty for shapes without parts.
    lines : Axes of capsules and cylinders that were found, or are set before the first fit, by subject.
    padding : (n,) float64. With a negative one, the shape of a subject may vanish.
    is_along_world : (n,) bool. Subjects whose shapes do not turn with them.
    is_mesh : (n,) bool. Subjects whose shapes are their triangles.
    in_own_frames : Whether `shapes_at` returns shapes in the frames of the subjects, as `local` ones of
        documents: world matrices without scale and shear. All vertices are inside, but for rounding errors of
        1e-12 of their distance from the origin.
    """

    in_own_frames = False

    def __init__(
        self,
        shape: DrawnShape,
        settings: Sequence[FitSettings],
        groups: Sequence[PartVertices] | None,
    ) -> None:
        """Make room for the fits of subjects with settings; their parts are adjacent. See `new_fits`."""
        count = len(settings)
        counts = np.ones(count, dtype=np.int64)
        if groups is not None:
            counts[:] = [len(parts.offsets) - 1 for parts in groups]
        self._shape: DrawnShape = shape
        self._settings = settings
        self.padding = np.array([each.padding for each in settings], dtype=np.float64)
        self._points: dict[int, NDArray[np.float32]] = {}
        self._radii = np.zeros(count)
        # Subjects that are fitted again, whatever their next vertices are.
        self._outdated: set[int] = set()
        self.is_fitted: Bools = np.zeros(count, dtype=bool)
        self.owners, self._counts = np.repeat(np.arange(count), counts), counts
        self._first, self.has_parts = np.cumsum(counts) - counts, bool((counts != 1).any())
        self._kind: Any = SHAPE_KINDS[shape].fitted_as
        self._fields: Fields = {
            name: np.array(np.broadcast_to(AT_REST.get(name, 0.0), (len(self.owners), *tail)))
            for name, tail in self._kind.field_shapes.items()
        }
        # Of boxes whose axes rotate with a subject.
        has_rotation = self._has_rotation = "rotation" in self._fields
        # Spheres of parts are fitted each by itself, boxes of parts along axes that they share with others.
        self._has_leaves = groups is not None and not has_rotation
        self.is_along_world = np.full(count, self._kind is Aabb)
        self.is_mesh: Bools = np.full(count, shape == "mesh")
        if groups is None and has_rotation:
            self.is_along_world[:] = [each.axes == "world" for each in settings]
        self.groups = dict(enumerate(groups or ()))
        # Axes (p, 3, 3) of the boxes of all parts of each subject, in its own frame.
        self._axes: dict[int, Floats] = {}
        self.lines: dict[int, Line] = {}
        # What searches have found for each subject until `keep_frames` was called.
        self._kept: tuple[dict[int, PartVertices], dict[int, Floats], dict[int, Line]] | None = None
        # Linear parts of the matrices at which the subjects were fitted, and their inverses.
        self._linear, self._inverse = np.zeros((2, count, 3, 3))
        # The linear maps of subjects that are nearly flat, of which inverses are not precise, and the largest
        # distance of their vertices from their origin; infinite for the others.
        self._flat = np.zeros((count, 3, 3))
        self._reach = np.full(count, np.inf)

    def _rows_among(self, subjects: Ints, entries: Ints) -> tuple[Rows, Rows]:
        """Find the parts of some subjects, at increasing `entries` (k,) of (m,), among the parts of all m.

        Returns their rows (p,), and which of the k entries each belongs to; slices where both are trivial.
        """
        if not self.has_parts:
            # As a rule it is all: then a slice avoids copies.
            return (slice(None) if len(entries) == len(subjects) else entries), slice(None)
        number = np.full(len(subjects), -1)
        number[entries] = np.arange(len(entries))
        number_of_part = number.repeat(self._counts[subjects])
        rows = np.flatnonzero(number_of_part >= 0)
        return rows, number_of_part[rows]

    def by_part(self) -> FitCache:
        """Fits of all parts as they are now, each as the only part of a subject.

        They can be moved to matrices which differ from those of the fit by a rotation and a uniform scale.
        """
        result, owners = copy(self), self.owners
        result._points, result.groups = {}, {}
        result.owners, result._counts = np.arange(len(owners)), np.ones(len(owners), dtype=np.int64)
        result.has_parts = False
        result._settings = [self._settings[owner] for owner in owners.tolist()]
        for name in ("is_fitted", "padding", "_radii", "_linear", "_inverse", "_flat", "_reach"):
            setattr(result, name, getattr(self, name)[owners])
        # As no part is fitted again, boxes along the world turn with their subject.
        result.is_along_world = np.zeros(len(owners), dtype=bool)
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
        self._kept = dict(self.groups), dict(self._axes), dict(self.lines)

    def restart(self, subjects: Iterable[int]) -> None:
        """Fit some subjects again to the vertices that come next, with the axes and groups that were kept."""
        self._outdated.update(subjects)
        if self._kept is not None:
            groups, axes, lines = self._kept
            self.groups, self._axes, self.lines = dict(groups), dict(axes), dict(lines)

    @property
    def has_orientation(self) -> Bools:
        """Mask (n,) of subjects whose turns follow from their matrices.

        Not those that scales of nearly 0 make a line or a point, or whose matrices lost their precision.
        """
        linear = np.where(np.isfinite(self._linear), self._linear, 0.0)
        sizes = np.linalg.svd(linear, compute_uv=False)
        return np.asarray((sizes[:, 0] >= _LEAST_SIZE) & (sizes[:, 1] >= _THINNEST * sizes[:, 0]))

    def reach_and_counts(self) -> tuple[Floats, Ints]:
        """Largest distance (n,) of each subject's vertices from its origin, and numbers (n,) of vertices."""
        reach, counts = np.zeros(len(self.is_fitted)), np.zeros(len(self.is_fitted), dtype=np.int64)
        for index, points in self._points.items():
            precise = points.astype(np.float64)
            reach[index], counts[index] = np.sqrt(dot(precise, precise).max(initial=0)), len(points)
        return reach, counts

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
        source = SubjectGeometry.of(subject, Geometry(points, np.eye(4)), self._settings[subject], triangles)
        most = int(self._counts[subject])
        self.groups[subject] = part_vertices(self._shape, source, faces, most)

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
        if is_wanted is not None and self.has_parts and self._has_leaves:
            self._outdated.update(subjects)
        else:
            is_wanted = None
            self._outdated.difference_update(subjects)
        self._fit(PosedVertices(index, points, linear), errors, is_wanted)
        self._points.update(zip(subjects, points, strict=True))
        self._linear[index] = linear
        self.is_fitted[index] = True
        for subject in errors:
            del self._points[subject]
            self.is_fitted[subject] = False
        return errors

    def shapes_at(
        self, subjects: Ints, matrices: Floats, replaced: Skins | None = None
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
            matrices = without_pose(matrices)
        assert not isinstance(replaced, SkinMeshes), "meshes have fits of their own"
        linear, offset = matrices[:, :3, :3], matrices[:, :3, 3]
        differs = linear != self._linear[subjects]
        rows = subjects
        if self.has_parts:
            rows = concatenated_ranges(self._first[subjects], self._counts[subjects])
        fields = {name: values[rows] for name, values in self._fields.items()}
        errors: Errors = {}
        if replaced is not None:
            differs[replaced.rows] = False
        if differs.any():
            changed = np.flatnonzero(differs.any(axis=(1, 2)) & self.is_fitted[subjects])
            if len(changed):
                self._follow(fields, subjects, linear, changed, errors)
        if replaced is not None:
            fields["min"][replaced.rows] = replaced.low - offset[replaced.rows]
            fields["max"][replaced.rows] = replaced.high - offset[replaced.rows]
        owners = subjects
        if self.has_parts:
            owners = subjects.repeat(self._counts[subjects])
            offset = offset.repeat(self._counts[subjects], axis=0)
        padding = self.padding[owners]
        if (padding < 0).any():
            is_lost = are_vanishing(self._kind, fields, padding)
            for subject, amount in zip(owners[is_lost].tolist(), padding[is_lost], strict=True):
                errors.setdefault(subject, padding_error(amount))
            padding[is_lost] = 0.0
        shapes: Shape = self._kind.unchecked(
            *(each + offset if name in PLACES else each for name, each in fields.items())
        )
        return (padded(shapes, padding) if padding.any() else shapes), errors

    def _fit(self, vertices: PosedVertices, errors: Errors, is_wanted: Bools | None) -> None:
        for entries, shape in self._fit_in_batches(vertices, errors, is_wanted):
            fitted, points, linear = vertices.take(entries)
            rows = concatenated_ranges(self._first[fitted], self._counts[fitted])
            put_shapes(self._fields, rows if is_wanted is None else rows[is_wanted[rows]], shape)
            self._inverse[fitted] = inverses_or_zeros(linear)
            self._flat[fitted], self._reach[fitted] = linear, np.inf
            for row in np.flatnonzero(are_nearly_flat(linear)).tolist():
                precise = points[row].astype(np.float64)
                reach = np.sqrt((precise * precise).sum(axis=1).max(initial=0)) + self._radii[fitted[row]]
                self._reach[fitted[row]] = reach

    def _follow(self, fields: Fields, subjects: Ints, linear: Floats, changed: Ints, errors: Errors) -> None:
        motions = self._motions(subjects[changed], linear[changed])
        is_moved = (motions.residual < MAX_RESIDUAL) & ~self.is_along_world[subjects[changed]]
        moved, again = changed[is_moved], changed[~is_moved]
        rows, number = self._rows_among(subjects, moved)
        if len(again) or self.has_parts:
            chosen = np.flatnonzero(is_moved)[number]
            motions = Motions(*(values[chosen] for values in motions))
        move_shapes(self._kind, fields, rows, motions)
        if len(again):
            points = [self._points[k] for k in subjects[again].tolist()]
            vertices = PosedVertices(subjects[again], points, linear[again])
            for entries, shape in self._fit_in_batches(vertices, errors, None):
                parts, _ = self._rows_among(subjects, again[entries])
                put_shapes(fields, parts, shape)

    def _motions(self, subjects: Ints, linear: Floats) -> Motions:
        """Motions that bring the fits of subjects (m,) to linear maps (m, 3, 3)."""
        inverse = self._inverse[subjects]
        motion = matrix_products(linear, inverse)
        # What has no size can be moved from anywhere.
        motion[~linear.any(axis=(1, 2)) & inverse.any(axis=(1, 2))] = _NOTHING * np.eye(3)
        scale, residual = uniform_scale_and_residual(motion)
        error = np.zeros(len(subjects))
        flat = np.flatnonzero((residual >= MAX_RESIDUAL) & np.isfinite(self._reach[subjects]))
        if len(flat):
            turns, deviations = rotations_of_flat(self._flat[subjects[flat]], linear[flat])
            found = np.isfinite(deviations)
            flat = flat[found]
            motion[flat], scale[flat], residual[flat] = turns[found], 1.0, 0.0
            error[flat] = deviations[found] * self._reach[subjects[flat]]
        with np.errstate(invalid="ignore"):  # of maps without a size, whose subjects are fitted again
            stretch = scale * np.sqrt(1 + residual) * (1 + 1e-14)
        return Motions(motion, scale, residual, stretch, error)

    def _fit_in_batches(
        self, vertices: PosedVertices, errors: Errors, is_wanted: Bools | None
    ) -> Iterator[tuple[Ints, Shape]]:
        """Entries of subjects (m,), and the shapes of all their parts without padding around the origins.

        As many subjects at once as there is room for. Those that cannot be fitted are added to `errors`.

        is_wanted : (N,) mask of parts; all without one
        """
        parts = self._parts_of(vertices, is_wanted)
        sized = vertices.points if parts is None else [each.rows for each in parts]
        most = LEAF_POINTS_AT_ONCE if self._has_leaves else POINTS_AT_ONCE
        for candidates in in_batches(range(len(sized)), lambda k: len(sized[k]), most):
            settings_of = [self._settings[k] for k in vertices.subjects[candidates].tolist()]
            for settings, members in grouped_by_settings(settings_of):
                entries = np.array(candidates)[members]
                batch = vertices.take(entries)
                try:
                    groups = None if parts is None else [parts[k] for k in entries]
                    shape = self._fit_together(batch, settings, groups)
                    if groups is not None and is_wanted is None:
                        shape = self._one_for_each_part(shape, batch.subjects, groups)
                    yield entries, shape
                except CollisionBoundsError as error:
                    if len(entries) == 1:
                        errors[int(batch.subjects[0])] = error
                        continue
                    # Retry one by one, so that only the subject that fails reports the error.
                    for entry in entries:
                        for _, shape in self._fit_in_batches(vertices.take([entry]), errors, is_wanted):
                            yield np.array([entry]), shape

    def _parts_of(self, vertices: PosedVertices, is_wanted: Bools | None) -> list[PartVertices] | None:
        """Parts of subjects (m,) with vertices, those that a mask (N,) has; None if each is one part."""
        if not self.groups:
            return None
        # With other vertices than the groups were made for, one shape around all stands for each group.
        found = [
            parts if parts.are_of(points) else PartVertices.whole(len(points))
            for parts, points in zip(
                (self.groups[k] for k in vertices.subjects.tolist()), vertices.points, strict=True
            )
        ]
        if is_wanted is None:
            return found
        numbers = (is_wanted[self._first[k] : self._first[k] + self._counts[k]] for k in vertices.subjects)
        return [parts.take(np.flatnonzero(each)) for parts, each in zip(found, numbers, strict=True)]

    def _fit_together(
        self, vertices: PosedVertices, settings: FitSettings, groups: Sequence[PartVertices] | None
    ) -> Shape:
        """Shapes of given parts of subjects (m,) around their origins; raises the error of any of them."""
        subjects, points, linear = vertices
        radii = self._radii[subjects]
        if self._shape in AXIAL_SHAPES:
            return fit_along_lines(self._shape, vertices, radii, self.lines)
        frames = None
        if self._has_rotation and (groups is not None or settings.axes == "smallest"):
            frames = self._axes_of_boxes(vertices, groups)
        if groups is not None:
            counts = [len(each.offsets) - 1 for each in groups]
            fitted: Sphere | Obb = fit_parts(points, linear, groups, frames)
            return grown_by_point_radii(fitted, linear.repeat(counts, axis=0), radii.repeat(counts))
        world, offsets = transformed_points(points, linear), np.cumsum([0, *map(len, points)])
        if not self._has_rotation:
            fitted = spheres_from_groups(world, offsets)
        elif settings.axes == "world":
            fitted = aabbs_from_groups(world, offsets).oriented()
        else:
            rotation = rotations_of(linear)
            fitted = boxes_along(world, offsets, rotation if frames is None else rotation @ frames)
        return grown_by_point_radii(fitted, linear, radii)

    def _axes_of_boxes(self, vertices: PosedVertices, groups: Sequence[PartVertices] | None) -> Floats:
        """Axes (p, 3, 3) of the smallest boxes around all parts of subjects (m,), in the frames of these.

        Other axes at each sample would not turn with the subject, and the box in between would be wrong. Axes
        that are found while a subject is flat are not kept: they fit none of its other sizes.
        """
        axes = []
        groups = groups or [PartVertices.whole(len(points)) for points in vertices.points]
        for subject, points, linear, parts in zip(*vertices, groups, strict=True):
            count, found = len(parts.offsets) - 1, self._axes.get(subject)
            if found is None or len(found) < count:
                rows, every = np.split(parts.rows, parts.offsets[1:-1]), parts.with_cuts(points)
                found = np.stack([smallest_box_axes(every[each], linear) for each in rows])
                if np.linalg.matrix_rank(linear) == 3:
                    self._axes[subject] = found
            axes.append(found[:count])
        return np.concatenate(axes)

    def _one_for_each_part(self, shape: Shape, subjects: Ints, groups: Sequence[PartVertices]) -> Shape:
        """Repeat the last shape of subjects (m,) that have fewer groups now than parts at first."""
        given = np.array([len(each.offsets) - 1 for each in groups])
        counts = self._counts[subjects]
        number = concatenated_ranges(np.zeros_like(counts), counts)
        first, last = np.repeat(np.cumsum(given) - given, counts), np.repeat(given - 1, counts)
        return shape[first + np.minimum(number, last)]


class WorldBoxes(FitCache):
    """Boxes of subjects along the world's axes: that of subject k is in row k; see `new_fits`."""

    _stacks: VertexStacks | None = None

    def _fit(self, vertices: PosedVertices, errors: Errors, is_wanted: Bools | None) -> None:
        subjects, points, linear = vertices
        chosen = [
            extreme_candidates(*each) if len(each[0]) >= MANY_VERTICES else each[0]
            for each in zip(points, linear, strict=True)
        ]
        low, high = np.full((2, len(subjects), 3), np.nan)
        for batch in in_batches([k for k, each in enumerate(chosen) if len(each)], lambda k: len(chosen[k])):
            world = transformed_points([chosen[k] for k in batch], linear[batch])
            starts = np.cumsum([0, *(len(chosen[k]) for k in batch[:-1])])
            low[batch], high[batch] = np.minimum.reduceat(world, starts), np.maximum.reduceat(world, starts)
        # A vertex with a coordinate that is not finite makes a side of the box so.
        is_finite = (np.isfinite(low) & np.isfinite(high)).all(axis=1)
        radii, rows = self._radii[subjects], subjects[is_finite]
        if radii.any():
            grown = grown_by_point_radii(Aabb.unchecked(low, high), linear, radii)
            low, high = grown.min, grown.max
        self._fields["min"][rows], self._fields["max"][rows] = low[is_finite], high[is_finite]
        for row in np.flatnonzero(~is_finite).tolist():
            not_finite = NonFiniteGeometryError("points: not all are finite")
            errors[int(subjects[row])] = not_finite if len(points[row]) else EmptyGeometryError("no points")
        for subject, each in zip(subjects.tolist(), points, strict=True):
            if self._stacks and (subject in errors or not self._stacks.replace(subject, each)):
                self._stacks = None

    def _follow(self, fields: Fields, subjects: Ints, linear: Floats, changed: Ints, errors: Errors) -> None:
        rows, maps = subjects[changed], linear[changed]
        boxes = self.stacked().boxes(rows, maps)
        put_shapes(fields, changed, grown_by_point_radii(boxes, maps, self._radii[rows]))

    def stacked(self) -> VertexStacks:
        """Vertices of all subjects, stacked when they are first needed."""
        self._stacks = self._stacks or VertexStacks(self._points)
        return self._stacks


def new_fits(
    count: int,
    shape: DrawnShape,
    settings: FitSettings | Sequence[FitSettings],
    groups: Sequence[PartVertices] | None,
) -> FitCache:
    """Make room for the fits of `count` subjects, to other shapes than their meshes.

    count : Number of subjects.
    shape : Shape of all subjects.
    settings : Settings of all subjects, or of each. Oriented boxes have the subjects' own axes unless
        "world".
    groups : Parts of each subject, for sphere trees and compounds.
    Raises ValueError: for a kind of shape that is unknown, or that can neither be scanned nor shown.
    """
    each = [settings] * count if isinstance(settings, FitSettings) else list(settings)
    kind = SHAPE_KINDS[shape].fitted_as if shape in SHAPE_KINDS else None
    if kind is None:
        raise ValueError(f"shape {shape!r} can neither be scanned nor shown")
    return WorldBoxes(shape, each, None) if kind is Aabb else FitCache(shape, each, groups)
