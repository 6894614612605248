"""Prefilter of sphere pairs: in a crowd, the samples of a block settle nearly all of them.

The separation of two spheres in linear motion is convex in time. Between two samples it stays at or below the
larger separation at both, and at or above the tangents there. So most pairs are seen to stay in contact or to
stay apart, and to have been nearer at a sample than in between. Only the remaining ones are swept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..interval.sphere import UNSURE
from ..numeric.arrays import CHUNK_ROWS, Bools, Floats, Ints, dot_first
from ..shapes import Sphere
from .candidates import Candidates
from .interval_block import IntervalBlock
from .pair_cache import IntervalRecords
from .refinement import DEPTH_TOLERANCE, may_be_deeper

_CELLS_PER_CHUNK = 2 * CHUNK_ROWS
"""Pairs times samples that are tested at once."""

_SMALL, _LARGE = 1e-60, 1e60
"""Bounds of a scene's size between which squared lengths neither underflow nor overflow."""


class SphereTrajectories(NamedTuple):
    """Spheres of a block over time, axis first so that each coordinate is contiguous.

    Attributes
    ----------
    centers : (3, k + 1, n) float
    radii : (k + 1, n) float, or (1, n) where none changes
    present : (k + 1, n) bool, or None for all
    deviation : (k, n) float, or None for linear motion
        Deviation of each sphere from linear motion in each interval.
    jumps : (k, n) bool, or None for no jump
        Spheres that jump at the end of each interval.
    """

    centers: Floats
    radii: Floats
    present: Bools | None
    deviation: Floats | None
    jumps: Bools | None


def sphere_trajectories(spheres: Sphere, block: IntervalBlock, is_linear: bool) -> SphereTrajectories | None:
    """Input of `classify_sphere_pairs`, of spheres (k + 1, n); None if squares of lengths could overflow."""
    size = max(np.abs(spheres.center).max(initial=0.0), spheres.radius.max(initial=0.0))
    if not _SMALL < size < _LARGE:
        return None
    radii = spheres.radius
    if (radii == radii[:1]).all():
        radii = radii[:1]
    return SphereTrajectories(
        np.ascontiguousarray(np.moveaxis(spheres.center, -1, 0)),
        radii,
        None if block.present.all() else block.present,
        None if is_linear else block.deviation,
        block.jumps if block.jumps.any() else None,
    )


def classify_sphere_pairs(
    block: IntervalBlock, trajectories: SphereTrajectories, candidates: Candidates, clearance: float
) -> tuple[list[IntervalRecords], Ints]:
    """Make records of the pairs that samples settle, and rows (r, 2) of interval and pair to solve.

    A contact that may be the first of its pair is always left to be solved.
    """
    records, remaining = [], [np.empty((0, 2), dtype=np.int64)]
    rows = _rows_within_reach(trajectories, candidates, clearance)
    chunk = max(1, _CELLS_PER_CHUNK // (len(block) + 1))
    for begin in range(0, len(rows), chunk):
        chunk_rows = rows[begin : begin + chunk]
        part = candidates.take(chunk_rows)
        cutoff = part.separation_cutoff(clearance)
        separation, touching, is_open = _classify_chunk(trajectories, part, cutoff, clearance)
        records.append(_records_of_minima(separation, block.times, part.keys, cutoff))
        records.append(_records_of_spans(touching, block.times, part.keys))
        interval, row = np.divmod(np.flatnonzero(is_open), len(chunk_rows))
        remaining.append(np.column_stack([interval, chunk_rows[row]]))
    near = np.concatenate(remaining)
    return records, near[near[:, 0].argsort(kind="stable")]


def _rows_within_reach(trajectories: SphereTrajectories, candidates: Candidates, clearance: float) -> Ints:
    """Rows (r,) of pairs that may touch or come nearer than before, by bounding spheres of their paths."""
    centers, radii, present, deviation, _ = trajectories
    if present is not None:
        return np.arange(len(candidates.pairs))
    moved = centers - centers[:, :1]
    reach = (np.sqrt(dot_first(moved, moved)) + radii).max(axis=0)
    if deviation is not None:
        reach += deviation.max(axis=0)
    first, second = candidates.pairs.T
    start = centers[:, 0]
    offset = start.take(second, axis=1) - start.take(first, axis=1)
    distance = np.sqrt(dot_first(offset, offset))
    gap = distance * (1 - UNSURE) - (reach.take(first) + reach.take(second)) * (1 + UNSURE)
    return np.flatnonzero(~(gap > np.maximum(candidates.separation_cutoff(), clearance)))


def _classify_chunk(
    trajectories: SphereTrajectories, candidates: Candidates, cutoff: Floats, clearance: float
) -> tuple[Floats, Bools, Bools]:
    """Separations (k + 1, m) at samples; intervals (k, m) wholly in contact; intervals (k, m) to solve."""
    first, second = candidates.pairs.T
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
    touching[0] &= candidates.known
    least = np.minimum(separation.min(axis=0), cutoff)
    no_new_minimum = low >= least
    if trajectories.deviation is not None:
        no_new_minimum &= ~may_be_deeper(deviation, low, least, DEPTH_TOLERANCE * candidates.size)
    touching &= no_new_minimum
    return separation, touching, is_present & ~(touching | (apart & no_new_minimum))


def _records_of_minima(separation: Floats, times: Floats, keys: Ints, cutoff: Floats) -> IntervalRecords:
    """Make records of the least separations at samples (k + 1, m) that are below the cutoff (m,)."""
    rows = np.flatnonzero(separation.min(axis=0) < cutoff)
    sample = separation[:, rows].argmin(axis=0)
    return IntervalRecords.from_separations(keys[rows], separation[sample, rows], times[sample])


def _records_of_spans(touching: Bools, times: Floats, keys: Ints) -> IntervalRecords:
    """Make records of runs of intervals (k, m) in contact."""
    edges = np.zeros((touching.shape[1], len(touching) + 2), dtype=np.int8)
    edges[:, 1:-1] = touching.T
    steps = np.diff(edges, axis=1)
    row, begin = np.divmod(np.flatnonzero(steps == 1), steps.shape[1])
    end = np.flatnonzero(steps == -1) % steps.shape[1]
    return IntervalRecords.from_continued_contacts(keys[row], times[begin], times[end])
