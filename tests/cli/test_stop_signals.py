"""Progress on a terminal, Ctrl-C and SIGTERM."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import bpy
import pytest

from addon.cli.process import recorded_signals, run_job
from addon.core import Progress
from tests.cli.command_line import SCRIPT, run
from tests.paths import TOP
from tests.scene.building import play
from tests.tiers import times


def on_terminal(*arguments: object, stop_at: bytes | None = None) -> tuple[int, bytes]:
    """Return exit code and standard error of a terminal; press Ctrl-C once it shows `stop_at`."""
    reader, terminal = os.openpty()
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    shown = b""
    while True:
        try:
            shown += os.read(reader, 4096)
        except OSError:  # the other end was closed
            break
        if stop_at is not None and stop_at in shown:
            process.send_signal(signal.SIGINT)
            stop_at = None
    os.close(reader)
    return process.wait(), shown


def test_progress_is_shown_if_standard_error_is_terminal(scene):
    done = run("contacts", scene, on_terminal=True)
    assert done.returncode == 0
    assert "%  frame " in done.stderr
    assert done.stderr.endswith(" \r")
    assert run("contacts", scene, "-q", on_terminal=True).stderr == ""
    assert run("contacts", scene).stderr == ""


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_terminal_shows_progress_and_then_empty_line(scene):
    code, shown = on_terminal("contacts", scene, "--frames", "1:2000")
    assert code == 0
    assert b"%  frame " in shown
    assert shown.endswith(b" \r")
    assert on_terminal("contacts", scene, "-q") == (0, b"")


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
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
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    play(bpy.data.objects["Dot"])
    bpy.ops.wm.save_mainfile(filepath=str(scene))
    Path(f"{scene}1").unlink()
    target = tmp_path / "old.json"
    target.write_text("old")
    seen = []

    @bpy.app.handlers.persistent
    def press_ctrl_c(*_: object) -> None:
        seen.append(bpy.context.scene.frame_current)
        if seen.count(5) == 1 and seen[-1] == 5:
            signal.raise_signal(signal.SIGINT)
            seen.append("continued")

    before = signal.getsignal(signal.SIGINT)
    bpy.app.handlers.frame_change_post.append(press_ctrl_c)
    try:
        done = run("contacts", scene, "-o", target, "--motion", "linear")
    finally:
        bpy.app.handlers.frame_change_post.remove(press_ctrl_c)
    assert "continued" in seen
    assert done.stdout == ""
    check_stopped(done.returncode, done.stderr, target)
    assert signal.getsignal(signal.SIGINT) == before


# ---- Signals outside of a scan

STOP_LINES = {
    signal.SIGINT: "collision_bounds: stopped by Ctrl-C",
    signal.SIGTERM: "collision_bounds: stopped by SIGTERM",
}
BOTH = pytest.mark.parametrize("number", STOP_LINES, ids=lambda number: number.name)
LINUX = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")

WRITES_A_FILE = """
import sys, time
from pathlib import Path
from addon.cli.process import ignore_late_signals, prepare_process
from addon.formats import remove_unfinished_files, replaced_after

def parts():
    yield "new"
    print("ready", flush=True)
    time.sleep(10 if sys.argv[2] == "early" else 0)

prepare_process(remove_unfinished_files)
with replaced_after(Path(sys.argv[1]), parts()):
    ignore_late_signals()
    print("complete", flush=True)
    time.sleep(0.5)
sys.exit(5)
"""


def is_caught(process: subprocess.Popen[str], number: int) -> bool:
    """Return whether a process has a handler for a signal."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return False
    masks = [line.split()[1] for line in status.splitlines() if line.startswith("SigCgt")]
    return bool(masks) and bool(int(masks[0], 16) >> (number - 1) & 1)


def stopped_after(
    seconds: float, number: signal.Signals, folder: Path, *arguments: object
) -> tuple[int, str, list[str]]:
    """Start the script, and send a signal some time after it handles signals.

    Returns exit code, standard error and the temporary files that it leaves in `folder`.
    """
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    # Python has a handler for Ctrl-C from the beginning.
    while process.poll() is None and not is_caught(process, signal.SIGTERM):
        time.sleep(0.001)
    time.sleep(seconds)
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    return process.returncode, errors, [path.name for path in folder.iterdir()]


@LINUX
@BOTH
def test_signal_during_imports_ends_program_at_once(number, tmp_path):
    assert stopped_after(0, number, tmp_path / "files", "--help") == (130, STOP_LINES[number] + "\n", [])


@LINUX
@pytest.mark.long
def test_signal_at_any_moment_ends_program_with_130_and_leaves_nothing(scene, tmp_path):
    target = scene.with_suffix(".json")
    codes = set()
    count = times(10, full=60)
    for i in range(count):
        number = list(STOP_LINES)[i % 2]
        code, errors, left = stopped_after(
            3 * i / count, number, tmp_path / str(i), "contacts", scene, "-o", target, "--frames", "1:400"
        )
        codes.add(code)
        assert left == []
        if code == 130:
            assert re.fullmatch(STOP_LINES[number] + "( at frame .*, nothing was written)?\n", errors), errors
            assert [path.name for path in scene.parent.iterdir() if path.is_file()] == ["scene.blend"]
        else:
            assert (code, errors) == (0, "")
            target.unlink()
    assert 130 in codes


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("moment", ["early", "late"])
@BOTH
def test_signal_while_file_is_written_keeps_old_file_until_new_one_is_complete(number, moment, tmp_path):
    target = tmp_path / "out.json"
    target.write_text("old")
    process = subprocess.Popen(
        [sys.executable, "-c", WRITES_A_FILE, str(target), moment],
        cwd=TOP,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    if moment == "late":
        assert process.stdout.readline() == "complete\n"
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    stopped = (130, STOP_LINES[number] + "\n", "old")
    finished = (5, "", "new")
    assert (process.returncode, errors, target.read_text()) == (stopped if moment == "early" else finished)
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


@LINUX
@BOTH
def test_ignored_signal_stays_ignored(number, tmp_path):
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), "--help"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_IGN),
    )
    while process.poll() is None:
        assert not is_caught(process, number)
        process.send_signal(number)
        time.sleep(0.01)
    assert (process.returncode, process.communicate()[1]) == (0, "")


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@BOTH
def test_second_signal_of_scan_has_usual_effect(number):
    received = []
    before = signal.signal(number, lambda *_: received.append("usual"))
    usual = signal.getsignal(number)
    try:
        with recorded_signals() as names:
            assert not names
            signal.raise_signal(number)
            assert names == [STOP_LINES[number].rpartition(" ")[2]]
            assert received == []
            signal.raise_signal(number)
            assert received == ["usual"]
        assert signal.getsignal(number) is usual
        signal.signal(number, signal.SIG_IGN)
        with recorded_signals() as names:
            signal.raise_signal(number)
            assert not names
    finally:
        signal.signal(number, before)


@pytest.mark.long
@LINUX
@BOTH
def test_ignored_signal_does_not_stop_scan(number, scene):
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), "contacts", str(scene), "--fail-on-contact"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_IGN),
    )
    while process.poll() is None:
        process.send_signal(number)
        time.sleep(0.01)
    assert (process.returncode, process.communicate()[1]) == (1, "")


def test_request_in_last_part_of_scan_is_not_lost():
    """The job ends before the signal is checked again."""

    def job():
        yield Progress(1, 1, 7.0)
        signal.raise_signal(signal.SIGINT)
        return "result"

    with pytest.raises(KeyboardInterrupt, match="stopped by Ctrl-C at frame 7, nothing was written"):
        run_job(job(), None)
