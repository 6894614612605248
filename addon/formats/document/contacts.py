"""Contacts and near misses of a document: from tables to JSON and back, all contacts at once.

The functions of a member stand together: what is written, and how it is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core import ContactReport
from ...core.numeric.arrays import Floats, Ints
from ...core.scan.report import Clearances, Contacts, Intervals, NearMisses, PairContacts
from ..contact_extents import EXTENTS, extent, signed_depth
from ..spaces import Space, json_number, rounded_down, rounded_up, to_lists
from .json_writer import Column, object_values, present
from .model import ScannedContacts, TimeSettings

UNIT_DECIMALS = 6
"""Decimals that directions, scale factors and frames keep at least, however lengths are rounded.

A unit vector must keep its length, and a frame must stay comparable with an animation curve.
"""

_SPEED_DECIMALS = 6
"""Decimals that velocities have at most: more would not survive the conversion to frames and back."""


@dataclass(frozen=True)
class ContactWriter:
    """Converts contacts and near misses to JSON dicts.

    space : Space of the document.
    decimals : Decimals of lengths.
    time : Of the scan.
    """

    space: Space
    decimals: int
    time: TimeSettings

    def contacts(self, scanned: ScannedContacts) -> list[dict[str, Any]]:
        """Convert all contacts of a report."""
        contacts, ids, count = scanned.report.contacts, scanned.ids, len(scanned.report.contacts)
        pairs = contacts.pairs
        a, b = ([ids[index] for index in column.tolist()] for column in (pairs.a, pairs.b))
        sides = ([id for id in pair if id in scanned.obstacles] for pair in zip(a, b, strict=True))
        obstacles = [next(iter(side), None) for side in sides] if scanned.obstacles else ()
        # A length that a user chose is exact, but its product with the unit is not.
        clearance = json_number(float(f"{scanned.clearance * self.space.scale:.12g}"))
        frames = self._rounded(pairs.frame)
        first = {
            "frame": frames,
            "seconds": self._rounded(np.array(frames) / self.time.fps),
            "uncertainty": self._rounded(pairs.uncertainty, rounded_up),
            "point": self._vectors(pairs.point),
            "normal": self._directions(pairs.normal),
            # The frame is rounded down, so a contact just after the first frame begins there too.
            "atStart": (pairs.at_start | (np.array(frames) <= self.time.start)).tolist(),
            "tunnelling": pairs.tunnelling.tolist(),
        }
        members = {
            "a": a,
            "b": b,
            "shape": [scanned.shape] * count,
            "obstacle": present(obstacles),
            "motion": pairs.motion.tolist(),
            "clearance": present([clearance or None] * count),
            "first": Column(first),
            "intervals": list(self._intervals(contacts, clearance)),
            **self._extents(pairs, clearance),
            "accepted": present(scanned.accepted),
        }
        return object_values(members, count)

    def clearances(self, scanned: ScannedContacts) -> list[dict[str, Any]]:
        """Convert all near misses of a report."""
        pairs, ids = scanned.report.clearances.pairs, scanned.ids
        gaps = rounded_down(pairs.gap * self.space.scale, self.decimals)
        members = {
            "a": [ids[index] for index in pairs.a.tolist()],
            "b": [ids[index] for index in pairs.b.tolist()],
            "shape": present([scanned.shape if scanned.shape == "mesh" else None] * len(gaps)),
            "frame": self._rounded(pairs.frame, np.around),
            "gap": _json_numbers(gaps),
        }
        return object_values(members, len(gaps))

    def _intervals(self, contacts: Contacts, clearance: float) -> Iterator[list[dict[str, Any]]]:
        """Yield the intervals of each contact, rounded outward; intervals that then overlap are merged."""
        spans = contacts.intervals
        ends = {"start": self._rounded(spans.start), "end": self._rounded(spans.end, rounded_up)}
        rows = np.flatnonzero(spans.has_details)
        detailed = spans.take(rows)
        normals, is_known = self._directions(detailed.normal), detailed.has_velocity
        decimals = min(self.decimals, _SPEED_DECIMALS)
        # Lengths per second.
        exact = self.space.vectors(np.where(is_known[:, None], detailed.velocity, 0.0) * self.time.fps)
        velocities = to_lists(np.around(exact, decimals))
        # Of the written numbers, so that they are the same after they were read.
        exact_speeds = [
            -sum(part * along for part, along in zip(velocity, normal, strict=True))
            for velocity, normal in zip(velocities, normals, strict=True)
        ]
        speeds: list[Any] = [*_json_numbers(np.around(exact_speeds, decimals))]
        for row in np.flatnonzero(~is_known).tolist():
            velocities[row] = speeds[row] = None
        details = {
            "uncertainty": self._rounded(detailed.uncertainty, rounded_up),
            "point": self._vectors(detailed.point),
            "normal": normals,
            "velocity": velocities,
            "closingSpeed": speeds,
        }
        members = {
            **ends,
            **{key: Column(values, rows) for key, values in details.items()},
            **self._extents(detailed, clearance, rows),
        }
        entries = iter(object_values(members, len(ends["start"])))
        for count in contacts.counts.tolist():
            written: list[dict[str, Any]] = []
            for entry in (next(entries) for _ in range(count)):
                if written and entry["start"] < written[-1]["end"]:
                    last = written[-1]
                    last["end"] = entry["end"]
                    if signed_depth(entry) > signed_depth(last):
                        kept = {key: value for key, value in last.items() if key not in EXTENTS}
                        written[-1] = kept | {key: entry[key] for key in EXTENTS if key in entry}
                else:
                    written.append(entry)
            yield written

    def _extents(
        self, spans: PairContacts | Intervals, clearance: float, rows: Ints | None = None
    ) -> dict[str, Column]:
        """Convert time and depth of the deepest overlaps, or the gap of what only comes close.

        A gap that is 0 with the decimals of the document is a depth of 0.

        rows : Of the entries that the spans are in; None if they are all.
        """
        signed = spans.depth * self.space.scale
        # Rounding must not make a gap larger than the clearance.
        most = rounded_down(np.array([clearance]), self.decimals)
        gaps = np.minimum(np.around(np.maximum(-signed, 0.0), self.decimals), most)
        depths = np.around(np.maximum(signed, 0.0), self.decimals)
        columns = {}
        for key, name, lengths in (("deepest", "depth", depths), ("closest", "gap", gaps)):
            chosen = np.flatnonzero((gaps != 0) == (key == "closest"))
            frames = self._rounded(spans.deepest_frame[chosen], np.around)
            members = {"frame": frames, name: _json_numbers(lengths[chosen])}
            if isinstance(spans, Intervals):
                members["direction"] = self._directions(spans.direction[chosen])
            columns[key] = Column(members, chosen if rows is None else rows[chosen])
        return columns

    def _vectors(self, vectors: Floats) -> Any:
        """Convert positions or displacements (..., 3)."""
        rounded = np.around(self.space.vectors(vectors), self.decimals)
        # Numbers of more than 15 digits would change when a document is read and written again.
        is_long = np.abs(rounded) >= 10.0 ** (15 - self.decimals)
        rounded[is_long] = [float(f"{value:.15g}") for value in rounded[is_long].tolist()]
        return to_lists(rounded)

    def _directions(self, directions: Floats) -> Any:
        """Convert unit vectors (..., 3)."""
        decimals = max(self.decimals, UNIT_DECIMALS)
        return to_lists(np.around(self.space.directions(directions), decimals))

    def _rounded(self, times: Any, rounded: Callable[[Any, int], Floats] = rounded_down) -> list[float]:
        """Round frames or seconds, by default down, so that a contact is never reported late."""
        return _json_numbers(rounded(times, max(self.decimals, UNIT_DECIMALS)))


def _json_numbers(values: Floats) -> list[float]:
    """Convert numbers (n,) as `json_number`."""
    numbers: list[float] = values.tolist()
    for row in np.flatnonzero(values == np.floor(values)).tolist():
        numbers[row] = json_number(numbers[row])
    return numbers


_UNKNOWN_DETAILS = {
    **{"uncertainty": math.nan, "point": None, "normal": None, "velocity": None},
    "deepest": {"frame": math.nan, "depth": math.nan, "direction": None},
}
"""Details of an interval that has none."""


@dataclass(frozen=True)
class ContactReader:
    """Converts contacts and near misses of a document to Blender's units.

    space, to_blender : The document's, and its inverse.
    fps : float
    """

    space: Space
    to_blender: Space
    fps: float

    def scanned(
        self, document: Mapping[str, Any], ids: list[str], stopped_at: float | None
    ) -> ScannedContacts:
        """Read contacts and near misses between objects of `ids`."""
        entries, near = document["contacts"], document["clearances"]
        index_of = {id: index for index, id in enumerate(ids)}
        written, scale = _column(near, "gap"), self.space.scale
        # Rounded up, so that no gap is less than the written one, which was rounded down.
        gaps = written / scale
        gaps = np.where(gaps * scale >= written, gaps, np.nextafter(gaps, np.inf))
        a, b = _sides(near, index_of)
        clearances = Clearances(NearMisses(a, b, _column(near, "frame"), gaps))
        accepted = tuple(entry.get("accepted") for entry in entries)
        return ScannedContacts(
            ContactReport(self._contacts(entries, index_of), clearances, stopped_at),
            ids,
            next((entry["shape"] for entry in (*entries, *near) if "shape" in entry), ""),
            frozenset(entry["obstacle"] for entry in entries if "obstacle" in entry),
            accepted if any(text is not None for text in accepted) else (),
            self._clearance(entries),
        )

    def _contacts(self, entries: Sequence[Mapping[str, Any]], index_of: Mapping[str, int]) -> Contacts:
        firsts = [entry["first"] for entry in entries]
        # Documents before version 1.2 have no details.
        spans = [{**_UNKNOWN_DETAILS, **span} for entry in entries for span in entry["intervals"]]
        a, b = _sides(entries, index_of)
        pairs = PairContacts(
            a,
            b,
            _column(firsts, "frame"),
            _column(firsts, "uncertainty"),
            self._vectors(firsts, "point"),
            self._vectors(firsts, "normal"),
            np.array([first["atStart"] for first in firsts], dtype=bool),
            np.array([first["tunnelling"] for first in firsts], dtype=bool),
            np.array([entry["motion"] for entry in entries], dtype=np.str_),
            *self._extents(entries),
        )
        intervals = Intervals(
            _column(spans, "start"),
            _column(spans, "end"),
            _column(spans, "uncertainty"),
            self._vectors(spans, "point"),
            self._vectors(spans, "normal"),
            self._vectors(spans, "velocity") / self.fps,
            *self._extents(spans),
            self._vectors([extent(span) for span in spans], "direction"),
        )
        counts = np.array([len(entry["intervals"]) for entry in entries], dtype=np.int64)
        return Contacts(pairs, intervals, counts)

    def _vectors(self, entries: Sequence[Mapping[str, Any]], key: str) -> Floats:
        """Convert positions, displacements or unit vectors (n, 3); NaN where they are not known."""
        vectors = np.array([entry[key] or [math.nan] * 3 for entry in entries], np.float64).reshape(-1, 3)
        is_known = ~np.isnan(vectors).any(axis=1)
        is_direction = key in ("normal", "direction")
        convert = self.to_blender.directions if is_direction else self.to_blender.vectors
        vectors[is_known] = convert(vectors[is_known])
        return vectors

    def _extents(self, entries: Sequence[Mapping[str, Any]]) -> tuple[Floats, Floats]:
        """Frames and depths of the deepest overlaps, or minus the gaps."""
        depths = np.array([signed_depth(entry) for entry in entries], dtype=np.float64)
        return _column([extent(entry) for entry in entries], "frame"), depths * self.to_blender.scale

    def _clearance(self, entries: Sequence[Mapping[str, Any]]) -> float:
        """Clearance of a scan; the largest gap for documents before version 1.5, which do not have it."""
        spans = [span for entry in entries for span in (entry, *entry["intervals"]) if "deepest" in span]
        gaps = [-signed_depth(span) for span in spans]
        written = next((entry["clearance"] for entry in entries if "clearance" in entry), max([0.0, *gaps]))
        return float(f"{written / self.space.scale:.12g}")


def _sides(entries: Sequence[Mapping[str, Any]], index_of: Mapping[str, int]) -> list[Ints]:
    """Return the indices (n,) of the objects a, and of b."""
    return [np.array([index_of[entry[side]] for entry in entries], dtype=np.int64) for side in ("a", "b")]


def _column(entries: Sequence[Mapping[str, Any]], key: str) -> Floats:
    return np.array([entry[key] for entry in entries], dtype=np.float64)
