"""The built zip is valid, and Blender's extension command installs and lists it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tests.paths import TOP
from tests.window.harness import PACKAGE, run_blender

pytestmark = pytest.mark.smoke

WRITE_STATE = """
import addon_utils, bpy, json, pathlib, sys
module = sys.modules.get({package!r})
pathlib.Path({path!r}).write_text(json.dumps({{
    "enabled": {package!r} in bpy.context.preferences.addons,
    "loaded": addon_utils.check({package!r}),
    "file": getattr(module, "__file__", None),
    "operator": "COLLISION_BOUNDS_OT_compute_bounds" in dir(bpy.types),
}}))
"""


def test_built_zip_passes_blenders_validation(bare: Path, archive: Path) -> None:
    ended = run_blender(bare, "--command", "extension", "validate", archive)
    assert ended.returncode == 0, ended.stderr
    assert "error" not in ended.stdout.lower()


@pytest.mark.long  # starts a Blender
def test_installed_extension_is_enabled_when_blender_starts(installed: Path, folder: Path) -> None:
    path = folder / "enabled.json"
    script = WRITE_STATE.format(package=PACKAGE, path=str(path))
    ended = run_blender(installed, "-b", "--python-exit-code", "3", "--python-expr", script)
    assert ended.returncode == 0, ended.stderr
    state = json.loads(path.read_text("utf-8"))
    assert state["enabled"] and state["loaded"] == [True, True] and state["operator"]
    assert Path(state["file"]).is_relative_to(installed)


@pytest.mark.long  # starts a Blender
def test_blender_lists_the_extension_with_name_and_tagline(installed: Path) -> None:
    manifest = tomllib.loads((TOP / "blender_manifest.toml").read_text("utf-8"))
    listed = run_blender(installed, "--command", "extension", "list").stdout
    assert f'{manifest["id"]} [installed]: "{manifest["name"]}", {manifest["tagline"]}' in listed
