"""MJCF: free joints, and meshes."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from addon.core import InvalidShapeError
from addon.formats import ExportOptions
from tests.formats.export.robotics.robot_files import (
    box_part,
    document_of_parts,
    nested_parts,
    read_mjcf,
    text_of,
)

FREE = ExportOptions(free_joints=True)


def test_bodies_are_fixed_unless_free_joints_are_requested():
    document = document_of_parts([box_part("A"), box_part("B", "A"), box_part("C")], "aabb")
    assert "joint" not in text_of(document, "mjcf") and "boundmass" not in text_of(document, "mjcf")
    model = ElementTree.fromstring(text_of(document, "mjcf", options=FREE))
    bodies = {body.get("name"): body for body in model.iter("body")}
    has_joint = {name: body.find("freejoint") is not None for name, body in bodies.items()}
    # MuJoCo allows free joints only below the world.
    assert has_joint == {"A": True, "B": False, "C": True}
    assert model.find("compiler").get("boundinertia")


def test_other_files_do_not_depend_on_free_joints():
    document = document_of_parts([box_part("A")], "aabb")
    for name in ("urdf", "usd"):
        assert text_of(document, name, options=FREE) == text_of(document, name)
    with pytest.raises(InvalidShapeError, match="free_joints"):
        text_of(document, "mjcf", options=ExportOptions(free_joints="yes"))


def test_vertices_of_meshes_are_single_precision_numbers_around_their_center():
    solids, _ = read_mjcf(text_of(document_of_parts(nested_parts(2, far=1e4), "hull"), "mjcf"))
    for solid in (solid for each in solids.values() for solid in each):
        assert solid.kind == "mesh" and solid.sizes == ()
        np.testing.assert_array_equal(solid.vertices.astype(np.float32), solid.vertices)
        assert np.abs(solid.vertices).max() < 4


def test_hull_that_is_too_small_for_single_precision_meshes_is_a_box():
    parts = [box_part("A", None, (5, 5, 5))]
    document = document_of_parts(parts, "hull", decimals=9)
    hull = document["objects"][0]["world"]["hull"]
    vertices = np.array(hull["vertices"])
    hull["vertices"] = (5 + (vertices - 5) * 1e-6).tolist()
    (solid,) = read_mjcf(text_of(document, "mjcf"))[0]["A"]
    assert solid.kind == "box"
    outside = solid.outside(np.array(hull["vertices"]))
    # MuJoCo needs room of 2e-6.
    assert -2.1e-6 < outside.max() <= -2e-6


def test_hull_that_is_too_large_for_single_precision_is_a_box():
    document = document_of_parts([box_part("A")], "hull")
    hull = document["objects"][0]["world"]["hull"]
    hull["vertices"] = (np.array(hull["vertices"]) * 1e31).tolist()
    (solid,) = read_mjcf(text_of(document, "mjcf"))[0]["A"]
    assert solid.kind == "box" and (solid.outside(np.array(hull["vertices"])) <= 0).all()


@pytest.mark.parametrize("kind", ["capsule", "cylinder"])
def test_axis_that_mujoco_would_align_with_the_body_is_aligned_and_the_shape_larger(kind):
    turn = 1e-6
    document = document_of_parts([box_part("A")], "sphere")
    shape = {"center": [0.0] * 3, "axis": [turn, 0.0, 1.0], "halfLength": 100.0, "radius": 0.5}
    document["objects"][0]["world"] = document["objects"][0]["local"] = {kind: shape}
    text = text_of(document, "mjcf")
    assert "quat" not in text
    (solid,) = read_mjcf(text)[0]["A"]
    ends = np.array([(0.5 + 100 * turn, 0, 100 - 0.5 * turn), (-0.5 - 100 * turn, 0, -100 + 0.5 * turn)])
    assert -2e-6 < solid.outside(ends).max() <= 0


def test_offset_that_mujoco_would_ignore_is_dropped_and_the_shape_larger():
    document = document_of_parts([box_part("A")], "sphere")
    document["objects"][0]["world"]["sphere"] = {"center": [5e-7, 0.0, 0.0], "radius": 1.0}
    text = text_of(document, "mjcf")
    assert text.count("pos") == 0
    (solid,) = read_mjcf(text)[0]["A"]
    assert 1 + 5e-7 <= solid.sizes[0] < 1 + 6e-7
