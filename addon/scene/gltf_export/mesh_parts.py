"""Vertices of a mesh of Blender's glTF exporter, by the parts that get a collider each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Floats, Ints
from ...core.numeric.components import connected_components
from ..blender.parts.weights import rows_by_label
from ..fitting.fit import cut_rounding
from ..fitting.parts import depth_in_object, split_points
from ..settings import FitSettings

_TRIANGLES = 4
_DTYPES = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}


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
    groups = [np.arange(len(points))]
    if splits_loose_parts:
        groups = rows_by_label(_part_labels(mesh, points))
    if fit.parts == 1:
        return [ExportedPart(points[rows]) for rows in groups]
    triangles = _triangles(mesh)
    parts = []
    for rows in groups:
        parts += _convex_parts(points[rows], _renumbered(triangles, rows, len(points)), matrix, fit)
    return parts


def _convex_parts(
    points: NDArray[np.float32],
    triangles: NDArray[np.int32],
    matrix: Floats,
    fit: FitSettings,
) -> list[ExportedPart]:
    """Convex parts of a mesh; the mesh itself if it has no triangles."""
    if not len(triangles):
        return [ExportedPart(points)]
    linear = matrix[:3, :3]
    split = split_points(points, triangles, fit.parts, depth_in_object(fit.parts_tolerance, linear))
    rounding = cut_rounding(points, linear) if len(split) > 1 else 0.0
    return [ExportedPart(part, rounding) for part in split]


def _renumbered(triangles: NDArray[np.int32], rows: Ints, count: int) -> NDArray[np.int32]:
    """Triangles (k, 3) of a group of rows, as indices into the group."""
    places = np.full(count, -1, dtype=np.int32)
    places[rows] = np.arange(len(rows), dtype=np.int32)
    return np.asarray(places[triangles[places[triangles[:, 0]] >= 0]])


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


def _part_labels(mesh: Any, points: NDArray[np.float32]) -> NDArray[np.intp]:
    """Label of the loose part (n,) of each vertex; equal positions are welded, because seams split them."""
    _, welded = np.unique(points, axis=0, return_inverse=True)
    welded = welded.reshape(-1)
    corners = _triangles(mesh)
    edges = welded[np.concatenate([corners[:, :2], corners[:, 1:]])].astype(np.int32)
    return np.asarray(connected_components(int(welded.max(initial=-1)) + 1, edges)[welded])
