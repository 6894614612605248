"""Distances of the shapes and meshes of a scene at a frame.

Boxes and spheres come from Blender's evaluated vertices, other shapes from the document of the bounds at the
frame. All distances are computed here.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from addon.core import Aabb, Capsule, Obb, Sphere, SphereTree
from addon.core.compound.convex_parts import Compound
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.settings import BoundsSettings, FitSettings
from tests.finished import finished
from tests.scene.independent.geometry import minimal_sphere
from tests.scene.mesh_truth import solids
from tests.scene.mesh_truth.triangles import gap, order_of, pair_distances
from tests.scene.sampling import go_to

Array = np.ndarray

_BOX_CORNERS, _BOX_FACES = solids.box(1, 1, 1)
_BOX_TRIANGLES = np.array([(f[0], f[k], f[k + 1]) for f in _BOX_FACES for k in (1, 2)])


class Moment:
    """Bodies of the active scene at a frame.

    Attributes
    ----------
    shapes : dict
        Shape of each subject of a scan, by id.
    surfaces : dict
        Vertices (n, 3) and triangles (t, 3, 3) of each body, by the name of its object.
    """

    def __init__(self, frame: float, shape: str, fit: FitSettings) -> None:
        go_to(frame)
        self._shape, self._padding = shape, fit.padding
        self.surfaces = _surfaces()
        settings = BoundsSettings(shapes=(shape,), fit=fit, frame=frame)
        found = compute_bounds(bpy.context.scene, settings)
        found = found if hasattr(found, "objects") else finished(found)
        self.shapes = {entry.id: entry.world[-1] for entry in found.objects}

    def shape_of(self, id: str, body: str | None) -> Any:
        """Shape of a subject, from the vertices of a body if it is all of that."""
        if body is None or self._shape not in ("aabb", "sphere"):
            return self.shapes[id]
        points = self.surfaces[body][0]
        if self._shape == "aabb":
            return Aabb(points.min(axis=0) - self._padding, points.max(axis=0) + self._padding)
        center, radius = minimal_sphere(points)
        return Sphere(center, radius + self._padding)

    def mesh_gap(self, a: str, b: str) -> float:
        """Distance of the surfaces of two bodies."""
        corners = [self.surfaces[name][1] for name in (a, b)]
        return gap(*(each[order_of(each)] for each in corners))


def _surfaces() -> dict[str, tuple[Array, Array]]:
    """Read all meshes that are shown, instances by the name of their instancer."""
    surfaces = {}
    for instance in bpy.context.evaluated_depsgraph_get().object_instances:
        item = instance.object
        if item.type != "MESH" or not instance.show_self:
            continue
        mesh = item.data
        points = np.array([vertex.co for vertex in mesh.vertices], dtype=float)
        mesh.calc_loop_triangles()
        rows = np.array([each.vertices for each in mesh.loop_triangles])
        matrix = np.array(instance.matrix_world, dtype=float)
        points = points @ matrix[:3, :3].T + matrix[:3, 3]
        surfaces[instance.parent.name if instance.is_instance else item.name] = points, points[rows]
    return surfaces


def shape_gap(a: Any, b: Any) -> float:
    """Distance of two shapes of one kind, or of spheres and a surface (t, 3, 3); 0 where they overlap."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        surface, spheres = (a, b) if isinstance(a, np.ndarray) else (b, a)
        return _gap_to_surface(*_balls(spheres), surface)
    if isinstance(a, Aabb):
        return float(np.linalg.norm(np.maximum(0, np.maximum(a.min - b.max, b.min - a.max))))
    if isinstance(a, Obb | Compound):
        return gap(_box_surface(a), _box_surface(b))
    if isinstance(a, Capsule):
        segments = (np.stack([each.start, each.end, each.end])[None] for each in (a, b))
        return max(0.0, float(pair_distances(*segments)[0]) - float(a.radius) - float(b.radius))
    (centers, radii), (centers_b, radii_b) = _balls(a), _balls(b)
    distances = np.linalg.norm(centers[:, None] - centers_b, axis=-1) - radii[:, None] - radii_b
    return max(0.0, float(distances.min()))


def _balls(shape: Sphere | SphereTree) -> tuple[Array, Array]:
    """Centers (n, 3) and radii (n,) of a sphere or of the leaves of a tree."""
    spheres = shape.spheres[shape.leaves] if isinstance(shape, SphereTree) else shape
    return np.atleast_2d(spheres.center), np.atleast_1d(spheres.radius)


def _gap_to_surface(centers: Array, radii: Array, surface: Array) -> float:
    """Distance of balls (n,) and triangles (t, 3, 3)."""
    rows, columns = (each.ravel() for each in np.mgrid[: len(centers), : len(surface)])
    points = np.repeat(centers[rows][:, None], 3, axis=1)
    return max(0.0, float((pair_distances(points, surface[columns]) - radii[rows]).min()))


def _box_surface(shape: Obb | Compound) -> Array:
    """Triangles (t, 3, 3) of a box, or of all parts of a compound."""
    boxes = shape.parts if isinstance(shape, Compound) else (shape,)
    corners = [box.center + (_BOX_CORNERS * box.half_extents) @ box.rotation.T for box in boxes]
    surface = np.concatenate([each[_BOX_TRIANGLES] for each in corners])
    return surface[order_of(surface)]
