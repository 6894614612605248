"""The source that each subject is read from: its curves, a private scene, or the user's scene."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.curves.keyframes import NEAR_KEY
from ...core.numeric.arrays import Bools, Floats, Ints
from ..blender.frames import ObjectReader, advance_to, go_to, scene_by_uid
from ..blender.mesh_data import vertex_positions
from ..blender.names import full_name_of
from ..blender.private_scene import PrivateScene, go_to_within_step
from ..blender.simulation import Simulations
from ..curves.curve_poses import CurvePoses, read_curve_poses, times_to_compare
from ..curves.transform_curves import may_show_more, read_visibility
from .frame_reader import EvaluatedSubject, FramePoses, FrameReader, Reading
from .private_poses import ExpectedPoses, PrivatePoses

_FRAMES, _MATRICES = 8, 1 << 12
"""Frames, and matrices of objects on curves, that are computed together: at least and about so many."""

_Steps = Generator[None, None, None]


class PoseSources:
    """Reads subjects at any time, each from the cheapest source that gives the same as the user's scene.

    is_played : Whether frames are read from the user's scene, which is evaluated for each of them.
    curves : Subjects that follow curves; None until `choose` has found any.
    is_elsewhere : (n,) bool. Subjects that can be read without the user's scene.
    follow_curves : Whether the poses of all subjects at all frames follow from curves.
    reasons : Why subjects are read from the user's scene, by the index of each that is.
    """

    def __init__(self, scene: bpy.types.Scene, reader: FrameReader, simulations: Simulations) -> None:
        """Read all subjects from the user's scene."""
        self._uid, self._reader, self._simulations = scene.session_uid, reader, simulations
        self._last_time: float | None = None
        self.is_played = True
        self.curves: CurvePoses | None = None
        # Times at which subjects that do not follow curves appear or disappear.
        self._sampled_switches: Floats = np.empty(0)
        # Times to come, and matrices of the subjects on curves at the next of them.
        self._times: Floats = np.empty(0)
        self._ahead: dict[float, Floats] = {}
        self._private: PrivatePoses | None = None
        self._alone: PrivateScene | None = None
        self._all = np.arange(len(reader.subjects))
        self.is_elsewhere: Bools = np.zeros(len(self._all), dtype=bool)
        self.follow_curves = False
        self.reasons: dict[int, str] = {}

    def choose(
        self, times: Sequence[float], is_selected: Callable[[str], bool], may_be_skinned: Bools | None = None
    ) -> _Steps:
        """Compare all sources at a few times, and choose; yields after each look at a scene.

        times : Increasing times that will be read, in frames.
        is_selected : Returns by its full name whether an object that is not shown yet would be a subject.
        may_be_skinned : (n,) bool. Subjects of which boxes at any time are enough, as curves of bones give
            them.
        """
        is_own = self._find_own()
        if not is_own.any():
            return
        curves, expected = yield from self._compare_curves(times, is_own, may_be_skinned)
        self.curves, self._times = curves, np.array(times)
        self._read_switches(is_own & ~curves.is_known)
        if (is_own & ~curves.is_known).any():
            yield from self._choose_private(is_own & ~curves.is_known, expected)
        for source in (self.curves, self._private):
            if source is not None:
                self.is_elsewhere |= source.is_known
        scene = scene_by_uid(self._uid)
        self.is_played = bool(
            self._reader.needs_walk
            or not self.is_elsewhere.all()
            or may_show_more(scene, self._others(is_selected))
        )
        self.follow_curves = not self.is_played and bool(curves.is_known.all())

    def _find_own(self) -> Bools:
        """Mask (n,) of objects that may be read elsewhere; all others are refused, each for its reason."""
        is_simulated, is_walked = self._reader.is_simulated(self._simulations), self._reader.is_walked
        is_own = ~(is_walked | is_simulated)
        self._refuse(is_simulated, "it is simulated")
        self._refuse(is_walked & ~is_simulated, "it is an instance, or several objects")
        for needs_scene, reason in (
            (self._simulations.first_frame is not None, "the scene has a simulation that is not baked"),
            (bool(self._reader.animated_paddings), "a padding is animated"),
        ):
            if needs_scene:
                self._refuse(is_own, reason)
                return np.zeros(len(self._all), dtype=bool)
        return is_own

    def _compare_curves(
        self, times: Sequence[float], is_own: Bools, may_be_skinned: Bools | None
    ) -> Generator[None, None, tuple[CurvePoses, list[ExpectedPoses]]]:
        """Read the curves of objects (n,), and compare them with the user's scene at a few times.

        Returns the curves, and what the scene shows at these times.
        """
        reader, span = self._reader, (times[0], times[-1])
        is_rigid = is_own & ~reader.may_deform
        skinned = None if may_be_skinned is None else may_be_skinned & is_own
        curves = yield from read_curve_poses(self._uid, reader.uids, is_rigid, span, skinned)
        expected: list[ExpectedPoses] = []
        objects, compared = ObjectReader(reader.uids), times_to_compare(list(times))
        curves.look_ahead(compared)
        for time in compared:
            scene = scene_by_uid(self._uid)
            go_to_within_step(scene, time)
            expected.append(ExpectedPoses.read(scene, time, reader, is_own, objects))
            curves.compare(*expected[-1][:3], self._vertices(curves.skins.is_skinned & expected[-1].is_shown))
            yield
        return curves, expected

    def _vertices(self, mask: Bools) -> dict[int, NDArray[np.float32]]:
        """Read the vertices of subjects (n,) in the user's scene as it is now."""
        if not mask.any():
            return {}
        objects = {item.session_uid: item for item in scene_by_uid(self._uid).objects}
        depsgraph = bpy.context.evaluated_depsgraph_get()
        return {
            subject: vertex_positions(
                objects[int(self._reader.uids[subject])].evaluated_get(depsgraph), "evaluated"
            )
            for subject in np.flatnonzero(mask).tolist()
        }

    def _read_switches(self, mask: Bools) -> None:
        """Find the times at which keys hide or show subjects (n,) that do not follow curves."""
        uids = set(self._reader.uids[mask].tolist())
        objects = [item for item in scene_by_uid(self._uid).objects if item.session_uid in uids]
        visibility = read_visibility(objects, (self._times[0].item(), self._times[-1].item()))
        switches = visibility.switches(np.arange(len(objects)))
        # Until they disappear they are sampled: what is absent at a sample stays where it was before.
        self._sampled_switches = np.concatenate([switches - 2 * float(NEAR_KEY), switches])

    def _choose_private(self, is_candidate: Bools, expected: Sequence[ExpectedPoses]) -> _Steps:
        """Compare subjects (n,) in a private scene with what the user's scene shows."""
        private = PrivatePoses(scene_by_uid(self._uid), self._reader, is_candidate)
        private.check_dependence(expected[0].time)
        yield
        for each in expected:
            if private.is_known.any():
                private.compare(each)
                yield
        self._private = private
        self.reasons |= private.reasons

    def _refuse(self, mask: Bools, reason: str) -> None:
        self.reasons |= dict.fromkeys(np.flatnonzero(mask).tolist(), reason)

    def _others(self, is_selected: Callable[[str], bool]) -> Callable[[bpy.types.Object], bool]:
        """Make a filter of objects that would be subjects but are none."""
        known = set(self._reader.uids.tolist())
        return lambda item: item.session_uid not in known and is_selected(full_name_of(item))

    def with_switches(self, times: Sequence[float]) -> list[float]:
        """Add the times to come at which keys show or hide subjects, in frames.

        Blender shows a key from a little before it on, so times that are nearer to each other are one.
        """
        if self.curves is None:
            return list(times)
        known = self.curves.switches(np.flatnonzero(self.curves.is_known))
        switches = np.union1d(known, self._sampled_switches)
        every = np.array(times)
        for switch in switches[(switches > every[0]) & (switches < every[-1])].tolist():
            position = int(np.searchsorted(every, switch))
            if every[position] - switch > NEAR_KEY and switch - every[position - 1] > NEAR_KEY:
                every = np.insert(every, position, switch)
        return [float(time) for time in every]

    def expect(self, times: Sequence[float]) -> None:
        """Say which increasing times in frames will be read in turn, so that poses are computed ahead."""
        self._times = np.array(times)

    def advance(self, time: float) -> Reading:
        """Read all subjects at a frame after the last one."""
        if not self.is_played:
            return self._read_elsewhere(time, self._all, is_in_turn=True)
        scene = scene_by_uid(self._uid)
        advance_to(scene, time, self._simulations, self._last_time)
        self._last_time = time
        return self._reader.read(scene, time, self._all)

    def read(self, time: float, subjects: Ints, is_current: bool = False) -> Reading:
        """Read sorted `subjects` (m,) at any time.

        is_current : whether to read the user's scene, which is at that time already
        """
        if not is_current and self.is_elsewhere[subjects].all():
            return self._read_elsewhere(time, subjects)
        scene = scene_by_uid(self._uid)
        if not is_current:
            go_to(scene, time)
        return self._reader.read(scene, time, subjects)

    def evaluated(self, time: float, subjects: Sequence[int]) -> Iterator[EvaluatedSubject]:
        """Evaluate subjects that can be read without the user's scene, alone, and iterate over those shown.

        They are valid until the next call.
        """
        uids = {int(self._reader.uids[subject]): subject for subject in subjects}
        if self._alone is None:
            self._alone = PrivateScene(scene_by_uid(self._uid), uids)
        self._alone.replace(uids)
        for item in self._alone.evaluate(time).objects:
            yield EvaluatedSubject(uids[item.original.session_uid], item, np.array(item.matrix_world))

    def _read_elsewhere(self, time: float, subjects: Ints, is_in_turn: bool = False) -> Reading:
        """Read sorted `subjects` (m,) from their curves, and in the private scene.

        All subjects are read frame after frame, in turn, or some at any time.
        """
        follows = self.curves.is_known[subjects] if self.curves else np.zeros(len(subjects), dtype=bool)
        on_curves: FramePoses | None = None
        if follows.any():
            matrices = self._curve_matrices(time, subjects[follows], is_in_turn)
            assert self.curves is not None
            is_shown = self.curves.are_shown(np.array([time]), subjects[follows])[0]
            on_curves = FramePoses(time, is_shown, matrices)
            if follows.all():
                return Reading(on_curves, {}, [])
        assert self._private is not None
        reading = self._private.read(time, subjects[~follows])
        if on_curves is None:
            return reading
        count = len(subjects)
        poses = FramePoses(time, np.zeros(count, dtype=bool), np.zeros((count, 4, 4)))
        for mask, part in ((follows, on_curves), (~follows, reading.poses)):
            poses.present[mask], poses.matrices[mask] = part.present, part.matrices
        return reading._replace(poses=poses)

    def _curve_matrices(self, time: float, subjects: Ints, is_in_turn: bool) -> Floats:
        """World matrices (m, 4, 4) of subjects (m,) on curves; those read in turn are computed ahead."""
        assert self.curves is not None
        if not is_in_turn:
            return self.curves.matrices(np.full(len(subjects), time), subjects)
        if time not in self._ahead:
            count = max(_FRAMES, _MATRICES // len(subjects))
            # A scan of two frames samples their middle too.
            begin = int(np.searchsorted(self._times, time, side="right"))
            times = np.append(time, self._times[begin : begin + count - 1])
            matrices = self.curves.matrices_at(times, subjects)
            self._ahead = dict(zip(times.tolist(), matrices, strict=True))
        return self._ahead[time]
