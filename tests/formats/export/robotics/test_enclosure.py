"""Shapes of URDF, MJCF and cuRobo enclose the points of their objects, in hierarchies and far away too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from addon.core.numeric.arrays import UNIT_BOX_CORNERS
from tests.formats.export.robotics.robot_files import (
    SHAPES,
    Part,
    distance_tolerance,
    document_of_parts,
    nested_parts,
    read_mjcf,
    read_spheres,
    read_urdf,
    text_of,
    union_outside,
)
from tests.tiers import times

READERS = {"urdf": read_urdf, "mjcf": read_mjcf}
PAIRS = [(name, shape) for name in READERS for shape in SHAPES if (name, shape) != ("urdf", "hull")]


def assert_encloses(name: str, shape: str, parts: list[Part], decimals: int, looseness: float) -> None:
    """Check that no point is outside, and that one is near the surface, except for sphere trees."""
    solids, parents = READERS[name](text_of(document_of_parts(parts, shape, decimals=decimals), name))
    for part in parts:
        points = part.world_points()
        outside = union_outside(solids[part.name], points)
        assert outside.max() <= distance_tolerance(points), (part.name, outside.max())
        if shape != "spheres":
            assert outside.max() >= -looseness, (part.name, outside.max())
        assert parents[part.name] == (part.parent or "world")


@pytest.mark.parametrize(("name", "shape"), PAIRS)
@pytest.mark.parametrize("seed", range(times(3)))
def test_shapes_enclose_points_of_nested_objects(name, shape, seed):
    # Hulls have room for the single precision of MuJoCo.
    assert_encloses(name, shape, nested_parts(seed), 6, looseness=1e-5 if shape != "hull" else 5e-5)


@pytest.mark.parametrize(("name", "shape"), [pair for pair in PAIRS if pair[1] in ("sphere", "obb", "aabb")])
def test_shapes_enclose_points_of_nested_objects_that_are_far_apart(name, shape):
    # At this distance, each product of two poses is wrong by about 1e-9.
    assert_encloses(name, shape, nested_parts(5, count=12, far=1e6, size=1e-3), 9, looseness=1e-6)


@pytest.mark.parametrize("shape", ["sphere", "spheres"])
def test_spheres_are_in_the_frames_of_the_links_of_the_urdf(shape):
    parts = nested_parts(7)
    document = document_of_parts(parts, shape)
    spheres = read_spheres(text_of(document, "curobo"))
    solids, _ = read_urdf(text_of(document, "urdf"))
    entries = {entry["id"]: entry["world"][shape] for entry in document["objects"]}
    for part in parts:
        found, numbers = spheres[part.name], entries[part.name]
        count = 1 if shape == "sphere" else sum(not node["children"] for node in numbers)
        assert len(found) == len(solids[part.name]) == count and (shape == "sphere" or count > 5)
        # The link's frame is the object's own, so the local points are in it.
        outside = np.min([np.linalg.norm(part.points - row[:3], axis=1) - row[3] for row in found], axis=0)
        assert outside.max() <= 1e-9 + 1e-6
        for row, solid in zip(found, solids[part.name], strict=True):
            assert solid.sizes == (row[3],)


@pytest.mark.parametrize("name", ["urdf", "mjcf"])
def test_unit_of_the_scene_is_applied(name):
    parts = nested_parts(3)
    solids, _ = READERS[name](text_of(document_of_parts(parts, "obb", scale_length=0.01), name))
    for part in parts:
        outside = union_outside(solids[part.name], part.world_points() / 100)
        assert -1e-5 <= outside.max() <= 1e-12


def corners_of(entry: dict, shape: str, origin: np.ndarray) -> np.ndarray:
    """Corners (8, 3) of an oriented box of a document, or the center (1, 3) of a sphere, as long doubles.

    Relative to an origin, because long doubles lose digits far away too.
    """
    numbers = {key: np.array(value, dtype=np.longdouble) for key, value in entry["world"][shape].items()}
    if shape == "sphere":
        return numbers["center"][None] - origin
    x, y, z, w = numbers["rotation"]
    scale = 2 / (x * x + y * y + z * z + w * w)
    axes = np.array(
        [
            (1 - scale * (y * y + z * z), scale * (x * y - w * z), scale * (x * z + w * y)),
            (scale * (x * y + w * z), 1 - scale * (x * x + z * z), scale * (y * z - w * x)),
            (scale * (x * z - w * y), scale * (y * z + w * x), 1 - scale * (x * x + y * y)),
        ]
    )
    return (numbers["center"] - origin) + (UNIT_BOX_CORNERS * numbers["halfExtents"]) @ axes.T


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="needs numbers with more digits than float64")
@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("shape", ["sphere", "obb"])
@pytest.mark.parametrize("far", [1e6, 1e-3])
def test_shapes_grow_by_the_errors_of_readers_that_multiply_poses(name, shape, far):
    document = document_of_parts(nested_parts(9, count=24, far=far, size=1e-3), shape, decimals=9)
    solids, _ = READERS[name](text_of(document, name))
    for entry in document["objects"]:
        (solid,) = solids[entry["name"]]
        local = corners_of(entry, shape, solid.translation) @ solid.rotation.astype(np.longdouble)
        if shape == "sphere":
            outside = np.sqrt((local**2).sum()) + entry["world"]["sphere"]["radius"] - solid.sizes[0]
        else:
            outside = (np.abs(local) - solid.sizes).max()
        assert -1e-6 < outside <= 0, (entry["name"], outside)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("seed", range(times(20)))
def test_boxes_grow_by_the_rounding_of_the_rotation(name, seed):
    # The quaternions of a document have nine decimals, so corners at 1e5 m can be wrong by 1e-4 m.
    quaternion = np.random.default_rng(seed).normal(size=4)
    (part,) = nested_parts(seed, count=1, size=1e5)
    part = replace(part, rotation=quaternion / np.linalg.norm(quaternion))
    solids, _ = READERS[name](text_of(document_of_parts([part], "aabb", decimals=9), name))
    outside = union_outside(solids[part.name], part.world_points())
    assert -1e-2 < outside.max() <= distance_tolerance(part.world_points())
