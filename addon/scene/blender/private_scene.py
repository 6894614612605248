"""A private scene: some objects of a scene, evaluated without all the others.

It exists only while a job takes a step, because whatever is in the file may be saved, undone, or listed in a
window; between steps only where a window knows that nothing of that can happen. Nothing that the user's scene
shows changes, and no handler of others runs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import bpy
from bpy.app.handlers import persistent

from ...core.messages import message
from ..errors import SceneError
from .frames import (
    go_to,
    go_to_without_redraw,
    homes,
    playhead,
    scene_by_uid,
    scenes_away,
    silenced_handlers,
)
from .parts.known_rows import HANDLERS

_Yield = TypeVar("_Yield")
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

_NAME = ".Collision Bounds"
_MARK = "collision_bounds_private"
"""Custom property of private scenes."""
_TIME_SETTINGS = ("fps", "fps_base", "frame_map_old", "frame_map_new")

_open_scenes: list[PrivateScene] = []
_blocks = 0
"""Number of `keeping_open` blocks that run."""
_is_update_due = False
"""True after a scene was removed, until the others are updated."""


@contextmanager
def keeping_open(afterwards: bool = False) -> Iterator[None]:
    """Let private scenes outlive the steps of a job until the end of this block.

    For callers that run several steps in which nobody else has access to the file.

    afterwards : whether to keep them after the block too, for the next one. The caller then has to call
        `end_step` after the last block, and before the file is shown, saved or stored for an undo
    """
    global _blocks
    _blocks += 1
    try:
        yield
    finally:
        _blocks -= 1
        end_step(keeps_scenes=afterwards)


def end_step(keeps_scenes: bool = False) -> None:
    """Remove all private scenes, unless a `keeping_open` block runs. Call it before a job yields.

    keeps_scenes : whether to leave them until the next step
    """
    global _is_update_due
    if _blocks:
        return
    if keeps_scenes:
        for private in _open_scenes:
            private.objects = None
    elif _open_scenes:
        close_scenes(_open_scenes)
    for scene in scenes_away() if homes else ():
        go_to(scene, homes[scene.session_uid], within_step=True)
    if not _is_update_due:
        return
    _is_update_due = False
    # Otherwise Blender would do it later, and report to handlers that the scenes were updated.
    with silenced_handlers(keep=HANDLERS):
        windows = bpy.context.window_manager.windows if bpy.context.window_manager else ()
        for layer in {bpy.context.view_layer, *(window.view_layer for window in windows)}:
            if layer is not None:
                layer.update()


def close_scenes(scenes: Iterable[PrivateScene]) -> None:
    """Remove those of some private scenes that exist; `end_step` updates the others."""
    global _is_update_due
    uids = {scene.uid for scene in tuple(scenes) if scene.uid is not None}
    if not uids:
        return
    _is_update_due = True
    for private in tuple(_open_scenes):
        if private.uid in uids:
            private.uid = private.objects = None
            _open_scenes.remove(private)
    # All at once, because Blender goes through the whole file for each call.
    bpy.data.batch_remove([scene for scene in bpy.data.scenes if scene.session_uid in uids])


@contextmanager
def temporary_scene() -> Iterator[bpy.types.Scene]:
    """Create an empty scene with a dependency graph until the end of this block, which is within a step."""
    global _is_update_due
    scene = _new_scene()
    try:
        yield scene
    finally:
        _is_update_due = True
        bpy.data.scenes.remove(scene)


def _new_scene() -> bpy.types.Scene:
    """Create an empty scene, which is removed when the file is opened if it was not before.

    It is evaluated, so it has a dependency graph.
    """
    scene = bpy.data.scenes.new(_NAME)
    scene[_MARK] = True
    with silenced_handlers():
        go_to(scene, playhead(scene))
    return scene


def without_private_scenes(
    job: Callable[_Arguments, Generator[_Yield, None, _Result]],
) -> Callable[_Arguments, Generator[_Yield, None, _Result]]:
    """Make a job one that removes private scenes before it yields."""

    @wraps(job)
    def run(*args: _Arguments.args, **options: _Arguments.kwargs) -> Generator[_Yield, None, _Result]:
        steps = job(*args, **options)
        try:
            while True:
                value = next(steps)
                end_step()
                yield value
        except StopIteration as stop:
            result: _Result = stop.value
            return result
        finally:
            steps.close()
            end_step()

    return run


class PrivateScene:
    """Evaluates some objects of a scene, and what they depend on.

    Its settings are those of the scene that evaluations depend on. Objects have no simulation there, no other
    objects around them, and are visible unless a property of their own hides them.

    uid : The session_uid of the scene; None while it does not exist.
    objects : Those that were evaluated in this step, as they are in the file, by their session_uids; None
        after it, because they may be removed.
    """

    def __init__(self, scene: bpy.types.Scene, uids: Collection[int]) -> None:
        """Choose objects of a scene by their session_uids; nothing is created yet."""
        self._source_uid, self._uids = scene.session_uid, frozenset(uids)
        self.uid: int | None = None
        self.objects: dict[int, bpy.types.Object] | None = None

    def evaluate(self, time: float) -> bpy.types.Depsgraph:
        """Evaluate the objects at a frame that may be fractional, and return their dependency graph.

        It is valid until the next step. It has no objects that were deleted.
        """
        if self.uid is None:
            self._open()
        assert self.uid is not None
        scene = scene_by_uid(self.uid)
        with silenced_handlers():
            go_to_without_redraw(scene, time)
        depsgraph = scene.view_layers[0].depsgraph
        if depsgraph is None:
            raise SceneError(message("Blender could not evaluate the objects by themselves"))
        return depsgraph

    def replace(self, uids: Collection[int]) -> None:
        if self._uids != frozenset(uids):
            close_scenes([self])
            self._uids = frozenset(uids)

    def original(self, uid: int) -> bpy.types.Object:
        """Return an object that was evaluated in this step, as it is in the file."""
        return self._find_objects()[uid]

    def _find_objects(self) -> dict[int, bpy.types.Object]:
        if self.objects is None:
            every = {item.session_uid: item for item in bpy.data.objects}
            self.objects = {uid: every[uid] for uid in self._uids if uid in every}
        return self.objects

    def _open(self) -> None:
        """Create the scene, which must not exist. Blender then builds all dependency graphs again."""
        source = scene_by_uid(self._source_uid)
        private = _new_scene()
        self.uid = private.session_uid
        _open_scenes.append(self)
        names = [setting.identifier for setting in source.render.bl_rna.properties]
        for name in (*_TIME_SETTINGS, *(name for name in names if "simplify" in name)):
            value = getattr(source.render, name)
            if getattr(private.render, name) != value:
                setattr(private.render, name, value)
        for item in self._find_objects().values():
            private.collection.objects.link(item)


# ---- Blender's events


@persistent  # type: ignore[untyped-decorator]  # the stubs do not describe it
def _on_file_stored(*_unused: object) -> None:
    """Remove scenes that were left for the next step, before the file is stored or replaced."""
    close_scenes(_open_scenes)


@persistent  # type: ignore[untyped-decorator]  # the stubs do not describe it
def _on_loaded(*_unused: object) -> None:
    """Remove scenes of a file that Blender stored when it was quit during a job, or when it crashed."""
    if left := [scene for scene in bpy.data.scenes if scene.get(_MARK)]:
        bpy.data.batch_remove(left)


def subscriptions() -> list[tuple[list[Any], Any]]:
    """Return lists of Blender, each with the function that it calls; some Blenders have no `exit_pre`."""
    every: Any = bpy.app.handlers
    names = ("save_pre", "load_pre", "undo_pre", "redo_pre", "exit_pre")
    before = [getattr(every, name) for name in names if hasattr(every, name)]
    return [*((handlers, _on_file_stored) for handlers in before), (every.load_post, _on_loaded)]
