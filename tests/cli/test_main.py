"""Commands: documents, tables and exit codes.

Most tests run the command line in this process. A few start it as a program, as scripts do. Those that open a
scene in a program are long, because starting Blender takes more than a second of processor time.
"""

from __future__ import annotations

import json

import bpy
import pytest

from tests.cli.command_line import IN_PROCESS_AND_AS_PROGRAM, Run, run, start
from tests.scene.mesh_truth import boxes_and_meshes
from tests.scene.mesh_truth.boxes_and_meshes import add_octahedron
from tests.scene.sampling import add_box, add_points, key


@pytest.mark.parametrize("run", IN_PROCESS_AND_AS_PROGRAM)
def test_bounds_and_contacts_write_documents_that_validate(run: Run, scene, tmp_path):
    for command in ("bounds", "contacts"):
        target = tmp_path / f"{command}.json"
        done = run(command, scene, "-o", target)
        assert (done.returncode, done.stderr) == (0, "")
        assert "Bl\u00f6ck \U0001f9f1" in done.stdout
        checked = run("validate", target)
        assert (checked.returncode, checked.stderr) == (0, "")
    # One meter per frame from -10 at frame 1; the half sizes add up to 1: contact at frame 10.
    (contact,) = json.loads(target.read_text("utf-8"))["contacts"]
    assert contact["first"]["frame"] == pytest.approx(10, abs=1e-5)


@pytest.mark.parametrize("run", IN_PROCESS_AND_AS_PROGRAM)
def test_dash_writes_nothing_but_the_document_to_standard_output(run: Run, scene):
    done = run("contacts", scene, "-o", "-")
    assert len(json.loads(done.stdout)["contacts"]) == 1
    assert done.stderr == ""


@pytest.mark.usefixtures("empty_file")
def test_empty_scene_has_no_bounds(tmp_path):
    path = tmp_path / "empty.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    for command in ("bounds", "contacts"):
        done = run(command, path)
        assert (done.returncode, done.stdout) == (0, "No objects with bounds.\n")
        for options in ((), ("-q",), ("-q", "-o", tmp_path / "empty.json"), ("-o", "-")):
            done = run(command, path, *options)
            assert (done.returncode, done.stderr) == (
                0,
                "collision_bounds: warning: no objects with bounds\n",
            )


def test_check_of_nothing_is_a_warning_also_if_quiet(scene):
    done = run("bounds", scene, "-q", "--padding", "-1")
    warning = "collision_bounds: warning: no objects with bounds, 2 skipped\n"
    assert (done.returncode, done.stderr) == (0, warning)
    done = run("contacts", scene, "-q", "--fail-on-contact", "--objects", "Dot")
    warning = "collision_bounds: warning: only one object was checked, so there are no pairs that can touch\n"
    assert (done.returncode, done.stderr) == (0, warning)


@pytest.mark.parametrize("run", [pytest.param(run, id="in process"), pytest.param(start, id="program")])
@pytest.mark.parametrize(
    ("arguments", "option"), [(("--help",), "validate"), (("contacts", "--help"), "--fail-on-contact")]
)
def test_help_lists_the_options(run: Run, arguments, option):
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert option in done.stdout


@pytest.mark.parametrize("run", IN_PROCESS_AND_AS_PROGRAM)
def test_exit_code_of_contacts_differs_from_bad_input(run: Run, scene):
    assert run("contacts", scene, "-q", "--fail-on-contact").returncode == 1
    assert run("contacts", scene, "-q", "--fail-on-contact", "--frames", "1:5").returncode == 0
    assert run("contacts", scene, "-q").returncode == 0


def test_negative_padding_may_have_exponent(scene):
    document = json.loads(run("bounds", scene, "-o", "-", "--padding", "-1e-1").stdout)
    # Half a meter to each side of the origin, minus a tenth.
    dot = next(entry for entry in document["objects"] if entry["name"] == "Dot")
    assert dot["local"]["aabb"]["max"] == pytest.approx([0.4, 0.4, 0.4], abs=1e-6)


def test_frames_may_be_negative_and_fractional(scene):
    done = run("contacts", scene, "-o", "-", "--frames", "-2.5:10.25:0.5", "--motion", "linear")
    document = json.loads(done.stdout)
    time = document["time"]
    assert (time["frameStart"], time["frameEnd"], time["frameStep"]) == (-2.5, 10.25, 0.5)
    assert document["contacts"][0]["motion"] == "linear"
    # One meter per frame from -10 at frame 1; the half sizes add up to 1: contact at frame 10.
    assert document["contacts"][0]["first"]["frame"] == pytest.approx(10, abs=1e-5)


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ((), True),
        (("--a", "Dot", "--b", "Bl*"), True),
        (("--a", "Dot", "--b", "Dot"), False),
        (("--ignore", "Bl*:Dot"), False),
        (("--ignore-collection", "--static-pairs", "--no-ignore-parents"), True),
    ],
)
def test_pair_options_filter_pairs(scene, arguments, found):
    done = run("contacts", scene, "-q", "--fail-on-contact", *arguments)
    assert (done.returncode, done.stderr) == (int(found), "")


def test_validate_names_file_and_path_in_document(tmp_path, scene):
    good = tmp_path / "good.json"
    run("bounds", scene, "-q", "-o", good)
    document = json.loads(good.read_text("utf-8"))
    document["objects"][1]["world"]["aabb"]["min"][0] = 1e6
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(document))
    done = run("validate", wrong)
    assert done.returncode == 2
    assert "wrong.json: objects[1].world.aabb: min > max" in done.stderr
    assert done.stderr.count("\n") == 1


def test_envelopes_and_tracks_are_written_and_validate(scene, tmp_path):
    target = tmp_path / "played.json"
    done = run("bounds", scene, "--envelope", "--tracks", "--frames", "3:11:2", "-o", target)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Envelopes, frames 3 to 11" in done.stdout
    assert "2 tracks" in done.stdout
    assert run("validate", target).returncode == 0
    document = json.loads(target.read_text("utf-8"))
    time = document["time"]
    assert (time["frameStart"], time["frameEnd"], time["frameStep"]) == (3, 11, 2)
    dot = next(entry for entry in document["objects"] if entry["name"] == "Dot")
    # From -8 at frame 3 to 0 at frame 11, half a meter to each side.
    assert dot["envelope"]["aabb"]["min"] == pytest.approx([-8.5, -0.5, -0.5], abs=1e-5)
    assert dot["envelope"]["aabb"]["max"] == pytest.approx([0.5, 0.5, 0.5], abs=1e-5)
    track = next(entry for entry in document["tracks"] if entry["object"] == dot["id"])
    assert track["frames"] == [3, 5, 7, 9, 11]
    assert [low[0] for low in track["aabb"]["mins"]] == pytest.approx(
        [-8.5, -6.5, -4.5, -2.5, -0.5], abs=1e-5
    )


def test_envelopes_use_scene_range_by_default(scene):
    document = json.loads(run("bounds", scene, "--envelope", "-o", "-").stdout)
    dot = next(entry for entry in document["objects"] if entry["name"] == "Dot")
    assert dot["envelope"]["aabb"]["min"][0] == pytest.approx(-10.5, abs=1e-5)
    assert document["tracks"] == []
    plain = json.loads(run("bounds", scene, "-o", "-").stdout)
    for entry in document["objects"]:
        del entry["envelope"]
    assert document == plain


@pytest.fixture
def tip_through_cube(empty_file, tmp_path):
    """Scene in which the tip of an octahedron moves through a cube of side 1, and through a lone point."""
    key(add_octahedron("Mover"), "location", [(1, (-10, 1.2, 0)), (21, (10, 1.2, 0))])
    add_box("Wall", (0.5, 0.5, 0.5))
    add_points("Dot", [(0, 0.4, 0)])
    bpy.context.scene.frame_end = 21
    path = tmp_path / "meshes.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def test_contacts_of_meshes_are_those_of_triangles_and_objects_without_faces_are_skipped(
    tip_through_cube, tmp_path
):
    contacts, outputs = {}, {}
    for shape in ("aabb", "mesh"):
        target = tmp_path / f"{shape}.json"
        done = run("contacts", tip_through_cube, "--shape", shape, "-o", target)
        assert (done.returncode, run("validate", target).returncode) == (0, 0)
        document, outputs[shape] = json.loads(target.read_text("utf-8")), done.stdout
        contacts |= {(shape, each["a"], each["b"]): each for each in document["contacts"]}
        skipped = [("Dot", "skipped at frame 1: no faces")] if shape == "mesh" else []
        assert [(each["name"], each["reason"]) for each in document["skipped"]] == skipped
    of_meshes = {pair for pair in contacts if pair[0] == "mesh"}
    assert of_meshes == {("mesh", "Mover", "Wall")} < {*contacts} - {("aabb", "Dot", "Mover")}
    # The boxes touch where the centers are 1.5 apart along X, and the meshes where 0.3 of the tip is behind
    # the side of the cube, so 0.8 apart.
    for shape, apart in (("aabb", 1.5), ("mesh", 0.8)):
        found = contacts[shape, "Mover", "Wall"]
        assert (found["motion"], found["shape"]) == ("proven", shape)
        assert found["first"]["frame"] == pytest.approx(11 - apart, abs=1e-5)
        assert [found["intervals"][0]["end"]] == pytest.approx([11 + apart], abs=1e-3)
    assert "10.200000" in outputs["mesh"] and "Dot: skipped at frame 1: no faces" in outputs["mesh"]


@pytest.mark.usefixtures("empty_file")
def test_scan_without_options_is_of_meshes(tmp_path):
    boxes_and_meshes.build()
    path, target = tmp_path / "scene.blend", tmp_path / "contacts.json"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    for options, shown, expected in (
        ((), "meshes", boxes_and_meshes.OF_MESHES),
        (("--shape", "aabb"), "bounds", boxes_and_meshes.OF_BOXES),
    ):
        done = run("contacts", path, "-o", target, *options)
        assert f"Scanned: {shown}, frames 1 to 21" in done.stdout
        contacts = json.loads(target.read_text("utf-8"))["contacts"]
        found = {frozenset((each["a"], each["b"])): each["first"]["frame"] for each in contacts}
        assert found == pytest.approx(expected, abs=1e-5)


def test_depth_of_meshes_is_that_of_the_deepest_frame(tip_through_cube):
    """The tip is 0.3 below a side of the cube at frame 11, where no other side is nearer."""
    (contact,) = json.loads(run("contacts", tip_through_cube, "--shape", "mesh", "-o", "-").stdout)[
        "contacts"
    ]
    assert contact["deepest"]["depth"] == pytest.approx(0.3, abs=3e-3)


def test_contacts_of_convex_parts(scene):
    done = run("contacts", scene, "-o", "-", "--shape", "compound")
    (contact,) = json.loads(done.stdout)["contacts"]
    assert contact["shape"] == "compound"
    # The same cubes as above, of one part each.
    assert contact["first"]["frame"] == pytest.approx(10, abs=1e-3)
    assert contact["first"]["uncertainty"] < 1e-3
    assert run("contacts", scene, "-o", "-", "--parts", "8").stdout == done.stdout
