"""The contact list: rows, sorting, filters, and jumping from a row to its pair."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

from addon.ui.operators.rows import selection_problems
from addon.ui.panels import contact_list as contact_list_ui
from addon.ui.panels import contacts as contacts_panel
from addon.ui.panels import menus
from addon.ui.row_order import counts_of_rows, listed_rows
from tests.scene.building import add_instance
from tests.ui import scanned_scene
from tests.ui.drawn_panel import Layout, Page


@pytest.fixture
def rows(settings):
    """Return the settings of a scanned scene: three contacts and one near miss."""
    scanned_scene.build()
    scanned_scene.scan()
    assert not settings.contact_list.show_near_misses
    settings.contact_list.show_near_misses = True
    assert settings.contact_list.sort_by == "VALUE"
    settings.contact_list.sort_by = "FRAME"
    return settings


def shown(settings):
    order, is_shown = listed_rows(settings)[:2]
    return ["{} {}".format(*sorted((settings.rows[i].a, settings.rows[i].b))) for i in order if is_shown[i]]


FRAMES = ["Bullet Pane", "Near Slider", "Far Slider", "Aside Slider"]


def test_rows_are_contacts_by_time_then_near_misses(rows):
    assert shown(rows) == FRAMES
    bullet, near, far, aside = rows.rows
    assert [round(row.frame, 3) for row in (bullet, near, far)] == [3.25, 4, 14]
    assert bullet.tunnelling and not near.tunnelling
    assert aside.is_near_miss and aside.value == pytest.approx(0.5, abs=1e-6)
    assert rows.active_row == -1 and bpy.context.scene.frame_current == 7


def test_list_is_sorted_by_each_column_and_reversed(rows):
    contact_list = rows.contact_list
    contact_list.sort_by = "NAME"
    assert shown(rows) == ["Aside Slider", "Bullet Pane", "Far Slider", "Near Slider"]
    contact_list.reverse = True
    assert shown(rows) == ["Near Slider", "Far Slider", "Bullet Pane", "Aside Slider"]
    contact_list.sort_by = "VALUE"
    # A gap of 0.5; a pane without thickness and a bullet of 0.02; cubes wholly inside each other, 1 deep.
    assert shown(rows)[:2] == ["Aside Slider", "Bullet Pane"]
    contact_list.reverse = False
    assert shown(rows)[2:] == ["Bullet Pane", "Aside Slider"]


@pytest.mark.parametrize(
    ("width", "column", "numbers"),
    [(400, "NAME", ["14.00", "1.00"]), (150, "FRAME", ["14.00"]), (150, "VALUE", ["1.00"])],
)
def test_row_has_both_numbers_or_the_one_that_the_list_is_sorted_by(
    rows, monkeypatch, width, column, numbers
):
    monkeypatch.setattr(contact_list_ui, "sidebar_width", lambda _context: width)
    monkeypatch.setattr(contact_list_ui, "measure_texts", lambda _context: lambda _text: 0.0)
    rows.contact_list.sort_by, far = column, rows.rows[2]
    page = SimpleNamespace(labels=[], greyed_labels=[])
    contact_list_ui.COLLISION_BOUNDS_UL_contacts.draw_item(
        None, bpy.context, Layout(page), rows, far, 0, rows, "active_row", 2
    )
    assert page.labels == [far.a, far.b, *numbers]


@pytest.mark.parametrize(
    ("unit", "symbol", "wanted"), [("METERS", "m", "1.00"), ("MILLIMETERS", "mm", "1000")]
)
def test_depths_of_the_list_have_the_unit_of_the_scene_and_the_heading_names_it(
    rows, monkeypatch, unit, symbol, wanted
):
    monkeypatch.setattr(contact_list_ui, "sidebar_width", lambda _context: 400)
    monkeypatch.setattr(contact_list_ui, "measure_texts", lambda _context: lambda _text: 0.0)
    bpy.context.scene.unit_settings.length_unit = unit
    page = SimpleNamespace(labels=[], greyed_labels=[])
    contact_list_ui.COLLISION_BOUNDS_UL_contacts.draw_item(
        None, bpy.context, Layout(page), rows, rows.rows[2], 0, rows, "active_row", 2
    )
    assert page.labels[-1] == wanted
    assert contact_list_ui._unit(bpy.context, rows).symbol == symbol


@pytest.mark.parametrize("digits", [1.0, 1.2345, 4.9996, 9.5, 9.9996])
def test_depth_of_any_size_fits_into_its_column(digits):
    for exponent in range(-6, 12):
        value = digits * 10.0**exponent
        text = contact_list_ui._value_text(value)
        # Beyond five digits there is room for the first one and the power of ten.
        assert len(text) <= 5
        assert float(text) == pytest.approx(value, rel=0.34 if value > 99999 else 0.005, abs=6e-4)


def sort_by(column):
    assert bpy.ops.collision_bounds.sort_contacts(column=column) == {"FINISHED"}


def test_second_click_on_a_heading_reverses_the_order(rows):
    sort_by("NAME")
    assert shown(rows) == ["Aside Slider", "Bullet Pane", "Far Slider", "Near Slider"]
    sort_by("NAME")
    assert shown(rows) == ["Near Slider", "Far Slider", "Bullet Pane", "Aside Slider"]
    sort_by("FRAME")
    assert shown(rows) == FRAMES
    sort_by("FRAME")
    assert shown(rows) == FRAMES[::-1]


def test_rows_of_each_kind_are_counted(rows):
    assert [*counts_of_rows(rows).values()] == [3, 1, 1, 0]
    rows.rows[0].hidden = rows.rows[3].hidden = True
    assert [*counts_of_rows(rows).values()] == [3, 1, 1, 2]


def test_filter_that_is_on_can_be_turned_off_where_it_counts_nothing(rows):
    page = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts)
    assert "tunnelling_only" in page.options and "show_hidden" not in page.options
    rows.contact_list.tunnelling_only = True
    bpy.data.objects.remove(bpy.data.objects["Bullet"])
    scanned_scene.scan()
    assert counts_of_rows(rows)["tunnelling_only"] == 0 and counts_of_rows(rows)["show_contacts"] == 2
    assert not set(shown(rows)) & set(FRAMES[:3])
    assert "tunnelling_only" in Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).options
    rows.contact_list.tunnelling_only = False
    assert "tunnelling_only" not in Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).options


def test_tooltip_of_a_row_has_full_names_frame_and_depth(rows):
    bullet, near, _, aside = (row.tooltip for row in rows.rows)
    assert "Slider" in near and "Near" in near and "contact at frame 4.0000, depth 1 m" in near
    assert "contact between frames only at frame 3.25" in bullet
    assert "near miss at frame" in aside and aside.endswith("gap 0.5 m")


def test_list_is_filtered_by_kind_name_and_hidden_rows(rows):
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


def test_click_jumps_between_frames_and_selects_pair(rows):
    scene = bpy.context.scene
    rows.active_row = scanned_scene.row_of(rows, "Bullet", "Pane")
    assert scene.frame_current + scene.frame_subframe == pytest.approx(3.25, abs=1e-4)
    assert {item.name for item in bpy.context.selected_objects} == {"Bullet", "Pane"}
    assert bpy.context.view_layer.objects.active.name == rows.rows[rows.active_row].a
    rows.active_row = scanned_scene.row_of(rows, "Aside", "Slider")
    assert {item.name for item in bpy.context.selected_objects} == {"Aside", "Slider"}


def test_hidden_and_removed_objects_are_named_without_error(rows):
    index = scanned_scene.row_of(rows, "Near", "Slider")
    row = rows.rows[index]
    assert selection_problems(bpy.context, rows, row) == []
    bpy.data.objects["Near"].hide_set(True)
    rows.active_row = index
    assert {item.name for item in bpy.context.selected_objects} == {"Slider"}
    assert selection_problems(bpy.context, rows, row) == ["Near is hidden"]
    bpy.data.objects.remove(bpy.data.objects["Near"])
    bpy.data.objects["Slider"].name = "Other"
    rows.active_row = index
    assert selection_problems(bpy.context, rows, row) == ["Near is no longer in the scene"]
    assert {item.name for item in bpy.context.selected_objects} == {"Other"}, (
        "it is found although it was renamed"
    )


@pytest.mark.smoke
def test_removed_object_is_found_again_after_undo_and_not_confused_with_namesake(rows):
    def reasons():
        settings = bpy.context.scene.collision_bounds  # undo replaces the settings
        return selection_problems(
            bpy.context, settings, settings.rows[scanned_scene.row_of(settings, "Near", "Slider")]
        )

    bpy.ops.ed.undo_push(message="Before")
    near = bpy.data.objects["Near"]
    collection = near.users_collection[0]
    collection.objects.unlink(near)
    assert reasons() == ["Near is no longer in the scene"], "it is still in the file"
    bpy.data.objects.remove(near)
    collection.objects.link(bpy.data.objects.new("Near", None))
    bpy.context.view_layer.update()
    assert reasons() == ["Near is no longer in the scene"] == reasons()
    bpy.ops.ed.undo_push(message="Another one")
    bpy.ops.ed.undo()
    assert reasons() == []


def test_row_of_instance_selects_its_instancer(settings):
    scanned_scene.build()
    scene = bpy.context.scene
    group = bpy.data.collections.new("Group")
    group.objects.link(bpy.data.objects["Far"])
    scene.collection.objects.unlink(bpy.data.objects["Far"])
    add_instance("Maker", group)
    scanned_scene.scan()
    settings.active_row = scanned_scene.row_of(settings, "Maker/Far.0", "Slider")
    assert {item.name for item in bpy.context.selected_objects} == {"Maker", "Slider"}


def test_buttons_step_through_shown_rows(rows):
    step = bpy.ops.collision_bounds.go_to_contact
    rows.contact_list.sort_by, rows.contact_list.show_near_misses = "NAME", False
    visited = []
    for _ in range(3):
        assert step() == {"FINISHED"}
        visited.append(rows.active_row)
    assert [sorted((rows.rows[i].a, rows.rows[i].b)) for i in visited] == [
        ["Bullet", "Pane"],
        ["Far", "Slider"],
        ["Near", "Slider"],
    ]
    assert step() == {"CANCELLED"} and rows.active_row == visited[-1]
    assert step(direction="PREVIOUS") == {"FINISHED"} and rows.active_row == visited[1]


def test_frame_pair_is_disabled_without_viewport(rows):
    rows.active_row = 0
    assert not bpy.ops.collision_bounds.frame_pair.poll()


def test_copied_text_is_table_of_command_line(rows, capsys, tmp_path):
    from addon.cli.main import main
    from addon.scene.jobs import result_store

    contacts = result_store.get(rows.result_id).contacts
    text = contacts.contacts_table(contacts.document())
    path = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    capsys.readouterr()
    assert main(["contacts", "--shape", "aabb"], opens_file=False) == 0
    assert capsys.readouterr().out.endswith(text)


def test_changed_settings_and_scene_are_warned_about(rows):
    from addon.scene.jobs import result_store

    def warnings():
        return contacts_panel._warnings(rows)

    assert warnings() == []
    rows.clearance = 0.25
    assert warnings() == ["Found with other settings: find contacts again"]
    rows.clearance = 0.0
    assert warnings() == []
    result_store.set_stale(rows.result_id, True)
    assert warnings() == ["The scene changed: find contacts again"]


def test_only_rows_of_selected_objects_are_shown_and_clicking_keeps_the_selection(rows):
    rows.contact_list.show_near_misses = rows.contact_list.selected_only = True
    for item in bpy.context.selected_objects:
        item.select_set(False)
    assert not listed_rows(rows).passes.any()
    bpy.data.objects["Near"].select_set(True)
    shown = listed_rows(rows).passes
    names = [{row.a, row.b} for row in rows.rows]
    assert shown.tolist() == ["Near" in pair for pair in names] and shown.any()
    rows.active_row = shown.tolist().index(True)
    assert [item.name for item in bpy.context.selected_objects] == ["Near"]
    assert bpy.context.scene.frame_current == 4


def test_pie_menu_has_the_frequent_commands(rows):
    commands = Page(menus.COLLISION_BOUNDS_MT_pie).buttons
    assert commands.count("collision_bounds.go_to_contact") == 2 and len(commands) == 6
