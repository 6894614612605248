"""Fixtures with Blender processes that have separate preferences and the extension installed from its zip."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import tiers
from tests.package.blender_process import Blender
from tests.package.how_to.user import User
from tests.paths import TOP


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


@pytest.fixture(scope="session")
def user_home(zip_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Home of a reader with the extension, installed from its zip by the command of docs/install.md."""
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("installer")
    User(folder, home).run(f'blender --command extension install-file -r user_default -e "{zip_path}"')
    return home


@pytest.fixture(scope="session")
def home(tmp_path_factory) -> Path:
    """Folder of preferences and extensions, shared by all Blender processes with the extension."""
    return tmp_path_factory.mktemp("blender")


@pytest.fixture(scope="session")
def shared_blender(zip_path, home) -> Iterator[Blender]:
    blender = Blender(home, home / "shared.log", zip_path)
    yield blender
    blender.stop()


def runner(blender: Blender, scene_path: Path, folder: Path) -> Callable[[str], Any]:
    """Return a function that runs a script and returns the value that it passes to `answer`."""

    def run(script: str) -> Any:
        answer = blender.run(textwrap.dedent(script), scene_path=str(scene_path), folder=str(folder))
        # The processor time of a test does not include that of a process which is still running.
        if tiers.is_over_limit(blender.seconds):
            pytest.fail(f"the script took {blender.seconds:.1f} s: make it faster, or mark the test long")
        return answer

    return run


@pytest.fixture
def in_blender(shared_blender, scene_path, tmp_path):
    """Return a function that runs a script in an empty scene of a Blender process that tests share.

    Scripts must not disable the extension or change preferences.
    """
    return runner(shared_blender, scene_path, tmp_path)


@pytest.fixture
def in_new_blender(zip_path, home, scene_path, tmp_path):
    """Return a function that runs scripts in a new Blender process. They may disable the extension."""
    blender = Blender(home, tmp_path / "blender.log", zip_path)
    yield runner(blender, scene_path, tmp_path)
    blender.stop()


@pytest.fixture
def in_empty_blender(zip_path, scene_path, tmp_path):
    """Return a function that runs scripts in a new Blender process, where `install` adds the extension."""
    blender = Blender(tmp_path / "home", tmp_path / "blender.log", zip_path, enabled=False)
    yield runner(blender, scene_path, tmp_path)
    blender.stop()
