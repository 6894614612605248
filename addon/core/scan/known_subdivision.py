"""Subdivision of intervals of pairs whose motion is known, each pair on its own.

No sample is shared between pairs, and the deviation of each part from linear motion is a bound, not an
estimate from neighbors. So what a round settles is proven.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from ..interval.pair_motion import IntervalContacts, PairMotion
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arrays import Bools, Floats, Ints, largest_component, length
from ..shapes import concatenated
from ..sweep.dispatch import time_of_impact
from .candidates import Candidates
from .interval_block import IntervalBlock, where_shapes
from .motion import KnownMotion
from .pair_cache import PROVEN
from .refinement import Assessment, PairIntervals, Subdivision, assess_pairs

_SHORTEST = 2.0**-24
"""Length in frames of parts that are not split further: what moves a unit a frame moves 6e-8 units."""
_MOST_SAMPLES, _MOST_UNTIL_CONTACT = 400, 8000
"""Samples within one interval for each pair, and before the first contact of the pair.

Many turns a frame need thousands of parts before their first contact is certain.
"""
_SPLIT_PER_CHUNK = 1 << 10
"""Rows that are split at once, which takes about 30 ms."""
_BEFORE = 2.0**-10
_JUST_BEFORE = 2.0**-17
"""Frames before a contact between which its velocity is measured; a jump at the contact itself is later."""
_LONGER, _LENGTHS = 4.0, 5
"""Ratio and number of the lengths of time over which velocities are measured: the longest is 1/4 frame."""
_ENOUGH = 1e-4
"""Part of a velocity that may be rounding: if it is more, longer times are tried."""
_POSE_ROUNDING = 2.0**-23
"""Part of the coordinates that is lost in a pose of single precision."""
_ROUNDING = 1e-12
_MARGIN = 1.5
"""Uncertainties before and after a contact between which it is expected."""


class KnownSubdivision(Subdivision):
    """Rounds of solving pairs of which both shapes are known: see `Subdivision`."""

    is_known = True

    def __init__(
        self, block: IntervalBlock, interval: Ints, candidates: Candidates, motion: KnownMotion
    ) -> None:
        """Start with pairs (m,) in whole intervals (m,) of a block."""
        super().__init__(block, interval, candidates, None)
        self._motion = motion
        self.is_refinable = np.ones(len(interval), dtype=bool)
        self.contact_motion = np.full(len(interval), PROVEN)
        self._open: PairIntervals | None = None
        self._round: PairIntervals | None = None
        # Chunks of rows of the round to split, with their positions; and the parts of chunks that are split.
        self._unsplit: deque[tuple[Ints, Floats]] = deque()
        self._split_parts: list[PairIntervals] = []

    @property
    def is_done(self) -> bool:
        """True if no interval is left to solve."""
        return not (self._is_first_round or self._open is not None)

    @property
    def pending_samples(self) -> int:
        """Number of chunks that are missing before the next round can be solved."""
        return len(self._unsplit)

    def _open_parts(self) -> PairIntervals:
        assert self._open is not None
        return self._open

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
            earliest = time_of_impact(*motion.padded((clearance + error) * (1 + _ROUNDING)))
            earliest = np.fmin(earliest, contacts.enter[rows])
            latest = np.minimum(contacts.enter[rows] + _MARGIN * uncertainty[rows], 1.0)
            is_certain = motion.separation_at(latest) + error <= clearance
            is_rounding = error <= graze[rows]
            is_settled[rows] = is_certain | is_rounding
            uncertainty[rows] = np.where(
                is_certain, latest - earliest, uncertainty[rows] + contacts.enter[rows] - earliest
            )
            contacts = contacts.take(np.arange(len(deviation)))
            contacts.enter[rows] = earliest
        return self._completed(intervals, contacts, assessment, clearance), contacts

    def select_open(
        self,
        intervals: PairIntervals,
        contacts: IntervalContacts,
        assessment: Assessment,
        is_open: Bools,
    ) -> None:
        """End the round: split the open rows (m,) of its intervals, each near its own contact."""
        self._record_round(intervals, contacts, is_open)
        self._is_first_round = False
        rows = np.flatnonzero(is_open)
        self._open = None
        if len(rows):
            position = split_positions(
                contacts.take(rows), assessment.uncertainty[rows], assessment.is_timed[rows]
            )
            self._round = intervals
            for start in range(0, len(rows), _SPLIT_PER_CHUNK):
                chunk = slice(start, start + _SPLIT_PER_CHUNK)
                self._unsplit.append((rows[chunk], position[chunk]))

    def add_sample(self) -> None:
        """Split one pending chunk."""
        assert self._round is not None
        self._split_parts.append(self._split(self._round, *self._unsplit.popleft()))
        if not self._unsplit:
            self._open = _joined(self._split_parts)
            self._round, self._split_parts = None, []

    def velocities_before(self, rows: Ints, times: Floats) -> Floats:
        """Relative velocities (r, 3) of candidates just before times (r,), in lengths per frame.

        NaN just after a jump.
        """
        begin = times - _BEFORE
        jump = self._next_jumps(rows, begin, times)
        velocities, rounding = self._mean_velocities(rows, np.where(jump < times, jump, begin)[None], times)
        noisy = np.flatnonzero(rounding[0] > _ENOUGH * length(velocities[0]))
        if len(noisy):
            velocities[0, noisy] = self._smoothed(rows[noisy], times[noisy], velocities[0, noisy])
        return np.asarray(velocities[0])

    def _smoothed(self, rows: Ints, times: Floats, shortest: Floats) -> Floats:
        """Velocities (r, 3) over the longest time in which what is seen of their change is rounding.

        Velocities over two lengths of time are extrapolated to a length of 0, so that acceleration counts.
        A longer time is better as long as its velocity agrees with those over all shorter times (Lepski's
        method).

        shortest : (r, 3) velocities over the shortest time
        """
        spans = _BEFORE * _LONGER ** np.arange(1, _LENGTHS)
        begin = times - spans[:, None]
        velocities, rounding = self._mean_velocities(rows, begin, times)
        velocities = np.concatenate([shortest[None], velocities])
        rounding = np.concatenate([rounding[:1] * _LONGER, rounding])
        extrapolated = velocities.copy()
        extrapolated[1:] = (_LONGER * velocities[:-1] - velocities[1:]) / (_LONGER - 1)
        noise = rounding.copy()
        noise[1:] = (_LONGER * rounding[:-1] + rounding[1:]) / (_LONGER - 1)
        chosen = np.zeros(len(rows), dtype=np.intp)
        for level in range(1, _LENGTHS):
            agrees = length(extrapolated[:level] - extrapolated[level]) <= noise[:level] + noise[level]
            jumps = self._next_jumps(rows, begin[level - 1], times) < times
            chosen[(chosen == level - 1) & agrees.all(axis=0) & ~jumps] = level
        return np.asarray(extrapolated[chosen, np.arange(len(rows))])

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
        return np.where(is_before & ~assessment.is_timed, _MOST_UNTIL_CONTACT, _MOST_SAMPLES)

    def _split(self, intervals: PairIntervals, rows: Ints, position: Floats) -> PairIntervals:
        """Both parts of rows (r,) of intervals, split at positions (r,) in [0, 1], or where a shape jumps."""
        begin, end, pair = intervals.begin[rows], intervals.end[rows], intervals.rows[rows]
        movers = self._movers(pair)
        sides = len(movers)
        jumps = self._next_jumps(pair, begin, end)
        jumps_within = jumps < end
        middle = np.where(jumps_within, jumps, begin + (end - begin) * position)
        after = self._motion.shapes_of(movers.ravel(), np.tile(middle, sides))
        before = after
        if jumps_within.any():
            limit = self._motion.shapes_of(movers.ravel(), np.tile(middle, sides), is_before=True)
            before = where_shapes(np.tile(jumps_within, sides), limit, after)
        count, motion = len(rows), intervals.motion.take(rows)
        whole: Any = ((motion.a_start, motion.a_end), (motion.b_start, motion.b_end))
        shapes: list[Any] = []
        for side, (start, stop) in enumerate(whole[:sides]):
            rows_of_side = slice(side * count, (side + 1) * count)
            shapes += [concatenated(start, after[rows_of_side]), concatenated(before[rows_of_side], stop)]
        shapes += whole[1] if sides == 1 else ()
        begins, ends = np.concatenate([begin, middle]), np.concatenate([middle, end])
        of_parts = np.tile(movers, 2).ravel()
        deviation = self._motion.deviations(of_parts, np.tile(begins, sides), np.tile(ends, sides))
        deviation = deviation.reshape(sides, -1).sum(axis=0)
        pair = np.tile(pair, 2)
        has_contact_before = self._first_contact[pair] < begins
        is_long = ends - begins > _SHORTEST
        motion = PairMotion(*shapes)
        return PairIntervals(pair, motion, deviation, begins, ends, has_contact_before, is_long, None)


def _joined(chunks: list[PairIntervals]) -> PairIntervals:
    """Join chunks of parts: the first parts of all rows, then the second parts."""
    if len(chunks) == 1:
        return chunks[0]
    is_second = np.concatenate([np.arange(len(chunk.rows)) * 2 >= len(chunk.rows) for chunk in chunks])
    order = np.argsort(is_second, kind="stable")
    shapes: list[Any] = [
        sides[0] if isinstance(sides[0], TriangleMesh) else concatenated(*sides)[order]
        for sides in zip(*(chunk.motion for chunk in chunks), strict=True)
    ]

    def column(name: str) -> Any:
        return np.concatenate([getattr(chunk, name) for chunk in chunks])[order]

    return PairIntervals(
        column("rows"),
        PairMotion(*shapes),
        column("deviation"),
        column("begin"),
        column("end"),
        column("has_contact_before"),
        column("can_split"),
        None,
    )


def split_positions(contacts: IntervalContacts, uncertainty: Floats, is_timed: Bools) -> Floats:
    """Positions (r,) in [0, 1] at which to split intervals of pairs: next to the contact, or in the middle.

    A contact that is expected within a short span is soon enclosed: first the end of that span is cut off.
    Where its time is settled (r,), the depth is not: then next to the least separation.
    """
    margin = _MARGIN * uncertainty
    has_begin = ~np.isnan(contacts.enter) & (contacts.enter > 0) & ~is_timed
    middle = np.full(len(uncertainty), 0.5)
    for side in (contacts.enter + margin, contacts.enter - margin):
        is_useful = has_begin & (margin < 0.2) & (side > 0.1) & (side < 0.9)
        middle = np.where(is_useful, side, middle)
    closest = np.where((contacts.leave > 0) & ~is_timed, contacts.leave, contacts.least_time)
    is_inside = ~has_begin & (closest > 0.25) & (closest < 0.75)
    return np.where(is_inside, closest, middle)
