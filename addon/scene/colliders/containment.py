"""Volumes of colliders in world space: vertices of a mesh that are outside of all, and holes that they fill.

A collider encloses what its engine makes of it: the convex hull of its vertices, or the sphere or capsule
that Unreal's importer makes of them.

Surfaces of colliders and of the meshes that they belong to are evaluated, whether shown or hidden. Objects
that are shown are read from the scene as the viewport shows it. A group with a hidden object is evaluated by
itself, because Blender does not evaluate hidden objects.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import bmesh
import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from ...core import Capsule
from ...core.fitting.quickhull import extreme_points, face_planes, max_height_above, quickhull
from ...core.numeric.arrays import Bools, Floats, Ints, cross, dot, length, transform_points
from ...core.numeric.geodesic import geodesic_directions
from ...core.shapes.axial import distance_from_segment
from ...core.shapes.primitives import closest_on_triangle, triangles_from_corners
from ..blender.frames import playhead
from ..blender.mesh_data import edge_indices, triangle_indices, vertex_positions
from ..blender.object_settings import object_fit_settings, read_overrides
from ..blender.private_scene import PrivateScene, end_step
from ..settings import FitSettings, Selection
from ..subjects.find import find_subjects
from ..subjects.reader import SubjectReader

SINGLE = float(np.finfo(np.float32).eps)
_ROUNDINGS = 4
"""Roundings of the largest number that a coordinate is computed from, by which it may be wrong."""
_LARGEST = 1e15
"""Coordinates beyond this count as broken, as in documents."""
_THINNEST = 1e-6
"""Thickness below which a surface is flat, as a part of its size."""
_NO_TRIANGLES, _NO_EDGES = np.empty((0, 3), np.int64), np.empty((0, 2), np.int64)


@dataclass(frozen=True)
class ObjectSurface:
    """Surface of an object at the current frame.

    local : (v, 3) float64, the vertices in object space
    triangles : (t, 3) int64, not read for custom shapes
    edges : (e, 2) int64, of polygons; not read for a mesh that colliders belong to
    matrix : (4, 4) float64, the world matrix
    """

    local: Floats
    triangles: Ints
    edges: Ints
    matrix: Floats

    @cached_property
    def points(self) -> Floats:
        """Vertices (v, 3) in world space, float64. Raises NonFiniteGeometryError for a matrix with NaN."""
        return transform_points(self.matrix, self.local)

    @property
    def is_readable(self) -> bool:
        """True if all coordinates are numbers of a usual size."""
        return all(bool((np.abs(values) < _LARGEST).all()) for values in (self.local, self.matrix))

    @property
    def size(self) -> float:
        """Largest side of the box around it along the world's axes."""
        return float(np.ptp(self.points, axis=0).max()) if len(self.points) else 0.0

    @property
    def rounding(self) -> float:
        """Largest error of a world coordinate that is computed in single precision."""
        if not len(self.local):
            return 0.0
        largest = np.abs(self.matrix[:3, :3]) @ np.abs(self.local).max(axis=0) + np.abs(self.matrix[:3, 3])
        return _ROUNDINGS * SINGLE * float(largest.max())

    @property
    def is_flat(self) -> bool:
        """True if all vertices are nearly in one plane."""
        if len(self.points) < 4:
            return True
        offset = self.points - self.points.mean(axis=0)
        offset /= max(self.size, 1e-300)
        axes = np.linalg.eigh(offset.T @ offset)[1]
        return bool(np.ptp(offset @ axes, axis=0).min() <= _THINNEST)

    def merged(self) -> ObjectSurface:
        """Merge vertices in the same position, and drop triangles that have a corner twice then."""
        distinct, index = np.unique(self.local, axis=0, return_inverse=True)
        index = index.reshape(-1)
        corners = index[self.triangles]
        is_proper = (corners != np.roll(corners, 1, axis=1)).all(axis=1)
        return replace(self, local=distinct, triangles=corners[is_proper], edges=index[self.edges])


def evaluated_groups(
    scene: bpy.types.Scene, groups: Sequence[Sequence[bpy.types.Object]]
) -> Generator[tuple[int, bpy.types.Depsgraph], None, None]:
    """Yield the number of each group of objects, and a dependency graph with all of them.

    They are evaluated at the current frame, and groups with hidden objects are last. Nothing in the file
    changes, but until the iterator is closed it can have a private scene.

    scene : the active one, with all the objects
    """
    layer = bpy.context.view_layer
    is_shown = [all(item.visible_get(view_layer=layer) for item in group) for group in groups]
    depsgraph = bpy.context.evaluated_depsgraph_get()
    yield from ((number, depsgraph) for number in range(len(groups)) if is_shown[number])
    hidden = [number for number in range(len(groups)) if not is_shown[number]]
    if hidden:
        private = PrivateScene(scene, {item.session_uid for number in hidden for item in groups[number]})
        try:
            depsgraph = private.evaluate(playhead(scene))
            yield from ((number, depsgraph) for number in hidden)
        finally:
            end_step()


def read_surface(
    item: bpy.types.Object, depsgraph: bpy.types.Depsgraph, fit: FitSettings | None = None
) -> ObjectSurface | None:
    """Read a collider, or what colliders enclose: the vertices of a mesh, or its custom shapes.

    None if it is disabled in all viewports, so that Blender never evaluates it.

    fit : for meshes without settings of their own, with the source of vertices; None for a collider
    """
    if item.hide_viewport:
        return None
    shown = item.evaluated_get(depsgraph)
    shapes = [
        each.center + each.radius * geodesic_directions(8).vectors if each.shape == "sphere" else each.points
        for each in (() if fit is None else read_overrides(item))
    ]
    triangles, edges = _NO_TRIANGLES, _NO_EDGES
    if shapes:
        points = np.concatenate(shapes)
    else:
        modifiers = "evaluated" if fit is None else object_fit_settings(item, fit).modifiers
        points = vertex_positions(shown, modifiers)
        triangles = triangle_indices(shown, modifiers).astype(np.int64)
    if fit is None:
        edges = edge_indices(shown, "evaluated").astype(np.int64)
    matrix = np.array(shown.matrix_world, dtype=np.float64)
    return ObjectSurface(points.astype(np.float64), triangles, edges, matrix)


def read_merged(scene: bpy.types.Scene, name: str, fit: FitSettings) -> ObjectSurface | None:
    """Read the mesh of a collection that is treated as one, in world space; None if it has no vertices."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    subjects, _ = find_subjects(scene, depsgraph, Selection())
    merged = [subject for subject in subjects if subject.members and subject.name == name]
    reader = SubjectReader(merged, fit, range(len(merged)))
    pieces: list[Any] = [(piece.points, piece.triangles) for piece in reader.singles(depsgraph)]
    if not pieces:
        return None
    every = reader.merged_geometry(0, pieces)
    points, triangles = every.points.astype(np.float64), every.triangles.astype(np.int64)
    return ObjectSurface(points, triangles, _NO_EDGES, np.eye(4))


_TOLERANCES = (1e-10, 1e-12, 1e-13, 1e-9, 1e-8, 1e-7, 1e-6)
"""Tolerances of hulls, in units of the size, tried in turn until no point is outside by much more."""
_NOISE = 1e-7
"""Largest displacement of points that have no hull otherwise, because many are nearly in one plane."""
_TRIALS = 10
_MOST_VERTICES = 1000
"""Most vertices of an exact hull. Of more, extreme ones are used, and the tolerance is larger by as much."""
_ROWS = 512
"""Number of points whose distances to all faces are computed at once."""
_SAMPLES = 2000
"""Points on the convex hull of a mesh at which its holes are measured."""
_STEPS = np.array([0.7548776662466927, 0.5698402909980532])
"""Steps of a sequence of points that covers a square evenly (Roberts 2018)."""
_NOTICEABLE = 0.05
"""Distance to the surface beyond which a hole is reported, as a part of the largest side of the mesh."""
_NOTICEABLE_METERS = 0.2
"""The same in meters, for large meshes: half of the width through which a person fits."""
_NEGLIGIBLE = 1e-3
"""Distance below which there is no hole, as a part of the largest side of the mesh."""


class Outside(NamedTuple):
    """Vertices of a mesh that are outside of all its colliders.

    vertices : number of those outside by more than the tolerance
    distance : largest distance of a vertex from the nearest collider, in world units; 0 if none is outside
    vertex : index of that vertex; -1 if none is outside
    tolerance : distance that rounding in single precision can cause
    """

    vertices: int
    distance: float
    vertex: int
    tolerance: float


@dataclass(frozen=True)
class RoundVolume:
    """A capsule, or a sphere, which is a capsule without length. Its methods are those of `HullVolume`."""

    capsule: Capsule
    slack: float = 0.0

    def heights(self, points: Floats) -> Floats:
        """Signed distances (n,)."""
        return distance_from_segment(self.capsule, points) - self.capsule.radius

    def distances(self, points: Floats) -> Floats:
        """Distances (n,), 0 inside."""
        return np.maximum(self.heights(points), 0.0)

    upper_bounds = distances

    @property
    def volume(self) -> float:
        return float(self.capsule.volume)


class HullVolume:
    """The convex hull of a collider's vertices.

    Conservative: no vertex is outside by more than `slack`, at most a millionth of the size, or about 3 % of
    it for more than 1,000 vertices. Planes are computed in object space, where vertices are the numbers that
    Blender stores, so that a mesh and its collider with the same matrix are compared almost exactly.
    """

    def __init__(self, surface: ObjectSurface) -> None:
        """Build the hull. Raises ValueError if it has no volume."""
        middle = surface.local.mean(axis=0)
        size = float(np.ptp(surface.local, axis=0).max())
        linear = surface.matrix[:3, :3]
        if surface.is_flat or not size or abs(np.linalg.det(linear)) < 1e-300:
            raise ValueError("no volume")
        local = (surface.local - middle) / size
        if len(local) > _MOST_VERTICES:
            local = extreme_points(local)
        local, faces = _enclosing_hull(local)
        self._middle, self._origin = middle, surface.matrix[:3, 3]
        self._to_local = np.linalg.inv(linear)
        normals, offsets = face_planes(local, faces)
        # In the world, heights are those in object space divided by these lengths.
        lengths = length(normals @ self._to_local)
        self._normals, self._offsets = normals / lengths[:, None], offsets * size / lengths
        world = transform_points(surface.matrix, local * size + middle)
        self._center = transform_points(surface.matrix, middle)
        self._triangles = triangles_from_corners(world[faces])
        heights = max_height_above(surface.local - middle, self._normals, self._offsets)
        self.slack = max(float(heights.max()), 0.0)

    @property
    def volume(self) -> float:
        """Volume in the world."""
        a, b, c = (
            corner - self._center for corner in (self._triangles.a, self._triangles.b, self._triangles.c)
        )
        return abs(float(dot(a, cross(b, c)).sum())) / 6

    def heights(self, points: Floats) -> Floats:
        """Lower bounds (n,) of the signed distances of points (n, 3) in world space, exact in sign."""
        local = (points - self._origin) @ self._to_local.T - self._middle
        return max_height_above(local, self._normals, self._offsets)

    def upper_bounds(self, points: Floats) -> Floats:
        """Upper bounds (n,) of the distances of points (n, 3) that are outside."""
        # Distance to the surface on the way to the center, which is below all planes by their offsets.
        local = (points - self._origin) @ self._to_local.T - self._middle
        offsets = np.maximum(self._offsets, 1e-300)
        parts = max_height_above(local, self._normals / offsets[:, None], np.zeros(len(offsets)))
        return np.asarray(length(points - self._center) * np.maximum(1 - 1 / np.maximum(parts, 1e-300), 0.0))

    def distances(self, points: Floats) -> Floats:
        """Distances (n,) of points (n, 3), 0 inside."""
        distances = np.zeros(len(points))
        outside = np.flatnonzero(self.heights(points) > 0)
        for start in range(0, len(outside), _ROWS):
            rows = outside[start : start + _ROWS]
            closest = closest_on_triangle(points[rows][:, None], self._triangles)
            distances[rows] = length(points[rows][:, None] - closest).min(axis=1)
        return distances


def _enclosing_hull(points: Floats) -> tuple[Floats, Ints]:
    """Build the hull of points (n, 3) of unit size; returns the points that it consists of, and its faces.

    Raises ValueError if there is none.
    """
    for tolerance in _TOLERANCES:
        faces = quickhull(points, tolerance)
        if faces is not None and _height_above(points, points, faces) <= max(4 * tolerance, 1e-12):
            return points, faces
    for trial in range(_TRIALS):
        noise = np.random.default_rng(trial).uniform(-_NOISE, _NOISE, points.shape)
        displaced = points + noise
        faces = quickhull(displaced, _TOLERANCES[1])
        if faces is not None and _height_above(points, displaced, faces) <= _TOLERANCES[-1]:
            return displaced, faces
    raise ValueError("no hull")


def _height_above(points: Floats, vertices: Floats, faces: Ints) -> float:
    """Return the largest height of points (n, 3) above the faces of a hull of other ones."""
    return float(max_height_above(points, *face_planes(vertices, faces)).max())


ConvexVolume: TypeAlias = RoundVolume | HullVolume


def vertices_outside(points: Floats, volumes: Sequence[ConvexVolume], tolerance: float) -> Outside:
    """Find the vertices (n, 3) in world space that are in none of several convex volumes, at least one.

    Exact up to float64 rounding: the distance is that from the surface of the nearest volume. Vertices up to
    `tolerance` outside count as inside.
    """
    tolerance += max(volume.slack for volume in volumes)
    heights = np.min([volume.heights(points) for volume in volumes], axis=0)
    rows: Ints = np.flatnonzero(heights > tolerance)
    if not len(rows):
        return Outside(0, 0.0, -1, tolerance)
    bounds = np.min([volume.upper_bounds(points[rows]) for volume in volumes], axis=0)
    order = np.argsort(-bounds, kind="stable")
    best, vertex = -1.0, -1
    for start in range(0, len(rows), _ROWS):
        # All later ones are nearer.
        if best >= bounds[order[start]]:
            break
        part = np.sort(rows[order[start : start + _ROWS]])
        distances = np.min([volume.distances(points[part]) for volume in volumes], axis=0)
        farthest = int(distances.argmax())
        if distances[farthest] > best:
            best, vertex = float(distances[farthest]), int(part[farthest])
    return Outside(len(rows), best, vertex, tolerance)


def filled_distances(source: ObjectSurface, volumes: Mapping[str, ConvexVolume]) -> dict[str, float]:
    """Measure how far from the surface of a mesh its colliders fill notches and holes.

    Points are taken on the convex hull of the mesh. Where a collider covers one, everything that is nearer to
    the point than the surface of the mesh is space that the mesh leaves open. A convex mesh has none. What a
    collider covers outside of the convex hull does not count: that is the fit of its kind.

    Approximate: holes that are small compared with the mesh may be missed or measured too small, because
    the points are 2,000.

    Returns the largest distance for each volume, in world units; 0 where it fills nothing. Empty for a mesh
    without faces, whose holes are unknown.
    """
    if not len(source.triangles) or not volumes:
        return {}
    middle = source.points.mean(axis=0)
    points, size = source.points - middle, source.size
    samples = _hull_samples(points)
    if not size or samples is None:
        return {}
    rounding = source.rounding + 1e-6 * size
    covered: Bools = np.array(
        [volume.heights(samples + middle) <= volume.slack + rounding for volume in volumes.values()]
    )
    distances = np.zeros(len(samples))
    rows = np.flatnonzero(covered.any(axis=0))
    # The types of Blender 4.2 declare that this returns None.
    tree: Any = BVHTree.FromPolygons(points.tolist(), source.triangles.tolist(), all_triangles=True)
    distances[rows] = [tree.find_nearest(sample)[3] for sample in samples[rows].tolist()]
    distances[distances <= _NEGLIGIBLE * size] = 0.0
    return dict(zip(volumes, np.where(covered, distances, 0.0).max(axis=1).tolist(), strict=True))


def is_noticeable(distance: float, source: ObjectSurface, unit: float) -> bool:
    """Return whether a filled hole is large compared with its mesh, or for a person.

    `distance` is that to the surface of the mesh, and `unit` is the length of a Blender unit in meters.
    """
    return distance > min(_NOTICEABLE * source.size, _NOTICEABLE_METERS / unit)


def _hull_samples(points: Floats) -> Floats | None:
    """Return points spread evenly over the convex hull of points (n, 3); None without an area.

    Blender's hull is less exact than that of `core`, but fast, and one of a flat mesh has both its sides.
    """
    mesh = bmesh.new()
    try:
        vertices: list[Any] = [mesh.verts.new(point) for point in np.unique(points, axis=0).tolist()]
        bmesh.ops.convex_hull(mesh, input=vertices, use_existing_faces=False)
        corners = np.array([[vertex.co[:] for vertex in face.verts] for face in mesh.faces])
    finally:
        mesh.free()
    if not len(corners):
        return None
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    areas = length(cross(b - a, c - a))
    ends = np.cumsum(areas)
    if not ends[-1] > 0:
        return None
    numbers = np.arange(_SAMPLES)
    face = np.minimum(np.searchsorted(ends, (numbers + 0.5) / _SAMPLES * ends[-1]), len(areas) - 1)
    u, v = ((numbers[:, None] + 1) * _STEPS % 1).T
    is_beyond = u + v > 1
    u, v = np.where(is_beyond, 1 - u, u)[:, None], np.where(is_beyond, 1 - v, v)[:, None]
    return np.asarray(a[face] + u * (b - a)[face] + v * (c - a)[face])
