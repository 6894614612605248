"""Evaluated geometry as arrays, copied out of Blender before it can go away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..formats.rounding import rounded
from .errors import SceneError
from .walk import Visible

Modifiers = Literal["evaluated", "base"]
"""Of "evaluated" things what the viewport shows; of "base" ones the mesh before modifiers and shape keys."""
MODIFIERS: tuple[Modifiers, ...] = get_args(Modifiers)

_ROTATION_DECIMALS = 9

_Number = TypeVar("_Number", np.float32, np.int32)


class Geometry(NamedTuple):
    """The vertices of one thing in its own space, and where it is.

    points : (n, 3) float32, n may be 0
    matrix : (4, 4) float64 world matrix, shear included
    radius : in its own space, of balls around the points that bounds hold as well
    """

    points: NDArray[np.float32]
    matrix: NDArray[np.float64]
    radius: float = 0.0


class Placement(NamedTuple):
    """A world matrix taken apart, as far as it can be: shear is in none of the parts.

    translation (3,), rotation (4,) w first and w >= 0, scale (3,)
    """

    translation: NDArray[np.float64]
    rotation: NDArray[np.float64]
    scale: NDArray[np.float64]


def placement(matrix: NDArray[np.float64]) -> Placement:
    """Take a (4, 4) world matrix apart the way Blender does. Raises SceneError."""
    translation, rotation, scale = Matrix(matrix.tolist()).decompose()
    numbers = np.array([*translation[:], *rotation[:], *scale[:]], dtype=np.float64)
    parts = numbers[:3], numbers[3:7], numbers[7:]
    # Blender takes matrices apart in single precision, where a scale of 1e20 is infinite.
    if not np.isfinite(numbers).all():
        raise SceneError("its place or size is too large, or not a number")
    # Rounded as documents write it, so that a reader who turns by the written rotation gets the same axes.
    quaternion = rounded(parts[1], _ROTATION_DECIMALS)
    return Placement(parts[0], quaternion * (-1.0 if quaternion[0] < 0 else 1.0), parts[2])


def geometry_of(item: Visible, modifiers: Modifiers) -> Geometry:
    """The geometry of one visible thing, copied."""
    matrix = np.array(item.instance.matrix_world, dtype=np.float64)
    return Geometry(points_of(item.instance.object, modifiers), matrix)


def points_of(evaluated: bpy.types.Object, modifiers: Modifiers) -> NDArray[np.float32]:
    """The vertices (n, 3) of an evaluated object in its own space, copied."""
    if modifiers == "base":
        return _converted(evaluated.original, _mesh_points)
    # In Edit Mode the evaluated mesh is a shell around the edit mesh and shows no vertices of its own.
    # A mesh that geometry nodes make of hair, say, has an original of another type, without an edit mode.
    if evaluated.type == "MESH" and not getattr(evaluated.original.data, "is_editmode", False):
        return _mesh_points(evaluated.data)  # type: ignore[arg-type]  # a mesh, by its type
    return _converted(evaluated, _mesh_points)


def triangles_of(evaluated: bpy.types.Object, modifiers: Modifiers) -> NDArray[np.int32]:
    """The triangles (t, 3) of an evaluated object, as indices of what `points_of` gives."""
    return _converted(evaluated.original if modifiers == "base" else evaluated, _mesh_triangles)


def edges_of(evaluated: bpy.types.Object, modifiers: Modifiers) -> NDArray[np.int32]:
    """The edges (e, 2) of an evaluated object, as indices of what `points_of` gives."""
    return _converted(evaluated.original if modifiers == "base" else evaluated, _mesh_edges)


def _converted(
    source: bpy.types.Object, read: Callable[[bpy.types.Mesh | None], NDArray[_Number]]
) -> NDArray[_Number]:
    """What `read` makes of any mesh-like object, by way of a mesh that is freed again."""
    mesh = source.to_mesh()
    try:
        return read(mesh)
    finally:
        source.to_mesh_clear()


def _mesh_points(mesh: bpy.types.Mesh | None) -> NDArray[np.float32]:
    points = np.empty((len(mesh.vertices) if mesh else 0, 3), dtype=np.float32)
    if mesh and len(points):
        # The attribute is copied as a block; mesh.vertices goes through every vertex.
        positions: Any = mesh.attributes["position"]
        positions.data.foreach_get("vector", points.reshape(-1))
    return points


def _mesh_triangles(mesh: bpy.types.Mesh | None) -> NDArray[np.int32]:
    if mesh is None:
        return np.empty((0, 3), dtype=np.int32)
    mesh.calc_loop_triangles()
    triangles = np.empty((len(mesh.loop_triangles), 3), dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles.reshape(-1))
    return triangles


def _mesh_edges(mesh: bpy.types.Mesh | None) -> NDArray[np.int32]:
    edges = np.empty((len(mesh.edges) if mesh else 0, 2), dtype=np.int32)
    if mesh and len(edges):
        mesh.edges.foreach_get("vertices", edges.reshape(-1))
    return edges
