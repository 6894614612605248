"""Scenes of closed meshes that move rigidly: balls, two gears, and machines in a large hall."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from addon.core.numeric.arrays import Floats, Ints

from .built_scene import built_scene

_KEYS, _KEYS_OF_CROWD = (1, 60, 125, 190, 250), (1, 30, 60, 90, 120)
_TEETH, _PER_TOOTH, _LAYERS = 20, 20, 124
"""Teeth of a gear, corners of its outline for each, and layers: 100,000 triangles."""
_INNER, _OUTER, _BACKLASH = 0.85, 1.15, 0.02
"""Radii of the feet and of the tips of teeth, and the play between two gears, as an angle."""
_HALL, _CELLS, _COLUMNS = 100.0, 950, 40
"""Length of a side of the hall, cells of its floor along it, and columns: 2 million triangles."""


@dataclass(frozen=True)
class Balls:
    """Balls of 320 triangles, keyed four times after the first frame, which rotate.

    shape : that meshes are compared with
    spacing : spacing of the grid that they move around on; 0 for random locations, with many contacts
    """

    count: int
    shape: str
    spacing: float = 0.0

    @property
    def keys(self) -> tuple[int, ...]:
        """Frames of the keys."""
        return _KEYS if self.spacing else _KEYS_OF_CROWD

    @property
    def frames(self) -> int:
        """Last frame."""
        return self.keys[-1]

    def scene(self) -> Any:
        """Return the active scene of Blender, built first if it is another one."""
        return _built(self, self._build)

    def _build(self, scene: Any) -> None:
        import bpy

        rng = np.random.default_rng(0)
        bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.5)
        context: Any = bpy.context
        mesh = context.object.data
        bpy.data.objects.remove(context.object)
        side = int(np.ceil(self.count ** (1 / 3)))
        for index in range(self.count):
            item = _linked(scene, f"Ball {index:04}", mesh)
            cell = np.array(np.unravel_index(index, (side, side, side)), dtype=float)
            home = cell * self.spacing if self.spacing else rng.uniform(0, 3.0 * side, 3)
            # On the grid, every hundredth ball visits an adjacent cell.
            visits = bool(self.spacing) and index % 100 == 1
            for frame in (*self.keys, 120, 130) if visits else self.keys:
                offset = rng.normal(size=3) * (0.3 if self.spacing else 2.0)
                away = np.array([0, 0, self.spacing if visits and frame == 125 else 0.0])
                _key(item, frame, home + offset - away, rng.uniform(-2, 2, 3))


@dataclass(frozen=True)
class Gears:
    """Two gears of 100,000 triangles, which turn twice: the second one has play, and swings within it."""

    shape: str = "aabb"
    frames: int = 250

    def scene(self) -> Any:
        """Return the active scene of Blender, built first if it is another one."""
        return _built(self, self._build)

    def _build(self, scene: Any) -> None:
        mesh = _mesh("Gear", *_gear())
        rng = np.random.default_rng(0)
        first, second = (_linked(scene, name, mesh) for name in ("Driver", "Driven"))
        for frame in np.linspace(1, self.frames, 26).round().astype(int).tolist():
            turn = 4 * np.pi * (frame - 1) / (self.frames - 1)
            _key(first, frame, np.zeros(3), np.array([0, 0, turn]))
            swing = rng.uniform(-1, 1) * _BACKLASH
            # A tooth of the first gear is between two teeth of the second one.
            _key(second, frame, np.array([2.01, 0, 0]), np.array([0, 0, np.pi / _TEETH - turn + swing]))


@dataclass(frozen=True)
class Hall:
    """Machines of 5,000 triangles, which move between the columns of a hall of 2 million triangles."""

    count: int = 20
    shape: str = "aabb"
    frames: int = 250

    def scene(self) -> Any:
        """Return the active scene of Blender, built first if it is another one."""
        return _built(self, self._build)

    def _build(self, scene: Any) -> None:
        rng = np.random.default_rng(0)
        _linked(scene, "Hall", _mesh("Hall", *_hall(rng)))
        mesh = _mesh("Machine", *_cylinder(50, 49, 0.6, 1.0))
        for index in range(self.count):
            item = _linked(scene, f"Machine {index:02}", mesh)
            for frame in _KEYS:
                place = np.append(rng.uniform(5, _HALL - 5, 2), 0.35)
                _key(item, frame, place, np.array([0, 0, rng.uniform(-6, 6)]))


Case = Balls | Gears | Hall


def _built(case: Case, build: Callable[[Any], None]) -> Any:
    def build_scene(scene: Any) -> None:
        scene.frame_start, scene.frame_end = 1, case.frames
        build(scene)

    return built_scene(repr(case), build_scene)


def _linked(scene: Any, name: str, mesh: Any) -> Any:
    import bpy

    item: Any = bpy.data.objects.new(name, mesh)
    scene.collection.objects.link(item)
    return item


def _mesh(name: str, points: Floats, triangles: Ints) -> Any:
    """Return a mesh of Blender; from arrays, because lists of millions of triangles take minutes."""
    import bpy

    mesh: Any = bpy.data.meshes.new(name)
    mesh.vertices.add(len(points))
    mesh.vertices.foreach_set("co", points.astype(np.float32).ravel())
    mesh.loops.add(triangles.size)
    mesh.loops.foreach_set("vertex_index", triangles.astype(np.int32).ravel())
    mesh.polygons.add(len(triangles))
    mesh.polygons.foreach_set("loop_start", np.arange(0, triangles.size, 3, dtype=np.int32))
    mesh.update(calc_edges=True)
    return mesh


def _key(item: Any, frame: int, location: Floats, turn: Floats) -> None:
    item.location, item.rotation_euler = location, turn
    item.keyframe_insert("location", frame=frame)
    item.keyframe_insert("rotation_euler", frame=frame)


def _extruded(outline: Floats, heights: Floats) -> tuple[Floats, Ints]:
    """Return the vertices and triangles of a closed surface: an outline (n, 2) around 0, at heights (k,)."""
    around, layers = len(outline), len(heights)
    sides = np.concatenate([np.tile(outline, (layers, 1)), np.repeat(heights, around)[:, None]], axis=1)
    points = np.concatenate([sides, [[0, 0, heights[0]], [0, 0, heights[-1]]]])
    here, after = np.arange(around), (np.arange(around) + 1) % around
    row = np.arange(layers - 1)[:, None] * around
    low, next_low, high, next_high = (row + here, row + after, row + around + here, row + around + after)
    walls = [
        np.stack(corners, axis=-1).reshape(-1, 3)
        for corners in ((low, next_low, next_high), (low, next_high, high))
    ]
    top = (layers - 1) * around
    floor = np.stack([after, here, np.full(around, len(points) - 2)], axis=1)
    lid = np.stack([top + here, top + after, np.full(around, len(points) - 1)], axis=1)
    return points, np.concatenate([*walls, floor, lid])


def _gear() -> tuple[Floats, Ints]:
    """Return a gear whose teeth are as wide as the gaps between them, but for the play."""
    angle = 2 * np.pi * np.arange(_TEETH * _PER_TOOTH) / (_TEETH * _PER_TOOTH)
    wave = np.cos(_TEETH * angle)
    radius = 1 + (_OUTER - _INNER) / 2 * np.clip(1.6 * wave, -1, 1)
    outline = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return _extruded(outline, np.linspace(-0.2, 0.2, _LAYERS + 1))


def _cylinder(around: int, layers: int, radius: float, height: float) -> tuple[Floats, Ints]:
    angle = 2 * np.pi * np.arange(around) / around
    outline = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return _extruded(outline, np.linspace(0, height, layers + 1))


def _hall(rng: np.random.Generator) -> tuple[Floats, Ints]:
    """Return an uneven floor, and columns on it."""
    place = np.linspace(0, _HALL, _CELLS + 1)
    x, y = (each.ravel() for each in np.meshgrid(place, place, indexing="ij"))
    points = [np.stack([x, y, 0.1 * np.sin(3 * x) * np.sin(2 * y)], axis=1)]
    row, column = (each.ravel() for each in np.meshgrid(range(_CELLS), range(_CELLS), indexing="ij"))
    corner = row * (_CELLS + 1) + column
    triangles = [np.stack([corner, corner + _CELLS + 1, corner + _CELLS + 2], axis=1)]
    triangles.append(np.stack([corner, corner + _CELLS + 2, corner + 1], axis=1))
    count = len(points[0])
    for _ in range(_COLUMNS):
        vertices, faces = _cylinder(50, 48, 0.4, 6.0)
        points.append(vertices + np.append(rng.uniform(0, _HALL, 2), -0.2))
        triangles.append(faces + count)
        count += len(vertices)
    return np.concatenate(points), np.concatenate(triangles)
