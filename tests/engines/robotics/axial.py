"""Distance of points from capsules and cylinders, for the tests of several engines."""

from __future__ import annotations

import numpy as np


def outside_axial(points: np.ndarray, radius: float, half: float, is_capsule: bool) -> np.ndarray:
    """Distance (n,) by which points (n, 3) are outside a capsule or cylinder along the Z axis."""
    across, beyond = np.linalg.norm(points[:, :2], axis=1), np.abs(points[:, 2]) - half
    if is_capsule:
        return np.hypot(across, np.maximum(beyond, 0)) - radius
    return np.maximum(across - radius, beyond)
