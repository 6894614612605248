"""Killed writers, full disks and files of other users, tested in real processes."""

from __future__ import annotations

import os
import random
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import pytest

from addon.formats import CONVENTIONS, FORMAT_NAMES, file_format, file_text, space_for, write_text
from tests.formats import samples
from tests.paths import TOP
from tests.tiers import times

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX limits, users and devices")

WRITER = """
    import sys
    from pathlib import Path
    from addon.formats import write_text

    path = Path(sys.argv[1])
    print("ready", flush=True)
    while True:
        for letter in "ab":
            write_text(path, (letter * 9999 + "\\n" for _ in range(300)))
"""


def process(code: str, *arguments: object, **options) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    # In the checkout, so that `addon` can be imported.
    return subprocess.Popen(command, cwd=TOP, text=True, stdout=subprocess.PIPE, **options)


def other_files_of(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir() if each != path)


@pytest.mark.long
def test_writer_killed_at_random_leaves_whole_file_and_next_writer_cleans_up(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("old")
    whole = {"old", *(f"{letter * 9999}\n" * 300 for letter in "ab")}
    moments = random.Random(0)
    seen, left = set(), 0
    for kills in range(500):
        # A slow machine needs more and later kills to see both letters and a half-written file.
        if kills >= times(10, full=25) and seen >= {"a", "b"} and left:
            break
        writer = process(WRITER, path)
        writer.stdout.readline()
        time.sleep(moments.uniform(0, 0.03) * (1 + kills / 25))
        writer.kill()
        writer.wait()
        writer.stdout.close()
        text = path.read_text()
        assert text in whole, f"{len(text)} characters of {text[:1]!r}"
        seen.add(text[:1])
        # The next writer removed the files of earlier ones, except empty files, which it keeps for a second.
        begun = [name for name in other_files_of(path) if (tmp_path / name).stat().st_size]
        assert len(begun) <= 1
        left += len(begun)
    assert seen >= {"a", "b"}, "no writer replaced the file"
    assert left > 0, "no writer was killed while it wrote"
    time.sleep(1.1)
    write_text(path, "new")
    assert path.read_text() == "new"
    assert other_files_of(path) == []


HALTING_WRITER = """
    import sys
    from pathlib import Path
    from addon.formats import write_text

    def parts():
        yield "x" * 1_000_000
        print("half", flush=True)
        sys.stdin.readline()
        yield "end"

    write_text(Path(sys.argv[1]), parts())
"""


@pytest.mark.smoke
def test_writer_killed_halfway_keeps_old_file_and_next_writer_cleans_up(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("old")
    with process(HALTING_WRITER, path, stdin=subprocess.PIPE) as writer:
        assert writer.stdout.readline() == "half\n"
        writer.kill()
    assert path.read_text() == "old"
    assert len(other_files_of(path)) == 1
    write_text(path, "new")
    assert path.read_text() == "new"
    assert other_files_of(path) == []


def test_temporary_file_of_running_writer_is_kept(tmp_path):
    path = tmp_path / "out.json"
    with process(HALTING_WRITER, path, stdin=subprocess.PIPE) as other:
        assert other.stdout.readline() == "half\n"
        write_text(path, "mine")
        assert len(other_files_of(path)) == 1
        other.communicate("go on\n")
        assert other.returncode == 0
    assert path.read_text() == "x" * 1_000_000 + "end"
    assert other_files_of(path) == []


def test_files_with_similar_names_are_kept(tmp_path):
    for name in (".out.json.tmp", ".out.json.backup.tmp", ".other.json.collision-bounds.ab12.tmp"):
        (tmp_path / name).write_text("kept")
    write_text(tmp_path / "out.json", "new")
    assert len(other_files_of(tmp_path / "out.json")) == 3


def text_in(name):
    """Return a document of a hundred objects as the text of a file in a format."""
    space = space_for(file_format(name).convention or CONVENTIONS["blender"], 0.5)
    objects = [samples.bounds(f"{index}", f"Body {index}") for index in range(100)]
    return file_text(samples.document_of(objects, space), name)


@POSIX
@pytest.mark.parametrize(
    "file_format",
    [
        pytest.param(file_format, marks=[] if file_format in ("json", "csv") else pytest.mark.long)
        for file_format in FORMAT_NAMES
    ],
)
def test_full_disk_keeps_old_file_and_no_other(tmp_path, file_format):
    path = tmp_path / "out"
    path.write_text("old")
    code = """
        import resource, sys
        from pathlib import Path
        from addon.formats import OutputError, write_text
        from tests.formats.test_atomic_write_killed import text_in

        text = list(text_in(sys.argv[2]))
        # Limits the size of files, as a full disk or a quota does.
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            write_text(Path(sys.argv[1]), text)
        except OutputError as error:
            print(error)
    """
    with process(code, path, file_format) as writer:
        output = writer.communicate()[0]
    assert output == f"{path}: cannot be written (File too large)\n"
    assert path.read_text() == "old"
    assert other_files_of(path) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_devices_are_written_and_stay_devices():
    for device, reason in (("/dev/null", None), ("/dev/full", "No space left on device")):
        code = f"""
            from pathlib import Path
            from addon.formats import OutputError, write_text
            try:
                write_text(Path({device!r}), "x" * 100_000)
            except OutputError as error:
                print(error)
        """
        with process(code) as writer:
            output = writer.communicate()[0]
        assert output == (f"{device}: cannot be written ({reason})\n" if reason else "")
        assert stat.S_ISCHR(Path(device).stat().st_mode)


@POSIX
def test_pipe_receives_text(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        write_text(pipe, ["one\n", "two\n"])
        assert reader.communicate()[0] == b"one\ntwo\n"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@POSIX
def test_open_old_file_can_be_read_to_its_end(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("old " * 10_000)
    with path.open() as reader:
        assert reader.read(4) == "old "
        write_text(path, "new")
        assert reader.read() == "old " * 9_999
    assert path.read_text() == "new"


@POSIX
@pytest.mark.skipif(os.name == "posix" and os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("locked", ["folder", "file", "both"])
def test_files_of_other_users_are_refused_and_kept(locked):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "out.json"
        path.write_text("old")
        folder.chmod(0o755 if locked in ("folder", "both") else 0o777)
        path.chmod(0o644 if locked in ("file", "both") else 0o666)
        code = """
            import os, sys
            from pathlib import Path
            from addon.formats import OutputError, write_text
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            try:
                write_text(Path(sys.argv[1]), "new")
            except OutputError as error:
                print(error)
        """
        with process(code, path) as nobody:
            assert nobody.communicate()[0] == f"{path}: no permission to write it\n"
        assert path.read_text() == "old"
        assert other_files_of(path) == []
