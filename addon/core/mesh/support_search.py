"""Search of pairs of triangles by heights of all triangles along one direction, for each pair of meshes.

Of surfaces that face each other as convex ones do, hardly any triangles reach as far along the line between
the closest points as these. So the heights of all triangles along that line leave few pairs to solve. Where
many are left, as of surfaces that interlock, the trees have to be searched.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property

import numpy as np

from ..numeric.arrays import (
    Bools,
    Floats,
    Ints,
    Table,
    chunks_by_cost,
    concatenated_ranges,
    dot,
    largest_component,
    transform_vectors,
)
from ..numeric.tolerances import DISTANCE_ROUNDING
from ..progress import pause
from .mesh_bvh import MeshBvh
from .node_pool import MovingNodes, PosedNodes
from .pair_search import MeshPairSearch, QueuedPairs

_LEAST_TRIANGLES, _MOST_TRIANGLES = 1 << 12, 1 << 12
"""Triangles of all pairs together below which the trees are searched at once, and of one pair above which."""
_FAR = 1e3
"""Multiple of rounding that values are above where no contact is searched for."""
_HEIGHTS_AT_ONCE = 1 << 19
_DIRECTIONS = 7
"""Directions, at most, along which heights are computed."""
_MOST_OF_MESH = 64
"""Triangles of a mesh, at most, that are compared with those of the other one."""
_MOST_OF_BOXES = 256
"""Pairs of triangles of a pair of meshes, at most, whose boxes are compared."""
_HIGHEST = 3
"""Triangles of a mesh that are compared where there are more."""
_LESS = 0.9
"""Part of the values that are possible, to which these have to shrink so that a direction has helped."""
_FEW, _MORE, _SOLVED = 16, 128, 6
"""Pairs of triangles that are all solved, if they are few or the best ones do not help; and these."""


class _Candidates(Table):
    """Triangles (k,) of one mesh of pairs in rows, sorted by these, the most promising ones first.

    place : (k,) int64. Place of the pair.
    node : (k,) int64. Node of the triangle.
    low : (k,) float64. Lower bound of the values with any triangle of the other mesh.
    first, last : (k,) float64. Height at the start and at the end.
    """

    place: Ints
    node: Ints
    low: Floats
    first: Floats
    last: Floats


class Heights:
    """Heights of all triangles of meshes in rows (r,) along unit vectors (r, 3).

    first, last : (r,) float64. The largest heights of each mesh at both ends of the times that matter.
    """

    def __init__(self, nodes: MovingNodes, rows: Ints, along: Floats, times: tuple[Floats, Floats]) -> None:
        kinds = nodes.kinds_of(nodes.start)[rows], nodes.kinds_of(nodes.end)[rows]
        is_moving = nodes.end is not nodes.start
        self.first, self.last = np.empty(len(rows)), np.empty(len(rows))
        self._groups: list[tuple[Ints, Ints, Floats, Floats]] = []
        keys = kinds[0] * len(nodes.pool.kinds) + kinds[1]
        order = np.argsort(keys, kind="stable")
        for places in np.split(order, np.flatnonzero(np.diff(keys[order])) + 1):
            each = [nodes.pool.kinds[kind[places[0]]] for kind in kinds]
            sides = [
                _heights(mesh, posed, rows[places], along[places])
                for mesh, posed in zip(each, (nodes.start, nodes.end)[: 1 + is_moving], strict=False)
            ]
            if is_moving:
                # Heights of corners that move in straight lines are linear in time.
                sides = [sides[0] * (1 - time[places]) + sides[1] * time[places] for time in times]
            sides = [
                np.maximum.reduce([heights[corner] for corner in each[0].triangles.T]) for heights in sides
            ]
            self.first[places], self.last[places] = sides[0].max(axis=0), sides[-1].max(axis=0)
            self._groups.append((places, each[0].leaves, sides[0], sides[-1]))

    def largest(self, places: Ints) -> tuple[Floats, Floats]:
        """Return the largest heights at both ends of meshes at some places."""
        return self.first[places], self.last[places]

    def candidates(
        self, low_of: Callable[[Ints, tuple[Floats, Floats]], Floats], most: Floats
    ) -> tuple[_Candidates, Bools]:
        """Find the triangles that may have values below the most (r,); of many, the highest alone.

        low_of : function of places (k,), and of heights (t, k) at both ends, that bounds their values
        Also returns of which pairs (r,) there are many.
        """
        found: list[_Candidates] = []
        is_many = np.zeros(len(most), dtype=bool)
        for places, leaves, first, last in self._groups:
            low = low_of(places, (first, last))
            is_low = low < most[places]
            many = is_low.sum(axis=0) > _MOST_OF_MESH
            is_many[places[many]] = True
            triangle, column = np.divmod(np.flatnonzero(is_low & ~many), len(places))
            if many.any():
                rows = np.flatnonzero(many)
                highest = np.argpartition(low[:, rows] - first[:, rows], _HIGHEST, axis=0)[:_HIGHEST]
                triangle = np.append(triangle, highest.ravel())
                column = np.append(column, np.tile(rows, _HIGHEST))
            columns = (each[triangle, column] for each in (low, first, last))
            found.append(_Candidates(places[column], leaves[triangle], *columns))
        every = _Candidates.concatenate(found)
        return every.take(np.lexsort((-every.first, every.low, every.place))), is_many


def _heights(mesh: MeshBvh, posed: PosedNodes, rows: Ints, along: Floats) -> Floats:
    """Heights (v, r) of all vertices of a mesh in the poses of rows (r,), along vectors (r, 3)."""
    local = transform_vectors(np.swapaxes(posed.linear[rows], 1, 2), along)
    return np.asarray(mesh.points @ local.T + dot(posed.offset[rows], along))


class SupportSearch(MeshPairSearch):
    """Search of pairs of triangles whose values are bounded by gaps along one direction.

    tries : Directions in a row that do not help, after which many pairs of triangles are solved.
    """

    tries = 1

    @cached_property
    def _rounding(self) -> Floats:
        """Rounding (m,) of the heights of pairs."""
        size = np.zeros(len(self.best))
        for moving in (self._a, self._b):
            for nodes in (moving.start, moving.end):
                center, radius = moving.around(nodes)
                size = np.maximum(size, largest_component(center) + radius)
        return DISTANCE_ROUNDING * size

    @abstractmethod
    def directions(self, rows: Ints) -> Floats:
        """Choose unit vectors (r, 3) along which pairs of meshes (r,) are probably apart."""

    @abstractmethod
    def lowest_values(self, rows: Ints, first: Floats, last: Floats) -> Floats:
        """Bound values from below by gaps (..., r) along a direction at both ends, of pairs (r,)."""

    def most(self, rows: Ints) -> Floats:
        """Lower bounds (r,) from which on pairs of triangles need not be solved."""
        return np.asarray((self.best - self._slack)[rows])

    def turn(self, rows: Ints) -> None:
        """Choose other directions for pairs (r,)."""

    def remaining(self, rows: Ints) -> Floats:
        """Return the lengths (r,) of the ranges in which values of pairs (r,) are still possible."""
        return self.best[rows]

    def times(self, rows: Ints) -> tuple[Floats, Floats]:
        """Return the times (r,) in [0, 1] between which pairs (r,) are searched."""
        return np.zeros(len(rows)), np.ones(len(rows))

    def narrow(self, rows: Ints, first: Floats, last: Floats) -> Bools:
        """Take note of the gaps of pairs (r,) at both ends of the times that matter, along a direction.

        Returns are_found : (r,) bool. Pairs whose values are known by that.
        """
        return np.zeros(len(rows), dtype=bool)

    @abstractmethod
    def may_be_less(self, pairs: QueuedPairs) -> Bools:
        """Decide of which pairs of triangles (k,) the boxes allow values that are less."""

    def run(self, rows: Ints) -> None:
        """Find the pairs of triangles of pairs of meshes (r,)."""
        sizes = self._a.triangles(rows) + self._b.triangles(rows)
        is_small = (sizes <= _MOST_TRIANGLES) & (sizes.sum() >= _LEAST_TRIANGLES)
        small, left = rows[is_small], [rows[~is_small]]
        for chunk in chunks_by_cost(sizes[is_small], _HEIGHTS_AT_ONCE) if len(small) else ():
            left.append(self._settle(small[chunk]))
        remaining = np.concatenate(left)
        if len(remaining):
            super().run(np.sort(remaining))

    def _settle(self, rows: Ints) -> Ints:
        """Search pairs (r,); returns those for which the heights do not suffice."""
        # Of surfaces that cross, triangles far from the crossing reach farthest: trees find it sooner.
        is_touch = self.best[rows] <= _FAR * self._rounding[rows]
        left = [self._near(rows[is_touch])] if is_touch.any() else []
        rows = rows[~is_touch]
        failures = np.zeros(len(rows), dtype=np.int64)
        for _ in range(_DIRECTIONS):
            if not len(rows):
                break
            pause()
            before = self.remaining(rows)
            pairs, is_all = self._promising(rows, np.where(failures < self.tries, _FEW, _MORE))
            self._solve(pairs)
            is_better = self.remaining(rows) < _LESS * before
            failures = np.where(is_better, 0, failures + 1)
            left.append(rows[~is_all & (failures > self.tries)])
            goes_on = ~is_all & (failures <= self.tries)
            rows, failures = rows[goes_on], failures[goes_on]
            self.turn(rows[failures == 1])
        return np.concatenate([*left, rows])

    def _near(self, rows: Ints) -> Ints:
        """Return which pairs (r,) may have values that are less, by the largest heights alone."""
        of_a, of_b = self._heights(rows)
        low = self._low(rows, (of_a.first, of_a.last), (of_b.first, of_b.last))
        return rows[low < self.best[rows]]

    def _heights(self, rows: Ints) -> tuple[Heights, Heights]:
        """Compute the heights of both meshes of pairs (r,), each towards the other one."""
        along, times = self.directions(rows), self.times(rows)
        of_a, of_b = Heights(self._a, rows, along, times), Heights(self._b, rows, -along, times)
        return of_a, of_b

    def _low(self, rows: Ints, of_a: tuple[Floats, Floats], of_b: tuple[Floats, Floats]) -> Floats:
        """Bound values from below by heights (..., r) of both meshes at both ends, of pairs (r,)."""
        return self.lowest_values(rows, *self._gaps(rows, of_a, of_b))

    def _gaps(
        self, rows: Ints, of_a: tuple[Floats, Floats], of_b: tuple[Floats, Floats]
    ) -> tuple[Floats, Floats]:
        """Compute the gaps (..., r) between heights of both meshes at both ends, of pairs (r,)."""
        first, last = (-(a + b) - self._rounding[rows] for a, b in zip(of_a, of_b, strict=True))
        return first, last

    def _promising(self, rows: Ints, few: Ints) -> tuple[QueuedPairs, Bools]:
        """Return pairs of triangles to solve, and for which rows (r,) these are all that matter.

        few : (r,) numbers of pairs up to which all are returned
        """
        count, most = len(rows), self.most(rows)
        of_a, of_b = self._heights(rows)
        are_found = self.narrow(rows, *self._gaps(rows, (of_a.first, of_a.last), (of_b.first, of_b.last)))
        most[are_found] = -np.inf
        a, is_many = of_a.candidates(lambda at, h: self._low(rows[at], h, of_b.largest(at)), most)
        b, are_many = of_b.candidates(lambda at, h: self._low(rows[at], of_a.largest(at), h), most)
        i, j = _combinations(a.place, b.place)
        place = a.place[i]
        low = self._low(rows[place], (a.first[i], a.last[i]), (b.first[j], b.last[j]))
        kept = np.flatnonzero(low < most[place])
        kept = kept[np.lexsort((low[kept], place[kept]))]
        place = place[kept]
        pairs = QueuedPairs(rows[place], a.node[i[kept]], b.node[j[kept]], low[kept], np.zeros(len(kept)))
        is_tested = (self.nodes[0, rows] >= 0) & (np.bincount(place, minlength=count) <= _MOST_OF_BOXES)
        tested = np.flatnonzero(is_tested[place])
        is_kept = np.ones(len(place), dtype=bool)
        is_kept[tested] = self.may_be_less(pairs.take(tested))
        pairs, place = pairs.take(is_kept), place[is_kept]
        rank = np.arange(len(place)) - np.searchsorted(place, place)
        is_all = ~(is_many | are_many) & (np.bincount(place, minlength=count) <= few)
        return pairs.take(is_all[place] | (rank < _SOLVED)), is_all


def _combinations(a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """Return all combinations (n,) of two sorted lists whose values are equal, as indices."""
    starts = np.searchsorted(b, a)
    sizes = np.searchsorted(b, a, side="right") - starts
    return np.arange(len(a)).repeat(sizes), concatenated_ranges(starts, sizes)
