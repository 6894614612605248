"""Evaluated surfaces of colliders and of the meshes that they belong to, whether shown or hidden.

Objects that are shown are read from the scene as the viewport shows it. A group with a hidden object is
evaluated by itself, because Blender does not evaluate hidden objects.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import bpy
import numpy as np

from ...core.numeric.arrays import Floats, Ints, transform_points
from ...core.numeric.geodesic import geodesic_directions
from ..blender.frames import playhead
from ..blender.mesh_data import edge_indices, triangle_indices, vertex_positions
from ..blender.object_settings import object_fit_settings
from ..blender.overrides import read_overrides
from ..blender.private_scene import PrivateScene, end_step
from ..settings import FitSettings, Selection
from ..subjects.find import find_subjects
from ..subjects.reader import SubjectReader

SINGLE = float(np.finfo(np.float32).eps)
_ROUNDINGS = 4
"""Roundings of the largest number that a coordinate is computed from, by which it may be wrong."""
_LARGEST = 1e15
"""Coordinates beyond this count as broken, as in documents."""
_THINNEST = 1e-6
"""Thickness below which a surface is flat, as a part of its size."""
_NO_TRIANGLES, _NO_EDGES = np.empty((0, 3), np.int64), np.empty((0, 2), np.int64)


@dataclass(frozen=True)
class ObjectSurface:
    """Surface of an object at the current frame.

    local : (v, 3) float64, the vertices in object space
    triangles : (t, 3) int64, not read for custom shapes
    edges : (e, 2) int64, of polygons; not read for a mesh that colliders belong to
    matrix : (4, 4) float64, the world matrix
    """

    local: Floats
    triangles: Ints
    edges: Ints
    matrix: Floats

    @cached_property
    def points(self) -> Floats:
        """Vertices (v, 3) in world space, float64. Raises NonFiniteGeometryError for a matrix with NaN."""
        return transform_points(self.matrix, self.local)

    @property
    def is_readable(self) -> bool:
        """True if all coordinates are numbers of a usual size."""
        return all(bool((np.abs(values) < _LARGEST).all()) for values in (self.local, self.matrix))

    @property
    def size(self) -> float:
        """Largest side of the box around it along the world's axes."""
        return float(np.ptp(self.points, axis=0).max()) if len(self.points) else 0.0

    @property
    def rounding(self) -> float:
        """Largest error of a world coordinate that is computed in single precision."""
        if not len(self.local):
            return 0.0
        largest = np.abs(self.matrix[:3, :3]) @ np.abs(self.local).max(axis=0) + np.abs(self.matrix[:3, 3])
        return _ROUNDINGS * SINGLE * float(largest.max())

    @property
    def is_flat(self) -> bool:
        """True if all vertices are nearly in one plane."""
        if len(self.points) < 4:
            return True
        offset = self.points - self.points.mean(axis=0)
        offset /= max(self.size, 1e-300)
        axes = np.linalg.eigh(offset.T @ offset)[1]
        return bool(np.ptp(offset @ axes, axis=0).min() <= _THINNEST)

    def merged(self) -> ObjectSurface:
        """Merge vertices in the same position, and drop triangles that have a corner twice then."""
        distinct, index = np.unique(self.local, axis=0, return_inverse=True)
        index = index.reshape(-1)
        corners = index[self.triangles]
        is_proper = (corners != np.roll(corners, 1, axis=1)).all(axis=1)
        return replace(self, local=distinct, triangles=corners[is_proper], edges=index[self.edges])


def evaluated_groups(
    scene: bpy.types.Scene, groups: Sequence[Sequence[bpy.types.Object]]
) -> Generator[tuple[int, bpy.types.Depsgraph], None, None]:
    """Yield the number of each group of objects, and a dependency graph with all of them.

    They are evaluated at the current frame, and groups with hidden objects are last. Nothing in the file
    changes, but until the iterator is closed it can have a private scene.

    scene : the active one, with all the objects
    """
    layer = bpy.context.view_layer
    is_shown = [all(item.visible_get(view_layer=layer) for item in group) for group in groups]
    depsgraph = bpy.context.evaluated_depsgraph_get()
    yield from ((number, depsgraph) for number in range(len(groups)) if is_shown[number])
    hidden = [number for number in range(len(groups)) if not is_shown[number]]
    if hidden:
        private = PrivateScene(scene, {item.session_uid for number in hidden for item in groups[number]})
        try:
            depsgraph = private.evaluate(playhead(scene))
            yield from ((number, depsgraph) for number in hidden)
        finally:
            end_step()


def read_surface(
    item: bpy.types.Object, depsgraph: bpy.types.Depsgraph, fit: FitSettings | None = None
) -> ObjectSurface | None:
    """Read a collider, or what colliders enclose: the vertices of a mesh, or its custom shapes.

    None if it is disabled in all viewports, so that Blender never evaluates it.

    fit : for meshes without settings of their own, with the source of vertices; None for a collider
    """
    if item.hide_viewport:
        return None
    shown = item.evaluated_get(depsgraph)
    shapes = [
        each.center + each.radius * geodesic_directions(8).vectors if each.shape == "sphere" else each.points
        for each in (() if fit is None else read_overrides(item))
    ]
    triangles, edges = _NO_TRIANGLES, _NO_EDGES
    if shapes:
        points = np.concatenate(shapes)
    else:
        modifiers = "evaluated" if fit is None else object_fit_settings(item, fit).modifiers
        points = vertex_positions(shown, modifiers)
        triangles = triangle_indices(shown, modifiers).astype(np.int64)
    if fit is None:
        edges = edge_indices(shown, "evaluated").astype(np.int64)
    matrix = np.array(shown.matrix_world, dtype=np.float64)
    return ObjectSurface(points.astype(np.float64), triangles, edges, matrix)


def read_merged(scene: bpy.types.Scene, name: str, fit: FitSettings) -> ObjectSurface | None:
    """Read the mesh of a collection that is treated as one, in world space; None if it has no vertices."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    subjects, _ = find_subjects(scene, depsgraph, Selection())
    merged = [subject for subject in subjects if subject.members and subject.name == name]
    pieces = list(SubjectReader(merged, fit, range(len(merged))).singles(depsgraph))
    if not pieces:
        return None
    starts = np.cumsum([0, *(len(piece.geometry.points) for piece in pieces[:-1])])
    triangles = [piece.triangles + start for piece, start in zip(pieces, starts, strict=True)]
    points = np.concatenate([piece.geometry.points for piece in pieces]).astype(np.float64)
    return ObjectSurface(points, np.concatenate(triangles).astype(np.int64), _NO_EDGES, np.eye(4))
