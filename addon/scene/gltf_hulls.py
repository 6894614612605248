"""Convex hulls for Blender's glTF export: meshes of the file that only colliders refer to."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import ConvexHull, hull_from_points
from ..core.arrays import Floats, require_finite
from ..formats.gltf_colliders import Turn, node_matrix
from .collider_shapes import swollen

_FLOAT, _UNSIGNED_BYTE = 5126, 5121
_VERTICES, _INDICES = 34962, 34963
_ROUNDINGS = 64 * float(np.finfo(np.float64).eps)


class Hulls:
    """The hulls of one export, each made once for all nodes that share vertices and scale.

    most : corners of each, at least 4
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[object, Any] = {}

    def mesh(self, name: str, points: NDArray[np.float32], linear: Floats, turn: Turn, padding: float) -> Any:
        """The hull of a node's points (n, 3) as a mesh of the exporter, for a node below it with a turn.

        linear : (3, 3) of the node in the world
        padding : in the world's unit

        Guarantee: no point is above any face, whether or not readers make quaternions unit length, or take
        the world's rotation alone. Raises CollisionBoundsError where there is no such hull.
        """
        require_finite(points, "vertices")
        axes = node_matrix(np.zeros(3), turn.rotation, turn.scale)[:3, :3]
        seen = _below(axes, points)
        slack = _slack(seen, points, linear, axes, turn)
        key = points.tobytes(), axes.tobytes(), padding, slack
        if key not in self._known:
            around = swollen(seen, np.eye(3), np.ones(3), padding)
            self._known[key] = _mesh(name, hull_from_points(around, self._most, margin=slack))
        return self._known[key]


def _below(axes: Floats, points: NDArray[np.float32]) -> Floats:
    return np.asarray(np.linalg.solve(axes, points.astype(np.float64).T).T, dtype=np.float64)


def _slack(seen: Floats, points: NDArray[np.float32], linear: Floats, axes: Floats, turn: Turn) -> float:
    """How far off from a node's points what is at `seen` in the turned one may be placed.

    A power of two, so that it is the same for all that are scaled alike, however they are turned.
    """
    world = linear @ axes
    loose = float(np.abs(world.T @ world - np.eye(3)).max())
    if np.array_equal(axes, np.eye(3)) and loose <= _ROUNDINGS:
        return 0.0
    # A quaternion of another length, used as it is, turns farther or less far.
    turned = axes / turn.scale - np.eye(3)
    as_it_is = (np.eye(3) + turned * float((turn.rotation**2).sum())) * turn.scale
    reach = float(np.abs(points).max(initial=0)) / float(np.abs(turn.scale).min())
    slack = float(np.abs(_below(as_it_is, points) - seen).max(initial=0))
    slack += loose * float(np.abs(seen).max(initial=0)) + _ROUNDINGS * reach
    return float(2.0 ** np.ceil(np.log2(2 * slack))) if slack else 0.0


def _mesh(name: str, hull: ConvexHull) -> Any:
    from io_scene_gltf2.io.com import gltf2_io

    vertices = hull.vertices.astype(np.float32)
    # At most 255 corners, so that their numbers fit into bytes.
    corners = hull.faces.astype(np.uint8)
    limits = {"min": vertices.min(axis=0).tolist(), "max": vertices.max(axis=0).tolist()}
    positions = _accessor(vertices, _FLOAT, "VEC3", _VERTICES, **limits)
    indices = _accessor(corners.reshape(-1), _UNSIGNED_BYTE, "SCALAR", _INDICES)
    nothing = ("extensions", "extras")
    primitive = gltf2_io.MeshPrimitive(
        attributes={"POSITION": positions},
        indices=indices,
        **dict.fromkeys((*nothing, "material", "mode", "targets")),
    )
    return gltf2_io.Mesh(name=name, primitives=[primitive], **dict.fromkeys((*nothing, "weights")))


def _accessor(values: Any, kind: int, form: str, target: int, **limits: list[float]) -> Any:
    from io_scene_gltf2.io.com import gltf2_io

    nothing = ("byte_offset", "extensions", "extras", "max", "min", "name", "normalized", "sparse")
    return gltf2_io.Accessor(
        buffer_view=_binary_data()(values.tobytes(), target),
        component_type=kind,
        count=len(values),
        type=form,
        **{**dict.fromkeys(nothing), **limits},
    )


def _binary_data() -> Any:
    """The exporter's class for bytes, whose module was called otherwise in Blender 4.2."""
    try:
        return import_module("io_scene_gltf2.io.exp.binary_data").BinaryData
    except ImportError:
        return import_module("io_scene_gltf2.io.exp.gltf2_io_binary_data").BinaryData
