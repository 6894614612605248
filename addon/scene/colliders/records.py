"""Record on each collider: the options that it was created with, and its shape at that time.

A later run can use the same options again, and can keep a collider that a user has edited.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any, NamedTuple, get_args

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import length
from ..blender.instances import name_of
from ..blender.object_settings import VERTEX_COLLIDER_PROPERTY, is_marked_collider
from ..collider_names import recognize_name
from ..settings import ColliderKind, ColliderSettings, FitSettings

RECORD_PROPERTY = "collision_bounds_record"
"""Custom property of a collider: its `Recipe`, a digest of its mesh, its matrix below its parent, and four
vertices of the parent in the space of the collider."""
_MOVED = 1e-5
"""Largest difference of matrices, relative to their largest entry, that rounding can cause."""
_FLAT = 1e-3
"""Height of four vertices, as a part of their size, below which they are in one plane."""


class Recipe(NamedTuple):
    """Options that the colliders of one object were created with.

    pattern : of their names, to which only `mend` returns; empty if unknown
    """

    kind: ColliderKind
    parts: int = 1
    parts_tolerance: float = 0.0
    max_vertices: int = 255
    pattern: str = ""

    @classmethod
    def of(cls, settings: ColliderSettings) -> Recipe:
        fit = settings.fit
        return cls(settings.kind, fit.parts, fit.parts_tolerance, settings.max_vertices, settings.pattern)

    def fit(self, fit: FitSettings) -> FitSettings:
        """Fit settings with the parts of this recipe."""
        return replace(fit, parts=self.parts, parts_tolerance=self.parts_tolerance)


def store_record(item: bpy.types.Object, recipe: Recipe) -> None:
    """Store how a collider was created, and the mesh and transform that it has now."""
    properties: Any = item
    basis = _basis(item)
    rows = _anchor_rows(item.parent)
    properties[RECORD_PROPERTY] = {
        **recipe._asdict(),
        "mesh": _mesh_digest(item),
        "matrix": basis.reshape(-1).tolist(),
        "anchors": rows,
        "anchored": _in_collider(item.parent, rows, basis).reshape(-1).tolist(),
    }


def stored_recipe(item: bpy.types.Object, default: Recipe) -> Recipe:
    """Return the options that a collider was created with.

    Without a record, as in files of earlier versions, they are `default` with the kind in the name.
    """
    try:
        record = _record(item)
        found = Recipe(
            record["kind"],
            int(record["parts"]),
            float(record["parts_tolerance"]),
            int(record["max_vertices"]),
            str(record["pattern"]),
        )
        if found.kind in get_args(ColliderKind) and found.parts > 0:
            return found
    except (KeyError, TypeError, ValueError):  # without a record, or with one that was edited
        pass
    name = recognize_name(name_of(item))
    if name is None or name.engine == "godot" or name.kind == "triangles":
        return default
    return default._replace(kind=name.kind)


def is_edited(item: bpy.types.Object) -> bool:
    """Return whether the mesh or the transform of a collider was edited since it was created.

    Modifiers, constraints, shape keys and animation count, too. False without a record, as in files of
    earlier versions.
    """
    try:
        record = _record(item)
        digest, matrix = str(record["mesh"]), np.array(record["matrix"], dtype=np.float64).reshape(4, 4)
    except (KeyError, TypeError, ValueError):
        return False
    if item.modifiers or item.constraints or item.animation_data is not None or item.type != "MESH":
        return True
    basis = _basis(item)
    is_moved = np.abs(basis - matrix).max() > _MOVED * max(float(np.abs(matrix).max()), 1.0)
    return (is_moved and not _follows_parent(item, record, basis)) or _mesh_digest(item) != digest


def _follows_parent(item: bpy.types.Object, record: Any, basis: NDArray[np.float64]) -> bool:
    """Return whether a collider has another matrix because its parent's transform was applied to its mesh.

    Blender changes the matrices of children then, so that they stay in place. The vertices of the parent are
    also in place as seen from the collider.
    """
    try:
        rows, before = [int(row) for row in record["anchors"]], np.array(record["anchored"], dtype=np.float64)
    except (KeyError, TypeError, ValueError):
        return False
    mesh: Any = item.parent.data if item.parent is not None and item.parent.type == "MESH" else None
    if mesh is None or len(rows) != 4 or before.size != 12 or max(rows) >= len(mesh.vertices):
        return False
    now = _in_collider(item.parent, rows, basis)
    size = float(np.ptp(now, axis=0).max())
    return bool(np.abs(now - before.reshape(4, 3)).max() <= 10 * _MOVED * size)


def _anchor_rows(parent: bpy.types.Object | None) -> list[int]:
    """Rows of four vertices of a mesh that are far apart and not in one plane; empty if it has none."""
    mesh: Any = parent.data if parent is not None and parent.type == "MESH" else None
    if mesh is None or len(mesh.vertices) < 4:
        return []
    values = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", values)
    offsets = values.reshape(-1, 3).astype(np.float64)
    offsets -= offsets[0]
    size, rows = float(np.ptp(offsets, axis=0).max()), [0]
    for _ in range(3):
        heights = length(offsets)
        rows.append(int(heights.argmax()))
        if not heights.max() > _FLAT * size:  # also for coordinates that are not finite
            return []
        axis = offsets[rows[-1]] / heights.max()
        offsets -= (offsets @ axis)[:, None] * axis
    return rows


def _in_collider(
    parent: bpy.types.Object | None, rows: list[int], basis: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Positions (n, 3) of vertices of a parent in the space of a collider with a matrix below it."""
    if parent is None or not rows or abs(np.linalg.det(basis)) < 1e-300:
        return np.zeros((0, 3))
    mesh: Any = parent.data
    points = np.array([(*mesh.vertices[row].co, 1.0) for row in rows], dtype=np.float64)
    return np.asarray(np.linalg.solve(basis, points.T).T[:, :3], dtype=np.float64)


def _record(item: bpy.types.Object) -> Any:
    properties: Any = item
    return properties[RECORD_PROPERTY]


def _basis(item: bpy.types.Object) -> NDArray[np.float64]:
    """Matrix (4, 4) of the collider below its parent."""
    return np.array(item.matrix_parent_inverse @ item.matrix_basis, dtype=np.float64)


def _mesh_digest(item: bpy.types.Object) -> str:
    """Digest of vertices and faces, and of whether there are shape keys."""
    mesh: Any = item.data
    positions = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", positions)
    corners = np.empty(len(mesh.loops), dtype=np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    starts = np.empty(len(mesh.polygons), dtype=np.int32)
    mesh.polygons.foreach_get("loop_start", starts)
    found = hashlib.sha256()
    for values in (positions, corners, starts):
        found.update(values.tobytes())
    found.update(b"shape keys" if mesh.shape_keys is not None else b"")
    return found.hexdigest()[:16]


class ColliderState(NamedTuple):
    """Kind of a collider, and whether later runs keep it because it was edited."""

    kind: ColliderKind
    is_edited: bool


def collider_state(item: bpy.types.Object) -> ColliderState:
    """Return the state of a collider that was created here. One around chosen vertices is never replaced."""
    return ColliderState(stored_recipe(item, Recipe("hull")).kind, is_replaceable(item) and is_edited(item))


def is_replaceable(item: bpy.types.Object) -> bool:
    """Return whether Create Colliders may replace a collider of an earlier run.

    It keeps colliders around chosen vertices, linked ones, and library overrides.
    """
    properties: Any = item
    is_local = item.library is None and item.override_library is None
    return is_marked_collider(item) and is_local and VERTEX_COLLIDER_PROPERTY not in properties
