"""Settings of single objects: bounds enclose all vertices, whatever the settings."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import bpy
import numpy as np
import pytest

from addon.cli.main import main
from addon.core import Aabb, Obb, Sphere
from addon.scene.blender import object_properties
from tests.paths import TOP
from tests.scene.building import CUBE, curves
from tests.scene.enclosing import (
    CLOUD,
    POSE,
    SHAPES,
    add_item,
    animate,
    bounds_by_name,
    change_settings,
    encloses,
    sample_shapes,
    scan_with_static_pairs,
    world_vertices,
)

pytestmark = pytest.mark.usefixtures("object_settings")


def test_disabled_settings_change_nothing():
    add_item("A", **POSE)
    plain, _ = bounds_by_name()
    item = bpy.data.objects["A"]
    change_settings(item, padding=3.0, bounds_for="loose_parts").collision_bounds.use_object_settings = False
    again, _ = bounds_by_name()
    assert again["A"].world[0].radius == plain["A"].world[0].radius
    assert list(again) == ["A"]


@pytest.mark.parametrize("shape", SHAPES)
def test_each_subject_has_its_padding(shape):
    animate(add_item("Plain", **POSE))
    animate(change_settings(add_item("Padded", **POSE), padding=0.75))
    for frame in sample_shapes(shape, padding=0.25):
        assert encloses(frame["Plain"], world_vertices(bpy.data.objects["Plain"]), margin=0.25)
        assert encloses(frame["Padded"], world_vertices(bpy.data.objects["Padded"]), margin=0.75)
        assert not encloses(frame["Plain"], world_vertices(bpy.data.objects["Plain"]), margin=0.5)


@pytest.mark.parametrize("shape", SHAPES)
def test_bounds_enclose_base_mesh_of_one_object_and_evaluated_mesh_of_another(shape):
    for name, modifiers in (("Base", "base"), ("Shown", "evaluated")):
        item = change_settings(add_item(name, **POSE), modifiers=modifiers)
        item.modifiers.new("Array", "ARRAY").count = 3
        animate(item)
    for frame in sample_shapes(shape):
        base, shown = bpy.data.objects["Base"], bpy.data.objects["Shown"]
        assert encloses(frame["Base"], world_vertices(base))
        evaluated = shown.evaluated_get(bpy.context.evaluated_depsgraph_get())
        points = [tuple(vertex.co) for vertex in evaluated.data.vertices]
        assert len(points) == 3 * len(CLOUD)
        assert encloses(frame["Shown"], world_vertices(shown, points))
        assert not encloses(frame["Base"], world_vertices(base, points))


def test_boxes_with_object_and_with_world_axes_in_one_scan():
    animate(add_item("World", **POSE))
    animate(change_settings(add_item("Custom", **POSE), axes="object"))
    for frame in sample_shapes("aabb"):
        for name in ("World", "Custom"):
            item = bpy.data.objects[name]
            assert isinstance(frame[name], Obb) and encloses(frame[name], world_vertices(item))
        assert np.allclose(frame["World"].rotation, np.eye(3))
        rotation = np.array(bpy.data.objects["Custom"].matrix_world.to_quaternion().to_matrix())
        assert np.allclose(frame["Custom"].rotation, rotation, atol=1e-5)
    found, _ = bounds_by_name()
    assert [type(shape) for shape in found["Custom"].world] == [Sphere, Aabb, Obb]
    assert [type(shape) for shape in found["World"].world] == [Sphere, Aabb]


def test_axes_decide_whether_rotated_box_is_in_contact():
    # A square rotated by 45 degrees reaches only to x + y = sqrt(2), its world-axis box to (1.41, 1.41).
    rotated = add_item("Rotated", CUBE, [], rotation_euler=(0, 0, math.pi / 4))
    add_item("Near", CUBE, [], location=(2.2, 2.2, 0))
    report = scan_with_static_pairs(frames=(1, 1, 1)).report
    assert len(report.contacts) == 1
    change_settings(rotated, axes="object")
    result = scan_with_static_pairs(frames=(1, 1, 1))
    assert not result.report.contacts
    assert result.scanned.shape == "obb"
    document = result.document()
    assert all("obb" in entry["world"] for entry in document["objects"])
    rotated.collision_bounds.axes = "world"
    assert len(scan_with_static_pairs("obb", frames=(1, 1, 1)).report.contacts) == 1


def test_tree_depth_limits_number_of_spheres():
    change_settings(add_item("Shallow"), depth=1)
    add_item("Plain")
    frame = next(iter(sample_shapes("spheres", frames=(1,))))
    assert len(frame["Shallow"].radius) == 2
    assert 2 < len(frame["Plain"].radius) <= 16
    for shapes in frame.values():
        assert encloses(shapes, CLOUD)


@pytest.mark.smoke
def test_animated_padding_causes_contact():
    # Two cubes of side 2 at a distance of 4: the gap is 2. The padding grows from 0 to 2.5 in ten frames, so
    # it is 2 after 8 frames.
    item = change_settings(add_item("Growing", CUBE, []))
    add_item("Still", CUBE, [], location=(4, 0, 0))
    for frame, padding in ((1, 0.0), (11, 2.5)):
        item.collision_bounds.padding = padding
        item.collision_bounds.keyframe_insert("padding", frame=frame)
    make_linear(item)
    (contact,) = scan_with_static_pairs().report.contacts
    assert contact.first.frame == pytest.approx(9.0, abs=2e-3)


def make_linear(item):
    """Set linear interpolation for all keys of an object."""
    for curve in curves(item.animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


@pytest.mark.parametrize(
    "is_own_process",
    [pytest.param(False, marks=pytest.mark.smoke), pytest.param(True, marks=pytest.mark.long)],
)
def test_command_line_reads_settings_without_extension(tmp_path, is_own_process):
    change_settings(add_item("A", **POSE), padding=0.5, bounds_for="loose_parts")
    item = add_item("B", location=(9, 0, 0))
    item.collision_bounds.override = "sphere"
    _, result = bounds_by_name()
    path = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    written = tmp_path / "scene.json"
    arguments = ["bounds", str(path), "-o", str(written), "-q"]
    if is_own_process:
        script = TOP / "scripts" / "collision_bounds.py"
        subprocess.run([sys.executable, str(script), *arguments], check=True, cwd=TOP)
    else:
        object_properties.detach()
        assert main(arguments, opens_file=True) == 0
    document = json.loads(written.read_text("utf-8"))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    _, result = bounds_by_name()
    assert document == result.document()
    assert [entry["name"] for entry in document["objects"]][-1] == "B"


def test_without_properties_job_settings_apply(tmp_path):
    change_settings(add_item("A", **POSE), padding=0.5)
    object_properties.detach()
    try:
        found, _ = bounds_by_name()
        assert not encloses(found["A"].world[0][None], world_vertices(bpy.data.objects["A"]), margin=0.25)
    finally:
        object_properties.attach()
