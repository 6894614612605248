"""Protocols of motions: shapes of all subjects at a time, which scans and envelopes sample.

An obstacle is a triangle mesh that is tested against spheres in its own space. There it is at rest however
it moves in the world, so spheres are transformed into that space sample by sample, and contacts back to
world space. Linear motion in the world is not linear relative to a rotating mesh: the motion counts as
linear in the space of the mesh.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..errors import InvalidShapeError
from ..interval.dispatch import INTERVALS
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arguments import as_mask, require_type
from ..numeric.arrays import Bools, Floats, Ints, as_array, as_floats, transform_points, transform_vectors
from ..numeric.tolerances import CHAIN_ROUNDING
from ..shapes import Shape, Sphere, concatenated
from ..sweep.interpolation import RotationPath


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
    moved : (n,) bool or None
        Subjects that have moved or deformed since the previous sample, for those whose shapes do not show it,
        such as a wheel that rotates within its sphere. None: subjects move if their shapes do.
    """

    shapes: Shape
    present: Bools | None = None
    poses: Floats | None = None
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
        for name, default in (("present", True), ("poses", np.eye(4)), ("moved", False)):
            given = [getattr(part, name) for part in parts]
            tails = [each.shape[1:] for each in given if each is not None]
            for row, part in enumerate(parts if tails else ()):
                if given[row] is None:
                    given[row] = np.broadcast_to(default, (part.shapes.shape[0], *tails[0]))
            columns.append(np.concatenate(given) if tails else None)
        return cls(concatenated(*(part.shapes for part in parts)), *columns)


def select_times(sample: Sample, times: Any) -> Sample:
    """Return a sample of some of several times, by anything that indexes an array."""
    columns = sample.present, sample.poses, sample.moved
    return Sample(
        sample.shapes[times], *(None if each is None else np.asarray(each)[times] for each in columns)
    )


def as_sample(returned: Any, name: str) -> Sample:
    """Check what a motion returned, and convert it to a sample of one time.

    Raises InvalidShapeError or NonFiniteGeometryError, with `name`.
    """
    sample = returned if isinstance(returned, Sample) else Sample(returned)
    shapes, present, poses, moved = sample.shapes, sample.present, sample.poses, sample.moved
    require_type(shapes, tuple(first for first, second in INTERVALS if first is second), name)
    if len(shapes.shape) != 1:
        raise InvalidShapeError(f"{name}: the batch must be (n,), not {shapes.shape}")
    if present is not None:
        present = as_array(present, f"{name}, present")
        present = as_mask(present, f"{name}, present", (present.size,))
    if moved is not None:
        moved = as_array(moved, f"{name}, moved")
        moved = as_mask(moved, f"{name}, moved", (moved.size,))
    if poses is not None:
        poses = as_floats(poses, f"{name}, poses", (4, 4))
        if poses.ndim != 3:
            raise InvalidShapeError(f"{name}, poses: the shape must be (o, 4, 4), not {poses.shape}")
    return Sample(shapes, present, poses, moved)


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
        end, jumps in between included; NaN where nothing is known. Also returns which shapes (m,) may jump in
        between, at a time that is not known.
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
      their parts, at any time; an obstacle has no shapes, but then the sample has its pose
    - `sample_parts(time, subjects, shapes)`: some of the shapes (n,) of subjects, by increasing indices, in
      less time than all of them
    - `find_present(time, subjects)`: a mask (s,) of subjects, obstacles too, that are present at any time
    - `record(time)` and `recorded()`: read the poses at increasing times, and return a sample of all times,
      at least one, that were recorded since the last call, whose shapes are computed in one batch
    - `is_divisible`, and `restart()`, which begins a section: the next sample may be of any time, and nothing
      of earlier ones matters for it. A simulation is not divisible.
    - `certain`, a `Motion` of the same shapes, which is queried for those that are certain; or None. With
      obstacles it has `rests`, a mask (o,) of those that stay in the pose of their mesh.
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


_ROTATION_TOLERANCE = 1e-5
"""Deviation of a pose from a rotation that single precision explains, and a scale does not."""


@dataclass(frozen=True)
class Obstacle:
    """A subject that is a triangle mesh in its rest pose. It has no shape in samples."""

    subject: int
    mesh: TriangleMesh


@dataclass(frozen=True)
class ObstacleSpace:
    """Local space of one obstacle.

    number : Position among the obstacles of the scan.
    obstacle : Obstacle
    """

    number: int
    obstacle: Obstacle

    @cached_property
    def bounds(self) -> Sphere:
        """Sphere () around the mesh, which is the last shape of samples in this space."""
        box = self.obstacle.mesh.aabb()
        return Sphere(box.center, np.sqrt((box.half_extents**2).sum()) * (1 + CHAIN_ROUNDING))

    def pose(self, sample: Sample) -> Floats:
        """Pose (..., 4, 4) of the obstacle. Raises InvalidShapeError where it is scaled or sheared."""
        if sample.poses is None:
            return np.broadcast_to(np.eye(4), (*sample.shapes.shape[:-1], 4, 4))
        if sample.poses.shape[-3] <= self.number:
            raise InvalidShapeError(f"sample, poses: {sample.poses.shape} has none of obstacle {self.number}")
        pose = np.asarray(sample.poses, dtype=np.float64)[..., self.number, :, :]
        rotation = pose[..., :3, :3]
        with np.errstate(over="ignore", invalid="ignore"):
            gram = rotation @ np.swapaxes(rotation, -1, -2)
        if not (np.abs(gram - np.eye(3)).max() < _ROTATION_TOLERANCE and (np.linalg.det(rotation) > 0).all()):
            raise InvalidShapeError(f"obstacle {self.number}: its pose is not a rotation and a translation")
        return pose

    def to_local(self, sample: Sample, present: Bools | None) -> Sample:
        """Transform the spheres (..., n) of a sample, and append the bounds of the obstacle.

        present : presence for the result, or None for all
        """
        shapes = sample.shapes
        if not isinstance(shapes, Sphere):
            raise InvalidShapeError(f"only spheres are tested against meshes, not {type(shapes).__name__}")
        pose = self.pose(sample)
        if (pose != np.eye(4)).any():
            rotation, offset = pose[..., None, :3, :3], pose[..., None, :3, 3]
            rotated = transform_vectors(np.swapaxes(rotation, -1, -2), shapes.center - offset)
            shapes = Sphere.unchecked(rotated, shapes.radius)
        times = shapes.shape[:-1]
        whole = concatenated(shapes, self.bounds.broadcast_to((*times, 1)), axis=len(times))
        return Sample(whole, present, pose[..., None, :, :], sample.moved)


def to_world(start: Floats, end: Floats, time: Floats, point: Floats, *vectors: Floats) -> list[Floats]:
    """Transform points and vectors (m, 3) at `time` (m,) in [0, 1] from obstacle space to world space.

    start, end : (4, 4) or (m, 4, 4) poses of the obstacles at both ends of the interval
    """
    if np.array_equal(start, end):
        if (start == np.eye(4)).all():
            return [point, *vectors]
        linear = start[..., :3, :3]
        return [transform_points(start, point), *(transform_vectors(linear, each) for each in vectors)]
    rotations = (np.broadcast_to(pose, (len(time), 4, 4))[:, :3, :3] for pose in (start, end))
    rotation = RotationPath.between(*rotations).at(time)
    moved = start[..., :3, 3] * (1 - time)[:, None] + end[..., :3, 3] * time[:, None]
    rotated = [transform_vectors(rotation, each) for each in (point, *vectors)]
    return [rotated[0] + moved, *rotated[1:]]
