"""Objects that scales of 0 or nearly 0 make flat, which turn while another one falls through."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.scene.building import CUBE, add_object, add_vertices, key_location
from tests.scene.sampling import contacts_by_names, scan_scene

pytestmark = pytest.mark.usefixtures("empty_file")

PAIR = frozenset(("Falls", "Flat"))
SHAPES = ("aabb", "sphere", "obb", "spheres", "capsule", "compound")
SCALES = {
    "one scale 0": (1, 1, 0),
    "two scales 0": (1, 0, 0),
    "three scales 0": (0, 0, 0),
    "mirrored and flat": (-1, 1, 0),
    "thin": (1, 1, 1e-3),
    "nearly 0": (1, 1, -1e-30),
    "without precision": (1e-42, 1e-42, 1e-42),
}
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def add_scene(scale, by_parent=False):
    """Add a cube of side 1 that turns about the origin with a scale, and another that falls through it."""
    bpy.context.scene.frame_end = 13
    flat = add_vertices("Flat", CUBE / 2, QUADS)
    turning = flat
    if by_parent:
        turning = add_object("Parent")
        flat.parent = turning
    turning.scale = scale
    for frame, angles in ((1, (0, 0, 0)), (13, (0.5, 0.3, 0))):
        turning.rotation_euler = angles
        turning.keyframe_insert("rotation_euler", frame=frame)
    key_location(add_vertices("Falls", CUBE / 2, QUADS), {1: (0, 0, 3), 13: (0, 0, -1)})
    bpy.context.view_layer.update()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
@pytest.mark.parametrize("by_parent", [False, True])
def test_object_that_falls_through_a_flat_one_touches_it(scale, shape, by_parent):
    add_scene(scale, by_parent)
    contact = contacts_by_names(scan_scene(shape=shape))[PAIR]
    # At the latest when the face of the one reaches the center of the other, which stays at the origin.
    assert contact.first.frame <= 1 + 12 * (3 - 0.5) / 4 + 0.001


def test_sphere_of_a_flat_object_touches_when_blenders_vertices_say_so():
    add_scene((1, 1, 0))
    contact = contacts_by_names(scan_scene(shape="sphere"))[PAIR]
    # Spheres around squares and cubes of side 1: their radii do not change while they turn.
    distance = np.sqrt(0.5) + np.sqrt(0.75)
    assert contact.first.frame == pytest.approx(1 + 12 * (3 - distance) / 4, abs=0.001)
    assert contact.first.motion == "proven"
