"""Scans of meshes that bones bend, against Blender's own vertices."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils.bvhtree import BVHTree

from tests.scene.building import load_example, open_empty_file
from tests.scene.sampling import (
    add_box,
    add_faces,
    add_object,
    contacts_by_names,
    go_to,
    key,
    scan_scene,
    world_points,
)

FIRST, LAST = 1, 40
_LOW = 0.5
"""Height of the joint."""


@pytest.fixture(autouse=True)
def empty_scene():
    open_empty_file()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FIRST, LAST


def add_bar(turns: list[tuple[float, float]], interpolation: str = "BEZIER") -> bpy.types.Object:
    """Add a bar of height 2 along z. Its upper half turns about y, at the joint, by keyed angles."""
    rig = add_object("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, low, high in (("lower", 0, _LOW), ("upper", _LOW, 2)):
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = (0, 0, low), (0, 0, high)
    bpy.ops.object.mode_set(mode="OBJECT")
    upper = rig.pose.bones["upper"]
    upper.rotation_mode = "XYZ"
    # The axes of a bone along z: its x axis is the world's, its z axis the world's -y.
    key(upper, "rotation_euler", [(frame, (0, 0, -angle)) for frame, angle in turns], interpolation)
    heights = (0.0, 0.4, 0.6, 1.2, 2.0)
    points = [(x, y, z) for z in heights for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    faces = [
        tuple(4 * level + corner for corner in side)
        for level in range(len(heights) - 1)
        for side in ((0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))
    ]
    bar = add_faces("Bar", points, faces)
    bar.parent = rig
    for name, rows in (("lower", range(8)), ("upper", range(8, 20))):
        bar.vertex_groups.new(name=name).add(list(rows), 1.0, "REPLACE")
    bar.modifiers.new("Armature", "ARMATURE").object = rig
    return bar


def first_time_beyond(x: float, begin: float, end: float) -> float:
    """Time at which the first of Blender's vertices of the bar gets beyond x, by bisection."""
    for _ in range(40):
        middle = (begin + end) / 2
        go_to(middle)
        begin, end = (begin, middle) if world_points("Bar")[:, 0].max() >= x else (middle, end)
    return end


@pytest.mark.smoke
def test_bar_that_a_bone_bends_touches_wall_when_its_vertices_do():
    add_bar([(10, 0.0), (30, 1.2)])
    add_box("Wall", (0.1, 3, 3)).location = (0.9, 0, 1)
    (contact,) = scan_scene(shape="mesh").report.contacts
    truth = first_time_beyond(0.8, 10, 30)
    assert abs(contact.first.frame - truth) <= contact.first.uncertainty + 1e-5
    assert contact.first.uncertainty < 1e-2
    assert [span.end for span in contact.intervals] == [LAST]


def test_mesh_that_bends_out_of_the_way_is_not_in_contact_where_it_was_read():
    # The bar leans over the post, is raised, and then the post rises to where the bar was.
    add_bar([(2, 1.2), (4, 0.3)], "LINEAR")
    post = add_box("Post", (0.1, 0.1, 0.1))
    key(post, "location", [(5, (0.45, 0, 0.4)), (20, (0.45, 0, 0.9))])
    times = np.arange(FIRST, LAST + 0.25, 0.25)
    assert not any(overlap("Bar", "Post", time) for time in times)
    assert scan_scene(shape="mesh").report.contacts == ()


def overlap(first: str, second: str, time: float) -> bool:
    """Return whether Blender finds triangles of two objects that overlap at a time."""
    go_to(time)
    return bool(tree_of(first).overlap(tree_of(second)))


def tree_of(name: str) -> BVHTree:
    """Blender's own hierarchy around the evaluated triangles of an object at the current frame."""
    item = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = item.to_mesh()
    mesh.calc_loop_triangles()
    triangles = [tuple(triangle.vertices) for triangle in mesh.loop_triangles]
    points = [item.matrix_world @ vertex.co for vertex in mesh.vertices]
    item.to_mesh_clear()
    return BVHTree.FromPolygons(points, triangles, all_triangles=True)


def test_linked_character_with_overrides_is_tested_as_it_is_posed(tmp_path):
    add_bar([(10, 0.0), (30, 1.2)])
    library = tmp_path / "character.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(library))
    open_empty_file()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FIRST, LAST
    with bpy.data.libraries.load(str(library), link=True) as (_, loaded):
        loaded.objects = ["Rig", "Bar"]
    for item in loaded.objects:
        scene.collection.objects.link(item)
    bar = bpy.data.objects["Bar"].override_hierarchy_create(scene, bpy.context.view_layer)
    for item in [*scene.collection.objects]:
        if item.library is not None:
            scene.collection.objects.unlink(item)
    assert bar.override_library is not None
    add_box("Wall", (0.1, 3, 3)).location = (0.9, 0, 1)
    (contact,) = scan_scene(shape="mesh").report.contacts
    go_to(1)
    begin, end = 10.0, 30.0
    for _ in range(30):
        middle = (begin + end) / 2
        go_to(middle)
        evaluated = bar.evaluated_get(bpy.context.evaluated_depsgraph_get())
        reach = max((evaluated.matrix_world @ vertex.co).x for vertex in evaluated.data.vertices)
        begin, end = (begin, middle) if reach >= 0.8 else (middle, end)
    assert abs(contact.first.frame - end) <= contact.first.uncertainty + 1e-5


@pytest.mark.long
def test_pairs_of_example_touch_when_blenders_triangles_meet():
    open_empty_file()
    load_example().build_scene()
    found = contacts_by_names(scan_scene(shape="mesh"))
    # An instance has no object of its own to evaluate: the frame is that of a search over all triangles.
    post = found[frozenset(("Cart", "Fence/Post.3"))].first
    assert post.frame == pytest.approx(40.560, abs=2e-3)
    for first, second in (("Arm", "Button"), ("Strut A", "Strut B")):
        touch = found[frozenset((first, second))].first
        assert not any(overlap(first, second, time) for time in np.arange(20, touch.frame - 1e-3, 0.5))
        assert not overlap(first, second, touch.frame - 1e-3)
        assert overlap(first, second, touch.frame + touch.uncertainty + 1e-3)
