"""Each problem of colliders that users make, and for each a collider that is right."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

from addon.scene.errors import SceneError
from addon.scene.settings import FitSettings, Selection
from tests.scene.building import CUBE, add_object, add_vertices
from tests.scene.colliders.checking import (
    TETRAHEDRON,
    TETRAHEDRON_FACES,
    add_cube,
    add_round,
    add_tetrahedron,
    check,
    only_problem,
    problems,
)
from tests.scene.enclosing import cube_faces

pytestmark = pytest.mark.usefixtures("object_settings")

NAMES = {
    "box": ("UBX_Mesh_00", "Mesh_BoxCollider_00"),
    "sphere": ("USP_Mesh_00", "Mesh_SphereCollider_00"),
    "capsule": ("UCP_Mesh_00", "Mesh_CapsuleCollider_00"),
    "hull": ("UCX_Mesh_00", "Mesh_MeshCollider_00", "Mesh_00-convcolonly", "Mesh-convcolonly"),
}
MAKERS = {
    "box": add_cube,
    "sphere": add_round,
    "capsule": lambda name, **attributes: add_round(name, length=1.5, **attributes),
    "hull": lambda name, **attributes: add_tetrahedron(name, **attributes),
}


def set_rotated(item: bpy.types.Object, **attributes: object) -> bpy.types.Object:
    item.location, item.rotation_euler = (3, -2, 5), (0.4, 1.1, -2)
    for key, value in attributes.items():
        setattr(item, key, value)
    return item


@pytest.mark.smoke
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in NAMES.items() for name in names])
def test_right_colliders_of_each_kind_have_no_problem(kind, name):
    for parent in (None, add_vertices("Mesh", [(0.1, 0.1, 0.1), (0.2, 0.2, 0.2)])):
        collider = set_rotated(MAKERS[kind](name))
        mesh = set_rotated(bpy.data.objects["Mesh"]) if parent else None
        if mesh is not None:
            collider.parent, collider.location, collider.rotation_euler = mesh, (0, 0, 0), (0, 0, 0)
        found = check()
        if mesh is not None:
            assert found.problems == ()
            assert [(entry.mesh, entry.kind) for entry in found.colliders] == [("Mesh", kind)]
        bpy.data.objects.remove(collider)


def test_scene_without_colliders_has_no_problem():
    add_cube("Crate")
    assert check() == ((), (), ())


# ---- Vertices outside


@pytest.mark.smoke
def test_distance_of_vertex_outside_is_that_from_surface():
    # Beyond an edge of the cube by 0.3 and 0.4.
    add_vertices("Crate", [(0, 0, 0), (1.3, 1.4, 0.5), (1.125, 0, 0)])
    add_cube("UBX_Crate_00")
    found = only_problem("outside")
    assert (found.name, found.outside.vertices, found.outside.vertex) == ("Crate", 2, 1)
    assert found.outside.distance == pytest.approx(0.5, abs=1e-6)
    assert found.text == "has 2 of 3 vertices outside of UBX_Crate_00, by up to 0.5 (vertex 1)"


def test_distance_is_in_world_units_of_moved_objects():
    # In object space the vertex is 0.25 outside; the collider has a scale of 4 and is rotated.
    mesh = set_rotated(add_vertices("Crate", [(0, 0, 0), (0, 0, 1.25)]), scale=(4, 4, 4))
    add_cube("UCX_Crate_00", parent=mesh)
    assert only_problem("outside").outside.distance == pytest.approx(1, abs=1e-5)


def test_each_vertex_must_be_in_one_of_several_colliders():
    mesh = add_vertices("Crate", [(-1.5, 0, 0), (1.5, 0, 0)])
    add_cube("UBX_Crate_00", location=(-1, 0, 0))
    second = add_cube("UBX_Crate_01", location=(1, 0, 0))
    assert problems() == []
    second.location[0] = 3
    found = only_problem("outside")
    assert (found.outside.vertices, found.outside.distance) == (1, pytest.approx(0.5, abs=1e-6))
    assert "all its 2 colliders" in found.text
    assert mesh.data.vertices[found.outside.vertex].co[0] == 1.5


def test_colliders_of_engines_enclose_meshes_separately():
    add_vertices("Crate", [(-1.5, 0, 0), (1.5, 0, 0)])
    add_cube("UBX_Crate_00", 2)
    add_cube("Crate_BoxCollider_00", 1)
    assert "Crate_BoxCollider_00" in only_problem("outside").text


def test_selected_collider_is_checked_with_all_of_its_mesh():
    add_vertices("Crate", [(-1.5, 0, 0), (1.5, 0, 0)])
    add_cube("UBX_Crate_00", location=(-1, 0, 0))
    add_cube("UBX_Crate_01", location=(1, 0, 0))
    add_tetrahedron("UCX_Nothing_00")
    found = check(selection=Selection(("UBX_Crate_00",)))
    assert [entry.name for entry in found.colliders] == ["UBX_Crate_00"] and found.problems == ()
    found = check(selection=Selection(("Crate",)))
    assert [entry.name for entry in found.colliders] == ["UBX_Crate_00", "UBX_Crate_01"]
    assert found.problems == ()


def test_unknown_patterns_and_collections_are_errors():
    add_cube("UBX_Crate_00")
    for selection in (Selection(("Crane",)), Selection(collection="Nowhere")):
        with pytest.raises(SceneError, match=r"Crane|Nowhere"):
            check(selection=selection)


def test_rounding_of_applied_transforms_is_no_problem():
    """A copy of a mesh far from the origin, with its transform applied in single precision, encloses it."""
    mesh = set_rotated(add_tetrahedron("Crate"), location=(1000, -300, 7), scale=(3, 0.5, 2))
    bpy.context.view_layer.update()
    points = [tuple(mesh.matrix_world @ vertex.co) for vertex in mesh.data.vertices]
    collider = add_vertices("UCX_Crate_00", points, TETRAHEDRON_FACES)
    assert problems() == []
    # Ten times the tolerance is outside.
    collider.location[2] = 0.02
    assert only_problem("outside").outside.tolerance < 0.002


def test_surfaces_and_visible_colliders_are_not_tested_for_containment():
    add_cube("Crate", 5)
    add_cube("Crate-colonly")
    add_cube("Rock-convcol")
    add_cube("Wall-col", scale=(1, 2, 3))
    found = check()
    assert found.problems == ()
    assert [entry.mesh for entry in found.colliders] == ["Crate", None, None]


def test_sphere_is_that_of_unreal_not_its_faces():
    # Between the vertices of the collider, the mesh is outside of its faces but inside of its sphere.
    add_round("Ball", radius=0.999, rotation_euler=(0, 0, math.pi / 16))
    add_round("USP_Ball_00")
    assert problems() == []
    hull = add_round("UCX_Ball_00")
    bpy.data.objects.remove(bpy.data.objects["USP_Ball_00"])
    assert problems() == [("Ball", "outside")]
    hull.name = "UCP_Ball_00"
    assert problems() == []


def test_vertices_are_evaluated_ones_unless_base_mesh_is_set():
    mesh = add_cube("Crate")
    mesh.modifiers.new("Array", "ARRAY").count = 2
    add_cube("UBX_Crate_00")
    assert only_problem("outside").outside.distance == pytest.approx(2)
    assert problems(fit=FitSettings(modifiers="base")) == []
    collider = bpy.data.objects["UBX_Crate_00"]
    collider.modifiers.new("Array", "ARRAY").count = 2
    # Two boxes in one object.
    assert ("UBX_Crate_00", "shape") in problems()


def test_custom_shape_is_enclosed_in_place_of_vertices():
    mesh = add_cube("Crate", 5)
    add_cube("UBX_Crate_00")
    mesh.collision_bounds.override, mesh.collision_bounds.radius = "sphere", 0.9
    assert problems() == []
    mesh.collision_bounds.radius = 1.1
    # The farthest points of 642 on the sphere are those of an icosahedron, so a little less than 0.1.
    assert only_problem("outside").outside.distance == pytest.approx(0.1, abs=0.01)


# ---- Closed, flat, convex


@pytest.mark.parametrize("name", ["UCX_Mesh_00", "Mesh-convcolonly", "Mesh_MeshCollider_00"])
def test_open_surface_is_a_problem(name):
    add_vertices("Mesh", TETRAHEDRON * 0.1 + 0.1)
    add_vertices(name, TETRAHEDRON, TETRAHEDRON_FACES[:3])
    assert only_problem("open").text == "is not closed: it has edges with one face only (3)"


def test_vertices_split_along_edges_are_no_hole():
    add_vertices("Mesh", TETRAHEDRON * 0.1 + 0.1)
    corners = [corner for face in TETRAHEDRON_FACES for corner in face]
    faces = [(k, k + 1, k + 2) for k in range(0, 12, 3)]
    add_vertices("UCX_Mesh_00", TETRAHEDRON[corners], faces)
    assert problems() == []


def test_loose_vertex_and_three_faces_at_an_edge_are_problems():
    add_vertices("Mesh", TETRAHEDRON * 0.1 + 0.1)
    item = add_vertices("USP_Mesh_00", [*TETRAHEDRON, (0.1, 0.1, 0.1)], TETRAHEDRON_FACES)
    assert "is not closed: it has vertices without faces (1)" in [entry.text for entry in check().problems]
    bpy.data.objects.remove(item)
    add_vertices("UCX_Mesh_00", [*TETRAHEDRON, (1, 1, 0)], [*TETRAHEDRON_FACES, (1, 0, 4)])
    assert ("UCX_Mesh_00", "open") in problems()


def test_empty_and_flat_colliders_are_problems():
    add_vertices("Mesh", TETRAHEDRON * 0.1 + 0.1)
    item = add_vertices("UCX_Mesh_00", [])
    assert only_problem("open").text == "has no faces"
    bpy.data.objects.remove(item)
    item = add_cube("UCX_Mesh_00", scale=(1, 1, 0))
    assert only_problem("flat").text == "is flat: it has no volume"
    item.scale[2] = 1e-3
    assert problems() == [("Mesh", "outside")]


@pytest.mark.parametrize("name", ["UCX_Mesh_00", "Mesh-convcolonly", "Mesh_MeshCollider_00"])
def test_surface_with_a_dent_is_a_problem(name):
    points = np.vstack([CUBE, (0, 0, 0.5)])
    # The top of the cube, x from -1 to 1 at z = 1, goes down to the middle.
    top = (1, 5, 7, 3)
    faces = [face for face in cube_faces() if set(face) != set(top)]
    faces += [(a, b, 8) for a, b in zip(top, (*top[1:], top[0]), strict=True)]
    add_vertices("Mesh", TETRAHEDRON * 0.1)
    collider = add_vertices(name, points, faces)
    found = only_problem("concave")
    # The middle of the top is 0.5 below the hull, which is the cube.
    assert found.text == "is not convex: it has a dent, 0.5 below its convex hull"
    collider.data.vertices[8].co[2] = 1
    assert problems() == []


def test_two_pieces_are_not_convex():
    add_vertices("Mesh", TETRAHEDRON * 0.1 + 0.1)
    faces = [*TETRAHEDRON_FACES, *(tuple(4 + k for k in face) for face in TETRAHEDRON_FACES)]
    add_vertices("UCX_Mesh_00", np.vstack([TETRAHEDRON, TETRAHEDRON + 3]), faces)
    assert only_problem("concave").text == "is not convex: it consists of 2 pieces"


def test_polygons_of_convex_surfaces_need_not_be_flat():
    add_vertices("Mesh", [(0, 0, 0)])
    bpy.ops.mesh.primitive_cube_add()
    item = bpy.context.object
    item.name = "UCX_Mesh_00"
    modifier = item.modifiers.new("Subdivision", "SUBSURF")
    for modifier.levels in (1, 2):
        assert problems() == []


# ---- Kind of shape


@pytest.mark.parametrize("pattern", ["U{}_Mesh_00", "Mesh_{}Collider_00"])
def test_shape_of_another_kind_is_a_problem(pattern):
    add_vertices("Mesh", [(0, 0, 0.5)])
    is_unreal = pattern.startswith("U")
    names = {"BX": "Box", "SP": "Sphere", "CP": "Capsule"}
    for prefix, component in names.items():
        collider_name = pattern.format(prefix if is_unreal else component)
        wrong = {"BX": add_tetrahedron, "SP": MAKERS["capsule"], "CP": add_tetrahedron}[prefix]
        collider = wrong(collider_name, scale=(3, 3, 3), location=(-0.5, -0.5, -0.5))
        assert problems() == [(collider_name, "shape")], prefix
        bpy.data.objects.remove(collider)


def test_box_needs_right_angles_and_opposite_faces():
    add_vertices("Mesh", [(0, 0, 0)])
    item = add_cube("UBX_Mesh_00")
    sheared = CUBE + np.outer(CUBE[:, 2], (0.2, 0, 0))
    for vertex, place in zip(item.data.vertices, sheared, strict=True):
        vertex.co = place
    assert only_problem("shape").text == "is not a box: its sides are not at right angles"
    bpy.data.objects.remove(item)
    # A rotation in a parent with another scale shears.
    parent = add_object("Empty")
    parent.scale = (3, 1, 1)
    item = add_cube("UBX_Mesh_00", parent=parent, rotation_euler=(0, 0, math.pi / 4))
    assert "right angles" in only_problem("shape").text
    item.rotation_euler = (0, 0, 0)
    assert problems() == []


def test_box_may_be_subdivided_but_not_bent():
    add_vertices("Mesh", [(0, 0, 0)])
    bpy.ops.mesh.primitive_cube_add()
    item = bpy.context.object
    item.name = "UBX_Mesh_00"
    set_rotated(item, location=(0, 0, 0))
    modifier = item.modifiers.new("Subdivision", "SUBSURF")
    modifier.subdivision_type, modifier.levels = "SIMPLE", 2
    assert problems() == []
    modifier.subdivision_type = "CATMULL_CLARK"
    assert problems() == [("UBX_Mesh_00", "shape")]


def test_sphere_may_be_uneven_by_five_percent():
    add_vertices("Mesh", [(0, 0, 0)])
    item = add_round("USP_Mesh_00", scale=(1, 1, 0.96))
    assert problems() == []
    item.scale[2] = 0.94
    assert "the box around it has sides from 1.88 to 2" in only_problem("shape").text


def test_cylinder_is_no_capsule():
    add_vertices("Mesh", [(0, 0, 0)])
    bpy.ops.mesh.primitive_cylinder_add(radius=1, depth=4)
    bpy.context.object.name = "UCP_Mesh_00"
    assert problems() == [("UCP_Mesh_00", "shape")]


# ---- Names


@pytest.mark.parametrize("name", ["UCX_Nothing_00", "Nothing_MeshCollider_00"])
def test_name_without_mesh_is_a_problem(name):
    add_tetrahedron(name)
    assert "there is no mesh object named" in only_problem("mesh").text
    add_vertices("Nothing", TETRAHEDRON)
    assert problems() == []


def test_godot_needs_no_mesh():
    """Its colliders are physics bodies of their own, for example invisible walls."""
    add_tetrahedron("Wall-convcolonly")
    add_cube("Floor-colonly.001")
    assert problems() == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ucx_Mesh_00", "begins with 'ucx': Unreal needs 'UCX': rename it to 'UCX_Mesh_00'"),
        ("UCX-Mesh", "has no underscore after 'UCX': Unreal needs 'UCX_': rename it to 'UCX_Mesh_00'"),
        ("Mesh_UCX", "has 'UCX' in the middle: Unreal needs 'UCX_' at the start: rename it to 'UCX_Mesh_00'"),
        (
            "Mesh_MeshCollider",
            "has no number after 'MeshCollider': the Unity pattern has one, such as _00: rename it to "
            "'Mesh_MeshCollider_00'",
        ),
        (
            "UCX_Mesh_00.001",
            "ends with .001, which Blender adds to names that are in use: rename it to 'UCX_Mesh_00'",
        ),
        (
            "Mesh_MeshCollider_00.001",
            "ends with .001, which Blender adds to names that are in use: rename it to "
            "'Mesh_MeshCollider_00'",
        ),
    ],
)
def test_broken_name_is_a_problem_with_the_right_name(name, text):
    add_vertices("Mesh", TETRAHEDRON)
    add_tetrahedron(name)
    assert only_problem("name").text == text


def test_suggested_name_is_free():
    add_vertices("Mesh", TETRAHEDRON)
    add_tetrahedron("UCX_Mesh_00")
    add_tetrahedron("UCX_Mesh_00.001")
    assert only_problem("name").text.endswith("rename it to 'UCX_Mesh_01'")


def test_copy_of_mesh_with_collider_is_a_problem_of_the_copy_only():
    mesh = add_vertices("Mesh", TETRAHEDRON)
    add_tetrahedron("UCX_Mesh_00", parent=mesh)
    copy = add_vertices("Mesh.001", TETRAHEDRON, location=(9, 0, 0))
    add_tetrahedron("UCX_Mesh_00.001", parent=copy)
    found = only_problem("name")
    assert found.name == "UCX_Mesh_00.001" and found.text.endswith("rename it to 'UCX_Mesh.001_00'")
    assert [entry.mesh for entry in check().colliders] == ["Mesh", "Mesh.001"]


def test_collider_whose_parent_was_renamed_is_a_problem():
    mesh = add_vertices("Box", TETRAHEDRON)
    add_tetrahedron("UCX_Crate_00", parent=mesh)
    assert only_problem("name").text == (
        "does not contain the name of its mesh 'Box', so Unreal does not find the mesh: rename it to "
        "'UCX_Box_00'"
    )


def test_objects_with_similar_names_are_no_colliders():
    street = add_cube("Street")
    for name in ("usp_pistol", "UBXY", "USPS", "Lamp_UCP_post"):
        add_cube(name, parent=street)
    assert check() == ((), (), ())


# ---- Number of vertices


@pytest.mark.parametrize(
    ("name", "is_limited"),
    [
        ("UCX_Ball_00", True),
        ("Ball_MeshCollider_00", True),
        ("Ball-convcolonly", False),
        ("USP_Ball_00", False),
    ],
)
def test_hulls_have_at_most_255_vertices(name, is_limited):
    add_vertices("Ball", [(0, 0, 0)])
    bpy.ops.mesh.primitive_uv_sphere_add(segments=23, ring_count=12)
    item = bpy.context.object
    item.name = name
    assert len(item.data.vertices) == 255 and problems() == []
    bpy.data.objects.remove(item)
    bpy.ops.mesh.primitive_uv_sphere_add(segments=24, ring_count=12)
    bpy.context.object.name = name
    assert problems() == ([(name, "vertices")] if is_limited else [])


# ---- Scale


@pytest.mark.parametrize("name", ["Mesh-convcolonly", "Mesh-colonly"])
def test_scale_of_collider_that_godot_does_not_support_is_a_problem(name):
    mesh = add_vertices("Mesh", [(0, 0, 0)])
    item = add_cube(name, parent=mesh)
    for scale, text in (((1, 2, 1), "non-uniform"), ((-1, 1, 1), "negative"), ((2, 2, 2), "")):
        item.scale = scale
        if text:
            assert f"has a {text} scale, which physics in Godot" in only_problem("scale").text
        else:
            assert problems() == []
    # Inherited from the mesh, which is scaled on purpose.
    mesh.scale, item.scale = (1, 2, -1), (1, 1, 1)
    assert problems() == []
    # Compensated by the collider, as Create Colliders does.
    mesh.scale, item.scale = (1, 2, 1), (1, 0.5, 1)
    assert problems() == []


def test_round_colliders_of_unity_need_a_uniform_scale():
    mesh = add_vertices("Mesh", [(0, 0, 0.1)], scale=(1, 2, 1))
    # Round in the world, because the vertices compensate the scale, but not in object space.
    item = add_round("Mesh_SphereCollider_00", parent=mesh)
    for vertex in item.data.vertices:
        vertex.co[1] /= 2
    assert "has a non-uniform scale in the world" in only_problem("scale").text
    mesh.scale = (1, 1, 1)
    for vertex in item.data.vertices:
        vertex.co[1] *= 2
    assert problems() == []


def test_box_of_unity_needs_a_positive_scale():
    add_vertices("Mesh", [(0, 0, 0)])
    item = add_cube("Mesh_BoxCollider_00", scale=(1, -2, 3))
    assert "has a negative scale, which a BoxCollider does not support" in only_problem("scale").text
    item.scale[1] = 2
    assert problems() == []


def test_unreal_accepts_any_scale():
    add_vertices("Mesh", [(0, 0, 0)])
    add_cube("UBX_Mesh_00", scale=(1, -2, 3))
    assert problems() == []


# ---- What cannot be read


def test_coordinates_that_are_not_finite_are_a_problem():
    add_vertices("Mesh", [(0, 0, 0)])
    item = add_cube("UCX_Mesh_00")
    item.data.vertices[0].co[0] = math.inf
    assert only_problem("unreadable").text == "has coordinates that are not finite, or too large"
