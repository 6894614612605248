"""Stages of USD Physics in Pixar's USD: schemas, extents, and colliders that enclose the vertices."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines.robotics.axial import outside_axial
from tests.engines.robotics.conftest import SHAPES

Usd = pytest.importorskip("pxr.Usd")
UsdGeom = pytest.importorskip("pxr.UsdGeom")
UsdPhysics = pytest.importorskip("pxr.UsdPhysics")

KINDS = {
    "sphere": "Sphere",
    "spheres": "Sphere",
    "aabb": "Cube",
    "obb": "Cube",
    "hull": "Mesh",
    "compound": "Mesh",
} | {
    "capsule": "Capsule",
    "cylinder": "Cylinder",
}


@pytest.fixture(params=SHAPES)
def opened(robots, request):
    """Shape and stage of a file."""
    stage = Usd.Stage.Open(str(robots.folder / f"{request.param}.usda"))
    return request.param, stage


def colliders_of(prim) -> list:
    """Prims of the shapes of an object, without those of its children."""
    collider = prim.GetChild("collision")
    return [collider] if collider.GetTypeName() != "Xform" else collider.GetChildren()


def prims_by_name(stage) -> dict:
    """Prims of objects by their names."""
    return {
        prim.GetName(): prim
        for prim in stage.Traverse()
        if prim.GetTypeName() == "Xform" and prim.GetName() != "collision" and prim.GetParent().GetParent()
    }


def outside(prim, points: np.ndarray) -> np.ndarray:
    """Distance (n,) by which points (n, 3) are outside a collider, from USD's transform and attributes."""
    matrix = np.array(UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(Usd.TimeCode.Default()))
    # USD has row vectors.
    scale = np.linalg.norm(matrix[:3, :3], axis=1)
    local = (points - matrix[3, :3]) @ (matrix[:3, :3] / scale[:, None]).T
    if prim.GetTypeName() == "Sphere":
        np.testing.assert_allclose(scale, 1, rtol=0, atol=1e-14)
        return np.linalg.norm(local, axis=1) - UsdGeom.Sphere(prim).GetRadiusAttr().Get()
    if prim.GetTypeName() == "Cube":
        return (np.abs(local) - scale * UsdGeom.Cube(prim).GetSizeAttr().Get() / 2).max(axis=1)
    if prim.GetTypeName() in ("Capsule", "Cylinder"):
        is_capsule = prim.GetTypeName() == "Capsule"
        axial = UsdGeom.Capsule(prim) if is_capsule else UsdGeom.Cylinder(prim)
        assert axial.GetAxisAttr().Get() == "Z"
        sizes = axial.GetRadiusAttr().Get(), axial.GetHeightAttr().Get() / 2
        return outside_axial(local, *sizes, is_capsule)
    mesh = UsdGeom.Mesh(prim)
    vertices = np.array(mesh.GetPointsAttr().Get(), dtype=np.float64)
    faces = np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
    a, b, c = vertices[faces.T]
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return (local @ normals.T - (normals * a).sum(axis=1)).max(axis=1)


def test_colliders_enclose_vertices(robots, opened):
    shape, stage = opened
    prims, links = prims_by_name(stage), robots.links()
    assert set(prims) == set(links)
    for name, entry in links.items():
        points = robots.vertices_of(entry)
        distances = np.min([outside(prim, points) for prim in colliders_of(prims[name])], axis=0)
        far = float(np.abs(points).max() + np.ptp(points, axis=0).max())
        assert distances.max() <= 16 * np.finfo(float).eps * far, (name, distances.max())
        if shape in ("sphere", "aabb", "obb"):
            assert distances.max() >= -5e-6 * far - 5e-4, (name, distances.max())


def test_prims_are_below_their_parents_and_have_names_and_ids_of_objects(robots, opened):
    _, stage = opened
    prims, links = prims_by_name(stage), robots.links()
    names = {entry["id"]: name for name, entry in links.items()}
    for name, entry in links.items():
        parent = names[entry["parent"]] if entry["parent"] else stage.GetDefaultPrim().GetName()
        assert prims[name].GetParent().GetName() == parent
        assert prims[name].GetDisplayName() == entry["name"]
        assert prims[name].GetCustomDataByKey("collisionBoundsId") == entry["id"]


def test_stage_is_in_meters_with_z_up_and_its_colliders_have_the_schemas(opened):
    shape, stage = opened
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1 and UsdGeom.GetStageUpAxis(stage) == "Z"
    assert UsdPhysics.GetStageKilogramsPerUnit(stage) == 1
    assert stage.GetDefaultPrim().GetPath() == "/Scene"
    count = 0
    for prim in stage.Traverse():
        is_collider = prim.HasAPI(UsdPhysics.CollisionAPI)
        assert is_collider == (prim.GetTypeName() != "Xform")
        if not is_collider:
            continue
        count += 1
        assert prim.GetTypeName() == KINDS[shape]
        assert UsdPhysics.CollisionAPI(prim).GetCollisionEnabledAttr().Get() is True
        assert UsdGeom.Imageable(prim).GetPurposeAttr().Get() == "guide"
        if shape in ("hull", "compound"):
            assert UsdPhysics.MeshCollisionAPI(prim).GetApproximationAttr().Get() == "convexHull"
        # USD's plug-ins compute the extent from the other attributes.
        expected = UsdGeom.Boundable.ComputeExtentFromPlugins(UsdGeom.Boundable(prim), Usd.TimeCode.Default())
        written = UsdGeom.Boundable(prim).GetExtentAttr().Get()
        np.testing.assert_allclose(np.array(written), np.array(expected), rtol=3e-7)
    assert count >= 20


def test_physics_parser_of_usd_finds_each_collider(opened):
    shape, stage = opened
    found = UsdPhysics.UsdPhysicsLoadStageFromPrimRange(stage, ["/"])
    kinds = {
        "Sphere": UsdPhysics.ObjectType.SphereShape,
        "Cube": UsdPhysics.ObjectType.CubeShape,
        "Mesh": UsdPhysics.ObjectType.MeshShape,
        "Capsule": UsdPhysics.ObjectType.CapsuleShape,
        "Cylinder": UsdPhysics.ObjectType.CylinderShape,
    }
    paths, shapes = found[kinds[KINDS[shape]]]
    assert len(paths) == sum(prim.HasAPI(UsdPhysics.CollisionAPI) for prim in stage.Traverse())
    assert all(each.isValid for each in shapes)
