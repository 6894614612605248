"""Scans with a clearance: their documents are valid, and no contact has a gap above the clearance.

Gaps of the closest approach come from formulas for boxes along the axes.
"""

from __future__ import annotations

import json
import random

import bpy
import pytest

from addon.formats import document_problems
from tests.cli.command_line import run
from tests.scene.building import CUBE, add_vertices
from tests.scene.sampling import key
from tests.tiers import times

pytestmark = pytest.mark.usefixtures("empty_file")

BOX = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
SHAPES = ("aabb", "sphere", "obb", "capsule", "compound", "spheres")


def vector(rng: random.Random, limit: float) -> list[float]:
    return [rng.uniform(-limit, limit) for _ in range(3)]


def save_random_scene(path, rng: random.Random) -> None:
    """Save five boxes of which most move and turn, by keys of all kinds and by drivers."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    for number in range(5):
        item = add_vertices(f"Box{number}", CUBE * [rng.uniform(0.1, 0.6) for _ in range(3)], BOX)
        item.rotation_euler = vector(rng, 3)
        kind = rng.choice(["LINEAR", "BEZIER", "CONSTANT"])
        if rng.random() < 0.8:
            frames = (1, rng.randint(4, 8), 12)
            key(item, "location", [(frame, vector(rng, 2)) for frame in frames], kind)
        if rng.random() < 0.5:
            key(item, "rotation_euler", [(frame, vector(rng, 3)) for frame in (1, 12)], "LINEAR")
        if rng.random() < 0.2:
            item.driver_add("location", 2).driver.expression = "sin(frame * 0.7)"
    bpy.context.scene.frame_end = 12
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


@pytest.mark.parametrize("shape", SHAPES)
def test_no_contact_of_random_scenes_has_a_gap_above_the_clearance(tmp_path, shape):
    """The thousand scans of the full tier are those of six shapes."""
    for seed in range(times(8, 1, full=167)):
        rng = random.Random(seed)
        save_random_scene(tmp_path / "scene.blend", rng)
        clearance = rng.choice([0.01, 0.05, 0.3])
        options = ("--shape", shape, "--clearance", clearance, *(["--confirm"] if rng.random() < 0.1 else []))
        ended = run("contacts", tmp_path / "scene.blend", "-q", "-o", tmp_path / "out.json", *options)
        assert ended.returncode == 0, (seed, ended.stderr)
        document = json.loads((tmp_path / "out.json").read_text("utf-8"))
        assert list(document_problems(document)) == [], seed
        spans = [span for contact in document["contacts"] for span in (contact, *contact["intervals"])]
        gaps = [-span["deepest"]["depth"] for span in spans]
        assert max(gaps, default=0.0) <= clearance + 2e-6, seed


@pytest.fixture
def near_and_through(tmp_path):
    """Save a wall, a cube that stops at a gap of 0.03 at frame 11, and one that reaches 0.1 into it."""
    add_vertices("Wall", CUBE, BOX)
    for name, axis, nearest in (("Near", 0, 2.03), ("Through", 1, 1.9)):
        far, close = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
        far[axis], close[axis] = 6.0, nearest
        key(add_vertices(name, CUBE, BOX), "location", [(1, far), (11, close), (20, far)])
    bpy.context.scene.frame_end = 20
    path = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def test_gap_within_the_clearance_is_a_gap_and_no_depth(near_and_through, tmp_path):
    """Near comes within 0.1 at 6 - 0.397 t = 2.1, frame 1 + 3.9 / 0.397."""
    options = ("--clearance", 0.1, "--confirm", "--b", "Wall")
    table = run("contacts", near_and_through, *options).stdout
    near, through = (
        next(line for line in table.splitlines() if name in line) for name in ("Near", "Through")
    )
    begin = f"{1 + 3.9 / 0.397:.7f}"[:-2]  # frames are rounded down
    assert begin in near and "gap 0.0300" in near and f"meshes come closer than 0.1 at {begin}" in near
    assert " 0.1000 " in through and "gap" not in through and "-0." not in table
    run("contacts", near_and_through, *options, "-q", "-o", tmp_path / "out.csv")
    heading, *rows = (line.split(",") for line in (tmp_path / "out.csv").read_text("utf-8").splitlines())
    cells = {row[0]: (row[heading.index("depth")], row[heading.index("gap")]) for row in rows}
    assert cells == {"Near": ("", "0.03"), "Through": ("0.1", "")}


def test_document_names_the_clearance_of_the_meshes(near_and_through, tmp_path):
    target = tmp_path / "out.json"
    for clearance in (0.1, 0.0):
        options = ("--clearance", clearance, "--confirm", "-q", "-o", target)
        assert run("contacts", near_and_through, *options, "--a", "Through", "--b", "Wall").returncode == 0
        (contact,) = json.loads(target.read_text("utf-8"))["contacts"]
        assert contact["meshes"].get("clearance", 0.0) == clearance
        assert run("validate", target).returncode == 0
