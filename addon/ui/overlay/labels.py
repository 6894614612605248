"""Labels: names of subjects on their bounds, for the subjects nearest to the viewer."""

from __future__ import annotations

from typing import Any

import blf
import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Floats, Ints
from .draw_data import DrawData

_MAX_LABELS = 100
"""More labels would be unreadable, and slow."""
_FONT_SIZE = 11.0


def project_to_screen(
    positions: NDArray[np.float32], matrix: Floats, size: tuple[int, int]
) -> tuple[NDArray[np.float64], Ints]:
    """Project positions into a view, and return those inside it, nearest first.

    Parameters
    ----------
    positions : (n, 3) float32
        In world space.
    matrix : (4, 4) float
        From world space to the view's clip space.
    size : (width, height)
        Of the view, in pixels.

    Returns
    -------
    pixels : (m, 2) float64
        From the bottom left of the view.
    indices : (m,) int
        The position of each.
    """
    clip = positions.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    depth = positions.astype(np.float64) @ matrix[3, :3] + matrix[3, 3]
    with np.errstate(divide="ignore", invalid="ignore"):
        projected = clip / depth[:, None]
    inside = np.flatnonzero((depth > 0) & (np.abs(projected) <= 1).all(axis=1))
    inside = inside[np.argsort(projected[inside, 2], kind="stable")][:_MAX_LABELS]
    return (projected[inside, :2] + 1) / 2 * np.array(size), inside


def draw_labels(data: DrawData, context: Any) -> None:
    """Draw labels into the region that Blender is drawing, in pixels."""
    if not data.labels:
        return
    region, view = context.region, context.region_data
    matrix = np.array(view.perspective_matrix, dtype=np.float64)
    pixels, indices = project_to_screen(data.label_positions, matrix, (region.width, region.height))
    font = 0
    theme = context.preferences.themes[0].view_3d.space
    blf.size(font, _FONT_SIZE * context.preferences.system.ui_scale)
    red, green, blue = theme.text_hi
    blf.color(font, red, green, blue, 1.0)
    blf.enable(font, blf.SHADOW)
    blf.shadow(font, 3, 0.0, 0.0, 0.0, 0.8)
    for (x, y), index in zip(pixels.tolist(), indices.tolist(), strict=True):
        blf.position(font, x + 4, y + 4, 0)
        blf.draw(font, data.labels[index])
    blf.disable(font, blf.SHADOW)
