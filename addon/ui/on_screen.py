"""Which forms of a picture a view sees, and how large they are on the screen. NumPy only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Bools, Floats
from .picture import Rows

SMALL, LARGE = 16, 64
"""Pixels, half across. Small ones hardly show perspective of their own; large ones need fine circles."""

_AXES = np.array([1, 1, 1, 0] * 3 + [0] * 4, dtype=np.float32)


class BySize(NamedTuple):
    """Rows of one unit shape, parted by how large they are on the screen."""

    small: Rows
    middle: Rows
    large: Rows


def seen_by_size(rows: Rows, view: Floats, viewport: tuple[int, int]) -> BySize:
    """The rows that may be seen; those that a view has beside, above or below it are left out.

    view : (4, 4) from the world to where Blender clips, as gpu.matrix has it
    viewport : width and height in pixels
    """
    if not len(rows):
        return BySize(rows, rows, rows)
    seen: NDArray[np.float32] = np.asarray(view, dtype=np.float32)
    # One product of matrices: numbers of a row that do not count are taken zero times.
    flat = rows.reshape(-1, 16)
    taken = np.zeros((16, 3), dtype=np.float32)
    taken[[3, 7, 11]] = seen[[0, 1, 3], :3].T
    x, y, away = taken.T @ flat.T + seen[[0, 1, 3], 3:]
    reach = np.sqrt(flat * flat @ _AXES)  # of a box, to its corners
    # Both sides of a view lie at an angle of their own, where a camera is shifted: the larger does for both.
    right, up = np.maximum(_lengths(seen[3, :3] - seen[:2, :3]), _lengths(seen[3, :3] + seen[:2, :3]))
    is_seen = (np.abs(x) - away <= reach * right) & (np.abs(y) - away <= reach * up)
    pixels_a_unit = 0.5 * float((_lengths(seen[:2, :3]) * viewport).max())
    # At or behind the viewer a size says nothing; a form of three equal axes is 1.73 times less across.
    across = reach * (pixels_a_unit / 1.7320508)
    is_small = is_seen & (across < SMALL * away)
    is_large = is_seen & (across > LARGE * away)
    return BySize(*(_of(rows, some) for some in (is_small, is_seen ^ is_small ^ is_large, is_large)))


def _of(rows: Rows, some: Bools) -> Rows:
    return rows if some.all() else rows.take(np.flatnonzero(some), axis=0)


def _lengths(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=1)))
