"""Sections of a long scan: successive intervals that are scanned independently, and then joined.

A scan of a motion that can be read at any time is always cut at the same samples. So the report does not
depend on whether one process scans all sections, or several processes some of them each.

A section knows the samples next to it, so that deviations from linear motion are estimated as within it. It
does not know which pairs have touched before: a contact that lasts over a cut is joined.

The report of every scan is made here too. It is without the contacts of pairs that never moved, unless these
were requested or nothing moves at all.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidShapeError
from ..numeric.arrays import Bools, Ints, Table, concatenated_ranges
from ..numeric.spans import is_run_start
from .pair_cache import ContactSpans, PairCache, PairRecords
from .pair_scanner import ScanPlan
from .report import VECTORS, Clearances, ContactReport, Contacts, Intervals, NearMisses, PairContacts
from .rounds import MOTIONS

SECTION_INTERVALS = 250
"""Intervals of a section: so many that the additional work for each section does not matter."""


class Section(NamedTuple):
    """A section of a scan: from the sample `begin` to the sample `end`, by their indices."""

    begin: int
    end: int


def sections_of(sample_count: int) -> list[Section]:
    """Cut a scan into sections of equal lengths, but for the last one.

    The first sections are those of any longer scan too, so a scan that is stopped is one of fewer samples.
    """
    last = max(sample_count - 1, 0)
    begins = range(0, max(last, 1), SECTION_INTERVALS)
    return [Section(begin, min(begin + SECTION_INTERVALS, last)) for begin in begins]


def share_of(sections: list[Section], index: int, count: int) -> list[Section]:
    """Return the successive sections of one of `count` shares, by its number from 0; maybe none."""
    return sections[index * len(sections) // count : (index + 1) * len(sections) // count]


_WHOLE = 1e-6
"""Distance in frames within which a whole frame shows a contact: times carry about this much rounding."""


def joined_records(parts: Sequence[PairCache]) -> PairCache:
    """Join the records of successive sections, at least one."""
    result = PairCache(np.logical_or.reduce([part.has_moved for part in parts]))
    result.pairs = PairRecords.joined([part.pairs for part in parts])
    # A contact that lasts over a cut begins as in its first section.
    result.open, _, _ = ContactSpans.concatenate([part.spans() for part in parts]).joined()
    return result


def report_of(plan: ScanPlan, records: PairCache, stopped_at: float | None) -> ContactReport:
    """Make the report of a scan.

    stopped_at : last time that was scanned, if the scan was stopped
    """
    pair_filter, pairs, has_moved = plan.pair_filter, records.pairs, records.has_moved
    # Where nothing moves, pairs that do not move are all there is.
    with_static = plan.static_pairs or not has_moved.any()
    i, j = np.divmod(pairs.keys, max(1, pair_filter.count))
    # A subject of group A first, otherwise the lower index.
    as_given = pair_filter.group_a[i] & pair_filter.group_b[j]
    a, b = np.where(as_given, i, j), np.where(as_given, j, i)
    moves = has_moved[i] | has_moved[j]
    is_reported = moves | with_static
    is_contact = pairs.touched & is_reported
    # Normals of these point towards the lower index.
    columns = (column[is_contact] for column in (pairs.keys, a, b, a != i))
    contacts = _contacts_of(pairs, records.spans(), plan.first_time, *columns)
    near, hidden = np.flatnonzero(~pairs.touched & pairs.is_near & moves), pairs.touched & ~is_reported
    near_misses = NearMisses(a[near], b[near], pairs.least_time[near], pairs.least[near])
    near_misses = near_misses.take(np.lexsort((near_misses.b, near_misses.a, near_misses.gap)))
    static = tuple(sorted(zip(a[hidden].tolist(), b[hidden].tolist(), strict=True)))
    static_count = 0 if with_static or has_moved.all() else pair_filter.count_pairs(~has_moved)
    return ContactReport(contacts, Clearances(near_misses), stopped_at, static, static_count)


def _contacts_of(
    pairs: PairRecords,
    spans: ContactSpans,
    first_time: float,
    keys: Ints,
    a: Ints,
    b: Ints,
    is_flipped: Bools,
) -> Contacts:
    """Contacts of pairs (m,) with `keys` (m,), in order of time; spans of other pairs are skipped."""
    # What pairs may have touched without a record adds to the uncertainty of their first contacts.
    firsts, uncertainty = np.flatnonzero(is_run_start(spans.keys)), spans.uncertainty.copy()
    since = pairs.doubtful_since[np.searchsorted(pairs.keys, spans.keys[firsts])]
    uncertainty[firsts] = np.fmax(uncertainty[firsts], spans.enter[firsts] - since)
    begin, end = (np.searchsorted(spans.keys, keys, side) for side in ("left", "right"))
    order = np.lexsort((b, a, spans.enter[begin]))
    a, b, begin, count = a[order], b[order], begin[order], (end - begin)[order]
    rows = concatenated_ranges(begin, count)
    spans = spans.take(rows)
    sign = np.repeat(np.where(is_flipped[order], -1.0, 1.0), count)[:, None]
    intervals = Intervals(
        spans.enter,
        spans.leave,
        uncertainty[rows],
        spans.point,
        spans.normal * sign,
        np.where((spans.enter == first_time)[:, None], np.nan, spans.velocity * sign),
        spans.least_time,
        -spans.least,
        spans.direction * sign,
    )
    # The least separations of the pairs are those of their spans: of intervals without contact, bounds may be
    # less than the gap within a clearance.
    by_depth = np.lexsort((spans.least, np.arange(len(count)).repeat(count)))
    start = np.cumsum(count) - count
    first, deep = intervals.take(start), intervals.take(by_depth[start])
    tunnelling = np.floor(first.end + _WHOLE) < first.start - _WHOLE
    how = first.start == first_time, tunnelling, np.array(MOTIONS)[spans.motion[start]]
    when = first.start, first.uncertainty, first.point, first.normal
    return Contacts(PairContacts(a, b, *when, *how, deep.deepest_frame, deep.depth), intervals, count)


_Table = TypeVar("_Table", bound=Table)

_TYPES = {
    **dict.fromkeys(("keys", "motion"), "<i8"),
    **dict.fromkeys(("touched", "is_near", "has_moved"), "|b1"),
}
"""Types of the columns that are no numbers of float64."""


def share_as_json(records: PairCache) -> dict[str, Any]:
    """Convert the records of successive sections to plain data, exactly."""
    return {
        **{
            table: {name: _encoded(name, values) for name, values in vars(columns).items()}
            for table, columns in (("pairs", records.pairs), ("spans", records.spans()))
        },
        "has_moved": _encoded("has_moved", records.has_moved),
    }


def share_from_json(data: Any) -> PairCache:
    """Convert plain data to records.

    Raises InvalidShapeError: if it is not what `share_as_json` returns.
    """
    try:
        result = PairCache(_decoded("has_moved", data["has_moved"]))
        result.pairs, result.open = _table(PairRecords, data["pairs"]), _table(ContactSpans, data["spans"])
        if not np.isin(result.open.keys, result.pairs.keys).all():
            raise ValueError("contacts of unknown pairs")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidShapeError(f"records of a scan: {error}") from None
    return result


def _table(kind: type[_Table], data: dict[str, Any]) -> _Table:
    columns = [_decoded(name, data[name]) for name in kind.names()]
    if len({len(values) for values in columns}) != 1:
        raise ValueError("columns of different lengths")
    return kind(*columns)


def _encoded(name: str, values: NDArray[Any]) -> str:
    return base64.b64encode(values.astype(_TYPES.get(name, "<f8")).tobytes()).decode()


def _decoded(name: str, text: str) -> NDArray[Any]:
    values = np.frombuffer(base64.b64decode(text, validate=True), dtype=_TYPES.get(name, "<f8")).copy()
    return values.reshape(-1, 3) if name in VECTORS else values
