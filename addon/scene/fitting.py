"""Shapes around the geometry of things, many at once: in world space, and in their own turned axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from ..core import (
    Aabb,
    CollisionBoundsError,
    EmptyGeometryError,
    InvalidShapeError,
    Obb,
    Shape,
    Sphere,
    aabbs_from_groups,
    spheres_from_groups,
)
from ..core.arrays import Floats, Ints, length, rotation_matrix, transform_vectors
from ..core.fitting import SphereMethod, enclosing_radii
from .extraction import Geometry, Modifiers, Placement, placement

PlainShape = Literal["sphere", "aabb", "obb"]
BoundShape = Literal["sphere", "aabb", "obb", "spheres", "hull"]
"""What a thing may have as bounds; the last two are in `detailed_shapes`."""
ShapeName = Literal["sphere", "aabb", "obb", "spheres"]
"""What stands in for a thing in a scan; "spheres" are the leaves of a sphere tree."""
SHAPE_NAMES: tuple[ShapeName, ...] = get_args(ShapeName)
Axes = Literal["checked", "world", "object"]
"""Along which axes a box lies; "checked" leaves that to the shape that a scan checks."""

_T = TypeVar("_T")

BothSpaces: TypeAlias = tuple[tuple[Shape, ...], tuple[Shape, ...]]
"""Shapes in a thing's own turned and moved axes, and the same in world space."""

Groups: TypeAlias = tuple[Ints, Ints]
"""Indices of vertices group by group, and where the groups begin and end: the parts of a sphere tree."""

_POINTS_AT_ONCE = 1 << 15
"""More are no faster, and fall out of the cache."""


@dataclass(frozen=True)
class FitSettings:
    """How shapes are fitted.

    method : where a sphere's centre comes from, see `core.sphere_from_points`
    padding : Blender units added on every side; negative shrinks
    modifiers : see `extraction.Modifiers`
    axes : of its box, where boxes are checked
    depth : of its tree, where sphere trees are
    """

    method: SphereMethod = "minimal"
    padding: float = 0.0
    modifiers: Modifiers = "evaluated"
    axes: Axes = "checked"
    depth: int = 4


def fitted_both(
    geometries: Sequence[Geometry],
    placements: Sequence[Placement],
    shapes: tuple[PlainShape, ...],
    settings: FitSettings,
) -> list[BothSpaces | CollisionBoundsError]:
    """Shapes of each thing in its own turned and moved axes with its scale baked in, and in world space.

    An oriented box has the thing's own axes, or the world's if the settings say so. All are fitted at once; a
    thing that cannot be fitted has the error that says why.
    """
    try:
        return list(_fitted_both(geometries, placements, shapes, settings))
    except CollisionBoundsError as error:
        if len(geometries) == 1:
            return [error]
    # The others are not to blame.
    alone = zip(geometries, placements, strict=True)
    return [fitted_both([geometry], [placed], shapes, settings)[0] for geometry, placed in alone]


def _fitted_both(
    geometries: Sequence[Geometry],
    placements: Sequence[Placement],
    shapes: tuple[PlainShape, ...],
    settings: FitSettings,
) -> Iterator[BothSpaces]:
    counts = np.array([len(geometry.points) for geometry in geometries])
    offsets = np.append(0, np.cumsum(counts))
    matrices = np.stack([geometry.matrix for geometry in geometries])
    turn = rotation_matrix([placed.rotation for placed in placements])
    back = np.swapaxes(turn, 1, 2)
    origin = np.stack([placed.translation for placed in placements])
    world_points = turned_points([geometry.points for geometry in geometries], matrices[:, :3, :3])
    world_points += _each(matrices[:, :3, 3], counts)
    local_points = transform_vectors(_each(back, counts), world_points - _each(origin, counts))
    radii = np.array([geometry.radius for geometry in geometries])
    linear = matrices[:, :3, :3]

    def finished(shape: Shape, linear: Floats) -> Shape:
        return padded(with_balls(shape, linear, radii), settings.padding)

    local: list[Shape] = []
    world: list[Shape] = []
    for name in shapes:
        if name == "obb" and settings.axes == "world":
            box = finished(aabbs_from_groups(world_points, offsets).oriented(), linear)
            assert isinstance(box, Obb)
            world.append(box)
            local.append(Obb(transform_vectors(back, box.center - origin), box.half_extents, back))
        elif name == "obb":
            box = finished(_centered(aabbs_from_groups(local_points, offsets)), back @ linear)
            assert isinstance(box, Obb)
            local.append(box)
            world.append(Obb(transform_vectors(turn, box.center) + origin, box.half_extents, turn))
        elif name == "aabb":
            local.append(finished(aabbs_from_groups(local_points, offsets), back @ linear))
            world.append(finished(aabbs_from_groups(world_points, offsets), linear))
        else:
            sphere = spheres_from_groups(world_points, offsets, settings.method)
            world.append(finished(sphere, linear))
            if settings.method == "minimal":
                # Turning and moving does not change which sphere is the smallest.
                center = transform_vectors(back, sphere.center - origin)
                sphere = Sphere(center, enclosing_radii(local_points, offsets, center))
            else:
                sphere = spheres_from_groups(local_points, offsets, settings.method)
            local.append(finished(sphere, linear))
    if not shapes:
        yield from (((), ()) for _ in geometries)
        return
    each = (zip(*(shape.each() for shape in shapes), strict=True) for shapes in (local, world))
    yield from zip(*each, strict=True)


def with_balls(shape: Shape, linear: Floats, radii: Floats) -> Shape:
    """Shapes around points, grown to hold a ball around each point as well.

    linear, radii : (g, 3, 3) and (g,), the balls of things under the linear part of their place, which makes
        ellipsoids of them, in the space of the shapes. Oriented boxes reach what the ellipsoids reach along
        their own axes.
    """
    if not radii.any():
        return shape
    if isinstance(shape, Sphere):
        return Sphere(shape.center, shape.radius + radii * np.linalg.norm(linear, 2, axis=(1, 2)))
    if isinstance(shape, Aabb):
        reach = radii[:, None] * length(linear)
        return Aabb(shape.min - reach, shape.max + reach)
    assert isinstance(shape, Obb)
    reach = radii[:, None] * length(np.swapaxes(shape.rotation, 1, 2) @ linear)
    return Obb(shape.center, shape.half_extents + reach, shape.rotation)


def alike(settings: Sequence[FitSettings]) -> list[tuple[FitSettings, list[int]]]:
    """Which settings there are, and where; to fit together what is fitted alike."""
    if all(each is settings[0] for each in settings):
        return [(settings[0], list(range(len(settings))))] if settings else []
    found: dict[FitSettings, list[int]] = {}
    for place, each in enumerate(settings):
        found.setdefault(each, []).append(place)
    return list(found.items())


def scanned_shape(shape: ShapeName, axes: Iterable[Axes]) -> ShapeName:
    """The shape that a scan checks where boxes of things have these axes: all are boxes of one kind."""
    return "obb" if shape == "aabb" and "object" in axes else shape


def as_scanned(
    shape: ShapeName, axes: Iterable[Axes], settings: FitSettings
) -> tuple[ShapeName, FitSettings]:
    """The shape that a scan checks, and how it is fitted where settings leave axes to what is checked."""
    kind = scanned_shape(shape, axes)
    if kind == "obb":
        settings = replace(settings, axes="world" if shape == "aabb" else "object")
    return kind, settings


def own_shapes(shapes: Sequence[BoundShape], settings: FitSettings) -> tuple[PlainShape, ...]:
    """The plain shapes of a thing: one whose box is along its own axes has that box beside the other."""
    plain = tuple(shape for shape in shapes if shape != "spheres" and shape != "hull")
    if settings.axes == "object" and "aabb" in plain and "obb" not in plain:
        return (*plain, "obb")
    return plain


def in_batches(things: Iterable[_T], points: Callable[[_T], Sized]) -> Iterator[list[_T]]:
    """As many things at once as are worth it by their points; one that has many is alone."""
    batch: list[_T] = []
    total = 0
    for thing in things:
        count = len(points(thing))
        if batch and total + count > _POINTS_AT_ONCE:
            yield batch
            batch, total = [], 0
        batch.append(thing)
        total += count
    if batch:
        yield batch


def turned_points(points: Sequence[NDArray[np.float32]], linear: Floats) -> Floats:
    """The points of things, one after another, under the linear parts (g, 3, 3) of their places."""
    counts = np.array([len(own) for own in points])
    if not counts.all():
        raise EmptyGeometryError("no points")
    together = points[0] if len(points) == 1 else np.concatenate(points)
    return transform_vectors(_each(linear, counts), together.astype(np.float64))


def _each(values: Floats, counts: Ints) -> Floats:
    """What belongs to each thing (g, ...), once for each of its points; of one thing, once for all."""
    return values[0] if len(values) == 1 else values.repeat(counts, axis=0)


def _centered(box: Aabb) -> Obb:
    """The same box, by its middle."""
    middle = box.min + (box.max - box.min) / 2
    # The middle was rounded: from there one side may be farther.
    return Obb(middle, np.maximum(box.max - middle, middle - box.min), np.eye(3))


def fitted_around_origins(
    points: Sequence[NDArray[np.float32]],
    linear: Floats,
    shape: ShapeName,
    settings: FitSettings,
    groups: Sequence[Groups] | None,
    radii: Floats | None = None,
) -> Shape:
    """Shapes of things under the linear parts (g, 3, 3) of their places, not moved, without padding.

    groups : the points of each part of each thing; None where each is one part. Oriented boxes have the
        thing's own axes, or the world's if the settings say so. The batch holds all parts of all things.
    radii : (g,) of balls around the points, in the thing's own space

    Raises EmptyGeometryError, NonFiniteGeometryError, or SceneError for a place that is out of reach.
    """
    if radii is not None and radii.any():
        parts = linear if groups is None else linear.repeat([len(own[1]) - 1 for own in groups], axis=0)
        each = radii if groups is None else radii.repeat([len(own[1]) - 1 for own in groups])
        shape_of_points = fitted_around_origins(points, linear, shape, settings, groups)
        return with_balls(shape_of_points, parts, each)
    world = turned_points(points, linear)
    counts = np.array([len(own) for own in points])
    offsets = np.append(0, np.cumsum(counts))
    if groups is not None:
        order = np.concatenate([own + start for (own, _), start in zip(groups, offsets, strict=False)])
        sizes = np.concatenate([np.diff(bounds) for _, bounds in groups])
        return spheres_from_groups(world[order], np.append(0, np.cumsum(sizes)))
    if shape != "obb":
        return fitted(world, offsets, shape, settings.method)
    if settings.axes == "world":
        return aabbs_from_groups(world, offsets).oriented()
    matrix = np.eye(4)
    rotations = []
    for each in linear:
        matrix[:3, :3] = each
        rotations.append(placement(matrix).rotation)
    turn = rotation_matrix(rotations)
    box = _centered(
        aabbs_from_groups(transform_vectors(_each(np.swapaxes(turn, 1, 2), counts), world), offsets)
    )
    # The points were turned and rounded: by no more than this of the farthest.
    slack = 8 * np.finfo(np.float64).eps * np.maximum.reduceat(np.abs(world).max(axis=1), offsets[:-1])
    return Obb(transform_vectors(turn, box.center), box.half_extents + slack[:, None], turn)


def fitted(points: Floats, offsets: Ints, shape: ShapeName, method: SphereMethod) -> Sphere | Aabb:
    """Spheres, or boxes along the axes, around groups of points (n, 3); raises as the core does."""
    if shape == "sphere":
        return spheres_from_groups(points, offsets, method)
    return aabbs_from_groups(points, offsets)


def padded(shape: Shape, padding: float | Floats) -> Shape:
    """Shapes grown by `padding`, a number, or one each. Raises InvalidShapeError where nothing is left."""
    if isinstance(padding, float) and not padding:
        return shape
    try:
        return shape.padded(padding)
    except InvalidShapeError:
        raise nothing_left(float(np.min(padding))) from None


def nothing_left(padding: float) -> InvalidShapeError:
    """What is wrong with a negative padding that is more than a shape."""
    return InvalidShapeError(f"a padding of {padding:g} leaves nothing of it")
