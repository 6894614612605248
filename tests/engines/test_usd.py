"""Pixar's USD reads the scene that Blender exports as USD, and is asked for the bounds of its meshes."""

from __future__ import annotations

import re

import numpy as np
import pytest

Usd = pytest.importorskip("pxr.Usd")
UsdGeom = pytest.importorskip("pxr.UsdGeom")


@pytest.fixture(scope="module")
def meshes(hurting):
    """Meshes of the stage by the name of their object, as Blender writes that in USD."""
    stage = Usd.Stage.Open(str(hurting.folder / "scene.usda"))
    found = {}
    for prim in stage.Traverse():
        if prim.IsA(UsdGeom.Mesh) and not prim.GetParent().GetName().startswith("Instance"):
            found[prim.GetParent().GetName()] = UsdGeom.Mesh(prim)
    # They are gone when the stage is.
    yield found


def entries(hurting, meshes):
    for entry in hurting.document("blender.json")["objects"]:
        name = re.sub(r"\W", "_", entry["name"], flags=re.ASCII)
        # Of those with equal names, some are numbered.
        if name in meshes and not name.startswith("Crate"):
            yield entry, meshes[name]


def test_boxes_in_the_world_are_those_of_usd(hurting, meshes):
    seen = set()
    for entry, mesh in entries(hurting, meshes):
        matrix = mesh.ComputeLocalToWorldTransform(Usd.TimeCode.Default())
        points = [matrix.Transform(point) for point in mesh.GetPointsAttr().Get()]
        low, high = UsdGeom.PointBased.ComputeExtent([tuple(point) for point in points])
        told = entry["world"]["aabb"]
        # USD's extents are in single precision, and Blender's matrices are.
        near = 2e-6 * np.abs([told["min"], told["max"]]).max() + 1e-7
        np.testing.assert_allclose(told["min"], low, rtol=0, atol=near, err_msg=entry["name"])
        np.testing.assert_allclose(told["max"], high, rtol=0, atol=near, err_msg=entry["name"])
        seen.add(entry["name"])
    assert {"Plain", "Turned", "OffCentre", "Mirrored", "Sheared", "Grandchild", "Arrayed", "Keyed"} <= seen


def test_boxes_of_usds_cache_hold_those_of_the_document(hurting, meshes):
    cache = UsdGeom.BBoxCache(Usd.TimeCode.Default(), [UsdGeom.Tokens.default_])
    count = 0
    for entry, mesh in entries(hurting, meshes):
        # The box of a turned box: larger than that of what is in it.
        box = cache.ComputeWorldBound(mesh.GetPrim()).ComputeAlignedRange()
        told = entry["world"]["aabb"]
        near = 2e-6 * np.abs([told["min"], told["max"]]).max() + 1e-7
        assert (np.array(box.GetMin()) <= np.array(told["min"]) + near).all(), entry["name"]
        assert (np.array(box.GetMax()) >= np.array(told["max"]) - near).all(), entry["name"]
        count += 1
    assert count >= 15
