"""Fixtures of the tests of scenes."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import numpy as np
import pytest

from tests.scene.building import CUBE, open_empty_file

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
def add_mesh(empty_file: None) -> MakeMesh:
    """Return a function that adds an object of loose vertices, by default a cube of side 2, to the scene."""

    def make(name: str, points: object = CUBE, **attributes: object) -> bpy.types.Object:
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(np.asarray(points, dtype=float).tolist(), [], [])
        item = bpy.data.objects.new(name, mesh)
        bpy.context.scene.collection.objects.link(item)
        for key, value in attributes.items():
            setattr(item, key, value)
        bpy.context.view_layer.update()
        return item

    return make
