"""Fits that are moved by matrices, not made again, and the choice between these and boxes along the world.

A subject that moves, rotates and scales uniformly keeps the form of its vertices, and so its fit. It is
fitted again when its shear or its non-uniform scale changes, and when an oriented box along the world's axes
rotates. All vertices are inside in every case: where a single-precision matrix is not quite a similarity, the
fit grows by the residual.

Capsules and cylinders are fitted here, too, each along an axis that turns with its subject.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core import (
    Aabb,
    Capsule,
    CollisionBoundsError,
    EmptyGeometryError,
    Shape,
)
from ...core.fitting.axial import axial_around, capsule_along
from ...core.numeric.arrays import Bools, Floats, Ints, concatenated_ranges, transform_vectors
from ...core.shapes import stacked
from ..blender.mesh_data import Geometry
from ..settings import AXIAL_SHAPES, SHAPE_KINDS, DrawnShape, FitSettings
from ..subjects.reader import SubjectGeometry
from .fit import (
    LEAF_POINTS_AT_ONCE,
    POINTS_AT_ONCE,
    PartVertices,
    fit_around_origins,
    grouped_by_settings,
    in_batches,
    in_own_frame,
    own_rotation,
    points_for_search,
    rounded_frame,
    search_key,
    searched,
    smallest_box_axes,
)
from .fit_cache import (
    MAX_RESIDUAL,
    Errors,
    FitCache,
    FitColumns,
    FoundBefore,
    Motions,
    PosedVertices,
    Rows,
    are_nearly_flat,
    inverses_or_zeros,
    matrix_products,
    rotations_of_flat,
    uniform_scale_and_residual,
)
from .parts import part_vertices
from .world_boxes import WorldBoxes


def fit_axial_to_points(shape: DrawnShape, points: Floats, axis: Floats | None) -> Any:
    """Fit about the smallest shape to points (n, 3), along an axis (3,) if one is given.

    Raises ValueError for a shape that has no axis.
    """
    fit = SHAPE_KINDS[shape].fit
    if fit is None:
        raise ValueError(f"shape {shape!r} has no axis")
    return fit(points, axis)


def fit_axial(
    shape: DrawnShape, vertices: NDArray[Any], linear: Floats, local: Floats, axis: Floats | None
) -> Any:
    """Fit a shape with an axis to a subject, the same in scans and in documents.

    shape : One of AXIAL_SHAPES.
    vertices : (n, 3) float32 or float64. In object space.
    linear : (3, 3) float64. Linear part of the world matrix.
    local : (n, 3) float64. The vertices in the frame of the subject. All are inside.
    axis : (3,) float64, optional. Direction in the frame of the subject. If given, only lines in this
        direction are compared.
    """
    found = searched(
        search_key(shape, vertices, rounded_frame(linear), axis),
        lambda: fit_axial_to_points(shape, points_for_search(vertices, linear), axis),
    )
    return axial_around(found, local)


class _Line(NamedTuple):
    """Axis (3,) of a subject in its space, and a point (3,) of the line of a capsule: its search takes a
    hundred times as long as a fit along a line.
    """

    axis: Floats
    point: Floats | None = None


class AxialFits:
    """Fits of shapes with an axis, and the lines of all subjects that were fitted.

    Other axes at each sample would not turn with the subject, and the shape in between would be wrong.
    """

    def __init__(self, shape: DrawnShape) -> None:
        self._shape = shape
        self.found: FoundBefore[_Line] = FoundBefore()

    def set_axis(self, subject: int, axis: Floats) -> None:
        """Set the axis (3,) of a subject that was not fitted yet, in its space."""
        self.found[subject] = _Line(axis)

    def fit(self, every: PosedVertices, radii: Floats) -> Shape:
        """Fit shapes to subjects under the linear parts of their matrices, without translation and padding.

        A subject that was fitted before keeps its axis.

        radii : (m,) float64. Radii of balls around the vertices, in object space.
        Returns shapes : Capsule or Cylinder, batch (m,)
        Raises EmptyGeometryError, NonFiniteGeometryError
        """
        found: dict[bytes, tuple[Floats, Any]] = {}
        fitted = []
        for index, (subject, vertices, matrix) in enumerate(zip(*every, strict=True)):
            if not len(vertices):
                raise EmptyGeometryError("no points")
            line = self.found.get(subject)
            axis = None if line is None else matrix @ line.axis
            if axis is not None and not axis.any():
                axis = None  # a map flattens it
            if axis is not None and line.point is not None:
                moved = transform_vectors(matrix, vertices.astype(np.float64))
                shape: Any = capsule_along(moved, axis, matrix @ line.point)
            elif axis is None:
                # The search for an axis takes long, so subjects with the same vertices share its result.
                key = vertices.tobytes()
                shape = _moved(found.get(key), matrix) or self._fit_once(vertices, matrix, None)
                found.setdefault(key, (matrix, shape))
                self._keep_line(subject, matrix, shape)
            else:
                shape = self._fit_once(vertices, matrix, axis)
                self._keep_line(subject, matrix, shape)
            growth = float(radii[index]) * float(np.linalg.norm(matrix, 2)) if radii[index] else 0.0
            fitted.append(shape.padded(growth) if growth else shape)
        together: Shape = stacked(fitted)
        return together

    def _fit_once(self, vertices: NDArray[np.float32], matrix: Floats, axis: Floats | None) -> Any:
        """Fit a shape to the images of vertices (n, 3) under a map (3, 3), along an axis if given.

        In the subject's own frame, as for documents: the search ends elsewhere in a frame that is turned.
        """
        local = transform_vectors(in_own_frame(matrix), vertices.astype(np.float64))
        turn = np.eye(4)
        turn[:3, :3] = own_rotation(matrix)
        direction = None if axis is None else axis @ turn[:3, :3]
        return fit_axial(self._shape, vertices, matrix, local, direction).transformed(turn)

    def _keep_line(self, subject: int, matrix: Floats, shape: Any) -> None:
        """Keep the line of a fit for later ones, unless the map (3, 3) is singular."""
        if np.linalg.matrix_rank(matrix) < 3:
            return
        known = self.found.get(subject)
        axis = known.axis if known else np.linalg.solve(matrix, shape.axis).astype(np.float64)
        point = None
        if isinstance(shape, Capsule):
            point = np.linalg.solve(matrix, shape.center).astype(np.float64)
        self.found[subject] = _Line(axis, point)


def _moved(fit: tuple[Floats, Any] | None, matrix: Floats) -> Any:
    """Bring a fit, under a map (3, 3), to another map; None if that changes the form of the vertices."""
    if fit is None or np.linalg.matrix_rank(fit[0]) < 3:
        return None
    motion = np.eye(4)
    motion[:3, :3] = matrix @ np.linalg.inv(fit[0])
    residual = uniform_scale_and_residual(motion[None, :3, :3])[1][0]
    return fit[1].transformed(motion) if residual < MAX_RESIDUAL else None


_NOTHING = 1e-100
"""Scale that stands for 0, and has a rotation."""


def new_fits(
    count: int,
    shape: DrawnShape,
    settings: FitSettings | Sequence[FitSettings],
    groups: Sequence[PartVertices] | None,
    without: Ints,
) -> FitCache:
    """Make room for the fits of `count` subjects.

    count : Number of subjects.
    shape : Shape of all subjects.
    settings : Settings of all subjects, or of each. Oriented boxes have the subjects' own axes unless
        "world".
    groups : Parts of each subject, for sphere trees and compounds.
    without : (k,) int. Subjects that get no shape.
    Raises ValueError: for a kind of shape that is unknown, or that can neither be scanned nor shown.
    """
    each = [settings] * count if isinstance(settings, FitSettings) else list(settings)
    kind = SHAPE_KINDS[shape].fitted_as if shape in SHAPE_KINDS else None
    if kind is None:
        raise ValueError(f"shape {shape!r} can neither be scanned nor shown")
    if kind is Aabb:
        return WorldBoxes(each, np.delete(np.arange(count), without), FitColumns(Aabb, count))
    counts = np.ones(count, dtype=np.int64)
    if groups is not None:
        counts[:] = [len(parts.offsets) - 1 for parts in groups]
    counts[without] = 0
    return MovedFits(shape, each, groups, counts)


class MovedFits(FitCache):
    """Fits that follow rotations and uniform scales of subjects, one for each part; see `new_fits`."""

    def __init__(
        self,
        shape: DrawnShape,
        settings: Sequence[FitSettings],
        groups: Sequence[PartVertices] | None,
        counts: Ints,
    ) -> None:
        """Make room for the fits of subjects with settings; their parts (n,) are adjacent."""
        owners = np.repeat(np.arange(len(counts)), counts)
        columns = FitColumns(SHAPE_KINDS[shape].fitted_as, len(owners))
        super().__init__(settings, owners, columns)
        count = len(settings)
        self._shape: DrawnShape = shape
        self._settings = settings
        self._first, self.has_parts = np.cumsum(counts) - counts, bool((counts != 1).any())
        # Spheres of parts are fitted each by itself, boxes of parts along axes that they share with others.
        self._has_leaves = groups is not None and not columns.has_rotation
        self.are_parts_alone = self.has_parts and self._has_leaves
        self._is_along_world = np.zeros(count, dtype=bool)
        if groups is None and columns.has_rotation:
            self._is_along_world[:] = [each.axes == "world" for each in settings]
        self._groups = None if groups is None else FoundBefore(enumerate(groups))
        # Axes (p, 3, 3) of the boxes of all parts of each subject, in its own frame.
        self._axes: FoundBefore[Floats] = FoundBefore()
        self._axial = AxialFits(shape) if shape in AXIAL_SHAPES else None
        found: list[FoundBefore[Any] | None] = [self._groups, self._axes]
        found.append(self._axial.found if self._axial else None)
        self._found = tuple(each for each in found if each is not None)
        # Inverses of the linear maps at which the subjects were fitted.
        self._inverse = np.zeros((count, 3, 3))
        # The linear maps of subjects that are nearly flat, of which inverses are not precise, and the largest
        # distance of their vertices from their origin; infinite for the others.
        self._flat = np.zeros((count, 3, 3))
        self._reach = np.full(count, np.inf)

    def _rows(self, subjects: Ints) -> Ints:
        if not self.has_parts:
            return subjects
        return concatenated_ranges(self._first[subjects], self._counts[subjects])

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

    def by_part(self) -> MovedFits:
        """See `FitCache`. As no part is fitted again, boxes along the world turn with their subject."""
        result, owners = copy(self), self.owners
        result._points, result._found, result._groups = {}, (), None
        result.owners, result._counts = np.arange(len(owners)), np.ones(len(owners), dtype=np.int64)
        result.has_parts = False
        result.is_fitted, result._linear = self.is_fitted[owners], self._linear[owners]
        result._padding, result._radii = self._padding[owners], self._radii[owners]
        result._settings = [self._settings[owner] for owner in owners.tolist()]
        result._is_along_world = np.zeros(len(owners), dtype=bool)
        result._inverse, result._flat = self._inverse[owners], self._flat[owners]
        result._reach = self._reach[owners]
        return result

    def groups_of(self, subject: int) -> PartVertices:
        """See `FitCache`."""
        return super().groups_of(subject) if self._groups is None else self._groups[subject]

    @property
    def turns_with_subject(self) -> Bools:
        """See `FitCache`."""
        return np.asarray(~self._is_along_world)

    def set_axis(self, subject: int, axis: Floats) -> None:
        """See `FitCache`."""
        if self._axial is not None:
            self._axial.set_axis(subject, axis)

    def set_triangles(
        self,
        subject: int,
        points: NDArray[np.float32],
        triangles: NDArray[np.int32],
        faces: NDArray[np.int32] | None,
    ) -> None:
        """See `FitCache`."""
        assert self._groups is not None, "only sphere trees and compounds have parts"
        source = SubjectGeometry.of(subject, Geometry(points, np.eye(4)), self._settings[subject], triangles)
        most = int(self._counts[subject])
        self._groups[subject] = part_vertices(self._shape, source, faces, most)

    def _fit(self, vertices: PosedVertices, errors: Errors, is_wanted: Bools | None) -> None:
        for entries, shape in self._fit_in_batches(vertices, errors, is_wanted):
            fitted, points, linear = vertices.take(entries)
            rows = self._rows(fitted)
            self._columns.put(rows if is_wanted is None else rows[is_wanted[rows]], shape)
            self._inverse[fitted] = inverses_or_zeros(linear)
            self._flat[fitted], self._reach[fitted] = linear, np.inf
            for row in np.flatnonzero(are_nearly_flat(linear)).tolist():
                precise = points[row].astype(np.float64)
                reach = np.sqrt((precise * precise).sum(axis=1).max(initial=0)) + self._radii[fitted[row]]
                self._reach[fitted[row]] = reach

    def _follow(
        self, columns: FitColumns, subjects: Ints, linear: Floats, changed: Ints, errors: Errors
    ) -> None:
        motions = self._motions(subjects[changed], linear[changed])
        is_moved = (motions.residual < MAX_RESIDUAL) & ~self._is_along_world[subjects[changed]]
        moved, again = changed[is_moved], changed[~is_moved]
        rows, number = self._rows_among(subjects, moved)
        if len(again) or self.has_parts:
            chosen = np.flatnonzero(is_moved)[number]
            motions = Motions(*(values[chosen] for values in motions))
        columns.move(rows, motions)
        if motions.error.any():
            columns.grow(rows, motions.error)
        if len(again):
            points = [self._points[k] for k in subjects[again].tolist()]
            vertices = PosedVertices(subjects[again], points, linear[again])
            for entries, shape in self._fit_in_batches(vertices, errors, None):
                parts, _ = self._rows_among(subjects, again[entries])
                columns.put(parts, shape)

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
        if self._groups is None:
            return None
        # With other vertices than the groups were made for, one shape around all stands for each group.
        found = [
            parts if parts.are_of(points) else PartVertices.whole(len(points))
            for parts, points in zip(
                (self._groups[k] for k in vertices.subjects.tolist()), vertices.points, strict=True
            )
        ]
        if is_wanted is None:
            return found
        numbers = (np.flatnonzero(is_wanted[self._rows(np.array([k]))]) for k in vertices.subjects)
        return [parts.take(each) for parts, each in zip(found, numbers, strict=True)]

    def _fit_together(
        self, vertices: PosedVertices, settings: FitSettings, groups: Sequence[PartVertices] | None
    ) -> Shape:
        """Shapes of given parts of subjects (m,) around their origins; raises the error of any of them."""
        radii = self._radii[vertices.subjects]
        if self._axial is not None:
            return self._axial.fit(vertices, radii)
        frames = None
        if self._columns.has_rotation and (groups is not None or settings.axes == "smallest"):
            frames = self._axes_of_boxes(vertices, groups)
        return fit_around_origins(
            vertices.points, vertices.linear, self._shape, settings, groups, radii, frames
        )

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
