"""Frames: those to sample, those that Blender has, and evaluating the scene at one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from ..errors import SceneError
from .simulation import Simulations

_LAST_FRAME = 1_048_574

_MIN_STEP = 0.001
"""Smallest step in frames. Blender stores times in single precision, so finer steps would coincide."""


def sample_times(start: float, end: float, step: float) -> list[float]:
    """Make sample times: every `step` frames from `start`, and `end` itself.

    Parameters
    ----------
    start, end, step : float
        Frames, which may be fractional.

    Returns
    -------
    times : list of float
        Increasing frames, at least one.

    Raises
    ------
    SceneError
        If the step is too small, the range is empty, or Blender does not have one of its frames.
    """
    if not _MIN_STEP <= step < math.inf:
        raise SceneError(f"frames {start:g}:{end:g}:{step:g}: the step must be {_MIN_STEP} or more")
    if start > end:
        raise SceneError(f"frames {start:g}:{end:g}: the first frame is after the last")
    for frame in (start, end):
        require_frame(frame)
    # Rounded down with a tolerance, because 0.3 / 0.1 is below 3 but means 3 steps.
    steps = math.floor((end - start) / step + 1e-6)
    times = [float(start + index * step) for index in range(steps + 1)]
    if end - times[-1] < 1e-6 * step:
        times.pop()
    return [*times, float(end)]


def require_frame(frame: float) -> None:
    """Raise SceneError for a frame beyond those of Blender."""
    if not abs(frame) <= _LAST_FRAME:
        raise SceneError(f"frame {frame:.15g}: Blender's frames go from {-_LAST_FRAME} to {_LAST_FRAME}")


def scene_by_uid(uid: int) -> bpy.types.Scene:
    """Return the scene with a session_uid. Raises SceneError if it was removed."""
    for scene in bpy.data.scenes:
        if scene.session_uid == uid:
            return scene
    raise SceneError("the scene was removed while it was being looked at")


def playhead(scene: bpy.types.Scene) -> float:
    """Return the current frame of a scene on the timeline, with its sub-frame, as `go_to` accepts it.

    Blender's `frame_current_final` is a frame of the animation, which time remapping may stretch.
    """
    return scene.frame_current + scene.frame_subframe


def go_to(scene: bpy.types.Scene, frame: float) -> None:
    """Evaluate a scene at a frame that may be fractional.

    Like moving the playhead, this discards changes to animated values that were not keyed.
    """
    whole = math.floor(frame)
    scene.frame_set(whole, subframe=frame - whole)


def advance_to(scene: bpy.types.Scene, time: float, simulations: Simulations, last: float | None) -> None:
    """Evaluate a scene at a frame that may be fractional, and play simulations that are not baked up to it.

    Such simulations are played frame by frame, from their start or from the frame after `last`.

    Parameters
    ----------
    scene : bpy.types.Scene
    time : float
        Frame, not before `last`.
    simulations : Simulations
    last : float or None
        Frame that the scene was advanced to before; None if there was none.
    """
    if simulations.first_frame is not None:
        begin = simulations.first_frame if last is None else math.floor(last) + 1
        for frame in range(begin, math.ceil(time)):
            scene.frame_set(frame)
    go_to(scene, time)


@contextmanager
def preserve_frame(scene: bpy.types.Scene) -> Iterator[None]:
    """Return a scene to its frame and sub-frame at the end of the block, also after an exception."""
    uid, frame = scene.session_uid, playhead(scene)
    try:
        yield
    finally:
        for candidate in bpy.data.scenes:
            if candidate.session_uid == uid and playhead(candidate) != frame:
                go_to(candidate, frame)
