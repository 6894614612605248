"""Colors of the overlay: blue for free bounds, red for bounds in contact.

Blue and red are preferences: `properties/preferences.py` has their defaults. All other colors are here: red,
green, blue and alpha, from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Bools

FAINT = 0.3
"""Opacity of shapes that are not the ones checked for contact."""
GHOST_COLOR = (1.0, 1.0, 1.0, 0.5)
"""White: the active pair as it was at its first contact."""
ENVELOPE_COLOR = (0.55, 0.9, 0.35, 0.8)
"""Green: swept bounds."""
MARKER_COLOR = (1.0, 0.85, 0.1, 1.0)
"""Yellow: cross and arrow at the active contact."""


def subject_colors(in_contact: Bools, free: Sequence[float], contact: Sequence[float]) -> NDArray[np.float32]:
    """Return the color (n, 4) of each subject: `contact` where it is in contact (n,), otherwise `free`."""
    return np.where(in_contact[:, None], np.array(contact), np.array(free)).astype(np.float32)


def faded(colors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return colors (n, 4) at the opacity of shapes that are not checked for contact."""
    return colors * np.array((1, 1, 1, FAINT), dtype=np.float32)
