"""`contacts --baseline OLD.json --fail-on-new`: exit codes, table, document."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import bpy
import pytest

from addon.cli.main import comparison_text
from addon.formats.comparison import Comparison, Interval
from addon.scene.blender import object_properties
from tests.cli.command_line import run


@pytest.fixture
def known(scene: Path, tmp_path: Path) -> Path:
    """Return the document of a scan, which has one contact."""
    path = tmp_path / "known.json"
    assert run("contacts", scene, "-q", "-o", path).returncode == 0
    return path


def edited(path: Path, change) -> Path:
    """Write a changed copy of a document, and return its path."""
    document = json.loads(path.read_text("utf-8"))
    change(document)
    copy = path.with_name("edited.json")
    copy.write_text(json.dumps(document), "utf-8")
    return copy


@pytest.mark.smoke
def test_known_contact_is_no_failure_and_new_one_is(scene, known, tmp_path):
    done = run("contacts", scene, "--baseline", known, "--fail-on-new", "--fail-on-contact")
    assert done.returncode == 0 and "1 contact, 0 new, 0 gone, 1 unchanged" in done.stdout
    nothing = edited(known, lambda document: document["contacts"].clear())
    path = tmp_path / "now.json"
    done = run("contacts", scene, "--baseline", nothing, "--fail-on-new", "-o", path)
    assert done.returncode == 1 and "1 contact, 1 new, 0 gone, 0 unchanged" in done.stdout
    written = json.loads(path.read_text("utf-8"))
    (new,) = written["extras"]["baseline"]["new"]
    assert {new["a"], new["b"]} == {written["contacts"][0]["a"], written["contacts"][0]["b"]}
    assert run("validate", path).returncode == 0
    done = run("contacts", scene, "-q", "--baseline", nothing, "--fail-on-new", "--contact-exit-code", 17)
    assert done.returncode == 17


def test_contact_that_is_gone_is_printed_and_no_failure(scene, known):
    done = run("contacts", scene, "--baseline", known, "--fail-on-new", "--ignore", "Dot:Bl*")
    assert done.returncode == 0, done.stderr
    assert "0 contacts, 0 new, 1 gone, 0 unchanged" in done.stdout and "  Gone: " in done.stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "known.json"), ("{", "not JSON"), ("{}", "format")],
)
def test_bad_baseline_is_one_sentence_before_the_scan(scene, tmp_path, content, message):
    path = tmp_path / "known.json"
    if content is not None:
        path.write_text(content, "utf-8")
    done = run("contacts", scene, "--baseline", path)
    assert done.returncode == 2 and done.stdout == ""
    assert "--baseline" in done.stderr and message in done.stderr and done.stderr.count("\n") == 1


def test_baseline_of_another_shape_is_refused(scene, known, tmp_path):
    path = tmp_path / "now.json"
    done = run("contacts", scene, "--baseline", known, "--shape", "sphere", "-o", path)
    assert done.returncode == 2 and "of the shape mesh, those of this scan of sphere" in done.stderr
    assert not path.exists()


def test_baseline_of_another_scene_is_a_warning(scene, known, tmp_path):
    assert run("contacts", scene, "-q", "--baseline", known, "--fail-on-new").stderr == ""
    other = Path(shutil.copy(scene, tmp_path / "other.blend"))
    done = run("contacts", other, "-q", "--baseline", known, "--fail-on-new")
    warning = "is of scene 'Scene' of scene.blend, and this scan of scene 'Scene' of other.blend"
    assert (done.returncode, done.stderr) == (
        0,
        f"collision_bounds: warning: --baseline {known}: {warning}\n",
    )


def test_baseline_of_bounds_is_named(scene, tmp_path):
    path = tmp_path / "bounds.json"
    assert run("bounds", scene, "-q", "-o", path).returncode == 0
    done = run("contacts", scene, "-q", "--baseline", path, "--fail-on-new")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert f"warning: --baseline {path}: has no contacts and no near misses" in done.stderr
    # It can also be a scan without contacts, which is no reason for a warning if there are none now.
    done = run("contacts", scene, "-q", "--baseline", path, "--fail-on-new", "--frames", "1:5")
    assert (done.returncode, done.stderr) == (0, "")
    assert run("bounds", scene, "-q", "-o", path, "--tracks", "--frames", "1:2").returncode == 0
    done = run("contacts", scene, "-q", "--baseline", path, "--fail-on-new")
    message = f"collision_bounds: --baseline {path}: is a document of bounds; write it with contacts\n"
    assert (done.returncode, done.stderr) == (2, message)


def test_baseline_is_never_replaced(scene, known, tmp_path):
    before = known.read_bytes()
    link = tmp_path / "link.json"
    link.symlink_to(known)
    for output in (known, link):
        done = run("contacts", scene, "-q", "--baseline", known, "--frames", "1:5", "-o", output)
        assert done.returncode == 2 and "is the output file too" in done.stderr
    assert known.read_bytes() == before


def test_failing_on_new_contacts_needs_a_baseline(scene):
    done = run("contacts", scene, "--fail-on-new")
    assert done.returncode == 2 and "--fail-on-new needs --baseline OLD.json" in done.stderr


def test_text_names_each_new_and_gone_contact():
    new, gone = Interval("A", "C", 30, 31.5, 0.0), Interval("A", "B", 10, 20, 0.0)
    text = comparison_text(Comparison((new,), (gone,), 0), {"A": "Cart", "B": "Fence", "C": "Gate\n"})
    assert text.splitlines() == [
        "Compared with the baseline: 1 contact, 1 new, 1 gone, 0 unchanged",
        "  New: Cart and Gate\\n, frames 30.0000 to 31.5000",
        "  Gone: Cart and Fence, frames 10.0000 to 20.0000",
    ]


def test_contact_accepted_in_the_file_is_not_new(scene, known):
    (contact,) = json.loads(known.read_text("utf-8"))["contacts"]
    names = {entry["id"]: entry["name"] for entry in json.loads(known.read_text("utf-8"))["objects"]}
    object_properties.attach()
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    entry = bpy.data.objects[names[contact["a"]]].collision_bounds.accepted.add()
    entry.name, entry.comment = names[contact["b"]], "meant to be"
    bpy.ops.wm.save_mainfile()
    nothing = edited(known, lambda document: document["contacts"].clear())
    done = run("contacts", scene, "--baseline", nothing, "--fail-on-new")
    assert done.returncode == 0, done.stderr
    assert "1 contact, 0 new, 0 gone, 0 unchanged, 1 accepted" in done.stdout
    assert "accepted: meant to be" in done.stdout
