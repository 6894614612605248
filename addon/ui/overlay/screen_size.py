"""Cull instances outside a view, and group the others by their size on the screen. NumPy only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Bools, Floats
from .draw_data import InstanceRows

SMALL, LARGE = 16, 64
"""Half widths in pixels. Below SMALL there is hardly any perspective; above LARGE circles must be fine."""

# 1 at the numbers of a row that are the axes of its matrix.
_IN_MATRIX_AXES = np.array([1, 1, 1, 0] * 3 + [0] * 4, dtype=np.float32)


class RowsBySize(NamedTuple):
    """Rows of one unit mesh, grouped by size on the screen."""

    small: InstanceRows
    middle: InstanceRows
    large: InstanceRows


def visible_by_size(rows: InstanceRows, view: Floats, viewport: tuple[int, int]) -> RowsBySize:
    """Return the rows of instances that may be visible, by size; those outside the view are culled.

    Conservative: an instance with a corner in the view is never culled.

    Parameters
    ----------
    rows : (n, 4, 4) float32
        Instances of one unit mesh.
    view : (4, 4) float
        From world space to Blender's clip space, as in gpu.matrix.
    viewport : (width, height)
        In pixels.
    """
    if not len(rows):
        return RowsBySize(rows, rows, rows)
    matrix: NDArray[np.float32] = np.asarray(view, dtype=np.float32)
    # One product of matrices is fastest: weights are zero for numbers of a row that are not the center.
    flat = rows.reshape(-1, 16)
    weights = np.zeros((16, 3), dtype=np.float32)
    weights[[3, 7, 11]] = matrix[[0, 1, 3], :3].T
    x, y, depth = weights.T @ flat.T + matrix[[0, 1, 3], 3:]
    radius = np.sqrt(flat * flat @ _IN_MATRIX_AXES)  # from the center of a box to its corners
    # The two sides of the view of a shifted camera have different angles: the larger bound holds for both.
    right, up = np.maximum(_lengths(matrix[3, :3] - matrix[:2, :3]), _lengths(matrix[3, :3] + matrix[:2, :3]))
    is_visible = (np.abs(x) - depth <= radius * right) & (np.abs(y) - depth <= radius * up)
    pixels_per_unit = 0.5 * float((_lengths(matrix[:2, :3]) * viewport).max())
    # A box of three equal axes is sqrt(3) times narrower than its diagonal. At or behind the viewer, where
    # depth is not positive, an instance counts as large.
    half_width = radius * (pixels_per_unit / 1.7320508)
    is_small = is_visible & (half_width < SMALL * depth)
    is_large = is_visible & (half_width > LARGE * depth)
    groups = (is_small, is_visible ^ is_small ^ is_large, is_large)
    return RowsBySize(*(_rows_where(rows, group) for group in groups))


def _rows_where(rows: InstanceRows, condition: Bools) -> InstanceRows:
    """Return the rows where a condition (n,) holds."""
    return rows if condition.all() else rows.take(np.flatnonzero(condition), axis=0)


def _lengths(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the lengths (m,) of vectors (m, k), in single precision."""
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=1)))
