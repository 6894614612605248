"""The result list: rows, their order, what is shown, and the way from a row to its pair."""

from __future__ import annotations

import bpy
import pytest

from addon.ui.contact_rows import sorted_and_filtered
from addon.ui.operators import results as results_operators
from addon.ui.operators.pair_selection import why_unseen
from addon.ui.panels import contacts as contacts_panel
from tests.ui import results


@pytest.fixture
def rows(settings):
    """Rows of a scan: three contacts, one near miss."""
    results.build()
    results.scan()
    return settings


def shown(settings):
    order, is_shown = sorted_and_filtered(settings)
    return ["{} {}".format(*sorted((settings.rows[i].a, settings.rows[i].b))) for i in order if is_shown[i]]


FRAMES = ["Bullet Pane", "Near Slider", "Far Slider", "Aside Slider"]


def test_rows_are_contacts_by_time_then_near_misses(rows):
    assert shown(rows) == FRAMES
    bullet, near, far, aside = rows.rows
    assert [round(row.frame, 3) for row in (bullet, near, far)] == [3.25, 4, 14]
    assert bullet.tunnelling and not near.tunnelling
    assert aside.is_near_miss and aside.value == pytest.approx(0.5, abs=1e-6)
    assert rows.active_row == -1 and bpy.context.scene.frame_current == 7


def test_sorting_by_each_column_and_backwards(rows):
    contact_list = rows.contact_list
    contact_list.sort_by = "NAME"
    assert shown(rows) == ["Aside Slider", "Bullet Pane", "Far Slider", "Near Slider"]
    contact_list.reverse = True
    assert shown(rows) == ["Near Slider", "Far Slider", "Bullet Pane", "Aside Slider"]
    contact_list.sort_by = "VALUE"
    # Half a metre wide gap; a pane without depth, bullet of 0.02; boxes wholly in one another, a metre deep.
    assert shown(rows)[:2] == ["Aside Slider", "Bullet Pane"]
    contact_list.reverse = False
    assert shown(rows)[2:] == ["Bullet Pane", "Aside Slider"]


def test_filters_by_kind_name_and_hand(rows):
    contact_list = rows.contact_list
    contact_list.show_near_misses = False
    assert shown(rows) == FRAMES[:3]
    contact_list.tunnelling_only = True
    assert shown(rows) == FRAMES[:1]
    contact_list.tunnelling_only, contact_list.show_near_misses, contact_list.show_contacts = (
        False,
        True,
        False,
    )
    assert shown(rows) == FRAMES[3:]
    contact_list.show_contacts = True
    contact_list.search = "sLIDer"
    assert shown(rows) == FRAMES[1:]
    contact_list.search = "nobody"
    assert shown(rows) == []
    contact_list.search = ""
    rows.rows[1].hidden = True
    assert shown(rows) == ["Bullet Pane", "Far Slider", "Aside Slider"]
    contact_list.show_hidden = True
    assert shown(rows) == FRAMES
    contact_list.show_hidden = False
    assert bpy.ops.collision_bounds.show_hidden_rows() == {"FINISHED"}
    assert shown(rows) == FRAMES


def test_a_click_jumps_between_frames_and_selects_the_pair(rows):
    scene = bpy.context.scene
    rows.active_row = results.row_of(rows, "Bullet", "Pane")
    assert scene.frame_current + scene.frame_subframe == pytest.approx(3.25, abs=1e-4)
    assert {item.name for item in bpy.context.selected_objects} == {"Bullet", "Pane"}
    assert bpy.context.view_layer.objects.active.name == rows.rows[rows.active_row].a
    rows.active_row = results.row_of(rows, "Aside", "Slider")
    assert {item.name for item in bpy.context.selected_objects} == {"Aside", "Slider"}


def test_what_is_hidden_or_gone_is_no_error_and_said(rows):
    place = results.row_of(rows, "Near", "Slider")
    row = rows.rows[place]
    assert why_unseen(bpy.context, rows, row) == []
    bpy.data.objects["Near"].hide_set(True)
    rows.active_row = place
    assert {item.name for item in bpy.context.selected_objects} == {"Slider"}
    assert why_unseen(bpy.context, rows, row) == ["Near is hidden"]
    bpy.data.objects.remove(bpy.data.objects["Near"])
    bpy.data.objects["Slider"].name = "Other"
    rows.active_row = place
    assert why_unseen(bpy.context, rows, row) == ["Near is no longer in the scene"]
    assert {item.name for item in bpy.context.selected_objects} == {"Other"}, "renamed, and still the same"


@pytest.mark.smoke
def test_what_was_gone_is_known_again_after_undo_and_no_namesake_is_taken_for_it(rows):
    def reasons():
        settings = bpy.context.scene.collision_bounds  # undo makes others of them
        return why_unseen(bpy.context, settings, settings.rows[results.row_of(settings, "Near", "Slider")])

    bpy.ops.ed.undo_push(message="Before")
    near = bpy.data.objects["Near"]
    collection = near.users_collection[0]
    collection.objects.unlink(near)
    assert reasons() == ["Near is no longer in the scene"], "in the file still"
    bpy.data.objects.remove(near)
    collection.objects.link(bpy.data.objects.new("Near", None))
    bpy.context.view_layer.update()
    assert reasons() == ["Near is no longer in the scene"] == reasons()
    bpy.ops.ed.undo_push(message="Another one")
    bpy.ops.ed.undo()
    assert reasons() == []


def test_an_instance_selects_what_makes_it(settings):
    results.build()
    scene = bpy.context.scene
    group = bpy.data.collections.new("Group")
    group.objects.link(bpy.data.objects["Far"])
    scene.collection.objects.unlink(bpy.data.objects["Far"])
    maker = bpy.data.objects.new("Maker", None)
    maker.instance_type, maker.instance_collection = "COLLECTION", group
    scene.collection.objects.link(maker)
    results.scan()
    settings.active_row = results.row_of(settings, "Maker/Far.0", "Slider")
    assert {item.name for item in bpy.context.selected_objects} == {"Maker", "Slider"}


def test_buttons_step_through_what_the_list_shows(rows):
    step = bpy.ops.collision_bounds.go_to_contact
    rows.contact_list.sort_by, rows.contact_list.show_near_misses = "NAME", False
    taken = []
    for _ in range(3):
        assert step() == {"FINISHED"}
        taken.append(rows.active_row)
    assert [sorted((rows.rows[i].a, rows.rows[i].b)) for i in taken] == [
        ["Bullet", "Pane"],
        ["Far", "Slider"],
        ["Near", "Slider"],
    ]
    assert step() == {"CANCELLED"} and rows.active_row == taken[-1]
    assert step(direction="PREVIOUS") == {"FINISHED"} and rows.active_row == taken[1]


def test_framing_without_a_viewport_is_refused_not_crashed(rows):
    rows.active_row = 0
    assert not bpy.ops.collision_bounds.frame_pair.poll()


def test_the_copied_text_is_the_table_of_the_command_line(rows, capsys, tmp_path):
    from addon.cli.main import main
    from addon.scene.jobs import session

    text = results_operators.contacts_as_text(session.get(rows.result_id).contacts)
    path = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    capsys.readouterr()
    assert main(["contacts"], opens_file=False) == 0
    assert capsys.readouterr().out.endswith(text)


def test_other_settings_and_changes_are_said(rows):
    from addon.scene.jobs import session

    def cautions():
        return contacts_panel._warnings(rows, session.get(rows.result_id))

    assert cautions() == []
    rows.clearance = 0.25
    assert cautions() == ["Found with other settings"]
    rows.clearance = 0.0
    assert cautions() == []
    session.set_stale(rows.result_id, True)
    assert cautions() == ["The scene changed: find contacts again"]
