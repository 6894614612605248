"""Colliders around the selection in Edit Mode and around vertex groups, against points of the test itself."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np
import pytest

from addon.scene.blender.object_settings import VERTEX_COLLIDER_PROPERTY
from addon.scene.colliders.check import check_colliders
from addon.scene.colliders.chosen_vertices import make_group_colliders, make_selection_colliders
from addon.scene.colliders.make import remove_colliders
from addon.scene.errors import SceneError
from addon.scene.settings import ColliderSettings, FitSettings, Selection
from tests.scene.building import add_object, add_vertices, select_objects
from tests.scene.colliders.creating import KINDS, colliders, create_colliders, object_names

pytestmark = pytest.mark.usefixtures("object_settings")

RANDOM = np.random.default_rng(18)
CLOUD = RANDOM.uniform(-1, 1, (40, 3)).astype(np.float32).astype(np.float64)
CHOSEN = [3, 5, 7, 11, 13, 17, 19]
FACES = [(index, index + 1, index + 2) for index in range(0, 39, 3)]


def enter_edit_mode(*items: bpy.types.Object) -> None:
    select_objects(*items)
    bpy.ops.object.mode_set(mode="EDIT")


def select_vertices(item: bpy.types.Object, rows: list[int]) -> None:
    """Select vertices of a mesh in Edit Mode."""
    mesh = bmesh.from_edit_mesh(item.data)
    for vertex in mesh.verts:
        vertex.select_set(vertex.index in rows)
    mesh.select_flush_mode()
    bmesh.update_edit_mesh(item.data)


def collider_of(item: bpy.types.Object) -> bpy.types.Object:
    (found,) = (entry for entry in colliders() if entry.parent == item)
    return found


def heights(collider: bpy.types.Object, points: np.ndarray) -> np.ndarray:
    """Largest height (n,) of world points above the faces of a convex collider, in the world."""
    bpy.context.view_layer.update()
    matrix = np.array(collider.matrix_world, dtype=np.float64)
    corners = [
        matrix[:3, :3] @ np.array(v.co, dtype=np.float64) + matrix[:3, 3] for v in collider.data.vertices
    ]
    center = np.mean(corners, axis=0)
    above = []
    for face in collider.data.polygons:
        a, b, c = (corners[index] for index in face.vertices[:3])
        normal = np.cross(b - a, c - a)
        if not np.linalg.norm(normal) > 1e-12:
            continue
        normal /= np.linalg.norm(normal) * (1 if normal @ (a - center) > 0 else -1)
        above.append((points - a) @ normal)
    return np.max(above, axis=0)


def in_world(points: np.ndarray, matrix: object) -> np.ndarray:
    rows = np.array(matrix, dtype=np.float64)
    return points @ rows[:3, :3].T + rows[:3, 3]


def make(**settings: object):
    bpy.context.view_layer.update()
    return make_selection_colliders(bpy.context.scene, ColliderSettings(**settings))


@pytest.mark.smoke
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [(1, 1, 1), (-2, 0.5, 3)], ids=["plain", "mirrored"])
def test_collider_encloses_exactly_the_selection_of_each_edited_mesh(kind, scale):
    items = [
        add_vertices(name, CLOUD + shift, location=(shift, 2, 3), rotation_euler=(0.3, shift, 1), scale=scale)
        for name, shift in (("A", 0.0), ("B", 5.0))
    ]
    unselected = add_vertices("C", CLOUD)
    enter_edit_mode(*items, unselected)
    select_vertices(items[0], CHOSEN)
    select_vertices(items[1], CHOSEN[:4])
    select_vertices(unselected, [])
    created = make(kind=kind)
    assert created.colliders == created.sources == 2 and not created.skipped
    assert bpy.context.mode == "EDIT_MESH"
    for item, shift, rows in ((items[0], 0.0, CHOSEN), (items[1], 5.0, CHOSEN[:4])):
        collider = collider_of(item)
        assert collider.name == f"{KINDS[kind]}_{item.name}_00" and not collider.select_get()
        points = in_world(CLOUD[rows] + shift, item.matrix_world)
        size = np.ptp(points, axis=0).max()
        gaps = heights(collider, points)
        assert gaps.max() <= 2e-6 * (size + 10)
        # Something touches the surface, to the facets of a ball, and not all of the mesh is inside.
        assert gaps.max() > -0.05 * size
        rest = in_world(np.delete(CLOUD, rows, axis=0) + shift, item.matrix_world)
        assert (heights(collider, rest) > 0).any()


@pytest.mark.smoke
@pytest.mark.skipif(
    bpy.app.version < (4, 5),
    reason="in pip's bpy 4.2, Edit Mode of faces corrupts memory, also without the add-on",
)
def test_selected_faces_select_their_vertices_and_hidden_vertices_do_not_count():
    item = add_vertices("A", CLOUD[:39], FACES)
    enter_edit_mode(item)
    bpy.context.tool_settings.mesh_select_mode = (False, False, True)
    mesh = bmesh.from_edit_mesh(item.data)
    for face in mesh.faces:
        face.select_set(face.index not in (2, 4))
    bmesh.update_edit_mesh(item.data)
    bpy.ops.mesh.hide()
    bpy.ops.mesh.select_all(action="SELECT")
    make(kind="box")
    bpy.context.tool_settings.mesh_select_mode = (True, False, False)
    points = CLOUD[[6, 7, 8, 12, 13, 14]]
    corners = np.array([v.co for v in collider_of(item).data.vertices])
    assert np.allclose(corners.min(axis=0), points.min(axis=0), atol=1e-6)
    assert np.allclose(corners.max(axis=0), points.max(axis=0), atol=1e-6)


@pytest.mark.smoke
def test_vertices_that_are_moved_in_edit_mode_count_where_they_are():
    item = add_vertices("A", CLOUD)
    enter_edit_mode(item)
    mesh = bmesh.from_edit_mesh(item.data)
    for vertex in mesh.verts:
        vertex.co.x += 9
    bmesh.update_edit_mesh(item.data)
    select_vertices(item, CHOSEN)
    make(kind="box")
    corners = np.array([v.co for v in collider_of(item).data.vertices])
    assert np.allclose(corners.min(axis=0), CLOUD[CHOSEN].min(axis=0) + np.array((9, 0, 0)), atol=1e-5)


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("modifiers", "more", "factor"),
    [
        ("evaluated", (), 3),
        ("base", (), 3),
        ("evaluated", ("SIMPLE",), 2),
        ("evaluated", ("MIRROR",), 3),
        ("evaluated", ("EMPTY",), 3),
    ],
)
def test_shape_key_and_modifiers_that_edit_mode_shows_count(modifiers, more, factor):
    item = add_vertices("A", CLOUD, FACES)
    item.shape_key_add(name="Basis")
    key = item.shape_key_add(name="Large")
    for entry in key.data:
        entry.co *= 3
    key.value, item.active_shape_key_index = 0.5, 1
    if more == ("SIMPLE",):
        # Edit Mode shows the mix of the keys: halfway between 1 and 3.
        item.use_shape_key_edit_mode = True
    elif more == ("MIRROR",):
        item.modifiers.new("Mirror", "MIRROR").show_in_editmode = True
    elif more == ("EMPTY",):
        # It hides a part of the mesh, so that no vertex corresponds.
        item.modifiers.new("Mask", "MASK").show_in_editmode = True
    enter_edit_mode(item)
    select_vertices(item, CHOSEN)
    make(kind="box", fit=FitSettings(modifiers=modifiers))
    corners = np.array([v.co for v in collider_of(item).data.vertices])
    points = CLOUD[CHOSEN] * factor
    assert np.allclose(corners.min(axis=0), points.min(axis=0), atol=1e-5)
    assert np.allclose(corners.max(axis=0), points.max(axis=0), atol=1e-5)


@pytest.mark.smoke
def test_deforming_modifier_counts_as_edit_mode_shows_it():
    """A hook that moves everything by (0, 0, 7)."""
    target = add_object("Target")
    item = add_vertices("A", CLOUD, FACES)
    hook = item.modifiers.new("Hook", "HOOK")
    hook.object, hook.show_in_editmode = target, True
    hook.vertex_indices_set(list(range(len(CLOUD))))
    target.location.z = 7
    enter_edit_mode(item)
    select_vertices(item, CHOSEN)
    make(kind="box")
    hook.show_in_editmode = False
    make(kind="box")
    low = [min(v.co.z for v in entry.data.vertices) for entry in sorted(colliders(), key=lambda c: c.name)]
    assert low == pytest.approx([CLOUD[CHOSEN].min(axis=0)[2] + 7, CLOUD[CHOSEN].min(axis=0)[2]], abs=1e-5)


@pytest.mark.smoke
def test_each_run_adds_a_collider_that_create_keeps_and_remove_removes():
    item = add_vertices("A", CLOUD)
    enter_edit_mode(item)
    for rows in (CHOSEN, CHOSEN[:4]):
        select_vertices(item, rows)
        make(kind="hull")
    bpy.ops.object.mode_set(mode="OBJECT")
    create_colliders(kind="hull")
    create_colliders(kind="hull")
    assert object_names() == {"A", "UCX_A_00", "UCX_A_01", "UCX_A_02"}
    assert [VERTEX_COLLIDER_PROPERTY in bpy.data.objects[f"UCX_A_0{n}"] for n in range(3)] == [
        True,
        True,
        False,
    ]
    assert remove_colliders(bpy.context.scene) == 3 and object_names() == {"A"}


def test_collider_gets_no_collider_around_its_selection():
    item = add_vertices("A", CLOUD)
    create_colliders(kind="box")
    (made,) = (entry for entry in colliders() if entry.parent == item)
    enter_edit_mode(made)
    with pytest.raises(SceneError, match=r"^UBX_A_00: is a collider: select vertices of the mesh"):
        make(kind="box")
    assert object_names() == {"A", "UBX_A_00"}


@pytest.mark.smoke
def test_without_a_selection_one_sentence_says_so_and_nothing_changes():
    item = add_vertices("A", CLOUD)
    enter_edit_mode(item)
    select_vertices(item, [])
    with pytest.raises(SceneError, match=r"^nothing is selected: select vertices, edges or faces$"):
        make()
    assert object_names() == {"A"} and not bpy.data.collections
    item.instance_type = "VERTS"
    select_vertices(item, CHOSEN)
    with pytest.raises(SceneError, match=r"^A: instances its children"):
        make()


def test_object_whose_collision_response_is_none_gets_no_collider():
    item = add_vertices("A", CLOUD)
    item.collision_bounds.response = "none"
    enter_edit_mode(item)
    select_vertices(item, CHOSEN)
    with pytest.raises(SceneError, match=r"^A: its collision response is None$"):
        make()


@pytest.mark.smoke
def test_check_reports_the_vertices_outside_until_all_parts_have_colliders():
    item = add_vertices("A", CLOUD[:39], FACES)
    for rows, outside in ((range(0, 20), 19), (range(20, 39), 0)):
        enter_edit_mode(item)
        select_vertices(item, list(rows))
        make(kind="hull")
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.context.view_layer.update()
        problems = check_colliders(bpy.context.scene).problems
        found = [entry.outside.vertices for entry in problems if entry.kind == "outside"]
        assert bool(found) == bool(outside) and all(0 < count <= outside for count in found)


def add_group(item: bpy.types.Object, name: str, weights: dict[int, float]) -> None:
    group = item.vertex_groups.new(name=name)
    for row, weight in weights.items():
        group.add([row], weight, "REPLACE")


def make_of_group(group: str = "", threshold: float = 0.5, **settings: object):
    bpy.context.view_layer.update()
    return make_group_colliders(bpy.context.scene, ColliderSettings(**settings), group, threshold)


@pytest.mark.smoke
@pytest.mark.parametrize(("threshold", "count"), [(0.0, 6), (0.1, 6), (0.2, 5), (0.5, 3), (1.0, 1)])
@pytest.mark.parametrize("kind", KINDS)
def test_collider_encloses_vertices_of_a_group_above_the_threshold(threshold, count, kind):
    item = add_vertices("A", CLOUD, scale=(1, -2, 3), rotation_euler=(1, 2, 3))
    weights = dict(zip(CHOSEN, (1.0, 0.7, 0.5, 0.4, 0.2, 0.1, 0.0), strict=True))
    add_group(item, "Arm", weights)
    add_group(item, "Leg", dict.fromkeys(range(20, 40), 1.0))
    add_vertices("Without", CLOUD)
    created = make_of_group("Arm", threshold, kind=kind)
    assert created.colliders == 1 and [entry.name for entry in created.skipped] == ["Without"]
    points = in_world(CLOUD[CHOSEN[:count]], item.matrix_world)
    gaps = heights(collider_of(item), points)
    assert -0.05 * (np.ptp(points, axis=0).max() + 0.1) < gaps.max() <= 1e-5
    if kind == "box" and count > 1:
        corners = np.array([v.co for v in collider_of(item).data.vertices])
        assert np.allclose(np.ptp(corners, axis=0), np.ptp(CLOUD[CHOSEN[:count]], axis=0), atol=1e-6)


@pytest.mark.smoke
def test_active_group_selected_objects_and_modifiers_count():
    item, other = add_vertices("A", CLOUD, FACES), add_vertices("B", CLOUD, FACES)
    for entry in (item, other):
        add_group(entry, "Arm", dict.fromkeys(CHOSEN, 1.0))
        add_group(entry, "Leg", dict.fromkeys(range(20, 40), 1.0))
        entry.vertex_groups.active_index = 1
    # Each vertex at x has a copy at -x with the same weights.
    item.modifiers.new("Mirror", "MIRROR").use_mirror_merge = False
    select_objects(item)
    make_of_group(kind="box", selection=Selection(selected_only=True))
    assert object_names() == {"A", "B", "UBX_A_00"}
    corners = np.array([v.co for v in collider_of(item).data.vertices])
    most = np.abs(CLOUD[20:, 0]).max()
    assert corners[:, 0].min() == pytest.approx(-most) and corners[:, 0].max() == pytest.approx(most)
    assert corners[:, 1].max() == pytest.approx(CLOUD[20:, 1].max())


def test_missing_groups_are_explained():
    item = add_vertices("A", CLOUD)
    with pytest.raises(SceneError, match=r"^A: has no vertex group: add one"):
        make_of_group()
    add_group(item, "Arm", {1: 0.25})
    with pytest.raises(SceneError, match=r"^A: has no vertex group 'Leg'$"):
        make_of_group("Leg")
    with pytest.raises(
        SceneError, match=r"^A: has no vertices of this weight in the group: lower the threshold$"
    ):
        make_of_group()
    assert object_names() == {"A"}
