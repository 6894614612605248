"""Bounds as line segments, ready for the graphics card. NumPy only, so that it is tested without one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core import Aabb, Sphere

CIRCLE_SEGMENTS = 48

# Corner i of a box has bit k set where it lies at max on axis k; edges join corners one bit apart.
_EDGES = np.array([(i, i | 1 << k) for k in range(3) for i in range(8) if not i & 1 << k]).reshape(-1)


def _unit_circles() -> NDArray[np.float64]:
    """(3 * segments * 2, 3) end points of three unit circles, one around each axis."""
    angles = np.linspace(0, 2 * np.pi, CIRCLE_SEGMENTS + 1)
    rim = np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1)
    segments = np.stack([rim[:-1], rim[1:]], axis=1).reshape(-1, 3)
    return np.concatenate([segments, segments[:, [2, 0, 1]], segments[:, [1, 2, 0]]])


_CIRCLES = _unit_circles()


def sphere_wires(spheres: Sphere) -> NDArray[np.float32]:
    """(m, 3) end points of line segments: three great circles for each of (n,) spheres."""
    lines = spheres.center[:, None] + _CIRCLES * spheres.radius[:, None, None]
    return lines.reshape(-1, 3).astype(np.float32)


def box_wires(boxes: Aabb) -> NDArray[np.float32]:
    """(m, 3) end points of line segments: twelve edges for each of (n,) boxes."""
    return boxes.corners()[:, _EDGES].reshape(-1, 3).astype(np.float32)
