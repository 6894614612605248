# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes at whole frames, and separations between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.scene.independent.evaluation import evaluated_objects_at
from tests.scene.independent.geometry import minimal_sphere


@dataclass(frozen=True)
class Motion:
    """Shapes of n objects at whole frames: centers, mins, maxs (frames, n, 3) and radii (frames, n)."""

    names: tuple[str, ...]
    frames: np.ndarray
    centers: np.ndarray
    radii: np.ndarray
    mins: np.ndarray
    maxs: np.ndarray

    def separation(self, shape: str, first: int, second: int, times: np.ndarray) -> np.ndarray:
        """Signed separation of two objects at frame times, with linear interpolation between frames."""
        if shape == "sphere":
            return sphere_separation(
                self._at(self.centers, first, times),
                self._at(self.radii, first, times),
                self._at(self.centers, second, times),
                self._at(self.radii, second, times),
            )
        return aabb_separation(
            self._at(self.mins, first, times),
            self._at(self.maxs, first, times),
            self._at(self.mins, second, times),
            self._at(self.maxs, second, times),
        )

    def _at(self, track: np.ndarray, index: int, times: np.ndarray) -> np.ndarray:
        values = track[:, index].reshape(len(self.frames), -1)
        columns = [np.interp(times, self.frames, column) for column in values.T]
        return np.stack(columns, axis=-1) if track.ndim == 3 else columns[0]


def sphere_separation(a: np.ndarray, a_radius: np.ndarray, b: np.ndarray, b_radius: np.ndarray) -> np.ndarray:
    """Signed separation of spheres: distance of the centers minus both radii."""
    return np.sqrt(((a - b) ** 2).sum(axis=-1)) - a_radius - b_radius


def aabb_separation(a_min: np.ndarray, a_max: np.ndarray, b_min: np.ndarray, b_max: np.ndarray) -> np.ndarray:
    """Signed separation of boxes: Euclidean distance, or minus the least overlap of an axis."""
    gaps = np.maximum(a_min - b_max, b_min - a_max)
    distance = np.sqrt((np.maximum(gaps, 0.0) ** 2).sum(axis=-1))
    largest_gap = gaps.max(axis=-1)
    return np.where(largest_gap > 0.0, distance, largest_gap)


def sample_motion(start: int, end: int) -> Motion:
    """Fit the objects of the open scene at each whole frame. Their names and number must not change."""
    names: tuple[str, ...] = ()
    samples: list[tuple[np.ndarray, ...]] = []
    for frame in range(start, end + 1):
        items = sorted(
            (item for item in evaluated_objects_at(frame) if len(item.points)), key=lambda item: item.group
        )
        assert not names or names == tuple(item.group for item in items)
        names = tuple(item.group for item in items)
        spheres = [minimal_sphere(item.points) for item in items]
        samples.append(
            (
                np.array([center for center, _ in spheres]),
                np.array([radius for _, radius in spheres]),
                np.array([item.points.min(axis=0) for item in items]),
                np.array([item.points.max(axis=0) for item in items]),
            )
        )
    centers, radii, mins, maxs = (np.stack(track) for track in zip(*samples, strict=True))
    return Motion(names, np.arange(start, end + 1, dtype=np.float64), centers, radii, mins, maxs)
