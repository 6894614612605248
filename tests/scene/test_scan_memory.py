"""Memory of a scan goes by what is in a scene, not by how many frames there are; and large scenes work.

Each scan has a process of its own, as only a new one tells how much it took at most. It ends without taking
Blender down, which as a module may hang in that.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).resolve().parents[2]

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

CROWD = """
import json, os, sys
import bpy
from tests.scene.sampled import add_object, add_points, ball_points, key, scanned

bpy.ops.wm.read_factory_settings(use_empty=True)
mesh = add_points("First", ball_points(0.5)).data
bpy.data.objects.remove(bpy.data.objects["First"])
# A field of balls two metres apart, on which half of them come down.
for row in range(100):
    for column in range(50):
        still = add_object(f"Still.{row:03}.{column:02}", mesh)
        still.location = (2 * row, 2 * column, 0)
        falling = add_object(f"Falling.{row:03}.{column:02}", mesh)
        falling.location = (2 * row, 2 * column, 4)
carrier = add_object("Carrier")
for item in bpy.data.objects:
    if item.name.startswith("Falling"):
        item.parent = carrier
key(carrier, "location", [(1, (0, 0, 0)), (5, (0, 0, -4))])
result = scanned(shape="sphere", frames=(1, 5, 1))
names = [subject.name for subject in result.subjects]
pairs = [[names[c.a], names[c.b], c.first.frame] for c in result.report.contacts]
print("ANSWER" + json.dumps([len(result.subjects), len(result.skipped), pairs]))
sys.stdout.flush()
os._exit(0)
"""


def answer_of(script: str, *arguments: object) -> Any:
    """What a script prints after ANSWER, run by this Python in the checkout's folder."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("ANSWER")]
    return json.loads(line.removeprefix("ANSWER"))


@pytest.mark.skipif(sys.platform == "win32", reason="asks the operating system as Unix does")
def test_five_thousand_frames_take_no_more_memory_than_250():
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


def test_ten_thousand_objects():
    subjects, skipped, pairs = answer_of(CROWD)
    assert (subjects, skipped) == (10_000, 0)
    # Each meets the one below it, a metre between their middles, after three metres at one a frame.
    assert len(pairs) == 5000
    for a, b, frame in pairs:
        assert a.removeprefix("Falling") == b.removeprefix("Still")
        assert abs(frame - 4) < 1e-4
