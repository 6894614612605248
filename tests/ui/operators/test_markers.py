"""Timeline markers of contacts: made once, never late, and only ours taken away."""

from __future__ import annotations

import bpy
import pytest

from addon.ui.operators.markers import has_markers
from tests.ui import results


@pytest.fixture
def timeline(settings):
    """The markers of a scene with three contacts found in it."""
    results.build()
    results.scan()
    return bpy.context.scene.timeline_markers


def told(timeline):
    return sorted((marker.frame, marker.name) for marker in timeline)


def toggle(**how):
    assert bpy.ops.collision_bounds.contact_markers(**how) == {"FINISHED"}


def test_contacts_are_marked_at_the_frame_before_and_near_misses_are_not(timeline, settings):
    toggle()
    assert [frame for frame, _ in told(timeline)] == [3, 4, 14]
    assert all(" – " in name for _, name in told(timeline))
    toggle()
    assert told(timeline) == []


@pytest.mark.smoke
def test_the_users_markers_stay_whatever_they_are_called(timeline, settings):
    timeline.new("mine", frame=3)
    row = settings.rows[0]
    timeline.new(f"{row.a} – {row.b}", frame=3)  # where ours would be
    before = told(timeline)
    toggle()
    assert len(timeline) == 4, "not doubled"
    toggle(action="ADD")
    assert len(timeline) == 4
    next(marker for marker in timeline if marker.frame == 14).frame = 15  # moved by the user: the user's now
    toggle()
    assert told(timeline)[:2] == sorted(before) and len(timeline) == 3


def test_hidden_rows_are_not_marked(timeline, settings):
    settings.rows[0].hidden = True
    toggle()
    assert [frame for frame, _ in told(timeline)] == [4, 14]


def test_other_contacts_move_the_markers_with_them(timeline, settings):
    toggle()
    bpy.data.objects["Far"].location.x = 17
    results.scan()
    assert [frame for frame, _ in told(timeline)] == [3, 4, 16]
    toggle(action="REMOVE")
    assert told(timeline) == []


def test_names_longer_than_blender_keeps_come_off_again(timeline, settings):
    bpy.data.objects["Far"].name = "Far" * 20
    results.scan()
    toggle()
    assert len(timeline) == 3
    toggle()
    assert len(timeline) == 0


def test_markers_that_the_user_has_all_renamed_are_not_ours_any_more(timeline, settings):
    toggle()
    assert has_markers(bpy.context.scene)
    for marker in timeline:
        marker.name = "mine"
    assert not has_markers(bpy.context.scene)
    toggle()
    assert len(timeline) == 6, "made anew beside them"


def test_nothing_to_mark_is_said(settings):
    assert not bpy.ops.collision_bounds.contact_markers.poll()
