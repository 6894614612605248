"""Reader of glTF colliders that shares no code with the writer."""

from __future__ import annotations

import numpy as np

PHYSICS = {"OMI_physics_body": "OMI_physics_shape", "KHR_physics_rigid_bodies": "KHR_implicit_shapes"}


def matrix(node: dict, unit_length: bool) -> np.ndarray:
    """Compose a node's matrix as the specification defines it; some readers do not normalize quaternions."""
    x, y, z, w = (np.array(node.get("rotation", (0, 0, 0, 1)))).tolist()
    s = 2 / (x * x + y * y + z * z + w * w) if unit_length else 2
    turn = np.array(
        [
            [1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)],
            [s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w)],
            [s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y)],
        ]
    )
    whole = np.eye(4)
    whole[:3, :3] = turn * node.get("scale", (1, 1, 1))
    whole[:3, 3] = node.get("translation", (0, 0, 0))
    return whole


def colliders(file: dict, unit_length: bool = True) -> list[tuple[str, dict, np.ndarray]]:
    """Extension, shape and world matrix of each collider of a file whose nodes are two deep."""
    found = []
    for index in file["scenes"][0]["nodes"]:
        root = file["nodes"][index]
        for child in root.get("children", ()):
            node = file["nodes"][child]
            world = matrix(root, unit_length) @ matrix(node, unit_length)
            for body, extension in node["extensions"].items():
                collider = extension["collider"]
                shape = collider["geometry"]["shape"] if body.startswith("KHR") else collider["shape"]
                found.append((body, file["extensions"][PHYSICS[body]]["shapes"][shape], world))
    return found


def reach(shape: dict, world: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Relative position of points (n, 3) in a shape: 1 is on its surface."""
    if shape["type"] == "sphere":
        return np.linalg.norm(points - world[:3, 3], axis=1) / shape["sphere"]["radius"]
    local = (points - world[:3, 3]) @ np.linalg.inv(world[:3, :3]).T
    return np.abs(local / (np.array(shape["box"]["size"]) / 2)).max(axis=1)
