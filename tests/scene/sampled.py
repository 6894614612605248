"""Scenes as Blender evaluates them between frames, and when their bounds touch, by code of the tests.

Nothing here is shared with what is tested but the scan itself, which `scanned` starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import bpy
import numpy as np

from addon.scene.jobs.contacts import find_contacts
from addon.scene.jobs.result import Result
from addon.scene.settings import ContactSettings
from tests.finished import finished

Array = np.ndarray


# --- the scan --------------------------------------------------------------------------------------------


def scanned(**settings: object) -> Result:
    """Run a scan of the active scene to its end; adaptive by default."""
    return finished(find_contacts(bpy.context.scene, ContactSettings(**{"motion": "adaptive", **settings})))


def contacts_by_names(result: Result) -> dict[frozenset[str], object]:
    """Contacts by the names of both subjects."""
    names = [subject.name for subject in result.subjects]
    return {frozenset((names[contact.a], names[contact.b])): contact for contact in result.report.contacts}


# --- Blender, at any time --------------------------------------------------------------------------------


def go_to(time: float) -> None:
    """Evaluate the active scene at a fractional frame."""
    whole = int(np.floor(time))
    bpy.context.scene.frame_set(whole, subframe=time - whole)


def world_points(name: str) -> Array:
    """Evaluated vertices (n, 3) in world space at the current frame."""
    item = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = item.to_mesh()
    flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", flat)
    item.to_mesh_clear()
    matrix = np.array(item.matrix_world, dtype=np.float64)
    return flat.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def matrices_at(times: Array) -> dict[str, Array]:
    """World matrices (t, 4, 4) of all objects of the file, by name."""
    names = [item.name for item in bpy.data.objects]
    flat = np.empty(16 * len(names), dtype=np.float32)
    samples = []
    for time in times:
        go_to(time)
        bpy.data.objects.foreach_get("matrix_world", flat)
        samples.append(flat.reshape(-1, 4, 4).transpose(0, 2, 1).astype(np.float64))
    return dict(zip(names, np.stack(samples, axis=1), strict=True))


def matrices_of(names: Iterable[str], times: Array) -> dict[str, Array]:
    """World matrices (t, 4, 4) of a few objects, from a scene without the others: a hundred times as fast."""
    scene = bpy.data.scenes.new("apart")
    items = [bpy.data.objects[name] for name in names]
    for item in items:
        scene.collection.objects.link(item)
    matrices = np.empty((len(items), len(times), 4, 4))
    for row, time in enumerate(times):
        whole = int(np.floor(time))
        scene.frame_set(whole, subframe=time - whole)
        depsgraph = scene.view_layers[0].depsgraph
        for index, item in enumerate(items):
            matrices[index, row] = item.evaluated_get(depsgraph).matrix_world
    bpy.data.scenes.remove(scene)
    return dict(zip(names, matrices, strict=True))


# --- bounds and gaps -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Path:
    """Objects of n points that are symmetric in the origin: matrices (t, 4, 4), points (n, 3).

    Their smallest sphere has its middle where the origin goes, whatever the matrix does to them.
    """

    matrices: Array
    points: Array

    @property
    def center(self) -> Array:
        return self.matrices[:, :3, 3]

    def offsets(self) -> Array:
        """Points (t, n, 3) from the center."""
        return np.einsum("nj,tij->tni", self.points, self.matrices[:, :3, :3])

    def radius(self) -> Array:
        return np.sqrt((self.offsets() ** 2).sum(axis=2).max(axis=1))

    def reach(self) -> Array:
        """Half extents (t, 3) of the axis-aligned box."""
        return np.abs(self.offsets()).max(axis=1)

    def turned_box(self) -> tuple[Array, Array]:
        """Axes (t, 3, 3), a row each, and half extents (t, 3) of a cuboid that is not sheared."""
        columns = self.matrices[:, :3, :3].transpose(0, 2, 1)
        lengths = np.sqrt((columns**2).sum(axis=2))
        return columns / lengths[:, :, None], lengths * np.abs(self.points).max(axis=0)


@dataclass(frozen=True)
class Gaps:
    """Distances, and sizes to subtract from them, (t, k) each: along axes, of spheres between centers."""

    distance: Array
    reach: Array

    def joined(self, other: Gaps) -> Gaps:
        """Concatenate two."""
        both = ((self.distance, other.distance), (self.reach, other.reach))
        return Gaps(*(np.concatenate(columns) for columns in both))

    def __getitem__(self, rows: Array) -> Gaps:
        """Rows of some times."""
        return Gaps(self.distance[rows], self.reach[rows])

    def of(self, factor: float = 1.0) -> Array:
        """Largest gaps (t,) over all axes, for bodies `factor` times as large; overlap is 0 or less."""
        return (self.distance - factor * self.reach).max(axis=1)


def gaps(shape: str, a: Path, b: Path) -> Gaps:
    """Gaps between the bounds of two objects."""
    offset = b.center - a.center
    if shape == "sphere":
        return Gaps(np.sqrt((offset**2).sum(axis=1))[:, None], (a.radius() + b.radius())[:, None])
    if shape == "aabb":
        return Gaps(np.abs(offset), a.reach() + b.reach())
    (axes_a, half_a), (axes_b, half_b) = a.turned_box(), b.turned_box()
    edges = np.cross(axes_a[:, :, None], axes_b[:, None]).reshape(-1, 9, 3)
    length = np.sqrt((edges**2).sum(axis=2, keepdims=True))
    # Nearly parallel edges have no usable axis; a face normal separates as well.
    edges = np.where(length > 1e-4, edges / np.maximum(length, 1e-4), axes_a[:, :1])
    axes = np.concatenate([axes_a, axes_b, edges], axis=1)
    reach = sum(
        (np.abs(np.einsum("tki,tji->tkj", axes, own)) * half[:, None]).sum(axis=2)
        for own, half in ((axes_a, half_a), (axes_b, half_b))
    )
    return Gaps(np.abs(np.einsum("tki,ti->tk", axes, offset)), reach)


# --- times -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Touch:
    """Result of sampling a gap: its minimum, and when it first is 0 or less, None for never.

    slope : how fast it closes just before, lengths a frame
    """

    least: float
    first: float | None
    slope: float


def touch(times: Array, gaps: Array) -> Touch:
    """Evaluate samples, interpolated linearly."""
    least = float(gaps.min())
    inside = np.flatnonzero(gaps <= 0)
    if not len(inside):
        return Touch(least, None, 0.0)
    index = int(inside[0])
    if index == 0:
        return Touch(least, float(times[0]), 0.0)
    before, after = gaps[index - 1 : index + 1]
    step = times[index] - times[index - 1]
    first = times[index - 1] + step * before / (before - after)
    # Slope over a thousandth of a frame, because neighboring times may differ by less than the rounding.
    earlier = max(int(np.searchsorted(times, first - 1e-3)) - 1, 0)
    return Touch(least, float(first), float(gaps[earlier] / (first - times[earlier])))


def refined_times(times: Array, gaps: Array, parts: int = 16) -> Array:
    """Further times: around minima that may reach zero, and where the gap first closes."""
    steps = np.abs(np.diff(gaps))
    beside = np.maximum(np.r_[0, steps], np.r_[steps, 0])
    low = np.r_[False, (gaps[1:-1] <= gaps[:-2]) & (gaps[1:-1] <= gaps[2:]), False]
    rows = np.flatnonzero(low & (np.abs(gaps) <= 2 * beside))
    rows = np.union1d(rows[np.argsort(np.abs(gaps[rows]))[:6]], np.flatnonzero(gaps <= 0)[:1])
    starts = np.union1d(np.maximum(rows - 1, 0), np.minimum(rows, len(times) - 2))
    inside = np.arange(1, parts) / parts
    return (times[starts, None] + (times[starts + 1] - times[starts])[:, None] * inside).ravel()


def root_between(low: float, high: float, f: Callable[[float], float], tolerance: float) -> float | None:
    """Root of a decreasing f within a tolerance; None if there is none between `low` and `high`."""
    at_low, at_high = f(low), f(high)
    if at_low < 0 or at_high > 0:
        return None
    for _ in range(60):
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        at_middle = f(middle)
        if abs(at_middle) < tolerance:
            return middle
        if at_middle > 0:
            low, at_low, at_high = middle, at_middle, at_high / 2
        else:
            high, at_high, at_low = middle, at_middle, at_low / 2
    return None


# --- things ----------------------------------------------------------------------------------------------


def curves_of(animated: bpy.types.ID) -> list[bpy.types.FCurve]:
    """All curves of its action; they are in layers since Blender 4.4, and only there since 5.0."""
    action = animated.animation_data.action
    if hasattr(action, "fcurves"):
        return list(action.fcurves)
    return [
        curve
        for layer in action.layers
        for strip in layer.strips
        for bag in strip.channelbags
        for curve in bag.fcurves
    ]


def key(
    animated: bpy.types.bpy_struct,
    path: str,
    keys: Iterable[tuple[float, object]],
    interpolation: str = "LINEAR",
) -> None:
    """Key a property; all its curves get one interpolation, other curves of the owner keep theirs."""
    owner = animated.id_data
    old = {(c.data_path, c.array_index) for c in curves_of(owner)} if _has_action(owner) else set()
    for frame, value in keys:
        setattr(animated, path, value)
        animated.keyframe_insert(path, frame=frame)
    for curve in curves_of(owner):
        if (curve.data_path, curve.array_index) not in old:
            for point in curve.keyframe_points:
                point.interpolation = interpolation
            curve.update()


def _has_action(owner: bpy.types.ID) -> bool:
    return owner.animation_data is not None and owner.animation_data.action is not None


def add_object(name: str, data: bpy.types.ID | None = None) -> bpy.types.Object:
    """Add an object to the scene's own collection."""
    made = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(made)
    return made


def add_points(name: str, points: Array) -> bpy.types.Object:
    """Add a mesh of loose vertices."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.asarray(points, dtype=float).tolist(), [], [])
    return add_object(name, mesh)


def add_faces(name: str, points: Iterable[Iterable[float]], faces: list[tuple[int, ...]]) -> bpy.types.Object:
    """Add a mesh of faces."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(list(points), [], faces)
    return add_object(name, mesh)


def add_box(name: str, half: tuple[float, float, float]) -> bpy.types.Object:
    """Add a cuboid of six quads that face outward."""
    x, y, z = half
    points = [(i, j, k) for i in (-x, x) for j in (-y, y) for k in (-z, z)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return add_faces(name, points, faces)


def ball_points(radius: float) -> Array:
    """Twelve vertices of an icosahedron and the centers of its faces, on a sphere: 32 points."""
    golden = (1 + 5**0.5) / 2
    corners = [
        np.roll((0, one, two * golden), shift) for shift in range(3) for one in (-1, 1) for two in (-1, 1)
    ]
    faces = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    faces += [
        np.roll((0, one / golden, two * golden), shift)
        for shift in range(3)
        for one in (-1, 1)
        for two in (-1, 1)
    ]
    points = np.array([*corners, *faces], dtype=float)
    return radius * points / np.linalg.norm(points, axis=1)[:, None]


def box_points(half: Iterable[float]) -> Array:
    """Eight corners of a cuboid."""
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    return corners * np.asarray(list(half), dtype=float)
