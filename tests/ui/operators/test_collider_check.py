"""Check Colliders: report, list in the panel, selection by a click, and undo."""

from __future__ import annotations

import bpy
import pytest

from addon.scene.blender.object_settings import is_collider
from addon.ui import job_state, kept_checks
from addon.ui.panels import colliders as colliders_panel
from addon.ui.properties.scene import selected_count
from addon.ui.texts import wrapped_lines
from tests.scene.building import add_vertices, select_objects
from tests.scene.colliders.checking import add_cube, add_tetrahedron
from tests.ui.drawn_panel import Page

PANEL = colliders_panel.COLLISION_BOUNDS_PT_colliders
SELECT = "collision_bounds.select_collider_problem"


@pytest.fixture
def wrong(settings):
    """Add a box with a vertex of its mesh outside, and a hull without a mesh."""
    add_vertices("Crate", [(0, 0, 0), (1.3, 1.4, 0)])
    add_cube("UBX_Crate_00")
    add_tetrahedron("UCX_Nothing_00")
    bpy.context.view_layer.update()


def check() -> None:
    assert bpy.ops.collision_bounds.check_colliders() == {"FINISHED"}


@pytest.mark.smoke
def test_problems_are_listed_until_they_are_cleared(wrong):
    assert SELECT not in Page(PANEL).buttons
    check()
    page = Page(PANEL)
    assert page.buttons.count(SELECT) == 2 and "2 colliders, 2 problems" in page.labels
    text = " ".join(page.labels)
    assert "has 1 of 2 vertices outside of UBX_Crate_00, by up to 0.5 (vertex 1)" in text
    assert "there is no mesh object named 'Nothing_00' or 'Nothing'" in text
    assert bpy.ops.collision_bounds.clear_collider_check() == {"FINISHED"}
    assert SELECT not in Page(PANEL).buttons


def test_right_colliders_are_reported(settings):
    check()
    assert "No colliders in this scene" in Page(PANEL).labels
    add_cube("Floor-colonly")
    check()
    assert "1 collider, no problems" in Page(PANEL).labels


@pytest.mark.smoke
def test_click_selects_the_object_and_nothing_else(wrong):
    select_objects(bpy.data.objects["UBX_Crate_00"])
    check()
    assert [item.name for item in bpy.context.selected_objects] == ["UBX_Crate_00"]
    for index, name in enumerate(("Crate", "UCX_Nothing_00")):
        assert bpy.ops.collision_bounds.select_collider_problem(index=index) == {"FINISHED"}
        assert [item.name for item in bpy.context.selected_objects] == [name]
        assert bpy.context.object.name == name


def test_click_on_merged_collection_selects_its_objects(settings):
    merged = bpy.data.collections.new("Merged")
    bpy.context.scene.collection.children.link(merged)
    merged.collision_bounds.merge_bounds = True
    for number in range(2):
        item = add_cube(f"Member {number}", location=(5 * number, 0, 0))
        bpy.context.scene.collection.objects.unlink(item)
        merged.objects.link(item)
    add_cube("UBX_Merged_00")
    check()
    assert bpy.ops.collision_bounds.select_collider_problem(index=0) == {"FINISHED"}
    assert {item.name for item in bpy.context.selected_objects} == {"Member 0", "Member 1"}


def test_click_on_hidden_or_deleted_object_is_an_error_with_the_reason(wrong):
    check()
    bpy.data.objects["Crate"].hide_set(True)
    with pytest.raises(RuntimeError, match="cannot be selected: it is hidden"):
        bpy.ops.collision_bounds.select_collider_problem(index=0)
    bpy.data.objects.remove(bpy.data.objects["UCX_Nothing_00"])
    with pytest.raises(RuntimeError, match="no longer exists"):
        bpy.ops.collision_bounds.select_collider_problem(index=1)
    with pytest.raises(RuntimeError, match="out of date"):
        bpy.ops.collision_bounds.select_collider_problem(index=2)
    assert SELECT not in Page(PANEL).buttons, "the list is out of date"


RENAME, REBUILD = "collision_bounds.rename_colliders", "collision_bounds.rebuild_colliders"


@pytest.fixture
def kit(settings):
    """Add two props with wrong names of their colliders, and two whose colliders are too small."""
    for number, name in enumerate(("SM_Keg", "SM_Vase", "SM_Crate", "SM_Chest")):
        add_cube(name, location=(5 * number, 0, 0))
    kinds = {"SM_Crate": "hull", "SM_Chest": "sphere"}
    for name, kind in kinds.items():
        select_objects(bpy.data.objects[name])
        bpy.ops.collision_bounds.create_colliders(kind=kind, keep_kinds=True, naming="unreal")
        bpy.data.objects[name].data.vertices[0].co *= 3
        bpy.data.objects[name].data.update()
    for number, name in enumerate(("UCX_SM_Keg_00.001", "UCXSM_Vase_00")):
        add_cube(name, half=1.5, location=(5 * number, 0, 0))
    select_objects()
    bpy.context.scene.collision_bounds.colliders.kind = "box"
    bpy.context.view_layer.update()


def problems() -> set[tuple[str, str]]:
    bpy.context.view_layer.update()  # as Blender does after an operator
    assert OUTDATED not in Page(PANEL).labels
    return {(each.name, each.kind) for each in kept_checks.stored_check(bpy.context.scene).problems}


@pytest.mark.smoke
def test_buttons_mend_one_problem_and_the_list_keeps_the_others(kit):
    check()
    wrong = {("UCX_SM_Keg_00.001", "name"), ("UCXSM_Vase_00", "name")}
    small = {("SM_Crate", "outside"), ("SM_Chest", "outside")}
    assert problems() == wrong | small
    page = Page(PANEL)
    assert page.buttons.count(RENAME) == page.buttons.count(REBUILD) == 3, "one for each, one for both"
    found = [each.name for each in kept_checks.stored_check(bpy.context.scene).findings]
    assert bpy.ops.collision_bounds.rebuild_colliders(index=found.index("SM_Crate")) == {"FINISHED"}
    assert problems() == wrong | {("SM_Chest", "outside")}
    crate = bpy.data.objects["SM_Crate"].children[0]
    assert crate.name == "UCX_SM_Crate_00", "the kind is kept although the panel has another"
    found = [each.name for each in kept_checks.stored_check(bpy.context.scene).findings]
    assert bpy.ops.collision_bounds.rename_colliders(index=found.index("UCXSM_Vase_00")) == {"FINISHED"}
    assert problems() == {("UCX_SM_Keg_00.001", "name"), ("SM_Chest", "outside")}
    assert "UCX_SM_Vase_00" in bpy.data.objects


def test_buttons_mend_all_problems_of_a_kind_and_undo_brings_them_back(kit):
    bpy.ops.ed.undo_push(message="Built")
    check()
    assert bpy.ops.collision_bounds.rename_colliders() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="Renamed")
    assert {"UCX_SM_Keg_00", "UCX_SM_Vase_00"} <= set(bpy.data.objects.keys())
    assert bpy.ops.collision_bounds.rebuild_colliders() == {"FINISHED"}
    assert problems() == set()
    assert {"UCX_SM_Crate_00", "USP_SM_Chest_00"} <= set(bpy.data.objects.keys())
    bpy.ops.ed.undo_push(message="Rebuilt")
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    assert "UCXSM_Vase_00" in bpy.data.objects and OUTDATED in Page(PANEL).labels
    with pytest.raises(RuntimeError, match="out of date"):
        bpy.ops.collision_bounds.rename_colliders()


def test_rebuilt_colliders_keep_the_name_pattern_and_lose_edits(kit):
    select_objects(bpy.data.objects["SM_Crate"])
    bpy.ops.collision_bounds.create_colliders(kind="hull", keep_kinds=True, naming="godot")
    collider = bpy.data.objects["SM_Crate"].children[0]
    collider.scale = (0.5, 0.5, 0.5)
    bpy.context.scene.collision_bounds.colliders.naming = "unreal"
    check()
    bpy.ops.collision_bounds.rebuild_colliders()
    assert collider.name == "SM_Crate_00-convcolonly" and collider.scale[:] == (1, 1, 1)


def test_colliders_of_other_tools_cannot_be_rebuilt(wrong):
    check()
    assert REBUILD not in Page(PANEL).buttons and RENAME not in Page(PANEL).buttons


def test_result_survives_undo_and_is_of_one_scene(wrong):
    bpy.ops.ed.undo_push(message="Built")
    check()
    before = kept_checks.stored_check(bpy.context.scene)
    bpy.ops.ed.undo_push(message="Checked")
    bpy.data.objects["Crate"].data.vertices[1].co = (0, 0, 0)
    bpy.ops.ed.undo_push(message="Edited")
    check()
    assert len(kept_checks.stored_check(bpy.context.scene).problems) == 1
    bpy.ops.ed.undo()
    check()
    assert kept_checks.stored_check(bpy.context.scene) == before
    other = bpy.data.scenes.new("Other")
    assert kept_checks.stored_check(other) is None


OUTDATED = "The scene changed: check again"


@pytest.mark.smoke
@pytest.mark.parametrize(
    "change",
    [
        lambda: bpy.data.objects["UBX_Crate_00"].location.__setitem__(0, 1.0),
        lambda: bpy.data.objects.remove(bpy.data.objects["UBX_Crate_00"]),
        lambda: bpy.context.scene.collection.objects.unlink(bpy.data.objects["UBX_Crate_00"]),
        lambda: setattr(bpy.data.objects["UBX_Crate_00"], "name", "Crate Box"),
        lambda: bpy.ops.collision_bounds.create_colliders(scope="VISIBLE"),
        lambda: bpy.ops.ed.undo(),
    ],
    ids=["moved", "removed", "unlinked", "renamed", "created", "undone"],
)
def test_result_is_marked_as_outdated_after_an_edit(wrong, change):
    bpy.ops.ed.undo_push(message="Built")
    bpy.data.objects["Crate"].name = "Crate"
    bpy.ops.ed.undo_push(message="Renamed")
    check()
    assert OUTDATED not in Page(PANEL).labels
    bpy.context.scene.frame_set(7)
    bpy.context.view_layer.update()
    assert OUTDATED not in Page(PANEL).labels
    assert SELECT in Page(PANEL).buttons
    change()
    bpy.context.view_layer.update()
    page = Page(PANEL)
    assert OUTDATED in page.labels and SELECT not in page.buttons, "problems may be mended"
    check()
    assert OUTDATED not in Page(PANEL).labels


def test_objects_are_compared_once_after_an_update_and_not_at_each_redraw(wrong, monkeypatch):
    compared = []
    monkeypatch.setattr(
        kept_checks, "is_collider", lambda item: compared.append(item.name) or is_collider(item)
    )
    check()
    compared.clear()
    for _ in range(3):
        assert OUTDATED not in Page(PANEL).labels
    names = sorted(item.name for item in bpy.context.scene.objects)
    assert sorted(compared) == names
    bpy.data.objects["UBX_Crate_00"].hide_set(True)
    bpy.context.view_layer.update()
    for _ in range(3):
        assert OUTDATED not in Page(PANEL).labels
    assert sorted(compared) == sorted(names * 2)


def test_nothing_of_the_scene_changes(wrong):
    bpy.data.objects["UBX_Crate_00"].hide_set(True)

    def state() -> list[object]:
        blocks = (bpy.data.objects, bpy.data.meshes, bpy.data.scenes, bpy.data.collections)
        return [[block.name for block in kind] for kind in blocks] + [
            [item.hide_get() for item in bpy.context.view_layer.objects],
            bpy.context.scene.frame_current,
            bpy.context.scene.name,
        ]

    before = state()
    check()
    assert state() == before


def test_check_needs_object_mode_and_no_job(wrong):
    operator = bpy.ops.collision_bounds.check_colliders
    select_objects(bpy.data.objects["Crate"])
    assert operator.poll()
    bpy.ops.object.mode_set(mode="EDIT")
    assert not operator.poll()
    bpy.ops.object.mode_set(mode="OBJECT")
    job_state.begin()
    try:
        assert not operator.poll()
    finally:
        job_state.end()


def test_long_list_is_cut_with_the_number_of_the_others(settings):
    for number in range(15):
        add_tetrahedron(f"UCX_Nothing{number:02}_00")
    check()
    page = Page(PANEL)
    assert page.buttons.count(SELECT) == 12 and "and 3 others" in page.labels


def test_notes_are_listed_after_the_problems_and_select_their_collider(settings):
    frame = [(0, 0, 0), (4, 0, 0), (4, 0, 4), (0, 0, 4), (1, 0, 1), (3, 0, 1), (3, 0, 3), (1, 0, 3)]
    add_vertices("Frame", frame, [(0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)])
    add_cube("UBX_Frame_00", half=5.0)
    add_tetrahedron("UCX_Nothing_00")
    check()
    page = Page(PANEL)
    assert "2 colliders, 1 problem, 1 note" in page.labels and page.buttons.count(SELECT) == 2
    assert bpy.ops.collision_bounds.select_collider_problem(index=1) == {"FINISHED"}
    assert [item.name for item in bpy.context.selected_objects] == ["UBX_Frame_00"]


def test_texts_are_broken_between_words():
    lines = wrapped_lines("one two  three four-and-more five", lambda text: len(text) <= 8)
    assert list(lines) == ["one two", "three", "four-and-more", "five"]


def test_button_has_the_number_of_selected_objects_and_a_collider_stands_for_its_object(settings):
    for number in range(2):
        add_vertices(f"Crate {number}", [(0, 0, 0), (1, 1, 1)], location=(5 * number, 0, 0))
    assert bpy.ops.collision_bounds.create_colliders(scope="VISIBLE") == {"FINISHED"}
    bpy.context.scene.collision_bounds.scope = "SELECTED"
    select_objects(bpy.data.objects["UBX_Crate 0_00"])
    assert selected_count(bpy.context) == 1
    select_objects(*(item for item in bpy.data.objects if "Crate" in item.name))
    assert selected_count(bpy.context) == 2
    assert colliders_panel._button_text(bpy.context) == "Create Colliders: 2 Selected"
