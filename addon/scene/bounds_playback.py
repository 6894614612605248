"""The scene's animation as boxes and spheres over time, for envelopes and tracks."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ..core import Aabb, BoundsSample, Sample, Shape, Sphere
from ..core.arrays import Bools, Floats, Ints
from ..formats import Skipped, Track
from .fitting import BoundShape, FitSettings
from .obstacles import MeshObstacles
from .playback import Playback
from .selection import Selection
from .subjects import Subject


class BoundsPlayback:
    """The box and the sphere of each subject at a time. Implements `core.BoundsMotion`.

    Two players of one scene: it is evaluated once for both. Made where the subjects were found.
    """

    def __init__(
        self, scene: bpy.types.Scene, subjects: Sequence[Subject], selection: Selection, fit: FitSettings
    ) -> None:
        none = MeshObstacles(subjects, np.zeros(len(subjects), dtype=bool), one_sided=False)
        # Boxes are along the world's axes, whatever a contact scan would check.
        along_world = [replace(subject, axes="checked") for subject in subjects]
        self._boxes = Playback(scene, along_world, selection, "aabb", fit, none)
        self._spheres = self._boxes.beside("sphere")
        self._all = np.arange(len(subjects))

    def fitting(self) -> Generator[None, None, None]:
        """Fit all subjects, part by part; what is left is fitted when it is needed."""
        yield from self._boxes.fitting()
        yield from self._spheres.fitting()

    @property
    def refinable(self) -> Bools:
        """(n,) which subjects can be evaluated between frames: not what is simulated."""
        return self._boxes.refinable

    @property
    def left_out(self) -> list[Skipped]:
        """One record a subject that was left out of a sample: the first time, and why."""
        return self._boxes.left_out

    def sample(self, time: float) -> BoundsSample:
        """The bounds of all subjects at `time`, a frame that may be fractional; times must grow."""
        return _together(self._boxes.sample(time), self._spheres.sample_here(time, self._all))

    def sample_between(self, time: float, subjects: Ints) -> BoundsSample:
        """The bounds of some subjects at any time."""
        boxes = self._boxes.sample_between(time, subjects)
        return _together(boxes, self._spheres.sample_here(time, subjects))


class TrackRecorder:
    """Keeps what a player shows at each frame; memory grows with the frames, ten numbers a subject."""

    def __init__(self, playback: BoundsPlayback, count: int, frames: int) -> None:
        self._playback = playback
        self._numbers: Floats = np.zeros((frames, count, 10))
        self._there = np.zeros((frames, count), dtype=bool)
        self._times: list[float] = []

    @property
    def refinable(self) -> Bools:
        """See `BoundsPlayback`."""
        return self._playback.refinable

    def sample(self, time: float) -> BoundsSample:
        """See `BoundsPlayback`; what it gives is kept."""
        sample = self._playback.sample(time)
        numbers = self._numbers[len(self._times)]
        numbers[:, :3], numbers[:, 3:6] = sample.boxes.min, sample.boxes.max
        numbers[:, 6:9], numbers[:, 9] = sample.spheres.center, sample.spheres.radius
        self._there[len(self._times)] = sample.present
        self._times.append(time)
        return sample

    def sample_between(self, time: float, subjects: Ints) -> BoundsSample:
        """See `BoundsPlayback`."""
        return self._playback.sample_between(time, subjects)

    def tracks(self, ids: Sequence[str], shapes: Sequence[BoundShape]) -> tuple[Track, ...]:
        """Of each subject that was ever there."""
        times = np.array(self._times)
        made = []
        for index, id in enumerate(ids):
            there = self._there[: len(times), index]
            if there.any():
                own = self._numbers[: len(times), index]
                own = own if there.all() else own[there]
                box = Aabb.trusted(own[:, :3], own[:, 3:6]) if "aabb" in shapes else None
                ball = Sphere.trusted(own[:, 6:9], own[:, 9]) if "sphere" in shapes else None
                made.append(Track(id, times[there], ball, box))
        return tuple(made)


def _together(boxes: Sample, spheres: Sample) -> BoundsSample:
    box, ball = boxes.shapes, spheres.shapes
    assert isinstance(box, Aabb), "what is asked for along the world's axes"
    assert isinstance(ball, Sphere), "what is asked for"
    return BoundsSample(box, ball, _present(boxes, box) & _present(spheres, ball))


def _present(sample: Sample, shapes: Shape) -> Bools:
    return np.ones(shapes.shape, dtype=bool) if sample.present is None else sample.present
