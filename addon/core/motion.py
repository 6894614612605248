"""What a contact scan asks: where its subjects are at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .arrays import Bools, Floats, Ints
from .errors import InvalidShapeError
from .shapes import Shape, joined


@dataclass(frozen=True)
class Sample:
    """Shapes at one time: one batch (n,), and which of the subjects are there (None: all).

    The shape of a subject that is not there is ignored. Of several times, everything has a first axis (k,).

    places : (o, 4, 4) where the obstacles of the scan went from where their meshes rest, by turning and
        moving alone; None while all are where they rest. Of every obstacle, whatever was asked for.
    """

    shapes: Shape
    present: Bools | None = None
    places: Floats | None = None

    def as_batch(self) -> Sample:
        """A sample of one time as one of several, of which there is one."""
        present = None if self.present is None else np.asarray(self.present)[None]
        places = None if self.places is None else np.asarray(self.places)[None]
        return Sample(self.shapes.reshaped((1, *self.shapes.shape)), present, places)

    @classmethod
    def joined(cls, parts: Sequence[Sample]) -> Sample:
        """Samples of several times each, at least one, as one."""
        if len(parts) == 1:
            return parts[0]
        lengths = [part.shapes.shape[0] for part in parts]
        present = _joined([part.present for part in parts], lengths, np.array(True))
        places = _joined([part.places for part in parts], lengths, np.eye(4))
        return cls(joined(*(part.shapes for part in parts)), present, places)


def _joined(
    parts: Sequence[NDArray[Any] | None], lengths: Sequence[int], otherwise: NDArray[Any]
) -> NDArray[Any] | None:
    """Arrays of several times each as one, those that are None filled in; None where all of them are."""
    tails = [part.shape[1:] for part in parts if part is not None]
    if not tails:
        return None
    whole = [
        np.broadcast_to(otherwise, (count, *tails[0])) if part is None else part
        for part, count in zip(parts, lengths, strict=True)
    ]
    return np.asarray(np.concatenate(whole))


class Motion(Protocol):
    """Anything that can say where its subjects are at a time; the same n subjects every time."""

    def sample(self, time: float) -> Shape | Sample:
        """The shapes of all subjects at `time`, in frames. Called with growing times."""
        ...


@runtime_checkable
class RecordedMotion(Protocol):
    """A motion that is read time by time, and makes the shapes of several times faster than of each."""

    def record(self, time: float) -> None:
        """Read where all subjects are at `time`, in frames. Called with growing times."""
        ...

    def recorded(self) -> Sample:
        """What was recorded since this was asked before, one time or more, as a sample of those times."""
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


class Sampled:
    """Any motion as one that is recorded. Implements `RecordedMotion`.

    Raises InvalidShapeError for a motion whose samples differ in kind or number.
    """

    def __init__(self, motion: Motion) -> None:
        self._motion = motion
        self._samples: list[Sample] = []
        self._first: tuple[int, str] | None = None

    def record(self, time: float) -> None:
        """Take a sample."""
        sample = self._motion.sample(time)
        if not isinstance(sample, Sample):
            sample = Sample(sample)
        shapes = sample.shapes
        if len(shapes.shape) != 1:
            raise InvalidShapeError(f"sample at {time}: the batch must be (n,), not {shapes.shape}")
        count, kind = shapes.shape[0], type(shapes).__name__
        first_count, first_kind = self._first = self._first or (count, kind)
        if count != first_count:
            raise InvalidShapeError(f"sample at {time}: {count} subjects instead of {first_count}")
        if kind != first_kind:
            raise InvalidShapeError(f"sample at {time}: subjects are a {kind} instead of a {first_kind}")
        self._samples.append(sample.as_batch())

    def recorded(self) -> Sample:
        """The samples since it was asked before."""
        samples, self._samples = self._samples, []
        return Sample.joined(samples)
