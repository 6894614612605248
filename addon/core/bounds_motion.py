"""What envelopes are made of: bounds of the same subjects at any time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from .arrays import Bools, Ints
from .shapes import Aabb, Sphere


@dataclass(frozen=True)
class BoundsSample:
    """Boxes and spheres of the same subjects (n,) at one time, and which of them are there (n,)."""

    boxes: Aabb
    spheres: Sphere
    present: Bools

    def picked(self, rows: Ints) -> BoundsSample:
        """Some of them."""
        return BoundsSample(self.boxes[rows], self.spheres[rows], self.present[rows])


class BoundsMotion(Protocol):
    """What envelopes are made of: where the bounds of the same n subjects are at a time."""

    @property
    def refinable(self) -> Bools:
        """(n,) False for subjects that cannot be asked between samples: they are taken to go straight."""
        ...

    def sample(self, time: float) -> BoundsSample:
        """The bounds of all subjects at `time`, in frames. Called with growing times."""
        ...

    def sample_between(self, time: float, subjects: Ints) -> BoundsSample:
        """The bounds of some subjects at any time of the span."""
        ...
