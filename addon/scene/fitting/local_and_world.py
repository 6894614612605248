"""Shapes of subjects in world space and in the subjects' own frames, for documents.

A subject's own frame is its world matrix without scale and shear: a rotation and a translation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ...core import CollisionBoundsError, Obb, Shape, Sphere
from ...core.fitting.enclosing import enclosing_radii
from ...core.numeric.arrays import Floats, Ints, rotation_matrix, transform_vectors
from ..blender.mesh_data import Geometry, Placement
from ..settings import FitSettings, PlainShape
from .fit import (
    boxes_along_world,
    fit_in_frame,
    grown_by_point_radii,
    padded,
    per_point,
    require_plain,
    transformed_points,
)

LocalAndWorld: TypeAlias = tuple[tuple[Shape, ...], tuple[Shape, ...]]
"""Shapes of one subject in its own frame, and the same shapes in world space."""


class FittedRows(NamedTuple):
    """Shapes of several subjects, a batch (m,) of each kind.

    Attributes
    ----------
    rows : (m,) int
        Indices of the subjects.
    local, world : tuple of Shape
        In the subjects' own frames, and in world space.
    """

    rows: Ints
    local: tuple[Shape, ...]
    world: tuple[Shape, ...]


def fit_local_and_world(
    geometries: Sequence[Geometry],
    placements: Sequence[Placement],
    shapes: tuple[PlainShape, ...],
    settings: FitSettings,
) -> list[LocalAndWorld | CollisionBoundsError]:
    """Fit shapes to each subject in its own frame, with its scale baked in, and in world space.

    Every vertex is inside. Oriented boxes have the axes of the subject's own frame, or those of the world if
    `settings.axes` is "world".

    Parameters
    ----------
    geometries : sequence of Geometry
        Vertices and world matrix of each subject.
    placements : sequence of Placement
        Decomposed world matrix of each subject, which defines its own frame.
    shapes : tuple of PlainShape
        Shapes to fit to each subject.
    settings : FitSettings
        Settings that all subjects share.

    Returns
    -------
    list
        One entry per subject: its shapes, or the error that says why it cannot be fitted.

    Raises
    ------
    ValueError
        For a kind of shape that is unknown, or not plain.
    """
    fits, errors = fit_many(geometries, placements, shapes, settings)
    found: dict[int, LocalAndWorld | CollisionBoundsError] = dict(errors)
    for rows, local, world in fits:
        for row, *each in zip(
            rows.tolist(), _single_shapes(local, rows), _single_shapes(world, rows), strict=True
        ):
            found[row] = each[0], each[1]
    return [found[row] for row in range(len(geometries))]


def fit_many(
    geometries: Sequence[Geometry],
    placements: Sequence[Placement],
    shapes: tuple[PlainShape, ...],
    settings: FitSettings,
) -> tuple[list[FittedRows], dict[int, CollisionBoundsError]]:
    """Fit shapes as `fit_local_and_world` does, and return them in batches.

    Parameters
    ----------
    geometries, placements, shapes, settings
        As of `fit_local_and_world`.

    Returns
    -------
    fits : list of FittedRows
        One for all subjects, unless one cannot be fitted.
    errors : dict of int to CollisionBoundsError
        By index, why a subject cannot be fitted.

    Raises
    ------
    ValueError
        For a kind of shape that is unknown, or not plain.
    """
    for shape in shapes:
        require_plain(shape)
    try:
        return [
            FittedRows(np.arange(len(geometries)), *_fit_together(geometries, placements, shapes, settings))
        ], {}
    except CollisionBoundsError as error:
        if len(geometries) == 1:
            return [], {0: error}
    # Retry one by one, so that only the subject that fails reports the error.
    fits: list[FittedRows] = []
    errors: dict[int, CollisionBoundsError] = {}
    for row, (geometry, placed) in enumerate(zip(geometries, placements, strict=True)):
        fitted, failed = fit_many([geometry], [placed], shapes, settings)
        fits += [each._replace(rows=np.array([row])) for each in fitted]
        errors.update((row, error) for error in failed.values())
    return fits, errors


def _single_shapes(batches: Sequence[Shape], rows: Ints) -> list[tuple[Shape, ...]]:
    """Shapes of each subject, from batches of different kinds."""
    if not batches:
        return [()] * len(rows)
    return list(zip(*(batch.to_list() for batch in batches), strict=True))


def _fit_together(
    geometries: Sequence[Geometry],
    placements: Sequence[Placement],
    shapes: tuple[PlainShape, ...],
    settings: FitSettings,
) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    """Fit all subjects in one batch; raises the error of any of them."""
    points = _Points.of(geometries, placements)
    fits = [_fit_shape(points, shape, settings) for shape in shapes]
    return tuple(local for local, _ in fits), tuple(world for _, world in fits)


class _Points(NamedTuple):
    """Vertices of g subjects in two spaces.

    Attributes
    ----------
    world, local : (n, 3) float64
        Positions in world space, and in the subjects' own frames; the subjects are concatenated.
    offsets : (g + 1,) int
        Offsets of the subjects in these.
    linear : (g, 3, 3) float64
        Linear parts of the world matrices.
    radii : (g,) float64
        Radii of balls around the vertices, in object space.
    rotation, inverse : (g, 3, 3) float64
        Rotations from the own frames to the world, and back.
    origin : (g, 3) float64
        Origins of the own frames in the world.
    """

    world: Floats
    local: Floats
    offsets: Ints
    linear: Floats
    radii: Floats
    rotation: Floats
    inverse: Floats
    origin: Floats

    @classmethod
    def of(cls, geometries: Sequence[Geometry], placements: Sequence[Placement]) -> _Points:
        """Transform the vertices of subjects. Raises EmptyGeometryError if one has none."""
        counts = np.array([len(geometry.points) for geometry in geometries])
        matrices = np.stack([geometry.matrix for geometry in geometries])
        rotation = rotation_matrix([placed.rotation for placed in placements])
        inverse = np.swapaxes(rotation, 1, 2)
        origin = np.stack([placed.translation for placed in placements])
        world = transformed_points([geometry.points for geometry in geometries], matrices[:, :3, :3])
        world += per_point(matrices[:, :3, 3], counts)
        local = transform_vectors(per_point(inverse, counts), world - per_point(origin, counts))
        radii = np.array([geometry.radius for geometry in geometries])
        offsets = np.append(0, np.cumsum(counts))
        return cls(world, local, offsets, matrices[:, :3, :3], radii, rotation, inverse, origin)

    def grown(self, shape: Shape, linear: Floats, padding: float) -> Shape:
        """Shapes grown by the balls around the vertices, under linear maps (g, 3, 3), and by the padding."""
        return padded(grown_by_point_radii(shape, linear, self.radii), padding)


def _fit_shape(points: _Points, shape: PlainShape, settings: FitSettings) -> tuple[Shape, Shape]:
    """Fit a batch of shapes (g,) in the subjects' own frames, and in world space."""
    padding, local_linear = settings.padding, points.inverse @ points.linear
    if shape == "sphere":
        return _fit_spheres(points, settings)
    if shape == "aabb":
        local = fit_in_frame(points.local, points.offsets, "aabb", settings.method)
        world = fit_in_frame(points.world, points.offsets, "aabb", settings.method)
        return points.grown(local, local_linear, padding), points.grown(world, points.linear, padding)
    if shape != "obb":
        raise ValueError(f"shape {shape!r} has no method of fitting")
    if settings.axes == "world":
        box = points.grown(boxes_along_world(points.world, points.offsets), points.linear, padding)
        assert isinstance(box, Obb)
        center = transform_vectors(points.inverse, box.center - points.origin)
        return Obb(center, box.half_extents, points.inverse), box
    box = fit_in_frame(points.local, points.offsets, "obb", settings.method)
    box = points.grown(box, local_linear, padding)
    assert isinstance(box, Obb)
    center = transform_vectors(points.rotation, box.center) + points.origin
    return box, Obb(center, box.half_extents, points.rotation)


def _fit_spheres(points: _Points, settings: FitSettings) -> tuple[Shape, Shape]:
    """Fit a batch of spheres (g,) in the subjects' own frames, and in world space."""
    world = fit_in_frame(points.world, points.offsets, "sphere", settings.method)
    assert isinstance(world, Sphere)
    if settings.method == "minimal":
        # A rigid motion does not change which sphere is the smallest, so only the radius is computed again.
        center = transform_vectors(points.inverse, world.center - points.origin)
        local: Shape = Sphere.unchecked(center, enclosing_radii(points.local, points.offsets, center))
    else:
        local = fit_in_frame(points.local, points.offsets, "sphere", settings.method)
    linear, padding = points.linear, settings.padding
    return points.grown(local, linear, padding), points.grown(world, linear, padding)
