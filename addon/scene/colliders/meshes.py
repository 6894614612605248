"""Collider meshes around the vertices of subjects, in the space of the object that is their parent."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...core import (
    Capsule,
    CollisionBoundsError,
    ball_surface,
    box_surface,
    capsule_from_points,
    capsule_surface,
    sphere_from_points,
)
from ...core.fitting.convex_hull import HullRequest, hull_steps, run_together
from ...core.fitting.tessellation import Faces
from ...core.numeric.arrays import Floats, Ints, require_finite
from ...formats.export.gltf_collider_nodes import (
    NodeFrame,
    compensating_frame,
    minimum_thickness,
    node_matrix,
)
from ..blender.mesh_data import Geometry
from ..fitting.fit import inflated_points, padding_error
from ..settings import ColliderKind, FitSettings
from ..subjects.reader import SubjectGeometry

_IDENTITY = (0.0, 0.0, 0.0, 1.0)
_UNIFORM = 1e-6
"""Largest relative difference of the axes' scales for which a scale counts as uniform."""
_ROUNDED = 5e-7
"""Largest cosine of two axes that rounding in single precision can have without shear."""

_SINGLE = float(np.finfo(np.float32).eps)


class ColliderMesh(NamedTuple):
    """A closed convex mesh.

    vertices : (v, 3) float64 numbers that single precision can represent
    faces : vertex indices of polygons, counter-clockwise from outside
    frame : rotation and scale of the collider below its source; None if it has the source's axes
    """

    vertices: Floats
    faces: Faces
    frame: NodeFrame | None


def collider_steps(
    geometry: Geometry, kind: ColliderKind, fit: FitSettings, max_vertices: int
) -> Generator[HullRequest, Ints | None, ColliderMesh]:
    """Fit a collider to the vertices of a subject, with the padding, a length in the world, around it.

    No vertex of the subject is above any face. Vertices are in the subject's object space, so that the
    collider scales with it. Where that would turn a sphere into an ellipsoid, or shear a box or a hull, the
    collider's frame compensates the scale, and the rotation that comes with shear. Engines have no sheared
    shapes: Jolt Physics drops the shear.

    Yields requests as `hull_steps`, so that hulls of many subjects are built at the same time; hulls have at
    most `max_vertices`. Raises CollisionBoundsError if there are no finite vertices, or a negative padding
    leaves nothing.
    """
    linear = geometry.matrix[:3, :3]
    frame: NodeFrame | None = compensating_frame(linear)
    lengths = 1 / np.abs(frame.scale)
    require_finite(geometry.points, "vertices")
    points: Floats = geometry.points.astype(np.float64)
    axes = node_matrix(np.zeros(3), frame.rotation, frame.scale)[:3, :3]
    is_sheared = tuple(frame.rotation.tolist()) != _IDENTITY
    is_uniform = bool(np.ptp(lengths) <= _UNIFORM * lengths.max())
    slack = 0.0
    if is_sheared or (kind in ("sphere", "capsule") and not is_uniform):
        points = np.asarray(np.linalg.solve(axes, points.T).T, dtype=np.float64)
        # Blender multiplies both matrices in single precision, and makes rotations of rounded quaternions, no
        # entry of which is more precise than the largest one.
        entries = np.tile(np.abs(frame.scale), (3, 1)) if is_sheared else np.abs(axes)
        slack = (
            8 * _SINGLE * float((np.abs(linear) @ entries).sum(axis=1).max()) * float(np.abs(points).max())
        )
        axes, lengths = np.eye(3), np.ones(3)
    else:
        frame = None
    if kind == "hull":
        around = inflated_points(points, axes, lengths, fit.padding)
        hull = yield from hull_steps(around, max_vertices, margin=slack)
        return ColliderMesh(hull.vertices, tuple(map(tuple, hull.faces.tolist())), frame)
    return ColliderMesh(*_volume(points, kind, geometry, fit, lengths, slack), frame)


def _volume(
    points: Floats, kind: ColliderKind, geometry: Geometry, fit: FitSettings, lengths: Floats, slack: float
) -> tuple[Floats, Faces]:
    """Vertices and faces of a volume around points (n, 3), grown by a slack and the padding."""
    if kind == "box":
        return _box(points, lengths, fit.padding, slack)
    radius = geometry.radius
    ball = radius * float(np.linalg.norm(geometry.matrix[:3, :3], 2)) if radius else 0.0
    unit = float(lengths.min())
    growth = slack + (ball + fit.padding) / unit
    if kind == "sphere":
        sphere = sphere_from_points(points)
        return ball_surface(sphere.center, _thick_radius(float(sphere.radius) + growth, unit, fit))
    along_axes = (capsule_from_points(points, axis) for axis in np.eye(3)[[2, 0, 1]])
    capsule = min(along_axes, key=lambda each: float(each.volume))
    thick = _thick_radius(float(capsule.radius) + growth, unit, fit, 2 * float(capsule.half_length))
    return capsule_surface(Capsule(capsule.center, capsule.axis, capsule.half_length, thick))


def _box(points: Floats, lengths: Floats, padding: float, slack: float) -> tuple[Floats, Faces]:
    """Vertices and faces of a box around points (n, 3), whose units have lengths (3,) in the world."""
    low, high = points.min(axis=0), points.max(axis=0)
    growth = slack + padding / lengths
    sides = (high - low + 2 * growth) * lengths
    if (sides < 0).any():
        raise padding_error(padding)
    growth += np.maximum(minimum_thickness(float(sides.max())) - sides, 0) / 2 / lengths
    return box_surface(low - growth, high + growth)


def _thick_radius(radius: float, unit: float, fit: FitSettings, axis: float = 0.0) -> float:
    """Radius of at least the minimum thickness, in a space whose unit has the length `unit` in the world.

    `axis` is the length of the axis of a capsule.
    """
    if radius < 0:
        raise padding_error(fit.padding)
    return max(radius, minimum_thickness((2 * radius + axis) * unit) / unit / 2)


def fit_colliders(
    subjects: Sequence[tuple[ColliderKind, Sequence[SubjectGeometry]]], max_vertices: int
) -> Iterator[list[ColliderMesh] | CollisionBoundsError]:
    """Fit colliders of a kind to the parts of each of many subjects, as `collider_steps` does.

    Hulls, which are slow, are built at the same time, and once for all with the same vertices. Yields the
    meshes of the parts of each subject, or the first error of one.
    """
    keys = [[_shape_key(part, kind) for part in parts] for kind, parts in subjects]
    jobs: dict[object, Generator[HullRequest, Ints | None, ColliderMesh]] = {}
    for (kind, parts), of_parts in zip(subjects, keys, strict=True):
        for key, part in zip(of_parts, parts, strict=True):
            if key not in jobs:
                jobs[key] = collider_steps(part.geometry, kind, part.fit, max_vertices)
    made = dict(zip(jobs, run_together(list(jobs.values())), strict=True))
    for of_parts in keys:
        results = [made[key] for key in of_parts]
        meshes = [mesh for mesh in results if isinstance(mesh, ColliderMesh)]
        errors = (error for error in results if isinstance(error, CollisionBoundsError))
        yield next(errors, None) or meshes


def _shape_key(piece: SubjectGeometry, kind: ColliderKind) -> object:
    """Return a value that is equal for subjects whose colliders have the same mesh."""
    geometry, fit = piece.geometry, piece.fit
    if kind != "hull" or fit.padding:
        return id(piece)
    linear = geometry.matrix[:3, :3]
    products = linear.T @ linear
    lengths = np.diag(products) ** 0.5
    if (np.abs(products - np.diag(lengths**2)) > _ROUNDED * np.outer(lengths, lengths)).any():
        # The collider of a sheared object has axes of its own.
        return geometry.points.tobytes(), linear.tobytes()
    # The minimum thickness depends on the scale, which is compared to three digits.
    return geometry.points.tobytes(), tuple(f"{length:.3e}" for length in lengths)
