"""Subjects that are skipped in samples, and instances that appear during a scan, with the reasons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...core.messages import message
from ...formats import Skipped
from ..blender.instances import InstanceKey


class Skip(NamedTuple):
    """A subject that a sample is without, and why; reason None means that it is not present in the scene."""

    subject: int
    time: float
    reason: str | None


class SkipEvent(NamedTuple):
    """An entry of a `SkipLog`: a subject that is skipped, or an instance that appears.

    name, reason : of the subject
    key : of an instance that appears at a time; None for a subject
    """

    name: str
    reason: str
    key: InstanceKey | None
    time: float


class SkipLog:
    """Records why subjects are skipped, by their indices.

    events : All entries, in order.
    accepts : Returns whether an instance that was not there at first would have been a subject.
    known : Instances that are visible at the first frame. One that is no subject was skipped for a reason
        that is reported elsewhere.
    """

    def __init__(self, names: Sequence[str], is_accepted: Callable[[InstanceKey], bool]) -> None:
        """Start an empty log.

        names : Names of the subjects.
        is_accepted : As `accepts`.
        """
        self._names = names
        self.accepts = is_accepted
        self.events: list[SkipEvent] = []
        self._reasons: dict[str, str] = {}
        # First frame and number of the instances that have appeared later, by name.
        self._late: dict[str, tuple[float, int]] = {}
        self.known: set[InstanceKey] = set()

    def cleared_copy(self) -> SkipLog:
        """Copy the log without its records."""
        other = SkipLog(self._names, self.accepts)
        other.known = set(self.known)
        return other

    def duplicate(self) -> SkipLog:
        """Copy the log with its records, to which entries can be added independently."""
        other = self.cleared_copy()
        other._reasons, other._late, other.events = dict(self._reasons), dict(self._late), list(self.events)
        return other

    @property
    def records(self) -> list[Skipped]:
        """One record per subject, with the first frame and reason."""
        return [Skipped(name, reason) for name, reason in self._reasons.items()]

    def log(self, index: int, time: float, reason: str) -> None:
        """Record that a subject is skipped in a sample."""
        self._set_reason(
            self._names[index], message("skipped at frame {frame:g}: {reason}", frame=time, reason=reason)
        )

    def log_absent(self, index: int, time: float) -> None:
        """Record that a subject is missing or hidden in a sample."""
        self._set_reason(
            self._names[index], message("not present at frame {frame:g}: skipped while absent", frame=time)
        )

    def take_over(self, events: Sequence[SkipEvent]) -> None:
        """Add the entries of another log of the same subjects, which continues this one."""
        for event in events:
            if event.key is None:
                self._set_reason(event.name, event.reason)
            else:
                self.log_late_arrival(event.key, event.time)

    def _set_reason(self, name: str, reason: str) -> None:
        if name not in self._reasons:
            self._reasons[name] = reason
            self.events.append(SkipEvent(name, reason, None, 0.0))

    def log_late_arrival(self, key: InstanceKey, time: float) -> bool:
        """Record an instance that appears after the first frame, and so is not tested.

        Returns whether it would have been a subject, and appears for the first time.
        """
        if key in self.known:
            return False
        self.known.add(key)
        if not self.accepts(key):
            return False
        self.events.append(SkipEvent("", "", key, time))
        owner, name, indices = key
        shown = f"{owner}/{name}" if indices else name
        if shown in self._reasons and shown not in self._late:
            return True
        first, count = self._late.get(shown, (time, 0))
        self._late[shown] = first, count + 1
        if count:
            text = (
                "{count} instances are not present at the first frame, the first appears at frame {frame:g}: "
                "not tested"
            )
            self._reasons[shown] = message(text, count=count + 1, frame=first)
        else:
            text = "not present at the first frame, appears at frame {frame:g}: not tested"
            self._reasons[shown] = message(text, frame=first)
        return True
