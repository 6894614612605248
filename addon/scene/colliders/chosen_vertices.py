"""Colliders around vertices that the user chooses: the selection in Edit Mode, or a vertex group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import CollisionBoundsError
from ...core.fitting.convex_hull import run_hull_steps
from ...core.messages import message
from ...formats import Skipped
from ..blender.instances import MESH_LIKE, full_name_of, name_of
from ..blender.mesh_data import Geometry
from ..blender.object_settings import VERTEX_COLLIDER_PROPERTY, is_collider, object_fit_settings
from ..blender.parts.weights import NOTHING_SELECTED, group_vertices, objects_in_edit_mode, selected_vertices
from ..collider_names import collision_levels
from ..errors import SceneError, describe_error
from ..settings import ColliderSettings, Modifiers
from ..subjects.selection import owner_filter
from .make import (
    NO_RESPONSE,
    OTHER_LEVEL,
    CreatedColliders,
    check_parent,
    create_home,
    find_home,
    is_without_response,
)
from .objects import ColliderNames, ColliderRequest, collider_steps, create_or_update
from .records import Recipe

_ReadVertices = Callable[[bpy.types.Object, Modifiers], NDArray[np.float32]]
"""Function that reads the chosen vertices (n, 3) of an evaluated object, with or without its modifiers."""


def make_selection_colliders(scene: bpy.types.Scene, settings: ColliderSettings) -> CreatedColliders:
    """Create a collider around the selected vertices of each mesh in Edit Mode of the active scene.

    `selected_vertices` has the positions that count. Colliders are children of their objects, in addition to
    all colliders that these have. Selection and parts of the settings have no effect.

    Raises SceneError if nothing is selected, the scene cannot have colliders, or the pattern or the
    collection's name is invalid. Nothing is changed then.
    """
    edited = objects_in_edit_mode()
    items = [item for item in edited if not is_collider(item)]
    if edited and not items:
        text = "{name}: is a collider: select vertices of the mesh that it is for"
        raise SceneError(message(text, name=edited[0].name))
    return _create(scene, settings, items, selected_vertices, NOTHING_SELECTED)


def make_group_colliders(
    scene: bpy.types.Scene, settings: ColliderSettings, group: str = "", threshold: float = 0.5
) -> CreatedColliders:
    """Create a collider around the vertices of a vertex group, for each visible object that has any.

    Colliders are children of their objects, in addition to all colliders that these have. Of several levels
    of detail with the group, only the most detailed one gets a collider. Objects without vertices of the
    group are skipped. Patterns and parts of the settings have no effect.

    group : name of the group; empty for the active group of each object
    threshold : least weight of a vertex; vertices of weight 0 are never part

    Raises SceneError if no object has vertices of the group, the scene cannot have colliders, or the pattern
    or the collection's name is invalid. Nothing is changed then.
    """
    layer, is_chosen = bpy.context.view_layer, owner_filter(scene, settings.selection)
    shown = (item for item in layer.objects if item.type in MESH_LIKE and item.visible_get(view_layer=layer))
    items = [item for item in shown if not is_collider(item) and is_chosen(full_name_of(item))]
    with_group = (each for each in items if each.vertex_groups and (not group or group in each.vertex_groups))
    owners = [item for item in with_group if not is_without_response(item)]
    levels = collision_levels(map(name_of, owners))
    other_levels = [name for name, first in levels.items() if first != name]
    items = [item for item in items if name_of(item) not in other_levels]
    skipped = [Skipped(name, OTHER_LEVEL) for name in other_levels]
    nothing = message("no objects with geometry: select a mesh")
    read = partial(group_vertices, group=group, threshold=threshold)
    return _create(scene, settings, items, read, nothing, skipped)


def _create(
    scene: bpy.types.Scene,
    settings: ColliderSettings,
    items: list[bpy.types.Object],
    read: _ReadVertices,
    nothing: str,
    other_levels: Sequence[Skipped] = (),
) -> CreatedColliders:
    """Create a collider around the vertices that `read` returns for each object, if there are any.

    Raises SceneError with the text `nothing` without vertices, and with the reason if all are skipped.
    The result includes `other_levels`, the objects whose collider is that of another level of detail.
    """
    depsgraph = bpy.context.evaluated_depsgraph_get()
    local_names = (name_of(item) for item in bpy.data.objects if item.library is None)
    names = ColliderNames(settings.pattern, local_names)
    home = find_home(scene, settings.collection)
    requests, skipped = [], list(other_levels)
    for item in sorted(items, key=name_of):
        fit = object_fit_settings(item, settings.fit)
        evaluated = item.evaluated_get(depsgraph)
        try:
            points = read(evaluated, fit.modifiers)
            if not len(points):
                continue
            check_parent(item)
            if is_without_response(item):
                raise SceneError(NO_RESPONSE)
            geometry = Geometry(points, np.array(evaluated.matrix_world, dtype=np.float64))
            mesh = run_hull_steps(collider_steps(geometry, settings.kind, fit, settings.max_vertices))
            (name,) = names.assign(name_of(item), [settings.kind])
            requests.append(ColliderRequest(name, mesh, Recipe.of(settings), name_of(item), item))
        except CollisionBoundsError as error:
            skipped.append(Skipped(name_of(item), describe_error(error)))
    if not requests:
        if skipped:
            name, reason = skipped[0].name, skipped[0].reason
            raise SceneError(message("{name}: {reason}", name=name, reason=reason))
        raise SceneError(nothing)
    for collider in create_or_update(requests, home or create_home(scene, settings.collection)):
        collider[VERTEX_COLLIDER_PROPERTY] = True
    return CreatedColliders(len(requests), len(requests), 0, skipped)
