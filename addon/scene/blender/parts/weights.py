"""Weights of vertex groups: of evaluated objects one by one, of original meshes as blocks.

Blender gives access to weights vertex after vertex only. But a displacement modifier moves each vertex by its
weight, along one axis for one group, and positions are copied as a block: ten times as fast for characters of
20,000 vertices. The modifiers are those of objects in a scene that exists meanwhile, and the mesh of these is
a copy with all vertices at the origin, so positions are weights to the bit.

Users choose vertices by their group, or by the selection in Edit Mode.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import bpy
import numpy as np
from numpy.typing import NDArray

from ....core.messages import message
from ....core.numeric.arrays import Ints
from ...errors import SceneError
from ...settings import Modifiers, VertexGroup
from ..frames import silenced_handlers
from ..mesh_data import copied, edge_indices, mesh_edges, open_mesh, vertex_positions
from ..private_scene import temporary_scene


def rows_by_label(labels: NDArray[np.signedinteger[Any]], count: int = 0) -> list[Ints]:
    """Group rows by their label.

    labels : (n,) int. Labels from 0.
    count : Least number of groups; those without rows are empty.
    Returns rows : list of (k,) int. Rows with each label, in increasing order.
    """
    sizes = np.bincount(labels, minlength=count)
    return np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1]) if len(sizes) else []


GroupWeights: TypeAlias = tuple[Ints, NDArray[np.float32]]
"""Weights (n,) of the vertices of a group that are not 0, after the indices (n,) of these, increasing."""


def group_weights(
    evaluated: bpy.types.Object, modifiers: Modifiers, groups: Sequence[int]
) -> tuple[int, list[GroupWeights]]:
    """Copy the weights of vertex groups of an evaluated object.

    modifiers : Mesh to read. Modifiers can change weights, too.
    Returns weights : One for each of the groups.
    """
    with open_mesh(evaluated, modifiers) as mesh:
        vertices: Any = mesh.vertices if mesh else []
        of_vertex = [vertex.groups for vertex in vertices]
        counts = np.fromiter(map(len, of_vertex), np.int64, len(of_vertex))
        ends = np.cumsum(counts)
        numbers = np.empty(counts.sum(), dtype=np.int32)
        weights = np.empty(len(numbers), dtype=np.float32)
        # Blender has no block copy of the weights of a mesh.
        for weighted, begin, end in zip(of_vertex, (ends - counts).tolist(), ends.tolist(), strict=True):
            weighted.foreach_get("group", numbers[begin:end])
            weighted.foreach_get("weight", weights[begin:end])
    rows = np.repeat(np.arange(len(counts)), counts)
    by_group = rows_by_label(numbers.astype(np.int16), max(groups, default=0) + 1)
    found = []
    for group in groups:
        is_of_group = by_group[group][weights[by_group[group]] > 0]
        found.append((rows[is_of_group], weights[is_of_group]))
    return len(counts), found


_AXES = "XYZ"
_VERTICES_PER_OBJECT = 20
"""Vertices that are read one after another in the time that Blender needs for the relations of an object.

Blender determines those of the whole file again after a scene was added.
"""
_VERTICES_PER_PICTURE = 1 << 19
"""Vertices that are read one after another in the time in which a window is drawn and smoothed.

It is drawn again after a scene was added.
"""
_MOST_POSITIONS = 1 << 20
"""Positions that are evaluated together, unless one mesh has more: 12 MB."""


def is_worth_a_scene(vertices: int) -> bool:
    """Return whether so many vertices are read sooner as blocks, with all that a new scene brings with it."""
    rest = 0 if bpy.app.background else _VERTICES_PER_PICTURE
    return vertices >= _VERTICES_PER_OBJECT * len(bpy.data.objects) + rest


def weights_of_meshes(
    wanted: Sequence[tuple[bpy.types.Object, Sequence[int]]], as_blocks: bool
) -> list[list[GroupWeights]]:
    """Copy the weights of vertex groups of several original mesh objects.

    wanted : Objects with meshes that have no shape keys, and indices of different groups of each.
    as_blocks : Whether to copy them as blocks, within a step of a job: see `frames`. Otherwise in a
        loop.
    Returns weights : For each object, one for each of its groups.
    """
    if not as_blocks:
        return [group_weights(item, "base", groups)[1] for item, groups in wanted]
    with temporary_scene() as scene:
        return [_copy_displaced(scene, item, groups) for item, groups in wanted]


def _copy_displaced(
    scene: bpy.types.Scene, item: bpy.types.Object, groups: Sequence[int]
) -> list[GroupWeights]:
    """Copy the weights of groups of an object, by objects in an empty scene."""
    names = {group.index: group.name for group in item.vertex_groups}
    source: Any = item.data
    mesh: Any = source.copy()
    try:
        # Their drivers would be evaluated too.
        mesh.materials.clear()
        count = len(mesh.vertices)
        if count:
            mesh.attributes["position"].data.foreach_set("vector", np.zeros(3 * count, dtype=np.float32))
        step = len(_AXES) * max(1, _MOST_POSITIONS // max(count, 1))
        found: list[GroupWeights] = []
        for start in range(0, len(groups), step):
            for weights in _evaluate(scene, mesh, [names[group] for group in groups[start : start + step]]):
                rows = np.flatnonzero(weights > 0)
                found.append((rows, weights[rows]))
        return found
    finally:
        bpy.data.meshes.remove(mesh)


def _evaluate(
    scene: bpy.types.Scene, mesh: bpy.types.Mesh, names: Sequence[str]
) -> Iterator[NDArray[np.float32]]:
    """Iterate over the weights (n,) of groups in a mesh whose vertices are all at the origin."""
    objects: list[bpy.types.Object] = []
    try:
        for start in range(0, len(names), len(_AXES)):
            item = bpy.data.objects.new(scene.name, mesh)
            objects.append(item)
            scene.collection.objects.link(item)
            for axis, name in zip(_AXES, names[start : start + len(_AXES)], strict=False):
                modifier: Any = item.modifiers.new(axis, "DISPLACE")
                modifier.direction, modifier.vertex_group = axis, name
                modifier.mid_level, modifier.strength = 0.0, 1.0
        depsgraph: Any = scene.view_layers[0].depsgraph
        with silenced_handlers():
            depsgraph.update()
        for place, item in enumerate(objects):
            positions = vertex_positions(item.evaluated_get(depsgraph), "evaluated")
            yield from positions.T[: len(names) - place * len(_AXES)]
    finally:
        bpy.data.batch_remove(objects)


NOTHING_SELECTED = message("nothing is selected: select vertices, edges or faces")


def objects_in_edit_mode() -> list[bpy.types.Object]:
    """Return the visible mesh objects of the view layer that are in Edit Mode."""
    layer = bpy.context.view_layer
    edited = (item for item in layer.objects if item.type == "MESH" and item.mode == "EDIT")
    return [item for item in edited if item.visible_get(view_layer=layer)]


def selected_vertices(evaluated: bpy.types.Object, modifiers: Modifiers) -> NDArray[np.float32]:
    """Copy the selected vertices (n, 3) of a mesh in Edit Mode, in object space.

    Vertices of selected edges and faces are selected; Blender selects no hidden vertices. Positions are
    those that Edit Mode shows: with the shape key that is edited and, for `modifiers` "evaluated", with the
    modifiers that Edit Mode shows. If these add or remove vertices, positions are without modifiers.

    evaluated : Evaluated mesh object in Edit Mode.
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
    return np.asarray(positions[copied(mesh.vertices, "select", np.bool_)])


def group_vertices(
    evaluated: bpy.types.Object, modifiers: Modifiers, group: str, threshold: float
) -> NDArray[np.float32]:
    """Copy the vertices (n, 3) of a vertex group, in object space.

    modifiers : Mesh to read. Modifiers can change weights, too.
    group : Name of the group; empty for the active one.
    threshold : Least weight of a vertex, in single precision. Vertices of weight 0 are never part.
    Returns points : (n, 3) float32
    Raises SceneError: if the object does not have the group, or no vertex of this weight in it.
    """
    groups: Any = evaluated.original.vertex_groups
    if not group and groups.active is None:
        raise SceneError(message("has no vertex group: add one, and assign vertices to it"))
    number = groups.find(group) if group else groups.active_index
    if number < 0:
        raise SceneError(message("has no vertex group {group!r}", group=group))
    rows = _rows_of(evaluated, modifiers, number, threshold)
    if not len(rows):
        raise SceneError(message("has no vertices of this weight in the group: lower the threshold"))
    return np.asarray(vertex_positions(evaluated, modifiers)[rows])


def rows_of_group(evaluated: bpy.types.Object, modifiers: Modifiers, group: VertexGroup) -> Ints:
    """Find the vertices (n,) of a vertex group, increasing; none if the object does not have the group."""
    number = evaluated.original.vertex_groups.find(group.name)
    if number < 0:
        return np.empty(0, dtype=np.int64)
    return _rows_of(evaluated, modifiers, number, group.threshold)


def reason_without_vertices(group: VertexGroup, has_custom_shape: bool) -> str:
    if has_custom_shape:
        return message("has a custom shape, and so no vertices of a group")
    template = "has no vertices of weight {weight} or more in vertex group {group!r}"
    return message(template, weight=f"{group.threshold:g}", group=group.name)


def _rows_of(evaluated: bpy.types.Object, modifiers: Modifiers, number: int, threshold: float) -> Ints:
    _, ((rows, weights),) = group_weights(evaluated, modifiers, [number])
    return rows[weights >= np.float32(threshold)]
