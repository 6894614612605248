"""Characters by others: at frames of their animations, the bounds of each bone hold its vertices, tightly."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.formats import dumps, parse_document
from addon.scene.blender.parts.mesh_parts import armature_of
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.settings import BoundsSettings, Selection
from tests.paths import TOP
from tests.scene.blender.parts.all_frames import entries, greatest_excess, vertices_of_bones
from tests.scene.blender.parts.rigs import assert_each_bone_holds_its_vertices
from tests.tiers import times

SAMPLES = TOP.parent / "shared" / "samples"
CHARACTERS = ["RobotExpressive.blend", "animation_with_skeleton.fbx"]


@pytest.fixture(params=CHARACTERS)
def character(request: pytest.FixtureRequest) -> Path:
    """Open a file with a character, skipped where the files of others are missing."""
    path = SAMPLES / request.param
    if not path.exists():
        pytest.skip(f"{request.param} is not here")
    if path.suffix == ".blend":
        bpy.ops.wm.open_mainfile(filepath=str(path))
    else:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.ops.import_scene.fbx(filepath=str(path))
    return path


def box_volume(box: dict) -> float:
    return float(8 * np.prod(box["halfExtents"]))


@pytest.mark.long
def test_bones_hold_their_vertices_at_frames_of_every_action(character):
    scene = bpy.context.scene
    skinned = [item for item in scene.objects if item.type == "MESH" and armature_of(item)]
    assert skinned
    rigs = {armature_of(item) for item in skinned}
    settings = BoundsSettings(Selection(split_by_bones=True), shapes=("sphere", "obb", "capsule"))
    whole = BoundsSettings(shapes=("obb",))
    checked, ratios = 0, []
    for action in list(bpy.data.actions)[: times(2, full=4)]:
        for rig in rigs:
            rig.animation_data_create()
            rig.animation_data.action = action
        start, end = action.frame_range
        for frame in np.linspace(start, end, times(3, full=6)).tolist():
            scene.frame_set(int(frame), subframe=frame % 1)
            document = parse_document(dumps(compute_bounds(scene, settings).document("blender", 6)))
            found = {entry["name"]: entry for entry in document["objects"]}
            boxes = parse_document(dumps(compute_bounds(scene, whole).document("blender", 6)))["objects"]
            around = {entry["name"]: box_volume(entry["world"]["obb"]) for entry in boxes}
            for item in skinned:
                mine = {name: entry for name, entry in found.items() if name.split("/")[0] == item.name}
                reach = max(np.abs(entry["world"]["obb"]["center"]).max() for entry in mine.values())
                assert_each_bone_holds_its_vertices(mine, item, armature_of(item), 4e-6 * (1 + reach))
                if len(mine) > 3:
                    total = sum(box_volume(entry["world"]["obb"]) for entry in mine.values())
                    ratios.append(total / around[item.name])
                checked += 1
    assert checked > 5
    # Boxes of bones overlap at the joints, and still have together half of the volume of one box: see
    # docs/development/trust.md.
    assert 0.3 < np.median(ratios) < 0.55 and max(ratios) < 1.1
    print(f"{character.name}: boxes of bones have {np.median(ratios):.2f} of the volume of one box")


@pytest.mark.long
@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_bounds_of_all_frames_hold_the_vertices_at_every_frame_and_half_frame(character, weight):
    """Each vertex is moved to the space of its bone by the matrices of Blender, at each time."""
    scene = bpy.context.scene
    skinned = [item for item in scene.objects if item.type == "MESH" and armature_of(item)]
    # The parts of the robot are rigid in most of its actions.
    action = bpy.data.actions.get("Robot_Wave") or bpy.data.actions[0]
    for rig in {armature_of(item) for item in skinned}:
        rig.animation_data_create()
        rig.animation_data.action = action
    start = int(action.frame_range[0])
    frames = start, start + (44 if action.name == "Robot_Wave" else 6)
    shapes = "sphere", "aabb", "capsule"
    found = entries(shapes, frames=(*frames, 1), frame=start, bone_weight=weight)
    grown, threshold = 0, weight if weight < 1 else 0.0
    for item in skinned:
        times = np.linspace(*frames, 2 * (frames[1] - frames[0]) + 1).tolist()
        for bone, held in vertices_of_bones(item, armature_of(item), times, threshold).items():
            points, entry = np.concatenate(held), found[f"{item.name}/bone.{bone}"]
            size = float(np.abs(points).max())
            assert greatest_excess(entry["local"], points) <= 1e-5 * (1 + size)
            grown += float(np.ptp(points, axis=0).max()) > 1.001 * float(np.ptp(held[0], axis=0).max())
    assert grown
