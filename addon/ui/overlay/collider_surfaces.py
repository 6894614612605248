"""Surfaces of collider objects: drawn translucent over the wires that Blender draws of them.

Blender draws objects translucent only with a material, which exporters would write into files, or while the
view colors objects by their own color, which is a setting of the user's view. So they are drawn here: nothing
in the file changes.

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
from numpy.typing import NDArray

from ...core.numeric.arrays import Floats
from ...scene.blender.animated import updated_geometry_uids
from ...scene.blender.mesh_data import triangle_indices, vertex_positions
from ...scene.blender.object_settings import is_collider
from ...scene.live.staleness import ViewLayerKey
from .painter import LIFT
from .state import object_by_uid, shows_all, view_layer_key
from .unit_meshes import SurfaceMesh

_LIGHT = np.array((0.36, -0.48, 0.8))
"""Direction to the light, of length 1, which keeps a sphere from being seen as a disc."""
_DARKEST = 0.55
"""Brightness of faces that the light does not reach."""


def shaded_triangles(
    surfaces: Sequence[SurfaceMesh], matrices: Floats, color: Sequence[float]
) -> dict[str, NDArray[np.float32]]:
    """Return corners `pos` (3 t, 3) of triangles in world space, and a shaded `color` (3 t, 4) of each.

    Triangles are counter-clockwise seen from outside. Surfaces are in the spaces of objects with the matrices
    (n, 4, 4). There is at least one.
    """
    axes, offsets = matrices[:, :3, :3].transpose(0, 2, 1), matrices[:, :3, 3]
    # A mirrored object has its triangles clockwise.
    orders = np.where(np.linalg.det(axes) < 0, -1, 1).tolist()
    corners = np.concatenate(
        [
            (surface.points @ axes[k] + offsets[k])[surface.triangles[:, :: orders[k]]]
            for k, surface in enumerate(surfaces)
        ]
    )
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sizes = np.linalg.norm(normals, axis=1)
    lit = np.maximum(normals @ _LIGHT, 0) / np.where(sizes > 0, sizes, 1)
    colors = np.tile(np.array(color, dtype=np.float32), (len(corners), 1))
    colors[:, :3] *= (_DARKEST + (1 - _DARKEST) * lit)[:, None]
    return {"pos": corners.reshape(-1, 3).astype(np.float32), "color": colors.repeat(3, axis=0)}


class ColliderPainter:
    """Draws the colliders of a scene into 3D views, and caches what it has read of them."""

    def __init__(self) -> None:
        self._members: dict[ViewLayerKey, list[int]] = {}
        self._surfaces: dict[int, SurfaceMesh] = {}
        # Batches of views that show all objects, and their colors.
        self._batches: dict[ViewLayerKey, tuple[Sequence[float], Any]] = {}

    def on_frame(self) -> None:
        """Read the matrices again at the next drawing."""
        self._batches.clear()

    def on_update(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Look for colliders again at the next drawing, and read those whose mesh was updated."""
        self.on_frame()
        self._members.clear()
        if self._surfaces:
            for uid in updated_geometry_uids(depsgraph):
                self._surfaces.pop(uid, None)

    def clear(self) -> None:
        for cache in (self._members, self._surfaces, self._batches):
            cache.clear()

    def draw(self, context: Any, color: Sequence[float]) -> None:
        """Draw into the 3D view of the context, hidden by the objects in front."""
        key = view_layer_key(context.scene, context.view_layer)
        if key not in self._members:
            items = [item for item in context.view_layer.objects if is_collider(item)]
            self._members[key] = [item.session_uid for item in items if item.type == "MESH"]
        if not self._members[key]:
            return
        color, is_whole = tuple(color), shows_all(context.space_data)
        known_color, batch = self._batches.get(key, (None, None))
        if not is_whole or known_color != color:
            batch = self._make_batch(context, self._members[key], color)
        if is_whole:
            self._batches[key] = color, batch
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
                    points = vertex_positions(evaluated, "evaluated")
                    self._surfaces[uid] = SurfaceMesh(points, triangle_indices(evaluated, "evaluated"))
                surfaces.append(self._surfaces[uid])
                matrices.append(np.array(evaluated.matrix_world))
        if not surfaces:
            return None
        columns: Any = shaded_triangles(surfaces, np.array(matrices), color)
        return batch_for_shader(_shader(), "TRIS", columns)


def is_visible_in(evaluated: bpy.types.Object, view: Any) -> bool:
    return evaluated.visible_in_viewport_get(view)


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
