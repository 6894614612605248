"""Stopped scans and the contact list, with real mouse and keys in the window."""

from __future__ import annotations

import pytest

from tests.window.harness import Recording, is_reddish

pytestmark = pytest.mark.long


def status_bar(recording: Recording, name: str) -> list[list[list[float]]]:
    """Return the left part of the status bar, with an operator's hints; its report appears to the right."""
    picture = recording.screenshot(name)
    return picture[-20:, : picture.shape[1] // 6].tolist()


@pytest.mark.parametrize("name", ["by Esc", "by button"])
def test_stopped_scan_keeps_its_rows_and_restores_frame_and_selection(
    recording: Recording, name: str
) -> None:
    before, after = recording.notes["before"], recording.notes[name]
    assert (after["frame"], after["subframe"]) == (7, 0.25) == (before["frame"], before["subframe"])
    assert after["selected"] == before["selected"] == ["Crate"]
    partial, complete = (
        [(row["a"], row["b"]) for row in rows if not row["is_near_miss"]]
        for rows in (after["rows"], recording.notes["found"]["rows"])
    )
    assert len(partial) == 6 and complete and set(complete) <= set(partial), "all contacts are early"
    assert after["settings"] == before["settings"]
    # Before the scan, the hint for a click was another: the scene had no contacts to click on.
    assert status_bar(recording, name) == status_bar(recording, "found")
    assert status_bar(recording, name) != status_bar(recording, f"{name}, scanning")
    document = recording.document(name)
    assert document["extras"]["partial"]["plannedEnd"] == 100_000
    assert 60 <= document["time"]["frameEnd"] < 100_000


def test_running_scan_shows_its_progress_in_viewport_and_status_bar(recording: Recording) -> None:
    # The example has a rigid body, so its frames are played.
    assert recording.notes["by Esc, scanning"]["frame"] > 7, "the viewport does not follow"
    assert status_bar(recording, "by Esc, scanning") != status_bar(recording, "before"), "no progress"


def test_scan_after_stopped_ones_restores_the_frame_too(recording: Recording) -> None:
    note = recording.notes["found"]
    assert (note["frame"], note["subframe"]) == (7, 0.25)


def test_clicking_a_row_goes_to_the_contact_selects_the_pair_and_colors_it(recording: Recording) -> None:
    note = recording.notes["clicked"]
    assert note["frame"] + note["subframe"] == 24.3125
    assert note["selected"] == ["Plate", "Projectile"]
    row = note["rows"][note["settings"]["active_row"]]
    assert note["active"] == row["a"]
    position = tuple(note["projectile"])
    assert is_reddish(recording.square_around("clicked", position, 40)).sum() > 200


def test_markers_are_added_and_removed_except_the_users(recording: Recording) -> None:
    markers = dict(recording.notes["markers added"]["markers"])
    assert len(markers) == 6
    # The frame before 24.3125.
    assert [frame for name, frame in markers.items() if "Projectile" in name] == [24]
    assert recording.notes["markers removed"]["markers"] == [["mine", 24]]


def test_copied_text_is_the_table_of_the_command_line(recording: Recording) -> None:
    text = recording.notes["copied"]["text"]
    assert text.startswith("First contact") and "24.312500" in text and "Near misses" in text


def test_frame_pair_button_moves_the_view_to_the_pair(recording: Recording) -> None:
    x, y, z = recording.notes["framed"]["view_location"]
    assert (x, y, z) != pytest.approx((-3.4, -1.3, 0.6), abs=0.1)


def test_sorting_keeps_the_active_row_and_next_follows_the_shown_order(recording: Recording) -> None:
    note = recording.notes["sorted"]
    order = sorted(
        range(len(note["rows"])),
        key=lambda index: (note["rows"][index]["a"].casefold(), note["rows"][index]["b"].casefold()),
        reverse=True,
    )
    assert note["settings"]["active_row"] == order[order.index(note["row_before"]) + 1]


def test_loaded_report_has_the_same_rows(recording: Recording) -> None:
    def rows(name: str) -> list[tuple[str, str, float]]:
        return [(row["a"], row["b"], round(row["frame"], 3)) for row in recording.notes[name]["rows"]]

    assert rows("loaded") == rows("found")
