"""Overrides: a box or a sphere that replaces the vertices of an object."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from addon.scene.jobs.bounds import compute_bounds
from addon.scene.settings import BoundsSettings
from tests.scene.building import CUBE, key_location
from tests.scene.enclosing import (
    POSE,
    SHAPES,
    add_item,
    add_two_cubes,
    animate,
    bounds_by_name,
    cube_faces,
    encloses,
    join_instances,
    sample_shapes,
    scan_with_static_pairs,
    world_vertices,
)
from tests.scene.sampling import scan_scene

pytestmark = pytest.mark.usefixtures("object_settings")

CENTER, RADIUS = (0.5, 0, 4), 0.75
directions = np.random.default_rng(6).normal(size=(500, 3))
SURFACE = np.array(CENTER) + RADIUS * directions / np.linalg.norm(directions, axis=1)[:, None]
"""Points (500, 3) in object space on the surface of the sphere override."""


@pytest.mark.parametrize("shape", SHAPES)
def test_bounds_enclose_box_override(shape):
    item = animate(add_item("A", **POSE))
    item.collision_bounds.override = "box"
    item.collision_bounds.center, item.collision_bounds.half_extents = (0.5, 0, 4), (0.25, 1, 0.5)
    corners = np.array((0.5, 0, 4)) + CUBE * (0.25, 1, 0.5)
    for frame in sample_shapes(shape):
        assert encloses(frame["A"], world_vertices(item, corners))
        assert not encloses(frame["A"], world_vertices(item))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [(2.0, 0.5, 1.25), (1.5, 1.5, 1.5)])
def test_bounds_enclose_sphere_override(shape, scale):
    item = animate(add_item("A", **{**POSE, "scale": scale}))
    item.collision_bounds.override = "sphere"
    item.collision_bounds.center, item.collision_bounds.radius = CENTER, RADIUS
    for frame in sample_shapes(shape):
        assert encloses(frame["A"], world_vertices(item, SURFACE))
    if shape in ("sphere", "spheres"):
        assert float(frame["A"].radius[0]) == pytest.approx(RADIUS * max(scale), rel=1e-5)


def test_obstacle_with_override_is_the_box_of_that():
    level = add_two_cubes("Level").collision_bounds
    level.override, level.center, level.half_extents = "box", (0, 0, 0), (3, 3, 1)
    ball = add_item("Ball", CUBE * 0.25, [], location=(0, 0, 5))
    radius = 0.25 * 3**0.5
    for height, touches in ((1 + 1.01 * radius, False), (1 + 0.99 * radius, True)):
        ball.location.z = height
        assert bool(scan_with_static_pairs("sphere", obstacles=("Level",)).report.contacts) == touches


def test_local_shapes_enclose_override():
    item = add_item("A", **POSE)
    item.collision_bounds.override = "sphere"
    item.collision_bounds.center, item.collision_bounds.radius = CENTER, RADIUS
    found, _ = bounds_by_name(("sphere", "aabb", "obb"))
    entry = found["A"]
    rotation = np.array(Quaternion(entry.rotation).to_matrix())
    local_surface = (world_vertices(item, SURFACE) - entry.translation) @ rotation
    for shape in entry.local:
        assert encloses(shape[None], local_surface)
    for shape in entry.world:
        assert encloses(shape[None], world_vertices(item, SURFACE))


@pytest.mark.smoke
def test_instances_made_by_nodes_keep_their_size():
    """An override replaces the mesh of the object, not the cubes of side 4 that are instanced on it."""
    item = add_item("A", CUBE, [])
    join_instances(item, None)
    item.collision_bounds.override, item.collision_bounds.half_extents = "box", (0.1, 0.1, 0.1)
    result = compute_bounds(bpy.context.scene, BoundsSettings(shapes=("aabb",)))
    for entry in result.objects:
        (box,) = entry.world
        half = 0.1 if entry.name == "A" else 2.0
        np.testing.assert_allclose(box.half_extents, half, atol=1e-6)
    assert len(result.objects) == 9


@pytest.mark.parametrize("shape", ["aabb", "mesh"])
def test_override_touches_what_its_small_mesh_does_not(shape):
    small = add_item("Small", 0.1 * CUBE, cube_faces())
    small.collision_bounds.override, small.collision_bounds.half_extents = "box", (1, 1, 1)
    key_location(add_item("Other", 0.1 * CUBE, cube_faces()), {1: (5, 0, 0), 10: (0.8, 0, 0)})
    (contact,) = scan_scene(shape=shape, frames=(1, 10, 1)).report.contacts
    # The sides of the override and the other object are at 1 and x - 0.1.
    assert contact.first.frame == pytest.approx(1 + 9 * (5 - 1.1) / 4.2, abs=1e-3)
