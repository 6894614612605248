"""Axes of the smallest boxes around subjects and their parts, which they keep when they are fitted again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Floats, Ints
from .fit import PartVertices, rounded_frame, smallest_box_axes
from .fit_cache import FoundBefore


class BoxAxes:
    """Axes of boxes of all subjects that were fitted, in the subjects' own frames.

    Other axes at each sample would not turn with the subject, and the box in between would be wrong. Axes
    that are found while a subject is flat are not kept: they fit none of its other sizes.
    """

    def __init__(self) -> None:
        self.found: FoundBefore[Floats] = FoundBefore()
        self._known: dict[bytes, Floats] = {}

    def of_subjects(self, subjects: Ints, points: Sequence[NDArray[np.float32]], linear: Floats) -> Floats:
        """Axes (m, 3, 3) of the boxes of subjects (m,), whose linear maps are (m, 3, 3)."""
        found = []
        for subject, vertices, map_ in zip(subjects.tolist(), points, linear, strict=True):
            axes = self.found.get(subject)
            if axes is None:
                axes = smallest_box_axes(vertices, map_)
                if not _is_flat(map_):
                    self.found[subject] = axes
            found.append(axes)
        return np.stack(found)

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
        found = self.found.get(subject)
        if found is None or len(found) < count:
            # Subjects with the same mesh and scale share their axes, whose search takes most of the time.
            scale = rounded_frame(linear)
            digest = hashlib.blake2b(points.tobytes())
            digest.update(parts.rows.tobytes() + parts.offsets.tobytes() + scale.tobytes())
            key = digest.digest()
            if key not in self._known:
                rows = np.split(parts.rows, parts.offsets[1:-1])
                axes = [smallest_box_axes(points[each], linear) for each in rows]
                self._known[key] = np.stack(axes)
            found = self._known[key]
            if not _is_flat(linear):
                self.found[subject] = found
        return found[:count]


def _is_flat(linear: Floats) -> bool:
    """Return whether a linear map (3, 3) maps all points to a plane."""
    return bool(np.linalg.matrix_rank(linear) < 3)
