"""Reader of convex glTF colliders in exact fractions; shares no code with the writer."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.core.exact import Vector, cross, dot, subtract, vector

KINDS = {5121: "<u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}


class Hull(NamedTuple):
    """A convex collider and the vertices (n, 3) of the mesh above it, both in the space of its node."""

    name: str
    points: np.ndarray
    corners: list[Vector]
    faces: np.ndarray


def opened(path: Path) -> tuple[dict[str, Any], bytes]:
    """Read the JSON of a file and its only buffer."""
    data = path.read_bytes()
    if path.suffix == ".gltf":
        file = json.loads(data)
        return file, (path.parent / file["buffers"][0]["uri"]).read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    return json.loads(data[20 : 20 + length]), data[28 + length :]


def numbers(file: dict[str, Any], buffer: bytes, index: int) -> np.ndarray:
    """Read the numbers of an accessor."""
    accessor = file["accessors"][index]
    view = file["bufferViews"][accessor["bufferView"]]
    width = 3 if accessor["type"] == "VEC3" else 1
    start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    return np.frombuffer(buffer, KINDS[accessor["componentType"]], accessor["count"] * width, start).reshape(
        -1, width
    )


def hulls(path: Path, extension: str, unit_length: bool) -> Iterator[Hull]:
    """Convex colliders below meshes without shape keys; quaternions are used as they are by some readers."""
    file, buffer = opened(path)
    for node in file["nodes"]:
        primitives = file["meshes"][node["mesh"]]["primitives"] if "mesh" in node else []
        if not primitives or any("targets" in part for part in primitives):
            continue
        parts = [numbers(file, buffer, part["attributes"]["POSITION"]) for part in primitives]
        for child in (file["nodes"][index] for index in node.get("children", ())):
            mesh = convex_mesh(file, child.get("extensions", {}), extension)
            if mesh is None:
                continue
            (part,) = file["meshes"][mesh]["primitives"]
            columns = turn(child, unit_length)
            corners = [
                placed(columns, vector(corner))
                for corner in numbers(file, buffer, part["attributes"]["POSITION"]).astype(np.float64)
            ]
            faces = numbers(file, buffer, part["indices"]).reshape(-1, 3)
            mirrored = dot(columns[0], cross(columns[1], columns[2])) < 0
            yield Hull(node["name"], np.concatenate(parts), corners, faces[:, ::-1] if mirrored else faces)


def convex_mesh(file: dict[str, Any], extensions: dict[str, Any], extension: str) -> int | None:
    """The mesh that a node's collider is the hull of, as each of the two specifications says it."""
    if extension == "khr":
        geometry = extensions.get("KHR_physics_rigid_bodies", {}).get("collider", {}).get("geometry", {})
        return geometry["mesh"] if geometry.get("convexHull") is True else None
    if "OMI_physics_body" not in extensions:
        return None
    shapes = file["extensions"]["OMI_physics_shape"]["shapes"]
    shape = shapes[extensions["OMI_physics_body"]["collider"]["shape"]]
    return shape["convex"]["mesh"] if shape["type"] == "convex" else None


def turn(node: dict[str, Any], unit_length: bool) -> list[Vector]:
    """The columns of the matrix of a node at its parent's origin, as the specification composes it."""
    assert "translation" not in node and "matrix" not in node
    # Files have decimals, of which loaders make numbers in single precision.
    x, y, z, w = vector(np.float32(node.get("rotation", (0, 0, 0, 1))))
    s = 2 / (x * x + y * y + z * z + w * w) if unit_length else Fraction(2)
    rotation = (
        (1 - s * (y * y + z * z), s * (x * y + z * w), s * (x * z - y * w)),
        (s * (x * y - z * w), 1 - s * (x * x + z * z), s * (y * z + x * w)),
        (s * (x * z + y * w), s * (y * z - x * w), 1 - s * (x * x + y * y)),
    )
    scale = vector(np.float32(node.get("scale", (1, 1, 1))))
    return [tuple(size * entry for entry in column) for size, column in zip(scale, rotation, strict=True)]


def placed(columns: list[Vector], corner: Vector) -> Vector:
    return tuple(sum(corner[k] * columns[k][row] for k in range(3)) for row in range(3))


def assert_holds(hull: Hull) -> None:
    """No vertex is above any face: exact where it is near, what float64 says lies deep below a face does."""
    vertices = np.array([[float(x) for x in corner] for corner in hull.corners])
    points = hull.points.astype(np.float64)
    a, b, c = (vertices[column] for column in hull.faces.T)
    normals = np.cross(b - a, c - a)
    heights = points @ normals.T - (normals * a).sum(axis=1)
    reach = np.abs(points).max() + np.abs(vertices).max()
    deep = 1e-12 * reach * np.linalg.norm(b - a, axis=1) * np.linalg.norm(c - a, axis=1)
    for row, column in np.argwhere(heights > -deep):
        first, second, third = (hull.corners[index] for index in hull.faces[column])
        normal = cross(subtract(second, first), subtract(third, first))
        assert dot(subtract(vector(points[row]), first), normal) <= 0, hull.name
