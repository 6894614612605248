"""Random convex parts of a document, and points of their surfaces in plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from addon.core import hull_from_points

Part = dict[str, Any]


def random_parts(random: np.random.Generator, count: int) -> list[Part]:
    """Return parts whose kinds take turns: hull, box, sphere, capsule."""
    parts: list[Part] = []
    for number in range(count):
        center, size = random.normal(size=3) * 20, random.uniform(0.1, 3, 3)
        turn = random.normal(size=4)
        axis = random.normal(size=3)
        vertices = center + random.normal(size=(12, 3)) * size
        if number % 4 == 0:
            hull = hull_from_points(vertices)
            parts.append({"hull": {"vertices": hull.vertices.tolist(), "faces": hull.faces.tolist()}})
            continue
        parts.append(
            {
                1: {
                    "obb": {
                        "center": center.tolist(),
                        "halfExtents": size.tolist(),
                        "rotation": (turn / np.linalg.norm(turn)).tolist(),
                    }
                },
                2: {"sphere": {"center": center.tolist(), "radius": float(size[0])}},
                3: {
                    "capsule": {
                        "center": center.tolist(),
                        "axis": (axis / np.linalg.norm(axis)).tolist(),
                        "halfLength": float(size[1]),
                        "radius": float(size[0]),
                    }
                },
            }[number % 4]
        )
    return parts


def sampled(part: Part) -> np.ndarray:
    """Return points (n, 3) of the surface of a part, among them its corners or ends."""
    ((kind, shape),) = part.items()
    if kind == "hull":
        return np.array(shape["vertices"])
    center = np.array(shape["center"])
    if kind == "obb":
        signs = np.array([[1 if k >> axis & 1 else -1 for axis in range(3)] for k in range(8)])
        x, y, z, w = shape["rotation"]
        vector, corners = np.array([x, y, z]), signs * shape["halfExtents"]
        return (
            center
            + corners
            + 2 * (w * np.cross(vector, corners) + np.cross(vector, np.cross(vector, corners)))
        )
    directions = np.random.default_rng(0).normal(size=(4000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    if kind == "sphere":
        return center + directions * shape["radius"]
    axis = np.array(shape["axis"])
    # The ends, with the points that are farthest along the axis.
    directions = np.concatenate([directions, axis[None], -axis[None]])
    ends = np.where((directions @ axis >= 0)[:, None], 1, -1) * shape["halfLength"] * axis
    return center + ends + directions * shape["radius"]
