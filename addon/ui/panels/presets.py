"""Presets: settings of the panels under a name, for all files, stored like Blender's own presets.

Settings that name objects or frames of one scene are not part of a preset. Older presets that set them still
load.
"""

from __future__ import annotations

from typing import ClassVar

from bl_operators.presets import AddPresetBase
from bl_ui.utils import PresetPanel
from bpy.types import Operator, Panel

from ..properties.colliders import COLLIDER_OPTIONS
from ..properties.shared_options import CONTACT_OPTIONS, SCENE_SPECIFIC_OPTIONS

_SETTINGS = "bpy.context.scene.collision_bounds"


class COLLISION_BOUNDS_OT_preset_add(AddPresetBase, Operator):
    """Save the settings of this tab as a preset for other files, without objects, groups and frames"""

    bl_idname = "collision_bounds.preset_add"
    bl_label = "Add Collision Bounds Preset"
    preset_menu = "COLLISION_BOUNDS_PT_presets"
    preset_subdir = "collision_bounds"
    # Full paths, because Blender 4 with Python 3.13 does not find names that `preset_defines` sets.
    preset_values: ClassVar = [
        *(f"{_SETTINGS}.{name}" for name in ("method", "padding")),
        *(f"{_SETTINGS}.{name}" for name in CONTACT_OPTIONS if name not in SCENE_SPECIFIC_OPTIONS),
        *(f"{_SETTINGS}.colliders.{name}" for name in COLLIDER_OPTIONS),
    ]


class COLLISION_BOUNDS_PT_presets(PresetPanel, Panel):
    """Settings for a purpose, and those that you saved"""

    bl_label = "Collision Bounds Presets"
    preset_subdir = COLLISION_BOUNDS_OT_preset_add.preset_subdir
    preset_operator = "script.execute_preset"
    preset_add_operator = COLLISION_BOUNDS_OT_preset_add.bl_idname


CLASSES = (COLLISION_BOUNDS_OT_preset_add, COLLISION_BOUNDS_PT_presets)
