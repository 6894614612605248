"""From what was read of a scene at some times to the shapes of its subjects there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..core import Sample, Shape
from ..core.arrays import Bools, Floats, Ints
from .carried_fits import CarriedFits
from .errors import reason_of
from .left_out import LeftOut
from .obstacles import MeshObstacles

_FARTHEST = 1e15
"""Blender's numbers are 10^8 apart there. An endless curve gives 10^38, in which sweeps lose their digits."""

_PLACED_AT_ONCE = 1 << 13
"""Shapes to place together: more would keep the window waiting."""


class Reading(NamedTuple):
    """What was read of the subjects at a time: which are there (m,), and world matrices (m, 4, 4)."""

    time: float
    present: Bools
    matrices: Floats


class Placing:
    """Places fits of `count` subjects; of several times together, where nothing is to be told of any.

    Waiting is what was read, for as long as the fits are those that it was read for.
    """

    def __init__(self, fits: CarriedFits, obstacles: MeshObstacles, count: int, left_out: LeftOut) -> None:
        self._fits = fits
        self._obstacles = obstacles
        self._left_out = left_out
        self._all = np.arange(count)
        self._missed = np.zeros(count, dtype=bool)
        self._solid = np.isin(self._all, obstacles.indices)
        self._waiting: list[Reading] = []
        self._placed: list[Sample] = []

    def wait(self, reading: Reading) -> None:
        """Place this with those that come, or now if that is as much as is worth it."""
        self._waiting.append(reading)
        if (len(self._waiting) + 1) * len(self._fits.owners) > _PLACED_AT_ONCE:
            self.place_waiting()

    def recorded(self) -> Sample:
        """The shapes of all subjects at all times since this was asked before, at least one."""
        self.place_waiting()
        placed, self._placed = self._placed, []
        return Sample.joined(placed)

    def place_waiting(self) -> None:
        """Place what was read, while the fits are those that it was read for."""
        readings, self._waiting = self._waiting, []
        together = self._together(readings) if len(readings) > 1 else None
        if together is None:
            self._placed += [self.alone(reading).as_batch() for reading in readings]
        else:
            self._placed.append(together)

    def alone(self, reading: Reading) -> Sample:
        """The shapes of all subjects at one time."""
        shapes, present, places = self.shapes(self._all, reading)
        if not present.all():
            for index in np.flatnonzero(~(present | self._missed)).tolist():
                self._left_out.away(index, reading.time)
            self._missed |= ~present
        return Sample(shapes, present, places)

    def shapes(self, subjects: Ints, reading: Reading) -> tuple[Shape, Bools, Floats | None]:
        """Shapes of the parts of growing `subjects` (m,), which of those are there, and where obstacles are.

        All obstacles are among the subjects.
        """
        time, present, matrices = reading
        if not present.all():
            matrices[~present] = np.eye(4)
        if not np.abs(matrices).max(initial=0) <= _FARTHEST:  # which includes what is not a number
            finite = np.asarray((np.abs(matrices) <= _FARTHEST).all(axis=(1, 2)))
            why = f"its place or size is not a number up to {_FARTHEST:g}"
            self._left_out.require(present, finite, subjects, time, why)
            matrices[~finite] = np.eye(4)
        places = None
        shaped = subjects
        solid = self._solid[subjects]
        self._left_out.require(
            present, self._fits.fitted[subjects] | solid, subjects, time, "it could not be fitted"
        )
        if solid.any():
            places = self._obstacles.places(matrices[solid], present[solid], time)
            shaped, matrices = subjects[~solid], matrices[~solid]
        shapes, errors = self._fits.at(shaped, matrices)
        for index, error in errors.items():
            self._left_out.take(index, time, reason_of(error))
            present[np.searchsorted(subjects, index)] = False
        return shapes, present, places

    def _together(self, readings: Sequence[Reading]) -> Sample | None:
        """The shapes of all subjects at several times; None if there is something to tell of any of them."""
        if self._solid.any() or not self._fits.fitted.all():
            return None
        if not np.concatenate([reading.present for reading in readings]).all():
            return None
        matrices = np.concatenate([reading.matrices for reading in readings])
        if not np.abs(matrices).max(initial=0) <= _FARTHEST:
            return None
        shapes, errors = self._fits.at(np.tile(self._all, len(readings)), matrices)
        return None if errors else Sample(shapes.reshaped((len(readings), -1)))
