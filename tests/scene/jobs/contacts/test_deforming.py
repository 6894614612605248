"""Deforming objects: contacts as when every evaluated mesh is fitted again at each of many samples.

The truth is made by the test: Blender evaluated at every 1/64 frame, boxes and smallest spheres around what
it shows, straight lines between.
"""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

from addon.scene.settings import Selection
from tests.scene.independent import minimal_sphere
from tests.scene.jobs.contacts.test_example_contacts import load_example
from tests.scene.sampled import (
    Array,
    add_object,
    add_points,
    ball_points,
    box_points,
    contacts_by_names,
    go_to,
    key,
    scanned,
    touch,
    world_points,
)
from tests.tiers import is_quick, times

pytestmark = pytest.mark.usefixtures("empty_file")

STEPS = times(64, 32)


# --- the truth -------------------------------------------------------------------------------------------


def boxes(times: Array, name: str) -> Array:
    """(t, 2, 3) low and high corners of a thing's evaluated vertices."""
    sides = []
    for time in times:
        go_to(time)
        points = world_points(name)
        sides.append((points.min(axis=0), points.max(axis=0)))
    return np.array(sides)


def spheres(times: Array, name: str) -> Array:
    """(t, 4) centre and radius of the smallest sphere around them."""
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


def check(name: str, target: str, frames: tuple[int, int], shape: str) -> None:
    """Compare a scan with the truth; the pair must touch, after the first frame."""
    found = contacts_by_names(scanned(shape=shape, frames=(*frames, 1), selection=Selection((name, target))))
    fitted, gaps = (boxes, box_gaps) if shape == "aabb" else (spheres, sphere_gaps)
    # Spheres take long, so look closely only around the whole frames that tell when. So does the quick tier.
    times = np.arange(frames[0], frames[1] + 1.0)
    if shape == "sphere" or is_quick():
        coarse = gaps(fitted(times, name), fitted(times, target))
        first = touch(times, coarse).first
        assert first is not None
        times = np.linspace(max(frames[0], math.floor(first) - 1.0), math.floor(first) + 1.0, 2 * STEPS + 1)
    else:
        times = np.linspace(*frames, STEPS * (frames[1] - frames[0]) + 1)
    truth = touch(times, gaps(fitted(times, name), fitted(times, target)))
    assert truth.first is not None
    assert truth.first > frames[0], "the scene of this test must not begin with a contact"
    told = found[frozenset((name, target))].first
    assert not told.at_start
    # Single precision leaves about a micrometre of a few metres.
    assert told.frame == pytest.approx(truth.first, abs=1e-3 + 2e-6 / truth.slope)
    assert told.frame <= truth.first + told.uncertainty + 3e-4
    assert told.motion == "adaptive"


SHAPES = ["aabb", "sphere"]


# --- scenes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_skinned_arm_of_example_presses_button(shape):
    example = load_example()
    example.build_scene()
    if shape == "sphere":
        # The spheres around the two overlap from the beginning: one of the arm's height lies farther off.
        example.bpy.data.objects["Button"].location.x += 0.5
    check("Arm", "Button", (1, 40), shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_shape_keys(shape):
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
    check("Blob", "Wall", (1, 20), shape)


@pytest.mark.parametrize("shape", [pytest.param("aabb", marks=pytest.mark.smoke), "sphere"])
def test_geometry_nodes_that_move_points_over_time(shape):
    item = add_points("Jelly", ball_points(0.5))
    item.modifiers.new("Sway", "NODES").node_group = sway()
    add_points("Wall", box_points((0.1, 0.1, 0.1))).location = (1.0, 0.0, 0.1)
    bpy.context.scene.render.fps = 24
    check("Jelly", "Wall", (1, 30), shape)


def sway() -> bpy.types.NodeTree:
    """Points go along X by 2 z sin(3 s), with s the seconds."""
    tree = bpy.data.node_groups.new("Sway", "GeometryNodeTree")
    tree.is_modifier = True
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    nodes = {
        kind: tree.nodes.new(kind)
        for kind in (
            "NodeGroupInput",
            "NodeGroupOutput",
            "GeometryNodeInputSceneTime",
            "GeometryNodeInputPosition",
            "ShaderNodeSeparateXYZ",
            "ShaderNodeCombineXYZ",
            "GeometryNodeSetPosition",
        )
    }
    angle, wave, amount, twice = (tree.nodes.new("ShaderNodeMath") for _ in range(4))
    angle.operation = amount.operation = twice.operation = "MULTIPLY"
    wave.operation = "SINE"
    angle.inputs[1].default_value, twice.inputs[1].default_value = 3.0, 2.0
    place = nodes["GeometryNodeSetPosition"]
    link = tree.links.new
    link(nodes["GeometryNodeInputSceneTime"].outputs["Seconds"], angle.inputs[0])
    link(angle.outputs[0], wave.inputs[0])
    link(nodes["GeometryNodeInputPosition"].outputs[0], nodes["ShaderNodeSeparateXYZ"].inputs[0])
    link(nodes["ShaderNodeSeparateXYZ"].outputs["Z"], amount.inputs[0])
    link(wave.outputs[0], amount.inputs[1])
    link(amount.outputs[0], twice.inputs[0])
    link(twice.outputs[0], nodes["ShaderNodeCombineXYZ"].inputs["X"])
    link(nodes["ShaderNodeCombineXYZ"].outputs[0], place.inputs["Offset"])
    link(nodes["NodeGroupInput"].outputs[0], place.inputs["Geometry"])
    link(place.outputs["Geometry"], nodes["NodeGroupOutput"].inputs[0])
    return tree


@pytest.mark.parametrize("shape", SHAPES)
def test_keyed_modifier_on_moving_object(shape):
    item = add_points("Bar", [(0.1 * k, y, z) for k in range(21) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
    bend = item.modifiers.new("Bend", "SIMPLE_DEFORM")
    bend.deform_method, bend.deform_axis = "BEND", "Z"
    key(bend, "angle", [(1, 0.0), (15, math.radians(170))], "BEZIER")
    key(item, "location", [(1, (-0.5, -0.5, 0)), (15, (0.5, 0.7, 0.3))], "QUAD")
    add_points("Wall", box_points((0.1, 0.1, 0.1))).location = (0.4, 1.85, 0.3)
    check("Bar", "Wall", (1, 15), shape)


@pytest.mark.parametrize("shape", ["aabb", pytest.param("sphere", marks=pytest.mark.long)])
def test_curve_with_growing_bevel(shape):
    curve = bpy.data.curves.new("Hose", "CURVE")
    curve.dimensions = "3D"
    line = curve.splines.new("POLY")
    line.points.add(2)
    for point, place in zip(line.points, ((0, 0, 0), (1, 0, 0.2), (2, 0.3, 0)), strict=True):
        point.co = (*place, 1)
    add_object("Hose", curve)
    key(curve, "bevel_depth", [(1, 0.05), (12, 0.8)], "BEZIER")
    add_points("Wall", box_points((0.1, 0.1, 0.1))).location = (1.0, 0.4, 0.9 if shape == "aabb" else 1.55)
    check("Hose", "Wall", (1, 12), shape)
