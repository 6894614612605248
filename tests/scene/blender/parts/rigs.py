"""Characters with an armature, built for tests, and checks of the bounds of their bones."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.scene.building import add_armature, add_object

LENGTH, RINGS, AROUND = 1.0, 31, 12


def add_rig(name: str = "Rig", bones: int = 3) -> bpy.types.Object:
    """Add an armature: a chain of bones of length 1 along +Z."""
    ends = [(0, 0, number * LENGTH) for number in range(bones + 1)]
    return add_armature(name, {f"Bone {number}": (ends[number], ends[number + 1]) for number in range(bones)})


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
    item = add_object(name, mesh)
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


def heaviest(weights: dict[str, float], bones: list[str]) -> str:
    """Name of the bone with the largest weight, the first of several; empty without one."""
    held = {name: weights[name] for name in bones if weights.get(name, 0) > 0}
    return max(held, key=lambda name: held[name]) if held else ""


def excess(shape: dict, points: np.ndarray) -> float:
    """Greatest distance of points outside of an oriented box along its axes."""
    x, y, z, w = shape["rotation"]
    turn = np.array(
        [
            (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
        ]
    )
    return float((np.abs((points - shape["center"]) @ turn) - shape["halfExtents"]).max())


def assert_each_bone_holds_its_vertices(found: dict, item, rig, tolerance: float = 2e-6) -> None:
    points, weights = evaluated_vertices(item)
    bones = [bone.name for bone in rig.data.bones]
    owners = np.array([heaviest(each, bones) for each in weights])
    names = {f"{item.name}/bone.{bone}" if bone else f"{item.name}/no bone" for bone in set(owners.tolist())}
    assert {name for name in found if name.startswith(item.name)} == names
    size = float(np.ptp(points, axis=0).max())
    for bone in set(owners.tolist()):
        entry = found[f"{item.name}/bone.{bone}" if bone else f"{item.name}/no bone"]
        held = points[owners == bone]
        assert entry["bone"] == bone
        assert -0.02 * size < excess(entry["world"]["obb"], held) <= tolerance
        distances = np.linalg.norm(held - entry["world"]["sphere"]["center"], axis=1)
        assert abs(distances.max() - entry["world"]["sphere"]["radius"]) <= tolerance
        capsule = entry["world"]["capsule"]
        offset, axis = held - capsule["center"], np.array(capsule["axis"])
        along = np.clip(offset @ axis, -capsule["halfLength"], capsule["halfLength"])
        assert np.linalg.norm(offset - along[:, None] * axis, axis=1).max() <= capsule["radius"] + tolerance
        if bone:
            matrix = rig.matrix_world @ rig.pose.bones[bone].matrix
            along_bone = np.array(matrix.to_3x3().normalized().col[1])
            assert abs(along_bone @ axis) == pytest.approx(1, abs=1e-6)
            assert entry["transform"]["translation"] == pytest.approx(list(matrix.to_translation()), abs=2e-6)
