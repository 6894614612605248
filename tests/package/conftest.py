"""A Blender with the extension installed from its zip, in a process with empty preferences."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]

# Runs before each script: a Blender with the extension installed from the zip and enabled.
PROLOGUE = """
import json, sys
import bpy
bpy.ops.wm.read_homefile(app_template="", use_empty=True)
zip_path, scene_path, folder = sys.argv[1:4]
bpy.ops.extensions.package_install_files(
    filepath=zip_path, repo="user_default", enable_on_install=True, overwrite=True
)
NAME = "bl_ext.user_default.collision_bounds"
package = sys.modules[NAME]
def answer(value):
    print("ANSWER " + json.dumps(value))
"""


@pytest.fixture(scope="session")
def zip_path(tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("package") / "extension.zip"
    subprocess.run([sys.executable, str(TOP / "scripts/build_extension.py"), "-o", str(target)], check=True)
    return target


@pytest.fixture(scope="session")
def scene_path(tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("scene") / "factory_floor.blend"
    subprocess.run(
        [sys.executable, str(TOP / "scripts/example_scene.py"), str(target)], check=True, capture_output=True
    )
    return target


@pytest.fixture
def in_blender(zip_path, scene_path, tmp_path):
    """Runs a script in a fresh Blender with the extension; what it gave to `answer` comes back."""

    def run(script: str) -> object:
        home = tmp_path / "home"
        environment = {**os.environ, "BLENDER_USER_RESOURCES": str(home)}
        path = tmp_path / "script.py"
        path.write_text(PROLOGUE + textwrap.dedent(script), "utf-8")
        done = subprocess.run(
            [sys.executable, str(path), str(zip_path), str(scene_path), str(tmp_path)],
            env=environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        assert "Traceback" not in done.stderr, done.stderr[-4000:]
        (line,) = [line for line in done.stdout.splitlines() if line.startswith("ANSWER ")]
        return json.loads(line.removeprefix("ANSWER "))

    return run
