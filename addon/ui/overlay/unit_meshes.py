"""Unit meshes, of which everything in the overlay is an instance that the graphics card moves and scales.

A sphere of radius 1, a box of half extents 1 and a cylinder of radius and half length 1 around the origin,
and a segment from there to (0, 0, 1). A capsule has the radius 1, and the half length 1 without its ends. How
long its ends are, as part of the whole, is different for each instance: the shader computes it.
NumPy only, so that they are tested without a graphics card.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Floats

# Corner i of a box has bit k set where it lies at 1 on axis k; edges join corners one bit apart.
_CORNERS = np.array([[1.0 if i >> k & 1 else -1.0 for k in range(3)] for i in range(8)])
_EDGES = np.array([(i, i | 1 << k) for k in range(3) for i in range(8) if not i & 1 << k])


class RibbonMesh(NamedTuple):
    """Lines drawn as ribbons, which get their width on the screen.

    Each point exists twice, once for each side of the ribbon.

    Attributes
    ----------
    points : (m, 3) float32
    along : (m, 3) float32
        Direction of the line at each point, as long as a segment of it.
    normals, other_normals : (m, 3) float32
        Of the two faces that meet at a line; equal on a smooth surface, and zero without one.
    sides : (m,) float32
        -1 or 1.
    triangles : (t, 3) int32
        Indices of points.
    """

    points: NDArray[np.float32]
    along: NDArray[np.float32]
    normals: NDArray[np.float32]
    other_normals: NDArray[np.float32]
    sides: NDArray[np.float32]
    triangles: NDArray[np.int32]


class SurfaceMesh(NamedTuple):
    """Surface of triangles, counter-clockwise seen from outside.

    Attributes
    ----------
    points : (m, 3) float32
    triangles : (t, 3) int32
    """

    points: NDArray[np.float32]
    triangles: NDArray[np.int32]


def sphere_lines(segments: int) -> RibbonMesh:
    """Return three great circles, one around each axis, of the given number of segments each."""
    points, along, ends = _great_circles(segments)
    return _ribbons(points, along, points, points, ends)


def sphere_segments(segments: int) -> NDArray[np.float32]:
    """Return the end points (m, 3) of the segments of these circles, two for each segment."""
    points, _, ends = _great_circles(segments)
    return points[ends.ravel()].astype(np.float32)


def box_lines() -> RibbonMesh:
    """Return the twelve edges of the box."""
    start, end = _CORNERS[_EDGES[:, 0]], _CORNERS[_EDGES[:, 1]]
    axes = _EDGES[:, 1] - _EDGES[:, 0]  # an edge along axis k joins corners that differ by 2^k
    is_next, is_last = (np.eye(3)[(axes.astype(int) // 2 + step) % 3] for step in (1, 2))
    return _separate_lines(start, end, start * is_next, start * is_last)


def box_segments() -> NDArray[np.float32]:
    """Return the end points (24, 3) of these edges, two for each edge."""
    return _CORNERS[_EDGES.ravel()].astype(np.float32)


_CIRCLE_QUARTERS = 4


def cylinder_lines(segments: int) -> RibbonMesh:
    """Return both circles of the cylinder, of the given number of segments, and four lines between them."""
    return _ribbons(*_axial_lines(segments, is_capsule=False))


def cylinder_segments(segments: int) -> NDArray[np.float32]:
    """Return the end points (m, 3) of the segments of these lines, two for each segment."""
    points, *_, ends = _axial_lines(segments, is_capsule=False)
    return points[ends.ravel()].astype(np.float32)


def capsule_lines(segments: int) -> RibbonMesh:
    """Return the lines of the cylinder, and two half circles over each of its ends, from 1 to 2 on Z."""
    return _ribbons(*_axial_lines(segments, is_capsule=True))


def capsule_segments(segments: int) -> NDArray[np.float32]:
    """Return the end points (m, 3) of the segments of these lines, two for each segment."""
    points, *_, ends = _axial_lines(segments, is_capsule=True)
    return points[ends.ravel()].astype(np.float32)


def stretched_capsules(points: Floats, to_world: Floats) -> Floats:
    """Return points (n, m, 3) of capsules in the frames of instances, as the shader computes them.

    Parameters
    ----------
    points : (m, 3) float
        Of the unit mesh.
    to_world : (n, 3, 4) float
        Matrices of the instances.
    """
    sizes = np.sqrt((to_world[:, :, :3] ** 2).sum(axis=1))
    cap = np.divide(sizes[:, 0], sizes[:, 2], out=np.ones(len(sizes)), where=sizes[:, 2] > 0)[:, None]
    height = np.abs(points[:, 2])
    z = np.sign(points[:, 2]) * np.where(height > 1, 1 - cap + cap * (height - 1), (1 - cap) * height)
    result = np.repeat(points[None], len(sizes), axis=0)
    result[..., 2] = z
    return result


def _axial_lines(segments: int, is_capsule: bool) -> tuple[Floats, Floats, Floats, Floats, NDArray[np.int64]]:
    """Return points, directions and both normals (m, 3) there, and the ends (m, 2) of each segment."""
    angles = np.arange(segments) * (2 * np.pi / segments)
    zeros, step = np.zeros(segments), 2 * np.pi / segments
    circle = np.stack([np.cos(angles), np.sin(angles), zeros], axis=1)
    tangent = np.stack([-np.sin(angles), np.cos(angles), zeros], axis=1) * step
    loop = np.stack([np.arange(segments), np.roll(np.arange(segments), -1)], axis=1)
    corners = circle[:: segments // _CIRCLE_QUARTERS]
    up = np.array([0.0, 0.0, 1.0])
    parts = []
    for sign in (1.0, -1.0):
        # A circle of a cylinder is also an edge of its flat end.
        other = circle if is_capsule else np.broadcast_to(sign * up, circle.shape)
        parts.append((circle + sign * up, tangent, circle, other, loop))
    sides = np.stack([corners - up, corners + up], axis=1).reshape(-1, 3)
    outward = corners.repeat(2, axis=0)
    lines = np.arange(len(sides)).reshape(-1, 2)
    parts.append((sides, np.broadcast_to(2 * up, sides.shape), outward, outward, lines))
    if is_capsule:
        half = np.arange(segments // 2 + 1)
        turn = half[:, None] * step
        chain = np.stack([half[:-1], half[1:]], axis=1)
        for sign in (1.0, -1.0):
            for across in np.eye(3)[:2]:
                normal = np.cos(turn) * across + np.sin(turn) * sign * up
                along = (np.cos(turn) * sign * up - np.sin(turn) * across) * step
                parts.append((normal + sign * up, along, normal, normal, chain))
    starts = np.cumsum([0, *(len(part[0]) for part in parts)])
    columns = [np.concatenate([part[k] for part in parts]) for k in range(4)]
    ends = np.concatenate([part[4] + start for part, start in zip(parts, starts, strict=False)])
    return columns[0], columns[1], columns[2], columns[3], ends


def segment_lines() -> RibbonMesh:
    """Return the segment."""
    zero = np.zeros((1, 3))
    return _separate_lines(zero, np.array([[0.0, 0.0, 1.0]]), zero, zero)


def segment_ends() -> NDArray[np.float32]:
    """Return the end points (2, 3) of the segment."""
    return np.array([[0, 0, 0], [0, 0, 1]], dtype=np.float32)


def sphere_faces(segments: int) -> SurfaceMesh:
    """Return a sphere of the given number of meridians, and half as many rings."""
    rings = segments // 2
    polar = np.arange(rings + 1)[:, None] * (np.pi / rings)
    angles = np.arange(segments)[None] * (2 * np.pi / segments)
    sine = np.sin(polar)
    points = np.stack(
        [sine * np.cos(angles), sine * np.sin(angles), np.repeat(np.cos(polar), segments, 1)], -1
    )
    return _grid_faces(points)


def capsule_faces(segments: int) -> SurfaceMesh:
    """Return a capsule of the given number of meridians, a multiple of four; see the module for its form."""
    sphere = sphere_faces(segments)
    up = np.array([0.0, 0.0, 1.0])
    rows = len(sphere.points) // segments
    upper = sphere.points.reshape(rows, segments, 3)[: rows // 2 + 1] + up
    lower = sphere.points.reshape(rows, segments, 3)[rows // 2 :] - up
    points = np.concatenate([upper, lower])
    return _grid_faces(points)


def cylinder_faces(segments: int) -> SurfaceMesh:
    """Return a cylinder with the given number of sides."""
    angles = np.arange(segments) * (2 * np.pi / segments)
    circle = np.stack([np.cos(angles), np.sin(angles), np.zeros(segments)], axis=1)
    up = np.array([0.0, 0.0, 1.0])
    return _grid_faces(
        np.stack([np.tile(up, (segments, 1)), circle + up, circle - up, np.tile(-up, (segments, 1))])
    )


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


def box_faces() -> SurfaceMesh:
    """Return the six faces of the box, two triangles each."""
    quads = []
    for axis in range(3):
        one, two = 1 << (axis + 1) % 3, 1 << (axis + 2) % 3
        for start in (0, 1 << axis):
            loop = [start, start | one, start | one | two, start | two]
            quads.append(loop if start else loop[::-1])
    triangles = [(a, b, c) for a, b, c, _ in quads] + [(a, c, d) for a, _, c, d in quads]
    return SurfaceMesh(_CORNERS.astype(np.float32), np.array(triangles, dtype=np.int32))


def _great_circles(segments: int) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return points (m, 3), directions there (m, 3), and the indices of both ends (m, 2) of each segment."""
    angles = np.arange(segments) * (2 * np.pi / segments)
    zeros = np.zeros(segments)
    circle = np.stack([np.cos(angles), np.sin(angles), zeros], axis=1)
    tangent = np.stack([-np.sin(angles), np.cos(angles), zeros], axis=1) * (2 * np.pi / segments)
    begin = np.arange(3 * segments)
    end = np.roll(begin.reshape(3, -1), -1, axis=1).ravel()
    points, along = (
        np.concatenate([np.roll(values, k, axis=1) for k in range(3)]) for values in (circle, tangent)
    )
    return points, along, np.stack([begin, end], axis=1)


def _separate_lines(start: Floats, end: Floats, normals: Floats, other_normals: Floats) -> RibbonMesh:
    """Return ribbons of straight lines that share no points."""
    points = np.stack([start, end], axis=1).reshape(-1, 3)
    along, normals, other_normals = (
        np.repeat(values, 2, axis=0) for values in (end - start, normals, other_normals)
    )
    return _ribbons(points, along, normals, other_normals, np.arange(len(points)).reshape(-1, 2))


def _ribbons(
    points: Floats, along: Floats, normals: Floats, other_normals: Floats, segments: NDArray[np.int64]
) -> RibbonMesh:
    """Return two triangles for each of the segments (s, 2) between points."""
    left_begin, left_end = 2 * segments.T
    triangles = [(left_begin, left_begin + 1, left_end), (left_end, left_begin + 1, left_end + 1)]
    points, along, normals, other_normals = (
        values.repeat(2, axis=0) for values in (points, along, normals, other_normals)
    )
    return RibbonMesh(
        points.astype(np.float32),
        along.astype(np.float32),
        normals.astype(np.float32),
        other_normals.astype(np.float32),
        np.tile(np.array([-1, 1], dtype=np.float32), len(points) // 2),
        np.concatenate([np.stack(each, axis=1) for each in triangles]).astype(np.int32),
    )
