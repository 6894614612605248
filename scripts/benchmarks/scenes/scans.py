"""Complete scans: of an animation in Blender, compared with playback, and of a crowd without Blender."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from addon.core import Aabb, ScanSettings, Sphere, overlapping_pairs, scan_contacts
from addon.core.numeric.arrays import Floats
from addon.core.progress import run_to_end

from ..tables import Call, Competitor, Row, Table, Target
from ..truth import between_frames, sampled_frames, sphere_gaps, wrong_contacts
from .built_scene import built_scene
from .carried_shapes import wrong_scan

FRAMES = 250
KEYS = (1, 60, 125, 190, 250)
KEYS_OF_CROWD = (1, 30, 60, 90, 120)


def run_in_blender(job: Generator[Any, None, Any]) -> Any:
    """Run a job on a scene as the command line does."""
    from addon.scene.blender.private_scene import keeping_open

    with keeping_open():
        return run_to_end(job)


@dataclass(frozen=True)
class Keyed:
    """A scene of objects with a small mesh each, keyed five times.

    spacing : spacing of the grid that the objects move around on; 0 for random locations, with many contacts
    room : size of the room of random locations, for each object to the power of 1/3
    keys : frames of the keys, of which the last is the last frame of the scan
    is_ring : whether the mesh is a ring, which convex parts leave open, instead of a few vertices
    rotates : whether the objects rotate; those with oriented boxes, capsules and parts do in any case
    """

    count: int
    shape: str
    motion: str
    spacing: float = 0.0
    room: float = 6.0
    keys: tuple[int, ...] = KEYS
    is_ring: bool = False
    rotates: bool = False

    def settings(self) -> dict[str, Any]:
        """Return the settings of the scan."""
        return {"shape": self.shape, "motion": self.motion}

    def scene(self) -> Any:
        """Return the active scene of Blender, built first if it is another one."""
        return built_scene(repr(self), self._build)

    def _build(self, scene: Any) -> None:
        import bpy

        scene.frame_start, scene.frame_end = 1, self.keys[-1]
        rng = np.random.default_rng(0)
        mesh = bpy.data.meshes.new("Body")
        points, faces = _ring() if self.is_ring else (rng.uniform(-0.5, 0.5, (42, 3)), [])
        mesh.from_pydata(points.tolist(), [], faces)
        side = int(np.ceil(self.count ** (1 / 3)))
        room_size = self.room * self.count ** (1 / 3)
        for index in range(self.count):
            item: Any = bpy.data.objects.new(f"Body {index:05}", mesh)
            scene.collection.objects.link(item)
            cell = np.array(np.unravel_index(index, (side, side, side)), dtype=float)
            home = cell * self.spacing if self.spacing else rng.uniform(0, room_size, 3)
            # On the grid, every hundredth object visits an adjacent cell at frame 125.
            visits = bool(self.spacing) and index % 100 == 1
            for frame in (*self.keys, 120, 130) if visits else self.keys:
                offset = rng.normal(size=3) * (0.3 if self.spacing else 2.0)
                item.location = home + offset - ((0, 0, self.spacing) if visits and frame == 125 else 0)
                item.keyframe_insert("location", frame=frame)
                if self.rotates or self.shape in ("obb", "capsule", "compound"):
                    item.rotation_euler = rng.uniform(-2, 2, 3)
                    item.keyframe_insert("rotation_euler", frame=frame)


def _ring(around: int = 24, across: int = 8) -> tuple[Floats, list[list[int]]]:
    """Return the vertices (n, 3) and the quads of a ring that is as wide as the box of the other mesh."""
    turn = 2 * np.pi / around * np.arange(around)[:, None]
    tilt = 2 * np.pi / across * np.arange(across)[None]
    out = 0.4 + 0.1 * np.cos(tilt)
    points = np.stack([out * np.cos(turn), out * np.sin(turn), 0.1 * np.sin(tilt) + 0 * turn], axis=-1)
    row, column = (each.ravel() for each in np.meshgrid(range(around), range(across), indexing="ij"))
    after, above = (row + 1) % around, (column + 1) % across
    corners = (row * across + column, after * across + column, after * across + above, row * across + above)
    return points.reshape(-1, 3), np.stack(corners, axis=1).tolist()


def playback(case: Any, each: Call = lambda: None) -> Call:
    """Set every frame once, as in playback. This is the time that Blender needs."""
    scene = case.scene()

    def play() -> None:
        for frame in range(1, scene.frame_end + 1):
            scene.frame_set(frame)
            each()

    return play


def scan(case: Any) -> Call:
    """Scan the scene of a case with its settings."""
    scene = case.scene()
    from addon.scene.jobs.contacts import find_contacts
    from addon.scene.settings import ContactSettings

    settings = ContactSettings(**case.settings())
    return lambda: run_in_blender(find_contacts(scene, settings))


def _check(case: Keyed, results: Mapping[str, Any]) -> str:
    if "scan" not in results:
        return ""
    return wrong_scan(case.scene(), results["scan"], case.motion == "linear", (1, case.keys[-1]))


def _describe(case: Keyed, results: Mapping[str, Any]) -> str:
    if "scan" not in results:
        return ""
    percent = _candidate_percent(case)
    return f"{len(results['scan'].report.contacts)} contacts, candidates in {percent:.1f} % of the intervals"


def _candidate_percent(case: Keyed) -> float:
    """Return the percentage of intervals in which the swept boxes of any two objects overlap."""
    scene = case.scene()
    flat = np.empty(16 * case.count, dtype=np.float32)
    radius = np.sqrt(3) / 2
    before, with_candidates = np.empty((0, 3)), 0
    for frame in range(1, case.keys[-1] + 1):
        scene.frame_set(frame)
        scene.objects.foreach_get("matrix_world", flat)
        now = flat.reshape(-1, 16)[:, 12:15].astype(np.float64)
        if len(before):
            with_candidates += bool(len(overlapping_pairs(_swept_boxes(before, now, radius))))
        before = now
    return 100 * with_candidates / (case.keys[-1] - 1)


def _swept_boxes(start: Floats, end: Floats, radius: Floats | float) -> Aabb:
    margin = np.reshape(radius, (-1, 1))
    return Aabb(np.minimum(start, end) - margin, np.maximum(start, end) + margin)


def _row(label: str, limit: float | None, case: Keyed) -> Row:
    targets = [] if limit is None else [Target(limit, "frame_set")]
    return Row(label, lambda: case, case.count * case.keys[-1], 1, targets)


SCANS = Table(
    "scans",
    "scene",
    (Competitor("scan", scan), Competitor("frame_set", playback)),
    [
        _row("100 spheres, linear", 0.8, Keyed(100, "sphere", "linear")),
        _row("1000 spheres, linear", 0.5, Keyed(1000, "sphere", "linear")),
        _row("3000 spheres, linear", 0.5, Keyed(3000, "sphere", "linear")),
        _row("1000 boxes of rotating objects, linear", None, Keyed(1000, "aabb", "linear", rotates=True)),
        _row("1000 oriented boxes, linear", 0.7, Keyed(1000, "obb", "linear")),
        _row("1000 spheres, few close pairs, adaptive", 1.0, Keyed(1000, "sphere", "adaptive", spacing=6.0)),
        _row("1000 spheres, adaptive", 1.0, Keyed(1000, "sphere", "adaptive")),
        _row("1000 boxes of rotating objects, adaptive", None, Keyed(1000, "aabb", "adaptive", rotates=True)),
        _row("1000 oriented boxes, adaptive", 1.5, Keyed(1000, "obb", "adaptive")),
        _row("1000 capsules, linear", None, Keyed(1000, "capsule", "linear")),
        _row("1000 capsules, adaptive", None, Keyed(1000, "capsule", "adaptive")),
        _row("100 rings, an oriented box each, adaptive", None, Keyed(100, "obb", "adaptive", is_ring=True)),
        _row("100 rings, eight boxes each, adaptive", None, Keyed(100, "compound", "adaptive", is_ring=True)),
        _row(
            "300 spheres in 120 frames, crowded, adaptive",
            2.0,
            Keyed(300, "sphere", "adaptive", room=3.0, keys=KEYS_OF_CROWD),
        ),
    ],
    _describe,
    _check,
    clock=perf_counter,
    seconds_each=30.0,
)


CROWD = 1500
CROWD_FRAMES = 60


@dataclass(frozen=True)
class Crowd:
    """Moving spheres (n,), sampled at every frame."""

    centers: list[Floats]
    radius: Floats

    def sample(self, time: float) -> Sphere:
        """Return the spheres at a frame."""
        return Sphere(self.centers[int(time)], self.radius)


def crowd(room_size: float) -> Crowd:
    """Return spheres on random walks in a room."""
    rng = np.random.default_rng(0)
    steps = rng.normal(size=(CROWD_FRAMES, CROWD, 3)) * 0.03
    steps[0] = rng.uniform(0, room_size, (CROWD, 3))
    return Crowd(list(np.cumsum(steps, axis=0)), rng.uniform(0.5, 1.0, CROWD))


def count_candidates(case: Crowd) -> int:
    """Count the pairs of overlapping swept boxes, summed over all intervals."""
    return sum(
        len(overlapping_pairs(_swept_boxes(start, end, case.radius))) for start, end in pairwise(case.centers)
    )


def _scan_crowd(case: Crowd) -> Call:
    frames = np.arange(CROWD_FRAMES, dtype=float)
    return lambda: run_to_end(scan_contacts(case, frames, ScanSettings(motion="linear")))


def _describe_crowd(case: Crowd, results: Mapping[str, Any]) -> str:
    per_frame = count_candidates(case) // (CROWD_FRAMES - 1)
    return f"{per_frame} candidate pairs per frame, {len(results['scan'].contacts)} contacts"


def _check_crowd(case: Crowd, results: Mapping[str, Any]) -> str:
    centers = between_frames(lambda frame: case.centers[frame])
    times = sampled_frames(0, CROWD_FRAMES - 1, 4 * CROWD_FRAMES)
    return wrong_contacts(results["scan"], CROWD, sphere_gaps(centers, case.radius), times)


CROWDS = Table(
    "crowds",
    f"{CROWD} spheres, {CROWD_FRAMES} frames, per candidate pair",
    (Competitor("scan", _scan_crowd),),
    [
        Row(label, partial(crowd, room_size), CROWD, count_candidates, [Target(1e-6)])
        for label, room_size in (("sparse", 20.0), ("dense", 6.0))
    ],
    _describe_crowd,
    _check_crowd,
)
