"""The Display panel: what is on it, and what of it can be changed."""

from __future__ import annotations

import pytest

from addon.ui.panels.display import COLLISION_BOUNDS_PT_display
from addon.ui.properties.display import COLLISION_BOUNDS_PG_display
from tests.ui.drawn import Page


def page(unfolded=True):
    """The panel as it is drawn now."""
    return Page(COLLISION_BOUNDS_PT_display, unfolded)


@pytest.mark.smoke
def test_every_setting_is_on_the_panel_and_says_what_it_does(settings):
    own = {
        key: rna for key, rna in COLLISION_BOUNDS_PG_display.bl_rna.properties.items() if not rna.is_readonly
    }
    own.pop("name")
    assert set(page().options) == set(own) - {"show_overlay"}, "that one is in the header"
    assert all(rna.description for rna in own.values())


def test_what_means_nothing_is_greyed(settings):
    for fill, lines, faces in (("WIRE", True, False), ("FACES", False, True), ("BOTH", True, True)):
        settings.display.fill = fill
        options = page().options
        assert (options["line_width"], options["face_opacity"]) == (lines, faces)
    assert not page().options["show_ghosts"] and page().labels[-1] == "Find contacts, then click a row"
    settings.rows.add()
    assert page().options["show_ghosts"]


def test_what_few_change_is_folded_away(settings):
    folded = page(unfolded=False)
    options = folded.options
    assert not folded.buttons, "they are where results are made"
    assert "show_boxes" in options and "line_width" not in options and "show_ghosts" not in options
