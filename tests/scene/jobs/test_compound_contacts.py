"""Contacts of convex parts: notches stay open, no contact is late, and frames are those of the boxes."""

from __future__ import annotations

import itertools

import bpy
import numpy as np
import pytest
from mathutils.bvhtree import BVHTree

from addon.scene.jobs.bounds import compute_bounds
from addon.scene.settings import BoundsSettings, FitSettings
from tests.core.compound.meshes_with_notches import (
    L_OUTLINE,
    L_TRIANGLES,
    U_OUTLINE,
    U_TRIANGLES,
    prism,
    ring,
)
from tests.scene.sampling import add_box, add_faces, contacts_by_names, curves_of, go_to, key, scan_scene
from tests.tiers import times

pytestmark = pytest.mark.usefixtures("empty_file")

FRAMES = np.arange(1, 11 + 1 / 32, 1 / 16)


def add_solid(name: str, triangles: np.ndarray) -> bpy.types.Object:
    points, index = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    return add_faces(name, points.tolist(), index.reshape(-1, 3).tolist())


def scan(shape: str = "compound", parts: int = 8, **settings: object):
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 11
    return contacts_by_names(scan_scene(shape=shape, fit=FitSettings(parts=parts), **settings))


def part_boxes(parts: int = 8) -> dict[str, list[tuple[np.ndarray, np.ndarray, np.ndarray]]]:
    """Center, half extents and rotation of the box of each part, in the axes of the world at this frame."""
    settings = BoundsSettings(shapes=("compound",), fit=FitSettings(parts=parts, part_shape="box"))
    result = compute_bounds(bpy.context.scene, settings)
    return {
        entry.name: [
            (box.center, box.half_extents, box.rotation) for (each,) in [entry.world] for box in each.parts
        ]
        for entry in result.objects
    }


def boxes_touch(a, b) -> bool:
    """Test two boxes along the axes of both, and along the normals of all pairs of edges."""
    (center_a, half_a, axes_a), (center_b, half_b, axes_b) = a, b
    crossed = [np.cross(first, second) for first in axes_a.T for second in axes_b.T]
    for axis in (*axes_a.T, *axes_b.T, *crossed):
        reach = np.abs(axis @ axes_a) @ half_a + np.abs(axis @ axes_b) @ half_b
        if abs(axis @ (center_b - center_a)) > reach:
            return False
    return True


def compounds_touch(time: float, parts: int = 8) -> bool:
    go_to(time)
    first, second = part_boxes(parts).values()
    return any(boxes_touch(a, b) for a, b in itertools.product(first, second))


def meshes_touch(time: float) -> bool:
    """Return whether triangles of both objects intersect, by Blender."""
    go_to(time)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    trees = []
    for item in bpy.context.scene.objects:
        evaluated = item.evaluated_get(depsgraph)
        mesh = evaluated.to_mesh()
        points = [evaluated.matrix_world @ vertex.co for vertex in mesh.vertices]
        mesh.calc_loop_triangles()
        trees.append(BVHTree.FromPolygons(points, [tuple(each.vertices) for each in mesh.loop_triangles]))
        evaluated.to_mesh_clear()
    return bool(trees[0].overlap(trees[1]))


def first_time(touches) -> tuple[float, float] | None:
    """Return sampled times before and at the first contact, 1/256 of a frame apart; None without one."""
    index = next((number for number, time in enumerate(FRAMES) if touches(time)), None)
    if index is None:
        return None
    if index == 0:
        return 1.0, 1.0
    fine = FRAMES[index - 1] + np.arange(17) / 256
    step = next((number for number, time in enumerate(fine) if touches(time)), 16)
    return fine[max(step - 1, 0)], fine[step]


@pytest.mark.parametrize("motion", ["adaptive", "linear"])
def test_peg_goes_into_notch_and_meets_its_bottom(motion):
    """The notch of the U is from 1 to 2 along X, and its bottom at 1 along Y."""
    add_solid("U", prism(U_OUTLINE, U_TRIANGLES))
    peg = add_box("Peg", (0.4, 0.4, 0.4))
    key(peg, "location", [(1, (1.5, 5, 0.5)), (11, (1.5, 1, 0.5))], "LINEAR")
    (contact,) = scan(motion=motion).values()
    expected = 1 + (5 - 1.4) / 0.4
    assert expected - 0.2 <= contact.first.frame <= expected + 1e-5
    # One box around all is touched at its top, at 2.
    (contact,) = scan("obb", motion=motion).values()
    assert contact.first.frame == pytest.approx(1 + (5 - 2.4) / 0.4, abs=1e-4)


@pytest.mark.long
def test_ball_flies_through_ring_and_meets_its_rim_only_off_center():
    add_solid("Ring", ring())
    for number, (x, touches) in enumerate(((0.0, False), (0.6, True))):
        item = add_box(f"Ball {number}", (0.2, 0.2, 0.2))
        key(item, "location", [(1, (x, 0, -3)), (11, (x, 0, 3))], "LINEAR")
        found = scan(parts=16)
        assert (frozenset(("Ring", item.name)) in found) == touches
    assert frozenset(("Ring", "Ball 0")) in scan("obb")


def random_pair(rng: np.random.Generator) -> None:
    outlines = (prism(L_OUTLINE, L_TRIANGLES), prism(U_OUTLINE, U_TRIANGLES))
    for name, start, end in (("A", (-6, 0, 0), (6, 0, 0)), ("B", (0, -6, 0), (0, 6, 0))):
        solid = outlines[rng.integers(2)] - [1.5, 1, 0.5]
        item = add_solid(name, solid)
        item.scale = [float(rng.uniform(0.5, 2))] * 3
        places = [np.array(each) + rng.uniform(-1.2, 1.2, 3) for each in (start, end)]
        key(item, "location", [(1, places[0].tolist()), (11, places[1].tolist())], "LINEAR")
        turns = rng.uniform(-4, 4, (2, 3))
        key(item, "rotation_euler", [(1, turns[0].tolist()), (11, turns[1].tolist())], "LINEAR")


@pytest.mark.long
@pytest.mark.parametrize("seed", range(times(2, full=40)))
def test_frame_is_that_of_dense_sampling_of_boxes_and_not_after_the_meshes(seed):
    random_pair(np.random.default_rng(seed))
    found = scan(parts=4)
    boxes, meshes = first_time(lambda time: compounds_touch(time, 4)), first_time(meshes_touch)
    if boxes is None:
        # Shorter contacts than the samples are possible.
        assert meshes is None
        return
    (contact,) = found.values()
    assert boxes[0] - contact.first.uncertainty - 2e-5 <= contact.first.frame <= boxes[1] + 2e-5
    assert meshes is None or contact.first.frame <= meshes[1]


@pytest.mark.parametrize("seed", range(times(2, full=10)))
def test_contacts_of_deforming_and_unevenly_scaled_objects_are_not_late(seed):
    rng = np.random.default_rng(100 + seed)
    random_pair(rng)
    a, b = (bpy.data.objects[name] for name in "AB")
    a.shape_key_add(name="Basis")
    bent = a.shape_key_add(name="Bent")
    for point in bent.data:
        point.co.z += float(np.sin(3 * point.co.x)) * 0.5
    for frame, value in ((1, 0.0), (11, 1.0)):
        bent.value = value
        bent.keyframe_insert("value", frame=frame)
    for curve in curves_of(a.data.shape_keys):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    key(b, "scale", [(1, (1, 1, 1)), (11, (2, 0.5, 1.5))], "LINEAR")
    meshes = first_time(meshes_touch)
    found = scan(parts=4)
    if meshes is not None:
        (contact,) = found.values()
        # Sampled, and not known: as late as its uncertainty.
        assert contact.first.frame <= meshes[1] + contact.first.uncertainty + 1e-3


def test_padding_and_custom_shapes(object_settings):
    add_solid("U", prism(U_OUTLINE, U_TRIANGLES))
    peg = add_box("Peg", (0.4, 0.4, 0.4))
    key(peg, "location", [(1, (1.5, 5, 0.5)), (11, (1.5, 1.6, 0.5))], "LINEAR")
    assert not scan()
    (contact,) = contacts_by_names(scan_scene(shape="compound", fit=FitSettings(padding=0.15))).values()
    # The walls of the notch are 0.1 from the peg: they meet at the tops, at 2, with 0.15 more on both sides.
    assert contact.first.frame <= 1 + (5 - 2.4 - 0.3) / 0.34 + 1e-5
    settings = bpy.data.objects["U"].collision_bounds
    settings.override, settings.radius = "sphere", 3.0
    (contact,) = scan().values()
    assert contact.first.frame < 1 + (5 - 3) / 0.34


def test_tolerance_closes_the_notch():
    add_solid("U", prism(U_OUTLINE, U_TRIANGLES))
    peg = add_box("Peg", (0.4, 0.4, 0.4))
    key(peg, "location", [(1, (1.5, 5, 0.5)), (11, (1.5, 1, 0.5))], "LINEAR")
    (contact,) = contacts_by_names(
        scan_scene(shape="compound", fit=FitSettings(parts_tolerance=2.0))
    ).values()
    assert contact.first.frame == pytest.approx(1 + (5 - 2.4) / 0.4, abs=1e-3)


@pytest.mark.parametrize("shape", ["obb", "compound"])
def test_all_overlaps_of_objects_at_rest_count_where_nothing_moves(shape):
    """Boxes whose turn is rounded do not count as moving, which would make the others static pairs."""
    rng = np.random.default_rng(5)
    for number in range(40):
        item = add_solid(f"Solid {number}", prism(L_OUTLINE, L_TRIANGLES))
        item.location = rng.uniform(0, 12, 3)
        item.rotation_euler = rng.uniform(-3, 3, 3) if number % 2 else (0, 0, 0)
    found = scan(shape).keys()
    assert len(found) > 10 and found == scan(shape, static_pairs=True).keys()
