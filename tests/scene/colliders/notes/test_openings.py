"""Sentences about filled openings: volumes by formulas, pieces that are joined, and none for solid props."""

from __future__ import annotations

import re
from itertools import product

import bmesh
import bpy
import numpy as np
import pytest

from addon.scene.colliders.containment import ObjectSurface
from addon.scene.colliders.openings import certain_volume, separate_pieces
from tests.scene.building import CUBE_FACES, add_vertices
from tests.scene.colliders.checking import add_cube, check
from tests.scene.colliders.creating import create_colliders

pytestmark = pytest.mark.usefixtures("object_settings")


def add_boxes(name: str, *boxes: tuple[object, object], **attributes: object) -> bpy.types.Object:
    """Add a mesh of closed boxes whose faces face outward, each from a lower to an upper corner."""
    points = [point for low, high in boxes for point in product(*zip(low, high, strict=True))]
    faces = [tuple(8 * k + corner for corner in face) for k in range(len(boxes)) for face in CUBE_FACES]
    return add_vertices(name, points, faces, **attributes)


def add_extruded(name: str, outline: list[tuple[float, float]], depth: float) -> bpy.types.Object:
    """Add one closed mesh: an outline in X and Z, possibly concave, extruded along Y."""
    count = len(outline)
    points = [(x, y, z) for y in (0, depth) for x, z in outline]
    sides = [(k, (k + 1) % count, count + (k + 1) % count, count + k) for k in range(count)]
    faces = [*sides, tuple(reversed(range(count))), tuple(range(count, 2 * count))]
    return add_vertices(name, points, faces)


def add_frame(name: str, outer: float, inner: float, depth: float) -> bpy.types.Object:
    """Add one closed mesh: a square frame around a square window."""
    squares = [
        [(s, 0, s), (e, 0, s), (e, 0, e), (s, 0, e)] for s, e in ((0, outer), ((outer - inner) / 2,) * 2)
    ]
    low, high = (outer - inner) / 2, (outer + inner) / 2
    squares[1] = [(low, 0, low), (high, 0, low), (high, 0, high), (low, 0, high)]
    front = [point for square in squares for point in square]
    points = front + [(x, depth, z) for x, _, z in front]
    faces = []
    for k in range(4):
        n = (k + 1) % 4
        faces += [(k, n, 4 + n, 4 + k), (8 + n, 8 + k, 12 + k, 12 + n)]
        faces += [(n, k, 8 + k, 8 + n), (4 + k, 4 + n, 12 + n, 12 + k)]
    return add_vertices(name, points, faces)


ARCH = [(0, 0), (1, 0), (1, 2), (3, 2), (3, 0), (4, 0), (4, 3), (0, 3)]
WALL = (((0, 0, 0), (1.5, 0.2, 3)), ((2.5, 0, 0), (4, 0.2, 3)), ((1.5, 0, 2.1), (2.5, 0.2, 3)))
TABLE = (
    ((0, 0, 1.0), (2, 1, 1.1)),
    *(((x, y, 0), (x + 0.1, y + 0.1, 1.0)) for x in (0, 1.9) for y in (0, 0.9)),
)
CHAIR = (
    ((0, 0, 0.45), (0.5, 0.5, 0.5)),
    *(((x, y, 0), (x + 0.05, y + 0.05, 0.45)) for x in (0, 0.45) for y in (0, 0.45)),
    ((0, 0.45, 0.5), (0.5, 0.5, 1.0)),
)


@pytest.mark.smoke
@pytest.mark.parametrize("kind", ["box", "hull"])
def test_openings_of_props_are_named_with_the_ratio_of_volumes(kind):
    add_extruded("Arch", ARCH, 0.5)
    add_frame("Frame", 2.0, 1.5, 0.1)
    add_boxes("Table", *TABLE)
    add_boxes("Chair", *CHAIR)
    add_boxes("Wall", *WALL)
    create_colliders(kind=kind)
    chair = 0.5 * 0.5 * 0.05 + 4 * 0.05**2 * 0.45 + 0.5 * 0.05 * 0.5
    # The hull of the chair slopes from its seat to the top of its back.
    around = 1.0 * 0.5 * 0.5 - (0.0 if kind == "box" else 0.5 * 0.45 / 2 * 0.5)
    expected = {
        "Arch": 6.0 / 4.0,
        "Frame": 4 / (4 - 1.5**2),
        "Table": 2.2 / (0.2 + 4 * 0.01),
        "Chair": around / chair,
        "Wall": 12 * 0.2 / (12 * 0.2 - 2.1 * 0.2),
    }
    found = check()
    assert found.problems == () and len(found.notes) == 5
    for note in found.notes:
        assert note.kind == "filled" and note.text.endswith("raise Parts to leave them open")
        (ratio,) = re.findall(r"has ([\d.]+) times its volume", note.text)
        name = note.name.split("_")[1]
        assert float(ratio) == pytest.approx(expected[name], rel=0.05), name


def add_rock(name: str) -> None:
    mesh = bmesh.new()
    bmesh.ops.create_icosphere(mesh, subdivisions=3, radius=1.0)
    random = np.random.default_rng(3)
    points = [np.array(v.co) * (1 + random.uniform(-0.03, 0.03)) for v in mesh.verts]
    faces = [tuple(v.index for v in face.verts) for face in mesh.faces]
    mesh.free()
    add_vertices(name, points, faces)


def add_lathe(name: str, profile: list[tuple[float, float]]) -> None:
    """Add a closed body of revolution, from heights and radii."""
    angles = np.arange(24) * (2 * np.pi / 24)
    points = [(r * np.cos(a), r * np.sin(a), z) for z, r in profile for a in angles]
    faces = [
        (24 * ring + k, 24 * ring + (k + 1) % 24, 24 * (ring + 1) + (k + 1) % 24, 24 * (ring + 1) + k)
        for ring in range(len(profile) - 1)
        for k in range(24)
    ]
    last = 24 * (len(profile) - 1)
    faces += [tuple(reversed(range(24))), tuple(range(last, last + 24))]
    add_vertices(name, points, faces)


@pytest.mark.parametrize("kind", ["box", "hull", "sphere", "capsule"])
def test_solid_and_nearly_convex_props_have_no_note(kind):
    add_rock("Rock")
    add_lathe("Keg", [(0, 0.3), (0.03, 0.3), (0.03, 0.28), (0.5, 0.36), (0.97, 0.28), (0.97, 0.3), (1, 0.3)])
    add_lathe("Cone", [(0, 0.5), (1.5, 0.01)])
    # Planks around a crate whose sides are 2 % of its size deeper.
    add_boxes(
        "Crate", ((0.02, 0.02, 0.02), (0.98, 0.98, 0.98)), ((0, 0, 0), (1, 1, 0.1)), ((0, 0, 0.9), (1, 1, 1))
    )
    add_cube("Box")
    create_colliders(kind=kind)
    found = check()
    assert found.problems == () and found.notes == ()


def test_volume_is_not_named_where_it_is_unknown():
    # Open, and overlapping: legs that go into the top.
    add_boxes("Table", TABLE[0], *((low, (*high[:2], 1.05)) for low, high in TABLE[1:]))
    frame = [(0, 0, 0), (4, 0, 0), (4, 0, 4), (0, 0, 4), (1, 0, 1), (3, 0, 1), (3, 0, 3), (1, 0, 3)]
    add_vertices("Frame", frame, [(0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)])
    create_colliders(kind="box")
    notes = check().notes
    assert len(notes) == 2 and not any("times" in note.text for note in notes)


def test_volume_of_several_colliders_is_not_compared():
    wall = add_boxes("Wall", *WALL)
    add_boxes("UBX_Wall_00", ((0, 0, 0), (4, 0.2, 3)), parent=wall)
    assert "times" in check().notes[0].text
    add_boxes("UBX_Wall_01", ((0, 0, 0), (1, 0.2, 1)), parent=wall)
    assert "times" not in check().notes[0].text


def test_pieces_that_a_collider_joins_are_counted():
    add_boxes("Pillars", *(((x, 0, 0), (x + 0.5, 0.5, 3)) for x in (0, 2, 4)))
    create_colliders(kind="hull")
    (note,) = check().notes
    assert note.text.startswith("fills the gaps between 3 pieces of its mesh, up to 0.7")
    assert "and has 3 times its volume" in note.text


def surface(*boxes: tuple[object, object], matrix: np.ndarray | None = None) -> ObjectSurface:
    item = add_boxes("Pieces", *boxes)
    mesh = item.data
    mesh.calc_loop_triangles()
    points = np.array([vertex.co[:] for vertex in mesh.vertices], dtype=np.float64)
    triangles = np.array([triangle.vertices[:] for triangle in mesh.loop_triangles], dtype=np.int64)
    return ObjectSurface(
        points, triangles, np.empty((0, 2), np.int64), np.eye(4) if matrix is None else matrix
    )


def test_volume_is_of_the_world_and_none_for_pieces_that_may_overlap():
    unit = ((0, 0, 0), (1, 1, 1))
    scaled = np.diag([2.0, 3.0, -1.0, 1.0])
    assert certain_volume(surface(unit, ((1, 0, 0), (2, 1, 1)), matrix=scaled)) == pytest.approx(12)
    assert certain_volume(surface(unit, ((0.9, 0, 0), (2, 1, 1)))) is None
    item = surface(unit)
    assert certain_volume(ObjectSurface(item.local, item.triangles[1:], item.edges, item.matrix)) is None


def test_pieces_whose_boxes_touch_are_one():
    def count(*boxes: tuple[object, object]) -> int:
        return len(separate_pieces(surface(*boxes)))

    unit = ((0, 0, 0), (1, 1, 1))
    assert count(unit) == 1
    assert count(unit, ((1, 0, 0), (2, 1, 1))) == 1
    assert count(unit, ((1.01, 0, 0), (2, 1, 1))) == 2
    # A long one touches both, which are apart.
    assert count(unit, ((3, 0, 0), (4, 1, 1)), ((0, 0, 1), (4, 1, 2))) == 1
