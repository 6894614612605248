"""Place of the large graph of the separation in a viewport, and when it is shown."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

from addon.scene.jobs import result_store
from addon.ui.overlay.over_time import _is_shown, _Place
from tests.ui import scanned_scene


def place_in(width, height, scale=1.0, gizmo=True):
    """Return the place of the graph in a viewport without toolbar and sidebar."""
    context = SimpleNamespace(
        region=SimpleNamespace(x=0, width=width, height=height),
        area=SimpleNamespace(regions=[]),
        preferences=SimpleNamespace(system=SimpleNamespace(ui_scale=scale)),
        space_data=SimpleNamespace(show_gizmo=True, show_gizmo_navigate=gizmo),
    )
    return _Place.of(context)


@pytest.mark.parametrize(("width", "height", "scale"), [(900, 800, 1.0), (1800, 1600, 2.0)])
def test_graph_has_the_whole_width_below_the_navigation_buttons(width, height, scale):
    place = place_in(width, height, scale)
    assert place.whole[0] == width - place.whole[2] < 10 * scale


@pytest.mark.parametrize(("width", "height", "scale"), [(900, 350, 1.0), (1000, 700, 2.0)])
def test_graph_leaves_the_navigation_buttons_of_a_low_viewport_free(width, height, scale):
    place, without = place_in(width, height, scale), place_in(width, height, scale, gizmo=False)
    assert width - place.whole[2] >= 50 * scale
    assert width - without.whole[2] < 10 * scale and (place.whole[:2] == without.whole[:2]).all()


def test_viewport_without_room_has_no_graph():
    assert place_in(120, 600) is None and place_in(900, 60) is None


def test_graph_is_shown_only_while_the_session_has_the_contacts(settings):
    view = SimpleNamespace(overlay=SimpleNamespace(show_overlays=True))
    context = SimpleNamespace(scene=bpy.context.scene, space_data=view)
    settings.display.show_separation = True
    assert not _is_shown(context)
    scanned_scene.build()
    scanned_scene.scan()
    assert _is_shown(context)
    view.overlay.show_overlays = False
    assert not _is_shown(context)
    view.overlay.show_overlays = True
    result_store.clear()
    assert len(settings.rows) > 0 and not _is_shown(context)
