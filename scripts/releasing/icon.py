"""Draw the icon of the extension: a sphere that touches a box, both as outlines, for the extensions platform.

python scripts/releasing/icon.py docs/images/listing/icon.png
"""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SIZE = 256
_BOX, _SPHERE, _BACKGROUND = (0.16, 0.52, 1.0), (1.0, 0.16, 0.1), (0.13, 0.13, 0.15)
_LINE = 9.0


def draw_icon() -> NDArray[np.uint8]:
    """Return the icon as RGBA, (256, 256, 4), with the first row at the top."""
    y, x = np.mgrid[:SIZE, :SIZE] + 0.5
    picture = np.zeros((SIZE, SIZE, 4))
    middle = SIZE / 2
    layers = (
        (_BACKGROUND, 1.0, _distance_to_box(x - middle, y - middle, 80, 80) - 48),
        (_BOX, 0.25, _distance_to_box(x - 90, y - 160, 58, 58)),
        # The sphere is 50 pixels from the corner of the box: its radius.
        (_SPHERE, 0.25, np.hypot(x - 183, y - 67) - 50),
        (_BOX, 1.0, np.abs(_distance_to_box(x - 90, y - 160, 58, 58)) - _LINE / 2),
        (_SPHERE, 1.0, np.abs(np.hypot(x - 183, y - 67) - 50) - _LINE / 2),
    )
    for color, opacity, distance in layers:
        # A pixel at the edge is covered in part.
        alpha = opacity * np.clip(0.5 - distance, 0, 1)[..., None]
        over = np.concatenate([np.broadcast_to(color, (SIZE, SIZE, 3)), np.ones((SIZE, SIZE, 1))], axis=-1)
        total = alpha + picture[..., 3:] * (1 - alpha)
        colors = over[..., :3] * alpha + picture[..., :3] * picture[..., 3:] * (1 - alpha)
        picture = np.concatenate([colors / np.maximum(total, 1e-9), total], axis=-1)
    return np.rint(picture * 255).astype(np.uint8)


def _distance_to_box(
    x: NDArray[np.float64], y: NDArray[np.float64], half_width: float, half_height: float
) -> NDArray[np.float64]:
    """Return the signed distance to the edge of a box around the origin."""
    across, along = np.abs(x) - half_width, np.abs(y) - half_height
    inside = np.minimum(np.maximum(across, along), 0)
    distance: NDArray[np.float64] = np.hypot(np.maximum(across, 0), np.maximum(along, 0)) + inside
    return distance


def png_from_pixels(pixels: NDArray[np.uint8]) -> bytes:
    """Return a PNG of RGBA pixels (height, width, 4)."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    content = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + content


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(png_from_pixels(draw_icon()))
