"""Point sets for tests of fitting, and the distance of points outside of a sphere."""

from __future__ import annotations

import numpy as np

CUBE = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)


def outside(sphere, points) -> np.ndarray:
    """Distance of points outside of a sphere, in plain float64; all <= 0 for a bound."""
    offset = np.asarray(points, dtype=np.float64) - sphere.center
    # Scale by a power of two near the largest offset: exact, and squares neither over- nor underflow.
    scale = 2.0 ** np.floor(np.log2(np.abs(offset).max() or 1.0))
    return np.sqrt(((offset / scale) ** 2).sum(axis=1)) * scale - sphere.radius
