"""Is a file a correct document? The schema first, then what no schema can say."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import CollisionBoundsError
from .contact_consistency import is_unit, pair_problems
from .detailed_validation import detailed_problems
from .json_schema import schema_problems
from .shape_consistency import shape_problems
from .spaces import CONVENTIONS, UNITS
from .wording import on_a_line

Document = dict[str, Any]

_LARGEST = sys.float_info.max


class DocumentError(CollisionBoundsError):
    """A file cannot be read as a document, or a document is wrong; the message names the place."""


def schema() -> dict[str, Any]:
    """The JSON Schema that ships with the extension."""
    parsed: dict[str, Any] = json.loads((Path(__file__).parent / "schema.json").read_text("utf-8"))
    return parsed


def parse_document(text: str) -> Document:
    """Parse and validate a document. Raises DocumentError naming the first problem and how many more."""
    try:
        document = json.loads(text, parse_constant=_refuse_constant, parse_int=_whole_number)
        problems = list(document_problems(document))
    except json.JSONDecodeError as error:
        raise DocumentError(f"not JSON (line {error.lineno}: {error.msg})") from None
    except RecursionError:
        raise DocumentError("not a document (nested too deeply)") from None
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise DocumentError(problems[0] + more)
    checked: Document = document
    return checked


def document_problems(document: Any) -> Iterator[str]:
    """What is wrong with a parsed document, each as "path: problem"; nothing for a correct one.

    The meaning is only looked at when the form is right, and whether shapes fit each other when all else is.
    """
    if other := _other_kind(document):
        yield other
        return
    wrong_form = list(schema_problems(document, schema()))
    if wrong_form:
        yield from wrong_form
        return
    too_large = list(_number_problems(document, ""))
    if too_large:
        yield from too_large
        return
    wrong_meaning = list(_meaning_problems(document))
    yield from wrong_meaning
    if not wrong_meaning:
        yield from shape_problems(document)


def _other_kind(document: Any) -> str | None:
    """Why it is no document of version 1: whatever else is wrong with it then does not matter."""
    if not isinstance(document, dict) or document.get("format") != "collision-bounds":
        return "document: is not a Collision Bounds document, whose format is 'collision-bounds'"
    version = document.get("version")
    if isinstance(version, str) and not version.startswith("1."):
        return f"version: {on_a_line(version[:20])} is not one that this program reads (1.x)"
    return None


def _meaning_problems(document: Document) -> Iterator[str]:
    yield from _space_problems(document["space"])
    if document["time"]["frameStart"] > document["time"]["frameEnd"]:
        yield "time: frameStart > frameEnd"
    yield from _object_problems(document["objects"])
    ids = {entry["id"] for entry in document["objects"]}
    tracked: set[str] = set()
    if any(a["object"] > b["object"] for a, b in pairwise(document["tracks"])):
        yield "tracks: are not sorted by object"
    for index, track in enumerate(document["tracks"]):
        yield from _track_problems(track, ids, f"tracks[{index}]")
        if track["object"] in tracked:
            yield f"tracks[{index}].object: {track['object']!r} has a track already"
        tracked.add(track["object"])
    yield from pair_problems(document)


def _refuse_constant(name: str) -> float:
    raise DocumentError(f"{name} is not a number that JSON allows")


def _whole_number(digits: str) -> int | float:
    # Python refuses to read very long whole numbers; infinity is found to be too large later.
    return int(digits) if len(digits) < 400 else float(digits)


def _number_problems(value: Any, path: str) -> Iterator[str]:
    """Numbers like 1e999, which parse as infinity, and whole numbers beyond float64."""
    if isinstance(value, (int, float)) and not abs(value) <= _LARGEST:
        yield f"{path}: is too large a number"
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _number_problems(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _number_problems(item, f"{path}[{index}]")


def _space_problems(space: dict[str, Any]) -> Iterator[str]:
    matrix = np.array(space["fromBlender"], dtype=np.float64).reshape(3, 3)
    scale = np.abs(matrix).max()
    axes = matrix / scale if scale > 0 else matrix
    if (
        not np.allclose(axes @ axes.T, np.eye(3), atol=1e-9)
        or not np.isin(np.abs(axes).round(9), (0, 1)).all()
    ):
        yield "space.fromBlender: must take each axis to an axis, forward or backward, and all by one factor"
        return
    handedness = "right" if np.linalg.det(axes) > 0 else "left"
    for key, expected in (
        ("up", _axis_name(axes[:, 2])),
        ("forward", _axis_name(-axes[:, 1])),
        ("handedness", handedness),
    ):
        if space[key] != expected:
            yield f"space.{key}: is {space[key]!r}, but fromBlender makes it {expected!r}"
    known = CONVENTIONS.get(space["preset"])
    if known is not None and (space["up"], space["forward"], space["handedness"]) != (
        known.up,
        known.forward,
        known.handedness,
    ):
        yield f"space.preset: is {space['preset']!r}, which has other axes"
    if known is not None and known.per_meter and not _are_equal(space["metersPerUnit"] * known.per_meter, 1):
        yield f"space.metersPerUnit: is not that of {space['preset']!r}"
    meters = 1 / UNITS[space["unit"]] if space["unit"] in UNITS else space["metersPerUnit"]
    if not _are_equal(space["metersPerUnit"], meters):
        yield f"space.unit: is {space['unit']!r}, which is {meters} metres, and metersPerUnit is not"


def _are_equal(value: float, other: float) -> bool:
    return abs(value - other) <= 1e-9 * abs(other)


def _axis_name(direction: np.ndarray[Any, Any]) -> str:
    index = int(np.abs(direction).argmax())
    return ("-" if direction[index] < 0 else "+") + "XYZ"[index]


def _object_problems(objects: Sequence[dict[str, Any]]) -> Iterator[str]:
    if [(entry["name"], entry["id"]) for entry in objects] != sorted(
        (entry["name"], entry["id"]) for entry in objects
    ):
        yield "objects: are not sorted by name, then id"
    seen: set[str] = set()
    every_id = {entry["id"] for entry in objects}
    for index, entry in enumerate(objects):
        path = f"objects[{index}]"
        if entry["id"] in seen:
            yield f"{path}.id: {entry['id']!r} is used twice"
        seen.add(entry["id"])
        if entry["parent"] is not None and entry["parent"] not in every_id:
            yield f"{path}.parent: {entry['parent']!r} is not the id of another object"
        if not is_unit(entry["transform"]["rotation"]):
            yield f"{path}.transform.rotation: is not a unit quaternion"
        for group in ("local", "world", "envelope"):
            box = entry.get(group, {}).get("aabb")
            if box and any(low > high for low, high in zip(box["min"], box["max"], strict=True)):
                yield f"{path}.{group}.aabb: min > max"
            yield from detailed_problems(entry.get(group, {}), f"{path}.{group}")
            turned = entry.get(group, {}).get("obb")
            if turned and not is_unit(turned["rotation"]):
                yield f"{path}.{group}.obb.rotation: is not a unit quaternion"
        if entry["local"].keys() != entry["world"].keys():
            yield f"{path}: local and world hold different shapes"
    parents = {entry["id"]: entry["parent"] for entry in objects}
    for index, entry in enumerate(objects):
        ancestor, steps = entry["parent"], 0
        while ancestor in parents and steps <= len(objects):
            ancestor, steps = parents[ancestor], steps + 1
        if steps > len(objects):
            yield f"objects[{index}].parent: {entry['id']!r} is its own ancestor"


def _track_problems(track: dict[str, Any], ids: set[str], path: str) -> Iterator[str]:
    if track["object"] not in ids:
        yield f"{path}.object: there is no object {track['object']!r}"
    if any(a >= b for a, b in pairwise(track["frames"])):
        yield f"{path}.frames: must grow"
    for kind in ("sphere", "aabb"):
        for key, values in track.get(kind, {}).items():
            if len(values) != len(track["frames"]):
                yield f"{path}.{kind}.{key}: has {len(values)} and frames has {len(track['frames'])}"
    box = track.get("aabb", {"mins": [], "maxs": []})
    if any(
        low > high
        for a, b in zip(box["mins"], box["maxs"], strict=False)
        for low, high in zip(a, b, strict=True)
    ):
        yield f"{path}.aabb: min > max"
