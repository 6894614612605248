"""Collider objects in the window: created, changed, undone, redone, removed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.window.harness import Mask, Recording

pytestmark = pytest.mark.long


def names_and_parents(recording: Recording, note: str) -> list[list[str]]:
    return [[name, parent] for name, parent, _ in recording.notes[note]["colliders"]]


def expected(prefix: str) -> list[list[str]]:
    return [[f"{prefix}_{name}_00", name] for name in ("Crate", "Launcher")]


def test_create_button_makes_one_collider_for_each_selected_object(recording: Recording) -> None:
    assert names_and_parents(recording, "boxes") == expected("UBX")
    assert {vertices for *_, vertices in recording.notes["boxes"]["colliders"]} == {8}


def test_changing_the_kind_in_adjust_last_operation_replaces_the_colliders(recording: Recording) -> None:
    assert names_and_parents(recording, "spheres") == expected("USP")
    assert (recording.viewport("boxes") != recording.viewport("spheres")).any(), "colliders are not visible"


def violet(recording: Recording, note: str) -> Mask:
    """Return the mask of pixels that are more violet than in the picture without filled colliders."""
    change = recording.viewport(note) - recording.viewport("not filled")
    return (change[..., 0] - change[..., 1] > 0.03) & (change[..., 2] - change[..., 1] > 0.03)


def test_colliders_are_filled_with_a_translucent_color_and_get_no_material(recording: Recording) -> None:
    filled = violet(recording, "filled")
    assert filled.sum() > 2000
    # Translucent: what is behind is still visible.
    assert recording.viewport("filled")[filled].std(axis=0).max() > 0.03
    note = recording.notes["not filled"]
    assert note["materials"] == 0 and note["slots"] == 0


def test_click_on_fill_colliders_hides_surfaces_and_another_shows_them(recording: Recording) -> None:
    again, before = violet(recording, "filled again"), violet(recording, "filled")
    assert np.count_nonzero(again ^ before) < 0.02 * before.sum()


def test_surface_of_hidden_collider_is_hidden(recording: Recording) -> None:
    both, one = violet(recording, "filled"), violet(recording, "launcher hidden")
    assert 500 < one.sum() < 0.9 * both.sum() and (one & ~both).sum() < 0.02 * both.sum()


def test_surfaces_are_hidden_together_with_bounds(recording: Recording) -> None:
    assert not violet(recording, "display off").any()


def test_surface_follows_its_object(recording: Recording) -> None:
    masks = [violet(recording, note) for note in ("filled", "moved")]
    before, after = (np.flatnonzero(mask.any(axis=1)).min() for mask in masks)
    assert after < before - 40, "the row of the top of the highest collider"


def test_surfaces_of_removed_colliders_vanish(recording: Recording) -> None:
    # The wires are gone too, whose pixels may have become lighter.
    assert violet(recording, "moved back").sum() > 2000
    assert violet(recording, "removed at last").sum() < 100


def test_second_click_on_create_replaces_the_colliders(recording: Recording) -> None:
    assert names_and_parents(recording, "hulls") == expected("UCX")


def test_creating_colliders_is_one_undo_step(recording: Recording) -> None:
    assert recording.notes["undone"]["colliders"] == recording.notes["spheres"]["colliders"]
    assert recording.notes["redone"]["colliders"] == recording.notes["hulls"]["colliders"]


def test_remove_button_removes_colliders_with_their_meshes_and_collections(recording: Recording) -> None:
    note = recording.notes["removed"]
    assert note["colliders"] == [] and note["before"] == note["after"]
    assert recording.notes["removal undone"]["colliders"] == recording.notes["hulls"]["colliders"]


def test_parts_below_adjust_last_operation_split_the_hulls(recording: Recording) -> None:
    note = recording.notes["eight parts"]
    assert note["parts"] == 8
    counts = {parent: 0 for _, parent, _ in note["colliders"]}
    for _, parent, _ in note["colliders"]:
        counts[parent] += 1
    assert all(1 < count <= 8 for count in counts.values()), counts
    assert names_and_parents(recording, "one part") == expected("UCX")


def test_undo_of_parts_removes_them_all_at_once(recording: Recording) -> None:
    assert len(recording.notes["parts undone"]["colliders"]) <= 2


def test_click_on_a_problem_selects_its_object_and_the_list_can_be_cleared(recording: Recording) -> None:
    notes = recording.notes
    assert notes["problem"]["selected"] == []
    assert notes["problem clicked"]["selected"] == notes["problems cleared"]["selected"] == ["Crate"]
    # Below the button are four lines, none, and one. The panel below moves with them.
    pictures = [sidebar(recording, name) for name in ("problem", "problems cleared", "no problem")]
    for one, other in itertools.combinations(pictures, 2):
        assert (np.abs(one - other).max(axis=(1, 2)) > 0.1).sum() > 50
    assert "2 colliders, 1 problem" in recording.log and "2 colliders, no problems" in recording.log


def sidebar(recording: Recording, note: str) -> np.ndarray:
    """Return the part of the screenshot with the panels."""
    x, y, width, height = recording.notes[note]["regions"]["UI"]
    top = recording.notes[note]["height"] - (y + height)
    return recording.screenshot(note)[top : top + height, x : x + width]
