"""Checks that are used for several engines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from tests.engines.from_blender import AnimatedExport

CUT_OFF = 2e-3 * (3**0.5 - 1)
"""Bullet rounds corners and edges of boxes by a margin, which pybullet sets to a thousandth. At each of two
corners, the rounding removes the diagonal of a cube with that side, minus the side."""

TO_SPACE = {
    "blender": [(1, 0, 0), (0, 1, 0), (0, 0, 1)],
    "gltf": [(1, 0, 0), (0, 0, 1), (0, -1, 0)],
    "unity": [(-1, 0, 0), (0, 0, 1), (0, -1, 0)],
    "unreal": [(100, 0, 0), (0, -100, 0), (0, 0, 100)],
}
"""Matrices from Blender to each space, written down from the documentation of each engine."""

NO_ROTATION = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Volume:
    """A sphere, a box, or a capsule or cylinder along its Z axis.

    Attributes
    ----------
    kind : str
        "sphere", "box", "capsule" or "cylinder".
    sizes : tuple of float
        The radius; the half extents; or the radius and the half length, without the ends of a capsule.
    position : tuple of float
    rotation : tuple of float
        Quaternion (x, y, z, w).
    """

    kind: str
    sizes: tuple[float, ...]
    position: tuple[float, ...]
    rotation: tuple[float, ...] = NO_ROTATION


def volume_of(shapes: dict[str, Any], shape: str) -> Volume:
    """Convert a shape of a document to a volume."""
    numbers = shapes[shape]
    if shape == "sphere":
        return Volume("sphere", (numbers["radius"],), tuple(numbers["center"]))
    if shape == "obb":
        return Volume(
            "box", tuple(numbers["halfExtents"]), tuple(numbers["center"]), tuple(numbers["rotation"])
        )
    if shape in ("capsule", "cylinder"):
        sizes = numbers["radius"], numbers["halfLength"]
        return Volume(shape, sizes, tuple(numbers["center"]), _rotation_to(np.array(numbers["axis"])))
    low, high = np.array(numbers["min"]), np.array(numbers["max"])
    return Volume("box", tuple((high - low) / 2), tuple((high + low) / 2))


def _rotation_to(axis: np.ndarray) -> tuple[float, ...]:
    """Quaternion (x, y, z, w) that rotates the Z axis to an axis of any length."""
    x, y, z = axis / np.linalg.norm(axis)
    if z < 0:  # a capsule along the opposite direction is the same
        x, y, z = -x, -y, -z
    quaternion = np.array([-y, x, 0.0, 1 + z])
    return tuple((quaternion / np.linalg.norm(quaternion)).tolist())


def convert_vertices(space: str, vertices: np.ndarray) -> np.ndarray:
    """Convert points (n, 3) from Blender's space."""
    return vertices @ np.array(TO_SPACE[space], dtype=np.float64).T


def assert_encloses_tightly(
    outside: np.ndarray, points: np.ndarray, size: float, name: str, precision: float
) -> None:
    """Check that no point is outside, and that one is on the surface.

    Parameters
    ----------
    outside : (n,) float
        Signed distance of each point from the surface; negative inside.
    points : (n, 3) float
        Vertices of the object.
    size : float
        Size of the volume.
    name : str
        Name of the object, for the message.
    precision : float
        Tolerance for points inside the surface, relative to the size plus the distance from the origin.
    """
    far = float(np.abs(points).max())
    assert outside.max() <= 4 * np.finfo(float).eps * (far + size), name
    assert outside.max() >= -precision * (far + size), name


def assert_box_encloses_tightly(low: np.ndarray, high: np.ndarray, points: np.ndarray, name: str) -> None:
    """Check that an axis-aligned box encloses points (n, 3), one on each side."""
    for side in (points - high, low - points):
        for axis in range(3):
            assert_encloses_tightly(side[:, axis], points, float((high - low).max()), name, 1e-6)


def assert_sphere_encloses_tightly(sphere: np.ndarray, points: np.ndarray, name: str) -> None:
    """Check that a sphere (4,), center and radius, encloses points (n, 3), one on its surface."""
    assert_encloses_tightly(
        np.linalg.norm(points - sphere[:3], axis=1) - sphere[3], points, sphere[3], name, 1e-6
    )


def assert_overlaps_match(
    names: Sequence[str],
    contacts: Iterable[dict[str, Any]],
    distance: Callable[[int, int], float],
    uncertainty: Callable[[int, int], float],
) -> None:
    """Check that the pairs that overlap in the engine are those of the document.

    Parameters
    ----------
    names : sequence of str
        Ids of the objects.
    contacts : iterable of dict
        Contacts of the document.
    distance : callable
        Signed distance of two objects in the engine, by their indices.
    uncertainty : callable
        Distance of two objects below which the engine can be wrong, by their indices.
    """
    expected = {frozenset((each["a"], each["b"])) for each in contacts}
    count = 0
    for a, b in combinations(range(len(names)), 2):
        gap = distance(a, b)
        if abs(gap) > uncertainty(a, b):
            assert (frozenset((names[a], names[b])) in expected) == (gap < 0), (names[a], names[b], gap)
            count += gap < 0
    assert count > 2


def assert_first_contacts(
    animated: AnimatedExport,
    shape: str,
    move: Callable[[str, Any, Any], object],
    distance: Callable[[str, str], float],
    tolerance: float,
    slack: float = 5e-5,
) -> None:
    """Compare first contacts of a shape with distances of pairs, after `move` has put objects to poses.

    Of bones, pairs with objects are compared: those of bones of one object, and of plates, are no contacts.
    """
    document = animated.documents[shape]
    names = [entry["id"] for entry in document["objects"]]
    is_bone = {name: bool(animated.bounds[name].get("bone")) for name in names}
    pairs = list(combinations(names, 2))
    if any(is_bone.values()):
        pairs = [(a, b) for a, b in pairs if is_bone[a] != is_bone[b]]
    gaps = np.empty((len(pairs), len(animated.times)))
    for t in range(len(animated.times)):
        for name in names:
            move(name, animated.positions[name][t], animated.rotations[name][t])
        gaps[:, t] = [distance(*sorted(pair)) for pair in pairs]
    by_pair = dict(zip(map(frozenset, pairs), gaps, strict=True))
    assert_first_contacts_match(document, animated.times, by_pair, tolerance, slack)


def in_bullet(bullet: Any, bodies: dict[str, int]) -> tuple[Callable[..., None], Callable[..., float]]:
    """Return functions that move a body to a position and rotation, and that measure the distance of two."""

    def move(name: str, position: Any, rotation: Any) -> None:
        w, *xyz = rotation
        bullet.resetBasePositionAndOrientation(bodies[name], position, (*xyz, w))

    return move, lambda a, b: distance_in_bullet(bullet, bodies[a], bodies[b], 0.05)


def distance_in_bullet(bullet: Any, a: int, b: int, limit: float, *links: int) -> float:
    """Signed distance of two bodies, or of a link of each, or the limit if it is larger."""
    return min((point[8] for point in bullet.getClosestPoints(a, b, limit, *links)), default=limit)


def assert_first_contacts_match(
    document: dict[str, Any],
    times: np.ndarray,
    gaps: dict[frozenset[str], np.ndarray],
    tolerance: float,
    slack: float,
) -> None:
    """Check that pairs are apart in the engine until the document's first contact, and touch then.

    Parameters
    ----------
    document : dict
        Document with contacts.
    times : (t,) float
        In frames.
    gaps : dict of frozenset of str to (t,) float
        Signed distance of each pair in the engine.
    tolerance : float
        Error of the engine's distances.
    slack : float
        Error of the times of the poses, in frames.
    """
    first = {frozenset((each["a"], each["b"])): each["first"] for each in document["contacts"]}
    assert len(first) >= 3
    for pair, gap in gaps.items():
        if pair not in first:
            assert (gap > -tolerance).all(), pair
            continue
        frame, uncertainty = first[pair]["frame"], first[pair]["uncertainty"] + slack
        assert (gap[times < frame - uncertainty] > -tolerance).all(), pair
        after = (times >= frame + uncertainty) & (times < frame + 0.003)
        assert after.any() and (gap[after] < tolerance).all(), (pair, gap[after])
