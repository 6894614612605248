"""Several custom shapes of one object: each gets bounds, and none meets the others of its object."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.formats import document_problems, dumps
from addon.scene.blender import object_properties
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.settings import BoundsSettings
from tests.scene.building import CUBE, add_instance, hidden_collection, key_location, merged_collection
from tests.scene.colliders.creating import colliders, create_colliders
from tests.scene.enclosing import (
    POSE,
    SHAPES,
    add_item,
    animate,
    bounds_by_name,
    cube_faces,
    encloses,
    sample_shapes,
    scan_with_static_pairs,
    world_vertices,
)

pytestmark = pytest.mark.usefixtures("object_settings")

DIRECTIONS = np.random.default_rng(6).normal(size=(500, 3))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1)[:, None]

BOX, BALL, PLATE = (
    ("box", (-3, 0, 0), (1, 0.5, 2)),
    ("sphere", (2, 1, 0), 0.75),
    ("box", (0, 4, 0), (2, 0.125, 1)),
)


def set_shapes(item, *shapes):
    """Set the custom shapes of an object as a script does. Returns the object."""
    settings = item.collision_bounds
    settings.more_shapes.clear()
    for number, (kind, center, size) in enumerate(shapes):
        entry = settings if number == 0 else settings.more_shapes.add()
        setattr(entry, "shape" if number else "override", kind)
        entry.center = center
        if kind == "box":
            entry.half_extents = size
        else:
            entry.radius = size
    return item


def surface(kind, center, size):
    """Points (n, 3) in object space: the corners of a box, or directions of a sphere."""
    return np.array(center) + (CUBE * size if kind == "box" else DIRECTIONS * size)


@pytest.mark.smoke
@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_has_bounds_that_enclose_it_at_each_frame(shape):
    item = set_shapes(animate(add_item("A", **POSE)), BOX, BALL, PLATE)
    for frame in sample_shapes(shape):
        assert {*frame} == {"A/shape.0", "A/shape.1", "A/shape.2"}
        for number, each in enumerate((BOX, BALL, PLATE)):
            assert encloses(frame[f"A/shape.{number}"], world_vertices(item, surface(*each)))
            assert not encloses(frame[f"A/shape.{number}"], world_vertices(item))


@pytest.mark.smoke
def test_document_has_an_entry_for_each_shape():
    item = set_shapes(add_item("A", **POSE), BOX, BALL)
    add_item("Child", parent=item)
    result = compute_bounds(bpy.context.scene, BoundsSettings(shapes=("sphere", "aabb", "obb", "hull")))
    document = json.loads(dumps(result.document()))
    assert list(document_problems(document)) == []
    box, ball, child = document["objects"]
    assert [(entry["id"], entry.get("override")) for entry in (box, ball)] == [
        ("A/shape.0", "box"),
        ("A/shape.1", "sphere"),
    ]
    assert box["transform"] == ball["transform"] and child["parent"] == "A/shape.0"
    # The box is along the axes of the object: its oriented box is itself, with the scale of the object.
    half = sorted(box["local"]["obb"]["halfExtents"])
    assert half == pytest.approx(sorted(np.multiply((1, 0.5, 2), POSE["scale"])), rel=1e-5)
    assert result.objects_outside_override == ("A",)


def test_vertices_must_be_in_one_of_the_shapes():
    item = set_shapes(add_item("A", CUBE, cube_faces()), ("box", (-1, 0, 0), (0.5, 2, 2)))
    assert bounds_by_name()[1].objects_outside_override == ("A",)
    set_shapes(item, ("box", (-1, 0, 0), (0.5, 2, 2)), ("sphere", (1, 0, 0), 1.5))
    assert bounds_by_name()[1].objects_outside_override == ()


@pytest.mark.parametrize("shape", ["aabb", "obb", "sphere"])
@pytest.mark.parametrize("played", [False, True])
def test_first_contacts_are_those_of_each_shape_alone(shape, played):
    """The moving cube meets the box first, then the ball; shapes of one object do not meet."""
    item = set_shapes(add_item("A"), BOX, BALL)
    mover = add_item("Mover", CUBE * 0.25, cube_faces())
    key_location(mover, {1: (-9, 0, 0), 11: (9, 0.5, 0)})
    if played:
        # A constraint without effect: the motion is sampled.
        mover.constraints.new("LIMIT_LOCATION")
    found = {(entry.a, entry.b): entry.first.frame for entry in scan_with_static_pairs(shape).report.contacts}
    alone = {}
    for number, each in enumerate((BOX, BALL)):
        set_shapes(item, each)
        bpy.context.view_layer.update()
        (contact,) = scan_with_static_pairs(shape).report.contacts
        alone[number] = contact.first.frame
    assert sorted(found.values()) == pytest.approx(sorted(alone.values()), abs=1e-9)
    assert len(found) == 2 and alone[0] < alone[1]


def test_each_shape_is_a_collider_of_its_kind():
    set_shapes(add_item("A", scale=(1, 1, 2)), BOX, BALL, PLATE)
    create_colliders(kind="hull")
    # Colliders of a kind are numbered among themselves.
    assert {item.name for item in colliders()} == {"UBX_A_00", "USP_A_00", "UBX_A_01"}
    bpy.context.view_layer.update()
    boxes = [item for item in colliders() if item.name.startswith("UBX")]
    points = [np.array([vertex.co for vertex in item.data.vertices]) for item in boxes]
    for (_, center, size), found in zip((BOX, PLATE), points, strict=True):
        assert found.min(axis=0) == pytest.approx(np.subtract(center, size), abs=1e-5)
        assert found.max(axis=0) == pytest.approx(np.add(center, size), abs=1e-5)


def test_merged_collection_encloses_all_shapes():
    item = set_shapes(add_item("A", collection=merged_collection("Group"), **POSE), BOX, BALL)
    bpy.context.view_layer.update()
    entry = bounds_by_name(("aabb",))[0]["Group"]
    expected = [world_vertices(item, surface(*each)) for each in (BOX, BALL)]
    for points in expected:
        assert encloses(entry.world[0][None], points)
    # Of directions alone, a sphere is up to half a percent smaller.
    low = np.concatenate(expected).min(axis=0)
    assert (entry.world[0].min >= low - 0.05).all()


def test_instances_have_all_shapes_of_their_object():
    item = set_shapes(add_item("A"), BOX, BALL)
    group = hidden_collection("Group", item)
    for number in range(2):
        add_instance(f"Instance{number}", group, location=(10 * number, 0, 0))
    bpy.context.view_layer.update()
    found = bounds_by_name(("aabb",))[0]
    names = {f"Instance{number}/A.0/shape.{k}" for number in range(2) for k in range(2)}
    assert {*found} == names
    for number in range(2):
        for k, each in enumerate((BOX, BALL)):
            points = surface(*each) + np.array((10 * number, 0, 0))
            assert encloses(found[f"Instance{number}/A.0/shape.{k}"].world[0][None], points)


def test_shapes_are_stored_in_the_file_and_copied_with_the_object(tmp_path: Path):
    item = set_shapes(add_item("A"), BOX, BALL)
    copied = item.copy()
    copied.name = "B"
    bpy.context.scene.collection.objects.link(copied)
    path = str(tmp_path / "shapes.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    set_shapes(item, PLATE)
    bpy.ops.wm.open_mainfile(filepath=path)
    object_properties.attach()
    bpy.context.view_layer.update()
    found = bounds_by_name(("aabb",))[0]
    assert {*found} == {"A/shape.0", "A/shape.1", "B/shape.0", "B/shape.1"}
    assert encloses(found["B/shape.1"].world[0][None], surface(*BALL))
