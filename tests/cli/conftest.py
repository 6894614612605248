"""Fixtures of the command line's tests, shared with those of scenes."""

from tests.scene.conftest import add_mesh, empty_file, factory_settings

__all__ = ["add_mesh", "empty_file", "factory_settings"]
