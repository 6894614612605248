"""Comparison of the contacts of two documents: new, gone and unchanged intervals of contact.

Contacts are matched by the ids of their objects and by time: two intervals of a pair are the same contact if
they overlap, or lie as close as their uncertainties.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..core.messages import message
from .validation.strict_json import DocumentError
from .validation.validate import require_document

_ROUNDING = 1e-5
"""Frames by which two intervals may be apart though neither has an uncertainty: numbers are rounded."""


class Interval(NamedTuple):
    """An interval of contact, in frames, with the ids of its objects in alphabetical order."""

    a: str
    b: str
    start: float
    end: float
    uncertainty: float

    def is_same(self, other: Interval) -> bool:
        """Return whether another interval of the same pair is the same contact."""
        slack = self.uncertainty + other.uncertainty + _ROUNDING
        return self.start <= other.end + slack and other.start <= self.end + slack


class Comparison(NamedTuple):
    """Intervals of contact that are new, that are gone, and the number of those that are in both documents.

    new : Of the later document, without one in the baseline.
    gone : Of the baseline, within the frames of the later document, without one in it.
    unchanged : Number of intervals of the later document that the baseline has too.
    accepted : Number of intervals that the baseline lacks, but that are accepted in the later document.
    """

    new: tuple[Interval, ...]
    gone: tuple[Interval, ...]
    unchanged: int
    accepted: int = 0

    def counts_text(self) -> str:
        text = f"{len(self.new)} new, {len(self.gone)} gone, {self.unchanged} unchanged"
        return f"{text}, {self.accepted} accepted" if self.accepted else text

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as `extras.baseline` of a document."""
        keys = ("a", "b", "start", "end")
        new, gone = (
            [{key: getattr(each, key) for key in keys} for each in intervals]
            for intervals in (self.new, self.gone)
        )
        return {
            "new": new,
            "gone": gone,
            "unchanged": self.unchanged,
            **({"accepted": self.accepted} if self.accepted else {}),
        }


def compare_contacts(document: Mapping[str, Any], baseline: Mapping[str, Any]) -> Comparison:
    """Compare the contacts of a document with those of an earlier one.

    Contacts outside the frames of the baseline are new; those of the baseline outside the frames of the
    document are not gone. Accepted contacts are not new.

    document, baseline : Correct documents. Their spaces and units can differ.
    Returns comparison : Comparison. Intervals in the order of the documents.
    Raises DocumentError: if either is no document, or they are of different shapes, whose contacts differ
        without any change of the scene.
    """
    require_document(document)
    require_document(baseline)
    shapes = [{entry["shape"] for entry in each["contacts"]} for each in (document, baseline)]
    if all(shapes) and shapes[0] != shapes[1]:
        names = [", ".join(sorted(names)) for names in shapes]
        text = "its contacts are of the shape {theirs}, those of this scan of {shape}"
        raise DocumentError(message(text, theirs=names[1], shape=names[0]))
    now, before = _intervals(document), _intervals(baseline)
    unknown, time = _without_same(now, before), document["time"]
    accepted = (entry for entry in document["contacts"] if "accepted" in entry)
    accepted_pairs = {tuple(sorted((entry["a"], entry["b"]))) for entry in accepted}
    new = tuple(entry for entry in unknown if (entry.a, entry.b) not in accepted_pairs)
    start, end = time["frameStart"], time["frameEnd"]
    gone = tuple(each for each in _without_same(before, now) if each.start <= end and each.end >= start)
    return Comparison(new, gone, len(now) - len(unknown), len(unknown) - len(new))


def _intervals(document: Mapping[str, Any]) -> list[Interval]:
    """Return the intervals of all contacts."""
    found = []
    for entry in document["contacts"]:
        a, b = sorted((entry["a"], entry["b"]))
        uncertainty = entry["first"]["uncertainty"]
        found += [Interval(a, b, span["start"], span["end"], uncertainty) for span in entry["intervals"]]
    return found


def _without_same(intervals: list[Interval], known: list[Interval]) -> tuple[Interval, ...]:
    """Return the intervals that are the same contact as none of the known ones."""
    of_pair: dict[tuple[str, str], list[Interval]] = defaultdict(list)
    for entry in known:
        of_pair[entry.a, entry.b].append(entry)
    return tuple(
        entry for entry in intervals if not any(map(entry.is_same, of_pair.get((entry.a, entry.b), ())))
    )
