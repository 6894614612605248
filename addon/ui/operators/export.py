"""Export: buttons, and entries in File > Export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import bpy
from bpy.props import EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy.types import Context, Operator, UILayout
from bpy_extras.io_utils import ExportHelper

from ...core import CollisionBoundsError
from ...formats import (
    AXES,
    CONVENTIONS,
    DEFAULT_DECIMALS,
    LEAST_DECIMALS,
    MOST_DECIMALS,
    Convention,
    ExportOptions,
    convention_for,
    file_text,
    write_text,
)
from ...formats.export.gltf import DEFAULT_GLTF_EXTENSIONS, GLTF_EXTENSIONS, GltfExtension
from ...scene.blender.object_settings import decimal_from_float32
from ...scene.jobs import session
from .. import job_state
from ..properties.scene import envelopes_on, has_results, settings_of

PRESETS = (
    ("blender", "Blender", "Z up, right-handed, Blender's own units"),
    ("gltf", "glTF", "Y up, right-handed, metres: glTF, three.js and Godot"),
    ("unity", "Unity", "Y up, left-handed, metres: Unity and Babylon.js"),
    ("unreal", "Unreal", "Z up, left-handed, centimetres"),
    ("custom", "Custom", "Axes and unit of your own"),
)

_AXES = tuple((axis, axis, "") for axis in AXES)


class _Export(ExportHelper):
    """What the operators that write a file have in common."""

    bl_options: ClassVar = {"REGISTER"}
    file_format: ClassVar[str] = "json"
    about_contacts = False
    filename_ext = ".json"
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})
    if TYPE_CHECKING:
        filepath: str  # ExportHelper declares it as a property
        report: Callable[[set[str], str], None]

    decimals: IntProperty(
        name="Decimals",
        description="Decimals of lengths; shapes are rounded outward",
        default=DEFAULT_DECIMALS,
        min=LEAST_DECIMALS,
        max=MOST_DECIMALS,
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs results, and no scan that is about to replace them."""
        if not job_state.poll_idle(cls):  # type: ignore[arg-type]
            return False
        if has_results(context):
            return True
        cls.poll_message_set("Compute bounds or find contacts first")  # type: ignore[attr-defined]
        return False

    def convention(self) -> Convention:
        """The space to write in."""
        return CONVENTIONS["blender"]

    def told_by(self) -> Sequence[GltfExtension]:
        """How glTF tells of colliders."""
        return DEFAULT_GLTF_EXTENSIONS

    def execute(self, context: Context) -> set[str]:
        """Write what the panel shows."""
        results = session.get(settings_of(context).result_id)
        result = results.contacts or results.bounds
        assert result is not None, "poll makes sure of results"
        envelopes = envelopes_on(settings_of(context))
        whole = result.with_envelopes_of(envelopes) if envelopes is not None else None
        result = whole or result
        path = Path(bpy.path.abspath(self.filepath))
        try:
            document = result.document(convention_for(self.file_format, self.convention()), self.decimals)
            options = ExportOptions("contacts" if self.about_contacts else "bounds", self.told_by())
            write_text(path, file_text(document, self.file_format, options))
        except CollisionBoundsError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if results.stale:
            self.report({"WARNING"}, f"Written: {path.name}, as computed before the scene was changed")
        elif self.file_format == "json" and results.envelopes is not None and whole is None:
            why = "of other frames than the contacts" if envelopes else "out of date"
            self.report({"WARNING"}, f"Written: {path.name}, without envelopes, which are {why}")
        else:
            self.report({"INFO"}, f"Written: {path}")
        return {"FINISHED"}


class _InAxes(_Export):
    """One that writes in axes that are chosen."""

    preset: EnumProperty(name="Axes", description="Axes and unit of the file", items=PRESETS)
    up: EnumProperty(name="Up", description="Where Blender's Z axis goes", items=_AXES, default="+Y")
    forward: EnumProperty(
        name="Forward", description="Where the front of things goes, -Y in Blender", items=_AXES, default="+Z"
    )
    handedness: EnumProperty(
        name="Handedness",
        description="Which hand's thumb, forefinger and middle finger are X, Y and Z",
        items=(("right", "Right", ""), ("left", "Left", "")),
    )
    units: FloatProperty(
        name="Units in a Metre",
        description="Such as 100 for centimetres",
        default=1.0,
        min=1e-6,
        soft_max=1000,
    )

    def convention(self) -> Convention:
        """The one that was chosen. Raises SpaceError for axes that make none."""
        if self.preset != "custom":
            return CONVENTIONS[self.preset]
        return Convention("custom", self.up, self.forward, self.handedness, decimal_from_float32(self.units))

    def draw(self, _context: Context) -> None:
        """Axes of one's own only where they count."""
        layout: UILayout = self.layout  # type: ignore[attr-defined]
        layout.use_property_split, layout.use_property_decorate = True, False
        layout.prop(self, "preset")
        if self.preset == "custom":
            for name in ("up", "forward", "handedness", "units"):
                layout.prop(self, name)
        layout.prop(self, "decimals")


class COLLISION_BOUNDS_OT_export_json(_InAxes, Operator):
    """Write the bounds and contacts that are shown as JSON"""

    bl_idname = "collision_bounds.export_json"
    bl_label = "Export JSON"


class COLLISION_BOUNDS_OT_export_csv(_InAxes, Operator):
    """Write the bounds or contacts that are shown as a table for a spreadsheet"""

    bl_idname = "collision_bounds.export_csv"
    bl_label = "Export CSV"
    file_format = "csv"

    filename_ext = ".csv"
    filter_glob: StringProperty(default="*.csv", options={"HIDDEN"})
    about: EnumProperty(
        name="Table",
        description="What has a line",
        items=(
            ("bounds", "Bounds", "A line an object"),
            ("contacts", "Contacts", "A line a contact or near miss"),
        ),
    )

    @property
    def about_contacts(self) -> bool:
        """Whether a contact has a line."""
        return bool(self.about == "contacts")

    def draw(self, context: Context) -> None:
        """The axes, and what the table is about."""
        super().draw(context)
        self.layout.prop(self, "about")


class COLLISION_BOUNDS_OT_export_tiles(_Export, Operator):
    """Write the bounds that are shown as a 3D Tiles tileset, in metres with Z up"""

    bl_idname = "collision_bounds.export_tiles"
    bl_label = "Export 3D Tiles"
    file_format = "3dtiles"


class COLLISION_BOUNDS_OT_export_gltf(_Export, Operator):
    """Write the bounds that are shown as a glTF file of colliders without meshes, in metres with Y up"""

    bl_idname = "collision_bounds.export_gltf"
    bl_label = "Export glTF Colliders"
    file_format = "gltf"

    filename_ext = ".gltf"
    filter_glob: StringProperty(default="*.gltf", options={"HIDDEN"})
    dialects: EnumProperty(
        name="Extensions",
        description="How the file tells of colliders",
        items=(
            ("omi", "OMI", "OMI_physics_body, which Godot reads from 4.3"),
            ("khr", "KHR", "KHR_physics_rigid_bodies, a draft of Khronos"),
            ("volumes", "Volumes", "Experimental: boundingVolume, as the draft of glTF 2.1 has it"),
        ),
        options={"ENUM_FLAG"},
        default=set(DEFAULT_GLTF_EXTENSIONS),
    )

    def told_by(self) -> Sequence[GltfExtension]:
        """Those that are switched on, in their order."""
        return [dialect for dialect in GLTF_EXTENSIONS if dialect in self.dialects]


class COLLISION_BOUNDS_OT_export_unity(_Export, Operator):
    """Write the bounds that are shown as Unity's Bounds read them, in metres with Y up"""

    bl_idname = "collision_bounds.export_unity"
    bl_label = "Export Unity Bounds"
    file_format = "unity"


class COLLISION_BOUNDS_OT_export_unreal(_Export, Operator):
    """Write the bounds that are shown as Unreal's FBoxSphereBounds read them, with one shared origin"""

    bl_idname = "collision_bounds.export_unreal"
    bl_label = "Export Unreal Bounds"
    file_format = "unreal"


CLASSES = (
    COLLISION_BOUNDS_OT_export_json,
    COLLISION_BOUNDS_OT_export_csv,
    COLLISION_BOUNDS_OT_export_tiles,
    COLLISION_BOUNDS_OT_export_gltf,
    COLLISION_BOUNDS_OT_export_unity,
    COLLISION_BOUNDS_OT_export_unreal,
)
