"""The scene's animation as a Motion, and the promise that the playhead ends up where it was."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import bpy
import numpy as np

from ..core import Aabb, CollisionBoundsError, Sample, Sphere
from ..formats import Skipped
from .errors import SceneError
from .extraction import geometry_of
from .fitting import FitSettings, ShapeName, SteadyFit
from .subjects import Selection, Subject, accepted
from .walk import Key, visible


def scene_by_uid(uid: int) -> bpy.types.Scene:
    """The scene with that session_uid. Raises SceneError when it is gone."""
    for scene in bpy.data.scenes:
        if scene.session_uid == uid:
            return scene
    raise SceneError("the scene was removed while it was being looked at")


def go_to(scene: bpy.types.Scene, frame: float) -> None:
    """Evaluate `scene` at a frame that may be fractional.

    Like moving the playhead, this takes back changes to animated values that were not keyed.
    """
    whole = math.floor(frame)
    scene.frame_set(whole, subframe=frame - whole)


@contextmanager
def frame_kept(scene: bpy.types.Scene) -> Iterator[None]:
    """Whatever happens inside, also an exception, `scene` returns to its frame and sub-frame."""
    uid, frame, subframe = scene.session_uid, scene.frame_current, scene.frame_subframe
    try:
        yield
    finally:
        for candidate in bpy.data.scenes:
            if candidate.session_uid == uid and _stands_at(candidate) != (frame, subframe):
                candidate.frame_set(frame, subframe=subframe)


def _stands_at(scene: bpy.types.Scene) -> tuple[int, float]:
    return scene.frame_current, scene.frame_subframe


class Playback:
    """The motion of `subjects`: evaluates the scene at a time and fits one shape to each subject.

    Implements `core.Motion`. A subject that is gone, or has no usable geometry, is not present in that
    sample; `left_out` collects why.
    """

    def __init__(
        self,
        scene: bpy.types.Scene,
        subjects: Sequence[Subject],
        selection: Selection,
        shape: ShapeName,
        settings: FitSettings,
    ) -> None:
        self._scene_uid = scene.session_uid
        self._subjects = subjects
        self._index = {subject.key: index for index, subject in enumerate(subjects)}
        self._shape = shape
        self._modifiers = settings.modifiers
        self._fit = SteadyFit(shape, settings)
        self._problems: dict[str, str] = {}
        # What is there at the first frame and is no subject is left out for a reason that was given.
        self._is_accepted = accepted(scene, selection)
        self._known = {item.key for item in visible(bpy.context.evaluated_depsgraph_get())}

    @property
    def left_out(self) -> list[Skipped]:
        """One record a subject that was left out of a sample: the first time, and why."""
        return [Skipped(name, reason) for name, reason in self._problems.items()]

    def sample(self, time: float) -> Sample:
        """The shapes of all subjects at `time`, a frame that may be fractional."""
        scene = scene_by_uid(self._scene_uid)
        go_to(scene, time)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        count = len(self._subjects)
        numbers = np.zeros((count, 4 if self._shape == "sphere" else 6))
        present = np.zeros(count, dtype=bool)
        for item in visible(depsgraph):
            index = self._index.get(item.key)
            if index is None:
                self._meet(item.key, time)
                continue
            try:
                shape = self._fit.fitted(item.key, geometry_of(item, self._modifiers))
            except CollisionBoundsError as error:
                self._problems.setdefault(self._subjects[index].name, f"left out at frame {time:g}: {error}")
                continue
            if isinstance(shape, Sphere):
                numbers[index, :3], numbers[index, 3] = shape.center, shape.radius
            else:
                numbers[index, :3], numbers[index, 3:] = shape.min, shape.max
            present[index] = True
        for index in np.flatnonzero(~present):
            self._problems.setdefault(
                self._subjects[index].name, f"not there at frame {time:g}: no contacts looked for while away"
            )
        if self._shape == "sphere":
            return Sample(Sphere(numbers[:, :3], numbers[:, 3]), present)
        return Sample(Aabb(numbers[:, :3], numbers[:, 3:]), present)

    def _meet(self, key: Key, time: float) -> None:
        """Take note of something that comes in later: it has no bounds to begin with, and is not checked."""
        if key not in self._known:
            self._known.add(key)
            if self._is_accepted(key):
                owner, name, indices = key
                reason = f"not there at the first frame, comes in at frame {time:g}: not checked"
                self._problems.setdefault(f"{owner}/{name}" if indices else name, reason)
