"""Fixtures of the interface's tests, some of them shared with the tests of scenes."""

from __future__ import annotations

import bpy
import pytest

from addon import registration
from tests.scene.building import open_empty_file
from tests.scene.conftest import add_mesh, empty_file, factory_settings

__all__ = ["add_mesh", "empty_file", "factory_settings", "settings"]


@pytest.fixture
def settings():
    """Return the scene's settings, in an empty file with the extension enabled."""
    open_empty_file()
    registration.register()
    yield bpy.context.scene.collision_bounds
    registration.unregister()
