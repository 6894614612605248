"""Pairs that move from one sample to the next, and what is known of each on its way."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .arrays import Floats, Ints
from .interpolation import at
from .separation import Solid, separation, witness_points
from .sweep import time_of_impact
from .triangle_mesh import TriangleMesh

_LEAP = 1e-3
"""The part of an interval over which a closing speed is measured."""


class PairMotion(NamedTuple):
    """Pairs of shapes (m,), at the start and at the end; the second may be one mesh for all, at rest."""

    a_start: Solid
    a_end: Solid
    b_start: Solid
    b_end: Solid

    def picked(self, rows: object) -> PairMotion:
        """Some of the pairs."""
        some: list[Any] = [s if isinstance(s, TriangleMesh) else s[rows] for s in self]
        return PairMotion(*some)

    def backwards(self) -> PairMotion:
        """The same from end to start."""
        return PairMotion(self.a_end, self.a_start, self.b_end, self.b_start)

    def grown(self, amount: Floats | float) -> PairMotion:
        """Pairs whose separation is less by `amount`; of oriented boxes that touch wherever it would be 0."""
        a0, a1, b0, b1 = self
        if isinstance(b0, TriangleMesh):
            return PairMotion(a0.padded(amount), a1.padded(amount), b0, b1)  # type: ignore[union-attr]
        half = np.asarray(amount) / 2
        return PairMotion(*(shape.padded(half) for shape in self))  # type: ignore[union-attr]

    def at(self, time: Floats) -> tuple[Solid, Solid]:
        """Both shapes at `time` (..., m) in [0, 1]."""
        return at(self.a_start, self.a_end, time), at(self.b_start, self.b_end, time)

    def separation_at(self, time: Floats) -> Floats:
        """Their signed separation (..., m) at `time` (..., m)."""
        return separation(*self.at(time))

    def contact_at(self, time: Floats) -> tuple[Floats, Floats]:
        """Where they touch at `time` (m,) and the normal from the first to the second, (m, 3) each."""
        witness = witness_points(*self.at(time))
        return witness.middle, witness.normal

    def closing_speed(self, time: Floats) -> Floats:
        """How fast the separation shrinks just before `time` (m,), in lengths per interval."""
        earlier = np.maximum(time - _LEAP, 0)
        before, after = self.separation_at(np.stack([earlier, time]))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(time > earlier, (before - after) / (time - earlier), 0.0)


class Encounters(NamedTuple):
    """What pairs do within an interval; times are in [0, 1].

    enter, leave : (m,) the contact, NaN for none
    least, least_time : (m,) the least separation and when. For pairs with an oriented box or a mesh only what
        is known without looking for it, see `with_extremes`
    low, high : (m,) what the separation is never below, and never above
    """

    enter: Floats
    leave: Floats
    least: Floats
    least_time: Floats
    low: Floats
    high: Floats

    def picked(self, rows: Ints) -> Encounters:
        """Some of them, copied."""
        return Encounters(*(values[rows] for values in self))


def lower_bounds(pairs: PairMotion, enter: Floats, low: Floats, clearance: float, doubt: Floats) -> Floats:
    """(m,) `low`, raised to the clearance and the doubt for pairs that stay farther apart than both.

    enter, low : (m,) as in Encounters. Pairs without a doubt are not looked at.
    """
    rows = np.flatnonzero(np.isnan(enter) & (doubt > 0) & (low <= clearance + doubt))
    if not len(rows):
        return low
    # Samples of the separation bound it from above only: what stays apart, larger shapes tell.
    reach = (clearance + doubt[rows]) * (1 + 1e-9)
    never = np.isnan(time_of_impact(*pairs.picked(rows).grown(reach)))
    low = low.copy()
    low[rows[never]] = reach[never]
    return low
