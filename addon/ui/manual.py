"""The manual in the extension's folder, whose sections a right click (Online Manual) and F1 open."""

from __future__ import annotations

import bpy

from .properties.preferences import manual_url
from .properties.shared_options import BOUNDS_OPTIONS

_OPERATORS, _TYPES = "bpy.ops.collision_bounds.", "bpy.types.collision_bounds_"
# The first pattern that matches the lower-case name of an operator or a property counts.
_SECTIONS = (
    (f"{_OPERATORS}export_*", "export"),
    (f"{_OPERATORS}*collider*", "colliders"),
    (f"{_OPERATORS}select_touching*", "touching-now"),
    (f"{_OPERATORS}compute_bounds*", "bounds"),
    (f"{_OPERATORS}compute_envelope*", "swept-bounds"),
    (f"{_OPERATORS}choose_vertex_group*", "fit-settings"),
    (f"{_OPERATORS}measure_fit*", "active-object"),
    (f"{_OPERATORS}copy_to_selected*", "active-object"),
    (f"{_OPERATORS}copy_value*", "active-object"),
    (f"{_OPERATORS}override_from_*", "active-object"),
    (f"{_OPERATORS}*_custom_shape*", "active-object"),
    (f"{_OPERATORS}*", "contacts"),
    (f"{_TYPES}pg_colliders*", "colliders"),
    (f"{_TYPES}pg_display*", "display"),
    (f"{_TYPES}pg_gltf*", "export"),
    (f"{_TYPES}pg_object*", "active-object"),
    (f"{_TYPES}pg_collection*", "active-object"),
    (f"{_TYPES}pg_contact*", "contacts"),
    *((f"{_TYPES}pg_scene.{name}", "fit-settings") for name in BOUNDS_OPTIONS),
    (f"{_TYPES}*", "the-sidebar-tab"),
)


def attach() -> None:
    """Add the sections of the manual to those that Blender opens."""
    bpy.utils.register_manual_map(_manual_map)


def detach() -> None:
    """Remove the sections."""
    bpy.utils.unregister_manual_map(_manual_map)


def _manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    url = manual_url()
    return (f"{url}#", _SECTIONS) if url else ("", ())
