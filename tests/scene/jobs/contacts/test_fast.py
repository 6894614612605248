"""A projectile of one centimeter at 400 m/s through a plate of 2 mm at 24 frames a second: never missed.

It covers 16.7 m from frame to frame, so that no whole frame shows it anywhere near the plate, and the contact
lasts less than a thousandth of a frame.
"""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

from tests.scene.sampled import (
    Array,
    add_points,
    ball_points,
    box_points,
    contacts_by_names,
    curves_of,
    key,
    scanned,
)

pytestmark = pytest.mark.usefixtures("empty_file")

SPEED = 400 / 24
"""Metres a frame."""
RADIUS, HALF_PLATE = 0.005, 0.001
FIRST, LAST = 1, 6
PASSING = 3.4137
"""The frame at which the projectile's middle is in the plate's."""
TIME_OF_SINGLE = 2e-7
"""Frames: at a location of 42 m the last bit in single precision is 4 micrometres, which takes that long."""


def shoot(direction: Array, points: Array, interpolation: str = "LINEAR") -> bpy.types.Object:
    """A projectile through the origin along a unit vector."""
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 24, FIRST, LAST
    bullet = add_points("Bullet", points)
    ends = [(frame, direction * SPEED * (frame - PASSING)) for frame in (FIRST, LAST)]
    key(bullet, "location", ends, interpolation)
    return bullet


def only_contact(**settings: object):
    (contact,) = contacts_by_names(scanned(**settings)).values()
    assert contact.first.tunnelling
    assert not contact.first.at_start
    assert contact.first.uncertainty <= 1e-3
    return contact


@pytest.mark.parametrize("motion", ["adaptive", "linear"])
@pytest.mark.parametrize("shape", ["aabb", "obb"])
def test_projectile_through_an_upright_plate(shape, motion):
    shoot(np.array([1.0, 0, 0]), box_points([RADIUS] * 3))
    add_points("Plate", box_points([HALF_PLATE, 0.5, 0.5]))
    contact = only_contact(shape=shape, motion=motion)
    # The front face reaches the plate's 6 mm before the middles meet, and leaves it 6 mm after.
    half = (RADIUS + HALF_PLATE) / SPEED
    assert contact.first.frame == pytest.approx(PASSING - half, abs=2 * TIME_OF_SINGLE)
    (span,) = contact.intervals
    assert span.end == pytest.approx(PASSING + half, abs=2 * TIME_OF_SINGLE)


@pytest.mark.parametrize("motion", ["adaptive", "linear"])
@pytest.mark.parametrize(("plate_turn", "bullet_turn"), [(0.6, 0.0), (-1.1, 0.4), (0.3, 1.2)])
def test_projectile_through_a_plate_at_an_angle(plate_turn, bullet_turn, motion):
    shoot(np.array([1.0, 0, 0]), box_points([RADIUS] * 3)).rotation_euler = (0, 0, bullet_turn)
    add_points("Plate", box_points([HALF_PLATE, 0.5, 0.5])).rotation_euler = (0, 0, plate_turn)
    contact = only_contact(shape="obb", motion=motion)
    # Seen along the plate's normal, which is at plate_turn to the way: the cube's reach and the plate's.
    apart = plate_turn - bullet_turn
    reach = RADIUS * (abs(math.cos(apart)) + abs(math.sin(apart))) + HALF_PLATE
    expected = PASSING - reach / (SPEED * abs(math.cos(plate_turn)))
    assert contact.first.frame == pytest.approx(expected, abs=3 * TIME_OF_SINGLE)


@pytest.mark.parametrize("motion", ["adaptive", "linear"])
def test_a_ball_hits_a_ball(motion):
    direction = np.array([2.0, 1.0, 2.0]) / 3
    shoot(direction, ball_points(RADIUS))
    # Off the way by 4 mm: the middles are 6 mm apart at the first contact.
    aside = 0.004 * np.array([1.0, -2.0, 0.0]) / math.sqrt(5)
    add_points("Target", ball_points(HALF_PLATE)).location = aside
    contact = only_contact(shape="sphere", motion=motion)
    along = math.sqrt((RADIUS + HALF_PLATE) ** 2 - 0.004**2)
    # Some micrometres across the way matter more here, by half as much again.
    assert contact.first.frame == pytest.approx(PASSING - along / SPEED, abs=4 * TIME_OF_SINGLE)


@pytest.mark.parametrize("motion", ["adaptive", "linear"])
def test_near_miss_at_high_speed_is_no_contact(motion):
    shoot(np.array([1.0, 0, 0]), ball_points(RADIUS))
    # A tenth of a millimetre between them.
    add_points("Target", ball_points(HALF_PLATE)).location = (0, RADIUS + HALF_PLATE + 1e-4, 0)
    result = scanned(shape="sphere", motion=motion)
    assert not result.report.contacts
    (near,) = result.report.clearances
    assert near.gap == pytest.approx(1e-4, abs=2e-6)
    assert near.frame == pytest.approx(PASSING, abs=1e-3)


def test_sphere_trees_touch_no_later_than_plate():
    mesh = bpy.data.meshes.new("Plate")
    corners = box_points([HALF_PLATE, 0.05, 0.05])
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.from_pydata(corners.tolist(), [], faces)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Plate", mesh))
    bullet = shoot(np.array([1.0, 0, 0]), box_points([RADIUS] * 3))
    bullet.data.clear_geometry()
    bullet.data.from_pydata(box_points([RADIUS] * 3).tolist(), [], faces)
    contact = only_contact(shape="spheres")
    # Spheres hold what they are around and meet before it, but no sooner than spheres around whole faces do.
    half = (RADIUS + HALF_PLATE) / SPEED
    around = half + (RADIUS + 0.05) * math.sqrt(2) / SPEED
    assert PASSING - around <= contact.first.frame <= PASSING - half + 2 * TIME_OF_SINGLE


@pytest.mark.parametrize("shape", ["aabb", "obb"])
def test_eased_projectile_sampled_only_at_rest_is_found(shape):
    # At rest up to frame 3 and from 4 on. In between, what Blender calls SINE eased in and out:
    # x(t) = start + way (1 - cos(pi t)) / 2.
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
    part = (-RADIUS - HALF_PLATE - start) / SPEED
    expected = 3 + math.acos(1 - 2 * part) / math.pi
    assert contact.first.frame == pytest.approx(expected, abs=1e-3)
    assert contact.first.frame <= expected + contact.first.uncertainty + 4 * TIME_OF_SINGLE
