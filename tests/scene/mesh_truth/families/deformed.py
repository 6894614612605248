"""Meshes that lattices, hooks, shape keys and nodes deform."""

from __future__ import annotations

import bpy
import numpy as np

from tests.scene.building import Nodes, add_object
from tests.scene.mesh_truth.building import Pair, add, easing, key, place, turn_at_random
from tests.scene.mesh_truth.solids import Mesh, ball, box, sheet


def _slab(cells: int = 8) -> Mesh:
    return sheet(1.5, cells)


def _stone(rng: np.random.Generator) -> bpy.types.Object:
    """Add a stone above a slab, which may sink."""
    stone = add("B", ball(0.3) if rng.random() < 0.6 else box(0.2, 0.3, 0.25))
    x, y = rng.uniform(-0.9, 0.9, 2)
    high = rng.uniform(0.5, 1.1)
    stone.rotation_euler = rng.uniform(-3, 3, 3)
    key(stone, "location", [(1, (x, y, high)), (9, (y, x, high - rng.uniform(-0.1, 0.4)))], easing(rng))
    return stone


def lattices(rng: np.random.Generator) -> Pair:
    """Add a slab that a lattice with keyed shape keys, or one that moves, deforms."""
    slab = add("A", _slab())
    data = bpy.data.lattices.new("Lattice")
    data.points_u, data.points_v, data.points_w = 3, 3, 2
    lattice = add_object("Lattice", data)
    lattice.scale = (3.2, 3.2, 1.0)
    slab.modifiers.new("Lattice", "LATTICE").object = lattice
    lattice.shape_key_add(name="Basis")
    high = lattice.shape_key_add(name="High")
    for point in high.data:
        point.co.z += rng.uniform(-0.2, 1.0)
    key(high, "value", [(1, 0.0), (6, 1.0), (9, 0.2)], easing(rng))
    if rng.random() < 0.5:
        key(lattice, "rotation_euler", [(1, (0, 0, 0)), (9, rng.uniform(-0.5, 0.5, 3))])
    place(rng, slab, lattice, _stone(rng))
    return Pair(24)


def hooks(rng: np.random.Generator) -> Pair:
    """Add a slab of which a keyed hook draws some vertices."""
    slab, hook = add("A", _slab()), add("Hook", None)
    group = slab.vertex_groups.new(name="Drawn")
    for vertex in slab.data.vertices:
        group.add([vertex.index], float(np.exp(-2 * vertex.co.length_squared)), "REPLACE")
    modifier = slab.modifiers.new("Hook", "HOOK")
    modifier.object, modifier.vertex_group = hook, "Drawn"
    key(
        hook,
        "location",
        [(1, (0, 0, 0)), (5, rng.uniform(-0.5, 0.5, 3) + np.array([0, 0, 0.7])), (9, (0, 0, 0))],
        easing(rng),
    )
    place(rng, slab, hook, _stone(rng))
    return Pair(24)


def shape_keys(rng: np.random.Generator) -> Pair:
    """Add a slab with two keyed shape keys."""
    slab = add("A", _slab(5))
    slab.shape_key_add(name="Basis")
    for number in range(2):
        block = slab.shape_key_add(name=f"Wave {number}")
        wave = rng.normal(size=2) * 1.5
        for point in block.data:
            point.co.z += 0.8 * np.sin(point.co.x * wave[0] + point.co.y * wave[1])
        key(block, "value", [(1, 0.0), (5, rng.uniform()), (9, rng.uniform())], easing(rng))
    stone = _stone(rng)
    turn_at_random(rng, stone)
    place(rng, slab, stone)
    return Pair(24)


def fast_shape_keys(rng: np.random.Generator) -> Pair:
    """Add a slab of which a keyed shape key throws a bump up within a part of a frame, once or often."""
    slab = add("A", _slab())
    slab.shape_key_add(name="Basis")
    bump = slab.shape_key_add(name="Bump")
    x, y = rng.uniform(-0.5, 0.5, 2)
    for point in bump.data:
        point.co.z += np.exp(-3 * ((point.co.x - x) ** 2 + (point.co.y - y) ** 2))
    length = rng.uniform(0.1, 0.9)
    starts = [rng.uniform(1.2, 8.0)] if rng.random() < 0.5 else 1 + np.arange(8) + rng.uniform(0, 1 - length)
    keys: list[tuple[float, float]] = [(1.0, 0.0)]
    for start in starts:
        keys += [(start, 0.0), (start + length / 2, rng.uniform(0.5, 1.0)), (start + length, 0.0)]
    key(bump, "value", [*keys, (9.0, 0.0)], easing(rng))
    stone = add("B", box(0.2, 0.3, 0.25))
    stone.rotation_euler, stone.location = rng.uniform(-3, 3, 3), (x, y, rng.uniform(0.5, 1.2))
    place(rng, slab, stone)
    return Pair(128)


def geometry_nodes(rng: np.random.Generator) -> Pair:
    """Add a slab that nodes raise by a sine of the place and of the frame."""
    slab = add("A", _slab())
    nodes, rate, height = Nodes(slab), rng.uniform(0.2, 1.2), rng.uniform(0.2, 0.6)
    parts = nodes.add("ShaderNodeSeparateXYZ", {0: nodes.add("GeometryNodeInputPosition").outputs[0]})
    phase = nodes.math("ADD", nodes.math("MULTIPLY", nodes.time("Frame"), rate), parts.outputs[0])
    nodes.end(nodes.moved(nodes.mesh, Z=nodes.math("MULTIPLY", nodes.math("SINE", phase), height)))
    place(rng, slab, _stone(rng))
    return Pair(24)


FAMILIES = (lattices, hooks, shape_keys, fast_shape_keys, geometry_nodes)
