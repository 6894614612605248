"""Contact of a projectile of 1 cm at 400 m/s with a plate of 2 mm, at 24 frames per second.

The projectile moves by 16.7 m per frame, so it is far from the plate at all whole frames. The contact takes
less than a thousandth of a frame.
"""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

from tests.scene.sampling import (
    Array,
    add_points,
    ball_points,
    box_points,
    contacts_by_names,
    curves_of,
    key,
    scan_scene,
)

pytestmark = pytest.mark.usefixtures("empty_file")

SPEED = 400 / 24
"""Meters per frame."""
RADIUS, HALF_PLATE = 0.005, 0.001
FIRST, LAST = 1, 6
PASSING = 3.4137
"""Frame at which the centers of projectile and plate coincide."""
TIME_ERROR = 2e-7
"""Frames in which the projectile moves by 4 micrometers, the single-precision error of a location of 42 m."""


def shoot(direction: Array, points: Array, interpolation: str = "LINEAR") -> bpy.types.Object:
    """Add a projectile that moves through the origin along a unit vector."""
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 24, FIRST, LAST
    bullet = add_points("Bullet", points)
    ends = [(frame, direction * SPEED * (frame - PASSING)) for frame in (FIRST, LAST)]
    key(bullet, "location", ends, interpolation)
    return bullet


def only_contact(**settings: object):
    (contact,) = contacts_by_names(scan_scene(**settings)).values()
    assert contact.first.tunnelling
    assert not contact.first.at_start
    assert contact.first.uncertainty <= 1e-3
    return contact


@pytest.mark.parametrize("motion", ["adaptive", "linear"])
@pytest.mark.parametrize("shape", ["aabb", "obb"])
def test_contact_frame_of_projectile_through_perpendicular_plate(shape, motion):
    shoot(np.array([1.0, 0, 0]), box_points([RADIUS] * 3))
    add_points("Plate", box_points([HALF_PLATE, 0.5, 0.5]))
    contact = only_contact(shape=shape, motion=motion)
    # The faces touch from 6 mm before the centers coincide to 6 mm after.
    half = (RADIUS + HALF_PLATE) / SPEED
    assert contact.first.frame == pytest.approx(PASSING - half, abs=2 * TIME_ERROR)
    (span,) = contact.intervals
    assert span.end == pytest.approx(PASSING + half, abs=2 * TIME_ERROR)


@pytest.mark.parametrize("motion", ["adaptive", "linear"])
@pytest.mark.parametrize(("plate_angle", "bullet_angle"), [(0.6, 0.0), (-1.1, 0.4), (0.3, 1.2)])
def test_contact_frame_of_projectile_through_rotated_plate(plate_angle, bullet_angle, motion):
    shoot(np.array([1.0, 0, 0]), box_points([RADIUS] * 3)).rotation_euler = (0, 0, bullet_angle)
    add_points("Plate", box_points([HALF_PLATE, 0.5, 0.5])).rotation_euler = (0, 0, plate_angle)
    contact = only_contact(shape="obb", motion=motion)
    # Half sizes of cube and plate along the normal of the plate, which is at plate_angle to the direction of
    # motion.
    angle = plate_angle - bullet_angle
    reach = RADIUS * (abs(math.cos(angle)) + abs(math.sin(angle))) + HALF_PLATE
    expected = PASSING - reach / (SPEED * abs(math.cos(plate_angle)))
    assert contact.first.frame == pytest.approx(expected, abs=3 * TIME_ERROR)


@pytest.mark.parametrize("motion", ["adaptive", "linear"])
def test_contact_frame_of_ball_that_hits_ball_off_center(motion):
    direction = np.array([2.0, 1.0, 2.0]) / 3
    shoot(direction, ball_points(RADIUS))
    # The target is 4 mm off the path. At the first contact the centers are 6 mm apart.
    offset = 0.004 * np.array([1.0, -2.0, 0.0]) / math.sqrt(5)
    add_points("Target", ball_points(HALF_PLATE)).location = offset
    contact = only_contact(shape="sphere", motion=motion)
    along = math.sqrt((RADIUS + HALF_PLATE) ** 2 - 0.004**2)
    # Errors perpendicular to the path have more effect here, by a factor of 1.5.
    assert contact.first.frame == pytest.approx(PASSING - along / SPEED, abs=4 * TIME_ERROR)


@pytest.mark.parametrize("motion", ["adaptive", "linear"])
def test_near_miss_at_high_speed_is_no_contact(motion):
    shoot(np.array([1.0, 0, 0]), ball_points(RADIUS))
    # The gap is 0.1 mm.
    add_points("Target", ball_points(HALF_PLATE)).location = (0, RADIUS + HALF_PLATE + 1e-4, 0)
    result = scan_scene(shape="sphere", motion=motion)
    assert not result.report.contacts
    (near,) = result.report.clearances
    assert near.gap == pytest.approx(1e-4, abs=2e-6)
    assert near.frame == pytest.approx(PASSING, abs=1e-3)


def test_sphere_trees_touch_no_later_than_meshes():
    mesh = bpy.data.meshes.new("Plate")
    corners = box_points([HALF_PLATE, 0.05, 0.05])
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.from_pydata(corners.tolist(), [], faces)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Plate", mesh))
    bullet = shoot(np.array([1.0, 0, 0]), box_points([RADIUS] * 3))
    bullet.data.clear_geometry()
    bullet.data.from_pydata(box_points([RADIUS] * 3).tolist(), [], faces)
    contact = only_contact(shape="spheres")
    # Spheres enclose the mesh, so they touch earlier than it, but not earlier than spheres around whole
    # faces.
    half = (RADIUS + HALF_PLATE) / SPEED
    earliest = half + (RADIUS + 0.05) * math.sqrt(2) / SPEED
    assert PASSING - earliest <= contact.first.frame <= PASSING - half + 2 * TIME_ERROR


@pytest.mark.parametrize("shape", ["aabb", "obb"])
def test_eased_projectile_sampled_only_at_rest_is_found(shape):
    # At rest until frame 3 and from frame 4 on. In between with SINE interpolation, eased in and out:
    # x(t) = start + distance (1 - cos(pi t)) / 2.
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FIRST, LAST
    bullet = add_points("Bullet", box_points([RADIUS] * 3))
    start = -SPEED * 0.3
    key(bullet, "location", [(3, (start, 0, 0)), (4, (start + SPEED, 0, 0))], "SINE")
    for curve in curves_of(bullet):
        for point in curve.keyframe_points:
            point.easing = "EASE_IN_OUT"
    add_points("Plate", box_points([HALF_PLATE, 0.5, 0.5]))
    contact = only_contact(shape=shape)
    fraction = (-RADIUS - HALF_PLATE - start) / SPEED
    expected = 3 + math.acos(1 - 2 * fraction) / math.pi
    assert contact.first.frame == pytest.approx(expected, abs=1e-3)
    assert contact.first.frame <= expected + contact.first.uncertainty + 4 * TIME_ERROR
