"""The command line as people expect it: version, frames, suffixes, links, and names of any kind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import bpy
import pytest

from addon.cli.parser import parse_arguments
from tests.cli.command_line import IN_PROCESS_AND_AS_PROGRAM, SCRIPT, Run, run
from tests.paths import TOP
from tests.scene.building import CUBE, CUBE_FACES, add_vertices, key_location, open_empty_file
from tests.scene.byte_names import save_scene_with_byte_names

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX links and pipes")

KNOWN_SUFFIXES = ".json, .csv, .gltf, .urdf, .xml, .usda or .yml"


def check_refused(done, message: str) -> None:
    """Check that a run ended with one line on standard error that begins with a message."""
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"collision_bounds: {message}")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("run", IN_PROCESS_AND_AS_PROGRAM)
def test_version_is_that_of_the_manifest(run: Run):
    manifest = tomllib.loads((TOP / "blender_manifest.toml").read_text("utf-8"))
    done = run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"Collision Bounds {manifest['version']}\n", "")


@pytest.mark.parametrize("command", [("contacts",), ("bounds", "--tracks")], ids=" ".join)
def test_single_number_selects_one_frame(scene, command):
    done = run(*command, scene, "-o", "-", "--frames", "10.5")
    assert done.stdout == run(*command, scene, "-o", "-", "--frames", "10.5:10.5").stdout
    time = json.loads(done.stdout)["time"]
    assert (time["frameStart"], time["frameEnd"]) == (10.5, 10.5)


def test_single_frame_may_be_negative():
    for text, frames in (("-5", (-5, -5, 1)), ("1:9", (1, 9, 1)), ("1:9:.5", (1, 9, 0.5))):
        assert parse_arguments(["contacts", "a.blend", "--frames", text], opens_file=True).frames == frames


@pytest.mark.parametrize("command", ["bounds", "contacts"])
@pytest.mark.parametrize("name", ["page.html", "report", "report.json.txt", ".json~"])
def test_output_without_known_suffix_needs_format(scene, tmp_path, command, name):
    target = tmp_path / name
    done = run(command, scene, "-o", target)
    check_refused(done, f"{target}: the name must end in {KNOWN_SUFFIXES}; for another name add --format")
    assert not target.exists()
    assert run(command, scene, "-q", "-o", target, "--format", "csv").returncode == 0
    assert target.read_text("utf-8").startswith({"bounds": "id,", "contacts": "a,"}[command])


@posix
def test_pipes_and_devices_need_no_suffix(scene, tmp_path):
    done = run("bounds", scene, "-o", "/dev/stdout")
    assert (done.returncode, done.stdout) == (0, run("bounds", scene, "-o", "-").stdout)
    assert json.loads(done.stdout)["format"] == "collision-bounds"
    assert run("bounds", scene, "-q", "-o", os.devnull).returncode == 0
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert run("bounds", scene, "-q", "-o", tmp_path / "pipe").returncode == 0
        assert json.loads(os.read(reader, 1 << 20))["format"] == "collision-bounds"
    finally:
        os.close(reader)


@pytest.mark.parametrize("command", ["bounds", "contacts"])
def test_second_scene_file_is_named_as_such(scene, tmp_path, command):
    for name in ("b.blend", "b.GLB"):
        check_refused(run(command, scene, name), f"{name}: is a second scene file; each run reads one")
    check_refused(run(command, scene, "b.json"), "unexpected argument 'b.json': only one file per run")
    done = run("validate", tmp_path / "a.json", "b.blend")
    check_refused(done, "unexpected argument 'b.blend': only one file per run")


@posix
def test_link_to_scene_is_refused(scene, tmp_path):
    other = tmp_path / "other.blend"
    shutil.copy(scene, other)
    os.link(scene, tmp_path / "hard.json")
    for name, target in {
        "first.json": "other.blend",
        "second.json": "first.json",
        "new.json": "new.blend",
        "itself.json": "hard.json",
    }.items():
        (tmp_path / name).symlink_to(target)
    before = scene.read_bytes(), other.read_bytes()
    for name, message in {
        "first.json": f"is a link to the scene file {other}; choose another name",
        "second.json": f"is a link to the scene file {other}; choose another name",
        "new.json": f"is a link to the scene file {tmp_path / 'new.blend'}; choose another name",
        "hard.json": "is the scene file itself; choose another name",
        "itself.json": "is the scene file itself; choose another name",
    }.items():
        for format in ((), ("--format", "csv")):
            done = run("bounds", scene, "-o", tmp_path / name, *format)
            check_refused(done, f"{tmp_path / name}: {message}")
    assert (scene.read_bytes(), other.read_bytes()) == before
    assert not (tmp_path / "new.blend").exists()


@posix
def test_links_select_the_format_by_their_own_name_before_that_of_their_target(scene, tmp_path):
    for name, target, start in (
        ("latest.csv", "run.json", "id,"),
        ("latest", "run.csv", "id,"),
        ("latest.json", "0f3a", "{"),
    ):
        (tmp_path / name).symlink_to(target)
        assert run("bounds", scene, "-q", "-o", tmp_path / name).returncode == 0
        assert (tmp_path / target).read_text("utf-8").startswith(start)
        assert (tmp_path / name).is_symlink()


@posix
def test_circular_and_dangling_links_are_refused_before_the_scene_is_read(tmp_path):
    scene = tmp_path / "missing.blend"  # never opened, or the message would name it
    for name, target in (("a.json", "b.json"), ("b.json", "a.json"), ("far.json", "gone/far.json")):
        (tmp_path / name).symlink_to(target)
    (tmp_path / "folder").symlink_to("folder")
    for target, message in {
        tmp_path / "a.json": "cannot be written (its links form a circle)",
        tmp_path / "folder" / "a.json": "cannot be written (its links form a circle)",
        tmp_path / "far.json": f"the folder {tmp_path / 'gone'} does not exist",
        tmp_path / "no" / "such.json": f"the folder {tmp_path / 'no'} does not exist",
    }.items():
        check_refused(run("bounds", scene, "-o", target), f"{target}: {message}\n")
    assert (tmp_path / "a.json").is_symlink()


@pytest.fixture(scope="module")
def byte_names(tmp_path_factory) -> Path:
    """Return the path of a scene with names that are not UTF-8; the name of the file is not, either."""
    path = tmp_path_factory.mktemp("names") / "stage.blend"
    save_scene_with_byte_names(path)
    return path.rename(os.fsdecode(os.fsencode(path).replace(b"stage", b"caf\xe9")))


BYTES_SHOWN = [r"Bad\xe9", r"Bad\xff", r"Bad\xff", "Good"]


@posix
@pytest.mark.parametrize("command", ["bounds", "contacts"])
def test_names_that_are_not_utf8_are_shown_as_bytes(byte_names, tmp_path, command):
    target = os.fsencode(tmp_path) + b"/caf\xe9.json"
    done = run(command, byte_names, "-o", os.fsdecode(target))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(f"\nWritten: {tmp_path}/caf\\xe9.json\n")
    document = json.loads(Path(os.fsdecode(target)).read_bytes().decode("utf-8"))
    assert document["source"] == {"file": r"caf\xe9.blend", "scene": r"Stage\xfc"}
    assert [entry["name"] for entry in document["objects"]] == BYTES_SHOWN
    ids = [entry["id"] for entry in document["objects"]]
    assert ids == [r"Bad\xe9", r"Bad\xff", r"Bad\xff#2", "Good"]
    # Good is 1 wide, and moves from x = -10 by 2 a frame. Those at rest are 1 wide, at 0, 5 and 50.
    first = {contact["a"]: contact["first"]["frame"] for contact in document["contacts"]}
    if command == "contacts":
        assert first[r"Bad\xe9"] == pytest.approx(8, abs=1e-3)
        assert len(first) == 2
    valid = run("validate", os.fsdecode(target))
    assert (valid.returncode, valid.stderr) == (0, "")
    assert valid.stdout.startswith(f"{tmp_path}/caf\\xe9.json: valid (4 objects")


@posix
@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (("--objects", r"Bad\xe9"), BYTES_SHOWN[:1]),
        (("--objects", "Bad\udcff"), BYTES_SHOWN[1:3]),  # the byte itself, as an argument
        (("--objects", r"Bad\x*"), BYTES_SHOWN[:3]),
        (("--collection", r"Home\xe9"), BYTES_SHOWN[:3]),
        (("--envelope", "--tracks"), BYTES_SHOWN),
        (("--shapes", "spheres,hull,obb", "--modifiers", "base"), BYTES_SHOWN),
    ],
)
def test_bounds_find_names_that_are_not_utf8(byte_names, options, shown):
    done = run("bounds", byte_names, "-o", "-", *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert [entry["name"] for entry in json.loads(done.stdout)["objects"]] == shown


@posix
@pytest.mark.parametrize(
    ("options", "pairs"),
    [
        (("--shape", "mesh"), 2),
        (("--obstacles", r"Bad\xe9"), 2),
        (("--a", r"collection:Home\xe9", "--b", "Good"), 2),
        (("--ignore", r"Good:Bad\xe9"), 1),
        (("--ignore", r"collection:Home\x*:Good"), 0),
        (("--ignore-collection",), 2),
    ],
)
def test_contacts_find_names_that_are_not_utf8(byte_names, options, pairs):
    done = run("contacts", byte_names, "-o", "-", *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(json.loads(done.stdout)["contacts"]) == pairs


@posix
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bounds", "n\udce9.blend"), r"n\xe9.blend: does not exist"),
        (("bounds", "SCENE", "-o", "\udce9/a.json"), r"\xe9/a.json: the folder \xe9 does not exist"),
        (("bounds", "SCENE", "-o", "a.\udce9"), r"a.\xe9: the name must end in .json"),
        (("bounds", "SCENE", "b\udce9.blend"), r"b\xe9.blend: is a second scene file"),
        (("bounds", "SCENE", "--\udce9"), r"unknown option --\xe9 ("),
        (("validate", "n\udce9.json"), r"n\xe9.json: cannot be read"),
    ],
)
def test_messages_show_bytes_that_are_not_utf8(scene, arguments, message):
    check_refused(run(*(scene if word == "SCENE" else word for word in arguments)), message)


@posix
@pytest.mark.long
@pytest.mark.parametrize("options", [["-X", "utf8=0"], ["-X", "utf8=1"]], ids=" ".join)
def test_encoding_of_the_terminal_does_not_matter(byte_names, options):
    variables = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}
    for arguments, code in ((["bounds", byte_names, "-o", "-"], 0), (["bounds", f"{byte_names}.blend"], 2)):
        command = [sys.executable, *options, SCRIPT, *arguments]
        done = subprocess.run(command, capture_output=True, env=variables, check=False)
        assert done.returncode == code, done.stderr
        if code == 0:
            assert json.loads(done.stdout.decode("utf-8"))["source"]["file"] == r"caf\xe9.blend"
            assert done.stderr == b""
        else:
            assert rb"caf\xe9.blend.blend: does not exist" in done.stderr


@pytest.mark.long
def test_relative_path_is_that_of_the_working_folder_even_if_PWD_is_another(scene):  # noqa: N802
    command = [sys.executable, SCRIPT, "bounds", scene.name, "-q", "-o", "out.json"]
    variables = {**os.environ, "PWD": "/"}
    done = subprocess.run(command, cwd=scene.parent, capture_output=True, env=variables, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(json.loads((scene.parent / "out.json").read_text("utf-8"))["objects"]) == 2


CONTROLS = [chr(code) for code in (*range(1, 32), *range(127, 160), 0x2028, 0x2029, 0x202E, 0x2066, 0x2069)]
"""Control characters of ASCII and Latin-1, line separators, and characters that change the direction."""


@pytest.fixture(scope="module")
def control_names(tmp_path_factory) -> Path:
    """Return the path of a scene whose objects have names with control characters."""
    open_empty_file()
    for number, sign in enumerate(CONTROLS):
        add_vertices(f"A{sign}[31m", CUBE, location=(number, 0, 0))
    add_vertices("\x1b]0;title\x07", hide_viewport=True)
    key_location(add_vertices("\x1b[2JMoving"), {1: (-9, 0, 0), 9: (9, 0, 0)})
    bpy.context.scene.frame_end = 9
    bpy.context.scene.name = "S\x1b\x9b"
    path = tmp_path_factory.mktemp("controls") / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def check_no_controls(done) -> None:
    """Check that no control character but line breaks reaches the terminal."""
    assert not set(CONTROLS) - {"\n"} & set(done.stdout + done.stderr)


@posix
@pytest.mark.parametrize(
    "command", [("bounds", "--envelope"), ("contacts", "--static-pairs", "--shape", "aabb")], ids=" ".join
)
def test_no_name_controls_the_terminal(control_names, tmp_path, command):
    target = tmp_path / "a\x1b[31m\n\x9b.json"
    done = run(*command, control_names, "-o", target)
    assert done.returncode == 0 and r"\x1b[2JMoving" in done.stdout and r"\x1b]0;title\x07" in done.stdout
    assert done.stdout.endswith("Written: " + str(tmp_path) + "/a\\x1b[31m\\n\\x9b.json\n")
    check_no_controls(done)
    names = {entry["name"] for entry in json.loads(target.read_text("utf-8"))["objects"]}
    assert names >= {f"A{sign}[31m" for sign in CONTROLS}  # the file is data
    done = run("validate", target)
    assert done.returncode == 0
    check_no_controls(done)


@pytest.mark.parametrize("sign", ["\x1b[31m", "\x9b", "\x07", "\u202e", "\r", "\n", "\u2028"], ids=ascii)
def test_no_argument_controls_the_terminal(control_names, tmp_path, sign):
    odd = f"a{sign}b"
    for arguments in (
        ("bounds", control_names, "--objects", odd),
        ("bounds", control_names, "--collection", odd),
        ("bounds", control_names, "--shapes", odd),
        ("bounds", control_names, "--frame", odd),
        ("bounds", control_names, "--box-axes", odd),
        ("bounds", control_names, f"--{odd}"),
        ("bounds", control_names, "-o", f"{odd}.html"),
        ("bounds", control_names, "-o", f"{odd}.blend"),
        ("bounds", control_names, "-o", tmp_path / odd / "a.json"),
        ("bounds", control_names, odd),
        ("bounds", f"{odd}.blend"),
        ("contacts", control_names, "--ignore", f"{odd}:b"),
        ("contacts", control_names, "--a", odd),
        ("contacts", control_names, "--frames", odd),
        ("validate", odd),
        (odd,),
    ):
        done = run(*arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        check_no_controls(done)


@pytest.mark.parametrize("sign", ["\x1b[31m", "\x9b", "\u202e", "\n"], ids=ascii)
def test_no_document_controls_the_terminal_or_fills_it(scene, tmp_path, sign):
    long = f"{sign}x" * 10**5
    good = json.loads(run("bounds", scene, "-o", "-").stdout)
    first, second = good["objects"]
    for changes in (
        {"extras": {long: [1e999]}},
        {long: 1},
        {"version": long},
        {"objects": [{**first, "id": long}, {**second, "id": long}]},
        {"objects": [{**first, "parent": long}, second]},
        {"objects": [{**first, "type": 1, long: 1}, second]},
        {"space": {**good["space"], "up": long}},
    ):
        path = tmp_path / f"a{sign}b.json"
        path.write_text(json.dumps({**good, **changes}).replace("Infinity", "1e999"), "utf-8")
        done = run("validate", path)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert len(done.stderr) < 8000
        check_no_controls(done)


@pytest.fixture(scope="module")
def two_scenes(tmp_path_factory) -> Path:
    r"""Save two scenes; the second has other objects, frames, frame rate, unit, and a name with \x1b."""
    open_empty_file()
    first = bpy.context.scene
    first.name = "First"
    key_location(add_vertices("A", CUBE, CUBE_FACES), {1: (-10, 0, 0), 21: (10, 0, 0)})
    second = bpy.data.scenes.new("Second")
    second.frame_start, second.frame_end, second.frame_current = 1, 21, 6
    second.render.fps, second.unit_settings.scale_length = 30, 0.5
    for name, sign in (("B", 1), ("C", -1)):
        item = add_vertices(name, CUBE, CUBE_FACES)
        first.collection.objects.unlink(item)
        second.collection.objects.link(item)
        key_location(item, {1: (-10 * sign, 0, 0), 21: (10 * sign, 0, 0)})
    bpy.data.scenes.new("\x1b[31m")
    path = tmp_path_factory.mktemp("scenes") / "two.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


@pytest.mark.parametrize("run", IN_PROCESS_AND_AS_PROGRAM)
def test_scene_option_evaluates_that_scene(run: Run, two_scenes, tmp_path):
    def made(*arguments: object):
        done = run(*arguments, "-q", "-o", tmp_path / "a.json")
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads((tmp_path / "a.json").read_text("utf-8"))

    assert made("bounds", two_scenes)["source"]["scene"] == "First"
    for first in (made("bounds", two_scenes), made("bounds", two_scenes, "--scene", "First")):
        assert [entry["id"] for entry in first["objects"]] == ["A"]
    bounds = made("bounds", two_scenes, "--scene", "Second", "--envelope", "--frames", "1:11")
    assert bounds["source"] == {"file": "two.blend", "scene": "Second"}
    assert (bounds["time"]["fps"], bounds["time"]["referenceFrame"]) == (30, 6)
    # By 1 a frame from -10 and 10 at frame 1, with a radius of 1: at -5 and 5 at frame 6.
    assert {entry["id"]: entry["world"]["aabb"]["max"][0] for entry in bounds["objects"]} == {"B": -4, "C": 6}
    assert [entry["envelope"]["aabb"]["min"][0] for entry in bounds["objects"]] == pytest.approx([-11, -1])
    contacts = made("contacts", two_scenes, "--scene", "Second")
    # They are 20 apart and 2 wide, and each moves by 1 a frame: contact 9 frames after frame 1.
    assert contacts["contacts"][0]["first"]["frame"] == pytest.approx(10, abs=1e-3)
    assert (contacts["time"]["frameEnd"], contacts["source"]["scene"]) == (21, "Second")


@pytest.mark.parametrize("command", ["bounds", "contacts"])
def test_unknown_scene_is_refused_with_those_of_the_file(two_scenes, command):
    message = r"scene 'Third': the file has no scene of this name (it has '\x1b[31m', 'First', 'Second')"
    check_refused(run(command, two_scenes, "--scene", "Third"), f"{message}\n")


@posix
def test_scene_with_a_name_that_is_not_utf8_is_found(byte_names):
    done = run("bounds", byte_names, "-o", "-", "--scene", r"Stage\xfc")
    assert json.loads(done.stdout)["source"]["scene"] == r"Stage\xfc"
