"""Unit meshes, of which everything in the overlay is an instance that the graphics card moves and scales.

A sphere of radius 1, a box of half extents 1 and a cylinder of radius and half length 1 around the origin,
and a segment from there to (0, 0, 1). A capsule has the radius 1, and the half length 1 without its ends. How
long its ends are, as part of the whole, is different for each instance: the shader computes it.
NumPy only, so that they are tested without a graphics card.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Floats, Ints
from .draw_data import UnitMesh

# Corner i of a box has bit k set where it lies at 1 on axis k; edges join corners one bit apart.
_CORNERS = np.array([[1.0 if i >> k & 1 else -1.0 for k in range(3)] for i in range(8)])
_EDGES = np.array([(i, i | 1 << k) for k in range(3) for i in range(8) if not i & 1 << k])
_X, _Y, _UP = np.eye(3)


class RibbonMesh(NamedTuple):
    """Lines drawn as ribbons, which get their width on the screen.

    Each point exists twice, once for each side of the ribbon.

    points, along, normals, other_normals : (m, 3) float32. As in `UnitLines`.
    sides : (m,) float32. -1 or 1.
    triangles : (t, 3) int32. Indices of points.
    """

    points: NDArray[np.float32]
    along: NDArray[np.float32]
    normals: NDArray[np.float32]
    other_normals: NDArray[np.float32]
    sides: NDArray[np.float32]
    triangles: NDArray[np.int32]


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
    def ribbons(self) -> RibbonMesh:
        """Two triangles for each segment."""
        begin, end = 2 * self.ends.T
        triangles = [(begin, begin + 1, end), (end, begin + 1, end + 1)]
        points, along, normals, other_normals = (
            column.repeat(2, axis=0).astype(np.float32) for column in self[:4]
        )
        return RibbonMesh(
            points,
            along,
            normals,
            other_normals,
            np.tile(np.array([-1, 1], dtype=np.float32), len(self.points)),
            np.concatenate([np.stack(each, axis=1) for each in triangles]).astype(np.int32),
        )


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
    """Return the twelve edges of the box."""
    start, end = _CORNERS[_EDGES[:, 0]], _CORNERS[_EDGES[:, 1]]
    axes = _EDGES[:, 1] - _EDGES[:, 0]  # an edge along axis k joins corners that differ by 2^k
    is_next, is_last = (np.eye(3)[(axes.astype(int) // 2 + step) % 3] for step in (1, 2))
    return _straight_lines(start, end, start * is_next, start * is_last)


def cylinder_lines(segments: int, is_capsule: bool = False) -> UnitLines:
    """Return both circles of the cylinder, of the given number of segments, and four lines between them."""
    circle = _arc(_X, _Y, segments)
    corners, parts = circle.points[:: segments // 4], []
    for up in (_UP, -_UP):
        # A circle of a cylinder is also an edge of its flat end.
        other = circle.normals if is_capsule else np.broadcast_to(up, circle.points.shape)
        parts.append(circle._replace(points=circle.points + up, other_normals=other))
    return _joined([*parts, _straight_lines(corners - _UP, corners + _UP, corners, corners)])


def capsule_lines(segments: int) -> UnitLines:
    """Return the lines of the cylinder, and two half circles over each of its ends, from 1 to 2 on Z."""
    parts = [cylinder_lines(segments, is_capsule=True)]
    for up in (_UP, -_UP):
        for across in (_X, _Y):
            half = _arc(across, up, segments, part=0.5)
            parts.append(half._replace(points=half.points + up))
    return _joined(parts)


def segment_lines(_segments: int = 0) -> UnitLines:
    """Return the segment."""
    zero = np.zeros((1, 3))
    return _straight_lines(zero, _UP[None], zero, zero)


LINES: dict[UnitMesh, Callable[[int], UnitLines]] = {
    "spheres": sphere_lines,
    "boxes": box_lines,
    "capsules": capsule_lines,
    "cylinders": cylinder_lines,
    "edges": segment_lines,
}
"""Lines of each unit mesh, of a number of segments in a circle."""


class SurfaceMesh(NamedTuple):
    """Surface of triangles, counter-clockwise seen from outside.

    points : (m, 3) float32
    triangles : (t, 3) int32
    """

    points: NDArray[np.float32]
    triangles: NDArray[np.int32]


def stretched_capsules(points: Floats, to_world: Floats) -> Floats:
    """Return points (n, m, 3) of capsules in the frames of instances, as the shader computes them.

    `points` (m, 3) are those of the unit mesh, `to_world` (n, 3, 4) the matrices of the instances.
    """
    sizes = np.sqrt((to_world[:, :, :3] ** 2).sum(axis=1))
    cap = np.divide(sizes[:, 0], sizes[:, 2], out=np.ones(len(sizes)), where=sizes[:, 2] > 0)[:, None]
    height = np.abs(points[:, 2])
    z = np.sign(points[:, 2]) * np.where(height > 1, 1 - cap + cap * (height - 1), (1 - cap) * height)
    result = np.repeat(points[None], len(sizes), axis=0)
    result[..., 2] = z
    return result


def sphere_faces(segments: int) -> SurfaceMesh:
    """Return a sphere of the given number of meridians, and half as many rings."""
    rings = segments // 2
    polar = np.arange(rings + 1)[:, None, None] * (np.pi / rings)
    return _grid_faces(np.sin(polar) * _arc(_X, _Y, segments).points + np.cos(polar) * _UP)


def capsule_faces(segments: int) -> SurfaceMesh:
    """Return a capsule of the given number of meridians, a multiple of four; see the module for its form."""
    rings = sphere_faces(segments).points.reshape(-1, segments, 3)
    middle = len(rings) // 2
    return _grid_faces(np.concatenate([rings[: middle + 1] + _UP, rings[middle:] - _UP]))


def cylinder_faces(segments: int) -> SurfaceMesh:
    """Return a cylinder with the given number of sides."""
    circle = _arc(_X, _Y, segments).points
    return _grid_faces(np.stack([0 * circle + _UP, circle + _UP, circle - _UP, 0 * circle - _UP]))


def _grid_faces(points: Floats | NDArray[np.float32]) -> SurfaceMesh:
    """Return the surface of rings (r, s, 3) from the top, of which the first and the last are points."""
    count, segments = points.shape[:2]
    index = np.arange(count * segments).reshape(count, segments)
    current, next_one = index[:-1], np.roll(index, -1, axis=1)[:-1]
    below, across = index[1:], np.roll(index, -1, axis=1)[1:]
    # At the ends one of the two triangles of a quad has no area, so it is dropped.
    first = np.stack([current, below, next_one], axis=-1)[1:]
    second = np.stack([next_one, below, across], axis=-1)[:-1]
    triangles = np.concatenate([first.reshape(-1, 3), second.reshape(-1, 3)])
    return SurfaceMesh(points.reshape(-1, 3).astype(np.float32), triangles.astype(np.int32))


def square() -> SurfaceMesh:
    """Return a flat square of half extent 1."""
    return SurfaceMesh(_CORNERS[:4].astype(np.float32), np.array([(0, 1, 3), (0, 3, 2)], dtype=np.int32))


def box_faces(_segments: int = 0) -> SurfaceMesh:
    """Return the six faces of the box, two triangles each."""
    quads = []
    for axis in range(3):
        one, two = 1 << (axis + 1) % 3, 1 << (axis + 2) % 3
        for start in (0, 1 << axis):
            loop = [start, start | one, start | one | two, start | two]
            quads.append(loop if start else loop[::-1])
    triangles = [(a, b, c) for a, b, c, _ in quads] + [(a, c, d) for a, _, c, d in quads]
    return SurfaceMesh(_CORNERS.astype(np.float32), np.array(triangles, dtype=np.int32))


FACES: dict[UnitMesh, Callable[[int], SurfaceMesh]] = {
    "spheres": sphere_faces,
    "boxes": box_faces,
    "capsules": capsule_faces,
    "cylinders": cylinder_faces,
}
"""Surface of each unit mesh that has one, of a number of meridians."""
