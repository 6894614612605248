"""The README's clip of six seconds: the ball is in front of the plate, behind it, and on it after a click.

COLLISION_BOUNDS_PICTURES=docs/images BLENDER=... python scripts/dev.py test window --push
"""

from __future__ import annotations

import os
import shutil
import struct
from pathlib import Path

import pytest

from tests.paths import TOP
from tests.window.harness import Recording, is_reddish

pytestmark = pytest.mark.long
OPTIONS = {"size": (1280, 740)}

CLIP = TOP / "docs" / "images" / "contact.webp"
PICTURES = os.environ.get("COLLISION_BOUNDS_PICTURES")


def durations(path: Path) -> list[int]:
    """Return the milliseconds for which an animated WebP shows each of its pictures."""
    content, position, found = path.read_bytes(), 12, []
    assert content[:4] == b"RIFF" and content[8:12] == b"WEBP"
    while position < len(content):
        kind, size = struct.unpack_from("<4sI", content, position)
        if kind == b"ANMF":
            found.append(int.from_bytes(content[position + 8 + 12 : position + 8 + 15], "little"))
        position += 8 + size + size % 2
    return found


def test_click_on_the_row_goes_to_the_contact_between_two_frames(recording: Recording) -> None:
    frames = [recording.notes[name]["frame"] for name in ("frame 24", "frame 25", "contact")]
    # projectile_contact_frame() of the example scene.
    assert frames == [24, 25, 24.3125]
    before, after, at_contact = (
        recording.notes[name]["place"][0] for name in ("frame 24", "frame 25", "contact")
    )
    # The ball moves with constant speed.
    assert at_contact == pytest.approx(before + 0.3125 * (after - before), abs=1e-5)
    assert after != before


def test_pair_is_red_only_at_the_contact(recording: Recording) -> None:
    # The ball itself is reddish, too.
    red = [is_reddish(recording.viewport(name)).sum() for name in ("frame 24", "frame 25", "contact")]
    assert red[2] > 1.1 * max(red[:2])


def test_clip_has_three_pictures_in_six_seconds(recording: Recording) -> None:
    taken = recording.folder / "contact.webp"
    assert durations(taken) == [2000, 2000, 2000]
    assert taken.stat().st_size < 100_000
    if PICTURES:
        target = TOP / PICTURES / CLIP.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(taken, target)
