"""Bounds of documents, compared with those that Pixar's USD computes for Blender's USD export."""

from __future__ import annotations

import re

import numpy as np
import pytest

Usd = pytest.importorskip("pxr.Usd")
UsdGeom = pytest.importorskip("pxr.UsdGeom")


@pytest.fixture(scope="module")
def meshes(difficult):
    """Meshes of the stage by the name of their object in USD."""
    stage = Usd.Stage.Open(str(difficult.folder / "scene.usda"))
    meshes_by_name = {}
    for prim in stage.Traverse():
        if prim.IsA(UsdGeom.Mesh) and not prim.GetParent().GetName().startswith("Instance"):
            meshes_by_name[prim.GetParent().GetName()] = UsdGeom.Mesh(prim)
    # A generator keeps a reference to the stage, because its meshes become invalid without it.
    yield meshes_by_name


def entries(difficult, meshes):
    """Objects of the document with their meshes of the stage."""
    for entry in difficult.document("blender.json")["objects"]:
        name = re.sub(r"\W", "_", entry["name"], flags=re.ASCII)
        # Objects with equal names are numbered in USD.
        if name in meshes and not name.startswith("Crate"):
            yield entry, meshes[name]


def test_world_boxes_match_usd(difficult, meshes):
    seen = set()
    for entry, mesh in entries(difficult, meshes):
        matrix = mesh.ComputeLocalToWorldTransform(Usd.TimeCode.Default())
        points = [matrix.Transform(point) for point in mesh.GetPointsAttr().Get()]
        low, high = UsdGeom.PointBased.ComputeExtent([tuple(point) for point in points])
        box_written = entry["world"]["aabb"]
        # USD's extents and Blender's matrices are in single precision.
        near = 2e-6 * np.abs([box_written["min"], box_written["max"]]).max() + 1e-7
        np.testing.assert_allclose(box_written["min"], low, rtol=0, atol=near, err_msg=entry["name"])
        np.testing.assert_allclose(box_written["max"], high, rtol=0, atol=near, err_msg=entry["name"])
        seen.add(entry["name"])
    assert {"Plain", "Turned", "OffCenter", "Mirrored", "Sheared", "Grandchild", "Arrayed", "Keyed"} <= seen


def test_boxes_of_usd_cache_enclose_those_of_document(difficult, meshes):
    cache = UsdGeom.BBoxCache(Usd.TimeCode.Default(), [UsdGeom.Tokens.default_])
    count = 0
    for entry, mesh in entries(difficult, meshes):
        # USD encloses a rotated box, so its box is larger than that of the points.
        box = cache.ComputeWorldBound(mesh.GetPrim()).ComputeAlignedRange()
        box_written = entry["world"]["aabb"]
        near = 2e-6 * np.abs([box_written["min"], box_written["max"]]).max() + 1e-7
        assert (np.array(box.GetMin()) <= np.array(box_written["min"]) + near).all(), entry["name"]
        assert (np.array(box.GetMax()) >= np.array(box_written["max"]) - near).all(), entry["name"]
        count += 1
    assert count >= 15
