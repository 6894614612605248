"""The command check-colliders: table, JSON report, exit codes and options."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import pytest

from tests.cli.command_line import IN_PROCESS_AND_AS_PROGRAM, Run, run
from tests.scene.building import add_vertices, open_empty_file
from tests.scene.colliders.checking import add_cube, add_tetrahedron


def saved(path: Path) -> Path:
    bpy.context.view_layer.update()
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


@pytest.fixture
def right(tmp_path: Path) -> Path:
    """Return the path of a scene with a box that encloses its mesh."""
    open_empty_file()
    add_vertices("Crate", [(0, 0, 0), (1, 1, 1)])
    add_cube("UBX_Crate_00")
    return saved(tmp_path / "right.blend")


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """Return the path of a scene with three problems."""
    open_empty_file()
    add_vertices("Crate", [(0, 0, 0), (1.3, 1.4, 0)])
    add_cube("UBX_Crate_00")
    crane = add_vertices("Kran\u00eb\x1b", [(0.1, 0.1, 0.1)])
    add_tetrahedron("ucx_Kran\u00eb\x1b_00", parent=crane)
    add_tetrahedron("UCX_Nothing_00")
    return saved(tmp_path / "wrong.blend")


@pytest.mark.parametrize("run", IN_PROCESS_AND_AS_PROGRAM)
def test_right_colliders_have_exit_code_0(run: Run, right):
    done = run("check-colliders", right)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "Collider      Mesh   Engine  Kind  Vertices  Fills\n"
        "UBX_Crate_00  Crate  unreal  box          8      -\n"
        "\n"
        "1 collider, no problems\n"
    )


@pytest.mark.parametrize("run", IN_PROCESS_AND_AS_PROGRAM)
def test_problems_have_exit_code_1_and_one_sentence_each(run: Run, wrong):
    done = run("check-colliders", wrong)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.split("\n\n", 1)[1] == (
        "Crate: has 1 of 2 vertices outside of UBX_Crate_00, by up to 0.5 (vertex 1)\n"
        "UCX_Nothing_00: belongs to no mesh: there is no mesh object named 'Nothing_00' or 'Nothing'\n"
        "ucx_Kran\u00eb\\x1b_00: begins with 'ucx': Unreal needs 'UCX': rename it to "
        "'UCX_Kran\u00eb\\x1b_00'\n"
        "3 colliders, 3 problems\n"
    )


def test_filled_hole_is_a_note_that_leaves_exit_code_0(tmp_path):
    open_empty_file()
    frame = [(0, 0, 0), (4, 0, 0), (4, 0, 4), (0, 0, 4), (1, 0, 1), (3, 0, 1), (3, 0, 3), (1, 0, 3)]
    add_vertices("Frame", frame, [(0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)])
    add_cube("UBX_Frame_00", half=5.0)
    scene = saved(tmp_path / "frame.blend")
    done = run("check-colliders", scene)
    assert (done.returncode, done.stderr) == (0, "")
    table, texts = done.stdout.split("\n\n")
    distance = float(table.split()[-1])
    # The middle of the window is 1 from its sides.
    assert 0.9 < distance <= 1
    assert texts == (
        f"Note: UBX_Frame_00: fills notches or holes of its mesh, up to {distance:.2g} from the surface: "
        "raise Parts to leave them open\n1 collider, no problems, 1 note\n"
    )
    report = json.loads(run("check-colliders", scene, "-o", "-").stdout)
    assert report["colliders"][0]["filled"] == pytest.approx(distance, abs=0.01)
    assert [(note["id"], note["kind"]) for note in report["notes"]] == [("UBX_Frame_00", "filled")]


def test_report_is_written_and_is_the_same_each_time(wrong, tmp_path):
    target = tmp_path / "report.json"
    done = run("check-colliders", wrong, "-o", target)
    assert done.returncode == 1 and done.stdout.endswith(f"\nWritten: {target}\n")
    text = target.read_text("utf-8")
    assert run("check-colliders", wrong, "-o", "-").stdout == text
    report = json.loads(text)
    assert list(report) == ["format", "version", "scene", "colliders", "problems", "notes"]
    assert report["format"] == "collision-bounds-collider-check"
    assert [entry["name"] for entry in report["colliders"]] == [
        "UBX_Crate_00",
        "UCX_Nothing_00",
        "ucx_Kran\u00eb\x1b_00",
    ]
    assert report["colliders"][0] == {
        "name": "UBX_Crate_00",
        "id": "UBX_Crate_00",
        "mesh": "Crate",
        "engine": "unreal",
        "kind": "box",
        "vertices": 8,
        "problems": 0,
        "filled": None,
    }
    problem = report["problems"][0]
    assert (problem["name"], problem["kind"]) == ("Crate", "outside")
    assert problem["outside"]["vertices"] == 1 and problem["outside"]["vertex"] == 1
    assert problem["outside"]["distance"] == pytest.approx(0.5, abs=1e-6)
    assert [entry["kind"] for entry in report["problems"]] == ["outside", "mesh", "name"]


def test_quiet_prints_nothing_but_keeps_the_exit_code(right, wrong, tmp_path):
    for scene, exit_code in ((right, 0), (wrong, 1)):
        done = run("check-colliders", scene, "-q")
        assert (done.returncode, done.stdout, done.stderr) == (exit_code, "", "")
    target = tmp_path / "report"
    done = run("check-colliders", wrong, "-q", "-o", target, "--format", "json")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    assert json.loads(target.read_text("utf-8"))["scene"] == "Scene"


def test_only_selected_colliders_are_checked(wrong):
    assert run("check-colliders", wrong, "--objects", "UBX_*", "-q").returncode == 1
    assert run("check-colliders", wrong, "--objects", "ucx_*").stdout.endswith("\n1 collider, 1 problem\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--objects", "Crane*"), "object 'Crane*': no collider in scene 'Scene' has this name"),
        (("--collection", "Nowhere"), "collection 'Nowhere': scene 'Scene' has no collection of this name"),
        (("-o", "report.csv"), "report.csv: the name must end in .json; for another name add --format json"),
        (("-o", "report.blend"), "report.blend: is the name of a scene file"),
        (("-o", "report.blend1"), "report.blend1: is the name of a scene file"),
        (("--format", "csv"), "argument --format: invalid choice: 'csv'"),
        (("--padding", "1"), "unknown option --padding"),
        (("--bones",), "unknown option --bones"),
        (("--bone-weight", "0.5"), "unknown option --bone-weight"),
        (("--box-axes", "object"), "unknown option --box-axes"),
    ],
)
def test_bad_use_has_exit_code_2(right, options, message):
    done = run("check-colliders", right, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"collision_bounds: {message}")


def test_scene_without_colliders_is_right(tmp_path):
    open_empty_file()
    add_cube("Crate")
    done = run("check-colliders", saved(tmp_path / "none.blend"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "No colliders.\n", "")


def test_names_that_are_not_utf_8_are_written_as_escapes(tmp_path):
    open_empty_file()
    add_vertices("Bad1", [(5, 0, 0)])
    add_cube("UBX_Bad1_00")
    path = tmp_path / "bytes.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    data = path.read_bytes()
    for before, after in ((b"OBBad1", b"OBBad\xff"), (b"OBUBX_Bad1_00", b"OBUBX_Bad\xff_00")):
        assert data.count(before) == 1
        data = data.replace(before, after)
    path.write_bytes(data)
    done = run("check-colliders", path, "-o", "-")
    assert (done.returncode, done.stderr) == (1, "")
    report = json.loads(done.stdout)
    assert [entry["mesh"] for entry in report["colliders"]] == [r"Bad\xff"]
    assert [(entry["id"], entry["kind"]) for entry in report["problems"]] == [(r"Bad\xff", "outside")]


def test_scene_file_is_unchanged(wrong):
    before = wrong.read_bytes()
    run("check-colliders", wrong)
    assert wrong.read_bytes() == before
