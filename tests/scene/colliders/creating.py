"""Creating colliders in the active scene, and reading them."""

from __future__ import annotations

import bpy
import numpy as np

from addon.core.progress import run_to_end
from addon.scene.blender.private_scene import keeping_open
from addon.scene.colliders.make import CreatedColliders, colliders_in_parts
from addon.scene.settings import ColliderSettings

KINDS = {"box": "UBX", "sphere": "USP", "capsule": "UCP", "hull": "UCX"}
"""Prefixes of Unreal by kind."""


def create_colliders(**settings: object) -> CreatedColliders:
    """Create colliders for all visible objects, or for a selection in the settings."""
    bpy.context.view_layer.update()
    return make_colliders(bpy.context.scene, ColliderSettings(**settings))


def make_colliders(scene: bpy.types.Scene, settings: ColliderSettings) -> CreatedColliders:
    """Create colliders as `colliders_in_parts` does, without pauses."""
    with keeping_open():
        return run_to_end(colliders_in_parts(scene, settings))


def object_names() -> set[str]:
    return {item.name for item in bpy.context.scene.objects}


def colliders() -> list[bpy.types.Object]:
    """Return the collider objects of the scene."""
    return [item for item in bpy.context.scene.objects if "collision_bounds_collider" in item]


def skip_reasons(result: CreatedColliders) -> dict[str, str]:
    """Return the reasons of skipped objects by name."""
    return {entry.name: entry.reason for entry in result.skipped}


def world_matrix(item: bpy.types.Object) -> np.ndarray:
    bpy.context.view_layer.update()
    return np.array(item.matrix_world)


def uids_by_name() -> dict[str, tuple[int, int]]:
    """Return the session_uids of colliders and of their meshes, by the name of the object."""
    return {item.name: (item.session_uid, item.data.session_uid) for item in colliders()}


def set_parent(child: bpy.types.Object, parent: bpy.types.Object, kind: str = "OBJECT") -> None:
    child.parent, child.parent_type = parent, kind
    bpy.context.view_layer.update()
