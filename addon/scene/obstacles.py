"""Subjects that are checked as the meshes they are: taken where they stand at first, then only followed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..core import Obstacle, Triangle, TriangleMesh
from ..core.arrays import Bools, Floats, Ints, transform_points
from .errors import SceneError
from .extraction import Geometry
from .subjects import Subject
from .turns import evenness, orthonormal

_TURN = 1e-4
"""How far from a turn single precision may leave the motion of an obstacle."""


class MeshObstacles:
    """The obstacles of a scan. They may move and turn; SceneError names one that changes its shape or size.

    indices : (k,) growing, of the subjects that they are
    """

    def __init__(self, subjects: Sequence[Subject], chosen: Bools, one_sided: bool) -> None:
        self.indices: Ints = np.flatnonzero(chosen)
        self._indices = frozenset(self.indices.tolist())
        self._names = [subjects[index].name for index in self.indices]
        self._one_sided = one_sided
        self._meshes: dict[int, TriangleMesh] = {}
        self._points: dict[int, NDArray[np.float32]] = {}
        self._linear = np.tile(np.eye(3), (len(self.indices), 1, 1))
        self._rest = np.tile(np.eye(4), (len(self.indices), 1, 1))

    def __contains__(self, index: int) -> bool:
        return index in self._indices

    def take(self, index: int, geometry: Geometry, triangles: NDArray[np.int32]) -> None:
        """Take an obstacle's triangles (t, 3) where it stands now. Raises SceneError when there are none."""
        number = int(np.searchsorted(self.indices, index))
        corners = transform_points(geometry.matrix, geometry.points)[triangles]
        if not len(corners):
            raise SceneError(f"obstacle {self._names[number]!r}: has no faces")
        a, b, c = corners.transpose(1, 0, 2)
        if self._one_sided and np.linalg.det(geometry.matrix[:3, :3]) < 0:
            # Mirrored, faces would look inward.
            b, c = c, b
        self._meshes[number] = TriangleMesh(Triangle(a, b, c, one_sided=self._one_sided))
        self._points[number] = geometry.points
        self._rest[number] = geometry.matrix

    @property
    def for_scan(self) -> tuple[Obstacle, ...]:
        """As a scan takes them. Raises SceneError for one that went before it was taken."""
        for number, name in enumerate(self._names):
            if number not in self._meshes:
                raise SceneError(f"obstacle {name!r}: is not there any more")
        return tuple(
            Obstacle(int(index), self._meshes[number]) for number, index in enumerate(self.indices.tolist())
        )

    def require_unchanged(self, index: int, points: NDArray[np.float32], time: float) -> None:
        """Raise SceneError for an obstacle whose vertices are not where they were in its own space."""
        number = int(np.searchsorted(self.indices, index))
        if not np.array_equal(points, self._points[number]):
            raise SceneError(
                f"obstacle {self._names[number]!r}: changes its shape at frame {time:g}; "
                "only what keeps it can be an obstacle"
            )

    def places(self, matrices: Floats, present: Bools, time: float) -> Floats | None:
        """(k, 4, 4) where obstacles went from where they were taken; None while none of them moved.

        matrices, present : (k, 4, 4) in the world, and which are there; others stay where they were
        """
        moved = np.flatnonzero(present & (matrices != self._rest).any(axis=(1, 2)))
        if not len(moved):
            return None
        places = np.tile(np.eye(4), (len(matrices), 1, 1))
        try:
            motion = matrices[moved] @ np.linalg.inv(self._rest[moved])
        except np.linalg.LinAlgError:
            motion = np.full((len(moved), 4, 4), np.nan)
        scale, bent = evenness(motion[:, :3, :3])
        uneven = ~((bent < _TURN) & (np.abs(scale - 1) < _TURN))
        if uneven.any():
            name = self._names[int(moved[int(uneven.argmax())])]
            raise SceneError(
                f"obstacle {name!r}: changes its size at frame {time:g}; "
                "only what keeps it can be an obstacle"
            )
        places[moved] = motion
        places[moved, :3, :3] = orthonormal(motion[:, :3, :3])
        return places
