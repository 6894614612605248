"""Contacts of bounds that are verified on meshes, against closed forms."""

from __future__ import annotations

import json
import math

import bpy
import pytest

from addon.cli.main import main
from tests.scene.building import open_empty_file
from tests.scene.sampling import add_box, add_faces, ball_points, curves_of, key, scan_scene


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


def test_mesh_inside_another_is_in_contact():
    room = add_box("Room", (3, 3, 3))
    key(room, "location", [(1, (0, 0, 0)), (24, (0.5, 0, 0))])
    add_box("Crate", (0.5, 0.5, 0.5))
    result = scan_scene(shape="aabb", confirm=True)
    (confirmed,) = result.confirmed
    assert confirmed.first.time == 1


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


def test_contact_of_mesh_without_faces_is_unconfirmed_and_counts_for_exit_code(tmp_path, capsys):
    loose = add_faces("Loose", ball_points(0.5).tolist(), [])
    key(loose, "location", [(1, (0, 0, 5)), (24, (0, 0, 0))])
    add_box("Box", (1, 1, 1))
    path = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert main(["contacts", "--confirm", "--fail-on-contact", "-q"], opens_file=False) == 1
    (confirmed,) = scan_scene(confirm=True).confirmed
    assert confirmed is None
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
    assert contact["meshes"] == {"touch": False}
