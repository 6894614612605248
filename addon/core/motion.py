"""What a contact scan asks: where its subjects are at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from .arrays import Bools, Floats, Ints
from .shapes import Shape


@dataclass(frozen=True)
class Sample:
    """Shapes at one time: one batch (n,), and which of the subjects are there (None: all).

    The shape of a subject that is not there is ignored.

    places : (k, 4, 4) where the obstacles of the scan went from where their meshes rest, by turning and
        moving alone; None while all are where they rest. Of every obstacle, whatever was asked for.
    """

    shapes: Shape
    present: Bools | None = None
    places: Floats | None = None


class Motion(Protocol):
    """Anything that can say where its subjects are at a time; the same n subjects every time."""

    def sample(self, time: float) -> Shape | Sample:
        """The shapes of all subjects at `time`, in frames. Called with growing times."""
        ...


class AskedBetween(Protocol):
    """What adaptive scans ask between samples."""

    @property
    def refinable(self) -> Bools:
        """(n,) False for subjects that cannot be asked between samples, as simulated ones."""
        ...

    def sample_between(self, time: float, subjects: Ints) -> Shape | Sample:
        """The shapes of some subjects at any time of the span; of subjects in parts, all their parts."""
        ...


@runtime_checkable
class SubframeMotion(Motion, AskedBetween, Protocol):
    """A motion that can also be asked between its samples."""
