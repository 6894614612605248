"""Surfaces of collider objects: drawn translucent over the wires that Blender draws of them.

Blender draws objects translucent only with a material, which exporters would write into files, or while the
view colors objects by their own color, which is a setting of the user's view. So they are drawn here: nothing
in the file changes.

All surfaces of a view are one batch of triangles in world space, made again at its first drawing after a
change. Vertices are read again only of colliders whose mesh was updated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix
from numpy.typing import NDArray

from ...core.numeric.arrays import Floats
from ...scene.blender.depsgraph_updates import updated_geometry_uids
from ...scene.blender.mesh_data import triangle_indices, vertex_positions
from ...scene.blender.object_settings import is_collider
from ...scene.live.staleness import ViewLayerKey
from .painter import LIFT
from .state import object_by_uid, shows_all, view_layer_key

_LIGHT = np.array((0.36, -0.48, 0.8))
"""Direction to the light, of length 1, which keeps a sphere from being seen as a disc."""
_DARKEST = 0.55
"""Brightness of faces that the light does not reach."""


class ColliderSurface(NamedTuple):
    """Surface of a collider: points (m, 3) in the space of its object, and triangles (t, 3) of them."""

    points: NDArray[np.float32]
    triangles: NDArray[np.int32]


class DrawnTriangles(NamedTuple):
    """Corners (3 t, 3) of triangles in world space, and a color (3 t, 4) for each corner."""

    corners: NDArray[np.float32]
    colors: NDArray[np.float32]


def shaded_triangles(
    surfaces: Sequence[ColliderSurface], matrices: Floats, color: Sequence[float]
) -> DrawnTriangles:
    """Return the triangles of surfaces in world space, counter-clockwise seen from outside, with shading.

    `matrices` (n, 4, 4) are those of the objects of the surfaces, of which there is at least one.
    """
    axes, offsets = matrices[:, :3, :3].transpose(0, 2, 1), matrices[:, :3, 3]
    placed = [surface.points @ axes[k] + offsets[k] for k, surface in enumerate(surfaces)]
    first_points = np.cumsum([0, *map(len, placed[:-1])], dtype=np.int32)
    points = np.concatenate(placed)
    triangles = np.concatenate([surface.triangles + first_points[k] for k, surface in enumerate(surfaces)])
    owners = np.arange(len(surfaces)).repeat([len(surface.triangles) for surface in surfaces])
    # A mirrored object has its triangles clockwise.
    is_mirrored = (np.linalg.det(axes) < 0)[owners]
    corners = points[np.where(is_mirrored[:, None], triangles[:, ::-1], triangles)]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sizes = np.linalg.norm(normals, axis=1)
    lit = np.maximum(normals @ _LIGHT, 0) / np.where(sizes > 0, sizes, 1)
    colors = np.tile(np.array(color, dtype=np.float32), (len(corners), 1))
    colors[:, :3] *= (_DARKEST + (1 - _DARKEST) * lit)[:, None]
    return DrawnTriangles(corners.reshape(-1, 3).astype(np.float32), colors.repeat(3, axis=0))


class ColliderPainter:
    """Draws the colliders of a scene into 3D views, and caches what it has read of them."""

    def __init__(self) -> None:
        self._revision = 0
        self._members: dict[ViewLayerKey, list[int]] = {}
        self._surfaces: dict[int, ColliderSurface] = {}
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
        drawn = shaded_triangles(surfaces, np.array(matrices), color)
        columns: dict[str, Any] = {"pos": drawn.corners, "color": drawn.colors}
        return batch_for_shader(_shader(), "TRIS", columns)


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
