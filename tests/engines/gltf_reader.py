"""Reader of glTF colliders that shares no code with the writer."""

from __future__ import annotations

import base64

import numpy as np

from tests.engines.exact_hulls import convex_mesh, numbers

PHYSICS = {"OMI_physics_body": "OMI_physics_shape", "KHR_physics_rigid_bodies": "KHR_implicit_shapes"}


def matrix(node: dict, unit_length: bool) -> np.ndarray:
    """Compose the matrix of a node as defined by the specification.

    Parameters
    ----------
    node : dict
        Node of a glTF file.
    unit_length : bool
        Whether the quaternion is normalized, which some readers do not do.

    Returns
    -------
    matrix : (4, 4) float64
    """
    x, y, z, w = (np.array(node.get("rotation", (0, 0, 0, 1)))).tolist()
    s = 2 / (x * x + y * y + z * z + w * w) if unit_length else 2
    rotation = np.array(
        [
            [1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)],
            [s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w)],
            [s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y)],
        ]
    )
    result = np.eye(4)
    result[:3, :3] = rotation * node.get("scale", (1, 1, 1))
    result[:3, 3] = node.get("translation", (0, 0, 0))
    return result


def colliders(file: dict, unit_length: bool = True) -> list[tuple[str, dict, np.ndarray]]:
    """Extension, shape and world matrix of each collider of a file with two levels of nodes."""
    found_colliders = []
    for index in file["scenes"][0]["nodes"]:
        root = file["nodes"][index]
        for child in root.get("children", ()):
            node = file["nodes"][child]
            world = matrix(root, unit_length) @ matrix(node, unit_length)
            for body, extension in node["extensions"].items():
                collider = extension["collider"]
                shape = collider["geometry"]["shape"] if body.startswith("KHR") else collider["shape"]
                found_colliders.append((body, file["extensions"][PHYSICS[body]]["shapes"][shape], world))
    return found_colliders


def reach(shape: dict, world: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Relative position of points (n, 3) in a shape: 1 is on its surface."""
    if shape["type"] == "sphere":
        return np.linalg.norm(points - world[:3, 3], axis=1) / shape["sphere"]["radius"]
    local = (points - world[:3, 3]) @ np.linalg.inv(world[:3, :3]).T
    return np.abs(local / (np.array(shape["box"]["size"]) / 2)).max(axis=1)


def convex_colliders(file: dict) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Name of the root, vertices (v, 3) in the world and faces (f, 3) of each convex collider of OMI."""
    data = base64.b64decode(file["buffers"][0]["uri"].split(",")[1])
    found = []
    for root in (file["nodes"][index] for index in file["scenes"][0]["nodes"]):
        for node in (file["nodes"][index] for index in root.get("children", ())):
            mesh = convex_mesh(file, node["extensions"], "omi")
            (primitive,) = file["meshes"][mesh]["primitives"]
            vertices = numbers(file, data, primitive["attributes"]["POSITION"])
            faces = numbers(file, data, primitive["indices"]).reshape(-1, 3)
            world = matrix(root, True) @ matrix(node, True)
            found.append((root["name"], vertices @ world[:3, :3].T + world[:3, 3], faces))
    return found
