"""Shapes around the vertices of many subjects at once, and results of searches that take long.

All subjects, jobs and frames of a session share these results: the axes of smallest boxes, the lines of
capsules and cylinders, sphere trees, and convex parts. Each is decided by the bits of the numbers in its key
alone, so a result that is found here is the one that a search would find. Those used least recently are
dropped first.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...core import (
    Aabb,
    EmptyGeometryError,
    InvalidShapeError,
    Obb,
    Shape,
    Sphere,
    aabbs_from_groups,
    hull_from_points,
    obb_from_points,
    spheres_from_groups,
)
from ...core.messages import message
from ...core.numeric.arrays import (
    UNIT_BOX_CORNERS,
    Floats,
    Ints,
    concatenated_ranges,
    length,
    rotation_matrix,
    transform_columns,
    transform_vectors,
)
from ...formats.export.gltf_collider_nodes import minimum_thickness
from ..blender.mesh_data import UNPLACED, decompose_matrices
from ..errors import SceneError
from ..settings import SHAPE_KINDS, Axes, BoundShape, DrawnShape, FitSettings, PlainShape, ShapeName

_Result = TypeVar("_Result")

_MOST_BYTES = 64 << 20
_ENTRY_BYTES = 500
"""Memory of a key and of a small result."""

_known: OrderedDict[bytes, tuple[int, Any]] = OrderedDict()
_size = 0


def search_key(kind: str, *parts: Any) -> bytes:
    """Key of a search of one kind in arrays and numbers."""
    digest = hashlib.blake2b(kind.encode())
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(repr((part.dtype, part.shape)).encode() + part.tobytes())
        else:
            digest.update(repr(part).encode())
    return digest.digest()


def known_result(key: bytes) -> Any:
    """Return a result that is known; None if it is not."""
    if key not in _known:
        return None
    _known.move_to_end(key)
    return _known[key][1]


def store_result(key: bytes, result: _Result, size: int = 0) -> _Result:
    """Remember a result whose arrays have a size in bytes, and return it."""
    global _size
    _size += size + _ENTRY_BYTES - _known.pop(key, (0, None))[0]
    _known[key] = size + _ENTRY_BYTES, result
    while len(_known) > 1 and _size > _MOST_BYTES:
        _size -= _known.popitem(last=False)[1][0]
    return result


def searched(key: bytes, search: Callable[[], _Result], size: int = 0) -> _Result:
    """Return a result that is known, or search for it; an error is not remembered."""
    result: _Result | None = known_result(key)
    return store_result(key, search(), size) if result is None else result


class PartVertices(NamedTuple):
    """Vertices of the parts of a subject, so that shapes can be fitted to each part wherever these move.

    rows : (r,) int. Vertex indices of the parts, concatenated. Points on cuts come after the n vertices. In
        each part of a sphere tree, the quarter that was farthest from its middle comes first: it is likely
        to stay so.
    offsets : (p + 1,) int. Part k is `rows[offsets[k]:offsets[k + 1]]`.
    cuts : (c, 3) float64 or None. Points on cuts between parts, in object space.
    source : (n, 3) float or None. The vertices between which the cuts are.
    children : (m, 2) int or None. Of the nodes of a sphere tree whose leaves are the parts, breadth-first;
        -1 for leaves.
    """

    rows: Ints
    offsets: Ints
    cuts: Floats | None = None
    source: NDArray[np.float32] | None = None
    children: Ints | None = None

    @classmethod
    def whole(cls, count: int) -> PartVertices:
        """One part with all of `count` vertices."""
        return cls(np.arange(count), np.array([0, count]))

    def are_of(self, points: NDArray[np.float32]) -> bool:
        """Return whether these are the parts of vertices (n, 3), or of as many that moved if none is cut."""
        if self.cuts is not None:
            return self.source is points or np.array_equal(self.source, points)
        return bool(len(points) == self.rows.max(initial=-1) + 1 > 0)

    def take(self, parts: Ints) -> PartVertices:
        """Return some parts (k,); the last one for numbers beyond it."""
        parts = np.minimum(parts, len(self.offsets) - 2)
        begin, counts = self.offsets[parts], np.diff(self.offsets)[parts]
        rows = self.rows[concatenated_ranges(begin, counts)]
        return self._replace(rows=rows, offsets=np.append(0, np.cumsum(counts)), children=None)

    def with_cuts(self, points: NDArray[np.float32]) -> NDArray[Any]:
        """Vertices (n, 3) and the points on cuts."""
        return points if self.cuts is None else np.concatenate([points, self.cuts])


NO_PARTS = PartVertices(np.zeros(0, dtype=np.int64), np.array([0, 0]))

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


def smallest_box_axes(points: NDArray[np.float32], linear: Floats) -> Floats:
    """Axes (3, 3), as columns, of about the smallest box around vertices, in the frame of their subject.

    points : (n, 3) float32
        In object space.
    linear : (3, 3) float64
        Linear part of the world matrix.

    Raises EmptyGeometryError, NonFiniteGeometryError and SceneError.
    """
    key = search_key("box", points, rounded_frame(linear))
    return searched(key, lambda: obb_from_points(points_for_search(points, linear)).rotation)


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
    key = search_key(shape, vertices, rounded_frame(linear), axis)
    found = searched(key, lambda: fit_axial_to_points(shape, points_for_search(vertices, linear), axis))
    return found._around(local)


_LOST = 1e-4
"""Length of the image of an axis, relative to the longest, up to which rounding may hide its direction."""
_SCALE_STEPS = 2.0**16
"""Steps of the numbers of a linear map for a search, in its largest number."""


def rounded_frame(linear: Floats) -> Floats:
    """Map (3, 3) of `in_own_frame` in steps, the same for any rotation. Raises SceneError."""
    frame = in_own_frame(linear)
    largest = float(np.abs(frame).max())
    step = 2.0 ** np.frexp(largest)[1] / _SCALE_STEPS
    return np.round(frame / step) * step + 0.0 if 0 < largest < np.inf else frame


def points_for_search(points: NDArray[Any], linear: Floats) -> Floats:
    """Vertices (n, 3) in about the frame of their subject, for searches whose result depends on each bit.

    Scans and documents search the axes of boxes and split triangles for sphere trees in these points, so
    that both find the same. The shapes are fitted to the exact points.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        return transform_vectors(rounded_frame(linear), points.astype(np.float64))


def in_own_frame(linear: Floats) -> Floats:
    """Map (3, 3) from object space to the frame of a subject: its scale and shear. Raises SceneError."""
    return np.asarray(own_rotation(linear).T @ linear)


def own_rotation(linear: Floats) -> Floats:
    """Rotation (3, 3) from the frame of a subject to the world. Raises SceneError."""
    return np.asarray(rotations_of(linear[None])[0])


def boxes_along(points: Floats, offsets: Ints, rotation: Floats) -> Obb:
    """Oriented boxes (g,) with the axes of rotations (g, 3, 3), around groups of points (n, 3)."""
    local = transform_vectors(per_point(np.swapaxes(rotation, 1, 2), np.diff(offsets)), points)
    box = boxes_in_frame(local, offsets)
    # Rotating the points rounds them, by no more than this part of the farthest coordinate.
    slack = 8 * np.finfo(np.float64).eps * np.maximum.reduceat(np.abs(points).max(axis=1), offsets[:-1])
    return Obb(transform_vectors(rotation, box.center), box.half_extents + slack[:, None], rotation)


def fit_parts(
    points: Sequence[NDArray[np.float32]],
    linear: Floats,
    groups: Sequence[PartVertices],
    frames: Floats | None,
) -> Sphere | Obb:
    """Smallest spheres of all parts of subjects, or boxes with axes `frames` (p, 3, 3) in the subjects'.

    The boxes also hold triangles that were cut.
    """
    with_cuts = [parts.with_cuts(each) for parts, each in zip(groups, points, strict=True)]
    chosen = [each.take(parts.rows, axis=0) for parts, each in zip(groups, with_cuts, strict=True)]
    sizes = np.array([len(each) for each in chosen])
    # Laid out by coordinates.
    if sizes.sum() > _MANY_POINTS * len(sizes):
        # One by one, because a map for each point would take three times the memory of the points.
        columns = [np.ascontiguousarray(each.T, dtype=np.float64) for each in chosen]
        moved = [transform_columns(map_, each) for map_, each in zip(linear, columns, strict=True)]
        world = (moved[0] if len(moved) == 1 else np.concatenate(moved, axis=1)).T
    else:
        together = np.ascontiguousarray(np.concatenate(chosen).T, dtype=np.float64)
        world = transform_columns(np.moveaxis(linear, 0, -1).repeat(sizes, axis=-1), together).T
    offsets = np.append(0, np.cumsum(np.concatenate([np.diff(each.offsets) for each in groups])))
    if frames is None:
        return spheres_from_groups(world, offsets, is_sorted=True)
    counts = [len(each.offsets) - 1 for each in groups]
    boxes = boxes_along(world, offsets, rotations_of(linear).repeat(counts, axis=0) @ frames)
    sources = zip((each.source for each in groups), linear, strict=True)
    margins = np.array([0.0 if each is None else cut_rounding(each, map_) for each, map_ in sources])
    return Obb(boxes.center, boxes.half_extents + margins.repeat(counts)[:, None], boxes.rotation)


_MANY_POINTS = 1000
"""Points of a subject, on average, from which on subjects are transformed one by one."""
_CUT_ROUNDING = 64 * float(np.finfo(np.float64).eps)
"""Largest error of a point of a cut, as a part of the largest coordinate of the mesh."""


def cut_rounding(points: NDArray[Any], linear: Floats) -> float:
    """Return the largest error of points of cuts, in the world: they can be on either side of a triangle.

    points : (n, 3) float32 or float64. Of the mesh.
    linear : (3, 3) float64. Linear part of its world matrix.
    """
    return _CUT_ROUNDING * float(np.abs(points).max()) * float(np.linalg.norm(linear, 2))


def rotations_of(linear: Floats) -> Floats:
    """Rotations (g, 3, 3) of linear maps (g, 3, 3), as Blender decomposes them. Raises SceneError.

    Those of maps that flatten one axis are the limits of Blender's, which has another rotation there.
    """
    matrices = np.tile(np.eye(4), (len(linear), 1, 1))
    matrices[:, :3, :3] = linear
    lengths = np.sqrt((linear * linear).sum(axis=1))
    is_lost = lengths <= _LOST * lengths.max(axis=1, keepdims=True)
    rows = np.flatnonzero((is_lost.sum(axis=1) == 1) & np.isfinite(lengths).all(axis=1))
    if len(rows):
        # The axis that is mapped to nothing is mapped to the normal of the other two.
        axis = is_lost[rows].argmax(axis=1)
        first, second = (linear[rows, :, (axis + step) % 3] for step in (1, 2))
        matrices[rows, :3, axis] = np.cross(first, second) / lengths[rows].max(axis=1)[:, None]
    placements, is_valid = decompose_matrices(matrices)
    if not is_valid.all():
        raise SceneError(UNPLACED)
    return np.asarray(rotation_matrix(placements.rotation), dtype=np.float64)


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


def scanned_shape(shape: DrawnShape, axes: Iterable[Axes]) -> DrawnShape:
    """Shape that is tested or shown where boxes have these axes: oriented ones if any box is oriented."""
    return shape if _TURNING_AXES.isdisjoint(axes) else SHAPE_KINDS[shape].turned or shape


def along_world_by_default(settings: FitSettings) -> FitSettings:
    """Return settings with boxes along the world's axes, unless their axes turn with the object."""
    return settings if settings.axes in _TURNING_AXES else replace(settings, axes="world")


def resolve_scanned_shape(
    shape: ShapeName, axes: Iterable[Axes], settings: FitSettings
) -> tuple[ShapeName, FitSettings]:
    """Shape that a scan tests, and the settings of subjects that leave their axes to the scan.

    axes : those of the settings of subjects; the scan's own are counted in any case
    """
    kind: Any = scanned_shape(shape, {*axes, settings.axes})
    if kind != shape:
        settings = along_world_by_default(settings)
    elif kind in ORIENTED_KINDS and settings.axes == "checked":
        settings = replace(settings, axes="object")
    return kind, settings


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
