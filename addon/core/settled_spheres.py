"""Pairs of spheres of which the samples tell enough: in a crowd nearly all of them, most of the time.

The separation of two spheres on straight ways is convex in time: between two samples it stays at or below the
higher of both, and at or above the tangents there. So most pairs are seen to go on touching, or to stay apart,
and to have been nearer at a sample than they can be in between. Only what is left has to be swept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import CHUNK_ROWS, Bools, Floats, Ints
from .frame_block import FrameBlock
from .pair_history import Findings
from .shapes import Sphere

_UNSURE = 1e-9
"""Of the size of a pair: closer than this to touching, a sweep decides."""

_CELLS = 4 * CHUNK_ROWS
"""Pairs times samples at a time."""

_SMALL, _LARGE = 1e-60, 1e60
"""Scenes of a size between these can be multiplied out without a thought for the range of numbers."""


class Wanted(NamedTuple):
    """Pairs (m, 2) of shapes, and of each, (m,), what is known of it before the block.

    keys : what the history calls it
    known : whether it has had a contact
    news : a least separation that is no less than this need not be told, unless the pair touches
    """

    pairs: Ints
    keys: Ints
    known: Bools
    news: Floats

    def picked(self, rows: object) -> Wanted:
        """Some of the pairs."""
        return Wanted(*(values[rows] for values in self))  # type: ignore[call-overload]


class Ways(NamedTuple):
    """Spheres of a block, coordinate by coordinate: centers (3, k + 1, n), radii (k + 1, n).

    there : (k + 1, n) which are present; None for all
    """

    centers: Floats
    radii: Floats
    there: Bools | None


def ways_of_spheres(block: FrameBlock) -> Ways | None:
    """What `settled_by_samples` reads; None where that cannot tell: other shapes, and scenes out of scale."""
    shapes = block.shapes
    if block.mesh or not isinstance(shapes, Sphere):
        return None
    size = max(np.abs(shapes.center).max(initial=0.0), shapes.radius.max(initial=0.0))
    if not _SMALL < size < _LARGE:
        return None
    there = None if block.present.all() else block.present
    return Ways(np.ascontiguousarray(np.moveaxis(shapes.center, -1, 0)), shapes.radius, there)


def settled_by_samples(
    block: FrameBlock, ways: Ways, strays: Floats | None, wanted: Wanted, clearance: float
) -> tuple[list[Findings], Ints]:
    """What pairs do in a block where samples tell it, and (r, 2) intervals and pairs to be looked at.

    A contact that may be the first of its pair is always to be looked at.

    strays : (k, n) how far from straight each may be in each interval; None for not at all
    """
    found, left = [], []
    rows = _worth_a_look(ways, strays, wanted, clearance)
    at_once = max(1, _CELLS // (len(block) + 1))
    for begin in range(0, len(rows), at_once):
        some = rows[begin : begin + at_once]
        part = wanted.picked(some)
        first, second = part.pairs.T
        doubt = 0.0 if strays is None else strays.take(first, axis=1) + strays.take(second, axis=1)
        way = ways.centers.take(second, axis=2)
        way -= ways.centers.take(first, axis=2)
        reach = ways.radii.take(first, axis=1) + ways.radii.take(second, axis=1)
        there = None if ways.there is None else ways.there.take(first, axis=1) & ways.there.take(second, axis=1)
        separation, touching, rest = _settled(way, reach, there, doubt, part, clearance)
        found += [_least(separation, block.times, part), _spans(touching, block.times, part.keys)]
        interval, row = np.divmod(np.flatnonzero(rest), len(first))
        left.append(np.column_stack([interval, some[row]]))
    open_ = np.concatenate(left) if left else np.empty((0, 2), dtype=np.int64)
    return found, open_[np.argsort(open_[:, 0], kind="stable")]


def _worth_a_look(ways: Ways, strays: Floats | None, wanted: Wanted, clearance: float) -> Ints:
    """Which pairs may touch, or come nearer than before, as far as their ways in the block reach."""
    if ways.there is not None:
        return np.arange(len(wanted.pairs))
    moved = ways.centers - ways.centers[:, :1]
    reach = (np.sqrt(_dot(moved, moved)) + ways.radii).max(axis=0)
    if strays is not None:
        reach += strays.max(axis=0)
    first, second = wanted.pairs.T
    start = ways.centers[:, 0]
    way = start.take(second, axis=1) - start.take(first, axis=1)
    gap = np.sqrt(_dot(way, way)) * (1 - _UNSURE) - (reach.take(first) + reach.take(second)) * (1 + _UNSURE)
    return np.flatnonzero(~(gap > np.maximum(wanted.news, clearance)))


def _settled(
    way: Floats, reach: Floats, there: Bools | None, doubt: Floats | float, wanted: Wanted, clearance: float
) -> tuple[Floats, Bools, Bools]:
    """(k + 1, m) separations at the samples, (k, m) intervals that are told to be contact, and the open ones.

    way : (3, k + 1, m) from one centre to the other
    reach, there : (k + 1, m) sum of the radii; whether both are there
    """
    distance = np.sqrt(_dot(way, way))
    separation = distance - reach
    slack = _UNSURE * (distance + reach)
    velocity, growth = way[:, 1:] - way[:, :-1], reach[1:] - reach[:-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        leaving = _dot(way[:, :-1], velocity) / distance[:-1] - growth
        arriving = _dot(way[:, 1:], velocity) / distance[1:] - growth
    # Concentric spheres have no tangent, and are left open: no comparison with NaN holds.
    low = np.maximum(separation[:-1] + np.minimum(leaving, 0), separation[1:] - np.maximum(arriving, 0))
    high = separation + slack
    touching = np.maximum(high[:-1], high[1:]) + doubt < clearance
    apart = low - slack[:-1] - slack[1:] - doubt > clearance
    rest = np.ones(touching.shape, dtype=bool)
    if there is not None:
        rest = there[:-1]
        # Who goes in between stays where it was: told by a closer look.
        whole = there[:-1] & there[1:]
        touching &= whole
        apart &= whole
        touching[1:] &= whole[:-1]
        separation = np.where(there, separation, np.inf)
    # A contact goes on if there was one before, or one ends the interval before.
    touching[0] &= wanted.known
    told = low >= np.minimum(separation.min(axis=0), wanted.news)
    touching &= told
    return separation, touching, rest & ~(touching | (apart & told))


def _dot(a: Floats, b: Floats) -> Floats:
    """Dot product over the first axis."""
    result: Floats = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return result


def _least(separation: Floats, times: Floats, wanted: Wanted) -> Findings:
    """The least separations at samples (k + 1, m), where they are news."""
    rows = np.flatnonzero(separation.min(axis=0) < wanted.news)
    place = separation[:, rows].argmin(axis=0)
    nothing = np.full(len(rows), np.nan)
    return Findings.plain(wanted.keys[rows], nothing, nothing, separation[place, rows], times[place])


def _spans(touching: Bools, times: Floats, keys: Ints) -> Findings:
    """Intervals (k, m) in contact as spans."""
    edges = np.zeros((touching.shape[1], len(touching) + 2), dtype=np.int8)
    edges[:, 1:-1] = touching.T
    steps = np.diff(edges, axis=1)
    row, begin = np.divmod(np.flatnonzero(steps == 1), steps.shape[1])
    end = np.flatnonzero(steps == -1) % steps.shape[1]
    nothing = np.full(len(row), np.inf)
    return Findings.plain(keys[row], times[begin], times[end], nothing, times[begin])
