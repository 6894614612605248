"""Documents as CSV for a spreadsheet: a line an object, or a line a contact. RFC 4180, lines end in LF."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

_BOUNDS = (
    *("id", "name", "type", "parent"),
    *("sphere_x", "sphere_y", "sphere_z", "sphere_radius"),
    *("min_x", "min_y", "min_z", "max_x", "max_y", "max_z"),
    *("obb_x", "obb_y", "obb_z", "obb_half_x", "obb_half_y", "obb_half_z"),
    *("obb_rotation_x", "obb_rotation_y", "obb_rotation_z", "obb_rotation_w"),
)

_CONTACTS = (
    *("a", "b", "a_id", "b_id", "kind", "frame", "seconds", "uncertainty", "until", "at_start", "tunnelling"),
    *("deepest_frame", "depth", "gap", "x", "y", "z", "normal_x", "normal_y", "normal_z"),
)


def bounds_csv(document: dict[str, Any]) -> str:
    """World shapes of each object, in the document's space and order; empty cells for shapes it has not."""
    return _text(_BOUNDS, (_bounds_row(entry) for entry in document["objects"]))


def contacts_csv(document: dict[str, Any]) -> str:
    """Contacts, then near misses (kind "clearance", with a gap), with names and ids of their objects.

    `until` is where the first interval ends.
    """
    names = {entry["id"]: entry["name"] for entry in document["objects"]}
    contacts = (_contact_row(entry, names) for entry in document["contacts"])
    clearances = (_clearance_row(entry, names) for entry in document["clearances"])
    return _text(_CONTACTS, (*contacts, *clearances))


def _bounds_row(entry: dict[str, Any]) -> list[Any]:
    world = entry["world"]
    sphere, box, turned = (world.get(shape) for shape in ("sphere", "aabb", "obb"))
    return [
        *(entry["id"], entry["name"], entry["type"], entry["parent"]),
        *((*sphere["center"], sphere["radius"]) if sphere else (None,) * 4),
        *((*box["min"], *box["max"]) if box else (None,) * 6),
        *((*turned["center"], *turned["halfExtents"], *turned["rotation"]) if turned else (None,) * 10),
    ]


def _contact_row(entry: dict[str, Any], names: dict[str, str]) -> list[Any]:
    first, deepest = entry["first"], entry["deepest"]
    return [
        *(names[entry["a"]], names[entry["b"]], entry["a"], entry["b"], "contact"),
        *(first["frame"], first["seconds"], first["uncertainty"], entry["intervals"][0]["end"]),
        *(str(first["atStart"]).lower(), str(first["tunnelling"]).lower()),
        *(deepest["frame"], deepest["depth"], None, *first["point"], *first["normal"]),
    ]


def _clearance_row(entry: dict[str, Any], names: dict[str, str]) -> list[Any]:
    told = {
        "a": names[entry["a"]],
        "b": names[entry["b"]],
        "a_id": entry["a"],
        "b_id": entry["b"],
        "kind": "clearance",
        "frame": entry["frame"],
        "gap": entry["gap"],
    }
    return [told.get(column) for column in _CONTACTS]


def _text(heading: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows(rows)
    return stream.getvalue()
