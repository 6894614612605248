"""Meshes that bones bend."""

from __future__ import annotations

import bpy
import numpy as np

from tests.scene.mesh_truth.building import (
    Pair,
    add,
    add_rig,
    bend_by,
    direction,
    easing,
    key,
    key_bones,
    path_through,
    place,
    turn_at_random,
)
from tests.scene.mesh_truth.solids import ball, bar, box


def _limb(name: str = "A") -> tuple[bpy.types.Object, bpy.types.Object]:
    """Add a bar along z with an armature of three bones."""
    limb, rig = add(name, bar(0.15, 3.0, 13)), add_rig(f"Rig of {name}", 3.0, 3)
    limb.parent = rig
    bend_by(limb, rig)
    return limb, rig


def _obstacle(rng: np.random.Generator) -> bpy.types.Object:
    """Add a body near the limb, which rests or moves."""
    item = add("B", ball(0.35) if rng.random() < 0.5 else box(0.1, 0.6, 0.6))
    side = rng.uniform(0, 2 * np.pi)
    out = rng.uniform(0.7, 1.8)
    home = np.array([out * np.cos(side), out * np.sin(side), rng.uniform(0.8, 3.0)])
    item.location, item.rotation_euler = home, rng.uniform(-3, 3, 3)
    if rng.random() < 0.5:
        key(item, "location", [(1, home), (9, home + 0.5 * direction(rng))], easing(rng))
    return item


def keyed_bones(rng: np.random.Generator) -> Pair:
    """Add a limb that keyed bones bend."""
    _, rig = _limb()
    key_bones(rng, rig, 0.8, easing(rng))
    place(rng, rig, _obstacle(rng))
    return Pair(32)


def folding_bones(rng: np.random.Generator) -> Pair:
    """Add a wide limb that keyed bones bend so far that its faces fold."""
    limb, rig = add("A", bar(rng.uniform(0.3, 0.45), 3.0, 25)), add_rig("Rig of A", 3.0, 3)
    limb.parent = rig
    bend_by(limb, rig)
    key_bones(rng, rig, 1.5, easing(rng))
    place(rng, rig, _obstacle(rng))
    return Pair(32)


def inverse_kinematics(rng: np.random.Generator) -> Pair:
    """Add a limb that follows a keyed target."""
    _, rig = _limb()
    target = add("Target", None)
    constraint = rig.pose.bones[-1].constraints.new("IK")
    constraint.target, constraint.chain_count = target, 3
    places = [rng.normal(size=3) * (1.0, 1.0, 0.4) + (0, 0, 1.8) for _ in range(4)]
    key(target, "location", list(zip((1, 4, 7, 9), places, strict=True)), easing(rng))
    place(rng, rig, target, _obstacle(rng))
    return Pair(32)


def two_armatures(rng: np.random.Generator) -> Pair:
    """Add a limb that two armatures bend one after the other, or two limbs."""
    limb, rig = _limb()
    key_bones(rng, rig, 0.6)
    if rng.random() < 0.5:
        other = add_rig("Other rig", 3.0, 3)
        bend_by(limb, other)
        key_bones(rng, other, 0.4)
        place(rng, rig, other, _obstacle(rng))
        return Pair(32)
    _, second = _limb("B")
    second.location, second.rotation_euler = (rng.uniform(0.8, 1.6), 0, 0.2), (0, 0, rng.uniform(-3, 3))
    key_bones(rng, second, 0.6, easing(rng))
    place(rng, rig, second)
    return Pair(32)


def shape_keys_below_bones(rng: np.random.Generator) -> Pair:
    """Add a limb with a keyed shape key that bones bend."""
    limb, rig = _limb()
    limb.shape_key_add(name="Basis")
    wide = limb.shape_key_add(name="Wide")
    middle = rng.uniform(0.5, 2.5)
    for point in wide.data:
        grown = 1 + 3 * np.exp(-2 * (point.co.z - middle) ** 2)
        point.co.x, point.co.y = point.co.x * grown, point.co.y * grown
    key(wide, "value", [(1, 0.0), (5, 1.0), (9, rng.uniform(0, 1))], easing(rng))
    key_bones(rng, rig, 0.6)
    place(rng, rig, _obstacle(rng))
    return Pair(32)


def moving_armature(rng: np.random.Generator) -> Pair:
    """Add a limb whose armature moves and turns too."""
    _, rig = _limb()
    key_bones(rng, rig, 0.6, easing(rng))
    obstacle = _obstacle(rng)
    path_through(rng, rig, (0, 0, 0), 1.2)
    turn_at_random(rng, rig, 0.6)
    place(rng, rig, obstacle)
    return Pair(32)


def fast_bones(rng: np.random.Generator) -> Pair:
    """Add a limb whose keyed bones stroke within a part of a frame, once or often."""
    _, rig = _limb()
    length, stroke = rng.uniform(0.1, 0.9), rng.uniform(0.6, 1.2)
    starts = [rng.uniform(1.2, 8.0)] if rng.random() < 0.5 else 1 + np.arange(8) + rng.uniform(0, 1 - length)
    side = rng.uniform(0, 2 * np.pi)
    keys: list[tuple[float, tuple[float, float, float]]] = [(1.0, (0, 0, 0))]
    for start in starts:
        turn = (stroke * np.cos(side), 0.0, stroke * np.sin(side))
        keys += [(start, (0, 0, 0)), (start + length / 2, turn), (start + length, (0, 0, 0))]
    key(rig.pose.bones[1], "rotation_euler", [*keys, (9.0, (0, 0, 0))], easing(rng))
    obstacle = add("B", ball(0.3))
    obstacle.location = (-np.sin(side) * (away := rng.uniform(0.7, 2.0)), -np.cos(side) * away, 2.0)
    place(rng, rig, obstacle)
    return Pair(128)


FAMILIES = (
    fast_bones,
    folding_bones,
    keyed_bones,
    inverse_kinematics,
    two_armatures,
    shape_keys_below_bones,
    moving_armature,
)
