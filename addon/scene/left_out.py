"""What a scan leaves out on its way, and why: once for each subject."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy

import numpy as np

from ..core.arrays import Bools, Ints
from ..formats import Skipped
from .walk import Key


class LeftOut:
    """Takes note of subjects by their numbers.

    known : what is there at the first frame; what is no subject of that is left out for a reason given before
    """

    def __init__(self, names: Sequence[str], is_accepted: Callable[[Key], bool]) -> None:
        """For subjects of these names; `is_accepted` tells what would be one if it were there."""
        self._names = names
        self._is_accepted = is_accepted
        self._problems: dict[str, str] = {}
        self.known: set[Key] = set()

    def afresh(self) -> LeftOut:
        """The same, with nothing noted yet."""
        other = copy(self)
        other._problems, other.known = {}, set(self.known)
        return other

    @property
    def records(self) -> list[Skipped]:
        """One a subject: the first time, and why."""
        return [Skipped(name, reason) for name, reason in self._problems.items()]

    def take(self, index: int, time: float, why: str) -> None:
        """Leave out a subject from a sample."""
        self._problems.setdefault(self._names[index], f"left out at frame {time:g}: {why}")

    def away(self, index: int, time: float) -> None:
        """Leave out a subject that is not there."""
        self._problems.setdefault(self._names[index], f"not there at frame {time:g}: left out while away")

    def require(self, present: Bools, good: Bools, subjects: Ints, time: float, why: str) -> None:
        """Only what is good is present; of the rest take note."""
        if good.all():
            return
        for row in np.flatnonzero(present & ~good).tolist():
            self.take(int(subjects[row]), time, why)
        present &= good

    def meet(self, key: Key, time: float) -> None:
        """Take note of something that comes in later: it has no bounds to begin with, and is not checked."""
        if key not in self.known:
            self.known.add(key)
            if self._is_accepted(key):
                owner, name, indices = key
                reason = f"not there at the first frame, comes in at frame {time:g}: not checked"
                self._problems.setdefault(f"{owner}/{name}" if indices else name, reason)
