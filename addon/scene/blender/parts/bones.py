"""Bones that deform a mesh: the bone of each vertex, and the place of each bone in the world."""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ....core.numeric.arrays import Floats, Ints
from ...settings import Modifiers
from ..instances import VisibleInstance
from ..mesh_data import read_mesh
from .loose_parts import rows_by_label
from .vertex_subsets import VertexWeights, read_weights

NO_BONE = "no bone"
"""Name of the part with the vertices that no bone deforms."""


class PartRows(NamedTuple):
    """Vertices of the parts of a mesh.

    Attributes
    ----------
    vertices : int
        Number of vertices of the mesh.
    rows : list of (k,) int
        Rows of the vertices of each part, increasing.
    """

    vertices: int
    rows: list[Ints]


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


def bone_rows(evaluated: bpy.types.Object, modifiers: Modifiers, least_weight: float) -> PartRows:
    """Find the vertices of each bone of an evaluated object.

    Parameters
    ----------
    evaluated : bpy.types.Object
        With an armature.
    modifiers : Modifiers
        Mesh to read.
    least_weight : float
        A vertex belongs to the bone with its largest weight, the first of several. If this is below 1, it
        also belongs to all other bones for which its weight is not 0 and at least this, in single precision.

    Returns
    -------
    rows : PartRows
        Of each of `deform_bones`, then of the vertices without weights of these bones.
    """
    names = deform_bones(evaluated)
    number = {name: index for index, name in enumerate(names)}
    bone_of = np.array(
        [number.get(group.name, -1) for group in evaluated.vertex_groups] or [-1], dtype=np.int64
    )
    count, weights = read_mesh(
        evaluated, modifiers, lambda mesh: (len(mesh.vertices) if mesh else 0, read_weights(mesh))
    )
    return PartRows(count, _rows_of_bones(weights, count, bone_of, len(names), least_weight))


def _rows_of_bones(
    weights: VertexWeights, count: int, bone_of: Ints, bones: int, least_weight: float
) -> list[Ints]:
    """Rows of each of several bones, then of none; `bone_of` (g,) is the bone of each group."""
    vertices, groups, values = weights
    owners = np.where(groups < len(bone_of), bone_of[np.minimum(groups, len(bone_of) - 1)], -1)
    has_weight = (owners >= 0) & (values > 0)
    vertices, owners, values = vertices[has_weight], owners[has_weight], values[has_weight]
    # The last of each vertex is the one with the largest weight, and of equal ones the first bone.
    order = np.lexsort((-owners, values, vertices))
    vertices, owners, values = vertices[order], owners[order], values[order]
    is_part = np.append(vertices[1:] != vertices[:-1], True) if len(vertices) else has_weight[:0]
    has_bone = np.zeros(count, dtype=bool)
    has_bone[vertices] = True
    if least_weight < 1:
        is_part |= values >= np.float32(least_weight)
    rows = rows_by_label(owners[is_part], bones)
    return [*(vertices[is_part][each] for each in rows), np.flatnonzero(~has_bone)]


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
