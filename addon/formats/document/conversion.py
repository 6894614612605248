"""Bounds and contacts as the "collision-bounds" JSON document, and documents of any space read again.

All numbers are in the document's declared space. The same input gives the same bytes: objects are sorted by
name, then id, keys have one order, there are no time stamps. Shapes are rounded outward, so they still
enclose. What is written of each part of a document is next to how it is read. "extras" can hold anything, so
a value of another form is read as none there.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ...core.messages import message
from ...core.numeric.arguments import as_whole_number, require_type
from ..rounding import json_number, to_lists
from ..spaces import Space
from ..validation.strict_json import MAX_MEGABYTES, DocumentError
from ..validation.validate import load_document, require_document, schema_version
from ..wording import extension_version, single_line, valid_text
from .contacts import ContactReader, ContactWriter
from .model import (
    DocumentContents,
    InputWarning,
    Origin,
    Partial,
    ScannedContacts,
    Skipped,
    SortedObjects,
    TimeSettings,
    response_of,
)
from .objects import OBJECTS_AT_ONCE, WrittenEntries, object_members, read_objects, read_track, written_tracks


def _write_partial(partial: Partial) -> dict[str, Any]:
    return {"plannedEnd": json_number(partial.planned_end)}


def _read_partial(extra: Any, _: Collection[str]) -> Partial | None:
    if not isinstance(extra, dict) or not isinstance(extra.get("plannedEnd"), (int, float)):
        return None
    return Partial(extra["plannedEnd"])


def _read_ids(extra: Any, known: Collection[str]) -> tuple[str, ...]:
    if not isinstance(extra, list) or not all(isinstance(id, str) for id in extra):
        return ()
    return tuple(id for id in extra if id in known)


def _write_groups(key: str, groups: Mapping[str, Iterable[str]]) -> list[dict[str, Any]]:
    """Names of groups in order, with the ids of their objects."""
    return [{key: name, "ids": sorted(groups[name])} for name in sorted(groups)]


def _read_groups(key: str, extra: Any) -> list[tuple[str, tuple[str, ...]]]:
    return [
        (entry[key], tuple(id for id in entry["ids"] if isinstance(id, str)))
        for entry in (extra if isinstance(extra, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get(key), str) and isinstance(entry.get("ids"), list)
    ]


def _write_played(played: Mapping[str, str]) -> list[dict[str, Any]]:
    ids: dict[str, list[str]] = {}
    for id, reason in played.items():
        ids.setdefault(reason, []).append(id)
    return _write_groups("reason", ids)


def _read_played(extra: Any, known: Collection[str]) -> dict[str, str]:
    return {id: reason for reason, ids in _read_groups("reason", extra) for id in ids if id in known}


def read_armature_roots(extra: Any, _: Collection[str] = ()) -> dict[str, tuple[str, ...]]:
    return dict(_read_groups("armature", extra))


def read_skipped_pairs(extra: Any, _: Collection[str] = ()) -> dict[str, int]:
    counts = extra.items() if isinstance(extra, Mapping) else ()
    return {str(name): count for name, count in counts if type(count) is int and count > 0}


_EXTRAS: dict[str, tuple[str, Callable[[Any], Any], Callable[[Any, Collection[str]], Any]]] = {
    "partial": ("partial", _write_partial, _read_partial),
    "straightBetweenFrames": ("linear_ids", sorted, _read_ids),
    "playedInScene": ("played", _write_played, _read_played),
    "vertexGroup": ("vertex_group", str, lambda extra, _: extra if isinstance(extra, str) else None),
    "armatureRoots": ("armature_roots", partial(_write_groups, "armature"), read_armature_roots),
    "skippedPairs": ("skipped_pairs", lambda pairs: dict(sorted(pairs.items())), read_skipped_pairs),
}
"""Attributes of `DocumentContents`, how each is written, and how it is read, with the ids of all objects."""

FORMAT = "collision-bounds"
SCHEMA_ID = "urn:collision-bounds:document:1"
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
    extras = ((key, write, getattr(contents, name)) for key, (name, write, _) in _EXTRAS.items())
    return {
        "$schema": SCHEMA_ID,
        "format": FORMAT,
        "version": schema_version(),
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
    extras = {name: read(written.get(key), known_ids) for key, (name, _, read) in _EXTRAS.items()}
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
