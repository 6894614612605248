"""Undo, redo, changed options and Esc, with real keys in the real window."""

from __future__ import annotations

import numpy as np
import pytest

from tests.window.harness import FREE, Told, count

pytestmark = pytest.mark.long


def test_undo_takes_the_bounds_away(undo: Told) -> None:
    assert undo.notes["computed"]["has_results"] and count(undo.viewport("computed"), FREE) > 3000
    assert not undo.notes["undone"]["has_results"]
    assert count(undo.viewport("undone"), FREE) == 0
    assert undo.notes["undone"]["settings"] == undo.notes["before"]["settings"], "one step, not two"


def test_redo_brings_them_back(undo: Told) -> None:
    assert undo.notes["redone"]["has_results"]
    # Pixel by pixel; the edge of a line may be smoothed otherwise, which a look at the scene anew decides.
    away = np.abs(undo.viewport("redone") - undo.viewport("computed")).max(axis=-1)
    assert (away > 0.1).sum() <= 5 and away.mean() < 1e-3, f"{(away > 0).sum()} pixels differ"
    assert undo.document("redone") == undo.document("computed")


def test_a_changed_padding_computes_again(undo: Told) -> None:
    assert undo.notes["padded"]["settings"]["padding"] == 0.25
    for before, after in zip(
        undo.document("computed")["objects"], undo.document("padded")["objects"], strict=True
    ):
        grown = after["world"]["sphere"]["radius"] - before["world"]["sphere"]["radius"]
        assert grown == pytest.approx(0.25, abs=1e-5), before["name"]
        low, high = before["world"]["aabb"]["min"], after["world"]["aabb"]["min"]
        assert [a - b for a, b in zip(low, high, strict=True)] == pytest.approx([0.25] * 3, abs=1e-5)


def test_a_changed_method_computes_again(undo: Told) -> None:
    assert undo.notes["padded"]["settings"]["method"] == "minimal"
    assert undo.notes["other method"]["settings"]["method"] != "minimal"
    assert undo.notes["other method"]["settings"]["padding"] == 0.25
    before, after = (
        [thing["world"]["sphere"]["radius"] for thing in undo.document(name)["objects"]]
        for name in ("padded", "other method")
    )
    assert before != after and all(a >= b - 1e-5 for a, b in zip(after, before, strict=True))


def status_bar(undo: Told, name: str) -> list[list[list[float]]]:
    """The left of the last rows, where an operator speaks; its report appears beside that."""
    picture = undo.picture(name)
    return picture[-20:, : picture.shape[1] // 6].tolist()


def test_a_scan_says_what_it_does(undo: Told) -> None:
    assert status_bar(undo, "scanning") != status_bar(undo, "before scan")


def test_esc_keeps_what_was_found_and_leaves_the_rest_as_it_was(undo: Told) -> None:
    before, after = undo.notes["before scan"], undo.notes["stopped"]
    assert (after["frame"], after["subframe"]) == (7, 0.25) == (before["frame"], before["subframe"])
    assert after["selected"] == before["selected"] == ["Cart", "Crate"]
    found = [(row["a"], row["b"]) for row in after["rows"] if not row["is_near_miss"]]
    whole = [(row["a"], row["b"]) for row in undo.notes["again"]["rows"] if not row["is_near_miss"]]
    assert whole and set(whole) <= set(found), "all of them are early"
    document = undo.document("stopped")
    assert document["extras"]["partial"]["plannedEnd"] == 1_000_000
    assert 24 < document["time"]["frameEnd"] < 1_000_000
    assert after["settings"] == before["settings"]
    assert status_bar(undo, "stopped") == status_bar(undo, "before scan")


def test_after_esc_a_scan_can_be_started_again(undo: Told) -> None:
    assert sum(not row["is_near_miss"] for row in undo.notes["again"]["rows"]) > 0
    assert (undo.notes["again"]["frame"], undo.notes["again"]["subframe"]) == (7, 0.25)


def test_repeat_last_scans_in_slices_too_and_is_one_step_to_undo(undo: Told) -> None:
    assert undo.notes["repeating"] == {"running": True}
    after = undo.notes["repeated"]
    assert after["is_new"] and after["rows"]
    assert after["operators"][-2:] == ["COLLISION_BOUNDS_OT_find_contacts"] * 2
    assert not undo.notes["repeat undone"]["is_new"]
