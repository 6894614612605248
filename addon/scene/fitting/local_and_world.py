"""Shapes of subjects in world space and in the subjects' own frames, for documents.

A subject's own frame is its world matrix without scale and shear: a rotation and a translation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...core import Aabb, CollisionBoundsError, Obb, Shape, Sphere, aabbs_from_groups, obb_from_points
from ...core.fitting.enclosing import enclosing_radii, spheres_from_groups
from ...core.numeric.arrays import Floats, Ints, rotation_matrix, transform_vectors
from ...core.numeric.floating_point import lowest_bits
from ...core.shapes import stacked
from ..blender.mesh_data import Placement
from ..settings import FitSettings, PlainShape
from ..subjects.reader import SubjectGeometry, in_bone_space
from .fit import (
    boxes_in_frame,
    grown_by_point_radii,
    padded,
    per_point,
    smallest_box_axes,
    transformed_points,
)


class PlacedGeometry(NamedTuple):
    """Subjects that share vertices, and the place of each.

    geometry : Geometry of m subjects.
    placements : Decomposed world matrices in arrays (m, ...), which define the subjects' own frames.
    """

    geometry: SubjectGeometry
    placements: Placement

    @property
    def size(self) -> int:
        """Number of subjects."""
        return len(self.geometry.subjects)

    def taken(self, rows: Ints | slice) -> PlacedGeometry:
        """Select subjects."""
        placements = Placement(*(values[rows] for values in self.placements))
        return PlacedGeometry(self.geometry.taken(rows), placements)


FittedRows: TypeAlias = tuple[Ints, tuple[Shape, ...], tuple[Shape, ...]]
"""Indices (m,) of subjects, and batches (m,) of each kind, in their own frames and in world space."""


def fit_many(
    sources: Sequence[PlacedGeometry], shapes: tuple[PlainShape, ...], kinds: tuple[Ints, Ints] | None = None
) -> tuple[list[FittedRows], dict[int, CollisionBoundsError]]:
    """Fit shapes to the subjects of all sources, in order, and return batches.

    Every vertex is inside. Oriented boxes have the axes of the subject's own frame, those of the world if
    `axes` of the settings is "world", or those of about the smallest box if it is "smallest".

    All sources have the same settings. There is one batch for all subjects, unless one cannot be fitted. With
    `kinds`, (first, kind_of) of `fit_repeated`, the subjects of one source are fitted as described there.
    Errors are by index of the subject. Raises KeyError for a kind of shape that is unknown, or not plain.
    """
    count = sum(source.size for source in sources)
    try:
        if kinds is not None:
            return [(np.arange(count), *fit_repeated(sources[0], *kinds, shapes))], {}
        points, settings = _Points.of(sources), sources[0].geometry.fit
        pairs = [_fit(shape, points, settings) for shape in shapes]
        if (
            settings.padding
            or points.frames.radii.any()
            or any(each is None for pair in pairs for each in pair)
        ):
            pairs = [_finished(*pair, points.frames, settings) for pair in pairs]
        local, world = (tuple(pair[k] for pair in pairs) for k in (0, 1))
        return [(np.arange(count), local, world)], {}
    except CollisionBoundsError as error:
        if count == 1:
            return [], {0: error}
    # Retry one by one, so that only the subject that fails reports the error.
    fits: list[FittedRows] = []
    errors: dict[int, CollisionBoundsError] = {}
    alone = (source.taken(slice(row, row + 1)) for source in sources for row in range(source.size))
    for row, source in enumerate(alone):
        fitted, failed = fit_many([source], shapes)
        fits += [(np.array([row]), local, world) for _, local, world in fitted]
        errors.update((row, error) for error in failed.values())
    return fits, errors


def fit_repeated(
    source: PlacedGeometry, first: Ints, kind_of: Ints, shapes: tuple[PlainShape, ...]
) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    """Fit shapes to subjects with few different linear parts: once for each of these, and then moved.

    Where moving a sphere rounds it, it grows by more than all roundings.

    source : the m subjects
    first : (g,) int, a subject with each linear part of the matrices
    kind_of : (m,) int, linear part of each subject

    Returns batches (m,) of each kind, in the subjects' own frames and in world space. Raises
    CollisionBoundsError if any subject cannot be fitted.
    """
    base, settings = source.taken(first), source.geometry.fit
    matrices = base.geometry.matrices.copy()
    matrices[:, :3, 3] = 0
    placements = base.placements._replace(translation=matrices[:, :3, 3])
    points = _Points.of([PlacedGeometry(base.geometry._replace(matrices=matrices), placements)])
    frames = _Frames(*(values[kind_of] for values in points.frames))
    frames = frames._replace(origin=source.placements.translation)
    fits = []
    for shape in shapes:
        local, world = _fit(shape, points, settings)
        if local is not None:
            local = local[kind_of]
        if world is not None:
            world = _translated(points, world, kind_of, frames.origin)
        fits.append(_finished(local, world, frames, settings))
    return tuple(local for local, _ in fits), tuple(world for _, world in fits)


def _translated(points: _Points, shape: Aabb | Sphere, kind_of: Ints, translation: Floats) -> Shape:
    """Shapes (g,) around the origin at translations (m, 3), around the points as they are rounded there."""
    if isinstance(shape, Aabb):
        # Rounding keeps the order of numbers, so these are the least and largest rounded coordinates.
        return Aabb.unchecked(shape.min[kind_of] + translation, shape.max[kind_of] + translation)
    parts = np.abs(points.world).max(axis=1), lowest_bits(points.world).min(axis=1)
    reach = np.maximum(np.maximum.reduceat(parts[0], points.offsets[:-1]), np.abs(shape.center).max(axis=1))
    of_points = np.minimum.reduceat(parts[1], points.offsets[:-1])
    bits = np.minimum(of_points, lowest_bits(shape.center).min(axis=1))
    size = reach[kind_of] + np.abs(translation).max(axis=1)
    # Sums of multiples of a bit are exact if they have fewer digits than a number.
    bit = np.minimum(bits[kind_of], lowest_bits(translation).min(axis=1))
    slack = np.where(size < bit * 2.0**52, 0.0, 8 * np.finfo(np.float64).eps * size)
    return Sphere.unchecked(shape.center[kind_of] + translation, shape.radius[kind_of] + slack)


class _Frames(NamedTuple):
    """Frames of g subjects, and what shapes around their vertices grow by.

    linear : (g, 3, 3) float64, linear parts of the world matrices
    radii : (g,) float64, radii of balls around the vertices, in object space
    rotation, inverse : (g, 3, 3) float64, from the own frames to the world, and back
    origin : (g, 3) float64, of the own frames in the world
    """

    linear: Floats
    radii: Floats
    rotation: Floats
    inverse: Floats
    origin: Floats


class _Points(NamedTuple):
    """Vertices of g subjects in two spaces.

    world, local : (n, 3) float64, in world space and in the subjects' own frames; the subjects are
        concatenated
    offsets : (g + 1,) int, of the subjects in these
    """

    world: Floats
    local: Floats
    offsets: Ints
    sources: Sequence[PlacedGeometry]
    frames: _Frames

    @classmethod
    def of(cls, sources: Sequence[PlacedGeometry]) -> _Points:
        """Transform the vertices of subjects. Raises EmptyGeometryError if one has none."""
        matrices = np.concatenate([source.geometry.matrices for source in sources])
        rotation = rotation_matrix(np.concatenate([source.placements.rotation for source in sources]))
        origin = np.concatenate([source.placements.translation for source in sources])
        radii = np.concatenate([np.full(source.size, source.geometry.radius) for source in sources])
        frames = _Frames(matrices[:, :3, :3], radii, rotation, np.swapaxes(rotation, 1, 2), origin)
        points = [source.geometry.points for source in sources for _ in range(source.size)]
        counts = np.array([len(each) for each in points])
        world = transformed_points(points, frames.linear)
        world += per_point(matrices[:, :3, 3], counts)
        local = transform_vectors(per_point(frames.inverse, counts), world - per_point(origin, counts))
        return cls(world, local, np.append(0, np.cumsum(counts)), sources, frames)


def _fit(shape: PlainShape, points: _Points, settings: FitSettings) -> tuple[Any, Any]:
    """Fit a batch (g,) to points alone, in the subjects' own frames and in world space.

    An oriented box is fitted in the one space whose axes it has, along those of the world as an `Aabb`; None
    in the other. Raises KeyError for a shape that is not plain.
    """
    if shape == "sphere":
        # A rigid motion does not change which sphere is the smallest, so only the radius is computed again.
        ball = spheres_from_groups(points.world, points.offsets)
        center = transform_vectors(points.frames.inverse, ball.center - points.frames.origin)
        return Sphere.unchecked(center, enclosing_radii(points.local, points.offsets, center)), ball
    if shape == "aabb":
        local = aabbs_from_groups(points.local, points.offsets)
        return local, aabbs_from_groups(points.world, points.offsets)
    if shape != "obb":
        raise KeyError(shape)
    if settings.axes == "world":
        return None, aabbs_from_groups(points.world, points.offsets)
    if settings.axes == "smallest":
        axes = []
        for geometry in (source.geometry for source in points.sources):
            # The same axes as in scans.
            piece = in_bone_space(geometry)
            axes += [smallest_box_axes(piece.points, matrix[:3, :3]) for matrix in piece.matrices]
        groups = np.split(points.local, points.offsets[1:-1])
        return stacked(map(obb_from_points, groups, axes)), None
    return boxes_in_frame(points.local, points.offsets), None


def _finished(local: Any, world: Any, frames: _Frames, settings: FitSettings) -> tuple[Shape, Shape]:
    """Shapes of `_fit` with all that they grow by, in the subjects' own frames and in world space."""
    # Spheres grow in both frames by the same lengths, to the bit.
    to_own = frames.linear if isinstance(local, Sphere) else frames.inverse @ frames.linear
    both = (local, to_own), (world.oriented() if local is None else world, frames.linear)
    local, world = (
        None if shape is None else padded(grown_by_point_radii(shape, linear, frames.radii), settings.padding)
        for shape, linear in both
    )
    if local is None:
        center = transform_vectors(frames.inverse, world.center - frames.origin)
        return Obb(center, world.half_extents, frames.inverse), world
    if world is None:
        center = transform_vectors(frames.rotation, local.center) + frames.origin
        world = Obb(center, local.half_extents, frames.rotation @ local.rotation)
    return local, world
