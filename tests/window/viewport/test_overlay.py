"""What 3D views show of the overlay: each what it shows of the objects."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.window.harness import CONTACT, FREE, Told, count

pytestmark = pytest.mark.smoke


@pytest.fixture(scope="module")
def told(told_by: Callable[..., Told]) -> Told:
    """One visit for all tests here."""
    return told_by("viewport/drive_overlay.py")


def test_local_view_shows_bounds_of_what_is_in_it_only(told: Told) -> None:
    # The plate is in contact at this frame, and alone in the local view.
    assert count(told.viewport("wire"), FREE) > 400 and count(told.viewport("wire"), CONTACT) > 200
    assert count(told.viewport("local"), FREE) == 0 and count(told.viewport("local"), CONTACT) > 100
    assert told.notes["local"]["kept"] == 23, "other views show what they did"


def test_hidden_objects_take_their_bounds_along(told: Told) -> None:
    assert count(told.viewport("hidden"), FREE) > 400
    assert count(told.viewport("hidden"), CONTACT) < count(told.viewport("wire"), CONTACT)


def test_views_side_by_side_all_show_bounds(told: Told) -> None:
    picture = told.viewport("quad")
    height, width = picture.shape[0] // 2, picture.shape[1] // 2
    for rows in (slice(None, height), slice(height, None)):
        for columns in (slice(None, width), slice(width, None)):
            assert count(picture[rows, columns], FREE) > 40


def test_filled_shapes_tint_what_is_behind_them(told: Told) -> None:
    wire, filled = told.viewport("wire"), told.viewport("filled")
    bluer = (filled[..., 2] - filled[..., 0]) - (wire[..., 2] - wire[..., 0]) > 0.02
    assert np.count_nonzero(bluer) > 20_000
