"""Pixels of the small graph."""

from __future__ import annotations

import numpy as np
import pytest

from addon.scene.jobs.pair_separation import SeparationCurve
from addon.ui.overlay.over_time import graph_pixels

LINE, CONTACT, NOW = (1.0, 1.0, 1.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
WIDTH, HEIGHT = 100, 60


def picture(frames, values, playhead=-1.0):
    curve = SeparationCurve(np.array(frames, float), np.array(values, float), ("A", "B"))
    return graph_pixels(curve, (WIDTH, HEIGHT), playhead, (LINE, CONTACT, NOW))


def columns_of(pixels, color):
    """Return the columns with opaque pixels of a color."""
    is_color = (np.abs(pixels[..., :3] - color).max(axis=-1) < 1e-6) & (pixels[..., 3] > 0.99)
    return np.flatnonzero(is_color.any(axis=0))


def test_contact_is_red_in_its_columns_alone():
    pixels = picture([0, 40, 50, 60, 100], [10, 0, -5, 0, 10])
    red = columns_of(pixels, CONTACT)
    assert abs(red.min() - 40) <= 1 and abs(red.max() - 59) <= 1


@pytest.mark.parametrize("depth", [1.0, 1e-6])
def test_contact_between_columns_is_visible_however_short_and_shallow(depth):
    pixels = picture([0, 500.30, 500.31, 500.32, 1000], [10, 0, -depth, 0, 10])
    assert columns_of(pixels, CONTACT).tolist() == [50]


def test_near_miss_has_no_red():
    assert not len(columns_of(picture([0, 50, 100], [10, 1e-3, 10]), CONTACT))


def test_playhead_is_a_line_at_its_frame_and_absent_outside():
    frames, values = [0, 100], [1, 2]
    assert columns_of(picture(frames, values, 25), NOW).tolist() == [25]
    assert columns_of(picture(frames, values, 100), NOW).tolist() == [99]
    assert not len(columns_of(picture(frames, values, 101), NOW))


def test_line_goes_down_from_left_to_right_and_first_row_is_lowest():
    pixels = picture([0, 100], [10, 0.5])
    is_line = (pixels[..., 3] > 0.99) & (pixels[..., :3] == LINE).all(axis=-1)
    heights = [np.flatnonzero(is_line[:, column]).max() for column in (5, 50, 95)]
    assert heights[0] > heights[1] > heights[2]


def test_missing_values_have_no_line():
    pixels = picture([0, 30, 31, 69, 70, 100], [5, 5, np.nan, np.nan, 5, 5])
    is_line = (pixels[HEIGHT // 2 :, :, 3] > 0.99).any(axis=0)
    assert is_line[:29].all() and not is_line[33:68].any() and is_line[71:].all()


def test_playhead_does_not_hide_a_contact_between_frames():
    pixels = picture([0, 50.3, 50.31, 50.32, 100], [10, 0, -5, 0, 10], 50.31)
    assert 50 in columns_of(pixels, CONTACT) and 50 in columns_of(pixels, NOW)
