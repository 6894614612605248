"""Faces of meshes that armatures bend: whether Blender may cut them into other triangles at other times."""

from __future__ import annotations

import numpy as np

from ...core.mesh.quad_cuts import QuadCuts
from ...core.numeric.arrays import Bools, Floats, Ints, concatenated_ranges, cross, dot, length
from ..blender.mesh_data import MeshFaces

_FLAT = 1e-5
"""Part of the size of a face by which a flat one may be off its plane; of two areas, by which they differ."""
_SAME = 1e-9
"""Difference of shares that are the same."""


def quads_to_check(
    faces: MeshFaces, used: Ints, carriers: tuple[Ints, Floats], points: Floats
) -> QuadCuts | None:
    """Return the quads that may be cut in another way where bones bend the mesh; None if other faces may.

    Faces whose corners the same bones carry by the same shares are only moved, turned, scaled and sheared:
    flat ones stay flat, so that all ways to cut them are one surface.

    used : (n,) int64. Vertices of faces, increasing.
    carriers : (n, j) int64 and float64. Bones of these vertices, and their shares.
    points : (n, 3) float64. These vertices at rest.
    """
    corners, count = np.searchsorted(used, faces.corners), np.bincount(faces.of_triangle)
    first = np.cumsum(count + 2) - count - 2
    large = np.flatnonzero(count > 2)
    if len(large) and not _keep_their_planes(corners, first[large], count[large] + 2, carriers, points):
        return None
    quads = np.flatnonzero(count == 2)
    of_quads = corners[first[quads] + np.arange(4)[:, None]]
    a, b, c, d = points[of_quads]
    one, two = cross(b - a, c - a), cross(d - a, c - a)
    is_flat = dot(one, two) < (_FLAT - 1) * length(one) * length(two)
    is_rigid = _have_same_carriers(carriers, of_quads[1:], of_quads[0]).all(axis=0)
    checked = np.flatnonzero(~(is_flat & is_rigid))
    # Of a quad that is cut from its second corner to its fourth, no triangle has both of the others.
    face, triangles = faces.of_triangle[faces.cuts[:, 0]], np.searchsorted(used, faces.cuts[:, 1:])
    is_other = np.zeros(len(count), dtype=bool)
    for place in (0, 2):
        is_other[face] |= (triangles != corners[first[face] + place][:, None]).all(axis=1)
    triangle = (np.cumsum(count) - count)[quads[checked]]
    return QuadCuts(of_quads[:, checked], is_other[quads[checked]], triangle)


def _have_same_carriers(carriers: tuple[Ints, Floats], a: Ints, b: Ints) -> Bools:
    """Mask (...) of pairs of vertices that the same bones carry by the same shares."""
    bones, shares = carriers
    is_same = (bones[a] == bones[b]) & (np.abs(shares[a] - shares[b]) <= _SAME)
    return np.asarray(is_same.all(axis=-1))


def _keep_their_planes(
    corners: Ints, first: Ints, size: Ints, carriers: tuple[Ints, Floats], points: Floats
) -> bool:
    """Decide whether faces (f,) are flat, and stay so: with `size` (f,) corners from `first` (f,) on."""
    members = concatenated_ranges(first, size)
    starts = np.cumsum(size) - size
    after = members + 1
    after[starts + size - 1] = first
    here, anchor = corners[members], corners[first].repeat(size)
    offset = points[here] - points[anchor]
    normal = np.add.reduceat(cross(offset, points[corners[after]] - points[anchor]), starts)
    height = np.abs(dot(offset, normal.repeat(size, axis=0)))
    room = _FLAT * length(normal) * np.maximum.reduceat(length(offset), starts)
    is_flat = (height <= room.repeat(size)).all()
    return bool(is_flat and _have_same_carriers(carriers, here, anchor).all())
