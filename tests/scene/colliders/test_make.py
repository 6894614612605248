"""Collider objects: exact names, children of their sources, replaced and removed without leftovers."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.scene.blender import object_properties
from addon.scene.colliders import objects as collider_objects
from addon.scene.colliders.make import SceneError, make_colliders, remove_colliders
from addon.scene.colliders.naming import ColliderNames
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.settings import (
    COLLIDER_NAME_PATTERNS,
    BoundsSettings,
    ColliderSettings,
    FitSettings,
    Selection,
)
from tests.core.closed import assert_closed
from tests.scene.building import CUBE, key_location

KINDS = {"box": "UBX", "sphere": "USP", "capsule": "UCP", "hull": "UCX"}


@pytest.fixture
def own_settings(add_mesh):
    """A Blender that knows the settings of objects and collections."""
    object_properties.attach()
    yield
    object_properties.detach()


def make(**settings: object):
    bpy.context.view_layer.update()
    return make_colliders(bpy.context.scene, ColliderSettings(**settings))


def names() -> set[str]:
    return {item.name for item in bpy.context.scene.objects}


def made() -> list[bpy.types.Object]:
    return [item for item in bpy.context.scene.objects if "collision_bounds_collider" in item]


def reasons(result) -> dict[str, str]:
    return {entry.name: entry.reason for entry in result.skipped}


@pytest.mark.parametrize("kind", KINDS)
def test_names_follow_each_engine(add_mesh, kind):
    add_mesh("SM_Crate.001")
    component = {"box": "Box", "sphere": "Sphere", "capsule": "Capsule", "hull": "Mesh"}[kind]
    expected = {
        "unreal": f"{KINDS[kind]}_SM_Crate.001_00",
        "godot": "SM_Crate.001_00-convcolonly",
        "godot_concave": "SM_Crate.001_00-colonly",
        "unity": f"SM_Crate.001_{component}Collider_00",
    }
    for preset, name in expected.items():
        assert make(kind=kind, pattern=COLLIDER_NAME_PATTERNS[preset]).colliders == 1
        assert [item.name for item in made()] == [name]
        assert made()[0].data.name == name


def test_collider_is_child_with_same_axes_hidden_from_render_in_its_collection(add_mesh):
    crate = add_mesh("Crate", location=(1, 2, 3), rotation_euler=(0.1, 0.2, 0.3), scale=(2, 1, 0.5))
    make()
    (collider,) = made()
    assert collider.parent == crate and collider.hide_render and not crate.hide_render
    assert [entry.name for entry in collider.users_collection] == ["Colliders"]
    bpy.context.view_layer.update()
    assert np.array_equal(np.array(collider.matrix_world), np.array(crate.matrix_world))
    assert_closed(
        np.array([v.co for v in collider.data.vertices]), [p.vertices[:] for p in collider.data.polygons]
    )
    assert not collider.data.validate(verbose=True), "nothing is wrong with the mesh"


def test_collider_follows_parent(add_mesh):
    crate = add_mesh("Crate")
    key_location(crate, {1: (0, 0, 0), 11: (5, 0, 0)})
    make()
    bpy.context.scene.frame_set(11)
    assert made()[0].matrix_world.translation[:] == pytest.approx((5, 0, 0))


@pytest.mark.smoke
def test_second_run_replaces_colliders_without_leftovers(add_mesh):
    for name in "ABC":
        add_mesh(name)
    before = len(bpy.data.objects), len(bpy.data.meshes)
    for kind in (*KINDS, *KINDS):
        result = make(kind=kind)
        assert result.colliders == 3
        assert {item.name for item in made()} == {f"{KINDS[kind]}_{name}_00" for name in "ABC"}
        assert {mesh.name for mesh in bpy.data.meshes} >= {item.name for item in made()}
        assert (len(bpy.data.objects), len(bpy.data.meshes)) == (before[0] + 3, before[1] + 3)
    assert result.replaced == 3
    assert len(bpy.data.collections) == 1


def world(item: bpy.types.Object) -> np.ndarray:
    bpy.context.view_layer.update()
    return np.array(item.matrix_world)


def uids() -> dict[str, int]:
    """Identity of an object and its mesh, by the object's name."""
    return {item.name: (item.session_uid, item.data.session_uid) for item in made()}


def test_second_run_updates_same_objects(add_mesh):
    for name in "ABC":
        add_mesh(name, scale=(1, 2, 3))
    make()
    before, points = uids(), [v.co[:] for v in bpy.data.objects["UBX_B_00"].data.vertices]
    bpy.data.objects["B"].data.vertices[0].co.x = -4
    bpy.data.objects["UBX_A_00"].hide_set(True)
    make()
    assert uids() == before
    assert min(v.co.x for v in bpy.data.objects["UBX_B_00"].data.vertices) == -4 < min(points)[0]
    assert bpy.data.objects["UBX_A_00"].hide_get(), "who hides colliders has them hidden"
    make(kind="sphere")
    assert {name.replace("UBX", "USP"): uid for name, uid in before.items()} == uids()
    make(kind="box")
    assert uids() == before
    assert [v.co[:] for v in bpy.data.objects["UBX_C_00"].data.vertices] == points


@pytest.mark.parametrize("count", [3, 40])
def test_number_of_loops_over_file_is_independent_of_number_of_colliders(add_mesh, monkeypatch, count):
    for number in range(count):
        add_mesh(f"Item{number:02}")
    make()
    looks = []
    for name in ("_children_of", "_collections_of"):
        real = getattr(collider_objects, name)
        monkeypatch.setattr(
            collider_objects, name, lambda items, real=real, name=name: looks.append(name) or real(items)
        )
    before = uids()
    make()
    assert uids() == before, "Blender looks through the file for each object that is removed"
    assert sorted(looks) == ["_children_of", "_children_of", "_collections_of"]


def test_child_of_collider_stays_in_place(add_mesh):
    crate = add_mesh("Crate", location=(1, 2, 3), rotation_euler=(0.1, 0.2, 0.3), scale=(2, 1, 0.5))
    make()
    lamp = add_mesh("Lamp", location=(4, 0, 0), rotation_euler=(0.4, 0, 0))
    lamp.parent = made()[0]
    lamp.matrix_parent_inverse = made()[0].matrix_world.inverted()
    place = world(lamp)
    for kind in ("box", "sphere", "hull", "capsule", "box"):
        make(kind=kind, selection=Selection(patterns=("Crate",)))
        assert lamp.parent == next(item for item in made() if item.parent == crate)
        np.testing.assert_allclose(world(lamp), place, atol=1e-5)
    made()[0].location, made()[0].delta_scale = (0, 0, 9), (2, 2, 2)
    place = world(lamp)
    make(selection=Selection(patterns=("Crate",)))
    np.testing.assert_allclose(world(made()[0]), world(crate), atol=1e-6)
    np.testing.assert_allclose(world(lamp), place, atol=1e-5)
    crate.location = (0, 0, 0)
    assert np.abs(world(lamp) - place).max() > 1, "it follows"
    place = world(lamp)
    remove_colliders(bpy.context.scene)
    assert lamp.parent == crate and names() == {"Crate", "Lamp"}
    np.testing.assert_allclose(world(lamp), place, atol=1e-5)


def test_child_of_removed_part_stays_in_place(add_mesh, own_settings):
    item = add_mesh("Parts", [(x, y, 0) for x in range(3) for y in (0.0, 0.5)], location=(0, 0, 2))
    item.data.edges.add(3)
    item.data.edges.foreach_set("vertices", list(range(6)))
    item.collision_bounds.use_object_settings, item.collision_bounds.bounds_for = True, "loose_parts"
    make()
    lamps = []
    for number in range(3):
        lamps.append(add_mesh(f"Lamp{number}", location=(number, 7, 0)))
        lamps[-1].parent = bpy.data.objects[f"UBX_Parts_{number:02}"]
    places = [world(lamp) for lamp in lamps]
    item.collision_bounds.bounds_for = "object"
    for _ in range(2):
        make(selection=Selection(patterns=("Parts",)))
        assert [entry.name for entry in made()] == ["UBX_Parts_00"]
        assert [lamp.parent.name for lamp in lamps] == ["UBX_Parts_00", "Parts", "Parts"]
        np.testing.assert_allclose([world(lamp) for lamp in lamps], places, atol=1e-6)


def test_child_of_collider_without_parent_stays_in_place(add_mesh, own_settings):
    group = bpy.data.collections.new("Group")
    bpy.context.scene.collection.children.link(group)
    group.objects.link(add_mesh("A", location=(3, 0, 0)))
    group.collision_bounds.merge_bounds = True
    make()
    lamp = add_mesh("Lamp", location=(0, 7, 0))
    made()[0].location = (5, 5, 5)
    lamp.parent = made()[0]
    place = world(lamp)
    make(selection=Selection(patterns=("A", "Group")))
    np.testing.assert_allclose(world(lamp), place, atol=1e-6)
    remove_colliders(bpy.context.scene)
    assert lamp.parent is None
    np.testing.assert_allclose(world(lamp), place, atol=1e-6)


def _below(child: bpy.types.Object, parent: bpy.types.Object, kind: str = "OBJECT") -> None:
    child.parent, child.parent_type = parent, kind
    bpy.context.view_layer.update()


def _with_constraint(crate: bpy.types.Object, lamp: bpy.types.Object) -> None:
    target = bpy.data.objects.new("Target", None)
    target.location = (7, 8, 9)
    bpy.context.scene.collection.objects.link(target)
    made()[0].constraints.new("COPY_LOCATION").target = target
    _below(lamp, made()[0])


def _with_bone(crate: bpy.types.Object, lamp: bpy.types.Object) -> None:
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("Bone").tail = (0, 3, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    made()[0].parent, made()[0].parent_bone = rig, "Bone"
    made()[0].parent_type = "BONE"
    _below(lamp, made()[0])


def _below_two(crate: bpy.types.Object, lamp: bpy.types.Object) -> None:
    other = add_cube("Other", (5, 0, 1))
    make(selection=Selection(patterns=("Other",)))
    outer, inner = (bpy.data.objects[f"UBX_{name}_00"] for name in ("Other", "Crate"))
    _below(inner, outer)
    assert other and outer.parent == other
    _below(lamp, inner)


def _by_a_vertex(crate: bpy.types.Object, lamp: bpy.types.Object) -> None:
    _below(lamp, made()[0], "VERTEX")


def add_cube(name: str, location: tuple[float, float, float]) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(CUBE, [], [])
    item = bpy.data.objects.new(name, mesh)
    item.location = location
    bpy.context.scene.collection.objects.link(item)
    return item


@pytest.mark.parametrize("way", [_with_constraint, _with_bone, _below_two, _by_a_vertex])
def test_child_of_removed_collider_stays_in_place_however_it_is_parented(add_mesh, way):
    crate = add_mesh("Crate", location=(1, 2, 3), rotation_euler=(0.1, 0.2, 0.3), scale=(2, 1, 0.5))
    make()
    lamp = add_mesh("Lamp", location=(0, 0, 3), rotation_euler=(0.4, 0, 0))
    way(crate, lamp)
    bpy.context.view_layer.update()
    place = world(lamp)
    remove_colliders(bpy.context.scene)
    assert not made()
    bpy.context.view_layer.update()
    np.testing.assert_allclose(world(lamp), place, atol=1e-5)
    assert lamp.parent is not None and lamp.parent.name in {"Crate", "Rig", "Other"}


def test_collider_that_became_parent_of_its_source_stays_and_another_is_created(add_mesh):
    """Parent a source to its collider, as a physics body that moves a visible object."""
    crate = add_mesh("Crate", location=(5, 0, 0))
    make()
    body = made()[0]
    place = world(body)
    body.parent, body.matrix_world = None, body.matrix_world.copy()
    between = bpy.data.objects.new("Between", None)
    bpy.context.scene.collection.objects.link(between)
    between.parent, crate.parent = body, between
    crate.matrix_parent_inverse = body.matrix_world.inverted()
    for _ in range(2):
        result = make()
        assert result.colliders == 1 and body.parent is None
        np.testing.assert_allclose(world(body), place, atol=1e-6)
        own = [item for item in made() if item.parent == crate]
        assert [item.name for item in own] == ["UBX_Crate_01"], "the first name is taken"
        np.testing.assert_allclose(world(own[0]), world(crate), atol=1e-6)


@pytest.mark.smoke
def test_run_keeps_rigid_bodies_and_user_collections_of_colliders(add_mesh):
    add_mesh("Crate")
    make()
    export = bpy.data.collections.new("Export")
    bpy.context.scene.collection.children.link(export)
    export.objects.link(made()[0])
    bpy.context.view_layer.objects.active = made()[0]
    bpy.ops.rigidbody.world_add()
    bpy.ops.rigidbody.object_add()
    bodies = bpy.context.scene.rigidbody_world.collection
    assert list(bodies.objects) == made()
    for collection in ("Colliders", "Others", "Colliders"):
        make(collection=collection)
        assert list(bodies.objects) == list(export.objects) == made()
        assert {entry.name for entry in made()[0].users_collection} == {collection, "Export", bodies.name}


def test_meshes_that_users_assigned_to_colliders_keep_their_names(add_mesh):
    for name in "AB":
        add_mesh(name)
    make()
    mine = bpy.data.meshes.new("Mine")
    bpy.data.objects["UBX_A_00"].data = mine
    a, b = bpy.data.objects["A"], bpy.data.objects["B"]
    a.name, b.name, a.name = "Between", "A", "B"
    make()
    assert mine.name == "Mine"
    assert {item.parent.name: (item.name, item.data.name) for item in made()} == {
        name: (f"UBX_{name}_00",) * 2 for name in "AB"
    }


def test_new_mesh_has_name_of_previous_one(add_mesh):
    add_mesh("Crate")
    make()
    made()[0].shape_key_add(name="Basis")
    for _ in range(2):
        make()
        assert [(item.name, item.data.name) for item in made()] == [("UBX_Crate_00",) * 2]


def test_skipped_source_changes_nothing(add_mesh):
    add_mesh("Crate")
    make()
    collider = made()[0]
    collider.users_collection[0].objects.unlink(collider)
    bpy.context.scene.collection.objects.link(collider)
    bpy.data.objects["Crate"].hide_viewport = True
    assert make().colliders == 0
    assert "Colliders" in bpy.data.collections


def test_changes_to_transform_of_collider_are_reset(add_mesh):
    crate = add_mesh("Crate", location=(1, 2, 3))
    for kind in ("box", "hull"):
        make(kind=kind)
        collider = made()[0]
        key_location(collider, {1: (5, 5, 5), 11: (9, 9, 9)})
        collider.constraints.new("LIMIT_LOCATION").use_min_x = True
        collider.modifiers.new("Array", "ARRAY")
        collider.rotation_mode, collider.scale = "AXIS_ANGLE", (2, 2, 2)
        collider.delta_rotation_euler = (1, 1, 1)
        collider.parent_type, collider.display_type, collider.hide_render = "VERTEX", "SOLID", False
        make(kind=kind)
        assert np.array_equal(world(collider), world(crate))
        assert not collider.modifiers and collider.display_type == "WIRE" and collider.hide_render
        bpy.context.scene.frame_set(11)
        assert np.array_equal(world(collider), world(crate))


def test_swapped_names_are_restored(add_mesh):
    for name in "AB":
        add_mesh(name)
    make()
    a, b = (bpy.data.objects[f"UBX_{name}_00"] for name in "AB")
    for of in (lambda item: item, lambda item: item.data):
        of(a).name = "Between"
        of(b).name = "UBX_A_00"
        of(a).name = "UBX_B_00"
    make()
    found = {item.parent.name: (item.name, item.data.name) for item in made()}
    assert found == {name: (f"UBX_{name}_00",) * 2 for name in "AB"}


def test_mesh_with_another_user_is_left_alone(add_mesh):
    crate, other = add_mesh("Crate", CUBE * 2), add_mesh("Other")
    make(selection=Selection(patterns=("Crate",)))
    other.data = made()[0].data
    crate.data.vertices[0].co.x = -7
    make(selection=Selection(patterns=("Crate",)))
    assert min(v.co.x for v in other.data.vertices) == -2
    assert min(v.co.x for v in made()[0].data.vertices) == -7


def test_only_colliders_of_selection_are_replaced(add_mesh):
    for name in "AB":
        add_mesh(name)
    make()
    make(kind="hull", selection=Selection(patterns=("A",)))
    assert {item.name for item in made()} == {"UCX_A_00", "UBX_B_00"}


def test_colliders_are_recognized_by_mark_and_parent_not_by_name(add_mesh):
    crate = add_mesh("Crate")
    make()
    made()[0].name = "Renamed"
    crate.name = "Box"
    add_mesh("UBX_Crate_00")
    make(selection=Selection(patterns=("Box",)))
    assert names() == {"Box", "UBX_Crate_00", "UBX_Box_00"}


def test_copy_of_object_with_collider_gets_its_own_name(add_mesh):
    crate = add_mesh("Crate")
    make()
    copy, below = crate.copy(), made()[0].copy()
    below.parent = copy
    for item in (copy, below):
        bpy.context.scene.collection.objects.link(item)
    assert {copy.name, below.name} == {"Crate.001", "UBX_Crate_00.001"}
    make()
    assert names() == {"Crate", "Crate.001", "UBX_Crate_00", "UBX_Crate.001_00"}


def test_next_number_is_used_where_name_is_in_use(add_mesh):
    add_mesh("Crate")
    add_mesh("UBX_Crate_00", hide_viewport=True)
    for _ in range(2):
        make()
        assert [item.name for item in made()] == ["UBX_Crate_01"]
    assert "UBX_Crate_00" in names()


def test_name_in_use_without_number_skips_and_names_conflicting_object(add_mesh):
    add_mesh("Crate")
    make(pattern="{name}-colonly")
    other = add_mesh("Barrel-colonly", hide_viewport=True)
    add_mesh("Barrel")
    result = make(pattern="{name}-colonly")
    assert {item.name for item in made()} == {"Crate-colonly"}
    assert "Barrel-colonly" in reasons(result)["Barrel"]
    assert other.name == "Barrel-colonly"


@pytest.mark.smoke
def test_name_that_is_too_long_skips_and_keeps_existing_collider(add_mesh):
    most = 63 if bpy.app.version < (5, 0) else 255
    crate = add_mesh("Crate")
    make()
    crate.name = "ä" * ((most - 7) // 2)  # UBX_..._00 has 7 bytes more
    fits = make()
    assert not fits.skipped and len(made()[0].name.encode()) == most
    crate.name = crate.name + "xx"
    result = make()
    assert f"Blender keeps {most}" in reasons(result)[crate.name]
    assert len(made()) == 1, "the one from before"


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("collider", "has no {name}"),
        ("{name}_{size}", "and nothing else"),
        ("{name:>9}", "and nothing else"),
        ("{name", "a brace is missing"),
        ("{name}{}", "and nothing else"),
    ],
)
def test_invalid_pattern_is_rejected_and_nothing_changes(add_mesh, pattern, said):
    add_mesh("Crate")
    make()
    before = names()
    with pytest.raises(SceneError) as refused:
        make(pattern=pattern)
    assert said in str(refused.value)
    assert names() == before


def test_custom_pattern_with_literal_braces(add_mesh):
    add_mesh("Crate")
    make(pattern="{{c}} {name} {kind}", kind="hull")
    assert [item.name for item in made()] == ["{c} Crate hull"]


def test_loose_parts_are_numbered_in_order(add_mesh, own_settings):
    item = add_mesh("Parts", [(x, y, 0) for x in range(12) for y in (0.0, 0.5)])
    item.data.edges.add(12)
    item.data.edges.foreach_set("vertices", list(range(24)))
    item.collision_bounds.use_object_settings, item.collision_bounds.bounds_for = True, "loose_parts"
    make()
    assert make().colliders == 12
    for number in range(12):
        points = np.array([v.co for v in bpy.data.objects[f"UBX_Parts_{number:02}"].data.vertices])
        assert points[:, 0].mean() == pytest.approx(number)
    result = make(pattern="{name}_collider")
    assert "{number}" in reasons(result)["Parts"]
    assert len(made()) == 12


def test_override_is_used_unchanged(add_mesh, own_settings):
    box, ball = add_mesh("Box"), add_mesh("Ball", scale=(1, 3, 1))
    for item, override in ((box, "box"), (ball, "sphere")):
        own = item.collision_bounds
        own.override, own.center, own.half_extents, own.radius = override, (1, 0, 0), (3, 2, 1), 0.5
    make(kind="hull")
    assert {item.name for item in made()} == {"UBX_Box_00", "USP_Ball_00"}
    points = np.array([v.co for v in bpy.data.objects["UBX_Box_00"].data.vertices])
    assert points.min(axis=0).tolist() == [-2, -2, -1] and points.max(axis=0).tolist() == [4, 2, 1]
    bpy.context.view_layer.update()
    ball = bpy.data.objects["USP_Ball_00"]
    world = np.array([ball.matrix_world @ v.co for v in ball.data.vertices])
    # Stretched threefold along Y, an ellipsoid: the ball around it.
    assert np.linalg.norm(world - [1, 0, 0], axis=1) == pytest.approx(1.5 * 1.018, rel=1e-3)


def test_merged_collection_has_collider_in_world(add_mesh, own_settings):
    group = bpy.data.collections.new("Group")
    bpy.context.scene.collection.children.link(group)
    for name, x in (("A", -4), ("B", 4)):
        item = add_mesh(name, location=(x, 1, 0))
        bpy.context.scene.collection.objects.unlink(item)
        group.objects.link(item)
    group.collision_bounds.merge_bounds = True
    for _ in range(2):
        make()
        (collider,) = made()
        assert collider.name == "UBX_Group_00" and collider.parent is None
        points = np.array([v.co for v in collider.data.vertices])
        assert points.min(axis=0).tolist() == [-5, 0, -1] and points.max(axis=0).tolist() == [5, 2, 1]


def test_instances_are_skipped_with_remedy(add_mesh):
    inner = bpy.data.collections.new("Inner")
    item = add_mesh("Part")
    bpy.context.scene.collection.objects.unlink(item)
    inner.objects.link(item)
    empty = bpy.data.objects.new("Instance", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", inner
    bpy.context.scene.collection.objects.link(empty)
    result = make()
    assert result.colliders == 0 and "Make Instances Real" in reasons(result)["Instance/Part.0"]
    assert not bpy.data.collections.get("Colliders"), "none for nothing"


def test_path_that_moves_children_is_skipped(empty_file):
    data = bpy.data.curves.new("Path", "CURVE")
    data.dimensions, data.bevel_depth = "3D", 0.1
    spline = data.splines.new("POLY")
    spline.points.add(2)
    for index, point in enumerate(spline.points):
        point.co = (index * 2 + 1, index, 0, 1)
    path = bpy.data.objects.new("Path", data)
    bpy.context.scene.collection.objects.link(path)
    assert make().colliders == 1
    # That it does is Blender's own.
    data.use_path = True
    bpy.context.view_layer.update()
    assert np.abs(np.array(made()[0].matrix_world) - np.array(path.matrix_world)).max() > 0.5
    assert "Path Animation" in reasons(make())["Path"]


@pytest.mark.smoke
def test_linked_objects_get_local_children_and_linked_colliders_stay(add_mesh, tmp_path):
    add_mesh("Crate")
    make()
    library = tmp_path / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(library))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, into):
        into.objects = ["Crate", "UBX_Crate_00"]
    for item in into.objects:
        bpy.context.scene.collection.objects.link(item)
    make()
    local = [item for item in made() if not item.library]
    assert [(item.name, item.parent.library is not None) for item in local] == [("UBX_Crate_00", True)]
    assert remove_colliders(bpy.context.scene) == 1
    assert [item.name for item in made()] == ["UBX_Crate_00"]


@pytest.mark.parametrize("is_overridden", [False, pytest.param(True, marks=pytest.mark.smoke)])
def test_linked_collection_of_same_name_does_not_prevent_colliders(add_mesh, tmp_path, is_overridden):
    add_mesh("Crate")
    make()
    library = tmp_path / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(library))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, into):
        into.collections = ["Colliders"]
    (linked,) = into.collections
    bpy.context.scene.collection.children.link(linked)
    if is_overridden:
        linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    item = bpy.data.objects.new("Barrel", bpy.data.meshes.new("Barrel"))
    item.data.from_pydata(CUBE.tolist(), [], [])
    bpy.context.scene.collection.objects.link(item)
    for _ in range(2):
        make(selection=Selection(patterns=("Barrel",)))
        (home,) = bpy.data.objects["UBX_Barrel_00"].users_collection
        assert home.library is None and home.override_library is None
        assert [entry.name for entry in home.objects] == ["UBX_Barrel_00"]
    assert remove_colliders(bpy.context.scene) == 1
    assert [entry.name for entry in linked.objects] == ["UBX_Crate_00"]


def test_linked_scene_is_rejected_without_leftovers(add_mesh, tmp_path):
    add_mesh("Crate")
    bpy.context.scene.name = "Level"
    library = tmp_path / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(library))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, into):
        into.scenes = ["Level"]
    (level,) = into.scenes
    with (
        bpy.context.temp_override(scene=level, view_layer=level.view_layers[0]),
        pytest.raises(SceneError, match="scene 'Level' is linked from another file"),
    ):
        make_colliders(level, ColliderSettings())
    assert not bpy.data.collections and [item.name for item in bpy.data.objects] == ["Crate"]


def test_objects_of_background_scene_are_skipped(add_mesh):
    add_mesh("Crate")
    behind = bpy.data.scenes.new("Behind")
    behind.collection.objects.link(bpy.data.objects.new("House", bpy.data.objects["Crate"].data))
    bpy.context.scene.background_set = behind
    result = make()
    assert [item.name for item in made()] == ["UBX_Crate_00"]
    assert "background" in reasons(result)["House"]


@pytest.mark.parametrize("instancing", ["VERTS", "FACES"])
def test_object_that_instances_its_children_is_skipped(add_mesh, instancing):
    grid = add_mesh("Grid")
    grid.data.clear_geometry()
    grid.data.from_pydata(CUBE.tolist(), [], [(0, 1, 3, 2), (4, 6, 7, 5)])
    make()
    # That it multiplies its children is Blender's own.
    grid.instance_type = instancing
    bpy.context.view_layer.update()
    shown = [
        instance.object.name
        for instance in bpy.context.evaluated_depsgraph_get().object_instances
        if instance.is_instance
    ]
    assert shown.count("UBX_Grid_00") == {"VERTS": 8, "FACES": 2}[instancing]
    assert "Instancing" in reasons(make())["Grid"]


def test_colliders_of_deleted_object_are_replaced_by_those_of_object_with_same_name(add_mesh):
    crate = add_mesh("Crate", location=(5, 0, 0))
    make()
    bpy.data.objects.remove(crate)
    assert made()[0].parent is None
    crate = add_mesh("Crate")
    assert make().replaced == 1
    assert [(item.name, item.parent) for item in made()] == [("UBX_Crate_00", crate)]


def test_collider_of_collection_stays_when_object_has_same_name(add_mesh, own_settings):
    group = bpy.data.collections.new("Crate")
    bpy.context.scene.collection.children.link(group)
    group.objects.link(add_mesh("A"))
    group.collision_bounds.merge_bounds = True
    make()
    bpy.data.objects["A"].hide_viewport = True
    crate = add_mesh("Crate")
    for _ in range(2):
        make()
        assert {item.name: item.parent for item in made()} == {"UBX_Crate_00": None, "UBX_Crate_01": crate}


def test_object_in_two_scenes_has_its_collider_in_both(add_mesh):
    crate = add_mesh("Crate")
    make()
    first, other = bpy.context.scene, bpy.data.scenes.new("Other")
    other.collection.objects.link(crate)
    with bpy.context.temp_override(scene=other, view_layer=other.view_layers[0]):
        bpy.context.view_layer.update()
        for _ in range(2):
            make_colliders(other, ColliderSettings(kind="hull"))
            for scene in (first, other):
                assert {item.name for item in scene.objects} == {"Crate", "UCX_Crate_00"}
    assert len(bpy.data.objects) == 2


def test_two_thousand_loose_parts_are_numbered_without_gap(empty_file):
    taken = ["UBX_A_07", "USP_A_1500"]
    kinds = ["box", "sphere"] * 2000
    found = ColliderNames(COLLIDER_NAME_PATTERNS["unreal"], taken).assign("A", kinds)
    boxes = [f"UBX_A_{number:02}" for number in range(2001) if number != 7]
    spheres = [f"USP_A_{number:02}" for number in range(2001) if number != 1500]
    assert found == [name for pair in zip(boxes, spheres, strict=True) for name in pair]


@pytest.mark.smoke
def test_remove_removes_only_created_colliders(add_mesh):
    crate = add_mesh("Crate")
    add_mesh("UBX_Crate_07")
    own = bpy.data.collections.new("Own")
    bpy.context.scene.collection.children.link(own)
    before = names(), {mesh.name for mesh in bpy.data.meshes}
    make()
    assert remove_colliders(bpy.context.scene) == 2
    assert (names(), {mesh.name for mesh in bpy.data.meshes}) == before
    assert [entry.name for entry in bpy.data.collections] == ["Own"]
    assert crate.data.name == "Crate"
    assert remove_colliders(bpy.context.scene) == 0


def test_user_changes_to_collection_stay(add_mesh):
    crate = add_mesh("Crate")
    make()
    collider = made()[0]
    guest = add_mesh("Guest")
    bpy.data.collections["Colliders"].objects.link(guest)
    crate.data = collider.data
    remove_colliders(bpy.context.scene)
    assert names() == {"Crate", "Guest"}
    assert len(crate.data.vertices) == 8 and "Colliders" in bpy.data.collections


def test_user_collection_is_used_and_kept(add_mesh):
    own = bpy.data.collections.new("Physics")
    bpy.context.scene.collection.children.link(own)
    add_mesh("Crate")
    make(collection="Physics")
    assert [item.name for item in own.objects] == ["UBX_Crate_00"]
    remove_colliders(bpy.context.scene)
    assert bpy.data.collections.get("Physics") == own


def test_new_collection_replaces_old_one_which_is_removed_when_empty(add_mesh):
    own = bpy.data.collections.new("Empty")
    bpy.context.scene.collection.children.link(own)
    for name in "AB":
        add_mesh(name)
    make(collection="First")
    make(collection="Second", selection=Selection(patterns=("A",)))
    assert {entry.name for entry in bpy.data.collections} == {"Empty", "First", "Second"}
    make(collection="Second")
    assert {entry.name for entry in bpy.data.collections} == {"Empty", "Second"}


def test_two_scenes_have_their_own_collections(add_mesh):
    add_mesh("A")
    make()
    other = bpy.data.scenes.new("Other")
    with bpy.context.temp_override(scene=other, view_layer=other.view_layers[0]):
        mesh = bpy.data.meshes.new("B")
        mesh.from_pydata(CUBE.tolist(), [], [])
        other.collection.objects.link(bpy.data.objects.new("B", mesh))
        bpy.context.view_layer.update()
        for _ in range(2):
            make_colliders(other, ColliderSettings())
        assert [entry.name for entry in other.collection.children] == ["Colliders.001"]
        assert remove_colliders(other) == 1
    assert [item.name for item in made()] == ["UBX_A_00"]


def test_colliders_are_not_subjects(add_mesh):
    add_mesh("Crate")
    make()
    bpy.context.view_layer.update()
    result = compute_bounds(bpy.context.scene, BoundsSettings())
    assert [entry.name for entry in result.objects] == ["Crate"]
    assert {entry.name for entry in result.skipped} == {"UBX_Crate_00"}
    with pytest.raises(SceneError, match="is a collider object"):
        make(selection=Selection(patterns=("UBX_*",)))


def test_subjects_that_cannot_be_bounded_get_no_collider(add_mesh):
    add_mesh("Empty", [])
    add_mesh("Flattened", scale=(1, 0, 1))
    add_mesh("Padded")
    add_mesh("Nowhere", [(0, 0, 0), (1, float("nan"), 0), (2, 0, 0)])
    found = reasons(make(kind="hull", fit=FitSettings(padding=-0.1)))
    assert found["Empty"] == "no vertices"
    assert "scale is zero" in found["Flattened"]
    assert "can't be made smaller" in found["Padded"]
    for kind in ("box", "sphere", "capsule", "hull"):
        assert reasons(make(kind=kind, fit=FitSettings(padding=-2.0)))["Nowhere"] == (
            "the place of a vertex is not a finite number"
        )
    assert "leaves nothing" in reasons(make(fit=FitSettings(padding=-2.0)))["Padded"]
    assert not made()
