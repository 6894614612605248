"""Programs that import bpy remove its temporary folder, and leave no other temporary files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import TOP

# Each case starts a Blender, and they differ in Python alone.
pytestmark = pytest.mark.long

# A session with a Blender of its own, and a process with a Blender that is killed.
KILLS_A_BLENDER = """
import os, signal, subprocess, sys
import bpy

def test_blender_is_killed():
    code = "import bpy, os; assert os.path.isdir(bpy.app.tempdir); os.kill(os.getpid(), 9)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL
    assert os.path.isdir(bpy.app.tempdir)
"""


def files_after(folder: Path, *command: object) -> list[str]:
    """Run a program with `folder` as the system's folder for temporary files; return the files left in it."""
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=TOP,
        env={**os.environ, "TMPDIR": str(folder), "TEMP": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*"))]


def test_example_scene_and_commands_leave_nothing(tmp_path):
    scene, tool = tmp_path / "scene.blend", TOP / "scripts" / "collision_bounds.py"
    for number, command in enumerate(
        [
            (TOP / "scripts" / "example_scene.py", scene),
            (tool, "bounds", scene, "-o", tmp_path / "bounds.json"),
            (tool, "contacts", scene, "--frames", "1:5", "-o", tmp_path / "contacts.json"),
            (tool, "validate", tmp_path / "contacts.json"),
        ]
    ):
        assert files_after(tmp_path / str(number), *command) == []


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_tests_leave_nothing_even_if_a_blender_is_killed(tmp_path):
    test = tmp_path / "test_killed.py"
    test.write_text(KILLS_A_BLENDER, "utf-8")
    options = ("-c", TOP / "pyproject.toml", "-p", "tests.conftest", "--basetemp", tmp_path / "pytest")
    assert files_after(tmp_path / "files", "-m", "pytest", *options, test) == []
