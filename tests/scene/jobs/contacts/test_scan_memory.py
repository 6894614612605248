"""Memory of a scan depends on the scene and not on the number of frames, and large scenes work."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import bpy
import pytest

from tests.paths import TOP
from tests.scene.sampling import add_object, add_points, ball_points, key, scan_scene
from tests.tiers import times

LANES = """
import json, os, resource, sys, tracemalloc
import bpy
from tests.scene.sampling import add_points, ball_points, key, scan_scene

bpy.ops.wm.read_factory_settings(use_empty=True)
frames = int(sys.argv[1])
# In each of ten lanes a rotating ball overtakes another. The paths are the same for any number of frames.
for lane in range(10):
    slow, fast = (add_points(f"{name}.{lane:02}", ball_points(0.5)) for name in ("Slow", "Fast"))
    key(slow, "location", [(1, (0, 3 * lane, 0)), (frames, (10, 3 * lane, 0))])
    key(fast, "location", [(1, (-10, 3 * lane, 0)), (frames, (20, 3 * lane, 0))], "BEZIER")
    key(fast, "rotation_euler", [(1, (0, 0, 0)), (frames, (1, 2, 3))])
tracemalloc.start()
result = scan_scene(frames=(1, frames, 1))
allocated = tracemalloc.get_traced_memory()[1]
process = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print("ANSWER" + json.dumps([len(result.report.contacts), process, allocated]))
sys.stdout.flush()
os._exit(0)
"""


def run_script(script: str, *arguments: object) -> Any:
    """Run a script with this Python in the checkout's folder, and return its output after ANSWER.

    The script needs a new process, because the peak memory of a process cannot be reset. It exits without
    Blender's clean-up, which may hang when Blender is a module.
    """
    command = [sys.executable, "-c", script, *map(str, arguments)]
    completed = subprocess.run(
        command, cwd=TOP, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert completed.returncode == 0, completed.stderr
    (line,) = [line for line in completed.stdout.splitlines() if line.startswith("ANSWER")]
    return json.loads(line.removeprefix("ANSWER"))


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="needs the resource module of Unix")
def test_memory_does_not_grow_with_frames():
    (short, short_process, _), (long, long_process, allocated), (longest, _, twice_allocated) = (
        run_script(LANES, frames) for frames in (250, 10_000, 15_000)
    )
    assert short == long == longest == 10
    # Memory of the whole process, most of which is Blender's.
    assert long_process <= 1.1 * short_process
    # Memory allocated by Python and NumPy. Storing the spheres of twenty balls in each frame would take 4
    # numbers for each; the limit is half of that. Only the frame number is stored per frame, in a list, and
    # Python keeps some small objects for reuse. In fewer frames the balls are faster, so fewer are computed
    # together.
    assert twice_allocated - allocated <= 5000 * 20 * 4 * 8 / 2


def add_crowd(rows: int, columns: int) -> None:
    """Add a grid of balls at distances of 2, and one more above each that moves down onto it."""
    mesh = add_points("First", ball_points(0.5)).data
    bpy.data.objects.remove(bpy.data.objects["First"])
    parent = add_object("Parent")
    for row in range(rows):
        for column in range(columns):
            still = add_object(f"Still.{row:03}.{column:02}", mesh)
            still.location = (2 * row, 2 * column, 0)
            falling = add_object(f"Falling.{row:03}.{column:02}", mesh)
            falling.location, falling.parent = (2 * row, 2 * column, 4), parent
    key(parent, "location", [(1, (0, 0, 0)), (5, (0, 0, -4))])


@pytest.mark.parametrize(
    ("rows", "columns"), [(20, 10), pytest.param(100, times(20, full=50), marks=pytest.mark.long)]
)
def test_each_of_thousands_of_objects_touches_object_below(empty_file, rows, columns):
    add_crowd(rows, columns)
    result = scan_scene(shape="sphere", frames=(1, 5, 1))
    assert (len(result.subjects), len(result.skipped)) == (2 * rows * columns, 0)
    assert len(result.report.contacts) == rows * columns
    names = [subject.name for subject in result.subjects]
    for contact in result.report.contacts:
        # They move by 1 per frame. After 3 frames the distance of the centers is 1.
        assert names[contact.a].removeprefix("Falling") == names[contact.b].removeprefix("Still")
        assert abs(contact.first.frame - 4) < 1e-4
