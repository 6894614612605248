"""Meshes that an armature bends and nothing else changes: their vertices as points that bones carry.

Blender's armature modifier puts a vertex at the mean of its places in the spaces of its bones, weighted by
its weights. A mesh is such points if an armature modifier is the only one that is shown, with none of its
other methods, and if the mesh's object stays where it is relative to the armature's object.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import bpy
import numpy as np

from ...core.curves.transforms import Transforms
from ...core.numeric.arrays import Bools, Floats, Ints
from ...core.skins.blended_points import BlendedPoints
from ..blender.animated import VERTICES, changing
from ..blender.frames import scene_by_uid
from ..blender.instances import are_names_readable
from ..blender.mesh_data import vertex_positions
from ..blender.parts.weights import GroupWeights, group_weights
from .skin_poses import Skin, SkinPoses
from .transform_curves import Key, TransformCurves

MOST_VERTICES = 250_000
"""Vertices of a mesh, at most: the tree of so many is built within half a second."""
_LEAST_WEIGHT = 1e-4
"""Sum of weights up to which Blender leaves a vertex where it is."""


def bending_armature(item: bpy.types.Object) -> bpy.types.Object | None:
    """Return the armature's object that bends an original mesh object, if nothing else changes the mesh."""
    mesh: Any = item.data
    shown: list[Any] = [modifier for modifier in item.modifiers if modifier.show_viewport]
    if item.type != "MESH" or mesh.is_editmode or mesh.shape_keys is not None or changing(mesh, VERTICES):
        return None
    if len(mesh.vertices) > MOST_VERTICES:
        return None
    if not are_names_readable(item.vertex_groups):
        return None
    if len(shown) != 1 or shown[0].type != "ARMATURE" or item.parent_type != "OBJECT":
        return None
    modifier = shown[0]
    is_other = (
        modifier.use_bone_envelopes
        or modifier.use_deform_preserve_volume
        or modifier.use_multi_modifier
        or modifier.vertex_group
        or not modifier.use_vertex_groups
    )
    armature: bpy.types.Object | None = modifier.object
    return None if is_other or armature is None or armature.type != "ARMATURE" else armature


def _make_skin(
    subject: int, rows: Ints, to_bones: Floats, weights: list[GroupWeights], points: Floats
) -> Skin:
    """Make a skin with b bones that have a weight; its tree takes most of the time.

    rows : (b + 1,) int64. Indices of the bones in the transforms, and of the mesh's object.
    to_bones : (b + 1, 4, 4) float64. Matrices from the space of the mesh to those of the bones at rest, and
        to its own.
    weights : list of GroupWeights, (b,)
    points : (n, 3) float64. Vertices.
    """
    count, total = len(points), np.zeros(len(points))
    for group, of_bone in weights:
        total[group] += of_bone
    is_bent: Bools = np.asarray(total > _LEAST_WEIGHT)
    # The vertices that each bone carries, and its shares in them, 1 in sum; the object has the rest.
    carried: list[tuple[int, Ints, Floats]] = []
    for bone, (group, of_bone) in enumerate(weights):
        kept = is_bent[group]
        carried.append((bone, group[kept], of_bone[kept] / total[group[kept]]))
    uncarried = np.flatnonzero(~is_bent)
    carried.append((len(weights), uncarried, np.ones(len(uncarried))))
    carried = [each for each in carried if len(each[1])]
    carriers = np.bincount(np.concatenate([group for _, group, _ in carried]), minlength=count)
    shape = (count, int(carriers.max()))
    bones, shares, places = np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros((*shape, 3))
    filled = np.zeros(count, dtype=np.int64)
    for number, (bone, group, share) in enumerate(carried):
        cell, matrix = (group, filled[group]), to_bones[bone]
        bones[cell], shares[cell] = number, share
        places[cell] = points[group] @ matrix[:3, :3].T + matrix[:3, 3]
        filled[group] += 1
    used = rows[[bone for bone, _, _ in carried]]
    return Skin(subject, used, BlendedPoints(bones, shares, places, points))


def _read_skin(
    subject: int,
    item: bpy.types.Object,
    armature: bpy.types.Object,
    transforms: Transforms,
    index_of: Mapping[Key, int],
) -> Callable[[], Skin] | None:
    """Read the vertices and weights of a mesh, and return a function that makes the skin.

    Returns None if a bone with unknown motion moves the mesh.

    item, armature : The mesh's object, and that of the armature that bends it.
    transforms : Of the known objects and bones.
    index_of : Their indices, as `TransformCurves` has them.
    """
    rig: Any = armature.data
    # The vertex groups that move vertices: the bone of each, by its index.
    groups = {
        each.index: each.name
        for each in item.vertex_groups
        if each.name in rig.bones and rig.bones[each.name].use_deform
    }
    vertices, weights = group_weights(item, "base", list(groups))
    used = {name: each for name, each in zip(groups.values(), weights, strict=True) if len(each[0])}
    uid = armature.session_uid
    rows = [*(index_of.get((uid, name), -1) for name in used), index_of.get(item.session_uid, -1)]
    in_armature = _place_in_armature(transforms, rows[-1], index_of.get(uid, -1))
    bones = [rig.bones[name] for name in used]
    is_unknown = in_armature is None or min(rows) < 0
    if is_unknown or not vertices or any(bone.use_envelope_multiply for bone in bones):
        return None
    at_rest = [np.array(bone.matrix_local, dtype=np.float64) for bone in bones]
    to_bones = np.array([*(np.linalg.solve(matrix, in_armature) for matrix in at_rest), np.eye(4)])
    points = vertex_positions(item, "base").astype(np.float64)
    return partial(_make_skin, subject, np.array(rows), to_bones, list(used.values()), points)


def _place_in_armature(transforms: Transforms, row: int, armature: int) -> Floats | None:
    """Return the matrix (4, 4) of an object in the space of an armature's object; None if it may change."""
    if min(row, armature) < 0 or (transforms.curve_of[row] >= 0).any():
        return None
    alone = replace(transforms, parent=np.full(len(transforms.parent), -1)).world_matrices(np.zeros(1))[0]
    matrices = alone[[armature, row]].astype(np.float64)
    if transforms.parent[row] == armature:
        return np.asarray(transforms.parent_inverse[row] @ matrices[1])
    # Both may rest without being child and parent.
    is_animated = bool((transforms.curve_of[armature] >= 0).any())
    has_parents = bool((transforms.parent[[row, armature]] >= 0).any())
    if is_animated or has_parents or np.linalg.matrix_rank(matrices[0]) < 4:
        return None
    return np.asarray(np.linalg.solve(*matrices))


# ---- Reading, step by step, so that windows respond


def read_skin_poses(
    scene_uid: int, uids: Ints, is_candidate: Bools, times: tuple[float, float]
) -> Generator[None, None, SkinPoses | None]:
    """Read the skins of those subjects that have one; yields between steps, so that windows respond.

    Returns None if no subject has one.

    scene_uid : session_uid of the scene.
    uids : (n,) int. session_uid of each subject's object.
    is_candidate : (n,) bool. Subjects that are whole objects whose mesh, as its modifiers change it, may
        deform.
    times : (float, float). First and last time at which they must be known, in frames.
    """
    known, bent, objects = TransformCurves(), list[tuple[int, int, int]](), dict[int, bpy.types.Object]()
    for subject in np.flatnonzero(is_candidate).tolist():
        scene = scene_by_uid(scene_uid)
        objects = objects or {item.session_uid: item for item in scene.objects}
        item = objects.get(uids[subject])
        armature = None if item is None else bending_armature(item)
        if item is None or armature is None:
            continue
        known.read(scene, [armature, item], times)
        known.read_bones(armature, times)
        bent.append((subject, item.session_uid, armature.session_uid))
        # None of Blender's objects may be used after a yield.
        objects = {}
        del scene, item, armature
        yield
    transforms, skins = known.transforms(), list[Skin]()
    for subject, uid, rig in bent:
        objects = {item.session_uid: item for item in scene_by_uid(scene_uid).objects}
        if {uid, rig} <= objects.keys() and bending_armature(objects[uid]) == objects[rig]:
            make = _read_skin(subject, objects[uid], objects[rig], transforms, known.index_of)
            # As above.
            objects = {}
            yield
            if make is not None:
                skins.append(make())
                yield
    return SkinPoses(len(uids), transforms, skins) if bent else None
