"""The pictures of docs/guide.md are those that the tour takes today. To take them anew:

COLLISION_BOUNDS_PICTURES=docs/images BLENDER=... python scripts/dev.py test window -- -k guide
"""

from __future__ import annotations

import os
import re
import shutil

import numpy as np
import pytest

from tests.window.harness import CONTACT, FREE, TOP, Told, count

GUIDE = TOP / "docs" / "guide.md"
WANTED = os.environ.get("COLLISION_BOUNDS_PICTURES")
NAMES = re.findall(r"\]\(images/guide/([\w-]+)\.png\)", GUIDE.read_text("utf-8"))
SAME, SAME_IN_VIEWPORT = 0.999, 0.98
"""Part of a picture's pixels that has to be as it was. Two runs differ in none, another word in a panel in
more; how lines are smoothed in a viewport may be another processor's choice.
"""
VIEWPORTS = ("bounds", "contact", "override")
AGAIN = (
    "docs/images/guide/{}.png no longer shows what the window shows: look whether that is meant, then take "
    "them anew with COLLISION_BOUNDS_PICTURES=docs/images python scripts/dev.py test window -- -k guide"
)


@pytest.mark.skipif(not WANTED, reason="COLLISION_BOUNDS_PICTURES names no folder for pictures")
def test_pictures_are_taken(story: Told) -> None:
    folder = TOP / str(WANTED) / "guide"
    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        shutil.copyfile(story.folder / f"{name}.png", folder / f"{name}.png")


@pytest.mark.skipif(bool(WANTED), reason="the pictures were taken anew just now")
@pytest.mark.parametrize("name", NAMES)
def test_the_guide_shows_what_the_window_shows(story: Told, name: str) -> None:
    taken = re.search(r"taken in Blender (\d+\.\d+)", GUIDE.read_text("utf-8"))
    assert taken, "docs/guide.md says no longer which Blender its pictures are of"
    version = story.notes["opened"]["version"]
    if not version.startswith(f"{taken[1]}."):
        pytest.skip(f"the pictures are of Blender {taken[1]}, this is {version}")
    kept, fresh = story.picture(f"kept {name}"), story.picture(f"fresh {name}")
    assert kept.shape == fresh.shape, AGAIN.format(name)
    least = SAME_IN_VIEWPORT if name in VIEWPORTS else SAME
    assert (np.abs(kept - fresh).max(axis=-1) < 0.1).mean() > least, AGAIN.format(name)


@pytest.mark.parametrize(("name", "color"), [("bounds", FREE), ("contact", CONTACT)])
def test_the_guides_viewports_show_the_overlay(story: Told, name: str, color: tuple[float, ...]) -> None:
    assert count(story.picture(f"fresh {name}"), color) > 200
