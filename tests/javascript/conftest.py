"""Fixtures with the difficult scene, exported in every space, and its vertices from Blender."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
import pytest

from addon.formats import Convention, dumps
from addon.scene.jobs.bounds import bounds_in_parts, compute_bounds
from addon.scene.jobs.contacts import find_contacts
from addon.scene.jobs.result import Result
from addon.scene.settings import BoundsSettings, ContactSettings
from tests.engines.difficult_scene import SCENE
from tests.finished import finished
from tests.scene.independent.evaluation import evaluated_objects_at
from tests.scene.independent.geometry import aabb_looseness

CUSTOM = Convention("custom", "+Y", "-X", "right", 1000.0)
"""Millimeters, with Blender's front along -X."""

MATRICES = {
    "blender": np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    "gltf": np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]]),
    "unity": np.array([[-1, 0, 0], [0, 0, 1], [0, -1, 0]]),
    "unreal": 100 * np.array([[1, 0, 0], [0, -1, 0], [0, 0, 1]]),
    # Maps up (0, 0, 1) to (0, 1, 0) and the front (0, -1, 0) to (-1, 0, 0); the determinant is positive.
    "custom": 1000 * np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]]),
}
"""Matrices from Blender to each space, written down independently."""


@dataclass(frozen=True)
class Exported:
    """Documents of the scene in every space, and its vertices from Blender.

    Attributes
    ----------
    bounds : dict of str to dict
        Documents with all shapes, envelopes and tracks, by space.
    contacts : dict of str to dict
        Documents of contacts of the animation, by shape and space.
    overlaps : dict of str to dict
        Documents of contacts at frame 1, with pairs of parent and child, by shape and space.
    detailed : dict of str to dict
        Documents of frame 1 with capsules, cylinders, hulls and sphere trees, by space.
    vertices : dict of str to (n, 3) float64
        World-space vertices at frame 1 in Blender, by id.
    """

    bounds: dict[str, dict[str, Any]]
    contacts: dict[str, dict[str, dict[str, Any]]]
    overlaps: dict[str, dict[str, dict[str, Any]]]
    detailed: dict[str, dict[str, Any]]
    vertices: dict[str, np.ndarray]

    def vertices_in(self, space: str) -> dict[str, list]:
        """Convert the vertices to a space, as lists."""
        return {id: (points @ MATRICES[space].T).tolist() for id, points in self.vertices.items()}


def in_every_space(result: Result) -> dict[str, dict[str, Any]]:
    """Convert a result to a document in each space."""
    documents = {space: result.document(CUSTOM if space == "custom" else space) for space in MATRICES}
    # Objects and tracks are generated when they are written.
    return {space: json.loads(dumps(document)) for space, document in documents.items()}


def open_scene() -> bpy.types.Scene:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    exec(compile(SCENE, "scene", "exec"), {})
    return bpy.context.scene


def vertices_by_id(document: dict[str, Any]) -> dict[str, np.ndarray]:
    """Match the objects of a document with those of Blender, by name and then by position."""
    unmatched, vertices = list(document["objects"]), {}
    for item in evaluated_objects_at(1):
        if len(item.points):
            candidates = [
                entry for entry in unmatched if re.sub(r"(/.+)\.\d+$", r"\1", entry["name"]) == item.group
            ]
            nearest = min(candidates, key=lambda entry: aabb_looseness(entry["world"]["aabb"], item.points))
            unmatched.remove(nearest)
            vertices[nearest["id"]] = item.points
    assert not unmatched
    return vertices


@pytest.fixture(scope="session")
def exported() -> Exported:
    scene = open_scene()
    settings = BoundsSettings(shapes=("sphere", "aabb", "obb"), envelope=True, tracks=True)
    bounds = in_every_space(finished(bounds_in_parts(scene, settings)))
    kinds = ("aabb", "sphere", "capsule", "cylinder", "hull", "spheres")
    detailed = in_every_space(compute_bounds(scene, BoundsSettings(shapes=kinds)))
    contacts, overlaps = {}, {}
    contacts["mesh"] = in_every_space(finished(find_contacts(scene, ContactSettings(shape="mesh"))))
    for shape in ("aabb", "sphere", "obb", "capsule"):
        if shape != "capsule":
            contacts[shape] = in_every_space(finished(find_contacts(scene, ContactSettings(shape=shape))))
        in_frame_1 = ContactSettings(shape=shape, frames=(1, 1, 1), ignore_parents=False)
        overlaps[shape] = in_every_space(finished(find_contacts(scene, in_frame_1)))
    return Exported(bounds, contacts, overlaps, detailed, vertices_by_id(bounds["blender"]))
