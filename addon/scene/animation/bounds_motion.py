"""The scene's animation as boxes and spheres over time, for envelopes and tracks."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ...core import Aabb, BoundsSample, Sample, Shape, Sphere
from ...core.numeric.arrays import Bools, Floats, Ints
from ...formats import Skipped, Track
from ..settings import BoundShape, FitSettings, Selection
from ..subjects.subject import Subject
from .obstacles import MeshObstacles
from .scene_motion import SceneMotion


class SceneBoundsMotion:
    """Box and sphere of each subject at a time. Implements `core.BoundsMotion`.

    Two motions share one evaluation of the scene for each time. Must be created at the frame at which the
    subjects were found.
    """

    def __init__(
        self, scene: bpy.types.Scene, subjects: Sequence[Subject], selection: Selection, fit: FitSettings
    ) -> None:
        """Read all subjects as they are now; see `SceneMotion` for the parameters."""
        none = MeshObstacles(subjects, np.zeros(len(subjects), dtype=bool), one_sided=False)
        # Boxes are along the world's axes, whatever axes a contact scan would use.
        along_world = [replace(subject, axes="checked") for subject in subjects]
        self._boxes = SceneMotion(scene, along_world, selection, "aabb", fit, none)
        self._spheres = self._boxes.with_shape("sphere")
        self._all = np.arange(len(subjects))

    def fitting(self) -> Generator[None, None, None]:
        """Fit all subjects; yields after each batch. Subjects that remain are fitted by the first sample."""
        yield from self._boxes.fitting()
        yield from self._spheres.fitting()

    @property
    def refinable(self) -> Bools:
        """Subjects (n,) that can be evaluated between frames: not simulated ones."""
        return self._boxes.refinable

    @property
    def skipped(self) -> list[Skipped]:
        """One record for each subject that a sample is without: the first time, and why."""
        return self._boxes.skipped

    def sample(self, time: float) -> BoundsSample:
        """Bounds of all subjects at `time`, in frames, maybe fractional; times must grow."""
        return _merged(
            self._boxes.sample(time), self._spheres.sample_between(time, self._all, is_current=True)
        )

    def sample_between(self, time: float, subjects: Ints) -> BoundsSample:
        """Bounds of `subjects` (m,) at any time."""
        boxes = self._boxes.sample_between(time, subjects)
        return _merged(boxes, self._spheres.sample_between(time, subjects, is_current=True))


class TrackRecorder:
    """Records the samples of a motion at each frame. Implements `core.BoundsMotion`.

    Memory grows with the frames: ten numbers for each subject.
    """

    def __init__(self, motion: SceneBoundsMotion, count: int, frames: int) -> None:
        """Create an empty recorder for `count` subjects over at most `frames` samples."""
        self._motion = motion
        self._numbers: Floats = np.zeros((frames, count, 10))
        self._present = np.zeros((frames, count), dtype=bool)
        self._times: list[float] = []

    @property
    def refinable(self) -> Bools:
        """See `SceneBoundsMotion`."""
        return self._motion.refinable

    def sample(self, time: float) -> BoundsSample:
        """Sample the motion at `time`, and record the sample."""
        sample = self._motion.sample(time)
        numbers = self._numbers[len(self._times)]
        numbers[:, :3], numbers[:, 3:6] = sample.boxes.min, sample.boxes.max
        numbers[:, 6:9], numbers[:, 9] = sample.spheres.center, sample.spheres.radius
        self._present[len(self._times)] = sample.present
        self._times.append(time)
        return sample

    def sample_between(self, time: float, subjects: Ints) -> BoundsSample:
        """See `SceneBoundsMotion`; such samples are not recorded."""
        return self._motion.sample_between(time, subjects)

    def tracks(self, ids: Sequence[str], shapes: Sequence[BoundShape]) -> tuple[Track, ...]:
        """Tracks of all subjects that were ever present.

        Parameters
        ----------
        ids : sequence of str
            Of all subjects.
        shapes : sequence of BoundShape
            Tracks have those of "sphere" and "aabb" that are among these.

        Returns
        -------
        tracks : tuple of Track
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


def _present(sample: Sample, shapes: Shape) -> Bools:
    return np.ones(shapes.shape, dtype=bool) if sample.present is None else sample.present
