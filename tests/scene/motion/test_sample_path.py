"""Number of files and functions of the extension that one sample passes through: few, so one can follow it.

Comprehensions count as part of their function. The math of curves does not count, because it takes the place
of Blender's own evaluation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import bpy
import numpy as np
import pytest

import addon
from addon.scene.blender.private_scene import keeping_open
from addon.scene.motion.scene_motion import SceneMotion
from addon.scene.settings import FitSettings, Selection
from addon.scene.subjects.find import find_subjects
from tests.scene.building import CUBE, add_vertices, play
from tests.scene.motion.sources.scenes_of_sources import QUADS, drive

pytestmark = pytest.mark.usefixtures("empty_file")

MAX_FILES, MAX_FUNCTIONS = 9, 30
TIMES = [1.0, 2.0, 3.0, 4.0, 5.0]
TOP = Path(addon.__file__).parent
PASSED_OVER = str(TOP / "core" / "curves"), str(TOP / "scene" / "blender" / "parts" / "known_rows.py")
"""The mathematics of curves, and a handler that the command line of another test may have left."""


def functions_of(call: Callable[[], object]) -> set[tuple[str, str]]:
    """Return the files and names of the functions of the extension that run during a call."""
    found = set()

    def enter(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and not code.co_name.startswith("<") and code.co_filename.startswith(str(TOP)):
            found.add((code.co_filename, code.co_qualname))

    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)
    return {(file, name) for file, name in found if not file.startswith(PASSED_OVER)}


def turning_motion(source: str, shape: str) -> SceneMotion:
    """Create the motion of four cubes that turn and are read from one source."""
    scene = bpy.context.scene
    for number in range(4):
        item = add_vertices(f"Cube {number}", CUBE, QUADS, location=(4 * number, 0, 0))
        for frame, angle in ((1, 0), (5, 2)):
            item.rotation_euler = (angle, 0, angle)
            item.keyframe_insert("rotation_euler", frame=frame)
        if source == "private scene":
            drive(item, "location", "sqrt(frame)", 2)
        if source == "user's scene":
            play(item)
    scene.frame_set(1)
    subjects, _ = find_subjects(scene, bpy.context.evaluated_depsgraph_get(), Selection())
    motion = SceneMotion(scene, subjects, Selection(), shape, FitSettings(axes="object"))
    for _ in motion.comparing(TIMES):
        pass
    assert motion.sources.is_played == (source == "user's scene")
    assert motion.is_known == (source == "curves")
    return motion


@pytest.mark.parametrize("shape", ["sphere", "aabb", "obb", "spheres"])
@pytest.mark.parametrize("source", ["curves", "private scene", "user's scene"])
def test_sample_passes_through_few_files_and_functions(source, shape):
    motion, everything = turning_motion(source, shape), np.arange(4)
    with keeping_open():
        # The first sample creates what the later ones use.
        motion.record(TIMES[0])
        motion.sample_between(1.5, everything)
        calls = {
            "read a frame, and compute its shapes": functions_of(
                lambda: (motion.record(TIMES[1]), motion.recorded())
            ),
            "sample at a frame": functions_of(lambda: motion.sample(TIMES[2])),
            "sample between frames": functions_of(lambda: motion.sample_between(3.5, everything)),
        }
    for call, functions in calls.items():
        assert len({file for file, _ in functions}) <= MAX_FILES, (call, sorted(functions))
        assert len(functions) <= MAX_FUNCTIONS, (call, sorted(functions))
