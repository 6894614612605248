"""Boxes along the axes of keyed objects: how far they deviate from linear motion, against Blender."""

from __future__ import annotations

import numpy as np
import pytest

from addon.scene.motion.scene_motion import SceneMotion
from tests.scene.building import CUBE, add_vertices
from tests.scene.motion.test_scene_motion import create_motion
from tests.scene.sampling import go_to, world_points

pytestmark = pytest.mark.usefixtures("empty_file")

TIMES = np.array([1.0, 40.0])


def known_motion() -> SceneMotion:
    """Motion of the boxes of all objects, all of which are known between frames."""
    motion = create_motion("aabb")
    for _ in motion.comparing(TIMES.tolist()):
        pass
    assert motion.is_known
    return motion


def key_turns(item, rng, mode, frames=(1, 12, 27, 40)):
    """Let an object move, turn by up to two radians from key to key, and change its size."""
    item.rotation_mode = mode
    path = "rotation_quaternion" if mode == "QUATERNION" else "rotation_euler"
    count = len(getattr(item, path))
    for frame in frames:
        setattr(item, path, rng.uniform(-1, 1, count))
        item.location, item.scale = rng.uniform(-3, 3, 3), rng.uniform(0.5, 2, 3)
        for name in (path, "location", "scale"):
            item.keyframe_insert(name, frame=frame)


@pytest.mark.smoke
@pytest.mark.parametrize("mode", ["XYZ", "ZXY", "QUATERNION"])
@pytest.mark.parametrize("points", [CUBE * [3, 1, 0.2], np.random.default_rng(1).normal(size=(200, 3))])
def test_sides_of_turning_boxes_deviate_from_linear_motion_by_no_more_than_the_bound(points, mode):
    rng = np.random.default_rng(len(points))
    parent, item = add_vertices("Parent"), add_vertices("Item", points)
    item.parent = parent
    for each in (parent, item):
        key_turns(each, rng, mode)
    motion = known_motion()
    for begin, length in ((2.0, 0.05), (5.0, 1.0), (14.0, 4.0), (26.5, 0.5), (30.0, 10.0)):
        times, sides = begin + length * np.linspace(0, 1, 33), []
        for time in times:
            go_to(float(time))
            world = world_points("Item")
            sides.append([*world.min(axis=0), *world.max(axis=0)])
        sides = np.array(sides)
        shares = (times - begin)[:, None] / length
        found = np.abs(sides - sides[0] - (sides[-1] - sides[0]) * shares).max()
        (bound,), _ = motion.certain.bound(np.array([0]), times[:1], times[-1:])
        assert found <= bound + 1e-6 * np.abs(sides).max()


def test_bound_of_a_turning_box_falls_with_the_square_of_the_interval():
    rng = np.random.default_rng(4)
    item = add_vertices("Item", rng.normal(size=(20, 3)))
    for frame, angle in ((1, 0.0), (40, 3.0)):
        item.rotation_euler = (0.3, angle, 0.1)
        item.keyframe_insert("rotation_euler", frame=frame)
    motion, begin = known_motion(), np.linspace(10, 30, 200)
    means = [
        motion.certain.bound(np.zeros(200, dtype=np.int64), begin, begin + length)[0].mean()
        for length in (0.5, 0.125)
    ]
    # A bound by the size and the angle alone would be a quarter of the larger one.
    assert means[1] < means[0] / 12


def test_boxes_of_large_meshes_that_turn_cost_more_than_others():
    rng = np.random.default_rng(6)
    for name, count in (("A turns", 6000), ("B moves", 6000), ("C turns", 8)):
        item = add_vertices(name, rng.normal(size=(count, 3)))
        for frame in (1, 40):
            item.location = rng.normal(size=3)
            item.keyframe_insert("location", frame=frame)
            if "turns" in name:
                item.rotation_euler = rng.normal(size=3)
                item.keyframe_insert("rotation_euler", frame=frame)
    assert known_motion().certain.costs == pytest.approx([4, 1, 1.004])


def test_unknown_shape_is_an_error():
    add_vertices("A", CUBE)
    motion = create_motion("sphere")
    motion.shape = "cylinder"
    with pytest.raises(TypeError, match="Cylinders has no bound"):
        list(motion.comparing(TIMES.tolist()))
