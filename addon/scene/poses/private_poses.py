"""Poses of subjects in a private scene, which evaluates them without the rest of the user's scene.

They are used only for subjects that are the same there to the bit: their matrices and vertices are compared
with those of the user's scene at a few times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.numeric.arrays import Bools, Floats, Ints
from ..blender.animated.switches import SIMPLIFICATION, changing
from ..blender.frames import ObjectReader, scene_by_uid
from ..blender.mesh_data import vertex_positions
from ..blender.private_scene import PrivateScene
from ..blender.simulation import dependents_of, tree_has_node
from .frame_reader import FramePoses, FrameReader, Reading

_CAMERA_CONSTRAINTS = frozenset({"FOLLOW_TRACK", "CAMERA_SOLVER", "OBJECT_SOLVER"})
_ACTIVE_CAMERA = "GeometryNodeInputActiveCamera"
_MATH_NAMES = frozenset(
    {"abs", "acos", "asin", "atan", "atan2", "bool", "ceil", "cos", "degrees", "exp", "fabs", "float"}
    | {"floor", "fmod", "frame", "int", "log", "max", "min", "pi", "pow", "radians", "round", "sin"}
    | {"sqrt", "tan"}
)
"""Names of a driver's expression whose values depend on the frame alone."""


def reasons_by_object(scene: bpy.types.Scene, blocks: Iterable[bpy.types.ID]) -> dict[int, str]:
    """Return why objects may look different in another scene, by their session_uid.

    scene : Their scene.
    blocks : Original data-blocks that were evaluated: the objects, and all that they depend on.
    """
    if changing(scene, SIMPLIFICATION):
        reason = "the simplification of the scene is animated"
        return {block.session_uid: reason for block in blocks if isinstance(block, bpy.types.Object)}
    by_reason: dict[str, set[bpy.types.ID]] = {}
    for block in blocks:
        reason = next(_reasons(block), None)
        if reason is not None:
            by_reason.setdefault(reason, set()).add(block)
    reasons: dict[int, str] = {}
    for reason, found in by_reason.items():
        for block in dependents_of(found):
            if isinstance(block, bpy.types.Object):
                reasons.setdefault(block.session_uid, reason)
    return reasons


def _reasons(block: Any) -> Iterator[str]:
    """Why a data-block itself may look different."""
    animation = getattr(block, "animation_data", None)
    for curve in animation.drivers if animation is not None else ():
        yield from _driver_reasons(curve.driver)
    if isinstance(block, bpy.types.NodeTree) and tree_has_node(block, _ACTIVE_CAMERA.__eq__):
        yield "its nodes use the active camera"
    if not isinstance(block, bpy.types.Object):
        return
    if block.mode not in ("OBJECT", "POSE"):
        yield "it is being edited"
    if block.type == "META":
        yield "metaballs melt into others of the scene"
    if block.rigid_body is not None or block.rigid_body_constraint is not None:
        yield "it is a rigid body"
    bones = block.pose.bones if block.pose is not None else ()
    for constraint in (*block.constraints, *(each for bone in bones for each in bone.constraints)):
        if constraint.type in _CAMERA_CONSTRAINTS:
            yield "a constraint uses the clip or the camera of the scene"
    if block.pose is not None and block.pose.ik_solver == "ITASC":
        yield "its bones remember earlier frames"


def _driver_reasons(driver: Any) -> Iterator[str]:
    for variable in driver.variables:
        if variable.type == "CONTEXT_PROP":
            yield "a driver reads the scene"
        for target in variable.targets:
            if isinstance(target.id, (bpy.types.Scene, bpy.types.WindowManager, bpy.types.Screen)):
                yield "a driver reads the scene"
    if driver.type == "SCRIPTED" and not driver.is_simple_expression:
        known = _MATH_NAMES | {variable.name for variable in driver.variables}
        if driver.use_self or not _names_in(driver.expression) <= known:
            yield "a driver runs Python"


def _names_in(expression: str) -> set[str]:
    """All names in an expression, attributes included; one that is never defined if it is invalid."""
    try:
        code = compile(expression, "driver", "eval")
    except (SyntaxError, ValueError):
        return {""}
    # Functions and comprehensions within the expression have code of their own.
    return {*code.co_names, *({"lambda"} if any(hasattr(each, "co_code") for each in code.co_consts) else ())}


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
