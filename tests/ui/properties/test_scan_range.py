"""Frame range of the scan next to that of the scene."""

from __future__ import annotations

import bpy

from addon.ui.panels.contacts import COLLISION_BOUNDS_PT_contacts
from tests.ui import scanned_scene
from tests.ui.drawn_panel import Page

OUTSIDE = "The scene has 3 to 60"


def _ranges(settings) -> tuple[int, int, int]:
    return settings.frame_start, settings.frame_end, settings.frame_step


def test_range_begins_as_that_of_the_scene_and_keeps_entered_numbers(settings):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.frame_step = 3, 60, 2
    settings.use_scene_range = False
    assert _ranges(settings) == (3, 60, 2)
    settings.frame_start, settings.frame_end = 20, 30
    settings.use_scene_range = True
    settings.use_scene_range = False
    assert _ranges(settings) == (20, 30, 2)
    # Numbers that no longer have a frame of the scene are replaced.
    settings.use_scene_range = True
    scene.frame_start, scene.frame_end = 100, 200
    settings.use_scene_range = False
    assert _ranges(settings) == (100, 200, 2)


def test_range_that_was_set_by_a_script_is_kept(settings):
    settings.frame_start, settings.frame_end = 10, 20
    settings.use_scene_range = False
    assert _ranges(settings) == (10, 20, 1)


def test_range_outside_the_scene_is_noted_before_and_after_the_scan(settings, add_mesh):
    add_mesh("A")
    add_mesh("B")
    settings, scene = bpy.context.scene.collision_bounds, bpy.context.scene
    scene.frame_start, scene.frame_end = 3, 60
    settings.use_scene_range = False
    assert OUTSIDE not in Page(COLLISION_BOUNDS_PT_contacts).labels
    settings.frame_start, settings.frame_end = 100, 102
    assert OUTSIDE in Page(COLLISION_BOUNDS_PT_contacts).labels
    scanned_scene.scan()
    assert Page(COLLISION_BOUNDS_PT_contacts).popovers == ["Outside the scene's frames"]
    # One frame in common is enough.
    settings.frame_start = 60
    scanned_scene.scan()
    page = Page(COLLISION_BOUNDS_PT_contacts)
    assert page.popovers == [] and OUTSIDE not in page.labels
