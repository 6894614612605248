"""Separation over time in the window: the graph of a clicked row, clicks in the large one, export, keys."""

from __future__ import annotations

import csv

import pytest

from tests.window.harness import CONTACT_COLOR, Recording, count_pixels

pytestmark = pytest.mark.long


def test_unfolding_the_panel_starts_no_job(recording: Recording) -> None:
    assert recording.notes["unfolded"] | {"known": False, "job": False} == recording.notes["unfolded"]


def test_click_on_row_shows_the_contact_in_red_in_the_sidebar(recording: Recording) -> None:
    note = recording.notes["row"]
    x, y, width, height = note["regions"]["UI"]
    assert width < 300, "the sidebar has its default width"
    picture = recording.screenshot("row")[note["height"] - y - height : note["height"] - y, x : x + width]
    # The overlap lasts about a tenth of the frames: a triangle of about 7 by 15 pixels.
    assert count_pixels(picture, CONTACT_COLOR) > 20


def test_large_graph_shows_the_contact_in_red_where_it_is(recording: Recording) -> None:
    note = recording.notes["large"]
    assert note["shown"]
    left, bottom, right, top = note["plot"]
    rows = slice(int(note["height"] - top), int(note["height"] - bottom))
    # The cubes touch while the center is within 0.9, from about frame 31 to 39 of 1 to 100.
    contact = [left + (frame - 1) / 99 * (right - left) for frame in (31.2, 38.8)]
    inside = recording.screenshot("large")[rows, int(contact[0]) - 3 : int(contact[1]) + 3]
    after = recording.screenshot("large")[rows, int(contact[1]) + 8 : int(right)]
    assert count_pixels(inside, CONTACT_COLOR) > 30
    assert count_pixels(after, CONTACT_COLOR) == 0


def test_click_in_the_graph_jumps_to_its_frame_and_a_click_above_does_not(recording: Recording) -> None:
    note = recording.notes["inside"]
    assert note["frame"] + note["subframe"] == pytest.approx(1 + 99 * note["part"], abs=0.3)
    above = recording.notes["above"]
    assert (above["frame"], above["subframe"]) == (note["frame"], note["subframe"])
    assert above["selected"] != note["selected"], "the click went through to the viewport"


def test_cross_closes_the_graph(recording: Recording) -> None:
    assert recording.notes["large"]["shown"] and not recording.notes["closed"]["shown"]
    place, size = recording.notes["large"]["cross"], 6
    # White lines on the dark ground of the graph.
    drawn = recording.square_around("large", (place[0], place[1]), size)
    assert (drawn.max(axis=-1) > 0.6).sum() > 8


def test_export_writes_the_separation_of_each_frame(recording: Recording) -> None:
    rows = list(csv.DictReader((recording.folder / "separation.csv").open(encoding="utf-8")))
    separation = {float(row["frame"]): float(row["separation"]) for row in rows}
    # At rest until frame 10: centers 4 apart, half sizes 0.4 and 0.5.
    assert separation[1] == separation[10] == pytest.approx(3.1, abs=1e-4)
    # As far on the other side from frame 60 on, and in the middle corners 0.1 below the surface of the wall.
    assert separation[60] == separation[100] == pytest.approx(3.1, abs=1e-4)
    assert separation[35] == pytest.approx(-0.1, abs=1e-4)


def test_keyed_separation_moves_to_the_other_object_with_f9_and_goes_with_undo(recording: Recording) -> None:
    keyed, other, undone = (recording.notes[name]["keys"] for name in ("keyed", "other-object", "undone"))
    first = next(name for name in keyed if keyed[name])
    second = next(name for name in keyed if name != first)
    assert not keyed[second] and dict(keyed[first])[1] == pytest.approx(3.1, abs=1e-4)
    assert not other[first] and other[second] == keyed[first]
    assert not undone[first] and not undone[second]
