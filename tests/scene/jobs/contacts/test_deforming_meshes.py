"""Contacts of deforming objects, compared with fits to the evaluated mesh at many times.

The reference is computed by the test: Blender is evaluated at every 1/64 frame, boxes and minimal spheres are
fitted to the vertices, and gaps are interpolated linearly.
"""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

from addon.scene.settings import Selection
from tests.scene.building import Nodes, load_example
from tests.scene.enclosing import change_settings
from tests.scene.independent.geometry import minimal_sphere
from tests.scene.sampling import (
    Array,
    add_faces,
    add_object,
    add_points,
    ball_points,
    box_points,
    contacts_by_names,
    delete_faces_by_frame,
    find_touch,
    go_to,
    key,
    scan_scene,
    world_points,
)
from tests.tiers import is_quick, times

pytestmark = pytest.mark.usefixtures("empty_file")

STEPS = times(64, 32)


# ---- Reference


def fit_boxes(times: Array, name: str) -> Array:
    """Minimum and maximum corners (t, 2, 3) of the evaluated vertices of an object."""
    sides = []
    for time in times:
        go_to(time)
        points = world_points(name)
        sides.append((points.min(axis=0), points.max(axis=0)))
    return np.array(sides)


def fit_spheres(times: Array, name: str) -> Array:
    """Center and radius (t, 4) of the minimal sphere around the evaluated vertices of an object."""
    found = []
    for time in times:
        go_to(time)
        center, radius = minimal_sphere(world_points(name))
        found.append([*center, radius])
    return np.array(found)


def box_gaps(a: Array, b: Array) -> Array:
    return np.maximum(a[:, 0] - b[:, 1], b[:, 0] - a[:, 1]).max(axis=1)


def sphere_gaps(a: Array, b: Array) -> Array:
    return np.sqrt(((a - b)[:, :3] ** 2).sum(axis=1)) - a[:, 3] - b[:, 3]


def assert_contact_matches(
    name: str, target: str, frames: tuple[int, int], shape: str, motion: str = "sampled"
) -> None:
    """Compare a scan with the reference. The pair must touch, and only after the first frame."""
    found = contacts_by_names(
        scan_scene(shape=shape, frames=(*frames, 1), selection=Selection((name, target)))
    )
    fit, gaps = (fit_boxes, box_gaps) if shape == "aabb" else (fit_spheres, sphere_gaps)
    # Minimal spheres are slow, so sample densely only around the whole frame of the contact. The quick tier
    # does the same.
    times = np.arange(frames[0], frames[1] + 1.0)
    if shape == "sphere" or is_quick():
        coarse = gaps(fit(times, name), fit(times, target))
        touch_time = find_touch(times, coarse).first
        assert touch_time is not None
        times = np.linspace(
            max(frames[0], math.floor(touch_time) - 1.0), math.floor(touch_time) + 1.0, 2 * STEPS + 1
        )
    else:
        times = np.linspace(*frames, STEPS * (frames[1] - frames[0]) + 1)
    reference = find_touch(times, gaps(fit(times, name), fit(times, target)))
    assert reference.first is not None
    assert reference.first > frames[0], "the scene must not start with a contact"
    first = found[frozenset((name, target))].first
    assert not first.at_start
    # Single precision has an error of about a micrometer at a few meters.
    assert first.frame == pytest.approx(reference.first, abs=1e-3 + 2e-6 / reference.slope)
    assert first.frame <= reference.first + first.uncertainty + 3e-4
    assert first.motion == motion


SHAPES = ["aabb", "sphere"]


# ---- Scenes


@pytest.mark.parametrize("shape", SHAPES)
def test_skinned_arm_of_example_presses_button(shape):
    example = load_example()
    example.build_scene()
    if shape == "sphere":
        # At the example's distance the two spheres overlap at the first frame, so the button is moved away.
        example.bpy.data.objects["Button"].location.x += 0.5
    # Boxes follow from the curves of the bones.
    assert_contact_matches("Arm", "Button", (1, 40), shape, "proven" if shape == "aabb" else "sampled")


@pytest.mark.parametrize("shape", SHAPES)
def test_animated_shape_keys_cause_contact(shape):
    item = add_points("Blob", ball_points(0.5))
    item.shape_key_add(name="Basis")
    long = item.shape_key_add(name="Long")
    for point, target in zip(item.data.vertices, long.data, strict=True):
        target.co = point.co * 2
        target.co.x = point.co.x * 5
    twist = item.shape_key_add(name="Twist")
    for point, target in zip(item.data.vertices, twist.data, strict=True):
        target.co = (point.co.x, -point.co.z, point.co.y + 0.4)
    key(long, "value", [(1, 0.0), (20, 1.0)], "BEZIER")
    key(twist, "value", [(1, 0.0), (7, 1.0), (13, 0.0), (20, 1.0)], "SINE")
    add_points("Wall", box_points((0.1, 0.1, 0.1))).location = (1.9, 0.3, 0.2)
    assert_contact_matches("Blob", "Wall", (1, 20), shape)


@pytest.mark.parametrize("shape", [pytest.param("aabb", marks=pytest.mark.smoke), "sphere"])
def test_geometry_nodes_that_move_points_cause_contact(shape):
    item = add_points("Jelly", ball_points(0.5))
    add_sway_nodes(item)
    add_points("Wall", box_points((0.1, 0.1, 0.1))).location = (1.0, 0.0, 0.1)
    bpy.context.scene.render.fps = 24
    assert_contact_matches("Jelly", "Wall", (1, 30), shape)


@pytest.mark.usefixtures("object_settings")
def test_mesh_that_geometry_nodes_make_deforms_though_the_object_has_a_custom_shape():
    # The cube of side 1 moves 1 per frame within its instance, and reaches the wall at x = 10 at frame 9.5.
    item = add_points("Maker", box_points((0.1, 0.1, 0.1)))
    item.collision_bounds.override, item.collision_bounds.half_extents = "box", (0.1, 0.1, 0.1)
    nodes = Nodes(item)
    cube = nodes.moved(nodes.add("GeometryNodeMeshCube").outputs[0], X=nodes.time("Frame"))
    nodes.end(nodes.add("GeometryNodeGeometryToInstance", {0: cube}).outputs[0])
    add_points("Wall", box_points((0.5, 0.5, 0.5))).location = (10.5, 0, 0)
    (found,) = scan_scene(frames=(1, 20, 1)).report.contacts
    assert found.first.frame == pytest.approx(9.5, abs=1e-3)


def add_sway_nodes(item: bpy.types.Object) -> None:
    """Add geometry nodes that move points along X by 2 z sin(3 s), where s is the time in seconds."""
    nodes = Nodes(item)
    wave = nodes.math("SINE", nodes.math("MULTIPLY", nodes.time("Seconds"), 3.0))
    place = nodes.add("GeometryNodeInputPosition").outputs[0]
    height = nodes.add("ShaderNodeSeparateXYZ", {0: place}).outputs["Z"]
    nodes.end(nodes.moved(nodes.mesh, X=nodes.math("MULTIPLY", nodes.math("MULTIPLY", height, wave), 2.0)))


@pytest.mark.parametrize("shape", SHAPES)
def test_animated_modifier_of_moving_object_causes_contact(shape):
    item = add_points("Bar", [(0.1 * k, y, z) for k in range(21) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
    deform = item.modifiers.new("Bend", "SIMPLE_DEFORM")
    deform.deform_method, deform.deform_axis = "BEND", "Z"
    key(deform, "angle", [(1, 0.0), (15, math.radians(170))], "BEZIER")
    key(item, "location", [(1, (-0.5, -0.5, 0)), (15, (0.5, 0.7, 0.3))], "QUAD")
    add_points("Wall", box_points((0.1, 0.1, 0.1))).location = (0.4, 1.85, 0.3)
    assert_contact_matches("Bar", "Wall", (1, 15), shape)


@pytest.mark.parametrize("shape", ["aabb", pytest.param("sphere", marks=pytest.mark.long)])
def test_growing_bevel_of_curve_causes_contact(shape):
    curve = bpy.data.curves.new("Hose", "CURVE")
    curve.dimensions = "3D"
    line = curve.splines.new("POLY")
    line.points.add(2)
    for point, position in zip(line.points, ((0, 0, 0), (1, 0, 0.2), (2, 0.3, 0)), strict=True):
        point.co = (*position, 1)
    add_object("Hose", curve)
    key(curve, "bevel_depth", [(1, 0.05), (12, 0.8)], "BEZIER")
    add_points("Wall", box_points((0.1, 0.1, 0.1))).location = (1.0, 0.4, 0.9 if shape == "aabb" else 1.55)
    assert_contact_matches("Hose", "Wall", (1, 12), shape)


@pytest.mark.parametrize("is_split", [False, True])
@pytest.mark.parametrize("count", [1, 5])
def test_sphere_tree_follows_faces_that_nodes_switch(object_settings, count, is_split):
    # Squares around x = 0 and x = 10; from frame 10.3 on a bridge between both. The vertices and edges stay.
    points = [(x, y, 0) for x in (0, 10, -1, 11) for y in range(count + 1)]
    here, there, near, far = (range(k * (count + 1), (k + 1) * (count + 1)) for k in range(4))
    pairs = [(near, here), (there, far), (here, there), (here, there)]
    faces = [(a[y], b[y], b[y + 1], a[y + 1]) for a, b in pairs for y in range(count)]
    if is_split:
        # Another loose part far away, with a face before and one after.
        last = len(points)
        points += [(5 + x, 50 + y, 0) for x in (0, 1) for y in (0, 1)]
        faces = [(last, last + 1, last + 2), *faces, (last + 1, last + 2, last + 3)]
    bridge = add_faces("Bridge", points, faces)
    delete_faces_by_frame(bridge, 10.3)
    if is_split:
        change_settings(bridge, bounds_for="loose_parts")
    # The ball goes down through the middle and up again, from frame 9 at z = -8.
    ball = add_points("Ball", ball_points(0.1))
    key(ball, "location", [(1, (5, 0.5, 8)), (9, (5, 0.5, -8)), (18, (5, 0.5, 8))])
    result = scan_scene(shape="spheres", frames=(1, 18, 1))
    (contact,) = result.report.contacts
    assert result.subjects[contact.b].name == ("Bridge/part.0" if is_split else "Bridge")
    # The spheres enclose the bridge, which the ball touches at z = -0.1, and there is none before frame 10.3.
    assert 10.3 - 2e-4 <= contact.first.frame <= 9 + 9 * 7.9 / 16
