"""Run the command line of Collision Bounds from a checkout, without installing the extension.

    python scripts/collision_bounds.py COMMAND SCENE [options]                pip's bpy
    blender -b SCENE --python scripts/collision_bounds.py -- COMMAND [options]    any Blender, 4.2 or later

`--help` after a command lists its options.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TextIO

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def inside_blender() -> bool:
    """Return True if the Blender application runs this script, False in a Python with bpy as a module."""
    bpy = sys.modules.get("bpy")
    return bpy is not None and bool(bpy.app.binary_path)


def redirect_output() -> TextIO:
    """Return a stream to standard output, and discard the output of Blender's C code.

    That output would corrupt the JSON.
    """
    sys.stdout.flush()
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    discard = os.open(os.devnull, os.O_WRONLY)
    os.dup2(discard, 1)
    os.close(discard)
    return stream


def main() -> int:
    """Run the command line of the checkout and return its exit code."""
    from addon.cli.main import main as run_command

    if inside_blender():
        arguments = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    else:
        arguments = sys.argv[1:]
    with redirect_output() as out:
        return run_command(arguments, opens_file=not inside_blender(), out=out)


if __name__ == "__main__":
    exit_code = main()
    if not inside_blender():
        # Blender does not add the folder of a script to the path.
        from blender_exit import exit_process

        exit_process(exit_code)
    sys.exit(exit_code)
