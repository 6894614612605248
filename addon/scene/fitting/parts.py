"""Parts of subjects: leaves of sphere trees and convex parts, as groups of vertices that scans fit again.

Sphere trees and splits are searched once for all subjects that have the same mesh, and all jobs of a session.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core import Obb, Sphere, SphereTree, obb_from_points, sphere_tree_from_triangles, spheres_from_groups
from ...core.compound.convex_parts import convex_parts_in_steps
from ...core.numeric.arrays import (
    Floats,
    Ints,
    concatenated_ranges,
    dot,
    length,
    require_finite,
    transform_columns,
    transform_vectors,
)
from ...core.progress import run_to_end
from ..settings import DrawnShape, FitSettings
from ..subjects.reader import SubjectGeometry
from .fit import boxes_along
from .searches import known_result, points_for_search, rotations_of, search_key, searched, store_result


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
    points, triangles, fit = source.points, source.triangles, source.fit
    if shape == "spheres":
        scaled = points_for_search(points, source.matrices[0, :3, :3])
        return leaf_vertices(scaled, triangles, fit.depth, faces, most)
    if shape != "compound":
        raise ValueError(f"shape {shape!r} has no parts")
    if most is not None:
        fit = replace(fit, parts=min(fit.parts, most))
    whole, linear = PartVertices.whole(len(points)), source.matrices[0, :3, :3]
    if fit.parts < 2 or not len(triangles) or not np.isfinite(points).all():
        return whole
    if only_known and known_result(_depth_and_key(points, triangles, linear, fit)[1]) is None:
        return whole
    parts = run_to_end(split_in_steps(points, triangles, linear, fit))
    if len(parts) == 1:
        return whole
    if faces is not None:
        return _faces_by_part(points.astype(np.float64), triangles, faces, parts)
    cuts = np.concatenate(parts)
    rows = np.arange(len(points), len(points) + len(cuts))
    return PartVertices(rows, np.cumsum([0, *map(len, parts)]), cuts, points)


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


def leaf_vertices(
    points: NDArray[Any],
    triangles: NDArray[np.int32],
    depth: int = 4,
    faces: NDArray[np.int32] | None = None,
    most: int | None = None,
) -> PartVertices:
    """Group vertices by the leaves of a sphere tree of a maximum depth.

    Every vertex is in a group. Without triangles, or if a vertex of one is not finite, all are in one group.

    points : (n, 3) float64, from `points_for_search`, so that the tree is that of the document
    triangles : (t, 3) int32, vertex indices
    faces : (t,) int32, face of each triangle, for a mesh that deforms: each group has all vertices of its
        faces, because Blender may cut a face into other triangles when it bends
    most : largest number of groups: where there are more leaves, nodes above stand for theirs
    """
    corners = points[triangles].astype(np.float64)
    if not len(triangles) or not np.isfinite(corners).all():
        return PartVertices.whole(len(points))
    tree = _tree_of(corners, depth)
    nodes = tree.leaves if most is None or len(tree.leaves) <= most else _largest_split(tree, most)
    parts = _vertices_of_nodes(tree, nodes, triangles, len(points), faces)
    groups = np.split(parts.rows, parts.offsets[1:-1])
    for number, (group, center) in enumerate(zip(groups, tree.center[nodes], strict=True)):
        # The quarter that is farthest from the center comes first.
        offset, quarter = points[group] - center, -(-len(group) // 4)
        if quarter < len(group):
            groups[number] = group[np.argpartition(-dot(offset, offset), quarter)]
    children = tree.children if len(nodes) == len(tree.leaves) else None
    return parts._replace(rows=np.concatenate(groups), children=children)


def _tree_of(corners: Floats, depth: int) -> SphereTree:
    """Build the sphere tree of triangles (t, 3, 3), once for all subjects with the same."""
    # Each triangle is once in the order; nodes have a sphere, two children and two ends.
    size = 8 * len(corners) + 64 * 2 ** (depth + 1)
    key = search_key("tree", corners, depth)
    return searched(key, lambda: sphere_tree_from_triangles(corners, depth), size)


def _largest_split(tree: SphereTree, most: int) -> Ints:
    """Nodes (k,), at most `most`, that together have all triangles: the largest are split first."""
    nodes = [0]
    while len(nodes) < most:
        inner = [node for node in nodes if tree.children[node, 0] >= 0]
        largest = max(inner, key=lambda node: float(tree.radius[node]))
        nodes.remove(largest)
        nodes += tree.children[largest].tolist()
    return np.array(sorted(nodes))


class TreeVertices(NamedTuple):
    """Vertices of a subject in the leaves of its sphere tree.

    points : (n, 3) float32, in object space
    linear : (3, 3) float64, linear part of the world matrix
    parts : groups of vertices, with `children`
    padding : growth of all spheres
    """

    points: NDArray[Any]
    linear: Floats
    parts: PartVertices
    padding: float

    @property
    def children(self) -> Ints:
        """Children (m, 2) of the nodes."""
        return np.array([[-1, -1]]) if self.parts.children is None else self.parts.children


def inner_spheres(trees: Sequence[TreeVertices]) -> Sphere:
    """Smallest spheres of the inner nodes of several trees, in their order, around the subjects' origins.

    Each holds the vertices of the leaves below its node. Raises CollisionBoundsError.
    """
    points, counts, paddings = [np.zeros((0, 3))], list[int](), list[float]()
    for tree in trees:
        children = tree.children
        inner = np.flatnonzero(children[:, 0] >= 0)
        if not len(inner):
            continue
        rows: list[Any] = [None] * len(children)
        groups = np.split(tree.parts.rows, tree.parts.offsets[1:-1])
        for leaf, group in zip(np.flatnonzero(children[:, 0] < 0).tolist(), groups, strict=True):
            rows[leaf] = group
        for node in inner[::-1].tolist():
            first, second = children[node].tolist()
            rows[node] = np.union1d(rows[first], rows[second])
        placed = transform_vectors(tree.linear, tree.points.astype(np.float64))
        points += [placed[rows[node]] for node in inner.tolist()]
        counts += [len(rows[node]) for node in inner.tolist()]
        paddings += [tree.padding] * len(inner)
    if not counts:
        return Sphere.unchecked(np.zeros((0, 3)), np.zeros(0))
    fitted = spheres_from_groups(np.concatenate(points), np.cumsum([0, *counts]))
    return fitted.padded(np.array(paddings))


def node_vertices(points: Floats, triangles: NDArray[np.int32], depth: int) -> tuple[Ints, PartVertices]:
    """Children (m, 2) of the nodes of a sphere tree, and the vertices of each node; see `leaf_vertices`."""
    if not len(triangles):
        return np.array([[-1, -1]]), PartVertices.whole(len(points))
    tree = _tree_of(points[triangles].astype(np.float64), depth)
    nodes = np.arange(len(tree.children))
    return tree.children, _vertices_of_nodes(tree, nodes, triangles, len(points))


def _vertices_of_nodes(
    tree: SphereTree,
    nodes: Ints,
    triangles: NDArray[np.int32],
    count: int,
    faces: NDArray[np.int32] | None = None,
) -> PartVertices:
    """Vertices of each of some nodes (k,) of a tree around triangles (t, 3) of `count` vertices."""
    rows = [tree.order[slice(*tree.parts[node])] for node in nodes]
    if faces is not None:
        rows = [np.flatnonzero(np.isin(faces, faces[each])) for each in rows]
    groups = [np.unique(triangles[each]) for each in rows]
    # Vertices without a triangle belong to the first part and to all parts that contain it, because a bound
    # encloses them too.
    loose = np.setdiff1d(np.arange(count), triangles)
    for index in np.flatnonzero(tree.parts[nodes, 0] == 0).tolist():
        groups[index] = np.concatenate([groups[index], loose])
    return PartVertices(np.concatenate(groups).astype(np.int64), np.cumsum([0, *map(len, groups)]))


def convex_pieces(piece: SubjectGeometry, fit: FitSettings) -> list[SubjectGeometry]:
    """Split a subject into convex parts, each with the vertices of its own hull.

    The hulls of the parts together hold every triangle of the subject. Subjects without triangles, such as
    custom shapes, stay whole. Raises CollisionBoundsError if vertices are not finite.
    """
    if fit.parts == 1 or not len(piece.triangles):
        return [piece]
    parts = run_to_end(split_in_steps(piece.points, piece.triangles, piece.matrices[0, :3, :3], fit))
    return [piece] if len(parts) == 1 else [piece._replace(points=part) for part in parts]


def split_pieces(pieces: Iterable[SubjectGeometry], fit: FitSettings) -> Generator[float, None, None]:
    """Split subjects ahead of `convex_pieces` in steps, so that a window can stop; yields the share done.

    Those that cannot be split are left to that.
    """
    with_faces = (piece for piece in pieces if fit.parts > 1 and len(piece.triangles))
    remaining = [piece for piece in with_faces if np.isfinite(piece.points).all()]
    for number, piece in enumerate(remaining):
        for share in split_in_steps(piece.points, piece.triangles, piece.matrices[0, :3, :3], fit):
            yield (number + share) / len(remaining)


def split_in_steps(
    points: NDArray[Any], triangles: NDArray[Any], linear: Floats, fit: FitSettings
) -> Generator[float, None, list[NDArray[Any]]]:
    """Split a mesh into convex parts, each with the points (k, 3) of its own hull; yields the share done.

    A mesh that was split lately is not split again. Raises CollisionBoundsError if points are not finite.

    points : (n, 3) float. In object space.
    linear : (3, 3) float64. Linear part of the world matrix.
    fit : With the largest number of parts, and the depth of notches up to which parts are not split further.
    """
    depth, key = _depth_and_key(points, triangles, linear, fit)
    known: list[NDArray[Any]] | None = known_result(key)
    if known is not None:
        return known
    require_finite(points, "vertices")
    parts = yield from convex_parts_in_steps(points.astype(np.float64)[triangles], fit.parts, depth)
    loose = np.setdiff1d(np.arange(len(points)), triangles)
    if len(loose):
        # Vertices of no triangle are in the part whose middle is nearest.
        far = [length(points[loose] - part.mean(axis=0)) for part in parts]
        nearest = np.argmin(far, axis=0)
        parts = [np.concatenate([part, points[loose[nearest == k]]]) for k, part in enumerate(parts)]
    # Points of cuts are float64, as those of merged collections.
    return store_result(key, parts, sum(part.nbytes for part in parts))


def _depth_and_key(
    points: NDArray[Any], triangles: NDArray[Any], linear: Floats, fit: FitSettings
) -> tuple[float, bytes]:
    """Depth of notches in the unit of the points, and the key of the parts of a mesh."""
    # Scale makes notches at most as deep in the world.
    scale = float(np.linalg.norm(linear, 2)) if fit.parts_tolerance else 0.0
    depth = fit.parts_tolerance / scale if scale > 0 else 0.0
    return depth, search_key("parts", points, triangles, fit.parts, depth)


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
