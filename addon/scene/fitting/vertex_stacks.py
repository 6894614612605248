"""Vertices of many subjects, stacked so that boxes around them are computed together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import CHUNK_ROWS, Floats, Ints


class VertexStacks:
    """The vertices of subjects, those with equally many vertices in one array."""

    def __init__(self, points: Mapping[int, NDArray[np.float32]]) -> None:
        """Stack the vertices (k, 3) of subjects, by the subjects' indices."""
        self._stacks: dict[int, tuple[Ints, NDArray[np.float32]]] = {}
        subjects = np.array(sorted(points), dtype=np.int64)
        counts = np.array([len(points[k]) for k in subjects.tolist()])
        for count in np.unique(counts[counts > 0]).tolist():
            members = subjects[counts == count]
            self._stacks[count] = members, np.stack([points[k].T for k in members.tolist()])

    def boxes(self, subjects: Ints, linear: Floats) -> tuple[Floats, Floats]:
        """Minima and maxima (m, 3) of the vertices of subjects (m,) under linear maps (m, 3, 3)."""
        low, high = np.empty((len(subjects), 3)), np.empty((len(subjects), 3))
        for count, (members, stack) in self._stacks.items():
            rows = np.flatnonzero(np.isin(subjects, members))
            chunk_size = max(1, CHUNK_ROWS // count)
            for begin in range(0, len(rows), chunk_size):
                chunk = rows[begin : begin + chunk_size]
                points = stack[np.searchsorted(members, subjects[chunk])].astype(np.float64)
                world = linear[chunk] @ points
                low[chunk], high[chunk] = world.min(axis=-1), world.max(axis=-1)
        return low, high
