"""Meshes that an armature bends and nothing else changes: their vertices as points that bones carry.

Blender's armature modifier puts a vertex at the mean of its places in the spaces of its bones, weighted by
its weights. A mesh is such points if an armature modifier is the only one that is shown, with none of its
other methods, and if the mesh's object stays where it is relative to the armature's object.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.curves.transforms import Transforms
from ...core.numeric.arrays import Bools, Floats, Ints
from ...core.skins.blended_points import BlendedPoints
from ..blender.animated import VERTICES, changing
from ..blender.frames import scene_by_uid
from ..blender.instances import are_names_readable
from ..blender.mesh_data import MeshFaces, vertex_positions
from ..blender.parts.weights import GroupWeights, is_worth_a_scene, weights_of_meshes
from .bent_faces import quads_to_check
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


class BentMesh(NamedTuple):
    """A subject whose mesh an armature bends: session_uids of both objects, and the vertices of its mesh."""

    subject: int
    uid: int
    armature: int
    vertices: int


def _make_skin(
    subject: int,
    rows: Ints,
    to_bones: Floats,
    weights: list[GroupWeights],
    points: Floats,
    faces: MeshFaces | None,
) -> Skin | None:
    """Make a skin with b bones that have a weight; its tree takes most of the time.

    rows : (b + 1,) int64. Indices of the bones in the transforms, and of the mesh's object.
    to_bones : (b + 1, 4, 4) float64. Matrices from the space of the mesh to those of the bones at rest, and
        to its own.
    weights : list of GroupWeights, (b,)
    points : (n, 3) float64. Vertices.
    faces : Faces of the mesh, if its triangles are wanted.
    Returns None if Blender may cut faces in another way where bones bend the mesh, and which is not known.
    """
    count, used = len(points), None
    if faces is not None:
        used = np.unique(faces.corners).astype(np.int64)
        place = np.full(count, -1)
        place[used] = np.arange(len(used))
        points, placed = points[used], [(place[group], of_bone) for group, of_bone in weights]
        weights = [(group[group >= 0], of_bone[group >= 0]) for group, of_bone in placed]
    carriers, places, carrying = _carried(to_bones, weights, points)
    quads = None
    if faces is not None and used is not None:
        quads = quads_to_check(faces, used, carriers, points)
        if quads is None:
            return None
    return Skin(subject, rows[carrying], BlendedPoints(*carriers, places, points), count, used, quads)


def _carried(
    to_bones: Floats, weights: list[GroupWeights], points: Floats
) -> tuple[tuple[Ints, Floats], Floats, list[int]]:
    """Find the bones that carry vertices (n, 3), with their shares, and the places of the vertices there.

    Arguments are those of `_make_skin`.
    Returns bones, shares : (n, j) int64 and float64.
    Returns places : (n, j, 3) float64
    Returns carrying : The bones, as rows of `to_bones`, that these are numbers of.
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
    return (bones, shares), places, [bone for bone, _, _ in carried]


def _read_skins(
    meshes: Sequence[BentMesh],
    objects: Mapping[int, bpy.types.Object],
    transforms: Transforms,
    index_of: Mapping[Key, int],
    as_blocks: bool,
    faces: Mapping[int, MeshFaces],
) -> Iterator[Callable[[], Skin | None]]:
    """Read the vertices and weights of meshes, except those that a bone with unknown motion moves.

    objects : By their session_uids.
    transforms : Of the known objects and bones.
    index_of : Their indices, as `TransformCurves` has them.
    as_blocks : Whether to read weights as blocks, within a step of a job.
    faces : Of the meshes whose triangles are wanted, by the indices of their subjects.
    Yields functions that make the skins.
    """
    # The vertex groups that move vertices: the bone of each, by its index.
    groups = []
    for mesh in meshes:
        armature: Any = objects[mesh.armature].data
        bones, named = armature.bones, objects[mesh.uid].vertex_groups
        groups.append(
            {each.index: each.name for each in named if each.name in bones and bones[each.name].use_deform}
        )
    wanted = [(objects[mesh.uid], list(of_mesh)) for mesh, of_mesh in zip(meshes, groups, strict=True)]
    weights = weights_of_meshes(wanted, as_blocks)
    for mesh, of_mesh, of_groups in zip(meshes, groups, weights, strict=True):
        used = {name: each for name, each in zip(of_mesh.values(), of_groups, strict=True) if len(each[0])}
        rows = [*(index_of.get((mesh.armature, name), -1) for name in used), index_of.get(mesh.uid, -1)]
        in_armature = _place_in_armature(transforms, rows[-1], index_of.get(mesh.armature, -1))
        armature = objects[mesh.armature].data
        bones = [armature.bones[name] for name in used]
        is_unknown = in_armature is None or min(rows) < 0
        if is_unknown or not mesh.vertices or any(bone.use_envelope_multiply for bone in bones):
            continue
        at_rest = [np.array(bone.matrix_local, dtype=np.float64) for bone in bones]
        to_bones = np.array([*(np.linalg.solve(matrix, in_armature) for matrix in at_rest), np.eye(4)])
        points = vertex_positions(objects[mesh.uid], "base").astype(np.float64)
        read = np.array(rows), to_bones, list(used.values()), points
        yield partial(_make_skin, mesh.subject, *read, faces.get(mesh.subject))


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

_VERTICES_PER_STEP = 1 << 17
"""Vertices whose weights are read at once as blocks, about: 30 ms."""


def read_skin_poses(
    scene_uid: int,
    uids: Ints,
    is_candidate: Bools,
    times: tuple[float, float],
    faces: Mapping[int, MeshFaces],
) -> Generator[None, None, SkinPoses | None]:
    """Read the skins of those subjects that have one; yields between steps, so that windows respond.

    Returns None if no subject has one.

    scene_uid : session_uid of the scene.
    uids : (n,) int. session_uid of each subject's object.
    is_candidate : (n,) bool. Subjects that are whole objects whose mesh, as its modifiers change it, may
        deform.
    times : (float, float). First and last time at which they must be known, in frames.
    faces : Of subjects whose triangles are wanted, as they are cut at first; empty if boxes are.
    """
    known, bent, objects = TransformCurves(), list[BentMesh](), dict[int, bpy.types.Object]()
    for subject in np.flatnonzero(is_candidate).tolist():
        scene = scene_by_uid(scene_uid)
        objects = objects or {item.session_uid: item for item in scene.objects}
        item = objects.get(uids[subject])
        armature = None if item is None else bending_armature(item)
        if item is None or armature is None:
            continue
        known.read(scene, [armature, item], times, with_bones=True)
        mesh: Any = item.data
        bent.append(BentMesh(subject, item.session_uid, armature.session_uid, len(mesh.vertices)))
        # None of Blender's objects may be used after a yield.
        objects = {}
        del scene, item, armature, mesh
        yield
    vertices = np.cumsum([each.vertices for each in bent])
    as_blocks = bool(bent) and is_worth_a_scene(int(vertices[-1]))
    transforms, skins = known.transforms(), list[Skin]()
    step_of = vertices // _VERTICES_PER_STEP if as_blocks else np.arange(len(bent))
    for step in np.unique(step_of).tolist():
        objects = {item.session_uid: item for item in scene_by_uid(scene_uid).objects}
        meshes = [
            each
            for each, its_step in zip(bent, step_of.tolist(), strict=True)
            if its_step == step
            and {each.uid, each.armature} <= objects.keys()
            and bending_armature(objects[each.uid]) == objects[each.armature]
        ]
        makers = list(_read_skins(meshes, objects, transforms, known.index_of, as_blocks, faces))
        # As above.
        objects = {}
        yield
        for make in makers:
            skin = make()
            if skin is not None:
                skins.append(skin)
            yield
    return SkinPoses(len(uids), transforms, skins) if bent else None
