"""Pairs of spheres of which the samples tell enough: in a crowd nearly all of them, most of the time.

The separation of two spheres on straight ways is convex in time: between two samples it stays at or below
the higher of both, and at or above the tangents there. So most pairs are seen to go on touching, or to stay
apart, and to have been nearer at a sample than they can be in between. Only what is left has to be swept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import CHUNK_ROWS, Bools, Floats, Ints
from .encounters_spheres import UNSURE
from .frame_block import FrameBlock
from .pair_history import Candidates, Findings
from .shapes import Sphere

_CELLS = 2 * CHUNK_ROWS
"""Pairs times samples at a time."""

_SMALL, _LARGE = 1e-60, 1e60
"""Scenes of a size between these can be multiplied out without a thought for the range of numbers."""


class Ways(NamedTuple):
    """Spheres of a block, coordinate by coordinate: centers (3, k + 1, n), radii (k + 1, n).

    radii : (1, n) where none of them changes
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
    radii = shapes.radius
    if (radii == radii[:1]).all():
        radii = radii[:1]
    return Ways(np.ascontiguousarray(np.moveaxis(shapes.center, -1, 0)), radii, there)


def settled_by_samples(
    block: FrameBlock, ways: Ways, strays: Floats | None, candidates: Candidates, clearance: float
) -> tuple[list[Findings], Ints]:
    """What pairs do in a block where samples tell it, and (r, 2) intervals and pairs to be looked at.

    A contact that may be the first of its pair is always to be looked at.

    strays : (k, n) how far from straight each may be in each interval; None for not at all
    """
    found, left = [], [np.empty((0, 2), dtype=np.int64)]
    rows = _worth_a_look(ways, strays, candidates, clearance)
    at_once = max(1, _CELLS // (len(block) + 1))
    for begin in range(0, len(rows), at_once):
        some = rows[begin : begin + at_once]
        part = candidates.picked(some)
        news = part.news(clearance)
        separation, touching, is_open = _settled(ways, strays, part, news, clearance)
        found += [_least(separation, block.times, part.keys, news), _spans(touching, block.times, part.keys)]
        interval, row = np.divmod(np.flatnonzero(is_open), len(some))
        left.append(np.column_stack([interval, some[row]]))
    looks = np.concatenate(left)
    return found, looks[looks[:, 0].argsort(kind="stable")]


def _worth_a_look(ways: Ways, strays: Floats | None, candidates: Candidates, clearance: float) -> Ints:
    """Which pairs may touch, or come nearer than before, as far as their ways in the block reach."""
    if ways.there is not None:
        return np.arange(len(candidates.pairs))
    moved = ways.centers - ways.centers[:, :1]
    reach = (np.sqrt(_dot(moved, moved)) + ways.radii).max(axis=0)
    if strays is not None:
        reach += strays.max(axis=0)
    first, second = candidates.pairs.T
    start = ways.centers[:, 0]
    way = start.take(second, axis=1) - start.take(first, axis=1)
    gap = np.sqrt(_dot(way, way)) * (1 - UNSURE) - (reach.take(first) + reach.take(second)) * (1 + UNSURE)
    return np.flatnonzero(~(gap > np.maximum(candidates.news(), clearance)))


def _settled(
    ways: Ways, strays: Floats | None, candidates: Candidates, news: Floats, clearance: float
) -> tuple[Floats, Bools, Bools]:
    """(k + 1, m) separations at the samples; (k, m) intervals that are told to be contact, and open ones."""
    first, second = candidates.pairs.T
    doubt = 0.0 if strays is None else strays.take(first, axis=1) + strays.take(second, axis=1)
    way = ways.centers.take(second, axis=2)
    way -= ways.centers.take(first, axis=2)
    reach = ways.radii.take(first, axis=1) + ways.radii.take(second, axis=1)
    distance = np.sqrt(_dot(way, way))
    separation = distance - reach
    unsure = UNSURE * (distance + reach)
    velocity, growth = way[:, 1:] - way[:, :-1], np.diff(reach, axis=0) if len(reach) > 1 else 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        leaving = _dot(way[:, :-1], velocity) / distance[:-1] - growth
        arriving = _dot(way[:, 1:], velocity) / distance[1:] - growth
    # Concentric spheres have no tangent, and are left open: no comparison with NaN holds.
    low = np.maximum(separation[:-1] + np.minimum(leaving, 0), separation[1:] - np.maximum(arriving, 0))
    high = separation + unsure
    touching = np.maximum(high[:-1], high[1:]) + doubt < clearance
    apart = low - unsure[:-1] - unsure[1:] - doubt > clearance
    seen: Bools | bool = True
    if ways.there is not None:
        there = ways.there.take(first, axis=1) & ways.there.take(second, axis=1)
        seen, whole = there[:-1], there[:-1] & there[1:]
        # Who goes in between stays where it was, which the samples do not show.
        touching &= whole
        apart &= whole
        touching[1:] &= whole[:-1]
        separation = np.where(there, separation, np.inf)
    # A contact goes on where the interval before ends with one; before the block only the history tells.
    touching[0] &= candidates.known
    quiet = low >= np.minimum(separation.min(axis=0), news)
    touching &= quiet
    return separation, touching, seen & ~(touching | (apart & quiet))


def _dot(a: Floats, b: Floats) -> Floats:
    """Dot product over the first axis."""
    result: Floats = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return result


def _least(separation: Floats, times: Floats, keys: Ints, news: Floats) -> Findings:
    """The least separations at samples (k + 1, m), where they are news."""
    rows = np.flatnonzero(separation.min(axis=0) < news)
    place = separation[:, rows].argmin(axis=0)
    return Findings.separations(keys[rows], separation[place, rows], times[place])


def _spans(touching: Bools, times: Floats, keys: Ints) -> Findings:
    """Intervals (k, m) in contact as spans."""
    edges = np.zeros((touching.shape[1], len(touching) + 2), dtype=np.int8)
    edges[:, 1:-1] = touching.T
    steps = np.diff(edges, axis=1)
    row, begin = np.divmod(np.flatnonzero(steps == 1), steps.shape[1])
    end = np.flatnonzero(steps == -1) % steps.shape[1]
    return Findings.going_on(keys[row], times[begin], times[end])
