"""Bones that deform a mesh: the bone of each vertex, and the place of each bone in the world."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ....core.numeric.arrays import Floats, Ints
from ...settings import Modifiers
from ..instances import VisibleInstance
from ..mesh_data import read_mesh
from .vertex_subsets import read_weights

NO_BONE = "no bone"
"""Name of the part with the vertices that no bone deforms."""


def armature_of(item: bpy.types.Object) -> bpy.types.Object | None:
    """Return the armature that deforms an object; of an evaluated object, the evaluated one."""
    for modifier in item.modifiers:
        armature: Any = getattr(modifier, "object", None) if modifier.type == "ARMATURE" else None
        if armature is not None and armature.type == "ARMATURE":
            return armature  # type: ignore[no-any-return]
    parent: Any = item.parent
    if parent is not None and parent.type == "ARMATURE" and item.parent_type == "ARMATURE":
        return parent  # type: ignore[no-any-return]
    return None


def deform_bones(item: bpy.types.Object) -> list[str]:
    """Return the names of the bones that may deform an object, in the order of the armature."""
    armature = armature_of(item)
    if armature is None:
        return []
    groups = {group.name for group in item.vertex_groups}
    bones: Any = armature.data
    return [bone.name for bone in bones.bones if bone.use_deform and bone.name in groups]


def bone_labels(evaluated: bpy.types.Object, modifiers: Modifiers) -> Ints:
    """Label each vertex (n,) of an evaluated object with its bone.

    Parameters
    ----------
    evaluated : bpy.types.Object
        With an armature.
    modifiers : Modifiers
        Mesh to read.

    Returns
    -------
    labels : (n,) int
        Index into `deform_bones` of the bone with the largest weight, the first of several. For a vertex
        without weights of these bones, the number of bones.
    """
    names = deform_bones(evaluated)
    number = {name: index for index, name in enumerate(names)}
    bone_of = np.array(
        [number.get(group.name, -1) for group in evaluated.vertex_groups] or [-1], dtype=np.int64
    )
    return read_mesh(evaluated, modifiers, lambda mesh: _heaviest(mesh, bone_of, len(names)))


def _heaviest(mesh: bpy.types.Mesh | None, bone_of: Ints, count: int) -> Ints:
    """Bone (n,) with the largest weight of each vertex; `bone_of` (g,) is the bone of each group."""
    labels = np.full(len(mesh.vertices) if mesh else 0, count, dtype=np.int64)
    rows, groups, weights = read_weights(mesh)
    bones = np.where(groups < len(bone_of), bone_of[np.minimum(groups, len(bone_of) - 1)], -1)
    has_weight = (bones >= 0) & (weights > 0)
    rows, bones, weights = rows[has_weight], bones[has_weight], weights[has_weight]
    # The last of each vertex is the one with the largest weight, and of equal ones the first bone.
    order = np.lexsort((-bones, weights, rows))
    labels[rows[order]] = bones[order]
    return labels


def bone_frames(item: VisibleInstance) -> dict[str, Floats]:
    """World matrices (4, 4) of the deform bones of a visible object, at the frame of its evaluation.

    The Y axis of a bone is along it. Of an instance, the bones are where its mesh is.
    """
    shown = item.instance.object
    armature = armature_of(shown)
    if armature is None:
        return {}
    place = _matrix(armature.matrix_world)
    if item.instance.is_instance:
        # The object of an instance has the matrix of the instance; the instanced object has its own.
        source: Any = item.instance.instance_object
        place = _matrix(item.instance.matrix_world) @ np.linalg.pinv(_matrix(source.matrix_world)) @ place
    pose: Any = armature.pose
    return {bone.name: place @ _matrix(bone.matrix) for bone in pose.bones} if pose else {}


def _matrix(matrix: Any) -> NDArray[np.float64]:
    return np.array(matrix, dtype=np.float64)
