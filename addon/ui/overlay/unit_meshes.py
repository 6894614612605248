"""Unit meshes, of which everything in the overlay is an instance that the graphics card moves and scales.

A sphere of radius 1 and a box of half extents 1 around the origin, and a segment from there to (0, 0, 1).
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


def segment_lines() -> RibbonMesh:
    """Return the segment."""
    zero = np.zeros((1, 3))
    return _separate_lines(zero, np.array([[0.0, 0.0, 1.0]]), zero, zero)


def sphere_faces(segments: int) -> SurfaceMesh:
    """Return a sphere of the given number of meridians, and half as many rings."""
    rings = segments // 2
    polar = np.arange(rings + 1)[:, None] * (np.pi / rings)
    angles = np.arange(segments)[None] * (2 * np.pi / segments)
    sine = np.sin(polar)
    points = np.stack(
        [sine * np.cos(angles), sine * np.sin(angles), np.repeat(np.cos(polar), segments, 1)], -1
    )
    index = np.arange((rings + 1) * segments).reshape(rings + 1, segments)
    current, next_one = index[:-1], np.roll(index, -1, axis=1)[:-1]
    below, across = index[1:], np.roll(index, -1, axis=1)[1:]
    # At the poles one of the two triangles of a quad has no area, so it is dropped.
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
