"""Convex hulls and sphere trees in documents: rounded outward, in every space, and read back."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from addon.core import (
    ConvexHull,
    Obb,
    SphereTree,
    aabb_from_points,
    hull_from_points,
    obb_from_points,
    sphere_from_points,
)
from addon.core.compound.convex_parts import Compound
from addon.formats import (
    CONVENTIONS,
    document_problems,
    dumps,
    make_document,
    parse_document,
    read_document,
    space_for,
)
from addon.formats.spaces import rounded_hulls
from tests.core.closed import assert_closed, assert_encloses, volume
from tests.formats import samples
from tests.tiers import times

THIRD = 1 / 3
CORNERS = np.array([(x, y, z) for x in (-1.0, THIRD) for y in (-2.0, 2 * THIRD) for z in (-THIRD, 1.0)])
PARTS = CORNERS, CORNERS[:4], CORNERS[4:], CORNERS[4::2], CORNERS[5::2]
SPHERES = [sphere_from_points(part) for part in PARTS]
TREE = SphereTree(
    [sphere.center for sphere in SPHERES],
    [sphere.radius for sphere in SPHERES],
    [(1, 2), (-1, -1), (3, 4), (-1, -1), (-1, -1)],
)
UNTURNED = {"translation": np.zeros(3), "rotation": np.array([1.0, 0.0, 0.0, 0.0])}


def ball_points(count, seed=0):
    points = np.random.default_rng(seed).normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1)[:, None]


def document(preset="blender", decimals=6):
    """Return a document of an object at the origin with all shapes around CORNERS."""
    box, middle = aabb_from_points(CORNERS), CORNERS.mean(axis=0)
    oriented = Obb(middle, box.max - middle, np.eye(3))
    shapes = (box, oriented, SPHERES[0], hull_from_points(CORNERS), TREE)
    entry = replace(samples.bounds("a", "Ball"), local=shapes, world=shapes, **UNTURNED)
    return samples.document_of([entry], space_for(preset, 0.5), decimals)


@pytest.mark.parametrize("decimals", [3, 6, 9])
@pytest.mark.parametrize(("size", "place"), [(1.0, 0.0), (0.01, 3.0), (50.0, 1000.0), (3e-4, 0.0)])
def test_rounded_hull_encloses_original_and_is_closed_and_convex(decimals, size, place):
    points = place + size * ball_points(40)
    hull = hull_from_points(points)
    found = rounded_hulls([hull], decimals)[0]
    np.testing.assert_array_equal(np.round(found.vertices, decimals), found.vertices)
    assert_encloses(found.vertices, found.faces.tolist(), hull.vertices)
    assert_encloses(found.vertices, found.faces.tolist(), points)
    assert_closed(found.vertices, found.faces.tolist())
    assert list(document_problems(document_with_hull(found))) == []
    step = 10.0**-decimals
    if size > 100 * step:
        assert np.abs(found.vertices).max() < np.abs(points).max() + 40 * step + 1e-5 * (size + place)
        assert volume(found.vertices, found.faces) < volume(*hull) * (1 + 200 * step / size)
    again = rounded_hulls([found], decimals)[0]
    np.testing.assert_array_equal(again.vertices, found.vertices)
    np.testing.assert_array_equal(again.faces, found.faces)


@pytest.mark.parametrize(("decimals", "rough"), [(4, 1e-4), (5, 1e-5), (6, 3e-6)])
@pytest.mark.parametrize("seed", range(times(10)))
def test_rounded_hull_of_coarse_decimals_does_not_grow(seed, decimals, rough):
    """Corners are cut off by a few steps: where vertices are that close, rounding can fold a hull."""
    random = np.random.default_rng(seed)
    turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    points = np.concatenate([corners * (1 - rough * (np.arange(3) != k)) for k in range(3)]) @ turn.T
    found = rounded_hulls([hull_from_points(points)], decimals)[0]
    assert 8 * (1 - 3 * rough) <= volume(found.vertices, found.faces) < 8 * (1 + 100 * rough)


def document_with_hull(hull):
    """Return a correct document with this hull as the only shape."""
    entry = samples.document_of([replace(samples.bounds("a", "Ball"), **UNTURNED)], space_for("blender"))
    for group in ("local", "world"):
        entry["objects"][0][group] = {
            "hull": {"vertices": hull.vertices.tolist(), "faces": hull.faces.tolist()}
        }
    return entry


@pytest.mark.parametrize("preset", CONVENTIONS)
@pytest.mark.parametrize("decimals", [3, 6, 9])
def test_hulls_are_counter_clockwise_and_enclose_points_in_every_space(preset, decimals):
    written = document(preset, decimals)
    assert list(document_problems(written)) == []
    # glTF and its readers take a Blender unit as a meter, whatever the unit scale.
    scale = {"blender": 1.0, "gltf": 1.0, "unreal": 50.0}.get(preset, 0.5)
    x, y, z = (CORNERS * scale).T
    there = {"blender": (x, y, z), "gltf": (x, z, -y), "unity": (-x, z, -y), "unreal": (x, -y, z)}[preset]
    hull = ConvexHull(*(np.array(value) for value in written["objects"][0]["world"]["hull"].values()))
    # A box of sides 4/3, 8/3 and 4/3.
    assert volume(*hull) == pytest.approx(128 / 27 * scale**3, rel=0.05)
    assert_encloses(hull.vertices, hull.faces.tolist(), np.stack(there, axis=1))


@pytest.mark.parametrize("preset", CONVENTIONS)
@pytest.mark.parametrize("decimals", [3, 6, 9])
def test_hulls_and_trees_are_unchanged_when_read_and_written(preset, decimals):
    text = dumps(document(preset, decimals))
    reading = read_document(parse_document(text))
    space = space_for(preset, reading.scale_length)
    again = make_document(reading, space, decimals)
    assert dumps(again).splitlines() == text.splitlines()
    (hull,) = (shape for shape in reading.objects[0].world if isinstance(shape, ConvexHull))
    # In Blender's space, which is right-handed again.
    assert volume(*hull) > 0
    assert_encloses(hull.vertices, hull.faces.tolist(), CORNERS)
    (tree,) = (shape for shape in reading.objects[0].world if isinstance(shape, SphereTree))
    assert tree.children.tolist() == TREE.children.tolist()
    np.testing.assert_allclose(tree.center, TREE.center, atol=2 * 10.0**-decimals)
    away = np.linalg.norm(tree.center - TREE.center, axis=1)
    assert (away + TREE.radius <= tree.radius + 1e-12).all()


@pytest.mark.smoke
def test_keys_have_order_and_leaves_have_no_children():
    world = document()["objects"][0]["world"]
    assert list(world) == ["aabb", "hull", "obb", "sphere", "spheres"]
    assert [node["children"] for node in world["spheres"]] == [[1, 2], [], [3, 4], [], []]
    assert list(world["spheres"][0]) == ["center", "radius", "children"]


def broken_hull(document):
    return document["objects"][0]["world"]["hull"]


def flipped(document):
    hull = broken_hull(document)
    hull["faces"] = [face[::-1] for face in hull["faces"]]


def open_surface(document):
    broken_hull(document)["faces"].pop()


def dented(document):
    hull = broken_hull(document)
    hull["vertices"][0] = np.mean(hull["vertices"], axis=0).tolist()


def no_such_vertex(document):
    broken_hull(document)["faces"][0][0] = 99


def one_face_flipped(document):
    broken_hull(document)["faces"][0].reverse()


def backwards(document):
    document["objects"][0]["world"]["spheres"][2]["children"] = [0, 4]


def two_parents(document):
    document["objects"][0]["world"]["spheres"][2]["children"] = [1, 4]


def beyond(document):
    document["objects"][0]["world"]["spheres"][2]["children"] = [3, 5]


def only_child(document):
    document["objects"][0]["world"]["spheres"][0]["children"] = [1]


def no_such_vertex_by_far(document):
    broken_hull(document)["faces"][0][0] = 1e30


def unused_vertex(document):
    broken_hull(document)["vertices"].append([99, 99, 99])


def two_pieces(document):
    """Add the same hull again, with other vertices."""
    hull = broken_hull(document)
    count = len(hull["vertices"])
    hull["vertices"] += hull["vertices"]
    hull["faces"] += [[index + count for index in face] for face in hull["faces"]]


def pinched(document):
    """Add a tetrahedron that shares one vertex."""
    hull = broken_hull(document)
    count = len(hull["vertices"])
    hull["vertices"] += [[9, 0, 0], [9, 1, 0], [9, 0, 1]]
    one, two, three = range(count, count + 3)
    hull["faces"] += [[0, two, one], [0, three, two], [0, one, three], [one, two, three]]


def wound_twice(document):
    """Replace the hull by a bipyramid whose eight sides go around its four edges twice."""
    ring = [[np.cos(turn), np.sin(turn), 0.0] for turn in np.arange(8) * np.pi / 2]
    broken_hull(document)["vertices"] = [*np.round(ring, 6).tolist(), [0, 0, 1], [0, 0, -1]]
    sides = [(k, (k + 1) % 8) for k in range(8)]
    broken_hull(document)["faces"] = [[a, b, 8] for a, b in sides] + [[b, a, 9] for a, b in sides]


def depth_first(document):
    """Reorder the nodes, which have the same children as before."""
    tree = document["objects"][0]["world"]["spheres"]
    tree[0]["children"], tree[1], tree[4] = [1, 4], {**tree[2], "children": [2, 3]}, tree[1]
    tree[2] = tree[3]


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        (no_such_vertex_by_far, "world.hull.faces: refer to vertex 1e+30 of 8"),
        (unused_vertex, "world.hull.vertices: vertex 8 is in no face"),
        (two_pieces, "world.hull.faces: are several surfaces"),
        (pinched, "world.hull.faces: are not a surface like that of a ball"),
        (wound_twice, "world.hull.faces: cover the hull 2 times"),
        (depth_first, "world.spheres: nodes are not breadth-first"),
        (flipped, "world.hull.faces: are clockwise"),
        (open_surface, "world.hull.faces: are not a closed surface"),
        (one_face_flipped, "world.hull.faces: are not a closed surface"),
        (dented, "world.hull.faces: are not convex"),
        (no_such_vertex, "world.hull.faces: refer to vertex 99 of 8"),
        (backwards, r"world.spheres[2].children: 0 is not the index of a later node"),
        (two_parents, "world.spheres: each node except the root must be the child of exactly one node"),
        (beyond, r"world.spheres[2].children: 5 is not the index of a later node"),
        (only_child, r"world.spheres[0].children: must be two, or none"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_inconsistent_hulls_and_trees_are_refused(broken, expected):
    wrong = json.loads(dumps(document()))
    assert list(document_problems(wrong)) == []
    broken(wrong)
    assert any(f"objects[0].{expected}" in problem for problem in document_problems(wrong))


def grid_of_ball(count):
    """Return the vertices and faces of a ball of latitudes and twice as many longitudes."""
    turns = np.pi * np.arange(2 * count) / count
    polar = np.pi * np.arange(1, count)[:, None] / count
    rings = np.sin(polar) * np.cos(turns), np.sin(polar) * np.sin(turns), np.cos(polar) + 0 * turns
    vertices = np.concatenate([[[0, 0, 1]], np.stack(rings, axis=-1).reshape(-1, 3), [[0, 0, -1]]])
    here = np.arange(2 * count)
    after, zeros = (here + 1) % (2 * count), 0 * here
    faces = [np.stack([zeros, 1 + here, 1 + after], axis=1)]
    for first in range(1, 1 + (count - 2) * 2 * count, 2 * count):
        a, b, c, d = first + here, first + after, first + 2 * count + here, first + 2 * count + after
        faces += [np.stack([a, c, b], axis=1), np.stack([b, c, d], axis=1)]
    last = 1 + (count - 2) * 2 * count
    faces.append(np.stack([zeros + len(vertices) - 1, last + after, last + here], axis=1))
    return vertices, np.concatenate(faces)


@pytest.mark.parametrize("count", [10, pytest.param(50, marks=pytest.mark.long)])
def test_hull_of_many_vertices_is_tested_in_bounded_memory(count):
    """All products of 5,000 vertices and 10,000 faces at once would take 400 MB."""
    vertices, faces = grid_of_ball(count)
    entry = document_with_hull(ConvexHull(vertices, faces))
    tracemalloc.start()
    try:
        assert list(document_problems(entry)) == []
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()
    vertices[5] *= 0.99
    entry = document_with_hull(ConvexHull(vertices, faces))
    assert "objects[0].world.hull.faces: are not convex" in document_problems(entry)


def test_boxes_in_compounds_have_unit_quaternions():
    entry = samples.bounds("a", "Ball", rotation=(1.0, 0.0, 0.0, 0.0))
    parts = (Compound((obb_from_points(CORNERS),)),)
    entry = replace(entry, translation=np.zeros(3), local=parts, world=parts)
    changed = json.loads(dumps(samples.document_of([entry], space_for("blender"))))
    assert list(document_problems(changed)) == []
    for group in ("local", "world"):
        changed["objects"][0][group]["compound"][0]["obb"]["rotation"] = [0.0, 0.0, 0.0, 2.0]
    assert list(document_problems(changed)) == [
        f"objects[0].{group}.compound[0].obb.rotation: is not a unit quaternion"
        for group in ("local", "world")
    ]
