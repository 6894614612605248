"""Subdivision of intervals of pairs whose motion is known, each pair on its own.

No sample is shared between pairs, and the deviation of each part from linear motion is a bound, not an
estimate from neighbors. So what a round settles is proven.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from ..interval.pair_motion import IntervalContacts, PairMotion
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arrays import Bools, Floats, Ints, largest_component, length
from ..numeric.tolerances import CHAIN_ROUNDING
from ..shapes import concatenated, where_shapes
from ..sweep.dispatch import time_of_impact
from .interval_block import IntervalBlock
from .motion import KnownMotion
from .pair_filter import Candidates
from .records import PROVEN
from .refinement import (
    KNOWN_SHORTEST,
    MOST_UNTIL_CONTACT,
    Assessment,
    PairIntervals,
    Subdivision,
    assess_pairs,
)

_MOST_SAMPLES = 600
"""Samples within one interval for each pair; before the first contact of the pair, `MOST_UNTIL_CONTACT`."""
_SPLIT_PER_CHUNK = 1 << 9
"""Rows, by the costs of their shapes, that are split at once into up to four parts each: about 20 ms."""
_BEFORE = 2.0**-10
_JUST_BEFORE = 2.0**-17
"""Frames before a contact between which its velocity is measured; a jump at the contact itself is later."""
_LONGER, _LENGTHS = 4.0, 5
"""Ratio and number of the lengths of time over which velocities are measured: the longest is 1/4 frame."""
_ENOUGH = 1e-4
"""Part of a velocity that may be rounding: if it is more, longer times are tried."""
_POSE_ROUNDING = 2.0**-23
"""Part of the coordinates that is lost in a pose of single precision."""
_MARGIN, _LEAST_MARGIN = 1.5, 2.0**-20
"""Uncertainties on either side of a contact between which it is expected; the least part of an interval."""


class KnownSubdivision(Subdivision):
    """Rounds of solving pairs of which both shapes are known: see `Subdivision`."""

    is_known = True
    samples_per_split = 3

    def __init__(
        self, block: IntervalBlock, interval: Ints, candidates: Candidates, motion: KnownMotion
    ) -> None:
        """Start with pairs (m,) in whole intervals (m,) of a block."""
        super().__init__(block, interval, candidates, None)
        self._motion = motion
        self.is_refinable = np.ones(len(interval), dtype=bool)
        self.contact_motion = np.full(len(interval), PROVEN)

    def assess(
        self, intervals: PairIntervals, contacts: IntervalContacts, clearance: float
    ) -> tuple[Assessment, IntervalContacts]:
        """Decide which pairs are settled; their contacts begin when they can touch first, so never late.

        The uncertainty lasts from then to a time at which they touch for certain. Where there is no such time
        the pair is not settled, except where its deviation is rounding.
        """
        deviation, graze = intervals.deviation, self.graze[intervals.rows]
        assessment = assess_pairs(intervals, contacts, graze, clearance)
        is_settled, uncertainty = assessment.is_settled, assessment.uncertainty
        rows = np.flatnonzero(is_settled & (contacts.enter > 0) & (deviation > 0))
        if len(rows):
            motion, error = intervals.motion.take(rows), deviation[rows]
            reach = (clearance + error) * (1 + CHAIN_ROUNDING)
            # Around corners, padded boxes reach farther. Without a clearance that is part of the deviation.
            earliest = motion.time_within(reach) if clearance else time_of_impact(*motion.padded(reach))
            earliest = np.fmin(earliest, contacts.enter[rows])
            latest = np.minimum(contacts.enter[rows] + _MARGIN * uncertainty[rows], 1.0)
            is_certain = motion.separation_at(latest) + error <= clearance
            is_settled[rows] = assessment.is_timed[rows] = is_certain | (error <= graze[rows])
            uncertainty[rows] = np.where(
                is_certain, latest - earliest, uncertainty[rows] + contacts.enter[rows] - earliest
            )
            contacts = contacts.take(np.arange(len(deviation)))
            contacts.enter[rows] = earliest
        return self._completed(intervals, contacts, assessment, clearance), contacts

    def _ends_at_limit(self, pair: Ints, begin: Floats, end: Floats) -> Bools:
        """See `Subdivision`."""
        jumps = self._next_jumps(pair, begin, np.nextafter(end, np.inf))
        return np.asarray(super()._ends_at_limit(pair, begin, end) | (jumps == end))

    def split(
        self,
        intervals: PairIntervals,
        contacts: IntervalContacts,
        assessment: Assessment,
        is_open: Bools,
    ) -> Generator[float, None, PairIntervals | None]:
        """See `Subdivision`: each open row is split near its own contact, chunk by chunk."""
        self._record_round(intervals, contacts, is_open)
        rows = np.flatnonzero(is_open)
        if not len(rows):
            return None
        positions = split_positions(
            contacts.take(rows), assessment.uncertainty[rows], assessment.is_timed[rows]
        )
        cost = self._motion.costs[self._movers(intervals.rows[rows])].mean(axis=0)
        chunk_of = ((np.cumsum(cost) - cost) // _SPLIT_PER_CHUNK).astype(np.int64)
        starts = np.flatnonzero(np.diff(chunk_of)) + 1
        parts: list[PairIntervals] = []
        places: list[Ints] = []
        for chunk, cuts in zip(np.split(rows, starts), np.split(positions, starts), strict=True):
            yield len(parts) / (len(starts) + 1)
            part, place = self._split(intervals, chunk, cuts)
            parts.append(part)
            places.append(place)
        if len(parts) == 1:
            return parts[0]
        # The first parts of all rows, then the second ones, and so on.
        order = np.argsort(np.concatenate(places), kind="stable")
        shapes: list[Any] = [
            sides[0] if isinstance(sides[0], TriangleMesh) else concatenated(*sides)[order]
            for sides in zip(*(part.motion for part in parts), strict=True)
        ]
        columns = {
            name: np.concatenate([getattr(part, name) for part in parts])[order]
            for name in ("rows", "deviation", "begin", "end", "has_contact_before", "can_split")
        }
        return PairIntervals(motion=PairMotion(*shapes), poses=None, **columns)

    def velocities_before(self, rows: Ints, times: Floats) -> Floats:
        """Relative velocities (r, 3) of candidates just before times (r,), in lengths per frame.

        NaN just after a jump.
        """
        begin = times - _BEFORE
        jump = self._next_jumps(rows, begin, times)
        velocities, rounding = self._mean_velocities(rows, np.where(jump < times, jump, begin)[None], times)
        noisy = np.flatnonzero(rounding[0] > _ENOUGH * length(velocities[0]))
        if not len(noisy):
            return np.asarray(velocities[0])
        # Velocities over two lengths of time are extrapolated to a length of 0, so that acceleration counts.
        # A longer time is better as long as its velocity agrees with those over all shorter times, so that
        # what is seen of their change is rounding (Lepski's method).
        rows, times = rows[noisy], times[noisy]
        begin = times - (_BEFORE * _LONGER ** np.arange(1, _LENGTHS))[:, None]
        longer, of_longer = self._mean_velocities(rows, begin, times)
        extrapolated = np.concatenate([velocities[:, noisy], longer])
        noise = np.concatenate([of_longer[:1] * _LONGER, of_longer])
        noise[1:] = (_LONGER * noise[:-1] + noise[1:]) / (_LONGER - 1)
        extrapolated[1:] = (_LONGER * extrapolated[:-1] - extrapolated[1:]) / (_LONGER - 1)
        chosen = np.zeros(len(rows), dtype=np.intp)
        for level in range(1, _LENGTHS):
            agrees = length(extrapolated[:level] - extrapolated[level]) <= noise[:level] + noise[level]
            jumps = self._next_jumps(rows, begin[level - 1], times) < times
            chosen[(chosen == level - 1) & agrees.all(axis=0) & ~jumps] = level
        velocities[0, noisy] = extrapolated[chosen, np.arange(len(rows))]
        return np.asarray(velocities[0])

    def _next_jumps(self, rows: Ints, begin: Floats, end: Floats) -> Floats:
        """Return the first times (r,) at which either shape of candidates (r,) jumps; inf for none."""
        movers = self._movers(rows)
        sides = len(movers)
        jumps = self._motion.next_jumps(movers.ravel(), np.tile(begin, sides), np.tile(end, sides))
        return np.asarray(jumps.reshape(movers.shape).min(axis=0))

    def _mean_velocities(self, rows: Ints, begin: Floats, times: Floats) -> tuple[Floats, Floats]:
        """Relative velocities (s, r, 3) of candidates (r,) from `begin` (s, r) to just before times (r,).

        Also returns how much of each (s, r) may be rounding of the poses.
        """
        movers, end = self._movers(rows), times - _JUST_BEFORE
        sides, spans, count = len(movers), len(begin), len(rows)
        # All shapes at once, because evaluating curves takes long for few times too.
        both = np.concatenate([begin.ravel(), np.tile(end, spans)])
        shapes: Any = self._motion.shapes_of(np.tile(movers, 2 * spans).ravel(), np.tile(both, sides))
        total, mesh = spans * count, self._block.mesh
        parts = [shapes[k * total : (k + 1) * total] for k in range(2 * sides)]
        impact = PairMotion(*parts, *([mesh, mesh] if mesh else [])).impact_at(np.ones(total))
        reach = largest_component(impact.point) + np.tile(self.candidates.size[rows], spans)
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.tile(end, spans) - begin.ravel()
            steps = np.where(steps > _JUST_BEFORE, steps, np.nan)
            velocities = impact.velocity / steps[:, None]
            rounding = 2 * sides * _POSE_ROUNDING * reach / steps
        return np.asarray(velocities).reshape(spans, count, 3), np.asarray(rounding).reshape(spans, count)

    def _movers(self, rows: Ints) -> Ints:
        """Shapes (2, r) of candidates (r,); (1, r) where the second one is the mesh of an obstacle."""
        return self.candidates.pairs[rows, : 1 if self._block.mesh else 2].T

    def _most_samples(self, intervals: PairIntervals, assessment: Assessment) -> Ints:
        """Return how many samples (m,) pairs may take in an interval: many before the first contact."""
        first_contact = np.full(len(self._pair_of), np.inf)
        np.minimum.at(first_contact, self._pair_of, self._first_contact)
        is_before = intervals.begin < first_contact[self._pair_of[intervals.rows]]
        return np.where(is_before & ~assessment.is_timed, MOST_UNTIL_CONTACT, _MOST_SAMPLES)

    def _split(self, intervals: PairIntervals, rows: Ints, positions: Floats) -> tuple[PairIntervals, Ints]:
        """Parts (p,) of rows (r,) of intervals, and the place (p,) of each part within its interval.

        They are split at `positions` (r, c) in [0, 1], increasing, of which all but the first may be NaN for
        none, or where a shape jumps.
        """
        begin, end, pair = intervals.begin[rows], intervals.end[rows], intervals.rows[rows]
        cuts = begin[:, None] + (end - begin)[:, None] * positions
        jumps = self._next_jumps(pair, begin, end)
        has_jump = jumps < end
        cuts[has_jump] = np.nan
        cuts[has_jump, 0] = jumps[has_jump]
        is_cut = ~np.isnan(cuts)
        of_cut, time, count = np.nonzero(is_cut)[0], cuts[is_cut], is_cut.sum(axis=1)
        # One of the parts is counted already.
        np.add.at(self._samples, pair, count - 1)
        # The first parts of all rows, then the second ones, and so on.
        place, row = np.nonzero(np.arange(cuts.shape[1] + 1)[:, None] <= count)
        # The cuts before and after each part; -1 for an end of the interval.
        after = np.cumsum(count)[row] - count[row] + place
        before, after = np.where(place == 0, -1, after - 1), np.where(place == count[row], -1, after)
        begin = np.where(before < 0, begin[row], time[before])
        end = np.where(after < 0, end[row], time[after])
        whole = intervals.motion.take(rows)
        motion = self._motion_of_parts(whole, pair[of_cut], time, has_jump[of_cut], row, (before, after))
        pair = pair[row]
        movers = self._movers(pair)
        times = (np.tile(side, len(movers)) for side in (begin, end))
        split = PairIntervals(
            pair,
            motion,
            self._motion.deviations(movers.ravel(), *times).reshape(movers.shape).sum(axis=0),
            begin,
            end,
            self._first_contact[pair] < begin,
            end - begin > KNOWN_SHORTEST,
            None,
        )
        return split, place

    def _motion_of_parts(
        self,
        whole: PairMotion,
        pair: Ints,
        times: Floats,
        has_jump: Bools,
        row: Ints,
        cuts: tuple[Ints, Ints],
    ) -> PairMotion:
        """Linear motion of parts (p,), between the ends of whole intervals (r,) and cuts (k,) in these.

        pair, times, has_jump : (k,) of the cuts; where a pair jumps, a part ends with the limit before that
        row, cuts : (p,) interval of each part, and the cuts before and after it; -1 for an end of that
        """
        movers = self._movers(pair)
        sides = len(movers)
        at = movers.ravel(), np.tile(times, sides)
        before = after = self._motion.shapes_of(*at)
        if has_jump.any():
            limit = self._motion.shapes_of(*at, is_before=True)
            before = where_shapes(np.tile(has_jump, sides), limit, after)
        ends: Any = tuple(whole)
        shapes: list[Any] = []
        for side in range(sides):
            of_side = slice(side * len(times), (side + 1) * len(times))
            for shape, at_cuts, cut in (
                (ends[2 * side], after[of_side], cuts[0]),
                (ends[2 * side + 1], before[of_side], cuts[1]),
            ):
                shapes.append(concatenated(shape, at_cuts)[np.where(cut < 0, row, shape.shape[0] + cut)])
        return PairMotion(*shapes, *ends[2 * sides :])


def split_positions(contacts: IntervalContacts, uncertainty: Floats, is_timed: Bools) -> Floats:
    """Positions (r, 3) in [0, 1] at which to split intervals of pairs, increasing; NaN for none.

    A contact that is expected within a short span is enclosed: both ends of that span are cut off, unless
    they are near an end of the interval. A pair that touches from the begin on is cut where it ends to touch,
    and one that does not touch, or whose time is settled (r,) but not its depth, at the least separation; the
    latter in the middle if that is near an end. Otherwise the parts are quarters: a round takes long for few
    rows too, and halves would need twice as many rounds.
    """
    margin = np.maximum(_MARGIN * uncertainty, _LEAST_MARGIN)
    has_begin = ~np.isnan(contacts.enter) & (contacts.enter > 0) & ~is_timed
    closest = np.where((contacts.leave > 0) & ~is_timed, contacts.leave, contacts.least_time)
    is_inside = ~has_begin & (closest > 0.25) & (closest < 0.75)
    sides = np.stack([contacts.enter - margin, contacts.enter + margin], axis=1)
    sides[~((has_begin & (margin < 0.2))[:, None] & (sides > 0.1) & (sides < 0.9))] = np.nan
    result = np.tile([0.25, 0.5, 0.75], (len(margin), 1))
    is_enclosed = ~np.isnan(sides).all(axis=1)
    # One side alone comes first.
    result[is_enclosed, :2] = np.sort(sides[is_enclosed], axis=1)
    is_single = is_inside | is_timed
    result[is_single, 0] = np.where(is_inside, closest, 0.5)[is_single]
    result[is_single, 1] = np.nan
    result[is_enclosed | is_single, 2] = np.nan
    return result
