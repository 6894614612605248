"""Opening a scene file of any format that Blender reads, in place of the current session.

`bpy` is imported when a file is opened, so that the command line can use SCENE_SUFFIXES without Blender.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .errors import SceneError

_IMPORTERS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys((".glb", ".gltf"), ("import_scene.gltf", "io_scene_gltf2")),
    ".fbx": ("wm.fbx_import", ""),
    ".obj": ("wm.obj_import", ""),
    **dict.fromkeys((".usd", ".usda", ".usdc", ".usdz"), ("wm.usd_import", "")),
}
"""Operator that imports files of each suffix, and the add-on of Blender that has it, if any."""

_FBX_BEFORE_4_5 = "import_scene.fbx", "io_scene_fbx"

SCENE_SUFFIXES = (".blend", *_IMPORTERS)
"""Suffixes of the files that can be opened. Copies that Blender keeps, such as .blend1, can be opened too."""

_BLEND_SUFFIX = re.compile(r"\.blend\d*", re.IGNORECASE)

_UNREAD_LAYER = re.compile(r"Could not (?:open asset|load sublayer) @([^@]+)@")
"""USD's warning of a reference, payload or sublayer that cannot be opened."""


def has_scene_suffix(path: Path) -> bool:
    """Return whether a file has a name that `open_scene` opens."""
    return path.suffix.lower() in SCENE_SUFFIXES or _BLEND_SUFFIX.fullmatch(path.suffix) is not None


def open_scene(path: Path, runs_scripts: bool = False) -> tuple[str, ...]:
    """Replace the session with the scene in a file.

    An imported scene contains nothing of the user's preferences or start-up file, and has the frame range and
    rate of its file. Files that it refers to and that cannot be read are among `input_warnings` of the scene.

    path : A .blend file, or one that an importer of Blender reads.
    runs_scripts : Whether scripts in a .blend file are run, those of drivers included.
    Returns problems : tuple of str. What Blender reported about a file that it opened, and what is unknown
        of an imported one.
    Raises SceneError: if the file is missing, of an unknown format, or cannot be read; the message names
        it.
    """
    if reason := unreadable_reason(path):
        raise SceneError(f"{path}: {reason}")
    is_blend = _BLEND_SUFFIX.fullmatch(path.suffix) is not None
    if not has_scene_suffix(path):
        raise SceneError(f"{path}: unsupported file type (supported: {', '.join(SCENE_SUFFIXES)})")
    import bpy

    before = bpy.context.scene.session_uid
    try:
        if is_blend:
            # Blender 4.2 resolves relative paths by the variable PWD, which may name another folder.
            # The view layer that was shown is part of the window, which is not read without the interface.
            bpy.ops.wm.open_mainfile(filepath=str(path.absolute()), load_ui=True, use_scripts=runs_scripts)
            return ()
        problems = _import_file(path)
    except Exception as error:  # importers are add-ons, which raise anything: name the file in every case
        # The operator also raises errors about parts of a file that it opened, such as a video strip.
        if is_blend and bpy.context.scene.session_uid != before:
            return (f"{path}: Blender reports: {_reason(error)}",)
        raise SceneError(f"{path}: Blender cannot read it ({_reason(error)})") from error
    if not bpy.data.objects:
        raise SceneError(f"{path}: no objects could be imported from it")
    return problems


def unreadable_reason(path: Path) -> str:
    """Return why there is no file to read at a path; empty if there is one."""
    try:
        if path.is_dir():
            return "is a folder; name a file in it"
        return "" if path.is_file() else "does not exist"
    except OSError as error:  # the name is too long, for example
        return f"cannot be read ({error.strerror})"


def _import_file(path: Path) -> tuple[str, ...]:
    """Import a file into an empty session. Returns what is unknown of its time."""
    import bpy

    from .blender.missing_inputs import add_missing_files
    from .imported_scene import set_time_of_import

    bpy.ops.wm.read_factory_settings(use_empty=True)
    with _held_standard_error() as held:
        operator, addon = _IMPORTERS[path.suffix.lower()]
        if path.suffix.lower() == ".fbx" and bpy.app.version < (4, 5, 0):
            operator, addon = _FBX_BEFORE_4_5
        if addon:
            import addon_utils

            addon_utils.enable(addon)
        group, _, name = operator.partition(".")
        getattr(getattr(bpy.ops, group), name)(filepath=str(path.resolve()))
        problems = set_time_of_import(bpy.context.scene, path)
    output = held[0].decode("utf-8", "backslashreplace")
    add_missing_files(bpy.context.scene, path, tuple(sorted(set(_UNREAD_LAYER.findall(output)))))
    if sys.stderr is not None:
        lines = output.splitlines(keepends=True)
        sys.stderr.writelines(line for line in lines if not _UNREAD_LAYER.search(line))
    return tuple(f"{path}: {problem}" for problem in problems)


def _reason(error: Exception) -> str:
    """Return the last line of Blender's message, in which the name of the file may not be UTF-8."""
    encoded = error.object if isinstance(error, UnicodeDecodeError) else os.fsencode(str(error))
    text = encoded.decode("utf-8", "backslashreplace")
    # The last line of a Python importer's error says where Blender called it.
    lines = [line for line in text.strip().splitlines() if not line.startswith("Location: ")]
    return (lines[-1] if lines else type(error).__name__).removeprefix("Error: ")


def activate_scene(name: str) -> None:
    """Make a scene of the open file the active one, because Blender evaluates only that.

    A linked scene is used if the file has no scene of its own with this name.

    Raises SceneError: if the file has no scene of this name; the message lists its scenes.
    """
    import bpy

    from .blender.instances import name_of

    scenes = sorted(bpy.data.scenes, key=lambda scene: scene.library is not None)
    found = next((scene for scene in scenes if name_of(scene) == name), None)
    if found is None:
        names = ", ".join(repr(name_of(scene)) for scene in scenes)
        raise SceneError(f"scene {name!r}: the file has no scene of this name (it has {names})")
    context: Any = bpy.context
    for window in context.window_manager.windows:
        # Blender's --command has windows, but none is the current one, whose scene is that of the context.
        with context.temp_override(window=window):
            window.scene = found
    if bpy.context.scene != found:
        raise SceneError(f"scene {name!r}: cannot be made active, because the file has no window")


@contextlib.contextmanager
def _held_standard_error() -> Iterator[list[bytes]]:
    """Hold back standard error, that of C code too; the list has its content after the block.

    Importers print a traceback, or lines of a library, before they raise an error with the same content.
    """
    held = [b""]
    try:
        sys.stderr.flush()
        saved = os.dup(2)
    except (AttributeError, OSError):  # there is no standard error
        yield held
        return
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield held
        finally:
            sys.stderr.flush()
            os.dup2(saved, 2)
            os.close(saved)
        file.seek(0)
        held[0] = file.read()
