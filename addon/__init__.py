"""Collision Bounds: bounding volumes, and the time at which moving objects first touch.

Packages. Each may import those above it; `cli` and `ui` do not import each other:

- `core`: the math. Needs NumPy only.
- `formats`: the JSON document and the other export formats.
- `scene`: reads Blender's scene, runs the jobs, creates collider objects.
- `cli`: the command line.
- `translations`: dictionaries of the interface in other languages. It imports nothing.
- `ui`: properties, operators, panels and the viewport overlay.
- `api`: bounds and contacts for scripts, as plain values. It may import `ui`.

`registration` adds all of it to Blender. It is imported only when needed, because importing any module below
runs this file, also without Blender.
"""

from __future__ import annotations

from typing import Any


def register() -> None:
    """Add the panel, the operators, the overlay and the command line to Blender."""
    from . import registration

    registration.register()


def unregister() -> None:
    """Remove everything that `register` added."""
    from . import registration

    registration.unregister()


def glTF2_pre_export_callback(_export_settings: Any) -> None:  # noqa: N802
    """Remember the scene; Blender's glTF exporter calls this before it plays the animation."""
    from .ui.overlay.state import before_export

    before_export()


def glTF2_post_export_callback(_export_settings: Any) -> None:  # noqa: N802
    """Compare the scene; Blender's glTF exporter calls this when the file is written."""
    from .ui.overlay.state import after_export

    after_export()


class glTF2ExportUserExtension:  # noqa: N801
    """Adds colliders to Blender's glTF exports.

    The exporter finds this class by its name, and creates an instance for each export.
    """

    def __init__(self) -> None:
        from .ui.gltf_export import ExportedColliders

        self._colliders = ExportedColliders()

    def gather_tree_filter_tag_hook(self, vtree: Any, export_settings: Any) -> None:
        """Drop collider objects; the exporter calls this when it knows which objects to export."""
        self._colliders.filter_tree(vtree)

    def gather_node_hook(self, node: Any, blender_object: Any, export_settings: Any) -> None:
        """Record the object of a node; the exporter calls this for each node."""
        self._colliders.gather_node(node, blender_object)

    def gather_scene_hook(self, scene: Any, blender_scene: Any, export_settings: Any) -> None:
        """Add the colliders of a scene; the exporter calls this when all of its nodes exist."""
        self._colliders.gather_scene(scene, blender_scene, export_settings)
