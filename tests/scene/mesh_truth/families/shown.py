"""Instances, drivers and constraints."""

from __future__ import annotations

import bpy
import numpy as np

from tests.scene.building import Nodes, hidden_collection
from tests.scene.mesh_truth.building import Pair, add, easing, key, path_through, place, turn_at_random
from tests.scene.mesh_truth.solids import ball, box, torus


def collection_instances(rng: np.random.Generator) -> Pair:
    """Add two instances of one collection."""
    part = add("Part", torus(0.7, 0.25, 14, 8))
    part.rotation_euler, part.location = rng.uniform(-1, 1, 3), 0.2 * rng.normal(size=3)
    library = hidden_collection("Library", part)
    holders = []
    for name in "AB":
        holder = add(name, None)
        holder.instance_type, holder.instance_collection = "COLLECTION", library
        turn_at_random(rng, holder)
        holders.append(holder)
    path_through(rng, holders[1], 0.8 * rng.normal(size=3), 2.5)
    place(rng, *holders)
    return Pair()


def instances_of_nodes(rng: np.random.Generator) -> Pair:
    """Add an instance that nodes show at a point that a shape key moves, and a keyed mesh."""
    part = add("Part", box(0.3, 0.4, 0.5))
    bpy.context.scene.collection.objects.unlink(part)
    point = add("A", (np.zeros((1, 3)), []))
    nodes = Nodes(point)
    nodes.end(nodes.on_points(nodes.mesh, nodes.instance_of(part)))
    turn_at_random(rng, point)
    other = add("B", ball(0.4))
    path_through(rng, other, 0.4 * rng.normal(size=3), 2.0)
    place(rng, point, other)
    return Pair()


def drivers(rng: np.random.Generator) -> Pair:
    """Add a ball that drivers move along waves, near a torus."""
    a, b = add("A", torus(1.0, 0.25, 18, 8)), add("B", ball(0.4))
    home = rng.normal(size=3)
    for axis in range(3):
        driver = b.driver_add("location", axis).driver
        rate, phase = rng.uniform(0.2, 1.2), rng.uniform(0, 6)
        driver.expression = (
            f"{home[axis]:.3f} + {rng.uniform(0.3, 1.2):.3f} * sin(frame * {rate:.3f} + {phase:.3f})"
        )
    turn_at_random(rng, a)
    place(rng, a, b)
    return Pair(24)


def stepping_drivers(rng: np.random.Generator) -> Pair:
    """Add a box that a driver moves in steps, over a wall or into it."""
    a, b = add("A", box(0.1, 2.0, 2.0)), add("B", box(0.3, 0.4, 0.5))
    step = rng.uniform(0.3, 1.5)
    driver = b.driver_add("location", 0).driver
    rounded = rng.choice(
        ["floor(frame)", "floor(frame * 2) / 2", "frame // 1", "(frame > 4.3) * 4 + (frame > 6) * 3"]
    )
    driver.expression = f"{-rng.uniform(1.0, 4.0):.3f} + {step:.3f} * ({rounded})"
    if rng.random() < 0.5:
        turn_at_random(rng, b)
    place(rng, a, b)
    return Pair(32, early=2e-4)


def constraints(rng: np.random.Generator) -> Pair:
    """Add a box that follows a keyed empty by constraints, of which one has keyed influence."""
    a, b, guide = add("A", torus(1.0, 0.25, 18, 8)), add("B", box(0.3, 0.4, 0.5)), add("Guide", None)
    path_through(rng, guide, 0.5 * rng.normal(size=3), 2.5)
    turn_at_random(rng, guide)
    for kind in ("COPY_LOCATION", "COPY_ROTATION"):
        b.constraints.new(kind).target = guide
    if rng.random() < 0.5:
        key(b.constraints[0], "influence", [(1, 1.0), (4, 0.6), (9, rng.uniform(0.4, 1.0))], easing(rng))
    place(rng, a, guide)
    return Pair(24)


FAMILIES = (collection_instances, instances_of_nodes, drivers, stepping_drivers, constraints)
