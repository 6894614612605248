"""The overlap of two meshes at one frame: where their surfaces cross, what is inside, and how deep.

Triangles that cross the other mesh are cut along the crossing, so that only what is inside counts.
"""

from __future__ import annotations

from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from mathutils.geometry import delaunay_2d_cdt

from ...core import Meshes, overlap_depth
from ...core.distance.crossing_curves import (
    NearTriangles,
    are_inside_mesh,
    crossing_segments,
)
from ...core.numeric.arrays import Floats, Ints, Table, cross, dot, length, normalized, transform_points

_MUCH_LARGER = 2.0
"""Factor of the size of a mesh, above which the other one is around it, as a floor or a hall is."""
_MERGED = 1e-6
"""Part of the size of a triangle within which points of its cut are one."""


class MeshOverlap(NamedTuple):
    """The overlap of two meshes at one frame, in world space.

    surfaces : (m, 3, 3) float64. Corners of all triangles of both, but not of a mesh that is much larger than
        the other one, or has very many.
    curve : (k, 2, 3) float64. Ends of segments along which the surfaces cross.
    inside : (n, 3, 3) float64. Corners of triangles of either that are inside the other: whole ones, and
        pieces of those that cross it.
    depth : Depth as in a scan; negative for the gap of meshes that are apart, NaN where neither is closed.
    ends : (2, 3) float64. The deepest vertex and the nearest point of the surface around it, or both ends of
        the gap: first that of the first mesh.
    """

    surfaces: Floats
    curve: Floats
    inside: Floats
    depth: float
    ends: Floats


def find_overlap(a: Meshes, b: Meshes) -> MeshOverlap:
    """Find the overlap of two meshes (1,) in one space. Depth and gap are those of `overlap_depth`."""
    depth, witness = overlap_depth(a, b)
    ends = np.stack([witness.on_a[0], witness.on_b[0]])
    radii = [each.around()[1][0] for each in (a, b)]
    surfaces = [np.empty((0, 3, 3))]
    for mesh, radius, other in zip((a, b), radii, reversed(radii), strict=True):
        if radius <= _MUCH_LARGER * other and not mesh.are_balls[0] and not mesh.are_very_large[0]:
            kind = mesh.nodes[0]
            surfaces.append(transform_points(mesh.matrix[0], kind.points)[kind.given])
    curve, inside = np.empty((0, 2, 3)), np.empty((0, 3, 3))
    if not depth[0] < 0 and not (a.are_balls | b.are_balls)[0]:
        near = NearTriangles.of(a, b), NearTriangles.of(b, a)
        segments = crossing_segments(*near)
        curve, parts = segments.ends, [inside]
        for triangles, crossed, other in zip(near, (segments.a, segments.b), (b, a), strict=True):
            if not other.have_inside[0]:
                continue
            pieces = np.delete(triangles.corners, crossed, axis=0)
            if len(crossed):
                pieces = np.concatenate([pieces, _cut(triangles.corners, crossed, segments.ends)])
            # None of them crosses the other surface, so that one point decides.
            parts.append(pieces[are_inside_mesh(other, pieces.mean(axis=1))])
        inside = np.concatenate(parts)
    return MeshOverlap(np.concatenate(surfaces), curve, inside, float(depth[0]), ends)


class _Planes(Table):
    """Planes of triangles (m,): an origin, two axes, and the size of the triangle, that is 1 in the plane."""

    origin: Floats
    u: Floats
    v: Floats
    size: Floats

    @classmethod
    def of(cls, corners: Floats) -> _Planes:
        """Return the planes of triangles (m, 3, 3)."""
        along, other = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        v = normalized(cross(cross(along, other), along))
        return cls(corners[:, 0], normalized(along), v, np.maximum(length(along), length(other)))

    def flat(self, points: Floats) -> Floats:
        """Return coordinates (m, k, 2) of points (m, k, 3) of each."""
        offset = (points - self.origin[:, None]) / self.size[:, None, None]
        return np.stack([dot(offset, self.u[:, None]), dot(offset, self.v[:, None])], axis=-1)

    def points(self, flat: Floats) -> Floats:
        """Return the points (m, k, 3) at coordinates (m, k, 2) of each."""
        x, y = np.moveaxis(flat * self.size[:, None, None], -1, 0)[..., None]
        return np.asarray(self.origin[:, None] + x * self.u[:, None] + y * self.v[:, None])


def _cut(corners: Floats, crossed: Ints, ends: Floats) -> Floats:
    """Cut triangles (t, 3, 3) along segments (k, 2, 3), each of one of them (k,), into pieces (n, 3, 3)."""
    order = np.argsort(crossed, kind="stable")
    triangle, first, count = np.unique(crossed[order], return_index=True, return_counts=True)
    planes, rows = _Planes.of(corners[triangle]), np.arange(len(triangle))
    flat = planes.flat(corners[triangle]).tolist()
    points = planes.take(rows.repeat(count)).flat(ends[order]).tolist()
    places: list[float] = []
    pieces: list[int] = []
    counts = []
    for row, begin, many in zip(rows.tolist(), first.tolist(), count.tolist(), strict=True):
        given = [*flat[row], *chain.from_iterable(points[begin : begin + many])]
        edges = [(0, 1), (1, 2), (2, 0), *((3 + 2 * k, 4 + 2 * k) for k in range(many))]
        # Annotated because the type stubs give lists of vectors, which are sequences of numbers.
        cut: Any = delaunay_2d_cdt(given, edges, [], 0, _MERGED)
        places.extend(chain.from_iterable(cut[0]))
        pieces.extend(chain.from_iterable(cut[2]))
        counts.append((len(cut[0]), len(cut[2])))
    found_count, piece_count = np.array(counts, dtype=np.int64).reshape(-1, 2).T
    first_found = (np.cumsum(found_count) - found_count).repeat(piece_count)
    corner = np.array(pieces, dtype=np.int64).reshape(-1, 3) + first_found[:, None]
    return planes.take(rows.repeat(piece_count)).points(np.array(places).reshape(-1, 2)[corner])
