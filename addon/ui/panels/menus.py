"""Entries in Blender's menus, which also makes operators available to its menu search, and presets.

Presets are settings of the panels under a name, for all files, stored like Blender's own presets.
Those for common purposes are in the folder `presets` of the extension; each sets what its purpose needs and
leaves other settings alone. Settings that name objects or frames of one scene are not part of a preset.
Presets of other versions load: with such settings, and without those that this version lacks.
"""

from __future__ import annotations

import ast
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any, ClassVar

import bpy
from bl_operators.presets import AddPresetBase
from bl_ui.utils import PresetPanel
from bpy.props import StringProperty
from bpy.types import Context, Menu, Operator, Panel, UILayout

from ..operators import export
from ..operators.command import Command, Named, refusal
from ..properties.options import BOUNDS_OPTIONS, CONTACT_OPTIONS, SCENE_SPECIFIC_OPTIONS
from ..properties.scene import COLLIDER_OPTIONS, settings_of
from ..texts import iface_, n_, rpt_


class COLLISION_BOUNDS_MT_export(Menu):
    """Export bounds and contacts"""

    bl_label = "Export Bounds"

    def draw(self, _context: Context) -> None:
        for number, operator in enumerate(export.EXPORTS):
            icon: Any = "NONE" if number else "EXPORT"
            # The dots are not part of the label, which is also that of the button in the file browser.
            text = iface_("{command}...", command=iface_(operator.bl_label))
            self.layout.operator(operator.bl_idname, text=text, translate=False, icon=icon)


class VIEW3D_MT_collision_bounds(Menu):
    """Compute bounds, find contacts, and create colliders"""

    bl_label = "Collision Bounds"

    def draw(self, _context: Context) -> None:
        layout = self.layout
        layout.operator("collision_bounds.compute_bounds", icon="MESH_UVSPHERE")
        layout.operator("collision_bounds.compute_envelope", icon="CON_FOLLOWPATH")
        layout.operator("collision_bounds.find_contacts", icon="MOD_PHYSICS")
        layout.separator()
        go_to = "collision_bounds.go_to_contact"
        layout.operator(go_to, text="Next Contact", icon="NEXT_KEYFRAME").direction = "NEXT"
        layout.operator(go_to, text="Previous Contact", icon="PREV_KEYFRAME").direction = "PREVIOUS"
        interval = "collision_bounds.go_to_interval"
        layout.operator(interval, text="Next Time of Pair", icon="TRIA_RIGHT").direction = "NEXT"
        layout.operator(interval, text="Previous Time of Pair", icon="TRIA_LEFT").direction = "PREVIOUS"
        layout.operator("collision_bounds.go_to_deepest", icon="TRIA_DOWN_BAR")
        layout.operator("collision_bounds.frame_pair", icon="ZOOM_SELECTED")
        layout.operator("collision_bounds.ignore_pair", icon="UNLINKED")
        ignore = "collision_bounds.ignore_pairs"
        layout.operator(ignore, text="Ignore Pairs Always in Contact").which = "ALWAYS"
        layout.operator(ignore, text="Ignore Pairs of One Object").which = "OBJECT"
        layout.operator(ignore, text="Ignore Pairs of Group").which = "GROUP"
        layout.operator("collision_bounds.restore_pairs")
        draw_rare_commands(layout)
        layout.separator()
        layout.operator("collision_bounds.override_from_fit", icon="SHADING_BBOX")
        layout.operator("collision_bounds.override_from_selection", icon="EDITMODE_HLT")
        layout.operator("collision_bounds.override_from_group", icon="GROUP_VERTEX")
        layout.operator("collision_bounds.add_custom_shape", icon="ADD")
        layout.operator_menu_enum("collision_bounds.split_objects", "bounds_for", icon="BONE_DATA")
        layout.operator("collision_bounds.copy_to_selected", icon="COPYDOWN")
        layout.operator("collision_bounds.measure_fit", icon="DRIVER_DISTANCE")
        layout.separator()
        layout.operator("collision_bounds.create_colliders", icon="MESH_CUBE")
        layout.operator("collision_bounds.colliders_from_selection", icon="EDITMODE_HLT")
        layout.operator("collision_bounds.colliders_from_group", icon="GROUP_VERTEX")
        layout.operator("collision_bounds.remove_colliders")
        layout.operator("collision_bounds.check_colliders")
        layout.separator()
        layout.menu("COLLISION_BOUNDS_MT_export")
        layout.operator("collision_bounds.clear_results", icon="X")


class COLLISION_BOUNDS_MT_contact_list(Menu):
    """More commands for the list of contacts"""

    bl_label = "Contact List"

    def draw(self, _context: Context) -> None:
        draw_rare_commands(self.layout)


class COLLISION_BOUNDS_MT_pie(Menu):
    """Frequent commands around the mouse. Assign a key to wm.call_menu_pie with this menu's name"""

    bl_label = "Collision Bounds"

    def draw(self, _context: Context) -> None:
        """Draw the commands: left and right step through the contacts."""
        pie, go_to = self.layout.menu_pie(), "collision_bounds.go_to_contact"
        pie.operator(go_to, text="Previous Contact", icon="PREV_KEYFRAME").direction = "PREVIOUS"
        pie.operator(go_to, text="Next Contact", icon="NEXT_KEYFRAME").direction = "NEXT"
        pie.operator("collision_bounds.compute_bounds", icon="MESH_UVSPHERE")
        pie.operator("collision_bounds.find_contacts", icon="MOD_PHYSICS")
        pie.operator("collision_bounds.frame_pair", icon="ZOOM_SELECTED")
        pie.operator("collision_bounds.ignore_pair", icon="UNLINKED")


def draw_rare_commands(layout: UILayout) -> None:
    """Draw the commands of the contact list that have no button."""
    contact_list, markers = settings_of(bpy.context).contact_list, "collision_bounds.contact_markers"
    layout.prop_menu_enum(contact_list, "group_by")
    layout.prop(contact_list, "selected_only")
    layout.operator("collision_bounds.show_hidden_rows", icon="LOOP_BACK")
    layout.separator()
    layout.operator("collision_bounds.move_apart", icon="ARROW_LEFTRIGHT")
    layout.operator(markers, icon="MARKER_HLT")
    layout.operator(markers, text="Markers of All Intervals", icon="MARKER").all_intervals = True
    layout.separator()
    layout.operator("collision_bounds.copy_contacts", icon="COPYDOWN")
    layout.operator("collision_bounds.load_report", text="Load Report...", icon="IMPORT")
    layout.separator()
    layout.operator("collision_bounds.load_baseline", text="Load Baseline...", icon="IMPORT")
    layout.operator("collision_bounds.clear_baseline", icon="X")
    layout.operator("collision_bounds.accept_contacts", text="Accept Contacts...", icon="CHECKMARK")
    layout.operator("collision_bounds.revoke_acceptance", icon="LOOP_BACK")
    layout.separator()
    layout.operator("collision_bounds.compute_separation", icon="FILE_REFRESH")
    layout.operator("collision_bounds.export_separation", text="Export Separation...", icon="EXPORT")
    layout.operator("collision_bounds.key_separation", icon="KEYINGSET")


def draw_in_object(self: Any, _context: Context) -> None:
    self.layout.separator()
    self.layout.menu("VIEW3D_MT_collision_bounds")


def draw_in_export(self: Any, _context: Context) -> None:
    self.layout.menu("COLLISION_BOUNDS_MT_export", text="Collision Bounds")


def draw_in_import(self: Any, _context: Context) -> None:
    self.layout.operator("collision_bounds.load_report", text="Collision Bounds Report (.json)")


_FOLDER = Path(__file__).parents[2]
"""Folder whose subfolder `presets` has the presets of the extension."""
_SETTINGS = "bpy.context.scene.collision_bounds"


class COLLISION_BOUNDS_OT_preset_add(Named, AddPresetBase, Operator):
    """Save the settings of this tab as a preset for other files, without objects, groups and frames"""

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
        removes: bool = self.remove_name  # declared by the base class
        file = _FOLDER / "presets" / self.preset_subdir / f"{self.as_filename(self.name)}.py"
        if removes and file.exists():
            text = n_("{name} is part of Collision Bounds: only presets that you saved can be removed")
            self.report({"ERROR"}, rpt_(text, name=self.name))
            return {"CANCELLED"}
        return super().execute(context)


class COLLISION_BOUNDS_OT_preset_apply(Command, Operator):
    """Load the settings of this preset"""

    bl_label = "Load Collision Bounds Preset"
    bl_options: ClassVar = {"REGISTER", "INTERNAL"}

    filepath: StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE"})
    # Blender passes the panel that lists the presets.
    menu_idname: StringProperty(options={"SKIP_SAVE"})

    def run(self, context: Context) -> None:
        """Set what the file assigns; settings and values that do not exist are ignored."""
        path = Path(self.filepath)
        shown = bpy.path.display_name(path.name, title_case=False)
        try:
            statements = ast.parse(path.read_bytes()).body
        except (OSError, SyntaxError, ValueError):
            raise refusal("Preset {name}: the file cannot be read", name=shown) from None
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


@lru_cache(maxsize=1)
def _engine_presets() -> list[Path]:
    """Return the presets of the extension that set options of colliders."""
    files = sorted((_FOLDER / "presets" / COLLISION_BOUNDS_OT_preset_add.preset_subdir).glob("*.py"))
    return [file for file in files if f"{_SETTINGS}.colliders." in file.read_text("utf-8")]


def draw_engine_presets(layout: UILayout) -> None:
    """Draw a button for each engine that has a preset."""
    for file in _engine_presets():
        text = bpy.path.display_name(file.name, title_case=False)
        button: Any = layout.operator(COLLISION_BOUNDS_OT_preset_apply.bl_idname, text=text, translate=False)
        button.filepath = str(file)


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
    utils: Any = bpy.utils
    utils.unregister_preset_path(str(_FOLDER))
