"""Reading the meshes that armatures bend, step by step, so that windows respond."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.numeric.arrays import Bools, Ints
from ..blender.frames import scene_by_uid
from ..blender.parts.displaced_weights import is_worth_a_scene
from .skin_poses import SkinPoses
from .skinned_meshes import BentMesh, Skin, bending_armature, read_skins
from .transform_curves import TransformCurves

_VERTICES_PER_STEP = 1 << 17
"""Vertices whose weights are read at once as blocks, unless one mesh has more: about 30 ms."""


def read_skin_poses(
    scene_uid: int, uids: Ints, is_candidate: Bools, times: tuple[float, float]
) -> Generator[None, None, SkinPoses]:
    """Read the skins of those subjects that have one; yields between steps, so that windows respond.

    Parameters
    ----------
    scene_uid : int
        session_uid of the scene.
    uids : (n,) int
        session_uid of each subject's object.
    is_candidate : (n,) bool
        Subjects that are whole objects whose mesh, as its modifiers change it, may deform.
    times : (float, float)
        First and last time at which they must be known, in frames.
    """
    known, bent = TransformCurves(), list[_Bent]()
    for each in _read_curves(scene_uid, uids, np.flatnonzero(is_candidate), times, known):
        bent.append(each)
        yield
    if not bent:
        return SkinPoses(len(uids))
    transforms, skins = known.transforms(), list[Skin]()
    as_blocks = is_worth_a_scene(sum(each.vertices for each in bent))
    for step in _steps(bent, _VERTICES_PER_STEP if as_blocks else 0):
        objects = {item.session_uid: item for item in scene_by_uid(scene_uid).objects}
        meshes = [
            BentMesh(each.subject, objects[each.uid], objects[each.armature])
            for each in step
            if {each.uid, each.armature} <= objects.keys()
            and bending_armature(objects[each.uid]) == objects[each.armature]
        ]
        sources = read_skins(meshes, transforms, known.index_of, as_blocks)
        # None of Blender's objects may be used after a yield.
        del objects, meshes
        yield
        for source in sources:
            skins.append(source.skin())
            yield
    return SkinPoses(len(uids), transforms, skins)


class _Bent(NamedTuple):
    """A subject whose mesh an armature bends: session_uids of both objects, and the vertices of its mesh."""

    subject: int
    uid: int
    armature: int
    vertices: int


def _read_curves(
    scene_uid: int, uids: Ints, subjects: Ints, times: tuple[float, float], known: TransformCurves
) -> Iterator[_Bent]:
    """Read the curves of the bones that bend meshes of subjects (k,), one subject after another."""
    scene = scene_by_uid(scene_uid)
    objects = {item.session_uid: item for item in scene.objects}
    for subject in subjects.tolist():
        if not objects:
            scene = scene_by_uid(scene_uid)
            objects = {item.session_uid: item for item in scene.objects}
        item = objects.get(uids[subject])
        armature = None if item is None else bending_armature(item)
        if item is None or armature is None:
            continue
        known.read(scene, [armature], times)
        known.read_bones(armature, times)
        known.read(scene, [item], times)
        mesh: Any = item.data
        bent = _Bent(subject, item.session_uid, armature.session_uid, len(mesh.vertices))
        # None of Blender's objects may be used after a yield.
        objects = {}
        del scene, item, armature, mesh
        yield bent


def _steps(bent: Sequence[_Bent], vertices: int) -> Iterator[list[_Bent]]:
    """Divide meshes into those that are read together: at most so many vertices, but one mesh at least."""
    step: list[_Bent] = []
    for each in bent:
        if step and sum(other.vertices for other in step) + each.vertices > vertices:
            yield step
            step = []
        step.append(each)
    if step:
        yield step
