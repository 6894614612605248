"""Operators that export files: one per format, as buttons and in File > Export."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import bpy
from bpy.props import FloatProperty, IntProperty, StringProperty
from bpy.types import Context, Event, Operator
from bpy_extras.io_utils import ExportHelper

from ... import formats
from ...formats.export.gltf import DEFAULT_GLTF_EXTENSIONS, GLTF_EXTENSIONS
from ...formats.wording import message_line
from ...scene.blender.object_settings import decimal_from_float32
from ..properties.options import flag, one_of
from ..properties.scene import envelopes_on, exported_result, has_results, settings_of
from ..texts import n_, rpt_
from . import need
from .command import Command, DrawsOptions, Outcome

_AXIS_ITEMS = tuple((axis, axis, "") for axis in formats.AXES)

_last_paths: dict[tuple[str, str], str] = {}
"""Path that was last chosen in a file browser for each operator and blend file, in this session."""


def suggested_path(source: str, name: str) -> str:
    """Return a path in the folder of the blend file. In `name`, {file} is the blend file's own name."""
    file = Path(source or "untitled.blend")
    return str(file.with_name(name.format(file=file.stem)))


class FileExport(Command, ExportHelper):
    bl_options: ClassVar = {"REGISTER"}
    filename_ext: ClassVar[str]
    filter_glob: StringProperty(options={"HIDDEN"})
    # Not kept by Blender, which would suggest the path of another blend file.
    filepath: StringProperty(
        name="File Path", description="File to write", subtype="FILE_PATH", options={"SKIP_SAVE"}
    )

    def suggest(self, context: Context) -> str:
        """Return the path to suggest."""
        raise NotImplementedError

    def invoke(self, context: Context, event: Event) -> set[str]:
        """Open the file browser, with a suggestion unless a path was passed."""
        self.filter_glob = f"*{self.filename_ext}"
        self.filepath = self.filepath or self.suggest(context)
        invoked: Any = super().invoke(context, event)  # the type stubs return literals
        return set(invoked)


EXPORTS: list[Any] = []
"""All export operators, in the order of the panel and the menus. The first one writes the whole document."""


class _Export(FileExport):
    needs = (need.idle, need.that(has_results, n_("Compute bounds or find contacts first")))
    file_format: ClassVar[str] = "json"
    suggested_name: ClassVar[str] = "{file}.json"
    decimals: IntProperty(
        name="Decimals",
        description="Decimals of lengths. Shapes are rounded outward",
        default=formats.DEFAULT_DECIMALS,
        min=formats.LEAST_DECIMALS,
        max=formats.MOST_DECIMALS,
    )
    _was_suggested = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.filename_ext = Path(cls.suggested_name).suffix
        if not cls.__name__.startswith("_"):
            EXPORTS.append(cls)

    def suggest(self, context: Context) -> str:
        """Return the path of the last export from this blend file, or a new one next to it."""
        self._was_suggested, source = True, context.blend_data.filepath
        return _last_paths.get((self.bl_idname, source)) or suggested_path(source, self.suggested_name)

    def convention(self) -> formats.Convention:
        """Return the convention of the file's space."""
        return formats.CONVENTIONS["blender"]

    def run(self, context: Context) -> Outcome:
        results = settings_of(context).results
        shown, result = results.contacts or results.bounds, exported_result(settings_of(context))
        path = Path(bpy.path.abspath(self.filepath))
        convention = formats.file_format(self.file_format).convention or self.convention()
        document = result.document(convention, self.decimals)
        extensions = getattr(self, "extensions", DEFAULT_GLTF_EXTENSIONS)
        options = formats.ExportOptions(
            getattr(self, "table", "bounds"),
            [extension for extension in GLTF_EXTENSIONS if extension in extensions],
            getattr(self, "free_joints", False),
        )
        formats.write_text(path, formats.file_text(document, self.file_format, options))
        if self._was_suggested:
            _last_paths[self.bl_idname, context.blend_data.filepath] = self.filepath
        name = message_line(path.name)
        if results.stale:
            text = n_("Exported {file}: results are older than the last change of the scene")
            self.report({"WARNING"}, rpt_(text, file=name))
        elif self.file_format == "json" and results.envelopes is not None and result is shown:
            text = n_("Exported {file} without swept bounds: their frames differ from those of the contacts")
            if result.group is not None:
                text = n_("Exported {file} without swept bounds: they enclose all vertices, not a group")
            elif envelopes_on(settings_of(context)) is None:
                text = n_("Exported {file} without swept bounds: they are out of date")
            self.report({"WARNING"}, rpt_(text, file=name))
        else:
            return rpt_("Exported {path}", path=message_line(str(path)))
        return None


class _ExportInAnySpace(DrawsOptions, _Export):
    drawn: ClassVar[tuple[str, ...]] = ("preset", "up", "forward", "handedness", "units", "decimals")

    preset: one_of(
        "Axes",
        "Axes and unit of the file",
        ("blender", "Blender", "Z up, right-handed, Blender units"),
        ("gltf", "glTF", "Y up, right-handed, meters. Also for three.js and Godot"),
        ("unity", "Unity", "Y up, left-handed, meters. Also for Babylon.js"),
        ("unreal", "Unreal", "Z up, left-handed, centimeters"),
        ("custom", "Custom", "Use the axes and the unit below"),
    )
    up: one_of("Up", "Axis that Blender's up direction (+Z) maps to", *_AXIS_ITEMS, default="+Y")
    forward: one_of("Forward", "Axis that Blender's front direction (-Y) maps to", *_AXIS_ITEMS, default="+Z")
    handedness: one_of(
        "Handedness", "Handedness of the coordinate system", ("right", "Right", ""), ("left", "Left", "")
    )
    units: FloatProperty(
        name="Units per Meter",
        description="Number of units per meter, such as 100 for centimeters",
        default=1.0,
        min=1e-6,
        soft_max=1000,
    )

    def convention(self) -> formats.Convention:
        """Return the selected convention. Raises SpaceError for axes that do not make a space."""
        if self.preset != "custom":
            return formats.CONVENTIONS[self.preset]
        return formats.Convention(
            "custom", self.up, self.forward, self.handedness, decimal_from_float32(self.units)
        )


class COLLISION_BOUNDS_OT_export_json(_ExportInAnySpace, Operator):
    """Export the displayed bounds and contacts as a JSON report"""

    bl_label = "Export JSON"


class COLLISION_BOUNDS_OT_export_csv(_ExportInAnySpace, Operator):
    """Export the displayed bounds or contacts as a table for spreadsheets"""

    bl_label = "Export CSV"
    file_format, suggested_name = "csv", "{file}.csv"

    table: one_of(
        "Table",
        "Rows of the table",
        ("bounds", "Bounds", "One row per object"),
        ("contacts", "Contacts", "One row per contact or near miss"),
    )
    drawn = (*_ExportInAnySpace.drawn, "table")

    def invoke(self, context: Context, event: Event) -> set[str]:
        """Open the file browser, with the table of contacts if there are any and no table was passed."""
        if not self.properties.is_property_set("table"):
            self.table = proposed_table(context)
        return super().invoke(context, event)


def proposed_table(context: Context) -> str:
    """Return the table that the file browser proposes: contacts if there are any, otherwise bounds."""
    contacts = settings_of(context).results.contacts
    has_any = contacts is not None and contacts.report is not None and len(contacts.report.contacts)
    return "contacts" if has_any else "bounds"


class COLLISION_BOUNDS_OT_export_tiles(_Export, Operator):
    """Export the displayed bounds as a 3D Tiles tileset, in meters with Z up"""

    bl_label = "Export 3D Tiles"
    file_format, suggested_name = "3dtiles", "tileset.json"


class COLLISION_BOUNDS_OT_export_gltf(_Export, Operator):
    """Export the displayed bounds as glTF colliders without meshes, in meters with Y up"""

    bl_label = "Export glTF Colliders"
    file_format, suggested_name = "gltf", "{file}.colliders.gltf"

    extensions: one_of(
        "Extensions",
        "glTF extensions that describe the colliders",
        ("omi", "OMI (Godot)", "OMI_physics_body, read by Godot 4.3 and later"),
        ("khr", "KHR (Draft)", "KHR_physics_rigid_bodies, a Khronos draft"),
        ("volumes", "Volumes (Draft)", "Experimental: boundingVolume of the glTF 2.1 draft"),
        options={"ENUM_FLAG"},
        default=set(DEFAULT_GLTF_EXTENSIONS),
    )


class COLLISION_BOUNDS_OT_export_unity(_Export, Operator):
    """Export the displayed bounds in the layout of Unity's Bounds, in meters with Y up"""

    bl_label = "Export Unity Bounds"
    file_format, suggested_name = "unity", "{file}.unity.json"


class COLLISION_BOUNDS_OT_export_unreal(_Export, Operator):
    """Export the displayed bounds in the layout of Unreal's FBoxSphereBounds, with a shared origin"""

    bl_label = "Export Unreal Bounds"
    file_format, suggested_name = "unreal", "{file}.unreal.json"


class COLLISION_BOUNDS_OT_export_urdf(_Export, Operator):
    """Export the displayed bounds as a URDF of fixed links, in meters with Z up. It has no convex hulls"""

    bl_label = "Export URDF (Robots)"
    file_format, suggested_name = "urdf", "{file}.urdf"


class COLLISION_BOUNDS_OT_export_mjcf(_Export, Operator):
    """Export the displayed bounds as bodies of a MuJoCo model, in meters with Z up"""

    bl_label = "Export MuJoCo (MJCF)"
    file_format, suggested_name = "mjcf", "{file}.xml"

    free_joints: flag(
        "Free Joints", "Let objects without a parent move freely. Otherwise, all objects are fixed"
    )


class COLLISION_BOUNDS_OT_export_usd(_Export, Operator):
    """Export the displayed bounds as colliders of USD Physics without meshes, in meters with Z up"""

    bl_label = "Export USD Physics"
    file_format, suggested_name = "usd", "{file}.colliders.usda"


class COLLISION_BOUNDS_OT_export_curobo(_Export, Operator):
    """Export the displayed spheres, or the leaves of sphere trees, as collision spheres of cuRobo"""

    bl_label = "Export cuRobo Spheres"
    file_format, suggested_name = "curobo", "{file}.spheres.yml"
