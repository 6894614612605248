"""Colliders of bones: children of bones that follow them, enclose their vertices, and are replaced."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.scene.colliders.check import check_colliders
from addon.scene.settings import COLLIDER_NAME_PATTERNS, Selection
from tests.scene.blender.parts.rigs import add_rig, add_tube, evaluated_vertices, rotate_bones
from tests.scene.colliders.creating import KINDS, colliders, create_colliders, skip_reasons

pytestmark = pytest.mark.usefixtures("object_settings")

BONES = Selection(split_by_bones=True)


def split(tube: bpy.types.Object, by: str = "bones") -> None:
    tube.collision_bounds.use_object_settings, tube.collision_bounds.bounds_for = True, by


def greatest_height(item: bpy.types.Object, points: np.ndarray) -> float:
    """Greatest height of points over any face of a convex collider, in world space."""
    bpy.context.view_layer.update()
    matrix = np.array(item.matrix_world, dtype=np.float64)
    local = np.array([tuple(vertex.co) for vertex in item.data.vertices], dtype=np.float64)
    corners = local @ matrix[:3, :3].T + matrix[:3, 3]
    heights = []
    for face in item.data.polygons:
        rows = list(face.vertices)
        center = corners[rows].mean(axis=0)
        normal = sum(
            np.cross(corners[a] - center, corners[b] - center)
            for a, b in zip(rows, rows[1:] + rows[:1], strict=True)
        )
        heights.append(((points - center) @ (normal / np.linalg.norm(normal))).max())
    return max(heights)


def vertices_by_bone(tube: bpy.types.Object) -> dict[str, np.ndarray]:
    points, weights = evaluated_vertices(tube)
    owners = np.array([max(each, key=lambda name: (each[name], -int(name[-1]))) for each in weights])
    return {bone: points[owners == bone] for bone in set(owners.tolist())}


@pytest.mark.parametrize("kind", KINDS)
def test_each_bone_gets_a_collider_that_holds_its_vertices_and_follows_it(kind):
    rig = add_rig()
    tube = add_tube(rig, is_smooth=False)
    split(tube)
    rig.location, rig.rotation_euler = (1, 2, 3), (0.3, 0.2, 0.1)
    rotate_bones(rig, {1: 0.6})
    result = create_colliders(kind=kind)
    assert (result.colliders, result.sources) == (3, 1)
    items = {item.parent_bone: item for item in colliders()}
    assert {item.name for item in items.values()} == {f"{KINDS[kind]}_Tube_Bone {n}_00" for n in range(3)}
    assert all(item.parent == rig and item.parent_type == "BONE" for item in items.values())
    # In this pose, and in one that comes later: rigid parts move with their bone.
    for angles in ({}, {0: -0.4, 1: 1.2, 2: 0.5}):
        rotate_bones(rig, angles)
        for bone, points in vertices_by_bone(tube).items():
            assert greatest_height(items[bone], points) < 2e-6
            assert greatest_height(items[bone], points) > -0.1


@pytest.mark.smoke
def test_colliders_are_updated_in_place_and_switch_between_bones_and_object():
    rig = add_rig()
    tube = add_tube(rig)
    split(tube)
    create_colliders(kind="box")
    before = {item.name: item.session_uid for item in colliders()}
    result = create_colliders(kind="box")
    assert {item.name: item.session_uid for item in colliders()} == before
    assert (result.colliders, result.replaced) == (3, 3)
    split(tube, "object")
    result = create_colliders(kind="box")
    assert [item.name for item in colliders()] == ["UBX_Tube_00"]
    assert (result.colliders, result.replaced) == (1, 3)
    split(tube)
    assert create_colliders(kind="box").replaced == 1
    assert {item.name for item in colliders()} == set(before)


def test_bone_that_no_longer_deforms_loses_its_collider():
    rig = add_rig()
    tube = add_tube(rig)
    split(tube)
    create_colliders(kind="box")
    rig.data.bones["Bone 1"].use_deform = False
    for group in ("Bone 0", "Bone 2"):
        tube.vertex_groups[group].add(list(range(len(tube.data.vertices))), 0.01, "ADD")
    create_colliders(kind="box")
    assert {item.parent_bone for item in colliders()} == {"Bone 0", "Bone 2"}


@pytest.mark.parametrize("naming", COLLIDER_NAME_PATTERNS)
@pytest.mark.parametrize("kind", KINDS)
def test_colliders_of_bones_pass_the_check_but_for_unreal_which_ignores_them(kind, naming):
    rig = add_rig()
    tube = add_tube(rig)
    split(tube)
    rotate_bones(rig, {1: 0.6})
    create_colliders(kind=kind, pattern=COLLIDER_NAME_PATTERNS[naming])
    bpy.context.view_layer.update()
    found = check_colliders(bpy.context.scene)
    is_ignored = naming == "unreal"
    assert len(found.problems) == (3 if is_ignored else 0)
    assert all("physics asset" in problem.text for problem in found.problems)
    assert [each.mesh for each in found.colliders] == ["Tube"] * 3


def test_vertices_without_bone_get_a_child_of_the_object():
    rig = add_rig()
    tube = add_tube(rig)
    for group in tube.vertex_groups:
        group.remove(list(range(24)))
    split(tube)
    create_colliders(kind="box")
    (item,) = (each for each in colliders() if each.parent == tube)
    assert item.name == "UBX_Tube_00"


def test_two_meshes_of_one_armature_have_colliders_of_their_own():
    rig = add_rig()
    for name in ("Body", "Coat"):
        split(add_tube(rig, name))
    assert create_colliders(kind="box").colliders == 6
    for item in colliders():
        assert item.parent == rig
    assert len({item.name for item in colliders()}) == 6
    # Again for one of both: those of the other stay.
    assert create_colliders(kind="box", selection=Selection(("Coat*",))).replaced == 3
    assert len(colliders()) == 6


def test_armature_of_another_scene_is_a_reason():
    rig = add_rig()
    tube = add_tube(rig)
    split(tube)
    bpy.context.scene.collection.objects.unlink(rig)
    bpy.data.scenes.new("Elsewhere").collection.objects.link(rig)
    reasons = skip_reasons(create_colliders(kind="box"))
    assert reasons["Tube/bone.Bone 0"].startswith("is deformed by an armature that is not in this scene")


@pytest.mark.long
def test_gltf_export_has_colliders_below_the_joints(tmp_path: Path):
    rig = add_rig()
    tube = add_tube(rig)
    split(tube)
    rotate_bones(rig, {1: 0.6})
    create_colliders(kind="box")
    path = tmp_path / "character.gltf"
    bpy.ops.export_scene.gltf(filepath=str(path), export_format="GLTF_SEPARATE")
    nodes = json.loads(path.read_text("utf-8"))["nodes"]
    parents = {child: node["name"] for node in nodes for child in node.get("children", ())}
    below = {node["name"]: parents[index] for index, node in enumerate(nodes) if index in parents}
    for number in range(3):
        assert below[f"UBX_Tube_Bone {number}_00"] == f"Bone {number}"
