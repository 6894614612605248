"""The guide's tour, with mouse and keys in the window: the state and the screenshot after each step."""

from __future__ import annotations

import numpy as np
import pytest

from tests.window.harness import (
    CONTACT_COLOR,
    FAINT_ALPHA,
    FREE_COLOR,
    Recording,
    blend_alphas,
    count_pixels,
    is_reddish,
)

pytestmark = pytest.mark.smoke

HALF = 0.3125  # half extent of the crate
DRAG_DISTANCE = 0.5  # of the dragged side of its box


def count_handle_pixels(tour: Recording, name: str) -> int:
    """Count the yellow pixels of handles at the position that the side was dragged to."""
    picture = tour.square_around(name, tuple(tour.notes["resized"]["side"]), 40)
    red, green, blue = np.moveaxis(picture, -1, 0)
    return int(((red > 0.6) & (green > 0.6) & (blue < 0.5)).sum())


def test_installing_adds_the_tab(tour: Recording) -> None:
    assert not tour.notes["not installed"]["is_registered"]
    assert not tour.notes["tab open"]["has_results"]
    x, y, width, height = tour.notes["tab open"]["regions"]["UI"]
    top = tour.notes["tab open"]["height"] - y - height
    sidebar = (slice(top, top + 500), slice(x, x + width))
    before, after = tour.screenshot("not installed")[sidebar], tour.screenshot("tab open")[sidebar]
    assert (np.abs(before - after).max(axis=-1) > 0.02).mean() > 0.5


def test_compute_bounds_uses_the_clicked_object(tour: Recording) -> None:
    assert tour.notes["before"]["selected"] == ["Plate"]
    assert [entry["name"] for entry in tour.document("one object")["objects"]] == ["Plate"]
    assert count_pixels(tour.viewport("before"), FREE_COLOR) == 0
    plate = tuple(tour.notes["one object"]["plate"])
    assert count_pixels(tour.square_around("one object", plate, 150), FREE_COLOR) > 300
    pixels = {name: count_pixels(tour.viewport(name), FREE_COLOR) for name in ("one object", "computed")}
    assert pixels["one object"] < pixels["computed"] / 2


def test_compute_bounds_shows_free_bounds_in_blue(tour: Recording) -> None:
    assert not tour.notes["before"]["has_results"]
    assert tour.notes["computed"]["has_results"]
    assert tour.notes["computed"]["settings"]["scope"] == "VISIBLE"
    assert tour.notes["computed"]["operators"][-1] == "COLLISION_BOUNDS_OT_compute_bounds"
    assert count_pixels(tour.viewport("computed"), FREE_COLOR) > 2000
    assert count_pixels(tour.viewport("computed"), CONTACT_COLOR) == 0


def test_only_the_shape_that_contact_detection_uses_is_drawn_at_first(tour: Recording) -> None:
    """Check the opacity: boxes have the full color; spheres would have 0.3 of it."""
    alphas = blend_alphas(tour.viewport("before"), tour.viewport("computed"), FREE_COLOR)
    full = (alphas > 0.95).sum()
    assert full > 2000
    assert (np.abs(alphas - FAINT_ALPHA) < 0.03).sum() < 0.5 * full


def test_changed_padding_recomputes_the_bounds_and_can_be_undone_and_redone(tour: Recording) -> None:
    notes = tour.notes
    assert [notes[name]["settings"]["padding"] for name in ("padded", "undone", "redone")] == [0.25, 0, 0.25]
    for before, after in zip(
        tour.document("computed")["objects"], tour.document("padded")["objects"], strict=True
    ):
        grown = after["world"]["sphere"]["radius"] - before["world"]["sphere"]["radius"]
        assert grown == pytest.approx(0.25, abs=1e-5), before["name"]
        low, high = before["world"]["aabb"]["min"], after["world"]["aabb"]["min"]
        assert np.subtract(low, high) == pytest.approx([0.25] * 3, abs=1e-5), before["name"]
    assert tour.document("undone") == tour.document("one object")
    assert tour.document("redone") == tour.document("padded")
    names = ("one object", "computed", "padded", "undone", "redone")
    # The panel of the last operation, which redo does not open, covers the lowest part of the view.
    views = {name: tour.viewport(name) for name in names}
    blue = {name: count_pixels(view[: len(view) * 6 // 7], FREE_COLOR) for name, view in views.items()}
    assert blue["undone"] == blue["one object"] and blue["redone"] == blue["padded"] != blue["computed"]


def test_dragging_a_handle_resizes_the_override_in_one_undo_step(tour: Recording) -> None:
    notes = tour.notes
    assert notes["from fit"]["override"] == "box" and notes["from fit"]["selected"] == ["Crate"]
    assert notes["from fit"]["half_extents"] == pytest.approx([HALF] * 3)
    for name in ("resized", "resize redone"):
        center, half = notes[name]["center"][0], notes[name]["half_extents"]
        assert center - half[0] == pytest.approx(-HALF, abs=1e-4), "the opposite side stays"
        assert center + half[0] == pytest.approx(HALF + DRAG_DISTANCE, abs=0.1)
        assert half[1:] == pytest.approx([HALF] * 2)
        assert count_handle_pixels(tour, name) > 10
    assert notes["resize undone"]["half_extents"] == pytest.approx([HALF] * 3)
    assert count_handle_pixels(tour, "resize undone") == count_handle_pixels(tour, "from fit") < 10


def test_esc_stops_a_scan_and_keeps_its_contacts(tour: Recording) -> None:
    before, after = tour.notes["before scan"], tour.notes["stopped"]
    assert (after["frame"], after["subframe"]) == (before["frame"], before["subframe"])
    assert after["selected"] == before["selected"]
    assert any(not row["is_near_miss"] for row in after["rows"])
    document = tour.document("stopped")
    assert document["extras"]["partial"]["plannedEnd"] == 100_000
    assert 24 < document["time"]["frameEnd"] < 100_000
    still, scanning = tour.screenshot("before scan"), tour.screenshot("scanning")
    assert (still[-20:] != scanning[-20:]).any(), "the status bar does not show the progress"


def test_computing_scanning_and_exporting_change_neither_frame_nor_selection(tour: Recording) -> None:
    for name in ("computed", "without padding", "found"):
        assert (tour.notes[name]["frame"], tour.notes[name]["subframe"]) == (1, 0)
    assert tour.notes["computed"]["selected"] == tour.notes["before"]["selected"]
    assert tour.notes["found"]["selected"] == tour.notes["before scan"]["selected"]


def test_scan_lists_contacts_by_time_without_an_active_row(tour: Recording) -> None:
    rows = tour.notes["found"]["rows"]
    frames = [row["frame"] for row in rows if not row["is_near_miss"]]
    assert len(frames) == 6 and frames == sorted(frames)
    assert tour.notes["found"]["settings"]["active_row"] == -1
    assert count_pixels(tour.viewport("found"), FREE_COLOR) > 2000


def test_timeline_has_bars_from_the_first_to_the_last_frame_of_contacts(tour: Recording) -> None:
    note, picture = tour.notes["found"], tour.screenshot("found")
    x, y, width, height = note["timeline"]["rectangle"]
    zero, hundred = note["timeline"]["frames"]
    part = picture[note["height"] - y - height : note["height"] - y, x : x + width]
    is_red = ((part[..., 0] - part[..., 2] > 0.25) & (part[..., 0] - part[..., 1] > 0.25)).any(axis=0)
    contacts = sorted(tour.document("contacts")["contacts"], key=lambda contact: -contact["deepest"]["depth"])
    # The timeline is too low for the row of the shallowest.
    *deeper, beyond = [
        [(span["start"], span["end"]) for span in contact["intervals"]] for contact in contacts
    ]
    deeper = [span for each in deeper for span in each]
    for frame in range(1, 60):
        column = round(zero + (hundred - zero) * frame / 100 - x)
        found = is_red[column - 1 : column + 2].any()
        if any(start <= frame <= end for start, end in deeper):
            assert found, frame
        # At the ends of bars, pixels are rounded.
        elif not any(start - 1.5 <= frame <= end + 1.5 for start, end in deeper + beyond):
            assert not found, frame


def test_clicking_a_contact_goes_to_its_subframe(tour: Recording) -> None:
    note = tour.notes["contact"]
    row = note["rows"][note["settings"]["active_row"]]
    assert {row["a"], row["b"]} == {"Plate", "Projectile"} and row["tunnelling"]
    assert note["closed_form_frame"] == 24.3125
    assert note["frame"] + note["subframe"] == 24.3125 == row["frame"]
    assert note["selected"] == ["Plate", "Projectile"]


def test_meshes_of_the_clicked_pair_are_red_instead_of_bounds(tour: Recording) -> None:
    """The projectile is behind the plate."""
    position = tuple(tour.notes["contact"]["projectile"])
    # The X axis of the view is red, too.
    before, after = (
        is_reddish(tour.square_around(name, position, 40)).sum() for name in ("found", "contact")
    )
    assert after > before + 150
    assert count_pixels(tour.viewport("found"), FREE_COLOR) > 100
    picture = tour.viewport("contact")
    assert count_pixels(picture, FREE_COLOR) == count_pixels(picture, CONTACT_COLOR) == 0


def test_markers_are_in_the_timeline(tour: Recording) -> None:
    markers = dict(tour.notes["markers added"]["markers"])
    assert len(markers) == 6
    # The frame before 24.3125.
    assert [frame for name, frame in markers.items() if "Projectile" in name] == [24]
    tall = tour.notes["markers added"]["height"] // 8
    before, after = (tour.screenshot(name)[-tall:] for name in ("contact", "markers added"))
    assert (np.abs(before - after).max(axis=-1) > 0.1).sum() > 100


def test_overlay_hides_with_blenders_overlays(tour: Recording) -> None:
    assert tour.notes["hidden"]["overlays"] is False and tour.notes["shown"]["overlays"] is True
    assert count_pixels(tour.viewport("hidden"), FREE_COLOR) == 0
    assert count_pixels(tour.viewport("hidden"), CONTACT_COLOR) == 0
    red = [count_pixels(tour.viewport(name), CONTACT_COLOR) for name in ("shown", "contact")]
    assert red[0] == red[1]


@pytest.mark.parametrize(("name", "contacts"), [("bounds", 0), ("contacts", 6)])
def test_export_button_writes_the_shown_result(tour: Recording, name: str, contacts: int) -> None:
    document = tour.document(name)
    assert len(document["objects"]) == 23
    assert len(document["contacts"]) == contacts


def test_file_keeps_settings_overrides_and_markers_but_no_results(tour: Recording) -> None:
    note = tour.notes["reopened"]
    assert (note["settings"]["scope"], note["settings"]["box_axes"]) == ("VISIBLE", "world")
    for key in ("override", "center", "half_extents"):
        assert note[key] == tour.notes["resize redone"][key]
    assert note["markers"] == tour.notes["markers added"]["markers"]
    assert not note["has_results"] and not note["rows"]
    picture = tour.viewport("reopened")
    assert count_pixels(picture, FREE_COLOR) + count_pixels(picture, CONTACT_COLOR) == 0
    assert tour.notes["computed again"]["has_results"]
    assert count_pixels(tour.viewport("computed again"), FREE_COLOR) > 1000
