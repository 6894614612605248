"""Installed command, script of the checkout, button in the window: the same file through each door."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.window.harness import TOP, Told, blender

pytestmark = pytest.mark.long

SCRIPT = TOP / "scripts" / "collision_bounds.py"
JOBS = {"bounds": ("bounds",), "contacts": ("contacts", "--shape", "aabb")}


def by_command(home: Path, scene: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """The command of the installed extension."""
    return blender(home, scene, "--command", "collision_bounds", *arguments)


def by_script(home: Path, scene: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """The script of the checkout, in a Blender that has nothing installed."""
    return blender(home, "-b", scene, "--python", SCRIPT, "--", *arguments)


@pytest.mark.parametrize("job", JOBS)
def test_every_door_writes_the_same_bytes(
    job: str, story: Told, installed: Path, bare: Path, example: Path, tmp_path: Path
) -> None:
    scene = story.folder / "saved.blend"  # with the override that the contacts were found with
    if job == "bounds":  # which were exported before there was one
        scene = Path(shutil.copyfile(example, tmp_path / scene.name))
    for door, run, home in (("command", by_command, installed), ("script", by_script, bare)):
        path = tmp_path / f"{door}.json"
        ended = run(home, scene, *JOBS[job], "-o", path)
        assert ended.returncode == 0, ended.stderr
        assert path.read_bytes() == (story.folder / f"{job}.json").read_bytes(), door


def test_contacts_fail_a_build_on_demand(installed: Path, bare: Path, example: Path) -> None:
    for run, home in ((by_command, installed), (by_script, bare)):
        assert run(home, example, *JOBS["contacts"], "-q", "--fail-on-contact").returncode == 1


def test_a_bad_option_is_one_line_and_exit_code_2(installed: Path, bare: Path, example: Path) -> None:
    for run, home in ((by_command, installed), (by_script, bare)):
        ended = run(home, example, "contacts", "--shape", "banana")
        assert ended.returncode == 2
        ours = [line for line in ended.stderr.splitlines() if line.startswith("collision_bounds:")]
        assert len(ours) == 1 and "banana" in ours[0]
        assert "Traceback" not in ended.stderr and "usage:" not in ended.stderr
