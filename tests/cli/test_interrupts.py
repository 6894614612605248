"""Progress on a terminal, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import bpy
import pytest

from tests.cli.command_line import SCRIPT, run


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
