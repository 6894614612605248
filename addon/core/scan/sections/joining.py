"""Joins the records of the sections of a scan, and makes the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...numeric.arrays import Bools, Floats, Ints
from ...numeric.table import Table
from ..obstacle_space import ObstacleSpace
from ..pair_filter import PairFilter
from ..records import MOTIONS, ContactSpans, PairRecords, ScannerRecords, is_run_start
from ..report import (
    Clearances,
    ContactReport,
    Contacts,
    Intervals,
    NearMisses,
    PairContacts,
    rows_of_ranges,
)
from .bounds import SectionRecords

_WHOLE = 1e-6
"""Distance in frames within which a whole frame shows a contact: times carry about this much rounding."""


class ReportSettings(NamedTuple):
    """Settings of a report, which records do not have.

    pair_filter : PairFilter
    spaces : Of each scanner; None for bodies among themselves.
    first_time : Time of the first sample of the scan.
    static_pairs : Whether contacts of pairs that never move count.
    """

    pair_filter: PairFilter
    spaces: Sequence[ObstacleSpace | None]
    first_time: float
    static_pairs: bool


def report_of_sections(
    settings: ReportSettings, sections: Sequence[SectionRecords], stopped_at: float | None
) -> ContactReport:
    """Join successive sections, at least one, and make the report of all scanners.

    stopped_at : last time that was scanned, if the scan was stopped
    """
    begins = np.array([section.begin for section in sections])
    joined = [
        joined_records([section.scanners[number] for section in sections], begins)
        for number in range(len(settings.spaces))
    ]
    # Where nothing moves, pairs that do not move are all there is.
    with_static = settings.static_pairs or not any(each.has_moved.any() for each in joined)
    results = [
        _results(settings, space, each, with_static)
        for space, each in zip(settings.spaces, joined, strict=True)
    ]
    contacts = Contacts.concatenate([part[0] for part in results])
    near = NearMisses.concatenate([part[1] for part in results])
    pairs = contacts.pairs
    contacts = contacts.take(np.lexsort((pairs.b, pairs.a, pairs.frame)))
    clearances = Clearances(near.take(np.lexsort((near.b, near.a, near.gap))))
    static_overlaps = sorted(pair for part in results for pair in part[2])
    static_count = 0 if with_static else _count_static_pairs(settings, joined)
    return ContactReport(contacts, clearances, stopped_at, tuple(static_overlaps), static_count)


def _count_static_pairs(settings: ReportSettings, joined: Sequence[ScannerRecords]) -> int:
    """Count the pairs that never move, of bodies among themselves and with each obstacle."""
    solid = [None if space is None else int(space.obstacle.subject) for space in settings.spaces]
    total = 0
    for subject, records in zip(solid, joined, strict=True):
        is_static = ~records.has_moved
        is_static[[each for each in solid if each is not None]] = False
        bodies = np.flatnonzero(is_static)
        if subject is None:
            total += settings.pair_filter.count_pairs(is_static)
        elif not records.has_moved[subject]:
            total += int(settings.pair_filter.includes(bodies, np.full_like(bodies, subject)).sum())
    return total


def joined_records(parts: Sequence[ScannerRecords], begins: Floats) -> ScannerRecords:
    """Join the records of one scanner in successive sections, which begin at times (k,)."""
    if len(parts) == 1:
        return parts[0]
    pairs = PairRecords.concatenate([part.pairs for part in parts])
    # Of each pair the least separation comes first: of equal ones, the earliest.
    pairs = pairs.take(np.lexsort((pairs.least, pairs.keys)))
    starts = np.flatnonzero(is_run_start(pairs.keys))
    joined = pairs.take(starts).replaced(
        touched=np.logical_or.reduceat(pairs.touched, starts),
        is_near=np.logical_or.reduceat(pairs.is_near, starts),
        doubtful_since=np.minimum.reduceat(pairs.doubtful_since, starts),
    )
    has_moved = np.logical_or.reduce([part.has_moved for part in parts])
    return ScannerRecords(joined, _joined_spans([part.spans for part in parts], begins), has_moved)


def _joined_spans(parts: Sequence[ContactSpans], begins: Floats) -> ContactSpans:
    """Join contacts that last over a cut: each begins as in its first section."""
    section = np.repeat(np.arange(len(parts)), [len(part.keys) for part in parts])
    spans = ContactSpans.concatenate(parts)
    order = np.lexsort((spans.enter, section, spans.keys))
    spans, section = spans.take(order), section[order]
    cut = begins[section[1:]]
    begins_run: Bools = np.ones(len(section), dtype=bool)
    begins_run[1:] = (
        (spans.keys[1:] != spans.keys[:-1])
        | (section[1:] != section[:-1] + 1)
        | (spans.enter[1:] > cut)
        | (spans.leave[:-1] < cut)
    )
    first, deepest = np.flatnonzero(begins_run), spans.deepest_of(np.cumsum(begins_run))
    last = np.append(first[1:], len(section))[: len(first)] - 1
    return spans.take(first).replaced(
        leave=spans.leave[last],
        least=spans.least[deepest],
        least_time=spans.least_time[deepest],
        direction=spans.direction[deepest],
    )


def _results(
    settings: ReportSettings, space: ObstacleSpace | None, records: ScannerRecords, with_static: bool
) -> tuple[Contacts, NearMisses, list[tuple[int, int]]]:
    """Contacts, near misses, and pairs that touch but were not requested.

    with_static : whether pairs that never move count
    """
    pair_filter, (pairs, spans, has_moved) = settings.pair_filter, records
    firsts = np.flatnonzero(is_run_start(spans.keys))
    since = pairs.doubtful_since[np.searchsorted(pairs.keys, spans.keys[firsts])]
    uncertainty = spans.uncertainty.copy()
    uncertainty[firsts] = np.fmax(uncertainty[firsts], spans.enter[firsts] - since)
    spans = spans.replaced(uncertainty=uncertainty)
    i, j = np.divmod(pairs.keys, max(1, pair_filter.count))
    a, b = pair_filter.in_order(i, j)
    reported = _Reported(a, b, a != i if space is None else a == space.obstacle.subject)
    moves = has_moved[i] | has_moved[j]
    is_reported = moves | with_static
    is_contact = pairs.touched & is_reported
    contacts = _contacts_of(pairs.keys[is_contact], reported.take(is_contact), spans, settings.first_time)
    near, hidden = np.flatnonzero(~pairs.touched & pairs.is_near & moves), pairs.touched & ~is_reported
    near_misses = NearMisses(a[near], b[near], pairs.least_time[near], pairs.least[near])
    return contacts, near_misses, sorted(zip(a[hidden].tolist(), b[hidden].tolist(), strict=True))


class _Reported(Table):
    """Pairs (m,) as reported; flipped: normals point towards the lower index, or away from the obstacle."""

    a: Ints
    b: Ints
    flipped: Bools


def _contacts_of(keys: Ints, pairs: _Reported, spans: ContactSpans, first_time: float) -> Contacts:
    """Contacts of pairs (m,) with increasing `keys` (m,); spans of other pairs are skipped."""
    begin, end = (np.searchsorted(spans.keys, keys, side) for side in ("left", "right"))
    rows, count = rows_of_ranges(begin, end), end - begin
    spans = spans.take(rows)
    sign = np.repeat(np.where(pairs.flipped, -1.0, 1.0), count)[:, None]
    velocity = np.where((spans.enter == first_time)[:, None], np.nan, spans.velocity * sign)
    details = spans.uncertainty, spans.point, spans.normal * sign, velocity
    deepest = spans.least_time, -spans.least, spans.direction * sign
    intervals = Intervals(spans.enter, spans.leave, *details, *deepest)
    # The least separations of the pairs are those of their spans: of intervals without contact, bounds may be
    # less than the gap within a clearance.
    by_depth = np.lexsort((spans.least, np.arange(len(count)).repeat(count)))
    start = np.cumsum(count) - count
    first, deep = intervals.take(start), intervals.take(by_depth[start])
    tunnelling = np.floor(first.end + _WHOLE) < first.start - _WHOLE
    how = first.start == first_time, tunnelling, np.array(MOTIONS)[spans.motion[start]]
    when = first.start, first.uncertainty, first.point, first.normal
    table = PairContacts(pairs.a, pairs.b, *when, *how, deep.deepest_frame, deep.depth)
    return Contacts(table, intervals, count)
