"""Names beside what is drawn, those nearest to the viewer."""

from __future__ import annotations

from typing import Any

import blf
import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats, Ints
from .picture import Picture

_MOST = 100
"""More would be unreadable, and slow."""
_SIZE = 11.0


def on_screen(
    places: NDArray[np.float32], matrix: Floats, size: tuple[int, int]
) -> tuple[NDArray[np.float64], Ints]:
    """Pixels (m, 2) from the bottom left of those places (n, 3) that a view shows, nearest first, and which.

    matrix : (4, 4) from the world to the view's clip space; size : of the view, in pixels
    """
    clip = places.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    depth = places.astype(np.float64) @ matrix[3, :3] + matrix[3, 3]
    with np.errstate(divide="ignore", invalid="ignore"):
        flat = clip / depth[:, None]
    inside = np.flatnonzero((depth > 0) & (np.abs(flat) <= 1).all(axis=1))
    inside = inside[np.argsort(flat[inside, 2], kind="stable")][:_MOST]
    return (flat[inside, :2] + 1) / 2 * np.array(size), inside


def draw_names(picture: Picture, context: Any) -> None:
    """Write the names of a picture into the region that is being drawn, in pixels."""
    if not picture.names:
        return
    region, view = context.region, context.region_data
    matrix = np.array(view.perspective_matrix, dtype=np.float64)
    at, which = on_screen(picture.places, matrix, (region.width, region.height))
    font = 0
    theme = context.preferences.themes[0].view_3d.space
    blf.size(font, _SIZE * context.preferences.system.ui_scale)
    red, green, blue = theme.text_hi
    blf.color(font, red, green, blue, 1.0)
    blf.enable(font, blf.SHADOW)
    blf.shadow(font, 3, 0.0, 0.0, 0.0, 0.8)
    for (x, y), index in zip(at.tolist(), which.tolist(), strict=True):
        blf.position(font, x + 4, y + 4, 0)
        blf.draw(font, picture.names[index])
    blf.disable(font, blf.SHADOW)
