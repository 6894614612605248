"""Target: fits of the core, and bounds of objects in Blender, for meshes with hostile coordinates."""

from __future__ import annotations

import importlib.util
import json
import math
import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from addon.core import (
    SPHERE_METHODS,
    CollisionBoundsError,
    EmptyGeometryError,
    NonFiniteGeometryError,
    aabb_from_points,
    aabbs_from_groups,
    capsule_from_points,
    hull_from_points,
    obb_from_points,
    sphere_from_points,
    sphere_tree_from_triangles,
    spheres_from_groups,
)

from .exact_checks import (
    Exact,
    box_problem,
    capsule_problem,
    exact,
    hull_problem,
    oriented_box_problem,
    sphere_problem,
    transformed,
)
from .hostile_meshes import make_mesh_bytes
from .target import Target

_LARGEST = 1e100
"""A fit may raise an error for points farther away, because squares of distances overflow."""

_SKIPPED_FROM, _SKIPPED_TO = 1e14, 1e-29
"""Blender's objects may be skipped if they are larger or farther away, or if they are smaller."""

Points = Sequence[Sequence[float]]
_HAS_BLENDER = importlib.util.find_spec("bpy") is not None


def check_mesh(content: bytes) -> str | None:
    """Fit each shape, and compare it with the points."""
    mesh = json.loads(content)
    points, triangles = mesh["points"], mesh["triangles"]
    # A warning would be printed in addition to the one line of an error.
    with warnings.catch_warnings(action="error"):
        problem = _core_problem(points) or _tree_problem([[points[k] for k in each] for each in triangles])
        return problem or (_blender_problem(mesh) if _HAS_BLENDER and points else None)


def _core_problem(points: Points) -> str | None:
    for name, fit in _FITS.items():
        try:
            problem = fit(np.array(points, dtype=np.float64).reshape(-1, 3))
        except CollisionBoundsError as error:
            problem = _error_problem(error, points, is_hull=name == "hull")
        if problem:
            return f"{name}: {problem}"
    return None


def _error_problem(error: CollisionBoundsError, points: Points, is_hull: bool) -> str | None:
    """Return a description of an error that does not fit the points, or None."""
    numbers = [value for point in points for value in point]
    expected: type[CollisionBoundsError] | None = None
    if not points:
        expected = EmptyGeometryError
    elif not all(map(math.isfinite, numbers)):
        expected = NonFiniteGeometryError
    if expected is not None:
        return None if type(error) is expected and str(error) else f"raised {error!r}"
    # Points in one plane have no hull.
    return None if is_hull or max(map(abs, numbers)) > _LARGEST else f"raised {error!r}"


def _box(points: np.ndarray) -> str | None:
    box: Any = aabb_from_points(points)
    least, most = (list(map(float, (each(column) for column in points.T))) for each in (min, max))
    return None if [*box.min, *box.max] == [*least, *most] else f"{box} is not from {least} to {most}"


def _sphere(method: Any) -> Callable[[np.ndarray], str | None]:
    def fit(points: np.ndarray) -> str | None:
        sphere: Any = sphere_from_points(points, method)
        return sphere_problem(sphere.center, float(sphere.radius), list(map(exact, points)))

    return fit


def _oriented_box(points: np.ndarray) -> str | None:
    box: Any = obb_from_points(points)
    return oriented_box_problem(box.center, box.half_extents, box.rotation.T, list(map(exact, points)))


def _capsule(points: np.ndarray) -> str | None:
    capsule: Any = capsule_from_points(points)
    return capsule_problem(capsule.start, capsule.end, capsule.radius, list(map(exact, points)))


def _hull(points: np.ndarray) -> str | None:
    hull: Any = hull_from_points(points, 20)
    return hull_problem(hull.vertices, hull.faces.tolist(), list(map(exact, points)))


def _groups(points: np.ndarray) -> str | None:
    offsets = [0, (len(points) + 1) // 2, len(points)] if len(points) > 1 else [0, len(points)]
    boxes: Any = aabbs_from_groups(points, offsets)
    spheres: Any = spheres_from_groups(points, offsets)
    for k, (begin, end) in enumerate(pairwise(offsets)):
        group = list(map(exact, points[begin:end]))
        problem = box_problem(boxes.min[k], boxes.max[k], group)
        problem = problem or sphere_problem(spheres.center[k], float(spheres.radius[k]), group)
        if problem:
            return f"group {k}: {problem}"
    return None


_FITS: dict[str, Callable[[np.ndarray], str | None]] = {
    "box": _box,
    **{f"sphere, {method}": _sphere(method) for method in SPHERE_METHODS},
    "oriented box": _oriented_box,
    "capsule": _capsule,
    "hull": _hull,
    "groups": _groups,
}


def _tree_problem(triangles: Sequence[Points]) -> str | None:
    corners = [corner for triangle in triangles for corner in triangle]
    try:
        tree: Any = sphere_tree_from_triangles(np.array(triangles, dtype=np.float64).reshape(-1, 3, 3))
    except CollisionBoundsError as error:
        problem = _error_problem(error, corners, is_hull=False)
        return f"sphere tree: {problem}" if problem else None
    root = sphere_problem(tree.spheres.center[0], float(tree.spheres.radius[0]), list(map(exact, corners)))
    return f"sphere tree: {root}" if root else None


def open_empty_scene() -> None:
    """Start Blender, if it is there, with an empty scene."""
    if _HAS_BLENDER:
        import bpy

        from addon.scene.blender import object_properties

        object_properties.attach()
        bpy.ops.wm.read_factory_settings(use_empty=True)


def _blender_problem(mesh: dict[str, Any]) -> str | None:
    """Compute the bounds of an object in Blender, and compare them with its vertices."""
    import bpy

    from addon.scene.jobs.bounds import compute_bounds
    from addon.scene.settings import BOUND_SHAPES, BoundsSettings

    context: Any = bpy.context
    data: Any = bpy.data.meshes.new("Mesh")
    with np.errstate(over="ignore"):
        single = np.array(mesh["points"], dtype=np.float64).astype(np.float32)
    data.from_pydata(single.tolist(), [], [face for face in mesh["triangles"] if len(set(face)) == 3])
    item: Any = bpy.data.objects.new("Object", data)
    item.parent = bpy.data.objects.new("Parent", None)
    with np.errstate(over="ignore"):
        item.matrix_parent_inverse = np.array(mesh["matrix"], dtype=np.float64).astype(np.float32).tolist()
    for each in (item.parent, item):
        context.scene.collection.objects.link(each)
    try:
        context.view_layer.update()
        matrix = [list(row) for row in item.matrix_world]
        document = compute_bounds(context.scene, BoundsSettings(shapes=BOUND_SHAPES)).document("blender")
    finally:
        for each in (item.parent, item):
            bpy.data.objects.remove(each)
        bpy.data.meshes.remove(data)
    return _document_problem(document, single.astype(np.float64).tolist(), matrix)


def _document_problem(document: dict[str, Any], points: Points, matrix: Points) -> str | None:
    if not document["objects"]:
        skipped = [entry["reason"] for entry in document["skipped"] if entry["name"] == "Object"]
        if len(skipped) != 1:
            return f"the object is neither bounded nor skipped once: {document['skipped']}"
        return None if _may_be_skipped(points, matrix) else f"the object is skipped: {skipped[0]}"
    placed, world = transformed(points, matrix), document["objects"][0]["world"]
    return _world_problem(world, placed)


def _may_be_skipped(points: Points, matrix: Points) -> bool:
    numbers = [value for row in (*points, *matrix) for value in row]
    if not all(map(math.isfinite, numbers)) or max(map(abs, numbers)) > _SKIPPED_FROM:
        return True
    columns = list(zip(*transformed(points, matrix), strict=True))
    if max(abs(value) for column in columns for value in column) > _SKIPPED_FROM:
        return True
    return bool(max(max(column) - min(column) for column in columns) < _SKIPPED_TO)


def _world_problem(world: dict[str, Any], placed: Sequence[Exact]) -> str | None:
    box, sphere, hull = world["aabb"], world["sphere"], world.get("hull")
    problem = box_problem(box["min"], box["max"], placed)
    problem = problem or sphere_problem(sphere["center"], sphere["radius"], placed)
    if hull and not problem:
        problem = hull_problem(hull["vertices"], hull["faces"], placed)
    return f"bounds: {problem}" if problem else None


MESHES = Target("meshes", make_mesh_bytes, check_mesh, ".json", prepare=open_empty_scene)
