"""Random pairs of a sphere and an obstacle of one to three triangles.

The spheres move as in the trials of keyed and of sampled pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import bpy
import numpy as np

from tests.scene.motion.keyed_pairs import building as keyed_building
from tests.scene.motion.keyed_pairs.building import Pair
from tests.scene.motion.sampled_pairs import building as sampled_building
from tests.scene.sampling import Array

OBSTACLES = "* b"
"""Pattern of the names of all obstacles."""


@dataclass(frozen=True)
class ObstaclePair(Pair):
    """A sphere and an obstacle, and the obstacle's triangles (k, 3, 3) in its own space."""

    triangles: Array


def add_pairs_at_rest(seed: int, count: int) -> list[ObstaclePair]:
    """Add random pairs: the spheres have keys, and their obstacles rest anywhere and at any angle."""
    pairs = keyed_building.add_pairs(seed, count, "sphere")
    for pair in pairs:
        item = bpy.data.objects[pair.names[1]]
        while item is not None:
            item.animation_data_clear()
            item.constraints.clear()
            item = item.parent
    return _with_obstacles(seed, pairs)


def add_moving_pairs(seed: int, count: int) -> list[ObstaclePair]:
    """Add random pairs moved by drivers, constraints and bones; half of the obstacles move and turn too."""
    pairs = sampled_building.add_pairs(seed, count, "sphere")
    for pair in pairs:
        item = bpy.data.objects[pair.names[1]]
        for owner in (item, *(constraint.target for constraint in item.constraints)):
            owner.driver_remove("scale")
            owner.scale = 1, 1, 1
    return _with_obstacles(seed, pairs)


def _with_obstacles(seed: int, pairs: list[Pair]) -> list[ObstaclePair]:
    """Replace the second mesh of each pair by triangles."""
    generator = Random(f"obstacle {seed}")
    result = []
    for pair in pairs:
        count = generator.randint(1, 3)
        points = np.array(
            [[2 * generator.uniform(-half, half) for half in pair.halves[1]] for _ in range(3 * count)]
        )
        mesh = bpy.data.meshes.new("Obstacle")
        mesh.from_pydata(points.tolist(), [], np.arange(3 * count).reshape(-1, 3).tolist())
        bpy.data.objects[pair.names[1]].data = mesh
        # Blender stores coordinates as float32.
        triangles = points.astype(np.float32).astype(float).reshape(-1, 3, 3)
        result.append(ObstaclePair(pair.names, pair.halves, triangles))
    bpy.context.view_layer.update()
    return result
