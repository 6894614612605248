"""Documents and results of runs, written for the page alone."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from addon.formats import document_problems

IDENTITY = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
HOSTILE = (
    "<script>window.stolen = 1</script>",
    '</script><img src=x onerror="window.stolen = 1">',
    "quotes \" ' and &amp; {{ 7 * 7 }}",
    "reversed \u202egnp.exe",
    "n" * 300,
)
"""Names that a page must show as text."""


def box_object(name: str, x: float = 0.0) -> dict[str, Any]:
    """Return a cube of side 1 with its center at (x, 0, 0)."""
    radius = 0.866026
    return {
        "id": name,
        "name": name,
        "type": "MESH",
        "parent": None,
        "transform": {"translation": [x, 0.0, 0.0], "rotation": [0.0, 0.0, 0.0, 1.0], "scale": [1.0] * 3},
        "local": {
            "aabb": {"min": [-0.5] * 3, "max": [0.5] * 3},
            "sphere": {"center": [0.0] * 3, "radius": radius},
        },
        "world": {
            "aabb": {"min": [x - 0.5, -0.5, -0.5], "max": [x + 0.5, 0.5, 0.5]},
            "sphere": {"center": [x, 0.0, 0.0], "radius": radius},
        },
    }


def contact(
    a: str, b: str, start: float, *, end: float = 90.0, depth: float | None = 0.5, **more: Any
) -> dict[str, Any]:
    """Return a contact of boxes with one interval, deepest at its end."""
    place = {"point": [0.0] * 3, "normal": [1.0, 0.0, 0.0]}
    interval = {
        "start": start,
        "end": end,
        "uncertainty": 0,
        **place,
        "velocity": [-24.0, 0.0, 0.0],
        "closingSpeed": 24,
        "deepest": {"frame": end, "depth": depth, "direction": [1.0, 0.0, 0.0]},
    }
    has_whole_frame = math.floor(end) >= math.ceil(start)
    first = {
        "frame": start,
        "seconds": math.floor(start / 24 * 1e6) / 1e6,
        "uncertainty": 0,
        **place,
        "atStart": start == 1,
        "tunnelling": not has_whole_frame,
    }
    if start == 1:
        interval |= {"velocity": None, "closingSpeed": None}
    return {
        "a": a,
        "b": b,
        "shape": "aabb",
        "motion": "proven",
        "first": first,
        "intervals": [interval],
        "deepest": {"frame": end, "depth": depth},
        **more,
    }


def make_document(
    objects: list[dict[str, Any]], contacts: list[dict[str, Any]], **more: Any
) -> dict[str, Any]:
    """Return a valid document of frames 1 to 100."""
    document = {
        "format": "collision-bounds",
        "version": "1.3.0",
        "generator": {"name": "Collision Bounds", "version": "0.1.0", "blender": "5.2.3"},
        "source": {"file": "level.blend", "scene": "Scene"},
        "space": {
            "preset": "blender",
            "up": "+Z",
            "forward": "-Y",
            "handedness": "right",
            "unit": "m",
            "metersPerUnit": 1,
            "fromBlender": IDENTITY,
            "matrixOrder": "row-major 3x3",
            "quaternion": "xyzw",
        },
        "time": {"fps": 24, "frameStart": 1, "frameEnd": 100, "frameStep": 1, "referenceFrame": 1},
        "objects": sorted(objects, key=lambda entry: (entry["name"], entry["id"])),
        "tracks": [],
        "contacts": contacts,
        "clearances": [],
        "skipped": [],
        "warnings": [],
        "extras": {},
        **more,
    }
    problems = list(document_problems(document))
    assert not problems, problems[:3]
    return document


def small_document() -> dict[str, Any]:
    """Return a document with three contacts, a near miss, a skipped object and a warning.

    Dot moves from x = -10 at frame 1 by 1 m per frame, as its track at frames 1, 10 and 11 says.
    """
    frames = [1, 10, 11]
    xs = [-10.0, -1.0, 0.0]
    track = {
        "object": "Dot",
        "space": "world",
        "frames": frames,
        "sphere": {"centers": [[x, 0.0, 0.0] for x in xs], "radii": [0.866026] * 3},
        "aabb": {"mins": [[x - 0.5, -0.5, -0.5] for x in xs], "maxs": [[x + 0.5, 0.5, 0.5] for x in xs]},
    }
    wall = {
        **track,
        "object": "Wall",
        "sphere": {"centers": [[0.0] * 3] * 3, "radii": [0.866026] * 3},
        "aabb": {"mins": [[-0.5] * 3] * 3, "maxs": [[0.5] * 3] * 3},
    }
    new = [{"a": "Dot", "b": "Wall", "start": 10, "end": 11}]
    return make_document(
        [box_object("Dot", -10.0), box_object("Wall"), box_object("Crate", 5.0), box_object("Lid", 5.5)],
        [
            contact("Crate", "Lid", 1, end=100, depth=0.25, accepted="a lid on its crate"),
            contact("Dot", "Wall", 10, end=11, depth=1),
            contact("Crate", "Wall", 24.3125, end=24.5, depth=0.1),
        ],
        tracks=[track, wall],
        clearances=[{"a": "Dot", "b": "Lid", "frame": 11, "gap": 0.75}],
        skipped=[{"name": "Fence", "reason": "no vertices"}],
        warnings=[{"kind": "missingFile", "name": "rust.png", "message": "the file is missing"}],
        extras={"baseline": {"new": new, "gone": [], "unchanged": 2}},
    )


def large_document(count: int) -> dict[str, Any]:
    """Return a document with a contact of each of `count` pairs, at frames 1.5 to 80."""
    objects = [box_object(f"Part {number:05}", number * 0.25) for number in range(count + 1)]
    contacts = [
        contact(
            f"Part {number:05}",
            f"Part {number + 1:05}",
            # Not in the order of the names; multiples of 1/64 are exact.
            1.5 + number * 7919 % 5024 / 64,
            depth=1 + number * 104729 % 1000 / 1000,
            **({"motion": "linear"} if number % 3 == 0 else {}),
        )
        for number in range(count)
    ]
    contacts.sort(key=lambda entry: (entry["first"]["frame"], entry["a"], entry["b"]))
    return make_document(objects, contacts)


def hostile_document() -> dict[str, Any]:
    """Return a document whose texts are `HOSTILE`."""
    first, second, *rest = HOSTILE
    document = make_document(
        [box_object(name, float(number)) for number, name in enumerate(HOSTILE)],
        [
            contact(first, second, 10, end=11, accepted=first),
            *(contact(first, name, 20, end=30) for name in rest),
        ],
        skipped=[{"name": name, "reason": first} for name in sorted(HOSTILE)],
        warnings=[{"kind": "missingFile", "name": name, "message": second} for name in sorted(HOSTILE)],
        extras={first: second},
    )
    document["source"] = {"file": first, "scene": second}
    return document


def write_document(path: Path, document: dict[str, Any]) -> Path:
    """Write a document as JSON, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), "utf-8")
    return path


def write_batch(folder: Path) -> Path:
    """Write the results of a run over five files, two of which failed, and return the folder."""
    hostile = "<script>window.stolen = 1</script>"
    files = [
        _file_entry("show/shot.blend", "contacts", small_document(), folder),
        _file_entry("quiet.blend", "done", make_document([box_object("Lonely")], []), folder),
        _file_entry(f"{hostile}.blend", "done", hostile_document(), folder),
        _file_entry("broken.blend", "failed", None, folder, reason=f"is no file of Blender {hostile}"),
        _file_entry("hang.blend", "failed", None, folder, reason="took more than 600 s", attempts=2),
    ]
    summary = {
        "format": "collision-bounds-batch",
        "version": "1.0.0",
        "generator": {"name": "Collision Bounds", "version": "0.1.0", "program": "blender 5.2.3"},
        "settings": ["contacts", "--shape", "aabb"],
        "isComplete": False,
        "counts": {"files": 5, "done": 2, "contacts": 1, "failed": 2},
        "files": sorted(files, key=lambda entry: str(entry["name"])),
    }
    (folder / "summary.json").write_text(json.dumps(summary), "utf-8")
    return folder


def _file_entry(
    name: str,
    state: str,
    document: dict[str, Any] | None,
    folder: Path,
    *,
    reason: str = "",
    attempts: int = 1,
) -> dict[str, Any]:
    output = None
    counts = {}
    if document is not None:
        # A slash of a hostile name would be a folder.
        output = f"{name.replace('</', '<_')}.json"
        write_document(folder / output, document)
        counts = {
            key: len(document[key]) for key in ("objects", "contacts", "clearances", "skipped", "warnings")
        }
    return {
        "name": name,
        "state": state,
        "reason": reason,
        "attempts": attempts,
        "seconds": 1.25,
        "output": output,
        "counts": counts,
    }
