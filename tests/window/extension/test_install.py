"""The built zip is valid, and Blender's extension command installs and lists it."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

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


# Fixtures start the Blenders, because a start takes about as long as a quick test may.


@pytest.fixture(scope="module")
def validation(bare: Path, archive: Path) -> subprocess.CompletedProcess[str]:
    """Outcome of Blender's validation of the built zip."""
    return run_blender(bare, "--command", "extension", "validate", archive)


@pytest.fixture(scope="module")
def state(installed: Path, folder: Path) -> dict[str, Any]:
    """State of the extension in a Blender that has just started, with it installed."""
    path = folder / "enabled.json"
    script = WRITE_STATE.format(package=PACKAGE, path=str(path))
    ended = run_blender(installed, "-b", "--python-exit-code", "3", "--python-expr", script)
    assert ended.returncode == 0, ended.stderr
    return dict(json.loads(path.read_text("utf-8")))


@pytest.fixture(scope="module")
def listing(installed: Path) -> str:
    """Blender's list of installed extensions."""
    return run_blender(installed, "--command", "extension", "list").stdout


def test_built_zip_passes_blenders_validation(validation: subprocess.CompletedProcess[str]) -> None:
    assert validation.returncode == 0, validation.stderr
    assert "error" not in validation.stdout.lower()


def test_installed_extension_is_enabled_when_blender_starts(state: dict[str, Any], installed: Path) -> None:
    assert state["enabled"] and state["loaded"] == [True, True] and state["operator"]
    assert Path(state["file"]).is_relative_to(installed)


def test_blender_lists_the_extension_with_name_and_tagline(listing: str) -> None:
    manifest = tomllib.loads((TOP / "blender_manifest.toml").read_text("utf-8"))
    assert f'{manifest["id"]} [installed]: "{manifest["name"]}", {manifest["tagline"]}' in listing
