"""Convex hulls in Blender's own glTF export, checked by an exact reader, three.js and Khronos's validator."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.core.closed import assert_closed
from tests.engines.difficult_scene import SCENE
from tests.engines.exact_hulls import assert_encloses, hulls, read_file
from tests.node.node import errors_in, run_program
from tests.tiers import times

HULLS = """
settings = scene.collision_bounds.gltf
settings.omi = settings.khr = True
settings.shape = "hull"
"""

# Hulls of many vertices, with shear and scale that are compensated by rounded numbers.
CLOUDS = f"""
import random
random.seed(5)
def cloud(name, count, far=0.0):
    data = bpy.data.meshes.new(name)
    points = []
    for _ in range(count):
        x, y, z = (random.gauss(0, 1) for _ in range(3))
        length = math.sqrt(x * x + y * y + z * z) or 1
        points.append((x / length + far, y / length / 3, z / length * 2))
    data.from_pydata(points, [], [(i, i + 1, i + 2) for i in range(count - 2)])
    return bpy.data.objects.new(name, data)
put(cloud("Cloud", {times(200, 30)}), (3, 4, 5), (0.3, 0.4, 0.5))
put(cloud("Scaled", {times(60, 30)}), (3, 9, 5), (0.3, 0.4, 0.5), (2, 0.3, -7))
put(cloud("Skewed", {times(60, 30)}), (1, 0, 0), (0.3, 0.4, 0.5), (0.1, 3, 1), sheared)
put(cloud("Offset", 40, 100.0), (1, 0, 3), (0, 0.2, 0), (0.7, 0.7, 0.7))
"""

WITHOUT_COLLIDER = {"Flattened", "Skinned"}
OPTIONS = {"as_is": {}, "applied": {"export_apply": True}, "z_up": {"export_yup": False}}
CASES = ["applied", *(pytest.param(options, marks=pytest.mark.long) for options in ("as_is", "z_up"))]


@pytest.fixture
def exported(in_blender, tmp_path):
    """Return a function that runs extra lines, exports the scene with hulls, and returns the path."""

    def export(lines: str = "", name: str = "scene.glb", **options: object):
        call = f"export(folder + '/{name}', **{options!r})"
        in_blender("\n".join((SCENE, HULLS, lines, call, "answer(None)")))
        return tmp_path / name

    return export


@pytest.mark.parametrize("options", CASES)
def test_hulls_enclose_every_vertex_exactly_and_are_not_scaled_in_world(exported, options):
    path = exported(CLOUDS, **OPTIONS[options])
    assert errors_in(path) == []
    for extension, unit_length in itertools.product(("omi", "khr"), (True, False)):
        found = list(hulls(path, extension, unit_length))
        assert len(found) >= 24
        for hull in found:
            assert_encloses(hull)
            assert_closed(np.array(hull.corners, dtype=np.float64), hull.faces.tolist())
            assert len(hull.corners) <= 255
    read = run_program("read_gltf.mjs", path)
    volumes, parents = {}, {collider["parent"] for collider in read["colliders"]}
    for mesh in read["meshes"]:
        # three.js splits a mesh with several materials into meshes below the node.
        volumes[mesh["name"] if mesh["name"] in parents else mesh["parent"]] = mesh["volume"]
    assert {mesh["name"] for mesh in read["meshes"]} - parents == WITHOUT_COLLIDER
    for collider in read["colliders"]:
        linear = np.array(collider["matrix"]).reshape(4, 4).T[:3, :3]
        assert np.abs(linear.T @ linear - np.eye(3)).max() < 1e-5, collider["name"]
        assert np.linalg.det(linear) > 0
        assert collider["shape"]["type"] == "convex"
        if (name := collider["parent"]) != "Flat":
            # Compared with the hull of three.js. The tolerance is the single-precision rounding error. It is
            # larger 100 units from the origin, and where a scale of one to eighty is compensated.
            tolerance = {"Offset": 1e-3, "Skewed": 3e-3}.get(name, 2e-4)
            ratio = collider["shape"]["volume"] / volumes[name]
            assert 1 - 1e-6 < ratio < 1 + tolerance, name


def test_flat_mesh_gets_hull_one_millimeter_thick(exported):
    read = run_program("read_gltf.mjs", exported(use_mesh_vertices=True))
    volumes = {collider["parent"]: collider["shape"]["volume"] for collider in read["colliders"]}
    # A rectangle of 6 by 4 without thickness, and a single vertex.
    assert volumes["Flat"] == pytest.approx((6 + 1e-3) * (4 + 1e-3) * 1e-3, rel=1e-2)
    assert volumes["Dot"] == pytest.approx(1e-9, rel=1e-2)


def test_hull_is_drawn_by_no_node_and_shared_by_objects_with_same_mesh(exported):
    path = exported(
        """
for item in list(bpy.data.objects):
    bpy.data.objects.remove(item)
for library in list(bpy.data.libraries):
    bpy.data.libraries.remove(library)
"""
        + CLOUDS.split("put(")[0]
        + """
one = put(cloud("One", 50), (0, 0, 0), (0.1, 0.7, 0.3))
for number in range(4):
    put(bpy.data.objects.new("Other", one.data), (number, 2, 0), (number, 0.2, 0.9))
put(bpy.data.objects.new("Twice", one.data), (0, 4, 0), (0, 0, 0), (2, 2, 2))
"""
    )
    file, _ = read_file(path)
    drawn = {node["mesh"] for node in file["nodes"] if "mesh" in node}
    hulls_of = {
        node["name"]: node["extensions"]["KHR_physics_rigid_bodies"]["collider"]["geometry"]["mesh"]
        for node in file["nodes"]
        if "extensions" in node
    }
    assert len(hulls_of) == 6
    assert len(drawn) == 1 and len(file["meshes"]) == 3
    assert len(set(hulls_of.values())) == 2 and not set(hulls_of.values()) & drawn
    assert len(file["extensions"]["OMI_physics_shape"]["shapes"]) == 2
    assert "KHR_implicit_shapes" not in file["extensionsUsed"]
    assert not {"KHR_physics_rigid_bodies", "OMI_physics_body"} & set(file.get("extensionsRequired", ()))


def test_few_vertices_and_padding_make_larger_hulls(exported):
    path = exported(
        CLOUDS
        + """
settings.max_vertices = 12
item = bpy.data.objects["Plain"].collision_bounds
item.use_object_settings, item.padding = True, 0.25
item = bpy.data.objects["Turned"].collision_bounds
item.override, item.half_extents = "box", (0.5, 0.5, 0.5)
"""
    )
    assert errors_in(path) == []
    found = list(hulls(path, "omi", True))
    for hull in found:
        assert_encloses(hull)
        assert 4 <= len(hull.corners) <= 12
    read = run_program("read_gltf.mjs", path)
    shapes = {collider["parent"]: collider["shape"] for collider in read["colliders"]}
    # A cube of 2, enlarged by a quarter on each side, and a custom box, scaled by 1, 2, 0.2.
    assert shapes["Plain"]["volume"] == pytest.approx(2.5**3, rel=1e-5)
    assert shapes["Turned"]["type"] == "box"
    assert shapes["Turned"]["box"]["size"] == pytest.approx((1, 0.2, 2), rel=1e-5)


def test_each_loose_part_gets_hull(exported):
    path = exported(
        """
item = bpy.data.objects["Arrayed"].collision_bounds
item.use_object_settings, item.bounds_for = True, "loose_parts"
arrayed.modifiers["Array"].relative_offset_displace[0] = 1.5
""",
        export_apply=True,
    )
    parts = [hull for hull in hulls(path, "khr", True) if hull.name == "Arrayed"]
    assert len(parts) == 4
    points = parts[0].points
    low, high = (
        [np.array(edge(part.corners, axis=0), dtype=np.float64) for part in parts]
        for edge in (np.min, np.max)
    )
    inside = [((points >= a) & (points <= b)).all(axis=1) for a, b in zip(low, high, strict=True)]
    # Four cubes of 0.4 with 24 vertices each, three per corner.
    assert np.sum(inside, axis=0).tolist() == [1] * len(points)
    assert np.subtract(high, low) == pytest.approx(np.full((4, 3), 0.4), rel=1e-4)


@pytest.mark.long
@pytest.mark.parametrize("name", ["scene.glb", "scene.gltf"])
def test_draco_does_not_compress_hulls(exported, tmp_path, name):
    """Hulls are fitted before Draco rounds the vertices, see docs/engines.md."""
    packed = exported(CLOUDS, name, export_draco_mesh_compression_enable=True)
    file, _ = read_file(packed)
    if "KHR_draco_mesh_compression" not in file.get("extensionsUsed", ()):
        pytest.skip("this Blender has no Draco")
    plain = exported(CLOUDS, "plain.glb")
    assert errors_in(packed) == []
    drawn = {node["mesh"] for node in file["nodes"] if "mesh" in node}
    for index, mesh in enumerate(file["meshes"]):
        compressed = "KHR_draco_mesh_compression" in mesh["primitives"][0].get("extensions", {})
        assert compressed <= (index in drawn)
    assert hull_bytes(packed) == hull_bytes(plain)


def hull_bytes(path) -> dict[str, list[bytes]]:
    """Return the vertices of the hulls as bytes, by the name of the collider's node."""
    from tests.engines.exact_hulls import convex_mesh, numbers

    file, buffer = read_file(path)
    vertices: dict[str, list[bytes]] = {}
    for node in file["nodes"]:
        mesh = convex_mesh(file, node.get("extensions", {}), "omi")
        if mesh is not None:
            positions = file["meshes"][mesh]["primitives"][0]["attributes"]["POSITION"]
            vertices.setdefault(node["name"], []).append(numbers(file, buffer, positions).tobytes())
    return vertices
