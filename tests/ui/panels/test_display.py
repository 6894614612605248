"""The Display panel: its settings, and which of them are enabled."""

from __future__ import annotations

import pytest

from addon.scene.jobs import result_store
from addon.ui.panels.display import COLLISION_BOUNDS_PT_display
from addon.ui.properties.scene import COLLISION_BOUNDS_PG_display
from tests.ui import scanned_scene
from tests.ui.drawn_panel import Page


def page(unfolded=True):
    """Draw the panel and return its contents."""
    return Page(COLLISION_BOUNDS_PT_display, unfolded)


@pytest.mark.smoke
def test_every_setting_is_on_panel_and_has_description(settings):
    properties = {
        key: rna for key, rna in COLLISION_BOUNDS_PG_display.bl_rna.properties.items() if not rna.is_readonly
    }
    properties.pop("name")
    assert set(page().options) == set(properties)
    assert all(rna.description for rna in properties.values())


def test_settings_without_effect_are_greyed_out(settings):
    for draw_as, lines, faces in (("WIRE", True, False), ("FACES", False, True), ("BOTH", True, True)):
        settings.display.draw_as = draw_as
        options = page().options
        assert (options["line_width"], options["face_opacity"]) == (lines, faces)


def test_settings_of_the_active_contact_need_contacts_of_this_session(settings):
    note = "Find contacts, then click a row"
    assert not page().options["show_ghosts"] and page().labels[-1] == note
    scanned_scene.build()
    scanned_scene.scan()
    assert page().options["show_ghosts"] and note not in page().labels
    result_store.clear()
    assert len(settings.rows) > 0
    assert not page().options["show_ghosts"] and page().labels[-1] == note


def test_rarely_changed_settings_are_folded(settings):
    folded = page(unfolded=False)
    options = folded.options
    assert not folded.buttons, "buttons are in the other panels"
    assert "show_boxes" in options and "line_width" not in options and "show_ghosts" not in options


def test_boxes_are_shown_at_first_although_meshes_are_checked(settings):
    assert (settings.shape, settings.shape_of_bounds) == ("mesh", "aabb")
    assert settings.display.shapes_drawn == ("aabb",)


def test_shape_of_also_fit_stays_shown_when_another_shape_is_checked(settings):
    settings.shape = "capsule"
    settings.added_shapes = {"capsule"}
    assert settings.display.shapes_drawn == ("capsule",)
    settings.shape = "obb"
    assert set(settings.display.shapes_drawn) == {"capsule", "obb"}
    settings.added_shapes = set()
    settings.display.show_capsules = False
    settings.shape = "sphere"
    assert settings.display.shapes_drawn == ("sphere",)
