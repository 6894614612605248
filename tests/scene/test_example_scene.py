# SPDX-License-Identifier: GPL-3.0-or-later
"""The example scene behaves as its docstrings describe, measured on evaluated vertices."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from tests import tiers
from tests.scene.building import load_example, open_empty_file

bpy = pytest.importorskip("bpy")

Box = tuple[np.ndarray, np.ndarray]


example_scene = load_example()
WHOLE_FRAMES = range(example_scene.FRAME_START, example_scene.FRAME_END + 1)
STEP = 1.0 if tiers.is_quick() else 0.25
# At frame 24.5 the projectile is in the plate. At whole frames it is not.
CLOSE_FRAMES = np.union1d(np.arange(example_scene.FRAME_START, example_scene.FRAME_END, STEP), 24.5)


@pytest.fixture(autouse=True)
def scene() -> None:
    """Build the example scene in an empty file."""
    open_empty_file()
    example_scene.build_scene()


def set_frame(frame: float) -> None:
    whole = math.floor(frame)
    bpy.context.scene.frame_set(whole, subframe=frame - whole)


def world_vertices(item: bpy.types.DepsgraphObjectInstance) -> np.ndarray:
    vertices = item.object.data.vertices
    points = np.empty(3 * len(vertices), np.float32)
    vertices.foreach_get("co", points)
    matrix = np.array(item.matrix_world, dtype=np.float64)
    return points.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def vertices_at(frame: float) -> dict[str, np.ndarray]:
    """World vertices by name. Instances of a parent are numbered: `Fence 0`, `Fence 1`."""
    set_frame(frame)
    found = {}
    instances: Counter[str] = Counter()
    for item in bpy.context.evaluated_depsgraph_get().object_instances:
        if item.object.type != "MESH" or len(item.object.data.vertices) == 0:
            continue
        name = item.object.name
        if item.is_instance:
            parent = item.parent.name
            name = f"{parent} {instances[parent]}"
            instances[parent] += 1
        found[name] = world_vertices(item)
    return found


def boxes_at(frame: float) -> dict[str, Box]:
    return {name: (points.min(axis=0), points.max(axis=0)) for name, points in vertices_at(frame).items()}


def separation(first: Box, second: Box) -> float:
    """Distance of two boxes, or minus the overlap along the axis of least overlap."""
    gaps = np.maximum(first[0] - second[1], second[0] - first[1])
    return float(np.linalg.norm(np.maximum(gaps, 0)) if gaps.max() > 0 else gaps.max())


def separation_at(frame: float, first: str, second: str) -> float:
    boxes = boxes_at(frame)
    return separation(boxes[first], boxes[second])


def crate_matrix(frame: float) -> np.ndarray:
    set_frame(frame)
    crate = bpy.data.objects["Crate"].evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(crate.matrix_world)


# ---- Projectile and plate


def test_projectile_is_not_in_plate_at_whole_frames():
    closest = min(separation_at(frame, "Projectile", "Plate") for frame in WHOLE_FRAMES)
    assert closest > 0.1
    assert boxes_at(24)["Projectile"][1][0] < boxes_at(24)["Plate"][0][0]
    assert boxes_at(25)["Projectile"][0][0] > boxes_at(25)["Plate"][1][0]


def test_projectile_touches_plate_from_contact_frame_to_release_frame():
    contact, release = example_scene.projectile_contact_frame(), example_scene.projectile_release_frame()
    assert separation_at(contact - 1e-3, "Projectile", "Plate") > 0
    assert separation_at(contact + 1e-3, "Projectile", "Plate") < 0
    assert separation_at(release - 1e-3, "Projectile", "Plate") < 0
    assert separation_at(release + 1e-3, "Projectile", "Plate") > 0


def test_projectile_contact_frame_matches_evaluated_whole_frames():
    before, after = boxes_at(24), boxes_at(25)
    front = before["Projectile"][1][0]
    step = after["Projectile"][1][0] - front
    contact = 24 + (before["Plate"][0][0] - front) / step
    assert contact == pytest.approx(example_scene.projectile_contact_frame(), abs=1e-9)
    assert contact == pytest.approx(24.3125, abs=1e-9)


def test_projectile_moves_linearly_between_keys():
    first, last = example_scene.PROJECTILE_FIRST_FRAME, example_scene.PROJECTILE_LAST_FRAME
    for frame in np.linspace(first, last, 33):
        travelled = boxes_at(frame)["Projectile"][0] - boxes_at(first)["Projectile"][0]
        assert travelled == pytest.approx([example_scene.PROJECTILE_SPEED * (frame - first), 0, 0], abs=1e-6)


# ---- Paddles, struts


@pytest.mark.parametrize(
    ("first", "second", "contact_frame"),
    [
        ("Paddle Left", "Paddle Right", example_scene.paddles_contact_frame()),
        ("Strut A", "Strut B", example_scene.struts_contact_frame()),
    ],
)
def test_mirrored_parts_touch_at_contact_frame(first, second, contact_frame):
    assert separation_at(example_scene.FRAME_START, first, second) > 0.1
    assert separation_at(contact_frame - 1e-3, first, second) > 0
    assert separation_at(contact_frame + 1e-3, first, second) < 0
    assert separation_at(contact_frame, first, second) == pytest.approx(0, abs=1e-6)


def test_meshes_of_paddles_touch_at_contact_frame():
    """The corners of both meshes coincide where the boxes touch."""
    vertices = vertices_at(example_scene.paddles_contact_frame())
    left, right = vertices["Paddle Left"], vertices["Paddle Right"]
    foremost = left[left[:, 0] > left[:, 0].max() - 1e-5]
    distances = np.linalg.norm(foremost[:, None] - right[None], axis=2)
    assert distances.min() < 1e-5


def test_struts_have_sheared_world_matrices():
    bpy.context.view_layer.update()
    for name in ("Strut A", "Strut B"):
        axes = np.array(bpy.data.objects[name].matrix_world)[:3, :3]
        axes /= np.linalg.norm(axes, axis=0)
        assert abs(axes[:, 0] @ axes[:, 2]) > 0.5


# ---- Arm


def test_arm_deforms_while_its_object_is_static():
    rest, pressed = (vertices_at(frame)["Arm"] for frame in example_scene.ARM_FRAMES[:2])
    moved = np.linalg.norm(pressed - rest, axis=1)
    assert moved.max() > 0.5
    assert moved.min() == pytest.approx(0, abs=1e-6)
    arm = bpy.data.objects["Arm"].evaluated_get(bpy.context.evaluated_depsgraph_get())
    assert np.array(arm.matrix_world)[:3, :3] == pytest.approx(np.eye(3), abs=1e-6)


def test_every_vertex_of_arm_has_full_weight():
    """A vertex without weights would not move with the bones."""
    arm = bpy.data.objects["Arm"]
    assert all(
        sum(group.weight for group in vertex.groups) == pytest.approx(1) for vertex in arm.data.vertices
    )


def test_arm_presses_button_and_retracts():
    rest, pressed, back = (separation_at(frame, "Arm", "Button") for frame in example_scene.ARM_FRAMES)
    assert rest > 0.1
    assert pressed < 0
    finger = max(vertices_at(example_scene.ARM_FRAMES[1])["Arm"], key=lambda point: point[0])
    low, high = boxes_at(example_scene.ARM_FRAMES[1])["Button"]
    assert (low < finger).all() and (finger < high).all()
    assert back == pytest.approx(rest, abs=1e-5)


# ---- Crate


def test_crate_falls_and_rests_on_pallet():
    assert separation_at(10, "Crate", "Pallet") > 0.1
    assert np.abs(crate_matrix(60) - crate_matrix(40)).max() < 1e-3
    for frame in (40, 50, 60):
        assert -0.01 < separation_at(frame, "Crate", "Pallet") < -0.001


def test_pose_of_crate_is_independent_of_previous_frame():
    in_order = {frame: crate_matrix(frame) for frame in (12, 20, 40)}
    for frame in (40, 12, 20):
        assert (crate_matrix(frame) == in_order[frame]).all()


def test_baked_fall_survives_saving_and_loading(tmp_path):
    path = str(tmp_path / "factory.blend")
    before = {frame: crate_matrix(frame) for frame in (40, 14, 60, 20)}
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert bpy.context.scene.rigidbody_world.point_cache.is_baked
    for frame, matrix in before.items():
        assert (crate_matrix(frame) == matrix).all()


# ---- Fence and cart


def test_fence_has_only_instances_whose_source_is_not_in_scene():
    boxes = boxes_at(1)
    assert sum(name.startswith("Fence ") for name in boxes) == example_scene.POST_COUNT >= 5
    assert {"Gate Post Near 0", "Gate Post Far 0"} <= boxes.keys()
    assert "Fence" not in boxes
    assert "Post" not in boxes


def test_posts_are_in_row_with_given_spacing():
    boxes = boxes_at(1)
    lows = [boxes[f"Fence {index}"][0] for index in range(example_scene.POST_COUNT)]
    for step in np.diff(lows, axis=0):
        assert step == pytest.approx([example_scene.POST_SPACING, 0, 0], abs=1e-6)


def test_cart_hits_fourth_post():
    assert separation_at(10, "Cart", "Fence 3") > 0.1
    assert separation_at(48, "Cart", "Fence 3") < 0


# ---- Drone and mast


def test_drone_has_gap_of_near_miss_at_its_frame():
    near_miss = example_scene.drone_near_miss()
    assert separation_at(near_miss.frame, "Drone", "Mast") == pytest.approx(near_miss.gap, abs=1e-9)
    gaps = [separation_at(frame, "Drone", "Mast") for frame in CLOSE_FRAMES]
    assert CLOSE_FRAMES[np.argmin(gaps)] == near_miss.frame
    assert sorted(gaps)[1] > near_miss.gap + 1e-3


# ---- Whole scene


def test_only_intended_pairs_touch():
    touching = set()
    for frame in CLOSE_FRAMES:
        boxes = boxes_at(frame)
        for first, second in combinations(sorted(boxes), 2):
            if separation(boxes[first], boxes[second]) <= 0:
                touching.add((first, second))
    assert touching == {
        ("Plate", "Projectile"),
        ("Paddle Left", "Paddle Right"),
        ("Arm", "Button"),
        ("Crate", "Pallet"),
        ("Cart", "Fence 3"),
        ("Strut A", "Strut B"),
    }


def test_nothing_touches_at_first_frame():
    boxes = boxes_at(example_scene.FRAME_START)
    closest = min(separation(first, second) for first, second in combinations(boxes.values(), 2))
    assert closest == pytest.approx(example_scene.HOVER, abs=1e-6)


def test_second_build_is_identical():
    frames = (1, 15, 24.3125, 60)
    first = [vertices_at(frame) for frame in frames]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    example_scene.build_scene()
    second = [vertices_at(frame) for frame in frames]
    for before, after in zip(first, second, strict=True):
        assert before.keys() == after.keys()
        assert all((before[name] == after[name]).all() for name in before)


def test_file_with_objects_is_rejected():
    with pytest.raises(RuntimeError, match="objects already"):
        example_scene.build_scene()
