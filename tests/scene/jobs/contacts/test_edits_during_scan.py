"""Edits between the steps of a scan: the scan ends with a valid result and reports affected objects as
skipped.

The edited objects are far from a pair that touches at a known frame.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import bpy
import pytest

from addon.core import CollisionBoundsError
from addon.formats import Skipped, dumps, parse_document
from addon.scene.jobs.contacts import find_contacts
from addon.scene.jobs.result import Result
from addon.scene.settings import ContactSettings, Selection
from tests.scene.building import add_instance, hidden_collection
from tests.scene.sampling import add_box, contacts_by_names, key

pytestmark = pytest.mark.usefixtures("empty_file")

HALF = (0.5, 0.5, 0.5)
SHAPES = ["aabb", "sphere", "obb", "spheres"]


@pytest.fixture
def objects(empty_file: None) -> Any:
    """Add a dot that touches a block at frame 10, and far away objects for the edits."""
    key(add_box("Dot", HALF), "location", [(1, (-10, 0, 0)), (21, (10, 0, 0))])
    add_box("Block", HALF)
    soft = add_box("Soft", HALF)
    soft.location = (0, 50, 0)
    wave = soft.modifiers.new("Cast", "CAST")
    key(wave, "factor", [(1, 0.0), (21, 1.0)])
    key(add_box("Keyed", HALF), "location", [(1, (0, 50, -5)), (21, (0, 50, 5))])
    part = add_box("Part", HALF)
    collection = hidden_collection("Parts", part)
    add_instance("Crowd", collection, location=(0, 80, 0))
    child = add_box("Child", HALF)
    child.parent, child.location = bpy.data.objects["Keyed"], (0, 30, 0)
    bpy.context.scene.frame_set(1)
    return bpy.data.objects


def finish_with_edit(job: Generator[Any, None, Result], edit: Callable[[], None], steps: int) -> Result:
    """Run a scan to its end, with an edit after `steps` steps that completed a sample."""
    completed = 0
    while True:
        try:
            completed += next(job).done > 0
        except StopIteration as stop:
            return stop.value
        if completed == steps:
            edit()


def assert_dot_touches_block(result: Result, shape: str) -> None:
    """Check the contact of dot and block, for boxes also its frame, and that the document is valid."""
    contact = contacts_by_names(result)[frozenset(("Dot", "Block"))]
    # The dot moves by 1 per frame, from x = -10 at frame 1.
    if shape in ("aabb", "obb"):
        assert contact.first.frame == pytest.approx(10, abs=1e-4)
    parse_document(dumps(result.document()))
    assert all("\n" not in entry.reason for entry in result.skipped)


def data_of(name: str) -> bpy.types.Mesh:
    return bpy.data.objects[name].data


EDITS: dict[str, tuple[set[str], Callable[[], None]]] = {
    "deforming object is deleted": ({"Soft"}, lambda: bpy.data.objects.remove(bpy.data.objects["Soft"])),
    "parent is deleted": ({"Keyed"}, lambda: bpy.data.objects.remove(bpy.data.objects["Keyed"])),
    "instancer is deleted": ({"Crowd/Part.0"}, lambda: bpy.data.objects.remove(bpy.data.objects["Crowd"])),
    "instanced object is deleted": (
        {"Crowd/Part.0"},
        lambda: bpy.data.objects.remove(bpy.data.objects["Part"]),
    ),
    "mesh is deleted": ({"Soft"}, lambda: bpy.data.meshes.remove(data_of("Soft"))),
    "collection is deleted": (
        {"Crowd/Part.0"},
        lambda: bpy.data.collections.remove(bpy.data.collections["Parts"]),
    ),
    "object is unlinked from scene": (
        {"Soft"},
        lambda: bpy.context.scene.collection.objects.unlink(bpy.data.objects["Soft"]),
    ),
    "objects are renamed": (
        set(),
        lambda: [
            setattr(bpy.data.objects[old], "name", new)
            for old, new in (("Soft", "Other"), ("Keyed", "Soft"), ("Other", "Keyed"))
        ],
    ),
    "vertices are added": (set(), lambda: (data_of("Soft").vertices.add(3), data_of("Soft").update())),
    "all vertices are removed": (
        {"Soft"},
        lambda: (data_of("Soft").clear_geometry(), data_of("Soft").update()),
    ),
    "modifier is removed": (set(), lambda: bpy.data.objects["Soft"].modifiers.clear()),
    "action is deleted": (set(), lambda: bpy.data.actions.remove(action_of("Keyed"))),
    "object is added": (set(), lambda: add_box("New", HALF)),
    "all other objects are deleted": (
        {"Soft", "Keyed", "Child", "Crowd/Part.0"},
        lambda: [
            bpy.data.objects.remove(item)
            for item in list(bpy.data.objects)
            if item.name not in ("Dot", "Block")
        ],
    ),
}


def action_of(name: str) -> bpy.types.Action:
    return bpy.data.objects[name].animation_data.action


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("shape", ["aabb", pytest.param("spheres", marks=pytest.mark.long)])
def test_edits_between_frames_are_reported_for_affected_objects(objects, edit, shape):
    affected, change = EDITS[edit]
    job = find_contacts(bpy.context.scene, ContactSettings(shape=shape, frames=(1, 21, 1)))
    result = finish_with_edit(job, change, 3)
    assert_dot_touches_block(result, shape)
    assert affected <= {entry.name for entry in result.skipped}
    assert bpy.context.scene.frame_current == 1


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize(
    "pause", [0, 3, *(pytest.param(pause, marks=pytest.mark.long) for pause in (1, 2, 4, 5, 6))]
)
def test_edits_before_first_frame_are_reported(objects, edit, pause):
    affected, change = EDITS[edit]
    job = find_contacts(bpy.context.scene, ContactSettings(shape="aabb", frames=(1, 21, 1)))
    for _ in range(pause + 1):
        assert next(job).done == 0, "no sample is complete yet"
    change()
    result = finish_with_edit(job, lambda: None, 0)
    assert_dot_touches_block(result, "aabb")
    known = {subject.name for subject in result.subjects}
    skipped = {entry.name for entry in result.skipped}
    # An object that was deleted before the scan found its subjects is not a subject.
    assert affected - skipped <= (affected - known if pause == 0 else set())


def test_object_deleted_between_finding_and_reading_of_scan_is_skipped_with_the_reason(objects):
    job = find_contacts(bpy.context.scene, ContactSettings(shape="aabb", frames=(1, 21, 1)))
    next(job), next(job)
    bpy.data.objects.remove(bpy.data.objects["Soft"])
    result = finish_with_edit(job, lambda: None, 0)
    assert_dot_touches_block(result, "aabb")
    assert Skipped("Soft", "was deleted during the computation") in result.skipped


@pytest.mark.parametrize("when", [1, *(pytest.param(when, marks=pytest.mark.long) for when in (5, 12, 20))])
@pytest.mark.parametrize("shape", SHAPES)
def test_object_of_pair_deleted_during_scan_is_skipped(objects, shape, when):
    job = find_contacts(bpy.context.scene, ContactSettings(shape=shape, frames=(1, 21, 1)))
    result = finish_with_edit(job, lambda: bpy.data.objects.remove(bpy.data.objects["Dot"]), when)
    parse_document(dumps(result.document()))
    found = contacts_by_names(result)
    # Steps are samples at frames or between them. After one step there is no contact yet.
    if when == 1:
        assert frozenset(("Dot", "Block")) not in found
    assert "Dot" in {entry.name for entry in result.skipped}


@pytest.mark.parametrize("shape", ["aabb", "mesh"])
def test_all_objects_deleted_during_scan_are_skipped(objects, shape):
    job = find_contacts(bpy.context.scene, ContactSettings(shape=shape, frames=(1, 21, 1)))
    result = finish_with_edit(job, lambda: bpy.data.batch_remove(list(bpy.data.objects)), 15)
    parse_document(dumps(result.document()))
    assert {entry.name for entry in result.skipped} >= {"Dot", "Block", "Soft", "Keyed", "Child"}


@pytest.mark.parametrize("shape", ["aabb", "mesh"])
def test_scene_deleted_during_scan_is_an_error(objects, shape):
    scene = bpy.context.scene
    bpy.data.scenes.new("Other")
    job = find_contacts(scene, ContactSettings(shape=shape, frames=(1, 21, 1)))
    with pytest.raises(CollisionBoundsError, match="deleted during the computation"):
        finish_with_edit(job, lambda: bpy.data.scenes.remove(scene), 4)


@pytest.mark.smoke
def test_obstacle_deleted_during_scan_is_skipped(objects):
    settings = ContactSettings(shape="sphere", frames=(1, 21, 1), obstacles=("Soft*",))
    bpy.data.objects["Soft"].modifiers.clear()
    job = find_contacts(bpy.context.scene, settings)
    result = finish_with_edit(job, lambda: bpy.data.objects.remove(bpy.data.objects["Soft"]), 3)
    assert_dot_touches_block(result, "sphere")
    assert {entry.name for entry in result.skipped} == {"Soft"}


# ---- Small selections


@pytest.mark.parametrize(
    "shape", ["aabb", *(pytest.param(shape, marks=pytest.mark.long) for shape in SHAPES if shape != "aabb")]
)
@pytest.mark.parametrize("frames", [(1, 21, 1), (3, 3, 1)])
@pytest.mark.parametrize("selection", ["none", "one"])
def test_selection_of_none_or_one_object_has_no_pairs(objects, shape, frames, selection):
    for item in objects:
        item.select_set(selection == "one" and item.name == "Dot") if item.name != "Part" else None
    settings = ContactSettings(selection=Selection(selected_only=True), shape=shape, frames=frames)
    result = finish_with_edit(find_contacts(bpy.context.scene, settings), lambda: None, 0)
    assert result.report.contacts == ()
    assert len(parse_document(dumps(result.document()))["objects"]) == (selection == "one")
