"""First touches, spans, depths and gaps that scans are compared with, against closed forms."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

from tests.scene.building import open_empty_file
from tests.scene.mesh_truth.building import Pair, add, key
from tests.scene.mesh_truth.evaluation import Sampler, first_touch
from tests.scene.mesh_truth.solids import ball, box, inverted, joined, sheet
from tests.scene.mesh_truth.whole import WholeAnswer, WholeTruth, wrong_wholes

FRAMES = (1.0, 9.0)


@pytest.fixture(autouse=True)
def empty_scene():
    open_empty_file()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 9


def test_touch_of_a_mesh_that_moves_at_constant_speed():
    add("A", box(1, 1, 1))
    key(add("B", box(0.5, 0.5, 0.5)), "location", [(1, (5, 0.3, 0.2)), (9, (-5, 0.3, 0.2))])
    truth = first_touch(Sampler(("A", "B")), FRAMES, 8)
    assert truth.first is not None
    assert truth.first[0] <= 1 + 8 * 3.5 / 10 <= truth.first[1]
    assert truth.first[1] - truth.first[0] < 2e-4


@pytest.mark.parametrize("turns", [0.9, 1.0, 2.0, 5.0])
def test_touch_of_a_blade_that_turns_fast(turns):
    # A blade as thin as a needle from 0.2 to 1 along x turns against a wall that begins at y = 0.5.
    blade = box(0.4, 1e-4, 1e-4)
    a = add("A", (blade[0] + (0.6, 0, 0), blade[1]))
    key(a, "rotation_euler", [(1, 0.0), (9, 2 * math.pi * 8 * turns)], index=2)
    add("B", box(2, 0.5, 1)).location.y = 1.0
    # Its corner is at the height sin(angle + 0.0001) for a radius of nearly 1.
    expected = 1 + (math.asin(0.5 / math.hypot(1, 1e-4)) - 1e-4) / (2 * math.pi * turns)
    truth = first_touch(Sampler(("A", "B")), FRAMES, max(8, round(16 * turns)))
    assert truth.first is not None
    assert truth.first[0] - 1e-6 <= expected <= truth.first[1] + 1e-6


def test_a_thin_wall_is_not_stepped_over():
    add("A", box(0.0005, 1, 1))
    key(add("B", box(0.1, 0.1, 0.1)), "location", [(1, (-80, 0, 0)), (9, (80, 0, 0))])
    truth = first_touch(Sampler(("A", "B")), FRAMES, 4)
    assert truth.first is not None
    assert truth.first[0] <= 5 - 0.1005 / 20 <= truth.first[1]


def test_a_key_at_which_the_motion_turns_has_a_sample():
    # A ball falls with growing speed until frame 4.33, where it is thrown back: it touches just before.
    add("A", box(1, 1, 0.5))
    key(add("B", ball(0.5)), "location", [(1, 5.0), (4.33, 0.99), (4.5, 5.0)], "CUBIC", 2)
    truth = first_touch(Sampler(("A", "B")), FRAMES, 8)
    expected = 1 + 3.33 * (4.0 / 4.01) ** (1 / 3)
    assert truth.first is not None
    assert truth.first[0] - 2e-5 <= expected <= truth.first[1] + 2e-5


def test_a_jump_over_a_wall_touches_nothing_and_a_jump_into_a_box_does():
    key(add("B", box(0.2, 0.2, 0.2)), "location", [(1, -1.0), (4.5, 1.0)], "CONSTANT", 0)
    wall = add("A", box(0.1, 2, 2))
    assert first_touch(Sampler(("A", "B")), FRAMES, 8).first is None
    wall.location.x, wall.scale = 1.0, (5, 1, 1)
    truth = first_touch(Sampler(("A", "B")), FRAMES, 8)
    assert truth.first is not None
    assert truth.first[0] - 2e-4 <= 4.5 <= truth.first[1] + 2e-4


def test_a_mesh_touches_the_solid_around_it_and_not_the_shell():
    inner = add("B", ball(0.5))
    add("A", ball(2.0))
    assert first_touch(Sampler(("A", "B")), FRAMES, 1).first == (1.0, 1.0)
    open_empty_file()
    inner = add("B", ball(0.5))
    add("A", joined(ball(2.0), inverted(ball(1.5))))
    assert first_touch(Sampler(("A", "B")), FRAMES, 1).first is None
    inner.location.x = 1.2
    assert first_touch(Sampler(("A", "B")), FRAMES, 1).first == (1.0, 1.0)


def test_samples_are_the_vertices_that_blender_shows():
    item = add("A", box(1, 1, 1))
    item.location, item.rotation_euler, item.scale = (1, 2, 3), (0.1, 0.2, 0.3), (1, -2, 0.5)
    item.modifiers.new("Subdivision", "SUBSURF").levels = 1
    add("B", box(1, 1, 1)).location.x = 9
    sample = Sampler(("A", "B")).at(1.0)
    shown = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    expected = np.array([shown.matrix_world @ vertex.co for vertex in shown.data.vertices])
    apart = np.abs(sample.corners[0].reshape(-1, 1, 3) - expected).max(axis=-1)
    assert apart.min(axis=0).max() < 1e-5
    assert apart.min(axis=1).max() < 1e-5


# ---- Whole answers


def whole_truth() -> WholeTruth:
    return WholeTruth(Sampler(("A", "B")), 8)


def test_depth_and_spans_of_a_box_that_crosses_two_walls():
    # Walls from -1.5 to -0.5 and from 0.5 to 1.5. The box, of half size 0.25, is at 3 - 0.75 (frame - 1).
    wall = box(0.5, 2, 2)
    add("A", joined((wall[0] - (1, 0, 0), wall[1]), (wall[0] + (1, 0, 0), wall[1])))
    key(add("B", box(0.25, 0.25, 0.25)), "location", [(1, (3, 0.1, 0.2)), (9, (-3, 0.1, 0.2))])
    truth = whole_truth()
    begins, ends = (1 + 1.25 / 0.75, 1 + 3.25 / 0.75), (1 + 2.75 / 0.75, 1 + 4.75 / 0.75)
    spans = [(begin, end, 0.0) for begin, end in zip(begins, ends, strict=True)]
    assert truth.wrong_times(spans) == []
    assert truth.wrong_times([(begin + 0.003, end, 0.0) for begin, end, _ in spans])
    assert truth.wrong_times([(begin, end - 0.02, 0.0) for begin, end, _ in spans])
    assert truth.wrong_times([(begins[0], ends[1], 0.0)])
    assert truth.wrong_times(spans[:1])
    # A vertex is 0.5 from both sides when it is in the middle of a wall.
    assert truth.depth() == pytest.approx(0.5, abs=3e-3 * truth.size)
    assert truth.size == pytest.approx(0.25 * math.sqrt(3), rel=1e-6)
    assert wrong_wholes(WholeAnswer(spans, 0.499), truth, Pair()) == []
    for depth in (0.49, 0.51, None):
        assert wrong_wholes(WholeAnswer(spans, depth), truth, Pair())


def test_depth_is_none_of_open_surfaces_and_0_where_edges_cross():
    add("A", sheet(1.0, 2))
    key(add("B", sheet(1.0, 2)), "location", [(1, (0, 0, 2)), (9, (0, 0, -2))])
    bpy.data.objects["B"].rotation_euler = (1.5, 0.1, 0.2)
    assert whole_truth().depth() is None
    open_empty_file()
    add("A", box(2, 0.1, 0.1))
    key(add("B", box(0.1, 2, 0.1)), "location", [(1, (0, 0, 1)), (9, (0, 0, 0.15))])
    assert whole_truth().depth() == 0


def test_gap_of_a_box_that_passes_a_wall():
    # Its lower side is (frame - 5.3)^2 / 8 + 0.3 above the top of the wall.
    add("A", box(3, 3, 0.5))
    item = add("B", box(0.2, 0.2, 0.2))
    item.driver_add("location", 2).driver.expression = "1.0 + (frame - 5.3) ** 2 / 8"
    truth = whole_truth()
    assert not any(truth.touches(time) for time in (1.0, 5.0, 9.0))
    assert truth.gap() == pytest.approx(0.3, abs=3e-3 * truth.size)
    assert wrong_wholes(WholeAnswer(gap=0.302), truth, Pair()) == []
    for gap in (0.29, 0.31):
        assert wrong_wholes(WholeAnswer(gap=gap), truth, Pair())
