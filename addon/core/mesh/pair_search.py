"""Best-first search of the pairs of triangles of two meshes, for many pairs of meshes at once.

Branch and bound over pairs of nodes. Each pass expands the few most promising pairs of nodes of every pair of
meshes in one batch: so many pairs of meshes take hardly more passes than one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ..numeric.arrays import Floats, Ints, Table, concatenated_ranges, is_run_start
from ..progress import pause
from .node_pool import MovingNodes

_EXPANDED = 1 << 12
"""Pairs of nodes expanded together, at most about: more save little, and may turn out to be needless."""
_DIVING = 8
"""Pairs of nodes of a pair of large meshes that are expanded first in each level."""


class QueuedPairs(Table):
    """Pairs of nodes to expand, (n,) each: pair of meshes, nodes, lower bound and priority.

    The priority is from 0 to 1, where lower is expanded first.
    """

    row: Ints
    i: Ints
    j: Ints
    low: Floats
    priority: Floats


class MeshPairSearch(ABC):
    """Search for the pair of triangles with the smallest value, for each of m pairs of meshes.

    As exact as `values`, where `bounds` are true bounds.

    best : (m,) float64. The smallest value so far, or the limit below which values count.
    nodes : (2, m) int64. The nodes of both triangles, or -1 if there are none.
    reached : (m,) float64. Upper bound of the minimum, from node pairs that are not split yet.
    evaluated : Pairs of triangles that are solved together, at least: with fewer, the calls take longer than
        the pairs.
    """

    evaluated = 1 << 7

    def __init__(self, a: MovingNodes, b: MovingNodes, limit: Floats, slack: Floats | None = None) -> None:
        """Start without values.

        limit : (m,) float64. Only smaller values count.
        slack : (m,) float64. Values that are smaller by less than this need not be found; 0 by default.
        """
        self._a, self._b = a, b
        self._slack = np.zeros(len(limit)) if slack is None else slack
        self.best, self.reached = limit.copy(), limit.copy()
        self.nodes = np.full((2, len(limit)), -1)
        self._are_very_large = a.are_very_large | b.are_very_large

    @abstractmethod
    def bounds(self, row: Ints, i: Ints, j: Ints) -> tuple[Ints, Floats, Floats, Floats]:
        """Bound the values of triangle pairs below nodes (k,) of both meshes of pairs (k,).

        Returns the places (n,) that can contain the minimum, a lower bound for all pairs below them, an upper
        bound for at least one of them, and a priority >= 0, where lower is expanded first.
        """

    @abstractmethod
    def values(self, row: Ints, i: Ints, j: Ints, low: Floats, is_quick: bool) -> tuple[Floats, Floats]:
        """Return the values (k,) of triangle pairs (k,) with these lower bounds; NaN for none.

        Also returns higher lower bounds (k,) of pairs that take too long to be quick, which are solved at
        last; NaN for others.
        """

    def solve(self, rows: Ints, nodes: Ints) -> None:
        """Solve triangles (2, r) of pairs of meshes (r,), of which the values may be small."""
        pairs = QueuedPairs(rows, nodes[0], nodes[1], np.full(len(rows), -np.inf), np.zeros(len(rows)))
        self._solve(pairs)

    def _solve(self, pairs: QueuedPairs) -> None:
        """Solve pairs of triangles, those that take longer last."""
        slow = self._evaluate(pairs, is_quick=True)
        if slow:
            self._evaluate(QueuedPairs.concatenate(slow), is_quick=False)

    def run(self, rows: Ints) -> None:
        """Find the pairs of triangles of pairs of meshes (r,)."""
        self._a.fit_roots(rows)
        self._b.fit_roots(rows)
        # What was found last is expanded first, because it is nearer to triangles, whose values cull others.
        stack = [_roots(rows)]
        pending: list[QueuedPairs] = []
        slow: list[QueuedPairs] = []
        while stack or pending:
            pause()
            if not stack or sum(len(each.row) for each in pending) >= self.evaluated:
                slow += self._evaluate(QueuedPairs.concatenate(pending), is_quick=True)
                pending = []
                continue
            queue = stack.pop()
            is_less = queue.low < (self.best - self._slack)[queue.row]
            queue = queue.take(is_less & (queue.low <= self.reached[queue.row]))
            if not len(queue.row):
                continue
            now, rest = _split(queue)
            if len(rest.row):
                stack.append(rest)
            is_pair = self._a.is_triangle(now.row, now.i) & self._b.is_triangle(now.row, now.j)
            if is_pair.any():
                pending.append(now.take(is_pair))
                now = now.take(~is_pair)
            if len(now.row):
                stack.append(self._expand(now))
        if slow:
            self._evaluate(QueuedPairs.concatenate(slow), is_quick=False)

    def dive(self, rows: Ints) -> None:
        """Solve a few pairs of triangles of pairs of meshes (r,), because their values cull many others.

        They are below the most promising nodes of each level.
        """
        self._a.fit_roots(rows)
        self._b.fit_roots(rows)
        queue = _roots(rows)
        while len(queue.row):
            rank = np.arange(len(queue.row)) - np.searchsorted(queue.row, queue.row)
            queue = queue.take(rank < _DIVING)
            is_pair = self._a.is_triangle(queue.row, queue.i) & self._b.is_triangle(queue.row, queue.j)
            self._evaluate(queue.take(is_pair), is_quick=True)
            queue = queue.take(~is_pair)
            if len(queue.row):
                queue = self._expand(queue)

    def _expand(self, pairs: QueuedPairs) -> QueuedPairs:
        """Return the pairs of children of pairs of nodes that may have the smallest value, in order."""
        row, i, j = self._child_pairs(pairs)
        self._a.fit(row, i)
        self._b.fit(row, j)
        places, low, high, priority = self.bounds(row, i, j)
        row = row[places]
        if len(row):
            starts = np.flatnonzero(is_run_start(row))
            of_row = row[starts]
            self.reached[of_row] = np.minimum(self.reached[of_row], np.minimum.reduceat(high, starts))
        new = QueuedPairs(row, i[places], j[places], low, priority / (1 + priority))
        return new.take(np.argsort(row + 0.999 * new.priority, kind="stable"))

    def _evaluate(self, pairs: QueuedPairs, is_quick: bool) -> list[QueuedPairs]:
        """Solve pairs of triangles; returns those that take longer."""
        pairs = pairs.take(pairs.low < self.best[pairs.row])
        if not len(pairs.row):
            return []
        values, low = self.values(pairs.row, pairs.i, pairs.j, pairs.low, is_quick)
        is_slow = ~np.isnan(low)
        slow = [pairs.replaced(low=low).take(is_slow)] if is_slow.any() else []
        values = np.where(np.isnan(values), np.inf, values)
        order = np.lexsort((values, pairs.row))
        first = order[is_run_start(pairs.row[order])]
        first = first[values[first] < self.best[pairs.row[first]]]
        row, value = pairs.row[first], values[first]
        self.best[row], self.nodes[:, row] = value, (pairs.i[first], pairs.j[first])
        self.reached[row] = np.minimum(self.reached[row], value)
        return slow

    def _child_pairs(self, pairs: QueuedPairs) -> tuple[Ints, Ints, Ints]:
        """Replace pairs of nodes (k,) that are not both triangles by pairs of children, (n,) each.

        The larger node of a pair is split. So is the other, if it is about as large and both have few
        children.
        """
        counts, firsts, sizes = [], [], []
        for nodes, node in ((self._a, pairs.i), (self._b, pairs.j)):
            first, count = nodes.children(pairs.row, node)
            counts.append(count)
            firsts.append(first)
            sizes.append(np.where(count > 0, nodes.radii(nodes.start, pairs.row, node), -1.0))
        is_few = counts[0] * counts[1] <= 4
        splits_a = (counts[0] > 0) & ((sizes[0] >= sizes[1]) | (is_few & (2 * sizes[0] >= sizes[1])))
        splits_b = (counts[1] > 0) & ((sizes[1] > sizes[0]) | (is_few & (2 * sizes[1] >= sizes[0])))
        first_a, count_a = np.where(splits_a, firsts[0], pairs.i), np.where(splits_a, counts[0], 1)
        first_b, count_b = np.where(splits_b, firsts[1], pairs.j), np.where(splits_b, counts[1], 1)
        children_a = concatenated_ranges(first_a, count_a)
        first_b, count_b, row = (each.repeat(count_a) for each in (first_b, count_b, pairs.row))
        return row.repeat(count_b), children_a.repeat(count_b), concatenated_ranges(first_b, count_b)


def _roots(rows: Ints) -> QueuedPairs:
    """Return the roots of pairs of meshes (r,)."""
    root, zero = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows))
    return QueuedPairs(rows, root, root, zero - np.inf, zero)


def _split(queue: QueuedPairs) -> tuple[QueuedPairs, QueuedPairs]:
    """Split pairs of nodes into those to expand now, as many of each pair of meshes, and the rest."""
    starts = np.flatnonzero(is_run_start(queue.row))
    width = max(_EXPANDED // len(starts), 1)
    sizes = np.diff(np.append(starts, len(queue.row)))
    if sizes.max() <= width:
        return queue, queue.take(slice(0))
    is_now = np.arange(len(queue.row)) - starts.repeat(sizes) < width
    return queue.take(is_now), queue.take(~is_now)
