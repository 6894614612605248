"""Joins the records of the sections of a scan, and makes the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...numeric.arrays import Bools, Floats, Ints
from ..obstacle_space import ObstacleSpace
from ..pair_cache import ContactSpans
from ..pair_filter import PairFilter
from ..report import (
    Clearances,
    ContactReport,
    Contacts,
    NearMisses,
    PairRows,
    contacts_of,
    pairs_of,
)
from .records import ScannerRecords, SectionRecords


class ReportSettings(NamedTuple):
    """Settings of a report, which records do not have.

    Attributes
    ----------
    pair_filter : PairFilter
    spaces : sequence of ObstacleSpace or None
        Of each scanner; None for bodies among themselves.
    first_time : float
        Time of the first sample of the scan.
    static_pairs : bool
        Whether contacts of pairs that never move count.
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
    keys = np.unique(np.concatenate([part.keys for part in parts]))
    least, least_time = np.full(len(keys), np.inf), np.zeros(len(keys))
    touched, is_near = np.zeros(len(keys), dtype=bool), np.zeros(len(keys), dtype=bool)
    doubtful_since = np.full(len(keys), np.inf)
    for part in parts:
        rows = np.searchsorted(keys, part.keys)
        # The first of equal separations counts.
        less = part.least < least[rows]
        least[rows[less]], least_time[rows[less]] = part.least[less], part.least_time[less]
        touched[rows] |= part.touched
        is_near[rows] |= part.is_near
        doubtful_since[rows] = np.minimum(doubtful_since[rows], part.doubtful_since)
    has_moved = np.logical_or.reduce([part.has_moved for part in parts])
    spans = _joined_spans([part.spans for part in parts], begins)
    return ScannerRecords(keys, least, least_time, touched, is_near, doubtful_since, spans, has_moved)


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
    run = np.cumsum(begins_run) - 1
    first = np.flatnonzero(begins_run)
    last = np.append(first[1:], len(run)) - 1 if len(run) else first
    deepest: Ints = np.lexsort((spans.least_time, spans.least, run))
    if len(run):
        deepest = deepest[np.diff(run[deepest], prepend=-1) > 0]
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
    pair_filter, spans = settings.pair_filter, records.spans
    firsts = np.flatnonzero(np.diff(spans.keys, prepend=-1) != 0)
    since = records.doubtful_since[np.searchsorted(records.keys, spans.keys[firsts])]
    uncertainty = spans.uncertainty.copy()
    uncertainty[firsts] = np.fmax(uncertainty[firsts], spans.enter[firsts] - since)
    spans = spans.replaced(uncertainty=uncertainty)
    i, j = np.divmod(records.keys, max(1, pair_filter.count))
    a, b = pair_filter.in_order(i, j)
    # Normals point away from the lower index, or towards the obstacle.
    flipped = a != i if space is None else a == space.obstacle.subject
    pairs = PairRows(a, b, flipped, records.least, records.least_time)
    moves = records.has_moved[i] | records.has_moved[j]
    is_reported = moves | with_static
    is_contact = records.touched & is_reported
    near = pairs.take(~records.touched & records.is_near & moves)
    return (
        contacts_of(pairs.take(is_contact), spans, records.keys[is_contact], settings.first_time),
        NearMisses(near.a, near.b, near.least_time, near.least),
        pairs_of(pairs.take(records.touched & ~is_reported)),
    )
