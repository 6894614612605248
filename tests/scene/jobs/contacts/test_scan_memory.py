"""Memory of a scan depends on the scene, not on the number of frames; large scenes work."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import bpy
import pytest

from tests.paths import TOP
from tests.scene.sampled import add_object, add_points, ball_points, key, scanned

LANES = """
import json, os, resource, sys, tracemalloc
import bpy
from tests.scene.sampled import add_points, ball_points, key, scanned

bpy.ops.wm.read_factory_settings(use_empty=True)
frames = int(sys.argv[1])
# Ten lanes; in each one ball catches up with another, turning, and overtakes it. The same ways whatever the
# number of frames.
for lane in range(10):
    slow, fast = (add_points(f"{name}.{lane:02}", ball_points(0.5)) for name in ("Slow", "Fast"))
    key(slow, "location", [(1, (0, 3 * lane, 0)), (frames, (10, 3 * lane, 0))])
    key(fast, "location", [(1, (-10, 3 * lane, 0)), (frames, (20, 3 * lane, 0))], "BEZIER")
    key(fast, "rotation_euler", [(1, (0, 0, 0)), (frames, (1, 2, 3))])
tracemalloc.start()
result = scanned(frames=(1, frames, 1))
allocated = tracemalloc.get_traced_memory()[1]
process = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print("ANSWER" + json.dumps([len(result.report.contacts), process, allocated]))
sys.stdout.flush()
os._exit(0)
"""


def answer_of(script: str, *arguments: object) -> Any:
    """Run a script with this Python in the checkout's folder, and return its output after ANSWER.

    It has a process of its own, as only a new one tells how much it took at most. The script ends it without
    taking Blender down, which as a module may hang in that.
    """
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("ANSWER")]
    return json.loads(line.removeprefix("ANSWER"))


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="asks the operating system as Unix does")
def test_memory_does_not_grow_with_frames():
    (short, short_process, _), (long, long_process, allocated), (longest, _, twice_allocated) = (
        answer_of(LANES, frames) for frames in (250, 5000, 10_000)
    )
    assert short == long == longest == 10
    # Of the whole process, which is Blender for the most part.
    assert long_process <= 1.1 * short_process
    # Of what Python and NumPy took: where twenty balls are in a frame would be 4 numbers each. Of a frame
    # only its number is kept, in a list of Python's, and Python keeps some small objects to use them again.
    # In fewer frames the balls are faster, and fewer are looked at together.
    assert twice_allocated - allocated <= 5000 * 20 * 4 * 8 / 2


def add_crowd(rows: int, columns: int) -> None:
    """Add a field of balls two meters apart, and as many others that come down onto them."""
    mesh = add_points("First", ball_points(0.5)).data
    bpy.data.objects.remove(bpy.data.objects["First"])
    carrier = add_object("Carrier")
    for row in range(rows):
        for column in range(columns):
            still = add_object(f"Still.{row:03}.{column:02}", mesh)
            still.location = (2 * row, 2 * column, 0)
            falling = add_object(f"Falling.{row:03}.{column:02}", mesh)
            falling.location, falling.parent = (2 * row, 2 * column, 4), carrier
    key(carrier, "location", [(1, (0, 0, 0)), (5, (0, 0, -4))])


@pytest.mark.parametrize(("rows", "columns"), [(20, 10), pytest.param(100, 50, marks=pytest.mark.long)])
def test_each_of_ten_thousand_objects_touches_object_below(empty_file, rows, columns):
    add_crowd(rows, columns)
    result = scanned(shape="sphere", frames=(1, 5, 1))
    assert (len(result.subjects), len(result.skipped)) == (2 * rows * columns, 0)
    assert len(result.report.contacts) == rows * columns
    names = [subject.name for subject in result.subjects]
    for contact in result.report.contacts:
        # After three meters, at one a frame, there is one between their centers.
        assert names[contact.a].removeprefix("Falling") == names[contact.b].removeprefix("Still")
        assert abs(contact.first.frame - 4) < 1e-4
