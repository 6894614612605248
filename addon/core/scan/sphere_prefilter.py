"""Prefilter of sphere pairs: in a crowd, the samples of a block settle nearly all of them.

The separation of two spheres in linear motion is convex in time. Between two samples it stays at or below the
larger separation at both, and at or above the tangents there. So most pairs are seen to stay in contact or to
stay apart, and to have been nearer at a sample than in between. Only the remaining ones are swept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..interval.pair_motion import PairMotion
from ..interval.sphere import UNSURE
from ..numeric.arrays import CHUNK_ROWS, Bools, Floats, Ints, dot_first
from ..shapes import Sphere
from .candidates import Candidates
from .interval_block import IntervalBlock
from .pair_cache import IntervalRecords
from .refinement import DEPTH_TOLERANCE, may_be_deeper
from .report import PieceSource, SolvedPieces

_CELLS_PER_CHUNK = 2 * CHUNK_ROWS
"""Pairs times samples that are tested at once."""

_INTERVALS_PER_GROUP = 8
"""Successive intervals of which a pair that stays far apart is excluded together."""

_SMALL, _LARGE = 1e-60, 1e60
"""Bounds of a scene's size between which squared lengths neither underflow nor overflow."""


class SphereTrajectories(NamedTuple):
    """Spheres of a block over groups of successive intervals, as if each group had spheres of its own.

    Axis first, so that each coordinate is contiguous. Each group has g intervals; the last one is filled up
    with intervals that begin and end at the last sample.

    Attributes
    ----------
    begin : (q,) int
        Sample at which each group begins.
    centers : (3, g + 1, q * n) float
    radii : (g + 1, q * n) float, or (1, q * n) where none changes
    present : (g + 1, q * n) bool, or None for all
    deviation : (g, q * n) float, or None for linear motion
        Deviation of each sphere from linear motion in each interval.
    jumps : (g, q * n) bool, or None for no jump
        Spheres that jump at the end of each interval.
    continues : (q * n,) bool
        Spheres that are at the begin of the group where the interval before ends; not in the first group.
    """

    begin: Ints
    centers: Floats
    radii: Floats
    present: Bools | None
    deviation: Floats | None
    jumps: Bools | None
    continues: Bools


def sphere_trajectories(spheres: Sphere, block: IntervalBlock, is_linear: bool) -> SphereTrajectories | None:
    """Input of `classify_sphere_pairs`, of spheres (k + 1, n); None if squares of lengths could overflow."""
    size = max(np.abs(spheres.center).max(initial=0.0), spheres.radius.max(initial=0.0))
    if not _SMALL < size < _LARGE:
        return None
    count, group = len(block), min(len(block), _INTERVALS_PER_GROUP)
    begin = np.arange(0, count, group)
    samples = np.minimum(begin + np.arange(group + 1)[:, None], count)
    intervals = np.minimum(samples[:-1], count - 1)

    def grouped(values: Floats | Bools, rows: Ints) -> Any:
        return values[rows].reshape((*rows.shape[:-1], -1))

    radii = spheres.radius
    if (radii == radii[:1]).all():
        radii = np.tile(radii[:1], len(begin))
    else:
        radii = grouped(radii, samples)
    whole = block.present[:-1] & block.present[1:] & ~block.jumps
    whole = np.concatenate([np.zeros_like(whole[:1]), whole[begin[1:] - 1]])
    return SphereTrajectories(
        begin,
        np.stack(
            [grouped(np.ascontiguousarray(axis), samples) for axis in np.moveaxis(spheres.center, -1, 0)]
        ),
        radii,
        None if block.present.all() else grouped(block.present, samples),
        None if is_linear else grouped(block.deviation, intervals),
        grouped(block.jumps, intervals) if block.jumps.any() else None,
        whole.ravel(),
    )


class _GroupedPairs(NamedTuple):
    """Candidates (r,), each in one group of intervals.

    row : (r,) of the candidates
    group : (r,)
    spheres : (2, r) columns of the trajectories
    """

    row: Ints
    group: Ints
    spheres: Ints


def classify_sphere_pairs(
    block: IntervalBlock,
    trajectories: SphereTrajectories,
    candidates: Candidates,
    clearance: float,
    pieces: SolvedPieces,
) -> tuple[list[IntervalRecords], Ints]:
    """Make records of the pairs that samples settle, and rows (r, 2) of interval and pair to solve.

    A contact that may be the first of its pair is always left to be solved.

    pieces : gets those of the records that touch
    """
    records, remaining = [], [np.empty((0, 2), dtype=np.int64)]
    chunk = max(1, _CELLS_PER_CHUNK // trajectories.centers.shape[1])
    for pairs in _pairs_within_reach(trajectories, candidates, clearance, chunk):
        part, first_sample = candidates.take(pairs.row), trajectories.begin[pairs.group]
        cutoff = part.separation_cutoff(clearance)
        separation, touching, is_open = _classify_chunk(trajectories, pairs, part, cutoff, clearance)
        is_filling = first_sample + np.arange(len(is_open))[:, None] >= len(block)
        touching &= ~is_filling
        is_open &= ~is_filling
        records.append(_records_of_minima(separation, block.times, first_sample, part.keys, cutoff))
        records.append(_records_of_spans(block, part, first_sample, touching, separation, pieces))
        interval, column = np.nonzero(is_open)
        remaining.append(np.column_stack([first_sample[column] + interval, pairs.row[column]]))
    near = np.concatenate(remaining)
    return records, near[np.lexsort((near[:, 1], near[:, 0]))]


def _pairs_within_reach(
    trajectories: SphereTrajectories, candidates: Candidates, clearance: float, chunk: int
) -> Iterator[_GroupedPairs]:
    """Pairs in groups where they may touch or come nearer than before, by bounding spheres of their paths.

    Yields about `chunk` at once.
    """
    centers, present = trajectories.centers, trajectories.present
    groups = len(trajectories.begin)
    moved = centers - centers[:, :1]
    reach = (np.sqrt(dot_first(moved, moved)) + trajectories.radii).max(axis=0)
    if trajectories.deviation is not None:
        reach += trajectories.deviation.max(axis=0)
    start = np.ascontiguousarray(centers[:, 0])
    columns = np.arange(groups) * (len(reach) // groups)
    limit = np.maximum(candidates.separation_cutoff(), clearance)
    waiting: list[_GroupedPairs] = []
    step = max(1, CHUNK_ROWS // groups)
    for first_row in range(0, len(limit), step):
        pairs = candidates.pairs[first_row : first_row + step]
        spheres = (pairs.T[:, :, None] + columns).reshape(2, -1)
        row, group = (axis.ravel() for axis in np.indices((len(pairs), groups)))
        if present is None:
            first, second = spheres
            offset = start.take(second, axis=1) - start.take(first, axis=1)
            distance = np.sqrt(dot_first(offset, offset))
            gap = distance * (1 - UNSURE) - (reach.take(first) + reach.take(second)) * (1 + UNSURE)
            near = np.flatnonzero(~(gap > limit[first_row + row]))
            row, group, spheres = row[near], group[near], spheres[:, near]
        waiting.append(_GroupedPairs(first_row + row, group, spheres))
        if sum(len(part.row) for part in waiting) >= chunk or first_row + step >= len(limit):
            yield _GroupedPairs(*(np.concatenate(column, axis=-1) for column in zip(*waiting, strict=True)))
            waiting.clear()


def _classify_chunk(
    trajectories: SphereTrajectories,
    pairs: _GroupedPairs,
    candidates: Candidates,
    cutoff: Floats,
    clearance: float,
) -> tuple[Floats, Bools, Bools]:
    """Separations (g + 1, r) at samples; intervals (g, r) wholly in contact; intervals (g, r) to solve."""
    first, second = pairs.spheres
    deviation: Floats | float = 0.0
    if trajectories.deviation is not None:
        deviation = trajectories.deviation.take(first, axis=1) + trajectories.deviation.take(second, axis=1)
    offset = trajectories.centers.take(second, axis=2)
    offset -= trajectories.centers.take(first, axis=2)
    reach = trajectories.radii.take(first, axis=1) + trajectories.radii.take(second, axis=1)
    distance = np.sqrt(dot_first(offset, offset))
    separation = distance - reach
    unsure = UNSURE * (distance + reach)
    velocity, growth = offset[:, 1:] - offset[:, :-1], np.diff(reach, axis=0) if len(reach) > 1 else 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        leaving = dot_first(offset[:, :-1], velocity) / distance[:-1] - growth
        arriving = dot_first(offset[:, 1:], velocity) / distance[1:] - growth
    # Concentric spheres have no tangent: with NaN every comparison fails, which leaves them open.
    low = np.maximum(separation[:-1] + np.minimum(leaving, 0), separation[1:] - np.maximum(arriving, 0))
    high = separation + unsure
    touching = np.maximum(high[:-1], high[1:]) + deviation < clearance
    apart = low - unsure[:-1] - unsure[1:] - deviation > clearance
    is_present: Bools | bool = True
    if trajectories.present is not None:
        present = trajectories.present.take(first, axis=1) & trajectories.present.take(second, axis=1)
        is_present, whole = present[:-1], present[:-1] & present[1:]
        # A sphere that disappears within an interval stays where it was, which the samples do not show.
        touching &= whole
        apart &= whole
        touching[1:] &= whole[:-1]
        separation = np.where(present, separation, np.inf)
    if trajectories.jumps is not None:
        # The interval before a jump does not end where the sample shows the sphere.
        jumps = trajectories.jumps.take(first, axis=1) | trajectories.jumps.take(second, axis=1)
        touching[1:] &= ~jumps[:-1]
    # A contact continues where the interval before ends in contact; before the block only the cache knows.
    continues = trajectories.continues.take(first) & trajectories.continues.take(second)
    touching[0] &= continues | (candidates.has_contact_before & (pairs.group == 0))
    least, tolerance = np.minimum(separation.min(axis=0), cutoff), DEPTH_TOLERANCE * candidates.size
    if len(least):
        # The rows of a pair follow each other.
        begin = np.flatnonzero(np.diff(pairs.row, prepend=-1))
        least = np.repeat(np.minimum.reduceat(least, begin), np.diff(begin, append=len(least)))
    apart &= low >= least
    if trajectories.deviation is not None:
        apart &= ~may_be_deeper(deviation, low, least, tolerance)
    # Each contact has a least separation of its own.
    # Of a contact that begins in an earlier group, the least separation until then is not at hand.
    of_run = _least_of_runs(separation, touching, np.where(pairs.group == 0, candidates.open_least, np.inf))
    touching &= low >= of_run
    if trajectories.deviation is not None:
        touching &= ~may_be_deeper(deviation, low, of_run, tolerance)
    return separation, touching, is_present & ~(touching | apart)


class _Runs(NamedTuple):
    """Runs of successive intervals: rows (r,) of pairs, and the samples (r,) at which they begin and end."""

    row: Ints
    begin: Ints
    end: Ints

    @classmethod
    def of(cls, mask: Bools) -> _Runs:
        """Find the runs of intervals (k, m) in a mask, by row, then time."""
        edges = np.zeros((mask.shape[1], len(mask) + 2), dtype=np.int8)
        edges[:, 1:-1] = mask.T
        steps = np.diff(edges, axis=1)
        row, begin = np.divmod(np.flatnonzero(steps == 1), steps.shape[1])
        return cls(row, begin, np.flatnonzero(steps == -1) % steps.shape[1])

    def least(self, values: Floats) -> tuple[Floats, Ints]:
        """Least of values (k + 1, m) at the samples of each run (r,), and the first sample with it (r,)."""
        if not len(self.row):
            return np.empty(0), np.empty(0, dtype=np.int64)
        count = self.end - self.begin + 1
        starts = np.cumsum(count) - count
        sample = np.arange(count.sum()) - np.repeat(starts - self.begin, count)
        of_runs = values[sample, np.repeat(self.row, count)]
        least = np.minimum.reduceat(of_runs, starts)
        is_least = np.flatnonzero(of_runs == np.repeat(least, count))
        return least, sample[is_least[np.searchsorted(is_least, starts)]]


def _least_of_runs(separation: Floats, touching: Bools, open_least: Floats) -> Floats:
    """Least separation (k, m) at samples (k + 1, m) of the run of intervals (k, m) in contact; else inf.

    open_least : (m,) of a contact that begins before the first interval
    """
    runs = _Runs.of(touching)
    least, _ = runs.least(separation)
    least = np.where(runs.begin == 0, np.minimum(least, open_least[runs.row]), least)
    result = np.full(touching.shape, np.inf)
    count = runs.end - runs.begin
    interval = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count - runs.begin, count)
    result[interval, np.repeat(runs.row, count)] = np.repeat(least, count)
    return result


def _records_of_minima(
    separation: Floats, times: Floats, first_sample: Ints, keys: Ints, cutoff: Floats
) -> IntervalRecords:
    """Make records of the least separations at samples (g + 1, r) that are below the cutoff (r,)."""
    rows = np.flatnonzero(separation.min(axis=0) < cutoff)
    sample = separation[:, rows].argmin(axis=0)
    time = times[np.minimum(first_sample[rows] + sample, len(times) - 1)]
    return IntervalRecords.from_separations(keys[rows], separation[sample, rows], time)


def _records_of_spans(
    block: IntervalBlock,
    candidates: Candidates,
    first_sample: Ints,
    touching: Bools,
    separation: Floats,
    pieces: SolvedPieces,
) -> IntervalRecords:
    """Make records of runs of intervals (g, r) in contact, given separations (g + 1, r) at samples."""
    runs = _Runs.of(touching)
    least, sample = runs.least(separation)
    first, second = candidates.pairs[runs.row].T
    begin, end, sample = (samples + first_sample[runs.row] for samples in (runs.begin, runs.end, sample))
    spheres = block.shapes
    # The motion from the begin of the run to its deepest sample: only its ends are used.
    motion = PairMotion(
        spheres[begin, first], spheres[sample, first], spheres[begin, second], spheres[sample, second]
    )
    count = len(runs.row)
    source = PieceSource(
        motion,
        np.zeros(count),
        np.ones(count),
        np.ones(count),
        np.full(count, np.nan),
        None,
        runs.row,
        None,
    )
    records = IntervalRecords.from_continued_contacts(
        candidates.keys[runs.row], block.times[begin], block.times[end]
    )
    return records.replaced(
        least=least, least_time=block.times[sample], uncertainty=np.zeros(count), piece=pieces.add(source)
    )
