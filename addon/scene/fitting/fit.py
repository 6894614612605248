"""Shapes around the vertices of many subjects at once, in world space and in the subjects' own frames.

A subject's own frame is its world matrix without scale and shear: a rotation and a translation.
`fit_in_frame` is the one place that fits points, whatever frame their coordinates are in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...core import (
    CollisionBoundsError,
    EmptyGeometryError,
    Obb,
    Shape,
    Sphere,
    aabbs_from_groups,
    spheres_from_groups,
)
from ...core.fitting.enclosing import SphereMethod, enclosing_radii
from ...core.numeric.arrays import Floats, Ints, rotation_matrix, transform_vectors
from ..blender.mesh_data import Geometry, Placement, decompose_matrix
from ..settings import FitSettings, PlainShape, ShapeName, shape_kind
from .growth import grown_by_point_radii, padded

LocalAndWorld: TypeAlias = tuple[tuple[Shape, ...], tuple[Shape, ...]]
"""Shapes of one subject in its own frame, and the same shapes in world space."""

PartVertices: TypeAlias = tuple[Ints, Ints]
"""Vertex indices of the parts of a sphere tree, concatenated, and the offsets of the parts in them."""


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
    settings : FitSettings

    Returns
    -------
    list
        One entry per subject: its shapes, or the error that says why it cannot be fitted.

    Raises
    ------
    ValueError
        For a kind of shape that is unknown, or not plain.
    """
    for shape in shapes:
        _require_plain(shape)
    try:
        return list(_fit_together(geometries, placements, shapes, settings))
    except CollisionBoundsError as error:
        if len(geometries) == 1:
            return [error]
    # Retry one by one, so that only the subject that fails reports the error.
    pairs = zip(geometries, placements, strict=True)
    return [fit_local_and_world([geometry], [placed], shapes, settings)[0] for geometry, placed in pairs]


def _require_plain(shape: str) -> None:
    """Raise ValueError for a shape that cannot be fitted to vertices alone."""
    if not shape_kind(shape).is_plain:
        raise ValueError(f"shape {shape!r} cannot be fitted to vertices alone")


def _fit_together(
    geometries: Sequence[Geometry],
    placements: Sequence[Placement],
    shapes: tuple[PlainShape, ...],
    settings: FitSettings,
) -> Iterator[LocalAndWorld]:
    """Fit all subjects in one batch; raises the error of any of them."""
    points = _Points.of(geometries, placements)
    if not shapes:
        yield from (((), ()) for _ in geometries)
        return
    batches = [_fit_shape(points, shape, settings) for shape in shapes]
    each = (zip(*(shape.to_list() for shape in batch), strict=True) for batch in zip(*batches, strict=True))
    yield from zip(*each, strict=True)


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
        world += _per_point(matrices[:, :3, 3], counts)
        local = transform_vectors(_per_point(inverse, counts), world - _per_point(origin, counts))
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
    if settings.axes == "world":
        box = points.grown(_boxes_along_world(points.world, points.offsets), points.linear, padding)
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
        local: Shape = Sphere(center, enclosing_radii(points.local, points.offsets, center))
    else:
        local = fit_in_frame(points.local, points.offsets, "sphere", settings.method)
    linear, padding = points.linear, settings.padding
    return points.grown(local, linear, padding), points.grown(world, linear, padding)


def fit_in_frame(points: Floats, offsets: Ints, shape: str, method: SphereMethod) -> Shape:
    """Fit one shape to each group of points, along the axes of the frame that the coordinates are in.

    Parameters
    ----------
    points : (n, 3) float64
        Coordinates in any frame, the groups concatenated.
    offsets : (g + 1,) int
    shape : PlainShape
        An "obb" has the axes of the frame, and is described by its center.
    method : SphereMethod
        Method of fitting spheres.

    Returns
    -------
    shapes : Sphere, Aabb or Obb, batch (g,)
        In the same frame.

    Raises
    ------
    EmptyGeometryError, NonFiniteGeometryError
        As `core.spheres_from_groups` does.
    ValueError
        For a kind of shape that is unknown, or not plain.
    """
    if shape == "sphere":
        return spheres_from_groups(points, offsets, method)
    if shape == "aabb":
        return aabbs_from_groups(points, offsets)
    _require_plain(shape)
    box = aabbs_from_groups(points, offsets)
    middle = box.min + (box.max - box.min) / 2
    # The middle is rounded, so one face may be farther from it than the opposite one.
    return Obb(middle, np.maximum(box.max - middle, middle - box.min), np.eye(3))


def _boxes_along_world(points: Floats, offsets: Ints) -> Obb:
    """Oriented boxes (g,) with the axes of the world, around groups of points (n, 3) in world space."""
    return aabbs_from_groups(points, offsets).oriented()


def fit_around_origins(
    points: Sequence[NDArray[np.float32]],
    linear: Floats,
    shape: ShapeName,
    settings: FitSettings,
    groups: Sequence[PartVertices] | None,
    radii: Floats | None = None,
) -> Shape:
    """Fit shapes to subjects under the linear parts of their matrices, without translation and padding.

    Oriented boxes have the axes of the subjects' own frames, or those of the world if `settings.axes` is
    "world".

    Parameters
    ----------
    points : sequence of (n, 3) float32
        Vertices of each subject in object space.
    linear : (g, 3, 3) float64
    shape : ShapeName
    settings : FitSettings
    groups : sequence of PartVertices, optional
        Parts of each subject, for "spheres". None if each subject is one part.
    radii : (g,) float64, optional
        Radii of balls around the vertices, in object space.

    Returns
    -------
    shapes : Shape
        One per part, the parts of all subjects concatenated.

    Raises
    ------
    EmptyGeometryError, NonFiniteGeometryError
    SceneError
        If a matrix is out of range.
    ValueError
        For a kind of shape that is unknown, or for "spheres" without groups.
    """
    if radii is not None and radii.any():
        fitted = fit_around_origins(points, linear, shape, settings, groups)
        if groups is not None:
            parts = [len(bounds) - 1 for _, bounds in groups]
            linear, radii = linear.repeat(parts, axis=0), radii.repeat(parts)
        return grown_by_point_radii(fitted, linear, radii)
    world = transformed_points(points, linear)
    counts = np.array([len(vertices) for vertices in points])
    offsets = np.append(0, np.cumsum(counts))
    if groups is not None:
        return _fit_parts(world, offsets, groups)
    if shape != "obb":
        return fit_in_frame(world, offsets, shape, settings.method)
    if settings.axes == "world":
        return _boxes_along_world(world, offsets)
    rotation = _rotations(linear)
    local = transform_vectors(_per_point(np.swapaxes(rotation, 1, 2), counts), world)
    box = fit_in_frame(local, offsets, "obb", settings.method)
    assert isinstance(box, Obb)
    # Rotating the points rounds them, by no more than this part of the farthest coordinate.
    slack = 8 * np.finfo(np.float64).eps * np.maximum.reduceat(np.abs(world).max(axis=1), offsets[:-1])
    return Obb(transform_vectors(rotation, box.center), box.half_extents + slack[:, None], rotation)


def _fit_parts(points: Floats, offsets: Ints, groups: Sequence[PartVertices]) -> Sphere:
    """Smallest spheres of all parts of subjects, whose points (n, 3) are concatenated."""
    order = np.concatenate([rows + start for (rows, _), start in zip(groups, offsets, strict=False)])
    sizes = np.concatenate([np.diff(bounds) for _, bounds in groups])
    return spheres_from_groups(points[order], np.append(0, np.cumsum(sizes)))


def _rotations(linear: Floats) -> Floats:
    """Rotations (g, 3, 3) of linear maps (g, 3, 3), as Blender decomposes them. Raises SceneError."""
    matrix = np.eye(4)
    rotations = []
    for each in linear:
        matrix[:3, :3] = each
        rotations.append(decompose_matrix(matrix).rotation)
    return rotation_matrix(rotations)


def transformed_points(points: Sequence[NDArray[np.float32]], linear: Floats) -> Floats:
    """Vertices of subjects, concatenated, under their linear maps (g, 3, 3). Raises EmptyGeometryError."""
    counts = np.array([len(vertices) for vertices in points])
    if not counts.all():
        raise EmptyGeometryError("no points")
    together = points[0] if len(points) == 1 else np.concatenate(points)
    return transform_vectors(_per_point(linear, counts), together.astype(np.float64))


def _per_point(values: Floats, counts: Ints) -> Floats:
    """Values of subjects (g, ...), repeated for each of their points; of one subject, left to broadcast."""
    return values[0] if len(values) == 1 else values.repeat(counts, axis=0)
