"""Bounds of the bones of random meshes: a thousand in the full tier, at one frame and at all."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.core.fitting.point_sets import random_mesh
from tests.scene.blender.parts.all_frames import SHAPES, entries, greatest_excess, vertices_of_bones
from tests.scene.blender.parts.rigs import add_rig, assert_each_bone_holds_its_vertices, rotate_bones
from tests.scene.building import add_object
from tests.tiers import times

pytestmark = pytest.mark.usefixtures("object_settings")

BONES = 3
AT_ONCE = times(3, full=10)
"""Random meshes in each scene."""
SCENES = range(times(3, 1, full=100))
FRAMES = (1, 2)
TIMES = (1, 1.2, 1.5, 1.9, 2)
ROUNDING = 1e-5
"""Single precision of vertices and matrices at coordinates of up to 10, and six decimals."""


def add_random_mesh(rig: bpy.types.Object, seed: int) -> bpy.types.Object:
    """Add random vertices whose weights in the bones of a rig are random, and a few without any."""
    rng = np.random.default_rng(seed)
    points = random_mesh(seed) + np.array([0, 0, 1.5])
    mesh = bpy.data.meshes.new(f"{seed:04}")
    mesh.from_pydata(points.tolist(), [], [(0, 1, 2)])
    item = add_object(f"{seed:04}", mesh)
    weights = rng.dirichlet((0.5,) * BONES, len(points))
    weights[rng.random(weights.shape) < 0.2] = 0
    for number in range(BONES):
        group = item.vertex_groups.new(name=f"Bone {number}")
        for vertex in np.flatnonzero(weights[:, number]).tolist():
            group.add([vertex], float(weights[vertex, number]), "REPLACE")
    item.modifiers.new("Armature", "ARMATURE").object = rig
    item.parent = rig
    return item


def add_characters(scene: int) -> list[tuple[bpy.types.Object, bpy.types.Object]]:
    """Add random meshes to two rigs, each in a random pose at each frame."""
    rng = np.random.default_rng(scene)
    rigs = []
    for number in range(2):
        rig = add_rig(f"Rig {number}", BONES)
        rig.location, rig.rotation_euler = rng.normal(size=3), rng.normal(size=3)
        rig.scale = [rng.uniform(0.5, 2)] * 3
        for frame in FRAMES:
            rotate_bones(rig, dict(enumerate(rng.normal(size=BONES).tolist())), frame)
        rigs.append(rig)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES
    bpy.context.scene.frame_set(1)
    seeds = range(scene * AT_ONCE, (scene + 1) * AT_ONCE)
    return [(add_random_mesh(rigs[seed % 2], seed), rigs[seed % 2]) for seed in seeds]


@pytest.mark.parametrize("scene", SCENES)
def test_bones_of_random_meshes_hold_their_vertices(scene):
    characters = add_characters(scene)
    found = entries(("sphere", "obb", "capsule"), "current")
    for item, rig in characters:
        bones = {name: entry for name, entry in found.items() if name.startswith(f"{item.name}/")}
        assert_each_bone_holds_its_vertices(bones, item, rig, ROUNDING)


@pytest.mark.long
@pytest.mark.parametrize("scene", SCENES)
def test_bones_of_random_meshes_hold_their_vertices_at_all_frames(scene):
    characters = add_characters(scene)
    # A hull of so many points takes seconds. Hulls of random meshes are tested without bones.
    shapes = tuple(shape for shape in SHAPES if shape != "hull")
    found = entries(shapes)
    for item, rig in characters:
        for bone, frames in vertices_of_bones(item, rig, TIMES).items():
            entry = found[f"{item.name}/bone.{bone}"]
            assert set(entry["local"]) == set(shapes) and entry["allFrames"] is True
            assert greatest_excess(entry["local"], np.concatenate(frames)) <= ROUNDING, item.name
