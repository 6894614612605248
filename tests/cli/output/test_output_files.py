"""Output files: scenes, full disks, invalid names and links."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.command_line import Completed, Run, run, start


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


def test_unwritable_output_is_rejected_before_job_starts(scene, tmp_path):
    for target in (tmp_path / "no" / "such" / "folder.json", tmp_path):
        done = run("bounds", scene, "-o", target)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert str(target) in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["scene.blend"]


def start_on_full_disk(*arguments: object) -> Completed:
    """Start the program with files limited to 100 bytes, as on a full disk."""
    return start(*arguments, largest_file=100)


def run_on_full_disk(*arguments: object) -> Completed:
    """Run in this process with a limit of 300 bytes, because its output is redirected to files."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, before[1]))
    try:
        return run(*arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX limits")
@pytest.mark.parametrize(
    ("file_format", "name"),
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
def test_full_disk_is_one_line_and_exit_code_2_and_keeps_old_file(
    run: Run, scene, tmp_path, file_format, name
):
    target = tmp_path / name
    target.write_text("old")
    before = sorted(path.name for path in tmp_path.iterdir())
    done = run("bounds", scene, "--format", file_format, "-o", target)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == f"collision_bounds: {target}: cannot be written (File too large)\n"
    assert target.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_too_long_name_and_folder_are_one_line_and_exit_code_2(scene, tmp_path):
    long = tmp_path / ("ö" * 128 + ".json")  # 261 bytes
    for target, reason in ((long, "cannot be written (File name too long)"), (tmp_path, "is a folder")):
        done = run("contacts", scene, "-o", target)
        assert done.returncode == 2
        assert done.stderr.startswith(f"collision_bounds: {target}: {reason}")
        assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX links")
def test_symbolic_link_is_followed_and_kept(scene, tmp_path):
    (tmp_path / "shared").mkdir()
    link = tmp_path / "out.json"
    link.symlink_to(Path("shared", "real.json"))
    assert run("bounds", scene, "-q", "-o", link).returncode == 0
    assert link.is_symlink()
    assert json.loads((tmp_path / "shared" / "real.json").read_text("utf-8"))["format"] == "collision-bounds"
