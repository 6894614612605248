"""The first touch of two bodies in a Blender scene, from its own evaluated meshes at dense times.

A body is everything whose object, or the object that shows it, has a name that begins with its letter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import bpy
import numpy as np

from tests.scene.building import curves
from tests.scene.mesh_truth.triangles import gap, least_gap, order_of, winding_number

Array = np.ndarray

SHORTEST = 2.0**-15
"""Frames below which an interval is not divided."""
CURVED = 1.4
"""Factor by which a path can be longer than its chord, between samples that are dense enough."""
_JUMP = 0.02
"""Part of the size that moves within the shortest interval only where motion jumps."""
MOST_SAMPLES = 6000


class TooManySamplesError(Exception):
    """The bodies are so close for so long that the first touch is not found with the allowed samples."""


@dataclass(frozen=True)
class Truth:
    """When two bodies first touch.

    Attributes
    ----------
    first : (float, float) or None
        Frames between which the surfaces first touch, as far as single precision decides. None for never.
    grazes : list of (float, float)
        Intervals before it in which Blender's rounding decides whether they touch.
    gap : float
        Least distance that was sampled.
    samples : int
        Number of times at which the scene was evaluated.
    size : float
        Half the diagonal of the box of the smaller body.
    """

    first: tuple[float, float] | None
    grazes: list[tuple[float, float]] = field(default_factory=list)
    gap: float = 0.0
    samples: int = 0
    size: float = 0.0


@dataclass
class Sample:
    """Both bodies at a time: corners (n, 3, 3) of their triangles, and the vertices (n, 3) of these."""

    time: float
    corners: tuple[Array, Array]
    indices: tuple[Array, Array]
    _gap: float | None = None
    _least: float | None = None

    @property
    def least_gap(self) -> float:
        """Distance of boxes around parts of the surfaces: at most that of the surfaces, and found faster."""
        if self._least is None:
            self._least = least_gap(*self.corners)
        return self._least

    @property
    def gap(self) -> float:
        """Distance of the surfaces."""
        if self._gap is None:
            self._gap = gap(*self.corners)
        return self._gap

    def rounding(self) -> float:
        """Distance below which Blender's single precision decides whether the surfaces touch."""
        largest = max(float(np.abs(corners).max()) for corners in self.corners)
        return 8 * float(np.spacing(np.float32(max(largest, 0.1))))

    def size(self) -> float:
        """Size of the smaller body."""
        return min(float(np.linalg.norm(np.ptp(each.reshape(-1, 3), axis=0))) for each in self.corners)

    def has_one_inside(self) -> bool:
        """Return whether a component of one body is inside of the closed components of the other."""
        both = [
            (corners, indices, components(indices))
            for corners, indices in zip(self.corners, self.indices, strict=True)
        ]
        for (corners, _, parts), (around, indices, shells) in (both, both[::-1]):
            closed = np.concatenate([part for part in shells if is_closed(indices[part])] or [[]]).astype(int)
            for part in parts:
                if len(closed) and abs(winding_number(corners[part[0], 0], around[closed])) > 0.5:
                    return True
        return False


def components(indices: Array) -> list[Array]:
    """Rows of triangles that share vertices."""
    label = np.arange(indices.max() + 1)
    while True:
        least = label[indices].min(axis=1)
        after = label.copy()
        np.minimum.at(after, indices.ravel(), np.repeat(least, 3))
        after = after[after]
        if (after == label).all():
            break
        label = after
    owner = label[indices[:, 0]]
    return [np.flatnonzero(owner == each) for each in np.unique(owner)]


def is_closed(indices: Array) -> bool:
    """Return whether each edge belongs to an even number of triangles (n, 3)."""
    edges = np.sort(np.concatenate([indices[:, [0, 1]], indices[:, [1, 2]], indices[:, [2, 0]]]), axis=1)
    _, counts = np.unique(edges, axis=0, return_counts=True)
    return bool((counts % 2 == 0).all())


class Sampler:
    """Evaluates the active scene at any time, and keeps what was evaluated.

    names : what the names of the objects of both bodies begin with
    """

    def __init__(self, names: tuple[str, str]) -> None:
        self._names = names
        self._samples: dict[float, Sample] = {}
        self._orders: dict[tuple[int, int], Array] = {}

    def __len__(self) -> int:
        return len(self._samples)

    def at(self, time: float) -> Sample:
        """Return both bodies at a time."""
        if time not in self._samples:
            if len(self._samples) >= MOST_SAMPLES:
                raise TooManySamplesError
            self._samples[time] = self._read(time)
        return self._samples[time]

    def _read(self, time: float) -> Sample:
        whole = int(np.floor(time))
        bpy.context.scene.frame_set(whole, subframe=time - whole)
        parts: tuple[list[tuple[Array, Array]], ...] = ([], [])
        for owner, points, triangles in evaluated_meshes():
            for body, name in enumerate(self._names):
                if owner.startswith(name):
                    offset = sum(len(each[0]) for each in parts[body])
                    parts[body].append((points, triangles + offset))
        corners, indices = [], []
        for body, listed in enumerate(parts):
            points = np.concatenate([each for each, _ in listed])
            rows = np.concatenate([each for _, each in listed])
            order = self._orders.setdefault((body, len(rows)), order_of(points[rows]))
            indices.append(rows[order])
            corners.append(points[rows[order]])
        return Sample(time, (corners[0], corners[1]), (indices[0], indices[1]))


def evaluated_meshes() -> Iterator[tuple[str, Array, Array]]:
    """Iterate over names, world vertices (n, 3) and triangles (t, 3) of all meshes that are shown."""
    for instance in bpy.context.evaluated_depsgraph_get().object_instances:
        item = instance.object
        if item.type != "MESH" or not instance.show_self:
            continue
        mesh = item.data
        flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        mesh.vertices.foreach_get("co", flat)
        mesh.calc_loop_triangles()
        rows = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
        mesh.loop_triangles.foreach_get("vertices", rows)
        matrix = np.array(instance.matrix_world, dtype=np.float64)
        owner = instance.parent.name if instance.is_instance else item.name
        if len(rows):
            yield owner, flat.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3], rows.reshape(-1, 3)


def first_touch(sampler: Sampler, frames: tuple[float, float], per_frame: int) -> Truth:
    """Find the first touch of two bodies.

    An interval between two samples is skipped if no body can close the gap in it: if the gaps at both ends
    are together longer than the paths of the vertices. Others are halved.

    Parameters
    ----------
    sampler : Sampler
        Evaluates the scene.
    frames : (float, float)
        First and last time.
    per_frame : int
        Samples of a frame to begin with: so many that no vertex goes out and back between two, and that its
        path is at most 1.4 times as long as the chord. Keys have samples, too, because motion turns there.
    """
    start, end = frames
    first = sampler.at(start)
    if first.gap == 0 or first.has_one_inside():
        return Truth((start, start), samples=1)
    grazes: list[tuple[float, float]] = []
    times = sample_times(start, end, per_frame)
    intervals = list(pairwise(times))[::-1]
    least = first.gap
    while intervals:
        before, after = (sampler.at(time) for time in intervals.pop())
        travel = travel_between(before, after)
        if before.least_gap + after.least_gap > CURVED * travel:
            continue
        least = min(least, after.gap)
        if before.gap > 0 and after.gap > 0 and before.gap + after.gap > CURVED * travel:
            continue
        if after.time - before.time > SHORTEST:
            middle = 0.5 * (before.time + after.time)
            intervals += [(middle, after.time), (before.time, middle)]
            continue
        jumps = travel > _JUMP * after.size()
        if after.gap == 0 or (jumps and after.has_one_inside()):
            return Truth(_window(sampler, before.time, after.time, jumps), grazes, least, len(sampler))
        if not jumps:
            grazes.append((before.time, after.time))
    return Truth(None, grazes, least, len(sampler))


def sample_times(start: float, end: float, per_frame: int) -> list[float]:
    """Even times, and those of all keys, as single precision has them."""
    keys = [
        float(point.co[0])
        for action in bpy.data.actions
        for curve in curves(action)
        for point in curve.keyframe_points
        if start < point.co[0] < end
    ]
    even = np.linspace(start, end, round((end - start) * per_frame) + 1)
    return np.union1d(even, keys).tolist()


def travel_between(before: Sample, after: Sample) -> float:
    """Sum of the longest ways of corners of both bodies; infinite if triangles change."""
    total = 0.0
    for start, end, old, new in zip(
        before.corners, after.corners, before.indices, after.indices, strict=True
    ):
        if old.shape != new.shape or (old != new).any():
            return np.inf
        total += float(np.sqrt(((end - start) ** 2).sum(axis=-1).max()))
    return total


def _window(sampler: Sampler, before: float, after: float, jumps: bool) -> tuple[float, float]:
    """Frames between which two bodies first touch: begins where their distance is that of rounding."""
    if jumps:
        return before, after
    limit, step = sampler.at(after).rounding(), SHORTEST
    while sampler.at(max(before - step, 1.0)).gap <= limit and step < 0.25:
        step *= 2
    return (before if sampler.at(before).gap > limit else before - step), after + step
