"""The Export panel, and colliders in Blender's own glTF export.

The latter are options in its dialog, stored in the scene, and the hooks that its exporter calls.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
from bpy.types import Context, Object, Panel, Scene, UILayout

from ...formats.export.gltf import GltfExtension
from ...scene.blender.object_settings import decimal_from_float32, is_marked_collider
from ...scene.gltf_export.nodes import ExportSettings, add_colliders
from ..operators import export
from ..overlay.state import after_export, before_export
from ..properties.preferences import PACKAGE
from ..properties.scene import fit_settings, settings_of, settings_on
from ..texts import iface_, n_, translated
from .sidebar import Tab, folded


class COLLISION_BOUNDS_PT_export(Tab, Panel):
    bl_label = "Export"

    def draw(self, context: Context) -> None:
        line = self.layout.row(align=True)
        document = export.EXPORTS[0]
        text = iface_("{command}...", command=iface_(document.bl_label))
        line.operator(document.bl_idname, text=text, translate=False, icon="EXPORT")
        # Also in File > Export.
        line.menu("COLLISION_BOUNDS_MT_export", text="More Formats")
        self.layout.prop(settings_of(context), "keep_results")


# Blender's glTF exporter calls them before it plays the animation, and when the file is written.
glTF2_pre_export_callback, glTF2_post_export_callback = before_export, after_export  # noqa: N816


class glTF2ExportUserExtension:
    """Adds colliders to Blender's glTF exports, which create an instance each.

    It keeps the object of each node, until all nodes of a scene exist.
    """

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._objects: dict[int, Object] = {}

    def gather_tree_filter_tag_hook(self, vtree: Any, _export_settings: Any) -> None:
        """Drop the collider objects of meshes that get collider nodes: one of both is enough.

        The exporter calls this when it knows which objects to export.
        """
        if not _extensions():
            return
        for node in vtree.nodes.values():
            item = node.blender_object
            if not isinstance(item, Object) or not is_marked_collider(item.original):
                continue
            parent = item.original.parent
            # Bones, and meshes with bones, get no collider nodes.
            if parent is None or (item.original.parent_type != "BONE" and parent.find_armature() is None):
                node.keep_tag = False

    def gather_node_hook(self, node: Any, blender_object: Object, _export_settings: Any) -> None:
        """Record the object of a node; the exporter calls this for each."""
        self._nodes.append(node)  # kept alive, so that no other node gets its id
        self._objects[id(node)] = blender_object

    def gather_scene_hook(self, scene: Any, exported: Scene, export_settings: dict[str, Any]) -> None:
        """Add colliders to the nodes of a scene, with the settings of the dialog's scene.

        The exporter calls this when all of these exist.
        """
        settings = settings_on(bpy.context.scene).gltf
        if extensions := _extensions():
            tolerance = decimal_from_float32(settings.parts_tolerance)
            fit = fit_settings(settings_on(exported))
            fit = replace(fit, parts=settings.parts, parts_tolerance=tolerance)
            log = export_settings["log"]
            add_colliders(
                scene.nodes,
                self._objects,
                ExportSettings(
                    extensions, settings.shape, fit, settings.max_vertices, export_settings["gltf_yup"]
                ),
                lambda problem: log.warning(translated(problem), popup=True),
            )


def _extensions() -> list[GltfExtension]:
    settings = settings_on(bpy.context.scene).gltf
    names: tuple[GltfExtension, ...] = ("omi", "khr")
    return [name for name in names if getattr(settings, name)]


def draw_gltf_options(context: Context, layout: UILayout) -> None:
    body = folded(layout, "COLLISION_BOUNDS_gltf_export", n_("Collision Bounds"))
    if body is None:
        return
    settings = settings_on(context.scene).gltf
    body.use_property_split, body.use_property_decorate = True, False
    column = body.column(heading="Colliders", align=True)
    column.prop(settings, "omi")
    column.prop(settings, "khr")
    column = body.column()
    column.active = settings.omi or settings.khr
    column.prop(settings, "shape")
    column.prop(settings, "parts")
    if settings.parts > 1:
        column.prop(settings, "parts_tolerance")
    if settings.shape == "hull":
        column.prop(settings, "max_vertices")


def attach() -> None:
    """Add the options to the dialog, if Blender's glTF exporter is installed."""
    _dialogs()[PACKAGE] = draw_gltf_options


def detach() -> None:
    _dialogs().pop(PACKAGE, None)


def _dialogs() -> dict[str, Any]:
    try:
        from io_scene_gltf2 import exporter_extension_layout_draw
    except ImportError:
        return {}
    return exporter_extension_layout_draw
