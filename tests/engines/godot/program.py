"""Godot without a window, in projects of tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

_LIMIT = 300
"""Seconds. A script that fails before it quits would run forever."""


def godot_program() -> str:
    """Return the path of Godot, or skip the test."""
    program = os.environ.get("GODOT")
    if not program:
        pytest.skip("GODOT is not set to the path of Godot 4.6")
    return str(Path(shutil.which(program) or program).absolute())


def run_godot(program: str, project: Path, *arguments: str) -> str:
    """Run Godot on a project, with preferences of its own, and return what it prints, then its warnings."""
    variables = {key: value for key, value in os.environ.items() if not key.startswith("XDG_")}
    done = subprocess.run(
        [program, "--headless", *arguments],
        cwd=project,
        env={**variables, "HOME": str(project.parent)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=_LIMIT,
        check=False,
    )
    assert done.returncode == 0 and "SCRIPT ERROR" not in done.stderr, done.stdout + done.stderr
    return done.stdout + done.stderr


def new_project(folder: Path) -> Path:
    """Make an empty project in a folder.

    Godot imports nothing while a .blend file is in a project and it does not know the path of Blender.
    """
    project = folder / "project"
    project.mkdir()
    (project / "project.godot").write_text("config_version=5\n", "utf-8")
    return project
