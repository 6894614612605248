"""Painter of collider surfaces, and the cache of everything that it has read of colliders.

All surfaces of a view are one batch of triangles in world space, made again at its first drawing after a
change. Vertices are read again only of colliders whose mesh was updated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix

from ....scene.blender.depsgraph_updates import updated_geometry_uids
from ....scene.blender.mesh_data import triangle_indices, vertex_positions
from ....scene.blender.object_settings import is_collider
from ....scene.live.staleness import ViewLayerKey
from ..painter import LIFT
from ..state import object_by_uid, shows_all, view_layer_key
from .surfaces import ColliderSurface, JoinedSurfaces, shaded_triangles


class ColliderPainter:
    """Draws the colliders of a scene into 3D views, and caches what it has read of them."""

    def __init__(self) -> None:
        self._revision = 0
        self._members: dict[ViewLayerKey, list[int]] = {}
        self._surfaces: dict[int, ColliderSurface] = {}
        self._joined: tuple[list[ColliderSurface], JoinedSurfaces] | None = None
        self._batches: dict[int, tuple[object, Any]] = {}

    def on_frame(self) -> None:
        """Read the matrices again at the next drawing."""
        self._revision += 1

    def on_update(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Look for colliders again at the next drawing, and read those whose mesh was updated."""
        self.on_frame()
        self._members.clear()
        if self._surfaces:
            for uid in updated_geometry_uids(depsgraph):
                self._surfaces.pop(uid, None)

    def clear(self) -> None:
        """Drop everything that was read."""
        self.on_frame()
        for cache in (self._members, self._surfaces, self._batches):
            cache.clear()
        self._joined = None

    def draw(self, context: Any, color: Sequence[float]) -> None:
        """Draw into the 3D view of the context, hidden by the objects in front."""
        key = view_layer_key(context.scene, context.view_layer)
        if key not in self._members:
            items = [item for item in context.view_layer.objects if is_collider(item)]
            self._members[key] = [item.session_uid for item in items if item.type == "MESH"]
        if not self._members[key]:
            return
        view = context.space_data
        signature = (self._revision, key, tuple(color)) if shows_all(view) else None
        signature_before, batch = self._batches.get(view.as_pointer(), (None, None))
        if signature is None or signature != signature_before:
            batch = self._make_batch(context, self._members[key], color)
            self._batches[view.as_pointer()] = signature, batch
        if batch is not None:
            _draw(batch)

    def _make_batch(self, context: Any, uids: Sequence[int], color: Sequence[float]) -> Any:
        """Make the batch of the colliders that a view shows; None without any."""
        surfaces, matrices = [], []
        for uid in uids:
            item = object_by_uid(uid)
            evaluated = None if item is None else item.evaluated_get(context.view_layer.depsgraph)
            if evaluated is not None and is_visible_in(evaluated, context.space_data):
                if uid not in self._surfaces:
                    self._surfaces[uid] = _read_surface(evaluated)
                surfaces.append(self._surfaces[uid])
                matrices.append(np.array(evaluated.matrix_world))
        if not surfaces:
            return None
        drawn = shaded_triangles(self._join(surfaces), np.array(matrices), color)
        columns: dict[str, Any] = {"pos": drawn.corners, "color": drawn.colors}
        return batch_for_shader(_shader(), "TRIS", columns)

    def _join(self, surfaces: list[ColliderSurface]) -> JoinedSurfaces:
        """Join surfaces, once while they stay the same."""
        before = () if self._joined is None else self._joined[0]
        if self._joined is None or list(map(id, before)) != list(map(id, surfaces)):
            self._joined = surfaces, JoinedSurfaces.of(surfaces)
        return self._joined[1]


def is_visible_in(evaluated: bpy.types.Object, view: Any) -> bool:
    """Return whether a 3D view shows an evaluated object."""
    return evaluated.visible_in_viewport_get(view)


def _read_surface(evaluated: bpy.types.Object) -> ColliderSurface:
    return ColliderSurface(vertex_positions(evaluated, "evaluated"), triangle_indices(evaluated, "evaluated"))


def _shader() -> gpu.types.GPUShader:
    return gpu.shader.from_builtin("FLAT_COLOR")


def _draw(batch: gpu.types.GPUBatch) -> None:
    """Draw front faces a little towards the viewer, because many lie on faces of the object they enclose."""
    lift = Matrix.Identity(4)
    lift[2][3] = -LIFT
    projection = gpu.matrix.get_projection_matrix()
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_mask_set(False)
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.face_culling_set("BACK")
    gpu.matrix.load_projection_matrix(lift @ projection)
    batch.draw(_shader())
    gpu.matrix.load_projection_matrix(projection)
    gpu.state.face_culling_set("NONE")
    gpu.state.depth_test_set("NONE")
    gpu.state.blend_set("NONE")
