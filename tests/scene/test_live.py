"""Shapes of a result's subjects as they are now, beside a plain fit to all their world vertices."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon import registration
from addon.core import aabbs_from_groups
from addon.scene import live
from addon.scene.fitting import FitSettings
from addon.scene.identities import identities
from addon.scene.jobs import BoundsSettings, ContactSettings, compute_bounds, find_contacts
from addon.scene.live import Live
from tests.finished import finished
from tests.scene.building import CUBE, key_location

pytestmark = pytest.mark.usefixtures("empty_file")

ALL = ("sphere", "aabb", "obb", "spheres")


def looker(result=None, checked="aabb", fit=None, drawn=ALL, report_counts=True):
    """Looks at the scene with the Live of a result, telling it what has changed."""
    seen = Live(result, identities(result.subjects))

    def look(changed=None, **more):
        depsgraph = bpy.context.evaluated_depsgraph_get()
        return seen.look(depsgraph, fit or FitSettings(), drawn, checked, report_counts, changed, **more)

    return look


def bounds(**settings):
    return compute_bounds(bpy.context.scene, BoundsSettings(**settings))


def world_points(item):
    mesh = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    matrix = np.array(item.matrix_world, dtype=float)
    points = np.array([vertex.co for vertex in mesh.vertices], dtype=float)
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def assert_holds(shown, items):
    """Every shape holds its thing's vertices, and is hardly larger than a fresh fit."""
    for index, item in enumerate(items):
        points = world_points(item)
        box, owners = shown.shapes["aabb"]
        low, high = box.min[owners == index][0], box.max[owners == index][0]
        tight = aabbs_from_groups(points, np.array([0, len(points)]))
        np.testing.assert_allclose(low, tight.min[0], atol=1e-5)
        np.testing.assert_allclose(high, tight.max[0], atol=1e-5)
        for name in ("sphere", "obb", "spheres"):
            shape, owners = shown.shapes[name]
            inside = shape[owners == index].padded(1e-5)
            assert np.array([part.contains(points) for part in inside.each()]).any(axis=0).all(), name
        sphere, owners = shown.shapes["sphere"]
        middle, radius = sphere.center[owners == index][0], sphere.radius[owners == index][0]
        assert np.linalg.norm(points - middle, axis=1).max() == pytest.approx(radius, rel=1e-5)


@pytest.mark.smoke
def test_what_moves_turns_grows_shears_or_is_mirrored_is_held_tightly(add_mesh):
    rng = np.random.default_rng(5)
    items = [add_mesh(f"{k}", rng.normal(size=(30, 3))) for k in range(4)]
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.scale = (1, 2, 0.5)
    items[3].parent = parent
    bpy.context.view_layer.update()
    look = looker(bounds())
    assert_holds(look(), items)
    items[0].location, items[0].rotation_euler = (4, 5, 6), (1, 2, 3)
    items[1].scale = (2, 2, 2)
    items[2].scale = (-1, 1, 1)
    items[3].rotation_euler = (0.5, 0.5, 0.5)
    bpy.context.view_layer.update()
    assert_holds(look(changed=()), items)


@pytest.mark.smoke
def test_only_vertices_that_are_said_to_have_changed_are_read_again(add_mesh):
    item, other = add_mesh("Edited"), add_mesh("Other", location=(9, 0, 0))
    look = looker(bounds())
    look()
    for edited in (item, other):
        for vertex in edited.data.vertices:
            vertex.co.x += 5
        edited.data.update()
    bpy.context.view_layer.update()
    boxes = look(changed={item.session_uid}).shapes["aabb"].shape
    np.testing.assert_allclose(boxes.max[:, 0], [6, 10])
    np.testing.assert_allclose(look(changed=None).shapes["aabb"].shape.max[:, 0], [6, 15])


@pytest.mark.smoke
def test_another_topology_gets_another_tree(add_mesh):
    item = add_mesh("Grows")
    look = looker(bounds())
    look()
    item.data.clear_geometry()
    item.data.from_pydata([*CUBE.tolist(), (7, 0, 0)], [], [])
    bpy.context.view_layer.update()
    assert_holds(look(changed={item.session_uid}), [item])
    item.data.clear_geometry()
    bpy.context.view_layer.update()
    assert not len(look(changed={item.session_uid}).shapes["aabb"].owners), "nothing is left of it"


@pytest.mark.smoke
def test_settings_and_modifiers_take_effect(add_mesh):
    item = add_mesh("Cube")
    result = bounds()
    padded = looker(result, fit=FitSettings(padding=0.5))().shapes
    np.testing.assert_allclose(padded["aabb"].shape.max, [[1.5] * 3])
    np.testing.assert_allclose(padded["sphere"].shape.radius, [np.sqrt(3) + 0.5])
    modifier = item.modifiers.new("Move", "DISPLACE")
    modifier.direction, modifier.mid_level, modifier.strength = "X", 0.0, 2.0
    bpy.context.view_layer.update()
    np.testing.assert_allclose(looker(result)().shapes["aabb"].shape.max, [[3, 1, 1]])
    base = looker(result, fit=FitSettings(modifiers="base"))()
    np.testing.assert_allclose(base.shapes["aabb"].shape.max, [[1, 1, 1]])


@pytest.mark.smoke
def test_what_is_nowhere_or_vanishes_is_not_shown_and_comes_back(add_mesh):
    item = add_mesh("Lost")
    add_mesh("Wall", location=(5, 0, 0))
    look = looker(bounds())
    for x, there in ((0, [0, 1]), (np.inf, [1]), (np.nan, [1]), (2, [0, 1])):
        item.location.x = x
        bpy.context.view_layer.update()
        assert look(changed=()).shapes["aabb"].owners.tolist() == there, x


def test_contacts_now_are_told_by_the_checked_shape(add_mesh):
    """Cubes side by side: their spheres of radius 1.73 meet, their boxes do not; then one turned."""
    add_mesh("A")
    other = add_mesh("B", location=(2.3, 0, 0))
    result = bounds()
    told = {name: looker(result, checked=name)().in_contact.all() for name in ALL}
    assert told == {"sphere": True, "aabb": False, "obb": False, "spheres": True}
    # At 45 degrees the box along the world's axes is 2.83 wide; the oriented one meets it with an edge.
    other.location = (2.3, 2.3, 0)
    other.rotation_euler.z = np.pi / 4
    bpy.context.view_layer.update()
    told = {name: looker(result, checked=name)().in_contact.all() for name in ("aabb", "obb")}
    assert told == {"aabb": True, "obb": False}


def test_parts_of_one_tree_do_not_touch_each_other(add_mesh):
    bpy.ops.mesh.primitive_uv_sphere_add()
    look = looker(bounds(), checked="spheres")
    assert len(look().shapes["spheres"].owners) > 4 and not look().in_contact.any()


@pytest.mark.smoke
def test_report_tells_of_its_frames_unless_it_does_not_count(add_mesh):
    key_location(add_mesh("Mover"), {1: (0, 0, 0), 21: (20, 0, 0)})
    wall = add_mesh("Wall", location=(10, 0, 0))
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 21
    result = finished(find_contacts(scene, ContactSettings()))
    # Faces meet from x = 8, at frame 9, to x = 12, at frame 13.
    look, now = looker(result), looker(result, report_counts=False)
    wall.location.y = 50
    for frame, touching in ((8, False), (9, True), (13, True), (14, False)):
        scene.frame_set(frame)
        assert look(changed=()).in_contact.all() == touching
        assert not now(changed=()).in_contact.any()


def test_nothing_at_all_is_no_trouble():
    result = bounds()
    shown = looker(result)()
    assert all(len(parts.owners) == 0 for parts in shown.shapes.values())


# ---- What objects say of themselves, as the extension's properties have it


@pytest.fixture
def registered():
    """An empty file with the extension switched on."""
    registration.register()
    yield
    registration.unregister()


def shown_box(shown, index=0):
    box, owners = shown.shapes["aabb"]
    return np.concatenate([box.min[owners == index][0], box.max[owners == index][0]])


def test_own_settings_count_as_soon_as_they_are_changed(add_mesh, registered):
    plain, own = add_mesh("A", CUBE), add_mesh("B", CUBE)
    own.location.x = 5
    bpy.context.view_layer.update()
    look = looker(bounds())
    look()
    own.collision_bounds.use_own, own.collision_bounds.padding = True, 0.5
    shown = look({own.session_uid}, same_flags=True)
    assert shown.moved and not look((), same_flags=True).moved
    np.testing.assert_allclose(shown_box(shown, 0), [-1, -1, -1, 1, 1, 1])
    np.testing.assert_allclose(shown_box(shown, 1), [3.5, -1.5, -1.5, 6.5, 1.5, 1.5])
    own.collision_bounds.padding = 0.25
    assert look(()).moved
    np.testing.assert_allclose(shown_box(look(()), 1), [3.75, -1.25, -1.25, 6.25, 1.25, 1.25])
    plain.name, own.name = "Z", "Y"
    own.location.x = 6
    bpy.context.view_layer.update()
    np.testing.assert_allclose(shown_box(look(()), 1), [4.75, -1.25, -1.25, 7.25, 1.25, 1.25])
    own.collision_bounds.use_own = False
    np.testing.assert_allclose(shown_box(look(()), 1), [5, -1, -1, 7, 1, 1])


def test_boxes_along_their_own_axes_touch_as_in_a_scan(add_mesh, registered):
    """Side by side and turned alike: boxes along the world's axes overlap, those along their own do not."""
    turn = (0, 0, np.pi / 4)
    items = [
        add_mesh(name, location=place, rotation_euler=turn)
        for name, place in (("A", (0, 0, 0)), ("B", (1.6, 1.6, 0)))
    ]
    look = looker(bounds(), drawn=["aabb"])
    assert look().in_contact.all()
    for item in items:
        item.collision_bounds.use_own, item.collision_bounds.axes = True, "object"
    bpy.context.view_layer.update()
    shown = look(())
    assert not shown.in_contact.any()
    box, _ = shown.shapes["aabb"]
    np.testing.assert_allclose(box.half_extents, 1, atol=1e-6)
    items[1].collision_bounds.axes = "world"
    assert look(()).in_contact.all()


def test_another_depth_of_a_tree_is_shown(add_mesh, registered):
    item = add_mesh("A", CUBE)
    item.data.clear_geometry()
    item.data.from_pydata(CUBE.tolist(), [], cube_faces(0))
    item.collision_bounds.use_own = True
    bpy.context.view_layer.update()
    look = looker(bounds(), drawn=["spheres"])
    deep = look().shapes["spheres"].shape.shape
    item.collision_bounds.depth = 1
    assert look(()).shapes["spheres"].shape.shape == (2,) < deep


def test_a_shape_set_by_hand_is_shown_while_it_is_dragged(add_mesh, registered):
    item = add_mesh("A", CUBE)
    look = looker(bounds())
    look()
    settings = item.collision_bounds
    settings.override, settings.center, settings.half_extents = "box", (1, 0, 0), (2, 1, 1)
    np.testing.assert_allclose(shown_box(look(())), [-1, -1, -1, 3, 1, 1])
    settings.half_extents = (3, 1, 1)
    np.testing.assert_allclose(shown_box(look(())), [-2, -1, -1, 4, 1, 1])
    settings.override, settings.radius = "sphere", 2.5
    shown = look(())
    np.testing.assert_allclose(shown_box(shown), [-1.5, -2.5, -2.5, 3.5, 2.5, 2.5])
    sphere, _ = shown.shapes["sphere"]
    np.testing.assert_allclose([*sphere.center[0], sphere.radius[0]], [1, 0, 0, 2.5])
    settings.override = "none"
    np.testing.assert_allclose(shown_box(look(())), [-1, -1, -1, 1, 1, 1])


@pytest.mark.parametrize("back", [False, True])
def test_a_box_set_by_hand_has_another_tree_though_it_has_as_many_corners(add_mesh, registered, back):
    """A cube's tree has the spheres of its faces; points without faces have none but the one around them."""
    item = add_mesh("A", CUBE)
    item.data.clear_geometry()
    item.data.from_pydata(CUBE.tolist(), [], cube_faces(0))
    own = item.collision_bounds
    own.center, own.half_extents = (5, 0, 0), (2, 1, 1)
    own.use_own, own.override = True, "box" if back else "none"
    bpy.context.view_layer.update()
    result = bounds()
    look = looker(result, drawn=["spheres"])
    look()
    own.override = "none" if back else "box"
    shown = look(())
    fresh = looker(result, drawn=["spheres"])().shapes["spheres"].shape
    np.testing.assert_allclose(shown.shapes["spheres"].shape.center, fresh.center, atol=1e-6)
    np.testing.assert_allclose(shown.shapes["spheres"].shape.radius, fresh.radius, atol=1e-6)


@pytest.mark.smoke
def test_loose_parts_and_what_is_taken_as_one_follow(add_mesh, registered):
    two = add_mesh("Two")
    two.data.clear_geometry()
    two.data.from_pydata(
        [*CUBE.tolist(), *(CUBE + np.array([10, 0, 0])).tolist()], [], [*cube_faces(0), *cube_faces(8)]
    )
    two.collision_bounds.use_own, two.collision_bounds.made_of = True, "loose"
    together = bpy.data.collections.new("Together")
    bpy.context.scene.collection.children.link(together)
    together.collision_bounds.take_as_one = True
    for number in range(2):
        member = add_mesh(f"Member {number}", CUBE)
        member.location = (0, 10 + 4 * number, 0)
        bpy.context.scene.collection.objects.unlink(member)
        together.objects.link(member)
    bpy.context.view_layer.update()
    result = bounds()
    names = [subject.name for subject in result.subjects]
    look = looker(result)
    look()
    two.location.z = 3
    member.location.y = 20
    bpy.context.view_layer.update()
    shown = look(())
    np.testing.assert_allclose(shown_box(shown, names.index("Two/part.0")), [-1, -1, 2, 1, 1, 4])
    np.testing.assert_allclose(shown_box(shown, names.index("Two/part.1")), [9, -1, 2, 11, 1, 4])
    np.testing.assert_allclose(shown_box(shown, names.index("Together")), [-1, 9, -1, 1, 21, 1])


def test_own_settings_are_read_without_a_walk_over_all_that_is_visible(add_mesh, registered, monkeypatch):
    own, ball = add_mesh("A", CUBE), add_mesh("B", CUBE, location=(9, 0, 0))
    own.collision_bounds.use_own, own.collision_bounds.padding = True, 0.5
    ball.collision_bounds.override, ball.collision_bounds.radius = "sphere", 3
    look = looker(bounds())
    look()
    monkeypatch.setattr(live, "visible", None)
    own.location.x, own.collision_bounds.padding = -9, 1
    own.modifiers.new("Move", "DISPLACE").strength = 0
    bpy.context.view_layer.update()
    np.testing.assert_allclose(shown_box(look(()), 0), [-11, -2, -2, -7, 2, 2])
    np.testing.assert_allclose(shown_box(look(()), 1), [6, -3, -3, 12, 3, 3])
    ball.collision_bounds.override = "none"
    own.hide_set(True)
    bpy.context.view_layer.update()
    shown = look(())
    assert shown.shapes["aabb"].owners.tolist() == [1]
    np.testing.assert_allclose(shown_box(shown, 1), [8, -1, -1, 10, 1, 1])


def test_members_of_what_is_taken_as_one_are_followed_whatever_they_are_called(add_mesh, registered):
    together = bpy.data.collections.new("Together")
    bpy.context.scene.collection.children.link(together)
    together.collision_bounds.take_as_one = True
    for number in range(3):
        member = add_mesh(f"Member {number}", CUBE, location=(0, 10 * number, 0))
        bpy.context.scene.collection.objects.unlink(member)
        together.objects.link(member)
    bpy.context.view_layer.update()
    look = looker(bounds())
    look()
    for number in (0, 2):
        bpy.data.objects[f"Member {number}"].name = f"Renamed {number}"
    other = add_mesh("Member 2", CUBE, location=(50, 0, 0))
    bpy.data.objects["Renamed 2"].location.y = 30
    bpy.context.view_layer.update()
    np.testing.assert_allclose(shown_box(look(())), [-1, -1, -1, 1, 31, 1])
    bpy.data.objects["Renamed 0"].hide_set(True)
    bpy.context.view_layer.update()
    np.testing.assert_allclose(shown_box(look(())), [-1, 9, -1, 1, 31, 1])
    bpy.data.objects.remove(bpy.data.objects["Renamed 2"])
    other.name = "Renamed 2"
    bpy.context.view_layer.update()
    np.testing.assert_allclose(shown_box(look(())), [-1, 9, -1, 1, 11, 1])


def cube_faces(start):
    """Two triangles a side of a cube whose corners begin there, by the pairs of corners one axis apart."""
    quads = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
    return [tuple(start + corner for corner in quad) for quad in quads]
