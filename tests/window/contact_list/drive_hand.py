"""In Blender's window: see the hand of a skinned arm in a table, move them apart, and check again."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Euler
from scenes import add_box, empty_scene
from window_driver import Steps, WindowDriver

MOVE_APART = 4
"""Entry of the menu below the list."""


def add_objects() -> None:
    """Make a scene: an arm, a mesh on two bones, whose hand swings down into a table and up again."""
    empty_scene(60)
    bpy.ops.object.armature_add(location=(0, 0, 1.6))
    rig = bpy.context.object
    rig.name = "Character_Anna_Rig"
    bpy.ops.object.mode_set(mode="EDIT")
    upper = rig.data.edit_bones[0]
    upper.name, upper.head, upper.tail = "upper_arm.L", (0, 0, 0), (1, 0, 0)
    hand = rig.data.edit_bones.new("hand.L")
    hand.head, hand.tail, hand.parent = (1, 0, 0), (2, 0, 0), upper
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.mesh.primitive_uv_sphere_add(segments=48, ring_count=32, location=(1, 0, 1.6))
    skin = bpy.context.object
    skin.name, skin.scale = "Character_Anna_Body", (1.1, 0.2, 0.2)
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    skin.parent = rig
    skin.matrix_parent_inverse = rig.matrix_world.inverted()
    for name in ("upper_arm.L", "hand.L"):
        group = skin.vertex_groups.new(name=name)
        for vertex in skin.data.vertices:
            share = min(max(vertex.co.x + 0.5, 0.0), 1.0)
            group.add([vertex.index], share if name == "hand.L" else 1 - share, "REPLACE")
    modifier = skin.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig
    bone = rig.pose.bones["hand.L"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (30, -0.9), (60, 0.0)):
        bone.rotation_euler = Euler((0, 0, 0))
        bone.rotation_euler.x = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    table = add_box("Kitchen_Table", 1.8, 0, 0.5)
    table.scale = 1.2, 2, 1
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.scene.frame_set(1)


def count_inside() -> dict[float, int]:
    """Count the vertices of the skin in the table at four times a frame: Blender's own deformed mesh."""
    scene, counts = bpy.context.scene, {}
    before = scene.frame_current_final
    for step in range(4 * 59 + 1):
        frame = 1 + step / 4
        scene.frame_set(int(frame), subframe=frame % 1)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        skin = bpy.data.objects["Character_Anna_Body"].evaluated_get(depsgraph)
        points = np.empty((len(skin.data.vertices), 3), dtype=np.float32)
        skin.data.vertices.foreach_get("co", points.reshape(-1))
        table = bpy.data.objects["Kitchen_Table"]
        matrix = np.array(table.matrix_world.inverted() @ skin.matrix_world)
        local = points @ matrix[:3, :3].T + matrix[:3, 3]
        counts[frame] = int((np.abs(local) < 0.5 - 1e-6).all(axis=1).sum())
    scene.frame_set(int(before), subframe=before % 1)
    return counts


def scenario(driver: WindowDriver) -> Steps:
    """Find contacts, click the row, move the pair apart, and check again: five clicks, no option."""
    add_objects()
    driver.set_view((1.3, 0, 1.2), 6, (1.2, 0, 0.4))
    yield from driver.open_tab("Collision Bounds")
    driver.notes["before"] = {"inside": count_inside()}
    yield from driver.find_contacts()
    yield from driver.note("found")
    yield from driver.click_row("Character_Anna_Body", "Kitchen_Table")
    yield from driver.note("clicked")
    yield from driver.choose_from_list_menu(MOVE_APART)
    yield from driver.note("moved apart")
    yield from driver.find_contacts()
    yield from driver.note("checked again")
    driver.notes["after"] = {"inside": count_inside()}
