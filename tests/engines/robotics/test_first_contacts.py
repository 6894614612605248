"""First contacts of URDF files in Bullet and of stages in Pixar's USD, with the poses of Blender."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.engines.checks import CUT_OFF, assert_first_contacts, distance_in_bullet
from tests.engines.robotics.test_usd_stages import colliders_of, prims_by_name


def moved_links(bullet, path, names) -> tuple[Callable[..., None], Callable[[str, str], float]]:
    """Return functions that move the link of an object to a pose, and that measure the distance of two links.

    Joints of the file are fixed, so it is loaded once for each object, and moved as a whole.
    """
    links = {}
    for name in names:
        # A capsule is a cylinder and two spheres, and without the flag, the cylinder is a polygon.
        flags = bullet.URDF_USE_IMPLICIT_CYLINDER
        body = bullet.loadURDF(str(path), useFixedBase=True, flags=flags)
        joints = range(bullet.getNumJoints(body))
        infos = [bullet.getJointInfo(body, joint) for joint in joints]
        (link,) = (info[0] for info in infos if info[12].decode() == name)
        rest = bullet.getLinkState(body, link)[4:6]
        links[name] = body, link, bullet.invertTransform(*rest)

    def move(name, position, rotation):
        body, _, from_link = links[name]
        w, *xyz = rotation
        bullet.resetBasePositionAndOrientation(
            body, *bullet.multiplyTransforms(position, (*xyz, w), *from_link)
        )

    def distance(a, b):
        (first, link, _), (second, other, _) = links[a], links[b]
        return distance_in_bullet(bullet, first, second, 0.05, link, other)

    return move, distance


@pytest.mark.parametrize("shape", ["obb", "sphere", "capsule"])
def test_first_contacts_of_links_in_bullet_match_document(animated, free_bodies, bullet, shape):
    functions = moved_links(bullet, free_bodies / f"{shape}.urdf", animated.bounds)
    assert_first_contacts(animated, shape, *functions, CUT_OFF if shape == "obb" else 2e-6)


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
