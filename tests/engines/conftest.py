"""Scenes for all engines, exported once."""

from __future__ import annotations

import pytest

from tests.engines.from_blender import Exported, Moved, Tracked, exported, moved, tracked

_HURTING = """
for preset in ("blender", "gltf", "unity", "unreal"):
    written(preset + ".json", "bounds", "--preset", preset, "--shapes", "sphere,aabb,obb", "--decimals", "9")
for shape in ("aabb", "obb", "sphere"):
    options = ("--shape", shape, "--frames", "1:1", "--no-ignore-parents", "--decimals", "9")
    written(shape + "_contacts.json", "contacts", *options)
export(folder + "/scene.glb")
bpy.ops.wm.usd_export(filepath=folder + "/scene.usda", export_shapekeys=False, export_armatures=False)
"""


@pytest.fixture(scope="session")
def hurting(tmp_path_factory) -> Exported:
    """Bounds in `blender.json` and so on, pairs in `aabb_contacts.json` and so on, scene.glb, scene.usda."""
    return exported(_HURTING, tmp_path_factory.mktemp("hurting"))


@pytest.fixture(scope="session")
def moving(tmp_path_factory) -> Moved:
    """Bounds, contacts of boxes and of spheres, and the poses of all objects at many times."""
    return moved(tmp_path_factory.mktemp("moving"))


@pytest.fixture(scope="session")
def moved_by_frames(tmp_path_factory) -> Tracked:
    """Tracks in `blender.json` and so on, and the positions of all vertices at each of their frames."""
    return tracked(tmp_path_factory.mktemp("tracked"))
