# SPDX-License-Identifier: GPL-3.0-or-later
"""Create the example scene, a small factory floor.

    python scripts/example_scene.py OUT.blend                      with pip's bpy
    blender -b --python-exit-code 3 --python scripts/example_scene.py -- OUT.blend      with Blender

The package `factory_floor` describes and builds the scene.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import bpy

if str(Path(__file__).resolve().parent) not in sys.path:
    # Blender does not add the folder of a script to the path.
    sys.path.insert(0, str(Path(__file__).resolve().parent))

from blender_exit import exit_process
from factory_floor.arm import ARM_FRAMES
from factory_floor.common import FRAME_END, FRAME_START, HOVER
from factory_floor.drone import drone_near_miss
from factory_floor.factory import build_scene
from factory_floor.fence import POST_COUNT, POST_SPACING
from factory_floor.paddles import paddles_contact_frame
from factory_floor.projectile import (
    PROJECTILE_FIRST_FRAME,
    PROJECTILE_LAST_FRAME,
    PROJECTILE_SPEED,
    projectile_contact_frame,
    projectile_release_frame,
)
from factory_floor.struts import struts_contact_frame

# Dimensions and closed forms that tests compare results with.
__all__ = [
    "ARM_FRAMES",
    "FRAME_END",
    "FRAME_START",
    "HOVER",
    "POST_COUNT",
    "POST_SPACING",
    "PROJECTILE_FIRST_FRAME",
    "PROJECTILE_LAST_FRAME",
    "PROJECTILE_SPEED",
    "build_scene",
    "drone_near_miss",
    "main",
    "paddles_contact_frame",
    "projectile_contact_frame",
    "projectile_release_frame",
    "struts_contact_frame",
]


def main(arguments: Sequence[str]) -> None:
    """Build the scene in a new file and save it."""
    parser = argparse.ArgumentParser(prog="example_scene.py", description="Create the example scene.")
    parser.add_argument("out", metavar="OUT.blend", help="path of the file to save")
    parser.add_argument("--uncompressed", action="store_true", help="save it without compression")
    options = parser.parse_args(arguments)
    out = Path(options.out).resolve()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    build_scene()
    bpy.ops.wm.save_as_mainfile(filepath=str(out), compress=not options.uncompressed)
    print(f"Saved the example scene to {out}")


if __name__ == "__main__":
    main(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:])
    exit_process(0)
