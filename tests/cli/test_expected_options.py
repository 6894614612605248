"""The command line as people expect it: version, frames, suffixes, links, and names of any kind."""

from __future__ import annotations

import json
import os
import shutil
import tomllib

import pytest

from addon.cli.parser import parse_arguments
from tests.cli.command_line import IN_PROCESS_AND_AS_PROGRAM, Run, run
from tests.paths import TOP

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX links and pipes")


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
    check_refused(done, f"{target}: the name must end in .json, .csv or .gltf; for another name add --format")
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
