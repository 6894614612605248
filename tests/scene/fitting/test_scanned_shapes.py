"""Scans test the shapes of documents: at a first contact, those of a document touch, and not before."""

from __future__ import annotations

import math
from functools import partial

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.scene.jobs.bounds import compute_bounds
from addon.scene.settings import BoundsSettings, FitSettings
from tests.core.compound.meshes_with_notches import L_OUTLINE, L_TRIANGLES, prism, ring
from tests.core.scenes import random_rotations
from tests.scene.building import curves
from tests.scene.sampling import contacts_by_names, go_to, scan_scene
from tests.tiers import times

pytestmark = pytest.mark.usefixtures("empty_file")

END = 20
TOLERANCE = 2e-3
"""Meshes are about one unit large. Scans add what single precision makes of a rotation."""
SHAPES = ["sphere", "obb", "spheres", "capsule", pytest.param("compound", marks=pytest.mark.long)]


def random_triangles(rng) -> np.ndarray:
    """Triangles (t, 3, 3) of a prism with a notch, a ring, or a ball with a regular grid."""
    kind = rng.integers(3)
    if kind == 0:
        return prism(L_OUTLINE, L_TRIANGLES, float(rng.uniform(0.3, 1.5)))
    if kind == 1:
        return ring(1.0, float(rng.uniform(0.15, 0.4)), int(rng.integers(8, 24)), 8)
    rows, count = 6, 12
    polar = np.linspace(0, np.pi, rows)[:, None]
    around = np.linspace(0, 2 * np.pi, count + 1)[None]
    grid = np.stack(
        [np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar) + 0 * around], axis=-1
    )
    corners = [
        (grid[i, j], grid[i + 1, j], grid[i + 1, j + 1], grid[i, j + 1])
        for i in range(rows - 1)
        for j in range(count)
    ]
    return np.array([(a, b, c) for a, b, c, _ in corners] + [(a, c, d) for a, _, c, d in corners])


def add_pair(add_mesh, number: int, rng) -> None:
    """Add an object at rest, and one that moves through it and rotates, both with any scale, on a lane."""
    for name in ("A", "B"):
        points, index = np.unique(random_triangles(rng).reshape(-1, 3), axis=0, return_inverse=True)
        item = add_mesh(f"{name}{number}", points - points.mean(axis=0), index.reshape(-1, 3))
        turn = Matrix(random_rotations(rng, 1)[0].tolist()).to_4x4()
        size = rng.uniform(0.2, 1.5, 3) * rng.choice([1, 1, -1])
        item.matrix_world = turn @ Matrix.Diagonal((*size.tolist(), 1))
        item.location = (0, 30 * number, 0)
    end = rng.uniform(-0.7, 0.7, 3)
    spin = rng.uniform(-0.1, 0.1, 3) if number % 2 else np.zeros(3)
    start_angles = np.array(item.rotation_euler)
    for frame, x in ((1, -8), (END, 8)):
        item.location = (x, 30 * number + end[1], end[2])
        item.rotation_euler = start_angles + spin * (frame - 1)
        item.keyframe_insert("location", frame=frame)
        item.keyframe_insert("rotation_euler", frame=frame)
    for curve in curves(item.animation_data.action):
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"


def boxes_of(shape, rotation, translation) -> list[tuple]:
    """Centers, axes and half extents of boxes under a pose."""
    parts = shape.parts if hasattr(shape, "parts") else (shape,)
    return [
        (rotation @ box.center + translation, rotation @ box.rotation, np.asarray(box.half_extents))
        for box in parts
    ]


def box_gap(one, other) -> float:
    """Largest distance of two boxes along one of fifteen axes; negative if none separates them."""
    axes = [*one[1].T, *other[1].T, *(np.cross(a, b) for a in one[1].T for b in other[1].T)]
    gaps = []
    for axis in axes:
        size = np.linalg.norm(axis)
        if size > 1e-9:
            reach = sum(np.abs(axis @ box[1]) @ box[2] for box in (one, other))
            gaps.append((abs(axis @ (one[0] - other[0])) - reach) / size)
    return max(gaps)


def segment_distance(one, other) -> float:
    """Least distance of two segments, each (2, 3): at an end of one of them, or of the lines in between."""
    distances = [
        np.linalg.norm(segment[0] + nearest_on(segment, point) * (segment[1] - segment[0]) - point)
        for segment, ends in ((one, other), (other, one))
        for point in ends
    ]
    directions = np.stack([one[1] - one[0], other[0] - other[1]], axis=1)
    (s, t), *_ = np.linalg.lstsq(directions, other[0] - one[0], rcond=None)
    if 0 <= s <= 1 and 0 <= t <= 1:
        distances.append(np.linalg.norm(one[0] + s * directions[:, 0] + t * directions[:, 1] - other[0]))
    return float(min(distances))


def nearest_on(segment, point) -> float:
    along = segment[1] - segment[0]
    return float(np.clip((point - segment[0]) @ along / max(along @ along, 1e-300), 0, 1))


def gap(kind: str, shapes, poses) -> float:
    """Least distance of the shapes of two objects under their poses; not exact where they overlap."""
    if kind in ("obb", "compound"):
        one, other = (boxes_of(shape, *pose) for shape, pose in zip(shapes, poses, strict=True))
        return min(box_gap(a, b) for a in one for b in other)
    if kind == "capsule":
        ends = [
            np.stack([shape.start, shape.end]) @ pose[0].T + pose[1]
            for shape, pose in zip(shapes, poses, strict=True)
        ]
        return segment_distance(*ends) - float(shapes[0].radius + shapes[1].radius)
    balls = []
    for shape, (rotation, translation) in zip(shapes, poses, strict=True):
        rows = shape.leaves if kind == "spheres" else ...
        center, radius = np.atleast_2d(shape.center[rows]), np.atleast_1d(shape.radius[rows])
        balls.append((center @ rotation.T + translation, radius))
    (center, radius), (centers, radii) = balls
    distances = np.linalg.norm(center[:, None] - centers, axis=-1) - radius[:, None] - radii
    return float(distances.min())


def pose_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rotation (3, 3) and translation (3,) of an object at the current frame."""
    item = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
    translation, rotation, _ = item.matrix_world.decompose()
    return np.array(rotation.to_matrix(), dtype=float), np.array(translation, dtype=float)


def gap_of_pair(kind: str, names, shapes, time: float) -> float:
    """Least distance of the shapes of two objects at a frame."""
    go_to(time)
    return gap(kind, shapes, [pose_of(name) for name in names])


@pytest.mark.parametrize("kind", SHAPES)
def test_shapes_of_document_touch_at_first_contact_and_not_before(add_mesh, kind):
    count = times(40, 5, full=500)
    rng = np.random.default_rng(7)
    for number in range(count):
        add_pair(add_mesh, number, rng)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, END
    go_to(1)
    fit = FitSettings(parts=4, part_shape="box", axes="object")
    bounds = compute_bounds(scene, BoundsSettings(shapes=(kind,), fit=fit))
    local = {entry.name: entry.local[-1] for entry in bounds.objects}
    found = contacts_by_names(scan_scene(shape=kind, fit=fit))
    wrong = []
    for number in range(count):
        names = f"A{number}", f"B{number}"
        gap_at = partial(gap_of_pair, kind, names, [local[name] for name in names])
        contact = found.get(frozenset(names))
        if contact is None:
            least = min(gap_at(time) for time in np.linspace(1, END, 60))
            if least < -TOLERANCE:
                wrong.append((number, "missed", least))
            continue
        first = contact.first.frame
        at, before = gap_at(first), min(gap_at(max(1, first - step)) for step in (0.01, 0.1, 0.5, 1, 3))
        if abs(at) > TOLERANCE or before < -TOLERANCE or math.isnan(at):
            wrong.append((number, at, before))
    assert not wrong, (len(wrong), count, wrong[:5])
    assert len(found) > count / 2
