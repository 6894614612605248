"""Characters with an armature, built for tests."""

from __future__ import annotations

import bpy
import numpy as np

LENGTH, RINGS, AROUND = 1.0, 31, 12


def add_rig(name: str = "Rig", bones: int = 3) -> bpy.types.Object:
    """Add an armature: a chain of bones of length 1 along +Z."""
    rig = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    before = None
    for number in range(bones):
        bone = rig.data.edit_bones.new(f"Bone {number}")
        bone.head, bone.tail = (0, 0, number * LENGTH), (0, 0, (number + 1) * LENGTH)
        bone.parent = before
        before = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def add_tube(rig: bpy.types.Object, name: str = "Tube", is_smooth: bool = True) -> bpy.types.Object:
    """Add a tube around the bones of a rig, with weights that blend from bone to bone, or do not."""
    count = len(rig.data.bones)
    height = np.linspace(0, count * LENGTH, RINGS)
    angle = 2 * np.pi / AROUND * np.arange(AROUND)
    ring = np.stack([0.2 * np.cos(angle), 0.3 * np.sin(angle), 0 * angle], axis=1)
    points = (ring[None] + height[:, None, None] * [0, 0, 1]).reshape(-1, 3)
    corner, after = np.arange(AROUND), (np.arange(AROUND) + 1) % AROUND
    row = np.arange(RINGS - 1)[:, None] * AROUND
    quads = np.stack([row + corner, row + after, row + AROUND + after, row + AROUND + corner], axis=-1)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points.tolist(), [], quads.reshape(-1, 4).tolist())
    item = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(item)
    place = np.minimum(points[:, 2] / LENGTH, count - 1e-6)
    for number in range(count):
        group = item.vertex_groups.new(name=f"Bone {number}")
        weights = np.clip(1 - np.abs(place - number - 0.5), 0, 1) if is_smooth else (place // 1 == number)
        for vertex, weight in enumerate(np.asarray(weights, dtype=float).tolist()):
            if weight:
                group.add([vertex], weight, "REPLACE")
    item.modifiers.new("Armature", "ARMATURE").object = rig
    bpy.context.view_layer.update()
    return item


def rotate_bones(rig: bpy.types.Object, angles: dict[int, float], frame: int | None = None) -> None:
    """Rotate bones about their X axis, and key that at a frame."""
    for number, angle in angles.items():
        bone = rig.pose.bones[f"Bone {number}"]
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = (angle, 0, 0)
        if frame is not None:
            bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.view_layer.update()


def evaluated_vertices(item: bpy.types.Object) -> tuple[np.ndarray, list[dict[str, float]]]:
    """World positions (n, 3) of the evaluated mesh, and the weights of each vertex by group name."""
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    names = [group.name for group in item.vertex_groups]
    points = np.array([evaluated.matrix_world @ vertex.co for vertex in evaluated.data.vertices])
    weights = [{names[g.group]: g.weight for g in vertex.groups} for vertex in evaluated.data.vertices]
    return points, weights
