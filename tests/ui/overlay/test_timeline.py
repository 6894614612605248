"""Bars of contacts in the timeline."""

from __future__ import annotations

import numpy as np

from addon.scene.jobs import result_store
from addon.ui.overlay.timeline import ContactBars, PlacedBars
from tests.ui import scanned_scene


def test_each_interval_has_a_bar_and_the_deepest_pair_the_first_row(settings):
    scanned_scene.build()
    scanned_scene.scan()
    report = result_store.get(settings.result_id).contacts.report
    bars = ContactBars.of(report)
    wanted = {(span.start, span.end) for contact in report.contacts for span in contact.intervals}
    assert set(map(tuple, bars.spans.tolist())) == wanted and len(wanted) > 1
    deepest = max(report.contacts, key=lambda contact: contact.depth)
    first = bars.spans[bars.rows == 0].tolist()
    assert first == [[span.start, span.end] for span in deepest.intervals]
    assert bars.opacities.max() == bars.opacities[0] and bars.opacities.min() > 0.3


def test_bars_are_at_their_frames_below_each_other():
    bars = ContactBars(np.array([[10.0, 20.0], [12.0, 12.0]]), np.array([0, 1]), np.ones(2), np.array([5, 3]))
    rectangles = bars.rectangles((100.0, 8.0), 400.0, 1.0)
    assert rectangles[0, [0, 2]].tolist() == [180.0, 260.0]
    assert rectangles[1, 3] < rectangles[0, 1], "rows do not touch"
    left, right = rectangles[1, [0, 2]]
    assert right - left == 3.0 and (left + right) / 2 == 196.0, "a contact of no length can be seen"


def test_rows_without_room_are_in_the_last_row():
    count = 100
    bars = ContactBars(np.tile([1.0, 2.0], (count, 1)), np.arange(count), np.ones(count), np.arange(count))
    rectangles = bars.rectangles((0.0, 10.0), 120.0, 1.0)
    assert len(rectangles) == count and rectangles[:, 1].min() > 0
    assert len(np.unique(rectangles[:, 1])) == 10
    assert len(np.unique(bars.rectangles((0.0, 10.0), 120.0, 2.0)[:, 1])) == 5
    # A region as low as that of Blender's default timeline, where one row has room.
    low = bars.rectangles((0.0, 10.0), 28.0, 1.0)
    assert set(low[:, 1]) == {0.0} and set(low[:, 3]) == {4.0}


def test_bar_under_the_mouse_is_the_nearest_one_within_two_pixels():
    bars = ContactBars(np.array([[10.0, 20.0], [12.0, 12.0]]), np.array([0, 1]), np.ones(2), np.array([5, 3]))
    placed = PlacedBars(None, bars, bars.rectangles((100.0, 8.0), 400.0, 1.0))
    # Rows are 370 to 374, and 364 to 368.
    assert placed.bar_at(200, 372) == 0 and placed.bar_at(260, 372) == 0
    assert placed.bar_at(196, 366) == 1
    assert placed.bar_at(262, 372) == 0 and placed.bar_at(263, 372) is None
    assert placed.bar_at(240, 366) is None, "next to the short bar, below the long one"
    nothing = PlacedBars(None, bars, np.empty((0, 4)))
    assert nothing.bar_at(0, 0) is None
