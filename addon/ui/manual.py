"""The manual in the extension's folder, whose sections a right click (Online Manual) and F1 open."""

from __future__ import annotations

import bpy

from .properties.options import BOUNDS_OPTIONS
from .properties.preferences import manual_url

_OPERATORS, _TYPES = "bpy.ops.collision_bounds.", "bpy.types.collision_bounds_"
# The first pattern that matches the lower-case name of an operator or a property counts.
_SECTIONS = (
    (f"{_OPERATORS}*separation*", "separation-of-bounds"),
    (f"{_OPERATORS}export_*", "export"),
    (f"{_OPERATORS}*collider*", "colliders"),
    (f"{_OPERATORS}select_touching*", "touching-now"),
    (f"{_OPERATORS}compute_bounds*", "bounds"),
    (f"{_OPERATORS}compute_envelope*", "swept-bounds"),
    (f"{_OPERATORS}choose_vertex_group*", "fit-settings"),
    (f"{_OPERATORS}measure_fit*", "measurements"),
    (f"{_OPERATORS}copy_value*", "measurements"),
    (f"{_OPERATORS}copy_to_selected*", "object-settings"),
    (f"{_OPERATORS}override_from_*", "custom-shape"),
    (f"{_OPERATORS}*_custom_shape*", "custom-shape"),
    (f"{_OPERATORS}*baseline*", "compare-with-a-baseline"),
    (f"{_OPERATORS}*accept*", "compare-with-a-baseline"),
    (f"{_OPERATORS}move_apart*", "move-apart"),
    (f"{_OPERATORS}find_contacts*", "contacts"),
    (f"{_OPERATORS}*interval*", "details"),
    (f"{_OPERATORS}*", "the-list"),
    (f"{_TYPES}pg_colliders*", "colliders"),
    (f"{_TYPES}pg_display*", "display"),
    (f"{_TYPES}pg_gltf*", "export"),
    *(
        (f"{_TYPES}pg_object.{name}*", "collision-response")
        for name in ("response", "collision_", "physics_")
    ),
    (f"{_TYPES}pg_object*", "active-object"),
    (f"{_TYPES}pg_collection*", "active-object"),
    (f"{_TYPES}pg_contact*", "the-list"),
    (f"{_TYPES}pg_scene.scope", "the-sidebar-tab"),
    (f"{_TYPES}pg_scene.keep_results", "export"),
    *((f"{_TYPES}pg_scene.{name}", "fit-settings") for name in BOUNDS_OPTIONS),
    (f"{_TYPES}pg_scene*", "scan-settings"),
    (f"{_TYPES}pg_picker*", "scan-settings"),
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
