"""Frames of bones in documents of all spaces, compared with products of matrices."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from addon.core import Capsule, ConvexHull, Sphere, SphereTree
from addon.core.compound.convex_parts import Compound
from addon.core.numeric.arrays import rotation_matrix
from addon.formats import CONVENTIONS, Convention, ObjectBounds, space_for
from addon.formats.document.conversion import read_document
from addon.formats.spaces import AXES, matrix_from_quaternion
from tests.formats.samples import bounds, document_of

CUSTOM = [
    Convention("custom", up, forward, handedness, 100.0)
    for up, forward, handedness in product(AXES, AXES, ("right", "left"))
    if up[1] != forward[1]
]
SPACES = [*CONVENTIONS, *CUSTOM]
NAMES = [*CONVENTIONS, *(f"{each.up} {each.forward} {each.handedness}" for each in CUSTOM)]

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3.0]])
HULL = ConvexHull(CORNERS, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
TREE = SphereTree([[1, 2, 3], [1, 2, 2], [1, 2, 4]], [3, 1, 1], [(1, 2), (-1, -1), (-1, -1)])
PARTS = Compound((Sphere([3, 2, 1], 1), Capsule([1, 2, 3], [0, 1, 0], 2, 1), HULL))


def mirror_of(declared: dict[str, Any]) -> np.ndarray:
    """Local conversion of a joint, as docs/format.md says."""
    if declared["handedness"] == "right":
        return np.eye(3)
    return np.diag([1, -1, 1]) if declared["up"][1] == "Z" else np.diag([-1, 1, 1])


def entries() -> list[ObjectBounds]:
    """Return a bone, an object, another bone and vertices without a bone, with shapes of all kinds."""
    extents = Capsule([1, 2, 3], [0, 0.6, 0.8], 2, 1)
    first = bounds("a", "A/bone.Arm")
    more = (*first.local, extents, HULL, PARTS, TREE)
    envelope = (Sphere([1, 2, 3], 9),)
    of_bone = replace(first, local=more, world=more, bone="Arm", local_envelope=envelope, envelope=envelope)
    hand = bounds("c", "C/bone.Hand", rotation=(0.1, 0.7, -0.5, 0.5))
    return [of_bone, bounds("b", "B"), replace(hand, bone="Hand"), replace(bounds("d", "D"), bone="")]


@pytest.mark.parametrize("preset", SPACES, ids=NAMES)
def test_bones_have_the_frames_of_joints_and_objects_those_of_nodes(preset):
    space = space_for(preset)
    document = document_of(entries(), space, 9)
    declared = document["space"]
    matrix = np.array(declared["fromBlender"]).reshape(3, 3)
    axes = matrix / np.abs(matrix).max()
    unit = np.abs(matrix).max()
    for entry, source in zip(document["objects"], entries(), strict=True):
        local = mirror_of(declared) if entry.get("bone") else axes
        rotation = matrix_from_quaternion(entry["transform"]["rotation"])
        expected = axes @ rotation_matrix(source.rotation / np.linalg.norm(source.rotation)) @ local.T
        assert np.abs(rotation - expected).max() < 1e-8
        assert entry["transform"]["translation"] == pytest.approx(matrix @ source.translation, abs=1e-6)
        assert entry["transform"]["scale"] == pytest.approx(np.abs(local) @ source.scale, abs=1e-8)
        center, box = (next(each for each in source.local if type(each) is kind) for kind in KINDS)
        assert entry["local"]["sphere"]["center"] == pytest.approx(unit * local @ center.center, abs=1e-6)
        corners = np.sort([unit * local @ box.min, unit * local @ box.max], axis=0)
        assert np.abs(corners - [entry["local"]["aabb"][key] for key in ("min", "max")]).max() < 1e-5


KINDS = tuple(type(shape) for shape in (bounds("a", "A").local[0], bounds("a", "A").local[2]))


@pytest.mark.parametrize("preset", CONVENTIONS)
def test_all_kinds_of_shapes_of_a_bone_have_one_conversion(preset):
    document = document_of(entries(), space_for(preset), 9)
    entry, unit = document["objects"][0], 100 if preset == "unreal" else 1
    local = unit * mirror_of(document["space"])
    shapes = entry["local"]
    assert shapes["capsule"]["center"] == pytest.approx(local @ [1, 2, 3], abs=1e-6)
    axis = mirror_of(document["space"]) @ [0, 0.6, 0.8]
    assert np.abs(np.dot(shapes["capsule"]["axis"], axis)) == pytest.approx(1, abs=1e-8)
    center = local @ [1, 2, 4]
    assert shapes["spheres"][2]["center"] == pytest.approx(center, abs=1e-6)
    sphere, capsule, hull = shapes["compound"]
    assert sphere["sphere"]["center"] == pytest.approx(local @ [3, 2, 1], abs=1e-6)
    assert capsule["capsule"]["center"] == pytest.approx(local @ [1, 2, 3], abs=1e-6)
    for written in (hull["hull"], shapes["hull"]):
        corners = np.array(written["vertices"])
        apart = np.linalg.norm(corners[:, None] - CORNERS @ local.T, axis=2).min(axis=0)
        assert apart.max() < 1e-4 * unit
        a, b, c = corners[np.array(written["faces"])].swapaxes(0, 1)
        assert (np.einsum("ni,ni->n", np.cross(b - a, c - a), a - corners.mean(axis=0)) > 0).all()
    assert entry["envelope"]["local"]["sphere"]["center"] == pytest.approx(local @ [1, 2, 3], abs=1e-6)


@pytest.mark.parametrize("preset", SPACES, ids=NAMES)
def test_bones_have_their_axes_in_blender_again_after_they_are_read(preset):
    source = [replace(each, local=each.local[:3], world=each.world[:3]) for each in entries()]
    document = document_of([replace(e, envelope=(), local_envelope=()) for e in source], space_for(preset), 9)
    for read, entry in zip(read_document(document).objects, source, strict=True):
        turn = rotation_matrix(read.rotation) - rotation_matrix(
            entry.rotation / np.linalg.norm(entry.rotation)
        )
        assert np.abs(turn).max() < 1e-8
        assert read.scale == pytest.approx(entry.scale, abs=1e-8)
        kinds = {type(shape): shape for shape in read.local}
        assert kinds[Sphere].center == pytest.approx(entry.local[0].center, abs=1e-7)
        assert kinds[KINDS[1]].max == pytest.approx(entry.local[2].max, abs=1e-7)
