"""Numbers that keys or driver expressions animate: one numbering for both."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numeric.arrays import Floats, Ints
from .bezier import Singles
from .chords import Chords, curve_chords, successive_chords
from .expressions import NO_EXPRESSIONS, Expressions
from .keyframes import Curves


class AnimatedValues(NamedTuple):
    """Curves (c,), and expressions (e,) numbered after them."""

    curves: Curves
    expressions: Expressions = NO_EXPRESSIONS

    def values_at(self, times: Floats) -> Singles:
        """Compute all values (c + e, t) at increasing times (t,) in frames."""
        values = self.curves.values_at(times)
        count = len(self.expressions)
        if not count:
            return values
        which = np.repeat(np.arange(count), len(times))
        driven = self.expressions.values_of(which, np.tile(times, count))
        return np.concatenate([values, driven.reshape(count, -1)])

    def values_of(self, which: Ints, times: Floats) -> Singles:
        """Compute values (m,), each at its own time (m,) in frames."""
        is_driven = which >= len(self.curves)
        if not is_driven.any():
            return self.curves.values_of(which, times)
        result = np.empty(len(which), dtype=np.float32)
        result[~is_driven] = self.curves.values_of(which[~is_driven], times[~is_driven])
        result[is_driven] = self.expressions.values_of(which[is_driven] - len(self.curves), times[is_driven])
        return result

    def chords(self, which: Ints, begin: Floats, end: Floats) -> Chords:
        """Compute the ends of values (m,) over intervals (m,), and bound their deviation from the chord."""
        is_driven = which >= len(self.curves)
        if not is_driven.any():
            return curve_chords(self.curves, which, begin, end)
        result = Chords(*np.empty((3, len(which))))
        rows = np.flatnonzero(~is_driven)
        result.assign(rows, curve_chords(self.curves, which[rows], begin[rows], end[rows]))
        rows = np.flatnonzero(is_driven)
        number = which[rows] - len(self.curves)
        result.assign(rows, self.expressions.chords(number, begin[rows], end[rows]))
        return result

    def successive_chords(self, times: Floats) -> Chords:
        """Compute the chords (c + e, t) of all values between successive times (t + 1,)."""
        keyed = successive_chords(self.curves, times)
        count, intervals = len(self.expressions), len(times) - 1
        if not count:
            return keyed
        which = np.repeat(np.arange(count), intervals)
        driven = self.expressions.chords(which, np.tile(times[:-1], count), np.tile(times[1:], count))
        return Chords(
            *(
                np.concatenate([values, new.reshape(count, intervals)])
                for values, new in zip(keyed, driven, strict=True)
            )
        )
