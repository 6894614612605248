"""Warnings of the panels about inputs that Blender did not read or run."""

from __future__ import annotations

import bpy
import pytest

from addon.ui.panels import bounds as bounds_panel
from addon.ui.panels import contacts as contacts_panel
from tests.scene.building import add_vertices
from tests.ui import scanned_scene
from tests.ui.drawn_panel import Page

pytestmark = pytest.mark.smoke


@pytest.fixture
def driven(settings, tmp_path):
    """Open a file with a driver that needs scripts, which are blocked."""
    add_vertices("Wall")
    add_vertices("Gate").driver_add("location", 0).driver.expression = "len(bpy.data.scenes) + frame"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "driven.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "driven.blend"), use_scripts=False)
    bpy.context.scene.frame_end = 2


def test_blocked_driver_is_a_warning_in_bounds_panel_and_report(driven, capfd):
    assert "Blocked drivers" not in Page(bounds_panel.COLLISION_BOUNDS_PT_bounds).labels
    bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE")
    page = Page(bounds_panel.COLLISION_BOUNDS_PT_bounds)
    labels = page.labels
    assert page.popovers == ["Blocked drivers"]
    assert labels[labels.index("Blocked drivers") + 1] == "Gate"
    assert "Warning: Bounds of 2 objects. Blocked drivers: Gate\n" in capfd.readouterr().out


def test_blocked_driver_is_a_warning_in_contacts_panel_after_a_scan(driven):
    scanned_scene.scan()
    page = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts)
    labels = page.labels
    assert page.popovers == ["Blocked drivers"]
    assert labels[labels.index("Blocked drivers") + 1] == "Gate"
    assert "Blocked drivers" not in Page(bounds_panel.COLLISION_BOUNDS_PT_bounds).labels


def test_scripts_that_are_allowed_leave_no_warning(driven):
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath, use_scripts=True)
    bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE")
    assert "Blocked drivers" not in Page(bounds_panel.COLLISION_BOUNDS_PT_bounds).labels
