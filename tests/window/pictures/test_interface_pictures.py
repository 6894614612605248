"""Pictures of the interface in both themes and at two scales, in build/pictures, to look at.

Those of single panels are on the pages of docs/window. To retake them:

COLLISION_BOUNDS_PICTURES=docs/images BLENDER=... python scripts/dev.py test window --full -- -k panel-default
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable

import pytest

from tests.paths import TOP
from tests.tiers import is_full
from tests.window.harness import Recording

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not is_full(), reason="the full tier takes pictures to look at"),
]


SCRIPTS = {"panel": 15, "graph": 4, "scan": 9, "list": 12, "shape": 7, "menu": 7}
"""Scripts by topic, with the least number of their pictures."""
PANELS = {
    name
    for path in (TOP / "docs" / "window").glob("*.md")
    for name in re.findall(r"images/window/([\w-]+)\.png", path.read_text("utf-8"))
}
"""Pictures of single panels on the pages."""


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("theme", ["default", "light"])
@pytest.mark.parametrize("topic", SCRIPTS)
def test_pictures_of_the_interface_are_taken(
    run_drive_script: Callable[..., Recording], topic: str, theme: str, scale: float
) -> None:
    recording = run_drive_script(
        f"pictures/drive_{topic}_pictures.py",
        more=(theme, scale),
        size=(1600, 875),
        variant=f"{theme}-{scale}",
    )
    target = TOP / "build" / "pictures" / f"{theme}-{scale}"
    target.mkdir(parents=True, exist_ok=True)
    for name in recording.notes["pictures"]:
        shutil.copyfile(recording.folder / f"{name}.png", target / f"{topic}-{name}.png")
    assert len(recording.notes["pictures"]) >= SCRIPTS[topic]
    if topic == "panel":
        assert set(recording.notes["panels"]) == PANELS
        folder = os.environ.get("COLLISION_BOUNDS_PICTURES")
        if folder and (theme, scale) == ("default", 1.0):
            (TOP / folder / "window").mkdir(parents=True, exist_ok=True)
            for name in PANELS:
                shutil.copyfile(recording.folder / f"{name}.png", TOP / folder / "window" / f"{name}.png")
