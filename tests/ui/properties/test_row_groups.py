"""Groups of the contact list: many rows are folded below a heading for each two collections."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

from addon.scene.blender.object_settings import entries_of
from addon.ui.panels import contact_list as contact_list_ui
from addon.ui.panels import contacts as contacts_panel
from addon.ui.row_order import listed_rows
from tests.scene.sampling import add_box, key
from tests.ui import scanned_scene
from tests.ui.drawn_panel import Layout, Page

ROLLERS, CRATES = 12, 3


@pytest.fixture
def rows(settings):
    """Scan crates that slide over the rollers of a conveyor, 0.1 deep in each, and an arm 0.3 deep in one."""
    scene = bpy.context.scene
    add_box("Frame", (0.1, 0.1, 0.1)).location = (0, 0, -50)
    for index in range(ROLLERS):
        roller = add_box(f"Roller.{index:03}", (0.4, 10, 0.5))
        roller.location, roller.parent = (2 * index, 0, 50), bpy.data.objects["Frame"]
        _move(roller, "Conveyor")
    for index in range(CRATES):
        crate = add_box(f"Crate.{index:03}", (0.3, 0.3, 0.5))
        y = 2 * index
        key(crate, "location", [(0, (-2, y, 0.9)), (100, (2 * ROLLERS, y, 0.9))])
        _move(crate, "Crates")
    arm = add_box("Arm", (0.3, 0.3, 0.5))
    key(arm, "location", [(0, (-2, 0, 9)), (100, (2 * ROLLERS, 0, 1.6))])
    _move(arm, "Robot")
    scene.frame_start, scene.frame_end = 0, 100
    bpy.context.view_layer.update()
    scanned_scene.scan()
    return settings


def _move(item, name):
    collection = bpy.data.collections.get(name)
    if collection is None:
        collection = bpy.data.collections.new(name)
        bpy.context.scene.collection.children.link(collection)
    for owner in item.users_collection:
        owner.objects.unlink(item)
    collection.objects.link(item)


def shown(settings):
    """Return names of the rows that are in the list, in its order; headings end with a colon."""
    listed = listed_rows(settings)
    rows = [settings.rows[row] for row in listed.with_headings.tolist() if listed.is_visible[row]]
    return [f"{row.a} {row.b}" + ":" * row.is_heading for row in rows]


def index_of_heading(settings, *names):
    return next(k for k, row in enumerate(settings.rows) if row.is_heading and (row.a, row.b) == names)


def drawn_labels(settings, index, monkeypatch, width=400):
    monkeypatch.setattr(contact_list_ui, "sidebar_width", lambda _context: width)
    monkeypatch.setattr(contact_list_ui, "measure_texts", lambda _context: lambda _text: 0.0)
    page = SimpleNamespace(labels=[], greyed_labels=[], options={})
    row = settings.rows[index]
    contact_list_ui.COLLISION_BOUNDS_UL_contacts.draw_item(
        None, bpy.context, Layout(page), settings, row, 0, settings, "active_row", index
    )
    return page.labels


CONVEYOR, ROBOT = ("Conveyor", "Crates"), ("Crates", "Robot")


def test_many_rows_are_folded_below_their_collections_the_deepest_first(rows):
    assert shown(rows) == ["Crates Robot:", "Conveyor Crates:"]
    rows.contact_list.reverse = True
    assert shown(rows) == ["Conveyor Crates:", "Crates Robot:"]


def test_open_group_has_its_rows_below_it_in_the_order_of_the_list(rows):
    rows.contact_list.sort_by = "FRAME"
    rows.rows[index_of_heading(rows, *CONVEYOR)].is_open = True
    names = shown(rows)
    assert names[0] == "Conveyor Crates:" and names[-1] == "Crates Robot:"
    assert len(names) == 2 + ROLLERS * CRATES
    # The crates come to one roller after another.
    assert [sorted(name.split())[1] for name in names[1:-1]] == [
        f"Roller.{index:03}" for index in range(ROLLERS) for _ in range(CRATES)
    ]


def test_heading_has_the_number_of_its_rows_the_first_frame_and_the_greatest_depth(rows, monkeypatch):
    frame = 100 * (2 - 0.4 - 0.3) / (2 * ROLLERS + 2)
    labels = drawn_labels(rows, index_of_heading(rows, *CONVEYOR), monkeypatch)
    # A crate that is past a roller's middle leaves it sooner along its way than upwards.
    assert labels == ["36× Conveyor", "Crates", f"{frame:.2f}", "0.100"]
    rows.rows[0].hidden = True
    assert drawn_labels(rows, index_of_heading(rows, *CONVEYOR), monkeypatch)[0] == "35× Conveyor"


def test_search_shows_rows_of_folded_groups(rows):
    rows.contact_list.search = "arm"
    assert shown(rows)[0] == "Crates Robot:" and len(shown(rows)) == 2
    rows.contact_list.search = "nobody"
    assert shown(rows) == []
    assert "The filters hide all rows" in Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).labels


def test_stepping_through_the_list_opens_the_group_of_each_row(rows):
    heading = rows.rows[index_of_heading(rows, *ROBOT)]
    assert not heading.is_open
    assert bpy.ops.collision_bounds.go_to_contact(direction="NEXT") == {"FINISHED"}
    assert {rows.rows[rows.active_row].a, rows.rows[rows.active_row].b} == {"Arm", "Crate.000"}
    assert heading.is_open and not rows.rows[index_of_heading(rows, *CONVEYOR)].is_open


def test_click_on_a_heading_describes_its_group_and_leaves_the_playhead(rows):
    before = bpy.context.scene.frame_current
    rows.active_row = index_of_heading(rows, *CONVEYOR)
    labels = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).labels
    assert f"36 pairs of {ROLLERS + CRATES} objects" in labels and "Deepest 0.1 m" in labels
    assert bpy.context.scene.frame_current == before


def test_pairs_of_a_group_are_ignored_by_one_button(rows):
    rows.active_row = index_of_heading(rows, *CONVEYOR)
    assert bpy.ops.collision_bounds.ignore_pairs(which="GROUP") == {"FINISHED"}
    assert len(entries_of("ignored")) == ROLLERS * CRATES
    # With a single row left, there are no groups.
    assert shown(rows) == ["Arm Crate.000"] or shown(rows) == ["Crate.000 Arm"]


def test_open_group_stays_open_while_a_pair_is_ignored(rows):
    rows.rows[index_of_heading(rows, *CONVEYOR)].is_open = True
    rows.active_row = 0
    assert bpy.ops.collision_bounds.ignore_pair() == {"FINISHED"}
    assert rows.rows[index_of_heading(rows, *CONVEYOR)].is_open


@pytest.mark.parametrize(
    ("by", "headings"),
    [
        ("NONE", []),
        ("COLLECTION", ["Crates Robot:", "Conveyor Crates:"]),
        ("PARENT", ["Arm Crate.000:", "Crate.000 Frame:", "Crate.001 Frame:", "Crate.002 Frame:"]),
        # The first crate has 13 rows, the others 12; a roller has 3.
        ("OBJECT", ["Crate.000 :", "Crate.001 :", "Crate.002 :"]),
    ],
)
def test_rows_are_grouped_by_what_is_chosen(rows, by, headings):
    rows.contact_list.group_by = by
    assert sorted(name for name in shown(rows) if name.endswith(":")) == sorted(headings)


def test_group_of_an_object_names_the_number_of_the_others(rows, monkeypatch):
    rows.contact_list.group_by = "OBJECT"
    labels = drawn_labels(rows, index_of_heading(rows, "Crate.000", ""), monkeypatch)
    assert labels[:2] == ["13× Crate.000", "13 objects"]


def test_few_rows_have_no_groups_unless_they_are_chosen(settings):
    scanned_scene.build()
    scanned_scene.scan()
    assert not any(row.is_heading for row in settings.rows)
    settings.contact_list.group_by = "COLLECTION"
    assert sum(row.is_heading for row in settings.rows) == 1
