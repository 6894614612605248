"""Exit codes of the installed command, and of the script in the Blender application.

`tests/cli/test_exit_codes.py` has the same for the script with bpy as a module.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.paths import TOP
from tests.window.harness import environment_variables, run_blender

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a shell and /dev/full"),
]

FULL = "collision_bounds: standard output: cannot be written (No space left on device)"
CLOSED = "collision_bounds: standard output: cannot be written (it is closed)"
CONTACTS = ("contacts", "--frames", "24:25", "--fail-on-contact")
ENTRY_POINTS = pytest.mark.parametrize("entry_point", ["command", "script"])


@pytest.fixture
def program(entry_point: str, installed: Path, bare: Path, example: Path) -> tuple[Path, list[str]]:
    """Return the home folder and the command line up to the command of Collision Bounds."""
    blender = os.environ["BLENDER"]
    if entry_point == "command":
        return installed, [blender, str(example), "--command", "collision_bounds"]
    script = str(TOP / "scripts" / "collision_bounds.py")
    return bare, [blender, "-b", str(example), "--python-exit-code", "3", "--python", script, "--"]


def in_shell(program: tuple[Path, list[str]], command: str) -> subprocess.CompletedProcess[str]:
    """Run a line of Bash, in which "$@" is the program; standard error has the lines of the command only."""
    home, words = program
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail\n{command}", "bash", *words],
        cwd=TOP,
        env=environment_variables(home),
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith(("collision_bounds", "Traceback"))]
    done.stderr = "\n".join(lines)
    return done


@ENTRY_POINTS
@pytest.mark.parametrize(
    ("command", "exit_code", "message"),
    [
        ('"$@" > /dev/null', 1, ""),
        ('"$@" --contact-exit-code 10 > /dev/null', 10, ""),
        ('"$@" > /dev/full', 2, FULL),
        ('"$@" -o - > /dev/full', 2, FULL),
        ('"$@" --help > /dev/full', 2, FULL),
        ('"$@" >&-', 2, CLOSED),
        ('"$@" -q >&-', 1, ""),
        ('"$@" 2>&-', 1, ""),
        ('"$@" 2> /dev/full', 1, ""),
        ('"$@" --banana 2> /dev/full', 2, ""),
        ('"$@" -o - | head -1', 1, ""),
    ],
)
def test_streams(program: tuple[Path, list[str]], command: str, exit_code: int, message: str) -> None:
    done = in_shell(program, command.replace('"$@"', f'"$@" {" ".join(CONTACTS)}'))
    assert (done.returncode, done.stderr) == (exit_code, message)


@ENTRY_POINTS
@pytest.mark.parametrize(
    ("number", "name"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")], ids=["SIGINT", "SIGTERM"]
)
def test_signal_stops_scan(program: tuple[Path, list[str]], number: int, name: str, tmp_path: Path) -> None:
    home, words = program
    target, log = tmp_path / "old.json", tmp_path / "log.txt"
    target.write_text("old")
    with log.open("w") as errors:
        process = subprocess.Popen(
            [*words, "contacts", "--frames", "1:1000000", "-o", str(target)],
            cwd=TOP,
            env=environment_variables(home),
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
    # From the moment at which the command handles SIGTERM, which Blender does not.
    while process.poll() is None and not handles_sigterm(process.pid):
        time.sleep(0.05)
    time.sleep(2)
    process.send_signal(number)
    assert process.wait(timeout=120) == 130
    (line,) = [line for line in log.read_text().splitlines() if line.startswith("collision_bounds")]
    assert line.startswith(f"collision_bounds: stopped by {name}")
    assert target.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.txt", "old.json"]


def handles_sigterm(pid: int) -> bool:
    """Return whether a process has a handler for SIGTERM."""
    status = Path(f"/proc/{pid}/status").read_text()
    mask = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(mask, 16) >> (signal.SIGTERM - 1) & 1)


def test_broken_checkout_is_exit_code_3(bare: Path, example: Path, tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    script = tmp_path / "scripts" / "collision_bounds.py"
    script.write_text((TOP / "scripts" / "collision_bounds.py").read_text())
    done = run_blender(bare, "-b", example, "--python", script, "--", *CONTACTS)
    assert done.returncode == 3
    assert "Traceback" in done.stderr


SCRIPT_IN_BLENDER = (
    "-b",
    "--python-exit-code",
    "3",
    "--python",
    TOP / "scripts" / "collision_bounds.py",
    "--",
)


def test_script_opens_scene_that_follows_the_command(bare: Path, example: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.blend").write_text("no scene")
    command, *options = CONTACTS
    for scene, exit_code, message in (
        (example, 1, None),
        (tmp_path / "broken.blend", 2, "broken.blend: Blender cannot read it"),
        (tmp_path / "missing.blend", 2, "missing.blend: does not exist"),
    ):
        done = run_blender(bare, *SCRIPT_IN_BLENDER, command, scene, "-q", *options)
        assert done.returncode == exit_code, done.stderr
        lines = [line for line in done.stderr.splitlines() if line.startswith("collision_bounds")]
        assert [message in line for line in lines] == ([True] if message else [])
    done = run_blender(bare, *SCRIPT_IN_BLENDER, command, "-q", *options)
    assert done.returncode == 2 and "required: SCENE" in done.stderr


def test_unreadable_scene_before_the_script_is_code_1_of_blender(bare: Path, tmp_path: Path) -> None:
    done = run_blender(bare, "-b", tmp_path / "missing.blend", *SCRIPT_IN_BLENDER[1:], *CONTACTS)
    assert done.returncode == 1 and "collision_bounds" not in done.stderr


def test_codes_of_blender_are_as_documented(bare: Path, example: Path, tmp_path: Path) -> None:
    assert run_blender(bare, example, "--command", "collision_bounds", *CONTACTS).returncode == 1
    missing = ("--python", tmp_path / "missing.py", "--", *CONTACTS)
    assert run_blender(bare, "-b", example, *missing).returncode == 0
    assert run_blender(bare, "-b", example, "--python-exit-code", "3", *missing).returncode == 3
