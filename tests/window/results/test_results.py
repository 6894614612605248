"""Scans that are stopped, and the list of what was found, by real mouse and keys in the real window."""

from __future__ import annotations

import pytest

from tests.window.harness import CONTACT, Told, count

pytestmark = pytest.mark.long


@pytest.mark.parametrize("name", ["by Esc", "by button"])
def test_a_stopped_scan_keeps_its_rows_and_brings_frame_and_selection_back(results: Told, name: str) -> None:
    before, after = results.notes["before"], results.notes[name]
    assert (after["frame"], after["subframe"]) == (7, 0.25) == (before["frame"], before["subframe"])
    assert after["selected"] == before["selected"] == ["Crate"]
    assert sum(not row["is_near_miss"] for row in after["rows"]) == 6
    document = results.document(name)
    assert document["extras"]["partial"]["plannedEnd"] == 1_000_000
    assert 24 < document["time"]["frameEnd"] < 1_000_000


def test_while_it_scans_the_window_shows_how_far_it_is(results: Told) -> None:
    assert results.notes["by Esc, scanning"]["frame"] > 7, "the viewport follows"
    still, moving = results.picture("before"), results.picture("by Esc, scanning")
    assert (still[-20:] != moving[-20:]).any(), "the status bar tells"


def test_a_click_jumps_and_selects_and_what_touches_is_red(results: Told) -> None:
    note = results.notes["clicked"]
    assert note["frame"] + note["subframe"] == 24.3125
    assert note["selected"] == ["Plate", "Projectile"]
    row = note["rows"][note["settings"]["active_row"]]
    assert note["active"] == row["a"]
    place = tuple(note["projectile"])
    assert count(results.around("clicked", place, 40), CONTACT) > 100


def test_markers_come_and_go_and_the_users_stays(results: Told) -> None:
    marked = dict(results.notes["marked"]["markers"])
    assert len(marked) == 6
    # The frame before 24.3125.
    assert [frame for name, frame in marked.items() if "Projectile" in name] == [24]
    assert results.notes["unmarked"]["markers"] == [["mine", 24]]


def test_the_copy_is_the_table_of_the_command_line(results: Told) -> None:
    text = results.notes["copied"]["text"]
    assert text.startswith("First contact") and "24.312500" in text and "Near misses" in text


def test_the_button_turns_the_view_to_the_pair(results: Told) -> None:
    x, y, z = results.notes["framed"]["where"]
    assert (x, y, z) != pytest.approx((-3.4, -1.3, 0.6), abs=0.1)


def test_sorting_keeps_the_active_row_and_buttons_follow_the_order_shown(results: Told) -> None:
    note = results.notes["sorted"]
    order = sorted(
        range(len(note["rows"])),
        key=lambda index: (note["rows"][index]["a"].casefold(), note["rows"][index]["b"].casefold()),
        reverse=True,
    )
    assert note["settings"]["active_row"] == order[order.index(note["kept"]) + 1]


def test_a_loaded_report_lists_the_same(results: Told) -> None:
    def told(name: str) -> list[tuple[str, str, float]]:
        return [(row["a"], row["b"], round(row["frame"], 3)) for row in results.notes[name]["rows"]]

    assert told("loaded") == told("found")
