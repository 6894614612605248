"""End of a process that can have bpy as a module."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn


def exit_process(exit_code: int) -> NoReturn:
    """End the process. If it has bpy as a module, skip Blender's clean-up, but remove its temporary folder.

    As a module, Blender can wait forever for one of its threads when it cleans up (seen in 4.5).
    """
    bpy = sys.modules.get("bpy")
    if bpy is None or bpy.app.binary_path:
        sys.exit(exit_code)
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from addon.cli.process import remove_session_folder

    remove_session_folder()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(exit_code)
