"""Meshes that bones bend, whose vertices are computed when they are needed: many poses take little memory."""

from __future__ import annotations

from collections import deque
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from ..numeric.arrays import Floats, length
from ..numeric.cached import CachedAttribute
from ..numeric.tolerances import DISTANCE_ROUNDING
from ..skins.blended_points import BlendedPoints
from .mesh_bvh import MeshBvh
from .quad_cuts import CutChanges, QuadCuts

_KEPT = 1 << 20
"""Vertices, about, that are kept of recent poses: 25 MB, and a few times that for their surfaces."""
_ROUNDING = 2.0**-46
"""Part of the numbers that a coordinate is a sum of, by which its rounding depends on their order."""
_SAMPLED = 64
"""Vertices, about, of which the nearest to the center is found."""


class RecentVertices:
    """Meshes whose vertices were computed last; those of earlier ones are forgotten."""

    def __init__(self) -> None:
        self._meshes: deque[BentBvh] = deque()
        self._count = 0

    def add(self, mesh: BentBvh) -> None:
        """Add a mesh, of which nothing was kept."""
        self._meshes.append(mesh)
        self._count += mesh.vertex_count
        while self._count > _KEPT and len(self._meshes) > 1:
            earliest = self._meshes.popleft()
            self._count -= earliest.vertex_count
            earliest.forget()


class BentBvh(MeshBvh):
    """The triangles of a mesh as bones bend them, in world space."""

    def __init__(
        self, first: MeshBvh, points: BlendedPoints, matrices: Floats, box: Floats, recent: RecentVertices
    ) -> None:
        """Pose a mesh.

        first : The mesh when its tree was built.
        points : Its vertices.
        matrices : (b, 4, 4) float64. Of all bones, to the world.
        box : (2, 3) float64. Low and high corner of the box around the vertices.
        """
        self.__dict__.update(first.moved(first.vertices).__dict__, box=box)
        self.__dict__.update(_points=points, _matrices=matrices, _recent=recent)
        del self.__dict__["vertices"]

    @property
    def vertex_count(self) -> int:
        """Number of vertices."""
        points: BlendedPoints = self.__dict__["_points"]
        return points.count

    @CachedAttribute
    def vertices(self) -> NDArray[Any]:
        """Return the vertices (v, 3)."""
        kept = self.__dict__
        kept["_recent"].add(self)
        found: Floats = kept["_points"].vertices(kept["_matrices"])
        return found

    def forget(self) -> None:
        """Free what takes memory; it is computed again when it is needed."""
        for name in ("vertices", "surface"):
            self.__dict__.pop(name, None)

    @CachedAttribute
    def sphere(self) -> tuple[Floats, float]:
        """Center (3,) and radius of a sphere around all of them: that around the box."""
        center = self.box[0] * 0.5 + self.box[1] * 0.5
        return center, float(length(self.box[1] - center)) * (1 + DISTANCE_ROUNDING)

    @CachedAttribute
    def inner_radius(self) -> float:
        """Negative radius of a ball about the center of the sphere that a triangle is within."""
        rows = np.arange(0, self.vertex_count, max(1, self.vertex_count // _SAMPLED))
        places = self.__dict__["_points"].positions(self.__dict__["_matrices"], rows)
        return -float(length(places - self.sphere[0]).min()) * (1 + DISTANCE_ROUNDING)


class BentPoses:
    """A mesh that bones bend: the same object for the same pose, as long as any is used."""

    def __init__(
        self,
        first: MeshBvh,
        points: BlendedPoints,
        recent: RecentVertices,
        cuts: tuple[QuadCuts, CutChanges] | None = None,
    ) -> None:
        """Take a mesh when its tree was built, its vertices, and how the cuts of its quads change."""
        self._points, self._recent, self._cuts = points, recent, cuts
        self._known: WeakValueDictionary[tuple[int, bytes], BentBvh] = WeakValueDictionary()
        # After numbers of changes, as long as poses use them.
        self._first, self._firsts = first, WeakValueDictionary({0: first})

    def posed(self, matrices: Floats, times: Floats, is_before: bool = False) -> NDArray[Any]:
        """Pose the mesh by matrices (q, b, 4, 4) of all bones, at times (q,) or just before: q objects."""
        counts = np.zeros(len(times), dtype=np.int64)
        if self._cuts is not None:
            counts = self._cuts[1].counts(times, is_before)
        keys = [(count, each.tobytes()) for count, each in zip(counts.tolist(), matrices, strict=True)]
        found = [self._known.get(key) for key in keys]
        new = [row for row, mesh in enumerate(found) if mesh is None]
        if new:
            posed = matrices[new]
            low, high, _ = self._points.boxes(posed)
            room = (_ROUNDING * self._points.sizes(posed))[:, None]
            boxes = np.stack([low - room, high + room], axis=1)
            for row, pose, box in zip(new, posed, boxes, strict=True):
                # Successive poses may be equal.
                mesh = self._known.get(keys[row])
                if mesh is None:
                    first = self._first_after(keys[row][0])
                    mesh = BentBvh(first, self._points, pose.copy(), box, self._recent)
                    self._known[keys[row]] = mesh
                found[row] = mesh
        result = np.empty(len(keys), dtype=object)
        result[:] = found
        return result

    def _first_after(self, count: int) -> MeshBvh:
        """Return the mesh with the triangles after a number of changes."""
        found = self._firsts.get(count)
        if found is None:
            assert self._cuts is not None, "without cuts nothing changes"
            cuts, changes = self._cuts
            found = self._first.recut(cuts.recut(self._first.given, changes.quads[:count]))
            self._firsts[count] = found
        return found
