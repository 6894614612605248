"""Subjects that a scan skips at some frame, with the first reason of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy

import numpy as np

from ...core.numeric.arrays import Bools, Ints
from ...formats import Skipped
from ..blender.instances import InstanceKey


class SkipLog:
    """Records why subjects are skipped, by their indices.

    Attributes
    ----------
    known : set of InstanceKey
        Instances that are visible at the first frame. One that is no subject was skipped for a reason that is
        reported elsewhere.
    """

    def __init__(self, names: Sequence[str], is_accepted: Callable[[InstanceKey], bool]) -> None:
        """Start an empty log.

        Parameters
        ----------
        names : sequence of str
            Names of the subjects.
        is_accepted : callable
            Returns whether an instance that was not there at first would have been a subject.
        """
        self._names = names
        self._is_accepted = is_accepted
        self._reasons: dict[str, str] = {}
        self.known: set[InstanceKey] = set()

    def cleared_copy(self) -> SkipLog:
        """Copy the log without its records."""
        other = copy(self)
        other._reasons, other.known = {}, set(self.known)
        return other

    @property
    def records(self) -> list[Skipped]:
        """One record per subject, with the first frame and reason."""
        return [Skipped(name, reason) for name, reason in self._reasons.items()]

    def log(self, index: int, time: float, reason: str) -> None:
        """Record that a subject is skipped in a sample."""
        self._reasons.setdefault(self._names[index], f"left out at frame {time:g}: {reason}")

    def log_absent(self, index: int, time: float) -> None:
        """Record that a subject is missing or hidden in a sample."""
        self._reasons.setdefault(self._names[index], f"not there at frame {time:g}: left out while away")

    def drop_unusable(
        self, present: Bools, is_usable: Bools, subjects: Ints, time: float, reason: str
    ) -> None:
        """Clear `present` (m,) in place for unusable subjects (m,), and record those that were present."""
        if is_usable.all():
            return
        for row in np.flatnonzero(present & ~is_usable).tolist():
            self.log(int(subjects[row]), time, reason)
        present &= is_usable

    def log_late_arrival(self, key: InstanceKey, time: float) -> None:
        """Record an instance that appears after the first frame, and so is not tested."""
        if key not in self.known:
            self.known.add(key)
            if self._is_accepted(key):
                owner, name, indices = key
                reason = f"not there at the first frame, comes in at frame {time:g}: not checked"
                self._reasons.setdefault(f"{owner}/{name}" if indices else name, reason)
