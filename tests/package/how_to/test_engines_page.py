"""The examples of docs/engines.md in Python run on the example scene, as does the one of spheres."""

from __future__ import annotations

import pytest

from tests.documented import blocks
from tests.package.how_to.user import User

pytestmark = pytest.mark.long

PAGE = "docs/engines.md"


def program(begin: str) -> str:
    (found,) = [block.text for block in blocks(PAGE) if begin in block.start]
    return found


SETUP = """
import bpy
scene = bpy.context.scene
crate = bpy.data.objects["Crate"]
bpy.context.view_layer.objects.active = crate
def colliders():
    return sorted(item.name for item in bpy.data.objects if item.name.startswith(("UCX_", "UCP_")))
"""


def run(user: User, *lines: str) -> list[str]:
    user.write("program.py", SETUP + "\n".join(lines))
    printed = user.run("blender -b level.blend --python-exit-code 3 --python program.py")
    return [line.removeprefix("! ") for line in printed.splitlines() if line.startswith("! ")]


def test_colliders_are_created_and_removed(user: User):
    create, remove = program("create_colliders").splitlines()
    first, second = run(user, create, 'print("!", len(colliders()))', remove, 'print("!", len(colliders()))')
    assert (int(first), int(second)) == (15, 0)


def test_colliders_around_chosen_vertices_are_created(user: User):
    selection, group = program("colliders_from_selection").splitlines()
    prepare = [
        'group = crate.vertex_groups.new(name="Arm")',
        "group.add(range(4), 0.5, 'ADD')",
        "bpy.ops.object.mode_set(mode='EDIT')",
        "bpy.ops.mesh.select_all(action='SELECT')",
    ]
    leave = "bpy.ops.object.mode_set(mode='OBJECT')"
    (names,) = run(user, *prepare, selection, leave, group, 'print("!", colliders())')
    assert "UCP_Crate_00" in names and "UCX_Crate_" in names


def test_collision_response_is_set(user: User):
    prepare = 'bpy.data.objects["Crate"].name = "Zone"'
    check = 'print("!", zone.response, zone.collision_group, sum(zone.collision_mask), zone.physics_material)'
    assert run(user, prepare, program("zone ="), check) == ["trigger 3 2 Ice"]


def test_bones_of_a_character_get_colliders(user: User):
    """All vertices have their largest weight at the arm, and the weight adds four to the hand."""
    prepare = [
        'crate.name = "Hero"',
        'rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))',
        "scene.collection.objects.link(rig)",
        "bpy.context.view_layer.objects.active = rig",
        "bpy.ops.object.mode_set(mode='EDIT')",
        'for name in ("Arm", "Hand"):',
        "    bone = rig.data.edit_bones.new(name)",
        "    bone.head, bone.tail = (0, 0, 0), (0, 0, 1)",
        "bpy.ops.object.mode_set(mode='OBJECT')",
        'crate.modifiers.new("Armature", "ARMATURE").object = rig',
        'crate.vertex_groups.new(name="Arm").add(range(len(crate.data.vertices)), 0.6, "REPLACE")',
        'crate.vertex_groups.new(name="Hand").add(range(4), 0.4, "REPLACE")',
        'count = lambda: len([each for each in bpy.data.objects if "_Hero_" in each.name])',
    ]
    lines = program("hero =").splitlines()
    create = program("create_colliders").splitlines()[0]
    counts = f'{create}; print("!", count(), hero.bone_frames)'
    # Without the switch, settings do not count; with it, the weight adds the second bone.
    found = run(user, *prepare, *lines, "hero.use_object_settings = False", counts, lines[1], counts)
    assert found == ["1 all", "2 all"]


def test_each_custom_shape_becomes_a_collider(user: User):
    prepare = 'bpy.data.objects["Crate"].name = "Chair"'
    create = program("create_colliders").splitlines()[0]
    names = '[item.name for item in bpy.data.objects if item.name.endswith("_Chair_00")]'
    (found,) = run(user, prepare, program("settings = bpy"), create, f'print("!", sorted({names}))')
    assert found == "['UBX_Chair_00', 'USP_Chair_00']"


def test_gltf_has_bodies(user: User):
    assert run(
        user, program("gltf.omi"), 'print("!", open("level.glb", "rb").read().count(b"OMI_physics_body") > 0)'
    ) == ["True"]


def test_example_of_spheres_has_the_form_of_the_file(user: User):
    text = program("collision_spheres:")
    user.run(
        "blender level.blend --command collision_bounds bounds -o spheres.yml --shapes sphere --objects Crate"
    )
    written = (user.folder / "spheres.yml").read_text("utf-8")

    def form(source: str) -> list[str]:
        lines = [line for line in source.splitlines() if not line.lstrip().startswith("#")]
        return [line.split(":")[0] for line in lines]

    assert form(written) == form(text)
