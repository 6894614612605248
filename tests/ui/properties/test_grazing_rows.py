"""Objects that land exactly on others: single precision leaves a gap of a millionth, or an overlap."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.ui.panels.contacts import COLLISION_BOUNDS_PT_contacts
from addon.ui.row_order import listed_rows
from tests.scene.sampling import add_box, key
from tests.ui.drawn_panel import Page
from tests.ui.scanned_scene import scan


def _land(half: float, half_of_pad: float, base: float, gap: float = 0.0) -> None:
    """Let a box land on a pad at frame 40, in a gap."""
    lander, pad = add_box("Lander", (0.5, 0.5, half)), add_box("Pad", (2, 2, half_of_pad))
    pad.location = 0, 0, base
    z = base + half + half_of_pad + gap
    key(lander, "location", [(1, (0, 0, z + 5)), (40, (0, 0, z)), (60, (0, 0, z + 5))])
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 60
    scan()


def _shown_rows() -> list[str]:
    settings = bpy.context.scene.collision_bounds
    order, shown = listed_rows(settings)[:2]
    return [f"{settings.rows[row].a} {settings.rows[row].b}" for row in order[shown[order]].tolist()]


@pytest.mark.parametrize("sizes", [(0.1, 0.2, 0.0), (0.1, 0.2, 7.7), (0.5, 0.5, 0.0), (0.15, 0.25, 12.34)])
def test_exact_landing_is_listed_by_default_whatever_its_rounding(settings, sizes):
    half, half_of_pad, base = sizes
    _land(half, half_of_pad, base)
    assert _shown_rows() == ["Lander Pad"]
    row = bpy.context.scene.collision_bounds.rows[0]
    # From the bits of single precision: whether the lowest point is above the highest one.
    z = np.float32(base + half + half_of_pad)
    gap = float(z - np.float32(half)) - float(np.float32(base) + np.float32(half_of_pad))
    assert row.is_near_miss == row.is_grazing
    if row.is_near_miss:
        assert 0 < row.value <= 2e-6 and gap >= 0
        bpy.context.scene.collision_bounds.active_row = 0
        page = Page(COLLISION_BOUNDS_PT_contacts)
        assert "Bounds: touch at 40.0000" in page.labels and "Gap 0: no overlap" in page.labels
        assert "1 pair touches with gap 0" in page.popovers
    bpy.context.scene.collision_bounds.contact_list.show_contacts = False
    assert _shown_rows() == []


def test_landing_with_a_real_gap_stays_a_near_miss(settings):
    _land(0.1, 0.2, 7.7, gap=1e-4)
    row = bpy.context.scene.collision_bounds.rows[0]
    assert row.is_near_miss and not row.is_grazing
    assert _shown_rows() == []


def test_coordinates_of_a_far_start_do_not_make_a_gap_a_touch(settings):
    lander, pad = add_box("Lander", (0.01, 0.01, 0.01)), add_box("Pad", (0.01, 0.01, 0.01))
    key(lander, "location", [(1, (0, 0, 1000)), (40, (0, 0, 0.0201)), (60, (0, 0, 1000))])
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 60
    scan()
    assert pad.location.z == 0
    assert [row.is_grazing for row in bpy.context.scene.collision_bounds.rows] == [False]
