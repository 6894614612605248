"""Meshes that baked simulations deform, and meshes whose vertices change."""

from __future__ import annotations

import bpy
import numpy as np

from tests.scene.mesh_truth.building import FRAMES, Pair, add, easing, key, place, turn_at_random
from tests.scene.mesh_truth.solids import ball, box, sheet, torus


def _bake(cache: bpy.types.PointCache) -> None:
    """Play a simulation and bake it."""
    cache.frame_start, cache.frame_end = (int(frame) for frame in FRAMES)
    for frame in range(cache.frame_start, cache.frame_end + 1):
        bpy.context.scene.frame_set(frame)
    with bpy.context.temp_override(point_cache=cache):
        bpy.ops.ptcache.bake_from_cache()
    assert cache.is_baked


def _falling(rng: np.random.Generator) -> bpy.types.Object:
    """Add an open sheet, and below it a body that may rise."""
    sheet_of_cells = add("A", sheet(1.0, 6))
    body = add("B", ball(0.3) if rng.random() < 0.5 else box(0.2, 0.3, 0.25))
    x, y = rng.uniform(-0.8, 0.8, 2)
    low = -rng.uniform(0.4, 0.9)
    body.rotation_euler = rng.uniform(-3, 3, 3)
    key(body, "location", [(1, (x, y, low)), (9, (y, x, low + rng.uniform(-0.2, 0.5)))], easing(rng))
    return sheet_of_cells


def baked_cloth(rng: np.random.Generator) -> Pair:
    """Add a cloth that hangs at some corners or falls, baked, and a body below that it does not know."""
    cloth = _falling(rng)
    modifier = cloth.modifiers.new("Cloth", "CLOTH")
    modifier.settings.time_scale = float(rng.uniform(1.0, 2.5))
    if rng.random() < 0.7:
        group = cloth.vertex_groups.new(name="Pinned")
        group.add(rng.choice([0, 6, 42, 48], 2, replace=False).tolist(), 1.0, "REPLACE")
        modifier.settings.vertex_group_mass = "Pinned"
    _bake(modifier.point_cache)
    return Pair(24, is_linear=True)


def baked_soft_body(rng: np.random.Generator) -> Pair:
    """Add a soft sheet that falls, baked, and a body below that it does not know."""
    soft = _falling(rng)
    modifier = soft.modifiers.new("Softbody", "SOFT_BODY")
    soft.soft_body.use_goal = bool(rng.random() < 0.5)
    soft.soft_body.speed = float(rng.uniform(1.0, 2.0))
    _bake(modifier.point_cache)
    return Pair(24, is_linear=True)


def cloth_not_baked(rng: np.random.Generator) -> Pair:
    """Add a cloth that is simulated while a scan plays, and two keyed bodies which the question is about."""
    _falling(rng).name = "Cloth"
    bpy.data.objects["Cloth"].modifiers.new("Cloth", "CLOTH").point_cache.frame_end = int(FRAMES[1])
    key(add("A", torus(0.5, 0.2, 12, 6)), "location", [(1, (0, 0, 2)), (9, rng.uniform(-1, 1, 3))])
    return Pair(16, is_linear=True)


def changing_vertices(rng: np.random.Generator) -> Pair:
    """Add a ball whose number of vertices is keyed, and a stone."""
    a, b = add("A", ball(0.8, 6, 8)), add("B", box(0.2, 0.3, 0.25))
    kind = str(rng.choice(["SUBSURF", "ARRAY", "DECIMATE", "MASK"]))
    modifier = a.modifiers.new("Changing", kind)
    middle = float(rng.uniform(2, 8))
    if kind == "SUBSURF":
        modifier.subdivision_type = str(rng.choice(["CATMULL_CLARK", "SIMPLE"]))
        key(modifier, "levels", [(1, 0), (middle, 1)], "CONSTANT")
    elif kind == "ARRAY":
        modifier.relative_offset_displace = (0.8, 0.0, 0.0)
        key(modifier, "count", [(1, 1), (middle, 3)], "CONSTANT")
    elif kind == "DECIMATE":
        key(modifier, "ratio", [(1, 1.0), (9, 0.2)])
    else:
        group = a.vertex_groups.new(name="Shown")
        half = [vertex.index for vertex in a.data.vertices if vertex.co.x > 0]
        group.add(half, 1.0, "REPLACE")
        modifier.vertex_group = "Shown"
        key(modifier, "show_viewport", [(1, False), (middle, True)], "CONSTANT")
    start = rng.uniform(1.0, 2.0) * np.array([rng.choice([-1, 1]), rng.uniform(-0.5, 0.5), 0.3])
    key(b, "location", [(1, 2 * start), (9, rng.uniform(0.0, 0.7) * start)], easing(rng))
    turn_at_random(rng, b, 1.0)
    place(rng, a, b)
    return Pair(32, early=2e-4)


FAMILIES = (baked_cloth, baked_soft_body, cloth_not_baked, changing_vertices)
