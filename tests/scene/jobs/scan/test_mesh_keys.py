"""Scans of meshes that keys move for short times or let jump, against the lines between the keys."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.core import Contact
from tests.scene.building import open_empty_file
from tests.scene.sampling import NEAR_KEY, Array, add_box, key, scan_scene


@pytest.fixture(autouse=True)
def wall():
    """Add a wall of thickness 0.2 around x = 0."""
    open_empty_file()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 24
    add_box("Wall", (0.1, 2, 2))


def keyed_box(keys: list[tuple[float, float]], interpolation: str = "LINEAR") -> None:
    """Add a box, half of whose width along x is 0.5, with keys of its place along x."""
    item = add_box("Box", (0.5, 0.4, 0.3))
    key(item, "location", [(frame, (x, 0, 0)) for frame, x in keys], interpolation)


def only_contact() -> Contact:
    """Scan the meshes, and return the contact of the only pair."""
    (contact,) = scan_scene(shape="mesh").report.contacts
    return contact


def spans_of(contact: Contact) -> Array:
    """Return the begin and end (k, 2) of each interval."""
    return np.array([(span.start, span.end) for span in contact.intervals])


def test_move_out_and_back_within_a_fifth_of_a_frame_is_found():
    keyed_box([(1, 3), (7.3, 3), (7.4, 0.3), (7.5, 3), (24, 3)])
    found = only_contact()
    # The side of the box reaches that of the wall at x = 0.6.
    truth = 7.3 + 0.1 * (3 - 0.6) / (3 - 0.3)
    assert found.first.frame <= truth + 1e-6
    assert truth <= found.first.frame + found.first.uncertainty + 1e-6
    assert found.first.uncertainty < 1e-3
    np.testing.assert_allclose(spans_of(found), [(truth, 2 * 7.4 - truth)], atol=1e-3)


def test_keys_at_half_frames_are_found():
    # At rest at 3 at every whole frame.
    keyed_box([(1, 3), (8, 3), (8.5, 0.3), (9, 3), (24, 3)])
    found = only_contact()
    truth = 8 + 0.5 * (3 - 0.6) / (3 - 0.3)
    assert abs(found.first.frame - truth) <= found.first.uncertainty + 1e-6
    assert found.first.motion == "proven"
    np.testing.assert_allclose(spans_of(found), [(truth, 2 * 8.5 - truth)], atol=1e-3)


def test_needle_that_strokes_once_a_frame_is_found_at_the_stroke_that_reaches():
    strokes = [(frame + part, x) for frame in range(1, 24) for part, x in ((0, 3.0), (0.5, 2.0 - frame / 12))]
    keyed_box([*strokes, (24, 3)])
    found = only_contact()
    # A stroke reaches 2 - k / 12: the first one to get to 0.6 is that of frame 17, at 0.5833.
    truth = [k + 0.5 * (3 - 0.6) / (3 - (2 - k / 12)) for k in range(17, 24)]
    assert abs(found.first.frame - truth[0]) <= found.first.uncertainty + 1e-6
    assert found.first.uncertainty < 1e-3
    spans = [(begin, 2 * k + 1 - begin) for k, begin in enumerate(truth, 17)]
    np.testing.assert_allclose(spans_of(found), spans, atol=1e-3)


@pytest.mark.parametrize("frame", [10, 10.5, 10.3])
def test_box_that_jumps_over_wall_does_not_touch_it(frame):
    keyed_box([(1, 1.2), (frame, -1.2)], "CONSTANT")
    assert scan_scene(shape="mesh").report.contacts == ()


@pytest.mark.parametrize("frame", [10, 10.3])
def test_box_that_jumps_into_wall_touches_it_from_the_jump_on(frame):
    keyed_box([(1, 1.2), (frame, 0.2)], "CONSTANT")
    found = only_contact()
    assert abs(found.first.frame - frame) <= found.first.uncertainty + NEAR_KEY
    np.testing.assert_allclose(spans_of(found), [(frame, 24)], atol=1e-3)


def test_constant_keys_at_each_frame_are_steps():
    keyed_box([(frame, 3 - 0.35 * (frame - 1)) for frame in range(1, 11)], "CONSTANT")
    found = only_contact()
    # 3 - 0.35 k < 0.6 for k = 7, which is frame 8.
    assert abs(found.first.frame - 8) <= found.first.uncertainty + NEAR_KEY
    assert found.first.uncertainty < 1e-3


@pytest.mark.parametrize("expression", ["3 - 0.35 * (floor(frame) - 1)", "3 - 0.35 * (int(frame) - 1)"])
def test_driver_that_steps_at_whole_frames_touches_at_a_whole_frame(expression):
    item = add_box("Box", (0.5, 0.4, 0.3))
    item.driver_add("location", 0).driver.expression = expression
    found = only_contact()
    # 3 - 0.35 k < 0.6 for k = 7, which is frame 8. Linear motion would touch at 7.857.
    assert abs(found.first.frame - 8) <= found.first.uncertainty + 1e-6
    assert found.first.uncertainty < 1e-3
