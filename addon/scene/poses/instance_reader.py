"""The instances of a scene frame by frame: where only matrices change, only these are read."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import bpy
import numpy as np

from ..blender.instance_table import InstanceTable, read_instance_table
from ..blender.instances import MESH_LIKE, VisibleInstance
from ..progress import run_to_end
from .instance_matrices import InstanceMatrices

_T = TypeVar("_T")


class InstanceReader(Generic[_T]):
    """Reads all instances at one time after the other.

    From Blender 4.5 on, the instances that geometry nodes make of objects can be compared with those of the
    time before, by a few arrays. If they show the same objects with the same ids, and no other objects came
    or went, the instances of the dependency graph are the same in the same order.
    """

    def __init__(self, describe: Callable[[VisibleInstance], _T]) -> None:
        """Prepare to read instances; `describe` as of `read_instance_table`."""
        self._describe = describe
        self._table: InstanceTable[_T] | None = None
        self._signature: Hashable = None
        self._matrices = InstanceMatrices(0)

    def read(self, depsgraph: bpy.types.Depsgraph) -> InstanceTable[_T]:
        """Read all instances of an evaluated dependency graph.

        If nothing but matrices changed, `kinds`, `kind_of`, `positions` and `indices` are those of the last
        table, and the details of kinds are as they were there.
        """
        signature = _signature_of(depsgraph)
        if self._table is not None and signature is not None and signature == self._signature:
            matrices = self._matrices.read(depsgraph)
            if matrices is not None:
                self._table = self._table.with_matrices(matrices)
                return self._table
        self._table = run_to_end(read_instance_table(depsgraph, self._describe))
        self._signature = signature
        self._matrices = InstanceMatrices(self._table.count)
        return self._table


def _signature_of(depsgraph: bpy.types.Depsgraph) -> Hashable:
    """Return what the objects and ids of all instances depend on; None if that is not known."""
    if not hasattr(bpy.types.Object, "evaluated_geometry"):
        return None
    scene = depsgraph.scene
    if scene.background_set is not None:
        return None
    parts: list[Hashable] = [shown.original.session_uid for shown in depsgraph.objects]
    meshes: dict[int, tuple[int, Any]] = {}
    # An object that shows instances may itself be hidden.
    for item in scene.collection.all_objects:
        if item.is_instancer:
            return None
        if item.modifiers or item.type not in MESH_LIKE:
            made = _object_signature(item.evaluated_get(depsgraph), meshes, depsgraph, 0)
            if made is None:
                return None
            parts.append((item.session_uid, made))
    return tuple(parts)


_DEEPEST = 4
"""Levels of instances in instances that are compared."""
_COMPONENTS = ("mesh", "curves", "pointcloud", "volume", "grease_pencil")


def _object_signature(
    evaluated: Any, meshes: dict[int, tuple[int, Any]], depsgraph: bpy.types.Depsgraph, depth: int
) -> Hashable:
    """Return what the instances that an object's nodes make depend on; None if that is not known.

    meshes : number of each mesh by its pointer, and the geometry that keeps it alive; new ones are added
    """
    if evaluated.original.is_instancer or len(evaluated.particle_systems):
        return None
    # A hidden object is not evaluated.
    if not evaluated.is_evaluated or not any(modifier.type == "NODES" for modifier in evaluated.modifiers):
        return ()
    return _geometry_signature(evaluated.evaluated_geometry(), meshes, depsgraph, depth)


def _geometry_signature(
    geometry: Any, meshes: dict[int, tuple[int, Any]], depsgraph: bpy.types.Depsgraph, depth: int
) -> Hashable:
    """Return what the instances in a geometry depend on, as `_object_signature` does."""
    components = [getattr(geometry, name, None) for name in _COMPONENTS]
    present = tuple(component is not None for component in components)
    mesh = -1
    if components[0] is not None:
        mesh, _ = meshes.setdefault(components[0].as_pointer(), (len(meshes), geometry))
    cloud = geometry.instances_pointcloud()
    if cloud is None:
        return present, mesh
    if depth == _DEEPEST:
        return None
    parts: list[Hashable] = [present, mesh, len(cloud.points)]
    for name in (".reference_index", "id"):
        attribute = cloud.attributes.get(name)
        if attribute is None:
            parts.append(None)
            continue
        numbers = np.empty(len(cloud.points), dtype=np.int32)
        attribute.data.foreach_get("value", numbers)
        parts.append(numbers.tobytes())
    for reference in geometry.instance_references():
        if isinstance(reference, bpy.types.Object):
            uid = reference.original.session_uid
            evaluated = reference.original.evaluated_get(depsgraph)
            inner = _object_signature(evaluated, meshes, depsgraph, depth + 1)
        elif isinstance(reference, bpy.types.GeometrySet):  # type: ignore[attr-defined, unused-ignore]
            uid, inner = 0, _geometry_signature(reference, meshes, depsgraph, depth + 1)
        else:
            return None  # a collection
        if inner is None:
            return None
        parts.append((uid, inner))
    return tuple(parts)
