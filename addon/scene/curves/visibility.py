"""Visibility of objects that keys hide and show: constant curves, so that all times of a change are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.curves.segments import CONSTANT
from ...core.numeric.arrays import Bools, Floats, Ints
from .curve_keys import CurveKeys, joined_curves


class Visibility:
    """Visibility of objects (n,).

    Attributes
    ----------
    is_switched : (n,) bool
        Objects that a curve hides and shows; the others are always shown.
    """

    def __init__(self, hidden_by: Sequence[CurveKeys | None]) -> None:
        """Take the curve that hides each object, if there is one."""
        self.is_switched: Bools = np.array([curve is not None for curve in hidden_by], dtype=bool)
        self._curve_of = np.cumsum(self.is_switched) - 1
        self._curves = joined_curves([curve for curve in hidden_by if curve is not None])

    def are_shown(self, objects: Ints, times: Floats) -> Bools:
        """Mask (t, m) of objects (m,) that are shown at increasing times (t,), rounded as Blender does."""
        result = np.ones((len(times), len(objects)), dtype=bool)
        is_switched = self.is_switched[objects]
        if is_switched.any():
            hidden = self._curves.values_at(times)[self._curve_of[objects[is_switched]]]
            result[:, is_switched] = hidden.T == 0
        return result

    def switches(self, objects: Ints) -> Floats:
        """Increasing times at which any of some objects (m,) appears or disappears."""
        segments = self._curves.segments
        curve_of = np.repeat(np.arange(len(self._curves)), np.diff(segments.first))
        wanted = self._curve_of[objects[self.is_switched[objects]]]
        is_change = (segments.start[:, 1] != segments.end[:, 1]) & np.isin(curve_of, wanted)
        return np.unique(segments.end[is_change, 0]).astype(np.float64)


def is_switch(source: object) -> bool:
    """Return whether a source of a channel is a curve that is 0 or 1 at any time.

    Blender rounds other values by more than one rule.
    """
    if not isinstance(source, CurveKeys):
        return False
    keys = source.keys
    return bool((keys.interpolation == CONSTANT).all() and np.isin(keys.points[:, 1], (0, 1)).all())
