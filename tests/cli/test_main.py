"""Command line: exit codes, one line on standard error, documents and tables.

Most tests run it in this process. A few start it as a farm does. Those that open a scene are long, because it
takes more than a second of processor time to start Blender.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import bpy
import pytest

from tests.cli.command_line import SCRIPT, Completed, run, start
from tests.scene.building import CUBE, key_location, open_empty_file
from tests.scene.sampled import add_points

Run = Callable[..., Completed]

IN_PROCESS_AND_AS_PROGRAM = [
    pytest.param(run, id="in process", marks=pytest.mark.smoke),
    pytest.param(start, id="program", marks=pytest.mark.long),
]


@pytest.fixture(scope="module")
def saved_scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    open_empty_file()
    key_location(add_points("Dot", CUBE * 0.5), {1: (-10, 0, 0), 11: (0, 0, 0)})
    add_points("Bl\u00f6ck \U0001f9f1", CUBE * 0.5)
    bpy.context.scene.frame_end = 11
    path = tmp_path_factory.mktemp("saved") / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


@pytest.fixture
def scene(saved_scene: Path, tmp_path: Path) -> Path:
    """Return a copy of the scene for one test, because some tests check that it does not change."""
    return Path(shutil.copy(saved_scene, tmp_path / "scene.blend"))


@pytest.mark.parametrize("run", IN_PROCESS_AND_AS_PROGRAM)
def test_bounds_and_contacts_write_documents_that_validate(run: Run, scene, tmp_path):
    for command in ("bounds", "contacts"):
        target = tmp_path / f"{command}.json"
        done = run(command, scene, "-o", target)
        assert (done.returncode, done.stderr) == (0, "")
        assert "Bl\u00f6ck \U0001f9f1" in done.stdout
        checked = run("validate", target)
        assert (checked.returncode, checked.stderr) == (0, "")
    # A metre a frame from -10 at frame 1, half sizes add up to 1: contact at frame 10.
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
        assert (done.returncode, done.stdout, done.stderr) == (0, "No objects with bounds.\n", "")


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


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("bounds", "MISSING"), "gone.blend"),
        (("bounds", "BROKEN"), "broken.blend"),
        (("bounds", "FOLDER"), "is a folder"),
        (("bounds", "HALF.glb"), "half.glb: Blender cannot read it (struct.error: "),
        (("bounds", "HALF.usd"), "half.usd: Blender cannot read it"),
        (("bounds", "SCENE", "--objects", "Nobody"), "'Nobody'"),
        (("bounds", "SCENE", "--collection", "Nowhere"), "'Nowhere'"),
        (("bounds", "SCENE", "--shapes", "cone"), "'cone'"),
        (("bounds", "SCENE", "--decimals", "2"), "--decimals"),
        (("bounds", "SCENE", "--padding", "nan"), "--padding"),
        (("bounds", "SCENE", "--padding", "-inf"), "'-inf' is not a finite number"),
        (("bounds", "SCENE", "--frames", "1:9"), "--frames"),
        (("bounds", "SCENE", "--envelope", "--frames", "9:1"), "--frames"),
        (("bounds", "SCENE", "--tracks", "--shapes", "obb"), "--shapes obb"),
        (("bounds", "SCENE", "--preset", "custom", "--up", "-Y"), "--forward"),
        (
            (
                "bounds",
                "SCENE",
                *["--preset", "custom", "--up", "+Y", "--forward", "-Y", "--handedness", "left"],
            ),
            "different axes",
        ),
        (("bounds", "SCENE", "--preset", "unity", "--up", "+Z"), "--up"),
        (("bounds", "SCENE", "--format", "3dtiles", "--preset", "gltf"), "--preset"),
        (("contacts", "SCENE", "--format", "3dtiles"), "--format"),
        (("contacts", "SCENE", "--format", "unity"), "--format unity"),
        (("bounds", "SCENE", "--format", "unreal", "--preset", "unity"), "--preset"),
        (("bounds", "SCENE", "--format", "unreal", "--tracks"), "--format unreal"),
        (("bounds", "SCENE", "--format", "unity", "--shapes", "obb"), "--shapes obb"),
        (("bounds", "SCENE", "--format", "gltf", "--shapes", "hull"), "--shapes hull"),
        (("bounds", "SCENE", "--format", "csv", "--envelope"), "--format csv"),
        (("bounds", "SCENE", "--format", "csv", "--shapes", "spheres,hull"), "spheres,hull: a table"),
        (("bounds", "SCENE", "--format", "3dtiles", "--tracks"), "--format 3dtiles"),
        (("contacts", "SCENE", "--frames", "9:1"), "--frames"),
        (("contacts", "SCENE", "--frames", "1:nan"), "--frames"),
        (("contacts", "SCENE", "--frames", "-5"), "--frames"),
        (("contacts", "SCENE", "--frames", "1:9:0.0001"), "1:9:0.0001"),
        (("contacts", "SCENE", "--motion", "curved"), "--motion"),
        (("contacts", "SCENE", "--shape", "cone"), "--shape"),
        (("contacts", "SCENE", "--frames", "1:9:0"), "--frames"),
        (("contacts", "SCENE", "--clearance", "-1"), "--clearance"),
        (("contacts", "SCENE", "--a", "Nobody"), "'Nobody'"),
        (("contacts", "SCENE", "--b", "collection:Nowhere"), "'collection:Nowhere'"),
        (("contacts", "SCENE", "--ignore", "Dot"), "--ignore"),
        (("contacts", "SCENE", "--ignore", "Dot:Nobody"), "'Nobody'"),
        (("contacts", "SCENE", "--unheard-of"), "--unheard-of"),
        (("bounds",), "SCENE"),
        ((), "COMMAND"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2_and_keeps_old_file(scene, tmp_path, arguments, named):
    check_bad_input(run, scene, tmp_path, arguments, named)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), "COMMAND"),
        pytest.param(("bounds", "BROKEN"), "broken.blend", marks=pytest.mark.long),
        # Blender's importers print more than a line of their own.
        pytest.param(
            ("bounds", "HALF.glb"), "half.glb: Blender cannot read it (struct.error: ", marks=pytest.mark.long
        ),
        pytest.param(("bounds", "HALF.usd"), "half.usd: Blender cannot read it", marks=pytest.mark.long),
    ],
)
def test_bad_input_of_the_program_is_one_line_and_exit_code_2(scene, tmp_path, arguments, named):
    check_bad_input(start, scene, tmp_path, arguments, named)


def check_bad_input(run: Run, scene: Path, tmp_path: Path, arguments: tuple[str, ...], named: str) -> None:
    (tmp_path / "broken.blend").write_text("not a scene")
    for ending in ("glb", "usd"):
        (tmp_path / f"half.{ending}").write_bytes(b"glTF\0\0")
    places = {"SCENE": scene, "MISSING": tmp_path / "gone.blend", "BROKEN": tmp_path / "broken.blend"}
    places |= {"FOLDER": tmp_path, "HALF.glb": tmp_path / "half.glb", "HALF.usd": tmp_path / "half.usd"}
    target = tmp_path / "old.json"
    target.write_text("old")
    output = ("-o", target) if len(arguments) > 1 else ()
    done = run(*(places.get(argument, argument) for argument in arguments), *output)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("collision_bounds: ")
    assert named in done.stderr
    assert target.read_text() == "old"


def test_unsupported_request_names_file_or_format(scene, tmp_path):
    for arguments, says in (
        (("contacts", scene, "-o", tmp_path / "a.gltf"), "a.gltf: a glTF file has no place for contacts"),
        (("contacts", scene, "--format", "3dtiles"), "--format 3dtiles: a tileset has no place for contacts"),
        (("bounds", scene, "--tracks", "-o", tmp_path / "a.csv"), "a.csv: a table has no place for --tracks"),
        (("bounds", scene, "--tracks", "--format", "unity"), "--format unity: a file for Unity has no place"),
        (("bounds", scene, "-o", ""), "the name of the file is empty"),
    ):
        done = run(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1 and says in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["scene.blend"]


def test_scene_file_is_never_overwritten(scene, tmp_path):
    imported = tmp_path / "level.gltf"
    assert run("bounds", scene, "-q", "-o", imported).returncode == 0
    (tmp_path / "other").mkdir()
    for opened, target in (
        (scene, scene),
        (scene, tmp_path / "new.glb"),
        (imported, imported),
        (imported, tmp_path / "other" / ".." / "level.gltf"),
    ):
        before = opened.read_bytes()
        done = run("bounds", opened, "-o", target)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"collision_bounds: {target}: is the ")
        assert done.stderr.count("\n") == 1
        assert opened.read_bytes() == before
    assert not (tmp_path / "new.glb").exists()


def test_negative_padding_may_have_exponent(scene):
    document = json.loads(run("bounds", scene, "-o", "-", "--padding", "-1e-1").stdout)
    # Half a metre to each side of the origin, less a tenth.
    dot = next(entry for entry in document["objects"] if entry["name"] == "Dot")
    assert dot["local"]["aabb"]["max"] == pytest.approx([0.4, 0.4, 0.4], abs=1e-6)


def test_custom_axes_equal_to_preset_give_same_numbers(scene):
    known = json.loads(run("bounds", scene, "-o", "-", "--preset", "unreal").stdout)
    asked = ("--preset", "custom", "--up", "+Z", "--forward", "+Y", "--handedness", "left", "--scale", "100")
    custom = json.loads(run("bounds", scene, "-o", "-", *asked).stdout)
    assert custom["objects"] == known["objects"]
    assert custom["space"] == {**known["space"], "preset": "custom"}


def test_csv_suffix_writes_table(scene, tmp_path):
    table = tmp_path / "bounds.CSV"
    assert run("bounds", scene, "-q", "-o", table).returncode == 0
    assert table.read_text("utf-8").startswith("id,name,type,parent,")


def test_contacts_as_csv(scene):
    done = run("contacts", scene, "-o", "-", "--format", "csv")
    heading, row = done.stdout.splitlines()
    found = dict(zip(heading.split(","), row.split(","), strict=True))
    assert float(found["frame"]) == pytest.approx(10, abs=1e-5)


def test_bounds_as_tileset(scene):
    tiles = json.loads(run("bounds", scene, "-o", "-", "--format", "3dtiles").stdout)
    assert len(tiles["root"]["children"]) == 2 and tiles["asset"]["version"] == "1.1"


@pytest.mark.parametrize(("engine", "half"), [("unity", "m_Extent"), ("unreal", "BoxExtent")])
def test_bounds_as_engine_file(scene, engine, half):
    made = json.loads(run("bounds", scene, "-o", "-", "--format", engine).stdout)
    assert len(made["bounds"]) == 2 and half in made["bounds"][0]["world"]


def test_frames_may_be_negative_and_fractional(scene):
    done = run("contacts", scene, "-o", "-", "--frames", "-2.5:10.25:0.5", "--motion", "linear")
    document = json.loads(done.stdout)
    time = document["time"]
    assert (time["frameStart"], time["frameEnd"], time["frameStep"]) == (-2.5, 10.25, 0.5)
    assert document["contacts"][0]["motion"] == "linear"
    # A metre a frame from -10 at frame 1, half sizes add up to 1: contact at frame 10.
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


def on_terminal(*arguments: object, stop_at: bytes | None = None) -> tuple[int, bytes]:
    """Return exit code and standard error of a terminal; press Ctrl-C once it shows `stop_at`."""
    ours, theirs = os.openpty()
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 4096)
        except OSError:  # the other end was closed
            break
        if stop_at is not None and stop_at in shown:
            process.send_signal(signal.SIGINT)
            stop_at = None
    os.close(ours)
    return process.wait(), shown


def test_progress_is_shown_if_standard_error_is_terminal(scene):
    done = run("contacts", scene, on_terminal=True)
    assert done.returncode == 0
    assert "%  frame " in done.stderr
    assert done.stderr.endswith(" \r")
    assert run("contacts", scene, "-q", on_terminal=True).stderr == ""
    assert run("contacts", scene).stderr == ""


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="needs a terminal to look at")
def test_terminal_shows_progress_and_then_empty_line(scene):
    code, shown = on_terminal("contacts", scene, "--frames", "1:2000")
    assert code == 0
    assert b"%  frame " in shown
    assert shown.endswith(b" \r")
    assert on_terminal("contacts", scene, "-q") == (0, b"")


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="needs a terminal to look at")
def test_ctrl_c_is_one_line_with_own_exit_code_and_keeps_old_file(scene, tmp_path):
    target = tmp_path / "old.json"
    target.write_text("old")
    code, shown = on_terminal("contacts", scene, "-o", target, "--frames", "1:1000000", stop_at=b"%  frame ")
    check_stopped(code, shown.replace(b"\r\n", b"\n").rpartition(b"\r")[2].decode(), target)


def check_stopped(exit_code: int, last: str, target: Path) -> None:
    assert exit_code == 130
    assert last.startswith("collision_bounds: stopped by Ctrl-C at frame ")
    assert last.endswith(", nothing was written\n") and last.count("\n") == 1
    assert target.read_text() == "old"
    assert sorted(path.name for path in target.parent.iterdir()) == ["old.json", "scene.blend"]


def test_ctrl_c_in_frame_change_stops_scan_after_it(scene, tmp_path):
    """The scan continues to the end of the frame change, so that a handler of the file is not interrupted."""
    target = tmp_path / "old.json"
    target.write_text("old")
    seen = []

    @bpy.app.handlers.persistent
    def press_ctrl_c(*_: object) -> None:
        seen.append(bpy.context.scene.frame_current)
        if seen.count(5) == 1 and seen[-1] == 5:
            signal.raise_signal(signal.SIGINT)
            seen.append("went on")

    before = signal.getsignal(signal.SIGINT)
    bpy.app.handlers.frame_change_post.append(press_ctrl_c)
    try:
        done = run("contacts", scene, "-o", target, "--motion", "linear")
    finally:
        bpy.app.handlers.frame_change_post.remove(press_ctrl_c)
    assert "went on" in seen
    assert done.stdout == ""
    check_stopped(done.returncode, done.stderr, target)
    assert signal.getsignal(signal.SIGINT) == before


def test_unwritable_output_is_rejected_before_job_starts(scene, tmp_path):
    for target in (tmp_path / "no" / "such" / "folder.json", tmp_path):
        done = run("bounds", scene, "-o", target)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert str(target) in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["scene.blend"]


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
    # From -8 at frame 3 to 0 at frame 11, half a metre to each side.
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


def start_on_full_disk(*arguments: object) -> Completed:
    """Start the program with files limited to 100 bytes, as on a full disk."""
    return start(*arguments, largest_file=100)


def run_on_full_disk(*arguments: object) -> Completed:
    """Run in this process with a limit of 300 bytes, because its output is held in files."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, before[1]))
    try:
        return run(*arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.skipif(os.name != "posix", reason="limits as POSIX has them")
@pytest.mark.parametrize(
    ("carrier", "name"),
    [
        ("json", "a.json"),
        ("csv", "a.csv"),
        ("3dtiles", "t.json"),
        ("gltf", "a.gltf"),
    ],
)
@pytest.mark.parametrize(
    "run",
    [
        pytest.param(run_on_full_disk, id="in process"),
        pytest.param(start_on_full_disk, id="program", marks=pytest.mark.long),
    ],
)
def test_full_disk_is_one_line_and_exit_code_2_and_keeps_old_file(run: Run, scene, tmp_path, carrier, name):
    target = tmp_path / name
    target.write_text("old")
    before = sorted(path.name for path in tmp_path.iterdir())
    done = run("bounds", scene, "--format", carrier, "-o", target)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == f"collision_bounds: {target}: cannot be written (File too large)\n"
    assert target.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_too_long_name_and_folder_are_one_line_and_exit_code_2(scene, tmp_path):
    long = tmp_path / ("ö" * 128 + ".json")  # 261 bytes
    for target, why in ((long, "cannot be written (File name too long)"), (tmp_path, "is a folder")):
        done = run("contacts", scene, "-o", target)
        assert done.returncode == 2
        assert done.stderr.startswith(f"collision_bounds: {target}: {why}")
        assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="links as POSIX has them")
def test_symbolic_link_is_followed_and_kept(scene, tmp_path):
    (tmp_path / "shared").mkdir()
    link = tmp_path / "out.json"
    link.symlink_to(Path("shared", "real.json"))
    assert run("bounds", scene, "-q", "-o", link).returncode == 0
    assert link.is_symlink()
    assert json.loads((tmp_path / "shared" / "real.json").read_text("utf-8"))["format"] == "collision-bounds"
