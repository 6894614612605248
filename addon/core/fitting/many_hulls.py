"""Quickhull of many point sets at the same time: each step adds a vertex to every hull.

A step of a single hull is some forty operations on short arrays, which take as long as their calls. Here,
all hulls share the calls. Nearly all hulls have two faces more after a step, so these are dense arrays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Sequence
from typing import TypeVar

import numpy as np

from ..errors import CollisionBoundsError
from ..numeric.arrays import Bools, Floats, Ints
from .convex_hull import HullRequest
from .quickhull import face_planes, first_faces, is_closed, quickhull

_MOST_HULLS = 64
"""Hulls that are built at the same time: more would not fit into the processor's cache."""
_MOST_POINTS = 1 << 17
"""Points of hulls that are built at the same time."""


_Result = TypeVar("_Result")


def quickhulls(
    groups: Sequence[Floats], tolerance: float, max_vertices: int | None = None
) -> list[Ints | None]:
    """Build the convex hulls of several point sets, each as `quickhull` does.

    groups : sequence of (n, 3) float64. Points of about unit extent, around the origin.
    tolerance : Points this close to a face, or less above it, count as on it.
    max_vertices : Stop after this many vertices.
    Returns faces : list of (f, 3) int64 or None. Indices of points, counter-clockwise from outside. None
        for points in one plane, and where the faces make no closed surface.
    """
    found: list[Ints | None] = [None] * len(groups)
    first = [first_faces(points, tolerance) for points in groups]
    # Hulls of about equal numbers of vertices end at about the same step.
    limit = max(map(len, groups), default=0) if max_vertices is None else max_vertices
    order = sorted((k for k, faces in enumerate(first) if faces is not None), key=lambda k: len(groups[k]))
    while order:
        sizes = np.cumsum([len(groups[k]) for k in order[:_MOST_HULLS]])
        count = max(1, int(np.count_nonzero(sizes <= _MOST_POINTS)))
        rows, order = order[:count], order[count:]
        if count == 1:
            hull = quickhull(groups[rows[0]], tolerance, limit)
            found[rows[0]] = None if hull is None else hull.faces
            continue
        hulls = _Hulls([groups[k] for k in rows], [first[k] for k in rows], tolerance, limit)
        for k, faces in zip(rows, hulls.built(), strict=True):
            found[k] = faces
    return found


class _Hulls:
    """Hulls (h) of point sets, and their outside points with the faces that these are above."""

    def __init__(
        self, groups: Sequence[Floats], first: Sequence[Ints | None], tolerance: float, max_vertices: int
    ) -> None:
        sizes = np.array([len(points) for points in groups])
        self._tolerance, self._max_vertices, self._sizes = tolerance, max_vertices, sizes
        self._points: Floats = np.concatenate(groups)
        self._first_point: Ints = np.cumsum(sizes) - sizes
        capacity = 2 * min(int(sizes.max()), max_vertices)
        self._faces: Ints = np.zeros((len(groups), capacity, 3), dtype=np.int64)
        # Normals and offsets; unused faces are above all points.
        self._planes: Floats = np.zeros((4, len(groups), capacity))
        self._planes[3] = np.inf
        self._count = 4
        self._counts: Ints = np.full(len(groups), 4)
        self._is_folded: Bools = np.zeros(len(groups), dtype=bool)
        corners = np.array(first) + self._first_point[:, None, None]
        hull, slot = np.indices((len(groups), 4)).reshape(2, -1)
        self._set_faces(hull, slot, corners.reshape(-1, 3))
        self._inside: Floats = self._points[corners.reshape(len(groups), -1)].mean(axis=1)
        # Outside points: index, hull, face and height; a hull without any keeps one of negative height.
        self._outside: Ints = np.arange(len(self._points))
        self._hull_of: Ints = np.repeat(np.arange(len(groups)), sizes)
        self._face_of, self._height = self._highest(self._outside, self._hull_of, self._planes[:, :, :4])
        self._height[self._height <= tolerance] = -np.inf
        self._starts = self._first_point

    def built(self) -> list[Ints | None]:
        """Add vertices until no point is outside, and return the faces of each hull."""
        while self._step():
            pass
        found: list[Ints | None] = []
        for hull, start in enumerate(self._first_point.tolist()):
            faces: Ints = self._faces[hull, np.isfinite(self._planes[3, hull])] - start
            is_hull = not self._is_folded[hull] and is_closed(faces, int(faces.max()) + 1)
            found.append(faces if is_hull else None)
        return found

    def _set_faces(self, hull: Ints, slot: Ints, corners: Ints) -> None:
        """Set faces (m) at slots of hulls (m) to corners (m, 3)."""
        self._faces[hull, slot] = corners
        normals, offsets = face_planes(self._points, corners)
        self._planes[:3, hull, slot] = normals.T
        self._planes[3, hull, slot] = offsets

    def _highest(self, points: Ints, hull: Ints, planes: Floats) -> tuple[Ints, Floats]:
        """Return which of the planes (4, h, p) of hulls (m) points (m) are farthest above, and heights."""
        position = self._points[points]
        heights = position[:, 0:1] * planes[0, hull]
        heights += position[:, 1:2] * planes[1, hull]
        heights += position[:, 2:3] * planes[2, hull]
        heights -= planes[3, hull]
        face = heights.argmax(axis=1)
        return face, heights[np.arange(len(face)), face]

    def _step(self) -> bool:
        """Add the farthest outside point to each hull that has one; return False if none has."""
        best = np.maximum.reduceat(self._height, self._starts)
        vertices = self._counts // 2 + 2
        is_active = (best > self._tolerance) & (vertices < self._max_vertices)
        # Faces that fold would multiply.
        self._is_folded |= is_active & (np.maximum(vertices, self._count // 2 - 2) >= self._sizes)
        is_active &= ~self._is_folded
        if not is_active.any():
            return False
        tip, face = self._farthest(best, is_active)
        is_visible = self._visible(tip, face) & is_active[:, None]
        hull, slot = np.nonzero(is_visible)
        edges, edge_hull = _horizons(self._faces[hull, slot], hull, len(self._points))
        # A hole has two edges more than it had triangles, and two less for each vertex that is inside now.
        removed = np.bincount(hull, minlength=len(best))
        added = np.bincount(edge_hull, minlength=len(best))
        is_folded = is_active & ((added > removed + 2) | ((added - removed) % 2 == 1))
        if is_folded.any():
            self._is_folded |= is_folded
            return True
        # New faces take the slots of the removed ones, and up to two more.
        self._planes[3, hull, slot] = np.inf
        number = np.arange(len(edge_hull)) - (np.cumsum(added) - added)[edge_hull]
        reused = np.minimum((np.cumsum(removed) - removed)[edge_hull] + number, len(slot) - 1)
        unused = self._count + number - removed[edge_hull]
        self._make_room()
        new_slot = np.where(number < removed[edge_hull], slot[reused], unused)
        self._set_faces(edge_hull, new_slot, np.column_stack([edges, tip[edge_hull]]))
        self._counts += added - removed
        self._count += 2
        self._assign_orphans(is_visible, tip, edge_hull, number, new_slot)
        return True

    def _make_room(self) -> None:
        """Make room for two more faces of each hull: there are more steps if vertices came to be inside."""
        if self._count + 2 > self._planes.shape[2]:
            unused = np.zeros_like(self._planes)
            unused[3] = np.inf
            self._planes = np.concatenate([self._planes, unused], axis=2)
            self._faces = np.concatenate([self._faces, np.zeros_like(self._faces)], axis=1)

    def _visible(self, tip: Ints, face: Ints) -> Bools:
        """Return which faces (h, f) of each hull a point (h) sees, at least one face (h)."""
        x, y, z = self._points[tip].T[:, :, None]
        planes = self._planes[:, :, : self._count]
        heights = x * planes[0]
        heights += y * planes[1]
        heights += z * planes[2]
        heights -= planes[3]
        is_visible: Bools = heights > self._tolerance
        is_visible[np.arange(len(face)), face] = True
        return is_visible

    def _farthest(self, best: Floats, is_active: Bools) -> tuple[Ints, Ints]:
        """Return the point of each hull that is farthest outside, and its face; see `quickhull`.

        Of several points at that height above the face, it is the one that is farthest from the inside.
        """
        level = best[self._hull_of]
        rows = np.flatnonzero((self._height >= level) & is_active[self._hull_of])[::-1]
        chosen = np.zeros(len(best), dtype=np.int64)
        chosen[self._hull_of[rows]] = rows
        face = self._face_of[chosen]
        rows = np.flatnonzero(
            (self._height >= level - self._tolerance) & (self._face_of == face[self._hull_of])
        )
        rows = rows[is_active[self._hull_of[rows]]]
        if len(rows) > np.count_nonzero(is_active):
            offset = self._points[self._outside[rows]] - self._inside[self._hull_of[rows]]
            rows = rows[np.argsort((offset * offset).sum(axis=1), kind="stable")]
            chosen[self._hull_of[rows]] = rows
        return self._outside[chosen], face

    def _assign_orphans(self, is_removed: Bools, tip: Ints, hull: Ints, number: Ints, slot: Ints) -> None:
        """Assign points above removed faces (h, f) to new faces (m), of numbers and slots in their hulls."""
        orphans = np.flatnonzero(is_removed[self._hull_of, self._face_of] & (self._height > 0))
        width = int(number.max()) + 1
        planes = np.zeros((4, len(tip), width))
        planes[3] = np.inf
        planes[:, hull, number] = self._planes[:, hull, slot]
        slots = np.zeros((len(tip), width), dtype=np.int64)
        slots[hull, number] = slot
        owner = self._hull_of[orphans]
        face, height = self._highest(self._outside[orphans], owner, planes)
        is_outside = (height > self._tolerance) & (self._outside[orphans] != tip[owner])
        self._face_of[orphans] = slots[owner, face]
        self._height[orphans] = np.where(is_outside, height, -np.inf)
        if 2 * np.count_nonzero(self._height > 0) < len(self._height) - 2 * len(tip):
            self._drop_inside_points()

    def _drop_inside_points(self) -> None:
        """Drop points that are inside, but one of each hull."""
        is_kept = self._height > 0
        is_kept[self._starts] = True
        for name in ("_outside", "_hull_of", "_face_of", "_height"):
            setattr(self, name, getattr(self, name)[is_kept])
        counts = np.bincount(self._hull_of, minlength=len(self._starts))
        self._starts = np.cumsum(counts) - counts


def _horizons(faces: Ints, hull: Ints, count: int) -> tuple[Ints, Ints]:
    """Directed edges (e, 2) between visible faces (m, 3) and the others, and their hulls; `count` points."""
    start, end = faces.reshape(-1), faces[:, [1, 2, 0]].reshape(-1)
    keys, reverse = start * count + end, end * count + start
    ordered = np.sort(keys)
    position = np.minimum(np.searchsorted(ordered, reverse), len(ordered) - 1)
    is_horizon = ordered[position] != reverse
    return np.column_stack([start, end])[is_horizon], np.repeat(hull, 3)[is_horizon]


def run_together(
    jobs: Sequence[Generator[HullRequest, Ints | None, _Result]],
) -> list[_Result | CollisionBoundsError]:
    """Run several jobs such as `hull_steps`, and build the hulls that they need at the same time.

    jobs : Each yields requests, and is sent the faces of the hull, or None if there is none.
    Returns results : list. In place of a result, the error that a job raised, because one does not stop the
        others.
    """
    results: dict[int, _Result | CollisionBoundsError] = {}
    faces: dict[int, Ints | None] = dict.fromkeys(range(len(jobs)))
    while faces:
        requests: dict[tuple[float, int | None], dict[int, HullRequest]] = defaultdict(dict)
        for number, found in faces.items():
            try:
                request = jobs[number].send(found)
                requests[request.tolerance, request.max_vertices][number] = request
            except StopIteration as end:
                results[number] = end.value
            except CollisionBoundsError as error:
                results[number] = error
        faces = {}
        for (tolerance, max_vertices), group in requests.items():
            hulls = quickhulls([request.points for request in group.values()], tolerance, max_vertices)
            faces |= dict(zip(group, hulls, strict=True))
    return [results[number] for number in range(len(jobs))]
