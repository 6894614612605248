"""First contacts of URDF files in Bullet and of stages in Pixar's USD, with the poses of Blender."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from tests.engines.checks import assert_first_contacts_match
from tests.engines.robotics.test_usd_stages import colliders_of, prims_by_name

CUT_OFF = 2e-3 * (3**0.5 - 1)
"""Bullet rounds corners of boxes by a thousandth, see `test_pybullet.py`."""


def assert_first_contacts(animated, shape, move, distance, tolerance, slack=5e-5) -> None:
    """Compare first contacts of a shape with distances of pairs, after `move` has put objects to poses.

    Of bones, pairs with objects are compared: those of bones of one object, and of plates, are no contacts.
    """
    document = animated.documents[shape]
    names = [entry["id"] for entry in document["objects"]]
    is_bone = {name: bool(animated.bounds[name].get("bone")) for name in names}
    pairs = list(combinations(names, 2))
    if any(is_bone.values()):
        pairs = [(a, b) for a, b in pairs if is_bone[a] != is_bone[b]]
    gaps: dict[frozenset[str], list[float]] = {frozenset(pair): [] for pair in pairs}
    for t in range(len(animated.times)):
        for name in names:
            move(name, animated.positions[name][t], animated.rotations[name][t])
        for pair, gap in gaps.items():
            gap.append(distance(*sorted(pair)))
    arrays = {pair: np.array(gap) for pair, gap in gaps.items()}
    assert_first_contacts_match(document, animated.times, arrays, tolerance, slack)


def moved_links(bullet, client: int, path, names) -> tuple[Callable[..., None], Callable[[str, str], float]]:
    """Return functions that move the link of an object to a pose, and that measure the distance of two links.

    Joints of the file are fixed, so it is loaded once for each object, and moved as a whole.
    """
    links = {}
    for name in names:
        # A capsule is a cylinder and two spheres, and without the flag, the cylinder is a polygon.
        flags = bullet.URDF_USE_IMPLICIT_CYLINDER
        body = bullet.loadURDF(str(path), useFixedBase=True, flags=flags, physicsClientId=client)
        joints = range(bullet.getNumJoints(body, physicsClientId=client))
        infos = [bullet.getJointInfo(body, joint, physicsClientId=client) for joint in joints]
        (link,) = (info[0] for info in infos if info[12].decode() == name)
        rest = bullet.getLinkState(body, link, physicsClientId=client)[4:6]
        links[name] = body, link, bullet.invertTransform(*rest)

    def move(name, position, rotation):
        body, _, from_link = links[name]
        w, *xyz = rotation
        pose = bullet.multiplyTransforms(position, (*xyz, w), *from_link)
        bullet.resetBasePositionAndOrientation(body, *pose, physicsClientId=client)

    def distance(a, b):
        (first, link, _), (second, other, _) = links[a], links[b]
        found = bullet.getClosestPoints(first, second, 0.05, link, other, physicsClientId=client)
        return min((point[8] for point in found), default=0.05)

    return move, distance


@pytest.mark.parametrize("shape", ["obb", "sphere", "capsule"])
def test_first_contacts_of_links_in_bullet_match_document(animated, free_bodies, shape):
    bullet = pytest.importorskip("pybullet")
    client = bullet.connect(bullet.DIRECT)
    functions = moved_links(bullet, client, free_bodies / f"{shape}.urdf", animated.bounds)
    assert_first_contacts(animated, shape, *functions, CUT_OFF if shape == "obb" else 2e-6)
    bullet.disconnect(client)


def segment_distance(Gf, first, second) -> float:
    """Distance of two segments: between their insides, or from an end of one to the other by USD.

    `Gf.FindClosestPoints` of two segments is wrong where a closest point is an end.
    """
    found = []
    for (a, b), points in ((first, second), (second, first)):
        for point in points:
            closest = a if a == b else Gf.LineSeg(a, b).FindClosestPoint(point)[0]
            found.append((closest - point).GetLength())
    along, other = (np.array(end - begin) for begin, end in (first, second))
    offset = np.array(second[0] - first[0])
    (s, t), *_ = np.linalg.lstsq(np.stack([along, -other], axis=1), offset, rcond=None)
    if 0 <= s <= 1 and 0 <= t <= 1:
        found.append(float(np.linalg.norm(offset + t * other - s * along)))
    return min(found)


@pytest.mark.parametrize("shape", ["sphere", "capsule"])
def test_first_contacts_of_prims_in_usd_match_document(animated, free_bodies, shape):
    """USD has distances of points, and so of spheres and capsules; it has none of boxes and meshes."""
    Gf = pytest.importorskip("pxr.Gf")
    Usd, UsdGeom = pytest.importorskip("pxr.Usd"), pytest.importorskip("pxr.UsdGeom")
    stage = Usd.Stage.Open(str(free_bodies / f"{shape}.usda"))
    prims = prims_by_name(stage)
    moved = {name: UsdGeom.Xformable(prim).MakeMatrixXform() for name, prim in prims.items()}
    colliders = {name: colliders_of(prim)[0] for name, prim in prims.items()}
    kind = UsdGeom.Sphere if shape == "sphere" else UsdGeom.Capsule
    radii = {name: kind(prim).GetRadiusAttr().Get() for name, prim in colliders.items()}

    def move(name, position, rotation):
        w, x, y, z = rotation.tolist()
        turn = Gf.Rotation(Gf.Quatd(w, x, y, z))
        moved[name].Set(Gf.Matrix4d(turn, Gf.Vec3d(*position.tolist())))

    def segment(name):
        matrix = UsdGeom.Xformable(colliders[name]).ComputeLocalToWorldTransform(Usd.TimeCode.Default())
        half = 0.0 if shape == "sphere" else kind(colliders[name]).GetHeightAttr().Get() / 2
        return [matrix.Transform(Gf.Vec3d(0, 0, z)) for z in (-half, half)]

    def distance(a, b):
        return segment_distance(Gf, segment(a), segment(b)) - radii[a] - radii[b]

    assert_first_contacts(animated, shape, move, distance, tolerance=2e-6)
