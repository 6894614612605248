"""Opening a scene file of any format that Blender reads, in place of the current session.

`bpy` is imported when a file is opened, so that the command line can use SCENE_SUFFIXES without Blender.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .errors import SceneError


def _import_gltf(path: str) -> None:
    import bpy

    _enable("io_scene_gltf2")
    bpy.ops.import_scene.gltf(filepath=path)


def _import_fbx(path: str) -> None:
    import bpy

    # Blender has an importer of its own since 4.5. Before that, the add-on imports FBX.
    if bpy.app.version >= (4, 5, 0):
        bpy.ops.wm.fbx_import(filepath=path)  # type: ignore[attr-defined, unused-ignore]
    else:
        _enable("io_scene_fbx")
        bpy.ops.import_scene.fbx(filepath=path)


def _import_obj(path: str) -> None:
    import bpy

    bpy.ops.wm.obj_import(filepath=path)


def _import_usd(path: str) -> None:
    import bpy

    bpy.ops.wm.usd_import(filepath=path)


_IMPORTERS: Mapping[str, Callable[[str], None]] = {
    ".glb": _import_gltf,
    ".gltf": _import_gltf,
    ".fbx": _import_fbx,
    ".obj": _import_obj,
    ".usd": _import_usd,
    ".usda": _import_usd,
    ".usdc": _import_usd,
    ".usdz": _import_usd,
}

SCENE_SUFFIXES = (".blend", *_IMPORTERS)
"""Suffixes of the files that can be opened."""


def open_scene(path: Path, runs_scripts: bool = False) -> None:
    """Replace the session with the scene in a file.

    An imported scene contains nothing of the user's preferences or start-up file.

    Parameters
    ----------
    path : Path
        A .blend file, or one that an importer of Blender reads.
    runs_scripts : bool
        Whether scripts in a .blend file are run, those of drivers included.

    Raises
    ------
    SceneError
        If the file is missing, of an unknown format, or cannot be read; the message names it.
    """
    import bpy

    try:
        is_folder, is_file = path.is_dir(), path.is_file()
    except OSError as error:  # the name is too long, for example
        raise SceneError(f"{path}: cannot be read ({error.strerror})") from None
    if is_folder:
        raise SceneError(f"{path}: is a folder; name a file in it")
    if not is_file:
        raise SceneError(f"{path}: does not exist")
    suffix = path.suffix.lower()
    if suffix not in SCENE_SUFFIXES:
        raise SceneError(f"{path}: unsupported file type (supported: {', '.join(SCENE_SUFFIXES)})")
    try:
        if suffix == ".blend":
            # Blender 4.2 resolves relative paths by the variable PWD, which may name another folder.
            bpy.ops.wm.open_mainfile(filepath=str(path.absolute()), load_ui=False, use_scripts=runs_scripts)
        else:
            bpy.ops.wm.read_factory_settings(use_empty=True)
            with _stderr_dropped_on_error():
                _IMPORTERS[suffix](str(path.resolve()))
    except Exception as error:  # importers are add-ons, which raise anything: name the file in every case
        # Blender's message names the file, which may not be UTF-8.
        encoded = error.object if isinstance(error, UnicodeDecodeError) else os.fsencode(str(error))
        text = encoded.decode("utf-8", "backslashreplace")
        # The last line of a Python importer's error says where Blender called it.
        lines = [line for line in text.strip().splitlines() if not line.startswith("Location: ")]
        reason = lines[-1] if lines else type(error).__name__
        raise SceneError(f"{path}: Blender cannot read it ({reason.removeprefix('Error: ')})") from error
    if suffix != ".blend" and not bpy.data.objects:
        raise SceneError(f"{path}: no objects could be imported from it")


def activate_scene(name: str) -> None:
    """Make a scene of the open file the active one, because Blender evaluates only that.

    A linked scene is used if the file has no scene of its own with this name.

    Raises
    ------
    SceneError
        If the file has no scene of this name; the message lists its scenes.
    """
    import bpy

    from .blender.names import name_of

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
def _stderr_dropped_on_error() -> Iterator[None]:
    """Hold back standard error, that of C code too, and drop it if an exception is raised.

    Importers print a traceback, or lines of a library, before they raise an error with the same content.
    """
    try:
        sys.stderr.flush()
        saved = os.dup(2)
    except (AttributeError, OSError):  # there is no standard error
        yield
        return
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
            sys.stderr.flush()
            held.seek(0)
            os.write(saved, held.read())
        finally:
            sys.stderr.flush()
            os.dup2(saved, 2)
            os.close(saved)


def _enable(module: str) -> None:
    """Enable an add-on that comes with Blender."""
    import addon_utils

    addon_utils.enable(module)
