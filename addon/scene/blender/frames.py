"""Frames of a scene: times to sample, evaluating a scene at one, and reading its objects there."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.messages import message
from ...core.numeric.arrays import Bools, Ints
from ..errors import SceneError
from .animated import Simulations
from .instances import name_of
from .parts.known_rows import HANDLERS

_Yield = TypeVar("_Yield")
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

LAST_FRAME = 1_048_574

_EVALUATIONS_OF_LOST_DRIVERS = 5
"""After so many, one in 100,000 values is still lost at worst."""

_MIN_STEP = 0.001
"""Smallest step in frames. Blender stores times in single precision, so finer steps would coincide."""

_EXTENSION = __name__.removesuffix("scene.blender.frames")
_HANDLERS = ("frame_change_pre", "frame_change_post", "depsgraph_update_pre", "depsgraph_update_post")

homes: dict[int, float] = {}
"""Frame that a scene returns to at the end of a step, by the session_uid of the scene."""


def sample_times(start: float, end: float, step: float) -> list[float]:
    """Make sample times: every `step` frames from `start`, and `end` itself.

    start, end, step : Frames, which may be fractional.
    Returns times : Increasing frames, at least one.
    Raises SceneError: if the step is too small, the range is empty, or Blender does not have one of its
        frames.
    """
    if not _MIN_STEP <= step < math.inf:
        text = "frames {start:g}:{end:g}:{step:g}: the step must be {least:g} or more"
        raise SceneError(message(text, start=start, end=end, step=step, least=_MIN_STEP))
    if start > end:
        text = "frames {start:g}:{end:g}: the first frame is after the last"
        raise SceneError(message(text, start=start, end=end))
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
    if not abs(frame) <= LAST_FRAME:
        text = "frame {frame:.15g}: Blender's frames go from {first} to {last}"
        raise SceneError(message(text, frame=frame, first=-LAST_FRAME, last=LAST_FRAME))


def require_active_scene(scene: bpy.types.Scene) -> None:
    """Raise SceneError unless `scene` is the active one: Blender evaluates only that scene's animation."""
    if scene != bpy.context.scene:
        text = "scene {name!r}: is not the active scene; make it active first"
        raise SceneError(message(text, name=name_of(scene)))


def scene_by_uid(uid: int) -> bpy.types.Scene:
    """Return the scene with a session_uid. Raises SceneError if it was removed."""
    for scene in bpy.data.scenes:
        if scene.session_uid == uid:
            return scene
    raise SceneError(message("the scene was deleted during the computation"))


def is_outside_scene(scene: bpy.types.Scene, start: float, end: float) -> bool:
    """Return whether frames have none in common with the frame range of a scene."""
    return start > scene.frame_end or end < scene.frame_start


def playhead(scene: bpy.types.Scene) -> float:
    """Return the current frame of a scene on the timeline, with its sub-frame, as `go_to` accepts it.

    Blender's `frame_current_final` is a frame of the animation, which time remapping may stretch.
    """
    return scene.frame_current + scene.frame_subframe


def go_to(scene: bpy.types.Scene, frame: float, within_step: bool = False) -> None:
    """Evaluate a scene at a frame that may be fractional.

    Like moving the playhead, this discards changes to animated values that were not keyed.

    within_step : Whether no window need show the frame if the scene returns between steps. `frame_set` would
        make Blender draw the whole window after the step, and up to 31 times more to smooth the picture.
        Frame handlers of others have to be called, because they may move objects.
    """
    if within_step and scene.session_uid in homes and not has_foreign_handlers():
        with silenced_handlers(keep=HANDLERS):
            go_to_without_redraw(scene, frame)
        return
    whole = math.floor(frame)
    may_lose = len(bpy.data.armatures) and may_lose_drivers()
    for _ in range(_EVALUATIONS_OF_LOST_DRIVERS if may_lose else 1):
        scene.frame_set(whole, subframe=frame - whole)


def has_foreign_handlers() -> bool:
    """Return whether Blender calls handlers of others at each change of the frame."""
    handlers = [*bpy.app.handlers.frame_change_pre, *bpy.app.handlers.frame_change_post]
    return not all(str(getattr(each, "__module__", "")).startswith(_EXTENSION) for each in handlers)


def may_lose_drivers() -> bool:
    """Return whether Blender may lose values of drivers, so that one evaluation is not enough.

    Blender 4.5 to 5.2 evaluate drivers of bones and those of the armature object itself in parallel, and lose
    up to one in ten values of bones. 4.2 does not, and the versions between them were not tried.
    """
    for item in bpy.data.objects if bpy.app.version >= (4, 3) else ():
        if item.type == "ARMATURE" and item.animation_data is not None:
            is_of_bone = {curve.data_path.startswith("pose.") for curve in item.animation_data.drivers}
            if len(is_of_bone) == 2:
                return True
    return False


def advance_to(scene: bpy.types.Scene, time: float, simulations: Simulations, last: float | None) -> None:
    """Evaluate a scene at a frame that may be fractional, and play simulations that are not baked up to it.

    Such simulations are played frame by frame, from their start or from the frame after `last`. At a
    sub-frame Blender interpolates between the frames around it, and would simulate a whole step from the one
    before if it did not know the one after, so that is played first.

    time : Frame, not before `last`.
    last : Frame that the scene was advanced to before; None if there was none.
    """
    if simulations.first_frame is not None:
        first = simulations.first_frame
        begin = first if last is None else math.floor(last) + 1
        if last is None and time != math.floor(time):
            simulations.restart(scene)
        elif last is not None and first < last < first + 1:
            # Blender begins again at sub-frames of the start, and would store later ones as whole frames.
            simulations.restart(scene)
            begin = first
        end = math.ceil(time) if time == math.floor(time) else math.ceil(time) + 1
        for frame in range(begin, end):
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


@dataclass
class ObjectReader:
    """Reads all objects of a scene at once, in the order of the scene, and finds subjects among them.

    wanted : (n,) int. session_uids of the objects that the subjects are, or that instance them.
    has_changed : Whether objects came or went since the previous reading, or others are shown than at the
        first one.
    """

    wanted: Ints
    has_changed: bool = False
    _uids: bytes = b""
    _first_hidden: bytes = b""

    def read(self, scene: bpy.types.Scene, subjects: Ints) -> tuple[Ints, Bools, NDArray[np.float64]]:
        """Read the objects of a scene, and return those of some subjects.

        subjects : (m,) int. Indices of the subjects to return.
        Returns index : (m,) int. Index of each object in `scene.objects`; -1 for a missing one.
        Returns is_shown : (m,) bool. Whether it exists, and is not hidden in all viewports.
        Returns matrices : (m, 4, 4) float64. World matrices; zeros for a missing object.
        """
        # The order is that of `scene.objects`, which Blender would build again for each access.
        items: Any = scene.collection.all_objects
        count = len(items)
        uids, hidden = np.empty(count, dtype=np.int32), np.empty(count, dtype=bool)
        matrices = np.empty((count + 1, 4, 4), dtype=np.float32)
        matrices[count] = 0
        items.foreach_get("session_uid", uids)
        items.foreach_get("hide_viewport", hidden)
        items.foreach_get("matrix_world", matrices[:count].reshape(-1))
        # Bytes, because small arrays take ten times as long to compare.
        now, now_hidden = uids.tobytes(), hidden.tobytes()
        if self._uids:
            self.has_changed = (now, now_hidden) != (self._uids, self._first_hidden)
        else:
            self._first_hidden = now_hidden
        self._uids = now
        wanted, order = self.wanted[subjects], np.append(np.argsort(uids, kind="stable"), -1)
        index = order[np.searchsorted(uids[order[:-1]], wanted)]
        index = np.where(np.append(uids, -1)[index] == wanted, index, -1)
        # Blender stores matrices by columns.
        placed = matrices[index].transpose(0, 2, 1).astype(np.float64)
        return index, ~np.append(hidden, True)[index], placed


# ---- Steps of jobs, and scenes that exist within them


@contextmanager
def returning_between_steps(scene: bpy.types.Scene, frame: float) -> Iterator[None]:
    """Return a scene to a frame at the end of each step, because a window would show the frame it is at.

    Within a step it may go on to other frames.
    """
    uid = scene.session_uid
    homes[uid] = frame
    try:
        yield
    finally:
        del homes[uid]


def scenes_away() -> list[bpy.types.Scene]:
    """Return the scenes that have left the frame that they return to at the end of this step."""
    scenes = [scene for scene in bpy.data.scenes if scene.session_uid in homes] if homes else []
    return [scene for scene in scenes if playhead(scene) != homes[scene.session_uid]]


def go_to_without_redraw(scene: bpy.types.Scene, frame: float) -> None:
    """Evaluate a scene at a frame as `go_to` does, but let Blender draw no window for it.

    Frame handlers are not called, but those of dependency graphs. Where this does not lead to the same, it is
    `go_to`.
    """
    scenes = bpy.data.scenes
    frames = np.empty(len(scenes), dtype=np.int32)
    scenes.foreach_get("frame_current", frames)
    graphs = [layer.depsgraph for layer in scene.view_layers]
    # Unless a preference of the user allows them, negative frames would become 0.
    may_lose = len(bpy.data.armatures) and may_lose_drivers()
    if may_lose or not 0 <= frame <= LAST_FRAME or (frames < 0).any() or None in graphs:
        go_to(scene, frame)
        return
    subframes = np.empty(len(scenes), dtype=np.float32)
    scenes.foreach_get("frame_subframe", subframes)
    position = list(scenes).index(scene)
    # `frame_set` adds in single precision, too.
    whole = math.floor(frame)
    single = np.float32(whole) + np.float32(frame - whole)
    wholes = [int(single)]
    if frames[position] == wholes[0] and subframes[position] == single - wholes[0]:
        # Blender evaluates animation only where the frame changes.
        wholes.insert(0, abs(wholes[0] - 1))
    for each in wholes:
        frames[position], subframes[position] = each, single - wholes[-1]
        # `foreach_set` changes values without an update, which would draw all windows.
        scenes.foreach_set("frame_current", frames)
        scenes.foreach_set("frame_subframe", subframes)
        for graph in graphs:
            # `update` of the view layer would write what is animated in this scene into its objects.
            graph.update()


@contextmanager
def silenced_handlers(keep: Container[object] = ()) -> Iterator[None]:
    """Evaluate scenes without a call to anybody's handlers, except those to keep."""
    lists: list[list[Any]] = [getattr(bpy.app.handlers, name) for name in _HANDLERS]
    before = [list(handlers) for handlers in lists]
    for handlers in lists:
        handlers[:] = [function for function in handlers if function in keep]
    try:
        yield
    finally:
        for handlers, functions in zip(lists, before, strict=True):
            handlers[:] = functions
