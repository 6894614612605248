"""Fixtures of the window tests: installation, example scene, and one window session for each drive script."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.paths import TOP
from tests.window.harness import Recording, drive, run_blender


@pytest.fixture(scope="session", autouse=True)
def named_blender() -> str:
    """Path of the Blender in $BLENDER, which may install itself when it is first started."""
    named = os.environ.get("BLENDER")
    if not named:
        pytest.skip("$BLENDER names no Blender to open")
    try:
        version = subprocess.run([named, "--version"], capture_output=True, text=True, check=False, cwd=TOP)
    except OSError as error:
        pytest.exit(f"$BLENDER is {named}, which cannot be started: {error.strerror}", returncode=1)
    if not re.search(r"^Blender \d+\.\d+", version.stdout, flags=re.MULTILINE):
        pytest.exit(
            f"$BLENDER is {named}, which does not answer like Blender: {version.stderr}", returncode=1
        )
    return named


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of all files of this run."""
    return tmp_path_factory.mktemp("window")


@pytest.fixture(scope="session")
def archive(folder: Path) -> Path:
    """Path of the extension's zip, built from this checkout."""
    path = folder / "collision_bounds.zip"
    build = [sys.executable, str(TOP / "scripts" / "build_extension.py"), "-o", str(path)]
    subprocess.run(build, check=True, capture_output=True)
    return path


@pytest.fixture(scope="session")
def installed(folder: Path, archive: Path) -> Path:
    """Home folder with only the extension, installed and enabled by Blender's extension command."""
    home = folder / "installed"
    ended = run_blender(home, "--command", "extension", "install-file", "-r", "user_default", "-e", archive)
    assert ended.returncode == 0, ended.stderr
    return home


@pytest.fixture(scope="session")
def bare(folder: Path) -> Path:
    """Home folder without installed extensions."""
    return folder / "bare"


@pytest.fixture(scope="session")
def example(folder: Path, bare: Path) -> Path:
    """Path of the example scene, made by the Blender under test."""
    path = folder / "example.blend"
    script = TOP / "scripts" / "example_scene.py"
    ended = run_blender(bare, "-b", "--python-exit-code", "3", "--python", script, "--", path)
    assert ended.returncode == 0, ended.stderr
    return path


@pytest.fixture(scope="session")
def run_drive_script(folder: Path, installed: Path, example: Path) -> Callable[..., Recording]:
    """Return a function that runs a drive script on a copy of the installation.

    Each script gets a copy, because Blender saves its preferences when it quits.
    """

    def run(script: str, variant: str = "", **more: Any) -> Recording:
        name = Path(script).stem + variant
        home = folder / f"home of {name}"
        shutil.copytree(installed, home)
        return drive(script, example, home, folder / name, **more)

    return run


@pytest.fixture(scope="module")
def recording(request: pytest.FixtureRequest, run_drive_script: Callable[..., Recording]) -> Recording:
    """Record the drive script of a module of tests, which may define OPTIONS for `drive`.

    The script of test_colliders.py is drive_colliders.py in the same folder.
    """
    name = request.path.name.replace("test_", "drive_", 1)
    options = getattr(request.module, "OPTIONS", {})
    return run_drive_script(f"{request.path.parent.name}/{name}", **options)


@pytest.fixture(scope="session")
def tour(folder: Path, example: Path, archive: Path) -> Recording:
    """Record the guide's tour, from a Blender without the extension to a file that is reopened."""
    home, output = folder / "home of the tour", folder / "tour"
    return drive("results/drive_tour.py", example, home, output, seconds=1200, more=(archive,))
