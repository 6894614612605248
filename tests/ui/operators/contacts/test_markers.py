"""Timeline markers of contacts: added once, never late; markers of the user are never removed."""

from __future__ import annotations

import bpy
import pytest

from addon.scene.jobs import result_store
from addon.ui.operators.rows import has_markers
from tests.scene.sampling import key
from tests.ui import scanned_scene


@pytest.fixture
def timeline(settings):
    """Return the timeline markers of a scene with three contacts."""
    scanned_scene.build()
    scanned_scene.scan()
    return bpy.context.scene.timeline_markers


def listed(timeline):
    return sorted((marker.frame, marker.name) for marker in timeline)


def toggle(**options):
    assert bpy.ops.collision_bounds.contact_markers(**options) == {"FINISHED"}


def test_contacts_are_marked_at_whole_frame_before_them_and_near_misses_are_not(timeline, settings):
    toggle()
    assert [frame for frame, _ in listed(timeline)] == [3, 4, 14]
    assert all(" – " in name for _, name in listed(timeline))
    toggle()
    assert listed(timeline) == []


@pytest.mark.smoke
def test_markers_of_user_stay_with_any_name(timeline, settings):
    timeline.new("mine", frame=3)
    row = settings.rows[0]
    timeline.new(f"{row.a} – {row.b}", frame=3)  # where a contact marker belongs
    before = listed(timeline)
    toggle()
    assert len(timeline) == 4, "not doubled"
    toggle(action="ADD")
    assert len(timeline) == 4
    next(
        marker for marker in timeline if marker.frame == 14
    ).frame = 15  # a marker that the user has moved stays
    toggle()
    assert listed(timeline)[:2] == sorted(before) and len(timeline) == 3


def test_all_intervals_are_marked_on_request_and_again_after_a_scan(timeline, settings):
    # Slider goes back: it touches Far until frame 26, and Near from frame 34 on.
    key(bpy.data.objects["Slider"], "location", [(20, (20, 0, 0)), (40, (0, 0, 0))])
    bpy.context.scene.frame_end = 40
    scanned_scene.scan()
    toggle()
    assert [frame for frame, _ in listed(timeline)] == [3, 4, 14]
    toggle()
    toggle(all_intervals=True)
    assert [frame for frame, _ in listed(timeline)] == [3, 4, 14, 24, 34]
    names = dict(listed(timeline))
    assert names[4] == names[34] and names[14] == names[24]
    bpy.context.scene.frame_end = 30
    scanned_scene.scan()
    assert [frame for frame, _ in listed(timeline)] == [3, 4, 14, 24]
    toggle(all_intervals=True)
    assert listed(timeline) == []


def test_hidden_rows_are_not_marked(timeline, settings):
    settings.rows[0].hidden = True
    toggle()
    assert [frame for frame, _ in listed(timeline)] == [4, 14]


def test_new_contacts_replace_markers(timeline, settings):
    toggle()
    bpy.data.objects["Far"].location.x = 17
    scanned_scene.scan()
    assert [frame for frame, _ in listed(timeline)] == [3, 4, 16]
    toggle(action="REMOVE")
    assert listed(timeline) == []


def test_markers_with_truncated_names_can_be_removed(timeline, settings):
    bpy.data.objects["Far"].name = "Far" * 20
    scanned_scene.scan()
    toggle()
    assert len(timeline) == 3
    toggle()
    assert len(timeline) == 0


def test_markers_that_user_has_renamed_are_no_contact_markers(timeline, settings):
    toggle()
    assert has_markers(bpy.context.scene)
    for marker in timeline:
        marker.name = "mine"
    assert not has_markers(bpy.context.scene)
    toggle()
    assert len(timeline) == 6, "new ones are added"


def test_markers_of_contacts_that_the_session_lacks_can_only_be_removed(timeline, settings):
    toggle()
    before = listed(timeline)
    result_store.clear()  # as when the extension is disabled and enabled again
    assert len(settings.rows) > 0
    toggle(action="ADD")
    toggle(action="ADD", all_intervals=True)
    assert listed(timeline) == before
    toggle()
    assert listed(timeline) == [] and not bpy.ops.collision_bounds.contact_markers.poll()


def test_operator_is_disabled_without_contacts(settings):
    assert not bpy.ops.collision_bounds.contact_markers.poll()


def test_contacts_on_one_frame_share_a_marker_whose_name_can_be_read(timeline, settings):
    name = "Post" * 20
    near = bpy.data.objects["Near"]
    for number in range(3):
        copy = near.copy()
        copy.name, copy.location.y = f"{name}{number}", 0.1 * (number + 1)
        bpy.context.scene.collection.objects.link(copy)
    scanned_scene.scan()
    toggle()
    assert [frame for frame, _ in listed(timeline)] == [3, 4, 14]
    shared = next(marker.name for marker in timeline if marker.frame == 4)
    assert shared.endswith(" and 3 more") and len(shared.encode()) <= 63
    toggle()
    assert listed(timeline) == []
