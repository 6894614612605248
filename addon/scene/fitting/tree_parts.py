"""Parts of a sphere tree as groups of vertices, so that spheres can be fitted again wherever those move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core import Sphere, SphereTree, sphere_tree_from_triangles, spheres_from_groups
from ...core.numeric.arrays import Floats, Ints, dot, transform_vectors
from .fit import PartVertices
from .searches import search_key, searched


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
    centers = tree.center[nodes]
    rows = [_farthest_first(points, each, center) for each, center in zip(groups, centers, strict=True)]
    children = tree.children if len(nodes) == len(tree.leaves) else None
    return parts._replace(rows=np.concatenate(rows), children=children)


def _tree_of(corners: Floats, depth: int) -> SphereTree:
    """Build the sphere tree of triangles (t, 3, 3), once for all subjects with the same."""
    # Each triangle is once in the order; nodes have a sphere, two children and two ends.
    size = 8 * len(corners) + 64 * 2 ** (depth + 1)
    return searched(
        search_key("tree", corners, depth), lambda: sphere_tree_from_triangles(corners, depth), size
    )


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


def _farthest_first(points: NDArray[Any], group: Ints, center: Floats) -> Ints:
    """Order a group (k,) of points (n, 3) so that the quarter farthest from a center (3,) comes first."""
    offset = points[group] - center
    quarter = -(-len(group) // 4)
    if quarter == len(group):
        return group
    return np.asarray(group[np.argpartition(-dot(offset, offset), quarter)])


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
