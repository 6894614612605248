"""Tolerances with their reasons. Each is relative: to what, its reason says."""

from __future__ import annotations

import numpy as np

EPS = float(np.finfo(np.float64).eps)
"""Distance from 1 to the next float64."""

DISTANCE_ROUNDING = 64 * EPS
"""Rounding error of a distance, relative to the coordinates it comes from: bounds that cull grow by it."""
