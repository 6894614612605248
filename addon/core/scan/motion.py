"""Protocols of motions: shapes or bounds of all subjects at a time, which scans and envelopes sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidShapeError
from ..numeric.arrays import Bools, Floats, Ints
from ..shapes import Aabb, Shape, Sphere, concatenated


@dataclass(frozen=True)
class Sample:
    """Shapes of all subjects at one time, in world space. A sample of several times has a first axis (k,).

    Attributes
    ----------
    shapes : Shape, batch (n,)
        Shapes of absent subjects are ignored.
    present : (n,) bool or None
        Which subjects are present; None for all.
    poses : (o, 4, 4) float or None
        Rotation and translation of every obstacle of the scan from the pose of its mesh; None for identity.
    """

    shapes: Shape
    present: Bools | None = None
    poses: Floats | None = None

    def as_batch(self) -> Sample:
        """Return a sample of one time with a first axis of length 1."""
        present = None if self.present is None else np.asarray(self.present)[None]
        poses = None if self.poses is None else np.asarray(self.poses)[None]
        return Sample(self.shapes.reshaped((1, *self.shapes.shape)), present, poses)

    @classmethod
    def concatenate(cls, parts: Sequence[Sample]) -> Sample:
        """Concatenate samples of several times each; at least one."""
        if len(parts) == 1:
            return parts[0]
        lengths = [part.shapes.shape[0] for part in parts]
        present = _concatenated([part.present for part in parts], lengths, np.array(True))
        poses = _concatenated([part.poses for part in parts], lengths, np.eye(4))
        return cls(concatenated(*(part.shapes for part in parts)), present, poses)


def _concatenated(
    parts: Sequence[NDArray[Any] | None], lengths: Sequence[int], default: NDArray[Any]
) -> NDArray[Any] | None:
    """Arrays of several times each, concatenated; None is filled with `default`, unless all are None.

    lengths : number of times of each part
    """
    tails = [part.shape[1:] for part in parts if part is not None]
    if not tails:
        return None
    whole = [
        np.broadcast_to(default, (count, *tails[0])) if part is None else part
        for part, count in zip(parts, lengths, strict=True)
    ]
    return np.asarray(np.concatenate(whole))


class Motion(Protocol):
    """A motion that can be sampled at increasing times; the same n subjects every time."""

    def sample(self, time: float) -> Shape | Sample:
        """Return the shapes of all subjects at `time`, in frames. Called with increasing times."""
        ...


@runtime_checkable
class RecordedMotion(Protocol):
    """A motion that is read time by time, and computes the shapes of several times in one batch."""

    def record(self, time: float) -> None:
        """Read the poses of all subjects at `time`, in frames. Called with increasing times."""
        ...

    def recorded(self) -> Sample:
        """Return a sample of all times, at least one, that were recorded since the last call."""
        ...


class SubframeSampler(Protocol):
    """Samples between frames, as adaptive scans need them."""

    @property
    def refinable(self) -> Bools:
        """Mask (n,): False for subjects that cannot be sampled between frames, such as simulated ones."""
        ...

    def sample_between(self, time: float, subjects: Ints) -> Shape | Sample:
        """Return the shapes of `subjects` (s,), with all their parts, at any time of the span."""
        ...


@runtime_checkable
class SubframeMotion(Motion, SubframeSampler, Protocol):
    """A motion that can also be sampled between frames."""


class MotionRecorder:
    """Recorder for any motion: keeps its samples until they are needed. Implements `RecordedMotion`."""

    def __init__(self, motion: Motion) -> None:
        self._motion = motion
        self._samples: list[Sample] = []
        self._first: tuple[int, str] | None = None

    def record(self, time: float) -> None:
        """Sample the motion. Raises InvalidShapeError where samples differ in type or number of shapes."""
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
        """Return the samples since the last call."""
        samples, self._samples = self._samples, []
        return Sample.concatenate(samples)


@dataclass(frozen=True)
class BoundsSample:
    """Boxes and spheres of the same subjects (n,) at one time, and which of them are present (n,)."""

    boxes: Aabb
    spheres: Sphere
    present: Bools

    def take(self, rows: Ints) -> BoundsSample:
        """Return some of the subjects."""
        return BoundsSample(self.boxes[rows], self.spheres[rows], self.present[rows])


class BoundsMotion(Protocol):
    """A motion of bounds, from which envelopes are computed; the same n subjects every time."""

    @property
    def refinable(self) -> Bools:
        """Mask (n,): False for subjects that cannot be sampled between frames, and move linearly there."""
        ...

    def sample(self, time: float) -> BoundsSample:
        """Return the bounds of all subjects at `time`, in frames. Called with increasing times."""
        ...

    def sample_between(self, time: float, subjects: Ints) -> BoundsSample:
        """Return the bounds of `subjects` (s,) at any time between the first and last."""
        ...
