"""Contacts of evaluated meshes, compared with Blender's own vertices and triangles at many times.

Boxes are those of the vertices, and `BVHTree` of Blender decides whether meshes touch. Nothing of the
scan is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..truth import SLACK, Floats, Ints, box_distance, names_of, sampled_frames, wrong_contacts

_BETWEEN = 40
_OVERLAPS = 12
"""Whole frames at which all pairs of meshes are tested."""
_AFTER = 2e-3
"""Frames before and after the first contact of two meshes at which they are tested."""


class Evaluated:
    """Vertices and triangles of objects, as Blender evaluates them at the time of the last call."""

    def __init__(self, scene: Any, names: list[str]) -> None:
        self._scene, self._items = scene, [scene.objects[name] for name in names]
        self._time: float | None = None
        self._known: dict[int, tuple[Floats, NDArray[np.int32]]] = {}

    def mesh(self, time: float, row: int) -> tuple[Floats, NDArray[np.int32]]:
        """World positions (n, 3) of the vertices of an object, and its triangles (t, 3)."""
        import bpy

        if time != self._time:
            whole = int(np.floor(time))
            self._scene.frame_set(whole, subframe=time - whole)
            self._time, self._known = time, {}
        if row not in self._known:
            item = self._items[row].evaluated_get(bpy.context.evaluated_depsgraph_get())
            mesh = item.to_mesh()
            mesh.calc_loop_triangles()
            points = np.empty((len(mesh.vertices), 3), dtype=np.float32)
            triangles = np.empty((len(mesh.loop_triangles), 3), dtype=np.int32)
            mesh.vertices.foreach_get("co", points.reshape(-1))
            mesh.loop_triangles.foreach_get("vertices", triangles.reshape(-1))
            item.to_mesh_clear()
            matrix = np.array(item.matrix_world, dtype=np.float64)
            self._known[row] = points @ matrix[:3, :3].T + matrix[:3, 3], triangles
        return self._known[row]

    def boxes(self, time: float) -> Floats:
        """Minima and maxima (2, n, 3) of all objects."""
        found = [self.mesh(time, row)[0] for row in range(len(self._items))]
        return np.array([[points.min(axis=0) for points in found], [points.max(axis=0) for points in found]])

    def overlap(self, time: float, a: int, b: int) -> bool:
        """Return whether triangles of two objects overlap, among those near both boxes."""
        from mathutils.bvhtree import BVHTree

        meshes = self.mesh(time, a), self.mesh(time, b)
        low = np.max([points.min(axis=0) for points, _ in meshes], axis=0)
        high = np.min([points.max(axis=0) for points, _ in meshes], axis=0)
        trees: list[Any] = []
        for points, triangles in meshes:
            corners = points[triangles]
            near = ((corners.max(axis=1) >= low) & (corners.min(axis=1) <= high)).all(axis=1)
            rows = np.arange(3 * int(near.sum())).reshape(-1, 3).tolist()
            if not rows:
                return False
            corner_list = corners[near].reshape(-1, 3).tolist()
            trees.append(BVHTree.FromPolygons(corner_list, rows, all_triangles=True))
        return bool(trees[0].overlap(trees[1]))


def wrong_meshes(scene: Any, result: Any, frames: tuple[int, int]) -> str:
    """Describe the first wrong contact of a result, of bounds or of meshes; an empty text if there is none.

    Boxes along the axes are compared with those of the vertices. Of other shapes it is tested that they touch
    where the meshes do.
    """
    names = names_of(result)
    shown = Evaluated(scene, names)
    first, last = (shown.boxes(float(frame)) for frame in frames)
    moves = (first != last).any(axis=(0, 2))
    if result.scanned.shape == "aabb":

        def gaps(time: float, a: Ints, b: Ints) -> Floats:
            # Pairs that never move are not in the report.
            return np.where(moves[a] | moves[b], box_distance(shown.boxes(time), a, b), np.inf)

        if error := wrong_contacts(result.report, len(names), gaps, sampled_frames(*frames, _BETWEEN)):
            return error
    return _missed_meshes(shown, result, frames, moves) or _wrong_times(shown, result, names)


def _missed_meshes(shown: Evaluated, result: Any, frames: tuple[int, int], moves: NDArray[np.bool_]) -> str:
    """Describe a pair whose triangles overlap at a time at which it is not in contact."""
    spans: dict[frozenset[int], Any] = {frozenset((c.a, c.b)): c.intervals for c in result.report.contacts}
    for time in np.linspace(*frames, _OVERLAPS).round().tolist():
        low, high = shown.boxes(time)
        a, b = np.nonzero(
            np.triu(((low[:, None] <= high[None]) & (low[None] <= high[:, None])).all(axis=2), 1)
        )
        for pair in zip(a.tolist(), b.tolist(), strict=True):
            inside = (s.start - SLACK <= time <= s.end + SLACK for s in spans.get(frozenset(pair), ()))
            if moves[list(pair)].any() and not any(inside) and shown.overlap(time, *pair):
                return f"missed contact of {pair} at frame {time:g}, where their meshes overlap"
    return ""


def _wrong_times(shown: Evaluated, result: Any, names: list[str]) -> str:
    """Describe the first contact of meshes that overlap before it, or that do not overlap after it begins."""
    for contact in result.report.contacts if result.scanned.shape == "mesh" else ():
        pair, first = (contact.a, contact.b), contact.first
        label = f"{names[pair[0]]} and {names[pair[1]]}"
        if not first.at_start and shown.overlap(first.frame - _AFTER, *pair):
            return f"late contact of the meshes of {label}: they overlap before frame {first.frame:g}"
        if not shown.overlap(first.frame + first.uncertainty + _AFTER, *pair):
            return f"invented contact of the meshes of {label} at frame {first.frame:g}"
    return ""
