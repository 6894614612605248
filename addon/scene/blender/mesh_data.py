"""Evaluated geometry as arrays, copied because Blender frees it with the next evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...core.messages import message
from ...core.numeric.arrays import Bools, distinct_rows
from ..settings import Modifiers
from .instances import VisibleInstance

UNPLACED = message("its location or scale is too large, or not a number")
"""Reason why a matrix has no decomposition."""

_ROTATION_DECIMALS = 9


class Geometry(NamedTuple):
    """Vertices of one subject in object space, and its world matrix.

    points : (n, 3) float32. n may be 0. Those of a merged collection are float64.
    matrix : (4, 4) float64. World matrix, shear included.
    radius : Radius, in object space, of balls around the points that bounds enclose as well.
    """

    points: NDArray[np.float32]
    matrix: NDArray[np.float64]
    radius: float = 0.0


class Placement(NamedTuple):
    """A decomposed world matrix, without its shear.

    translation : (3,) float64
    rotation : (4,) float64. Unit quaternion, w first and w >= 0.
    scale : (3,) float64
    """

    translation: NDArray[np.float64]
    rotation: NDArray[np.float64]
    scale: NDArray[np.float64]


def decompose_matrices(matrices: NDArray[np.float64]) -> tuple[Placement, Bools]:
    """Decompose world matrices (n, 4, 4) as Blender does, each linear part once.

    Returns placements : Arrays (n, ...); arbitrary where not valid.
    Returns is_valid : (n,) bool. False for a matrix that is not finite or too large.
    """
    linear = np.ascontiguousarray(matrices[:, :3, :3])
    first, inverse = distinct_rows(linear.reshape(-1, 9))
    turns = np.zeros((len(first), 4, 4))
    turns[:, :3, :3], turns[:, 3, 3] = linear[first], 1.0
    parts = [Matrix(turn).decompose() for turn in turns.tolist()]
    rotation = np.array([turn[:] for _, turn, _ in parts], dtype=np.float64).reshape(-1, 4)
    scale = np.array([size[:] for _, _, size in parts], dtype=np.float64).reshape(-1, 3)
    with np.errstate(over="ignore", invalid="ignore"):
        # Blender decomposes matrices in single precision, where a scale of 1e20 is infinite.
        translation = matrices[:, :3, 3].astype(np.float32).astype(np.float64)
        # Rotations have another length where a matrix is sheared. They are rounded as in documents, so that a
        # reader who rotates by the written quaternion gets the same axes.
        sizes = np.linalg.norm(rotation, axis=-1, keepdims=True)
        written = np.around(rotation / np.maximum(sizes, np.finfo(np.float64).tiny), _ROTATION_DECIMALS)
        written *= np.where(written[..., :1] < 0, -1.0, 1.0)
    is_finite: Bools = np.isfinite(np.concatenate([rotation, scale], axis=1)).all(axis=1)
    is_valid: Bools = is_finite[inverse] & np.isfinite(translation).all(axis=1)
    return Placement(translation, written[inverse], scale[inverse]), is_valid


def world_matrix(item: VisibleInstance) -> NDArray[np.float64]:
    """Copy the world matrix (4, 4) of a visible object or instance."""
    return np.array(item.instance.matrix_world, dtype=np.float64)


def vertex_positions(evaluated: bpy.types.Object, modifiers: Modifiers) -> NDArray[np.float32]:
    """Copy the vertices (n, 3) of an evaluated object, in object space."""
    with open_mesh(evaluated, modifiers) as mesh:
        if mesh is None or not len(mesh.vertices):
            return np.empty((0, 3), dtype=np.float32)
        # The attribute is copied as a block, whereas mesh.vertices loops over the vertices.
        positions: Any = mesh.attributes["position"]
        return copied(positions.data, "vector", np.float32, (3,))


def triangle_indices(evaluated: bpy.types.Object, modifiers: Modifiers) -> NDArray[np.int32]:
    """Copy the triangles (t, 3) of an evaluated object, as rows of `vertex_positions`."""
    with open_mesh(evaluated, modifiers) as mesh:
        if mesh is None:
            return np.empty((0, 3), dtype=np.int32)
        if mesh.polygons and len(mesh.loops) == 3 * len(mesh.polygons):
            # All faces are triangles: the attribute is copied as a block, two hundred times as fast.
            return _mesh_corners(mesh).reshape(-1, 3)
        mesh.calc_loop_triangles()
        return copied(mesh.loop_triangles, "vertices", np.int32, (3,))


def edge_indices(evaluated: bpy.types.Object, modifiers: Modifiers) -> NDArray[np.int32]:
    """Copy the edges (e, 2) of an evaluated object, as rows of `vertex_positions`."""
    with open_mesh(evaluated, modifiers) as mesh:
        return mesh_edges(mesh)


def open_mesh(
    evaluated: bpy.types.Object, modifiers: Modifiers
) -> AbstractContextManager[bpy.types.Mesh | None]:
    """Give access to the mesh of an evaluated object until the end of a block, which has to copy it."""
    if modifiers == "base":
        return _converted(evaluated.original)
    # In Edit Mode the evaluated mesh wraps the edit mesh and has no vertices of its own. A mesh that geometry
    # nodes make of hair, for example, has an original of another type, which has no Edit Mode.
    if evaluated.type == "MESH" and not getattr(evaluated.original.data, "is_editmode", False):
        return nullcontext(evaluated.data)  # type: ignore[arg-type]  # a mesh, by its type
    return _converted(evaluated)


@contextmanager
def _converted(source: bpy.types.Object) -> Iterator[bpy.types.Mesh | None]:
    """Give access to the mesh that a mesh-like object converts to, which is freed afterwards."""
    mesh = source.to_mesh()
    try:
        yield mesh
    finally:
        source.to_mesh_clear()


def copied(items: Any, name: str, dtype: type[Any], width: tuple[int, ...] = ()) -> NDArray[Any]:
    """Copy a property of all items of a collection: an array (n, *width)."""
    values = np.empty((len(items), *width), dtype=dtype)
    if len(values):
        items.foreach_get(name, values.reshape(-1))
    return values


def _mesh_corners(mesh: Any) -> NDArray[np.int32]:
    """Copy the vertices (c,) of the corners of the faces of a mesh."""
    corners = () if mesh is None or not len(mesh.loops) else mesh.attributes[".corner_vert"].data
    return copied(corners, "value", np.int32)


def mesh_edges(mesh: bpy.types.Mesh | None) -> NDArray[np.int32]:
    """Copy the edges (e, 2) of a mesh."""
    return copied(() if mesh is None else mesh.edges, "vertices", np.int32, (2,))


class MeshFaces(NamedTuple):
    """Faces of a mesh, which Blender cuts into triangles. Copied as blocks, far faster than the triangles.

    corners : (c,) int32. Vertex of each corner of the faces, one face after another; or of the triangles.
    of_triangle : (t,) int32. Face of each triangle, in increasing order. A face with k corners has k - 2
        triangles.
    """

    corners: NDArray[np.int32]
    of_triangle: NDArray[np.int32]

    @classmethod
    def of(cls, evaluated: bpy.types.Object, modifiers: Modifiers, by_triangles: bool = False) -> MeshFaces:
        """Read the faces of an evaluated object, of the mesh that `vertex_positions` reads.

        by_triangles : Whether the corners are those of the triangles that faces are cut into.
        """
        with open_mesh(evaluated, modifiers) as mesh:
            # They follow from the sizes of the faces, without calc_loop_triangles(), which takes ten times as
            # long.
            of_triangle = () if mesh is None else mesh.loop_triangle_polygons
            corners = triangle_indices(evaluated, modifiers).ravel() if by_triangles else _mesh_corners(mesh)
            return cls(corners, copied(of_triangle, "value", np.int32))
