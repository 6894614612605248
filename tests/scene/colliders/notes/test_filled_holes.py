"""Holes that colliders fill: their size by formulas, and none for convex meshes and fitting parts."""

from __future__ import annotations

from itertools import product

import bpy
import numpy as np
import pytest

from addon.scene.colliders.check import CheckedCollider
from tests.scene.building import add_vertices, merged_collection
from tests.scene.colliders.checking import add_cube, add_round, check
from tests.scene.colliders.creating import KINDS, create_colliders
from tests.scene.enclosing import cube_faces

pytestmark = pytest.mark.usefixtures("object_settings")

BOX_FACES = cube_faces()


def add_boxes(name: str, *boxes: tuple[object, object], **attributes: object) -> bpy.types.Object:
    """Add a mesh of closed boxes, each from a lower to an upper corner."""
    points, faces = [], []
    for low, high in boxes:
        faces += [tuple(len(points) + corner for corner in face) for face in BOX_FACES]
        points += list(product(*zip(low, high, strict=True)))
    return add_vertices(name, points, faces, **attributes)


def add_wall(name: str, length: float, width: float, **attributes: object) -> bpy.types.Object:
    """Add a wall that is 3 high, with a doorway that is 2.1 high in its middle."""
    left, right = (length - width) / 2, (length + width) / 2
    return add_boxes(
        name,
        ((0, 0, 0), (left, 0.2, 3)),
        ((right, 0, 0), (length, 0.2, 3)),
        ((left, 0, 2.1), (right, 0.2, 3)),
        **attributes,
    )


def add_pipe(name: str, radius: float, length: float) -> bpy.types.Object:
    """Add a pipe without thickness, open at both ends."""
    angles = np.arange(64) * (2 * np.pi / 64)
    circle = np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.zeros(64)])
    faces = [(k, (k + 1) % 64, 64 + (k + 1) % 64, 64 + k) for k in range(64)]
    return add_vertices(name, np.concatenate([circle, circle + np.array([0, 0, length])]), faces)


def checked() -> dict[str, CheckedCollider]:
    """Check without a problem, and return the colliders by their meshes."""
    found = check()
    assert found.problems == ()
    return {entry.mesh: entry for entry in found.colliders}


@pytest.mark.smoke
@pytest.mark.parametrize("kind", KINDS)
def test_doorway_of_a_wall_is_filled_up_to_half_of_its_width(kind):
    for number, (length, width) in enumerate(((4, 1.0), (8, 0.9), (20, 1.2))):
        add_wall(f"Wall{number}", length, width, location=(0, number, 0), rotation_euler=(0, 0, number))
    create_colliders(kind=kind)
    found = check()
    assert found.problems == ()
    for entry, width in zip(found.colliders, (1.0, 0.9, 1.2), strict=True):
        assert 0.8 * width / 2 < entry.filled <= width / 2 + 1e-5
    assert {note.kind for note in found.notes} == {"filled"} and len(found.notes) == 3
    assert check().notes == found.notes


@pytest.mark.parametrize("kind", ["box", "hull"])
def test_sizes_of_holes_are_those_of_formulas(kind):
    # A torus between two planes: the point above its center is nearest to the tube's circle of centers.
    outer, inner = 2.0, 0.5
    u, v = np.meshgrid(*[np.arange(64) * (2 * np.pi / 64)] * 2, indexing="ij")
    across = outer + inner * np.cos(v)
    torus = np.stack([across * np.cos(u), across * np.sin(u), inner * np.sin(v)], axis=-1).reshape(-1, 3)
    index = np.arange(64 * 64).reshape(64, 64)
    corners = [index, np.roll(index, -1, 0), np.roll(np.roll(index, -1, 0), -1, 1), np.roll(index, -1, 1)]
    add_vertices("Torus", torus, np.stack(corners, axis=-1).reshape(-1, 4).tolist())
    add_pipe("Pipe", 0.5, 3)
    # A frame without thickness around a window of 1 x 1.
    frame = [(0, 0, 0), (4, 0, 0), (4, 0, 3), (0, 0, 3), (1, 0, 1), (2, 0, 1), (2, 0, 2), (1, 0, 2)]
    add_vertices("Window", frame, [(0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)])
    # A box without a lid: the middle of the lid is as far from the sides as from the bottom.
    tray = [face for face in BOX_FACES if {2, 3, 6, 7} != set(face)]
    add_vertices("Tray", list(product((0, 1), (0, 1), (0, 2))), tray)
    create_colliders(kind=kind)
    expected = {"Torus": np.hypot(outer, inner) - inner, "Pipe": 0.5, "Window": 0.5, "Tray": 0.5}
    found = checked()
    for name, distance in expected.items():
        assert 0.8 * distance < found[name].filled <= distance * 1.01, name


@pytest.mark.parametrize("kind", KINDS)
def test_convex_meshes_have_no_holes_in_any_kind_of_collider(kind):
    random = np.random.default_rng(1)
    add_cube("Cube", rotation_euler=(0.3, 0.2, 0.1), scale=(1, 2, 0.1), location=(100, 0, 0))
    add_round("Ball", scale=(1, 1, 3))
    add_round("Pill", length=2.0, rotation_euler=(1, 0, 0))
    add_vertices("Plate", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2, 3)])
    add_cube("Mirrored", rotation_euler=random.uniform(-3, 3, 3), scale=(-1, 1, 2))
    create_colliders(kind=kind)
    assert {name: entry.filled for name, entry in checked().items()} == dict.fromkeys(
        ("Cube", "Ball", "Pill", "Plate", "Mirrored"), 0.0
    )
    assert check().notes == ()


def test_parts_that_leave_a_doorway_open_fill_nothing_and_one_that_does_not_is_named():
    boxes = [((0, 0, 0), (2, 0.2, 3)), ((3, 0, 0), (5, 0.2, 3)), ((2, 0, 2.1), (3, 0.2, 3))]
    wall = add_boxes("Wall", *boxes)
    for number, box in enumerate(boxes):
        add_boxes(f"UBX_Wall_{number:02}", box, parent=wall)
    found = check()
    assert (found.problems, found.notes) == ((), ())
    assert [entry.filled for entry in found.colliders] == [0.0, 0.0, 0.0]
    add_boxes("UBX_Wall_03", ((1.9, 0, 0), (3.1, 0.2, 2.2)), parent=wall)
    found = check()
    assert [note.name for note in found.notes] == ["UBX_Wall_03"]
    assert [entry.filled > 0.4 for entry in found.colliders] == [False, False, False, True]
    assert "up to 0.4" in found.notes[0].text or "up to 0.5" in found.notes[0].text


def test_small_notches_have_a_number_but_no_note():
    # Boards whose gaps are a hundredth of the length.
    add_boxes("Floor", *(((0, k, 0), (5, k + 0.95, 0.1)) for k in range(5)))
    create_colliders(kind="box")
    found = check()
    assert found.notes == () and found.problems == ()
    assert 0.01 < found.colliders[0].filled <= 0.025 + 1e-5


def test_a_hole_counts_by_its_size_in_meters_too(object_settings):
    add_wall("Wall", 40, 1.2)
    create_colliders(kind="hull")
    assert [note.kind for note in check().notes] == ["filled"]
    # The same numbers of centimeters are a small model, whose doorway is small compared with it.
    bpy.context.scene.unit_settings.scale_length = 0.01
    assert check().notes == ()


def test_holes_are_unknown_without_faces_and_with_custom_shapes():
    add_vertices("Cloud", [(0, 0, 0), (1, 2, 3), (3, 1, 2), (0, 3, 0)])
    add_wall("Wall", 4, 1)
    bpy.data.objects["Wall"].collision_bounds.override = "box"
    bpy.data.objects["Wall"].collision_bounds.half_extents = (9, 9, 9)
    add_cube("Surface")
    add_cube("Surface_00-colonly", parent=bpy.data.objects["Surface"])
    create_colliders(kind="hull")
    found = checked()
    assert {name: found[name].filled for name in ("Cloud", "Wall")} == {"Cloud": None, "Wall": None}
    by_name = {entry.name: entry.filled for entry in check().colliders}
    assert by_name["Surface_00-colonly"] is None


def test_merged_collection_is_measured_with_all_its_meshes():
    sides = [add_boxes(f"Side {k}", ((0, 0, 0), (2, 0.2, 3)), location=(3 * k, 0, 0)) for k in range(2)]
    merged_collection("Hall", *sides)
    create_colliders(kind="box")
    found = checked()["Hall"]
    assert 0.4 < found.filled <= 0.5 + 1e-5
