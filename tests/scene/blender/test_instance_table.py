"""All instances as arrays, compared with a loop over them."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.core.progress import run_to_end
from addon.scene.blender.instances import (
    CURVE_LIKE,
    MESH_LIKE,
    UNUSED_INDEX,
    VisibleInstance,
    instances_at,
    read_instance_table,
    shown_objects,
)
from addon.scene.blender.mesh_data import vertex_positions
from tests.scene.building import CUBE, Nodes, add_instance, add_vertices, open_empty_file
from tests.scene.jobs.test_many_instances import MAKERS


def collection_of(name, *items):
    collection = bpy.data.collections.new(name)
    for item in items:
        collection.objects.link(item)
    return collection


def add_collection_instance(name, collection, location):
    empty = add_instance(name, collection, location=location)
    return empty


def add_generated_instances():
    """Add an object whose geometry nodes show its own mesh and instances of a sphere and of a cube."""
    item = add_vertices("Generated", CUBE * 3)
    nodes = Nodes(item)
    meshes = [nodes.add(f"GeometryNodeMesh{kind}").outputs[0] for kind in ("Cube", "IcoSphere")]
    nodes.end(nodes.joined(nodes.mesh, *(nodes.on_points(nodes.mesh, mesh) for mesh in meshes)))
    return item


def build_mixed_scene():
    """Build instances of many sorts: nested, of curves, of texts, made by nodes, at faces; and no meshes."""
    open_empty_file()
    bpy.ops.object.text_add(location=(5, 5, 5))
    bpy.context.object.data.body = "ab"
    text = bpy.context.object
    bpy.ops.curve.primitive_bezier_circle_add()
    circle = bpy.context.object
    circle.data.bevel_depth = 0.2
    bpy.ops.object.metaball_add(location=(-9, 9, 9))
    bpy.ops.object.light_add()
    curves = collection_of("Curves", text, circle, add_vertices("Cube", CUBE))
    for index in range(3):
        add_collection_instance(f"Curves {index}", curves, (10, index, 0))
    inner = [add_collection_instance(f"Inner {index}", curves, (0, index, 1)) for index in range(2)]
    add_collection_instance("Outer", collection_of("Outer", *inner), (50, 0, 0))
    generated = collection_of("Generated", add_generated_instances())
    add_collection_instance("Generator", generated, (80, 0, 0))
    faces = add_vertices("Faces", CUBE, [(0, 1, 3, 2), (4, 5, 7, 6)])
    faces.instance_type = "FACES"
    add_vertices("At faces", CUBE * 0.1).parent = faces


def instances_in_a_loop(depsgraph):
    """Iterate over all visible mesh-like objects and instances one by one."""
    converted: tuple[str, tuple[int, ...]] | None = None
    shown = shown_objects(depsgraph)
    for instance in depsgraph.object_instances:
        kind, owner = instance.object.type, (instance.parent or instance.object).original
        if kind not in MESH_LIKE or (shown is not None and owner not in shown):
            continue
        name = instance.object.original.name_full
        ids = tuple(instance.persistent_id) if instance.is_instance else ()
        indices = tuple(index for index in ids if index != UNUSED_INDEX)
        key = (owner.name_full if indices else name, name, indices)
        # A curve, surface, text or metaball is followed by the mesh that Blender converts it to, as an
        # instance with one more index. Skip that, because it is the same geometry.
        if kind == "MESH" and converted == (name, indices[1:]):
            continue
        converted = (name, indices) if kind in CURVE_LIKE else None
        yield VisibleInstance(key, instance, owner)


@pytest.mark.smoke
@pytest.mark.parametrize(
    "build", [build_mixed_scene, *(lambda make=make: make(300) for make in MAKERS.values())]
)
def test_rows_have_keys_matrices_and_meshes_of_all_instances_in_order(build):
    open_empty_file()
    build()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    expected = [
        (item.key, np.array(item.instance.matrix_world), vertex_positions(item.instance.object, "evaluated"))
        for item in instances_in_a_loop(depsgraph)
    ]
    table = run_to_end(
        read_instance_table(depsgraph, lambda item: vertex_positions(item.instance.object, "evaluated"))
    )
    rows = np.arange(len(expected))
    assert [table.key_of(row) for row in rows.tolist()] == [key for key, _, _ in expected]
    np.testing.assert_array_equal(table.matrices(rows), [matrix for _, matrix, _ in expected])
    points_of_mesh = {}
    for row, (_, _, points) in enumerate(expected):
        kind = table.kinds[table.kind_of[row]]
        np.testing.assert_array_equal(kind.details, points)
        np.testing.assert_array_equal(points_of_mesh.setdefault(kind.mesh, points), points)
    chosen = rows[::3].tolist()
    found = list(instances_at(depsgraph, table, chosen))
    assert [row for row, _ in found] == chosen
    for row, item in instances_at(depsgraph, table, chosen):
        assert item.key == expected[row][0]
        np.testing.assert_array_equal(np.array(item.instance.matrix_world), expected[row][1])


def test_an_empty_scene_has_no_rows():
    open_empty_file()
    table = run_to_end(read_instance_table(bpy.context.evaluated_depsgraph_get(), lambda _: None))
    assert len(table.kind_of) == len(table.kinds) == 0
    assert table.matrices(np.arange(0)).shape == (0, 4, 4)
