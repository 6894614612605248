"""The scene's animation as boxes and spheres over time, for envelopes and tracks."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ...core import Aabb, BoundsSample, Sample, Shape, Sphere
from ...core.numeric.arrays import Bools, Floats, Ints
from ...core.shapes import concatenated
from ...formats import Skipped, Track
from ..settings import BoundShape, FitSettings, Selection
from ..subjects.subject import Subject
from .obstacles import MeshObstacles
from .scene_motion import SceneMotion


class SceneBounds:
    """Box and sphere of each subject at a time. Implements `core.BoundsMotion`.

    Several motions share one evaluation of the scene for each time. Must be created at the frame at which the
    subjects were found.

    turns : Times that are sampled too, but are no frames of tracks.
    """

    def __init__(
        self,
        scene: bpy.types.Scene,
        subjects: Sequence[Subject],
        selection: Selection,
        fit: FitSettings,
        with_own_frames: bool = False,
        frames: int = 0,
    ) -> None:
        """Read all subjects as they are now; see `SceneMotion` for the parameters.

        with_own_frames : whether n more bounds follow, those of the subjects in their own frames
        frames : number of samples to record for tracks, with ten numbers for each subject
        """
        none = MeshObstacles(subjects, np.zeros(len(subjects), dtype=bool), one_sided=False)
        # Boxes are along the world's axes, whatever axes a contact scan would use.
        along_world = [replace(subject, axes="checked") for subject in subjects]
        self._boxes = SceneMotion(scene, along_world, selection, "aabb", fit, none)
        self._spheres = self._boxes.with_shape("sphere")
        self._all = np.arange(len(subjects))
        self.turns: frozenset[float] = frozenset()
        self._numbers: Floats = np.zeros((frames, len(subjects), 10))
        self._present = np.zeros((frames, len(subjects)), dtype=bool)
        self._times: list[float] = []
        self._in_own_frames: tuple[SceneMotion, SceneMotion] | None = None
        if with_own_frames:
            self._in_own_frames = self._boxes.with_shape("aabb", True), self._boxes.with_shape("sphere", True)

    def fitting(self) -> Generator[None, None, None]:
        """Fit all subjects; yields after each batch. Subjects that remain are fitted by the first sample."""
        for motion in (self._boxes, self._spheres, *(self._in_own_frames or ())):
            yield from motion.fitting()

    @property
    def refinable(self) -> Bools:
        """Bounds (n,) or (2n,) that can be evaluated between frames: not those of simulated subjects."""
        refinable = self._boxes.refinable
        return refinable if self._in_own_frames is None else np.tile(refinable, 2)

    @property
    def skipped(self) -> list[Skipped]:
        """One record for each subject that a sample is without: the first time, and why."""
        return self._boxes.skipped

    def sample(self, time: float) -> BoundsSample:
        """Bounds of all subjects at `time`, in frames, maybe fractional; times must grow."""
        if time in self.turns:
            count = len(self._all) * (1 if self._in_own_frames is None else 2)
            return self.sample_between(time, np.arange(count))
        boxes = self._boxes.sample(time)
        bounds = _merged(boxes, self._spheres.sample_between(time, self._all, is_current=True))
        if len(self._times) < len(self._numbers):
            self._record(time, bounds)
        if self._in_own_frames is None:
            return bounds
        return _concatenated(bounds, self._own_bounds(time, self._all))

    def sample_between(self, time: float, subjects: Ints) -> BoundsSample:
        """Bounds of some of all (m,), in increasing order, at any time."""
        count = len(self._all)
        inside = subjects[subjects < count]
        # Those in their own frames are read with the others, because the scene is evaluated for these.
        every = np.union1d(inside, subjects[subjects >= count] - count)
        bounds = _merged(
            self._boxes.sample_between(time, every),
            self._spheres.sample_between(time, every, is_current=True),
        )
        if self._in_own_frames is None:
            return bounds
        of_world = np.searchsorted(every, inside)
        of_own = np.searchsorted(every, subjects[len(inside) :] - count)
        return _concatenated(bounds.take(of_world), self._own_bounds(time, every).take(of_own))

    def _own_bounds(self, time: float, subjects: Ints) -> BoundsSample:
        """Bounds of `subjects` (m,) in their own frames, at a time that was just sampled."""
        assert self._in_own_frames is not None
        return _merged(*(each.sample_between(time, subjects, True) for each in self._in_own_frames))

    def _record(self, time: float, bounds: BoundsSample) -> None:
        """Record the bounds of all subjects in world space for tracks."""
        numbers = self._numbers[len(self._times)]
        numbers[:, :3], numbers[:, 3:6] = bounds.boxes.min, bounds.boxes.max
        numbers[:, 6:9], numbers[:, 9] = bounds.spheres.center, bounds.spheres.radius
        self._present[len(self._times)] = bounds.present
        self._times.append(time)

    def tracks(self, ids: Sequence[str], shapes: Sequence[BoundShape]) -> tuple[Track, ...]:
        """Tracks of all subjects that were ever present.

        ids : Of all subjects.
        shapes : Tracks have those of "sphere" and "aabb" that are among these.
        """
        times = np.array(self._times)
        tracks = []
        for index, id in enumerate(ids):
            present = self._present[: len(times), index]
            if present.any():
                numbers = self._numbers[: len(times), index]
                numbers = numbers if present.all() else numbers[present]
                box = Aabb.unchecked(numbers[:, :3], numbers[:, 3:6]) if "aabb" in shapes else None
                ball = Sphere.unchecked(numbers[:, 6:9], numbers[:, 9]) if "sphere" in shapes else None
                tracks.append(Track(id, times[present], ball, box))
        return tuple(tracks)


def _merged(boxes: Sample, spheres: Sample) -> BoundsSample:
    """Boxes and spheres as one sample; subjects are present that have both."""
    box, ball = boxes.shapes, spheres.shapes
    assert isinstance(box, Aabb), "boxes are along the world's axes"
    assert isinstance(ball, Sphere)
    return BoundsSample(box, ball, _present(boxes, box) & _present(spheres, ball))


def _concatenated(one: BoundsSample, other: BoundsSample) -> BoundsSample:
    return BoundsSample(
        concatenated(one.boxes, other.boxes),
        concatenated(one.spheres, other.spheres),
        np.concatenate([one.present, other.present]),
    )


def _present(sample: Sample, shapes: Shape) -> Bools:
    return np.ones(shapes.shape, dtype=bool) if sample.present is None else sample.present
