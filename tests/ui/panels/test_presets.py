"""Presets, saved and loaded by Blender's own operators."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

from addon import registration
from addon.ui.panels import menus
from addon.ui.panels.menus import COLLISION_BOUNDS_OT_preset_add


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """Return the scene's settings; presets are saved in an empty folder."""
    monkeypatch.setenv("BLENDER_USER_SCRIPTS", str(tmp_path))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    registration.register()
    yield bpy.context.scene.collision_bounds
    registration.unregister()


SCENE_SPECIFIC_VALUES = {
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
"""Settings that presets do not store: names of objects, and frames."""


@pytest.mark.smoke
def test_preset_restores_settings_except_scene_specific_ones(settings, tmp_path):
    settings.box_axes, settings.padding, settings.shape = "smallest", 0.125, "obb"
    settings.motion, settings.clearance, settings.static_pairs = "linear", 0.5, True
    for name, value in SCENE_SPECIFIC_VALUES.items():
        setattr(settings, name, value)
    settings.colliders.kind, settings.colliders.naming, settings.colliders.pattern = (
        "hull",
        "custom",
        "{name}_C",
    )
    bpy.ops.collision_bounds.preset_add(name="Tight Fit")
    (written,) = (tmp_path / "presets" / "collision_bounds").iterdir()
    kept = {path: eval(path, {"bpy": bpy}) for path in COLLISION_BOUNDS_OT_preset_add.preset_values}
    for name in [entry.identifier for entry in settings.bl_rna.properties]:
        settings.property_unset(name)
    for name in [entry.identifier for entry in settings.colliders.bl_rna.properties]:
        settings.colliders.property_unset(name)
    assert settings.shape == "mesh" and settings.colliders.kind == "box"
    bpy.ops.collision_bounds.preset_apply(filepath=str(written), menu_idname="COLLISION_BOUNDS_PT_presets")
    assert {path: eval(path, {"bpy": bpy}) for path in COLLISION_BOUNDS_OT_preset_add.preset_values} == kept
    assert settings.colliders.kind == "hull" and settings.colliders.pattern == "{name}_C"
    restored = settings.box_axes, settings.padding, settings.shape, settings.motion, settings.clearance
    assert restored == ("smallest", 0.125, "obb", "linear", 0.5) and settings.static_pairs
    rna = settings.bl_rna.properties
    assert {name: getattr(settings, name) for name in SCENE_SPECIFIC_VALUES} == {
        name: rna[name].default for name in SCENE_SPECIFIC_VALUES
    }
    assert {path.rpartition(".")[2] for path in COLLISION_BOUNDS_OT_preset_add.preset_values}.isdisjoint(
        SCENE_SPECIFIC_VALUES
    )


def test_older_preset_with_scene_specific_settings_loads(settings, tmp_path):
    lines = [
        f"bpy.context.scene.collision_bounds.{name} = {value!r}"
        for name, value in SCENE_SPECIFIC_VALUES.items()
    ]
    path = tmp_path / "old.py"
    path.write_text(
        "\n".join(["import bpy", *lines, "bpy.context.scene.collision_bounds.padding = 0.125", ""])
    )
    bpy.ops.collision_bounds.preset_apply(filepath=str(path), menu_idname="COLLISION_BOUNDS_PT_presets")
    assert {name: getattr(settings, name) for name in SCENE_SPECIFIC_VALUES} == SCENE_SPECIFIC_VALUES
    assert settings.padding == 0.125


def test_preset_of_another_version_sets_all_but_what_this_version_lacks(settings, tmp_path, capfd):
    path = tmp_path / "Of_Before.py"
    path.write_text("""import bpy
bpy.context.scene.collision_bounds.padding = 0.125
bpy.context.scene.collision_bounds.method = 'ritter'
bpy.context.scene.collision_bounds.shape = 'hexagon'
bpy.context.scene.collision_bounds.clearance = 0.5
""")
    done = bpy.ops.collision_bounds.preset_apply(filepath=str(path))
    assert done == {"FINISHED"} and (settings.padding, settings.shape, settings.clearance) == (
        0.125,
        "mesh",
        0.5,
    )
    assert "Preset Of Before: ignored method = 'ritter', shape = 'hexagon', which" in capfd.readouterr().out


def test_preset_that_cannot_be_read_is_an_error(settings, tmp_path):
    path = tmp_path / "Broken.py"
    path.write_text('import bpy\nbpy.context.scene.collision_bounds.padding = 0.5\n"')
    for name in (path, tmp_path / "Missing.py"):
        with pytest.raises(RuntimeError, match=r"Preset .*: the file cannot be read"):
            bpy.ops.collision_bounds.preset_apply(filepath=str(name))
    assert settings.padding == 0


@pytest.mark.smoke
def test_preset_can_be_removed(settings, tmp_path):
    bpy.ops.collision_bounds.preset_add(name="Gone")
    bpy.ops.collision_bounds.preset_add(name="Gone", remove_name=True)
    assert not list((tmp_path / "presets" / "collision_bounds").iterdir())


SHIPPED = Path(menus.__file__).parents[2] / "presets" / "collision_bounds"


def test_common_purposes_have_presets(settings):
    assert str(SHIPPED) in bpy.utils.preset_paths("collision_bounds")
    names = {bpy.path.display_name(path.name, title_case=False) for path in SHIPPED.glob("*.py")}
    assert names == {"Unreal UCX", "Godot", "Unity", "Quick Check", "Exact"}


WANTED = {
    "Quick_Check": {"shape": "aabb", "motion": "linear", "clearance": 0.0},
    "Exact": {"shape": "mesh", "motion": "adaptive", "clearance": 0.0},
    "Unreal_UCX": {"colliders.kind": "hull", "colliders.naming": "unreal"},
    "Godot": {"colliders.kind": "hull", "colliders.naming": "godot"},
    "Unity": {"colliders.kind": "hull", "colliders.naming": "unity"},
}


@pytest.mark.parametrize("name", WANTED)
def test_preset_for_a_purpose_sets_only_what_it_needs(settings, name):
    settings.shape, settings.clearance = "sphere", 0.5
    settings.motion = "linear" if name == "Exact" else "adaptive"
    settings.colliders.naming, settings.box_axes = "custom", "smallest"
    before, path = stored_values(), str(SHIPPED / f"{name}.py")
    bpy.ops.collision_bounds.preset_apply(filepath=path, menu_idname="COLLISION_BOUNDS_PT_presets")
    after = stored_values()
    for option, value in WANTED[name].items():
        assert settings.path_resolve(option) == value
    changed = {
        option.rpartition("collision_bounds.")[2] for option in after if after[option] != before[option]
    }
    assert changed - {"shape"} == set(WANTED[name]) - {"shape"} != set()


def test_presets_of_the_extension_cannot_be_removed(settings):
    with pytest.raises(RuntimeError, match="Quick Check is part of Collision Bounds"):
        bpy.ops.collision_bounds.preset_add(name="Quick Check", remove_name=True)
    assert (SHIPPED / "Quick_Check.py").exists()


def test_saved_preset_can_be_removed(settings, tmp_path):
    bpy.ops.collision_bounds.preset_add(name="Mine")
    assert bpy.ops.collision_bounds.preset_add(name="Mine", remove_name=True) == {"FINISHED"}
    assert not list((tmp_path / "presets" / "collision_bounds").iterdir())


def stored_values():
    """Return the values of all settings of the tab, by path."""
    return {path: eval(path, {"bpy": bpy}) for path in COLLISION_BOUNDS_OT_preset_add.preset_values}
