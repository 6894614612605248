"""One installation, one example scene and one window session per story, shared by all tests here."""

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

from tests.window.harness import TOP, Told, blender, drive


@pytest.fixture(scope="session", autouse=True)
def named_blender() -> str:
    """The Blender that $BLENDER names, which may install itself when it is first started."""
    named = os.environ.get("BLENDER")
    if not named:
        pytest.skip("$BLENDER names no Blender to open")
    try:
        answer = subprocess.run([named, "--version"], capture_output=True, text=True, check=False, cwd=TOP)
    except OSError as error:
        pytest.exit(f"$BLENDER is {named}, which cannot be started: {error.strerror}", returncode=1)
    if not re.search(r"^Blender \d+\.\d+", answer.stdout, flags=re.MULTILINE):
        pytest.exit(f"$BLENDER is {named}, which does not answer like Blender: {answer.stderr}", returncode=1)
    return named


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where everything of this run goes."""
    return tmp_path_factory.mktemp("window")


@pytest.fixture(scope="session")
def archive(folder: Path) -> Path:
    """The extension, built from this checkout."""
    path = folder / "collision_bounds.zip"
    build = [sys.executable, str(TOP / "scripts" / "build_extension.py"), "-o", str(path)]
    subprocess.run(build, check=True, capture_output=True)
    return path


@pytest.fixture(scope="session")
def installed(folder: Path, archive: Path) -> Path:
    """A home with nothing but the extension, installed and enabled by Blender's own tool."""
    home = folder / "installed"
    ended = blender(home, "--command", "extension", "install-file", "-r", "user_default", "-e", archive)
    assert ended.returncode == 0, ended.stderr
    return home


@pytest.fixture(scope="session")
def bare(folder: Path) -> Path:
    """A home as it is before anything is installed."""
    return folder / "bare"


@pytest.fixture(scope="session")
def example(folder: Path, bare: Path) -> Path:
    """The example scene, made by the Blender under test."""
    path = folder / "example.blend"
    script = TOP / "scripts" / "example_scene.py"
    ended = blender(bare, "-b", "--python-exit-code", "3", "--python", script, "--", path)
    assert ended.returncode == 0, ended.stderr
    return path


@pytest.fixture(scope="session")
def told_by(folder: Path, installed: Path, example: Path) -> Callable[..., Told]:
    """Run a drive script on a copy of the installation: Blender saves its preferences when it ends."""

    def run(script: str, **more: Any) -> Told:
        name = Path(script).stem
        home = folder / f"home of {name}"
        shutil.copytree(installed, home)
        return drive(script, example, home, folder / name, **more)

    return run


@pytest.fixture(scope="session")
def story(folder: Path, example: Path, archive: Path) -> Told:
    """The guide's tour: from a Blender without the extension to a file that is opened again."""
    home, kept = folder / "home of the tour", folder / "tour"
    return drive("results/drive_story.py", example, home, kept, seconds=1200, more=(archive,))


@pytest.fixture(scope="session")
def undo(told_by: Callable[..., Told]) -> Told:
    """Undo, redo, changed options, Esc."""
    return told_by("viewport/drive_undo.py")


@pytest.fixture(scope="session")
def disable(told_by: Callable[..., Told]) -> Told:
    """Disabled and enabled again."""
    return told_by("extension/drive_disable.py")


@pytest.fixture(scope="session")
def results(told_by: Callable[..., Told]) -> Told:
    """Scans that are stopped, and the list of results."""
    return told_by("results/drive_results.py")


@pytest.fixture(scope="session")
def rounds(told_by: Callable[..., Told]) -> Told:
    """Whatever users do, in any order, with the overlay on."""
    return told_by("results/drive_rounds.py")


@pytest.fixture(scope="session")
def searched(told_by: Callable[..., Told]) -> Told:
    """Operators found by what people type into Blender's search."""
    return told_by("extension/drive_search.py")


@pytest.fixture(scope="session")
def cut_off(told_by: Callable[..., Told]) -> Told:
    """Scans that something else ends."""
    return told_by("results/drive_scan_ended.py")
