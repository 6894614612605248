"""Presets: the settings of the tab under a name, for all files. Blender keeps them as it keeps its own.

What names things of one scene, or its frames, is left out. Presets from before that set it too, and load.
"""

from __future__ import annotations

from typing import ClassVar

from bl_operators.presets import AddPresetBase
from bl_ui.utils import PresetPanel
from bpy.types import Operator, Panel

from .collider_settings import COLLIDER_OPTIONS
from .options import CONTACT_OPTIONS, OF_ONE_SCENE

_SETTINGS = "bpy.context.scene.collision_bounds"


class AddPreset(AddPresetBase, Operator):
    """Keep the settings of this tab under a name, for other files: not which objects, groups and frames"""

    bl_idname = "collision_bounds.preset_add"
    bl_label = "Add Collision Bounds Preset"
    preset_menu = "COLLISION_BOUNDS_PT_presets"
    preset_subdir = "collision_bounds"
    # Whole paths: Blender 4 with Python 3.13 does not find names that `preset_defines` gives.
    preset_values: ClassVar = [
        *(f"{_SETTINGS}.{name}" for name in ("method", "padding")),
        *(f"{_SETTINGS}.{name}" for name in CONTACT_OPTIONS if name not in OF_ONE_SCENE),
        *(f"{_SETTINGS}.colliders.{name}" for name in COLLIDER_OPTIONS),
    ]


class COLLISION_BOUNDS_PT_presets(PresetPanel, Panel):
    """The pop-over of the button in the header of the Bounds panel. Blender finds it by its class's name."""

    bl_label = "Collision Bounds Presets"
    preset_subdir = AddPreset.preset_subdir
    preset_operator = "script.execute_preset"
    preset_add_operator = AddPreset.bl_idname


CLASSES = (AddPreset, COLLISION_BOUNDS_PT_presets)
