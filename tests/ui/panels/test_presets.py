"""Presets, kept and taken up again by Blender's own operators."""

from __future__ import annotations

import bpy
import pytest

from addon import registration
from addon.ui.panels.presets import COLLISION_BOUNDS_OT_preset_add


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """The scene's settings; presets go where nothing else is."""
    monkeypatch.setenv("BLENDER_USER_SCRIPTS", str(tmp_path))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    registration.register()
    yield bpy.context.scene.collision_bounds
    registration.unregister()


OF_ONE_SCENE = {
    "scope": "VISIBLE",
    "group_a": "Car*",
    "group_b": "collection:Road",
    "ignored": "Lid:Box",
    "obstacles": "Level*",
    "use_scene_range": False,
    "frame_start": -3,
    "frame_end": 17,
    "frame_step": 2,
}
"""Names of things, and frames."""


@pytest.mark.smoke
def test_a_preset_brings_settings_back_and_leaves_alone_what_is_about_one_scene(settings, tmp_path):
    settings.method, settings.padding, settings.shape = "ritter", 0.125, "obb"
    settings.motion, settings.clearance, settings.static_pairs = "linear", 0.5, True
    for name, value in OF_ONE_SCENE.items():
        setattr(settings, name, value)
    settings.colliders.kind, settings.colliders.naming, settings.colliders.pattern = (
        "hull",
        "custom",
        "{name}_C",
    )
    bpy.ops.collision_bounds.preset_add(name="Tight Doors")
    (written,) = (tmp_path / "presets" / "collision_bounds").iterdir()
    kept = {path: eval(path, {"bpy": bpy}) for path in COLLISION_BOUNDS_OT_preset_add.preset_values}
    for name in [entry.identifier for entry in settings.bl_rna.properties]:
        settings.property_unset(name)
    for name in [entry.identifier for entry in settings.colliders.bl_rna.properties]:
        settings.colliders.property_unset(name)
    assert settings.shape == "aabb" and settings.colliders.kind == "box"
    bpy.ops.script.execute_preset(filepath=str(written), menu_idname="COLLISION_BOUNDS_PT_presets")
    assert {path: eval(path, {"bpy": bpy}) for path in COLLISION_BOUNDS_OT_preset_add.preset_values} == kept
    assert settings.colliders.kind == "hull" and settings.colliders.pattern == "{name}_C"
    told = settings.method, settings.padding, settings.shape, settings.motion, settings.clearance
    assert told == ("ritter", 0.125, "obb", "linear", 0.5) and settings.static_pairs
    rna = settings.bl_rna.properties
    assert {name: getattr(settings, name) for name in OF_ONE_SCENE} == {
        name: rna[name].default for name in OF_ONE_SCENE
    }
    assert {path.rpartition(".")[2] for path in COLLISION_BOUNDS_OT_preset_add.preset_values}.isdisjoint(
        OF_ONE_SCENE
    )


def test_a_preset_from_before_that_loads_as_it_did(settings, tmp_path):
    lines = [f"bpy.context.scene.collision_bounds.{name} = {value!r}" for name, value in OF_ONE_SCENE.items()]
    path = tmp_path / "old.py"
    path.write_text(
        "\n".join(["import bpy", *lines, "bpy.context.scene.collision_bounds.padding = 0.125", ""])
    )
    bpy.ops.script.execute_preset(filepath=str(path), menu_idname="COLLISION_BOUNDS_PT_presets")
    assert {name: getattr(settings, name) for name in OF_ONE_SCENE} == OF_ONE_SCENE
    assert settings.padding == 0.125


@pytest.mark.smoke
def test_a_preset_can_be_removed(settings, tmp_path):
    bpy.ops.collision_bounds.preset_add(name="Gone")
    bpy.ops.collision_bounds.preset_add(name="Gone", remove_name=True)
    assert not list((tmp_path / "presets" / "collision_bounds").iterdir())
