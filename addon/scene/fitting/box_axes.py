"""Axes of the smallest boxes around subjects and their parts, which they keep when they are fitted again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Floats, Ints
from .fit import PartVertices, rounded_frame, smallest_box_axes


class BoxAxes:
    """Axes of boxes of all subjects that were fitted, in the subjects' own frames.

    Other axes at each sample would not turn with the subject, and the box in between would be wrong.
    """

    def __init__(self) -> None:
        """Start without subjects."""
        self._axes: dict[int, Floats] = {}
        self._kept_axes: dict[int, Floats] = {}
        self._known: dict[bytes, Floats] = {}

    def keep(self) -> None:
        """Keep the axes as they are now, for `restart`."""
        self._kept_axes = dict(self._axes)

    def restart(self) -> None:
        """Forget the axes that were found later."""
        self._axes = dict(self._kept_axes)

    def of_subjects(self, subjects: Ints, points: Sequence[NDArray[np.float32]], linear: Floats) -> Floats:
        """Axes (m, 3, 3) of the boxes of subjects (m,), whose linear maps are (m, 3, 3)."""
        for subject, vertices, map_ in zip(subjects.tolist(), points, linear, strict=True):
            if subject not in self._axes:
                self._axes[subject] = smallest_box_axes(vertices, map_)
        return np.stack([self._axes[subject] for subject in subjects.tolist()])

    def of_parts(
        self,
        subjects: Ints,
        groups: Sequence[PartVertices],
        points: Sequence[NDArray[np.float32]],
        linear: Floats,
    ) -> Floats:
        """Axes (p, 3, 3) of the boxes of all parts of subjects (m,), whose linear maps are (m, 3, 3)."""
        frames = []
        for subject, parts, vertices, map_ in zip(subjects.tolist(), groups, points, linear, strict=True):
            frames.append(self._of_parts(subject, parts, parts.with_cuts(vertices), map_))
        return np.concatenate(frames)

    def _of_parts(self, subject: int, parts: PartVertices, points: NDArray[Any], linear: Floats) -> Floats:
        """Axes (p, 3, 3) of the boxes of one subject's parts."""
        count = len(parts.offsets) - 1
        if len(self._axes.get(subject, ())) < count:
            # Subjects with the same mesh and scale share their axes, whose search takes most of the time.
            scale = rounded_frame(linear)
            digest = hashlib.blake2b(points.tobytes())
            digest.update(parts.rows.tobytes() + parts.offsets.tobytes() + scale.tobytes())
            key = digest.digest()
            if key not in self._known:
                rows = np.split(parts.rows, parts.offsets[1:-1])
                axes = [smallest_box_axes(points[each], linear) for each in rows]
                self._known[key] = np.stack(axes)
            self._axes[subject] = self._known[key]
        return self._axes[subject][:count]
