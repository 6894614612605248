"""The same scene in every Blender that this machine has: the same bytes but for the name of the Blender."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
PYTHONS = {
    path.name.removeprefix("blender-"): path
    / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    for path in sorted((TOP / "build" / "environments").glob("blender-*"))
}

COMMANDS = {
    "bounds": ("bounds", "--shapes", "sphere,aabb,obb", "--envelope", "--tracks", "--frames", "1:60"),
    "unreal": ("bounds", "--preset", "unreal", "--decimals", "9", "--padding", "0.01"),
    "base": ("bounds", "--modifiers", "base", "--method", "ritter"),
    "boxes": ("contacts", "--shape", "aabb", "--confirm", "--frames", "1:120"),
    "spheres": ("contacts", "--shape", "spheres", "--frames", "1:120", "--clearance", "0.05"),
    "linear": ("contacts", "--shape", "sphere", "--motion", "linear"),
    "table": ("bounds", "--format", "csv"),
    "gltf": ("bounds", "--format", "gltf"),
}


def run(version: str, *arguments: object) -> None:
    done = subprocess.run(
        [PYTHONS[version], *map(str, arguments)], cwd=TOP, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def exported(tmp_path_factory) -> dict[str, dict[str, bytes]]:
    """Of each version the files that it writes of one .blend, which the oldest of them made."""
    if len(PYTHONS) < 2:
        pytest.skip("needs the environments of two Blenders in build/environments: dev.py test makes them")
    folder = tmp_path_factory.mktemp("versions")
    oldest = min(PYTHONS, key=lambda version: [int(part) for part in version.split(".")])
    run(oldest, "scripts/example_scene.py", folder / "example.blend")
    found: dict[str, dict[str, bytes]] = {}
    for version in PYTHONS:
        for name, (command, *options) in COMMANDS.items():
            target = folder / f"{name}-{version}"
            tool = "scripts/collision_bounds.py"
            run(version, tool, command, folder / "example.blend", "-q", *options, "-o", target)
            found.setdefault(name, {})[version] = target.read_bytes()
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_every_blender_writes_the_same_bytes_but_for_its_name(exported, name):
    texts = set()
    for version, content in exported[name].items():
        named = re.compile(rb'("blender": ")([0-9.]+)(")')
        told = [match[2].decode() for match in named.finditer(content)]
        if content.startswith(b"{") and b'"format": "collision-bounds"' in content:
            assert len(told) == 1 and told[0].startswith(version)
        else:
            assert told == []
        texts.add(named.sub(rb"\1\3", content))
    assert len(texts) == 1
    assert len(exported[name]) == len(PYTHONS)


def test_there_is_something_in_them(exported):
    documents = {
        name: json.loads(next(iter(exported[name].values())))
        for name in COMMANDS
        if name not in ("table", "gltf")
    }
    assert len(documents["bounds"]["tracks"]) == len(documents["bounds"]["objects"]) > 20
    assert documents["boxes"]["contacts"] and documents["spheres"]["contacts"]
    assert any("meshes" in entry for entry in documents["boxes"]["contacts"])
