"""Opening a file of any kind that Blender reads, into a session of its own."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import bpy

from .errors import SceneError


def _import_gltf(path: str) -> None:
    _enable("io_scene_gltf2")
    bpy.ops.import_scene.gltf(filepath=path)


def _import_fbx(path: str) -> None:
    # Blender's own reader came with 4.5; before, and for files it does not take, there is the older add-on.
    if bpy.app.version >= (4, 5, 0):
        bpy.ops.wm.fbx_import(filepath=path)  # type: ignore[attr-defined, unused-ignore]
    else:
        _enable("io_scene_fbx")
        bpy.ops.import_scene.fbx(filepath=path)


def _import_obj(path: str) -> None:
    bpy.ops.wm.obj_import(filepath=path)


def _import_usd(path: str) -> None:
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


def open_scene(path: Path) -> None:
    """Replace the session with the scene in `path`: a .blend, or what Blender's importers read.

    Nothing of the user's preferences or start-up file gets into an imported scene. Raises SceneError naming
    the file when it is missing, of an unknown kind, or cannot be read.
    """
    if path.is_dir():
        raise SceneError(f"{path}: is a folder; name a file in it")
    if not path.is_file():
        raise SceneError(f"{path}: there is no such file")
    suffix = path.suffix.lower()
    if suffix != ".blend" and suffix not in _IMPORTERS:
        known = ", ".join([".blend", *_IMPORTERS])
        raise SceneError(f"{path}: files of this kind cannot be opened (these can: {known})")
    try:
        if suffix == ".blend":
            bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
        else:
            bpy.ops.wm.read_factory_settings(use_empty=True)
            with _silent_if_it_fails():
                _IMPORTERS[suffix](str(path.resolve()))
    except Exception as error:  # importers are add-ons: whatever goes wrong in them, the file is named
        # Of an importer in Python the last line says where Blender called it.
        lines = [line for line in str(error).strip().splitlines() if not line.startswith("Location: ")]
        reason = lines[-1] if lines else type(error).__name__
        raise SceneError(f"{path}: Blender cannot read it ({reason.removeprefix('Error: ')})") from error
    if suffix != ".blend" and not bpy.data.objects:
        raise SceneError(f"{path}: nothing could be imported from it")


@contextlib.contextmanager
def _silent_if_it_fails() -> Iterator[None]:
    """Holds back standard error, that of C code too, and drops it where an exception is raised.

    Importers print a traceback, or lines of a library, before they raise what says the same in a sentence.
    """
    try:
        sys.stderr.flush()
        ours = os.dup(2)
    except (AttributeError, OSError):  # there is none
        yield
        return
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
            sys.stderr.flush()
            held.seek(0)
            os.write(ours, held.read())
        finally:
            sys.stderr.flush()
            os.dup2(ours, 2)
            os.close(ours)


def _enable(module: str) -> None:
    import addon_utils

    addon_utils.enable(module)
