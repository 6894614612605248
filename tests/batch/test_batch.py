"""Many files in one run give what single runs give, failures cost only themselves, and a run resumes."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.batch.conftest import SCRIPT, documents
from tests.batch.scene_files import make_scenes
from tests.paths import TOP
from tests.tiers import times

COMMAND_LINE = TOP / "scripts" / "collision_bounds.py"


def summary(folder: Path) -> dict:
    return json.loads((folder / "summary.json").read_text("utf-8"))


def states(folder: Path) -> dict[str, str]:
    return {entry["name"]: entry["state"] for entry in summary(folder)["files"]}


@pytest.mark.long
def test_documents_are_those_of_single_runs_in_new_blenders(scenes, tmp_path, batch):
    ran = batch("contacts", scenes, "-o", tmp_path / "out", "--jobs", "2", "--shape", "sphere")
    assert ran.returncode == 0, ran.stderr
    written = documents(tmp_path / "out")
    assert len(written) == 10
    for name, content in list(written.items())[::3]:
        single = tmp_path / "single.json"
        arguments = ["contacts", scenes / name.removesuffix(".json"), "-o", single, "-q", "--shape", "sphere"]
        subprocess.run([sys.executable, COMMAND_LINE, *arguments], check=True, capture_output=True)
        assert single.read_bytes() == content, name


_SAVE = """
import sys
import bpy
from tests.scene.building import open_empty_file
from tests.scene.mesh_truth import boxes_and_meshes
open_empty_file()
boxes_and_meshes.build()
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[1])
"""


@pytest.mark.long
def test_run_without_options_finds_contacts_of_meshes(tmp_path, batch):
    """In this scene, Aside touches Wall with its box alone, and Mover touches it with its box earlier."""
    path = tmp_path / "in" / "scene.blend"
    path.parent.mkdir()
    subprocess.run([sys.executable, "-c", _SAVE, path], check=True, capture_output=True, cwd=TOP)
    found = {}
    for options in ((), ("--shape", "aabb")):
        out = tmp_path / f"out{len(options)}"
        assert batch("contacts", path, "-o", out, *options).returncode == 0
        (document,) = (json.loads(content) for content in documents(out).values())
        found[options] = {
            (each["a"], each["b"], each["shape"]): each["first"]["frame"] for each in document["contacts"]
        }
    assert found == {
        (): {("Mover", "Wall", "mesh"): pytest.approx(10.2, abs=1e-5)},
        ("--shape", "aabb"): {
            (name, "Wall", "aabb"): pytest.approx(9.5, abs=1e-5) for name in ("Aside", "Mover")
        },
    }


@pytest.mark.long
def test_file_that_fails_costs_only_itself_and_is_named_with_its_reason(tmp_path, batch):
    folder = make_scenes(tmp_path / "in", 4, with_failures=True)
    limits = ("--timeout", "15", "--memory", "1500", "--enable-autoexec")
    ran = batch("bounds", folder, "-o", tmp_path / "out", "--jobs", "2", *limits, "--fail-on-error")
    assert ran.returncode == 2
    reasons = {
        entry["name"]: entry["reason"] for entry in summary(tmp_path / "out")["files"] if entry["reason"]
    }
    assert set(reasons) == {
        *("broken.blend", "broken.glb", "crash.blend", "hang.blend", "hungry.blend", "linked.blend")
    }
    assert "SIGSEGV" in reasons["crash.blend"]
    assert reasons["hang.blend"] == "took longer than 15 s"
    assert reasons["hungry.blend"] == "needed more than 1500 MB of memory"
    assert "library" in reasons["linked.blend"]
    assert all("Blender cannot read it" in reasons[name] for name in ("broken.blend", "broken.glb"))
    attempts = {entry["name"]: entry["attempts"] for entry in summary(tmp_path / "out")["files"]}
    assert [attempts[name] for name in ("crash.blend", "hang.blend", "hungry.blend")] == [2, 2, 2]
    assert sorted(documents(tmp_path / "out")) == [f"show{n % 2}/shot{n:03}.blend.json" for n in (0, 2, 1, 3)]
    suite = ElementTree.parse(tmp_path / "out" / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("errors"), suite.get("failures")) == ("10", "6", "0")


@pytest.mark.long
def test_run_that_is_killed_at_random_moments_resumes_to_the_same_documents(scenes, tmp_path, batch):
    expected = tmp_path / "uninterrupted"
    assert batch("contacts", scenes, "-o", expected).returncode == 0
    out, rng = tmp_path / "out", random.Random(7)
    command = [sys.executable, str(SCRIPT), "contacts", str(scenes), "-o", str(out)]
    for _ in range(times(4, full=10)):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.2, 3))
        process.send_signal(rng.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
        process.wait()
    ended = batch("contacts", scenes, "-o", out)
    assert ended.returncode == 0, ended.stderr
    assert documents(out) == documents(expected)
    assert states(out) == states(expected)
    assert not [path for path in out.rglob("*") if path.name.endswith(".tmp")]


@pytest.mark.long
def test_ctrl_c_stops_at_once_and_writes_a_summary_that_is_not_complete(scenes, tmp_path):
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), "bounds", str(scenes), "-o", str(out), "--report", str(out / "r.html")],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    process.stderr.readline()  # the first file is done
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    errors = process.communicate(timeout=30)[1]
    assert process.returncode == 130, errors
    assert time.monotonic() - start < 5
    assert errors.endswith("batch: stopped; the same command continues\n")
    assert summary(out)["isComplete"] is False
    assert 1 <= summary(out)["counts"]["files"] < 10
    assert "The run was stopped: the results are those until then." in (out / "r.html").read_text("utf-8")


@pytest.mark.long
def test_only_files_whose_content_or_libraries_or_settings_changed_are_run_again(tmp_path, batch):
    folder = make_scenes(tmp_path / "in", 4)
    out = tmp_path / "out"

    def ran_again(*options: str) -> set[str]:
        ran = batch("bounds", folder, "-o", out, *options)
        assert ran.returncode == 0, ran.stderr
        lines = [line for line in ran.stderr.splitlines() if line.startswith("[")]
        return {line.split()[1].rstrip(":") for line in lines if "unchanged" not in line}

    every = {f"show{n % 2}/shot{n:03}.blend" for n in range(4)}
    assert ran_again() == every
    assert ran_again() == set()
    os.utime(folder / "show0/shot000.blend")  # another date is no other content
    assert ran_again() == set()
    shutil.copy(folder / "show1/shot003.blend", folder / "show0/shot000.blend")
    assert ran_again() == {"show0/shot000.blend"}
    (out / "show1/shot001.blend.json").write_text("damaged")
    assert ran_again() == {"show1/shot001.blend"}
    (out / "show1/shot003.blend.json").unlink()
    assert ran_again() == {"show1/shot003.blend"}
    assert ran_again("--padding", "0.1") == every


@pytest.mark.long
def test_file_is_run_again_when_its_library_changes(tmp_path, batch):
    folder, library = make_scenes(tmp_path / "in", 1), tmp_path / "library"
    make_scenes(library, 3)
    script = f"""
import os, bpy
with bpy.data.libraries.load({str(library / "show0/shot000.blend")!r}, link=True) as (source, linked):
    linked.objects = ["Cube"]
bpy.context.collection.objects.link(linked.objects[0])
bpy.ops.wm.save_as_mainfile(filepath={str(folder / "linked.blend")!r})
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    out = tmp_path / "out"
    assert batch("bounds", folder, "-o", out).returncode == 0
    before = documents(out)["linked.blend.json"]
    shutil.copy(library / "show0/shot002.blend", library / "show0/shot000.blend")
    ran = batch("bounds", folder, "-o", out)
    assert "linked.blend: done (unchanged)" not in ran.stderr
    assert "shot000.blend: done (unchanged)" in ran.stderr
    assert documents(out)["linked.blend.json"] != before or "linked.blend: done" in ran.stderr


@pytest.mark.long
def test_exit_code_says_whether_there_are_contacts_and_new_ones(scenes, tmp_path, batch):
    old, new = tmp_path / "old", tmp_path / "new"
    assert batch("contacts", scenes, "-o", old).returncode == 0
    assert batch("contacts", scenes, "-o", old, "--fail-on-contact").returncode == 1
    found = states(old)
    assert {name for name, state in found.items() if state == "contacts"} == {
        f"show{n % 2}/shot{n:03}.blend" for n in range(10) if n % 3
    }
    assert batch("contacts", scenes, "-o", new, "--baseline", old, "--fail-on-new").returncode == 0
    (old / "show1/shot001.blend.json").unlink()
    assert batch("contacts", scenes, "-o", new, "--baseline", old, "--fail-on-new").returncode == 1
    assert [name for name, state in states(new).items() if state == "contacts"] == ["show1/shot001.blend"]
    suite = ElementTree.parse(new / "junit.xml").getroot()
    assert suite.get("failures") == "1"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bounds", "missing"], "missing: does not exist"),
        (["bounds", "."], ".: no scene files were found"),
        (["bounds", "notes.txt"], "notes.txt: unsupported file type"),
        (["bounds", "notes.txt", "--shapes", "ball"], "ball"),
        (["bounds", "notes.txt", "--jobs", "0"], "--jobs 0: must be 1 or more"),
        (["bounds", "notes.txt", "--fail-on-contact"], "only valid for contacts"),
        (["contacts", "notes.txt", "--fail-on-new"], "--fail-on-new needs --baseline FOLDER"),
        (["contacts", "notes.txt", "--frame-share", "1/2"], "--frame-share: is set for each file"),
        (
            ["contacts", "notes.txt", "--contact-exit-code", "2"],
            "'2' is not 1 or a whole number from 4 to 125",
        ),
        (["bounds", "notes.txt", "--contact-exit-code", "10"], "only valid for contacts"),
        (["report", "notes.txt"], "the following arguments are required: -o/--output"),
        (["contacts", "notes.txt", "--shape"], "--shape: needs a value"),
    ],
)
def test_wrong_use_is_one_sentence_before_any_blender_starts(tmp_path, monkeypatch, batch, words, message):
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("no scene")
    ran = batch(*words, *(() if words[0] == "report" else ("-o", tmp_path / "out")))
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert ran.stderr.startswith("batch: ") and message in ran.stderr


def test_blender_that_does_not_start_is_named(scenes, tmp_path, batch):
    program = tmp_path / "python-without-bpy"
    program.write_text("#!/bin/sh\necho no Blender here\nexit 1\n")
    program.chmod(0o755)
    ran = batch("bounds", scenes, "-o", tmp_path / "out", "--blender", program)
    assert ran.returncode == 2
    assert ran.stderr == f"batch: --blender {program}: did not start (no Blender here)\n"


@pytest.mark.parametrize(
    ("name", "reason"), [("missing", "No such file or directory"), (".", "Permission denied")]
)
def test_blender_that_cannot_be_started_is_one_line_and_exit_code_2(scenes, tmp_path, batch, name, reason):
    ran = batch("contacts", scenes, "-o", tmp_path / "out", "--blender", tmp_path / name, "--fail-on-contact")
    message = f"batch: --blender {tmp_path / name}: cannot be started ({reason})\n"
    assert (ran.returncode, ran.stderr) == (2, message)


def test_two_runs_do_not_write_into_one_folder(scenes, tmp_path, batch):
    (tmp_path / "out").mkdir()
    other = sqlite3.connect(tmp_path / "out" / "batch.sqlite", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    ran = batch("bounds", scenes, "-o", tmp_path / "out")
    assert ran.returncode == 2
    assert "another run writes into this folder" in ran.stderr


@pytest.mark.long
def test_no_process_and_no_temporary_file_remains_after_the_run_is_killed(scenes, tmp_path, monkeypatch):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), "bounds", str(scenes), "-o", str(tmp_path / "out")],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    process.stderr.readline()
    process.kill()
    process.wait()
    process.stderr.close()
    end = time.monotonic() + 10
    while list(temporary.iterdir()) and time.monotonic() < end:
        time.sleep(0.2)
    assert not list(temporary.iterdir())
