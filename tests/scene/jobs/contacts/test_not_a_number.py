"""Curves, drivers and meshes with NaN: their objects are skipped by name, all others are correct."""

from __future__ import annotations

import math

import bpy
import pytest

from addon.cli.main import main
from addon.formats import dumps, parse_document
from addon.scene.jobs.result import Result
from tests.scene.sampled import (
    add_box,
    add_object,
    add_points,
    box_points,
    contacts_by_names,
    curves_of,
    key,
    scanned,
)

pytestmark = pytest.mark.usefixtures("empty_file")

NAN, INF = math.nan, math.inf

SHAPES_AND_PATHS = [
    ("aabb", "location"),
    ("sphere", "location"),
    ("obb", "location"),
    ("spheres", "location"),
    ("aabb", "rotation_euler"),
    ("obb", "scale"),
]
SHAPES = ["aabb", "sphere", "obb", "spheres"]
# Scans of the other two take twice as long.
FEW_SHAPES = [
    "aabb",
    "sphere",
    *(pytest.param(shape, marks=pytest.mark.long) for shape in ("obb", "spheres")),
]

HALF = 0.5 / math.sqrt(3)
"""A cube of these half sizes has its corners half a metre from its middle."""


REACH = {"aabb": 2 * HALF, "obb": 2 * HALF, "sphere": 1.0, "spheres": 2 * HALF * (1 + math.sqrt(2))}
"""Distance of two cubes along an axis at contact. Leaves of their trees enclose their faces."""


def add_cubes(*names: str) -> list[bpy.types.Object]:
    """Solid cubes around the origin, which all shapes can stand in for."""
    return [add_box(name, (HALF, HALF, HALF)) for name in names]


def add_scene() -> bpy.types.Object:
    """A dot that meets a block, and a third thing that goes along Y through both; the third."""
    dot, _, odd = add_cubes("Dot", "Block", "Odd")
    key(dot, "location", [(1, (-10, 0, 0)), (21, (10, 0, 0))])
    key(odd, "location", [(1, (0, -8, 0)), (21, (0, 12, 0))])
    return odd


def spoil(item: bpy.types.Object, path: str, index: int, frame: float, value: float) -> None:
    """Give a key a value that no one can type."""
    for curve in curves_of(item):
        if (curve.data_path, curve.array_index) == (path, index):
            for point in curve.keyframe_points:
                if point.co.x == frame:
                    point.co.y = value
            # Not curve.update(), which sorts and smooths.
            break
    else:
        raise AssertionError(path)


def assert_dot_meets_block(result: Result, shape: str) -> None:
    """A metre a frame from -10 at frame 1: they meet when the dot is the two halves away."""
    contact = contacts_by_names(result)[frozenset(("Dot", "Block"))]
    assert contact.first.frame == pytest.approx(11 - REACH[shape], abs=1e-4)
    assert contact.intervals[0].end == pytest.approx(11 + REACH[shape], abs=1e-4)
    assert len(contact.intervals) == 1


def reasons(result: Result) -> dict[str, str]:
    """Return the skipped objects of a result, whose document must be valid."""
    text = dumps(result.document())
    assert "NaN" not in text and "Infinity" not in text
    parse_document(text)
    assert all("\n" not in entry.reason for entry in result.skipped)
    return {entry.name: entry.reason for entry in result.skipped}


# --- curves ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "path"), SHAPES_AND_PATHS)
def test_nan_key_skips_its_object_from_that_frame(shape, path):
    odd = add_scene()
    if path == "location":
        key(odd, path, [(15, (0, 6, 0))])
    else:
        key(odd, path, [(frame, (1, 1, 1)) for frame in (1, 15, 21)])
    spoil(odd, path, 1, 21, NAN)
    result = scanned(frames=(1, 21, 1), shape=shape)
    assert_dot_meets_block(result, shape)
    # Blender has no number right after the key before, and keeps the one at that key.
    assert "not a number" in reasons(result)["Odd"] or "nan" in reasons(result)["Odd"]
    assert "frame 16" in reasons(result)["Odd"]
    assert set(reasons(result)) == {"Odd"}
    # It met the block before that: at a metre a frame from -8 at frame 1.
    contact = contacts_by_names(result)[frozenset(("Odd", "Block"))]
    if path == "location":
        assert contact.first.frame == pytest.approx(9 - REACH[shape], abs=1e-3)


@pytest.mark.parametrize(("shape", "path"), SHAPES_AND_PATHS)
@pytest.mark.parametrize("value", [NAN, pytest.param(-INF, marks=pytest.mark.long)])
def test_a_curve_without_numbers_from_the_first_frame(shape, path, value):
    odd = add_scene()
    if path != "location":
        key(odd, path, [(1, (1, 1, 1)), (21, (1, 1, 1))])
    spoil(odd, path, 0, 1, value)
    result = scanned(frames=(1, 21, 1), shape=shape)
    assert_dot_meets_block(result, shape)
    if path == "rotation_euler" and math.isinf(value):
        # Blender makes it the largest number that it has, and there is a sine of that.
        assert reasons(result) == {}
        return
    assert set(reasons(result)) == {"Odd"}
    assert all("Odd" not in pair for pair in contacts_by_names(result))
    if math.isnan(value):
        assert [entry.name for entry in result.objects] == ["Block", "Dot"]


@pytest.mark.parametrize(("shape", "path"), SHAPES_AND_PATHS)
@pytest.mark.parametrize("value", [INF, pytest.param(-3e38, marks=pytest.mark.long)])
def test_an_endless_value_in_the_middle_of_a_curve(shape, path, value):
    odd = add_scene()
    if path != "location":
        key(odd, path, [(1, (1, 1, 1)), (21, (1, 1, 1))])
    spoil(odd, path, 0, 21, value)
    result = scanned(frames=(1, 25, 1), shape=shape)
    assert_dot_meets_block(result, shape)
    if path == "rotation_euler":
        # A large angle is one too.
        assert reasons(result) == {}
    else:
        assert "frame " in reasons(result)["Odd"]


@pytest.mark.parametrize("shape", FEW_SHAPES)
def test_contacts_before_and_after_nan_interval(shape):
    odd = add_scene()
    # Numbers again from frame 12 on, where it comes to the block a second time.
    key(
        odd,
        "location",
        [(1, (0, -8, 0)), (5, (0, -8, 0)), (6, (0, -8, 0)), (12, (0, -8, 0)), (21, (0, 10, 0))],
    )
    spoil(odd, "location", 0, 6, NAN)
    result = scanned(frames=(1, 21, 1), shape=shape)
    assert_dot_meets_block(result, shape)
    assert "frame 6" in reasons(result)["Odd"]
    contact = contacts_by_names(result)[frozenset(("Odd", "Block"))]
    # Two metres a frame from -8 at frame 12.
    assert contact.first.frame == pytest.approx(12 + (8 - REACH[shape]) / 2, abs=1e-3)


def test_obstacles_with_nan_pose_are_skipped():
    odd = add_scene()
    spoil(odd, "location", 0, 21, NAN)
    for shape in ("sphere", "spheres"):
        result = scanned(frames=(1, 21, 1), shape=shape, obstacles="Odd")
        assert_dot_meets_block(result, shape)
        assert set(reasons(result)) == {"Odd"}


def test_meshes_are_tested_only_where_poses_are_finite():
    odd = add_scene()
    key(odd, "location", [(15, (0, 6, 0))])
    spoil(odd, "location", 0, 21, NAN)
    result = scanned(frames=(1, 21, 1), confirm=True)
    assert_dot_meets_block(result, "aabb")
    assert set(reasons(result)) == {"Odd"}
    assert len(result.confirmed) == len(result.report.contacts)
    assert all(answer is not None and answer.first is not None for answer in result.confirmed)


# --- what hangs on it, and what is not a place -----------------------------------------------------------


def test_children_and_constrained_objects_of_nan_parent_are_skipped():
    add_scene()
    (child, follower) = add_cubes("Child", "Follower")
    empty = add_object("Empty")
    child.parent, child.location = empty, (0, 3, 0)
    follower.constraints.new("COPY_LOCATION").target = empty
    key(empty, "location", [(1, (50, 0, 0)), (15, (50, 0, 0)), (21, (50, 0, 0))])
    spoil(empty, "location", 2, 21, NAN)
    result = scanned(frames=(1, 21, 1))
    assert_dot_meets_block(result, "aabb")
    told = reasons(result)
    assert set(told) == {"Child", "Follower"}
    assert all("frame 16" in reason for reason in told.values())


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_key_that_is_not_a_number(shape):
    odd = add_scene()
    odd.shape_key_add(name="Basis")
    bad = odd.shape_key_add(name="Bad")
    bad.data[0].co.x += 0.1
    key(bad, "value", [(1, 0.0), (15, 0.0), (21, 1.0)])
    keys = odd.data.shape_keys
    for curve in curves_of(keys):
        curve.keyframe_points[-1].co.y = NAN
    result = scanned(frames=(1, 21, 1), shape=shape)
    assert_dot_meets_block(result, shape)
    assert set(reasons(result)) <= {"Odd"}


@pytest.mark.parametrize("shape", FEW_SHAPES)
def test_modifier_that_moves_vertex_to_nan(shape):
    odd = add_scene()
    hook = odd.modifiers.new("Hook", "HOOK")
    hook.object = add_object("Handle")
    hook.vertex_indices_set([0])
    key(hook.object, "location", [(1, (0, 0, 0)), (15, (0, 0, 0)), (21, (0, 0, 0))])
    spoil(hook.object, "location", 0, 21, NAN)
    result = scanned(frames=(1, 21, 1), shape=shape)
    assert_dot_meets_block(result, shape)
    told = reasons(result)
    assert set(told) == {"Odd"}
    assert told["Odd"] == "left out at frame 16: the place of a vertex is not a finite number"


def test_instance_with_nan_pose():
    add_scene()
    parts = bpy.data.collections.new("Parts")
    part = add_points("Part", box_points((0.1, 0.1, 0.1)))
    bpy.context.scene.collection.objects.unlink(part)
    parts.objects.link(part)
    crowd = add_object("Crowd")
    crowd.instance_type, crowd.instance_collection = "COLLECTION", parts
    key(crowd, "location", [(1, (50, 0, 0)), (15, (50, 0, 0)), (21, (50, 0, 0))])
    spoil(crowd, "location", 1, 21, NAN)
    result = scanned(frames=(1, 21, 1))
    assert_dot_meets_block(result, "aabb")
    assert set(reasons(result)) == {"Crowd/Part.0"}


# --- drivers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression",
    [
        "float('nan')",
        "sqrt(10 - frame)",
        "1 / (frame - 11)",
        "unheard_of + 1",
        "nonsense(",
        "",
        *(
            pytest.param(expression, marks=pytest.mark.long)
            for expression in ("frame * float('inf')", "log(-frame)", "'text'", "1e308 * frame")
        ),
    ],
)
def test_failing_drivers_are_reported_by_blender_and_do_not_stop_scan(expression, capfd):
    odd = add_scene()
    odd.driver_add("location", 0).driver.expression = expression
    result = scanned(frames=(1, 21, 1))
    assert_dot_meets_block(result, "aabb")
    assert set(reasons(result)) <= {"Odd"}


@pytest.mark.smoke
def test_driver_that_raises_in_some_frames(capfd):
    def sometimes(frame: float) -> float:
        if frame > 12:
            raise RuntimeError("on purpose")
        return 0.0

    odd = add_scene()
    bpy.app.driver_namespace["sometimes"] = sometimes
    odd.driver_add("location", 0).driver.expression = "sometimes(frame)"
    try:
        result = scanned(frames=(1, 21, 1))
    finally:
        del bpy.app.driver_namespace["sometimes"]
    assert_dot_meets_block(result, "aabb")
    assert set(reasons(result)) <= {"Odd"}


# --- the command line ------------------------------------------------------------------------------------


def test_command_line_writes_valid_document_and_lists_skipped_objects(tmp_path, capsys):
    odd = add_scene()
    key(odd, "location", [(15, (0, 6, 0))])
    spoil(odd, "location", 0, 21, NAN)
    path, target = str(tmp_path / "scene.blend"), str(tmp_path / "contacts.json")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    capsys.readouterr()
    assert main(["contacts", path, "--frames", "1:21", "-o", target], opens_file=True) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert "1 left out" in told.out and "Odd: " in told.out
    assert main(["validate", target], opens_file=True) == 0
