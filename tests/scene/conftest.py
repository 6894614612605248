"""Fixtures of the tests of scenes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import bpy
import pytest

from addon.scene.blender import object_properties
from addon.scene.blender.parts import known_rows
from tests.scene.building import add_vertices, open_empty_file

MakeMesh = Callable[..., bpy.types.Object]


@pytest.fixture(scope="module", autouse=True)
def factory_settings() -> None:
    """Reset the file and the preferences before each module."""
    bpy.ops.wm.read_factory_settings(use_empty=True)


@pytest.fixture
def empty_file() -> None:
    """Start each test from an empty file."""
    open_empty_file()


@pytest.fixture
def object_settings(empty_file: None) -> Iterator[None]:
    """Attach the settings of objects and collections, without the rest of the extension."""
    object_properties.attach()
    known_rows.attach()
    yield
    known_rows.detach()
    object_properties.detach()


@pytest.fixture
def add_mesh(empty_file: None) -> MakeMesh:
    """Return a function that adds a mesh object in an empty file, and updates the view layer."""

    def add(*arguments: object, **attributes: object) -> bpy.types.Object:
        item = add_vertices(*arguments, **attributes)
        bpy.context.view_layer.update()
        return item

    return add
