"""Presets, kept and taken up again by Blender's own operators."""

from __future__ import annotations

import bpy
import pytest

from addon import registration
from addon.ui.presets import AddPreset


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """The scene's settings; presets go where nothing else is."""
    monkeypatch.setenv("BLENDER_USER_SCRIPTS", str(tmp_path))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    registration.register()
    yield bpy.context.scene.collision_bounds
    registration.unregister()


def test_a_preset_brings_all_settings_back(settings, tmp_path):
    settings.method, settings.padding, settings.shape = "ritter", 0.125, "obb"
    settings.motion, settings.clearance, settings.ignored = "linear", 0.5, "Lid:Box"
    settings.use_scene_range, settings.frame_start, settings.frame_end = False, -3, 17
    settings.colliders.kind, settings.colliders.naming, settings.colliders.pattern = "hull", "own", "{name}_C"
    bpy.ops.collision_bounds.preset_add(name="Tight Doors")
    (written,) = (tmp_path / "presets" / "collision_bounds").iterdir()
    kept = {path: eval(path, {"bpy": bpy}) for path in AddPreset.preset_values}
    for name in [entry.identifier for entry in settings.bl_rna.properties]:
        settings.property_unset(name)
    for name in [entry.identifier for entry in settings.colliders.bl_rna.properties]:
        settings.colliders.property_unset(name)
    assert settings.shape == "aabb" and settings.colliders.kind == "box"
    bpy.ops.script.execute_preset(filepath=str(written), menu_idname="COLLISION_BOUNDS_PT_presets")
    assert {path: eval(path, {"bpy": bpy}) for path in AddPreset.preset_values} == kept
    assert settings.shape == "obb" and settings.frame_start == -3
    assert settings.colliders.kind == "hull" and settings.colliders.pattern == "{name}_C"


def test_a_preset_can_be_removed(settings, tmp_path):
    bpy.ops.collision_bounds.preset_add(name="Gone")
    bpy.ops.collision_bounds.preset_add(name="Gone", remove_name=True)
    assert not list((tmp_path / "presets" / "collision_bounds").iterdir())
