"""Colors of the overlay, as red, green, blue and alpha from 0 to 1.

The colors of bounds are preferences: `properties/preferences.py` has the defaults.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Bools
from ..properties.preferences import preferences

FAINT = 0.3
"""Opacity of shapes that are not the ones checked for contact."""
ASIDE = 0.3
"""Opacity of the bounds of all subjects but the pair of the active row, while there is one."""
_MANY = 100
"""Number of free subjects from which on each is fainter, so that contacts stand out in a crowd."""
_LEAST = 0.35
"""Opacity of free subjects, however many there are."""
GHOST_COLOR = (1.0, 1.0, 1.0, 0.5)
"""White: the active pair as it was at its first contact."""


class OverlayColors(NamedTuple):
    """Colors of free bounds, of bounds in contact, of swept bounds, and of the mark at the active contact."""

    free: Sequence[float]
    contact: Sequence[float]
    swept: Sequence[float]
    marker: Sequence[float]

    @classmethod
    def from_preferences(cls) -> OverlayColors:
        """Return the user's colors: blue, red, green and yellow by default."""
        chosen = preferences()
        colors = chosen.free_color, chosen.contact_color, chosen.swept_color, chosen.marker_color
        return cls(*(tuple(color) for color in colors))

    def of_subjects(self, in_contact: Bools, active: Sequence[int] = ()) -> NDArray[np.float32]:
        """Return the color (n, 4) of each subject, by whether it is in contact (n,).

        While a pair is active, all subjects but its two are fainter. Of many subjects, free ones are fainter.
        """
        colors = np.where(in_contact[:, None], np.array(self.contact), np.array(self.free))
        free_count = np.count_nonzero(~in_contact)
        if free_count > _MANY:
            colors[~in_contact, 3] *= max((_MANY / free_count) ** 0.5, _LEAST)
        if active:
            opacity = np.full(len(colors), ASIDE)
            opacity[list(active)] = 1.0
            colors[:, 3] *= opacity
        return colors.astype(np.float32)


def faded(colors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return colors (n, 4) at the opacity of shapes that are not checked for contact."""
    return colors * np.array((1, 1, 1, FAINT), dtype=np.float32)
