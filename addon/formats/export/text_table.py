"""Documents as plain text tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unicodedata import category, east_asian_width, normalize

from ...core.numeric.arguments import require_texts
from ..document.extras import read_skipped_pairs
from ..document.not_verified import NotVerified
from ..document.objects import object_names
from ..document.skipped_pairs import SkippedPairs
from ..validation.validate import require_document
from ..wording import pluralized, single_line

_NAMES_IN_A_LINE = 5
_TEXT_COLUMNS = ("Object", "A", "B", "Collider", "Mesh", "Engine", "Kind", "")
_NUMBER_STARTS = frozenset("-0123456789")
_ZERO_WIDTH = ("Mn", "Me", "Cf")
_NO_OBJECTS = "No objects with bounds."
_BOUNDS_COLUMNS = ("Sphere radius", "Sphere center", "Box size")
_LABELS_OF_OTHER_SHAPES = {
    "obb": "oriented boxes",
    "spheres": "sphere trees",
    "hull": "convex hulls",
    "capsule": "capsules",
    "cylinder": "cylinders",
    "compound": "convex parts",
}


def bounds_table(document: dict[str, Any], linear_only: Sequence[str] = ()) -> str:
    """Convert a document to a table of world spheres and boxes, one line an object, followed by envelopes.

    document : Lengths are in its unit.
    linear_only : Names of objects with assumed linear motion between frames, for a line at the end.
    """
    return "".join(bounds_table_parts(document, linear_only))


def bounds_table_parts(document: dict[str, Any], linear_only: Sequence[str] = ()) -> Iterator[str]:
    """Yield the text of `bounds_table` in parts.

    All rows are read before the first part, because the widest cells determine the columns. They are kept as
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
    heading = ("Object", *_BOUNDS_COLUMNS)
    bounds, envelopes = _Table(heading), _Table(heading)
    not_shown: set[str] = set()
    for entry in document["objects"]:
        bounds.add([entry["name"], *_bounds(entry["world"])])
        if not entry["world"].keys() & {"sphere", "aabb"}:
            not_shown |= entry["world"].keys()
        if "envelope" in entry:
            envelopes.add([entry["name"], *_bounds(entry["envelope"])])
        yield ""
    yield from bounds.lines()
    if len(envelopes):
        time = document["time"]
        yield f"\nEnvelopes, frames {time['frameStart']:g} to {time['frameEnd']:g}\n"
        yield from envelopes.lines()
    if document["tracks"]:
        yield f"\n{pluralized(len(document['tracks']), 'track')}\n"
    if labels := [label for key, label in _LABELS_OF_OTHER_SHAPES.items() if key in not_shown]:
        yield "\nThis table has spheres and boxes along the axes."
        yield f" Only in files (-o FILE): {', '.join(labels)}\n"
    if linear_only:
        yield f"\n{_linear_line(linear_only, len(document['objects']))}\n"


def _bounds(shapes: dict[str, Any]) -> list[str]:
    """Cells of `_BOUNDS_COLUMNS` for a sphere and a box."""
    sphere, box = shapes.get("sphere"), shapes.get("aabb")
    size = [high - low for low, high in zip(box["min"], box["max"], strict=True)] if box else None
    return [
        f"{sphere['radius']:.4f}" if sphere else "-",
        _vector(sphere["center"]) if sphere else "-",
        _vector(size) if size else "-",
    ]


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
    new = [contact for contact in document["contacts"] if not contact["first"]["atStart"]]
    from_start = [contact for contact in document["contacts"] if contact["first"]["atStart"]]
    parts = []
    if new:
        rows = [["First contact", "Seconds", "+/-", "A", "B", "Until", "Speed", "Depth", ""]]
        rows += [
            [
                *(f"{contact['first'][key]:.6f}" for key in ("frame", "seconds", "uncertainty")),
                *_pair_cells(contact, names, has_speed=True),
                ", ".join(_notes(contact, bool(linear_only))),
            ]
            for contact in new
        ]
        parts.append(_aligned(rows))
    elif from_start:
        parts.append("No contact begins during the scan; these pairs are in contact at its first frame.")
    elif len(names) == 1:
        parts.append("No contacts: only one object was checked.")
    else:
        parts.append("No contacts.")
    if from_start:
        rows = [["A", "B", "Until", "Depth", ""]]
        rows += [
            [*_pair_cells(contact, names), ", ".join(_notes(contact, bool(linear_only)))]
            for contact in from_start
        ]
        parts.append("In contact at the first frame\n" + _aligned(rows))
    if document["clearances"]:
        rows = [["Closest at", "Gap", "A", "B"]]
        rows += [
            [f"{near['frame']:.6f}", f"{near['gap']:.6f}", names[near["a"]], names[near["b"]]]
            for near in document["clearances"]
        ]
        parts.append("Near misses\n" + _aligned(rows))
    parts += _notes_of_scan(document)
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
    rows = [["Collider", "Mesh", "Engine", "Kind", "Vertices", "Fills", ""]]
    rows += [
        [
            entry["name"],
            entry["mesh"] or "-",
            entry["engine"],
            entry["kind"],
            str(entry["vertices"]),
            "-" if entry["filled"] is None else f"{entry['filled']:.2g}",
            pluralized(entry["problems"], "problem") if entry["problems"] else "",
        ]
        for entry in colliders
    ]
    lines = [f"{single_line(entry['name'])}: {single_line(entry['text'])}\n" for entry in problems]
    lines += [f"Note: {single_line(entry['name'])}: {single_line(entry['text'])}\n" for entry in notes]
    summary = pluralized(len(colliders), "collider")
    summary += f", {pluralized(len(problems), 'problem')}" if problems else ", no problems"
    summary += f", {pluralized(len(notes), 'note')}" if notes else ""
    return f"{_aligned(rows)}\n\n{''.join(lines)}{summary}\n"


def _skipped_pairs_lines(counts: Mapping[str, int]) -> list[str]:
    """Lines about pairs that were skipped, one for each reason, with its remedy."""
    return [
        f"Skipped: {pluralized(counts[reason], 'pair')}: {reason.text} ({reason.remedy})"
        for reason in SkippedPairs
        if reason in counts
    ]


def _notes_of_scan(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines about the frames that were scanned, pairs that were not tested, and a scan that stopped."""
    time, extras = document["time"], document["extras"]
    yield f"Scanned: bounds, frames {_frames_text(time)}"
    if lines := _skipped_pairs_lines(read_skipped_pairs(extras.get("skippedPairs"))):
        yield "\n".join(lines)
    if stopped := _stopped_line(extras.get("partial"), time["frameEnd"]):
        yield stopped


def _frames_text(time: Mapping[str, Any]) -> str:
    """First and last frame that were scanned, the step if it is not 1, and the frame rate."""
    step = f" in steps of {time['frameStep']:g}" if time["frameStep"] != 1 else ""
    return f"{time['frameStart']:g} to {time['frameEnd']:g}{step}, {time['fps']:.6g} frames per second"


def _stopped_line(partial: Any, end: float) -> str:
    """Line about a scan that was stopped; empty without one, or if "extras" has an unknown form."""
    unfinished = partial if isinstance(partial, dict) else {}
    planned, untested = unfinished.get("plannedEnd"), unfinished.get("meshesNotAsked")
    if isinstance(planned, (int, float)) and planned != end:
        return f"Stopped at frame {end:g} of {planned:g}: later contacts unknown"
    if not isinstance(untested, int):
        return ""
    return f"Stopped: {pluralized(untested, 'contact')} not verified on meshes"


def _pair_cells(contact: dict[str, Any], names: dict[str, str], has_speed: bool = False) -> list[str]:
    """Names, end of the first interval, its closing speed if requested, and greatest depth."""
    first = contact["intervals"][0]
    speed = first.get("closingSpeed")
    return [
        names[contact["a"]],
        names[contact["b"]],
        f"{first['end']:.6f}",
        *([("-" if speed is None else f"{speed:.4f}")] if has_speed else []),
        _depth_or_gap(contact),
    ]


def _depth_or_gap(contact: dict[str, Any]) -> str:
    """Greatest depth of a contact, or the gap of one that only comes closer than the clearance."""
    if "closest" in contact:
        return f"gap {contact['closest']['gap']:.4f}"
    return f"{contact['deepest']['depth']:.4f}"


def _notes(contact: dict[str, Any], has_linear: bool) -> list[str]:
    more = len(contact["intervals"]) - 1
    return [
        *(["tunnelling: between frames only"] if contact["first"]["tunnelling"] else []),
        *([pluralized(more, "later interval")] if more else []),
        *([_mesh_note(contact)] if "meshes" in contact else []),
        *([f"not verified: {NotVerified(contact['notVerified']).text}"] if "notVerified" in contact else []),
        *([_accepted_note(contact["accepted"])] if "accepted" in contact else []),
        *(["linear"] if has_linear and contact["motion"] == "linear" else []),
        *(["sampled"] if contact["motion"] == "sampled" else []),
    ]


def _accepted_note(comment: str) -> str:
    return f"accepted: {single_line(comment)}" if comment else "accepted"


def _mesh_note(contact: dict[str, Any]) -> str:
    """Say whether meshes touch or come close, when, within what uncertainty, and how that is known."""
    meshes = contact["meshes"]
    answer = f"touch at {_time(meshes)}" if meshes["touch"] else "do not touch"
    if "closer" in meshes:
        closer, reach = meshes["closer"], f"come closer than {contact['clearance']:g}"
        if closer is None:
            answer = f"do not {reach}"
        else:
            answer = f"{reach} at {_time(closer)}, {'and' if meshes['touch'] else 'but'} {answer}"
    motion = f" ({meshes['motion']})" if "motion" in meshes else ""
    return f"meshes {answer}{motion}"


def _time(meshes: dict[str, Any]) -> str:
    return f"{meshes['frame']:.6f} +/- {meshes.get('uncertainty', 0.0):.6f}"


def _linear_line(names: Sequence[str], object_count: int) -> str:
    """Line that names the objects with assumed linear motion."""
    objects = "all objects" if len(names) == object_count else _first_names(names)
    return f"Linear between frames (simulated, or driven by a simulation): {objects}"


def _first_names(names: Sequence[str]) -> str:
    """First few names, and the number of the others."""
    shown = ", ".join(map(single_line, names[:_NAMES_IN_A_LINE]))
    more = len(names) - _NAMES_IN_A_LINE
    return f"{shown} and {more} more" if more > 0 else shown


def _vector(values: Sequence[float]) -> str:
    return "(" + ", ".join(f"{value:.4f}" for value in values) + ")"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Lines of a table; the first row is its heading."""
    table = _Table(rows[0])
    for row in rows[1:]:
        table.add(row)
    return "".join(table.lines()).removesuffix("\n")


class _Table:
    """Lines of a table: columns padded to their widest cell, numbers to the right, text to the left."""

    def __init__(self, heading: Sequence[str]) -> None:
        self._heading = heading
        self._widths = [0] * len(heading)
        self._rows: list[str] = []
        self.add(heading)

    def __len__(self) -> int:
        return len(self._rows) - 1

    def add(self, row: Sequence[str]) -> None:
        """Add a row; it is stored as one text, which takes a quarter of the memory of its cells."""
        cells = [single_line(cell) for cell in row]
        self._widths = [max(width, _width(cell)) for width, cell in zip(self._widths, cells, strict=True)]
        self._rows.append("\n".join(cells))

    def lines(self) -> Iterator[str]:
        """Yield each line with its line end."""
        is_text = [heading in _TEXT_COLUMNS for heading in self._heading]
        for row in self._rows:
            cells = []
            for cell, width, keeps_left in zip(row.split("\n"), self._widths, is_text, strict=True):
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
