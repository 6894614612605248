"""The source that each subject is read from: its curves, a private scene, or the user's scene.

A private scene evaluates subjects without the rest of the user's scene. It is used only for those that are
the same there to the bit: their matrices and vertices are compared with the user's scene at a few times.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.curves.keyframes import NEAR_KEY, rounded_times
from ...core.numeric.arrays import Bools, Floats, Ints, Singles
from ..blender.animated import SIMPLIFICATION, Simulations, changing, dependents_of
from ..blender.frames import ObjectReader, go_to, scene_by_uid
from ..blender.instances import full_name_of
from ..blender.mesh_data import MeshFaces, vertex_positions
from ..blender.private_scene import PrivateScene
from .frame_reader import FrameReader, Reading
from .known_motion import CurvePoses, read_curve_poses
from .transform_curves import may_show_more, read_visibility

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
        driver = curve.driver
        for variable in driver.variables:
            if variable.type == "CONTEXT_PROP":
                yield "a driver reads the scene"
            for target in variable.targets:
                if isinstance(target.id, (bpy.types.Scene, bpy.types.WindowManager, bpy.types.Screen)):
                    yield "a driver reads the scene"
        if driver.type == "SCRIPTED" and not driver.is_simple_expression:
            known = _MATH_NAMES | {variable.name for variable in driver.variables}
            try:
                code = compile(driver.expression, "driver", "eval")
            except (SyntaxError, ValueError):
                yield "a driver runs Python"
                continue
            # Functions and comprehensions within the expression have code of their own.
            has_code = any(hasattr(each, "co_code") for each in code.co_consts)
            if driver.use_self or has_code or not known.issuperset(code.co_names):
                yield "a driver runs Python"
    if isinstance(block, bpy.types.NodeTree) and any(
        node.bl_idname == _ACTIVE_CAMERA for node in block.nodes
    ):
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


class _Shown(NamedTuple):
    """All subjects (n,) in the user's scene at one time; digests of vertices as of `_digests`."""

    time: float
    present: Bools
    matrices: Floats
    digests: dict[int, bytes]


def _digests(
    reader: FrameReader,
    subjects: Ints,
    objects: Mapping[int, bpy.types.Object],
    depsgraph: bpy.types.Depsgraph,
) -> dict[int, bytes]:
    """Digest of the vertices of each object that may deform, by its session_uid."""
    digests = {}
    for uid, members in reader.subjects_by_object(subjects).items():
        if uid in objects:
            points = vertex_positions(objects[uid].evaluated_get(depsgraph), reader.modifiers[members[0]])
            digests[uid] = blake2b(points.tobytes()).digest()
    return digests


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


_FRAMES, _MATRICES = 8, 1 << 15
"""Frames, and matrices of objects on curves, that are computed together: at least and about so many."""

_COMPARED = 5
"""Times at which curves are compared with the scene."""


class PoseSources:
    """Reads subjects at any time, each from the cheapest source that gives the same as the user's scene.

    is_played : Whether frames are read from the user's scene, which is evaluated for each of them.
    curves : Subjects that follow curves; None until `choose` has found any.
    is_elsewhere : (n,) bool. Subjects that can be read without the user's scene.
    reasons : Why subjects are read from the user's scene, by the index of each that is.
    sampled_switches : (k,) float64. Times at which subjects that do not follow curves appear or disappear.
    times : (t,) float64. Increasing frames that will be read in turn, so that poses are computed ahead.
    """

    def __init__(self, scene: bpy.types.Scene, reader: FrameReader, simulations: Simulations) -> None:
        """Read all subjects from the user's scene."""
        self._uid, self._reader, self._simulations = scene.session_uid, reader, simulations
        self.is_played = True
        self.curves: CurvePoses | None = None
        self.sampled_switches: Floats = np.empty(0)
        self.times: Floats = np.empty(0)
        # Matrices of all objects on curves at the next times.
        self._ahead: dict[float, Singles] = {}
        # Of the subjects that are read elsewhere, and do not follow curves.
        self._private: PrivateScene | None = None
        self._all = np.arange(len(reader.subjects))
        self.is_elsewhere: Bools = np.zeros(len(self._all), dtype=bool)
        self.reasons: dict[int, str] = {}

    def choose(
        self,
        times: Sequence[float],
        is_selected: Callable[[str], bool],
        may_be_skinned: Bools,
        faces: Mapping[int, MeshFaces] | None = None,
    ) -> Generator[None, None, None]:
        """Compare all sources at a few times, and choose; yields after each look at a scene.

        times : Increasing times that will be read, in frames.
        is_selected : Returns by its full name whether an object that is not shown yet would be a subject.
        may_be_skinned : (n,) bool. Subjects of which boxes or triangles at any time are enough, as curves of
            bones give them.
        faces : Of these, if their triangles are wanted, and not boxes.
        """
        is_simulated, is_walked = self._reader.is_simulated, self._reader.is_walked
        # Objects that may be read elsewhere; all others are refused, each for its reason.
        is_own = ~(is_walked | is_simulated)
        for mask, reason in (
            (is_simulated, "it is simulated"),
            (is_walked & ~is_simulated, "it is an instance, or several objects"),
        ):
            self.reasons |= dict.fromkeys(np.flatnonzero(mask).tolist(), reason)
        for needs_scene, reason in (
            (self._simulations.first_frame is not None, "the scene has a simulation that is not baked"),
            (bool(self._reader.animated_paddings), "a padding is animated"),
        ):
            if needs_scene:
                self.reasons |= dict.fromkeys(np.flatnonzero(is_own).tolist(), reason)
                return
        if not is_own.any():
            return
        curves, shown = yield from self._compare_curves(times, is_own, may_be_skinned, faces)
        self.curves, self.times, self.is_elsewhere = curves, np.array(times), curves.is_known.copy()
        is_unknown, known = is_own & ~curves.is_known, set(self._reader.uids.tolist())
        if is_unknown.any():
            unknown = set(self._reader.uids[is_unknown].tolist())
            objects = [item for item in scene_by_uid(self._uid).objects if item.session_uid in unknown]
            switches = read_visibility(objects, (times[0], times[-1])).switches(np.arange(len(objects)))
            # Until they disappear they are sampled: what is absent at a sample stays where it was before.
            self.sampled_switches = np.concatenate([switches - 2 * float(NEAR_KEY), switches])
            # None of Blender's objects may be used after a yield.
            del objects
            yield from self._choose_private(is_unknown, shown)
        items = [item for item in scene_by_uid(self._uid).objects if item.session_uid not in known]
        self.is_played = bool(
            self._reader.needs_walk
            or not self.is_elsewhere.all()
            or (items and may_show_more(items, lambda item: is_selected(full_name_of(item))))
        )

    def _compare_curves(
        self,
        times: Sequence[float],
        is_own: Bools,
        may_be_skinned: Bools,
        faces: Mapping[int, MeshFaces] | None,
    ) -> Generator[None, None, tuple[CurvePoses, list[_Shown]]]:
        """Read the curves of objects (n,), and compare them with the user's scene at a few times.

        Returns the curves, and what the scene shows at these times.
        """
        reader, span = self._reader, (times[0], times[-1])
        is_rigid = is_own & ~reader.may_deform
        curves = yield from read_curve_poses(
            self._uid, reader.uids, is_rigid, span, may_be_skinned & is_own, faces
        )
        shown: list[_Shown] = []
        objects = ObjectReader(reader.uids)
        # The first, the last, and some in between, one of them between frames.
        rows = np.unique(np.linspace(0, len(times) - 1, _COMPARED).round().astype(int)).tolist()
        deforms = is_own & reader.may_deform
        compared = [times[row] for row in rows]
        if len(compared) > 2:
            compared[1] = (compared[1] + times[rows[1] + 1]) / 2
        for time in compared:
            scene = scene_by_uid(self._uid)
            go_to(scene, time, within_step=True)
            _, is_shown, matrices = objects.read(scene, self._all)
            items = {item.session_uid: item for item in scene.objects}
            depsgraph = bpy.context.evaluated_depsgraph_get()
            bent = np.flatnonzero(deforms & is_shown)
            digests = _digests(reader, bent, items, depsgraph) if len(bent) else {}
            shown.append(_Shown(time, is_shown, matrices, digests))
            bent = np.flatnonzero(curves.is_skinned & is_shown).tolist()
            shapes = [items[int(reader.uids[subject])].evaluated_get(depsgraph) for subject in bent]
            vertices = [vertex_positions(shape, "evaluated") for shape in shapes]
            curves.compare(time, is_shown, matrices, dict(zip(bent, vertices, strict=True)))
            # None of Blender's objects may be used after a yield.
            del scene, items, depsgraph, shapes
            yield
        if curves.skins is not None:
            # Blender may cut their faces in another way at other times.
            curves.is_known[(yield from curves.skins.following_cuts(np.array(times)))] = False
            curves.skins.keep(curves.is_known)
        return curves, shown

    def _choose_private(self, is_known: Bools, shown: Sequence[_Shown]) -> Generator[None, None, None]:
        """Compare subjects (n,) in a private scene with what the user's scene shows."""
        uids = self._reader.uids
        private = self._private = PrivateScene(scene_by_uid(self._uid), uids[is_known].tolist())

        def refuse(reasons: dict[int, str]) -> None:
            if reasons:
                self.reasons.update(reasons)
                is_known[list(reasons)] = False
                private.replace(uids[is_known].tolist())

        blocks = [block.original for block in private.evaluate(shown[0].time).ids]
        found = reasons_by_object(scene_by_uid(self._uid), blocks)
        del blocks
        candidates = np.flatnonzero(is_known).tolist()
        refuse({subject: found[uids[subject]] for subject in candidates if uids[subject] in found})
        yield
        for each in shown:
            if is_known.any():
                reason = f"it is not the same at frame {each.time:g} without the rest of the scene"
                refuse(dict.fromkeys(self._differing(np.flatnonzero(is_known), each), reason))
                yield
        self.is_elsewhere |= is_known

    def _differing(self, subjects: Ints, expected: _Shown) -> list[int]:
        """Return those of subjects (m,) that are not the same, to the bit, in the private scene."""
        assert self._private is not None
        depsgraph = self._private.evaluate(expected.time)
        is_shown, matrices = _read_objects(depsgraph, self._reader.uids[subjects])
        wanted = expected.matrices[subjects]
        is_same = is_shown == expected.present[subjects]
        is_same &= ~is_shown | (matrices.view(np.uint64) == wanted.view(np.uint64)).all(axis=(1, 2))
        shown = subjects[is_shown & is_same]
        members = self._reader.subjects_by_object(shown)
        objects = {uid: self._private.original(uid) for uid in members}
        found = _digests(self._reader, shown, objects, depsgraph)
        bent = [
            subject
            for uid, each in members.items()
            if found[uid] != expected.digests.get(uid)
            for subject in each
        ]
        return [*subjects[~is_same].tolist(), *bent]

    def read(self, time: float, subjects: Ints) -> Reading:
        """Read sorted `subjects` (m,) at any time."""
        if self.is_elsewhere[subjects].all():
            return self.read_elsewhere(time, subjects)
        scene = scene_by_uid(self._uid)
        go_to(scene, time)
        return self._reader.read(scene, time, subjects)

    def read_elsewhere(self, time: float, subjects: Ints, is_in_turn: bool = False) -> Reading:
        """Read sorted `subjects` (m,) from their curves, and in the private scene, without the user's scene.

        All subjects are read frame after frame, in turn, or some at any time.
        """
        assert self.curves is not None
        count, follows = len(subjects), self.curves.is_known[subjects]
        on_curves = subjects[follows]
        if len(on_curves):
            rows = self.curves.rows[on_curves]
            is_shown = self.curves.visibility.are_shown(rows, time)
            if not is_in_turn:
                matrices = self.curves.matrices(np.full(len(on_curves), time), on_curves)
            else:
                if time not in self._ahead:
                    number = max(_FRAMES, _MATRICES // len(on_curves))
                    # A scan of two frames samples their middle too.
                    begin = int(np.searchsorted(self.times, time, side="right"))
                    times = np.append(time, self.times[begin : begin + number - 1])
                    world = self.curves.transforms.world_matrices(rounded_times(times))
                    self._ahead = dict(zip(times.tolist(), world, strict=True))
                matrices = self._ahead[time][rows].astype(np.float64)
            if len(on_curves) == count:
                return Reading(time, is_shown, matrices, {}, {}, [])
        reading = Reading(time, np.zeros(count, dtype=bool), np.zeros((count, 4, 4)), {}, {}, [])
        if len(on_curves):
            reading.present[follows], reading.matrices[follows] = is_shown, matrices
        assert self._private is not None
        private, uids, depsgraph = self._private, self._reader.uids[subjects], self._private.evaluate(time)
        alone = np.flatnonzero(~follows)
        reading.present[alone], reading.matrices[alone] = _read_objects(depsgraph, uids[alone])
        if self._reader.may_deform[subjects[alone]].any():
            self._reader.read_deforming(
                subjects,
                alone,
                reading,
                lambda row: private.original(int(uids[row])).evaluated_get(depsgraph),
            )
        return reading
