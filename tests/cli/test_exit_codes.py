"""Exit codes have one meaning each, whatever happens to the standard streams, the modules and the Python."""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from addon.cli.main import main
from addon.cli.parser import parse_exit_code
from addon.cli.process import StandardOutput, finish_output
from addon.formats import OutputError
from tests.cli.command_line import SCRIPT, run
from tests.paths import TOP

POSIX = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a shell and /dev/full")
FULL = "collision_bounds: standard output: cannot be written (No space left on device)\n"
CLOSED = "collision_bounds: standard output: cannot be written (it is closed)\n"
OLD_PYTHONS = ("python2.7", "python3.6", "python3.10")


def in_shell(command: str, *arguments: object) -> tuple[int, str, str]:
    """Run a line of Bash, in which "$@" is the program; return exit code, standard output and error."""
    words = ["bash", "-c", f"set -o pipefail\n{command}", "bash", sys.executable, SCRIPT, *arguments]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="session")
def document(saved_scene: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of a valid document."""
    path = tmp_path_factory.mktemp("document") / "bounds.json"
    assert run("bounds", saved_scene, "-q", "-o", path).returncode == 0
    return path


# ---- Commands that need no Blender


@POSIX
@pytest.mark.parametrize(
    ("command", "exit_code", "message"),
    [
        ('"$@" > /dev/full', 2, FULL),
        ('"$@" >&-', 2, CLOSED),
        ('"$@" 2>&-', 0, ""),
        ('"$@" 2>/dev/full', 0, ""),
        ('"$@" >/dev/null <&-', 0, ""),
        # The reader ends before the program writes.
        ('"$@" > >(exec true)', 0, ""),
        # A pipe without a reader.
        ('exec 3> >(exec true); sleep 0.2; "$@" >&3', 0, ""),
    ],
)
@pytest.mark.parametrize("arguments", [("--help",), ("validate",)])
def test_streams_of_short_output(document: Path, command: str, exit_code: int, message: str, arguments):
    found, _, errors = in_shell(command, *arguments, *([document] if arguments == ("validate",) else []))
    assert (found, errors) == (exit_code, message)


@POSIX
def test_quiet_command_needs_no_standard_output(document: Path):
    assert in_shell('"$@" >&-', "validate", "-q", document) == (0, "", "")


@POSIX
@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_message_without_standard_error_does_not_change_exit_code(redirection):
    assert in_shell(f'"$@" {redirection}', "contacts", "--banana") == (2, "", "")


def test_missing_numpy_is_one_line_and_exit_code_2(tmp_path):
    done = subprocess.run(
        [sys.executable, "-I", "-S", SCRIPT, "--help"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"collision_bounds: this Python has no NumPy: .* -m pip install numpy\n", done.stderr)


def run_script_after(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the script in a Python that runs other code before."""
    code = f"import runpy, sys\n{code}\nrunpy.run_path(sys.argv[0], run_name='__main__')"
    start = f"import sys; sys.argv = sys.argv[1:]\n{code}"
    command = [sys.executable, "-c", start, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_missing_bpy_is_one_line_and_exit_code_2(tmp_path):
    done = run_script_after("sys.modules['bpy'] = None", "bounds", tmp_path / "scene.blend")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "collision_bounds: the module bpy is not installed in this Python: install it"
    )
    assert done.stderr.count("\n") == 1


def test_old_version_is_one_line_and_exit_code_2():
    done = run_script_after("sys.version_info = (3, 10, 13)", "--help")
    expected = "collision_bounds: needs Python 3.11 or Blender 4.2, or later, and this is Python 3.10\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", expected)


def test_script_has_no_newer_syntax_than_python_2():
    tree = ast.parse(SCRIPT.read_text("ascii"))
    for node in ast.walk(tree):
        assert not isinstance(node, ast.JoinedStr | ast.AnnAssign | ast.NamedExpr | ast.AsyncFunctionDef)
        assert getattr(node, "returns", None) is None
        assert getattr(node, "annotation", None) is None


@pytest.mark.parametrize("name", OLD_PYTHONS)
def test_old_python_parses_the_script(name):
    folders = [*map(str, Path.home().glob(".pyenv/versions/*/bin")), os.environ["PATH"]]
    program = shutil.which(name, path=os.pathsep.join(folders))
    if not program or subprocess.run([program, "-V"], capture_output=True, check=False).returncode:
        pytest.skip(f"there is no {name}")
    done = subprocess.run([program, SCRIPT, "--help"], capture_output=True, text=True, check=False)
    expected = (
        f"needs Python 3.11 or Blender 4.2, or later, and this is {name.replace('python', 'Python ')}\n"
    )
    assert (done.returncode, done.stderr) == (2, f"collision_bounds: {expected}")


@pytest.mark.parametrize(
    ("file", "source", "error"),
    [
        ("addon/cli/main.py", None, "ModuleNotFoundError"),
        ("addon/cli/process.py", "broken =", "SyntaxError"),
    ],
)
def test_broken_checkout_is_traceback_and_exit_code_3(tmp_path, file, source, error):
    shutil.copytree(TOP / "addon", tmp_path / "addon", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "scripts").mkdir()
    script = shutil.copy(SCRIPT, tmp_path / "scripts")
    (tmp_path / file).unlink() if source is None else (tmp_path / file).write_text(source)
    done = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert "Traceback" in done.stderr and error in done.stderr


# ---- Commands that open a scene


@pytest.fixture
def pipe_without_reader() -> Iterator[int]:
    reader, writer = os.pipe()
    os.close(reader)
    yield writer


def written_to(descriptor: int | None, *arguments: object) -> int:
    """Run a command in this process, with a file descriptor as standard output; return the exit code."""
    return main([str(word) for word in arguments], opens_file=True, out=StandardOutput(descriptor))


@pytest.mark.smoke
@pytest.mark.skipif(os.name == "nt", reason="needs POSIX pipes")
def test_reader_that_ends_early_does_not_change_exit_code(scene, capfd, pipe_without_reader):
    target = scene.with_suffix(".json")
    assert written_to(pipe_without_reader, "contacts", scene, "--fail-on-contact", "-o", target) == 1
    assert json.loads(target.read_text("utf-8"))["contacts"]
    assert capfd.readouterr().err == ""


def test_contact_of_an_import_after_the_range_of_the_start_up_scene_is_found(tmp_path):
    """A wall at x = 0 and a cube that is 2 away at frame 460, and 0 at 480: both have a half size of 1."""
    import addon_utils
    import bpy

    from tests.scene.building import CUBE, CUBE_FACES, add_vertices, open_empty_file
    from tests.scene.sampling import key

    open_empty_file()
    add_vertices("Wall", CUBE, CUBE_FACES)
    moving = add_vertices("Moving", CUBE, CUBE_FACES)
    bpy.context.scene.frame_end = 480
    key(moving, "location", [(1, (20, 0, 0)), (440, (4, 0, 0)), (480, (0, 0, 0))])
    addon_utils.enable("io_scene_gltf2")
    bpy.ops.export_scene.gltf(filepath=str(tmp_path / "level.glb"), export_frame_range=False)
    target = tmp_path / "contacts.json"
    ended = run("contacts", tmp_path / "level.glb", "--fail-on-contact", "-q", "-o", target)
    assert ended.returncode == 1, ended.stderr
    (contact,) = json.loads(target.read_text("utf-8"))["contacts"]
    assert contact["first"]["seconds"] == pytest.approx(460 / 24, abs=1e-3)


@POSIX
def test_old_file_is_unchanged_if_table_cannot_be_printed(scene, capfd):
    target = scene.with_suffix(".json")
    target.write_text("old")
    full = os.open("/dev/full", os.O_WRONLY)
    assert written_to(full, "contacts", scene, "--fail-on-contact", "-o", target) == 2
    assert capfd.readouterr().err == FULL
    assert target.read_text() == "old"
    assert sorted(path.name for path in target.parent.iterdir()) == ["scene.blend", "scene.json"]
    folder = os.open(target.parent, os.O_RDONLY)
    assert written_to(folder, "contacts", scene, "--fail-on-contact", "-o", target) == 2
    assert capfd.readouterr().err == CLOSED
    assert written_to(None, "contacts", scene, "--fail-on-contact", "-o", target, "-q") == 1
    assert target.read_text() != "old"


@pytest.mark.parametrize("arguments", [(), ("-o", "new.json"), ("-q", "-o", "-")])
def test_closed_standard_output_is_found_before_scene_is_opened(tmp_path, capfd, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    assert written_to(None, "contacts", "no such file.blend", *arguments) == 2
    assert capfd.readouterr().err == CLOSED
    assert list(tmp_path.iterdir()) == []


@POSIX
def test_long_text_fails_while_it_is_written(pipe_without_reader):
    out = StandardOutput(os.open("/dev/full", os.O_WRONLY))
    with pytest.raises(OutputError, match="No space left on device"):
        out.write("x" * 1_000_000)
    finish_output(out)  # the rest is discarded
    out = StandardOutput(pipe_without_reader)
    for _ in range(10):
        out.write("x" * 1_000_000)
    finish_output(out)


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [
        (("--contact-exit-code", "10"), 10),
        (("--contact-exit-code", "10", "--fail-on-contact"), 10),
        (("--fail-on-contact", "--contact-exit-code", "125"), 125),
        (("--contact-exit-code", "1"), 1),
        (("--contact-exit-code", "10", "--frames", "1:5"), 0),
    ],
)
def test_contact_exit_code_replaces_1(scene, arguments, exit_code):
    done = run("contacts", scene, "-q", *arguments)
    assert (done.returncode, done.stderr) == (exit_code, "")


def test_codes_with_other_meanings_are_refused(scene):
    for number in range(-1, 300):
        with (
            contextlib.nullcontext()
            if number == 1 or 4 <= number <= 125
            else pytest.raises(argparse.ArgumentTypeError)
        ):
            assert parse_exit_code(str(number)) == number
    for text in ("0", "2", "3", "126", "1.0", "", "\u00b2"):
        done = run("contacts", scene, "-q", "--contact-exit-code", text)
        assert done.returncode == 2
        assert f"{text!r} is not 1 or a whole number from 4 to 125" in done.stderr


@POSIX
@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "exit_code", "message"),
    [
        ('"$@" > /dev/full', 2, FULL),
        ('"$@" -o - > /dev/full', 2, FULL),
        ('"$@" >&-', 2, CLOSED),
        ('"$@" -q >&-', 1, ""),
        ('"$@" 2>&-', 1, ""),
        ('"$@" 2> /dev/full', 1, ""),
        ('"$@" -o - | head -1', 1, ""),
        ('"$@" | true', 1, ""),
    ],
)
def test_streams_of_program_that_scans(scene, command, exit_code, message):
    found, _, errors = in_shell(command.replace('"$@"', f'"$@" contacts {scene} --fail-on-contact'))
    assert (found, errors) == (exit_code, message)


@POSIX
@pytest.mark.long
def test_output_file_is_not_mixed_with_output_of_blender(scene, tmp_path):
    """With closed streams, the file would get their descriptors, and what Blender's C code prints."""
    target = tmp_path / "out.json"
    for command in ('"$@" >&- 2>&-', '"$@" <&- >&- 2>&-'):
        target.unlink(missing_ok=True)
        assert in_shell(command, "contacts", scene, "-q", "-o", target) == (0, "", "")
        assert json.loads(target.read_text("utf-8"))["contacts"]


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_standard_output_can_be_a_terminal(pipe_without_reader):
    reader, terminal = os.openpty()
    streams = [StandardOutput(number) for number in (terminal, pipe_without_reader, None)]
    assert [out.isatty() for out in streams] == [True, False, False]
    for out in streams:
        out.close()
    os.close(reader)


# ---- Documentation


@pytest.mark.parametrize(
    "path",
    [*TOP.glob("*.md"), *TOP.glob("docs/**/*.md"), *TOP.glob("scripts/*.py")],
    ids=lambda path: path.name,
)
def test_examples_with_blender_set_its_exit_code(path: Path):
    """Otherwise Blender exits with 0 if it does not find the script."""
    for line in path.read_text("utf-8").splitlines():
        if re.match(r"\s*blender\b.* --python ", line):
            assert "--python-exit-code 3 --python " in line
