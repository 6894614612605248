"""What a contact scan remembers, told as contacts and near misses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Bools, Floats, Ints
from .contact_report import Clearance, Contact, ContactInterval, FirstContact
from .pair_history import Findings, Spans

_WHOLE = 1e-6
"""A contact this close to a whole frame, in frames, is shown by it: times carry about this much rounding."""


class PairRows(NamedTuple):
    """Pairs (m,) in the order to tell them, and the least separation of each.

    flipped : whether normals go from b to a
    """

    a: Ints
    b: Ints
    flipped: Bools
    least: Floats
    least_time: Floats

    def picked(self, rows: object) -> PairRows:
        """Some of the pairs."""
        return PairRows(*(values[rows] for values in self))  # type: ignore[call-overload]


# There may be many: plain numbers column by column take a fraction of what they take one by one.


def contacts_of(pairs: PairRows, firsts: Findings, spans: Spans, first_time: float) -> list[Contact]:
    """The contacts of pairs, whose first ones are `firsts` (m,), by time; spans of others are left out."""
    order = np.lexsort((pairs.b, pairs.a, firsts.enter))
    pairs, firsts = pairs.picked(order), firsts.picked(order)
    intervals = list(map(ContactInterval, spans.enter.tolist(), spans.leave.tolist()))
    begin, end = (np.searchsorted(spans.keys, firsts.keys, side) for side in ("left", "right"))
    tunnelling = np.floor(spans.leave[begin] + _WHOLE) < spans.enter[begin] - _WHOLE
    told = map(
        FirstContact,
        firsts.enter.tolist(),
        firsts.uncertainty.tolist(),
        firsts.point,
        firsts.normal * np.where(pairs.flipped, -1.0, 1.0)[:, None],
        (firsts.enter == first_time).tolist(),
        tunnelling.tolist(),
        np.where(firsts.adaptive, "adaptive", "linear").tolist(),
    )
    whole = (tuple(intervals[i:j]) for i, j in zip(begin.tolist(), end.tolist(), strict=True))
    depth = (-pairs.least).tolist()
    return list(
        map(Contact, pairs.a.tolist(), pairs.b.tolist(), told, whole, pairs.least_time.tolist(), depth)
    )


def clearances_of(pairs: PairRows) -> list[Clearance]:
    """The near misses of pairs, by gap."""
    pairs = pairs.picked(np.lexsort((pairs.b, pairs.a, pairs.least)))
    columns = (pairs.a, pairs.b, pairs.least_time, pairs.least)
    return list(map(Clearance, *(values.tolist() for values in columns)))
