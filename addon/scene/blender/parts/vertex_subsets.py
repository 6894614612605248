"""Vertices of an object that the user chooses: the selection in Edit Mode, or a vertex group."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ....core.messages import message
from ....core.numeric.arrays import Ints
from ...errors import SceneError
from ...settings import Modifiers, VertexGroup
from ..mesh_data import copied, edge_indices, mesh_edges, vertex_positions
from .weights import group_weights

NOTHING_SELECTED = message("nothing is selected: select vertices, edges or faces")


def objects_in_edit_mode() -> list[bpy.types.Object]:
    """Return the visible mesh objects of the view layer that are in Edit Mode."""
    layer = bpy.context.view_layer
    return [
        item
        for item in layer.objects
        if item.type == "MESH" and item.mode == "EDIT" and item.visible_get(view_layer=layer)
    ]


def selected_vertices(evaluated: bpy.types.Object, modifiers: Modifiers) -> NDArray[np.float32]:
    """Copy the selected vertices (n, 3) of a mesh in Edit Mode, in object space.

    Vertices of selected edges and faces are selected; Blender selects no hidden vertices. Positions are
    those that Edit Mode shows: with the shape key that is edited and, for `modifiers` "evaluated", with the
    modifiers that Edit Mode shows. If these add or remove vertices, positions are without modifiers.

    evaluated : Evaluated mesh object in Edit Mode.
    modifiers : Mesh to read.
    Returns points : (n, 3) float32
    """
    item = evaluated.original
    item.update_from_editmode()
    mesh: Any = item.data
    # The active shape key is what is edited, if there is one.
    edited: Any = mesh.vertices if item.active_shape_key is None else item.active_shape_key.data
    positions = copied(edited, "co", np.float32, (3,))
    if modifiers == "evaluated" and np.array_equal(edge_indices(evaluated, modifiers), mesh_edges(mesh)):
        shown = vertex_positions(evaluated, modifiers)
        positions = shown if len(shown) == len(positions) else positions
    selected: NDArray[np.float32] = positions[copied(mesh.vertices, "select", np.bool_)]
    return selected


def group_vertices(
    evaluated: bpy.types.Object, modifiers: Modifiers, group: str, threshold: float
) -> NDArray[np.float32]:
    """Copy the vertices (n, 3) of a vertex group, in object space.

    evaluated : Evaluated mesh-like object.
    modifiers : Mesh to read. Modifiers can change weights, too.
    group : Name of the group; empty for the active one.
    threshold : Least weight of a vertex, in single precision. Vertices of weight 0 are never part.
    Returns points : (n, 3) float32
    Raises SceneError: if the object does not have the group, or no vertex of this weight in it.
    """
    groups: Any = evaluated.original.vertex_groups
    if not group:
        if groups.active is None:
            raise SceneError(message("has no vertex group: add one, and assign vertices to it"))
        number = groups.active_index
    else:
        number = groups.find(group)
        if number < 0:
            raise SceneError(message("has no vertex group {group!r}", group=group))
    rows = _rows_of(evaluated, modifiers, number, threshold)
    if not len(rows):
        raise SceneError(message("has no vertices of this weight in the group: lower the threshold"))
    points: NDArray[np.float32] = vertex_positions(evaluated, modifiers)[rows]
    return points


def rows_of_group(evaluated: bpy.types.Object, modifiers: Modifiers, group: VertexGroup) -> Ints:
    """Find the vertices (n,) of a vertex group, increasing; none if the object does not have the group."""
    number = evaluated.original.vertex_groups.find(group.name)
    if number < 0:
        return np.empty(0, dtype=np.int64)
    return _rows_of(evaluated, modifiers, number, group.threshold)


def reason_without_vertices(group: VertexGroup, has_custom_shape: bool) -> str:
    """Return why an object has no vertices of a vertex group."""
    if has_custom_shape:
        return message("has a custom shape, and so no vertices of a group")
    template = "has no vertices of weight {weight} or more in vertex group {group!r}"
    return message(template, weight=f"{group.threshold:g}", group=group.name)


def _rows_of(evaluated: bpy.types.Object, modifiers: Modifiers, number: int, threshold: float) -> Ints:
    _, ((rows, weights),) = group_weights(evaluated, modifiers, [number])
    return rows[weights >= np.float32(threshold)]
