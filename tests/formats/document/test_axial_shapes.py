"""Capsules and cylinders in documents and exports: each still encloses the vertices, in every space."""

from __future__ import annotations

import base64
import copy
import json
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from addon.core import (
    Aabb,
    Capsule,
    Cylinder,
    Segment,
    capsule_from_points,
    cylinder_from_points,
    sphere_from_points,
)
from addon.core.numeric.arrays import rotation_matrix
from addon.formats import ObjectBounds, document_problems, read_document, space_for
from addon.formats.document.objects import rounded_fields
from addon.formats.export.gltf import gltf
from addon.formats.export.tileset_3d import TILES_SPACE, tileset
from tests.core.closed import assert_closed, assert_encloses
from tests.engines.exact_hulls import numbers
from tests.formats import samples
from tests.tiers import times

PRESETS = ["blender", "gltf", "unity", "unreal"]
KINDS = {"capsule": Capsule, "cylinder": Cylinder}
QUATERNION = np.array([0.7, -0.5, 0.5, 0.1]) / 1.0


def vertices(seed: int) -> np.ndarray:
    """Vertices in the frame of an object: of a slanted rod, a flat disc, a cloud."""
    rng = np.random.default_rng(seed)
    scale = [(0.2, 0.3, 2.0), (1.0, 1.0, 0.0), (1.0, 0.7, 0.4)][seed % 3]
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return rng.normal(size=(60, 3)) * scale @ turn.T + rng.normal(size=3)


def entry(seed: int) -> tuple[ObjectBounds, np.ndarray]:
    """Return bounds of every kind that has numbers, in both frames, and the vertices in world space."""
    local = vertices(seed)
    turn, move = rotation_matrix(QUATERNION), np.array([3.0, -2 / 3, 100.1])
    world = local @ turn.T + move
    capsule, cylinder = capsule_from_points(local), cylinder_from_points(local)
    both = [
        (sphere_from_points(local), sphere_from_points(world)),
        *(
            (
                shape,
                replace(shape, center=turn @ shape.center + move, axis=turn @ shape.axis)._around(world),
            )
            for shape in (capsule, cylinder)
        ),
        (Aabb(local.min(axis=0), local.max(axis=0)), Aabb(world.min(axis=0), world.max(axis=0))),
    ]
    bounds = replace(
        samples.bounds("a", "Rod"),
        translation=move,
        rotation=QUATERNION,
        scale=np.ones(3),
        local=tuple(one for one, _ in both),
        world=tuple(other for _, other in both),
    )
    return bounds, world


def is_inside(shape: dict, kind: str, points: np.ndarray, normalizes: bool) -> bool:
    """Return whether points are within a shape of a document, as a reader of it computes."""
    axis = np.array(shape["axis"])
    if normalizes:
        axis = axis / np.linalg.norm(axis)
    offset = points - shape["center"]
    along = offset @ axis / (axis @ axis)
    half = shape["halfLength"]
    if kind == "capsule":
        away = offset - np.clip(along, -half, half)[:, None] * axis
        return bool((np.linalg.norm(away, axis=1) <= shape["radius"]).all())
    is_long = (np.abs(offset @ axis) <= half).all()
    return bool(is_long and (np.linalg.norm(offset - along[:, None] * axis, axis=1) <= shape["radius"]).all())


@pytest.mark.parametrize("decimals", [3, 6, 9])
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("kind", KINDS)
def test_rounded_shape_encloses_the_vertices_for_every_reader(kind, preset, decimals):
    space = space_for(preset, 0.3)
    for seed in range(times(3, full=9)):
        bounds, world = entry(seed)
        document = samples.document_of([bounds], space, decimals)
        written = document["objects"][0]
        assert list(document_problems(document)) == []
        for normalizes in (True, False):
            assert is_inside(written["world"][kind], kind, space.vectors(world), normalizes)
        turn = rotation_matrix(np.array(written["transform"]["rotation"])[[3, 0, 1, 2]])
        local = (space.vectors(world) - written["transform"]["translation"]) @ turn
        assert is_inside(written["local"][kind], kind, local, True)


@pytest.mark.smoke
@pytest.mark.parametrize("preset", PRESETS)
def test_document_that_is_read_is_written_again_to_the_byte(preset):
    space = space_for(preset, 0.3)
    document = samples.document_of([entry(seed)[0] for seed in range(1)], space)
    contents = read_document(json.loads(json.dumps(document)))
    again = samples.document_of(list(contents.objects), space)
    assert again["objects"] == document["objects"]
    # Through another space, shapes may grow by steps of the last decimal, but not turn.
    other = samples.document_of(list(contents.objects), space_for("unity", 0.3))
    back = samples.document_of(list(read_document(json.loads(json.dumps(other))).objects), space)
    for kind in KINDS:
        one, two = (each["objects"][0]["world"][kind] for each in (document, back))
        assert one["axis"] == two["axis"]
        assert one["radius"] == pytest.approx(two["radius"], rel=1e-4)


class AxialNode(NamedTuple):
    """File with one capsule or cylinder, and the rotation and origin of its node in the world."""

    file: dict[str, Any]
    turn: np.ndarray
    center: np.ndarray


def axial_node(bounds: ObjectBounds, kind: str) -> AxialNode:
    only = {
        name: tuple(shape for shape in getattr(bounds, name) if isinstance(shape, KINDS[kind]))
        for name in ("local", "world")
    }
    file = gltf(samples.document_of([replace(bounds, **only)], space_for("gltf", 1.0)))
    root, child = file["nodes"]
    turns = [
        rotation_matrix(np.array(node.get("rotation", [0, 0, 0, 1]))[[3, 0, 1, 2]]) for node in (root, child)
    ]
    center = np.array(root["translation"]) + turns[0] @ np.array(child.get("translation", [0, 0, 0]))
    return AxialNode(file, turns[0] @ turns[1], center)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_gltf_collider_along_its_y_axis_encloses_the_vertices(kind, seed):
    bounds, world = entry(seed)
    node = axial_node(bounds, kind)
    shape = node.file["extensions"]["KHR_implicit_shapes"]["shapes"][0]
    size = shape[shape["type"]]
    assert shape["type"] == kind and size["height"] > 0 and size["radiusTop"] == size["radiusBottom"] > 0
    node_shape = {
        "center": node.center,
        "axis": node.turn[:, 1],
        "halfLength": size["height"] / 2,
        "radius": size["radiusTop"],
    }
    assert is_inside(node_shape, kind, space_for("gltf", 1.0).vectors(world), True)
    fitted = next(s for s in bounds.world if isinstance(s, KINDS[kind]))
    assert size["radiusTop"] == pytest.approx(float(fitted.radius), rel=1e-4, abs=1.1e-3)


def test_omi_cylinder_also_has_the_radius_that_godot_reads():
    extensions = axial_node(entry(0)[0], "cylinder").file["extensions"]
    (omi,), (khr,) = (extensions[name]["shapes"] for name in ("OMI_physics_shape", "KHR_implicit_shapes"))
    assert omi["type"] == khr["type"] == "cylinder"
    assert omi["cylinder"] == {**khr["cylinder"], "radius": khr["cylinder"]["radiusTop"]}


@pytest.mark.parametrize("seed", range(6))
def test_omi_capsule_is_a_convex_mesh_around_the_vertices_and_hardly_larger(seed):
    """The height of a capsule is that between the centers of its ends; Godot takes it for the whole one."""
    bounds, world = entry(seed)
    node = axial_node(bounds, "capsule")
    assert node.file["extensions"]["OMI_physics_shape"]["shapes"] == [
        {"type": "convex", "convex": {"mesh": 0}}
    ]
    buffer = base64.b64decode(node.file["buffers"][0]["uri"].partition(",")[2])
    vertices = numbers(node.file, buffer, 0).astype(np.float64)
    faces = numbers(node.file, buffer, 1).reshape(-1, 3).tolist()
    assert len(vertices) == 202
    assert_closed(vertices, faces)
    assert_encloses(vertices, faces, (space_for("gltf", 1.0).vectors(world) - node.center) @ node.turn)
    size = node.file["extensions"]["KHR_implicit_shapes"]["shapes"][0]["capsule"]
    half, radius = size["height"] / 2, size["radiusTop"]
    beyond = vertices - np.clip(vertices[:, 1], -half, half)[:, None] * [0, 1, 0]
    assert np.linalg.norm(beyond, axis=1) == pytest.approx(radius / np.cos(np.pi / 20) ** 2, rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_tile_is_a_box_around_the_shape(kind):
    bounds, world = entry(0)
    only = tuple(s for s in bounds.world if isinstance(s, KINDS[kind]))
    document = samples.document_of([replace(bounds, local=only, world=only)], space_for(TILES_SPACE))
    numbers = np.array(tileset(document)["root"]["children"][0]["boundingVolume"]["box"])
    axes = numbers[3:].reshape(3, 3)
    half = np.linalg.norm(axes, axis=1)
    along = np.abs((space_for(TILES_SPACE).vectors(world) - numbers[:3]) @ (axes / half[:, None]).T)
    assert (along <= half).all()


def broken(change) -> list[str]:
    document = copy.deepcopy(samples.document_of([entry(0)[0]], space_for("blender")))
    assert list(document_problems(document)) == []
    change(document["objects"][0])
    return list(document_problems(document))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("group", ["local", "world"])
def test_shape_that_cannot_enclose_the_object_is_found(kind, group):
    def shrink(each: dict) -> None:
        each[group][kind]["halfLength"] *= 0.6

    assert any(f"{group}.{kind}" in problem for problem in broken(shrink))

    def move(each: dict) -> None:
        each[group][kind]["center"][0] += 3

    assert broken(move)


@pytest.mark.parametrize("kind", KINDS)
def test_axis_that_is_no_unit_vector_is_found(kind):
    def stretch(each: dict) -> None:
        each["world"][kind]["axis"] = [0.0, 0.0, 2.0]

    assert broken(stretch) == [f"objects[0].world.{kind}.axis: is not of length 1"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", ["halfLength", "radius"])
def test_negative_size_is_found(kind, key):
    def negate(each: dict) -> None:
        each["world"][kind][key] = -1

    assert any(f"world.{kind}.{key}" in problem for problem in broken(negate))


def test_shape_without_a_rule_of_rounding_is_refused():
    with pytest.raises(TypeError, match="no rounding of Segment"):
        rounded_fields(Segment([[0, 0, 0]], [[0, 0, 1]]), 6)
