"""The overlay in 3D views: each view shows the bounds of the objects that it shows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.window.harness import (
    CONTACT_COLOR,
    FREE_COLOR,
    Recording,
    count_pixels,
    has_color,
    linear_from_srgb,
)

pytestmark = pytest.mark.smoke


@pytest.fixture(scope="module")
def recording(run_drive_script: Callable[..., Recording]) -> Recording:
    """Record the overlay in several views."""
    return run_drive_script("viewport/drive_overlay.py")


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


@pytest.mark.parametrize("vision", VISION)
def test_contact_and_free_bounds_have_distinct_colors_for_the_color_blind(
    recording: Recording, vision: str
) -> None:
    picture = recording.viewport("wire")
    seen = np.clip(linear_from_srgb(picture) @ np.array(VISION[vision]).T, 0, 1)
    free, contact = (
        np.median(seen[has_color(picture, color)], axis=0) for color in (FREE_COLOR, CONTACT_COLOR)
    )
    assert np.abs(free - contact).max() > 0.3


def test_lines_of_contact_are_thicker_so_that_grey_is_enough(recording: Recording) -> None:
    picture = recording.viewport("wire")

    def inner_part(color: tuple[float, float, float]) -> float:
        """Return the part of the pixels of a color whose four neighbors have it, too."""
        mask = has_color(picture, color)
        inner = mask.copy()
        for axis in (0, 1):
            for step in (-1, 1):
                inner &= np.roll(mask, step, axis)
        return float(inner.sum() / mask.sum())

    assert inner_part(CONTACT_COLOR) > max(0.1, 3 * inner_part(FREE_COLOR))


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
