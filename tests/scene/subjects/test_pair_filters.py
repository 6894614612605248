"""Pairs that a scan tests: all cubes overlap, so every tested pair is in contact."""

from __future__ import annotations

from itertools import combinations

import bpy
import pytest

from addon import registration
from addon.core import CollisionBoundsError
from addon.scene.jobs.contacts import find_contacts
from addon.scene.settings import ContactSettings
from addon.scene.subjects.pair_filters import split_at_commas
from tests.finished import finished

pytestmark = pytest.mark.usefixtures("empty_file")


@pytest.fixture
def pairs(add_mesh):
    """Add cubes at one location, and return a function that scans one frame and returns the pairs."""

    def found(**settings) -> set[tuple[str, ...]]:
        result = finished(find_contacts(bpy.context.scene, ContactSettings(frames=(1, 1, 1), **settings)))
        return {
            tuple(sorted((result.subjects[c.a].name, result.subjects[c.b].name)))
            for c in result.report.contacts
        }

    def build(*names: str):
        for name in names:
            add_mesh(name)
        return found

    return build


def all_of(*names: str) -> set[tuple[str, ...]]:
    return {tuple(sorted(pair)) for pair in combinations(names, 2)}


def collection(name: str, *members: str, parent: bpy.types.Collection | None = None) -> bpy.types.Collection:
    made = bpy.data.collections.new(name)
    (parent or bpy.context.scene.collection).children.link(made)
    for member in members:
        made.objects.link(bpy.data.objects[member])
    return made


def set_parent(child: str, parent: str | bpy.types.Object) -> None:
    bpy.data.objects[child].parent = bpy.data.objects[parent] if isinstance(parent, str) else parent


def test_groups_by_pattern_and_by_collection_with_nested_collections(pairs):
    found = pairs("Car", "Wheel.L", "Wheel.R", "Road")
    outer = collection("Vehicles [new]", "Car")
    collection("Wheels", "Wheel.L", "Wheel.R", parent=outer)
    assert found(group_a="Wheel*", group_b="Road") == {("Road", "Wheel.L"), ("Road", "Wheel.R")}
    assert found(group_a="collection:Wheels", group_b="collection:Wheels") == {("Wheel.L", "Wheel.R")}
    vehicles = all_of("Car", "Road") | {("Road", "Wheel.L"), ("Road", "Wheel.R")}
    assert found(group_a="collection:Vehicles [new]", group_b="Road") == vehicles
    assert found(group_a="collection:V*", group_b="Road") == vehicles


def test_parent_and_child_are_skipped_by_default(pairs):
    found = pairs("Grandparent", "Parent", "Child")
    set_parent("Parent", "Grandparent")
    set_parent("Child", "Parent")
    assert found() == {("Child", "Grandparent")}
    assert found(ignore_parents=False) == all_of("Grandparent", "Parent", "Child")


def test_parent_counts_through_empty_and_through_object_without_vertices(pairs, add_mesh):
    found = pairs("Top", "Left", "Right")
    hinge = bpy.data.objects.new("Hinge", None)
    bpy.context.scene.collection.objects.link(hinge)
    hollow = add_mesh("Hollow", [])
    hinge.parent = hollow.parent = bpy.data.objects["Top"]
    set_parent("Left", hinge)
    set_parent("Right", hollow)
    assert found() == {("Left", "Right")}


def test_pairs_within_one_collection_are_skipped_on_request(pairs):
    found = pairs("Lid", "Box", "Key", "Loose A", "Loose B")
    collection("Chest", "Lid", "Box")
    collection("Ring", "Key", "Box")
    every = all_of("Lid", "Box", "Key", "Loose A", "Loose B")
    assert found() == every
    # The box is in two collections. An object that is only in the scene's own collection is in none.
    assert found(ignore_collection=True) == every - {("Box", "Lid"), ("Box", "Key")}


@pytest.fixture
def registered():
    """The extension switched on: objects have settings of their own."""
    registration.register()
    yield
    registration.unregister()


def test_objects_in_no_collection_are_kept_although_another_is_split_by_loose_parts(pairs, registered):
    found = pairs("A", "B", "Kept", "Split")
    collection("C", "Kept")
    own = bpy.data.objects["Split"].collision_bounds
    own.use_object_settings, own.bounds_for = True, "loose_parts"
    told = found(ignore_collection=True)
    assert ("A", "B") in told and ("A", "Kept") in told
    # Each corner is a part of its own: where those of the cubes are, and no pair with one another.
    assert not [pair for pair in told if pair[0].startswith("Split") and pair[1].startswith("Split")]
    assert [pair for pair in told if pair[0] == "A" and pair[1].startswith("Split")]


def test_objects_in_the_same_two_collections_are_skipped_as_one_pair(pairs):
    found = pairs("A", "B", "C")
    for name in ("First", "Second"):
        collection(name, "A", "B")
    assert found(ignore_collection=True) == {("A", "C"), ("B", "C")}


def test_ignored_pairs_by_pattern_and_collection_in_either_order(pairs):
    found = pairs("Lid", "Box", "Key")
    collection("Chest", "Lid", "Box")
    every = all_of("Lid", "Box", "Key")
    assert found(ignored=("Lid:Box",)) == found(ignored=("Box:L*",)) == every - {("Box", "Lid")}
    assert found(ignored=("Key:collection:Chest",)) == {("Box", "Lid")}
    assert found(ignored=("collection:Chest:collection:Chest", "Key:Lid")) == {("Box", "Key")}


def test_names_with_colons_are_split_at_the_colon_that_matches(pairs):
    found = pairs("rig:arm", "rig:leg", "Floor")
    every = all_of("rig:arm", "rig:leg", "Floor")
    assert found(ignored=("rig:arm:rig:leg",)) == every - {("rig:arm", "rig:leg")}
    assert found(ignored=("Floor:rig:arm",)) == every - {("Floor", "rig:arm")}
    assert found(ignored=("rig[:]arm:Floor",)) == every - {("Floor", "rig:arm")}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"group_a": "Nobody"}, "group A 'Nobody': no object of this scan has that name"),
        (
            {"group_b": "collection:None"},
            "group B 'collection:None': no object of this scan is in a collection",
        ),
        ({"ignored": ("a:b:Nobody",)}, "ignore 'a:b:Nobody': fits no two objects"),
        ({"ignored": ("a:Nobody",)}, "ignore 'Nobody': no object"),
        ({"ignored": ("a:b:c",)}, "ignore 'a:b:c': can be read in more than one way .*[:]"),
        ({"ignored": ("alone",)}, "ignore 'alone': is not two names with a colon"),
        ({"ignored": (":a",)}, "ignore ':a': is not two names with a colon"),
    ],
)
def test_patterns_without_match_or_ambiguous_are_reported(pairs, settings, words):
    found = pairs("a", "b:c", "a:b", "c")
    with pytest.raises(CollisionBoundsError, match=words):
        found(**settings)


def test_list_in_one_line_keeps_commas_of_names():
    assert split_at_commas(" Lid:Box , Nuts[,] Bolts:Wall,,") == ("Lid:Box", "Nuts[,] Bolts:Wall")
    assert split_at_commas(" ") == ()
