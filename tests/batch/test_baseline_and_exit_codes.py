"""Comparison with an earlier run, exit codes, and what the last lines and the summaries say about them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

import batch as script
from batching import runs
from batching.findings import findings_of
from tests.batch.conftest import documents
from tests.batch.scene_files import make_scenes

pytestmark = pytest.mark.long

OBJECTS = [{"id": "Ball", "name": "Ball"}, {"id": "Wall", "name": "Wall"}]
FRAMES = {"intervals": [{"start": 2.5, "end": 4}]}


def test_contacts_that_the_file_accepts_are_not_new():
    contacts = [{"a": "Ball", "b": "Wall", "accepted": "intended", **FRAMES}]
    lists = {"objects": OBJECTS, "clearances": [], "skipped": [], "warnings": [], "extras": {}}
    content = json.dumps(lists | {"contacts": contacts}).encode()
    assert findings_of("a.json", content, lacks_baseline=True).counts["newContacts"] == 0
    contacts += [{"a": "Ball", "b": "Wall", **FRAMES}] * 2
    content = json.dumps(lists | {"contacts": contacts}).encode()
    found = findings_of("a.json", content, lacks_baseline=True)
    assert (found.counts["contacts"], found.counts["newContacts"]) == (3, 2)
    assert found.examples == ["Ball and Wall, frames 2.5000 to 4.0000"] * 2
    assert findings_of("a.csv", b"a,b", lacks_baseline=True).counts == {}


def test_internal_error_is_a_traceback_and_exit_code_3(monkeypatch, capsys):
    def fail(options):
        raise RuntimeError("on purpose")

    monkeypatch.setattr(script.signal, "signal", lambda *_: None)
    monkeypatch.setattr(runs, "run_batch", fail)
    monkeypatch.setattr(script.sys, "argv", ["batch.py", "bounds", "in", "-o", "out"])
    assert script.main() == 3
    assert "RuntimeError: on purpose" in capsys.readouterr().err


@pytest.fixture(scope="module")
def two_scenes(tmp_path_factory) -> Path:
    """Folder with a scene without contacts, and one with a contact: shot000 and shot001."""
    return make_scenes(tmp_path_factory.mktemp("two") / "in", 2)


def last_line(text: str) -> str:
    return text.splitlines()[-1]


def failures(folder: Path) -> list[str | None]:
    suite = ElementTree.parse(folder / "junit.xml").getroot()
    return [failure.get("message") for failure in suite.iter("failure")]


@pytest.mark.parametrize("output", [".", "now", "link", ".."])
def test_results_are_never_written_into_the_folder_of_the_earlier_ones(two_scenes, tmp_path, batch, output):
    accepted = tmp_path / "runs" / "accepted"
    assert batch("contacts", two_scenes, "-o", accepted).returncode == 0
    before = documents(accepted)
    (accepted / "link").symlink_to(accepted)
    ran = batch(
        *("contacts", two_scenes, "-o", accepted / output, "--baseline", accepted, "--fail-on-new"),
        *("--frames", "1:2"),
    )
    assert ran.returncode == 2
    assert ran.stderr.startswith(f"batch: --baseline {accepted}: is, contains or is within the folder of")
    assert documents(accepted) == before


def test_failed_file_is_exit_code_2_wherever_contacts_count_and_is_named_without_progress(
    two_scenes, tmp_path, batch
):
    folder = tmp_path / "in"
    shutil.copytree(two_scenes, folder)
    (folder / "broken.blend").write_text("no scene")
    ran = batch("contacts", folder, "-o", tmp_path / "out", "-q")
    assert ran.returncode == 0
    failed, remark, numbers = ran.stderr.splitlines()
    assert failed.startswith("broken.blend: failed") and "Blender cannot read it" in failed
    assert remark == "batch: files failed, which does not change the exit code without --fail-on-error"
    assert numbers == "3 files: 1 done, 1 with contacts, 1 failed"
    for options in (["--fail-on-contact"], ["--contact-exit-code", "10"], ["--fail-on-error"]):
        ran = batch("contacts", folder, "-o", tmp_path / "out", "-q", *options)
        assert ran.returncode == 2, options
        assert "broken.blend: failed" in ran.stderr and "does not change" not in ran.stderr


def test_chosen_exit_code_is_that_of_contacts_and_of_new_contacts(two_scenes, tmp_path, batch):
    out, code = tmp_path / "out", ("--contact-exit-code", "10")
    assert batch("contacts", two_scenes, "-o", out, *code).returncode == 10
    assert batch("contacts", two_scenes / "show0", "-o", tmp_path / "none", *code).returncode == 0
    compared = ("--baseline", out, "--fail-on-new", *code)
    assert batch("contacts", two_scenes, "-o", tmp_path / "known", *compared).returncode == 0
    (out / "show1/shot001.blend.json").unlink()
    assert batch("contacts", two_scenes, "-o", tmp_path / "new", *compared).returncode == 10


def test_file_without_earlier_result_is_named_and_junit_names_its_contacts(two_scenes, tmp_path, batch):
    accepted, out = tmp_path / "accepted", tmp_path / "out"
    # In another layout: the names lack the folder show1.
    assert batch("contacts", two_scenes / "show1", "-o", accepted).returncode == 0
    ran = batch("contacts", two_scenes, "-o", out, "--baseline", accepted, "--fail-on-new")
    assert ran.returncode == 1
    names = "show0/shot000.blend, show1/shot001.blend"
    expected = f"batch: no earlier result in {accepted} for 2 files ({names}): all contacts are new"
    assert expected in ran.stderr.splitlines()
    assert "show1/shot001.blend: with contacts" in ran.stderr and ", no earlier result" in ran.stderr
    (message,) = failures(out)
    # Two cubes of two meters; one moves 20 + 1 meters from -10 in 11 frames, by Bezier curves.
    assert message is not None and message.startswith("1 new contact: Cube and Cube.001, frames ")
    (entry,) = [
        entry
        for entry in json.loads((out / "summary.json").read_text("utf-8"))["files"]
        if entry["state"] == "contacts"
    ]
    assert entry["name"] == "show1/shot001.blend" and entry["counts"]["newContacts"] == 1


def test_failing_contact_is_named_in_junit(two_scenes, tmp_path, batch):
    out = tmp_path / "out"
    assert batch("contacts", two_scenes, "-o", out, "--fail-on-contact").returncode == 1
    document = json.loads((out / "show1/shot001.blend.json").read_text("utf-8"))
    (interval,) = document["contacts"][0]["intervals"]
    frames = f"frames {interval['start']:.4f} to {interval['end']:.4f}"
    assert failures(out) == [f"1 contact: Cube and Cube.001, {frames}"]


@pytest.mark.parametrize(("command", "name"), [("bounds", "gltf"), ("contacts", "csv")])
def test_files_that_are_no_documents_have_no_counts(two_scenes, tmp_path, batch, command, name):
    out = tmp_path / "out"
    ran = batch(command, two_scenes, "-o", out, "--format", name)
    assert ran.returncode == 0 and "no objects" not in ran.stderr
    assert (out / f"show1/shot001.blend.{name}").stat().st_size > 100
    assert [entry["counts"] for entry in json.loads((out / "summary.json").read_text())["files"]] == [{}, {}]
    # An earlier result is a document, whatever the format of the new one.
    if command == "contacts":
        assert batch("contacts", two_scenes, "-o", tmp_path / "accepted").returncode == 0
        compared = ("--baseline", tmp_path / "accepted", "--fail-on-new")
        ran = batch(command, two_scenes, "-o", tmp_path / "again", "--format", name, *compared)
        assert ran.returncode == 0, ran.stderr


def test_results_of_files_that_are_gone_are_named(two_scenes, tmp_path, batch):
    folder, out = tmp_path / "in", tmp_path / "out"
    shutil.copytree(two_scenes, folder)
    assert "not in this run" not in batch("bounds", folder, "-o", out).stderr
    (folder / "show0/shot000.blend").unlink()
    ran = batch("bounds", folder, "-o", out)
    gone = "show0/shot000.blend.json"
    assert f"batch: {out} also has results of files that are not in this run: {gone}\n" in ran.stderr
    assert last_line(ran.stderr) == "1 file: 1 done; 1 of them unchanged since an earlier run"
    (out / gone).unlink()
    assert "not in this run" not in batch("bounds", folder, "-o", out).stderr
