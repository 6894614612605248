"""Bounds and contacts as the "collision-bounds" JSON document, and documents of any space read again.

All numbers are in the document's declared space. The same input gives the same bytes: objects are sorted by
name, then id, keys have one order, there are no time stamps. Shapes are rounded outward, so they still
enclose. Contacts and near misses are converted from tables and back, all at once. What is written of each
part of a document is next to how it is read.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import ContactReport
from ...core.messages import message
from ...core.numeric.arguments import as_whole_number, require_type
from ...core.numeric.arrays import Floats, Ints
from ...core.scan.report import Clearances, Contacts, Intervals, NearMisses, PairContacts
from ..contact_extents import EXTENTS, extent, signed_depth
from ..spaces import Space, json_number, rounded_down, rounded_up, to_lists
from ..validation.strict_json import MAX_MEGABYTES, DocumentError
from ..validation.validate import load_document, require_document
from ..wording import extension_version, single_line, valid_text
from .json_writer import Column, object_values, present
from .model import (
    EXTRAS,
    DocumentContents,
    InputWarning,
    Origin,
    ScannedContacts,
    Skipped,
    SortedObjects,
    TimeSettings,
    response_of,
)
from .objects import (
    OBJECTS_AT_ONCE,
    UNIT_DECIMALS,
    WrittenEntries,
    object_members,
    read_objects,
    read_track,
    written_tracks,
)

FORMAT = "collision-bounds"
SCHEMA_ID = "urn:collision-bounds:document:1"
VERSION = "1.5.0"
DEFAULT_DECIMALS = 6
LEAST_DECIMALS, MOST_DECIMALS = 3, 9

_TIME = {
    "fps": "fps",
    "frameStart": "start",
    "frameEnd": "end",
    "frameStep": "step",
    "referenceFrame": "reference",
}
"""Attributes of the time settings by their keys."""


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

        A gap that is 0 with the decimals of the document is a depth of 0. A depth that is not known is null.

        rows : Of the entries that the spans are in; None if they are all.
        """
        is_unknown = np.isnan(spans.depth)
        signed = np.where(is_unknown, 0.0, spans.depth) * self.space.scale
        # Rounding must not make a gap larger than the clearance.
        most = rounded_down(np.array([clearance]), self.decimals)
        gaps = np.minimum(np.around(np.maximum(-signed, 0.0), self.decimals), most)
        depths = np.around(np.maximum(signed, 0.0), self.decimals)
        columns = {}
        for key, name, lengths in (("deepest", "depth", depths), ("closest", "gap", gaps)):
            chosen = np.flatnonzero((gaps != 0) == (key == "closest"))
            frames = self._rounded(spans.deepest_frame[chosen], np.around)
            numbers: list[Any] = [*_json_numbers(lengths[chosen])]
            for row in np.flatnonzero(is_unknown[chosen]).tolist():
                numbers[row] = None
            members: dict[str, Any] = {"frame": frames, name: numbers}
            if isinstance(spans, Intervals):
                members["direction"] = self._directions(spans.direction[chosen])
            if key == "deepest":
                members["overlap"] = present([kind or None for kind in spans.overlap[chosen].tolist()])
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
            _overlaps(entries),
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
            _overlaps(spans),
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


def _overlaps(entries: Sequence[Mapping[str, Any]]) -> NDArray[np.str_]:
    """Kinds (n,) of the overlaps of contacts or intervals; no text for none."""
    return np.array([extent(entry).get("overlap", "") for entry in entries], dtype="U7")


def _column(entries: Sequence[Mapping[str, Any]], key: str) -> Floats:
    return np.array([entry[key] for entry in entries], dtype=np.float64)


@dataclass(frozen=True)
class LoadedDocument(DocumentContents):
    """Contents of a document, with the unit scale of its scene.

    scanned : Its subject indices are those of `objects`; its shape is empty in a document without contacts.
    scale_length : Meters for one Blender unit; 1 for a document in the space of glTF, which does not have
        it.
    """

    scanned: ScannedContacts
    scale_length: float = 1.0


def make_document(
    contents: DocumentContents, space: Space, decimals: int = DEFAULT_DECIMALS
) -> dict[str, Any]:
    """Convert contents to a document of dicts and lists, keys in the order of the format.

    Shapes are rounded outward: each encloses the exact one, in the document's space. First frames are rounded
    down, so a contact is never late. Objects and tracks that were read from a document, and are written in
    its space with as many decimals, keep their numbers.

    contents : In Blender's space and units.
    space : The space that the document declares; all its numbers are in it.
    decimals : Decimals of lengths, LEAST_DECIMALS to MOST_DECIMALS.
    Returns document : dict of str to Any. Its objects and tracks are converted on access, since there can
        be very many, see `WrittenEntries`.
    Raises InvalidShapeError: for another type, or decimals out of range.
    """
    require_type(contents, DocumentContents, "contents")
    require_type(space, Space, "space")
    as_whole_number(decimals, "decimals", LEAST_DECIMALS, MOST_DECIMALS)
    scanned, origin = contents.scanned, contents.origin
    objects = contents.objects
    if not isinstance(objects, SortedObjects):
        objects = sorted(objects, key=lambda entry: (entry.name, entry.id))
    members = partial(object_members, decimals=decimals, responses=contents.responses)
    writer = ContactWriter(space, decimals, contents.time)
    skipped = sorted(contents.skipped, key=lambda entry: (entry.name, entry.reason))
    warnings = sorted(contents.warnings, key=lambda entry: (entry.kind, entry.name, entry.message))
    extras = ((key, write, getattr(contents, name)) for key, (name, write, _) in EXTRAS.items())
    return {
        "$schema": SCHEMA_ID,
        "format": FORMAT,
        "version": VERSION,
        "generator": {
            "name": origin.generator,
            "version": origin.generator_version or extension_version(),
            "blender": origin.blender,
        },
        "source": {"file": valid_text(origin.file), "scene": origin.scene},
        "space": {
            **{key: getattr(space, key) for key in ("preset", "up", "forward", "handedness", "unit")},
            "metersPerUnit": json_number(space.meters_per_unit),
            "fromBlender": to_lists((space.axes * space.scale).reshape(-1)),
            "matrixOrder": "row-major 3x3",
            "quaternion": "xyzw",
        },
        "time": {key: json_number(getattr(contents.time, name)) for key, name in _TIME.items()},
        "objects": WrittenEntries(objects, space, OBJECTS_AT_ONCE, members) if objects else [],
        "tracks": written_tracks(contents.tracks, space, decimals) if contents.tracks else [],
        "contacts": writer.contacts(scanned) if scanned else [],
        "clearances": writer.clearances(scanned) if scanned and len(scanned.report.clearances) else [],
        "skipped": list(map(asdict, skipped)),
        "warnings": list(map(asdict, warnings)),
        "extras": {key: write(value) for key, write, value in extras if value or value == ""},
    }


def read_file(path: Path, max_megabytes: float = MAX_MEGABYTES) -> LoadedDocument:
    """Read and validate a file, and convert it to contents in Blender's units.

    path : Of a regular file.
    max_megabytes : Limit of the size, in units of 1,000,000 bytes.
    Raises DocumentError: with one sentence that names the file, when it cannot be read or is not a correct
        document.
    """
    try:
        return read_document(load_document(path, max_megabytes))
    except DocumentError as error:
        text = "{name}: {reason}"
        raise DocumentError(message(text, name=single_line(path.name), reason=error.message)) from None


def read_document(document: Mapping[str, Any]) -> LoadedDocument:
    """Convert a correct document, of any space, to contents in Blender's units.

    Objects and tracks also keep the numbers of the document, so that `make_document` writes them unchanged in
    the same space with as many decimals.

    document : As `parse_document` returns it.
    """
    require_document(document)
    space = Space.from_document(document["space"])
    to_blender = space.inverse()
    objects = read_objects(document["objects"], space, to_blender)
    time, generator, source = document["time"], document["generator"], document["source"]
    ids, end = [entry.id for entry in objects], time["frameEnd"]
    known_ids, written = frozenset(ids), document["extras"]
    extras = {name: read(written.get(key), known_ids) for key, (name, _, read) in EXTRAS.items()}
    partial = extras["partial"]
    is_stopped = partial is not None and partial.planned_end != end
    if not is_stopped:
        extras["partial"] = None
    contacts = ContactReader(space, to_blender, time["fps"])
    length = space.scale * space.meters_per_unit
    typed = float(f"{length:.12g}")
    # The product can be off by an ulp from what the user typed.
    is_typed = math.isclose(typed, length, rel_tol=4 * sys.float_info.epsilon)
    return LoadedDocument(
        objects=objects,
        skipped=tuple(Skipped(**entry) for entry in document["skipped"]),
        origin=Origin(
            generator["name"], generator["version"], generator["blender"], source["file"], source["scene"]
        ),
        time=TimeSettings(**{name: time[key] for key, name in _TIME.items()}),
        scanned=contacts.scanned(document, ids, end if is_stopped else None),
        tracks=tuple(read_track(entry, space, to_blender) for entry in document["tracks"]),
        warnings=tuple(InputWarning(**entry) for entry in document.get("warnings", ())),
        responses={entry["id"]: response_of(entry) for entry in document["objects"] if "collision" in entry},
        scale_length=typed if is_typed else length,
        **extras,
    )
