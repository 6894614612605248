"""Documents at the limits, in MuJoCo, Bullet and USD: names, sizes, deep hierarchies, capsules, cylinders."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from addon.formats import space_for
from addon.formats.export.robotics.links import MAX_LEVELS, ROBOTICS_SPACE
from addon.formats.export.robotics.text import link_names
from tests.engines.robotics.test_mujoco_models import Model
from tests.engines.robotics.test_usd_stages import colliders_of, outside, prims_by_name
from tests.formats import samples
from tests.formats.export.robotics.robot_files import box_part, document_of_parts, text_of, with_shape
from tests.formats.export.robotics.test_urdf import axial_document, surface_points

# Bullet has no wheels for some versions of Python.
bullet = importlib.import_module("pybullet") if importlib.util.find_spec("pybullet") else None
Usd = pytest.importorskip("pxr.Usd")

HOSTILE = [
    *('"/><x a="', "--><!--", "-", "a\n# b: c\x1b\x07", "'''", "\ufffe\u202e", "no", "a b", "a_b", "\\"),
    *("\u2028", "é", "3", "x" * 1000, "world", "collision", "箱🚗"),
]


def opened_by_all(document: dict, folder, with_urdf: bool = True) -> tuple[Model, Usd.Stage]:
    """Open the MJCF and the stage of a document; check that the URDF has as many links."""
    for name, suffix in (("mjcf", "xml"), ("usd", "usda"), ("urdf", "urdf")):
        if with_urdf or name != "urdf":
            (folder / f"file.{suffix}").write_text(text_of(document, name), "utf-8")
    model, stage = Model(folder / "file.xml"), Usd.Stage.Open(str(folder / "file.usda"))
    count = len(document["objects"])
    assert model.model.nbody == count + 1 and len(prims_by_name(stage)) == count
    if with_urdf and bullet:
        client = bullet.connect(bullet.DIRECT)
        body = bullet.loadURDF(str(folder / "file.urdf"), useFixedBase=True, physicsClientId=client)
        assert bullet.getNumJoints(body, physicsClientId=client) == count
        bullet.disconnect(client)
    return model, stage


def test_hostile_names(tmp_path):
    bounds = [box_part(name).bounds(f"{k} {name}", ["sphere"]) for k, name in enumerate(HOSTILE)]
    document = samples.document_of(bounds, space_for(ROBOTICS_SPACE))
    document["generator"]["name"], document["source"]["scene"] = "--> \n)", '"\n</robot>'
    model, stage = opened_by_all(document, tmp_path)
    prims = prims_by_name(stage)
    names = link_names(entry["name"] for entry in document["objects"])
    for name, entry in zip(names, document["objects"], strict=True):
        assert len(model.geoms(name)) == 1
        assert prims[name].GetDisplayName() == entry["name"]
        assert prims[name].GetCustomDataByKey("collisionBoundsId") == entry["id"]


def test_document_without_objects(tmp_path):
    model, stage = opened_by_all(samples.document_of([], space_for(ROBOTICS_SPACE)), tmp_path)
    assert model.model.ngeom == 0 and stage.GetDefaultPrim().IsValid()


def test_hierarchy_deeper_than_the_limit(tmp_path):
    # A MuJoCo without the limit refuses 500 levels.
    parts = [box_part(f"P{k:03}", f"P{k - 1:03}" if k else None, (k, 0, 0.25 * k)) for k in range(600)]
    assert len(parts) > 500 > MAX_LEVELS
    document = document_of_parts(parts, "aabb")
    model, stage = opened_by_all(document, tmp_path, with_urdf=False)
    prims = prims_by_name(stage)
    for part in parts[::50]:
        np.testing.assert_allclose(model.data.body(part.name).xpos, part.translation, atol=1e-9)
        assert outside(prims[part.name].GetChild("collision"), part.world_points()).max() <= 1e-12


@pytest.mark.parametrize("shape", ["sphere", "aabb", "hull"])
@pytest.mark.parametrize("size", [1e-9, 1e-7, 1e-6, 1e-5, 1e-3, 1e3, 1e9, 1e15, 1e30])
def test_huge_and_tiny_objects(tmp_path, shape, size):
    document = document_of_parts([box_part("A"), box_part("B", "A")], shape, decimals=9)
    for group in (entry[name] for entry in document["objects"] for name in ("local", "world")):
        if shape == "sphere":
            group["sphere"]["radius"] = size
        elif shape == "aabb":
            group["aabb"] = {"min": [-size] * 3, "max": [size, size, 2 * size]}
        else:
            group["hull"]["vertices"] = (size * np.array(group["hull"]["vertices"])).tolist()
    model, stage = opened_by_all(document, tmp_path, with_urdf=shape != "hull")
    points = size * np.array([(1, 0, 0), (0, -1, 0), (0, 0, 1)])
    prims = prims_by_name(stage)
    for name in ("A", "B"):
        assert model.outside(model.geoms(name)[0], points).max() <= 1e-15 * size
        assert outside(prims[name].GetChild("collision"), points).max() <= 1e-15 * size


def bullet_outside(path, points: np.ndarray) -> np.ndarray:
    """Distance (n,) in Bullet of points (n, 3) from the only link of a URDF; negative inside."""
    client = bullet.connect(bullet.DIRECT)
    # Without the flag, Bullet has a polygon inside of a cylinder.
    flags = bullet.URDF_USE_IMPLICIT_CYLINDER
    body = bullet.loadURDF(str(path), useFixedBase=True, flags=flags, physicsClientId=client)
    radius = 1e-3
    shape = bullet.createCollisionShape(bullet.GEOM_SPHERE, radius=radius, physicsClientId=client)
    probe = bullet.createMultiBody(0, shape, physicsClientId=client)
    distances = []
    for point in points:
        bullet.resetBasePositionAndOrientation(probe, point, (0, 0, 0, 1), physicsClientId=client)
        found = bullet.getClosestPoints(body, probe, 10, physicsClientId=client)
        distances.append(min(each[8] for each in found) + radius)
    bullet.disconnect(client)
    return np.array(distances)


@pytest.mark.parametrize("kind", ["capsule", "cylinder"])
@pytest.mark.parametrize("axis", [(0, 0, 1), (0.6, 0, -0.8), (0, -1, 0)])
def test_capsules_and_cylinders(tmp_path, kind, axis):
    axis = np.array(axis, dtype=float)
    document = with_shape(axial_document(kind, axis, 1.5, 0.25), kind)
    document["objects"] = document["objects"][1:]
    document["objects"][0]["parent"] = None
    model, stage = opened_by_all(document, tmp_path)
    points = surface_points(kind, axis, 1.5, 0.25)
    (collider,) = colliders_of(prims_by_name(stage)["B"])
    for distances in (model.outside(model.geoms("B")[0], points), outside(collider, points)):
        assert distances.min() >= -1e-8 and distances.max() <= 4e-15
    # Bullet rounds the rims of cylinders by a margin of a millimeter.
    rim = 1e-3 * (2**0.5 - 1) if kind == "cylinder" else 0.0
    if bullet is not None:
        assert bullet_outside(tmp_path / "file.urdf", points).max() <= rim + 1e-6


@pytest.mark.parametrize("half_length, radius", [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0)])
@pytest.mark.parametrize("kind", ["capsule", "cylinder"])
def test_capsules_and_cylinders_without_length_or_radius(tmp_path, kind, half_length, radius):
    opened_by_all(axial_document(kind, np.array([0.0, 0.0, 1.0]), half_length, radius), tmp_path)


CORNERS = np.array([(x, y, z) for x in (-1000.0, 1000) for y in (-500, 500) for z in (-200, 200)])


def nearly_aligned_document(shape: str, angle: float, offset: float) -> tuple[dict, np.ndarray]:
    """Document of an unrotated object, and points on its shape, which is rotated and moved a little."""
    x, y = np.cos(angle), np.sin(angle)
    rotation = np.array([(x, 0, y), (0, 1, 0), (-y, 0, x)])
    center = np.array([offset, 0, -offset])
    points = {
        "sphere": 1000 * np.eye(3),
        "capsule": np.array([(500, 0, 1000), (0, 500, -1000), (0, 0, 1500)]),
        "cylinder": np.array([(500, 0, 1000), (0, 500, -1000), (-500, 0, 1000)]),
    }.get(shape, CORNERS) @ rotation.T + center
    quaternion = [0.0, np.sin(angle / 2), 0.0, np.cos(angle / 2)]
    axial = {"center": center.tolist(), "axis": [y, 0.0, x], "halfLength": 1000.0, "radius": 500.0}
    numbers = {
        "sphere": {"center": center.tolist(), "radius": 1000.0},
        "obb": {"center": center.tolist(), "halfExtents": [1000.0, 500.0, 200.0], "rotation": quaternion},
        "hull": {"vertices": points.tolist()},
    }.get(shape, axial)
    document = document_of_parts([box_part("A")], "sphere", decimals=9)
    for group in ("local", "world"):
        document["objects"][0][group] = {shape: numbers}
    return document, points


@pytest.mark.parametrize("shape", ["sphere", "obb", "hull", "capsule", "cylinder"])
@pytest.mark.parametrize("angle", [3e-10, 1e-8, 5e-7, 1.5e-6, 5e-6, 2e-5, 1e-3])
@pytest.mark.parametrize("offset", [0.0, 5e-7, 1e-3])
def test_shapes_that_nearly_have_the_frame_of_their_link(tmp_path, shape, angle, offset):
    # MuJoCo uses the frame of the body for differences below 1e-6. USD loses small angles of quaternions.
    document, points = nearly_aligned_document(shape, angle, offset)
    model, stage = opened_by_all(document, tmp_path, with_urdf=shape != "hull")
    (collider,) = colliders_of(prims_by_name(stage)["A"])
    for distances in (model.outside(model.geoms("A")[0], points), outside(collider, points)):
        assert distances.max() <= 16 * np.finfo(float).eps * 1000
