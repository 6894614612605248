"""Collision Bounds from a checkout, without installing the extension.

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
    """Whether a Blender runs this script, as opposed to a Python that has bpy as a module."""
    bpy = sys.modules.get("bpy")
    return bpy is not None and bool(bpy.app.binary_path)


def own_output() -> TextIO:
    """Standard output for us alone: what Blender's C code prints there would end up in the middle of JSON."""
    sys.stdout.flush()
    ours = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return ours


def main() -> int:
    """Run the command line of the checkout; its exit code."""
    from addon import cli

    if inside_blender():
        arguments = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    else:
        arguments = sys.argv[1:]
    with own_output() as out:
        return cli.main(arguments, opens_file=not inside_blender(), out=out)


if __name__ == "__main__":
    exit_code = main()
    if not inside_blender():
        # As a module, Blender may wait forever for a thread of its own when a process ends (seen in 4.5).
        # All is written by now, so its clean-up is left out.
        sys.stderr.flush()
        os._exit(exit_code)
    sys.exit(exit_code)
