"""Reader of convex glTF colliders that computes with exact fractions and shares no code with the writer."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.core.exact import Vector, cross, dot, subtract, vector, whole

COMPONENT_DTYPES = {5121: "<u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}


class Hull(NamedTuple):
    """A convex collider, and the vertices of the mesh that it belongs to, in the space of the mesh's node.

    Attributes
    ----------
    name : str
        Of the mesh's node.
    points : (n, 3) float32
        Vertices of the mesh.
    corners : list of Vector
        Vertices of the collider.
    faces : (f, 3) int
        Indices into `corners`.
    """

    name: str
    points: np.ndarray
    corners: list[Vector]
    faces: np.ndarray


def read_file(path: Path) -> tuple[dict[str, Any], bytes]:
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
    return np.frombuffer(
        buffer, COMPONENT_DTYPES[accessor["componentType"]], accessor["count"] * width, start
    ).reshape(-1, width)


def hulls(path: Path, extension: str, unit_length: bool) -> Iterator[Hull]:
    """Iterate over the convex colliders below meshes without shape keys.

    Parameters
    ----------
    path : Path
        Of a .gltf or .glb file.
    extension : str
        "omi" or "khr".
    unit_length : bool
        Whether quaternions are normalized, which some readers do not do.
    """
    file, buffer = read_file(path)
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
            columns = matrix_columns(child, unit_length)
            corners = [
                transform(columns, vector(corner))
                for corner in numbers(file, buffer, part["attributes"]["POSITION"]).astype(np.float64)
            ]
            faces = numbers(file, buffer, part["indices"]).reshape(-1, 3)
            mirrored = dot(columns[0], cross(columns[1], columns[2])) < 0
            yield Hull(node["name"], np.concatenate(parts), corners, faces[:, ::-1] if mirrored else faces)


def convex_mesh(file: dict[str, Any], extensions: dict[str, Any], extension: str) -> int | None:
    """Return the index of the mesh of a convex collider, as defined by an extension; None for other nodes."""
    if extension == "khr":
        geometry = extensions.get("KHR_physics_rigid_bodies", {}).get("collider", {}).get("geometry", {})
        return geometry["mesh"] if geometry.get("convexHull") is True else None
    if "OMI_physics_body" not in extensions:
        return None
    shapes = file["extensions"]["OMI_physics_shape"]["shapes"]
    shape = shapes[extensions["OMI_physics_body"]["collider"]["shape"]]
    return shape["convex"]["mesh"] if shape["type"] == "convex" else None


def matrix_columns(node: dict[str, Any], unit_length: bool) -> list[Vector]:
    """Columns of the matrix of a node without translation, as defined by the specification."""
    assert "translation" not in node and "matrix" not in node
    # Loaders convert the decimals of a file to single precision.
    x, y, z, w = vector(np.float32(node.get("rotation", (0, 0, 0, 1))))
    s = 2 / (x * x + y * y + z * z + w * w) if unit_length else Fraction(2)
    rotation = (
        (1 - s * (y * y + z * z), s * (x * y + z * w), s * (x * z - y * w)),
        (s * (x * y - z * w), 1 - s * (x * x + z * z), s * (y * z + x * w)),
        (s * (x * z + y * w), s * (y * z - x * w), 1 - s * (x * x + y * y)),
    )
    scale = vector(np.float32(node.get("scale", (1, 1, 1))))
    return [tuple(size * entry for entry in column) for size, column in zip(scale, rotation, strict=True)]


def transform(columns: list[Vector], corner: Vector) -> Vector:
    """Multiply a vector by a matrix."""
    return tuple(sum(corner[k] * columns[k][row] for k in range(3)) for row in range(3))


def assert_encloses(hull: Hull) -> None:
    """Check that no vertex is above any face.

    Vertices near a face are tested with exact fractions. For vertices far below it, float64 is sufficient.
    """
    vertices = np.array([[float(x) for x in corner] for corner in hull.corners])
    points = hull.points.astype(np.float64)
    a, b, c = (vertices[column] for column in hull.faces.T)
    normals = np.cross(b - a, c - a)
    heights = points @ normals.T - (normals * a).sum(axis=1)
    extent = np.abs(points).max() + np.abs(vertices).max()
    margin = 1e-12 * extent * np.linalg.norm(b - a, axis=1) * np.linalg.norm(c - a, axis=1)
    rows, columns = np.nonzero(heights > -margin)
    near = np.unique(rows).tolist()
    exact, _ = whole(*hull.corners, *(vector(hull.points[row]) for row in near))
    exact_point = dict(zip(near, exact[len(hull.corners) :], strict=True))
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        first, second, third = (exact[index] for index in hull.faces[column])
        normal = cross(subtract(second, first), subtract(third, first))
        assert dot(subtract(exact_point[row], first), normal) <= 0, hull.name
