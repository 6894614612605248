"""Tolerances with their reasons: rounding errors, relative to what their reason names.

Tolerances of one search, which trade accuracy for speed, are in the module of that search.
"""

from __future__ import annotations

import numpy as np

EPS = float(np.finfo(np.float64).eps)
"""Distance from 1 to the next float64."""

SINGLE_EPS = float(np.finfo(np.float32).eps)
"""Distance from 1 to the next number in single precision, in which Blender stores coordinates and poses."""

LENGTH_ROUNDING = 4 * EPS
"""Of a distance and a sum, or of the length of an axis, as a part of it."""

SUM_ROUNDING = 8 * EPS
"""Of a few products and sums, as a part of the largest of their terms."""

GAP_ROUNDING = 16 * EPS
"""Of a gap, as a part of the coordinates of a pair, or of its size. A smaller gap is contact."""

DISTANCE_ROUNDING = 64 * EPS
"""Of a distance, as a part of the coordinates that it comes from. Bounds that cull grow by it."""

CHAIN_ROUNDING = 1e-12
"""Of a long chain of sums and products, such as a rotation of a box in motion, as a part of its result."""

SAME_DISTANCE = 1e-13
"""Distances that differ by less, as a part of the size of a pair or a set of points, may be equal."""
