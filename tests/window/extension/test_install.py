"""The built zip, in the hands of Blender's own extension tool."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tests.window.harness import PACKAGE, TOP, blender

pytestmark = pytest.mark.smoke

LOOK = """
import addon_utils, bpy, json, pathlib, sys
module = sys.modules.get({package!r})
pathlib.Path({answer!r}).write_text(json.dumps({{
    "enabled": {package!r} in bpy.context.preferences.addons,
    "loaded": addon_utils.check({package!r}),
    "file": getattr(module, "__file__", None),
    "operator": "COLLISION_BOUNDS_OT_compute_bounds" in dir(bpy.types),
}}))
"""


def test_blender_finds_no_fault_with_the_zip(bare: Path, archive: Path) -> None:
    ended = blender(bare, "--command", "extension", "validate", archive)
    assert ended.returncode == 0, ended.stderr
    assert "error" not in ended.stdout.lower()


def test_it_is_enabled_when_blender_starts(installed: Path, folder: Path) -> None:
    answer = folder / "enabled.json"
    look = LOOK.format(package=PACKAGE, answer=str(answer))
    ended = blender(installed, "-b", "--python-exit-code", "3", "--python-expr", look)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(answer.read_text("utf-8"))
    assert told["enabled"] and told["loaded"] == [True, True] and told["operator"]
    assert Path(told["file"]).is_relative_to(installed)


def test_blender_lists_it_with_its_name(installed: Path) -> None:
    manifest = tomllib.loads((TOP / "blender_manifest.toml").read_text("utf-8"))
    listed = blender(installed, "--command", "extension", "list").stdout
    assert f'{manifest["id"]} [installed]: "{manifest["name"]}", {manifest["tagline"]}' in listed
