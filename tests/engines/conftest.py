"""Fixtures with the scenes that all engines check, each exported once."""

from __future__ import annotations

import pytest

from tests.engines.from_blender import (
    AnimatedExport,
    Exported,
    TrackedExport,
    export_animation,
    export_difficult_scene,
    export_tracks,
)

_DIFFICULT = """
for preset in ("blender", "gltf", "unity", "unreal"):
    options = ("--preset", preset, "--shapes", "sphere,aabb,obb", "--decimals", "9")
    export_document(preset + ".json", "bounds", *options)
for shape in ("aabb", "obb", "sphere"):
    options = ("--shape", shape, "--frames", "1:1", "--no-ignore-parents", "--decimals", "9")
    export_document(shape + "_contacts.json", "contacts", *options)
export(folder + "/scene.glb")
bpy.ops.wm.usd_export(filepath=folder + "/scene.usda", export_shapekeys=False, export_armatures=False)
"""


@pytest.fixture(scope="session")
def difficult(tmp_path_factory) -> Exported:
    """Bounds in `blender.json` etc., pairs in `aabb_contacts.json` etc., scene.glb and scene.usda."""
    return export_difficult_scene(_DIFFICULT, tmp_path_factory.mktemp("difficult"))


@pytest.fixture(scope="session")
def animated(tmp_path_factory) -> AnimatedExport:
    """Bounds, contacts of boxes and of spheres, and poses of all objects at many times."""
    return export_animation(tmp_path_factory.mktemp("animated"))


@pytest.fixture(scope="session")
def tracked(tmp_path_factory) -> TrackedExport:
    """Tracks in `blender.json` etc., and the positions of all vertices at each of their frames."""
    return export_tracks(tmp_path_factory.mktemp("tracked"))
