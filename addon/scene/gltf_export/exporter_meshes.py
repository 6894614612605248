"""Meshes of Blender's glTF exporter: vertices by the parts that get a collider each, and convex hulls."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core import ConvexHull, hull_from_points
from ...core.numeric.arrays import Floats, require_finite
from ...core.numeric.components import connected_components
from ...formats.export.gltf_collider_nodes import NodeFrame, node_matrix
from ..blender.parts.weights import rows_by_label
from ..fitting.fit import cut_rounding, inflated_points
from ..fitting.parts import split_points
from ..settings import FitSettings

_TRIANGLES = 4
_DTYPES = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
_FLOAT, _UNSIGNED_BYTE = 5126, 5121
_VERTICES, _INDICES = 34962, 34963
_ROUNDING = 64 * float(np.finfo(np.float64).eps)


class ExportedPart(NamedTuple):
    """Points of a part of a mesh, in the space of its node.

    points : (n, 3) float32, or float64 for a convex part
    rounding : Largest error of the points in the world.
    """

    points: NDArray[Any]
    rounding: float = 0.0


def exported_parts(
    mesh: Any, matrix: Floats, splits_loose_parts: bool, fit: FitSettings
) -> list[ExportedPart]:
    """Split the vertices of a mesh by loose parts, if requested, and each by convex parts.

    mesh : The mesh of a node.
    matrix : (4, 4) float64. World matrix of the node.
    splits_loose_parts : Whether each loose part is split by itself.
    fit : With the limits of each split.
    Raises CollisionBoundsError: if vertices are not finite.
    """
    points = np.concatenate([_positions(mesh, primitive) for primitive in mesh.primitives])
    if fit.parts == 1 and not splits_loose_parts:
        return [ExportedPart(points)]
    triangles = _triangles(mesh)
    groups = [np.arange(len(points))]
    if splits_loose_parts:
        # Vertices in the same position are one, because the exporter splits them at seams.
        welded = np.unique(points, axis=0, return_inverse=True)[1].reshape(-1)
        edges = welded[np.concatenate([triangles[:, :2], triangles[:, 1:]])].astype(np.int32)
        labels = connected_components(int(welded.max(initial=-1)) + 1, edges)
        groups = rows_by_label(np.asarray(labels[welded]))
    if fit.parts == 1:
        return [ExportedPart(points[rows]) for rows in groups]
    parts = []
    for rows in groups:
        place = np.full(len(points), -1, dtype=np.int32)
        place[rows] = np.arange(len(rows))
        faces = place[triangles[place[triangles[:, 0]] >= 0]]
        split = [points[rows]]
        if len(faces):
            split = split_points(points[rows], faces, matrix[:3, :3], fit)
        rounding = cut_rounding(points[rows], matrix[:3, :3]) if len(split) > 1 else 0.0
        parts += [ExportedPart(part, rounding) for part in split]
    return parts


def _positions(mesh: Any, primitive: Any) -> NDArray[np.float32]:
    """Vertices (n, 3) of a primitive, with shape keys at their current values."""
    points = _accessor_values(primitive.attributes["POSITION"]).reshape(-1, 3)
    for weight, target in zip(mesh.weights or (), primitive.targets or (), strict=False):
        if weight and "POSITION" in target:
            offsets = _accessor_values(target["POSITION"]).reshape(-1, 3).astype(np.float64)
            points = (points + weight * offsets).astype(np.float32)
    return points


def _accessor_values(accessor: Any) -> NDArray[Any]:
    """Values of an accessor of the exporter, sparse or not, as a flat array."""
    dtype = _DTYPES[int(accessor.component_type)]
    width = {"SCALAR": 1, "VEC3": 3}[str(getattr(accessor.type, "value", accessor.type))]
    if accessor.buffer_view is not None:
        return np.frombuffer(accessor.buffer_view.data, dtype=dtype)[: accessor.count * width]
    values = np.zeros((accessor.count, width), dtype=dtype)
    sparse = accessor.sparse
    if sparse is not None:
        rows = np.frombuffer(sparse.indices.buffer_view.data, _DTYPES[int(sparse.indices.component_type)])
        replaced = np.frombuffer(sparse.values.buffer_view.data, dtype=dtype)
        values[rows[: sparse.count]] = replaced.reshape(-1, width)[: sparse.count]
    return values.reshape(-1)


def _triangles(mesh: Any) -> NDArray[np.int32]:
    """Triangles (t, 3) of all primitives, as rows of the vertices of the mesh."""
    found = [np.empty((0, 3), dtype=np.int32)]
    start = 0
    for primitive in mesh.primitives:
        if primitive.indices is not None and primitive.mode in (None, _TRIANGLES):
            found.append(_accessor_values(primitive.indices).reshape(-1, 3).astype(np.int32) + start)
        start += primitive.attributes["POSITION"].count
    return np.concatenate(found)


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
