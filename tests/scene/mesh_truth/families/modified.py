"""Motion by modifiers of curves, quaternions, constraints that are switched, strips."""

from __future__ import annotations

import bpy
import numpy as np

from tests.scene.building import curves
from tests.scene.mesh_truth.building import (
    Pair,
    add,
    direction,
    easing,
    key,
    path_through,
    place,
    turn_at_random,
)
from tests.scene.mesh_truth.solids import ball, box, torus


def _curves_of(item: bpy.types.Object) -> list[bpy.types.FCurve]:
    return curves(item.animation_data.action)


def stepped_curves(rng: np.random.Generator) -> Pair:
    """Add a box whose curves are stepped, over a wall or into it."""
    a, b = add("A", box(0.1, 2.0, 2.0)), add("B", box(0.3, 0.4, 0.5))
    ends = rng.uniform(0.5, 2.5, 2) * (-1, 1)
    key(b, "location", [(1, ends[0]), (9, ends[1])], "LINEAR", 0)
    for curve in _curves_of(b):
        modifier = curve.modifiers.new("STEPPED")
        modifier.frame_step = float(rng.choice([1.0, 2.0, 1.5, 0.5]))
        modifier.frame_offset = float(rng.choice([0.0, 0.3]))
    if rng.random() < 0.5:
        turn_at_random(rng, a, 0.4)
    place(rng, a, b)
    return Pair(32, early=2e-4)


def cycling_curves(rng: np.random.Generator) -> Pair:
    """Add a ball whose keys are repeated, mirrored or with an offset."""
    a, b = add("A", torus(1.0, 0.25, 18, 8)), add("B", ball(0.35))
    start = rng.uniform(1.8, 3.0) * direction(rng)
    towards = start + rng.uniform(0.2, 1.0) * (rng.normal(size=3) * 0.5 - start)
    key(b, "location", [(1, start), (2.7, towards)], easing(rng))
    mode = str(rng.choice(["REPEAT", "REPEAT_OFFSET", "MIRROR"]))
    for curve in _curves_of(b):
        curve.modifiers.new("CYCLES").mode_after = mode
    turn_at_random(rng, a, 0.5)
    place(rng, a, b)
    return Pair(48, early=2e-4)


def quaternions(rng: np.random.Generator) -> Pair:
    """Add a bar whose keyed quaternions may have opposite signs, or are far from unit length."""
    a, b = add("A", box(0.1, 0.12, 1.5)), add("B", ball(0.4))
    a.rotation_mode = "QUATERNION"
    keys = [(frame, rng.normal(size=4) * rng.uniform(0.3, 2.0)) for frame in (1, 4, 7, 9)]
    key(a, "rotation_quaternion", keys, easing(rng))
    home = rng.uniform(0.7, 1.6) * direction(rng)
    key(b, "location", [(1, home), (9, home + 0.4 * direction(rng))], easing(rng))
    place(rng, a, b)
    return Pair(64)


def switched_parents(rng: np.random.Generator) -> Pair:
    """Add a box that is taken along by a keyed Child Of constraint for a while."""
    a, b, hand = add("A", torus(1.0, 0.25, 18, 8)), add("B", box(0.3, 0.3, 0.3)), add("Hand", None)
    side, high = rng.uniform(0, 2 * np.pi), rng.uniform(0.9, 1.4)
    b.location = (np.cos(side), np.sin(side), high)
    path_through(rng, hand, (0, 0, -high * rng.uniform(0, 1)), 1.0)
    constraint = b.constraints.new("CHILD_OF")
    constraint.target = hand
    begin, end = sorted(rng.uniform(1.5, 8.5, 2).round(int(rng.integers(0, 2))).tolist())
    kind = "CONSTANT" if rng.random() < 0.6 else "LINEAR"
    key(constraint, "influence", [(1, 0.0), (begin, 1.0), (end + 0.1, float(rng.choice([0.0, 0.5])))], kind)
    place(rng, a, hand)
    return Pair(32, early=2e-4)


def strips(rng: np.random.Generator) -> Pair:
    """Add a ball whose action is a strip that is scaled and repeated."""
    a, b = add("A", torus(1.0, 0.25, 18, 8)), add("B", ball(0.35))
    path_through(rng, b, 0.5 * rng.normal(size=3), 2.0)
    data = b.animation_data
    action = data.action
    strip = data.nla_tracks.new().strips.new("Strip", 1, action)
    if hasattr(action, "slots"):
        strip.action_slot = action.slots[0]
    data.action = None
    strip.scale = float(rng.choice([0.25, 0.5, 0.8]))
    strip.repeat = float(rng.choice([1.0, 2.0, 1.5]))
    turn_at_random(rng, a, 0.5)
    place(rng, a, b)
    return Pair(64, early=2e-4)


def spins_that_are_evaluated(rng: np.random.Generator) -> Pair:
    """Add a blade that drivers turn up to a third of a turn in a frame, and a stone."""
    blade = box(0.7, 0.1, 0.05)
    a, b = add("A", (blade[0] + np.array([0.5, 0, 0]), blade[1])), add("B", ball(0.2))
    driver = a.driver_add("rotation_euler", 2).driver
    driver.expression = f"{rng.uniform(0, 6):.3f} + frame * {rng.uniform(0.5, 2.0):.3f}"
    side = rng.uniform(0, 6)
    start = np.array([np.cos(side), np.sin(side), 0])
    key(b, "location", [(1, 1.9 * start), (9, rng.uniform(0.6, 1.4) * start)], "LINEAR")
    place(rng, a, b)
    return Pair(32)


FAMILIES = (stepped_curves, cycling_curves, quaternions, switched_parents, strips, spins_that_are_evaluated)
