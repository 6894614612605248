"""Pairs that a scan tests: all cubes overlap, so every tested pair is in contact."""

from __future__ import annotations

from itertools import combinations

import bpy
import pytest

from addon import registration
from addon.core import CollisionBoundsError
from addon.scene.jobs.contacts import find_contacts
from addon.scene.settings import ContactSettings, Selection
from addon.scene.subjects.selection import split_at_commas
from tests.finished import finished
from tests.scene.building import CUBE, add_instance, add_object, add_vertices
from tests.scene.sampling import key, scan_scene

pytestmark = pytest.mark.usefixtures("empty_file")


@pytest.fixture
def add_cubes(add_mesh):
    """Add cubes at one location, and return a function that scans one frame and returns the pairs."""

    def scan(**settings) -> set[tuple[str, ...]]:
        chosen = ContactSettings(**{"shape": "aabb", "frames": (1, 1, 1), **settings})
        result = finished(find_contacts(bpy.context.scene, chosen))
        return {
            tuple(sorted((result.subjects[c.a].name, result.subjects[c.b].name)))
            for c in result.report.contacts
        }

    def build(*names: str):
        for name in names:
            add_mesh(name)
        return scan

    return build


def all_pairs(*names: str) -> set[tuple[str, ...]]:
    """Return all pairs of these names, each sorted."""
    return {tuple(sorted(pair)) for pair in combinations(names, 2)}


def add_collection(
    name: str, *members: str, parent: bpy.types.Collection | None = None
) -> bpy.types.Collection:
    """Add a collection with some objects to the scene or to a parent collection."""
    collection = bpy.data.collections.new(name)
    (parent or bpy.context.scene.collection).children.link(collection)
    for member in members:
        collection.objects.link(bpy.data.objects[member])
    return collection


def set_parent(child: str, parent: str | bpy.types.Object) -> None:
    bpy.data.objects[child].parent = bpy.data.objects[parent] if isinstance(parent, str) else parent


def test_groups_by_pattern_and_by_collection_with_nested_collections(add_cubes):
    scan_pairs = add_cubes("Car", "Wheel.L", "Wheel.R", "Road")
    outer = add_collection("Vehicles [new]", "Car")
    add_collection("Wheels", "Wheel.L", "Wheel.R", parent=outer)
    assert scan_pairs(group_a=("Wheel*",), group_b=("Road",)) == {("Road", "Wheel.L"), ("Road", "Wheel.R")}
    assert scan_pairs(group_a=("collection:Wheels",), group_b=("collection:Wheels",)) == {
        ("Wheel.L", "Wheel.R")
    }
    vehicles = all_pairs("Car", "Road") | {("Road", "Wheel.L"), ("Road", "Wheel.R")}
    assert scan_pairs(group_a=("collection:Vehicles [new]",), group_b=("Road",)) == vehicles
    assert scan_pairs(group_a=("collection:V*",), group_b=("Road",)) == vehicles


def test_parent_and_child_are_skipped_by_default(add_cubes):
    scan_pairs = add_cubes("Grandparent", "Parent", "Child")
    set_parent("Parent", "Grandparent")
    set_parent("Child", "Parent")
    assert scan_pairs() == {("Child", "Grandparent")}
    assert scan_pairs(ignore_parents=False) == all_pairs("Grandparent", "Parent", "Child")


def test_parent_is_found_through_empty_and_through_object_without_vertices(add_cubes, add_mesh):
    scan_pairs = add_cubes("Top", "Left", "Right")
    hinge = add_object("Hinge")
    hollow = add_mesh("Hollow", [])
    hinge.parent = hollow.parent = bpy.data.objects["Top"]
    set_parent("Left", hinge)
    set_parent("Right", hollow)
    assert scan_pairs() == {("Left", "Right")}


def test_pairs_within_one_collection_are_skipped_on_request(add_cubes):
    scan_pairs = add_cubes("Lid", "Box", "Key", "Loose A", "Loose B")
    add_collection("Chest", "Lid", "Box")
    add_collection("Ring", "Key", "Box")
    all_contacts = all_pairs("Lid", "Box", "Key", "Loose A", "Loose B")
    assert scan_pairs() == all_contacts
    # The box is in two collections. Objects that are only in the scene collection are in none.
    assert scan_pairs(ignore_collection=True) == all_contacts - {("Box", "Lid"), ("Box", "Key")}


@pytest.fixture
def registered():
    """Enable the extension, so that objects have settings."""
    registration.register()
    yield
    registration.unregister()


def test_objects_in_no_collection_are_paired_if_another_is_split_by_loose_parts(add_cubes, registered):
    scan_pairs = add_cubes("A", "B", "Kept", "Split")
    add_collection("C", "Kept")
    settings = bpy.data.objects["Split"].collision_bounds
    settings.use_object_settings, settings.bounds_for = True, "loose_parts"
    contacts = scan_pairs(ignore_collection=True)
    assert ("A", "B") in contacts and ("A", "Kept") in contacts
    # Each vertex is a loose part. The parts are in contact with the other cubes and are no pairs with each
    # other.
    assert not [pair for pair in contacts if pair[0].startswith("Split") and pair[1].startswith("Split")]
    assert [pair for pair in contacts if pair[0] == "A" and pair[1].startswith("Split")]


def test_objects_in_same_two_collections_are_skipped(add_cubes):
    scan_pairs = add_cubes("A", "B", "C")
    for name in ("First", "Second"):
        add_collection(name, "A", "B")
    assert scan_pairs(ignore_collection=True) == {("A", "C"), ("B", "C")}


def test_ignored_pairs_by_pattern_and_collection_in_either_order(add_cubes):
    scan_pairs = add_cubes("Lid", "Box", "Key")
    add_collection("Chest", "Lid", "Box")
    all_contacts = all_pairs("Lid", "Box", "Key")
    assert (
        scan_pairs(ignored=("Lid:Box",)) == scan_pairs(ignored=("Box:L*",)) == all_contacts - {("Box", "Lid")}
    )
    assert scan_pairs(ignored=("Key:collection:Chest",)) == {("Box", "Lid")}
    assert scan_pairs(ignored=("collection:Chest:collection:Chest", "Key:Lid")) == {("Box", "Key")}


def test_names_with_colons_are_split_at_matching_colon(add_cubes):
    scan_pairs = add_cubes("rig:arm", "rig:leg", "Floor")
    all_contacts = all_pairs("rig:arm", "rig:leg", "Floor")
    assert scan_pairs(ignored=("rig:arm:rig:leg",)) == all_contacts - {("rig:arm", "rig:leg")}
    assert scan_pairs(ignored=("Floor:rig:arm",)) == all_contacts - {("Floor", "rig:arm")}
    assert scan_pairs(ignored=("rig[:]arm:Floor",)) == all_contacts - {("Floor", "rig:arm")}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"group_a": ("Nobody",)}, "group A 'Nobody': no object of this scan has this name"),
        (
            {"group_b": ("collection:None",)},
            "group B 'collection:None': no object of this scan is in a collection",
        ),
        ({"ignored": ("a:b:Nobody",)}, "ignore 'a:b:Nobody': matches no pair of objects"),
        ({"ignored": ("a:Nobody",)}, "ignore 'Nobody': no object"),
        ({"ignored": ("a:b:c",)}, "ignore 'a:b:c': is ambiguous .*[:]"),
        ({"ignored": ("alone",)}, "ignore 'alone': expected A:B, two names or patterns"),
        ({"ignored": (":a",)}, "ignore ':a': expected A:B, two names or patterns"),
    ],
)
def test_patterns_without_match_or_ambiguous_are_reported(add_cubes, settings, message):
    scan_pairs = add_cubes("a", "b:c", "a:b", "c")
    with pytest.raises(CollisionBoundsError, match=message):
        scan_pairs(**settings)


def test_list_in_one_line_keeps_commas_of_names():
    assert split_at_commas(" Lid:Box , Nuts[,] Bolts:Wall,,") == ("Lid:Box", "Nuts[,] Bolts:Wall")
    assert split_at_commas(" ") == ()


def ignore(owner: str, partner: str) -> None:
    bpy.data.objects[owner].collision_bounds.ignored.add().name = partner


@pytest.mark.usefixtures("registered")
def test_pair_that_is_ignored_in_the_file_is_skipped_and_others_are_not(add_cubes):
    scan_pairs = add_cubes("A", "B", "C")
    ignore("B", "A")
    assert scan_pairs() == {("A", "C"), ("B", "C")}


@pytest.mark.usefixtures("registered")
def test_ignored_object_that_no_scan_has_is_no_error(add_cubes):
    scan_pairs = add_cubes("A", "B")
    ignore("A", "Removed")
    assert scan_pairs() == {("A", "B")}


@pytest.mark.usefixtures("registered")
def test_removed_object_leaves_the_file_though_a_pair_with_it_is_ignored(add_cubes):
    add_cubes("A", "B")
    ignore("A", "B")
    bpy.data.batch_remove([bpy.data.objects["B"]])
    assert "B" not in bpy.data.objects


@pytest.mark.usefixtures("registered")
def test_instances_of_an_ignored_object_are_ignored_too(add_cubes):
    scan_pairs = add_cubes("Rail", "Part")
    group = bpy.data.collections.new("Group")
    group.objects.link(bpy.data.objects["Part"])
    add_instance("Empty", group)
    rail = [pair for pair in scan_pairs() if "Rail" in pair]
    assert len(rail) == 2
    ignore("Empty", "Rail")
    assert [pair for pair in scan_pairs() if "Rail" in pair] == [("Part", "Rail")]


@pytest.fixture
def drawer() -> None:
    """Let a drawer slide into its cabinet, which is its parent: they touch at y = -1.8, frame 8.

    y = -2.5 + (t - 1) / 10
    """
    cabinet = add_vertices("Cabinet", CUBE, BOX)
    drawer = add_vertices("Drawer", CUBE * 0.8, BOX, parent=cabinet)
    key(drawer, "location", [(1, (0, -2.5, 0)), (26, (0, 0, 0))])
    add_vertices("Other", CUBE, BOX, location=(9, 0, 0))
    bpy.context.scene.frame_end = 26


BOX = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def test_skipped_pair_of_parent_and_child_is_counted(drawer):
    result = scan_scene()
    # Cabinet and Other never move.
    assert (result.report.contacts, result.skipped_pairs) == ((), {"parents": 1, "static": 1})
    assert result.document()["extras"]["skippedPairs"] == {"parents": 1, "static": 1}
    assert scan_scene(group_a=("Other",)).skipped_pairs == {"groups": 1, "static": 1}
    assert scan_scene(ignore_parents=False).skipped_pairs == {"static": 1}


@pytest.mark.parametrize(
    ("settings", "skipped"),
    [
        ({"group_a": ("Drawer",), "group_b": ("Cabinet",)}, {"groups": 2}),
        ({"group_a": ("Cabinet", "Other"), "group_b": ("Drawer",)}, {"groups": 1}),
        ({"selection": Selection(("Drawer", "Cabinet"))}, {}),
    ],
)
def test_parent_and_child_that_are_named_are_tested(drawer, settings, skipped):
    result = scan_scene(**settings)
    (contact,) = result.report.contacts
    assert contact.first.frame == pytest.approx(8, abs=1e-3)
    assert result.skipped_pairs == skipped


def test_wildcard_names_no_pair(drawer):
    result = scan_scene(group_a=("Draw*",), group_b=("Cabinet",))
    assert (result.report.contacts, result.skipped_pairs) == ((), {"groups": 2, "parents": 1})


def test_skipped_pairs_of_bones_and_collections_are_counted(add_cubes):
    """Three objects in one collection have three pairs; two of them in the group have two with the others."""
    add_cubes("a", "b", "c", "d")
    add_collection("Kit", "a", "b", "c")
    bpy.context.scene.frame_end = 2
    assert scan_scene(ignore_collection=True).skipped_pairs == {"collections": 3}
    found = scan_scene(ignore_collection=True, group_a=("a", "d")).skipped_pairs
    assert found == {"groups": 1, "collections": 2}


_GROUPS = ({}, {"group_a": ("b", "c", "g")}, {"group_a": ("[abc]",), "group_b": ("collection:Kit", "f")})
_IGNORED = ((), ("a:b",), ("a:b", "b:a", "[bcd]:[cde]"), ("a:a",))


@pytest.mark.parametrize("group", _GROUPS)
@pytest.mark.parametrize("ignored", _IGNORED)
@pytest.mark.parametrize(("parents", "collection"), [(True, True), (True, False), (False, True)])
@pytest.mark.usefixtures("object_settings")
def test_each_pair_is_tested_or_counted_once_for_its_first_reason(
    add_cubes, group, ignored, parents, collection
):
    """All cubes overlap, so each tested pair is in contact. The rules are applied here to each pair."""
    names = "abcdefg"
    scan_pairs = add_cubes(*names)
    set_parent("b", "a")
    set_parent("f", "e")
    kits = [set("abc"), set("cde")]
    for name, kit in zip(("Kit", "Other Kit"), kits, strict=True):
        add_collection(name, *kit)
    in_a = set(names) if not group else set("abc") if "group_b" in group else set("bcg")
    in_b = set("abcf") if "group_b" in group else set(names)
    expected: dict[str, int] = {}
    tested = set()
    for i, j in combinations(names, 2):
        rules = {
            "groups": not ((i in in_a and j in in_b) or (j in in_a and i in in_b)),
            "ignored": ("a:b" in ignored and {i, j} == set("ab"))
            or ("[bcd]:[cde]" in ignored and ((i in "bcd" and j in "cde") or (j in "bcd" and i in "cde"))),
            "parents": parents and {i, j} in ({"a", "b"}, {"e", "f"}),
            "collections": collection and any({i, j} <= kit for kit in kits),
        }
        reason = next((name for name, holds in rules.items() if holds), None)
        if reason is None:
            tested.add((i, j))
        else:
            expected[reason] = expected.get(reason, 0) + 1
    settings = {**group, "ignored": ignored, "ignore_parents": parents, "ignore_collection": collection}
    assert scan_pairs(**settings) == tested
    assert scan_scene(frames=(1, 1, 1), **settings).skipped_pairs == expected


def test_pairs_that_never_move_and_pairs_of_obstacles_are_counted():
    """One of five cubes moves: the four others have six pairs; two obstacles are one of them."""
    for index, name in enumerate("abcde"):
        add_vertices(name, CUBE, BOX, location=(10 * index, 0, 0))
    key(bpy.data.objects["e"], "location", [(1, (40, 0, 0)), (9, (50, 0, 0))])
    bpy.context.scene.frame_end = 9
    assert scan_scene().skipped_pairs == {"static": 6}
    assert scan_scene(static_pairs=True).skipped_pairs == {}
    assert scan_scene(ignored=("a:b",)).skipped_pairs == {"ignored": 1, "static": 5}
    result = scan_scene(shape="sphere", obstacles=("a", "b"))
    assert result.skipped_pairs == {"obstacles": 1, "static": 5}
    # An obstacle that moves leaves the pairs of the others.
    result = scan_scene(shape="sphere", obstacles=("e", "b"))
    assert result.skipped_pairs == {"obstacles": 1, "static": 6}
