"""Compounds in documents: the shapes of all parts together hold every triangle, and notches stay open."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.formats import dumps, parse_document
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.settings import BoundsSettings, FitSettings
from tests.core.compound.exact_cover import HalfSpaces, uncovered
from tests.core.compound.meshes_with_notches import L_OUTLINE, L_TRIANGLES, box, prism, ring, volume
from tests.tiers import times

pytestmark = pytest.mark.usefixtures("empty_file")

POSE = Matrix.Translation((30, -20, 10)) @ Matrix.Rotation(0.7, 4, (1, 2, 3))
POSES = {
    "rotated": POSE,
    "scaled": POSE @ Matrix.Diagonal((2, 0.5, -1, 1)),
    "sheared": Matrix(((1, 0.5, 0, 1), (0, 1, 0.2, 2), (0, 0, 1, 3), (0, 0, 0, 1))),
}
BOX_FACES = [
    (0, 1, 3), (0, 3, 2), (4, 7, 5), (4, 6, 7), (0, 4, 5), (0, 5, 1),
    (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
]  # fmt: skip


def add_triangles(add_mesh, name, triangles, matrix=None):
    points, index = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    item = add_mesh(name, points, index.reshape(-1, 3))
    item.matrix_world = Matrix() if matrix is None else matrix
    bpy.context.view_layer.update()
    return item


def write_document(decimals=6, shapes=("compound",), preset="blender", **fit):
    result = compute_bounds(bpy.context.scene, BoundsSettings(shapes=shapes, fit=FitSettings(**fit)))
    assert not result.skipped, result.skipped
    return parse_document(dumps(result.document(preset, decimals)))


def triangles_of(item):
    """Return the triangles (t, 3, 3) of an object in the world, with the numbers of its matrix."""
    matrix = np.array(item.matrix_world, dtype=np.float64)
    item.data.calc_loop_triangles()
    corners = np.array([item.data.vertices[i].co for t in item.data.loop_triangles for i in t.vertices])
    return (corners.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]).reshape(-1, 3, 3)


def turned(quaternion, points):
    """Rotate points (n, 3) by a quaternion, x, y, z and w, which is rounded to 9 decimals."""
    *u, w = np.array(quaternion) / np.linalg.norm(quaternion)
    return points + 2 * w * np.cross(u, points) + 2 * np.cross(u, np.cross(u, points))


def half_spaces(part):
    """Return a hull or a box of a document as planes; corners of a box in the order of their signs."""
    if "hull" in part:
        return HalfSpaces(np.array(part["hull"]["vertices"]), part["hull"]["faces"])
    oriented = part["obb"]
    signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    # Half extents with the rounding of this test, at coordinates of up to 50.
    half = np.array(oriented["halfExtents"]) + 5e-14
    corners = turned(oriented["rotation"], signs * half) + oriented["center"]
    return HalfSpaces(corners, BOX_FACES)


def outside_round(part, points):
    """Distance (n,) of points (n, 3) outside of a sphere or a capsule."""
    ((key, shape),) = part.items()
    offset = points - shape["center"]
    if key == "capsule":
        along = np.clip(offset @ shape["axis"], -shape["halfLength"], shape["halfLength"])
        offset = offset - along[:, None] * shape["axis"]
    return np.linalg.norm(offset, axis=1) - shape["radius"]


@pytest.mark.parametrize("decimals", [6, 9])
@pytest.mark.parametrize("pose", POSES)
@pytest.mark.parametrize("part_shape", ["hull", "box"])
def test_hulls_and_boxes_hold_each_triangle(add_mesh, part_shape, pose, decimals):
    item = add_triangles(add_mesh, "Step", prism(L_OUTLINE, L_TRIANGLES), POSES[pose])
    entry = write_document(decimals, part_shape=part_shape)["objects"][0]
    shapes = [half_spaces(part) for part in entry["world"]["compound"]]
    assert len(shapes) == 2
    for triangle in triangles_of(item):
        assert not uncovered(triangle, shapes)


def random_solid(rng):
    lows = rng.uniform(-2, 2, (rng.integers(2, 4), 3))
    return np.concatenate([box(low, low + rng.uniform(0.1, 2, 3)) for low in lows])


@pytest.mark.long
@pytest.mark.parametrize("part_shape", ["hull", "box", "sphere", "capsule"])
def test_parts_of_random_meshes_hold_each_triangle(add_mesh, part_shape):
    rng = np.random.default_rng(18)
    meshes = {f"{n:04}": random_solid(rng) for n in range(times(5, 3, full=250))}
    items = {
        name: add_triangles(
            add_mesh, name, triangles, Matrix.Translation(rng.normal(size=3) * 10) @ POSES["scaled"]
        )
        for name, triangles in meshes.items()
    }
    document = write_document(9, part_shape=part_shape, parts=4)
    assert len(document["objects"]) == len(items)
    for entry in document["objects"]:
        parts, triangles = entry["world"]["compound"], triangles_of(items[entry["name"]])
        if part_shape in ("hull", "box"):
            shapes = [half_spaces(part) for part in parts]
            assert not any(uncovered(triangle, shapes) for triangle in triangles)
        else:
            weights = rng.dirichlet((1, 1, 1), (len(triangles), 50))
            weights[:, 0] = [1, 0, 0]
            points = np.einsum("tcw,twi->tci", weights, triangles).reshape(-1, 3)
            outside = np.min([outside_round(part, points) for part in parts], axis=0)
            # Rounding of this test, at coordinates of up to 50.
            assert outside.max() <= 1e-13


@pytest.mark.long
def test_eight_hulls_of_a_ring_leave_its_hole_open(add_mesh):
    add_triangles(add_mesh, "Ring", ring())
    entry = write_document()["objects"][0]
    parts = [part["hull"] for part in entry["world"]["compound"]]
    assert len(parts) == 8
    total = sum(volume(np.array(part["vertices"])[np.array(part["faces"])]) for part in parts)
    assert volume(ring()) <= total <= 1.1 * volume(ring())


@pytest.mark.parametrize("part_shape", ["hull", "box", "sphere", "capsule"])
def test_padding_moves_each_surface_outward(add_mesh, part_shape):
    item = add_triangles(add_mesh, "Step", prism(L_OUTLINE, L_TRIANGLES))
    entry = write_document(part_shape=part_shape, padding=0.5)["objects"][0]
    corners = triangles_of(item).reshape(-1, 3)
    outward = corners + 0.4999 * np.sign(corners - corners.mean(axis=0)) * [0, 0, 1]
    for point in outward:
        held = False
        for part in entry["world"]["compound"]:
            if part_shape in ("hull", "box"):
                held |= not uncovered(np.array([point] * 3), [half_spaces(part)])
            else:
                held |= bool(outside_round(part, point[None])[0] <= 0)
        assert held


def test_tolerance_is_in_world_units(add_mesh):
    """The notch of the L is 0.7 deep, half its diagonal: 7 units at ten times the size."""
    add_triangles(add_mesh, "Step", prism(L_OUTLINE, L_TRIANGLES), Matrix.Scale(10, 4))
    counts = [
        len(write_document(parts_tolerance=tolerance)["objects"][0]["world"]["compound"])
        for tolerance in (0.0, 3.0, 30.0)
    ]
    assert counts == [2, 2, 1]


def test_mesh_without_faces_is_one_part(add_mesh):
    add_mesh("Dots", np.random.default_rng(1).normal(size=(20, 3)), [])
    entry = write_document()["objects"][0]
    assert [list(part) for part in entry["world"]["compound"]] == [["hull"]]


@pytest.mark.parametrize("preset", ["gltf", "unity", "unreal"])
def test_document_that_is_read_is_written_again_to_the_byte(add_mesh, preset):
    from addon.formats import make_document, read_document, space_for

    add_triangles(add_mesh, "Step", prism(L_OUTLINE, L_TRIANGLES), POSES["rotated"])
    for part_shape in ("hull", "box", "sphere", "capsule"):
        document = write_document(preset=preset, part_shape=part_shape, shapes=("compound", "aabb"))
        again = make_document(read_document(document), space_for(preset), 6)
        assert dumps(again) == dumps(document)


def test_world_shapes_are_local_ones_moved_by_the_transform(add_mesh):
    add_triangles(add_mesh, "Step", prism(L_OUTLINE, L_TRIANGLES), POSES["rotated"])
    entry = write_document(9)["objects"][0]
    transform = entry["transform"]
    for local, world in zip(entry["local"]["compound"], entry["world"]["compound"], strict=True):
        moved = turned(transform["rotation"], np.array(local["hull"]["vertices"])) + transform["translation"]
        low, high = (getattr(np.array(world["hull"]["vertices"]), name)(axis=0) for name in ("min", "max"))
        np.testing.assert_allclose([moved.min(axis=0), moved.max(axis=0)], [low, high], atol=1e-4)
