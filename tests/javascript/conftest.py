"""A scene with all difficult cases, exported into every space, and the vertices from Blender."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
import pytest

from addon.formats import Convention
from addon.scene.jobs.contacts import find_contacts
from addon.scene.jobs.envelopes import play_bounds
from addon.scene.jobs.result import Result
from addon.scene.settings import BoundsSettings, ContactSettings
from tests.engines.scene_that_hurts import SCENE
from tests.finished import finished
from tests.scene.independent import aabb_looseness, evaluated_objects_at

CUSTOM = Convention("custom", "+Y", "-X", "right", 1000.0)
"""Millimeters, Blender's front along -X."""

MATRICES = {
    "blender": np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    "gltf": np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]]),
    "unity": np.array([[-1, 0, 0], [0, 0, 1], [0, -1, 0]]),
    "unreal": 100 * np.array([[1, 0, 0], [0, -1, 0], [0, 0, 1]]),
    # Up (0, 0, 1) is to be (0, 1, 0), the front (0, -1, 0) is to be (-1, 0, 0), and the determinant is 1.
    "custom": 1000 * np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]]),
}
"""Matrices from Blender to each space, written down independently."""


@dataclass(frozen=True)
class Exported:
    """The scene as documents in every space, written by the product, and the vertices from Blender.

    bounds : with all shapes, envelopes and tracks, by space
    contacts : over the animation, by shape and space
    overlaps : of frame 1 alone, parents and children included, by shape and space
    vertices : (n, 3) in Blender's world at frame 1, by id
    """

    bounds: dict[str, dict[str, Any]]
    contacts: dict[str, dict[str, dict[str, Any]]]
    overlaps: dict[str, dict[str, dict[str, Any]]]
    vertices: dict[str, np.ndarray]

    def vertices_in(self, space: str) -> dict[str, list]:
        return {id: (points @ MATRICES[space].T).tolist() for id, points in self.vertices.items()}


def in_every_space(result: Result) -> dict[str, dict[str, Any]]:
    made = {space: result.document(CUSTOM if space == "custom" else space) for space in MATRICES}
    # Tracks are made as they are read.
    return {space: {**document, "tracks": list(document["tracks"])} for space, document in made.items()}


def open_scene() -> bpy.types.Scene:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    exec(compile(SCENE, "scene", "exec"), {})
    return bpy.context.scene


def vertices_by_id(document: dict[str, Any]) -> dict[str, np.ndarray]:
    """Blender's things beside the objects of a document in Blender's space, by name and then by place."""
    left, found = list(document["objects"]), {}
    for thing in evaluated_objects_at(1):
        if len(thing.points):
            same = [entry for entry in left if re.sub(r"(/.+)\.\d+$", r"\1", entry["name"]) == thing.group]
            nearest = min(same, key=lambda entry: aabb_looseness(entry["world"]["aabb"], thing.points))
            left.remove(nearest)
            found[nearest["id"]] = thing.points
    assert not left
    return found


@pytest.fixture(scope="session")
def exported() -> Exported:
    scene = open_scene()
    settings = BoundsSettings(shapes=("sphere", "aabb", "obb"), envelope=True, tracks=True)
    bounds = in_every_space(finished(play_bounds(scene, settings)))
    contacts, overlaps = {}, {}
    for shape in ("aabb", "sphere", "obb"):
        contacts[shape] = in_every_space(finished(find_contacts(scene, ContactSettings(shape=shape))))
        in_frame_1 = ContactSettings(shape=shape, frames=(1, 1, 1), ignore_parents=False)
        overlaps[shape] = in_every_space(finished(find_contacts(scene, in_frame_1)))
    return Exported(bounds, contacts, overlaps, vertices_by_id(bounds["blender"]))
