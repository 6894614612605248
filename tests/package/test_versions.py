"""One scene in every installed Blender version: files are identical except for the version."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from tests.package.command_line import TOP, run_commands
from tests.tiers import times

ENVIRONMENTS = "build/environments/blender-*"
"""Folders of the environments of `dev.py test`, relative to the checkout."""

pytestmark = pytest.mark.long

_PYTHON = "Scripts/python.exe" if sys.platform == "win32" else "bin/python"
PYTHONS = {path.name.removeprefix("blender-"): path / _PYTHON for path in sorted(TOP.glob(ENVIRONMENTS))}

SHORT = f"1:{times(20, 20, full=60)}"
LONG = f"1:{times(40, 40, full=120)}"
"""Frames of the scans: all first contacts of the example scene are before frame 40."""
COMMANDS = {
    "bounds": ("bounds", "--shapes", "sphere,aabb,obb", "--envelope", "--tracks", "--frames", SHORT),
    "unreal": ("bounds", "--preset", "unreal", "--decimals", "9", "--padding", "0.01"),
    "base": ("bounds", "--modifiers", "base"),
    "boxes": ("contacts", "--shape", "aabb", "--frames", LONG),
    "meshes": ("contacts", "--shape", "mesh", "--frames", LONG, "--clearance", "0.002"),
    "spheres": ("contacts", "--shape", "spheres", "--frames", LONG, "--clearance", "0.05"),
    "linear": ("contacts", "--shape", "sphere", "--motion", "linear"),
    "table": ("bounds", "--format", "csv"),
    "gltf": ("bounds", "--format", "gltf"),
}


@pytest.fixture(scope="module")
def exported(tmp_path_factory) -> dict[str, dict[str, bytes]]:
    """Files that each version writes from one .blend file, which the oldest version saved."""
    if len(PYTHONS) < 2:
        pytest.skip(
            "needs the environments of two Blender versions in build/environments: dev.py test creates them"
        )
    folder = tmp_path_factory.mktemp("versions")
    oldest = min(PYTHONS, key=lambda version: [int(part) for part in version.split(".")])
    scene = folder / "example.blend"
    script = [PYTHONS[oldest], "scripts/example_scene.py", scene]
    subprocess.run(script, cwd=TOP, capture_output=True, check=True)
    files: dict[str, dict[str, bytes]] = {name: {} for name in COMMANDS}
    for version, python in PYTHONS.items():
        commands = [
            (command, scene, "-q", *options, "-o", folder / f"{name}-{version}.json")
            for name, (command, *options) in COMMANDS.items()
        ]
        run_commands(python, commands)
        for name in COMMANDS:
            files[name][version] = (folder / f"{name}-{version}.json").read_bytes()
    return files


@pytest.mark.parametrize("name", COMMANDS)
def test_every_blender_version_writes_same_bytes_except_version(exported, name):
    texts = set()
    for version, content in exported[name].items():
        pattern = re.compile(rb'("blender": ")([0-9.]+)(")')
        versions = [match[2].decode() for match in pattern.finditer(content)]
        if content.startswith(b"{") and b'"format": "collision-bounds"' in content:
            assert len(versions) == 1 and versions[0].startswith(version)
        else:
            assert versions == []
        texts.add(pattern.sub(rb"\1\3", content))
    assert len(texts) == 1
    assert len(exported[name]) == len(PYTHONS)


def test_exported_documents_have_content(exported):
    documents = {
        name: json.loads(next(iter(exported[name].values())))
        for name in COMMANDS
        if name not in ("table", "gltf")
    }
    assert len(documents["bounds"]["tracks"]) == len(documents["bounds"]["objects"]) > 20
    assert documents["boxes"]["contacts"] and documents["spheres"]["contacts"]
    pairs = {
        name: {(entry["a"], entry["b"]) for entry in documents[name]["contacts"]}
        for name in ("boxes", "meshes")
    }
    assert set() != pairs["meshes"] < pairs["boxes"]
