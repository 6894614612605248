"""Coordinate systems of engines, compared with published formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest

from addon.core import Aabb, NonFiniteGeometryError, Obb, Sphere
from addon.core.numeric.arrays import rotation_matrix
from addon.formats import CONVENTIONS, Convention, SpaceError, space_for
from addon.formats.spaces import AXES, quaternion_from_matrix

# Formulas from the documentation of the engines: the conversion of Blender's vector (x, y, z), of its
# quaternion (x, y, z, w), the handedness and the up axis.
PUBLISHED = {
    "blender": (lambda x, y, z: (x, y, z), lambda x, y, z, w: (x, y, z, w), "right", "+Z"),
    "gltf": (lambda x, y, z: (x, z, -y), lambda x, y, z, w: (x, z, -y, w), "right", "+Y"),
    "unity": (lambda x, y, z: (-x, z, -y), lambda x, y, z, w: (x, -z, y, w), "left", "+Y"),
    "unreal": (lambda x, y, z: (100 * x, -100 * y, 100 * z), lambda x, y, z, w: (-x, y, -z, w), "left", "+Z"),
}
VECTOR = (2.0, 3.0, 5.0)

# All spaces: two different signed axes, each handedness.
CUSTOM = [
    Convention("custom", up, forward, handedness, 100.0)
    for up in AXES
    for forward in AXES
    if up[1] != forward[1]
    for handedness in ("right", "left")
]
SPACES = [*CONVENTIONS, *CUSTOM]
NAMES = [*CONVENTIONS, *(f"{each.up} {each.forward} {each.handedness}" for each in CUSTOM)]


def turned(xyzw, vector) -> np.ndarray:
    x, y, z, w = xyzw
    return rotation_matrix([w, x, y, z]) @ np.asarray(vector)


def axis_vector(name: str) -> np.ndarray:
    return np.eye(3)["XYZ".index(name[1])] * (-1 if name[0] == "-" else 1)


@pytest.mark.smoke
@pytest.mark.parametrize("preset", CONVENTIONS)
def test_vectors_and_quaternions_match_engine(preset):
    vector, quaternion, handedness, up = PUBLISHED[preset]
    space = space_for(preset)
    assert tuple(space.vectors(VECTOR)) == vector(*VECTOR)
    # 0.5, 0.1, 0.7, 0.5: 0.25 + 0.01 + 0.49 + 0.25 = 1.
    found = space.quaternion((0.5, 0.5, 0.1, 0.7))
    assert tuple(found) == quaternion(0.5, 0.1, 0.7, 0.5)
    assert (space.handedness, space.up) == (handedness, up)


@pytest.mark.parametrize("preset", SPACES, ids=NAMES)
def test_declared_axes_match_converted_vectors(preset):
    space = space_for(preset)
    assert np.array_equal(space.directions([0, 0, 1]), axis_vector(space.up))
    assert np.array_equal(space.directions([0, -1, 0]), axis_vector(space.forward))
    x, y, z = (space.directions(axis) for axis in np.eye(3))
    # In a right-handed space, x cross y is z, after the conversion.
    assert np.array_equal(np.cross(x, y), z if space.handedness == "right" else -z)


@pytest.mark.parametrize("preset", SPACES, ids=NAMES)
@pytest.mark.parametrize("seed", range(5))
def test_converted_rotation_rotates_converted_vectors(preset, seed):
    rng = np.random.default_rng(seed)
    space = space_for(preset)
    wxyz = rng.normal(size=4)
    wxyz /= np.linalg.norm(wxyz)
    vector = rng.normal(size=3)
    here_then_over = space.directions(rotation_matrix(wxyz) @ vector)
    over_then_there = turned(space.quaternion(wxyz), space.directions(vector))
    np.testing.assert_allclose(over_then_there, here_then_over, atol=1e-14)


@pytest.mark.parametrize("preset", SPACES, ids=NAMES)
def test_converted_box_keeps_corners_and_order_of_min_and_max(preset):
    space = space_for(preset)
    box = Aabb([[1, 2, 3], [-1, -1, -1]], [[4, 6, 8], [0, 0, 0]])
    there = space.shape(box)
    assert (there.min <= there.max).all()
    for k in range(2):
        corners = {tuple(c) for c in space.vectors(box[k].corners()).tolist()}
        assert {tuple(c) for c in there[k].corners().tolist()} == corners


@pytest.mark.smoke
def test_min_and_max_swap_on_negated_axis():
    # Blender's y becomes glTF's -z: 2 to 6 is -6 to -2 there.
    box = space_for("gltf").shape(Aabb([1, 2, 3], [4, 6, 8]))
    assert box.min.tolist() == [1, 3, -6]
    assert box.max.tolist() == [4, 8, -2]


@pytest.mark.parametrize("preset", SPACES, ids=NAMES)
def test_converted_oriented_box_keeps_corners(preset):
    space = space_for(preset, 0.5)
    box = Obb([1, 2, 3], [4, 5, 6], rotation_matrix([0.5, 0.5, 0.1, 0.7]))
    there = np.array(sorted(space.shape(box).corners().tolist()))
    np.testing.assert_allclose(there, sorted(space.vectors(box.corners()).tolist()), atol=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_quaternion_from_matrix_is_same_rotation(seed):
    rng = np.random.default_rng(seed)
    quaternion = rng.normal(size=4)
    # Half turns around an axis, where the usual formula divides by zero.
    quaternion[: seed % 4] *= [0, 1e-9, 1e-3][seed % 3]
    matrix = rotation_matrix(quaternion)
    x, y, z, w = found = quaternion_from_matrix(matrix)
    assert math.hypot(*found) == pytest.approx(1, abs=1e-15)
    np.testing.assert_allclose(rotation_matrix([w, x, y, z]), matrix, atol=1e-14)


@pytest.mark.parametrize(("center", "half"), [((1e307, 0, 0), (1, 1, 1)), ((0, 0, 0), (1, 1e307, 1))])
def test_box_that_overflows_in_space_is_refused(center, half):
    with pytest.raises(NonFiniteGeometryError):
        space_for("unreal").shape(Obb(center, half, np.eye(3)))


def test_blender_unit_is_a_meter_in_gltf_whatever_the_unit_scale_is():
    space = space_for("gltf", 0.01)
    assert (space.meters_per_unit, space.unit) == (1, "m")
    assert space.vectors([100, 200, 300]).tolist() == [100, 300, -200]
    assert space.shape(Sphere([100, 200, 300], 50)).radius == 50


def test_scene_in_centimeters_becomes_meters_in_unity():
    space = space_for("unity", 0.01)
    assert space.meters_per_unit == 1
    np.testing.assert_allclose(space.vectors([100, 200, 300]), [-1, 3, -2], rtol=1e-15)
    sphere = space.shape(Sphere([100, 200, 300], 50))
    np.testing.assert_allclose(sphere.center, [-1, 3, -2], rtol=1e-15)
    assert sphere.radius == pytest.approx(0.5, rel=1e-15)
    # Directions and rotations have no unit.
    assert space.directions([0, 0, 1]).tolist() == [0, 1, 0]
    assert math.hypot(*space.quaternion([0.5, 0.5, 0.5, 0.5])) == 1


def test_blender_space_keeps_numbers_and_declares_unit():
    space = space_for("blender", 0.01)
    assert space.vectors([100, 200, 300]).tolist() == [100, 200, 300]
    assert space.meters_per_unit == 0.01
    assert space.unit != "m"
    assert space_for("blender").unit == "m"


def test_scale_factors_follow_their_axes_without_signs():
    # glTF's y is Blender's z, its z is Blender's -y.
    assert space_for("gltf").scale_factors([2, 3, 5]).tolist() == [2, 5, 3]


def test_unknown_preset_is_refused_with_the_known_ones():
    with pytest.raises(SpaceError, match=r"quake.*: must be one of blender, gltf"):
        space_for("quake")


def test_custom_spaces_are_all_different():
    assert len({space_for(each).axes.tobytes() for each in CUSTOM}) == len(CUSTOM) == 48


def test_custom_space_with_axes_of_engine_matches_engine():
    known = CONVENTIONS["unreal"]
    custom = Convention("custom", known.up, known.forward, known.handedness, known.per_meter)
    assert space_for(custom).vectors(VECTOR).tolist() == space_for("unreal").vectors(VECTOR).tolist()


def test_scale_is_units_per_meter():
    inches = space_for(Convention("custom", "+Z", "-Y", "right", 39.37), scale_length=2.0)
    assert inches.vectors([1, 0, 0])[0] == pytest.approx(78.74, rel=1e-15)
    assert inches.meters_per_unit == pytest.approx(0.0254, rel=1e-5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (("up", "+Z", "right", 1.0), "up 'up': must be one of"),
        (("+Z", "forward", "right", 1.0), "forward 'forward': must be one of"),
        (("+Z", "-Z", "right", 1.0), "must be different axes"),
        (("+Z", "-Y", "both", 1.0), "handedness 'both': must be right or left"),
        (("+Z", "-Y", "right", 0.0), "scale 0: must be"),
        (("+Z", "-Y", "right", math.nan), "scale nan: must be"),
        (("+Z", "-Y", "right", math.inf), "scale inf: must be"),
        (("+Z", "-Y", "right", -1.0), "scale -1: must be"),
    ],
)
def test_invalid_space_is_refused(settings, message):
    with pytest.raises(SpaceError, match=message):
        Convention("custom", *settings)
