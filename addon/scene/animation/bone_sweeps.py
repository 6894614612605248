"""Points around the vertices of bones at all frames, in the spaces of the bones."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import bpy
import numpy as np

from ...core import Progress
from ...core.envelope.swept_points import points_swept
from ...core.messages import message, template
from ...core.numeric.arrays import Floats
from ...formats.document.model import InputWarning
from ..blender.frames import advance_to, preserve_frame, sample_times, scene_by_uid
from ..blender.instances import InstanceKey
from ..blender.mesh_data import Geometry
from ..blender.names import full_name_of
from ..blender.object_settings import object_fit_settings, weight_of_bones
from ..blender.parts.bones import LEAST_SCALE
from ..blender.private_scene import PrivateScene, without_private_scenes
from ..blender.simulation import Simulations
from ..poses.private_poses import reasons_by_object
from ..settings import FitSettings
from ..subjects.geometry import NO_TRIANGLES, SubjectGeometry, in_bone_space
from ..subjects.reader import SubjectReader
from ..subjects.subject import Subject
from .unkeyed_values import preserve_unkeyed_values

BoneKey: TypeAlias = tuple[InstanceKey, str]
"""Key of the object or instance, and name of the bone."""


class BoneSweeps(NamedTuple):
    """Points around the vertices of bones at all frames.

    points : mapping of BoneKey to (k, 3) float64. In the space of the bone; of vertices without a bone, in
        that of their object.
    collapsed : mapping of str to (float, float). Names of subjects, each with the first and the last frame at
        which its bone has a scale of nearly 0, so that the points do not hold its vertices there.
    """

    points: Mapping[BoneKey, Floats]
    collapsed: Mapping[str, tuple[float, float]] = {}

    def warnings(self) -> list[InputWarning]:
        """Return a warning for each bone that has a scale of nearly 0 at some frames."""
        return [
            InputWarning("collapsedBone", name, message(_COLLAPSED, first=first, last=last))
            for name, (first, last) in self.collapsed.items()
        ]

    def holds(self, subject: Subject) -> bool:
        """Return whether there are points of a subject."""
        return subject.bone is not None and (subject.key, subject.bone) in self.points

    def swept(self, piece: SubjectGeometry, subject: Subject) -> SubjectGeometry:
        """Replace the vertices of a bone at one frame by the points around those at all frames."""
        if not self.holds(subject):
            return piece
        assert subject.bone is not None, "holds says so"
        points: Any = self.points[subject.key, subject.bone]
        matrix = piece.geometry.matrix if piece.frame is None else piece.frame
        return piece._replace(geometry=Geometry(points, matrix), triangles=NO_TRIANGLES)

    def sweep_all(
        self, pieces: Iterator[SubjectGeometry], subjects: Sequence[Subject]
    ) -> Iterator[SubjectGeometry]:
        """Replace the vertices of all bones that have points."""
        for piece in pieces:
            yield self.swept(piece, subjects[piece.subject])


NO_SWEEPS = BoneSweeps({})

_COLLAPSED = template("has a scale of nearly 0 between frames {first:g} and {last:g}: its bounds omit these")


def sweep_bones(
    scene: bpy.types.Scene,
    subjects: Sequence[Subject],
    fit: FitSettings,
    span: tuple[float, float, float],
) -> Generator[Progress, None, BoneSweeps]:
    """Find the points around the vertices of bones at all frames, for the objects whose settings ask for it.

    Vertices are read once within each step too, and more often where they do not move linearly. Objects that
    are the same without the rest of the scene are evaluated alone. For the others, the scene is played. It
    returns to its frame, and to values of animated properties that have no key. Scenes with simulations that
    concern these objects are evaluated at the steps alone. Frames at which a bone is not visible, or has a
    scale of nearly zero, are passed over: vertices that other bones move too are far away in its space.

    scene : The active scene. It may change at a yield.
    subjects : Visible subjects, bones or not.
    fit : Settings of objects that have none of their own.
    span : (float, float, float). First frame, last frame and step.
    Yields progress : After each sample.
    Raises SceneError: for an invalid frame range.
    """
    if not may_sweep(fit):
        return NO_SWEEPS
    times = sample_times(*span)
    settings = {full_name_of(item): object_fit_settings(item, fit) for item in bpy.data.objects}
    swept = [
        subject
        for subject in subjects
        if subject.bone is not None and settings.get(subject.key[1], fit).bone_frames == "all"
    ]
    if not swept:
        return NO_SWEEPS
    return (yield from _sweep(scene, swept, fit, times))


@without_private_scenes
def _sweep(
    scene: bpy.types.Scene, swept: Sequence[Subject], fit: FitSettings, times: Sequence[float]
) -> Generator[Progress, None, BoneSweeps]:
    with preserve_unkeyed_values(), preserve_frame(scene):
        motion = BoneMotion(scene, swept, fit)
        yield from motion.choose_source(times)
        points = yield from points_swept(motion.sample, times, len(swept), motion.is_refinable)
    found = zip(swept, points, strict=True)
    collapsed = {swept[index].name: (min(at), max(at)) for index, at in sorted(motion.collapsed.items())}
    return BoneSweeps({(s.key, s.bone or ""): each for s, each in found if len(each)}, collapsed)


def may_sweep(fit: FitSettings) -> bool:
    """Return whether there may be an object whose bones are to be swept."""
    return fit.bone_frames == "all" or any(
        weight_of_bones(item) is not None and object_fit_settings(item, fit).bone_frames == "all"
        for item in bpy.data.objects
    )


class BoneMotion:
    """Vertices of bones over time, in the spaces of the bones.

    is_refinable : Whether there is no simulation that the vertices depend on.
    collapsed : Times at which the bone of a subject had a scale of nearly 0, by its index.
    alone : Subjects that are read from a private scene, by their indices. The scene is played for the others.
    """

    def __init__(self, scene: bpy.types.Scene, subjects: Sequence[Subject], fit: FitSettings) -> None:
        """Read all subjects from the user's scene."""
        self._uid, self._subjects, self._fit = scene.session_uid, subjects, fit
        self._simulations = Simulations.of(scene)
        names = {name for subject in subjects for name in subject.key[:2]}
        self._uids = {
            full_name_of(item): item.session_uid for item in bpy.data.objects if full_name_of(item) in names
        }
        simulated = set(self._uids.values()) & self._simulations.uids
        self.is_refinable = self._simulations.first_frame is None and not simulated
        self.collapsed: dict[int, list[float]] = {}
        self.alone: tuple[int, ...] = ()
        self._private: PrivateScene | None = None
        self._last: float | None = None

    def choose_source(self, times: Sequence[float]) -> Generator[Progress, None, None]:
        """Find the subjects that are the same, to the bit, without the rest of the scene at a few times."""
        candidates = [index for index, subject in enumerate(self._subjects) if not subject.key[2]]
        if not (candidates and self.is_refinable):
            return
        scene = scene_by_uid(self._uid)
        private = PrivateScene(scene, {self._uid_of(index) for index in candidates})
        blocks = [block.original for block in private.evaluate(times[0]).ids]
        reasons = reasons_by_object(scene, blocks)
        same = [index for index in candidates if self._uid_of(index) not in reasons]
        for time in sorted({times[0], times[len(times) // 2], times[-1]}):
            yield Progress(0, len(times), time)
            if not same:
                break
            shown = self._read(self._evaluate(time), time, same)
            found = self._read(private.evaluate(time), time, same)
            same = [index for index in same if _is_same(shown.get(index), found.get(index))]
        self._private, self.alone = private, tuple(same)
        private.replace({self._uid_of(index) for index in same})
        self._last = None

    def sample(self, time: float) -> dict[int, Floats]:
        """Vertices (n, 3) of the bones that are visible at a time."""
        found: dict[int, Floats] = {}
        if self.alone:
            assert self._private is not None, "choose_source sets both"
            found = self._read(self._private.evaluate(time), time, self.alone)
        if len(self.alone) < len(self._subjects):
            rest = sorted(set(range(len(self._subjects))) - set(self.alone))
            found |= self._read(self._evaluate(time), time, rest)
        return found

    def _uid_of(self, index: int) -> int:
        return self._uids.get(self._subjects[index].key[0], -1)

    def _evaluate(self, time: float) -> bpy.types.Depsgraph:
        """Evaluate the user's scene."""
        advance_to(scene_by_uid(self._uid), time, self._simulations, self._last)
        self._last = time
        return bpy.context.evaluated_depsgraph_get()

    def _read(self, depsgraph: bpy.types.Depsgraph, time: float, indices: Sequence[int]) -> dict[int, Floats]:
        """Vertices (n, 3) of those of some subjects that are visible, by their indices."""
        found: dict[int, Floats] = {}
        reader = SubjectReader([self._subjects[index] for index in indices], self._fit)
        for piece in reader.singles(depsgraph):
            if piece.frame is not None:
                if not piece.bone_scale >= LEAST_SCALE:
                    self.collapsed.setdefault(indices[piece.subject], []).append(time)
                    continue
                piece = in_bone_space(piece)
            points: Floats = piece.geometry.points.astype(np.float64)
            if len(points) and np.isfinite(points).all():
                found[indices[piece.subject]] = points
        return found


def _is_same(expected: Floats | None, found: Floats | None) -> bool:
    if expected is None or found is None:
        return expected is found
    return np.array_equal(expected, found)
