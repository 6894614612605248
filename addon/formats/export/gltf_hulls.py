"""Convex hulls in glTF files without other meshes: their vertices and faces, in a buffer inside the file."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np

from ...core import Capsule, ConvexHull, InvalidShapeError, Obb, capsule_surface, hull_from_points
from ...core.numeric.arrays import Floats
from ...core.numeric.floating_point import nearest_float32
from .gltf_collider_nodes import PARENT_FRAME, Collider, fit_collider, require_finite_numbers

_FLOAT, _UNSIGNED_BYTE = 5126, 5121
_VERTICES, _INDICES = 34962, 34963
_MOST_VERTICES = 255
"""Indices of so many vertices fit into bytes, whose largest number is reserved."""
_ROUNDING = 16 * float(np.finfo(np.float64).eps)


def fit_hull(parent: Floats, vertices: Floats, relative_error: float = 0.0) -> Collider:
    """Fit a convex hull that encloses other points, as the child of a node without scale.

    No point is above any face for readers in double precision, whether they normalize quaternions or not.

    parent : (4, 4) float. World matrix of the parent node, a rotation and a translation.
    vertices : (n, 3) float64. World-space points whose hull has a volume, such as the vertices of a hull.
    relative_error : Relative difference that readers can have in the linear part of `parent`.
    Returns collider : Collider. With a hull; a box along the axes of the parent if there is no such hull in
        single precision.
    Raises GltfError: when its numbers overflow in single precision.
    """
    linear = parent[:3, :3]
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    from_parent = low / 2 + high / 2 - parent[:3, 3]
    translation = nearest_float32(np.linalg.solve(linear, from_parent))
    require_finite_numbers(translation)
    origin = linear @ translation + parent[:3, 3]
    local = np.linalg.solve(linear, (vertices - origin).T).T
    # A reader can use quaternions without normalizing, which scales the node as far as its parent's origin.
    deviation = relative_error + float(np.abs(linear.T @ linear - np.eye(3)).max())
    distance = float(np.linalg.norm(from_parent)) + float(np.linalg.norm(high - low))
    slack = deviation * distance + _ROUNDING * (float(np.abs(vertices).max()) + distance)
    try:
        hull = hull_from_points(local, _MOST_VERTICES, margin=slack)
    except InvalidShapeError:
        half = np.abs(local).max(axis=0)
        return fit_collider(parent, PARENT_FRAME, Obb(origin, half, linear), relative_error)
    require_finite_numbers(hull.vertices)
    return Collider(translation, PARENT_FRAME.rotation, PARENT_FRAME.scale, {}, hull)


def capsule_hull(height: float, radius: float) -> ConvexHull:
    """Make a hull around a capsule along the Y axis, with 202 vertices: up to 2.5 % larger.

    height : Between the centers of the ends.
    radius : Of the ends.
    Raises GltfError: when its numbers overflow in single precision.
    """
    surface = capsule_surface(Capsule(np.zeros(3), np.array([0.0, 1.0, 0.0]), height / 2, radius))
    require_finite_numbers(surface.vertices)
    triangles = [(face[0], *face[k : k + 2]) for face in surface.faces for k in range(1, len(face) - 1)]
    return ConvexHull(surface.vertices, np.array(triangles))


class HullMeshes:
    """The meshes of a file, each a convex hull, in one buffer."""

    def __init__(self) -> None:
        self._meshes: dict[bytes, tuple[int, str]] = {}
        self._accessors: list[dict[str, Any]] = []
        self._views: list[dict[str, Any]] = []
        self._data = bytearray()

    def index_of(self, name: str, hull: ConvexHull) -> int:
        """Return the index of the mesh of a hull; equal hulls are written once, with the first name."""
        vertices, faces = hull.vertices.astype("<f4"), hull.faces.astype(np.uint8)
        new = len(self._meshes)
        index, _ = self._meshes.setdefault(vertices.tobytes() + faces.tobytes(), (new, name))
        if index == new:
            limits = {"min": vertices.min(axis=0).tolist(), "max": vertices.max(axis=0).tolist()}
            self._add(vertices.tobytes(), _VERTICES, _FLOAT, len(vertices), "VEC3", limits)
            self._add(faces.tobytes(), _INDICES, _UNSIGNED_BYTE, faces.size, "SCALAR", {})
        return index

    def _add(
        self, data: bytes, target: int, component: int, count: int, kind: str, limits: dict[str, Any]
    ) -> None:
        """Add an accessor, which begins at a multiple of four bytes."""
        self._data += bytes(-len(self._data) % 4)
        self._views.append(
            {"buffer": 0, "byteOffset": len(self._data), "byteLength": len(data), "target": target}
        )
        self._data += data
        accessor = {"bufferView": len(self._views) - 1, "componentType": component, "count": count}
        self._accessors.append({**accessor, "type": kind, **limits})

    def properties(self) -> dict[str, Any]:
        """Return the properties of the file that hold the meshes; none without meshes."""
        if not self._meshes:
            return {}
        meshes = [
            {"name": name, "primitives": [{"attributes": {"POSITION": 2 * index}, "indices": 2 * index + 1}]}
            for index, name in self._meshes.values()
        ]
        uri = "data:application/octet-stream;base64," + b64encode(self._data).decode("ascii")
        return {
            "meshes": meshes,
            "accessors": self._accessors,
            "bufferViews": self._views,
            "buffers": [{"byteLength": len(self._data), "uri": uri}],
        }
