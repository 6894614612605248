"""Whole scans: an animation in Blender beside merely playing it, and a crowd without Blender."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from addon.core import Aabb, ScanSettings, Sphere, overlapping_pairs, scan_contacts
from addon.core.numeric.arrays import Floats

from .tables import Call, Competitor, Row, Table, Target

FRAMES = 250
KEYS = (1, 60, 125, 190, 250)


def finished(job: Generator[Any, None, Any]) -> Any:
    """What a generator returns."""
    while True:
        try:
            next(job)
        except StopIteration as stop:
            return stop.value


@dataclass(frozen=True)
class Keyed:
    """Objects with a small mesh each, keyed five times in 250 frames, turned too where boxes are wanted.

    spacing : of the grid that they stray about; 0 for places at random, with many contacts
    """

    count: int
    shape: str
    motion: str
    spacing: float = 0.0

    def scene(self) -> Any:
        """Made anew in Blender, unless it is on show already."""
        import bpy

        scene: Any = bpy.context.scene
        if scene.get("benchmark") == repr(self):
            return scene
        bpy.ops.wm.read_factory_settings(use_empty=True)
        scene = bpy.context.scene
        scene["benchmark"] = repr(self)
        scene.frame_start, scene.frame_end = 1, FRAMES
        rng = np.random.default_rng(0)
        mesh = bpy.data.meshes.new("Body")
        mesh.from_pydata(rng.uniform(-0.5, 0.5, (42, 3)).tolist(), [], [])
        side = int(np.ceil(self.count ** (1 / 3)))
        room = 6 * self.count ** (1 / 3)
        for index in range(self.count):
            item: Any = bpy.data.objects.new(f"Body {index:05}", mesh)
            scene.collection.objects.link(item)
            cell = np.array(np.unravel_index(index, (side, side, side)), dtype=float)
            home = cell * self.spacing if self.spacing else rng.uniform(0, room, 3)
            # On the grid, one in a hundred visits a neighbour for a moment.
            visits = bool(self.spacing) and index % 100 == 1
            for frame in (*KEYS, 120, 130) if visits else KEYS:
                stray = rng.normal(size=3) * (0.3 if self.spacing else 2.0)
                item.location = home + stray - ((0, 0, self.spacing) if visits and frame == 125 else 0)
                item.keyframe_insert("location", frame=frame)
                if self.shape == "obb":
                    item.rotation_euler = rng.uniform(-2, 2, 3)
                    item.keyframe_insert("rotation_euler", frame=frame)
        return scene


def played(case: Keyed) -> Call:
    """Blender's own work: every frame once."""
    scene = case.scene()

    def play() -> None:
        for frame in range(1, FRAMES + 1):
            scene.frame_set(frame)

    return play


def _scanned(case: Keyed) -> Call:
    scene = case.scene()
    from addon.scene.jobs.contacts import find_contacts
    from addon.scene.settings import ContactSettings

    settings = ContactSettings(shape=case.shape, motion=case.motion)  # type: ignore[arg-type]
    return lambda: finished(find_contacts(scene, settings)).report


def _told(case: Keyed, answers: Mapping[str, Any]) -> str:
    if "scan" not in answers:
        return ""
    return f"{len(answers['scan'].contacts)} contacts, {_near(case):.1f} % of the intervals hold candidates"


def _near(case: Keyed) -> float:
    """Intervals in percent in which boxes around the ways of two objects overlap."""
    scene = case.scene()
    flat = np.empty(16 * case.count, dtype=np.float32)
    radius = np.sqrt(3) / 2
    before, near = np.empty((0, 3)), 0
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
        scene.objects.foreach_get("matrix_world", flat)
        now = flat.reshape(-1, 16)[:, 12:15].astype(np.float64)
        if len(before):
            near += bool(len(overlapping_pairs(_around(before, now, radius))))
        before = now
    return 100 * near / (FRAMES - 1)


def _around(start: Floats, end: Floats, radius: Floats | float) -> Aabb:
    reach = np.reshape(radius, (-1, 1))
    return Aabb(np.minimum(start, end) - reach, np.maximum(start, end) + reach)


def _row(label: str, limit: float, case: Keyed) -> Row:
    return Row(label, lambda: case, case.count * FRAMES, 1, [Target(limit, "frame_set")])


SCANS = Table(
    "scans",
    f"scene, {FRAMES} frames",
    (Competitor("scan", _scanned), Competitor("frame_set", played)),
    [
        _row("100 spheres, linear", 2, Keyed(100, "sphere", "linear")),
        _row("1000 spheres, linear", 1.3, Keyed(1000, "sphere", "linear")),
        _row("3000 spheres, linear", 1.3, Keyed(3000, "sphere", "linear")),
        _row("1000 oriented boxes, linear", 1.6, Keyed(1000, "obb", "linear")),
        _row("1000 spheres, few near, adaptive", 1.5, Keyed(1000, "sphere", "adaptive", spacing=6.0)),
        Row("1000 spheres, adaptive", lambda: Keyed(1000, "sphere", "adaptive"), 1000 * FRAMES),
    ],
    _told,
    clock=perf_counter,
    seconds_each=30.0,
)


CROWD = 1500
CROWD_FRAMES = 60


@dataclass(frozen=True)
class Crowd:
    """Spheres (n,) that mill about, at every frame."""

    centers: list[Floats]
    radius: Floats

    def sample(self, time: float) -> Sphere:
        """Where they are at a frame."""
        return Sphere(self.centers[int(time)], self.radius)


def crowd(room: float) -> Crowd:
    """Spheres in a room of this size."""
    rng = np.random.default_rng(0)
    steps = rng.normal(size=(CROWD_FRAMES, CROWD, 3)) * 0.03
    steps[0] = rng.uniform(0, room, (CROWD, 3))
    return Crowd(list(np.cumsum(steps, axis=0)), rng.uniform(0.5, 1.0, CROWD))


def candidates(case: Crowd) -> int:
    """How many pairs of boxes around ways overlap, over all intervals."""
    ways = zip(case.centers, case.centers[1:], strict=False)
    return sum(len(overlapping_pairs(_around(*way, case.radius))) for way in ways)


def _crowd_scanned(case: Crowd) -> Call:
    frames = np.arange(CROWD_FRAMES, dtype=float)
    return lambda: finished(scan_contacts(case, frames, ScanSettings(motion="linear")))


def _crowd_told(case: Crowd, answers: Mapping[str, Any]) -> str:
    each = candidates(case) // (CROWD_FRAMES - 1)
    return f"{each} candidate pairs a frame, {len(answers['scan'].contacts)} contacts"


CROWDS = Table(
    "crowds",
    f"{CROWD} spheres, {CROWD_FRAMES} frames, for a candidate pair",
    (Competitor("scan", _crowd_scanned),),
    [
        Row(label, partial(crowd, room), CROWD, candidates, [Target(1e-6)])
        for label, room in (("loose", 20.0), ("dense", 6.0))
    ],
    _crowd_told,
)
