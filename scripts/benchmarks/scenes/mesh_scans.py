"""Scans of meshes, compared with scans of bounds of the same scene, and with peers at samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from addon.core.numeric.arrays import Floats, Ints

from ..tables import Call, Competitor, Row, Table, Target
from ..truth import matrices_at, names_of
from .evaluated_meshes import wrong_meshes
from .evaluated_scans import Walk
from .mesh_scenes import Balls, Case, Gears, Hall
from .mesh_truth import LocalMeshes, wrong_rigid_meshes
from .scans import run_in_blender

_MEMORY = Path("/proc/self/clear_refs"), Path("/proc/self/status")
_peaks: dict[Any, float] = {}


def _scan(case: Any, shape: str) -> Call:
    scene = case.scene()
    from addon.scene.jobs.contacts import find_contacts
    from addon.scene.settings import ContactSettings

    options: dict[str, Any] = {"shape": shape}
    settings = ContactSettings(**options)

    def scanned() -> Any:
        before = _memory(is_new=True)
        result = run_in_blender(find_contacts(scene, settings))
        _peaks[case, shape] = max(_peaks.get((case, shape), 0.0), _memory(is_new=False) - before)
        return result

    return scanned


def _memory(is_new: bool) -> float:
    """Return the largest memory of the process in MB, or that of now and forget the largest one."""
    if not _MEMORY[0].exists():
        return 0.0
    if is_new:
        _MEMORY[0].write_text("5", encoding="ascii")
    lines = dict(line.split(":", 1) for line in _MEMORY[1].read_text(encoding="utf-8").splitlines())
    return int(lines["VmRSS" if is_new else "VmHWM"].split()[0]) / 1024


def _describe(case: Any, results: Mapping[str, Any]) -> str:
    if "meshes" not in results:
        return ""
    contacts = results["meshes"].report.contacts
    spans = sum(len(contact.intervals) for contact in contacts)
    memory = " and ".join(f"{_peaks[case, shape]:.0f}" for shape in ("mesh", case.shape))
    return f"{len(contacts)} pairs in contact, {spans} intervals, {memory} MB"


def _check(case: Any, results: Mapping[str, Any]) -> str:
    if "meshes" not in results:
        return ""
    wrong = wrong_meshes if isinstance(case, Walk) else wrong_rigid_meshes
    return wrong(case.scene(), results["meshes"], (1, case.frames))


def _row(label: str, target: Target, case: Case | Walk) -> Row:
    return Row(label, lambda: case, 1, 1, [target])


MESHES = Table(
    "meshes",
    "scene",
    (
        Competitor("meshes", lambda case: _scan(case, "mesh")),
        Competitor("bounds", lambda case: _scan(case, case.shape)),
    ),
    [
        _row("300 balls of 320 triangles, crowded", Target(6.0, "bounds"), Balls(300, "sphere")),
        _row("1000 balls of 320 triangles, few close pairs", Target(1.5, "bounds"), Balls(1000, "aabb", 6.0)),
        _row("six characters of 20,000 vertices, 50 props", Target(3.0, "bounds"), Walk(6, 20_000, 120)),
        _row("two gears of 100,000 triangles", Target(10.0), Gears()),
        _row("20 machines of 5,000 triangles in a hall of 2 million", Target(3.0), Hall()),
    ],
    _describe,
    _check,
    seconds_each=10.0,
    longest=600.0,
)


_CROWD = Balls(300, "sphere")


@dataclass(frozen=True)
class Sampled:
    """The scene with many contacts, at even times: in each frame as many."""

    per_frame: int
    balls: Balls = _CROWD


class Poses:
    """Meshes and matrices (k, n, 4, 4) of all times (k,) of a scene, for peers."""

    def __init__(self, case: Sampled) -> None:
        scene = case.balls.scene()
        self.names = sorted(item.name for item in scene.objects)
        self.local = LocalMeshes(scene, self.names)
        self.times = np.linspace(1, case.balls.frames, (case.balls.frames - 1) * case.per_frame + 1)
        matrices = matrices_at(scene, self.names)
        self.matrices = np.array([matrices(time) for time in self.times.tolist()])

    def near(self, matrices: Floats) -> Ints:
        """Return the pairs (m, 2) whose spheres overlap, because no broad phase of the peers is faster."""
        center, radius = self.local.centers(matrices), self.local.radius
        squared = (center**2).sum(axis=1)
        apart = squared[:, None] + squared - 2 * center @ center.T
        return np.argwhere(np.triu(apart <= (radius[:, None] + radius) ** 2, 1))


_poses = lru_cache(maxsize=1)(Poses)


def _fcl(case: Sampled) -> Call:
    import fcl

    poses = _poses(case)
    points, triangles = poses.local.meshes[0]
    model = fcl.BVHModel()
    model.beginModel(len(triangles), len(points))
    model.addSubModel(points, triangles)
    model.endModel()
    objects = [fcl.CollisionObject(model) for _ in poses.names]
    request, collide, transform = fcl.CollisionRequest(), fcl.collide, fcl.Transform

    def collided() -> list[tuple[float, int, int]]:
        found = []
        for time, matrices in zip(poses.times.tolist(), poses.matrices, strict=True):
            pairs = poses.near(matrices)
            for row in np.unique(pairs).tolist():
                objects[row].setTransform(transform(matrices[row, :3, :3], matrices[row, :3, 3]))
            found += [
                (time, i, j)
                for i, j in pairs.tolist()
                if collide(objects[i], objects[j], request, fcl.CollisionResult())
            ]
        return found

    return collided


def _coal(case: Sampled) -> Call:
    import coal

    poses = _poses(case)
    points, triangles = poses.local.meshes[0]
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(triangles), len(points))
    model.addVertices(points)
    model.addTriangles(triangles)
    model.endModel()
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    collide = coal.collide

    def collided() -> list[tuple[float, int, int]]:
        found = []
        for time, matrices in zip(poses.times.tolist(), poses.matrices, strict=True):
            pairs = poses.near(matrices)
            placed = {
                row: coal.Transform3s(matrices[row, :3, :3], matrices[row, :3, 3])
                for row in np.unique(pairs).tolist()
            }
            for i, j in pairs.tolist():
                result.clear()
                if collide(model, placed[i], model, placed[j], request, result):
                    found.append((time, i, j))
        return found

    return collided


def _missed(case: Sampled, results: Mapping[str, Any]) -> str:
    """Describe what the peers miss of the contacts of the scan, which `MESHES` compares with the truth."""
    scanned = results["meshes"]
    names, known = names_of(scanned), {name: row for row, name in enumerate(sorted(names_of(scanned)))}
    spans = [
        (*sorted((known[names[contact.a]], known[names[contact.b]])), interval.start, interval.end)
        for contact in scanned.report.contacts
        for interval in contact.intervals
    ]
    notes = [f"{len(spans)} intervals of {len(scanned.report.contacts)} pairs"]
    for name in ("fcl", "coal"):
        hits: dict[tuple[int, int], list[float]] = {}
        for time, i, j in results.get(name, ()):
            hits.setdefault((i, j), []).append(time)
        missed = [
            (i, j) for i, j, start, end in spans if not any(start <= t <= end for t in hits.get((i, j), ()))
        ]
        pairs = {(i, j) for i, j, *_ in spans} - hits.keys()
        notes.append(f"{name} misses {len(missed)} intervals, {len(pairs)} pairs")
    return "; ".join(notes)


MESH_SAMPLES = Table(
    "mesh-samples",
    "300 balls of 320 triangles, crowded",
    (
        Competitor("meshes", lambda case: _scan(case.balls, "mesh")),
        Competitor("fcl", _fcl),
        Competitor("coal", _coal),
    ),
    [Row(f"compared with {count} samples a frame", partial(Sampled, count), 1) for count in (1, 16, 256)],
    _missed,
    lambda case, results: wrong_rigid_meshes(case.balls.scene(), results["meshes"], (1, case.balls.frames)),
    seconds_each=10.0,
    longest=600.0,
)
