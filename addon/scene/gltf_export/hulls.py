"""Convex hulls for Blender's glTF exporter: meshes of the file that only colliders refer to."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import ConvexHull, hull_from_points
from ...core.numeric.arrays import Floats, require_finite
from ...formats.export.gltf_collider_nodes import NodeFrame, node_matrix
from ..fitting.inflation import inflated_points
from .mesh_parts import ExportedPart

_FLOAT, _UNSIGNED_BYTE = 5126, 5121
_VERTICES, _INDICES = 34962, 34963
_ROUNDING = 64 * float(np.finfo(np.float64).eps)


class HullCache:
    """Hulls of one export, each made once for all nodes with the same vertices and scale."""

    def __init__(self, max_vertices: int) -> None:
        """Start empty. Hulls get at most `max_vertices` vertices, at least 4."""
        self._max_vertices = max_vertices
        self._known: dict[object, Any] = {}

    def mesh(self, name: str, part: ExportedPart, linear: Floats, frame: NodeFrame, padding: float) -> Any:
        """Make the hull of a node's vertices, or of a part of them, for a collider node below it.

        No point is above any face, whether or not readers normalize quaternions, or take only the rotation of
        the world matrix.

        name : Name of the mesh in the file.
        part : Vertices in the space of the node.
        linear : (3, 3) float64. Linear part of the node's world matrix.
        frame : Rotation and scale of the collider node.
        padding : Length in world units.
        Raises CollisionBoundsError: if there is no such hull.
        """
        points = part.points
        require_finite(points, "vertices")
        axes = node_matrix(np.zeros(3), frame.rotation, frame.scale)[:3, :3]
        local = _to_frame(axes, points)
        # The frame has the unit of the world, as the rounding has.
        slack = _slack(local, points, linear, axes, frame) + part.rounding
        # A power of two, so that it is equal for all nodes with the same scale, however they are rotated.
        slack = float(2.0 ** np.ceil(np.log2(2 * slack))) if slack else 0.0
        key = points.tobytes(), axes.tobytes(), padding, slack
        if key not in self._known:
            around = inflated_points(local, np.eye(3), np.ones(3), padding)
            self._known[key] = _exporter_mesh(
                name, hull_from_points(around, self._max_vertices, margin=slack)
            )
        return self._known[key]


def _to_frame(axes: Floats, points: NDArray[Any]) -> Floats:
    """Points (n, 3) in the coordinates of a frame with axes (3, 3)."""
    return np.asarray(np.linalg.solve(axes, points.astype(np.float64).T).T, dtype=np.float64)


def _slack(local: Floats, points: NDArray[Any], linear: Floats, axes: Floats, frame: NodeFrame) -> float:
    """Error with which a reader may place points `local` (n, 3) of a collider's frame."""
    world = linear @ axes
    deviation = float(np.abs(world.T @ world - np.eye(3)).max())
    if np.array_equal(axes, np.eye(3)) and deviation <= _ROUNDING:
        return 0.0
    # A reader that does not normalize a quaternion rotates by another angle.
    rotation = axes / frame.scale - np.eye(3)
    unnormalized = (np.eye(3) + rotation * float((frame.rotation**2).sum())) * frame.scale
    extent = float(np.abs(points).max(initial=0)) / float(np.abs(frame.scale).min())
    slack = float(np.abs(_to_frame(unnormalized, points) - local).max(initial=0))
    return slack + deviation * float(np.abs(local).max(initial=0)) + _ROUNDING * extent


def _exporter_mesh(name: str, hull: ConvexHull) -> Any:
    """Make a mesh of the exporter."""
    from io_scene_gltf2.io.com import gltf2_io

    vertices = hull.vertices.astype(np.float32)
    # A hull has at most 255 vertices, so indices fit into bytes.
    indices = hull.faces.astype(np.uint8)
    limits = {"min": vertices.min(axis=0).tolist(), "max": vertices.max(axis=0).tolist()}
    positions = _accessor(vertices, _FLOAT, "VEC3", _VERTICES, **limits)
    index_accessor = _accessor(indices.reshape(-1), _UNSIGNED_BYTE, "SCALAR", _INDICES)
    unset = ("extensions", "extras")
    primitive = gltf2_io.MeshPrimitive(
        attributes={"POSITION": positions},
        indices=index_accessor,
        **dict.fromkeys((*unset, "material", "mode", "targets")),
    )
    return gltf2_io.Mesh(name=name, primitives=[primitive], **dict.fromkeys((*unset, "weights")))


def _accessor(values: Any, component_type: int, type_name: str, target: int, **limits: list[float]) -> Any:
    """Make an accessor of the exporter."""
    from io_scene_gltf2.io.com import gltf2_io

    unset = ("byte_offset", "extensions", "extras", "max", "min", "name", "normalized", "sparse")
    return gltf2_io.Accessor(
        buffer_view=_binary_data()(values.tobytes(), target),
        component_type=component_type,
        count=len(values),
        type=type_name,
        **{**dict.fromkeys(unset), **limits},
    )


def _binary_data() -> Any:
    """Class of the exporter for bytes, whose module had another name in Blender 4.2."""
    try:
        return import_module("io_scene_gltf2.io.exp.binary_data").BinaryData
    except ImportError:
        return import_module("io_scene_gltf2.io.exp.gltf2_io_binary_data").BinaryData
