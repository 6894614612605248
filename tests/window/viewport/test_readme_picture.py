"""The README's picture, taken in the window on request.

COLLISION_BOUNDS_PICTURES=docs/images BLENDER=... python scripts/dev.py test window
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable

import pytest

from tests.paths import TOP
from tests.window.harness import CONTACT_COLOR, Recording, count_pixels

PICTURES = os.environ.get("COLLISION_BOUNDS_PICTURES")


@pytest.mark.long
@pytest.mark.skipif(not PICTURES, reason="COLLISION_BOUNDS_PICTURES names no folder for pictures")
def test_picture_shows_free_and_touching_bounds(run_drive_script: Callable[..., Recording]) -> None:
    recording = run_drive_script("viewport/drive_readme_picture.py", size=(1280, 740))
    picture = recording.screenshot("picture")
    # All but the clicked pair is faint.
    assert (picture[..., 2] - picture[..., 0] > 0.15).sum() > 2000
    assert count_pixels(picture, CONTACT_COLOR) > 1000
    taken = recording.folder / "window.png"
    assert taken.stat().st_size < 600_000
    folder = TOP / str(PICTURES)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(taken, folder / "window.png")
