"""Bars of contacts in the timeline."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from addon.scene.jobs import result_store
from addon.ui.overlay.over_time import ContactBars, bars_of, placed_bars
from tests.scene.sampling import add_box, key
from tests.ui import scanned_scene


def test_each_interval_has_a_bar_and_the_deepest_pair_the_first_row(settings):
    scanned_scene.build()
    scanned_scene.scan()
    report = result_store.get(settings.result_id).contacts.report
    bars = bars_of(settings.result_id)
    wanted = {(span.start, span.end) for contact in report.contacts for span in contact.intervals}
    assert set(map(tuple, bars.spans.tolist())) == wanted and len(wanted) > 1
    deepest = max(report.contacts, key=lambda contact: contact.depth)
    first = bars.spans[bars.rows == 0].tolist()
    assert first == [[span.start, span.end] for span in deepest.intervals]
    assert bars.opacities.max() == bars.opacities[0] and bars.opacities.min() > 0.3


def test_bars_are_at_their_frames_below_each_other():
    bars = ContactBars(np.array([[10.0, 20.0], [12.0, 12.0]]), np.array([0, 1]), np.ones(2), np.array([5, 3]))
    rectangles = bars.placed((100.0, 8.0), 400.0, 1.0).rectangles
    assert rectangles[0, [0, 2]].tolist() == [180.0, 260.0]
    assert rectangles[1, 3] < rectangles[0, 1], "rows do not touch"
    left, right = rectangles[1, [0, 2]]
    assert right - left == 3.0 and (left + right) / 2 == 196.0, "a contact of no length can be seen"


def test_rows_without_room_are_in_the_last_row():
    count = 100
    bars = ContactBars(np.tile([1.0, 2.0], (count, 1)), np.arange(count), np.ones(count), np.arange(count))
    rectangles = bars.placed((0.0, 10.0), 120.0, 1.0).rectangles
    assert len(rectangles) == count and rectangles[:, 1].min() > 0
    assert len(np.unique(rectangles[:, 1])) == 10
    assert len(np.unique(bars.placed((0.0, 10.0), 120.0, 2.0).rectangles[:, 1])) == 5
    # A region as low as that of Blender's default timeline, where one row has room.
    low = bars.placed((0.0, 10.0), 28.0, 1.0).rectangles
    assert set(low[:, 1]) == {0.0} and set(low[:, 3]) == {4.0}


def test_bar_under_the_mouse_is_the_nearest_one_within_two_pixels():
    bars = ContactBars(np.array([[10.0, 20.0], [12.0, 12.0]]), np.array([0, 1]), np.ones(2), np.array([5, 3]))
    placed = bars.placed((100.0, 8.0), 400.0, 1.0)
    # Rows are 370 to 374, and 364 to 368.
    assert placed.bar_at(200, 372) == 0 and placed.bar_at(260, 372) == 0
    assert placed.bar_at(196, 366) == 1
    assert placed.bar_at(262, 372) == 0 and placed.bar_at(263, 372) is None
    assert placed.bar_at(240, 366) is None, "next to the short bar, below the long one"
    assert bars.bar_at(0, 0) is None


@pytest.mark.parametrize("start", [1, 100001])
def test_bars_are_at_the_pixels_of_their_frames_however_far_from_frame_zero(settings, start):
    key(add_box("Mover", (1, 1, 1)), "location", [(start, (0, 0, 0)), (start + 10, (10, 0, 0))])
    add_box("Wall", (1, 1, 1)).location = (6, 0, 0)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = start, start + 10
    scene.frame_set(start)
    bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT", scope="VISIBLE", shape="aabb")
    # A view of 12 frames, 997 pixels wide: as Blender does, pixels of frames are rounded.
    view = SimpleNamespace(
        region_to_view=lambda x, y: (start - 1 + x * 12 / 997, y),
        view_to_region=lambda frame, y, clip: (round((frame - start + 1) * 997 / 12), y),
    )
    region = SimpleNamespace(width=997, height=400, view2d=view)
    scaled = SimpleNamespace(system=SimpleNamespace(ui_scale=1.0))
    placed = placed_bars(SimpleNamespace(scene=scene, region=region, preferences=scaled))
    # Faces meet at x = 5 and part at x = 7, when the center of the mover is at 4 and 8.
    left, right = placed.rectangles[0, [0, 2]]
    assert (left, right) == pytest.approx((5 * 997 / 12, 9 * 997 / 12), abs=1.0)
