"""Convex parts in MuJoCo, Bullet, trimesh, usd-core, three.js, Babylon.js and Rapier."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.engines.checks import CUT_OFF, assert_first_contacts, in_bullet, volume_of
from tests.engines.robotics.test_first_contacts import moved_links
from tests.node.node import PROGRAMS, run_program
from tests.paths import TOP

LOADERS = TOP / "docs" / "loaders"
ENGINES = [("three_volumes.mjs", "gltf"), ("babylon_volumes.mjs", "unity"), ("rapier_volumes.mjs", "blender")]


def test_notches_stay_open(notched):
    """The peg is in the notch long before it meets the bottom: a box around the U would be touched before."""
    first = {frozenset((each["a"], each["b"])): each["first"]["frame"] for each in notched.contacts}
    assert {*first} == {frozenset(pair) for pair in (("U", "Peg"), ("L", "Floor"), ("Frame", "Bar"))}
    # The top of the U is at 2 along Y, its bottom at 1. The peg falls by 4.9 in 11 frames.
    assert first[frozenset(("U", "Peg"))] > 1 + (6 - 0.4 - 2) / 4.9 * 11 + 1


def test_first_contacts_in_mujoco_match_document(notched):
    pytest.importorskip("mujoco")
    from tests.engines.robotics.test_mujoco_models import Model, moved_bodies

    model, names = Model(notched.folder / "boxes.xml"), notched.animation.bounds
    assert sum(len(model.geoms(name)) for name in names) > len(names) + 4
    assert_first_contacts(notched.animation, "compound", *moved_bodies(model), tolerance=5e-6, slack=1e-4)


def test_first_contacts_in_bullet_match_document(notched, bullet):
    bodies = {}
    for entry in notched.document("boxes")["objects"]:
        volumes = [volume_of(part, "obb") for part in entry["local"]["compound"]]
        shape = bullet.createCollisionShapeArray(
            shapeTypes=[bullet.GEOM_BOX] * len(volumes),
            halfExtents=[list(volume.sizes) for volume in volumes],
            collisionFramePositions=[list(volume.position) for volume in volumes],
            collisionFrameOrientations=[list(volume.rotation) for volume in volumes],
        )
        bodies[entry["id"]] = bullet.createMultiBody(0, shape)
    functions = in_bullet(bullet, bodies)
    assert_first_contacts(notched.animation, "compound", *functions, CUT_OFF, slack=1e-4)


def test_first_contacts_of_urdf_links_in_bullet_match_document(notched, bullet):
    functions = moved_links(bullet, notched.folder / "boxes.urdf", notched.animation.bounds)
    assert_first_contacts(notched.animation, "compound", *functions, CUT_OFF, slack=1e-4)


def test_bullet_loads_a_box_for_each_part(notched, bullet):
    body = bullet.loadURDF(str(notched.folder / "boxes.urdf"))
    links = range(-1, bullet.getNumJoints(body))
    shapes = [shape for link in links for shape in bullet.getCollisionShapeData(body, link)]
    expected = [
        part["obb"] for entry in notched.document("boxes")["objects"] for part in entry["world"]["compound"]
    ]
    assert sorted(tuple(np.round(sorted(shape[3]), 5)) for shape in shapes) == sorted(
        tuple(np.round(sorted(2 * np.array(box["halfExtents"])), 5)) for box in expected
    )


@pytest.mark.parametrize(("program", "space"), ENGINES)
def test_first_contacts_in_javascript_engines_match_document(notched, tmp_path, program, space):
    """Pairs are apart a hundredth of a frame before their first contact, and overlap as much after it."""
    cases = [(number, side) for number in range(len(notched.contacts)) for side in (-1, 1)]
    documents = [notched.document(f"{space}_{number}_{side}") for number, side in cases]
    path = tmp_path / "input.json"
    path.write_text(json.dumps({"documents": documents, "vertices": {}}), "utf-8")
    results = run_program(program, path, modules=(PROGRAMS / "volumes.mjs", *LOADERS.glob("*.mjs")))
    for (number, side), result in zip(cases, results, strict=True):
        contact = notched.contacts[number]
        overlapping = {frozenset(pair) for pair in result["pairs"]["compound"]}
        assert (frozenset((contact["a"], contact["b"])) in overlapping) == (side > 0), contact["a"]


def sampled(vertices, triangles, count: int = 200) -> np.ndarray:
    """Points on a mesh (n, 3), with its vertices."""
    corners = np.array(vertices)[np.array(triangles)]
    weights = np.random.default_rng(1).dirichlet((1, 1, 1), (len(corners), count))
    return np.concatenate([np.einsum("tcw,twi->tci", weights, corners).reshape(-1, 3), np.array(vertices)])


def test_hulls_in_trimesh_hold_the_meshes_tightly(notched):
    trimesh = pytest.importorskip("trimesh")
    for entry in notched.document("hulls")["objects"]:
        vertices, triangles = notched.meshes[entry["id"]]
        hulls = [
            trimesh.Trimesh(part["hull"]["vertices"], part["hull"]["faces"], process=False)
            for part in entry["world"]["compound"]
        ]
        assert all(hull.is_watertight and hull.volume > 0 for hull in hulls)
        points = sampled(vertices, triangles)
        outside = [
            ((points[:, None] - hull.triangles[:, 0]) * hull.face_normals).sum(axis=-1).max(axis=1)
            for hull in hulls
        ]
        # Points between vertices are rounded.
        assert np.min(outside, axis=0).max() <= 1e-12
        # Together, the parts are hardly larger than the mesh.
        volume = abs(trimesh.Trimesh(vertices, triangles, process=False).volume)
        assert volume <= sum(hull.volume for hull in hulls) <= 1.02 * volume, entry["id"]


def test_hulls_in_usd_are_those_of_the_document(notched):
    usd = pytest.importorskip("pxr.Usd")
    geometry, physics = pytest.importorskip("pxr.UsdGeom"), pytest.importorskip("pxr.UsdPhysics")
    stage = usd.Stage.Open(str(notched.folder / "hulls.usda"))
    meshes = [
        prim for prim in stage.Traverse() if prim.IsA(geometry.Mesh) and prim.HasAPI(physics.CollisionAPI)
    ]
    assert all(physics.MeshCollisionAPI(prim).GetApproximationAttr().Get() == "convexHull" for prim in meshes)
    volumes = []
    for prim in meshes:
        matrix = np.array(geometry.Xformable(prim).ComputeLocalToWorldTransform(0))
        points = np.array(geometry.Mesh(prim).GetPointsAttr().Get(), dtype=np.float64)
        volumes.append(
            volume_of_faces(points @ matrix[:3, :3], geometry.Mesh(prim).GetFaceVertexIndicesAttr().Get())
        )
    expected = [
        volume_of_faces(np.array(part["hull"]["vertices"]), np.ravel(part["hull"]["faces"]))
        for entry in notched.document("hulls")["objects"]
        for part in entry["world"]["compound"]
    ]
    np.testing.assert_allclose(sorted(volumes), sorted(expected), rtol=1e-4)


def volume_of_faces(points: np.ndarray, indices) -> float:
    a, b, c = points[np.array(indices).reshape(-1, 3)].transpose(1, 0, 2)
    return float((a * np.cross(b, c)).sum() / 6)
