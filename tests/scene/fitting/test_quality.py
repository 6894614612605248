"""Volumes of fitted shapes and of meshes, and the number of vertices outside of an override."""

from __future__ import annotations

import bpy
import pytest

from addon.scene.fitting.quality import measure_fit
from addon.scene.settings import FitSettings
from tests.scene.enclosing import (
    add_item,
    add_two_cubes,
)

pytestmark = pytest.mark.usefixtures("object_settings")


def test_quality_counts_vertices_outside_override():
    item = add_two_cubes("Pair", scale=(2, 1, 1))
    quality = measure_fit(item.evaluated_get(bpy.context.evaluated_depsgraph_get()), FitSettings())
    assert quality.volume == pytest.approx(2 * 16) and quality.outside == 0
    box = next(entry for entry in quality.shapes if entry.label == "Box")
    assert box.volume == pytest.approx(14 * 2 * 2) and box.touching == 16
    item.collision_bounds.override = "box"
    quality = measure_fit(item.evaluated_get(bpy.context.evaluated_depsgraph_get()), FitSettings())
    assert quality.outside == 8


def test_open_mesh_has_no_volume():
    item = add_two_cubes("Pair")
    faces = [tuple(face.vertices) for face in item.data.polygons][:-1]
    add_item("Open", [tuple(vertex.co) for vertex in item.data.vertices], faces)
    graph = bpy.context.evaluated_depsgraph_get()
    assert measure_fit(bpy.data.objects["Open"].evaluated_get(graph), FitSettings()).volume is None
