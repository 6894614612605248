"""Two characters at a table: each contact begins and ends when Blender's own meshes do, on every row."""

from __future__ import annotations

from itertools import combinations, product

import bpy
import numpy as np
import pytest
from mathutils.bvhtree import BVHTree

from tests.scene.building import open_empty_file
from tests.scene.mesh_truth.building import add, add_rig, bend_by, key
from tests.scene.mesh_truth.comparison import scan
from tests.scene.mesh_truth.evaluation import evaluated_meshes
from tests.scene.mesh_truth.solids import Mesh, ball, box, tube
from tests.tiers import times

pytestmark = pytest.mark.long

LAST, STEP, MARGIN = 60, 0.5, 0.01
"""Last frame, frames between samples, and frames within which begins and ends agree."""


def _limb(radius: float, height: float) -> Mesh:
    """Round bar along z that becomes thinner, closed."""
    angle = 2 * np.pi * np.arange(12) / 12

    def ring(row: int) -> np.ndarray:
        part = row / 29
        size = radius * (1 - 0.5 * part)
        return np.column_stack([size * np.cos(angle), size * np.sin(angle), np.full(12, height * part)])

    return tube(ring, 30)


def _add_character(rng: np.random.Generator, name: str, x: float) -> bpy.types.Object:
    """Add a skinned mesh at one side of the table, which bends over it and back."""
    rig = add_rig(f"{name} Rig", 1.6, 4)
    body = add(f"{name} Body", _limb(0.15, 1.6))
    bend_by(body, rig)
    rig.location = body.location = (x, 0, 0)
    body.parent = rig
    body.location = (0, 0, 0)
    towards = 1 if x < 0 else -1
    for bone in rig.pose.bones:
        angles = [0.0, *rng.uniform(0.1, 0.75, 3), 0.0]
        keys = [
            (frame, (rng.uniform(-0.2, 0.2), 0.0, -towards * angle))
            for frame, angle in zip(np.linspace(1, LAST, 5).round().tolist(), angles, strict=True)
        ]
        key(bone, "rotation_euler", keys, "BEZIER")
    return rig


def _build(seed: int) -> None:
    open_empty_file()
    rng = np.random.default_rng(seed)
    add("Table", box(0.7, 0.8, 0.04)).location = (0, 0, 0.7)
    for index, (x, y) in enumerate(product((-0.6, 0.6), (-0.7, 0.7))):
        add(f"Leg {index}", box(0.04, 0.04, 0.34)).location = (x, y, 0.34)
    add("Cup", _limb(0.06, 0.15)).location = (-0.1, 0.05, 0.76)
    add("Book", box(0.12, 0.09, 0.03)).location = (0.2, -0.1, 0.78)
    rigs = [_add_character(rng, "Anna", -1.05), _add_character(rng, "Ben", 1.05)]
    sword = add("Sword", box(0.02, 0.02, 0.35))
    sword.parent, sword.parent_type, sword.parent_bone = rigs[1], "BONE", "Bone 3"
    thrown = add("Ball", ball(0.1))
    key(thrown, "location", [(1, (-0.9, 0.1, 1.6)), (30, (0.2, 0.0, 0.75)), (LAST, (1.2, -0.1, 1.7))], "SINE")
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    bpy.context.view_layer.update()


def _touch_at(time: float) -> dict[frozenset[str], bool]:
    """Return whether the surfaces of each pair cross at a time, by Blender's own trees of its own meshes."""
    bpy.context.scene.frame_set(int(time), subframe=time % 1)
    trees = {
        name: BVHTree.FromPolygons(points.tolist(), triangles.tolist(), all_triangles=True)
        for name, points, triangles in evaluated_meshes()
    }
    pairs = combinations(sorted(trees), 2)
    return {frozenset(pair): bool(trees[pair[0]].overlap(trees[pair[1]])) for pair in pairs}


def _intervals() -> dict[frozenset[str], list[tuple[float, float]]]:
    """Return the intervals of contact of each pair, of a scan with the default settings."""
    return {
        frozenset((contact["a"], contact["b"])): [
            (span["start"], span["end"]) for span in contact["intervals"]
        ]
        for contact in scan("mesh")["contacts"]
    }


def _moves(pair: frozenset[str]) -> bool:
    return any(name.endswith("Body") or name in ("Sword", "Ball") for name in pair)


@pytest.mark.parametrize("seed", range(times(1, full=6)))
def test_each_row_begins_and_ends_within_a_hundredth_of_a_frame_of_the_meshes(seed: int) -> None:
    _build(seed)
    found = _intervals()
    assert len(found) > 3
    edges = {edge for spans in found.values() for span in spans for edge in span}
    sampled = {round(time, 4) for time in np.arange(1, LAST + STEP / 2, STEP).tolist()}
    sampled |= {edge + side for edge in edges for side in (-MARGIN, MARGIN) if 1 <= edge + side <= LAST}
    wrong = []
    for time in sorted(sampled):
        for pair, touches in _touch_at(time).items():
            spans = found.get(pair, [])
            near = [edge for span in spans for edge in span if abs(edge - time) < MARGIN - 1e-6]
            is_expected = any(start <= time <= end for start, end in spans)
            if _moves(pair) and not near and touches != is_expected:
                wrong.append((time, sorted(pair), touches, spans))
    assert not wrong, wrong[:5]
