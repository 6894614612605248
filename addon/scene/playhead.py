"""Where the playhead stands, how it gets elsewhere, and the promise that it ends up where it was."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from .changes import Simulations
from .errors import SceneError


def scene_by_uid(uid: int) -> bpy.types.Scene:
    """The scene with that session_uid. Raises SceneError when it is gone."""
    for scene in bpy.data.scenes:
        if scene.session_uid == uid:
            return scene
    raise SceneError("the scene was removed while it was being looked at")


def playhead(scene: bpy.types.Scene) -> float:
    """The frame of the timeline, maybe fractional, where `scene` stands; what `go_to` takes.

    Blender's own `frame_current_final` is a frame of the animation, which time remapping may stretch.
    """
    return scene.frame_current + scene.frame_subframe


def go_to(scene: bpy.types.Scene, frame: float) -> None:
    """Evaluate `scene` at a frame that may be fractional.

    Like moving the playhead, this takes back changes to animated values that were not keyed.
    """
    whole = math.floor(frame)
    scene.frame_set(whole, subframe=frame - whole)


def arrive(scene: bpy.types.Scene, time: float, simulations: Simulations, last: float | None) -> None:
    """Evaluate `scene` at a frame that may be fractional, coming from `last`, None for anywhere.

    A simulation that is not baked is played on the way, frame by frame.
    """
    if simulations.first_frame is not None:
        begin = simulations.first_frame if last is None else math.floor(last) + 1
        for frame in range(begin, math.ceil(time)):
            scene.frame_set(frame)
    go_to(scene, time)


@contextmanager
def frame_kept(scene: bpy.types.Scene) -> Iterator[None]:
    """Whatever happens inside, also an exception, `scene` returns to its frame and sub-frame."""
    uid, frame = scene.session_uid, playhead(scene)
    try:
        yield
    finally:
        for candidate in bpy.data.scenes:
            if candidate.session_uid == uid and playhead(candidate) != frame:
                go_to(candidate, frame)
