"""Colliders in Blender's own glTF export: options in its dialog, kept by the scene, and what they do."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty
from bpy.types import Context, Object, PropertyGroup, Scene, UILayout

from ..formats.gltf import Dialect
from ..scene.gltf_nodes import ExportSettings, add_colliders
from .collider_settings import MOST
from .scene_settings import fit_settings, settings_on
from .tab import folded

_ADD_ON = __package__.rpartition(".")[0]


class GltfSettings(PropertyGroup):
    """What is added to glTF files that Blender exports: nothing, unless it is switched on."""

    omi: BoolProperty(
        name="OMI (Godot)",
        description="Add a collider to each exported mesh as OMI_physics_body, which Godot reads from 4.3",
        default=False,
    )
    khr: BoolProperty(
        name="KHR (Draft)",
        description="Add a collider to each exported mesh as KHR_physics_rigid_bodies, a draft of Khronos",
        default=False,
    )
    shape: EnumProperty(
        name="Shape",
        description="What colliders are, but where a box or sphere was set for an object by hand",
        items=(
            ("obb", "Boxes", "A box along the object's own axes"),
            ("sphere", "Spheres", "A sphere"),
            ("hull", "Convex Hulls", "The convex hull of the vertices, as a small mesh that is not drawn"),
        ),
        default="obb",
    )
    most: IntProperty(**MOST, default=255)


class ExportedColliders:
    """One export: the objects of the nodes that went by, until the tree of a scene is complete."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._objects: dict[int, Object] = {}

    def gather_node(self, node: Any, item: Object) -> None:
        """Remember of which object a node is."""
        self._nodes.append(node)  # kept, so that no other gets its id
        self._objects[id(node)] = item

    def gather_scene(self, scene: Any, exported: Scene, export_settings: dict[str, Any]) -> None:
        """Add colliders to the nodes of a scene, as the dialog's scene wants it."""
        settings = settings_on(bpy.context.scene).gltf
        dialects: list[Dialect] = [own for own in ("omi", "khr") if getattr(settings, own)]
        if dialects:
            fit = fit_settings(settings_on(exported))
            log = export_settings["log"]
            add_colliders(
                scene.nodes,
                self._objects,
                ExportSettings(dialects, settings.shape, fit, settings.most, export_settings["gltf_yup"]),
                lambda message: log.warning(message, popup=True),
            )


def draw(context: Context, layout: UILayout) -> None:
    """The part of the export dialog."""
    body = folded(layout, "COLLISION_BOUNDS_gltf_export", "Collision Bounds")
    if body is None:
        return
    settings = settings_on(context.scene).gltf
    body.use_property_split = True
    body.use_property_decorate = False
    column = body.column(heading="Colliders", align=True)
    column.prop(settings, "omi")
    column.prop(settings, "khr")
    column = body.column()
    column.active = settings.omi or settings.khr
    column.prop(settings, "shape")
    if settings.shape == "hull":
        column.prop(settings, "most")


def attach() -> None:
    """Add the options to the dialog, where Blender has its glTF exporter."""
    if (dialogs := _dialogs()) is not None:
        dialogs[_ADD_ON] = draw


def detach() -> None:
    """Take them away again."""
    if (dialogs := _dialogs()) is not None:
        dialogs.pop(_ADD_ON, None)


def _dialogs() -> dict[str, Any] | None:
    try:
        from io_scene_gltf2 import exporter_extension_layout_draw
    except ImportError:
        return None
    return exporter_extension_layout_draw


CLASSES = (GltfSettings,)
