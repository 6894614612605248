"""Bounds and contacts as the "collision-bounds" JSON document, version 1.

All numbers are in the document's declared space. The same input gives the same bytes: objects are sorted by
name, then id, keys have one order, there are no time stamps. Shapes are rounded outward, so they still
enclose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...core.numeric.arguments import as_whole_number, require_type
from ..rounding import json_number, to_lists
from ..spaces import Space
from .contacts import UNIT_DECIMALS, ContactWriter
from .model import DocumentContents, Origin, Partial, TimeSettings
from .objects import WrittenObjects
from .tracks import WrittenTracks

FORMAT = "collision-bounds"
VERSION = "1.5.0"
SCHEMA_ID = "urn:collision-bounds:document:1"
DEFAULT_DECIMALS = 6
LEAST_DECIMALS, MOST_DECIMALS = 3, 9


@dataclass(frozen=True)
class WriteOptions:
    """Space and precision of a document.

    Attributes
    ----------
    space : Space
        The space that the document declares; all its numbers are in it.
    decimals : int
        Decimals of lengths, LEAST_DECIMALS to MOST_DECIMALS.

    Raises
    ------
    InvalidShapeError
        For another type, or decimals out of range.
    """

    space: Space
    decimals: int = DEFAULT_DECIMALS

    def __post_init__(self) -> None:
        require_type(self.space, Space, "space")
        as_whole_number(self.decimals, "decimals", LEAST_DECIMALS, MOST_DECIMALS)


def make_document(contents: DocumentContents, options: WriteOptions) -> dict[str, Any]:
    """Convert contents to a document of dicts and lists, keys in the order of the format.

    Shapes are rounded outward: each encloses the exact one, in the document's space. First frames are rounded
    down, so a contact is never late. Objects and tracks that were read from a document, and are written in
    its space with as many decimals, keep their numbers.

    Parameters
    ----------
    contents : DocumentContents
        In Blender's space and units.
    options : WriteOptions
        Space and precision of the document.

    Returns
    -------
    document : dict of str to Any
        Its objects and tracks are converted on access, since there can be very many, see `WrittenObjects`
        and `WrittenTracks`.
    """
    require_type(contents, DocumentContents, "contents")
    require_type(options, WriteOptions, "options")
    space, scanned = options.space, contents.scanned
    writer = ContactWriter(space, options.decimals, contents.time)
    return {
        "$schema": SCHEMA_ID,
        "format": FORMAT,
        "version": VERSION,
        **_origin(contents.origin),
        "space": _space(space),
        "time": _time(contents.time),
        "objects": _objects(contents, options) if contents.objects else [],
        "tracks": WrittenTracks(contents.tracks, space, options.decimals) if contents.tracks else [],
        "contacts": writer.contacts(scanned) if scanned else [],
        "clearances": writer.clearances(scanned) if scanned else [],
        "skipped": [
            {"name": entry.name, "reason": entry.reason}
            for entry in sorted(contents.skipped, key=lambda entry: (entry.name, entry.reason))
        ],
        "warnings": [
            {"kind": entry.kind, "name": entry.name, "message": entry.message}
            for entry in sorted(contents.warnings, key=lambda entry: (entry.kind, entry.name, entry.message))
        ],
        "extras": {
            **({"partial": _partial(contents.partial)} if contents.partial else {}),
            **({"straightBetweenFrames": sorted(contents.linear_ids)} if contents.linear_ids else {}),
            **({"playedInScene": _played(contents.played)} if contents.played else {}),
            **({"vertexGroup": contents.vertex_group} if contents.vertex_group is not None else {}),
            **({"armatureRoots": _armature_roots(contents)} if contents.armature_roots else {}),
            **(
                {"skippedPairs": dict(sorted(contents.skipped_pairs.items()))}
                if contents.skipped_pairs
                else {}
            ),
        },
    }


def _objects(contents: DocumentContents, options: WriteOptions) -> WrittenObjects:
    precision = options.decimals, max(options.decimals, UNIT_DECIMALS)
    return WrittenObjects(contents.objects, options.space, precision, contents.responses)


def _played(played: Mapping[str, str]) -> list[dict[str, Any]]:
    """Reasons in order, each with the ids of its objects."""
    ids: dict[str, list[str]] = {}
    for id, reason in played.items():
        ids.setdefault(reason, []).append(id)
    return [{"reason": reason, "ids": sorted(ids[reason])} for reason in sorted(ids)]


def _armature_roots(contents: DocumentContents) -> list[dict[str, Any]]:
    """Armatures in order, each with the ids of its objects without a parent."""
    roots = contents.armature_roots
    return [{"armature": name, "ids": sorted(roots[name])} for name in sorted(roots)]


def _origin(origin: Origin) -> dict[str, Any]:
    return {
        "generator": {
            "name": origin.generator,
            "version": origin.generator_version,
            "blender": origin.blender,
        },
        "source": {"file": origin.file, "scene": origin.scene},
    }


def _space(space: Space) -> dict[str, Any]:
    return {
        "preset": space.preset,
        "up": space.up,
        "forward": space.forward,
        "handedness": space.handedness,
        "unit": space.unit,
        "metersPerUnit": json_number(space.meters_per_unit),
        "fromBlender": to_lists((space.axes * space.scale).reshape(-1)),
        "matrixOrder": "row-major 3x3",
        "quaternion": "xyzw",
    }


def _time(time: TimeSettings) -> dict[str, Any]:
    return {
        "fps": json_number(time.fps),
        "frameStart": json_number(time.start),
        "frameEnd": json_number(time.end),
        "frameStep": json_number(time.step),
        "referenceFrame": json_number(time.reference),
    }


def _partial(partial: Partial) -> dict[str, Any]:
    """Convert the unfinished part of a scan that was stopped."""
    untested = {"meshesNotAsked": partial.untested} if partial.untested else {}
    return {"plannedEnd": json_number(partial.planned_end), **untested}
