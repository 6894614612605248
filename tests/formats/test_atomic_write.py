"""Atomic writing of files, and errors of files that cannot be written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from addon.formats import (
    OutputError,
    remove_unfinished_files,
    replaced_after,
    require_writable,
    write_text,
)

AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX modes and links")


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_text_is_written_as_utf_8_with_lf(tmp_path):
    write_text(tmp_path / "out.json", "Würfel\nend\n")
    assert content(tmp_path) == {"out.json": "Würfel\nend\n".encode()}


@pytest.mark.smoke
def test_old_file_is_replaced_whole(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("something much longer than the new text")
    write_text(path, "new")
    assert content(tmp_path) == {"out.json": b"new"}


class Interrupted(BaseException):
    """Replacement for KeyboardInterrupt, which pytest handles itself."""


@pytest.mark.parametrize("step", ["replace", "chmod", "fsync"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), Interrupted()])
def test_failed_write_keeps_old_file_and_no_other(tmp_path, monkeypatch, step, error):
    path = tmp_path / "out.json"
    path.write_text("old")

    def fail(*arguments):
        raise error

    owner = os if step == "fsync" else Path
    monkeypatch.setattr(owner, step, fail)
    expected = OutputError if isinstance(error, OSError) else Interrupted
    with pytest.raises(expected) as caught:
        write_text(path, "new")
    monkeypatch.undo()
    assert content(tmp_path) == {"out.json": b"old"}
    if expected is OutputError:
        assert str(path) in str(caught.value)
        assert "No space left" in str(caught.value)


def test_invalid_unicode_keeps_old_file(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("old")
    with pytest.raises(OutputError, match=r"out\.json: cannot be written"):
        write_text(path, "half" + "\ud800")
    assert content(tmp_path) == {"out.json": b"old"}


@pytest.mark.parametrize("check", [require_writable, lambda path: write_text(path, "new")])
def test_missing_folder_is_named_and_not_created(tmp_path, check):
    with pytest.raises(OutputError, match=r"out\.json: the folder .*nowhere does not exist"):
        check(tmp_path / "nowhere" / "out.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("check", [require_writable, lambda path: write_text(path, "new")])
def test_folder_as_target_is_refused_and_kept(tmp_path, check):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "kept").write_text("kept")
    with pytest.raises(OutputError, match="out: is a folder"):
        check(tmp_path / "out")
    assert content(tmp_path / "out") == {"kept": b"kept"}


def test_file_as_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("kept")
    with pytest.raises(OutputError, match="does not exist"):
        write_text(tmp_path / "file" / "out.json", "new")
    assert content(tmp_path) == {"file": b"kept"}


def test_name_beyond_limit_of_file_system_is_an_output_error(tmp_path):
    with pytest.raises(OutputError, match=r"cannot be written \(.*too long"):
        write_text(tmp_path / ("a" * 300 + ".json"), "new")
    assert list(tmp_path.iterdir()) == []


def test_long_name_within_limit_is_written(tmp_path):
    name = "n" * 250 + ".json"
    write_text(tmp_path / name, "new")
    assert content(tmp_path) == {name: b"new"}


@POSIX
def test_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "target.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert content(tmp_path / "real") == {"target.json": b"new"}


@POSIX
def test_circular_links_are_an_output_error(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.symlink_to(two)
    two.symlink_to(one)
    with pytest.raises(OutputError, match=r"one: cannot be written \(its links form a circle\)"):
        write_text(one, "new")
    assert one.is_symlink()


@POSIX
def test_mode_of_the_old_file_is_kept(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("old")
    path.chmod(0o640)
    write_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@POSIX
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o027, 0o640)])
def test_new_file_gets_mode_of_umask(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        write_text(tmp_path / "out.json", "new")
        assert os.umask(mask) == mask  # the mask is unchanged
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.json").stat().st_mode) == mode


@POSIX
@pytest.mark.skipif(AS_ROOT, reason="root can write every file")
def test_read_only_file_and_folder_are_refused(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(OutputError, match="no permission"):
        write_text(path, "new")
    assert path.read_text() == "old"
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o555)
    with pytest.raises(OutputError, match="no permission"):
        write_text(folder / "out.json", "new")


def test_error_in_block_keeps_old_file_and_its_own_message(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("old")
    with pytest.raises(OSError, match="on purpose"), replaced_after(path, ["new"]):
        assert len(content(tmp_path)) == 2
        assert path.read_text() == "old"
        raise OSError("on purpose")
    assert content(tmp_path) == {"out.json": b"old"}
    with replaced_after(path, "new"):
        assert path.read_text() == "old"
    assert content(tmp_path) == {"out.json": b"new"}


def test_unfinished_files_are_removed(tmp_path):
    path = tmp_path / "out.json"
    with pytest.raises(OutputError, match=r"out\.json: cannot be written"), replaced_after(path, "new"):
        remove_unfinished_files()
        assert content(tmp_path) == {}
    assert content(tmp_path) == {}
