"""The installed command, the script of the checkout and the button in the window write the same file."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.paths import TOP
from tests.window.harness import Recording, run_blender

pytestmark = pytest.mark.long

SCRIPT = TOP / "scripts" / "collision_bounds.py"
JOBS = ("bounds", "contacts")


def run_command(home: Path, scene: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command of the installed extension."""
    return run_blender(home, scene, "--command", "collision_bounds", *arguments)


def run_script(home: Path, scene: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the script of the checkout, in a Blender without installed extensions."""
    return run_blender(home, "-b", scene, "--python", SCRIPT, "--", *arguments)


@pytest.mark.parametrize("job", JOBS)
def test_all_entry_points_write_the_same_bytes(
    job: str, tour: Recording, installed: Path, bare: Path, example: Path, tmp_path: Path
) -> None:
    scene = tour.folder / "saved.blend"  # with the override that the contacts were found with
    if job == "bounds":  # which were exported before the override was created
        scene = Path(shutil.copyfile(example, tmp_path / scene.name))
    for entry_point, run, home in (("command", run_command, installed), ("script", run_script, bare)):
        path = tmp_path / f"{entry_point}.json"
        ended = run(home, scene, job, "-o", path)
        assert ended.returncode == 0, ended.stderr
        assert path.read_bytes() == (tour.folder / f"{job}.json").read_bytes(), entry_point


def test_fail_on_contact_sets_exit_code_1(installed: Path, bare: Path, example: Path) -> None:
    for run, home in ((run_command, installed), (run_script, bare)):
        assert run(home, example, "contacts", "-q", "--fail-on-contact").returncode == 1


def test_bad_option_prints_one_line_and_sets_exit_code_2(installed: Path, bare: Path, example: Path) -> None:
    for run, home in ((run_command, installed), (run_script, bare)):
        ended = run(home, example, "contacts", "--shape", "banana")
        assert ended.returncode == 2
        messages = [line for line in ended.stderr.splitlines() if line.startswith("collision_bounds:")]
        assert len(messages) == 1 and "banana" in messages[0]
        assert "Traceback" not in ended.stderr and "usage:" not in ended.stderr
