"""Pairs that touch at the playhead: they follow edits that no scan has seen."""

from __future__ import annotations

import bpy
import pytest

from addon.scene.errors import SceneError
from addon.ui.operators.pairs import pairs_now
from addon.ui.panels.display import COLLISION_BOUNDS_PT_touching
from tests.ui import scanned_scene
from tests.ui.drawn_panel import Page


def touching_names():
    subjects, touching = pairs_now(bpy.context)
    return [{subjects[a].name, subjects[b].name} for a, b in touching.pairs.tolist()]


@pytest.fixture
def scanned(settings):
    scanned_scene.build()
    scanned_scene.scan()
    return settings


def test_pairs_follow_the_playhead_and_edits(scanned):
    # Slider moves 1 per frame from 0; cubes of side 1 touch while it is within 1 of the next.
    bpy.context.scene.frame_set(4, subframe=0.5)
    assert touching_names() == [{"Slider", "Near"}]
    _, touching = pairs_now(bpy.context)
    assert touching.depths.tolist() == pytest.approx([0.5], abs=1e-5)
    bpy.context.scene.frame_set(8)
    assert touching_names() == []
    bpy.data.objects["Aside"].location = (8.2, 0, 0)
    bpy.context.view_layer.update()
    assert touching_names() == [{"Slider", "Aside"}], "no scan has seen this"


def test_ignored_pairs_are_not_listed(scanned):
    bpy.context.scene.frame_set(5)
    scanned.active_row = scanned_scene.row_of(scanned, "Slider", "Near")
    assert bpy.ops.collision_bounds.ignore_pair() == {"FINISHED"}
    bpy.context.scene.frame_set(5)
    assert touching_names() == []


def test_pattern_without_a_match_is_explained(scanned):
    scanned.group_a = "Missing*"
    with pytest.raises(SceneError, match="Missing"):
        pairs_now(bpy.context)
    assert any("Missing" in label for label in Page(COLLISION_BOUNDS_PT_touching).labels)


def test_panel_has_as_many_lines_whatever_touches_but_one_for_nothing(scanned):
    bpy.context.scene.frame_set(5)
    touching = Page(COLLISION_BOUNDS_PT_touching).labels
    bpy.context.scene.frame_set(8)
    nothing = Page(COLLISION_BOUNDS_PT_touching).labels
    assert touching[0].startswith("1 pair") and nothing[0].startswith("Nothing")
    assert len(touching) > 8 and len(nothing) == 1


def test_reason_is_given_without_results_and_without_display(settings):
    scanned_scene.build()
    with pytest.raises(SceneError, match="Compute bounds or find contacts first"):
        pairs_now(bpy.context)
    scanned_scene.scan()
    settings.display.show_overlay = False
    with pytest.raises(SceneError, match="Display"):
        pairs_now(bpy.context)


def test_click_selects_both_objects(scanned):
    bpy.context.scene.frame_set(5)
    _, touching = pairs_now(bpy.context)
    a, b = touching.pairs[0].tolist()
    assert bpy.ops.collision_bounds.select_touching(a=a, b=b) == {"FINISHED"}
    assert {item.name for item in bpy.context.selected_objects} == {"Slider", "Near"}
    assert bpy.context.scene.frame_current == 5
