"""Validation of documents: the schema first, then consistency that a schema cannot express.

That is the consistency of spaces, objects and tracks; of hulls (closed, convex, counter-clockwise), of trees
(one parent a node) and of unit vectors.
"""

from __future__ import annotations

import functools
import json
import math
import operator
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ...core.fitting.hull_surface import hull_defect
from ...core.shapes import VOLUMES
from ..spaces import CONVENTIONS, UNITS
from ..wording import message_line, quoted
from .contacts import is_unit, pair_problems
from .shapes import shape_problems
from .strict_json import MAX_MEGABYTES, DocumentError, parse_json, read_text, schema_problems

_UNIT_MEMBERS = {"rotation": ("is not a unit quaternion", 1e-5), "axis": ("is not of length 1", 1e-6)}
"""Members of shapes that have unit length, their problem otherwise, and the tolerance."""


def detailed_problems(shapes: dict[str, Any], path: str) -> Iterator[str]:
    """Yield the problems of each shape by itself, of a group of shapes that is correct by the schema."""
    if hull := shapes.get("hull"):
        vertices = np.array(hull["vertices"], dtype=np.float64)
        faces = np.array(hull["faces"], dtype=np.float64)  # because JSON allows 1e30 and 1.0 as integers
        if faces.max() >= len(vertices):
            yield f"{path}.hull.faces: refer to vertex {faces.max():.15g} of {len(vertices)}"
        elif defect := hull_defect(vertices, faces.astype(np.int64)):
            yield f"{path}.hull.{defect}"
    if tree := shapes.get("spheres"):
        yield from _tree_problems(tree, f"{path}.spheres")
    box = shapes.get("aabb")
    if box and any(map(operator.gt, box["min"], box["max"])):
        yield f"{path}.aabb: min > max"
    for key in (name for name in VOLUMES if name in shapes):
        for member, (problem, tolerance) in _UNIT_MEMBERS.items():
            if member in shapes[key] and not is_unit(shapes[key][member], tolerance):
                yield f"{path}.{key}.{member}: {problem}"
    for index, part in enumerate(shapes.get("compound", ())):
        yield from detailed_problems(part, f"{path}.compound[{index}]")


def _tree_problems(tree: list[dict[str, Any]], path: str) -> Iterator[str]:
    for index, node in enumerate(tree):
        if len(node["children"]) == 1:
            yield f"{path}[{index}].children: must be two, or none"
        for child in node["children"]:
            if not index < child < len(tree):
                yield f"{path}[{index}].children: {child} is not the index of a later node"
    listed, later = [child for node in tree for child in node["children"]], list(range(1, len(tree)))
    if sorted(listed) != later:
        yield f"{path}: each node except the root must be the child of exactly one node"
    elif listed != later:
        yield f"{path}: nodes are not breadth-first, level by level and in the order of their parents"


Document = dict[str, Any]

_LARGEST = sys.float_info.max
_LARGEST_UNIT = 1e30
"""Of meters and of Blender units. Products of larger units and lengths overflow."""
_DEEPEST = 100
"""More levels of lists and objects than this are refused: Python can write no more than about a thousand."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def schema() -> dict[str, Any]:
    """Return the JSON Schema that ships with the extension."""
    return dict(json.loads((Path(__file__).parent / "schema.json").read_text("utf-8")))


_cached_schema = functools.cache(schema)


def load_document(path: Path, max_megabytes: float = MAX_MEGABYTES) -> Document:
    """Read, parse and validate the document in a file.

    path : Of a regular file, see `read_text`.
    max_megabytes : Limit of the size, in units of 1,000,000 bytes.
    Raises DocumentError: with the first problem and the number of the others. The message does not name the
        file.
    """
    return parse_document(read_text(path, max_megabytes))


def parse_document(text: str) -> Document:
    """Parse and validate a document.

    text : JSON.
    Returns document : dict. Indices are int, also those that the text has as 1.0.
    Raises DocumentError: with the first problem and the number of the others.
    """
    document = parse_json(text)
    problems = list(document_problems(document))
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise DocumentError(problems[0] + more)
    checked: Document = document
    _make_indices_int(checked["objects"])
    return checked


def require_document(document: object) -> None:
    """Require a document, by its format. Raises DocumentError; `document_problems` tests its contents."""
    if not isinstance(document, dict) or document.get("format") != "collision-bounds":
        text = "document: is not a Collision Bounds document: its format must be 'collision-bounds'"
        raise DocumentError(text)
    version = document.get("version")
    if isinstance(version, str) and not version.startswith("1."):
        raise DocumentError(f"version: {version[:20]} is not supported (supported: 1.x)")


def document_problems(document: Any) -> Iterator[str]:
    """Yield the problems of a parsed document, each a line "path: problem"; none for a correct document.

    Later checks assume what earlier ones check: the schema, then the size of numbers, then references and
    order, then shapes. The first check with problems is the last.

    document : Parsed JSON.
    """
    try:
        require_document(document)
    except DocumentError as error:
        yield message_line(str(error))
        return
    checks: tuple[Callable[[Any], Iterable[str]], ...] = (
        lambda value: schema_problems(value, _cached_schema()),
        _value_problems,
        _unit_problems,
        _meaning_problems,
        shape_problems,
    )
    for check in checks:
        if problems := list(check(document)):
            yield from map(message_line, problems)
            return


def _meaning_problems(document: Document) -> Iterator[str]:
    yield from _space_problems(document["space"])
    if document["time"]["frameStart"] > document["time"]["frameEnd"]:
        yield "time: frameStart > frameEnd"
    yield from _object_problems(document["objects"])
    ids = {entry["id"] for entry in document["objects"]}
    tracked = [track["object"] for track in document["tracks"]]
    if tracked != sorted(tracked):
        yield "tracks: are not sorted by object"
    for index, track in enumerate(document["tracks"]):
        yield from _track_problems(track, ids, f"tracks[{index}]")
        if index and tracked[index] == tracked[index - 1]:
            yield f"tracks[{index}].object: {quoted(tracked[index])} has a track already"
    yield from pair_problems(document)


def _make_indices_int(objects: Sequence[dict[str, Any]]) -> None:
    """Convert the indices of hulls and trees in place: JSON writers of some languages write 1.0 for 1."""
    for entry in objects:
        for shapes in (entry["local"], entry["world"]):
            for holder in (shapes, *shapes.get("compound", ())):
                if hull := holder.get("hull"):
                    hull["faces"] = [[int(index) for index in face] for face in hull["faces"]]
            for node in shapes.get("spheres", ()):
                node["children"] = [int(index) for index in node["children"]]


def _unit_problems(document: Document) -> Iterator[str]:
    """Units, and numbers that float64 does not have in Blender's unit."""
    space = document["space"]
    scale, meters = max(map(abs, space["fromBlender"])), space["metersPerUnit"]
    if not all(1 / _LARGEST_UNIT <= size <= _LARGEST_UNIT for size in (scale, meters, scale * meters)):
        yield f"space: its unit is not between {1 / _LARGEST_UNIT:g} and {_LARGEST_UNIT:g} meters"
        return
    if scale < 1:
        for key in ("objects", "tracks", "contacts", "clearances"):
            yield from _value_problems(document[key], key, 0, _LARGEST * scale)


def _value_problems(value: Any, path: str = "", depth: int = 0, largest: float = _LARGEST) -> Iterator[str]:
    """Values that fit the schema, and that Python cannot compute with or write."""
    if isinstance(value, str):
        if _SURROGATE.search(value):
            yield f"{path}: {quoted(value)} has half a surrogate pair, which is no character"
    elif isinstance(value, (int, float)):
        # Such as 1e999, which is parsed as infinity, and integers beyond float64.
        if not abs(value) <= largest:
            yield f"{path}: is beyond the range of 64-bit floating-point numbers"
    elif depth == _DEEPEST and value:
        yield f"{path[:20]}...: is nested too deeply"
    elif isinstance(value, dict):
        for key, item in value.items():
            name = key if key.isidentifier() and len(key) < 60 else quoted(key)
            yield from _value_problems(key, f"{path}.{name}" if path else name)
            yield from _value_problems(item, f"{path}.{name}" if path else name, depth + 1, largest)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            # A generator for each number takes most of the time of large documents.
            if type(item) is not float or not abs(item) <= largest:
                yield from _value_problems(item, f"{path}[{index}]", depth + 1, largest)


def _space_problems(space: dict[str, Any]) -> Iterator[str]:
    matrix = np.array(space["fromBlender"], dtype=np.float64).reshape(3, 3)
    axes = matrix / np.abs(matrix).max()
    is_rotation = np.allclose(axes @ axes.T, np.eye(3), atol=1e-9)
    if not is_rotation or not np.isin(np.abs(axes).round(9), (0, 1)).all():
        yield "space.fromBlender: must map each axis to an axis of either sign, all with the same scale"
        return
    expected = {
        "up": _axis_name(axes[:, 2]),
        "forward": _axis_name(-axes[:, 1]),
        "handedness": "right" if np.linalg.det(axes) > 0 else "left",
    }
    for key, name in expected.items():
        if space[key] != name:
            yield f"space.{key}: is {quoted(space[key])}, but must be {name!r} by fromBlender"
    known = CONVENTIONS.get(space["preset"])
    if known and any(space[key] != getattr(known, key) for key in expected):
        yield f"space.preset: is {space['preset']!r}, which has other axes"
    if known and known.per_meter and not math.isclose(space["metersPerUnit"] * known.per_meter, 1):
        yield f"space.metersPerUnit: does not match preset {space['preset']!r}"
    meters = 1 / UNITS[space["unit"]] if space["unit"] in UNITS else space["metersPerUnit"]
    if not math.isclose(space["metersPerUnit"], meters):
        unit = quoted(space["unit"])
        yield f"space.unit: is {unit}, which is {meters} meters, but metersPerUnit is different"


def _axis_name(direction: np.ndarray[Any, Any]) -> str:
    index = int(np.abs(direction).argmax())
    return ("-" if direction[index] < 0 else "+") + "XYZ"[index]


def _object_problems(objects: Sequence[dict[str, Any]]) -> Iterator[str]:
    order = [(entry["name"], entry["id"]) for entry in objects]
    if order != sorted(order):
        yield "objects: are not sorted by name, then id"
    seen: set[str] = set()
    every_id = {entry["id"] for entry in objects}
    for index, entry in enumerate(objects):
        path = f"objects[{index}]"
        if entry["id"] in seen:
            yield f"{path}.id: {quoted(entry['id'])} is used twice"
        seen.add(entry["id"])
        if entry["parent"] is not None and entry["parent"] not in every_id:
            yield f"{path}.parent: {quoted(entry['parent'])} is not the id of another object"
        if not is_unit(entry["transform"]["rotation"]):
            yield f"{path}.transform.rotation: is not a unit quaternion"
        envelope = entry.get("envelope", {})
        groups = {"local": entry["local"], "world": entry["world"], "envelope": envelope}
        for group, shapes in {**groups, "envelope.local": envelope.get("local", {})}.items():
            yield from detailed_problems(shapes, f"{path}.{group}")
        if entry["local"].keys() != entry["world"].keys():
            yield f"{path}: local and world have different shapes"
    try:
        TopologicalSorter({entry["id"]: (entry["parent"],) for entry in objects}).prepare()
    except CycleError as error:
        id = error.args[1][0]
        index = [entry["id"] for entry in objects].index(id)
        yield f"objects[{index}].parent: {quoted(id)} is its own ancestor"


def _track_problems(track: dict[str, Any], ids: set[str], path: str) -> Iterator[str]:
    if track["object"] not in ids:
        yield f"{path}.object: there is no object {quoted(track['object'])}"
    if not track["frames"]:
        yield f"{path}.frames: is empty"
    if "sphere" not in track and "aabb" not in track:
        yield f"{path}: has neither sphere nor aabb"
    if any(a >= b for a, b in pairwise(track["frames"])):
        yield f"{path}.frames: must increase"
    for kind in ("sphere", "aabb"):
        for key, values in track.get(kind, {}).items():
            if len(values) != len(track["frames"]):
                yield f"{path}.{kind}.{key}: has {len(values)} entries, but frames has {len(track['frames'])}"
    box = track.get("aabb", {"mins": [], "maxs": []})
    if any(map(operator.gt, *(chain.from_iterable(box[key]) for key in ("mins", "maxs")))):
        yield f"{path}.aabb: min > max"
