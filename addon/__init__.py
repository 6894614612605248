"""Collision Bounds: bounding volumes, and the moment moving objects first touch.

This file runs first on any import below it, also without Blender: registration is imported when needed.
"""

from __future__ import annotations

from typing import Any


def register() -> None:
    """Add the panel, the operators, the overlay and the command line to Blender."""
    from . import registration

    registration.register()


def unregister() -> None:
    """Take everything away again that `register` added."""
    from . import registration

    registration.unregister()


class glTF2ExportUserExtension:  # noqa: N801
    """Adds colliders to glTF exports: Blender's exporter looks for this name here and makes one each time."""

    def __init__(self) -> None:
        from .ui.gltf_export import ExportedColliders

        self._colliders = ExportedColliders()

    def gather_node_hook(self, node: Any, blender_object: Any, export_settings: Any) -> None:
        """Called for each node."""
        self._colliders.gather_node(node, blender_object)

    def gather_scene_hook(self, scene: Any, blender_scene: Any, export_settings: Any) -> None:
        """Called for each scene, once its nodes are all there."""
        self._colliders.gather_scene(scene, blender_scene, export_settings)
