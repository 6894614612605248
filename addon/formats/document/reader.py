"""Documents of any space, converted back to their contents in Blender's space and units."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...core.messages import message
from ..spaces import Space
from ..validation.strict_json import MAX_MEGABYTES, DocumentError
from ..validation.validate import load_document, require_document
from ..wording import single_line
from .contacts import ContactReader
from .model import (
    CollisionResponse,
    DocumentContents,
    InputWarning,
    ObjectBounds,
    Origin,
    Partial,
    ScannedContacts,
    Skipped,
    TimeSettings,
    Track,
    read_armature_roots,
    read_skipped_pairs,
    response_of,
)
from .objects import read_object
from .tracks import read_track


@dataclass(frozen=True)
class LoadedDocument(DocumentContents):
    """Contents of a document, with the unit scale of its scene.

    Attributes
    ----------
    scanned : ScannedContacts
        Its subject indices are those of `objects`; its shape is empty in a document without contacts.
    scale_length : float
        Meters for one Blender unit; 1 for a document in the space of glTF, which does not have it.
    """

    objects: tuple[ObjectBounds, ...]
    skipped: tuple[Skipped, ...]
    scanned: ScannedContacts
    tracks: tuple[Track, ...] = ()
    linear_ids: tuple[str, ...] = ()
    warnings: tuple[InputWarning, ...] = ()
    responses: Mapping[str, CollisionResponse] = field(default_factory=dict)
    scale_length: float = 1.0


def read_file(path: Path, max_megabytes: float = MAX_MEGABYTES) -> LoadedDocument:
    """Read and validate a file, and convert it to contents in Blender's units.

    Parameters
    ----------
    path : Path
        Of a regular file.
    max_megabytes : float
        Limit of the size, in units of 1,000,000 bytes.

    Returns
    -------
    loaded : LoadedDocument

    Raises
    ------
    DocumentError
        With one sentence that names the file, when it cannot be read or is not a correct document.
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

    Parameters
    ----------
    document : mapping of str to Any
        As `parse_document` returns it.

    Returns
    -------
    loaded : LoadedDocument
    """
    require_document(document)
    space = Space.from_document(document["space"])
    to_blender = space.inverse()
    objects = tuple(read_object(entry, space, to_blender) for entry in document["objects"])
    time, generator, source = document["time"], document["generator"], document["source"]
    end, extras = time["frameEnd"], document["extras"]
    partial = _partial(extras.get("partial"), end)
    was_stopped = partial is not None and partial.planned_end != end
    return LoadedDocument(
        objects,
        tuple(Skipped(entry["name"], entry["reason"]) for entry in document["skipped"]),
        Origin(
            generator["name"],
            generator["version"],
            generator["blender"],
            source["file"],
            source["scene"],
        ),
        TimeSettings(
            time["fps"], time["frameStart"], time["frameEnd"], time["frameStep"], time["referenceFrame"]
        ),
        ContactReader(space, to_blender, time["fps"]).scanned(
            document, [entry.id for entry in objects], end if was_stopped else None
        ),
        partial,
        tuple(read_track(entry, space, to_blender) for entry in document["tracks"]),
        _known_ids(extras.get("straightBetweenFrames"), {entry.id for entry in objects}),
        tuple(
            InputWarning(entry["kind"], entry["name"], entry["message"])
            for entry in document.get("warnings", ())
        ),
        _played(extras.get("playedInScene"), {entry.id for entry in objects}),
        _responses(document["objects"]),
        _vertex_group(extras.get("vertexGroup")),
        read_armature_roots(extras.get("armatureRoots")),
        read_skipped_pairs(extras.get("skippedPairs")),
        _scale_length(space),
    )


def _vertex_group(extra: Any) -> str | None:
    """Name of the vertex group from "extras"; None for another form, since extras can hold anything."""
    return extra if isinstance(extra, str) else None


def _responses(objects: Iterable[Mapping[str, Any]]) -> dict[str, CollisionResponse]:
    """Collision responses of the objects that have one, by their ids."""
    return {entry["id"]: response_of(entry) for entry in objects if "collision" in entry}


def _scale_length(space: Space) -> float:
    """Meters for one Blender unit as the user typed it, because the product can be off by an ulp."""
    length = space.scale * space.meters_per_unit
    typed = float(f"{length:.12g}")
    return typed if math.isclose(typed, length, rel_tol=4 * sys.float_info.epsilon) else length


def _known_ids(extra: Any, known: Collection[str]) -> tuple[str, ...]:
    """Known ids of a list in "extras"; none if it is not a list of texts, since extras can hold anything."""
    if not isinstance(extra, list) or not all(isinstance(id, str) for id in extra):
        return ()
    return tuple(id for id in extra if id in known)


def _played(extra: Any, known: Collection[str]) -> dict[str, str]:
    """Reasons of known ids from "extras"; none for another form, since extras can hold anything."""
    entries = extra if isinstance(extra, list) else []
    return {
        id: entry["reason"]
        for entry in entries
        if isinstance(entry, dict) and isinstance(entry.get("reason"), str)
        for id in _known_ids(entry.get("ids"), known)
    }


def _partial(extra: Any, end: float) -> Partial | None:
    """Unfinished part of a scan from "extras"; None for another form, since extras can hold anything."""
    if not isinstance(extra, dict) or not isinstance(extra.get("plannedEnd"), (int, float)):
        return None
    untested = extra.get("meshesNotAsked", 0)
    untested = untested if isinstance(untested, int) else 0
    return Partial(extra["plannedEnd"], untested) if untested or extra["plannedEnd"] != end else None
