"""Colliders in Blender's own glTF export: options in its dialog, stored in the scene, and the hooks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
from bpy.types import Context, Object, Scene, UILayout

from ..formats.export.gltf import GltfExtension
from ..scene.blender.object_settings import decimal_from_float32, is_marked_collider
from ..scene.gltf_export.nodes import ExportSettings, add_colliders
from .overlay.state import after_export, before_export
from .panels.sidebar import folded
from .properties.scene import fit_settings, settings_on
from .texts import n_, translated

_ADD_ON = __package__.rpartition(".")[0]


def glTF2_pre_export_callback(_export_settings: Any) -> None:  # noqa: N802
    """Remember the scene; Blender's glTF exporter calls this before it plays the animation."""
    before_export()


def glTF2_post_export_callback(_export_settings: Any) -> None:  # noqa: N802
    """Compare the scene; Blender's glTF exporter calls this when the file is written."""
    after_export()


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
                    extensions,
                    settings.shape,
                    fit,
                    settings.max_vertices,
                    export_settings["gltf_yup"],
                ),
                lambda problem: log.warning(translated(problem), popup=True),
            )


def _extensions() -> list[GltfExtension]:
    """Return the extensions that are on in the dialog's scene."""
    settings = settings_on(bpy.context.scene).gltf
    names: tuple[GltfExtension, ...] = ("omi", "khr")
    return [name for name in names if getattr(settings, name)]


def draw(context: Context, layout: UILayout) -> None:
    """Draw the options in the export dialog."""
    body = folded(layout, "COLLISION_BOUNDS_gltf_export", n_("Collision Bounds"))
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
    column.prop(settings, "parts")
    if settings.parts > 1:
        column.prop(settings, "parts_tolerance")
    if settings.shape == "hull":
        column.prop(settings, "max_vertices")


def attach() -> None:
    """Add the options to the dialog, if Blender's glTF exporter is installed."""
    if (dialogs := _dialogs()) is not None:
        dialogs[_ADD_ON] = draw


def detach() -> None:
    """Remove the options from the dialog."""
    if (dialogs := _dialogs()) is not None:
        dialogs.pop(_ADD_ON, None)


def _dialogs() -> dict[str, Any] | None:
    try:
        from io_scene_gltf2 import exporter_extension_layout_draw
    except ImportError:
        return None
    return exporter_extension_layout_draw
