"""glTF files of bounds, read by an independent reader, by three.js and by Khronos's validator."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import Aabb, Obb, Sphere, aabb_from_points, sphere_from_points
from addon.core.numeric.arrays import rotation_matrix
from addon.formats import GLTF_EXTENSIONS, GltfError, ObjectBounds, dumps, gltf, space_for
from tests.engines.gltf_reader import PHYSICS, colliders, reach
from tests.formats import samples
from tests.node.node import errors_in, run_program

GLTF_FROM_BLENDER = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])

# Size of the point cloud, its center in local axes, and the position of its object.
SCENES = {
    "plain": (1.0, (0, 0, 0), (1, 2, 3)),
    "off_center": (1.0, (300, -20, 7), (0.1, 0.2, 0.3)),
    "tiny": (1e-4, (0, 0, 0), (0.3, 0.1, -2)),
    "huge": (1e5, (10, 0, 0), (1, 1, 1)),
    "tiny_and_far": (1e-4, (0.1, 0, 0), (1e5, -1e5, 3e4)),
    "flat": ((1.0, 2.0, 0.0), (0, 0, 0), (0.1, 0, 0)),
    "a_point": (0.0, (0.7, 0.1, 0), (1, 0, 0)),
}


def turned_bounds(name: str, kinds: tuple[str, ...], axes: str = "object") -> tuple[ObjectBounds, np.ndarray]:
    """Return an object with shapes of these kinds, and its vertices (n, 3) in Blender's world space."""
    size, middle, place = SCENES[name]
    random = np.random.default_rng(7)
    local = random.uniform(-0.5, 0.5, (200, 3)) * size + middle
    quaternion = np.round(random.normal(size=4), 9)
    quaternion = np.round(quaternion / np.linalg.norm(quaternion) * np.sign(quaternion[0]), 9)
    turn, place = rotation_matrix(quaternion), np.array(place, dtype=np.float64)
    world = local @ turn.T + place
    # The same vertices in local space: shapes that are fitted to them enclose them to the last digit.
    local = (world - place) @ turn
    boxes, balls = aabb_from_points(local), sphere_from_points(local)
    ball = sphere_from_points(world)
    shapes_of_kind: dict[str, tuple] = {
        "sphere": (balls, ball),
        "aabb": (boxes, aabb_from_points(world)),
    }
    center, half = boxes.min + (boxes.max - boxes.min) / 2, (boxes.max - boxes.min) * (0.5 + 1e-12)
    shapes_of_kind["obb"] = Obb(center, half, np.eye(3)), Obb(turn @ center + place, half + 1e-10, turn)
    if axes == "world":
        whole = aabb_from_points(world).oriented()
        whole = Obb(whole.center, whole.half_extents * (1 + 1e-12), whole.rotation)
        shapes_of_kind["obb"] = Obb(turn.T @ (whole.center - place), whole.half_extents, turn.T), whole
    shapes = zip(*(shapes_of_kind[kind] for kind in kinds), strict=True)
    about = name, name, "MESH", None, place, quaternion, np.ones(3)
    return ObjectBounds(*about, *shapes), world


def written(
    *objects: ObjectBounds, extensions=("omi", "khr"), decimals: int = 9, preset: str = "gltf"
) -> dict:
    made = samples.document_of(objects, space_for(preset), decimals)
    return json.loads(dumps(gltf(made, extensions)))


@pytest.mark.parametrize("kinds", [("aabb",), ("obb",), ("sphere",), ("sphere", "aabb")])
@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("unit_length", [True, False])
def test_collider_encloses_vertices_tightly(scene, kinds, unit_length):
    entry, world = turned_bounds(scene, kinds)
    points = world @ GLTF_FROM_BLENDER.T
    found = colliders(written(entry), unit_length)
    assert [body for body, *_ in found] == list(PHYSICS)
    for _, shape, placed in found:
        used = reach(shape, placed, points)
        assert used.max() <= 1
        assert shape["type"] == ("sphere" if kinds == ("sphere",) else "box")
        # The document has nine decimals; far from the origin, readers may differ by some single-precision
        # digits.
        size, middle, _ = SCENES[scene]
        if scene != "a_point":
            away = np.linalg.norm(middle) / np.max(size)
            assert used.max() > 1 - 1e-5 - 1e-6 * away - 1e-8 / np.max(size)


def test_world_aligned_box_is_enclosed_on_rotated_node():
    entry, world = turned_bounds("off_center", ("obb",), axes="world")
    file = written(entry)
    assert "rotation" in file["nodes"][0] and "rotation" in file["nodes"][1]
    (_, shape, placed), _ = colliders(file)
    used = reach(shape, placed, world @ GLTF_FROM_BLENDER.T)
    assert 0.999 < used.max() <= 1
    assert np.abs(placed[:3, :3] - np.eye(3)).max() < 1e-6


@pytest.mark.smoke
def test_all_numbers_are_single_precision_numbers():
    objects = [turned_bounds(scene, kinds)[0] for scene in SCENES for kinds in (("aabb",),)]
    file = written(*objects)
    numbers = [x for node in file["nodes"] for key in ("translation", "rotation") for x in node.get(key, ())]
    shapes = file["extensions"]["OMI_physics_shape"]["shapes"]
    numbers += [x for shape in shapes for x in shape["box"]["size"]]
    assert len(numbers) > 50
    assert all(float(np.float32(x)) == x for x in numbers)


def plain_box(name: str, low, high, **more) -> ObjectBounds:
    box = Aabb(low, high)
    about = name, name, "MESH", None, np.zeros(3), np.array([1.0, 0, 0, 0]), np.ones(3)
    return replace(ObjectBounds(*about, (box,), (box,)), **more)


def test_two_meter_cube_is_exactly_two_meters():
    file = written(plain_box("Cube", [-1, -1, -1], [1, 1, 1]))
    assert file["extensions"]["OMI_physics_shape"]["shapes"] == [{"type": "box", "box": {"size": [2, 2, 2]}}]
    assert file["nodes"] == [
        {"name": "Cube", "extras": {"id": "Cube", "parent": None}, "children": [1]},
        {
            "name": "Cube collider",
            "extensions": {
                "OMI_physics_body": {"collider": {"shape": 0}},
                "KHR_physics_rigid_bodies": {"collider": {"geometry": {"shape": 0}}},
            },
        },
    ]


@pytest.mark.parametrize(
    "high, sides",
    [
        ((4, 2, 0), (4, 0.001, 2)),  # a floor, Z up in Blender: 4 m, so that a thousandth would be 4 mm
        ((0.1, 0.1, 0), (0.1, 0.0001, 0.1)),
        ((0, 0, 0), (0.001, 0.001, 0.001)),
        ((0.5, 0, 0), (0.5, 0.0005, 0.0005)),
    ],
)
def test_flat_boxes_get_minimum_thickness(high, sides):
    file = written(plain_box("Thin", [0, 0, 0], high))
    (shape,) = file["extensions"]["OMI_physics_shape"]["shapes"]
    assert shape["box"]["size"] == pytest.approx(sides, rel=1e-5)


def test_sphere_of_single_vertex_has_radius_of_half_millimeter():
    ball = Sphere([1, 2, 3], 0.0)
    file = written(plain_box("Dot", [0, 0, 0], [0, 0, 0], local=(ball,), world=(ball,)))
    assert file["nodes"][1]["translation"] == [1, 3, -2]
    assert file["extensions"]["KHR_implicit_shapes"]["shapes"][0]["sphere"]["radius"] == pytest.approx(0.0005)


def test_sphere_override_is_preferred_to_box():
    box, ball = Aabb([-1, -1, -1], [1, 1, 1]), Sphere([0, 0, 0], 1.0)
    both = plain_box("Ball", [0] * 3, [0] * 3, local=(box, ball), world=(box, ball))
    kinds = []
    for entry in (both, replace(both, override="sphere"), replace(both, override="box")):
        (shape,) = written(entry)["extensions"]["OMI_physics_shape"]["shapes"]
        kinds.append(shape["type"])
    assert kinds == ["box", "sphere", "box"]


@pytest.mark.parametrize("extensions", [("omi",), ("khr",), ("khr", "omi"), ("volumes",), GLTF_EXTENSIONS])
def test_used_extensions_are_declared(extensions):
    file = written(plain_box("Cube", [-1] * 3, [1] * 3), extensions=extensions)
    nodes = {name for node in file["nodes"] for name in node.get("extensions", {})}
    used = sorted({*file.get("extensions", {}), *nodes})
    assert file.get("extensionsUsed", []) == used
    assert len(used) == 2 * len({"omi", "khr"} & set(extensions))
    assert ("boundingVolume" in file["nodes"][0]) == ("volumes" in extensions)
    assert file["asset"]["version"] == ("2.1" if "volumes" in extensions else "2.0")


def test_equal_shapes_are_written_once():
    boxes = [plain_box(name, [-1] * 3, [1] * 3) for name in ("A", "B", "C")]
    file = written(*boxes, plain_box("D", [-2] * 3, [2] * 3))
    assert len(file["extensions"]["OMI_physics_shape"]["shapes"]) == 2
    shapes = [node["extensions"]["OMI_physics_body"]["collider"]["shape"] for node in file["nodes"][4:]]
    assert shapes == [0, 0, 0, 1]


def test_bounding_volume_matches_collider():
    entry, _ = turned_bounds("off_center", ("obb",), axes="world")
    root, child = written(entry, extensions=GLTF_EXTENSIONS)["nodes"]
    volume = dict(root["boundingVolume"])
    assert volume.pop("shape") == 0
    assert volume == {key: child[key] for key in ("translation", "rotation")}


def test_empty_document_gives_empty_scene(tmp_path):
    file = written()
    assert file == {
        "asset": {"version": "2.0", "generator": "Collision Bounds 1.2.3"},
        "scene": 0,
        "scenes": [{"name": "Scene"}],
    }
    (tmp_path / "empty.gltf").write_text(json.dumps(file), "utf-8")
    assert errors_in(tmp_path / "empty.gltf") == []


def test_same_bounds_give_same_bytes_in_any_order():
    first, second = turned_bounds("plain", ("aabb",))[0], turned_bounds("huge", ("aabb",))[0]
    one, other = written(first, second), written(second, first)
    assert dumps(one) == dumps(other)


def test_document_in_other_space_is_refused():
    with pytest.raises(GltfError, match="Y up"):
        written(preset="blender")


def test_object_beyond_single_precision_is_named():
    with pytest.raises(GltfError, match=r"object 'Cosmos': is too large, or too far from the origin"):
        written(plain_box("Cosmos", [-1e39] * 3, [1e39] * 3))


NAMES = ["Crate", "Crate", "Crate.001", "a/b:c@d", 'quo"te\\', "emoji 🚗", "naïve 立方体", " "]


@pytest.mark.parametrize("extensions", [("omi",), ("khr",), ("omi", "khr"), GLTF_EXTENSIONS])
def test_khronos_validator_finds_no_error(tmp_path, extensions):
    objects = [turned_bounds(scene, (kind,))[0] for scene in SCENES for kind in ("aabb", "obb", "sphere")]
    objects = [
        replace(entry, id=str(number), name=NAMES[number % len(NAMES)])
        for number, entry in enumerate(objects)
    ]
    made = samples.document_of(objects, space_for("gltf"))
    path = tmp_path / "bounds.gltf"
    path.write_text(dumps(gltf(made, extensions)), "utf-8")
    assert errors_in(path) == []
    path.write_text(path.read_text("utf-8").replace('"scene": 0', '"scene": 1'), "utf-8")
    assert errors_in(path) != []


def test_colliders_in_three_js_enclose_vertices(tmp_path):
    made = {scene: turned_bounds(scene, ("aabb",)) for scene in SCENES}
    document = samples.document_of([entry for entry, _ in made.values()], space_for("gltf"), 9)
    path = tmp_path / "bounds.gltf"
    path.write_text(dumps(gltf(document)), "utf-8")
    read = run_program("read_gltf.mjs", path)["colliders"]
    assert len(read) == 2 * len(SCENES)
    for collider in read:
        _, world = made[collider["parent"]]
        placed = np.array(collider["matrix"]).reshape(4, 4).T
        assert reach(collider["shape"], placed, world @ GLTF_FROM_BLENDER.T).max() <= 1


@given(st.lists(st.floats(1e-3, 1e6), min_size=3, max_size=3))
def test_single_precision_is_rounded_up_by_one_step_at_most(half):
    half = np.array(half)
    file = written(plain_box("Box", -half, half), decimals=3)
    size = np.array(file["extensions"]["OMI_physics_shape"]["shapes"][0]["box"]["size"])[[0, 2, 1]]
    assert (size >= 2 * half).all()
    # Three decimals of the document, the minimum thickness, and single precision.
    assert (size <= 2 * np.maximum(half * (1 + 2e-7) + 1e-3, 0.0005001)).all()
