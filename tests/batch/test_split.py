"""Frames of one animation that are shared among workers give the bytes of a single process."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.batch.conftest import SCRIPT, documents
from tests.batch.scene_files import make_scenes
from tests.batch.test_batch import states, summary
from tests.paths import TOP
from tests.tiers import times

sys.path.insert(0, str(TOP / "scripts"))

from batching.records import Records
from batching.splits import SplitFiles
from batching.tasks import CONTACTS, FAILED, SHARED, Outcome, Task

LONG = ("--frames", "1:12:0.01")
"""Frames of a scan with five sections, of the short animations of `make_scenes`."""

_SIMULATED = """
    import os, sys
    import bpy

    scene = bpy.context.scene
    scene.frame_end = 300
    cube = bpy.data.objects["Cube"]
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=3, y_subdivisions=3, location=(0, 0, 3))
    bpy.context.object.modifiers.new("Cloth", "CLOTH")
    bpy.ops.wm.save_as_mainfile(filepath=sys.argv[1])
    os._exit(0)
"""


@pytest.fixture(scope="module")
def few(tmp_path_factory) -> Path:
    """Folder with three scene files."""
    return make_scenes(tmp_path_factory.mktemp("few") / "in", 3)


def remaining_shares(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*-of-[0-9]")]


@pytest.mark.long
@pytest.mark.parametrize("options", [("--shape", "sphere"), ("--shape", "obb", "--motion", "linear")])
def test_split_animations_have_the_bytes_of_single_processes(few, tmp_path, batch, options):
    whole, split = tmp_path / "whole", tmp_path / "split"
    words = (*LONG, *options, "--fail-on-contact")
    assert batch("contacts", few, "-o", whole, *words).returncode == 1
    ran = batch("contacts", few, "-o", split, *words, "--jobs", "2", "--split", "3")
    assert ran.returncode == 1, ran.stderr
    assert documents(split) == documents(whole) and len(documents(split)) == 3
    assert states(split) == states(whole)
    assert not remaining_shares(split)
    counts = [[entry["counts"] for entry in summary(folder)["files"]] for folder in (whole, split)]
    assert counts[0] == counts[1]
    # The results are those of any number of shares, so nothing is run again.
    again = batch("contacts", few, "-o", split, *words, "--split", "2")
    assert again.stderr.count("unchanged)") == 3


@pytest.mark.long
def test_split_animations_are_compared_with_a_baseline_and_make_the_same_page(few, tmp_path, batch):
    whole, split = tmp_path / "whole", tmp_path / "split"
    words = ("contacts", few, *LONG)
    assert batch(*words, "-o", whole, "--report", whole / "page.html").returncode == 0
    compared = ("--baseline", whole, "--fail-on-new", "--split", "2")
    assert batch(*words, "-o", split, *compared).returncode == 0
    (whole / "show1/shot001.blend.json").unlink()
    assert batch(*words, "-o", split, *compared).returncode == 1
    page = tmp_path / "page.html"
    one, other = (tmp_path / name for name in ("one", "other"))
    assert batch(*words, "-o", one).returncode == 0
    assert batch(*words, "-o", other, "--split", "2").returncode == 0
    pages = []
    for folder in (one, other):
        shown = batch("report", folder / "show1/shot001.blend.json", "-o", page)
        assert shown.returncode == 0, shown.stderr
        pages.append(page.read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.long
def test_simulation_is_not_split_and_says_so_in_one_sentence(tmp_path, batch):
    folder = tmp_path / "in"
    folder.mkdir()
    subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_SIMULATED), str(folder / "cloth.blend")],
        check=True,
        capture_output=True,
    )
    whole, split = tmp_path / "whole", tmp_path / "split"
    assert batch("contacts", folder, "-o", whole).returncode == 0
    assert batch("contacts", folder, "-o", split, "--split", "2").returncode == 0
    assert documents(split) == documents(whole)
    (entry,) = summary(split)["files"]
    assert entry["reason"] == "not split: a simulation is not baked, and must be played from its first frame"


@pytest.mark.long
def test_split_run_that_is_killed_at_random_moments_resumes_to_the_same_bytes(few, tmp_path, batch):
    whole, out = tmp_path / "whole", tmp_path / "out"
    assert batch("contacts", few, "-o", whole, *LONG).returncode == 0
    rng = random.Random(11)
    words = ("contacts", str(few), "-o", str(out), *LONG, "--split", "3", "--jobs", "2")
    is_done = False
    for attempt in range(times(3, full=6)):
        process = subprocess.Popen([sys.executable, str(SCRIPT), *words], stderr=subprocess.DEVNULL)
        # At a random moment, or as soon as the first share is done.
        waits_for_share = attempt % 2 == 0
        end = time.monotonic() + (60 if waits_for_share else rng.uniform(0.5, 2.5))
        while process.poll() is None and time.monotonic() < end:
            if waits_for_share and remaining_shares(out):
                is_done = True
                break
            time.sleep(0.02)
        process.send_signal(rng.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
        process.wait()
    ended = batch(*words)
    assert ended.returncode == 0, ended.stderr
    assert is_done, "no share was done before the run was killed"
    assert documents(out) == documents(whole)
    assert states(out) == states(whole)
    assert not remaining_shares(out)


@pytest.fixture
def task(tmp_path) -> Task:
    """Return a file that can be split into three shares."""
    return Task(
        "a.blend", "/a.blend", str(tmp_path / "a.json"), ("contacts",), "1", None, "blender", 1, 1, 1, split=3
    )


def outcome(state: str, reason: str = "", attempts: int = 1) -> Outcome:
    return Outcome("a.blend", state, reason, attempts, 2.0, {}, {"/a.blend": "1"}, "key", "hash")


def test_shares_come_first_and_are_joined_when_all_are_done(task, tmp_path):
    records = Records(tmp_path)
    splits = SplitFiles(records)
    assert splits.take(task, outcome(SHARED)) is None
    shares = list(splits.tasks())
    assert [each.share for each in shares] == [(1, 3), (2, 3), (3, 3)]
    for each in reversed(shares):
        assert not list(splits.tasks())
        Path(each.result).write_text("share")
        assert splits.take(each, outcome(SHARED, attempts=2 if each.share == (2, 3) else 1)) is None
    (join,) = splits.tasks()
    assert (join.joined, join.share, join.known) == (3, None, None)
    ended = splits.take(join, outcome(CONTACTS))
    assert (ended.state, ended.attempts, ended.seconds) == (CONTACTS, 2, 10.0)
    assert not remaining_shares(tmp_path)
    assert records.known("a.blend (1 of 3)") is None


def test_share_that_is_done_last_ends_its_file(task, tmp_path):
    records = Records(tmp_path)
    splits = SplitFiles(records)
    shares = list(splits.divide(task))
    assert [each.share for each in shares] == [(1, 3), (2, 3), (3, 3)]
    for each in shares:
        Path(each.result).write_text("share")
    assert splits.take(shares[0], outcome(SHARED)) is None
    # Two that are done at the same time both join.
    assert splits.take(shares[2], outcome(CONTACTS)) is None
    ended = splits.take(shares[1], outcome(CONTACTS, attempts=2))
    assert (ended.state, ended.attempts, ended.seconds) == (CONTACTS, 2, 6.0)
    assert not list(splits.tasks()) and not remaining_shares(tmp_path)
    assert records.known("a.blend (1 of 3)") is None


def test_result_counts_if_the_share_that_wrote_it_is_followed_by_one_that_fails(task, tmp_path):
    splits = SplitFiles(Records(tmp_path))
    shares = list(splits.divide(task))
    for each, state in zip(shares, (SHARED, CONTACTS, FAILED), strict=True):
        ended = splits.take(each, outcome(state))
    assert ended.state == CONTACTS


@pytest.mark.long
def test_single_animation_is_divided_at_once_and_a_short_one_is_not(few, tmp_path, batch):
    scene = few / "show1/shot001.blend"
    for frames in (LONG, ("--frames", "1:12")):
        whole, split = tmp_path / f"whole{frames[1]}", tmp_path / f"split{frames[1]}"
        assert batch("contacts", scene, "-o", whole, *frames).returncode == 0
        ran = batch("contacts", scene, "-o", split, *frames, "--jobs", "2", "--split", "2")
        assert ran.returncode == 0, ran.stderr
        assert documents(split) == documents(whole) and len(documents(split)) == 1
        assert states(split) == states(whole)
        assert not remaining_shares(split)
        again = batch("contacts", scene, "-o", split, *frames)
        assert "unchanged)" in again.stderr


def test_shares_that_are_done_are_known_when_a_run_resumes(task, tmp_path):
    records = Records(tmp_path)
    splits = SplitFiles(records)
    splits.take(task, outcome(SHARED))
    first = next(splits.tasks())
    splits.take(first, outcome(SHARED))
    assert not list(records.outcomes()), "shares are in no summary"
    resumed = SplitFiles(records)
    resumed.take(task, outcome(SHARED))
    known = [each.known for each in resumed.tasks()]
    assert known[0] == replace(outcome(SHARED), name="a.blend (1 of 3)") and known[1:] == [None, None]


def test_share_that_fails_costs_its_file_and_its_other_shares_are_dropped(task, tmp_path):
    splits = SplitFiles(Records(tmp_path))
    splits.take(task, outcome(SHARED))
    waiting = splits.tasks()
    first, second = next(waiting), next(waiting)
    assert splits.take(first, outcome(FAILED, "Blender crashed", 2)) is None, "the second one still runs"
    ended = splits.take(second, outcome(SHARED))
    assert (ended.state, ended.reason, ended.attempts) == (FAILED, "Blender crashed", 2)
    assert not list(splits.tasks())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bounds", ".", "--split", "2"], "--split: only valid for contacts"),
        (["contacts", ".", "--split", "0"], "--split 0: must be 1 or more"),
        (["contacts", ".", "--frame-share", "1/2"], "--frame-share: is set for each file"),
    ],
)
def test_wrong_use_of_shares_is_one_sentence(tmp_path, batch, words, message):
    ran = batch(*words, "-o", tmp_path / "out")
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1 and message in ran.stderr
    assert not json.dumps(remaining_shares(tmp_path)).count("of")
