"""A sphere around each part of a mesh, down to its triangles, and the walk down two meshes at once.

The parts are those of the sphere tree around the mesh at rest. A mesh that moves as a whole carries its
spheres along; for one that deforms they are made anew around the same parts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from .arrays import Floats, Ints, length, transform_points
from .separation_triangles import corners_of, triangles_of
from .shapes import Sphere, Triangle
from .sphere_tree import SphereTree, level_starts, ranges
from .triangle_mesh import TriangleMesh

_FIRST_PAIRS, _MOST_PAIRS = 32, 4096
"""Pairs of nodes looked at together: few while it is about to find anything, ever more after that."""

_MOST_VALUES = 512
"""Pairs of triangles that are solved together at most, the most likely first."""


class MeshNodes(NamedTuple):
    """The nodes of a sphere tree, m of them, and after them the t triangles in the order of the tree.

    center, radius : (m + t, 3) and (m + t,), of spheres around the triangles of each
    near : (m + t,) one of the triangles comes that close to the centre; 0 for a triangle
    first, below : (m + t,) the nodes right below are so many from `first` on; none below a triangle
    corners : (t, 3, 3)
    """

    center: Floats
    radius: Floats
    near: Floats
    first: Ints
    below: Ints
    corners: Floats

    @classmethod
    def around(cls, tree: SphereTree, corners: Floats) -> MeshNodes:
        """The nodes of a tree that was made around other corners (t, 3, 3) of the same triangles."""
        ordered = corners[tree.order]
        nodes = len(tree.children)
        is_leaf = tree.children[:, 0] < 0
        first = np.where(is_leaf, nodes + tree.parts[:, 0], tree.children[:, 0])
        count = np.where(is_leaf, tree.parts[:, 1] - tree.parts[:, 0], 2)
        middle = ordered[:, 0] / 3 + ordered[:, 1] / 3 + ordered[:, 2] / 3
        reach = length(ordered - middle[:, None]).max(axis=1)
        center, radius, near = np.empty((nodes, 3)), np.empty(nodes), np.empty(nodes)
        low, high = np.empty((nodes, 3)), np.empty((nodes, 3))
        leaves = np.flatnonzero(is_leaf)
        leaves = leaves[np.argsort(tree.parts[leaves, 0])]
        starts, sizes = tree.parts[leaves, 0], count[leaves]
        low[leaves] = np.minimum.reduceat(ordered.min(axis=1), starts)
        high[leaves] = np.maximum.reduceat(ordered.max(axis=1), starts)
        center[leaves] = low[leaves] * 0.5 + high[leaves] * 0.5
        around = center[leaves].repeat(sizes, axis=0)
        radius[leaves] = np.maximum.reduceat(length(ordered - around[:, None]).max(axis=1), starts)
        near[leaves] = np.minimum.reduceat(length(middle - around), starts)
        levels = level_starts(tree.children)
        for start, end in zip(levels[-3::-1], levels[-2:0:-1], strict=True):
            node = start + np.flatnonzero(~is_leaf[start:end])
            below = tree.children[node]
            low[node], high[node] = low[below].min(axis=1), high[below].max(axis=1)
            center[node] = low[node] * 0.5 + high[node] * 0.5
            away = length(center[below] - center[node][:, None])
            radius[node] = np.minimum((away + radius[below]).max(axis=1), length(high[node] - center[node]))
            near[node] = (away + near[below]).min(axis=1)
        none = np.zeros(len(ordered), dtype=np.int64)
        return cls(
            np.concatenate([center, middle]),
            np.concatenate([radius, reach]) * (1 + 64 * np.finfo(np.float64).eps),
            np.concatenate([near, np.zeros(len(ordered))]),
            np.concatenate([first, none]),
            np.concatenate([count, none]),
            ordered,
        )


@dataclass(frozen=True, eq=False)
class PosedMesh:
    """A mesh somewhere in the world: its nodes, and the affine matrix (4, 4) that they are moved by, if any.

    order : (t,) which triangle of the mesh is at each place
    """

    nodes: MeshNodes
    order: Ints
    matrix: Floats | None = None

    @classmethod
    def of(cls, mesh: TriangleMesh, matrix: Floats | None = None) -> PosedMesh:
        """The mesh as it is, or moved."""
        tree = mesh.parts.tree
        return cls(MeshNodes.around(tree, corners_of(mesh.triangles)), tree.order, matrix)

    @cached_property
    def stretch(self) -> float:
        """What lengths grow by at most."""
        return 1.0 if self.matrix is None else float(Sphere(np.zeros(3), 1.0).transformed(self.matrix).radius)

    def spheres(self, nodes: Ints) -> Sphere:
        """Around nodes (n,), but for what rounding moves their centres by."""
        center, radius = self.nodes.center[nodes], self.nodes.radius[nodes]
        if self.matrix is not None:
            center, radius = transform_points(self.matrix, center), radius * self.stretch
        return Sphere.trusted(center, radius)

    def near(self, nodes: Ints) -> Floats:
        """(n,) so close to the centres of those spheres comes one of the triangles."""
        near: Floats = self.nodes.near[nodes] * self.stretch
        return near

    def corners(self, places: Ints | slice = slice(None)) -> Floats:
        """(n, 3, 3) of the triangles at some places in the order of the tree, by default all."""
        corners = self.nodes.corners[places]
        return corners if self.matrix is None else transform_points(self.matrix, corners)

    def triangles(self, nodes: Ints) -> Triangle:
        """Those that nodes (n,) are."""
        return triangles_of(self.corners(self.places(nodes)))

    def places(self, nodes: Ints) -> Ints:
        """Where in the order of the tree the triangles are that nodes (n,) stand for; negative for a part."""
        return nodes - (len(self.nodes.first) - len(self.order))


Bounds: TypeAlias = Callable[[Ints, Ints, float], tuple[Ints, Floats, Floats, Floats]]
"""Of pairs of nodes and a value that some pair does not exceed: the rows (n,) that may have the least value,
what no triangles below them fall short of, what some do not exceed, and a number that is low where it pays to
look first.
"""

Values: TypeAlias = Callable[[Ints, Ints, Floats, float], tuple[float, int]]
"""Of pairs of nodes that are triangles, with their bounds from below and the least value so far: the least
value and which of the pairs has it, or NaN.
"""


def least_pair(
    a: MeshNodes, b: MeshNodes, bounds: Bounds, values: Values, limit: float
) -> tuple[float, int, int]:
    """The least value of a triangle of one and one of the other, below `limit`, and the two nodes.

    `limit` and -1 where there is none.
    """
    best, best_a, best_b = limit, -1, -1
    # What is known to be reached, though not yet where.
    reached = limit
    waiting = _Waiting(np.zeros(1, np.int64), np.zeros(1, np.int64), np.full(1, -np.inf), np.zeros(1))
    take = _FIRST_PAIRS
    while len(waiting.i):
        now, waiting = waiting.parted(take)
        ends = (a.below[now.i] == 0) & (b.below[now.j] == 0)
        pairs, inner = now.picked(np.flatnonzero(ends)), now.picked(np.flatnonzero(~ends))
        pairs = pairs.picked(pairs.low.argsort(kind="stable"))
        start, size = 0, _FIRST_PAIRS
        while start < len(pairs.i) and pairs.low[start] < best:
            some = pairs.picked(slice(start, start + size))
            start, size = start + size, min(2 * size, _MOST_VALUES)
            value, row = values(some.i, some.j, some.low, best)
            if value < best:
                best, best_a, best_b = value, int(some.i[row]), int(some.j[row])
                reached = min(reached, best)
        if len(inner.i):
            i, j = _below(a, b, inner.i, inner.j)
            rows, low, high, promise = bounds(i, j, reached)
            reached = min(reached, float(high.min(initial=np.inf)))
            waiting = waiting.joined(_Waiting(i[rows], j[rows], low, promise))
        waiting = waiting.picked(np.flatnonzero((waiting.low < best) & (waiting.low <= reached)))
        take = min(2 * take, _MOST_PAIRS)
    return best, best_a, best_b


class _Waiting(NamedTuple):
    """Pairs of nodes that are to be looked at, see Bounds."""

    i: Ints
    j: Ints
    low: Floats
    promise: Floats

    def picked(self, rows: Ints | slice) -> _Waiting:
        return _Waiting(self.i[rows], self.j[rows], self.low[rows], self.promise[rows])

    def joined(self, other: _Waiting) -> _Waiting:
        i, j = np.concatenate([self.i, other.i]), np.concatenate([self.j, other.j])
        return _Waiting(
            i, j, np.concatenate([self.low, other.low]), np.concatenate([self.promise, other.promise])
        )

    def parted(self, count: int) -> tuple[_Waiting, _Waiting]:
        """The `count` that promise most, and the rest."""
        if len(self.i) <= count:
            return self, self.picked(np.empty(0, dtype=np.int64))
        order = np.argpartition(self.promise, count)
        return self.picked(order[:count]), self.picked(order[count:])


def _below(a: MeshNodes, b: MeshNodes, i: Ints, j: Ints) -> tuple[Ints, Ints]:
    """Pairs of nodes below pairs that are not both triangles: the larger one makes way for its parts.

    So does the other, if it is about as large and the two have few parts.
    """
    parts_a, parts_b = a.below[i], b.below[j]
    size_a, size_b = (np.where(p > 0, x, -1.0) for p, x in ((parts_a, a.radius[i]), (parts_b, b.radius[j])))
    few = parts_a * parts_b <= 4
    splits_a = (parts_a > 0) & ((size_a >= size_b) | (few & (2 * size_a >= size_b)))
    splits_b = (parts_b > 0) & ((size_b > size_a) | (few & (2 * size_b >= size_a)))
    first_a, count_a = np.where(splits_a, a.first[i], i), np.where(splits_a, parts_a, 1)
    first_b, count_b = np.where(splits_b, b.first[j], j), np.where(splits_b, parts_b, 1)
    below_a = ranges(first_a, count_a)
    first_b, count_b = first_b.repeat(count_a), count_b.repeat(count_a)
    return below_a.repeat(count_b), ranges(first_b, count_b)
