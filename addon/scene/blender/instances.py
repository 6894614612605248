"""Visible mesh-like objects, and instances of objects, one entry each.

Objects, collection instances and geometry-nodes instances all come out of the dependency graph's
`object_instances`. Its items are valid only during their step of the loop, so nothing here keeps one.

Among them are objects that the viewport does not show, because a view with local collections may show them:
those in collections that are hidden by the eye in the outliner. Objects of background scenes are shown, but
are not in the scene. All readers of instances ask `shown_objects`.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import bpy

from ...core.messages import message
from .names import full_name_of

CURVE_LIKE = frozenset({"CURVE", "SURFACE", "FONT", "META"})
MESH_LIKE = CURVE_LIKE | {"MESH"}
UNSUPPORTED_REASONS = {
    "CURVES": message("hair curves have no surface"),
    "POINTCLOUD": message("point clouds have no surface"),
    "VOLUME": message("volumes have no surface"),
    "GREASEPENCIL": message("Grease Pencil drawings have no surface"),
    "GPENCIL": message("Grease Pencil drawings have no surface"),
}

PARTICLES_REASON = message("hair and particles have no surface")

UNUSED_INDEX = 2**31 - 1
"""Fills the persistent ids of instances to eight numbers."""

InstanceKey: TypeAlias = tuple[str, str, tuple[int, ...]]
"""Owner's full name, object's full name, Blender's persistent id of the instance; stable over all frames."""


class VisibleInstance(NamedTuple):
    """One visible mesh-like object or instance, valid until the next step of the loop that it came from.

    owner : Original object that instances it; the object itself if it is no instance.
    """

    key: InstanceKey
    instance: bpy.types.DepsgraphObjectInstance
    owner: bpy.types.Object


def shown_objects(depsgraph: bpy.types.Depsgraph) -> set[bpy.types.Object] | None:
    """Original objects that a view layer shows, if the dependency graph has them; None if it shows all.

    These are the objects of collections that are not hidden, whatever hides the objects themselves: Blender
    omits those. The local view and hidden types of a 3D view do not count: files are also read without one.
    """
    layer = depsgraph.view_layer
    has_others = depsgraph.scene.background_set is not None
    # As a rule all are shown, so that no object has to be read.
    is_filtered = has_others or any(_closes_eye(child) for child in layer.layer_collection.children)
    return _objects_of_layer(layer) if is_filtered else None


def _closes_eye(branch: bpy.types.LayerCollection) -> bool:
    return branch.hide_viewport or any(_closes_eye(child) for child in branch.children)


def _objects_of_layer(layer: bpy.types.ViewLayer) -> set[bpy.types.Object]:
    """All objects in the collections of a view layer that are not hidden or excluded."""
    shown: set[bpy.types.Object] = set()
    waiting = [layer.layer_collection]
    while waiting:
        branch = waiting.pop()
        # Collections in a hidden one are hidden, but those in an excluded one can be included.
        if branch.hide_viewport or branch.collection.hide_viewport:
            continue
        if not branch.exclude:
            shown.update(branch.collection.objects)
        waiting += branch.children
    return shown


def background_objects(depsgraph: bpy.types.Depsgraph) -> list[bpy.types.Object]:
    """Original objects of background scenes that the viewport shows, with a surface or instances with one."""
    scene = depsgraph.scene.background_set
    if scene is None:
        return []
    shown: set[bpy.types.Object] = set()
    scenes: list[bpy.types.Scene] = []
    while scene is not None and scene not in scenes:
        scenes.append(scene)
        layers = list(scene.view_layers)
        # Blender shows the first one that is not rendered, if there is one.
        shown |= _objects_of_layer(next((layer for layer in layers if not layer.use), layers[0]))
        scene = scene.background_set
    shown -= _objects_of_layer(depsgraph.view_layer)
    surfaces = (item for item in depsgraph.object_instances if item.object.type in MESH_LIKE)
    return [owner for owner in dict.fromkeys(map(owner_of_instance, surfaces)) if owner in shown]


def shows_particles(item: bpy.types.Object) -> bool:
    """Return whether an original object shows hair, or particles that are not instances of objects."""
    modifiers: Any = item.modifiers if len(item.particle_systems) else ()
    return any(
        modifier.type == "PARTICLE_SYSTEM"
        and modifier.show_viewport
        and modifier.particle_system.settings.render_type not in {"OBJECT", "COLLECTION", "NONE"}
        for modifier in modifiers
    )


def is_made_by_nodes(key: InstanceKey) -> bool:
    """Return whether an instance is made by the object's own geometry nodes, and is not the object's mesh."""
    owner, name, indices = key
    return bool(indices) and owner == name


def key_of_instance(instance: bpy.types.DepsgraphObjectInstance) -> InstanceKey:
    """Return the key of a visible object or instance."""
    original = instance.object.original
    name = full_name_of(original)
    if instance.is_instance:
        persistent_id: Any = instance.persistent_id
        indices = tuple([index for index in persistent_id if index != UNUSED_INDEX])
        if indices:
            return full_name_of(owner_of_instance(instance)), name, indices
    return name, name, ()


def owner_of_instance(instance: bpy.types.DepsgraphObjectInstance) -> bpy.types.Object:
    """Return the original object that instances a visible object; the object itself if it is no instance."""
    return (instance.parent or instance.object).original
