"""The parts that an object is split into: loose parts, the vertices of each bone, or several overrides.

Of bones also their places in the world.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy
import numpy as np

from ....core.numeric.arrays import Floats, Ints
from ....core.numeric.components import connected_components
from ...settings import Modifiers
from ..instances import VisibleInstance
from ..mesh_data import edge_indices, vertex_positions, world_matrix
from ..object_settings import OverrideShape
from .known_rows import PartRows, known_rows
from .weights import group_weights, rows_by_label

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


def bone_rows(evaluated: bpy.types.Object, modifiers: Modifiers, least_weight: float) -> PartRows:
    """Find the vertices of each bone of an evaluated object.

    evaluated : With an armature.
    least_weight : A vertex belongs to the bone with its largest weight, the first of several. If this is
        below 1, it also belongs to all other bones for which its weight is not 0 and at least this, in single
        precision.
    Returns rows : Of each of `deform_bones`, then of the vertices without weights of these bones.
    """
    names = deform_bones(evaluated)
    groups = tuple(evaluated.vertex_groups[name].index for name in names)

    def find() -> PartRows:
        vertices, weights = group_weights(evaluated, modifiers, groups)
        largest = np.zeros(vertices, dtype=np.float32)
        owner = np.full(vertices, len(weights))
        for bone, (rows, values) in enumerate(weights):
            is_larger = values > largest[rows]  # so of equal ones the first bone counts
            owner[rows[is_larger]], largest[rows[is_larger]] = bone, values[is_larger]
        found = rows_by_label(owner, len(weights) + 1)
        for bone, (rows, values) in enumerate(weights if least_weight < 1 else ()):
            found[bone] = rows[(owner[rows] == bone) | (values >= np.float32(least_weight))]
        return PartRows(vertices, found)

    return known_rows(evaluated, modifiers, (groups, least_weight), find)


ALONG_BONE: Floats = np.array([0.0, 1.0, 0.0])
"""Direction of a bone in its space."""

LEAST_SCALE = 0.01
"""Scale of a bone below which its space is not used. Games hide parts by such scales."""


def bone_frames(item: VisibleInstance) -> dict[str, tuple[Floats, float]]:
    """Frames of the bones of a visible object, at the frame of its evaluation.

    Of an instance, the bones are where its mesh is.

    Returns matrix : (4, 4) float64. World matrix. The Y axis of a bone is along it.
    Returns scale : Least scale of the bone along any direction, compared with its rest pose.
    """
    armature = armature_of(item.instance.object)
    pose: Any = None if armature is None else armature.pose
    if armature is None or pose is None or not len(pose.bones):
        return {}
    place = np.array(armature.matrix_world, dtype=np.float64)
    if item.instance.is_instance:
        # The object of an instance has the matrix of the instance; the instanced object has its own.
        source: Any = item.instance.instance_object
        place = world_matrix(item) @ np.linalg.pinv(np.array(source.matrix_world, np.float64)) @ place
    matrices = np.array([bone.matrix for bone in pose.bones], dtype=np.float64)
    linear = matrices[:, :3, :3]
    linear = np.where(np.isfinite(linear), linear, 0.0)
    scales = np.linalg.svd(linear, compute_uv=False)[:, -1]
    frames = zip(pose.bones, place @ matrices, scales.tolist(), strict=True)
    return {bone.name: (matrix, scale) for bone, matrix, scale in frames}


def bone_frame(evaluated: bpy.types.Object, name: str) -> Floats | None:
    """World matrix (4, 4) of a bone of an evaluated object; None if its scale is too small for a space."""
    armature = armature_of(evaluated)
    pose: Any = None if armature is None else armature.pose
    bone = None if pose is None else pose.bones.get(name)
    if armature is None or bone is None:
        return None
    matrix = np.array(bone.matrix, dtype=np.float64)
    if not np.isfinite(matrix).all() or np.linalg.svd(matrix[:3, :3], compute_uv=False)[-1] < LEAST_SCALE:
        return None
    return np.asarray(np.array(armature.matrix_world, dtype=np.float64) @ matrix)


class MeshPart(NamedTuple):
    """A part of a mesh.

    number : Place of its vertices in `part_rows`.
    name : Its name after that of the object and a slash.
    bone : Bone that deforms it; empty for the vertices that no bone deforms, None for a loose part.
    bone_weight : Least weight of its vertices, see `bone_rows`; None for a loose part.
    override : Kind of the override that it is, one of several of an object; None for vertices.
    """

    number: int
    name: str
    bone: str | None = None
    bone_weight: float | None = None
    override: OverrideShape | None = None


def parts_of(
    evaluated: bpy.types.Object, modifiers: Modifiers, bone_weight: float | None
) -> list[MeshPart] | None:
    """Find the parts of an evaluated object that have vertices.

    None if it has no bones to split it by. A mesh without vertices is one loose part.

    bone_weight : least weight of the vertices of a bone, see `bone_rows`; None for loose parts
    """
    if bone_weight is None:
        count = int(loose_part_labels(evaluated, modifiers).max(initial=0)) + 1
        return [MeshPart(number, f"part.{number}") for number in range(count)]
    bones = deform_bones(evaluated)
    rows = part_rows(evaluated, modifiers, bone_weight).rows if bones else []
    parts = [
        MeshPart(number, f"bone.{bones[number]}", bones[number], bone_weight)
        if number < len(bones)
        else MeshPart(number, NO_BONE, "", bone_weight)
        for number, each in enumerate(rows)
        if len(each)
    ]
    return parts or None


def part_rows(
    evaluated: bpy.types.Object, modifiers: Modifiers, bone_weight: float | None, count: int = 0
) -> PartRows:
    """Find the vertices of the parts of an evaluated object, see `parts_of`.

    count : least number of parts; those without vertices are empty
    """
    if bone_weight is None:
        labels = loose_part_labels(evaluated, modifiers)
        return PartRows(len(labels), rows_by_label(labels, count))
    return bone_rows(evaluated, modifiers, bone_weight)


def loose_part_labels(evaluated: bpy.types.Object, modifiers: Modifiers) -> Ints:
    """Label each vertex (n,) of an evaluated object with its loose part, numbered by first vertices."""
    count = len(vertex_positions(evaluated, modifiers))
    return connected_components(count, edge_indices(evaluated, modifiers))
