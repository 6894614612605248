"""Documents as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unicodedata import category, east_asian_width, normalize

from .wording import counted, on_a_line

_NAMES_IN_A_LINE = 5
_OF_TEXT = ("Object", "A", "B", "")
_BEGIN_NUMBERS = frozenset("-0123456789")
_NO_WIDTH = ("Mn", "Me", "Cf")
_NO_OBJECTS = "No objects with bounds."
_BOUNDS = ("Sphere radius", "Sphere center", "Box size")


def bounds_table(document: dict[str, Any], linear_only: Sequence[str] = ()) -> str:
    """One line an object: its world sphere and box, in the document's unit; then those of envelopes.

    linear_only : names of what was taken to go straight between frames, said in a line at the end
    """
    if not document["objects"]:
        return f"{_NO_OBJECTS}\n"
    rows = [
        ["Object", *_BOUNDS],
        *([entry["name"], *_bounds(entry["world"])] for entry in document["objects"]),
    ]
    parts = [_aligned(rows)]
    around = [
        [entry["name"], *_bounds(entry["envelope"])] for entry in document["objects"] if "envelope" in entry
    ]
    if around:
        time = document["time"]
        title = f"Envelopes, frames {time['frameStart']:g} to {time['frameEnd']:g}"
        parts.append(title + "\n" + _aligned([["Object", *_BOUNDS], *around]))
    if document["tracks"]:
        parts.append(counted(len(document["tracks"]), "track"))
    if linear_only:
        parts.append(_linear(linear_only, len(document["objects"])))
    return "\n\n".join(parts) + "\n"


def _bounds(shapes: dict[str, Any]) -> list[str]:
    """Sphere and box as the columns of `_BOUNDS`."""
    sphere, box = shapes.get("sphere"), shapes.get("aabb")
    size = [high - low for low, high in zip(box["min"], box["max"], strict=True)] if box else None
    return [
        f"{sphere['radius']:.4f}" if sphere else "-",
        _vector(sphere["center"]) if sphere else "-",
        _vector(size) if size else "-",
    ]


def contacts_table(document: dict[str, Any], linear_only: Sequence[str] = ()) -> str:
    """One line a pair by first contact; then those in contact from the start; then near misses by gap.

    linear_only : names of what could not be looked at between frames, said in a line at the end
    """
    if not document["objects"]:
        return f"{_NO_OBJECTS}\n"
    names = {entry["id"]: entry["name"] for entry in document["objects"]}
    later = [contact for contact in document["contacts"] if not contact["first"]["atStart"]]
    from_start = [contact for contact in document["contacts"] if contact["first"]["atStart"]]
    parts = []
    if later:
        rows = [["First contact", "Seconds", "+/-", "A", "B", "Until", "Depth", ""]]
        for contact in later:
            first = contact["first"]
            rows.append(
                [
                    f"{first['frame']:.6f}",
                    f"{first['seconds']:.6f}",
                    f"{first['uncertainty']:.6f}",
                    *_course(contact, names),
                    ", ".join(_notes(contact, bool(linear_only))),
                ]
            )
        parts.append(_aligned(rows))
    else:
        parts.append("No contacts but from the start." if from_start else "No contacts.")
    if from_start:
        rows = [["A", "B", "Until", "Depth", ""]]
        rows += [
            [*_course(contact, names), ", ".join(_notes(contact, bool(linear_only)))]
            for contact in from_start
        ]
        parts.append("In contact from the start\n" + _aligned(rows))
    if document["clearances"]:
        rows = [["Closest at", "Gap", "A", "B"]]
        rows += [
            [f"{near['frame']:.6f}", f"{near['gap']:.6f}", names[near["a"]], names[near["b"]]]
            for near in document["clearances"]
        ]
        parts.append("Near misses\n" + _aligned(rows))
    if how_far := _how_far(document["extras"].get("partial"), document["time"]["frameEnd"]):
        parts.append(how_far)
    if linear_only:
        parts.append(_linear(linear_only, len(names)))
    return "\n\n".join(parts) + "\n"


def _how_far(partial: Any, end: float) -> str:
    """Where a scan was stopped; nothing of one that was not, or of extras that are not ours."""
    told = partial if isinstance(partial, dict) else {}
    planned, unasked = told.get("plannedEnd"), told.get("meshesNotAsked")
    if isinstance(planned, (int, float)) and planned != end:
        return f"Stopped at frame {end:g} of {planned:g}: later contacts unknown"
    if not isinstance(unasked, int):
        return ""
    return f"Stopped: {counted(unasked, 'contact')} not asked of the meshes"


def _course(contact: dict[str, Any], names: dict[str, str]) -> list[str]:
    """Who, how long at first, and how deep at worst."""
    return [
        names[contact["a"]],
        names[contact["b"]],
        f"{contact['intervals'][0]['end']:.6f}",
        f"{contact['deepest']['depth']:.4f}",
    ]


def _notes(contact: dict[str, Any], say_linear: bool) -> list[str]:
    more = len(contact["intervals"]) - 1
    return [
        *(["tunnelling: between frames only"] if contact["first"]["tunnelling"] else []),
        *([f"{more} more later"] if more else []),
        *([_of_meshes(contact["meshes"])] if "meshes" in contact else []),
        *(["linear"] if say_linear and contact["motion"] == "linear" else []),
    ]


def _of_meshes(meshes: dict[str, Any]) -> str:
    return f"meshes at {meshes['frame']:.6f}" if meshes["touch"] else "meshes never"


def _linear(names: Sequence[str], of: int) -> str:
    """What of so many objects could not be looked at between frames."""
    what = "all objects" if len(names) == of else _listed(names)
    return f"Linear between frames, for the sake of simulations: {what}"


def _listed(names: Sequence[str]) -> str:
    """The first few names, and how many more."""
    shown = ", ".join(map(on_a_line, names[:_NAMES_IN_A_LINE]))
    more = len(names) - _NAMES_IN_A_LINE
    return f"{shown} and {more} more" if more > 0 else shown


def _vector(values: Sequence[float]) -> str:
    return "(" + ", ".join(f"{value:.4f}" for value in values) + ")"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns under their headings, padded to their widest entry; numbers to the right, text to the left."""
    rows = [[on_a_line(cell) for cell in row] for row in rows]
    widths = [max(_width(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = []
        for heading, cell, width in zip(rows[0], row, widths, strict=True):
            space = " " * (width - _width(cell))
            is_number = heading not in _OF_TEXT and cell[:1] in _BEGIN_NUMBERS
            cells.append(space + cell if is_number else cell + space)
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _width(text: str) -> int:
    """How many columns of a terminal it takes: two for what is wide, none for what goes onto another sign."""
    if text.isascii():
        return len(text)
    return sum(
        0 if category(sign) in _NO_WIDTH else 2 if east_asian_width(sign) in "WF" else 1
        for sign in normalize("NFC", text)
    )
