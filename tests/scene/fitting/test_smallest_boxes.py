"""Boxes with the axes of the smallest box: in bounds, in scans of turning and bending objects, and live."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.core import obb_from_points
from addon.formats import dumps, parse_document
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.jobs.contacts import find_contacts
from addon.scene.live.live_shapes import LiveSubjects
from addon.scene.settings import BoundsSettings, ContactSettings, FitSettings
from addon.scene.subjects.subject import identify_subjects
from tests.finished import finished
from tests.scene.building import CUBE

pytestmark = pytest.mark.usefixtures("object_settings")

SMALLEST = FitSettings(axes="smallest")
SLANTED = np.array(Matrix.Rotation(0.6, 3, (1, 2, 3))) @ np.diag([3.0, 0.5, 0.2])
"""Turns and scales a cube to a slanted plank: far smaller in its own axes than in those of its object."""


FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def plank() -> np.ndarray:
    return CUBE @ SLANTED.T


def oriented_boxes(settings: FitSettings, shapes=("obb",)) -> dict:
    result = compute_bounds(bpy.context.scene, BoundsSettings(shapes=shapes, fit=settings))
    document = parse_document(dumps(result.document("blender", 6)))
    return {entry["name"]: entry for entry in document["objects"]}


def box_volume(entry: dict) -> float:
    return float(8 * np.prod(entry["world"]["obb"]["halfExtents"]))


def excess(box: dict, points: np.ndarray) -> float:
    x, y, z, w = box["rotation"]
    rotation = np.array(Matrix.Identity(3).to_quaternion().__class__((w, x, y, z)).to_matrix())
    local = (points - box["center"]) @ rotation
    return float((np.abs(local) - box["halfExtents"]).max())


def test_box_of_slanted_plank_has_the_volume_of_the_plank(add_mesh):
    item = add_mesh("Plank", plank())
    item.rotation_euler, item.location, item.scale = (0.3, -0.4, 0.5), (5, 6, 7), (1, 2, 0.5)
    bpy.context.view_layer.update()
    entry = oriented_boxes(SMALLEST)["Plank"]
    points = np.array([item.matrix_world @ vertex.co for vertex in item.data.vertices])
    assert excess(entry["world"]["obb"], points) < 2e-6
    smallest = obb_from_points(points)
    assert box_volume(entry) == pytest.approx(float(8 * smallest.half_extents.prod()), rel=1e-4)
    assert box_volume(entry) < 0.5 * box_volume(oriented_boxes(FitSettings())["Plank"])


@pytest.mark.smoke
def test_setting_of_an_object_gives_it_the_smallest_box(add_mesh):
    item = add_mesh("Plank", plank())
    item.collision_bounds.use_object_settings, item.collision_bounds.axes = True, "smallest"
    entry = oriented_boxes(FitSettings(), shapes=("sphere", "aabb"))["Plank"]
    assert box_volume(entry) == pytest.approx(8 * 3.0 * 0.5 * 0.2, rel=1e-4)


def two_planks(add_mesh) -> None:
    """Add a plank that turns past another one, which is at rest."""
    turning, other = (add_mesh(name, plank(), FACES) for name in ("Turning", "Resting"))
    other.location = (0, 0, 4.0)
    turning.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (31, 2.5)):
        turning.rotation_euler = (0, angle, 0.4 * angle)
        turning.keyframe_insert("rotation_euler", frame=frame)
        turning.location = (0, 0, 4.0 * (frame - 1) / 30 - 2)
        turning.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 31


def test_scan_of_smallest_boxes_finds_the_contact_of_the_planks_themselves(add_mesh):
    """The box of a plank is the plank, so that the contact is that of both meshes."""
    two_planks(add_mesh)
    scan = finished(find_contacts(bpy.context.scene, ContactSettings(shape="obb", fit=SMALLEST)))
    (contact,) = parse_document(dumps(scan.document("blender", 6)))["contacts"]
    assert contact["motion"] == "proven"
    of_meshes = finished(find_contacts(bpy.context.scene, ContactSettings(shape="mesh")))
    (meshes,) = parse_document(dumps(of_meshes.document("blender", 6)))["contacts"]
    assert meshes["first"]["frame"] == pytest.approx(contact["first"]["frame"], abs=2e-3)
    ends = [[span["end"] for span in each["intervals"]] for each in (contact, meshes)]
    assert ends[0] == pytest.approx(ends[1], abs=2e-3)
    along_objects = finished(find_contacts(bpy.context.scene, ContactSettings(shape="obb")))
    (early,) = parse_document(dumps(along_objects.document("blender", 6)))["contacts"]
    assert early["first"]["frame"] < contact["first"]["frame"] - 0.5


def test_bending_object_keeps_the_axes_of_its_first_frame_and_stays_inside(add_mesh):
    """With other axes at each frame, the boxes between two frames would turn, and not enclose the object."""
    item = add_mesh("Bending", plank())
    item.shape_key_add(name="Basis")
    key = item.shape_key_add(name="Bent")
    for index, point in enumerate(CUBE @ np.diag([0.2, 3.0, 0.5])):
        key.data[index].co = point
    for frame, value in ((1, 0.0), (11, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    wall = add_mesh("Wall", CUBE * 0.1)
    wall.location = (0, 2.9, 0)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 11
    settings = ContactSettings(shape="obb", fit=SMALLEST)
    (contact,) = finished(find_contacts(bpy.context.scene, settings)).report.contacts
    assert 1 <= contact.first.frame < 11
    # Dense sampling of the vertices: the box may not be late.
    scene = bpy.context.scene
    for frame in np.linspace(1, 11, 401).tolist():
        scene.frame_set(int(frame), subframe=frame % 1)
        evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
        points = np.array([vertex.co for vertex in evaluated.data.vertices])
        if ((points > (-0.1, 2.8, -0.1)) & (points < (0.1, 3.0, 0.1))).all(axis=1).any():
            assert contact.first.frame <= frame
            break


def test_overlay_shows_the_smallest_box(add_mesh):
    item = add_mesh("Plank", plank())
    item.rotation_euler = (0.3, -0.4, 0.5)
    bpy.context.view_layer.update()
    result = compute_bounds(bpy.context.scene, BoundsSettings())
    live = LiveSubjects(result, identify_subjects(result.subjects))
    depsgraph = bpy.context.evaluated_depsgraph_get()
    shown = live.update(depsgraph, SMALLEST, ["obb"], "obb", use_report=False).shapes["obb"].shape
    assert float(8 * shown.half_extents.prod()) == pytest.approx(8 * 3.0 * 0.5 * 0.2, rel=1e-4)
