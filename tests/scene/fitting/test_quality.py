"""Volumes of fitted shapes and of meshes, and the number of vertices outside of an override."""

from __future__ import annotations

import math

import bpy
import pytest

from addon.scene.errors import SceneError
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


def test_all_vertices_of_an_object_of_size_zero_touch_its_bounds():
    add_item("Point", [(1, 2, 3)], [])
    add_two_cubes("Flattened", scale=(0, 0, 0))
    graph = bpy.context.evaluated_depsgraph_get()
    shapes = ("sphere", "aabb", "obb", "capsule", "cylinder")
    for name, count in (("Point", 1), ("Flattened", 16)):
        quality = measure_fit(bpy.data.objects[name].evaluated_get(graph), FitSettings(), shapes)
        assert [entry.touching for entry in quality.shapes] == [count] * 5


@pytest.mark.parametrize("shape", ["sphere", "aabb", "obb", "capsule", "cylinder"])
@pytest.mark.parametrize("padding", [0.0, -5.0])
def test_object_out_of_range_cannot_be_measured(shape, padding):
    for name, scale, place in (("Huge", (1e25, 1, 1), (0, 0, 0)), ("Nowhere", (1, 1, 1), (math.nan, 0, 0))):
        item = add_two_cubes(name, scale=scale)
        item.location = place
        evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
        with pytest.raises(SceneError, match=f"^{name}: its location or scale is too large, or not a"):
            measure_fit(evaluated, FitSettings(padding=padding), (shape,))


def test_quality_of_capsules_and_cylinders_is_that_of_their_formulas():
    item = add_two_cubes("Pair", scale=(2, 1, 1))
    shapes = ("capsule", "cylinder")
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    settings = FitSettings(padding=0.5)
    capsule, cylinder = measure_fit(evaluated, settings, shapes).shapes
    # Two cubes in a row are a bar of 14 by 2 by 2: the circle around its end has the radius of a diagonal.
    assert cylinder.label == "Cylinder"
    assert cylinder.size == pytest.approx(2**0.5 + 0.5, rel=0.01)
    assert cylinder.length == pytest.approx(14 + 1, rel=0.01)
    assert cylinder.volume == pytest.approx(math.pi * cylinder.size**2 * cylinder.length)
    assert cylinder.touching == 0
    assert measure_fit(evaluated, FitSettings(), shapes).shapes[1].touching >= 4
    assert capsule.label == "Capsule" and capsule.length > 14 + 1
    straight = capsule.length - 2 * capsule.size
    assert capsule.volume == pytest.approx(math.pi * capsule.size**2 * (straight + 4 / 3 * capsule.size))
    assert measure_fit(evaluated, FitSettings(), shapes).shapes[0].touching >= 4
