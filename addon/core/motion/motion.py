"""Protocols of motions: shapes of all subjects at a time, which scans and envelopes sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..errors import InvalidShapeError
from ..interval.dispatch import INTERVALS
from ..numeric.arguments import as_mask, require_type
from ..numeric.arrays import Bools, Floats, Ints, as_array
from ..shapes import Shape, concatenated


@dataclass(frozen=True)
class Sample:
    """Shapes of all subjects at one time, in world space. A sample of several times has a first axis (k,).

    Attributes
    ----------
    shapes : Shape, batch (n,)
        Shapes of absent subjects are ignored.
    present : (n,) bool or None
        Which subjects are present; None for all.
    moved : (n,) bool or None
        Subjects that have moved or deformed since the previous sample, for those whose shapes do not show it,
        such as a wheel that rotates within its sphere. None: subjects move if their shapes do.
    """

    shapes: Shape
    present: Bools | None = None
    moved: Bools | None = None

    def as_batch(self) -> Sample:
        """Return a sample of one time with a first axis of length 1."""
        return select_times(self, None)

    @classmethod
    def concatenate(cls, parts: Sequence[Sample]) -> Sample:
        """Concatenate samples of several times each; at least one."""
        require_type(parts, (list, tuple), "parts")
        if len(parts) == 1 and isinstance(parts[0], Sample):
            return parts[0]
        if not parts or not all(isinstance(part, Sample) for part in parts):
            raise InvalidShapeError("parts: at least one sample is needed")
        columns: list[Any] = []
        # What is None is filled, unless all are None.
        for name, default in (("present", True), ("moved", False)):
            given = [getattr(part, name) for part in parts]
            tails = [each.shape[1:] for each in given if each is not None]
            for row, part in enumerate(parts if tails else ()):
                if given[row] is None:
                    given[row] = np.broadcast_to(default, (part.shapes.shape[0], *tails[0]))
            columns.append(np.concatenate(given) if tails else None)
        return cls(concatenated(*(part.shapes for part in parts)), *columns)


def select_times(sample: Sample, times: Any) -> Sample:
    """Return a sample of some of several times, by anything that indexes an array."""
    columns = sample.present, sample.moved
    return Sample(
        sample.shapes[times], *(None if each is None else np.asarray(each)[times] for each in columns)
    )


def as_sample(returned: Any, name: str) -> Sample:
    """Check what a motion returned, and convert it to a sample of one time.

    Raises InvalidShapeError or NonFiniteGeometryError, with `name`.
    """
    sample = returned if isinstance(returned, Sample) else Sample(returned)
    shapes, present, moved = sample.shapes, sample.present, sample.moved
    require_type(shapes, tuple(first for first, second in INTERVALS if first is second), name)
    if len(shapes.shape) != 1:
        raise InvalidShapeError(f"{name}: the batch must be (n,), not {shapes.shape}")
    if present is not None:
        present = as_array(present, f"{name}, present")
        present = as_mask(present, f"{name}, present", (present.size,))
    if moved is not None:
        moved = as_array(moved, f"{name}, moved")
        moved = as_mask(moved, f"{name}, moved", (moved.size,))
    return Sample(shapes, present, moved)


@runtime_checkable
class Motion(Protocol):
    """A motion that can be queried: where its N shapes are at any time, and where they may be in between.

    Shapes are given by their indices, each at its own time or over its own interval, in frames.
    """

    @property
    def is_certain(self) -> Bools:
        """Mask (N,): shapes of which all answers are proven, which appear and disappear at samples only."""
        ...

    @property
    def grain(self) -> Floats:
        """Length (N,) in frames of the shortest intervals that say more; inf for linear between samples."""
        ...

    @property
    def costs(self) -> Floats:
        """Costs (N,) of an answer about each shape: 1 for one that is moved, more for one that is fitted.

        Scans yield more often where answers take long; results do not depend on it.
        """
        ...

    def at(self, shapes: Ints, times: Floats, is_before: bool = False) -> Shape:
        """Return shapes (m,), each at its own time (m,); with `is_before` the limit from earlier times."""
        ...

    def are_present(self, shapes: Ints, times: Floats) -> Bools:
        """Mask (m,) of shapes (m,) that are present, each at its own time (m,)."""
        ...

    def bound(self, shapes: Ints, begin: Floats, end: Floats) -> tuple[Floats, Bools]:
        """Bound the deviations (m,) of shapes (m,) from linear motion over intervals (m,).

        No point of a surface is farther from the shape in linear motion, from the begin to the limit at the
        end, jumps in between included; inf for shapes that may be anywhere, and NaN where nothing is known.
        Also returns which shapes (m,) may jump in between, at a time that is not known.
        """
        ...

    def breaks(self, shapes: Ints, begin: Floats, end: Floats) -> Floats:
        """Return the first time (m,) between `begin` and `end` at which a shape jumps; inf for none."""
        ...


class Sampler(Protocol):
    """A motion that can be evaluated: the same n subjects at increasing times. See `SampledMotion`.

    It may also have

    - `refinable`, a mask (n,) of subjects that can be evaluated between two samples too, unlike simulated
      ones, and `sample_between(time, subjects)`, which returns the shapes of some of them (s,), with all
      their parts, at any time
    - `sample_parts(time, subjects, shapes)`: some of the shapes (n,) of subjects, by increasing indices, in
      less time than all of them
    - `find_present(time, subjects)`: a mask (s,) of subjects that are present at any time
    - `record(time)` and `recorded()`: read the poses at increasing times, and return a sample of all times,
      at least one, that were recorded since the last call, whose shapes are computed in one batch
    - `is_divisible`, and `restart()`, which begins a section: the next sample may be of any time, and nothing
      of earlier ones matters for it. A simulation is not divisible.
    - `certain`, a `Motion` of the same shapes, which is queried for those that are certain; or None
    """

    def sample(self, time: float) -> Shape | Sample:
        """Return the shapes of all subjects at `time`, in frames. Called with increasing times."""
        ...


class Recorder:
    """Reads a sampler time by time, and returns samples of several times in one batch."""

    def __init__(self, sampler: Any) -> None:
        """Start without samples."""
        self._sampler = sampler
        self._samples: list[Sample] = []
        self._first: tuple[int, str] | None = None
        self._is_batched = hasattr(sampler, "recorded")

    def record(self, time: float) -> None:
        """Read a time. Raises InvalidShapeError where samples differ in type or number of shapes."""
        if self._is_batched:
            self._sampler.record(time)
            return
        sample = as_sample(self._sampler.sample(time), f"sample at {time}")
        shapes = sample.shapes
        count, kind = shapes.shape[0], type(shapes).__name__
        first_count, first_kind = self._first = self._first or (count, kind)
        if count != first_count:
            raise InvalidShapeError(f"sample at {time}: {count} subjects instead of {first_count}")
        if kind != first_kind:
            raise InvalidShapeError(f"sample at {time}: subjects are a {kind} instead of a {first_kind}")
        self._samples.append(sample.as_batch())

    def recorded(self) -> Sample:
        """Return a sample of all times since the last call, at least one."""
        if self._is_batched:
            sample: Sample = self._sampler.recorded()
            return sample
        samples, self._samples = self._samples, []
        return Sample.concatenate(samples)
