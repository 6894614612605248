"""Meshes without vertices at the first frame of a job that have some later, and so are not in its result."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace

from ....core import Progress
from ....core.messages import message
from ....core.scan.scan import never
from ....formats import InputWarning, Skipped
from ...blender.frames import scene_by_uid
from ...blender.instances import MESH_LIKE
from ...blender.mesh_data import vertex_positions
from ...blender.names import name_of
from ...blender.object_settings import object_fit_settings
from ...blender.private_scene import PrivateScene
from ...blender.simulation import may_deform
from ...settings import FitSettings, Modifiers
from ..fit_batches import NO_VERTICES
from ..result import Result


def with_late_meshes(
    scene_uid: int,
    result: Result,
    times: Sequence[float],
    fit: FitSettings,
    stops: Callable[[], bool] = never,
) -> Generator[Progress, None, Result]:
    """Give the objects that a result skips without vertices the frame at which they get some, and warnings.

    They are evaluated by themselves: that takes no time where they do not depend on the frame.

    scene_uid : The scene's session_uid.
    result : Of the first of `times`.
    times : Increasing frames of the job.
    fit : For objects without settings of their own.
    stops : Called after each evaluation. If it returns True, no later frame is evaluated.
    progress : After each evaluation.
    """
    empty = {entry.name for entry in result.skipped if entry.reason == NO_VERTICES}
    modifiers: dict[int, Modifiers] = {}
    names: dict[int, str] = {}
    for item in scene_by_uid(scene_uid).objects if empty else ():
        if item.type in MESH_LIKE and name_of(item) in empty:
            source = object_fit_settings(item, fit).modifiers
            if may_deform(item, source):
                names[item.session_uid], modifiers[item.session_uid] = name_of(item), source
    late: dict[str, float] = {}
    scene = PrivateScene(scene_by_uid(scene_uid), names)
    for number, time in enumerate(times[1:], 1):
        if len(late) == len(names) or stops():
            break
        for item in scene.evaluate(time).objects:
            uid = item.original.session_uid
            if uid in names and names[uid] not in late and len(vertex_positions(item, modifiers[uid])):
                late[names[uid]] = time
        yield Progress(number, len(times), time)
    if not late:
        return result
    skipped = tuple(
        Skipped(entry.name, _reason(late[entry.name])) if entry.name in late else entry
        for entry in result.skipped
    )
    warnings = (InputWarning("lateMesh", name, _warning(time)) for name, time in sorted(late.items()))
    return replace(result, skipped=skipped, warnings=(*result.warnings, *warnings))


def _reason(time: float) -> str:
    return message("no vertices at the first frame, some at frame {frame:g}: not included", frame=time)


def _warning(time: float) -> str:
    text = "has no vertices at the first frame, and some at frame {frame:g}: frames from there on include it"
    return message(text, frame=time)
