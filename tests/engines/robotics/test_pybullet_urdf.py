"""URDF in Bullet: links enclose the vertices, and overlap as the document says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.engines.checks import CUT_OFF, assert_overlaps_match, distance_in_bullet

SHAPES = ("sphere", "aabb", "obb", "spheres", "capsule", "cylinder", "compound")


def load(bullet: Any, path) -> tuple[int, dict[str, int]]:
    """Load a URDF; return the body, and the indices of its links by their names."""
    # Without the flag, Bullet has a polygon inside of a cylinder.
    flags = bullet.URDF_USE_IMPLICIT_CYLINDER
    body = bullet.loadURDF(str(path), useFixedBase=True, flags=flags)
    count = bullet.getNumJoints(body)
    infos = [bullet.getJointInfo(body, joint) for joint in range(count)]
    assert all(info[2] == bullet.JOINT_FIXED for info in infos)
    return body, {info[12].decode(): info[0] for info in infos}


@pytest.mark.parametrize("shape", SHAPES)
def test_links_are_those_of_the_document_and_their_boxes_enclose_vertices(robots, bullet, shape):
    body, indices = load(bullet, robots.folder / f"{shape}.urdf")
    links = robots.links()
    assert set(indices) == set(links)
    for name, entry in links.items():
        low, high = bullet.getAABB(body, indices[name])
        points = robots.vertices_of(entry)
        assert (points >= low).all() and (points <= high).all(), name
        position = bullet.getLinkState(body, indices[name])[4]
        np.testing.assert_allclose(position, entry["transform"]["translation"], rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("shape", ["sphere", "obb"])
def test_overlapping_pairs_match_document(robots, bullet, shape):
    body, indices = load(bullet, robots.folder / f"{shape}.urdf")
    # Bullet has no distances within one body, so a second copy is compared with the first.
    copy, _ = load(bullet, robots.folder / f"{shape}.urdf")
    links = robots.links()
    rows = [indices[name] for name in links]
    sizes = []
    for row in rows:
        low, high = bullet.getAABB(body, row)
        sizes.append(max(np.subtract(high, low)))

    def distance(a: int, b: int) -> float:
        return distance_in_bullet(bullet, body, copy, 1e6, rows[a], rows[b])

    assert_overlaps_match(
        [entry["id"] for entry in links.values()],
        robots.document(f"{shape}_contacts.json")["contacts"],
        distance,
        lambda a, b: CUT_OFF + 1e-6 * (sizes[a] + sizes[b]),
    )
