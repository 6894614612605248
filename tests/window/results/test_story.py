"""The guide's tour, each step by mouse or keys in the real window: what is so, and what is seen."""

from __future__ import annotations

import numpy as np
import pytest

from tests.window.harness import CONTACT, FAINT, FREE, Told, alphas, count

pytestmark = pytest.mark.smoke

HALF = 0.3125  # of the crate
FAR = 0.5  # how far a side of its box was dragged


def handles(told: Told, name: str) -> int:
    """How much of the handles' yellow is where the side was dragged to."""
    picture = told.around(name, tuple(told.notes["sized"]["side"]), 40)
    red, green, blue = np.moveaxis(picture, -1, 0)
    return int(((red > 0.6) & (green > 0.6) & (blue < 0.5)).sum())


def test_installing_brings_the_tab(story: Told) -> None:
    assert not story.notes["bare"]["tab"] and not story.notes["opened"]["has_results"]
    x, y, width, height = story.notes["opened"]["regions"]["UI"]
    top = story.notes["opened"]["height"] - y - height
    sidebar = (slice(top, top + 500), slice(x, x + width))
    bare, opened = story.picture("bare")[sidebar], story.picture("opened")[sidebar]
    assert (np.abs(bare - opened).max(axis=-1) > 0.02).mean() > 0.5


def test_a_click_selects_and_compute_bounds_goes_by_it(story: Told) -> None:
    assert story.notes["before"]["selected"] == ["Plate"]
    assert [thing["name"] for thing in story.document("one")["objects"]] == ["Plate"]
    assert count(story.viewport("before"), FREE) == 0
    assert count(story.around("one", tuple(story.notes["one"]["plate"]), 150), FREE) > 300
    assert count(story.viewport("one"), FREE) < count(story.viewport("computed"), FREE) / 2


def test_compute_bounds_shows_free_bounds_in_blue(story: Told) -> None:
    assert not story.notes["before"]["has_results"]
    assert story.notes["computed"]["has_results"]
    assert story.notes["computed"]["settings"]["scope"] == "VISIBLE"
    assert story.notes["computed"]["operators"][-1] == "COLLISION_BOUNDS_OT_compute_bounds"
    assert count(story.viewport("computed"), FREE) > 3000
    assert count(story.viewport("computed"), CONTACT) == 0


def test_shapes_that_are_not_checked_are_faint(story: Told) -> None:
    """Boxes are checked here: they have the full color, and the spheres 0.3 of it."""
    found = alphas(story.viewport("before"), story.viewport("computed"), FREE)
    numbers, edges = np.histogram(found[found < 0.9], bins=np.arange(0.1, 0.91, 0.02))
    fullest = numbers.argmax()
    assert edges[fullest] - 0.02 <= FAINT <= edges[fullest + 1] + 0.02
    assert (found > 0.95).sum() > 3000


def test_a_changed_padding_computes_again_and_is_undone_and_redone(story: Told) -> None:
    notes = story.notes
    assert [notes[name]["settings"]["padding"] for name in ("padded", "undone", "redone")] == [0.25, 0, 0.25]
    for before, after in zip(
        story.document("computed")["objects"], story.document("padded")["objects"], strict=True
    ):
        grown = after["world"]["sphere"]["radius"] - before["world"]["sphere"]["radius"]
        assert grown == pytest.approx(0.25, abs=1e-5), before["name"]
    assert story.document("undone") == story.document("one")
    assert story.document("redone") == story.document("padded")
    blue = {
        name: count(story.viewport(name), FREE) for name in ("one", "computed", "padded", "undone", "redone")
    }
    assert blue["undone"] == blue["one"] and blue["redone"] == blue["padded"] != blue["computed"]


def test_dragging_a_handle_sizes_the_override_in_one_step(story: Told) -> None:
    notes = story.notes
    assert notes["by hand"]["override"] == "box" and notes["by hand"]["selected"] == ["Crate"]
    assert notes["by hand"]["half_extents"] == pytest.approx([HALF] * 3)
    for name in ("sized", "sized again"):
        center, half = notes[name]["center"][0], notes[name]["half_extents"]
        assert center - half[0] == pytest.approx(-HALF, abs=1e-4), "the other side stays"
        assert center + half[0] == pytest.approx(HALF + FAR, abs=0.1)
        assert half[1:] == pytest.approx([HALF] * 2)
        assert handles(story, name) > 10
    assert notes["not sized"]["half_extents"] == pytest.approx([HALF] * 3)
    assert handles(story, "not sized") == handles(story, "by hand") < 10


def test_esc_stops_a_scan_and_keeps_what_it_found(story: Told) -> None:
    before, after = story.notes["before the scan"], story.notes["stopped"]
    assert (after["frame"], after["subframe"]) == (before["frame"], before["subframe"])
    assert after["selected"] == before["selected"]
    assert any(not row["is_near_miss"] for row in after["rows"])
    document = story.document("stopped")
    assert document["extras"]["partial"]["plannedEnd"] == 1_000_000
    assert 24 < document["time"]["frameEnd"] < 1_000_000
    still, moving = story.picture("before the scan"), story.picture("scanning")
    assert (still[-20:] != moving[-20:]).any(), "the status bar tells"


def test_computing_scanning_and_exporting_leave_the_scene_alone(story: Told) -> None:
    for name in ("computed", "without padding", "found"):
        assert (story.notes[name]["frame"], story.notes[name]["subframe"]) == (1, 0)
    assert story.notes["computed"]["selected"] == story.notes["before"]["selected"]
    assert story.notes["found"]["selected"] == story.notes["before the scan"]["selected"]


def test_the_scan_lists_contacts_by_time_and_moves_nothing(story: Told) -> None:
    rows = story.notes["found"]["rows"]
    frames = [row["frame"] for row in rows if not row["is_near_miss"]]
    assert len(frames) == 6 and frames == sorted(frames)
    assert story.notes["found"]["settings"]["active_row"] == -1
    assert count(story.viewport("found"), FREE) > 2000


def test_clicking_a_contact_jumps_between_frames(story: Told) -> None:
    note = story.notes["contact"]
    row = note["rows"][note["settings"]["active_row"]]
    assert {row["a"], row["b"]} == {"Plate", "Projectile"} and row["tunnelling"]
    assert note["closed_form_frame"] == 24.3125
    assert note["frame"] + note["subframe"] == 24.3125 == row["frame"]
    assert note["selected"] == ["Plate", "Projectile"]


def test_what_touches_is_red(story: Told) -> None:
    place = tuple(story.notes["contact"]["projectile"])
    assert count(story.around("found", place, 40), CONTACT) == 0
    assert count(story.around("contact", place, 40), CONTACT) > 100
    assert count(story.viewport("contact"), FREE) > 1000, "what does not touch stays blue"


def test_markers_stand_in_the_timeline(story: Told) -> None:
    marked = dict(story.notes["marked"]["markers"])
    assert len(marked) == 6
    # The frame before 24.3125.
    assert [frame for name, frame in marked.items() if "Projectile" in name] == [24]
    tall = story.notes["marked"]["height"] // 8
    before, after = (story.picture(name)[-tall:] for name in ("contact", "marked"))
    assert (np.abs(before - after).max(axis=-1) > 0.1).sum() > 100


def test_the_overlay_hides_with_blenders_own(story: Told) -> None:
    assert story.notes["hidden"]["overlays"] is False and story.notes["shown"]["overlays"] is True
    assert count(story.viewport("hidden"), FREE) == 0
    assert count(story.viewport("hidden"), CONTACT) == 0
    assert count(story.viewport("shown"), CONTACT) == count(story.viewport("contact"), CONTACT)


@pytest.mark.parametrize(("name", "contacts"), [("bounds", 0), ("contacts", 6)])
def test_the_export_button_writes_what_is_shown(story: Told, name: str, contacts: int) -> None:
    document = story.document(name)
    assert len(document["objects"]) == 23
    assert len(document["contacts"]) == contacts


def test_settings_overrides_and_markers_are_saved_and_results_are_not(story: Told) -> None:
    note = story.notes["saved and opened again"]
    assert (note["settings"]["scope"], note["settings"]["method"]) == ("VISIBLE", "ritter")
    for key in ("override", "center", "half_extents"):
        assert note[key] == story.notes["sized again"][key]
    assert note["markers"] == story.notes["marked"]["markers"]
    assert not note["has_results"] and not note["rows"]
    picture = story.viewport("saved and opened again")
    assert count(picture, FREE) + count(picture, CONTACT) == 0
    assert story.notes["computed again"]["has_results"]
    assert count(story.viewport("computed again"), FREE) > 1000
