"""Faces of evaluated meshes, compared from frame to frame without reading the triangles."""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ..settings import Modifiers
from .mesh_data import read_mesh


class MeshFaces(NamedTuple):
    """Faces of a mesh, which Blender cuts into triangles. Copied as blocks, far faster than the triangles.

    Attributes
    ----------
    corners : (c,) int32
        Vertex of each corner of the faces, one face after another.
    of_triangle : (t,) int32
        Face of each triangle, in increasing order. A face with k corners has k - 2 triangles.
    """

    corners: NDArray[np.int32]
    of_triangle: NDArray[np.int32]

    @classmethod
    def of(cls, evaluated: bpy.types.Object, modifiers: Modifiers) -> MeshFaces:
        """Read the faces of an evaluated object, of the mesh that `vertex_positions` reads."""
        return cls(*read_mesh(evaluated, modifiers, _face_arrays))

    def equals(self, other: MeshFaces) -> bool:
        """Return whether both have the same faces, although Blender may cut them into other triangles."""
        return np.array_equal(self.corners, other.corners) and np.array_equal(
            self.of_triangle, other.of_triangle
        )


def _face_arrays(mesh: bpy.types.Mesh | None) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Arrays of a mesh for `MeshFaces`."""
    if mesh is None or not len(mesh.loops):
        return np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32)
    corners = np.empty(len(mesh.loops), dtype=np.int32)
    of_triangle = np.empty(len(mesh.loop_triangle_polygons), dtype=np.int32)
    attribute: Any = mesh.attributes[".corner_vert"]
    attribute.data.foreach_get("value", corners)
    # They follow from the sizes of the faces, without calc_loop_triangles(), which takes ten times as long.
    mesh.loop_triangle_polygons.foreach_get("value", of_triangle)
    return corners, of_triangle
