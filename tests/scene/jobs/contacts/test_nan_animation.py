"""Curves, drivers and meshes with NaN: their objects are skipped by name, contacts of others are correct."""

from __future__ import annotations

import math

import bpy
import pytest

from addon.cli.main import main
from addon.formats import dumps, parse_document
from addon.scene.jobs.result import Result
from tests.scene.building import add_instance, hidden_collection
from tests.scene.sampling import (
    add_box,
    add_object,
    add_points,
    box_points,
    contacts_by_names,
    curves_of,
    key,
    scan_scene,
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
# Scans of oriented boxes and sphere trees take twice as long.
FEW_SHAPES = [
    "aabb",
    "sphere",
    *(pytest.param(shape, marks=pytest.mark.long) for shape in ("obb", "spheres")),
]

HALF = 0.5 / math.sqrt(3)
"""Half size of a cube whose corners are 0.5 from its center."""

REACH = {
    "aabb": 2 * HALF,
    "obb": 2 * HALF,
    "mesh": 2 * HALF,
    "sphere": 1.0,
    "spheres": 2 * HALF * (1 + math.sqrt(2)),
}
"""Distance of the centers of two cubes at contact. The leaves of their sphere trees enclose their faces."""


def add_cubes(*names: str) -> list[bpy.types.Object]:
    """Add cubes with faces around the origin, so that all kinds of shapes can be fitted."""
    return [add_box(name, (HALF, HALF, HALF)) for name in names]


def add_scene() -> bpy.types.Object:
    """Add a dot that touches a block, and a cube that moves along Y through both. Returns the cube."""
    dot, _, third = add_cubes("Dot", "Block", "Third")
    key(dot, "location", [(1, (-10, 0, 0)), (21, (10, 0, 0))])
    key(third, "location", [(1, (0, -8, 0)), (21, (0, 12, 0))])
    return third


def set_key_value(item: bpy.types.Object, path: str, index: int, frame: float, value: float) -> None:
    """Set the value of a key without limits, so that it can be NaN or infinite."""
    for curve in curves_of(item):
        if (curve.data_path, curve.array_index) == (path, index):
            for point in curve.keyframe_points:
                if point.co.x == frame:
                    point.co.y = value
            # Without curve.update(), because it sorts and smooths the keys.
            break
    else:
        raise AssertionError(path)


def assert_dot_touches_block(result: Result, shape: str) -> None:
    """Check the only contact of the two: the dot moves by 1 per frame, from x = -10 at frame 1."""
    contact = contacts_by_names(result)[frozenset(("Dot", "Block"))]
    assert contact.first.frame == pytest.approx(11 - REACH[shape], abs=1e-4)
    assert contact.intervals[0].end == pytest.approx(11 + REACH[shape], abs=1e-4)
    assert len(contact.intervals) == 1


def skip_reasons(result: Result) -> dict[str, str]:
    """Return the reasons of skipped objects by name, and check that the document is valid."""
    text = dumps(result.document())
    assert "NaN" not in text and "Infinity" not in text
    parse_document(text)
    assert all("\n" not in entry.reason for entry in result.skipped)
    return {entry.name: entry.reason for entry in result.skipped}


# ---- Curves


@pytest.mark.parametrize(("shape", "path"), SHAPES_AND_PATHS)
def test_nan_key_skips_its_object_from_that_frame(shape, path):
    third = add_scene()
    if path == "location":
        key(third, path, [(15, (0, 6, 0))])
    else:
        key(third, path, [(frame, (1, 1, 1)) for frame in (1, 15, 21)])
    set_key_value(third, path, 1, 21, NAN)
    result = scan_scene(frames=(1, 21, 1), shape=shape)
    assert_dot_touches_block(result, shape)
    # Blender evaluates the curve to NaN after frame 15, and to the value of the key at frame 15.
    assert "not a number" in skip_reasons(result)["Third"] or "nan" in skip_reasons(result)["Third"]
    assert "frame 15.41" in skip_reasons(result)["Third"]
    assert set(skip_reasons(result)) == {"Third"}
    # It touched the block before: it moves by 1 per frame, from y = -8 at frame 1.
    contact = contacts_by_names(result)[frozenset(("Third", "Block"))]
    if path == "location":
        assert contact.first.frame == pytest.approx(9 - REACH[shape], abs=1e-3)


@pytest.mark.parametrize(("shape", "path"), SHAPES_AND_PATHS)
@pytest.mark.parametrize("value", [NAN, pytest.param(-INF, marks=pytest.mark.long)])
def test_nan_from_first_frame_skips_object(shape, path, value):
    third = add_scene()
    if path != "location":
        key(third, path, [(1, (1, 1, 1)), (21, (1, 1, 1))])
    set_key_value(third, path, 0, 1, value)
    result = scan_scene(frames=(1, 21, 1), shape=shape)
    assert_dot_touches_block(result, shape)
    if path == "rotation_euler" and math.isinf(value):
        # Blender replaces infinity by the largest float, which is a valid angle.
        assert skip_reasons(result) == {}
        return
    assert set(skip_reasons(result)) == {"Third"}
    assert all("Third" not in pair for pair in contacts_by_names(result))
    if math.isnan(value):
        assert [entry.name for entry in result.objects] == ["Block", "Dot"]


@pytest.mark.parametrize(("shape", "path"), SHAPES_AND_PATHS)
@pytest.mark.parametrize("value", [INF, pytest.param(-3e38, marks=pytest.mark.long)])
def test_infinite_or_huge_key_skips_object(shape, path, value):
    third = add_scene()
    if path != "location":
        key(third, path, [(1, (1, 1, 1)), (21, (1, 1, 1))])
    set_key_value(third, path, 0, 21, value)
    result = scan_scene(frames=(1, 25, 1), shape=shape)
    assert_dot_touches_block(result, shape)
    if path == "rotation_euler":
        # A large angle is valid.
        assert skip_reasons(result) == {}
    else:
        assert "frame " in skip_reasons(result)["Third"]


@pytest.mark.parametrize("shape", FEW_SHAPES)
def test_contacts_before_and_after_nan_interval(shape):
    third = add_scene()
    # The curve is finite again from frame 12, and the cube approaches the block a second time.
    key(
        third,
        "location",
        [(1, (0, -8, 0)), (5, (0, -8, 0)), (6, (0, -8, 0)), (12, (0, -8, 0)), (21, (0, 10, 0))],
    )
    set_key_value(third, "location", 0, 6, NAN)
    result = scan_scene(frames=(1, 21, 1), shape=shape)
    assert_dot_touches_block(result, shape)
    assert "frame 5.34" in skip_reasons(result)["Third"]
    contact = contacts_by_names(result)[frozenset(("Third", "Block"))]
    # It moves by 2 per frame, from y = -8 at frame 12.
    assert contact.first.frame == pytest.approx(12 + (8 - REACH[shape]) / 2, abs=1e-3)


def test_obstacles_with_nan_pose_are_skipped():
    third = add_scene()
    set_key_value(third, "location", 0, 21, NAN)
    for shape in ("sphere", "spheres"):
        result = scan_scene(frames=(1, 21, 1), shape=shape, obstacles=("Third",))
        assert_dot_touches_block(result, shape)
        assert set(skip_reasons(result)) == {"Third"}


def test_meshes_are_in_contact_only_where_poses_are_finite():
    third = add_scene()
    key(third, "location", [(15, (0, 6, 0))])
    set_key_value(third, "location", 0, 21, NAN)
    result = scan_scene(shape="mesh", frames=(1, 21, 1))
    assert_dot_touches_block(result, "mesh")
    assert set(skip_reasons(result)) == {"Third"}
    pairs = {frozenset(("Dot", "Block")), frozenset(("Third", "Block"))}
    assert set(contacts_by_names(result)) == pairs


# ---- Dependent objects and deforming meshes


def test_children_and_constrained_objects_of_nan_parent_are_skipped():
    add_scene()
    (child, follower) = add_cubes("Child", "Follower")
    empty = add_object("Empty")
    child.parent, child.location = empty, (0, 3, 0)
    follower.constraints.new("COPY_LOCATION").target = empty
    key(empty, "location", [(1, (50, 0, 0)), (15, (50, 0, 0)), (21, (50, 0, 0))])
    set_key_value(empty, "location", 2, 21, NAN)
    result = scan_scene(frames=(1, 21, 1))
    assert_dot_touches_block(result, "aabb")
    skipped = skip_reasons(result)
    assert set(skipped) == {"Child", "Follower"}
    assert all("frame 15.41" in reason for reason in skipped.values())


@pytest.mark.parametrize("shape", SHAPES)
def test_nan_shape_key_skips_only_its_object(shape):
    third = add_scene()
    third.shape_key_add(name="Basis")
    key_block = third.shape_key_add(name="NaN")
    key_block.data[0].co.x += 0.1
    key(key_block, "value", [(1, 0.0), (15, 0.0), (21, 1.0)])
    keys = third.data.shape_keys
    for curve in curves_of(keys):
        curve.keyframe_points[-1].co.y = NAN
    result = scan_scene(frames=(1, 21, 1), shape=shape)
    assert_dot_touches_block(result, shape)
    assert set(skip_reasons(result)) <= {"Third"}


@pytest.mark.parametrize("shape", FEW_SHAPES)
def test_modifier_that_moves_vertex_to_nan_skips_object(shape):
    third = add_scene()
    hook = third.modifiers.new("Hook", "HOOK")
    hook.object = add_object("Handle")
    hook.vertex_indices_set([0])
    key(hook.object, "location", [(1, (0, 0, 0)), (15, (0, 0, 0)), (21, (0, 0, 0))])
    set_key_value(hook.object, "location", 0, 21, NAN)
    result = scan_scene(frames=(1, 21, 1), shape=shape)
    assert_dot_touches_block(result, shape)
    skipped = skip_reasons(result)
    assert set(skipped) == {"Third"}
    assert skipped["Third"] == "skipped at frame 15.41: has a vertex with non-finite coordinates"


def test_instance_with_nan_pose_is_skipped():
    add_scene()
    part = add_points("Part", box_points((0.1, 0.1, 0.1)))
    parts = hidden_collection("Parts", part)
    crowd = add_instance("Crowd", parts)
    key(crowd, "location", [(1, (50, 0, 0)), (15, (50, 0, 0)), (21, (50, 0, 0))])
    set_key_value(crowd, "location", 1, 21, NAN)
    result = scan_scene(frames=(1, 21, 1))
    assert_dot_touches_block(result, "aabb")
    assert set(skip_reasons(result)) == {"Crowd/Part.0"}


# ---- Drivers


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
    third = add_scene()
    third.driver_add("location", 0).driver.expression = expression
    result = scan_scene(frames=(1, 21, 1))
    assert_dot_touches_block(result, "aabb")
    assert set(skip_reasons(result)) <= {"Third"}


@pytest.mark.smoke
def test_driver_that_raises_in_later_frames_does_not_stop_scan(capfd):
    def raise_after_12(frame: float) -> float:
        if frame > 12:
            raise RuntimeError("on purpose")
        return 0.0

    third = add_scene()
    bpy.app.driver_namespace["raise_after_12"] = raise_after_12
    third.driver_add("location", 0).driver.expression = "raise_after_12(frame)"
    try:
        result = scan_scene(frames=(1, 21, 1))
    finally:
        del bpy.app.driver_namespace["raise_after_12"]
    assert_dot_touches_block(result, "aabb")
    assert set(skip_reasons(result)) <= {"Third"}


# ---- Command line


def test_command_line_writes_valid_document_and_lists_skipped_objects(tmp_path, capsys):
    third = add_scene()
    key(third, "location", [(15, (0, 6, 0))])
    set_key_value(third, "location", 0, 21, NAN)
    path, target = str(tmp_path / "scene.blend"), str(tmp_path / "contacts.json")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    capsys.readouterr()
    assert main(["contacts", path, "--frames", "1:21", "-o", target], opens_file=True) == 0
    output = capsys.readouterr()
    assert output.err == ""
    assert "1 skipped" in output.out and "Third: " in output.out
    assert main(["validate", target], opens_file=True) == 0
