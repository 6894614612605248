"""Vertices and matrices of evaluated objects, in every mode and of every type."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.scene.blender.instances import visible_instances
from addon.scene.blender.mesh_data import (
    Geometry,
    decompose_matrices,
    triangle_indices,
    vertex_positions,
    world_matrix,
)
from tests.scene.building import add_vertices

pytestmark = [pytest.mark.usefixtures("empty_file"), pytest.mark.smoke]


def read_by_name(name, modifiers="evaluated"):
    depsgraph = bpy.context.evaluated_depsgraph_get()
    return next(
        Geometry(vertex_positions(item.instance.object, modifiers), world_matrix(item))
        for item in visible_instances(depsgraph)
        if item.key[1] == name
    )


def test_modifiers_apply_to_evaluated_mesh_but_not_to_base_mesh(add_mesh):
    item = add_mesh("Row", [(0, 0, 0), (1, 0, 0)])
    array = item.modifiers.new("Array", "ARRAY")
    array.fit_type, array.count = "FIXED_COUNT", 3
    array.use_relative_offset, array.use_constant_offset = False, True
    array.constant_offset_displace = (2, 0, 0)
    # Three copies of a piece of length 1, at distances of 2, end at x = 5.
    assert read_by_name("Row").points[:, 0].max() == 5
    assert read_by_name("Row", "base").points[:, 0].max() == 1


@pytest.mark.parametrize(
    ("faces", "triangles"),
    [
        ([(0, 1, 3), (0, 3, 2)], [(0, 1, 3), (0, 3, 2)]),
        ([(0, 1, 3, 2), (4, 5, 6)], [(0, 1, 3), (0, 3, 2), (4, 5, 6)]),
        ([], np.empty((0, 3))),
    ],
)
@pytest.mark.parametrize("modifiers", ["evaluated", "base"])
def test_triangles_are_in_the_order_of_the_faces(faces, triangles, modifiers):
    item = add_vertices("Faces", faces=faces)
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    np.testing.assert_array_equal(triangle_indices(evaluated, modifiers), triangles)


@pytest.mark.parametrize("sides", [4, 5, 7])
@pytest.mark.parametrize("are_normals_known", [False, True])
@pytest.mark.parametrize("is_flat", [False, True])
def test_faces_are_cut_as_blender_cuts_them(is_flat, are_normals_known, sides):
    rng = np.random.default_rng(sides)
    for _ in range(20):
        # Folded, concave, crossing, and of no area: some corners coincide on the grid.
        points = rng.integers(0, 3, (30, 3)) * [1.0, 1.0, not is_flat]
        faces = [rng.permutation(30)[: rng.integers(3, sides + 1)].tolist() for _ in range(40)]
        item = add_vertices("Faces", points.tolist(), faces=faces)
        mesh = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        if are_normals_known:
            assert len(mesh.polygon_normals) == 40
        found = triangle_indices(item.evaluated_get(bpy.context.evaluated_depsgraph_get()), "evaluated")
        mesh.calc_loop_triangles()
        np.testing.assert_array_equal(found, [triangle.vertices[:] for triangle in mesh.loop_triangles])
        bpy.data.objects.remove(item)


def test_vertices_added_in_edit_mode_are_read(add_mesh):
    item = add_mesh("Cube")
    bpy.context.view_layer.objects.active = item
    bpy.ops.object.mode_set(mode="EDIT")
    edited = bmesh.from_edit_mesh(item.data)
    edited.verts.new((0, 0, 9))
    bmesh.update_edit_mesh(item.data)
    points = read_by_name("Cube").points
    bpy.ops.object.mode_set(mode="OBJECT")
    assert len(points) == 9
    assert points[:, 2].max() == 9


@pytest.mark.parametrize("kind", ["CURVE", "SURFACE", "FONT", "META"])
def test_every_mesh_like_type_has_vertices(kind):
    if kind == "META":
        data = bpy.data.metaballs.new("Object")
        data.elements.new()
    else:
        data = bpy.data.curves.new("Object", kind)
        if kind == "FONT":
            data.body = "x"
        elif kind == "SURFACE":
            data.splines.new("NURBS").points.add(3)
        else:
            data.bevel_depth = 0.1
            data.splines.new("POLY").points.add(2)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Object", data))
    assert len(read_by_name("Object").points)


def test_matrix_includes_shear_of_scaled_parent(add_mesh):
    parent, child = add_mesh("Parent", scale=(3, 1, 1)), add_mesh("Child", rotation_euler=(0, 0, np.pi / 4))
    child.parent = parent
    bpy.context.view_layer.update()
    columns = read_by_name("Child").matrix[:3, :3].T
    # Rotated by 45 degrees, then scaled by 3 along X: the axes are (3, 1) / sqrt(2) and (-3, 1) / sqrt(2).
    np.testing.assert_allclose(columns[0], np.array([3, 1, 0]) / np.sqrt(2), atol=1e-6)
    np.testing.assert_allclose(columns[1], np.array([-3, 1, 0]) / np.sqrt(2), atol=1e-6)


def decomposed(matrix):
    """Decompose a world matrix by Blender alone, with the signs and digits of documents."""
    translation, rotation, scale = (np.array(part[:]) for part in Matrix(matrix.tolist()).decompose())
    rotation = np.around(rotation / max(np.linalg.norm(rotation), np.finfo(float).tiny), 9)
    return translation, rotation * (-1.0 if rotation[0] < 0 else 1.0), scale


def test_matrices_are_decomposed_together_as_by_blender_one_by_one():
    rng = np.random.default_rng(6)
    matrices = np.tile(np.eye(4), (300, 1, 1))
    linear = rng.normal(size=(80, 3, 3)) * 10.0 ** rng.integers(-6, 6, (80, 1, 1))
    linear[0], linear[1], linear[2], linear[3] = 0, -np.eye(3), np.eye(3), np.diag([1, 0, -1])
    linear[4], linear[5], linear[6] = np.inf, np.nan, 1e30
    matrices[:, :3, :3] = linear[rng.integers(0, 80, 300)]
    matrices[:7, :3, :3] = linear[:7]
    matrices[:, :3, 3] = rng.normal(size=(300, 3)) * 100
    matrices[7, 0, 3], matrices[8, 1, 3] = np.inf, np.nan
    matrices = matrices.astype(np.float32).astype(np.float64)
    placements, is_valid = decompose_matrices(matrices)
    for row, matrix in enumerate(matrices):
        if not is_valid[row]:
            continue
        for values, expected in zip(placements, decomposed(matrix), strict=True):
            np.testing.assert_array_equal(values[row], expected)
            np.testing.assert_array_equal(np.signbit(values[row]), np.signbit(expected))
    assert not is_valid[[4, 7, 8]].any() and is_valid[[0, 1, 2, 3, 9]].all()
