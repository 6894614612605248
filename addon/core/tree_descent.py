"""The walk down two trees at once that all queries of trees share, for many pairs at a time.

Few leaves are simply all tried. Else a frontier of rows (element of the batch, node of the first tree, node
of the second) goes down level by level with array operations. The caller bounds from both sides what a row's
nodes stand for; the best value known of an element drops those of its rows that cannot be better.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from .arrays import Bools, Floats, Ints

_ELEMENTS_AT_ONCE = 2048
"""Elements whose frontiers are worked on together: more would fall out of the cache."""

_FEW_PAIRS = 128
"""So many pairs of leaves of an element are tried sooner than a way down to some of them is found."""

_CHUNK_PAIRS = 16_384
"""So many pairs are tried at a time; and if that is all there are, sooner than level after level."""

NO_TREE: Ints = np.full((1, 2), -1)
"""The children of the only node of what is no tree."""


class Rows(NamedTuple):
    """Pairs of nodes `a`, `b`, each for one element of a batch: (n,) int64 each, sorted by element."""

    element: Ints
    a: Ints
    b: Ints

    def picked(self, index: Ints) -> Rows:
        """Some of the rows."""
        return Rows(self.element[index], self.a[index], self.b[index])


Bounds: TypeAlias = Callable[[Rows], tuple[Floats, Floats]]
"""Of rows: what no leaf below falls short of, and what some leaf below does not exceed, (n,) each.

For two leaves the second says how good the pair is; infinity is not at all. Where the first is infinite a row
is dropped.
"""


Values: TypeAlias = Callable[[Ints], Floats]
"""Of elements (k,): how good all their pairs of leaves are, (k, leaves of a, leaves of b)."""


def found(touches: Bools, is_hit: Bools) -> tuple[Floats, Floats]:
    """Bounds that look for any pair of leaves that is a hit, below nodes that `touches` says may have one."""
    low = np.where(touches, np.where(is_hit, -1.0, 0.0), np.inf)
    return low, np.where(is_hit, -1.0, np.inf)


def best_leaves(
    count: int, children_a: Ints, children_b: Ints, bounds: Bounds, values: Values
) -> tuple[Ints, Ints]:
    """The pair of leaves with the least value for each of `count` elements: (count,) int64 each.

    -1 where no pair has a finite one. Of equals the first, by the first tree before the second.
    """
    leaves_a, leaves_b = (np.flatnonzero(children[:, 0] < 0) for children in (children_a, children_b))
    pairs = len(leaves_a) * len(leaves_b)
    best_a, best_b = np.full(count, -1), np.full(count, -1)
    descends = pairs > _FEW_PAIRS and pairs * count > _CHUNK_PAIRS
    step = _ELEMENTS_AT_ONCE if descends else max(1, _CHUNK_PAIRS // pairs)
    for start in range(0, count, step):
        elements = np.arange(start, min(start + step, count))
        if descends:
            rows, least = close_leaves(elements, children_a, children_b, bounds)
            some = np.flatnonzero(least < np.inf)
            rows, least = rows.picked(some), least[some]
            # Backwards, so that the best of an element is written last.
            order = np.lexsort((rows.b, rows.a, least))[::-1]
            best_a[rows.element[order]] = rows.a[order]
            best_b[rows.element[order]] = rows.b[order]
        else:
            table = values(elements).reshape(-1, pairs)
            best = table.argmin(axis=1)
            some = np.flatnonzero(table[np.arange(len(best)), best] < np.inf)
            a, b = np.divmod(best[some], len(leaves_b))
            best_a[elements[some]], best_b[elements[some]] = leaves_a[a], leaves_b[b]
    return best_a, best_b


def close_leaves(elements: Ints, children_a: Ints, children_b: Ints, bounds: Bounds) -> tuple[Rows, Floats]:
    """Pairs of leaves that may have the least value of their element, and what they do not exceed, (n,).

    elements : (n,) int64, growing
    """
    root = np.zeros(len(elements), dtype=np.int64)
    rows = Rows(elements, root, root)
    best = np.full(len(elements), np.inf)
    found: list[tuple[Rows, Floats, Floats]] = []
    offset = int(elements[0]) if len(elements) else 0
    while len(rows.element):
        low, high = bounds(rows)
        place = rows.element - offset
        starts = np.flatnonzero(np.diff(place, prepend=-1))
        best[place[starts]] = np.minimum(best[place[starts]], np.minimum.reduceat(high, starts))
        kept = np.flatnonzero((low <= best[place]) & (low < np.inf))
        rows = rows.picked(kept)
        below_a, below_b = children_a[rows.a], children_b[rows.b]
        has_a, has_b = below_a[:, 0] >= 0, below_b[:, 0] >= 0
        ends = np.flatnonzero(~(has_a | has_b))
        found.append((rows.picked(ends), low[kept[ends]], high[kept[ends]]))
        rows = _descended(rows, below_a, below_b, has_a, has_b)
    leaves = Rows(*(np.concatenate([getattr(part, name) for part, _, _ in found]) for name in Rows._fields))
    low, high = (np.concatenate([part[k] for part in found]) for k in (1, 2))
    close = np.flatnonzero(low <= best[leaves.element - offset])
    return leaves.picked(close), high[close]


def _descended(rows: Rows, below_a: Ints, below_b: Ints, has_a: Bools, has_b: Bools) -> Rows:
    """The rows of the children, in the same order.

    Of two nodes that have children the one counted first, which is nearer to its root, makes way for them.
    """
    splits_a = has_a & ~(has_b & (rows.b < rows.a))
    going = np.flatnonzero(splits_a | has_b)
    takes = splits_a[going, None]
    return Rows(
        rows.element[going].repeat(2),
        np.where(takes, below_a[going], rows.a[going, None]).ravel(),
        np.where(takes, rows.b[going, None], below_b[going]).ravel(),
    )
