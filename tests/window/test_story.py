"""A first visit: compute, look, find, click a contact, export. Every step by mouse in the real window."""

from __future__ import annotations

import numpy as np
import pytest

from tests.window.harness import CONTACT, FAINT, FREE, Told, alphas, count


def test_compute_bounds_shows_free_bounds_in_blue(story: Told) -> None:
    assert not story.notes["before"]["has_results"]
    assert story.notes["computed"]["has_results"]
    assert story.notes["computed"]["settings"]["scope"] == "VISIBLE"
    assert story.notes["computed"]["operators"][-1] == "COLLISION_BOUNDS_OT_compute"
    assert count(story.viewport("before"), FREE) == 0
    assert count(story.viewport("computed"), FREE) > 3000
    assert count(story.viewport("computed"), CONTACT) == 0


def test_shapes_that_are_not_checked_are_faint(story: Told) -> None:
    """Boxes are checked here: they have the full color, and the spheres 0.3 of it."""
    found = alphas(story.viewport("before"), story.viewport("computed"), FREE)
    numbers, edges = np.histogram(found[found < 0.9], bins=np.arange(0.1, 0.91, 0.02))
    fullest = numbers.argmax()
    assert edges[fullest] - 0.02 <= FAINT <= edges[fullest + 1] + 0.02
    assert (found > 0.95).sum() > 3000


def test_computing_and_exporting_leaves_the_scene_alone(story: Told) -> None:
    for name in ("computed", "found"):
        assert (story.notes[name]["frame"], story.notes[name]["subframe"]) == (1, 0)
        assert story.notes[name]["selected"] == story.notes["before"]["selected"]


def test_the_scan_lists_contacts_by_time_and_moves_nothing(story: Told) -> None:
    rows = story.notes["found"]["rows"]
    frames = [row["frame"] for row in rows if not row["is_near_miss"]]
    assert len(frames) == 6 and frames == sorted(frames)
    assert story.notes["found"]["settings"]["active_row"] == -1


def test_clicking_a_contact_jumps_between_frames(story: Told) -> None:
    note = story.notes["contact"]
    row = note["rows"][note["settings"]["active_row"]]
    assert {row["a"], row["b"]} == {"Plate", "Projectile"} and row["tunnelling"]
    assert note["closed_form_frame"] == 24.3125
    assert note["frame"] + note["subframe"] == 24.3125 == row["frame"]


def test_what_touches_is_red(story: Told) -> None:
    place = tuple(story.notes["contact"]["projectile"])
    assert count(story.around("found", place, 40), CONTACT) == 0
    assert count(story.around("contact", place, 40), CONTACT) > 100
    assert count(story.viewport("contact"), FREE) > 1000, "what does not touch stays blue"


def test_the_overlay_hides_with_blenders_own(story: Told) -> None:
    assert story.notes["hidden"]["overlays"] is False
    assert count(story.viewport("hidden"), FREE) == 0
    assert count(story.viewport("hidden"), CONTACT) == 0


@pytest.mark.parametrize(("name", "contacts"), [("bounds", 0), ("contacts", 6)])
def test_the_export_button_writes_what_is_shown(story: Told, name: str, contacts: int) -> None:
    document = story.document(name)
    assert len(document["objects"]) == 23
    assert len(document["contacts"]) == contacts
