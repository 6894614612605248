"""Boxes along the world's axes around many things, wherever they are turned: things of one size at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import CHUNK_ROWS, Floats, Ints


class VertexStacks:
    """The vertices of things, those with equally many in one array."""

    def __init__(self, points: Mapping[int, NDArray[np.float32]]) -> None:
        """For things of these numbers, each with its vertices (k, 3)."""
        self._stacks: dict[int, tuple[Ints, NDArray[np.float32]]] = {}
        things = np.array(sorted(points), dtype=np.int64)
        counts = np.array([len(points[k]) for k in things.tolist()])
        for count in np.unique(counts[counts > 0]).tolist():
            members = things[counts == count]
            self._stacks[count] = members, np.stack([points[k].T for k in members.tolist()])

    def boxes(self, things: Ints, linear: Floats) -> tuple[Floats, Floats]:
        """Lowest and highest corners (m, 3) around the vertices under linear maps (m, 3, 3)."""
        low, high = np.empty((len(things), 3)), np.empty((len(things), 3))
        for count, (members, stack) in self._stacks.items():
            rows = np.flatnonzero(np.isin(things, members))
            chunk = max(1, CHUNK_ROWS // count)
            for begin in range(0, len(rows), chunk):
                some = rows[begin : begin + chunk]
                points = stack[np.searchsorted(members, things[some])].astype(np.float64)
                world = linear[some] @ points
                low[some], high[some] = world.min(axis=-1), world.max(axis=-1)
        return low, high
