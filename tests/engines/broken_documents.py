"""Broken documents that every loader in docs/loaders must reject, with the path of the broken key."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.formats import samples

Document = dict[str, Any]

INFINITE = float("inf")
"""Written as 1e999, which is JSON, but not a finite number."""

MISSING = object()
"""Value of a key that is removed."""

_SHAPES = {
    "aabb": "shape",
    "aabb.min": "vector",
    "aabb.max": "vector",
    "sphere": "shape",
    "sphere.center": "vector",
    "sphere.radius": "size",
    "obb": "shape",
    "obb.center": "vector",
    "obb.halfExtents": "sizes",
    "obb.rotation": "rotation",
}
_DETAILED = {
    **{
        f"{shape}{key}": kind
        for shape in ("capsule", "cylinder")
        for key, kind in (
            ("", "shape"),
            (".center", "vector"),
            (".axis", "axis"),
            (".halfLength", "size"),
            (".radius", "size"),
        )
    },
    "hull": "shape",
    "hull.vertices": "list",
    "hull.vertices.1": "vector",
    "hull.faces": "list",
    "hull.faces.1": "face",
    "spheres": "optional list",
    "spheres.0": "object",
    "spheres.0.center": "vector",
    "spheres.0.radius": "size",
    "spheres.0.children": "children",
    "compound": "optional list",
    "compound.0": "part",
    "compound.0.hull": "part shape",
    "compound.0.hull.vertices": "list",
    "compound.0.hull.faces.1": "face",
    "compound.1.obb": "part shape",
    "compound.1.obb.halfExtents": "sizes",
    "compound.1.obb.rotation": "rotation",
    "compound.2.sphere": "part shape",
    "compound.2.sphere.radius": "size",
    "compound.3.capsule": "part shape",
    "compound.3.capsule.axis": "axis",
}
_FIRST = {
    "frame": "number",
    "seconds": "number",
    "uncertainty": "number",
    "point": "vector",
    "normal": "vector",
}

_INTERVAL = {
    "start": "number",
    "end": "number",
    "uncertainty": "size",
    "point": "vector",
    "normal": "vector",
    "velocity": "vector or null",
    "closingSpeed": "number or null",
    "deepest": "object",
    "deepest.frame": "number",
    "deepest.depth": "number",
    "deepest.direction": "vector",
}

KEYS = {
    "space": "object",
    "space.preset": "text",
    "space.metersPerUnit": "number",
    "time": "object",
    "time.fps": "number",
    "time.referenceFrame": "number",
    "objects": "list",
    "objects.1": "object",
    **{f"objects.1.{key}": "text" for key in ("id", "name", "type")},
    "objects.1.parent": "parent",
    "objects.1.transform": "object",
    "objects.1.transform.translation": "vector",
    "objects.1.transform.rotation": "rotation",
    "objects.1.transform.scale": "vector",
    **{f"objects.1.{group}": "object" for group in ("local", "world")},
    "objects.1.bone": "optional text",
    "objects.1.collision": "optional",
    "objects.1.collision.response": "response",
    "objects.1.collision.group": "group",
    "objects.1.collision.mask": "mask",
    "objects.1.collision.material": "text or null",
    "objects.1.envelope": "optional",
    "objects.1.envelope.local": "optional",
    **{
        f"objects.1.{group}.{key}": kind
        for group in ("local", "world", "envelope", "envelope.local")
        for key, kind in _SHAPES.items()
        if not ("envelope" in group and "obb" in key)
    },
    **{f"objects.1.world.{key}": kind for key, kind in _DETAILED.items()},
    "tracks": "list",
    "tracks.1": "object",
    "tracks.1.object": "text",
    "tracks.1.frames": "list",
    "tracks.1.frames.1": "number",
    "tracks.1.aabb": "shape",
    "tracks.1.aabb.mins": "per frame",
    "tracks.1.aabb.mins.1": "vector",
    "tracks.1.aabb.maxs": "per frame",
    "tracks.1.aabb.maxs.1": "vector",
    "tracks.1.sphere": "shape",
    "tracks.1.sphere.centers": "per frame",
    "tracks.1.sphere.centers.1": "vector",
    "tracks.1.sphere.radii": "per frame",
    "tracks.1.sphere.radii.1": "size",
    "contacts": "list",
    "contacts.0": "object",
    "contacts.0.a": "text",
    "contacts.0.b": "text",
    "contacts.0.first": "object",
    **{f"contacts.0.first.{key}": kind for key, kind in _FIRST.items()},
    "contacts.0.intervals": "list",
    "contacts.0.intervals.0": "object",
    **{f"contacts.0.intervals.0.{key}": kind for key, kind in _INTERVAL.items()},
    "clearances": "list",
    "clearances.0": "object",
    "clearances.0.a": "text",
    "clearances.0.b": "text",
    "clearances.0.frame": "number",
    "clearances.0.gap": "number",
}
"""Keys that a loader reads, and their kinds. The paths have the numbers of list items between dots."""

OPTIONAL = (
    "shape",
    "part shape",
    "optional",
    "optional text",
    "optional list",
    "vector or null",
    "number or null",
)
"""Kinds of keys that a document need not have."""

_NO_NUMBERS = (
    None,
    "1 2 3",
    True,
    {},
    1,
    [],
    [1, 2],
    [1, 2, None],
    [1, 2, "3"],
    [1, 2, [3]],
    [1, 2, INFINITE],
)
_WRONG: dict[str, tuple[Any, ...]] = {
    "object": (None, "text", 1, True, [], [[1, 2, 3]]),
    "list": (None, "text", 1, True, {}),
    "text": (None, 1, True, [], {}),
    "number": (None, "1", True, [], [1], {}, INFINITE, -INFINITE),
    "vector": (*_NO_NUMBERS, [1, 2, 3, 4]),
    # A loader that adds four squares must not take their overflow for a length.
    "rotation": (*_NO_NUMBERS, [0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 1, 0], [1e200, 0, 0, 0]),
    "axis": (*_NO_NUMBERS, [0, 0, 0], [0, 0, 1, 0], [0, 0, 2]),
    "face": (*_NO_NUMBERS, [0, 1, 4], [0, 1, -1], [0, 1, 1.5], [0, 1, 2, 3]),
    "children": (None, "1", True, 1, {}, [0, 1], [1, 3], [1, 1.5], [1, True], [-1, 1]),
    "parent": (1, True, [], {}, "unknown"),
}
_WRONG["part"] = (*_WRONG["object"], {}, {"cone": {}})
_WRONG["response"] = (*_WRONG["text"], "", "Solid")
_WRONG["group"] = (None, "1", True, [], {}, INFINITE, 0, 17, 1.5)
_WRONG["mask"] = (None, "1", True, [], {}, INFINITE, -1, 65536, 0.5)
for _kind in ("text", "vector", "number"):
    _WRONG[f"{_kind} or null"] = _WRONG[_kind][1:]
_WRONG["shape"] = _WRONG["part shape"] = _WRONG["optional"] = (*_WRONG["object"], False, "")
_WRONG["optional text"], _WRONG["optional list"] = _WRONG["text"], _WRONG["list"]
_WRONG["size"] = (*_WRONG["number"], -0.001)
_WRONG["sizes"] = (*_WRONG["vector"], [1, -0.001, 1])
_WRONG["per frame"] = (*_WRONG["list"], [])


class Case(NamedTuple):
    """A broken document, and how the message of a loader must begin."""

    name: str
    begin: str
    document: Document


def document_for(preset: str) -> Document:
    """Return a document of the program with everything that loaders read."""
    document, tracked = samples.document(preset), samples.document_with_tracks(preset)
    document["tracks"] = list(tracked["tracks"])
    with_envelope = next(entry for entry in tracked["objects"] if "envelope" in entry)
    entry = document["objects"][1]
    entry["envelope"] = {
        **with_envelope["envelope"],
        "local": {shape: copy.deepcopy(entry["local"][shape]) for shape in ("aabb", "sphere")},
    }
    entry["bone"] = "Arm"
    entry["collision"] = {"response": "trigger", "group": 3, "mask": 5, "material": "Ice"}
    entry["world"] = {**entry["world"], **_detailed_shapes()}
    # The second track has spheres and boxes.
    document["tracks"].sort(key=lambda track: "sphere" in track)
    return document


def _detailed_shapes() -> Document:
    rod = {"center": [1, 2, 3], "axis": [0.6, 0, 0.8], "halfLength": 2, "radius": 0.5}
    vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    tree = [{"center": [0, 0, 0], "radius": 2, "children": [1, 2]}]
    tree += [{"center": [x, 0, 0], "radius": 1, "children": []} for x in (-1, 1)]
    return {
        "capsule": rod,
        "cylinder": dict(rod),
        "hull": {"vertices": vertices, "faces": faces},
        "spheres": tree,
        "compound": [
            {"hull": {"vertices": [[x + 3, y, z] for x, y, z in vertices], "faces": [*map(list, faces)]}},
            {"obb": {"center": [0, 5, 0], "halfExtents": [1, 2, 3], "rotation": [0.6, 0, 0, 0.8]}},
            {"sphere": {"center": [0, 0, -5], "radius": 1.5}},
            {"capsule": {**rod, "center": [-7, 0, 0]}},
        ],
    }


def cases(preset: str, *unread: str) -> Iterator[Case]:
    """Yield documents with one wrong key each.

    Parameters
    ----------
    preset : str
        Space of the documents.
    *unread : str
        Paths of KEYS that the loader does not read; those below them are not read either.

    Yields
    ------
    case : Case
    """
    good = document_for(preset)
    for path, kind in KEYS.items():
        if any(path == prefix or path.startswith(prefix + ".") for prefix in unread):
            continue
        values = list(_WRONG[kind])
        if kind not in OPTIONAL and not path[-1].isdigit():
            values.append(MISSING)
        for value in values:
            yield _changed(good, path, value)
        yield from _contradictions(good, path, kind)


def _contradictions(good: Document, path: str, kind: str) -> Iterator[Case]:
    """Yield documents in which a value of the right kind contradicts another, or lacks a part."""
    key = path.rpartition(".")[2]
    if path in ("objects.1.id", "tracks.1.object"):
        yield _changed(good, path, good[path.partition(".")[0]][0][key])
    if path == "tracks.1.object" or key in ("a", "b"):
        yield _changed(good, path, "unknown")
    if kind == "per frame":
        values = _item(good, path.split("."))
        yield _changed(good, path, values[:-1])
        yield _changed(good, path, values + values[-1:])
    if kind in ("shape", "part shape"):
        empty = _changed(good, path, {})
        # The message names the first key of the shape that the loader reads.
        yield empty._replace(begin=empty.begin.replace(": ", "."))
    if key == "min" or path.endswith("mins.1"):
        yield _changed(good, path, [-1e6, 1e6, -1e6])


def _item(part: Any, keys: list[str]) -> Any:
    for key in keys:
        part = part[int(key) if key.isdigit() else key]
    return part


def _changed(good: Document, path: str, value: Any) -> Case:
    document = copy.deepcopy(good)
    *parents, last = path.split(".")
    part = _item(document, parents)
    if value is MISSING:
        del part[last]
    else:
        part[int(last) if last.isdigit() else last] = value
    name = "no key" if value is MISSING else json.dumps(value)
    shown = "".join(f"[{key}]" if key.isdigit() else f".{key}" for key in path.split("."))[1:]
    return Case(f"{path}: {name}", f"{shown}: ", document)


def other_versions(preset: str) -> list[Document]:
    """Return documents of other versions 1.x, with keys that this version does not have."""
    documents = []
    for version in ("1.1", "1.0.3", "1.12.0"):
        document = {**document_for(preset), "version": version, "warnings": [{"new": 1}]}
        documents.append(document)
        for entry in (*document["objects"], *document["tracks"], *document["contacts"]):
            entry["new"] = {"new": [None]}
        document["objects"][0]["world"]["cone"] = {"radius": "1"}
    return documents


def text_of(document: Document) -> str:
    """Return the JSON text of a document."""
    return json.dumps(document).replace("Infinity", "1e999")


def unclear_messages(expected: list[Case], messages: list[str | None]) -> dict[str, str | None]:
    """Return the messages that do not name the key in one sentence, by the case. None is no error.

    A loader may put the path of the file before the sentence.
    """
    wrong: dict[str, str | None] = {}
    for case, message in zip(expected, messages, strict=True):
        sentence = (message or "").strip()
        is_clear = f" {case.begin}" in f" {sentence}" and "\n" not in sentence and "undefined" not in sentence
        if not is_clear or len(sentence) > 300:
            wrong[case.name] = message
    return wrong
