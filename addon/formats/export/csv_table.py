"""Documents as CSV (RFC 4180, with LF line ends) for a spreadsheet: one row an object, or one a contact.

Spreadsheets take a cell that begins with =, +, - or @ for a formula, even a quoted one. Such names get an
apostrophe in front (OWASP, "CSV Injection"), and so do names that begin with an apostrophe: a reader that
removes one leading apostrophe of a text gets the name in each case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from ..contact_extents import extent
from ..document.model import SkippedPairs, read_skipped_pairs
from ..document.objects import object_names
from ..shape_members import MEMBERS, SHAPE_TYPES
from ..spaces import json_number, rounded_down

_FORMULA_START = re.compile("['=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""First characters of texts that get an apostrophe, with full-width forms that spreadsheets convert."""

_SECONDS_DECIMALS = 6

_NEEDS_QUOTES = re.compile('[",\r\n]')


def _shape_columns(key: str) -> dict[str, list[str]]:
    prefix, columns = "" if key == "aabb" else f"{key}_", {}
    for name, tail in SHAPE_TYPES[key].field_shapes.items():
        part = {"center": "", "half_extents": "half_"}.get(name, f"{name}_")
        axes = "xyzw" if name == "rotation" else "xyz" if tail else ""
        columns[MEMBERS[name]] = [f"{prefix}{part}{axis}" for axis in axes] or [f"{prefix}{name}"]
    return columns


_SHAPE_COLUMNS = {key: _shape_columns(key) for key in ("sphere", "aabb", "obb", "capsule", "cylinder")}
_BOUNDS_COLUMNS = (
    *("id", "name", "type", "parent"),
    *(name for members in _SHAPE_COLUMNS.values() for names in members.values() for name in names),
)

_CONTACT_COLUMNS = (
    *("a", "b", "a_id", "b_id", "kind", "frame", "seconds", "uncertainty", "until", "at_start", "tunnelling"),
    *("deepest_frame", "depth", "gap", "overlap", "x", "y", "z", "normal_x", "normal_y", "normal_z"),
    *("velocity_x", "velocity_y", "velocity_z", "closing_speed"),
    *("direction_x", "direction_y", "direction_z"),
    *("reason", "pairs", "frame_step", "fps"),
)


def bounds_csv(document: dict[str, Any]) -> Iterator[str]:
    """Convert a document to a table of world shapes, one row an object.

    document : Its space and the order of its objects are kept.
    line : A row with its line end. Cells of shapes that an object does not have are empty.
    """
    return _csv_lines(_BOUNDS_COLUMNS, map(_bounds_row, document["objects"]))


def contacts_csv(document: dict[str, Any]) -> Iterator[str]:
    """Convert a document to a table of contacts, followed by near misses (kind "clearance", with a gap).

    A contact is followed by its later intervals (kind "interval"). Last are the number of skipped pairs for
    each reason (kind "skipped") and the frames that were scanned (kind "scan").

    document : Its space and order are kept.
    line : A row with its line end, with names and ids of the objects; `until` is the end of the first
        interval.
    """
    names = object_names(document)
    fps = document["time"]["fps"]
    contacts = chain.from_iterable(_contact_rows(entry, names, fps) for entry in document["contacts"])
    clearances = (
        _row_of("clearance", {**near, "a": names[a], "b": names[b], "a_id": a, "b_id": b})
        for near in document["clearances"]
        for a, b in [(near["a"], near["b"])]
    )
    return _csv_lines(_CONTACT_COLUMNS, chain(contacts, clearances, _rows_of_scan(document)))


def separation_csv(frames: Sequence[float], lengths: Sequence[float | None], unit: str) -> Iterator[str]:
    """Convert the separation of a pair over time to CSV, a line for each sample.

    frames : Increasing.
    lengths : sequence of (float or None). Signed separations; None is an empty cell.
    unit : Of the lengths.
    """
    rows = (
        (round(frame, 6), None if length is None else round(length, 9) + 0.0, unit)
        for frame, length in zip(frames, lengths, strict=True)
    )
    return _csv_lines(("frame", "separation", "unit"), rows)


def _bounds_row(entry: dict[str, Any]) -> list[Any]:
    row = [entry["id"], entry["name"], entry["type"], entry["parent"]]
    for key, members in _SHAPE_COLUMNS.items():
        for member, names in members.items():
            value = entry["world"][key][member] if key in entry["world"] else [None] * len(names)
            row += value if isinstance(value, list) else [value]
    return row


def _contact_rows(entry: dict[str, Any], names: dict[str, str], fps: float) -> Iterator[list[Any]]:
    """Yield a row for the contact, with its first interval, and one for each later interval."""
    first = entry["first"]
    pair = names[entry["a"]], names[entry["b"]], entry["a"], entry["b"]
    begin, *later = entry["intervals"]
    # Of the interval with the deepest overlap of the contact, or the closest approach.
    frame = extent(entry)["frame"]
    sides = (extent(span) for span in entry["intervals"] if "point" in span)
    directions = (each["direction"] for each in sides if each["frame"] == frame)
    yield [
        *(*pair, "contact"),
        *(first["frame"], first["seconds"], first["uncertainty"], begin["end"]),
        *(str(first["atStart"]).lower(), str(first["tunnelling"]).lower()),
        *(*_extent_cells(entry), *first["point"], *first["normal"]),
        *(_velocity_cells(begin) if "point" in begin else (None,) * 4),
        *next(directions, (None,) * 3),
        *(None,) * 4,
    ]
    for span in later:
        if "point" not in span:
            continue
        yield [
            *(*pair, "interval"),
            *(span["start"], _seconds(span["start"], fps), span["uncertainty"], span["end"], "false", None),
            *(*_extent_cells(span), *span["point"], *span["normal"]),
            *_velocity_cells(span),
            *extent(span)["direction"],
            *(None,) * 4,
        ]


def _extent_cells(entry: dict[str, Any]) -> tuple[Any, ...]:
    """Frame, depth, the gap of what only comes closer than the clearance, and how meshes overlap."""
    found = extent(entry)
    return found["frame"], found.get("depth"), found.get("gap"), found.get("overlap")


def _velocity_cells(span: dict[str, Any]) -> tuple[Any, ...]:
    """Velocity and closing speed, empty if they are not known."""
    return (*(span["velocity"] or (None,) * 3), span["closingSpeed"])


def _rows_of_scan(document: dict[str, Any]) -> Iterator[list[Any]]:
    """Yield a row for each reason why pairs were skipped, and one with the frames that were scanned."""
    counts = read_skipped_pairs(document["extras"].get("skippedPairs"))
    for reason in SkippedPairs:
        if reason in counts:
            yield _row_of("skipped", {"reason": reason.text, "pairs": counts[reason]})
    time = document["time"]
    cells = {
        "frame": time["frameStart"],
        "seconds": _seconds(time["frameStart"], time["fps"]),
        "until": time["frameEnd"],
        "frame_step": time["frameStep"],
        "fps": time["fps"],
    }
    yield _row_of("scan", cells)


def _seconds(frame: float, fps: float) -> float:
    """Time of a frame in seconds, rounded down."""
    return json_number(float(rounded_down(frame / fps, _SECONDS_DECIMALS)))


def _row_of(kind: str, cells: dict[str, Any]) -> list[Any]:
    """Make a row of a kind from the cells that are not empty."""
    return [kind if column == "kind" else cells.get(column) for column in _CONTACT_COLUMNS]


def _csv_lines(heading: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    for row in chain([heading], rows):
        yield ",".join(map(_cell_text, row)) + "\n"


def _cell_text(value: Any) -> str:
    """Text of a cell. The module `csv` of Python 3.11 does not quote a carriage return."""
    if not isinstance(value, str):
        return "" if value is None else str(value)
    text = f"'{value}" if _FORMULA_START.match(value) else value
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text
