"""Shapes of subjects at their poses: of several frames together."""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np

from ...core import Sample, Shape
from ...core.numeric.arrays import Bools, Floats, Ints
from ..curves.skin_poses import SkinPoses
from ..errors import describe_error
from ..fitting.fit_cache import FitCache, FitsInOwnFrames
from ..poses.frame_reader import FramePoses
from .obstacles import MeshObstacles
from .skips import Skip

_MAX_COORDINATE = 1e15
"""Single precision is 1e8 coarse there. An endless curve reaches 1e38, where sweeps lose their digits."""

_MAX_SHAPES = 1 << 15
"""Shapes that are computed together: more would block the window."""

_MAX_BENT_BOXES = 96
"""Boxes of bent meshes that are computed together in a window: about 40 ms for 20,000 vertices each."""


class PosedShapes(NamedTuple):
    """Shapes at the poses of one frame.

    shapes : Shape, batch (N,). Of all parts of the subjects that are no obstacles.
    present : (m,) bool. Subjects that have shapes, or are obstacles that are present.
    obstacle_poses : (o, 4, 4) float64 or None
    """

    shapes: Shape
    present: Bools
    obstacle_poses: Floats | None
    skips: list[Skip]


class PoseBatcher:
    """Computes shapes from poses: of several frames together where no subject is skipped.

    queue : Poses of all subjects, to be computed together. They must be flushed before the fits change.
    capacity : Number of poses from which on they should be flushed.
    samples : Shapes at the times that were flushed, each of one or more times.
    skins : Boxes of bent subjects, at their times.
    """

    def __init__(self, fits: FitCache | FitsInOwnFrames, obstacles: MeshObstacles, count: int) -> None:
        """Create a batcher without poses; `count` is the number of subjects."""
        self._fits = fits
        self.capacity = _MAX_SHAPES // max(len(fits.owners), 1)
        self._obstacles = obstacles
        self._all = np.arange(count)
        self._is_obstacle = np.isin(self._all, obstacles.indices)
        self._has_obstacles = bool(self._is_obstacle.any())
        self._reported_absent = np.zeros(count, dtype=bool)
        self.queue: list[FramePoses] = []
        self.samples: list[Sample] = []
        self.skins: SkinPoses | None = None

    def limit(self, costs: Floats) -> None:
        """Compute fewer poses together where shapes (N,) take longer than others: see `KnownMotion.costs`."""
        self.capacity = min(self.capacity, max(1, int(_MAX_SHAPES / max(costs.sum(), 1.0))))

    def use_skins(self, skins: SkinPoses) -> None:
        """Compute the boxes of bent subjects from their curves, in a window those of few times together."""
        count = int(skins.is_skinned.sum())
        if count:
            self.skins = skins
            if not bpy.app.background:
                self.capacity = min(self.capacity, max(1, _MAX_BENT_BOXES // count))

    def flush(self) -> list[Skip]:
        """Compute the shapes of all queued poses; return the subjects skipped."""
        frames = self.queue.copy()
        self.queue.clear()
        if not frames:
            return []
        present = np.concatenate([poses.present for poses in frames])
        if present.all() and self._fits.is_fitted.all() and not self._has_obstacles:
            matrices = np.concatenate([poses.matrices for poses in frames])
            # Not a number compares as False.
            if np.abs(matrices).max(initial=0) <= _MAX_COORDINATE:
                subjects = np.tile(self._all, len(frames))
                times = np.repeat([poses.time for poses in frames], len(self._all))
                skins = None if self.skins is None else self.skins.boxes(subjects, times)
                shapes, errors = self._fits.shapes_at(subjects, matrices, skins)
                if not errors:
                    moved = np.stack([poses.moved for poses in frames])
                    self.samples.append(Sample(shapes.reshaped((len(frames), -1)), moved=moved))
                    return []
        skips: list[Skip] = []
        for poses in frames:
            sample, frame_skips = self.sample_all(poses)
            self.samples.append(sample.as_batch())
            skips += frame_skips
        return skips

    def sample_all(self, poses: FramePoses) -> tuple[Sample, list[Skip]]:
        """Shapes of all subjects at one time, and the subjects skipped."""
        shapes, present, obstacle_poses, skips = self.place(self._all, poses)
        if not present.all():
            absent = np.flatnonzero(~(present | self._reported_absent)).tolist()
            skips += [Skip(index, poses.time, None) for index in absent]
            self._reported_absent |= ~present
        return Sample(shapes, present, obstacle_poses, poses.moved), skips

    def place(self, subjects: Ints, poses: FramePoses) -> PosedShapes:
        """Compute the shapes of sorted `subjects` (m,), all obstacles included, at poses of the same (m,)."""
        time, present, matrices, _ = poses
        present, skips = present.copy(), []
        matrices = np.where(present[:, None, None], matrices, np.eye(4))
        # Not a number compares as False.
        is_finite = np.asarray((np.abs(matrices) <= _MAX_COORDINATE).all(axis=(1, 2)))
        if not is_finite.all():
            reason = f"its location or scale is not a number up to {_MAX_COORDINATE:g}"
            skips += [Skip(index, time, reason) for index in subjects[present & ~is_finite].tolist()]
            present &= is_finite
            matrices = np.where(is_finite[:, None, None], matrices, np.eye(4))
        is_obstacle = self._is_obstacle[subjects]
        has_shape = self._fits.is_fitted[subjects] | is_obstacle
        if not has_shape.all():
            unfitted = subjects[present & ~has_shape].tolist()
            skips += [Skip(index, time, "it could not be fitted") for index in unfitted]
            present &= has_shape
        obstacle_poses = None
        bodies, body_matrices = subjects, matrices
        if is_obstacle.any():
            obstacle_poses = self._obstacles.poses(matrices[is_obstacle], present[is_obstacle], time)
            bodies, body_matrices = subjects[~is_obstacle], matrices[~is_obstacle]
        skins = None if self.skins is None else self.skins.boxes(bodies, np.full(len(bodies), time))
        shapes, errors = self._fits.shapes_at(bodies, body_matrices, skins)
        for index, error in errors.items():
            skips.append(Skip(index, time, describe_error(error)))
            present[np.searchsorted(subjects, index)] = False
        return PosedShapes(shapes, present, obstacle_poses, skips)
