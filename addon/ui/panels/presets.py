"""Presets: settings of the panels under a name, for all files, stored like Blender's own presets.

Presets for common purposes are in the folder `presets` of the extension; each sets what its purpose needs and
leaves other settings alone. Settings that name objects or frames of one scene are not part of a preset.

Presets of other versions load: with such settings, and without those that this version lacks.
"""

from __future__ import annotations

import ast
from functools import reduce
from pathlib import Path
from typing import Any, ClassVar

import bpy
from bl_operators.presets import AddPresetBase
from bl_ui.utils import PresetPanel
from bpy.props import StringProperty
from bpy.types import Context, Operator, Panel

from ..properties.colliders import COLLIDER_OPTIONS
from ..properties.options import BOUNDS_OPTIONS, CONTACT_OPTIONS, SCENE_SPECIFIC_OPTIONS
from ..properties.scene import settings_of
from ..translation import n_, rpt_

_FOLDER = Path(__file__).parents[2]
"""Folder whose subfolder `presets` has the presets of the extension."""
_SETTINGS = "bpy.context.scene.collision_bounds"


class COLLISION_BOUNDS_OT_preset_add(AddPresetBase, Operator):
    """Save the settings of this tab as a preset for other files, without objects, groups and frames"""

    bl_idname = "collision_bounds.preset_add"
    bl_label = "Add Collision Bounds Preset"
    preset_menu = "COLLISION_BOUNDS_PT_presets"
    preset_subdir = "collision_bounds"
    # Full paths, because Blender 4 with Python 3.13 does not find names that `preset_defines` sets.
    preset_values: ClassVar = [
        *(
            f"{_SETTINGS}.{name}"
            for name in dict.fromkeys((*BOUNDS_OPTIONS, *CONTACT_OPTIONS))
            if name not in SCENE_SPECIFIC_OPTIONS
        ),
        *(f"{_SETTINGS}.colliders.{name}" for name in COLLIDER_OPTIONS),
    ]

    def execute(self, context: Context) -> set[str]:
        """Save or remove a preset; those of the extension stay."""
        removes: bool = self.remove_name  # type: ignore[attr-defined]  # declared by the base class
        file = _FOLDER / "presets" / self.preset_subdir / f"{self.as_filename(self.name)}.py"
        if removes and file.exists():
            text = n_("{name} is part of Collision Bounds: only presets that you saved can be removed")
            self.report({"ERROR"}, rpt_(text, name=self.name))
            return {"CANCELLED"}
        return super().execute(context)


class COLLISION_BOUNDS_OT_preset_apply(Operator):
    """Load the settings of this preset"""

    bl_idname = "collision_bounds.preset_apply"
    bl_label = "Load Collision Bounds Preset"
    bl_options: ClassVar = {"REGISTER", "INTERNAL"}

    filepath: StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE"})
    # Blender passes the panel that lists the presets.
    menu_idname: StringProperty(options={"SKIP_SAVE"})

    def execute(self, context: Context) -> set[str]:
        """Set what the file assigns; settings and values that do not exist are ignored."""
        path = Path(self.filepath)
        shown = bpy.path.display_name(path.name, title_case=False)
        try:
            statements = ast.parse(path.read_bytes()).body
        except (OSError, SyntaxError, ValueError):
            self.report({"ERROR"}, rpt_("Preset {name}: the file cannot be read", name=shown))
            return {"CANCELLED"}
        ignored = []
        for statement in statements:
            if isinstance(statement, ast.Assign):
                assigned = ast.unparse(statement.targets[0]).removeprefix(f"{_SETTINGS}.")
                *groups, name = assigned.split(".")
                try:
                    owner = reduce(getattr, groups, settings_of(context))
                    if name not in owner.bl_rna.properties:  # Python would add an attribute
                        raise AttributeError(name)
                    setattr(owner, name, ast.literal_eval(statement.value))
                except (AttributeError, TypeError, ValueError):
                    ignored.append(f"{assigned} = {ast.unparse(statement.value)}")
        COLLISION_BOUNDS_PT_presets.bl_label = shown
        if ignored:
            text = n_("Preset {name}: ignored {settings}, which this version does not have")
            self.report({"WARNING"}, rpt_(text, name=shown, settings=", ".join(ignored)))
        return {"FINISHED"}


class COLLISION_BOUNDS_PT_presets(PresetPanel, Panel):
    """Settings for a purpose, and those that you saved"""

    bl_label = "Collision Bounds Presets"
    preset_subdir = COLLISION_BOUNDS_OT_preset_add.preset_subdir
    preset_operator = COLLISION_BOUNDS_OT_preset_apply.bl_idname
    preset_add_operator = "collision_bounds.preset_add"


def attach() -> None:
    """List the presets of the extension together with those of the user."""
    utils: Any = bpy.utils  # the type stubs of Blender 4.2 lack it
    utils.register_preset_path(str(_FOLDER))


def detach() -> None:
    """Remove them from the list."""
    utils: Any = bpy.utils
    utils.unregister_preset_path(str(_FOLDER))
