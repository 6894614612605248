"""Short moves and jumps of keys, verified on meshes, against the straight lines between the keys."""

from __future__ import annotations

import bpy
import pytest

from tests.scene.building import open_empty_file
from tests.scene.sampling import NEAR_KEY, add_box, key, scan_scene

SHAPES = ("sphere", *(pytest.param(shape, marks=pytest.mark.long) for shape in ("aabb", "obb", "capsule")))


@pytest.fixture(autouse=True)
def wall():
    """Add a wall of thickness 0.2 around x = 0."""
    open_empty_file()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 24
    add_box("Wall", (0.1, 2, 2))


def keyed_box(keys: list[tuple[float, float]], interpolation: str = "LINEAR") -> None:
    """Add a box, half of whose width along x is 0.5, with keys of its place along x."""
    item = add_box("Box", (0.5, 0.4, 0.3))
    key(item, "location", [(frame, (x, 0, 0)) for frame, x in keys], interpolation)


def confirmed_first(shape: str):
    """Return the result for the only pair, None if the bounds do not touch."""
    result = scan_scene(shape=shape, confirm=True)
    return result.confirmed[0] if result.confirmed else None


@pytest.mark.parametrize("shape", SHAPES)
def test_move_out_and_back_within_a_fifth_of_a_frame_is_found(shape):
    keyed_box([(1, 3), (7.3, 3), (7.4, 0.3), (7.5, 3), (24, 3)])
    found = confirmed_first(shape)
    # The side of the box reaches that of the wall at x = 0.6.
    truth = 7.3 + 0.1 * (3 - 0.6) / (3 - 0.3)
    assert found.first.time <= truth + 1e-6
    assert truth <= found.first.time + found.first.uncertainty + 1e-6
    assert found.first.uncertainty < 1e-3


@pytest.mark.parametrize("shape", SHAPES)
def test_keys_at_half_frames_are_found(shape):
    # At rest at 3 at every whole frame.
    keyed_box([(1, 3), (8, 3), (8.5, 0.3), (9, 3), (24, 3)])
    found = confirmed_first(shape)
    truth = 8 + 0.5 * (3 - 0.6) / (3 - 0.3)
    assert abs(found.first.time - truth) <= found.first.uncertainty + 1e-6
    assert found.is_proven


@pytest.mark.parametrize("shape", SHAPES)
def test_needle_that_strokes_once_a_frame_is_found_at_the_stroke_that_reaches(shape):
    strokes = [(frame + part, x) for frame in range(1, 24) for part, x in ((0, 3.0), (0.5, 2.0 - frame / 12))]
    keyed_box([*strokes, (24, 3)])
    found = confirmed_first(shape)
    # A stroke reaches 2 - k / 12: the first one to get to 0.6 is that of frame 17, at 0.5833.
    truth = 17 + 0.5 * (3 - 0.6) / (3 - (2 - 17 / 12))
    assert abs(found.first.time - truth) <= found.first.uncertainty + 1e-6
    assert found.first.uncertainty < 1e-3


@pytest.mark.parametrize("frame", [10, 10.5, 10.3])
@pytest.mark.parametrize("shape", SHAPES)
def test_box_that_jumps_over_wall_does_not_touch_it(shape, frame):
    keyed_box([(1, 1.2), (frame, -1.2)], "CONSTANT")
    found = confirmed_first(shape)
    assert found is None or found.first is None


@pytest.mark.parametrize("frame", [10, 10.3])
@pytest.mark.parametrize("shape", SHAPES)
def test_box_that_jumps_into_wall_touches_it_from_the_jump_on(shape, frame):
    keyed_box([(1, 1.2), (frame, 0.2)], "CONSTANT")
    found = confirmed_first(shape)
    assert abs(found.first.time - frame) <= found.first.uncertainty + NEAR_KEY


@pytest.mark.parametrize("shape", SHAPES)
def test_constant_keys_at_each_frame_are_steps(shape):
    keyed_box([(frame, 3 - 0.35 * (frame - 1)) for frame in range(1, 11)], "CONSTANT")
    found = confirmed_first(shape)
    # 3 - 0.35 k < 0.6 for k = 7, which is frame 8.
    assert abs(found.first.time - 8) <= found.first.uncertainty + NEAR_KEY
    assert found.first.uncertainty < 1e-3


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("expression", ["3 - 0.35 * (floor(frame) - 1)", "3 - 0.35 * (int(frame) - 1)"])
def test_driver_that_steps_at_whole_frames_touches_at_a_whole_frame(shape, expression):
    item = add_box("Box", (0.5, 0.4, 0.3))
    item.driver_add("location", 0).driver.expression = expression
    found = confirmed_first(shape)
    # 3 - 0.35 k < 0.6 for k = 7, which is frame 8. Linear motion would touch at 7.857.
    assert abs(found.first.time - 8) <= found.first.uncertainty + 1e-6
    assert found.first.uncertainty < 1e-3
