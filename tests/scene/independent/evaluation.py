# SPDX-License-Identifier: GPL-3.0-or-later
"""Visible objects and instances as Blender evaluates them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")


MESH_LIKE = {"MESH", "CURVE", "SURFACE", "FONT", "META"}
ROUNDINGS = 16.0 * np.finfo(np.float64).eps
"""Relative difference between two correct float64 evaluations of R v + t and of a distance."""


@dataclass(frozen=True)
class EvaluatedObject:
    """One visible object or instance as Blender evaluates it.

    Attributes
    ----------
    name : str
        Name of the object.
    instancer : str or None
        Name of the object that instances it.
    matrix : (4, 4) float64
        World matrix.
    points : (n, 3) float64
        Vertices in Blender's world space.
    slack : float
        Rounding error of the points, in world units.
    """

    name: str
    instancer: str | None
    matrix: np.ndarray
    points: np.ndarray
    slack: float

    @property
    def group(self) -> str:
        """`Instancer/Object` for instances, the name for other objects."""
        return self.name if self.instancer is None else f"{self.instancer}/{self.name}"


def _read_vertices(owner: bpy.types.Object) -> np.ndarray:
    """Read the vertices (n, 3) of an evaluated object, in object space."""
    mesh = owner.to_mesh()
    if mesh is None:
        return np.empty((0, 3))
    flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", flat)
    owner.to_mesh_clear()
    return flat.reshape(-1, 3).astype(np.float64)


def _read_instance(row: bpy.types.DepsgraphObjectInstance) -> EvaluatedObject:
    matrix = np.array(row.matrix_world, dtype=np.float64)
    local = _read_vertices(row.object)
    points = local @ matrix[:3, :3].T + matrix[:3, 3]
    reach = np.abs(local) @ np.abs(matrix[:3, :3]).T + np.abs(matrix[:3, 3])
    slack = ROUNDINGS * float(reach.max(initial=0.0))
    instancer = row.parent.name if row.is_instance else None
    return EvaluatedObject(row.object.name, instancer, matrix, points, slack)


def evaluated_objects_at(frame: int) -> list[EvaluatedObject]:
    """Read all visible mesh-like objects at a frame, also those without vertices.

    Blender lists a curve, text, surface or metaball twice: as itself, and as its mesh in the form of an
    instance of the object by itself. The second entry is ignored.
    """
    bpy.context.scene.frame_set(frame)
    found = []
    for row in bpy.context.evaluated_depsgraph_get().object_instances:
        is_mesh_of_other_type = row.object.type == "MESH" and row.object.original.type in MESH_LIKE - {"MESH"}
        if row.show_self and row.object.type in MESH_LIKE and not is_mesh_of_other_type:
            found.append(_read_instance(row))
    return found
