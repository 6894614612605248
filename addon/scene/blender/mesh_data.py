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
from ...core.numeric.arrays import Bools, cross_first, distinct_rows, dot_first
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


NO_PLACEMENTS = Placement(np.empty((0, 3)), np.empty((0, 4)), np.empty((0, 3)))


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
        corners = _mesh_corners(mesh)
        if len(corners) == 3 * len(mesh.polygons):
            # All faces are triangles.
            return corners.reshape(-1, 3)
        face: NDArray[Any] = copied(mesh.loop_triangle_polygons, "value", np.int32)
        count = np.bincount(face)
        first = (np.cumsum(count) - count).repeat(count)
        # Each face has two corners more than it has triangles.
        second = np.arange(1, len(face) + 1) + 2 * face
        triangles = corners.take(np.stack([first + 2 * face, second, second + 1], axis=1))
        cuts = _cuts(mesh, corners, count)
        triangles[cuts[:, 0]] = cuts[:, 1:]
        return triangles


_READ_AT_ONCE = 16
"""Copying all triangles takes as long as reading this part of them one by one."""
_FLAT = 1e-5
"""Part of the product of two areas that rounding in single precision may be."""


def _cuts(mesh: Any, corners: NDArray[np.int32], count: NDArray[Any]) -> NDArray[np.int32]:
    """Read triangles that need not be between their face's first corner and two successive ones.

    Such are those of faces with more than four corners, and of a quad whose first and third corner do not see
    the other two on different sides. To copy the triangles of all faces takes five times as long.

    corners : As in `MeshFaces`.
    count : (f,) int. Number of triangles of each face.
    Returns cuts : (k, 4) int32. Index of each triangle, and its vertices.
    """
    is_quad = count == 2
    of_quads = corners if is_quad.all() else corners[np.repeat(is_quad, count + 2)]
    points = copied(mesh.attributes["position"].data, "vector", np.float32, (3,))
    rows = of_quads.reshape(-1, 4).T
    a, b, c, d = np.ascontiguousarray(points.T).take(rows, axis=1).swapaxes(0, 1)
    with np.errstate(over="ignore", invalid="ignore"):
        one, two = cross_first(b - a, c - a), cross_first(d - a, c - a)
        areas = np.sqrt(dot_first(one, one) * dot_first(two, two))
        is_flat = dot_first(one, two) < -_FLAT * areas
    is_fan = count < 3
    is_fan[is_quad] = is_flat
    rows = np.flatnonzero(~np.repeat(is_fan, count))
    if len(rows):
        mesh.calc_loop_triangles()
    if len(rows) > len(corners) / _READ_AT_ONCE:
        triangles = copied(mesh.loop_triangles, "vertices", np.int32, (3,))[rows]
    else:
        triangles = np.array([mesh.loop_triangles[row].vertices[:] for row in rows.tolist()]).reshape(-1, 3)
    return np.column_stack([rows, triangles]).astype(np.int32)


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

    corners : (c,) int32. Vertex of each corner of the faces, one face after another.
    of_triangle : (t,) int32. Face of each triangle, in increasing order. A face with k corners has k - 2
        triangles.
    cuts : (k, 4) int32. Index and vertices of each triangle that depends on where the vertices are.
    """

    corners: NDArray[np.int32]
    of_triangle: NDArray[np.int32]
    cuts: NDArray[np.int32] = np.empty((0, 4), dtype=np.int32)

    @classmethod
    def of(cls, evaluated: bpy.types.Object, modifiers: Modifiers, with_cuts: bool = False) -> MeshFaces:
        """Read the faces of an evaluated object, of the mesh that `vertex_positions` reads.

        with_cuts : Whether to read the triangles that faces are cut into.
        """
        with open_mesh(evaluated, modifiers) as mesh:
            # They follow from the sizes of the faces, without calc_loop_triangles(), which takes ten times as
            # long.
            of_triangle = copied(() if mesh is None else mesh.loop_triangle_polygons, "value", np.int32)
            faces = cls(_mesh_corners(mesh), of_triangle)
            if with_cuts and len(faces.corners):
                faces = faces._replace(cuts=_cuts(mesh, faces.corners, np.bincount(of_triangle)))
            return faces
