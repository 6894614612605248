"""Evaluations of the scene by a scan of objects without size, which exactly touch something that moves."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import numpy as np
import pytest

from tests.scene.building import add_object, add_vertices, key_location, open_empty_file, play
from tests.scene.sampling import contacts_by_names, scan_scene

FRAMES = 4
MOST = 60
"""Samples of one pair within one interval."""


def add_carrier(name: str, points: object = None) -> bpy.types.Object:
    """Add an object, without geometry unless there are points, that drives along a curve."""
    if points is None:
        item = add_object(name)
    else:
        item = add_vertices(name, points)
    key_location(item, {1: (-20, 0, 1), FRAMES: (20, 4, 1)}, "BEZIER")
    play(item)
    return item


def add_truck_with_rock(scale: float) -> None:
    """Add a truck that drives on a floor, and under it a rock of side 2 * scale that slides on the floor."""
    add_vertices("Floor", [(x, y, 0) for x in (-50, 50) for y in (-50, 50)])
    truck = add_carrier("Truck", [(x, y, z) for x in (-2, 2) for y in (-1, 1) for z in (0, 2)])
    add_vertices("Rock", scale=(scale,) * 3, parent=truck, location=(0, 0, scale - 1))


def add_hidden_pair() -> None:
    """Add two objects of scale 0, carried by one empty."""
    carrier = add_carrier("Carrier")
    for name in "AB":
        add_vertices(name, scale=(0, 0, 0), parent=carrier, location=(0.5, 0.2, 0.3))


def add_lone_vertices() -> None:
    """Add two single vertices at one place, carried by one empty."""
    carrier = add_carrier("Carrier")
    for name in "AB":
        add_vertices(name, [(0, 0, 0)], parent=carrier, location=(0.5, 0.2, 0.3))


def evaluations(shape: str) -> int:
    """Scan the open scene, and return how often its frame was changed."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
    bpy.context.view_layer.update()
    count = 0

    def counted(*_: object) -> None:
        nonlocal count
        count += 1

    bpy.app.handlers.frame_change_post.append(counted)
    try:
        result = scan_scene(shape=shape)
    finally:
        bpy.app.handlers.frame_change_post.remove(counted)
    assert len(result.subjects) == len([item for item in bpy.data.objects if item.type == "MESH"])
    for contact in contacts_by_names(result).values():
        assert contact.first.at_start
        assert contact.first.uncertainty == 0
    return count


@pytest.mark.parametrize("shape", ["aabb", "obb", "sphere", "spheres"])
@pytest.mark.parametrize("build", [add_hidden_pair, add_lone_vertices], ids=lambda build: build.__name__)
def test_points_at_one_place_take_at_most_sixty_samples_per_interval(build: Callable[[], None], shape: str):
    open_empty_file()
    build()
    # Each frame, and a time between two of them.
    assert evaluations(shape) <= (MOST + 2) * (FRAMES - 1) + 2 * FRAMES + 1


@pytest.mark.parametrize("shape", ["aabb", pytest.param("obb", marks=pytest.mark.long), "sphere", "spheres"])
def test_rock_of_scale_zero_takes_little_more_samples_than_a_rock_of_scale_one(shape: str):
    counts = []
    for scale in (1.0, 1e-3, 0.0):
        open_empty_file()
        add_truck_with_rock(scale)
        counts.append(evaluations(shape))
    assert np.max(counts[1:]) <= 2 * counts[0] + 4
