"""The picture for the README, taken from the real window when it is asked for:

COLLISION_BOUNDS_PICTURES=docs/images BLENDER=... python scripts/dev.py test window
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable

import pytest

from tests.window.harness import CONTACT, FREE, TOP, Told, count

WANTED = os.environ.get("COLLISION_BOUNDS_PICTURES")


@pytest.mark.skipif(not WANTED, reason="COLLISION_BOUNDS_PICTURES names no folder for pictures")
def test_the_picture_shows_free_and_touching_bounds(told_by: Callable[..., Told]) -> None:
    told = told_by("viewport/drive_picture.py", size=(1280, 740))
    picture = told.picture("picture")
    assert count(picture, FREE) > 2000 and count(picture, CONTACT) > 1000
    taken = told.folder / "window.png"
    assert taken.stat().st_size < 600_000
    folder = TOP / str(WANTED)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(taken, folder / "window.png")
