"""Blender's folder for temporary files, for processes that end without Blender's clean-up."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

_parents: list[str] = []
"""The folder that contains Blender's folder, if this process has created one."""


def create_session_folder_parent() -> None:
    """Let bpy as a module create its folder in a folder that is known before.

    A signal can end the process while bpy is imported, before it has the name of its folder.
    """
    if "bpy" not in sys.modules and not _parents:
        with contextlib.suppress(OSError):  # Blender has a folder for this case
            _parents.append(tempfile.mkdtemp(prefix="collision_bounds_"))
            os.environ["TEMP" if sys.platform == "win32" else "TMPDIR"] = _parents[0]


def remove_session_folder() -> None:
    """Remove Blender's folder for temporary files."""
    for parent in _parents:
        shutil.rmtree(parent, ignore_errors=True)
    app = getattr(sys.modules.get("bpy"), "app", None)
    folder = Path(getattr(app, "tempdir", None) or "/")
    # If Blender cannot create a folder of its own, this is the folder of all programs.
    if (
        folder.name.startswith("blender_")
        and folder.parent.resolve() == Path(tempfile.gettempdir()).resolve()
    ):
        shutil.rmtree(folder, ignore_errors=True)
