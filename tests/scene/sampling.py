"""Scenes sampled by Blender at any frame, and contacts of their bounds computed by code of the tests.

The only code of the product is the scan that `scan_scene` starts.
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
from tests.scene.building import CUBE_FACES, Nodes, add_object, curves

Array = np.ndarray

NEAR_KEY = 1.1e-4
"""Frames within which Blender shows a key before its time: a jump is that much early."""


# ---- Scan


def scan_scene(**settings: object) -> Result:
    """Run a scan of the active scene to its end, of boxes unless settings say otherwise."""
    return finished(find_contacts(bpy.context.scene, ContactSettings(**{"shape": "aabb", **settings})))


def contacts_by_names(result: Result) -> dict[frozenset[str], object]:
    """Return contacts by the names of both subjects."""
    names = [subject.name for subject in result.subjects]
    return {frozenset((names[contact.a], names[contact.b])): contact for contact in result.report.contacts}


# ---- Evaluation at any frame


def go_to(time: float) -> None:
    """Evaluate the active scene at a fractional frame."""
    whole = int(np.floor(time))
    bpy.context.scene.frame_set(whole, subframe=time - whole)


def world_points(name: str) -> Array:
    """Return the evaluated vertices (n, 3) in world space at the current frame."""
    item = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = item.to_mesh()
    flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", flat)
    item.to_mesh_clear()
    matrix = np.array(item.matrix_world, dtype=np.float64)
    return flat.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def matrices_at(times: Array) -> dict[str, Array]:
    """Sample the world matrices (t, 4, 4) of all objects of the file, by name."""
    names = [item.name for item in bpy.data.objects]
    flat = np.empty(16 * len(names), dtype=np.float32)
    samples = []
    for time in times:
        go_to(time)
        bpy.data.objects.foreach_get("matrix_world", flat)
        samples.append(flat.reshape(-1, 4, 4).transpose(0, 2, 1).astype(np.float64))
    return dict(zip(names, np.stack(samples, axis=1), strict=True))


def is_near_key(begin: float, end: float) -> bool:
    """Return whether Blender shows a key, and not its curve, at any time from begin to end."""
    times = np.array(
        [
            key.co[0]
            for action in bpy.data.actions
            for curve in curves(action)
            for key in curve.keyframe_points
        ]
    )
    return bool(((times > begin - NEAR_KEY) & (times < end + NEAR_KEY)).any())


def matrices_of(names: Iterable[str], times: Array) -> dict[str, Array]:
    """Sample the world matrices (t, 4, 4) of a few objects, in a scene without the others.

    That is a hundred times faster than `matrices_at`.
    """
    scene = bpy.data.scenes.new("Sampled")
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


# ---- Bounds and gaps


@dataclass(frozen=True)
class Trajectory:
    """A moving object: world matrices (t, 4, 4), and points (n, 3) that are symmetric about the origin.

    The symmetry places the center of the minimal sphere at the origin of the object, for any matrix.
    """

    matrices: Array
    points: Array

    @property
    def center(self) -> Array:
        return self.matrices[:, :3, 3]

    def offsets(self) -> Array:
        """Points (t, n, 3) relative to the center."""
        return np.einsum("nj,tij->tni", self.points, self.matrices[:, :3, :3])

    def radius(self) -> Array:
        return np.sqrt((self.offsets() ** 2).sum(axis=2).max(axis=1))

    def aabb_half_extents(self) -> Array:
        """Half extents (t, 3) of the axis-aligned box."""
        return np.abs(self.offsets()).max(axis=1)

    def oriented_box(self) -> tuple[Array, Array]:
        """Axes (t, 3, 3), one per row, and half extents (t, 3) of a box whose matrix has no shear."""
        columns = self.matrices[:, :3, :3].transpose(0, 2, 1)
        lengths = np.sqrt((columns**2).sum(axis=2))
        return columns / lengths[:, :, None], lengths * np.abs(self.points).max(axis=0)


@dataclass(frozen=True)
class Gaps:
    """Distances of two objects along k axes, for spheres along the line of centers.

    Attributes
    ----------
    distance : (t, k) float64
        Distances of the centers.
    size : (t, k) float64
        Sums of both half sizes, to subtract from the distances.
    """

    distance: Array
    size: Array

    def concatenated(self, other: Gaps) -> Gaps:
        """Gaps at the times of both."""
        both = ((self.distance, other.distance), (self.size, other.size))
        return Gaps(*(np.concatenate(columns) for columns in both))

    def __getitem__(self, rows: Array) -> Gaps:
        """Gaps at a subset of the times."""
        return Gaps(self.distance[rows], self.size[rows])

    def largest(self, factor: float = 1.0) -> Array:
        """Largest gaps (t,) over all axes, 0 or less for overlap, of bodies scaled by `factor`."""
        return (self.distance - factor * self.size).max(axis=1)


def compute_gaps(shape: str, a: Trajectory, b: Trajectory) -> Gaps:
    """Gaps between the bounds of two objects."""
    offset = b.center - a.center
    if shape == "sphere":
        return Gaps(np.sqrt((offset**2).sum(axis=1))[:, None], (a.radius() + b.radius())[:, None])
    if shape == "aabb":
        return Gaps(np.abs(offset), a.aabb_half_extents() + b.aabb_half_extents())
    (axes_a, half_a), (axes_b, half_b) = a.oriented_box(), b.oriented_box()
    edges = np.cross(axes_a[:, :, None], axes_b[:, None]).reshape(-1, 9, 3)
    length = np.sqrt((edges**2).sum(axis=2, keepdims=True))
    # Nearly parallel edges give no usable axis, so it is replaced by a face normal.
    edges = np.where(length > 1e-4, edges / np.maximum(length, 1e-4), axes_a[:, :1])
    axes = np.concatenate([axes_a, axes_b, edges], axis=1)
    size = sum(
        (np.abs(np.einsum("tki,tji->tkj", axes, box_axes)) * half[:, None]).sum(axis=2)
        for box_axes, half in ((axes_a, half_a), (axes_b, half_b))
    )
    return Gaps(np.abs(np.einsum("tki,ti->tk", axes, offset)), size)


# ---- Times


@dataclass(frozen=True)
class Touch:
    """Result of sampling a gap.

    Attributes
    ----------
    least : float
        Minimum of the gap.
    first : float or None
        Frame at which it first is 0 or less; None if it never is.
    slope : float
        Closing speed just before, in lengths per frame.
    """

    least: float
    first: float | None
    slope: float


def find_touch(times: Array, gaps: Array) -> Touch:
    """Find the first touch in samples of a gap (t,), interpolated linearly."""
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
    """Additional times around minima that may reach zero, and around the first touch."""
    steps = np.abs(np.diff(gaps))
    largest_step = np.maximum(np.r_[0, steps], np.r_[steps, 0])
    is_minimum = np.r_[False, (gaps[1:-1] <= gaps[:-2]) & (gaps[1:-1] <= gaps[2:]), False]
    rows = np.flatnonzero(is_minimum & (np.abs(gaps) <= 2 * largest_step))
    rows = np.union1d(rows[np.argsort(np.abs(gaps[rows]))[:6]], np.flatnonzero(gaps <= 0)[:1])
    starts = np.union1d(np.maximum(rows - 1, 0), np.minimum(rows, len(times) - 2))
    inside = np.arange(1, parts) / parts
    return (times[starts, None] + (times[starts + 1] - times[starts])[:, None] * inside).ravel()


def root_between(low: float, high: float, f: Callable[[float], float], tolerance: float) -> float | None:
    """Root of a decreasing function within a tolerance, or None if there is none between `low` and `high`."""
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


# ---- Objects


def curves_of(animated: bpy.types.ID) -> list[bpy.types.FCurve]:
    """Return all curves of the action of a datablock."""
    return curves(animated.animation_data.action)


def key(
    animated: bpy.types.bpy_struct,
    path: str,
    keys: Iterable[tuple[float, object]],
    interpolation: str = "LINEAR",
) -> None:
    """Key a property with one interpolation. Other curves of the datablock keep theirs."""
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


def add_points(name: str, points: Array) -> bpy.types.Object:
    """Add a mesh of loose vertices to the scene collection."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.asarray(points, dtype=float).tolist(), [], [])
    return add_object(name, mesh)


def add_faces(name: str, points: Iterable[Iterable[float]], faces: list[tuple[int, ...]]) -> bpy.types.Object:
    """Add a mesh with faces to the scene collection."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(list(points), [], faces)
    return add_object(name, mesh)


def add_box(name: str, half: tuple[float, float, float]) -> bpy.types.Object:
    """Add a box of six quads that face outward, by its half sizes."""
    x, y, z = half
    points = [(i, j, k) for i in (-x, x) for j in (-y, y) for k in (-z, z)]
    return add_faces(name, points, CUBE_FACES)


def ball_points(radius: float) -> Array:
    """Return 32 points on a sphere: the directions of the vertices and face centers of an icosahedron."""
    golden = (1 + 5**0.5) / 2
    corners = [np.roll((0, x, y * golden), shift) for shift in range(3) for x in (-1, 1) for y in (-1, 1)]
    faces = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    faces += [
        np.roll((0, x / golden, y * golden), shift) for shift in range(3) for x in (-1, 1) for y in (-1, 1)
    ]
    points = np.array([*corners, *faces], dtype=float)
    return radius * points / np.linalg.norm(points, axis=1)[:, None]


def box_points(half: Iterable[float]) -> Array:
    """Return the eight corners of a box around the origin, by its half sizes."""
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    return corners * np.asarray(list(half), dtype=float)


def delete_faces_by_frame(item: bpy.types.Object, frame: float) -> None:
    """Add nodes that delete an object's last half of faces before a frame, then the first; no vertices."""
    nodes = Nodes(item)
    is_late = nodes.math("GREATER_THAN", nodes.time("Frame"), frame)
    index = nodes.add("GeometryNodeInputIndex").outputs[0]
    is_first = nodes.math("LESS_THAN", index, len(item.data.polygons) / 2)
    deleted = {"Geometry": nodes.mesh, "Selection": nodes.math("COMPARE", is_late, is_first, 0.5)}
    delete = nodes.add("GeometryNodeDeleteGeometry", deleted, domain="FACE", mode="ONLY_FACE")
    nodes.end(delete.outputs[0])
