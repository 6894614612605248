"""Scans of motions given as functions of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from addon.core import (
    ContactReport,
    Sample,
    ScanSettings,
    Shape,
    Sphere,
    scan_contacts,
)
from tests.finished import finished


@dataclass
class Formula:
    """A motion given as a function of time."""

    shapes: Callable[[float], Shape | Sample]

    def sample(self, time: float) -> Shape | Sample:
        return self.shapes(time)


def run(
    motion: Callable[[float], Shape | Sample], frames, settings: ScanSettings | None = None
) -> ContactReport:
    return finished(scan_contacts(Formula(motion), frames, settings))


def ball_meets_wall(x: Callable[[float], float]) -> Callable[[float], Sphere]:
    """Ball 0 at rest at the origin, ball 1 at x(t) on the X axis; both of radius 1: they touch at |x| = 2."""
    return lambda t: Sphere([[0, 0, 0], [x(t), 0, 0]], [1, 1])


def spans(contact) -> list[tuple[float, float]]:
    return [(span.start, span.end) for span in contact.intervals]


def two_crossing(t: float) -> Sphere:
    """Ball 1 crosses ball 0 from right to left: contact from t = 3 to 7."""
    return Sphere([[0, 0, 0], [5 - t, 0, 0]], 1)


def zigzags(rng: np.random.Generator, count: int, frames: int):
    """Positions at whole frames, with linear motion in between; a tenth of the subjects is at rest."""
    steps = rng.normal(size=(frames, count, 3)) * np.where(rng.random((count, 1)) < 0.1, 0, 1.5)
    return rng.random((count, 3)) * 20 + np.cumsum(steps, axis=0)
