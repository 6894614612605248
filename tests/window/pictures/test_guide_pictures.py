"""The pictures of docs/guide.md match the pictures that the tour takes.

To retake them:

COLLISION_BOUNDS_PICTURES=docs/images BLENDER=... python scripts/dev.py test window -- -k guide
"""

from __future__ import annotations

import os
import re
import shutil

import numpy as np
import pytest

from tests.paths import TOP
from tests.window.harness import FREE_COLOR, Recording, count_pixels, is_reddish

GUIDE = TOP / "docs" / "guide.md"
PICTURES = os.environ.get("COLLISION_BOUNDS_PICTURES")
NAMES = re.findall(r"\]\(images/guide/([\w-]+)\.png\)", GUIDE.read_text("utf-8"))
EQUAL_PIXELS, EQUAL_VIEWPORT_PIXELS = 0.999, 0.98
"""Fraction of a picture's pixels that must be unchanged.

Two runs have identical pixels. A changed word in a panel changes more pixels than this. The smoothing of
lines in a viewport can depend on the processor.
"""
VIEWPORTS = ("bounds", "contact", "override")
CHANGED = (
    "docs/images/guide/{}.png differs from the window: check whether the change is intended, then retake the "
    "pictures with COLLISION_BOUNDS_PICTURES=docs/images python scripts/dev.py test window -- -k guide"
)


@pytest.mark.skipif(not PICTURES, reason="COLLISION_BOUNDS_PICTURES names no folder for pictures")
def test_guide_pictures_are_retaken(tour: Recording) -> None:
    folder = TOP / str(PICTURES) / "guide"
    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        shutil.copyfile(tour.folder / f"{name}.png", folder / f"{name}.png")


@pytest.mark.skipif(bool(PICTURES), reason="this run retakes the pictures")
@pytest.mark.parametrize("name", NAMES)
def test_guide_picture_matches_the_window(tour: Recording, name: str) -> None:
    taken = re.search(r"taken in Blender (\d+\.\d+)", GUIDE.read_text("utf-8"))
    assert taken, "docs/guide.md does not contain the Blender version of its pictures"
    version = tour.notes["tab open"]["version"]
    if not version.startswith(f"{taken[1]}."):
        pytest.skip(f"the pictures are of Blender {taken[1]}, this is {version}")
    current, new = tour.screenshot(f"current {name}"), tour.screenshot(f"new {name}")
    assert current.shape == new.shape, CHANGED.format(name)
    minimum = EQUAL_VIEWPORT_PIXELS if name in VIEWPORTS else EQUAL_PIXELS
    assert (np.abs(current - new).max(axis=-1) < 0.1).mean() > minimum, CHANGED.format(name)


def test_guide_pictures_of_viewports_show_the_overlay(tour: Recording) -> None:
    assert count_pixels(tour.screenshot("new bounds"), FREE_COLOR) > 200
    assert is_reddish(tour.screenshot("new contact")).sum() > 200
