"""Subjects of a scene, their names and parents, and skipped objects."""

from __future__ import annotations

import bpy
import pytest

from addon.core import CollisionBoundsError
from addon.scene.settings import Selection
from addon.scene.subjects.find import find_subjects
from tests.scene.blender.parts.rigs import add_rig
from tests.scene.building import add_instance, add_object, hidden_collection

pytestmark = [pytest.mark.usefixtures("empty_file"), pytest.mark.smoke]


def find(selection: Selection | None = None) -> tuple[list[str], dict[str, str]]:
    """Find subjects of the scene. Returns their names, and reasons of skipped objects by name."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    subjects, skipped = find_subjects(bpy.context.scene, depsgraph, selection or Selection())
    return [subject.name for subject in subjects], {entry.name: entry.reason for entry in skipped}


def add_curve(name: str, kind: str = "CURVE") -> bpy.types.Object:
    data = bpy.data.curves.new(name, kind)
    if kind == "FONT":
        data.body = "x"
    else:
        data.bevel_depth = 0.1
        data.splines.new("POLY").points.add(2)
    item = add_object(name, data)
    return item


def test_curve_and_text_count_once_although_blender_lists_their_mesh(add_mesh):
    add_mesh("Cube")
    add_curve("Pipe")
    add_curve("Sign", "FONT")
    assert find() == (["Cube", "Pipe", "Sign"], {})


def test_hidden_objects_and_objects_without_surface_are_skipped_with_reason(add_mesh):
    add_mesh("Cube")
    add_mesh("Eye").hide_set(True)
    add_mesh("Screen", hide_viewport=True)
    add_object("Hair", bpy.data.hair_curves.new("Hair"))
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    found, skipped = find()
    assert found == ["Cube"]
    assert skipped == {
        "Eye": "hidden in the viewport",
        "Screen": "hidden in the viewport",
        "Hair": "hair curves have no surface",
    }


def test_instances_of_collection_are_subjects(add_mesh):
    post, knob = add_mesh("Post"), add_mesh("Knob")
    parts = hidden_collection("Parts", post, knob)
    for name in ("Gate", "Arch"):
        add_instance(name, parts)
    assert find()[0] == ["Arch/Knob.0", "Arch/Post.0", "Gate/Knob.0", "Gate/Post.0"]
    assert find(Selection(patterns=("Gate",)))[0] == ["Gate/Knob.0", "Gate/Post.0"]
    assert find(Selection(patterns=("*/Post.?",)))[0] == ["Arch/Post.0", "Gate/Post.0"]


def test_text_in_instanced_collection_counts_once(add_mesh):
    sign = add_curve("Sign", "FONT")
    signs = hidden_collection("Signs", sign)
    add_instance("Wall", signs)
    assert find()[0] == ["Wall/Sign.0"]


def test_name_with_brackets_matches_itself(add_mesh):
    add_mesh("Crate [old]")
    add_mesh("Crate o")
    assert find(Selection(patterns=("Crate [old]",)))[0] == ["Crate [old]", "Crate o"]


def test_collection_includes_children_and_unknown_names_are_reported(add_mesh):
    outer, inner = bpy.data.collections.new("Outer"), bpy.data.collections.new("Inner")
    bpy.context.scene.collection.children.link(outer)
    outer.children.link(inner)
    inner.objects.link(add_mesh("Inside"))
    add_mesh("Outside")
    assert find(Selection(collection="Outer"))[0] == ["Inside"]
    with pytest.raises(CollisionBoundsError, match="'Nowhere'"):
        find(Selection(collection="Nowhere"))
    with pytest.raises(CollisionBoundsError, match=r"'Crate\*'"):
        find(Selection(patterns=("Crate*",)))


def test_selected_only_uses_viewport_selection(add_mesh):
    add_mesh("Chosen").select_set(True)
    add_mesh("Other").select_set(False)
    assert find(Selection(selected_only=True))[0] == ["Chosen"]


def test_parent_is_nearest_ancestor_with_bounds(add_mesh):
    base, empty, top = add_mesh("Base"), bpy.data.objects.new("Joint", None), add_mesh("Top")
    bpy.context.scene.collection.objects.link(empty)
    empty.parent, top.parent = base, empty
    subjects, _ = find_subjects(bpy.context.scene, bpy.context.evaluated_depsgraph_get(), Selection())
    assert {subject.id: subject.parent for subject in subjects} == {"Base": None, "Top": "Base"}


def test_parent_is_object_of_a_bone_above_also_if_the_armature_is_not_in_the_scene(add_mesh):
    rig, lower, upper = add_rig(), add_mesh("Lower"), add_mesh("Upper")
    for item, bone in ((lower, "Bone 0"), (upper, "Bone 2")):
        item.parent, item.parent_type, item.parent_bone = rig, "BONE", bone
    for is_in_scene in (True, False):
        if not is_in_scene:
            bpy.context.scene.collection.objects.unlink(rig)
        subjects, _ = find_subjects(bpy.context.scene, bpy.context.evaluated_depsgraph_get(), Selection())
        assert {subject.id: subject.parent for subject in subjects} == {"Lower": None, "Upper": "Lower"}
