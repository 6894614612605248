"""Poses of subjects in a private scene, which evaluates them without the rest of the user's scene.

They are used only for subjects that are the same there to the bit: their matrices and vertices are compared
with those of the user's scene at a few times.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.numeric.arrays import Bools, Floats, Ints
from ..blender.frames import ObjectReader, scene_by_uid
from ..blender.mesh_data import vertex_positions
from ..blender.private_scene import PrivateScene
from .frame_poses import EvaluatedSubject, FramePoses, Reading
from .frame_reader import FrameReader
from .scene_dependence import reasons_by_object


class ExpectedPoses(NamedTuple):
    """Poses of all subjects in the user's scene at one time.

    time : In frames.
    is_shown : (n,) bool
    matrices : (n, 4, 4) float64. World matrices.
    vertices : Digest of the vertices of each object that may deform, by its session_uid.
    """

    time: float
    is_shown: Bools
    matrices: Floats
    vertices: dict[int, bytes]

    @classmethod
    def read(
        cls, scene: bpy.types.Scene, time: float, index: FrameReader, is_own: Bools, reader: ObjectReader
    ) -> ExpectedPoses:
        """Read a scene that is at `time`; of those subjects (n,) that are objects of their own."""
        _, is_shown, matrices = reader.read(scene, np.arange(len(is_own)))
        wanted = set(index.uids[is_own & index.may_deform].tolist())
        objects = {item.session_uid: item for item in scene.objects if item.session_uid in wanted}
        vertices = _digests(
            index, np.flatnonzero(is_own & is_shown), objects, bpy.context.evaluated_depsgraph_get()
        )
        return cls(time, is_shown, matrices, vertices)


def _digests(
    index: FrameReader,
    subjects: Ints,
    objects: dict[int, bpy.types.Object],
    depsgraph: bpy.types.Depsgraph,
) -> dict[int, bytes]:
    """Digest of the vertices of each object that may deform."""
    digests = {}
    for uid, members in index.subjects_by_object(subjects).items():
        if uid in objects:
            points = vertex_positions(objects[uid].evaluated_get(depsgraph), index.modifiers[members[0]])
            digests[uid] = blake2b(points.tobytes()).digest()
    return digests


class PrivatePoses:
    """Reads subjects in a private scene.

    is_known : (n,) bool. Subjects that are read there.
    reasons : Why subjects are not, that were candidates.
    """

    def __init__(self, scene: bpy.types.Scene, index: FrameReader, is_candidate: Bools) -> None:
        """Choose subjects that may be read there; nothing is created yet.

        scene : The user's scene.
        index : All subjects.
        is_candidate : (n,) bool. Subjects that are objects of their own.
        """
        self._index, self._source = index, scene.session_uid
        self.is_known: Bools = is_candidate.copy()
        self.reasons: dict[int, str] = {}
        self._scene = PrivateScene(scene, index.uids[is_candidate].tolist())

    def check_dependence(self, time: float) -> None:
        """Refuse subjects that depend on more than what is evaluated with them."""
        depsgraph = self._scene.evaluate(time)
        blocks = [block.original for block in depsgraph.ids]
        reasons = reasons_by_object(scene_by_uid(self._source), blocks)
        uids = self._index.uids
        candidates: list[int] = np.flatnonzero(self.is_known).tolist()
        self._refuse({row: reasons[uids[row]] for row in candidates if uids[row] in reasons})

    def compare(self, expected: ExpectedPoses) -> None:
        """Refuse subjects that are not the same as in the user's scene."""
        subjects = np.flatnonzero(self.is_known)
        depsgraph = self._scene.evaluate(expected.time)
        is_shown, matrices = _read_objects(depsgraph, self._index.uids[subjects])
        is_same = is_shown == expected.is_shown[subjects]
        wanted = expected.matrices[subjects]
        is_same &= ~is_shown | (matrices.view(np.uint64) == wanted.view(np.uint64)).all(axis=(1, 2))
        shown = subjects[is_shown & is_same]
        members = self._index.subjects_by_object(shown)
        objects = {uid: self._scene.original(uid) for uid in members}
        found = _digests(self._index, shown, objects, depsgraph)
        differing = [
            row for uid, rows in members.items() if found[uid] != expected.vertices.get(uid) for row in rows
        ]
        reason = f"it is not the same at frame {expected.time:g} without the rest of the scene"
        self._refuse(dict.fromkeys([*subjects[~is_same].tolist(), *differing], reason))

    def _refuse(self, reasons: dict[int, str]) -> None:
        """Do not read subjects here; a scene without their objects is made when it is needed next."""
        if not reasons:
            return
        self.reasons |= reasons
        self.is_known[list(reasons)] = False
        self._scene.replace(self._index.uids[self.is_known].tolist())

    def read(self, time: float, subjects: Ints) -> Reading:
        """Read sorted `subjects` (m,), all of them known, at any time."""
        depsgraph = self._scene.evaluate(time)
        present, matrices = _read_objects(depsgraph, self._index.uids[subjects])
        reading = Reading(FramePoses(time, present, matrices), {}, [])
        may_deform = present & self._index.may_deform[subjects]
        if may_deform.any():
            for sharing in self._index.rows_by_object(subjects, may_deform):
                uid = int(self._index.uids[subjects[sharing[0]]])
                evaluated = self._scene.original(uid).evaluated_get(depsgraph)
                self._index.read_deforming(subjects, sharing, evaluated, reading)
        return reading

    def evaluated(self, time: float, subjects: Ints) -> Iterator[EvaluatedSubject]:
        """Evaluate subjects (m,), all of them known, and iterate over those shown."""
        members = {int(self._index.uids[subject]): subject for subject in subjects.tolist()}
        for item in self._scene.evaluate(time).objects:
            uid = item.original.session_uid
            if uid in members:
                yield EvaluatedSubject(members[uid], item, np.array(item.matrix_world))


def _read_objects(depsgraph: bpy.types.Depsgraph, uids: Ints) -> tuple[Bools, Floats]:
    """Read objects: masks (m,) of visible ones, and world matrices (m, 4, 4); zeros if invisible."""
    items: Any = depsgraph.objects
    # Evaluated objects have no session_uid of their own.
    shown = np.array([item.original.session_uid for item in items], dtype=np.int64)
    matrices = np.zeros((len(shown) + 1, 4, 4), dtype=np.float32)
    items.foreach_get("matrix_world", matrices[:-1].reshape(-1))
    order = np.append(np.argsort(shown), -1)
    rows = order[np.searchsorted(shown[order[:-1]], uids)]
    is_visible = np.append(shown, -1)[rows] == uids
    # Blender stores matrices by columns.
    return is_visible, matrices[np.where(is_visible, rows, -1)].transpose(0, 2, 1).astype(np.float64)
