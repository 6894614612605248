"""Unit meshes, of which everything in the overlay is an instance that the graphics card moves and scales.

A sphere of radius 1, a box of half extents 1 and a cylinder of radius and half length 1 around the origin,
and a segment from (0, 0, -1) to (0, 0, 1). A tube is a cylinder without ends, and a cap the half of the
sphere above the XY plane: a capsule is a tube with two caps. PARTS has the instances that draw each shape.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...core import Aabb, Capsule, Cylinder, Obb, Segment, Sphere
from ...core.numeric.arrays import Floats, Ints, cross, perpendicular

UnitMesh: TypeAlias = str
"""Name of a unit mesh, a key of LINES. The edges of hulls are segments."""

# Corner i of a box has bit k set where it lies at 1 on axis k; edges join corners one bit apart.
_CORNERS = np.array([[1.0 if i >> k & 1 else -1.0 for k in range(3)] for i in range(8)])
_EDGES = np.array([(i, i | 1 << k) for k in range(3) for i in range(8) if not i & 1 << k])
_X, _Y, _UP = np.eye(3)


class UnitLines(NamedTuple):
    """Lines of a unit mesh.

    points : (m, 3) float64
    along : (m, 3) float64. Direction of the line at each point, as long as a segment of it.
    normals, other_normals : (m, 3) float64. Of the two faces that meet at a line; equal on a smooth
        surface, and zero without one.
    ends : (s, 2) int64. Points that each segment joins.
    """

    points: Floats
    along: Floats
    normals: Floats
    other_normals: Floats
    ends: Ints

    @property
    def segments(self) -> NDArray[np.float32]:
        """End points (2 s, 3) of the segments, two for each."""
        return self.points[self.ends.ravel()].astype(np.float32)

    @property
    def ribbons(self) -> tuple[dict[str, NDArray[np.float32]], NDArray[np.int32]]:
        """Attributes of vertices, and two triangles for each segment: ribbons get their width on the screen.

        Each point exists twice, once for each `side` (m, 1) of the ribbon, -1 or 1.
        """
        names = ("point", "along", "normal", "other_normal")
        columns = {
            name: column.repeat(2, axis=0).astype(np.float32)
            for name, column in zip(names, self[:4], strict=True)
        }
        columns["side"] = np.tile(np.array([[-1], [1]], dtype=np.float32), (len(self.points), 1))
        begin, end = 2 * self.ends.T
        triangles = [(begin, begin + 1, end), (end, begin + 1, end + 1)]
        return columns, np.concatenate([np.stack(each, axis=1) for each in triangles]).astype(np.int32)


def _joined(parts: list[UnitLines]) -> UnitLines:
    starts = np.cumsum([0, *(len(part.points) for part in parts[:-1])])
    ends = np.concatenate([part.ends + start for part, start in zip(parts, starts, strict=True)])
    points, along, normals, other_normals = (np.concatenate([part[k] for part in parts]) for k in range(4))
    return UnitLines(points, along, normals, other_normals, ends)


def _arc(start: Floats, toward: Floats, segments: int, part: float = 1.0) -> UnitLines:
    """Return a circle around the origin, or a part of it, from one axis towards another.

    `segments` are those of a whole circle.
    """
    step = 2 * np.pi / segments
    turns = np.arange(round(part * segments) + (part < 1))[:, None] * step
    points = np.cos(turns) * start + np.sin(turns) * toward
    along = (np.cos(turns) * toward - np.sin(turns) * start) * step
    numbers = np.arange(len(points))
    ends = np.stack([numbers, np.roll(numbers, -1)], axis=1)
    return UnitLines(points, along, points, points, ends if part == 1 else ends[:-1])


def _straight_lines(start: Floats, end: Floats, normals: Floats, other_normals: Floats) -> UnitLines:
    """Return straight lines between points (n, 3), that share none of them."""
    points = np.stack([start, end], axis=1).reshape(-1, 3)
    along, normals, other_normals = (
        np.repeat(values, 2, axis=0) for values in (end - start, normals, other_normals)
    )
    return UnitLines(points, along, normals, other_normals, np.arange(len(points)).reshape(-1, 2))


def sphere_lines(segments: int) -> UnitLines:
    """Return three great circles, one around each axis, of the given number of segments each."""
    return _joined([_arc(start, toward, segments) for start, toward in ((_X, _Y), (_Y, _UP), (_UP, _X))])


def box_lines(_segments: int = 0) -> UnitLines:
    start, end = _CORNERS[_EDGES[:, 0]], _CORNERS[_EDGES[:, 1]]
    axes = _EDGES[:, 1] - _EDGES[:, 0]  # an edge along axis k joins corners that differ by 2^k
    is_next, is_last = (np.eye(3)[(axes.astype(int) // 2 + step) % 3] for step in (1, 2))
    return _straight_lines(start, end, start * is_next, start * is_last)


def cylinder_lines(segments: int, is_open: bool = False) -> UnitLines:
    """Return both circles of the cylinder, of the given number of segments, and four lines between them.

    If it is open, the surface goes on smoothly at both circles.
    """
    circle = _arc(_X, _Y, segments)
    corners, parts = circle.points[:: segments // 4], []
    for up in (_UP, -_UP):
        # A circle of a cylinder is also an edge of its flat end.
        other = circle.normals if is_open else np.broadcast_to(up, circle.points.shape)
        parts.append(circle._replace(points=circle.points + up, other_normals=other))
    return _joined([*parts, _straight_lines(corners - _UP, corners + _UP, corners, corners)])


LINES: dict[UnitMesh, Callable[[int], UnitLines]] = {
    "spheres": sphere_lines,
    "boxes": box_lines,
    "tubes": partial(cylinder_lines, is_open=True),
    # Two half circles over the pole; the circle at the open end is that of the tube.
    "caps": lambda segments: _joined([_arc(across, _UP, segments, part=0.5) for across in (_X, _Y)]),
    "cylinders": cylinder_lines,
    "edges": lambda _segments: _straight_lines(-_UP[None], _UP[None], *np.zeros((2, 1, 3))),
}
"""Lines of each unit mesh, of a number of segments in a circle."""


class SurfaceMesh(NamedTuple):
    """Surface of triangles, counter-clockwise seen from outside; of a unit mesh or of a collider.

    points : (m, 3) float32
    triangles : (t, 3) int32
    """

    points: NDArray[np.float32]
    triangles: NDArray[np.int32]


def sphere_faces(meridians: int, part: float = 1.0) -> SurfaceMesh:
    """Return a sphere, or a part of it from the top, with half as many rings in the sphere as meridians."""
    rings = round(part * meridians / 2)
    polar = np.arange(rings + 1)[:, None, None] * (part * np.pi / rings)
    return _grid_faces(np.sin(polar) * _arc(_X, _Y, meridians).points + np.cos(polar) * _UP)


def _prism_faces(outline: Floats) -> SurfaceMesh:
    """Return the prism from -1 to 1 on Z over an outline (s, 3) in the XY plane."""
    return _grid_faces(np.stack([0 * outline + _UP, outline + _UP, outline - _UP, 0 * outline - _UP]))


def _grid_faces(points: Floats) -> SurfaceMesh:
    """Return the surface of rings (r, s, 3) from the top."""
    count, segments = points.shape[:2]
    index = np.arange(count * segments).reshape(count, segments)
    current, next_one = index[:-1], np.roll(index, -1, axis=1)[:-1]
    below, across = index[1:], np.roll(index, -1, axis=1)[1:]
    quads = [(current, below, next_one), (next_one, below, across)]
    triangles = np.concatenate([np.stack(each, axis=-1).reshape(-1, 3) for each in quads])
    points = points.reshape(-1, 3)
    # At a pole, one of the two triangles of a quad has no area.
    one, two = (points[triangles[:, k]] - points[triangles[:, 0]] for k in (1, 2))
    has_area = np.linalg.norm(np.cross(one, two), axis=1) > 1e-9
    return SurfaceMesh(points.astype(np.float32), triangles[has_area].astype(np.int32))


def square() -> SurfaceMesh:
    """Return a flat square of half extent 1."""
    return SurfaceMesh(_CORNERS[:4].astype(np.float32), np.array([(0, 1, 3), (0, 3, 2)], dtype=np.int32))


FACES: dict[UnitMesh, Callable[[int], SurfaceMesh]] = {
    "spheres": sphere_faces,
    "boxes": lambda _sides: _prism_faces(_CORNERS[[0, 1, 3, 2]] * (1, 1, 0)),
    "tubes": lambda sides: _grid_faces(_arc(_X, _Y, sides).points + np.array([[_UP], [-_UP]])),
    "caps": partial(sphere_faces, part=0.5),
    "cylinders": lambda sides: _prism_faces(_arc(_X, _Y, sides).points),
}
"""Surface of each unit mesh that has one, of a number of meridians."""


def _along_axis(shape: Capsule | Cylinder, reach: Floats) -> Floats:
    """Return the columns (n, 3, 3) of radius, radius and `reach` (n,) along the axes of shapes."""
    side, radius = perpendicular(shape.axis), shape.radius[:, None]
    return np.stack([side * radius, cross(shape.axis, side) * radius, shape.axis * reach[:, None]], axis=-1)


_Part: TypeAlias = tuple[UnitMesh, Floats, Floats]
"""Unit mesh, centers and axes of the instances that are part of each shape, as `Instances.of` takes them."""


def _capsule_parts(shape: Capsule) -> tuple[_Part, ...]:
    offset, axes = shape.axis * shape.half_length[:, None], _along_axis(shape, shape.radius)
    # The lower cap is turned around the first axis: if it were mirrored, its faces would face inward.
    return (
        ("tubes", shape.center, _along_axis(shape, shape.half_length)),
        ("caps", shape.center + offset, axes),
        ("caps", shape.center - offset, axes * (1, -1, -1)),
    )


PARTS: dict[type, Callable[[Any], tuple[_Part, ...]]] = {
    Sphere: lambda shape: (("spheres", shape.center, shape.radius[:, None]),),
    Aabb: lambda shape: (("boxes", shape.center, shape.half_extents),),
    Obb: lambda shape: (("boxes", shape.center, shape.rotation * shape.half_extents[:, None]),),
    Capsule: _capsule_parts,
    Segment: lambda shape: (
        ("edges", (shape.start + shape.end) / 2, ((shape.end - shape.start) / 2)[:, :, None] * (0, 0, 1)),
    ),
    Cylinder: lambda shape: (("cylinders", shape.center, _along_axis(shape, shape.half_length)),),
}
"""Instances that make up shapes (n,) of each class."""
