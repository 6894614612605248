"""Bounds of Unity and Unreal: they enclose the shapes of the document, in exact arithmetic."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from addon.formats import space_for
from addon.formats.export.engine_bounds import EngineBoundsError, unity_bounds, unreal_bounds
from addon.formats.file_formats import file_text
from tests.formats import samples

PLACES = ("world", "local")


def document(preset: str):
    entries = [samples.bounds(str(k), f"Object {k}", shift=7.3 * k - 1e4 / 7) for k in range(5)]
    return samples.document_of(entries, space_for(preset, 0.3))


def with_world(preset: str, world: dict):
    made = document(preset)
    made["objects"] = made["objects"][:1]
    made["objects"][0]["world"] = world
    return made


def exact(vector: dict[str, float]) -> list[Fraction]:
    return [Fraction(value) for value in vector.values()]


def pairs(source, made):
    for entry, found in zip(source["objects"], made["bounds"], strict=True):
        assert (found["id"], found["name"], found["parent"]) == (entry["id"], entry["name"], entry["parent"])
        for place in PLACES:
            yield entry[place], found[place]


def test_unity_box_encloses_original_in_single_precision():
    source = document("unity")
    for shapes, found in pairs(source, unity_bounds(source)):
        assert list(found) == ["m_Center", "m_Extent"] and list(found["m_Center"]) == ["x", "y", "z"]
        center, extent = (np.array([*found[key].values()], np.float32) for key in found)
        # The written numbers are exact in single precision.
        assert center.tolist() == [*found["m_Center"].values()]
        assert extent.tolist() == [*found["m_Extent"].values()]
        low, high = shapes["aabb"]["min"], shapes["aabb"]["max"]
        for k, (c, e) in enumerate(zip(exact(found["m_Center"]), exact(found["m_Extent"]), strict=True)):
            assert c - e <= Fraction(low[k]) and Fraction(high[k]) <= c + e
        assert ((center - extent).astype(np.float64) <= low).all()
        assert ((center + extent).astype(np.float64) >= high).all()
        # Three roundings of a coordinate to 24 binary digits: the box is no larger.
        spare = 2 * extent.astype(np.float64) - np.subtract(high, low)
        assert (spare <= 4 * 2.0**-23 * np.maximum(np.abs(low), np.abs(high))).all()


def test_unreal_box_and_sphere_share_origin_and_enclose_intersection():
    source = document("unreal")
    for shapes, found in pairs(source, unreal_bounds(source)):
        assert list(found) == ["Origin", "BoxExtent", "SphereRadius"]
        center, extent, radius = exact(found["Origin"]), exact(found["BoxExtent"]), found["SphereRadius"]
        low, high = ([Fraction(v) for v in shapes["aabb"][key]] for key in ("min", "max"))
        for k in range(3):
            assert center[k] - extent[k] <= low[k] and high[k] <= center[k] + extent[k]
            assert float(2 * extent[k] - (high[k] - low[k])) <= 1e-9
        ball = [Fraction(v) for v in shapes["sphere"]["center"]]
        away = sum((a - b) ** 2 for a, b in zip(ball, center, strict=True))
        corner = sum(e**2 for e in extent)
        spare = Fraction(radius) - Fraction(shapes["sphere"]["radius"])
        holds_ball, holds_corners = spare >= 0 and spare**2 >= away, Fraction(radius) ** 2 >= corner
        assert holds_ball or holds_corners
        shorter = min(float(corner) ** 0.5, float(away) ** 0.5 + shapes["sphere"]["radius"])
        assert radius == pytest.approx(shorter, rel=1e-14)


@pytest.mark.parametrize(
    ("ball", "radius"),
    [
        # Half the diagonal of a box of 2 x 4 x 4 is 3; the ball around its center has 2.5.
        ({"center": [1, 2, 3], "radius": 2.5}, 2.5),
        # 1 away from it, 2.5 + 1 is more than the distance of the corners.
        ({"center": [2, 2, 3], "radius": 2.5}, 3.0),
        ({"center": [1, 2, 3.25], "radius": 2.5}, 2.75),
        (None, 3.0),
    ],
)
def test_radius_is_recomputed_around_center_of_box(ball, radius):
    world = {"aabb": {"min": [0, 0, 1], "max": [2, 4, 5]}} | ({"sphere": ball} if ball else {})
    (found,) = unreal_bounds(with_world("unreal", world))["bounds"]
    assert found["world"]["Origin"] == {"X": 1, "Y": 2, "Z": 3}
    assert found["world"]["BoxExtent"] == {"X": 1, "Y": 2, "Z": 2}
    assert radius <= found["world"]["SphereRadius"] == pytest.approx(radius, rel=1e-14)


def test_sphere_without_box_gets_box_around_it():
    world = {"sphere": {"center": [1, 2, 3], "radius": 0.5}}
    (found,) = unity_bounds(with_world("unity", world))["bounds"]
    assert found["world"] == {
        "m_Center": {"x": 1, "y": 2, "z": 3},
        "m_Extent": {"x": 0.5, "y": 0.5, "z": 0.5},
    }
    (found,) = unreal_bounds(with_world("unreal", world))["bounds"]
    assert found["world"]["BoxExtent"] == {"X": 0.5, "Y": 0.5, "Z": 0.5}
    assert found["world"]["SphereRadius"] == 0.5


def test_point_has_no_size_and_simple_box_is_exact():
    for low, high in (([0.1, 7, -3], [0.1, 7, -3]), ([-0.5, 0, 1], [1.5, 8, 1])):
        world = {"aabb": {"min": low, "max": high}}
        (found,) = unreal_bounds(with_world("unreal", world))["bounds"]
        half = [(b - a) / 2 for a, b in zip(low, high, strict=True)]
        assert [*found["world"]["BoxExtent"].values()] == half
        assert found["world"]["SphereRadius"] == pytest.approx(sum(h * h for h in half) ** 0.5, rel=1e-15)
    (found,) = unity_bounds(with_world("unity", world))["bounds"]
    assert [*found["world"]["m_Extent"].values()] == half


@pytest.mark.parametrize("seed", range(20))
def test_recomputed_sphere_encloses_points_in_box_and_sphere(seed):
    random = np.random.default_rng(seed)
    points = random.normal(size=(60, 3)) * random.uniform(1e-3, 1e3, 3) + random.normal(size=3) * 1e3
    center = points.mean(axis=0)
    radius = float(np.linalg.norm(points - center, axis=1).max()) * (1 + 1e-12)
    world = {
        "aabb": {"min": points.min(axis=0).tolist(), "max": points.max(axis=0).tolist()},
        "sphere": {"center": center.tolist(), "radius": radius},
    }
    (found,) = unreal_bounds(with_world("unreal", world))["bounds"]
    origin, reach = exact(found["world"]["Origin"]), Fraction(found["world"]["SphereRadius"])
    for point in points.tolist():
        assert sum((Fraction(p) - o) ** 2 for p, o in zip(point, origin, strict=True)) <= reach**2


def test_envelopes_are_written():
    made = unreal_bounds(samples.document_with_tracks("unreal"))["bounds"]
    (ball,) = [entry for entry in made if entry["id"] == "a"]
    # Half a meter per Blender unit, in centimeters: from -1, -7/3, -2 to 7/3, 2, 5, with y reversed.
    assert [*ball["envelope"]["Origin"].values()] == pytest.approx([100 / 3, 25 / 3, 75], abs=1e-5)
    assert [*ball["envelope"]["BoxExtent"].values()] == pytest.approx([250 / 3, 325 / 3, 175], abs=1e-5)
    assert "envelope" not in next(entry for entry in made if entry["id"] == "b")


@pytest.mark.parametrize("engine", ["unity", "unreal"])
def test_file_is_json_with_its_source(engine):
    source = document(engine)
    read = json.loads("".join(file_text(source, engine)))
    assert read["source"] == source["source"] and read["unit"] == source["space"]["unit"]
    assert read["frame"] == source["time"]["referenceFrame"]
    assert len(read["bounds"]) == 5


@pytest.mark.parametrize(("make", "other"), [(unity_bounds, "unreal"), (unreal_bounds, "unity")])
def test_other_spaces_and_empty_documents_are_refused(make, other):
    with pytest.raises(EngineBoundsError, match="in the space of"):
        make(document(other))
    engine = {"unreal": "unity", "unity": "unreal"}[other]
    with pytest.raises(EngineBoundsError, match="need an axis-aligned box or a sphere"):
        make(with_world(engine, {"obb": document(engine)["objects"][0]["world"]["obb"]}))


@pytest.mark.smoke
def test_small_box_far_away_is_enclosed_in_single_precision():
    # At 100 km numbers of single precision are 8 mm apart.
    low, high = [100000.001, -99999.999, 0.1], [100000.002, -99999.99, 0.3]
    (found,) = unity_bounds(with_world("unity", {"aabb": {"min": low, "max": high}}))["bounds"]
    center, extent = (
        np.array([*found["world"][key].values()], np.float32) for key in ("m_Center", "m_Extent")
    )
    for corner in product(*zip(low, high, strict=True)):
        assert (np.abs(np.subtract(corner, center.astype(np.float64))) <= extent).all()
    assert ((center - extent).astype(np.float64) <= low).all()
    assert ((center + extent).astype(np.float64) >= high).all()


@pytest.mark.parametrize(
    ("low", "high"),
    [([-1e39, 0, 0], [1e39, 1, 1]), ([0, 0, -6e38], [1, 1, 0]), ([3.5e38, 0, 0], [4e38, 1, 1])],
)
def test_box_beyond_single_precision_is_refused_for_unity_only(low, high):
    # The largest number of single precision is (2 - 2^-23) * 2^127, about 3.4028e38.
    world = {"aabb": {"min": low, "max": high}}
    source = with_world("unity", world)
    with pytest.raises(
        EngineBoundsError, match=f"object '{source['objects'][0]['name']}': .* exclude the object"
    ):
        unity_bounds(source)
    (found,) = unreal_bounds(with_world("unreal", world))["bounds"]
    assert np.isfinite([*found["world"]["BoxExtent"].values()]).all()


def test_largest_box_of_single_precision_is_written():
    largest = float(np.finfo(np.float32).max)
    source = with_world("unity", {"aabb": {"min": [-largest] * 3, "max": [largest] * 3}})
    (found,) = unity_bounds(source)["bounds"]
    assert [*found["world"]["m_Extent"].values()] == [largest] * 3
