"""Pictures of the interface in both themes and at two scales, in build/pictures, to look at."""

from __future__ import annotations

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


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("theme", ["default", "light"])
def test_pictures_of_the_interface_are_taken(
    run_drive_script: Callable[..., Recording], theme: str, scale: float
) -> None:
    recording = run_drive_script(
        "viewport/drive_interface_pictures.py",
        more=(theme, scale),
        size=(1600, 875),
        variant=f"{theme}-{scale}",
    )
    target = TOP / "build" / "pictures" / f"{theme}-{scale}"
    target.mkdir(parents=True, exist_ok=True)
    for name in recording.notes["pictures"]:
        shutil.copyfile(recording.folder / f"{name}.png", target / f"{name}.png")
    assert len(recording.notes["pictures"]) > 12
