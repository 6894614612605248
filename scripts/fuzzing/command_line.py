"""Target: the command line, with random options, hostile values and hostile file names.

Commands run in this process, and scenes are opened in Blender if it is there.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from addon.cli.main import main
from addon.formats import DocumentError, load_document

from .hostile_arguments import HERE, make_arguments
from .target import Target

_FOLDER = Path(__file__).resolve().parents[2] / "build" / "fuzz" / "command_line"
_SCENE = _FOLDER.parent / "scene.blend"
_DOCUMENT = _FOLDER.parent / "document.json"
_HAS_BLENDER = importlib.util.find_spec("bpy") is not None


def check_arguments(content: bytes) -> str | None:
    """Run a command in a folder with files, and compare exit code, messages and files with the docs."""
    shutil.rmtree(_FOLDER, ignore_errors=True)
    _FOLDER.mkdir(parents=True)
    try:
        _write_files(_FOLDER)
        arguments = [word.replace(HERE, f"{_FOLDER}/") for word in json.loads(content)]
        before = _contents(_FOLDER)
        out, err = io.StringIO(), io.StringIO()
        with _discarded_output(), contextlib.redirect_stderr(err):
            code = main(arguments, opens_file=True, out=out)
        return _problem(arguments, code, out.getvalue(), err.getvalue()) or _file_problem(
            arguments, code, before
        )
    finally:
        shutil.rmtree(_FOLDER, ignore_errors=True)


def _problem(arguments: Sequence[str], code: int, out: str, err: str) -> str | None:
    """Return a description of a wrong exit code or message, or None. Warnings may precede any result."""
    lines = err.splitlines(keepends=True)
    err = "".join(line for line in lines if not line.startswith("collision_bounds: warning: "))
    if code == 2:
        is_line = err.startswith("collision_bounds: ") and err.endswith("\n") and len(err.splitlines()) == 1
        return None if is_line and not out else f"code 2 with {err!r} and output {out[:200]!r}"
    if code not in _success_codes(arguments):
        return f"code {code} with {err!r}"
    return f"code {code}, but printed {err!r}" if err else None


def _success_codes(arguments: Sequence[str]) -> set[int]:
    codes = {0, *([1] if "--fail-on-contact" in arguments else [])}
    for value in ("1", "4", "125"):
        if f"--contact-exit-code={value}" in arguments or value in arguments:
            codes |= (
                {int(value)} if any(word.startswith("--contact-exit-code") for word in arguments) else set()
            )
    return codes


def _file_problem(arguments: Sequence[str], code: int, before: dict[str, Any]) -> str | None:
    """Return a description of a file that is changed, left behind or invalid, or None."""
    after = _contents(_FOLDER)
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    if code == 2:
        return f"code 2, but changed {sorted(changed)}" if changed else None
    if len(changed) > 1 or changed & {"scene.blend", "document.json", "broken.blend"}:
        return f"changed {sorted(changed)}"
    for name in changed:
        if name not in after or not after[name]:
            return f"{name!r} is gone or empty"
        if name.endswith(".json") and "--format" not in "".join(arguments):
            try:
                load_document(_FOLDER / name)
            except DocumentError as error:
                return f"{name!r}: {error}"
    return None


def _write_files(folder: Path) -> None:
    (folder / "folder").mkdir()
    if _SCENE.is_file():
        shutil.copy(_SCENE, folder / "scene.blend")
    if _DOCUMENT.is_file():
        shutil.copy(_DOCUMENT, folder / "document.json")
    for name in ("old.json", "broken.json", "empty.json", "broken.blend", "broken.glb"):
        (folder / name).write_bytes(b"" if name == "empty.json" else b'{"format": "collision-bounds"')
    for name, target in (("link", "old"), ("dangling", "gone")):
        (folder / f"{name}.json").symlink_to(folder / f"{target}.json")
    (folder / "linked.blend").symlink_to(folder / "scene.blend")


def _contents(folder: Path) -> dict[str, bytes | str]:
    """Content of each file, and the target of each link."""
    return {
        path.relative_to(folder).as_posix(): str(path.readlink()) if path.is_symlink() else path.read_bytes()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


@contextlib.contextmanager
def _discarded_output() -> Iterator[None]:
    """Discard the output of Blender's C code."""
    kept, discard = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(discard, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(discard)


def save_scene() -> None:
    """Save the scene of all cases, if Blender is there: two objects that move, and two at rest."""
    if not _HAS_BLENDER:
        return
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    context: Any = bpy.context
    collection = bpy.data.collections.new("Collection")
    context.scene.collection.children.link(collection)
    for number, name in enumerate(("Cube", "Ball", "Gr\u00f6\u00dfe", "=Post")):
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(
            [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [], [(0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2)]
        )
        item: Any = bpy.data.objects.new(name, mesh)
        collection.objects.link(item)
        for frame in (1, 5) if number < 2 else ():
            item.location = (frame * (number - 0.5), 0.1, 0)
            item.keyframe_insert("location", frame=frame)
    context.scene.frame_end = 5
    _SCENE.parent.mkdir(parents=True, exist_ok=True)
    with _discarded_output():
        bpy.ops.wm.save_as_mainfile(filepath=str(_SCENE))
        main(["contacts", str(_SCENE), "-q", "-o", str(_DOCUMENT)], opens_file=True)


COMMAND_LINE = Target(
    "command_line", make_arguments, check_arguments, ".json", max_seconds=5.0, prepare=save_scene
)
