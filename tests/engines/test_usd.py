"""Bounds of meshes that Pixar's USD computes for a scene that Blender exported as USD."""

from __future__ import annotations

import re

import numpy as np
import pytest

Usd = pytest.importorskip("pxr.Usd")
UsdGeom = pytest.importorskip("pxr.UsdGeom")


@pytest.fixture(scope="module")
def meshes(hurting):
    """Meshes of the stage by the name of their object, as Blender spells it in USD."""
    stage = Usd.Stage.Open(str(hurting.folder / "scene.usda"))
    found = {}
    for prim in stage.Traverse():
        if prim.IsA(UsdGeom.Mesh) and not prim.GetParent().GetName().startswith("Instance"):
            found[prim.GetParent().GetName()] = UsdGeom.Mesh(prim)
    # Keep the stage, because its meshes become invalid without it.
    yield found


def entries(hurting, meshes):
    for entry in hurting.document("blender.json")["objects"]:
        name = re.sub(r"\W", "_", entry["name"], flags=re.ASCII)
        # Blender numbers objects with equal names.
        if name in meshes and not name.startswith("Crate"):
            yield entry, meshes[name]


def test_world_boxes_match_usd(hurting, meshes):
    seen = set()
    for entry, mesh in entries(hurting, meshes):
        matrix = mesh.ComputeLocalToWorldTransform(Usd.TimeCode.Default())
        points = [matrix.Transform(point) for point in mesh.GetPointsAttr().Get()]
        low, high = UsdGeom.PointBased.ComputeExtent([tuple(point) for point in points])
        box_written = entry["world"]["aabb"]
        # USD's extents and Blender's matrices are in single precision.
        near = 2e-6 * np.abs([box_written["min"], box_written["max"]]).max() + 1e-7
        np.testing.assert_allclose(box_written["min"], low, rtol=0, atol=near, err_msg=entry["name"])
        np.testing.assert_allclose(box_written["max"], high, rtol=0, atol=near, err_msg=entry["name"])
        seen.add(entry["name"])
    assert {"Plain", "Turned", "OffCentre", "Mirrored", "Sheared", "Grandchild", "Arrayed", "Keyed"} <= seen


def test_boxes_of_usd_cache_enclose_those_of_document(hurting, meshes):
    cache = UsdGeom.BBoxCache(Usd.TimeCode.Default(), [UsdGeom.Tokens.default_])
    count = 0
    for entry, mesh in entries(hurting, meshes):
        # The box of a rotated box, which is larger than that of its content.
        box = cache.ComputeWorldBound(mesh.GetPrim()).ComputeAlignedRange()
        box_written = entry["world"]["aabb"]
        near = 2e-6 * np.abs([box_written["min"], box_written["max"]]).max() + 1e-7
        assert (np.array(box.GetMin()) <= np.array(box_written["min"]) + near).all(), entry["name"]
        assert (np.array(box.GetMax()) >= np.array(box_written["max"]) - near).all(), entry["name"]
        count += 1
    assert count >= 15
