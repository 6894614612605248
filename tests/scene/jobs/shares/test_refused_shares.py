"""Scans that cannot be divided say why, and shares of other scans are refused."""

from __future__ import annotations

import io
from pathlib import Path

import bpy
import pytest

from addon.cli.main import main
from addon.core import InvalidShapeError
from addon.core.scan import scan
from addon.scene.blender.parts import known_rows
from addon.scene.errors import SceneError
from addon.scene.jobs.contacts import find_contacts
from addon.scene.jobs.scan_shares import share_as_text, share_from_text
from addon.scene.settings import ContactSettings
from tests.finished import finished
from tests.scene.building import add_instance, add_vertices, hidden_collection, key_location
from tests.scene.jobs.shares.random_animations import FACES
from tests.scene.jobs.shares.test_scan_shares import joined, share_of, whole

pytestmark = pytest.mark.usefixtures("empty_file")


@pytest.fixture(autouse=True)
def short(monkeypatch) -> None:
    monkeypatch.setattr(scan, "SECTION_INTERVALS", 8)


def add_crossing(name: str = "Dot", frames: int = 30) -> bpy.types.Object:
    """Add a block, and a dot that moves through it."""
    add_vertices("Block", faces=FACES)
    dot = add_vertices(name, faces=FACES)
    key_location(dot, {1: (-9, 0, 0), frames: (9, 0, 0)})
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames
    bpy.context.scene.frame_set(1)
    return dot


def refusal(settings: ContactSettings | None = None) -> str:
    return share_of(settings or ContactSettings(shape="aabb"), 0, 2).refusal


def test_scan_that_can_be_divided_has_no_refusal():
    add_crossing()
    assert refusal() == ""


def test_simulation_that_is_not_baked_is_refused_and_scanned_as_a_whole():
    add_crossing()
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=3, y_subdivisions=3, location=(0, 0, 3))
    bpy.context.object.modifiers.new("Cloth", "CLOTH")
    assert refusal() == "a simulation is not baked, and must be played from its first frame"
    found, shares = joined(ContactSettings(shape="aabb"), 2)
    assert all(share.records is None for share in shares)
    assert found == whole(ContactSettings(shape="aabb"))


def test_animation_of_one_section_is_refused():
    add_crossing(frames=9)
    assert refusal() == "the animation is shorter than 251 steps"
    assert refusal(ContactSettings(shape="aabb", frames=(1, 9, 0.5))) == ""


def test_script_that_runs_at_each_frame_is_refused():
    add_crossing()
    bpy.app.handlers.frame_change_post.append(lambda *_: None)
    try:
        assert refusal() == "a script runs at each change of the frame"
    finally:
        bpy.app.handlers.frame_change_post.pop()


def test_handlers_of_the_extension_are_no_scripts():
    add_crossing()
    known_rows.attach()
    try:
        assert bpy.app.handlers.frame_change_post
        assert refusal() == ""
    finally:
        known_rows.detach()


def add_late_instance() -> None:
    """Add a collection instance that is shown from frame 20 on."""
    part = add_vertices("Part", faces=FACES)
    source = hidden_collection("Source", part)
    owner = add_instance("Late", source)
    for frame, hidden in ((1, True), (20, False)):
        owner.hide_viewport = hidden
        owner.keyframe_insert("hide_viewport", frame=frame)
    bpy.context.scene.frame_set(1)


@pytest.mark.long
def test_instance_that_appears_later_is_refused_and_still_tested():
    add_crossing()
    add_late_instance()
    found, shares = joined(ContactSettings(shape="aabb"), 2)
    assert [share.refusal for share in shares] == ["", "Late/Part.0 appears after the first frame"]
    assert found == whole(ContactSettings(shape="aabb"))
    assert '"Late/Part.0"' in found


def test_share_of_another_scan_is_refused():
    add_crossing()
    scene, settings = bpy.context.scene, ContactSettings(shape="aabb")
    shares = [share_of(settings, k, 2) for k in range(2)]
    for other, given in [
        (ContactSettings(shape="aabb", clearance=0.5), shares),
        (settings, shares[::-1]),
        (settings, shares[:1]),
    ]:
        with pytest.raises(SceneError, match=r"share 1 of .* is of another scan: scan all shares again"):
            finished(find_contacts(scene, other, shares=given))


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": "collision-bounds"}', "null", "x"])
def test_text_that_is_no_share_is_an_error_of_the_project(text):
    with pytest.raises(InvalidShapeError, match="share of a scan"):
        share_from_text(text)


def test_share_is_the_same_after_it_was_stored():
    add_crossing().hide_viewport = False
    share = share_of(ContactSettings(shape="aabb"), 1, 2)
    assert share_as_text(share_from_text(share_as_text(share))) == share_as_text(share)


def run(*words: str | Path) -> tuple[int, str]:
    out = io.StringIO()
    return main(["contacts", *map(str, words)], opens_file=True, out=out), out.getvalue()


@pytest.mark.long
def test_command_line_writes_shares_and_joins_them(tmp_path, capsys):
    add_crossing()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    scene, output = tmp_path / "a.blend", tmp_path / "out.json"
    assert run(scene, "-o", output, "-q")[0] == 0
    expected = output.read_bytes()
    output.unlink()
    assert run(scene, "-o", output, "-q", "--join-shares", "2")[0] == 2
    assert "out.json.1-of-2: does not exist; write it with --frame-share 1/2" in capsys.readouterr().err
    for share in ("1/2", "2/2"):
        assert run(scene, "-o", output, "-q", "--frame-share", share)[0] == 0
    assert not output.exists()
    code, table = run(scene, "-o", output, "--join-shares", "2", "--fail-on-contact")
    assert (code, output.read_bytes()) == (1, expected)
    assert "Dot" in table
    assert run(scene, "-o", output, "-q", "--share-exit-code", "11")[0] == 11
    assert run(scene, "-o", output, "-q", "--share-exit-code", "11", "--frames", "1:5")[0] == 0
    (tmp_path / "out.json.2-of-2").write_text("damaged")
    assert run(scene, "-o", output, "-q", "--join-shares", "2")[0] == 2
    assert "out.json.2-of-2: cannot be joined (share of a scan" in capsys.readouterr().err


@pytest.mark.parametrize("last", [(), ("--join-shares", "2")])
def test_progress_of_a_share_grows_to_its_end(tmp_path, monkeypatch, last):
    add_crossing()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    shown: list[float] = []
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("addon.cli.process.ProgressLine.show", lambda _, done, *__: shown.append(done))
    words = (
        tmp_path / "a.blend",
        "-o",
        tmp_path / "out.json",
        "--shape",
        "mesh",
        "--frame-share",
        "1/2",
        *last,
    )
    assert run(*words)[0] == 0
    assert shown == sorted(shown) and 0.9 < shown[-1] <= 1


@pytest.mark.long
def test_share_that_is_done_last_joins_all(tmp_path):
    add_crossing()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    output = tmp_path / "out.json"
    words = (tmp_path / "a.blend", "-o", output, "-q", "--fail-on-contact")
    assert run(*words)[0] == 1
    expected = output.read_bytes()
    last = ("--join-shares", "2", "--share-exit-code", "11", "--frame-share")
    for order in (("1/2", "2/2"), ("2/2", "1/2")):
        for path in tmp_path.glob("out.json*"):
            path.unlink()
        assert run(*words, *last, order[0])[0] == 11
        assert not output.exists()
        assert run(*words, *last, order[1])[0] == 1
        assert output.read_bytes() == expected
    # A share of another scan is none of this one.
    (tmp_path / "out.json.2-of-2").unlink()
    assert run(*words, *last, "1/2", "--shape", "aabb")[0] == 11
    # The first share of what cannot be divided is the whole scan.
    assert run(*words, "--frames", "1:5")[0] in (0, 1)
    expected = output.read_bytes()
    output.unlink()
    assert run(*words, *last, "2/2", "--frames", "1:5")[0] == 11
    assert not output.exists() and not (tmp_path / "out.json.2-of-2").exists()
    assert run(*words, *last, "1/2", "--frames", "1:5")[0] in (0, 1)
    assert output.read_bytes() == expected


@pytest.mark.long
def test_last_share_scans_all_frames_if_an_instance_appears_later(tmp_path, capsys):
    add_crossing()
    add_late_instance()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    output = tmp_path / "out.json"
    assert run(tmp_path / "a.blend", "-o", output, "-q")[0] == 0
    expected = output.read_bytes()
    output.unlink()
    for share, code in (("2/2", 11), ("1/2", 0)):
        last = ("--join-shares", "2", "--share-exit-code", "11", "--frame-share", share)
        assert run(tmp_path / "a.blend", "-o", output, "-q", *last)[0] == code
    assert output.read_bytes() == expected
    assert "not split: Late/Part.0 appears after the first frame" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--frame-share", "1/2"], "--frame-share: needs an output file"),
        (["--join-shares", "2", "-o", "-"], "--join-shares: needs an output file"),
        (["--frame-share", "0/2", "-o", "a.json"], "'0/2' is not I/N, such as 2/8, with I from 1 to N"),
        (["--join-shares", "none", "-o", "a.json"], "'none' is not a whole number of 1 or more"),
        (["--join-shares", "3", "--frame-share", "1/2", "-o", "a.json"], "--join-shares 3: must be 2, as of"),
        (["--share-exit-code", "11", "--frame-share", "1/2", "-o", "a.json"], "only with both or none"),
        (["--share-exit-code", "11", "--join-shares", "2", "-o", "a.json"], "only with both or none"),
    ],
)
def test_wrong_options_are_one_sentence(words, message, capsys):
    assert run("a.blend", *words)[0] == 2
    assert message in (error := capsys.readouterr().err) and error.count("\n") == 1
