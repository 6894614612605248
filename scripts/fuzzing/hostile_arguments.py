"""Arguments of the command line: random options with valid and hostile values and file names."""

from __future__ import annotations

import json
import random

HERE = "{here}/"
"""Begins the paths of files in the folder of a case."""

_PATTERNS: tuple[str, ...] = (
    "Cube",
    "C*",
    "*",
    "Missing",
    "",
    "[",
    "collection:Collection",
    "collection:",
    "Gr\u00f6\u00dfe",
    "\udcff",
)
_NUMBERS: tuple[str, ...] = (
    "0",
    "1",
    "-1",
    "0.5",
    "-0.25",
    "1e-3",
    "1e-320",
    "1e15",
    "1e300",
    "-1e300",
    "nan",
    "inf",
    "-inf",
    "",
)
_NUMBERS += ("1e999", "0x10", "1,5", "1_0", " 1", "\u0661", "--", "-q", "one", "9" * 5000)
_FRAMES: tuple[str, ...] = (
    "1",
    "1:5",
    "-3:3",
    "1:2:0.25",
    "5:1",
    "1:5:0",
    "1:5:-1",
    "1:",
    ":",
    "1:2:3:4",
    "nan:5",
    "1e300",
    "1:5:1e-300",
)
_FRAMES += ("0.5:2.5", "1e15:1e15", "99999999999", "1:inf", "", "-0:0", "2:2:1e308")
_OUTPUTS: tuple[str, ...] = (
    "new.json",
    "new.json",
    "old.json",
    "new.csv",
    "new.gltf",
    "new.GLB",
    "new",
    "folder",
    "no/folder/new.json",
)
_OUTPUTS += (
    "link.json",
    "scene.blend",
    "linked.blend",
    "n" * 300 + ".json",
    "line\nbreak.json",
    "\udcff.json",
    "\U0001f9f1.json",
)
_OUTPUTS += ("-", "", ".", "old.json/new.json", "dangling.json", "broken.json")
_FILES: tuple[str, ...] = (
    "scene.blend",
    "scene.blend",
    "scene.blend",
    "scene.blend",
    "missing.blend",
    "broken.blend",
    "folder",
    "old.json",
)
_FILES += (
    "linked.blend",
    "document.json",
    "broken.json",
    "empty.json",
    "broken.glb",
    "",
    "-",
    "--",
    "-x",
    "\udcff.blend",
)
_SHAPES: tuple[str, ...] = (
    "aabb",
    "sphere",
    "obb",
    "hull",
    "spheres",
    "sphere,aabb,obb,spheres,hull",
    "",
    ",",
    "aabb,aabb",
    "cone",
)

_OPTIONS: dict[str, tuple[str, ...]] = {
    "-o": _OUTPUTS,
    "--output": _OUTPUTS,
    "--objects": _PATTERNS,
    "--collection": ("Collection", "Missing", "", "\udcff"),
    "--padding": _NUMBERS,
    "--modifiers": ("evaluated", "base", "none"),
    "--preset": ("blender", "gltf", "unity", "unreal", "custom", "quake"),
    "--up": ("+Y", "-Y", "+Z", "Z", ""),
    "--forward": ("+Z", "-Y", "+X", "X"),
    "--handedness": ("left", "right", "both"),
    "--scale": _NUMBERS,
    "--format": ("json", "csv", "3dtiles", "gltf", "unity", "unreal", "urdf", "mjcf", "usd", "curobo", "xml"),
    "--decimals": ("0", "3", "6", "9", "12", "99", "-1", "nan", "six", "9" * 5000),
    "--shapes": _SHAPES,
    "--frame": _NUMBERS,
    "--frames": _FRAMES,
    "--gltf": ("omi", "khr", "volumes", "", "all"),
    "--shape": ("aabb", "sphere", "obb", "spheres", "hull", ""),
    "--obstacles": _PATTERNS,
    "--motion": ("linear", "adaptive", "none"),
    "--clearance": _NUMBERS,
    "--a": _PATTERNS,
    "--b": _PATTERNS,
    "--ignore": ("Cube:Ball", "C*:*", "Cube", ":", "Missing:*", ""),
    "--contact-exit-code": ("1", "4", "125", "126", "0", "2", "-1", "x"),
    "--max-size": _NUMBERS,
}
_FLAGS: tuple[str, ...] = (
    "--envelope",
    "--tracks",
    "--free-joints",
    "--one-sided",
    "--fail-on-contact",
    "--ignore-parents",
    "-q",
)
_FLAGS += (
    "--no-ignore-parents",
    "--ignore-collection",
    "--static-pairs",
    "--allow-missing",
    "--enable-autoexec",
)
_FLAGS += (
    "--allow-blocked-drivers",
    "--unknown",
    "--help",
    "--version",
    "-",
    "--",
    "-qq",
    "-x",
    "--envelope=1",
    "extra",
)


_FOREIGN = {
    "bounds": (
        "--shape",
        "--obstacles",
        "--motion",
        "--clearance",
        "--a",
        "--b",
        "--ignore",
        "--contact-exit-code",
        "--max-size",
    ),
    "contacts": ("--shapes", "--frame", "--gltf", "--max-size"),
}
"""Options that another command has."""


def make_arguments(random: random.Random) -> bytes:
    """Return the JSON of a list of arguments."""
    command = random.choice(
        ("bounds", "bounds", "bounds", "contacts", "contacts", "contacts", "validate", "", "bound")
    )
    arguments = [
        command,
        *(
            [_placed(random.choice(_FILES[: 4 if random.random() < 0.7 else None]))]
            if random.random() < 0.95
            else []
        ),
    ]
    for _ in range(random.choice((0, 1, 1, 2, 2, 3, 4, 6))):
        if random.random() < 0.25:
            arguments.append(random.choice(_FLAGS[: 13 if random.random() < 0.7 else None]))
            continue
        foreign = _FOREIGN.get(command, ()) if random.random() < 0.9 else ()
        option = random.choice([option for option in _OPTIONS if option not in foreign])
        # The first values of an option are valid.
        values = _OPTIONS[option][: 2 if random.random() < 0.7 else None]
        value = random.choice(values)
        value = _placed(value) if option in ("-o", "--output") else value
        arguments += [f"{option}={value}"] if random.random() < 0.2 else [option, value]
        if random.random() < 0.02:
            arguments.pop()
    if random.random() < 0.1:
        random.shuffle(arguments)
    return json.dumps(arguments).encode()


def _placed(name: str) -> str:
    return name if name in ("", "-", "--", "-x") else HERE + name
