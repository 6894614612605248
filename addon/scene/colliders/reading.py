"""Evaluated geometry of colliders and of the meshes that they belong to, whether shown or hidden.

Objects that are shown are read from the scene as the viewport shows it. A group with a hidden object is
evaluated by itself, because Blender does not evaluate hidden objects.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Floats, Ints, transform_points
from ...core.numeric.geodesic import geodesic_directions
from ..blender.frames import playhead
from ..blender.mesh_data import edge_indices, triangle_indices, vertex_positions
from ..blender.names import full_name_of
from ..blender.object_settings import object_fit_settings
from ..blender.overrides import read_overrides
from ..blender.private_scene import PrivateScene, end_step
from ..settings import FitSettings, Selection
from ..subjects.find import find_subjects
from ..subjects.reader import SubjectReader


class ColliderGroup(NamedTuple):
    """Mesh object, by full name, and its colliders; a mesh is None for colliders of no object."""

    source: bpy.types.Object | None
    colliders: list[bpy.types.Object]


class ReadObject(NamedTuple):
    """Geometry of an object at the current frame.

    points : (n, 3) float64 in object space
    triangles : (t, 3) int64, not read for custom shapes
    edges : (e, 2) int64, not read for a mesh that colliders belong to
    matrix : (4, 4) float64, the world matrix
    """

    points: Floats
    triangles: Ints
    edges: Ints
    matrix: Floats


class ReadGroup(NamedTuple):
    """Geometry of the objects of a group, by full name. Disabled objects are missing."""

    source: ReadObject | None
    colliders: dict[str, ReadObject]


def is_disabled(item: bpy.types.Object) -> bool:
    """Return whether an object is disabled in all viewports, so that Blender never evaluates it."""
    return item.hide_viewport


def read_groups(scene: bpy.types.Scene, groups: list[ColliderGroup], fit: FitSettings) -> list[ReadGroup]:
    """Read the geometry of groups of a scene, the active one, at the current frame, in their order.

    Nothing in the file changes. `fit.modifiers` is the source of vertices of meshes without settings of their
    own.
    """
    depsgraph = bpy.context.evaluated_depsgraph_get()
    layer = bpy.context.view_layer
    read: dict[int, ReadGroup] = {}
    hidden: dict[int, ColliderGroup] = {}
    for number, group in enumerate(groups):
        if all(item.visible_get(view_layer=layer) for item in _members(group)):
            read[number] = _read_group(group, depsgraph, fit)
        else:
            hidden[number] = group
    if hidden:
        uids = {item.session_uid for group in hidden.values() for item in _members(group)}
        private = PrivateScene(scene, uids)
        try:
            depsgraph = private.evaluate(playhead(scene))
            for number, group in hidden.items():
                read[number] = _read_group(group, depsgraph, fit)
        finally:
            end_step()
    return [read[number] for number in range(len(groups))]


def _members(group: ColliderGroup) -> Iterable[bpy.types.Object]:
    return (*([] if group.source is None else [group.source]), *group.colliders)


def _read_group(group: ColliderGroup, depsgraph: bpy.types.Depsgraph, fit: FitSettings) -> ReadGroup:
    source = None
    if group.source is not None and not is_disabled(group.source):
        source = _read_source(group.source, depsgraph, fit)
    colliders = {
        full_name_of(item): _read_collider(item, depsgraph)
        for item in group.colliders
        if not is_disabled(item)
    }
    return ReadGroup(source, colliders)


def _read_collider(item: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> ReadObject:
    evaluated = item.evaluated_get(depsgraph)
    points = vertex_positions(evaluated, "evaluated").astype(np.float64)
    triangles = triangle_indices(evaluated, "evaluated").astype(np.int64)
    edges = edge_indices(evaluated, "evaluated").astype(np.int64)
    return ReadObject(points, triangles, edges, _matrix(evaluated))


def _read_source(item: bpy.types.Object, depsgraph: bpy.types.Depsgraph, fit: FitSettings) -> ReadObject:
    """Read what colliders enclose: the vertices of a mesh, or its custom shapes."""
    evaluated = item.evaluated_get(depsgraph)
    groups: list[NDArray[np.floating]] = [
        each.center + each.radius * geodesic_directions(8).vectors if each.shape == "sphere" else each.points
        for each in read_overrides(item)
    ]
    if groups:
        return _source(np.concatenate(groups), np.empty((0, 3), np.int64), _matrix(evaluated))
    modifiers = object_fit_settings(item, fit).modifiers
    points, triangles = vertex_positions(evaluated, modifiers), triangle_indices(evaluated, modifiers)
    return _source(points, triangles, _matrix(evaluated))


def _source(points: NDArray[np.floating], triangles: NDArray[np.integer], matrix: Floats) -> ReadObject:
    return ReadObject(
        points.astype(np.float64), triangles.astype(np.int64), np.empty((0, 2), np.int64), matrix
    )


def _matrix(evaluated: bpy.types.Object) -> Floats:
    return np.array(evaluated.matrix_world, dtype=np.float64)


def read_merged(scene: bpy.types.Scene, name: str, fit: FitSettings) -> ReadObject | None:
    """Read the mesh of a collection that is treated as one, in world space; None if it has no vertices."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    subjects, _ = find_subjects(scene, depsgraph, Selection())
    merged = [subject for subject in subjects if subject.members and subject.name == name]
    pieces = list(SubjectReader(merged, fit, range(len(merged))).singles(depsgraph))
    if not pieces:
        return None
    parts = [transform_points(piece.geometry.matrix, piece.geometry.points) for piece in pieces]
    starts = np.cumsum([0, *map(len, parts[:-1])])
    triangles = [piece.triangles + start for piece, start in zip(pieces, starts, strict=True)]
    return _source(np.concatenate(parts), np.concatenate(triangles), np.eye(4))
