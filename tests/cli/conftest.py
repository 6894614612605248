"""Fixtures of the command line's tests, some of them shared with those of scenes."""

from __future__ import annotations

import shutil
from pathlib import Path

import bpy
import pytest

from tests.scene.building import key_location, open_empty_file
from tests.scene.conftest import add_mesh, empty_file, factory_settings
from tests.scene.sampling import add_box

__all__ = ["add_mesh", "empty_file", "factory_settings"]


@pytest.fixture(scope="session")
def saved_scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save a scene in which Dot moves against a cube with a non-ASCII name, and return its path."""
    open_empty_file()
    key_location(add_box("Dot", (0.5, 0.5, 0.5)), {1: (-10, 0, 0), 11: (0, 0, 0)})
    add_box("Bl\u00f6ck \U0001f9f1", (0.5, 0.5, 0.5))
    bpy.context.scene.frame_end = 11
    path = tmp_path_factory.mktemp("saved") / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


@pytest.fixture
def scene(saved_scene: Path, tmp_path: Path) -> Path:
    """Return a copy of the scene for one test, because some tests check that it does not change."""
    return Path(shutil.copy(saved_scene, tmp_path / "scene.blend"))
