"""Contacts of capsules: rods whose first contact is known, in motion that is linear, fast or deforming."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

from tests.scene.sampling import add_points, ball_points, contacts_by_names, curves_of, key, scan_scene

pytestmark = pytest.mark.usefixtures("empty_file")

RADIUS, HALF = 0.1, 2.0


def rod_points(half: float = HALF) -> np.ndarray:
    """Points of a capsule along Z: rings at both ends of its axis, and its tips."""
    angles = np.arange(24) * (math.pi / 12)
    rings = [(RADIUS * math.cos(a), RADIUS * math.sin(a), z) for a in angles for z in (-half, half)]
    slanted = RADIUS / math.sqrt(2)
    rings += [
        (slanted * math.cos(a), slanted * math.sin(a), sign * (half + slanted))
        for a in angles
        for sign in (-1, 1)
    ]
    return np.array([*rings, (0, 0, half + RADIUS), (0, 0, -half - RADIUS)])


def add_rod(name: str, **attributes: object) -> bpy.types.Object:
    item = add_points(name, rod_points())
    for attribute, value in attributes.items():
        setattr(item, attribute, value)
    return item


def scan(**settings: object):
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 11
    return contacts_by_names(scan_scene(shape="capsule", **settings))


def test_crossing_rods_touch_when_their_axes_are_two_radii_apart():
    """A falls along Z by 0.6 m a frame onto B."""
    falling = add_rod("A", rotation_euler=(0, math.pi / 2, 0))
    key(falling, "location", [(1, (0, 0, 3)), (11, (0, 0, -3))], "LINEAR")
    add_rod("B", rotation_euler=(math.pi / 2, 0, 0))
    (contact,) = scan().values()
    expected = 1 + (3 - 2 * RADIUS) / 0.6
    assert contact.first.motion == "proven"
    # The smallest capsule that is found may be larger than the rod by a percent.
    assert expected - 0.01 <= contact.first.frame <= expected + 1e-5
    assert contact.depth == pytest.approx(2 * RADIUS, rel=0.02)
    np.testing.assert_allclose(np.abs(contact.first.normal), (0, 0, 1), atol=1e-6)


def test_rods_at_an_angle_pass_where_their_oriented_boxes_touch():
    """Two rods in one plane, turned by 45 degrees about their axes: corners of boxes reach farther."""
    add_rod("A")
    for gap, touches in ((0.01, False), (-0.01, True)):
        moving = add_rod(f"B {touches}", rotation_euler=(0, 0, math.pi / 4))
        x = 2 * RADIUS * 1.01 + gap
        key(moving, "location", [(1, (x, -5, 0)), (11, (x, 5, 0))], "LINEAR")
    found = scan()
    assert frozenset(("A", "B True")) in found and frozenset(("A", "B False")) not in found


def test_rod_that_turns_twice_a_frame_is_not_missed():
    """The ends of the rotor pass the post eight times within each frame, and at no whole frame."""
    rotor = add_rod("Rotor")
    start = math.pi / 2
    key(rotor, "rotation_euler", [(1, (start, 0, 0)), (11, (start + 40 * math.pi, 0, 0))], "LINEAR")
    distance = HALF + 0.15
    add_rod("Post", location=(0, 0, -distance), rotation_euler=(0, math.pi / 2, 0))
    (contact,) = scan().values()
    # An end at this angle from the direction of the post is two radii from the axis of the post.
    cosine = (HALF**2 + distance**2 - (2 * RADIUS) ** 2) / (2 * HALF * distance)
    expected = 1 + (math.pi / 2 - math.acos(cosine)) / (4 * math.pi)
    assert contact.first.motion == "proven"
    assert contact.first.tunnelling
    assert expected - 0.002 <= contact.first.frame <= expected + 1e-5


def test_rod_that_grows_longer_keeps_its_axis():
    """A shape key stretches the rod along its axis by 0.2 m a frame, until its tip reaches the ball."""
    item = add_rod("Rod")
    item.shape_key_add(name="Basis")
    longer = item.shape_key_add(name="Longer")
    points = rod_points()
    points[:, 2] += np.sign(points[:, 2]) * 2.0
    for point, location in zip(longer.data, points, strict=True):
        point.co = location
    for frame, value in ((1, 0.0), (11, 1.0)):
        longer.value = value
        longer.keyframe_insert("value", frame=frame)
    for curve in curves_of(item.data.shape_keys):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    add_points("Ball", ball_points(0.5)).location = (0, 0, 4)
    (contact,) = scan().values()
    # The tip is at HALF + RADIUS + 0.2 (frame - 1), and the ball begins at 3.5.
    expected = 1 + (4 - 0.5 - HALF - RADIUS) / 0.2
    assert expected - 0.2 <= contact.first.frame <= expected + 1e-3
