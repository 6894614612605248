"""Contents of a page about a document: rows of its tables, and the bounds that it shows."""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from addon.core import CollisionBoundsError
from addon.formats import DocumentError, load_document
from addon.formats.contact_extents import extent, signed_depth
from addon.formats.wording import message_line, single_line

Row = dict[str, Any]

MAX_ENTRIES = 50
"""Entries of a list in `extras` that the page shows."""

NOTHING: Row = {
    "notes": [],
    "files": [],
    "rows": [],
    "curves": [],
    "objects": [],
    "tracks": {},
    "gone": [],
    "skipped": [],
    "warnings": [],
    "extras": [],
}
"""Contents of a page that shows nothing."""


class ReportError(CollisionBoundsError):
    """The source of a page cannot be read. The message names it."""


def loaded(path: Path) -> dict[str, Any]:
    """Return a validated document, with each text on one line. Raises ReportError."""
    try:
        document: dict[str, Any] = visible(load_document(path))
    except (DocumentError, OSError) as error:
        raise ReportError(f"{path}: {error}") from None
    return document


def visible(value: Any) -> Any:
    """Return a parsed JSON value whose texts have no control characters, see `single_line`."""
    if isinstance(value, str):
        return single_line(value)
    if isinstance(value, list):
        return [visible(item) for item in value]
    if isinstance(value, dict):
        return {single_line(key): visible(item) for key, item in value.items()}
    return value


def document_contents(path: Path, curves: list[Row]) -> dict[str, Any]:
    """Return the contents of the page about a document.

    Parameters
    ----------
    path : Path
        Of the document.
    curves : list of dict
        Separations over time, with `a`, `b`, `frames` and `lengths`.

    Returns
    -------
    contents : dict
        Values that JSON can represent.

    Raises
    ------
    ReportError
        If the document cannot be read, is not valid, or has no pair of a curve.
    """
    document = loaded(path)
    rows = contact_rows(document)
    pairs = {frozenset((row["a"], row["b"])) for row in rows}
    for curve in curves:
        if frozenset((curve["a"], curve["b"])) not in pairs:
            raise ReportError(
                f"--separation: {path} has no contact and no near miss of {curve['a']!r} and {curve['b']!r}"
            )
    indices = {entry["id"]: index for index, entry in enumerate(document["objects"])}
    for row in rows:
        row["objects"] = [indices[row["a"]], indices[row["b"]]]
    is_scan = bool(document["contacts"] or document["clearances"])
    return NOTHING | {
        "kind": "document",
        "title": document["source"]["file"] or message_line(path.name),
        "isScan": is_scan,
        "tiles": _tiles(document, rows, is_scan),
        "facts": _facts(document, path),
        "unit": document["space"]["unit"],
        "time": document["time"],
        "fromBlender": document["space"]["fromBlender"],
        "rows": rows,
        "curves": curves,
        "objects": [
            {key: entry[key] for key in ("id", "type", "world")} | _extra(entry)
            for entry in document["objects"]
        ],
        "tracks": _tracks(document, indices),
        "gone": document["extras"].get("baseline", {}).get("gone", []),
        "skipped": document["skipped"],
        "warnings": document.get("warnings", []),
        "extras": _extras(document["extras"]),
    }


def contact_rows(document: Mapping[str, Any], file: str = "") -> list[Row]:
    """Return the rows of the table of contacts: contacts and near misses, as the document lists them."""
    baseline = document["extras"].get("baseline")
    entries = baseline.get("new", ()) if isinstance(baseline, dict) else ()
    new = {(entry["a"], entry["b"]) for entry in entries}
    rows = [_contact_row(contact, new) for contact in document["contacts"]]
    rows += [
        {"kind": "near miss", "a": miss["a"], "b": miss["b"], "frame": miss["frame"], "gap": miss["gap"]}
        for miss in document["clearances"]
    ]
    if file:
        rows = [row | {"file": file} for row in rows]
    return [row | {"id": number} for number, row in enumerate(rows)]


def add_bounds(rows: list[Row], document: Mapping[str, Any], most: int) -> int:
    """Add `bounds` to contacts: the shapes of both objects at the first contact, as the document has them.

    Documents have no triangles, so contacts of meshes have boxes.

    Parameters
    ----------
    rows : list of dict
        From `contact_rows`. Changed in place.
    document : mapping
        The document of the rows.
    most : int
        Length of the JSON text of the bounds above which further rows get none.

    Returns
    -------
    rest : int
        The part of `most` that is not used, 0 or more.
    """
    objects = {entry["id"]: entry for entry in document["objects"]}
    tracks = {track["object"]: track for track in document["tracks"]}
    reference = document["time"]["referenceFrame"]
    for row in rows:
        if row["kind"] != "contact":
            continue
        shape = "aabb" if row["shape"] == "mesh" else row["shape"]
        bounds = [
            _bound_at(objects[name], tracks.get(name, {}), shape, row["frame"], reference)
            for name in (row["a"], row["b"])
        ]
        most -= len(json.dumps(bounds))
        if most < 0:
            return 0
        if any(bounds):
            row["bounds"] = bounds
    return most


def _bound_at(
    entry: Mapping[str, Any], track: Mapping[str, Any], name: str, frame: float, reference: float
) -> Row | None:
    """Return the shape at the last frame of the track up to a frame, else that of the reference frame."""
    at = bisect_right(track["frames"], frame) - 1 if name in track else -1
    if at < 0:
        shape = entry["world"].get(name)
        return None if shape is None else {"shape": shape, "frame": reference, "isTracked": False}
    columns = track[name]
    keys = {"center": "centers", "radius": "radii"} if name == "sphere" else {"min": "mins", "max": "maxs"}
    shape = {key: columns[plural][at] for key, plural in keys.items()}
    return {"shape": shape, "frame": track["frames"][at], "isTracked": True}


def _contact_row(contact: Mapping[str, Any], new: set[tuple[str, str]]) -> Row:
    first = contact["first"]
    labels = []
    if (contact["a"], contact["b"]) in new:
        labels.append("new")
    if "accepted" in contact:
        labels.append("accepted")
    if first["tunnelling"]:
        labels.append("tunnelling")
    if first["atStart"]:
        labels.append("at start")
    row = {
        "kind": "contact",
        "frame": first["frame"],
        "uncertainty": first["uncertainty"],
        "seconds": first["seconds"],
        "normal": first["normal"],
        "point": first["point"],
        "depth": _known_depth(contact),
        "deepestFrame": extent(contact)["frame"],
        "speed": contact["intervals"][0].get("closingSpeed"),
        "intervals": [_interval(entry) for entry in contact["intervals"]],
        "labels": labels,
    }
    if "overlap" in extent(contact):
        row["overlap"] = extent(contact)["overlap"]
    same = ("a", "b", "shape", "motion", "obstacle", "clearance", "accepted")
    return {key: contact[key] for key in same if key in contact} | row


def _known_depth(entry: Mapping[str, Any]) -> float | None:
    """Return the depth of a contact or interval, minus its gap, or None if that is not known."""
    depth = signed_depth(entry)
    return None if math.isnan(depth) else depth


def _interval(entry: Mapping[str, Any]) -> list[float | None]:
    """Return start and end, and the frame and depth of the deepest overlap if the document has it.

    Minus the gap is the depth of what only comes close.
    """
    deepest = (extent(entry)["frame"], _known_depth(entry)) if "point" in entry else ()
    return [entry["start"], entry["end"], *deepest]


def _extras(extras: Mapping[str, Any]) -> list[list[str]]:
    """Return names and texts of the extras. The intervals of a baseline are elsewhere in the page."""
    baseline = extras.get("baseline")
    if isinstance(baseline, dict):
        counts = {key: len(value) if isinstance(value, list) else value for key, value in baseline.items()}
        extras = {**extras, "baseline": counts}
    return [[key, plain_text(value)] for key, value in extras.items()]


def plain_text(value: Any) -> str:
    """Return a JSON value as text: each entry of a list of objects on a line, at most 50 entries."""
    if isinstance(value, dict):
        return "; ".join(f"{key}: {plain_text(item)}" for key, item in value.items())
    if not isinstance(value, list):
        return value if isinstance(value, str) else json.dumps(value)
    texts = [plain_text(item) for item in value[:MAX_ENTRIES]]
    if len(value) > MAX_ENTRIES:
        texts.append(f"and {len(value) - MAX_ENTRIES} more")
    return ("\n" if any(isinstance(item, dict) for item in value) else ", ").join(texts) or "none"


def _extra(entry: Mapping[str, Any]) -> Row:
    return {key: entry[key] for key in ("override", "bone") if key in entry}


def _tracks(document: Mapping[str, Any], indices: Mapping[str, int]) -> dict[str, Row]:
    """Return the tracks by the index of their object."""
    return {
        str(indices[track["object"]]): {
            key: value for key, value in track.items() if key in ("frames", "sphere", "aabb")
        }
        for track in document["tracks"]
    }


def _tiles(document: Mapping[str, Any], rows: list[Row], is_scan: bool) -> list[list[Any]]:
    """Return the counts at the top of the page: label, number, and the importance."""
    contacts = [row for row in rows if row["kind"] == "contact"]
    tiles: list[list[Any]] = [["objects", len(document["objects"]), ""]]
    if is_scan:
        tiles.insert(0, ["contacts", len(contacts), "bad" if contacts else "good"])
        tiles.append(["near misses", len(rows) - len(contacts), ""])
    if "baseline" in document["extras"]:
        count = sum("new" in row["labels"] for row in contacts)
        tiles.insert(1, ["new contacts", count, "bad" if count else "good"])
    accepted = sum("accepted" in row["labels"] for row in contacts)
    if accepted:
        tiles.append(["accepted", accepted, ""])
    warnings = document.get("warnings", ())
    tiles.append(["skipped", len(document["skipped"]), ""])
    tiles.append(["warnings", len(warnings), "bad" if warnings else ""])
    return tiles


def _facts(document: Mapping[str, Any], path: Path) -> list[list[str]]:
    """Return the summary: labels and values."""
    time, space, generator = document["time"], document["space"], document["generator"]
    frames = f"{time['frameStart']:g} to {time['frameEnd']:g}"
    if time["frameStep"] != 1:
        frames += f", every {time['frameStep']:g}"
    shapes = sorted({contact["shape"] for contact in document["contacts"]})
    motions = sorted({contact["motion"] for contact in document["contacts"]})
    facts = [
        ["Document", message_line(path.name)],
        ["Scene", document["source"]["scene"]],
        ["Blender", generator["blender"]],
        ["Program", f"{generator['name']} {generator['version']}, document {document['version']}"],
        ["Frames", f"{frames}, at {time['fps']:.6g} frames per second"],
        ["Bounds of frame", f"{time['referenceFrame']:g}"],
        ["Space", f"{space['preset']}: {space['up']} up, {space['handedness']}-handed, unit {space['unit']}"],
        ["Contacts of", ", ".join("meshes" if name == "mesh" else f"bounds ({name})" for name in shapes)],
        ["Motion", ", ".join(motions)],
    ]
    partial = document["extras"].get("partial")
    if isinstance(partial, dict):
        facts.append(["Stopped early", f"the scan was to end at frame {partial.get('plannedEnd')}"])
    return [fact for fact in facts if fact[1]]
