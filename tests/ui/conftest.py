"""What the tests of the interface share, some of it with those of scenes."""

from __future__ import annotations

import bpy
import pytest

from addon import registration
from tests.scene.building import open_empty_file
from tests.scene.conftest import add_mesh, empty_file, factory_settings

__all__ = ["add_mesh", "empty_file", "factory_settings", "settings"]


@pytest.fixture
def settings():
    """The scene's settings, in an empty file with the extension switched on."""
    open_empty_file()
    registration.register()
    yield bpy.context.scene.collision_bounds
    registration.unregister()
