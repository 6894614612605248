"""Scans with a clearance, of bounds and of meshes: what touches, comes close, or only seems to.

Times and gaps come from formulas for boxes along the axes, and from distances that the tests compute.
"""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest

from addon.formats import document_problems
from addon.scene.settings import FitSettings
from tests.cli.command_line import run
from tests.scene.building import CUBE, add_vertices, play
from tests.scene.clearances.comparison import Comparer
from tests.scene.clearances.scenes import save_random_scan
from tests.scene.sampling import go_to, key, matrices_of, scan_scene
from tests.tiers import times

pytestmark = pytest.mark.usefixtures("empty_file")

BOX = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
LONG = [pytest.param(name, marks=pytest.mark.long) for name in ("sphere", "capsule", "compound", "spheres")]
OCTAHEDRON = np.array([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)], dtype=float)
SIDES = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]


@pytest.mark.usefixtures("object_settings")
@pytest.mark.parametrize("shape", ["aabb", "mesh", pytest.param("obb", marks=pytest.mark.long), *LONG])
def test_random_scans_have_valid_documents_and_gaps_within_the_clearance(tmp_path, shape):
    """The thousand scans of the full tier are those of seven shapes."""
    for seed in range(times(8, 1, full=143)):
        scan = save_random_scan(tmp_path / "scene.blend", shape, seed)
        ended = run("contacts", tmp_path / "scene.blend", "-q", "-o", tmp_path / "out.json", *scan.options)
        assert ended.returncode == 0, (seed, ended.stderr)
        document = json.loads((tmp_path / "out.json").read_text("utf-8"))
        assert list(document_problems(document)) == [], seed
        found = Comparer(scan, document).compare(np.random.default_rng(seed))
        is_mesh = shape == "mesh"
        wrong = [text for text in found.wrong if is_mesh or "clearance" in text or "negative" in text]
        assert wrong == [], (seed, scan.options)


@pytest.fixture
def scene(tmp_path):
    """Save a wall, and bodies that come along x, y and z until frame 11, and leave.

    Near stops at a gap of 0.03, Through reaches 0.1 into the wall, and Tip is an octahedron whose box stops
    at a gap of 0.05: its vertices stay farther away.
    """
    add_vertices("Wall", CUBE, BOX)
    bodies = {
        "Near": (CUBE, BOX, (6, 0, 0), (2.03, 0, 0)),
        "Through": (CUBE, BOX, (0.5, 6, 0.5), (0.5, 1.9, 0.5)),
        "Tip": (OCTAHEDRON, SIDES, (1.9, 1.9, 6), (1.9, 1.9, 2.05)),
    }
    for name, (points, faces, far, close) in bodies.items():
        key(add_vertices(name, points, faces), "location", [(1, far), (11, close), (20, far)])
    bpy.context.scene.frame_end = 20
    path = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


CLOSER = {"Near": 1 + 3.9 / 0.397, "Through": 1 + 3.9 / 0.41}
"""Frames at which the distance is 0.1."""
TOUCH = 1 + 4 / 0.41
OPTIONS = ("--b", "Wall", "--shape", "aabb")
MESHES = ("--shape", "mesh")


def contacts_of(path, target, *options):
    """Scan with a clearance of 0.1, and return the contacts by the name that is not Wall."""
    assert run("contacts", path, "--clearance", 0.1, "-q", "-o", target, *OPTIONS, *options).returncode == 0
    assert run("validate", target).returncode == 0
    contacts = json.loads(target.read_text("utf-8"))["contacts"]
    return {({each["a"], each["b"]} - {"Wall"}).pop(): each for each in contacts}


def test_gap_and_depth_are_members_of_their_own(scene, tmp_path):
    found = contacts_of(scene, tmp_path / "out.json")
    assert {name: each["clearance"] for name, each in found.items()} == dict.fromkeys(found, 0.1)
    assert found["Near"]["closest"] == {"frame": 11, "gap": 0.03} and "deepest" not in found["Near"]
    assert found["Tip"]["closest"]["gap"] == pytest.approx(0.05, abs=2e-6)
    assert found["Through"]["deepest"]["depth"] == pytest.approx(0.1, abs=2e-6)
    assert "closest" not in found["Through"]
    for each in found.values():
        (span,) = each["intervals"]
        extent = "closest" if "closest" in each else "deepest"
        assert each[extent].items() <= span[extent].items()


def test_meshes_have_the_frame_at_which_they_are_close_and_that_at_which_they_touch(scene, tmp_path):
    target = tmp_path / "out.json"
    found = contacts_of(scene, target, *MESHES)
    assert set(found) == set(CLOSER)
    for name, frame in CLOSER.items():
        first, motion = found[name]["first"], found[name]["motion"]
        assert first["frame"] == pytest.approx(frame, abs=1e-4)
        assert frame <= first["frame"] + first["uncertainty"] + 2e-6 and motion == "proven"
    assert found["Near"]["closest"] == {"frame": 11, "gap": 0.03} and "deepest" not in found["Near"]
    assert found["Through"]["deepest"]["depth"] == pytest.approx(0.1, abs=5e-3)
    (near,) = json.loads(target.read_text("utf-8"))["clearances"]
    # The corner of the wall is at the middle of a side of the octahedron.
    assert {near["a"], near["b"]} == {"Tip", "Wall"}
    assert near["gap"] == pytest.approx((0.9 + 0.9 + 1.05 - 1) / 3**0.5, abs=1e-5)
    found = contacts_of(scene, target, *MESHES, "--clearance", 0)
    assert list(found) == ["Through"]
    assert found["Through"]["first"]["frame"] == pytest.approx(TOUCH, abs=1e-4)


def test_table_says_what_only_comes_close_and_what_touches(scene):
    table = run("contacts", scene, "--clearance", 0.1, *OPTIONS).stdout
    near, through, tip = (
        next(line for line in table.splitlines() if name in line) for name in ("Near", "Through", "Tip")
    )
    begins = {name: f"{frame:.7f}"[:-2] for name, frame in CLOSER.items()}  # frames are rounded down
    assert begins["Near"] in near and "gap 0.0300" in near
    assert " 0.1000" in through and "gap" not in through and "-0." not in table
    assert begins["Through"] in through
    assert "gap 0.0500" in tip


def test_table_for_a_spreadsheet_has_gap_or_depth(scene, tmp_path):
    run("contacts", scene, "--clearance", 0.1, *OPTIONS, "-q", "-o", tmp_path / "out.csv")
    heading, *rows = (line.split(",") for line in (tmp_path / "out.csv").read_text("utf-8").splitlines())
    columns = [heading.index(name) for name in ("depth", "gap")]
    cells = {row[0]: tuple(row[column] for column in columns) for row in rows if row[0]}
    assert cells == {
        "Near": ("", "0.03"),
        "Through": ("0.1", ""),
        "Tip": ("", "0.05"),
    }


def test_scan_without_a_clearance_has_neither_clearance_nor_gap(scene, tmp_path):
    found = contacts_of(scene, tmp_path / "out.json", "--clearance", 0)
    assert list(found) == ["Through"] and "clearance" not in found["Through"]
    assert found["Through"]["first"]["frame"] == pytest.approx(TOUCH, abs=1e-4)


def test_contacts_of_meshes_count_if_they_come_closer_than_the_clearance(scene, tmp_path):
    """The mesh of Tip stays away."""
    target = tmp_path / "out.json"
    contacts_of(scene, target, *MESHES)
    options = ("--clearance", 0.1, "-q", *OPTIONS, *MESHES)
    for name, code in {"Near": 1, "Through": 1, "Tip": 0}.items():
        assert run("contacts", scene, *options, "--a", name, "--fail-on-contact").returncode == code
    again = (
        "contacts",
        scene,
        *options,
        "--baseline",
        target,
        "-o",
        tmp_path / "again.json",
        "--fail-on-new",
    )
    assert run(*again).returncode == 0
    compared = json.loads((tmp_path / "again.json").read_text("utf-8"))["extras"]["baseline"]
    assert (compared["new"], compared["gone"], compared["unchanged"]) == ([], [], 2)


@pytest.mark.parametrize("is_played", [False, True])
@pytest.mark.parametrize("is_before", [True, False])
@pytest.mark.parametrize("shape", ["aabb", "obb", "mesh", *LONG])
def test_closest_frame_at_a_jump_shows_the_closest_approach(shape, is_before, is_played):
    """Wall is near the mover until frame 5, or from then on, and jumps. The mover is nearest at frame 5."""
    wall, mover = add_vertices("Wall", CUBE, BOX), add_vertices("Mover", CUBE / 4, BOX)
    near, away = (0, 0, 0), (0, 30, 0)
    places = (near, away) if is_before else (away, near)
    key(wall, "location", [(1, places[0]), (5, places[1])], "CONSTANT")
    key(mover, "location", [(1, (6, 0, 0)), (5, (2, 0, 0)), (9, (6, 0, 0))])
    bpy.context.scene.frame_end = 9
    if is_played:
        play(mover)
    fit = FitSettings(parts=2, part_shape="box")
    (contact,) = scan_scene(shape=shape, clearance=3.0, fit=fit).report.contacts
    (details,) = contact.details
    assert contact.depth == details.depth and contact.deepest_frame == details.deepest_frame
    written = round(contact.deepest_frame, 6)
    go_to(written)
    places = matrices_of(("Wall", "Mover"), np.array([written]))
    assert places["Wall"][0, 1, 3] == 0, written
    assert places["Mover"][0, 0, 3] == pytest.approx(2, abs=2e-3)


@pytest.mark.parametrize("shape", ["aabb", "obb", "mesh", *LONG])
def test_objects_that_jump_at_the_same_frame_do_not_meet_in_between(shape):
    """The motion of Wall is known, and Mover is evaluated. Mover comes to where Wall was until then."""
    wall, mover = add_vertices("Wall", CUBE, BOX), add_vertices("Mover", CUBE / 4, BOX)
    here, there, beyond = (0, 0, 0), (0, 30, 0), (30, 0, 0)
    key(wall, "location", [(1, here), (5, there), (9, here)], "CONSTANT")
    key(mover, "location", [(1, beyond), (5, here), (9, beyond)], "CONSTANT")
    bpy.context.scene.frame_end = 9
    play(mover)
    fit = FitSettings(parts=2, part_shape="box")
    for clearance in (0.0, 3.0):
        assert scan_scene(shape=shape, clearance=clearance, fit=fit).report.contacts == ()
