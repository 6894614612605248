"""Order of the objects of a scene, on which reading all matrices in one call depends."""

from __future__ import annotations

import bpy
import pytest

pytestmark = pytest.mark.usefixtures("empty_file")


@pytest.mark.smoke
def test_all_objects_of_collection_are_in_scene_order(add_mesh):
    scene = bpy.context.scene
    items = [add_mesh(name) for name in "DBECA"]
    outer, inner, other = (bpy.data.collections.new(name) for name in ("Outer", "Inner", "Other"))
    scene.collection.children.link(other)
    scene.collection.children.link(outer)
    outer.children.link(inner)
    for item, home in zip(items[1:], (inner, outer, other, inner), strict=True):
        scene.collection.objects.unlink(item)
        home.objects.link(item)
    outer.objects.link(items[4])
    other.children.link(inner)
    items[2].hide_viewport = outer.hide_viewport = True
    bpy.context.view_layer.layer_collection.children["Other"].exclude = True
    # An index is valid for both lists.
    assert list(scene.collection.all_objects) == list(scene.objects)
