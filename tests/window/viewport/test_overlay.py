"""The overlay in 3D views: each view shows the bounds of the objects that it shows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.window.harness import (
    CONTACT_COLOR,
    FREE_COLOR,
    Mask,
    Recording,
    count_pixels,
    linear_from_srgb,
)

pytestmark = pytest.mark.smoke


def test_local_view_shows_only_bounds_of_its_objects(recording: Recording) -> None:
    # The plate is in contact at this frame, and is the only object in the local view.
    wire, local = recording.viewport("wire"), recording.viewport("local view")
    assert count_pixels(wire, FREE_COLOR) > 400 and count_pixels(wire, CONTACT_COLOR) > 200
    assert count_pixels(local, FREE_COLOR) == 0 and count_pixels(local, CONTACT_COLOR) > 100
    assert recording.notes["local view"]["boxes"] == 23, "the draw data of other views is unchanged"


# Machado, Oliveira and Fernandes 2009, of full severity, for linear light; and luminance alone.
VISION = {
    "protanope": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranope": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}


STATES = ["wire", "active row"]
"""Notes with no row active, and with the row of a pair in contact active."""
LUMINANCE = (0.2126, 0.7152, 0.0722)


def changed_towards(recording: Recording, state: str, color: tuple[float, float, float]) -> Mask:
    """Return the mask of pixels that a faint or opaque line of a color has changed.

    The color only selects the lines that the pixels belong to; the tests below judge them without it.
    """
    off, on = (linear_from_srgb(recording.viewport(name)) for name in ("off", state))
    change, offset = on - off, linear_from_srgb(np.asarray(color)) - off
    size = np.linalg.norm(change, axis=-1)
    cosine = (change * offset).sum(axis=-1) / np.maximum(size * np.linalg.norm(offset, axis=-1), 1e-9)
    return (size > 0.04) & (cosine > 0.97)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("vision", VISION)
def test_contact_and_free_bounds_have_distinct_colors_for_the_color_blind(
    recording: Recording, vision: str, state: str
) -> None:
    off, picture = (linear_from_srgb(recording.viewport(name)) for name in ("off", state))
    seen, seen_off = (np.clip(values @ np.array(VISION[vision]).T, 0, 1) for values in (picture, off))
    masks = [changed_towards(recording, state, color) for color in (FREE_COLOR, CONTACT_COLOR)]
    assert all(mask.sum() > 150 for mask in masks)
    # While a row is active, free bounds are faint: their difference from the background is in their hue.
    changes = [seen[mask] - seen_off[mask] for mask in masks]
    free, contact = (np.median(change, axis=0) for change in changes)
    assert np.abs(free - contact).max() > (0.3 if state == "wire" else 0.2)


def line_widths(grey: NDArray[np.float64], background: NDArray[np.float64], at: Mask) -> float:
    """Return the mean width in pixels of the lines of a grey picture where `at` holds.

    The width is the change of grey across a line, in units of the greatest change across it, in the direction
    in which it is narrowest: no color is used.
    """
    change = np.abs(grey - background)
    reach, widths = 8, []
    for step in ((0, 1), (1, 0), (1, 1), (1, -1)):
        shifts = [np.roll(change, (k * step[0], k * step[1]), (0, 1)) for k in range(-reach, reach + 1)]
        profile = np.stack(shifts)[:, at]
        is_line = profile > 0.5 * profile[reach]
        # Only the run of pixels around the middle is this line; the rest are other lines.
        before = np.minimum.accumulate(is_line[reach::-1], axis=0).sum(axis=0)
        after = np.minimum.accumulate(is_line[reach:], axis=0).sum(axis=0)
        widths.append((before + after - 1) * np.hypot(*step))
    return float(np.min(widths, axis=0).mean())


@pytest.mark.parametrize("state", STATES)
def test_contact_and_free_bounds_are_distinct_in_a_grey_picture(recording: Recording, state: str) -> None:
    grey, off = (linear_from_srgb(recording.viewport(name)) @ LUMINANCE for name in (state, "off"))
    free, contact = (changed_towards(recording, state, color) for color in (FREE_COLOR, CONTACT_COLOR))
    # Red and blue have almost the same grey, so contacts must have wider lines.
    assert line_widths(grey, off, contact) > 1.4 * line_widths(grey, off, free)


def test_hidden_object_has_no_bounds_in_the_overlay(recording: Recording) -> None:
    wire, hidden = recording.viewport("wire"), recording.viewport("hidden")
    assert count_pixels(hidden, FREE_COLOR) > 400
    assert count_pixels(hidden, CONTACT_COLOR) < count_pixels(wire, CONTACT_COLOR)


def test_quad_view_shows_bounds_in_all_four_views(recording: Recording) -> None:
    picture = recording.viewport("quad view")
    height, width = picture.shape[0] // 2, picture.shape[1] // 2
    for rows in (slice(None, height), slice(height, None)):
        for columns in (slice(None, width), slice(width, None)):
            assert count_pixels(picture[rows, columns], FREE_COLOR) > 40


def test_filled_shapes_tint_the_pixels_behind_them(recording: Recording) -> None:
    wire, filled = recording.viewport("wire"), recording.viewport("filled")
    bluer = (filled[..., 2] - filled[..., 0]) - (wire[..., 2] - wire[..., 0]) > 0.02
    assert np.count_nonzero(bluer) > 20_000
