"""Shapes around the vertices of many subjects at once: the choice of shapes, and growth by the padding.

For documents, they are in world space and in the subjects' own frames. A subject's own frame is its world
matrix without scale and shear: a rotation and a translation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...core import (
    Aabb,
    CollisionBoundsError,
    EmptyGeometryError,
    InvalidShapeError,
    Obb,
    Shape,
    Sphere,
    aabbs_from_groups,
    hull_from_points,
    obb_from_points,
)
from ...core.fitting.enclosing import enclosing_radii, spheres_from_groups
from ...core.messages import message
from ...core.numeric.arrays import UNIT_BOX_CORNERS, Floats, Ints, length, rotation_matrix, transform_vectors
from ...core.numeric.floating_point import lowest_bits
from ...core.shapes import stacked
from ...formats.export.gltf_collider_nodes import minimum_thickness
from ..settings import SHAPE_KINDS, Axes, BoundShape, DrawnShape, FitSettings, PlainShape
from ..subjects.reader import SubjectGeometry, in_bone_space
from .searches import smallest_box_axes

_T = TypeVar("_T")
_Grown = TypeVar("_Grown", bound=Shape)

_TURNING_AXES = frozenset({"object", "smallest"})
"""Axes of boxes that turn with their object."""
ORIENTED_KINDS = frozenset(kind.turned for kind in SHAPE_KINDS.values() if kind.turned)
"""Kinds that stand for boxes along the world's axes where axes turn."""

POINTS_AT_ONCE = 1 << 15
"""Larger batches are no faster, because they do not fit into the cache."""
LEAF_POINTS_AT_ONCE = 1 << 17
"""The same for leaves of sphere trees, of which a quarter is read several times."""
MANY_VERTICES = 1024
"""Vertices of one subject from which on its box is computed alone, and the few that may be extreme are found
first, in single precision."""
_SINGLE = 4 * float(np.finfo(np.float32).eps)
"""Relative error of three products and their sum in single precision, with reserve."""
_SMALLEST = 1e-37
"""Error of numbers that are too small for single precision."""
_OFF_DIAGONAL = ~np.eye(3, dtype=bool)


def boxes_in_frame(points: Floats, offsets: Ints) -> Obb:
    """Boxes (g,) around groups of points (n, 3), along the axes of the frame that the coordinates are in."""
    box = aabbs_from_groups(points, offsets)
    middle = box.min + (box.max - box.min) / 2
    # The middle is rounded, so one face may be farther from it than the opposite one.
    return Obb(middle, np.maximum(box.max - middle, middle - box.min), np.eye(3))


def boxes_along(points: Floats, offsets: Ints, rotation: Floats) -> Obb:
    """Oriented boxes (g,) with the axes of rotations (g, 3, 3), around groups of points (n, 3)."""
    local = transform_vectors(per_point(np.swapaxes(rotation, 1, 2), np.diff(offsets)), points)
    box = boxes_in_frame(local, offsets)
    # Rotating the points rounds them, by no more than this part of the farthest coordinate.
    slack = 8 * np.finfo(np.float64).eps * np.maximum.reduceat(np.abs(points).max(axis=1), offsets[:-1])
    return Obb(transform_vectors(rotation, box.center), box.half_extents + slack[:, None], rotation)


def transformed_points(points: Sequence[NDArray[np.float32]], linear: Floats) -> Floats:
    """Vertices of subjects, concatenated, under their linear maps (g, 3, 3). Raises EmptyGeometryError."""
    counts = np.array([len(vertices) for vertices in points])
    if not counts.all():
        raise EmptyGeometryError("no points")
    together = points[0] if len(points) == 1 else np.concatenate(points)
    return transform_vectors(per_point(linear, counts), together.astype(np.float64))


def per_point(values: Floats, counts: Ints) -> Floats:
    """Values of subjects (g, ...), repeated for each of their points; of one subject, left to broadcast."""
    return values[0] if len(values) == 1 else values.repeat(counts, axis=0)


def extreme_candidates(points: NDArray[np.float32], linear: Floats) -> NDArray[np.float32]:
    """Return those of points (k, 3) that may be extreme along an axis under a linear map (3, 3).

    All of them where single precision does not reach.
    """
    if points.dtype != np.float32:
        return points
    coordinates = np.ascontiguousarray(points.T)
    if not linear[_OFF_DIAGONAL].any():
        # The extremes are those along the axes of the points, exactly. A NaN counts as an extreme.
        return np.asarray(points[np.concatenate([coordinates.argmin(axis=1), coordinates.argmax(axis=1)])])
    with np.errstate(over="ignore", invalid="ignore"):
        x, y, z = coordinates
        rough, product = np.empty_like(coordinates), np.empty_like(x)
        # No matmul: Blender's NumPy has no tuned BLAS.
        for row, (a, b, c) in zip(rough, linear.astype(np.float32), strict=True):
            np.multiply(x, a, out=row)
            row += np.multiply(y, b, out=product)
            row += np.multiply(z, c, out=product)
        low, high = rough.min(axis=1), rough.max(axis=1)
    if not (np.isfinite(low) & np.isfinite(high)).all():
        return points
    largest = np.maximum(coordinates.max(axis=1), -coordinates.min(axis=1)).astype(np.float64)
    margin = 2 * (_SINGLE * (np.abs(linear) @ largest) + _SMALLEST)
    is_extreme = rough <= (low + margin).astype(np.float32)[:, None]
    is_extreme |= rough >= (high - margin).astype(np.float32)[:, None]
    return points[np.flatnonzero(is_extreme.any(axis=0))]


def padded(shape: Shape, padding: float | Floats) -> Shape:
    """Shapes grown by a padding, one for all or one each. Raises InvalidShapeError where nothing is left."""
    if isinstance(padding, float) and not padding:
        return shape
    try:
        return shape.padded(padding)
    except InvalidShapeError:
        raise padding_error(float(np.min(padding))) from None


def padding_error(padding: float) -> InvalidShapeError:
    """Error of a negative padding that is larger than the shape."""
    return InvalidShapeError(message("a padding of {padding:g} is larger than the shape", padding=padding))


def grown_by_point_radii(shape: _Grown, linear: Floats, radii: Floats) -> _Grown:
    """Shapes around points, grown to enclose a ball around each point.

    shape : Sphere, Aabb or Obb, batch (g,). Shapes that enclose the points alone.
    linear : (g, 3, 3) float64. Maps from object space to the space of the shapes, which make ellipsoids of
        the balls. Oriented boxes grow by the extents of the ellipsoids along their own axes.
    radii : (g,) float64. Radii of the balls in object space.

    Raises TypeError for other shapes.
    """
    if not radii.any():
        return shape
    grown: Any
    if isinstance(shape, Sphere):
        grown = Sphere(shape.center, shape.radius + radii * np.linalg.norm(linear, 2, axis=(1, 2)))
    elif isinstance(shape, Aabb):
        extent = radii[:, None] * length(linear)
        grown = Aabb.unchecked(shape.min - extent, shape.max + extent)
    elif isinstance(shape, Obb):
        extent = radii[:, None] * length(np.swapaxes(shape.rotation, 1, 2) @ linear)
        grown = Obb(shape.center, shape.half_extents + extent, shape.rotation)
    else:
        raise TypeError(f"cannot grow {type(shape).__name__}")
    result: _Grown = grown
    return result


def grouped_by_settings(settings: Sequence[FitSettings]) -> list[tuple[FitSettings, list[int]]]:
    """Distinct settings, each with the indices at which it occurs."""
    if all(each is settings[0] for each in settings):
        return [(settings[0], list(range(len(settings))))] if settings else []
    groups: dict[FitSettings, list[int]] = {}
    for index, each in enumerate(settings):
        groups.setdefault(each, []).append(index)
    return list(groups.items())


def in_batches(
    items: Iterable[_T], size_of: Callable[[_T], int], most: int = POINTS_AT_ONCE
) -> Iterator[list[_T]]:
    """Split items into batches of at most so many points; an item with more is a batch by itself."""
    batch: list[_T] = []
    total = 0
    for item in items:
        count = size_of(item)
        if batch and total + count > most:
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += count
    if batch:
        yield batch


def plain_shapes(shapes: Sequence[BoundShape], settings: FitSettings) -> tuple[PlainShape, ...]:
    """Plain shapes among `shapes`, and the oriented box of a subject whose box turns with the object."""
    plain: list[Any] = [shape for shape in shapes if SHAPE_KINDS[shape].is_plain]
    if settings.axes in _TURNING_AXES:
        plain += [turned for shape in plain if (turned := SHAPE_KINDS[shape].turned) not in ("", *plain)]
    return tuple(plain)


def along_world_by_default(settings: FitSettings) -> FitSettings:
    """Return settings with boxes along the world's axes, unless their axes turn with the object."""
    return settings if settings.axes in _TURNING_AXES else replace(settings, axes="world")


def resolve_scanned_shape(
    shape: DrawnShape, axes: Iterable[Axes], settings: FitSettings
) -> tuple[Any, FitSettings]:
    """Shape that is tested or shown, and the settings of subjects that leave their axes to the scan.

    axes : those of the settings of subjects; the scan's own are counted in any case. If any box is oriented,
        all are
    """
    kind: Any = shape
    if not _TURNING_AXES.isdisjoint({*axes, settings.axes}):
        kind = SHAPE_KINDS[shape].turned or shape
    if kind != shape:
        settings = along_world_by_default(settings)
    elif kind in ORIENTED_KINDS and settings.axes == "checked":
        settings = replace(settings, axes="object")
    return kind, settings


FittedRows: TypeAlias = tuple[Ints, tuple[Shape, ...], tuple[Shape, ...]]
"""Indices (m,) of subjects, and batches (m,) of each kind, in their own frames and in world space."""


def fit_many(
    sources: Sequence[SubjectGeometry], shapes: tuple[PlainShape, ...], kinds: tuple[Ints, Ints] | None = None
) -> tuple[list[FittedRows], dict[int, CollisionBoundsError]]:
    """Fit shapes to the subjects of all sources, in order, and return batches.

    Every vertex is inside. Oriented boxes have the axes of the subject's own frame, those of the world if
    `axes` of the settings is "world", or those of about the smallest box if it is "smallest".

    All sources have the same settings. There is one batch for all subjects, unless one cannot be fitted. With
    `kinds`, (first, kind_of) of `fit_repeated`, the subjects of one source are fitted as described there.
    Errors are by index of the subject. Raises KeyError for a kind of shape that is unknown, or not plain.
    """
    count = sum(len(source.subjects) for source in sources)
    try:
        if kinds is not None:
            return [(np.arange(count), *fit_repeated(sources[0], *kinds, shapes))], {}
        points, settings = _Points.of(sources), sources[0].fit
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
    alone = (single for source in sources for single in source.singles())
    for row, source in enumerate(alone):
        fitted, failed = fit_many([source], shapes)
        fits += [(np.array([row]), local, world) for _, local, world in fitted]
        errors.update((row, error) for error in failed.values())
    return fits, errors


def fit_repeated(
    source: SubjectGeometry, first: Ints, kind_of: Ints, shapes: tuple[PlainShape, ...]
) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    """Fit shapes to subjects with few different linear parts: once for each of these, and then moved.

    Where moving a sphere rounds it, it grows by more than all roundings.

    source : the m subjects
    first : (g,) int, a subject with each linear part of the matrices
    kind_of : (m,) int, linear part of each subject

    Returns batches (m,) of each kind, in the subjects' own frames and in world space. Raises
    CollisionBoundsError if any subject cannot be fitted.
    """
    base, settings = source.taken(first), source.fit
    matrices = base.matrices.copy()
    matrices[:, :3, 3] = 0
    placements = base.placements._replace(translation=matrices[:, :3, 3])
    points = _Points.of([base._replace(matrices=matrices, placements=placements)])
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
    sources: Sequence[SubjectGeometry]
    frames: _Frames

    @classmethod
    def of(cls, sources: Sequence[SubjectGeometry]) -> _Points:
        """Transform the vertices of subjects. Raises EmptyGeometryError if one has none."""
        matrices = np.concatenate([source.matrices for source in sources])
        rotation = rotation_matrix(np.concatenate([source.placements.rotation for source in sources]))
        origin = np.concatenate([source.placements.translation for source in sources])
        radii = np.concatenate([np.full(len(source.subjects), source.radius) for source in sources])
        frames = _Frames(matrices[:, :3, :3], radii, rotation, np.swapaxes(rotation, 1, 2), origin)
        points = [source.points for source in sources for _ in source.subjects]
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
        # The same axes as in scans.
        for piece in map(in_bone_space, points.sources):
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


def inflated_points(points: Floats, axes: Floats, lengths: Floats, padding: float) -> Floats:
    """Points whose hull has a volume, and encloses the hull of other points with the padding.

    Without padding, points whose hull is thick enough are returned as they are.

    points : (n, 3) float64. Points in any space.
    axes : (3, 3) float64. Columns one world unit long and orthogonal in the world, in the space of the
        points.
    lengths : (3,) float64. Lengths of the points' own units in the world.
    padding : Length in the world.
    Returns points : (m, 3) float64
    Raises InvalidShapeError: for a negative padding.
    """
    if padding < 0:
        raise InvalidShapeError(message("a hull cannot shrink: use a padding of 0 or more"))
    # Infinite for points that are too far away for float32. The caller refuses the result.
    with np.errstate(over="ignore"):
        spacing = float(np.spacing(np.float32(np.abs(points).max())))
    centered = np.linalg.solve(axes, (points - points.mean(axis=0)).T).T
    # Extents along the principal axes show how thick the points are in any direction.
    principal = np.linalg.eigh(np.einsum("ni,nj->ij", centered, centered))[1]
    sides = np.ptp(np.einsum("ni,ij->nj", centered, principal), axis=0)
    thickness = max(minimum_thickness(float(sides.max())), 16 * spacing * float(lengths.max()))
    if sides.min() < thickness:
        padding = max(padding, thickness / 2)
    elif padding:
        points = hull_from_points(points).vertices
    if not padding:
        return points
    return (points[:, None] + padding * UNIT_BOX_CORNERS @ axes.T).reshape(-1, 3)
