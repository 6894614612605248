"""Contacts of bounds that are verified on meshes, against closed forms."""

from __future__ import annotations

import json
import math

import bpy
import numpy as np
import pytest
from mathutils.bvhtree import BVHTree

from addon.cli.main import main
from addon.core.mesh import mesh_bvh
from addon.formats import NotVerified
from addon.scene.settings import FitSettings
from tests.scene.building import open_empty_file
from tests.scene.sampling import (
    add_box,
    add_faces,
    ball_points,
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
    result = scan_scene(shape="aabb", confirm=True, ignored=("Post:Striker",))
    names = [subject.name for subject in result.subjects]
    by_names = {
        frozenset((names[contact.a], names[contact.b])): (contact, confirmed)
        for contact, confirmed in zip(result.report.contacts, result.confirmed, strict=True)
    }
    _, refuted = by_names[frozenset(("Half", "Post"))]
    assert refuted is not None and refuted.first is None
    contact, confirmed = by_names[frozenset(("Half", "Striker"))]
    # The boxes touch at x = 2.5. The corner (x - 0.5, 0.5) reaches the slanted side x + y = 2 at x = 2.0.
    assert contact.first.frame == pytest.approx(1 + 23 * 2.5 / 6, abs=1e-4)
    assert confirmed.first.time == pytest.approx(1 + 23 * 3.0 / 6, abs=1e-3)
    assert confirmed.first.time <= 1 + 23 * 3.0 / 6 + confirmed.first.uncertainty + 1e-6
    document = result.document()
    written = {
        frozenset((entry["a"], entry["b"])): entry["meshes"]["touch"] for entry in document["contacts"]
    }
    assert written == {frozenset(("Half", "Post")): False, frozenset(("Half", "Striker")): True}


@pytest.mark.parametrize("padding", [0.3, -0.2])
def test_padding_of_bounds_does_not_pad_the_meshes(padding):
    add_box("Wall", (0.5, 0.5, 0.5))
    key(add_box("Bar", (0.5, 0.5, 0.5)), "location", [(1, (5.0, 0, 0)), (24, (0.4, 0, 0))])
    result = scan_scene(shape="aabb", confirm=True, fit=FitSettings(padding=padding))
    (contact,), (confirmed,) = result.report.contacts, result.confirmed
    # The faces touch at a distance of 1 between the centers, and the boxes at one of 1 and twice the padding.
    assert contact.first.frame == pytest.approx(1 + (4 - 2 * padding) * 5, abs=1e-3)
    # Only times at which the bounds touch are tested.
    assert confirmed.first.time == pytest.approx(max(1 + 4 * 5, contact.first.frame), abs=1e-3)


def test_meshes_follow_the_keys_where_bounds_are_scanned_with_linear_motion():
    add_box("Wall", (0.5, 0.5, 0.5))
    key(add_box("Bar", (0.5, 0.5, 0.5)), "location", [(1, (5, 0, 0)), (12, (5, 0, 0)), (24, (0, 0, 0))])
    result = scan_scene(shape="aabb", confirm=True, motion="linear", frames=(1, 24, 23))
    (contact,), (confirmed,) = result.report.contacts, result.confirmed
    # They touch at a distance of 1: after 4/5 of the way, which begins at frame 1 for the bounds.
    assert contact.first.frame == pytest.approx(1 + 23 * 4 / 5, abs=1e-6)
    assert confirmed.first.time == pytest.approx(12 + 12 * 4 / 5, abs=1e-3)
    assert confirmed.is_proven


def test_mesh_inside_another_is_in_contact():
    room = add_box("Room", (3, 3, 3))
    key(room, "location", [(1, (0, 0, 0)), (24, (0.5, 0, 0))])
    add_box("Crate", (0.5, 0.5, 0.5))
    result = scan_scene(shape="aabb", confirm=True)
    (confirmed,) = result.confirmed
    assert confirmed.first.time == 1


def test_tree_of_a_mesh_in_two_contacts_is_built_once(monkeypatch):
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
    result = scan_scene(shape="aabb", confirm=True)
    first = sorted(confirmed.first.time for confirmed in result.confirmed)
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
    (confirmed,) = scan_scene(shape="sphere", confirm=True).confirmed
    assert confirmed.first.time == pytest.approx(1 + 23 * 1.0 / 2.0, abs=1e-3)


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
    (confirmed,) = scan_scene(shape="aabb", confirm=True).confirmed
    assert confirmed.first.time == pytest.approx(1 + 23 * value, abs=1e-3)


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
    result = scan_scene(shape="aabb", confirm=True)
    names = [subject.name for subject in result.subjects]
    times = {
        next(name for name in (names[contact.a], names[contact.b]) if name != "Sheet"): confirmed.first
        for contact, confirmed in zip(result.report.contacts, result.confirmed, strict=True)
    }
    assert times["First"].time == pytest.approx(8, abs=1e-3)
    assert times["Second"] is None
    assert times["Third"].time == pytest.approx(12, abs=1e-3)
    assert abs(times["Rod"].time - 10.3) <= 2e-4


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
    result = scan_scene(shape="aabb", confirm=True, frames=(1, 9, 1))
    first, step = math.inf, 1 / 128
    for time in np.arange(1, 9 + step, step).tolist():
        go_to(time)
        if evaluated_tree("Quads").overlap(evaluated_tree("Post")):
            first = time
            break
    confirmed = next((found.first for found in result.confirmed if found.first), None)
    found = math.inf if confirmed is None else confirmed.time
    assert found == first or first - step - 1e-3 <= found <= first + 1e-3


def test_contact_of_mesh_without_faces_is_unconfirmed_and_counts_for_exit_code(tmp_path, capsys):
    loose = add_faces("Loose", ball_points(0.5).tolist(), [])
    key(loose, "location", [(1, (0, 0, 5)), (24, (0, 0, 0))])
    add_box("Box", (1, 1, 1))
    path = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert main(["contacts", "--confirm", "--fail-on-contact", "-q"], opens_file=False) == 1
    (confirmed,) = scan_scene(confirm=True).confirmed
    assert confirmed is NotVerified.NO_FACES
    capsys.readouterr()


def test_contacts_refuted_by_meshes_do_not_change_exit_code(tmp_path, capsys):
    add_faces("Sheet", [(0, 0, 0), (4, 0, 0), (0, 4, 0)], [(0, 1, 2)])
    post = add_box("Post", (0.1, 0.1, 1))
    key(post, "location", [(1, (3.5, 3.5, 6)), (24, (3.5, 3.5, -6))])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    written = tmp_path / "out.json"
    assert main(["contacts", "--fail-on-contact", "-q"], opens_file=False) == 1
    assert main(["contacts", "--fail-on-contact", "--confirm", "-o", str(written)], opens_file=False) == 0
    assert "meshes do not touch" in capsys.readouterr().out
    assert main(["validate", str(written)], opens_file=False) == 0
    (contact,) = json.loads(written.read_text("utf-8"))["contacts"]
    assert contact["meshes"] == {"touch": False, "motion": "proven"}
