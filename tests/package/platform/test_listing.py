"""The icon of the listing has the size of the extensions platform, and its text matches the manifest."""

from __future__ import annotations

import re
import struct
import tomllib
import zlib

import numpy as np

from releasing.icon import draw_icon, png_from_pixels
from tests.paths import TOP

ICON = TOP / "docs" / "images" / "listing" / "icon.png"
PAGE = (TOP / "docs" / "listing.md").read_text("utf-8")


def rows_of(png: bytes) -> np.ndarray:
    """Return the pixels of a PNG without filters, (height, width, 4)."""
    width, height = struct.unpack(">II", png[16:24])
    position, data = 8, b""
    while position < len(png):
        (length,) = struct.unpack(">I", png[position : position + 4])
        if png[position + 4 : position + 8] == b"IDAT":
            data += png[position + 8 : position + 8 + length]
        position += 12 + length
    rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + 4 * width)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 4)


def test_icon_has_the_size_of_the_platform_and_is_what_the_script_draws():
    stored = ICON.read_bytes()
    assert stored[:8] == b"\x89PNG\r\n\x1a\n"
    pixels = rows_of(stored)
    assert pixels.shape == (256, 256, 4)
    # Rounding of functions differs between machines.
    assert np.abs(pixels.astype(int) - draw_icon()).max() <= 1
    assert np.array_equal(rows_of(png_from_pixels(pixels)), pixels)


def test_icon_is_transparent_at_the_corners_and_has_both_colors():
    pixels = rows_of(ICON.read_bytes()).astype(int)
    assert pixels[[0, 0, -1, -1], [0, -1, 0, -1], 3].tolist() == [0, 0, 0, 0]
    assert (pixels[..., 2] - pixels[..., 0] > 150).sum() > 1000
    assert (pixels[..., 0] - pixels[..., 2] > 150).sum() > 1000


def test_page_repeats_the_reasons_of_the_manifest():
    permissions = tomllib.loads((TOP / "blender_manifest.toml").read_text("utf-8"))["permissions"]
    listed = dict(
        re.findall(r"^\| (files|clipboard|network|camera|microphone) \| (.+) \|$", PAGE, re.MULTILINE)
    )
    assert listed == permissions


def test_text_has_no_links_pictures_or_code():
    text = "\n".join(line for line in PAGE.splitlines() if line.startswith(">"))
    assert len(text) > 500
    assert not re.search(r"\]\(|`|https?:", text)
