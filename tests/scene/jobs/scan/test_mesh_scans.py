"""Scans of meshes, against closed forms."""

from __future__ import annotations

import json
import math

import bpy
import numpy as np
import pytest
from mathutils.bvhtree import BVHTree

from addon.cli.main import main
from addon.core.mesh import mesh_bvh
from addon.scene.settings import FitSettings
from tests.scene.building import open_empty_file
from tests.scene.sampling import (
    add_box,
    add_faces,
    ball_points,
    contacts_by_names,
    curves_of,
    delete_faces_by_frame,
    go_to,
    key,
    scan_scene,
)


@pytest.fixture(autouse=True)
def empty_scene():
    open_empty_file()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 24
    return scene


def test_meshes_touch_later_than_boxes_or_never():
    # Half is a triangular prism that fills half of its box. Post passes through the empty half of the box,
    # and Striker hits the slanted side after its box.
    half = add_faces(
        "Half",
        [(0, 0, 0), (2, 0, 0), (0, 2, 0), (0, 0, 1), (2, 0, 1), (0, 2, 1)],
        [(0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)],
    )
    half.location = (0, 0, 0)
    post = add_box("Post", (0.1, 0.1, 2))
    key(post, "location", [(1, (1.8, 1.8, 8)), (24, (1.8, 1.8, 0))])
    striker = add_box("Striker", (0.5, 0.5, 0.5))
    key(striker, "location", [(1, (5.0, 1.0, 0.5)), (24, (-1.0, 1.0, 0.5))])
    boxes, result = (scan_scene(shape=shape, ignored=("Post:Striker",)) for shape in ("aabb", "mesh"))
    pair, other = frozenset(("Half", "Striker")), frozenset(("Half", "Post"))
    of_boxes, of_meshes = contacts_by_names(boxes), contacts_by_names(result)
    assert (set(of_boxes), set(of_meshes)) == ({pair, other}, {pair})
    # The boxes touch at x = 2.5. The corner (x - 0.5, 0.5) reaches the slanted side x + y = 2 at x = 2.0.
    touch = 1 + 23 * 3.0 / 6
    first = of_meshes[pair].first
    assert of_boxes[pair].first.frame == pytest.approx(1 + 23 * 2.5 / 6, abs=1e-4)
    assert first.frame == pytest.approx(touch, abs=1e-3)
    assert first.frame <= touch + first.uncertainty + 1e-6
    # It leaves the prism, whose other side is x = 0, with its corner at x + 0.5 = 0.
    (span,) = of_meshes[pair].intervals
    assert span.end == pytest.approx(1 + 23 * 5.5 / 6, abs=1e-3)
    # The corner (1.7, 1.7) of the post is closest to the slanted side, from where the post reaches it on.
    (near,) = result.report.clearances
    assert near.gap == pytest.approx(1.4 / math.sqrt(2), abs=1e-6)
    assert {frozenset((entry["a"], entry["b"])) for entry in result.document()["contacts"]} == {pair}


@pytest.mark.parametrize("padding", [0.3, -0.2])
def test_padding_of_bounds_does_not_pad_the_meshes(padding):
    add_box("Wall", (0.5, 0.5, 0.5))
    key(add_box("Bar", (0.5, 0.5, 0.5)), "location", [(1, (5.0, 0, 0)), (24, (0.4, 0, 0))])
    (contact,) = scan_scene(shape="mesh", fit=FitSettings(padding=padding)).report.contacts
    # The faces touch at a distance of 1 between the centers.
    assert contact.first.frame == pytest.approx(1 + 4 * 5, abs=1e-3)


@pytest.mark.parametrize("motion", ["adaptive", "linear"])
def test_meshes_follow_the_keys_unless_their_motion_is_linear(motion):
    add_box("Wall", (0.5, 0.5, 0.5))
    key(add_box("Bar", (0.5, 0.5, 0.5)), "location", [(1, (5, 0, 0)), (12, (5, 0, 0)), (24, (0, 0, 0))])
    (contact,) = scan_scene(shape="mesh", motion=motion, frames=(1, 24, 23)).report.contacts
    # They touch at a distance of 1: after 4/5 of the way, which begins at frame 12, or with the samples.
    truth = 12 + 12 * 4 / 5 if motion == "adaptive" else 1 + 23 * 4 / 5
    assert contact.first.frame == pytest.approx(truth, abs=1e-3)
    assert contact.first.motion == {"adaptive": "proven", "linear": "linear"}[motion]
    # The corners of each are on faces of the other, and not inside.
    assert contact.depth == 0


def test_mesh_inside_another_is_in_contact():
    room = add_box("Room", (3, 3, 3))
    key(room, "location", [(1, (0, 0, 0)), (24, (0.5, 0, 0))])
    add_box("Crate", (0.5, 0.5, 0.5))
    (contact,) = scan_scene(shape="mesh").report.contacts
    assert contact.first.frame == 1 and contact.first.at_start
    assert [(span.start, span.end) for span in contact.intervals] == [(1, 24)]
    # At all times there are corners of the crate that are 2.5 away from the closest wall.
    assert contact.depth == pytest.approx(2.5, abs=2e-3)


@pytest.mark.parametrize("clearance", [0.0, 0.1, 3.0])
@pytest.mark.parametrize("x", [1.1, 1.2, 2.0])
def test_contact_is_deepest_or_closest_at_the_key_where_a_box_turns_back(x, clearance):
    add_box("Wall", (1, 1, 1))
    key(add_box("Box", (0.25, 0.25, 0.25)), "location", [(1, (6, 0, 0)), (5, (x, 0, 0)), (9, (6, 0, 0))])
    contacts = scan_scene(shape="mesh", clearance=clearance, frames=(1, 9, 1)).report.contacts
    # The sides are at 1 and x - 0.25.
    overlap, size = 1.25 - x, math.sqrt(3) / 4
    assert len(contacts) == (overlap > -clearance)
    for contact in contacts:
        assert contact.depth == pytest.approx(overlap, abs=0.01 * size)
        assert contact.deepest_frame == pytest.approx(5, abs=0.01 * size / (6 - x) * 4)


def test_tree_of_a_mesh_of_two_objects_is_built_once(monkeypatch):
    bar = add_box("Bar", (0.5, 0.4, 0.5))
    key(bar, "location", [(1, (0.0, 0, 0)), (24, (10.0, 0, 0))])
    for x in (3.0, 7.0):
        post = add_box(f"Post {x}", (0.5, 0.5, 0.5))
        post.location = (x, 0, 0)
        post.data = bpy.data.objects["Post 3.0"].data
    add_box("Far", (0.5, 0.5, 0.5)).location = (0, 50, 0)
    built = []

    def counted(*arguments):
        built.append(arguments)
        return partition(*arguments)

    partition = mesh_bvh.partition_triangles
    monkeypatch.setattr(mesh_bvh, "partition_triangles", counted)
    result = scan_scene(shape="mesh")
    first = sorted(contact.first.frame for contact in result.report.contacts)
    # The faces touch at a distance of 1 between the centers, at a speed of 10 / 23.
    assert first == pytest.approx([1 + 2.0 * 2.3, 1 + 6.0 * 2.3], abs=1e-3)
    sizes = sorted(len(triangles.a) for triangles, _ in built)
    assert sizes[-2:] == [12, 12] and sizes[:-2].count(12) == 0, "the bar, and the mesh of both posts"


def test_deforming_mesh_is_evaluated_at_each_time():
    # A shape key raises the top of a pillar by 2 during the scan. A slab is 1 above it.
    pillar = add_box("Pillar", (0.2, 0.2, 0.5))
    pillar.shape_key_add(name="Basis")
    tall = pillar.shape_key_add(name="Tall")
    for point in tall.data:
        if point.co.z > 0:
            point.co.z += 2.0
    for frame, value in ((1, 0.0), (24, 1.0)):
        tall.value = value
        tall.keyframe_insert("value", frame=frame)
    for curve in curves_of(pillar.data.shape_keys):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    slab = add_box("Slab", (1, 1, 0.25))
    slab.location = (0, 0, 1.75)
    slab.rotation_euler = (0, 0, math.radians(30))
    (contact,) = scan_scene(shape="mesh").report.contacts
    assert contact.first.frame == pytest.approx(1 + 23 * 1.0 / 2.0, abs=1e-3)


def test_quad_that_folds_is_tested_with_the_diagonal_that_blender_cuts_it_along():
    # Corner 1 goes over the diagonal from 0 to 2 to the other side. Then the quad is cut from 1 to 3.
    quad = add_faces("Quad", [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0)], [(0, 1, 2, 3)])
    quad.shape_key_add(name="Basis")
    fold = quad.shape_key_add(name="Fold")
    fold.data[1].co = (0.4, 1.6, 2)
    key(fold, "value", [(1, 0.0), (24, 1.0)])
    # Across the first diagonal, by u: corner 1 is at u = (3.2 k - 2) / sqrt(2), z = 2 k for the value k of
    # the key, corner 3 at u = sqrt(2). The ridge between them rises to the post's lowest edge.
    x, z, half, across = 0.32, 0.85, 0.02, math.sqrt(2)
    post = add_box("Post", (half, half, half))
    post.location = (x, 2 - x, z)
    u, low = across * (1 - x) - across * half, z - half
    value = 4 * low / (2 * across * (across - u) + 3.2 * low)
    (contact,) = scan_scene(shape="mesh").report.contacts
    assert contact.first.frame == pytest.approx(1 + 23 * value, abs=1e-3)


@pytest.mark.long
def test_faces_that_nodes_switch_are_tested_while_they_are_there():
    # Of four quads in a row along x, only the first two are there until frame 10.3, then only the last two.
    sheet = add_faces(
        "Sheet",
        [(x, y, 0) for x in range(5) for y in (0, 1)],
        [(2 * x, 2 * x + 2, 2 * x + 3, 2 * x + 1) for x in range(4)],
    )
    delete_faces_by_frame(sheet, 10.3)
    for name, x in (("First", 0.5), ("Second", 1.5), ("Third", 2.5)):
        # The lower side reaches the sheet at frame 12; that of the first one at frame 8.
        start = 3.5 if name == "First" else 5.5
        post = add_box(name, (0.1, 0.1, 0.25))
        key(post, "location", [(1, (x, 0.5, start + 0.25)), (24, (x, 0.5, start + 0.25 - 23 / 2))])
    rod = add_box("Rod", (0.1, 0.1, 5))
    key(rod, "location", [(1, (3.5, 0.5, 0)), (24, (3.6, 0.5, 0))])
    found = contacts_by_names(scan_scene(shape="mesh"))
    firsts = {name: contact.first.frame for pair, contact in found.items() for name in pair - {"Sheet"}}
    assert set(firsts) == {"First", "Third", "Rod"}
    assert firsts["First"] == pytest.approx(8, abs=1e-3)
    assert firsts["Third"] == pytest.approx(12, abs=1e-3)
    assert abs(firsts["Rod"] - 10.3) <= 2e-4
    # The faces below the first post vanish before its upper side, 0.5 higher, gets to them.
    (span,) = found[frozenset(("Sheet", "First"))].intervals
    assert span.end == pytest.approx(9, abs=1e-3)


def evaluated_tree(name: str) -> BVHTree:
    """Blender's own hierarchy around the triangles of an object at the current frame."""
    item = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = item.to_mesh()
    mesh.calc_loop_triangles()
    triangles = [tuple(triangle.vertices) for triangle in mesh.loop_triangles]
    points = [item.matrix_world @ vertex.co for vertex in mesh.vertices]
    item.to_mesh_clear()
    return BVHTree.FromPolygons(points, triangles, all_triangles=True)


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 1, 4, 9, 20, 26])
def test_quads_that_bend_at_random_touch_when_blender_finds_that_their_triangles_do(seed):
    rng = np.random.default_rng(seed)
    points = np.array([(x, y, 0) for x in range(3) for y in range(3)], dtype=float)
    faces = [(3 * x + y, 3 * x + y + 3, 3 * x + y + 4, 3 * x + y + 1) for x in (0, 1) for y in (0, 1)]
    quads = add_faces("Quads", (points + rng.normal(size=(9, 3)) * 0.1).tolist(), faces)
    quads.shape_key_add(name="Basis")
    for number in range(2):
        bent = quads.shape_key_add(name=f"Bent {number}")
        for point, position in zip(bent.data, points + rng.normal(size=(9, 3)), strict=True):
            point.co = position
        key(bent, "value", [(1, 0.0), (5, rng.uniform()), (9, rng.uniform())], "BEZIER")
    post = add_box("Post", (0.1, 0.1, 0.1))
    post.location = rng.uniform(0, 2, 3) - (0, 0, 1)
    key(post, "rotation_euler", [(1, (0, 0, 0)), (9, rng.uniform(-2, 2, 3))])
    result = scan_scene(shape="mesh", frames=(1, 9, 1))
    step = 1 / 128
    overlapping = []
    for time in np.arange(1, 9 + step, step).tolist():
        go_to(time)
        if evaluated_tree("Quads").overlap(evaluated_tree("Post")):
            overlapping.append(time)
    first = min(overlapping, default=math.inf)
    contact = next(iter(result.report.contacts), None)
    found = math.inf if contact is None else contact.first.frame
    assert found == first or first - step - 1e-3 <= found <= first + 1e-3
    spans = [] if contact is None else contact.intervals
    assert all(any(span.start - 1e-3 <= time <= span.end + 1e-3 for span in spans) for time in overlapping)


def test_object_without_faces_is_skipped_and_has_no_contacts(tmp_path, capsys):
    loose = add_faces("Loose", ball_points(0.5).tolist(), [])
    key(loose, "location", [(1, (0, 0, 5)), (24, (0, 0, 0))])
    add_box("Box", (1, 1, 1))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    assert main(["contacts", "--shape", "aabb", "--fail-on-contact", "-q"], opens_file=False) == 1
    written = tmp_path / "out.json"
    options = ("--fail-on-contact", "-q", "-o", str(written))
    assert main(["contacts", *options], opens_file=False) == 0
    capsys.readouterr()
    document = json.loads(written.read_text("utf-8"))
    assert document["contacts"] == []
    assert document["skipped"] == [{"name": "Loose", "reason": "skipped at frame 1: no faces"}]


def test_meshes_that_do_not_touch_although_their_boxes_do_do_not_change_exit_code(tmp_path, capsys):
    add_faces("Sheet", [(0, 0, 0), (4, 0, 0), (0, 4, 0)], [(0, 1, 2)])
    post = add_box("Post", (0.1, 0.1, 1))
    key(post, "location", [(1, (2.5, 2.5, 6)), (24, (2.5, 2.5, -6))])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    written = tmp_path / "out.json"
    assert main(["contacts", "--shape", "aabb", "--fail-on-contact", "-q"], opens_file=False) == 1
    options = ("--fail-on-contact", "-o", str(written))
    assert main(["contacts", *options], opens_file=False) == 0
    capsys.readouterr()
    assert main(["validate", str(written)], opens_file=False) == 0
    document = json.loads(written.read_text("utf-8"))
    assert document["contacts"] == []
    # The corner (2.4, 2.4) of the post comes closest to the slanted side x + y = 4.
    (near,) = document["clearances"]
    assert near["gap"] == pytest.approx(0.8 / math.sqrt(2), abs=1e-6)
