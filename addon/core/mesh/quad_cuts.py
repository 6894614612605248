"""Quads of a mesh that bends, the two triangles that each is cut into, and when that changes.

Blender cuts a quad from its first corner to its third one, unless both others are on one side of that
diagonal: then from the second to the fourth. So where a quad folds, its surface jumps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..numeric.arrays import Bools, Floats, Ints, cross, cross_first, dot, dot_first, length
from ..shapes.primitives import Segment, closest_on_segment

_CLEAR = 1e-3
"""Part of the product of two areas from which on rounding does not decide on which side a corner is."""
_SAME = 2.0**-17
"""Part of a mesh's size by which the two ways to cut a quad may differ, and count as one surface."""
_MOST_CHANGES = 64
"""Changes of the cuts of a mesh that are followed, each of which takes a copy of its triangles."""
_HALVINGS = 24
"""Times that the interval of a change is halved: as far as known motion is divided."""
_ROOM = 2.0
"""Factor of the size of quads where they change: how large they may be at other times around."""


class CutChanges(NamedTuple):
    """Changes (k,) of the way in which quads are cut, in order of time.

    times : (k,) float64
    quads : (k,) int64. The quad of each.
    room : How far surfaces jump in a change, at most.
    """

    times: Floats
    quads: Ints
    room: float

    def counts(self, times: Floats, is_before: bool = False) -> Ints:
        """Count the changes (t,) up to times (t,), or before them."""
        return np.searchsorted(self.times, times, side="left" if is_before else "right")

    def rooms(self, begin: Floats, end: Floats) -> Floats:
        """Bound how far surfaces jump within intervals (t,), without their ends."""
        return np.where(self.counts(begin) < self.counts(end, is_before=True), self.room, 0.0)

    def next_after(self, begin: Floats) -> Floats:
        """First change (t,) after times (t,); inf for none."""
        return np.append(self.times, np.inf)[self.counts(begin)]


class QuadCuts(NamedTuple):
    """Quads (q,) of a mesh, as they are cut at one time.

    corners : (4, q) int64. Vertices, in order around each quad.
    is_other : (q,) bool. Quads that are cut from the second corner to the fourth.
    triangle : (q,) int64. The first triangle of each; the second one follows it.
    """

    corners: Ints
    is_other: Bools
    triangle: Ints

    def recut(self, triangles: Ints, quads: Ints) -> Ints:
        """Return triangles (t, 3) as they are after successive changes of quads (k,)."""
        changed, count = np.unique(quads, return_counts=True)
        changed = changed[count % 2 == 1]
        a, b, c, d = self.corners[:, changed]
        is_other, first, result = self.is_other[changed][:, None], self.triangle[changed], triangles.copy()
        result[first] = np.stack([a, b, np.where(is_other[:, 0], c, d)], axis=1)
        result[first + 1] = np.where(is_other, np.stack([a, c, d], axis=1), np.stack([b, c, d], axis=1))
        return result

    def unsure(self, vertices: Floats) -> Ints:
        """Return the quads (k,) that may be cut in the other way where the vertices (v, 3) are elsewhere."""
        # Of single precision, from a vertex, because large coordinates leave no digits.
        columns = np.ascontiguousarray((vertices - vertices[0]).T, dtype=np.float32)
        a, b, c, d = (columns.take(corner, axis=1) for corner in self.corners)
        diagonal = c - a
        one, two = cross_first(b - a, diagonal), cross_first(d - a, diagonal)
        product, first, second = dot_first(one, two), dot_first(one, one), dot_first(two, two)
        is_clear = product * product > _CLEAR * _CLEAR * first * second
        return np.flatnonzero(~(is_clear & ((product > 0) == self.is_other)))

    def gaps(self, vertices: Floats, quads: Ints) -> Floats:
        """Bound the distances (k,) of the two ways to cut quads (k,), with vertices (v, 3).

        Each triangle of one cut is swept by segments from a corner to the diagonal that is its side. That
        diagonal and the path from one of its ends over a point of the other diagonal to the other end are
        nowhere farther apart than at that point, and the segments to the path are in the other cut. So no
        point of either is farther from the other one than the diagonals are from each other.
        """
        a, b, c, d = vertices[self.corners[:, quads]]
        one, two = Segment(a, c), Segment(b, d)
        # Any two points will do; of lines that cross, those where they are nearest.
        first, second, offset = c - a, d - b, b - a
        square, other, mixed = dot(first, first), dot(second, second), dot(first, second)
        below = square * other - mixed * mixed
        above = dot(offset, first) * other - dot(offset, second) * mixed
        part = np.clip(np.divide(above, below, out=np.zeros_like(below), where=below > 0), 0, 1)
        starts = [a, c, a + part[:, None] * first]
        distances = [length(closest_on_segment(point, two) - point) for point in starts]
        distances += [length(closest_on_segment(point, one) - point) for point in (b, d)]
        return np.asarray(np.min(distances, axis=0))


def _are_folded(corners: Floats) -> Bools:
    """Mask (k,) of quads with corners (4, k, 3) that are cut from the second to the fourth."""
    a, b, c, d = corners
    return np.asarray(dot(cross(b - a, c - a), cross(d - a, c - a)) > 0)


class CutWatch:
    """Checks the quads of a mesh at increasing times, and finds when they are cut in another way.

    A quad that folds and unfolds between two of these times is not seen.

    gap : How far the surface may be from how quads are cut that look the same in both ways.
    """

    def __init__(self, cuts: QuadCuts) -> None:
        self._cuts, self.gap = cuts, 0.0
        self._times: list[float] = []
        # The quads that are cut in another way than at first, at each time.
        self._changed: list[Ints] = []

    def check(self, time: float, vertices: Floats) -> None:
        """Check the mesh with its vertices (v, 3) at a time."""
        cuts = self._cuts
        quads = cuts.unsure(vertices)
        if len(quads):
            gaps = cuts.gaps(vertices, quads)
            is_same = gaps <= _SAME * length(np.ptp(vertices, axis=0))
            self.gap = max(self.gap, float(gaps[is_same].max(initial=0)))
            quads = quads[~is_same]
            quads = quads[_are_folded(vertices[cuts.corners[:, quads]]) != cuts.is_other[quads]]
        self._times.append(time)
        self._changed.append(quads)

    def changes(self, corners_at: Callable[[Ints, Floats], Floats]) -> CutChanges | None:
        """Find the changes; None for too many, and where the first time has other cuts than are known.

        corners_at : Returns the places (4, k, 3) of vertices (4, k), each column at its time (k,).
        """
        pairs = list(zip(self._changed[:-1], self._changed[1:], strict=True))
        found = [np.setxor1d(*pair) for pair in pairs]
        quads = np.concatenate([self._changed[0][:0], *found])
        if len(quads) > _MOST_CHANGES or len(self._changed[0]):
            return None
        step = np.repeat(np.arange(len(found)), [len(each) for each in found])
        times, corners = np.array(self._times), self._cuts.corners[:, quads]
        begin, end = times[step], times[np.minimum(step + 1, len(times) - 1)]
        starts = [np.isin(each, pair[0]) for each, pair in zip(found, pairs, strict=True)]
        is_changed = np.concatenate([np.empty(0, dtype=bool), *starts])
        for _ in range(_HALVINGS if len(quads) else 0):
            middle = (begin + end) / 2
            is_before = _are_folded(corners_at(corners, middle)) == (self._cuts.is_other[quads] != is_changed)
            begin, end = np.where(is_before, middle, begin), np.where(is_before, end, middle)
        order = np.argsort(end, kind="stable")
        there = corners_at(corners, end) if len(quads) else np.empty((4, 0, 3))
        sides = length(there - np.roll(there, 1, axis=0)).sum(axis=0)
        return CutChanges(end[order], quads[order], _ROOM * float(sides.max(initial=0)))
