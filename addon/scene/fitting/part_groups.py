"""Parts of subjects as groups of vertices, for the shapes of several parts that scans test and views show."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...core import obb_from_points
from ...core.numeric.arrays import Floats, Ints
from ..settings import DrawnShape
from ..subjects.geometry import SubjectGeometry
from .convex_pieces import depth_in_object, is_split, split_points
from .fit import PartVertices, points_for_search
from .tree_parts import leaf_vertices


def part_vertices(
    shape: DrawnShape,
    source: SubjectGeometry,
    faces: NDArray[np.int32] | None = None,
    most: int | None = None,
    only_known: bool = False,
) -> PartVertices:
    """Group the vertices of a subject by the leaves of its sphere tree, or by its convex parts.

    Conservative: each triangle is in the hull of the vertices of a group, or in the union of several with
    points on cuts.

    shape : "spheres" or "compound"; raises ValueError for others
    faces : (t,) int32, face of each triangle, for a mesh that deforms; see `leaf_vertices`. Its parts are
        groups of whole faces, which are not cut
    most : largest number of groups
    only_known : whether a mesh that was not split lately is one convex part, because a split takes about a
        second
    """
    if shape not in _GROUPS:
        raise ValueError(f"shape {shape!r} has no parts")
    return _GROUPS[shape](source, faces, most, only_known)


def _leaves(
    source: SubjectGeometry, faces: NDArray[np.int32] | None, most: int | None, only_known: bool
) -> PartVertices:
    """Group vertices by the leaves of a sphere tree, which is always quick."""
    scaled = points_for_search(source.geometry.points, source.geometry.matrix[:3, :3])
    return leaf_vertices(scaled, source.triangles, source.fit.depth, faces, most)


def _convex_parts(
    source: SubjectGeometry, faces: NDArray[np.int32] | None, most: int | None, only_known: bool
) -> PartVertices:
    """Group vertices by convex parts."""
    points, triangles, fit = source.geometry.points, source.triangles, source.fit
    count = fit.parts if most is None else min(fit.parts, most)
    if count < 2 or not len(triangles) or not np.isfinite(points).all():
        return PartVertices.whole(len(points))
    depth = depth_in_object(fit.parts_tolerance, source.geometry.matrix[:3, :3])
    if only_known and not is_split(points, triangles, count, depth):
        return PartVertices.whole(len(points))
    parts = split_points(points, triangles, count, depth)
    if len(parts) == 1:
        return PartVertices.whole(len(points))
    if faces is not None:
        return _faces_by_part(points.astype(np.float64), triangles, faces, parts)
    cuts = np.concatenate(parts)
    rows = np.arange(len(points), len(points) + len(cuts))
    return PartVertices(rows, np.cumsum([0, *map(len, parts)]), cuts, points)


_GROUPS: dict[str, Callable[..., PartVertices]] = {"spheres": _leaves, "compound": _convex_parts}


def _faces_by_part(
    points: Floats, triangles: NDArray[np.int32], faces: NDArray[np.int32], parts: list[Floats]
) -> PartVertices:
    """Group whole faces by the part whose box has their middle, or is nearest to it."""
    _, face_of, counts = np.unique(faces, return_inverse=True, return_counts=True)
    middles = np.zeros((len(counts), 3))
    np.add.at(middles, face_of.reshape(-1), points[triangles].mean(axis=1))
    middles /= counts[:, None]
    outside = []
    for part in parts:
        box = obb_from_points(part)
        outside.append((np.abs((middles - box.center) @ box.rotation) - box.half_extents).max(axis=1))
    part_of = np.argmin(outside, axis=0)[face_of.reshape(-1)]
    groups: list[Ints] = [np.unique(triangles[part_of == k]) for k in range(len(parts))]
    groups = [group for group in groups if len(group)]
    loose = np.setdiff1d(np.arange(len(points)), triangles)
    groups[0] = np.concatenate([groups[0], loose])
    return PartVertices(np.concatenate(groups).astype(np.int64), np.cumsum([0, *map(len, groups)]))
