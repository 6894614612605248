"""Documents as plain text tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any
from unicodedata import category, east_asian_width, normalize

from ...core.numeric.arguments import require_texts
from ..document.model import SkippedPairs, read_skipped_pairs
from ..document.objects import object_names
from ..validation.validate import require_document
from ..wording import pluralized, single_line

_NAMES_IN_A_LINE = 5
_TEXT_COLUMNS = ("Object", "A", "B", "Collider", "Mesh", "Engine", "Kind", "")
_NUMBER_STARTS = frozenset("-0123456789")
_ZERO_WIDTH = ("Mn", "Me", "Cf")
_NO_OBJECTS = "No objects with bounds."
_BOUNDS_COLUMNS = ("Object", "Sphere radius", "Sphere center", "Box size")
_NEW_CONTACT_COLUMNS = ("First contact", "Seconds", "+/-", "A", "B", "Until", "Speed", "Depth", "")
_FIRST_FRAME_COLUMNS = ("A", "B", "Until", "Depth", "")
_COLLIDER_COLUMNS = ("Collider", "Mesh", "Engine", "Kind", "Vertices", "Fills", "")
_LABELS_OF_OTHER_SHAPES = {
    "obb": "oriented boxes",
    "spheres": "sphere trees",
    "hull": "convex hulls",
    "capsule": "capsules",
    "cylinder": "cylinders",
    "compound": "convex parts",
}


def bounds_table(document: dict[str, Any], linear_only: Sequence[str] = ()) -> Iterator[str]:
    """Yield the parts of a table of world spheres and boxes, one line an object, followed by envelopes.

    All rows are read before the first line, because the widest cells determine the columns. They are kept as
    text, so that memory stays small for very many objects.

    document : Lengths are in its unit.
    linear_only : Names of objects with assumed linear motion between frames, for a line at the end.
    part : Empty for each object that is read before the first row.
    """
    require_document(document)
    require_texts(linear_only, "linear_only")
    if not document["objects"]:
        yield f"{_NO_OBJECTS}\n"
        return
    bounds: list[str] = []
    envelopes: list[str] = []
    not_shown: set[str] = set()
    for entry in document["objects"]:
        bounds.append(_bounds_row(entry["name"], entry["world"]))
        if not entry["world"].keys() & {"sphere", "aabb"}:
            not_shown |= entry["world"].keys()
        if "envelope" in entry:
            envelopes.append(_bounds_row(entry["name"], entry["envelope"]))
        yield ""
    yield from _lines(_BOUNDS_COLUMNS, bounds)
    if envelopes:
        time = document["time"]
        yield f"\nEnvelopes, frames {time['frameStart']:g} to {time['frameEnd']:g}\n"
        yield from _lines(_BOUNDS_COLUMNS, envelopes)
    if document["tracks"]:
        yield f"\n{pluralized(len(document['tracks']), 'track')}\n"
    labels = [label for key, label in _LABELS_OF_OTHER_SHAPES.items() if key in not_shown]
    if labels := [*labels, *sorted(not_shown - _LABELS_OF_OTHER_SHAPES.keys() - {"sphere", "aabb"})]:
        yield "\nThis table has spheres and boxes along the axes."
        yield f" Only in files (-o FILE): {', '.join(labels)}\n"
    if linear_only:
        yield f"\n{_linear_line(linear_only, len(document['objects']))}\n"


def _bounds_row(name: str, shapes: dict[str, Any]) -> str:
    sphere, box = shapes.get("sphere"), shapes.get("aabb")
    size = [high - low for low, high in zip(box["min"], box["max"], strict=True)] if box else None
    radius = f"{sphere['radius']:.4f}" if sphere else "-"
    vectors = (_vector(each) if each else "-" for each in (sphere and sphere["center"], size))
    return "\n".join((single_line(name), radius, *vectors))


def contacts_table(document: dict[str, Any], linear_only: Sequence[str] = ()) -> str:
    """Convert a document to a table of contacts, one line a pair.

    New contacts come first, by time; then contacts that exist at the first frame; then near misses, by gap.

    document : Lengths are in its unit.
    linear_only : Names of objects with assumed linear motion between frames, for a line at the end.
    """
    require_document(document)
    require_texts(linear_only, "linear_only")
    if not document["objects"]:
        return f"{_NO_OBJECTS}\n"
    names = object_names(document)
    rows = [(entry, _contact_cells(entry, names, bool(linear_only))) for entry in document["contacts"]]
    new = [cells for entry, cells in rows if not entry["first"]["atStart"]]
    from_start = [cells for entry, cells in rows if entry["first"]["atStart"]]
    if new:
        parts = [_aligned(_NEW_CONTACT_COLUMNS, new)]
    elif from_start:
        parts = ["No contact begins during the scan; these pairs are in contact at its first frame."]
    elif len(names) == 1:
        parts = ["No contacts: only one object was checked."]
    else:
        parts = ["No contacts."]
    if from_start:
        parts.append("In contact at the first frame\n" + _aligned(_FIRST_FRAME_COLUMNS, from_start))
    if document["clearances"]:
        near_misses = [
            {
                "Closest at": f"{near['frame']:.6f}",
                "Gap": f"{near['gap']:.6f}",
                "A": names[near["a"]],
                "B": names[near["b"]],
            }
            for near in document["clearances"]
        ]
        parts.append("Near misses\n" + _aligned(("Closest at", "Gap", "A", "B"), near_misses))
    time, extras = document["time"], document["extras"]
    step = f" in steps of {time['frameStep']:g}" if time["frameStep"] != 1 else ""
    frames = f"{time['frameStart']:g} to {time['frameEnd']:g}{step}"
    pairs = *document["contacts"], *document["clearances"]
    shapes = {"meshes, " if each["shape"] == "mesh" else "bounds, " for each in pairs if "shape" in each}
    parts.append(f"Scanned: {''.join(shapes)}frames {frames}, {time['fps']:.6g} frames per second")
    counts = read_skipped_pairs(extras["skippedPairs"]) if "skippedPairs" in extras else {}
    if skipped := [
        f"Skipped: {pluralized(counts[reason], 'pair')}: {reason.text} ({reason.remedy})"
        for reason in SkippedPairs
        if reason in counts
    ]:
        parts.append("\n".join(skipped))
    unfinished = extras["partial"] if isinstance(extras.get("partial"), dict) else {}  # can have any form
    planned = unfinished.get("plannedEnd")
    if isinstance(planned, (int, float)) and planned != time["frameEnd"]:
        parts.append(f"Stopped at frame {time['frameEnd']:g} of {planned:g}: later contacts unknown")
    if linear_only:
        parts.append(_linear_line(linear_only, len(names)))
    return "\n\n".join(parts) + "\n"


def collider_check_table(document: dict[str, Any]) -> str:
    """Convert the report of a collider check to a table, a line a collider, a sentence a problem or note.

    document : With `colliders`, `problems` and `notes`, as the command `check-colliders` writes them.
    """
    colliders, problems, notes = document["colliders"], document["problems"], document["notes"]
    if not colliders and not problems:
        return "No colliders.\n"
    rows = [
        {
            "Collider": entry["name"],
            "Mesh": entry["mesh"] or "-",
            "Engine": entry["engine"],
            "Kind": entry["kind"],
            "Vertices": str(entry["vertices"]),
            "Fills": "-" if entry["filled"] is None else f"{entry['filled']:.2g}",
            "": pluralized(entry["problems"], "problem") if entry["problems"] else "",
        }
        for entry in colliders
    ]
    lines = [
        f"{label}{single_line(entry['name'])}: {single_line(entry['text'])}\n"
        for label, entries in (("", problems), ("Note: ", notes))
        for entry in entries
    ]
    summary = pluralized(len(colliders), "collider")
    summary += f", {pluralized(len(problems), 'problem')}" if problems else ", no problems"
    summary += f", {pluralized(len(notes), 'note')}" if notes else ""
    return f"{_aligned(_COLLIDER_COLUMNS, rows)}\n\n{''.join(lines)}{summary}\n"


def _contact_cells(contact: dict[str, Any], names: dict[str, str], has_linear: bool) -> dict[str, str]:
    """Cells of a contact: of its first interval, and its greatest depth, or gap if it only comes close."""
    first, begin = contact["first"], contact["intervals"][0]
    speed = begin.get("closingSpeed")
    is_gap, more, comment = "closest" in contact, len(contact["intervals"]) - 1, contact.get("accepted")
    notes = [
        *(["tunnelling: between frames only"] if first["tunnelling"] else []),
        *([pluralized(more, "later interval")] if more else []),
        *([": ".join(filter(None, ["accepted", comment]))] if comment is not None else []),
        *(["linear"] if has_linear and contact["motion"] == "linear" else []),
        *(["sampled"] if contact["motion"] == "sampled" else []),
    ]
    return {
        "First contact": f"{first['frame']:.6f}",
        "Seconds": f"{first['seconds']:.6f}",
        "+/-": f"{first['uncertainty']:.6f}",
        "A": names[contact["a"]],
        "B": names[contact["b"]],
        "Until": f"{begin['end']:.6f}",
        "Speed": "-" if speed is None else f"{speed:.4f}",
        "Depth": f"gap {contact['closest']['gap']:.4f}" if is_gap else _depth_cell(contact["deepest"]),
        "": ", ".join(notes),
    }


def _depth_cell(deepest: dict[str, Any]) -> str:
    """Cell of the greatest depth, with the kind of the overlap where a depth says too little of it."""
    kind = deepest.get("overlap", "")
    if kind == "touches" or (kind and not deepest["depth"]):
        return str(kind)
    return f"{deepest['depth']:.4f}" + (" inside" if kind == "inside" else "")


def _linear_line(names: Sequence[str], object_count: int) -> str:
    """Line that names the first few objects with assumed linear motion, and the number of the others."""
    more = len(names) - _NAMES_IN_A_LINE
    shown = ", ".join(map(single_line, names[:_NAMES_IN_A_LINE])) + (f" and {more} more" if more > 0 else "")
    objects = "all objects" if len(names) == object_count else shown
    return f"Linear between frames (simulated, or driven by a simulation): {objects}"


def _vector(values: Sequence[float]) -> str:
    return "(" + ", ".join(f"{value:.4f}" for value in values) + ")"


def _aligned(heading: Sequence[str], rows: Iterable[Mapping[str, str]]) -> str:
    """Lines of a table, from rows that have a cell for each heading, and may have more."""
    texts = ["\n".join(single_line(row[name]) for name in heading) for row in rows]
    return "".join(_lines(heading, texts)).removesuffix("\n")


def _lines(heading: Sequence[str], rows: Sequence[str]) -> Iterator[str]:
    """Yield lines of a table: columns padded to their widest cell, numbers to the right, text to the left.

    rows : The cells of each, one a line: one text takes a quarter of the memory of its cells.
    """
    widths = list(map(_width, heading))
    for row in rows:
        widths = [max(width, _width(cell)) for width, cell in zip(widths, row.split("\n"), strict=True)]
    is_text = [name in _TEXT_COLUMNS for name in heading]
    for row in chain(["\n".join(heading)], rows):
        cells = []
        for cell, width, keeps_left in zip(row.split("\n"), widths, is_text, strict=True):
            space = " " * (width - _width(cell))
            is_number = not keeps_left and cell[:1] in _NUMBER_STARTS
            cells.append(space + cell if is_number else cell + space)
        yield "  ".join(cells).rstrip() + "\n"


def _width(text: str) -> int:
    """Terminal columns of a text: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(
        0 if category(character) in _ZERO_WIDTH else 2 if east_asian_width(character) in "WF" else 1
        for character in normalize("NFC", text)
    )
