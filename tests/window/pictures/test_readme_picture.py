"""The picture of the README and that of the listing, taken in the window on request.

COLLISION_BOUNDS_PICTURES=docs/images BLENDER=... python scripts/dev.py test window
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable

import pytest

from tests.paths import TOP
from tests.window.harness import Recording, is_reddish

PICTURES = os.environ.get("COLLISION_BOUNDS_PICTURES")


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "size", "most"),
    [("window.png", (1280, 740), 600_000), ("listing/featured.png", (1920, 1080), 1_000_000)],
)
@pytest.mark.skipif(not PICTURES, reason="COLLISION_BOUNDS_PICTURES names no folder for pictures")
def test_picture_shows_how_meshes_overlap(
    run_drive_script: Callable[..., Recording], name: str, size: tuple[int, int], most: int
) -> None:
    recording = run_drive_script("pictures/drive_readme_picture.py", str(size[0]), size=size)
    picture = recording.screenshot("picture")
    if picture.shape[:2] != size[::-1]:
        pytest.skip(f"the screen is smaller than {size[0]} x {size[1]}")
    assert is_reddish(picture).sum() > 3000
    taken = recording.folder / "window.png"
    assert taken.stat().st_size < most
    # No page shows the picture of the listing.
    target = TOP / ("build" if "/" in name else str(PICTURES)) / name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(taken, target)
