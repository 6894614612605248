"""Convex parts in Blender's own glTF export: colliders that together hold each triangle of the file."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from tests.core.compound.exact_cover import HalfSpaces, uncovered
from tests.engines.difficult_scene import PRISMS, SCENE
from tests.engines.exact_hulls import hulls, numbers, read_file
from tests.engines.gltf_reader import matrix
from tests.node.node import errors_in, run_program

HELPERS = SCENE[: SCENE.index("put(mesh(")] + SCENE[SCENE.index("def export") :]
NOTCHED = (
    PRISMS
    + """
if "sheared" not in globals():
    put(mesh("Plain"), (1, 2, 3))
    wide = put(mesh("Wide"), (-5, 0, 0), (0, 0, 0.2), (3, 1, 1))
    sheared = put(mesh("Sheared", (1, 0.2, 0.2)), (0, 3, 0), (0, 0, math.radians(45)), (1, 1, 1), wide)
    arrayed = put(mesh("Arrayed", (0.2, 0.2, 0.2)), (-9, 0, 0))
    arrayed.modifiers.new("Array", "ARRAY").count = 4
step = put(prism("L", *L), (20, 30, 3), (0.3, 0.4, 0.5))
put(bpy.data.objects.new("L turned", step.data), (20, 40, 3), (0.8, 0.1, -0.5))
put(bpy.data.objects.new("L scaled", step.data), (30, 30, 3), (0.3, 0.4, 0.5), (2, 0.3, -7))
hollow = prism("U", *U)
put(hollow, (1, 0, 0), (0.3, 0.4, 0.5), (0.1, 3, 1), sheared)
scene.collision_bounds.gltf.omi = scene.collision_bounds.gltf.khr = True
scene.collision_bounds.gltf.shape, scene.collision_bounds.gltf.parts = SHAPE, 8
"""
)

VOLUMES = {"L": 4.0, "L turned": 4.0, "L scaled": 4.0 * 2 * 0.3 * 7}


@pytest.fixture
def exported(in_blender, tmp_path):
    """Return a function that exports a scene with a shape of parts, after extra lines."""

    def export(shape: str, lines: str = "", scene: str = HELPERS, name: str = "scene.glb", **options: object):
        call = f"export(folder + '/{name}', **{options!r})"
        in_blender("\n".join((scene, NOTCHED.replace("SHAPE", repr(shape)), lines, call, "answer(None)")))
        return tmp_path / name

    return export


def triangles_of(path) -> dict[str, np.ndarray]:
    """Return the triangles (t, 3, 3) of each node with a mesh, in its space."""
    file, buffer = read_file(path)
    found = {}
    for node in file["nodes"]:
        parts = file["meshes"][node["mesh"]]["primitives"] if "mesh" in node else []
        found[node["name"]] = np.concatenate(
            [
                numbers(file, buffer, part["attributes"]["POSITION"]).astype(np.float64)[
                    numbers(file, buffer, part["indices"]).reshape(-1, 3)
                ]
                for part in parts
                if "indices" in part
            ]
            or [np.zeros((0, 3, 3))]
        )
    return found


@pytest.mark.parametrize(
    ("scene", "extension", "unit_length"),
    [
        (HELPERS, "omi", True),
        (HELPERS, "khr", False),
        *[
            pytest.param(SCENE, name, unit, marks=pytest.mark.long)
            for name in ("omi", "khr")
            for unit in (True, False)
        ],
    ],
)
def test_hulls_of_parts_hold_each_triangle_exactly(exported, scene, extension, unit_length):
    path = exported("hull", scene=scene)
    assert errors_in(path) == []
    triangles = triangles_of(path)
    parts = defaultdict(list)
    for hull in hulls(path, extension, unit_length):
        parts[hull.name].append(HalfSpaces(np.array(hull.corners, dtype=object), hull.faces.tolist()))
    assert {name: len(parts[name]) for name in ("L", "L turned", "L scaled", "U", "Plain")} == {
        "L": 2,
        "L turned": 2,
        "L scaled": 2,
        "U": 3,
        "Plain": 1,
    }
    for name, shapes in parts.items():
        for triangle in triangles[name]:
            assert not uncovered(triangle, shapes), name


def test_hulls_of_parts_have_volume_of_shape_in_three_js(exported):
    path = exported("hull")
    volumes = defaultdict(float)
    for collider in run_program("read_gltf.mjs", path)["colliders"]:
        if collider["body"] == "OMI_physics_body":
            volumes[collider["parent"]] += collider["shape"]["volume"]
    # three.js replaces spaces in names.
    for name, volume in VOLUMES.items():
        assert volumes[name.replace(" ", "_")] == pytest.approx(volume, rel=5e-3)


def test_hulls_of_parts_are_shared_by_objects_with_same_mesh(exported):
    file, _ = read_file(exported("hull"))
    meshes = {
        node["name"]: node["extensions"]["KHR_physics_rigid_bodies"]["collider"]["geometry"]["mesh"]
        for node in file["nodes"]
        if node["name"].startswith("L") and "extensions" in node
    }
    assert len(meshes) == 6
    assert [meshes[f"L turned collider{number}"] for number in ("", " 2")] == [
        meshes[f"L collider{number}"] for number in ("", " 2")
    ]
    assert len(set(meshes.values())) == 4


@pytest.mark.parametrize("shape", ["obb", "sphere"])
def test_boxes_and_spheres_of_parts_hold_each_vertex_and_sampled_points(exported, shape):
    path = exported(shape)
    assert errors_in(path) == []
    file, _ = read_file(path)
    random = np.random.default_rng(3)
    triangles = triangles_of(path)
    shapes = file["extensions"]["OMI_physics_shape"]["shapes"]
    for name, count in {"L": 2, "L scaled": 2, "U": 3}.items():
        (node,) = (each for each in file["nodes"] if each["name"] == name)
        children = [file["nodes"][index] for index in node["children"]]
        assert len(children) == count
        weights = random.dirichlet((1, 1, 1), (len(triangles[name]), 50))
        weights[:, 0] = [1, 0, 0]
        points = np.einsum("tcw,twi->tci", weights, triangles[name]).reshape(-1, 3)
        outside = np.ones(len(points), dtype=bool)
        for child in children:
            placed = matrix(child, True)
            local = (points - placed[:3, 3]) @ np.linalg.inv(placed[:3, :3]).T
            collider = shapes[child["extensions"]["OMI_physics_body"]["collider"]["shape"]]
            if shape == "sphere":
                outside &= np.linalg.norm(local, axis=1) > collider["sphere"]["radius"]
            else:
                outside &= (np.abs(local) > np.array(collider["box"]["size"]) / 2).any(axis=1)
        assert not outside.any(), name


def test_tolerance_loose_parts_and_custom_shapes(exported):
    path = exported(
        "hull",
        """
scene.collision_bounds.gltf.parts_tolerance = 3.0
item = bpy.data.objects["L"].collision_bounds
item.override, item.half_extents = "box", (0.5, 0.5, 0.5)
item = bpy.data.objects["Arrayed"].collision_bounds
item.use_object_settings, item.bounds_for = True, "loose_parts"
arrayed.modifiers["Array"].relative_offset_displace[0] = 1.5
""",
        export_apply=True,
    )
    file, _ = read_file(path)
    counts = {node["name"]: len(node.get("children", ())) for node in file["nodes"] if "mesh" in node}
    # The notch is about 0.7 deep in the object, and five units at seven times the size.
    assert counts["L"] == counts["L turned"] == 1
    assert counts["L scaled"] in (1, 2)
    assert counts["Arrayed"] == 4
    read = {each["parent"]: each["shape"] for each in run_program("read_gltf.mjs", path)["colliders"]}
    assert read["L"]["type"] == "box"
    assert read["Arrayed"]["type"] == "convex"
