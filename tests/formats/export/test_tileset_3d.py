"""3D Tiles: volumes enclose the document's shapes, and the root encloses all volumes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from addon.core.numeric.arrays import rotation_matrix
from addon.formats import space_for
from addon.formats.export.tileset_3d import TILES_SPACE, TilesetError, tileset
from tests.formats import samples


def document(*shapes: str, count: int = 4):
    entries = [samples.bounds(str(k), f"Object {k}", shift=7.3 * k - 1e3 / 7) for k in range(count)]
    made = samples.document_of(entries, space_for(TILES_SPACE, 0.3))
    for entry in made["objects"]:
        entry["world"] = {shape: entry["world"][shape] for shape in shapes}
    return made


def holds(volume, points) -> bool:
    """Return whether all points are inside a volume, in exact arithmetic; for boxes by Cramer's rule."""
    if "sphere" in volume:
        *center, radius = (Fraction(value) for value in volume["sphere"])
        return all(
            sum((Fraction(p) - c) ** 2 for p, c in zip(q, center, strict=True)) <= radius**2 for q in points
        )
    numbers = [Fraction(value) for value in volume["box"]]
    center, axes = numbers[:3], [numbers[3 + 3 * k : 6 + 3 * k] for k in range(3)]
    whole = determinant(axes)
    for point in points:
        away = [Fraction(float(p)) - c for p, c in zip(point, center, strict=True)]
        for k in range(3):
            part = determinant([away if k == row else axes[row] for row in range(3)])
            if abs(part) > abs(whole):
                return False
    return True


def determinant(rows):
    (a, b, c), (d, e, f), (g, h, i) = rows
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def corners(shape):
    if "min" in shape:
        low, high = shape["min"], shape["max"]
        return [[(low, high)[k >> axis & 1][axis] for axis in range(3)] for k in range(8)]
    x, y, z, w = shape["rotation"]
    signs = np.array([[1 if k >> axis & 1 else -1 for axis in range(3)] for k in range(8)])
    return (signs * shape["halfExtents"]) @ rotation_matrix([w, x, y, z]).T + shape["center"]


@pytest.mark.parametrize("shape", ["aabb", "obb"])
def test_boxes_enclose_corners_of_document(shape):
    source = document(shape)
    made = tileset(source)
    for tile, entry in zip(made["root"]["children"], source["objects"], strict=True):
        assert holds(tile["boundingVolume"], corners(entry["world"][shape]))
        # The boxes exceed the shapes by a trillionth at most.
        half = np.array(tile["boundingVolume"]["box"][3:]).reshape(3, 3)
        expected = (
            entry["world"][shape].get("halfExtents")
            or np.subtract(entry["world"][shape]["max"], entry["world"][shape]["min"]) / 2
        )
        np.testing.assert_allclose(np.linalg.norm(half, axis=1), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shapes", [("aabb",), ("obb",), ("sphere",), ("aabb", "obb", "sphere")])
def test_root_encloses_children(shapes):
    made = tileset(document(*shapes))
    root = made["root"]["boundingVolume"]
    for tile in made["root"]["children"]:
        volume = tile["boundingVolume"]
        if "sphere" in volume:
            *center, radius = (Fraction(value) for value in volume["sphere"])
            ends = [
                [c + side * radius * (k == axis) for k, c in enumerate(center)]
                for axis in range(3)
                for side in (-1, 1)
            ]
            numbers = [Fraction(value) for value in root["box"]]
            for end in ends:
                assert all(abs(end[k] - numbers[k]) <= numbers[3 + 4 * k] for k in range(3))
        else:
            numbers = np.array(volume["box"])
            signs = np.array([[1 if k >> axis & 1 else -1 for axis in range(3)] for k in range(8)])
            assert holds(root, numbers[:3] + signs @ numbers[3:].reshape(3, 3))


def test_sphere_matches_document():
    source = document("sphere")
    for tile, entry in zip(tileset(source)["root"]["children"], source["objects"], strict=True):
        ball = entry["world"]["sphere"]
        assert tile["boundingVolume"]["sphere"] == [*ball["center"], ball["radius"]]
        assert tile["extras"] == {"name": entry["name"], "id": entry["id"]}


def test_flat_boxes_stay_flat():
    source = document("aabb", count=1)
    source["objects"][0]["world"]["aabb"] = {"min": [0, 0, 2], "max": [1, 3, 2]}
    (tile,) = tileset(source)["root"]["children"]
    assert tile["boundingVolume"]["box"] == [0.5, 1.5, 2, 0.5, 0, 0, 0, 1.5, 0, 0, 0, 0]


@pytest.mark.smoke
def test_required_properties_of_specification_are_present():
    made = tileset(document("aabb"))
    assert made["asset"] == {"version": "1.1"}
    assert made["geometricError"] >= made["root"]["geometricError"] > 0
    assert made["root"]["refine"] == "ADD"
    assert all(tile["geometricError"] == 0 for tile in made["root"]["children"])


def test_other_spaces_and_empty_documents_are_refused():
    with pytest.raises(TilesetError, match="Z up"):
        tileset(samples.document("gltf"))
    with pytest.raises(TilesetError, match="need at least one object with bounds"):
        tileset(document(count=3))
