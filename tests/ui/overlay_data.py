"""Draw data of the overlay, from the cache that the draw callbacks read."""

from __future__ import annotations

import bpy

from addon.ui.overlay.draw_data import DrawData
from addon.ui.overlay.state import find_overlay


def draw_data_on(scene: bpy.types.Scene, layer: bpy.types.ViewLayer | None = None) -> DrawData:
    """Return what is drawn on a view layer of a scene, its first one by default; empty if nothing is."""
    cached = find_overlay(scene, layer or scene.view_layers[0])
    return cached.draw_data if cached else DrawData()
