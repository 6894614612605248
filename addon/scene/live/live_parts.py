"""Convex parts as Compute Bounds has fitted them, moved with their subjects; hulls as edges."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from ...core import Capsule, Obb, Shape, Sphere, stacked
from ...core.compound.convex_parts import Compound
from ...core.fitting.convex_hull import ConvexHull
from ...core.fitting.quickhull import face_planes
from ...core.numeric.arrays import Bools, Floats, Ints, rotation_matrix, transform_vectors
from ..blender.mesh_data import decompose_matrices
from ..jobs.result import Result
from .contact_state import MovedParts, OwnedShapes

_FLAT = 1e-3
"""Edges between faces whose unit normals differ by less are not drawn: rounding bends flat sides."""
_SAME_SCALE = 1e-5
"""Largest difference of scales, relative to them: matrices are in single precision."""


class LiveParts:
    """Convex parts of one result of Compute Bounds.

    Parts are not fitted again, because a view must not wait for that. So they are right as long as the
    vertices of a subject and its scale are those of the result.
    """

    def __init__(self, result: Result) -> None:
        count = len(result.subjects)
        self._scales = np.full((count, 3), np.nan)
        parts: dict[type, list[tuple[Any, int]]] = defaultdict(list)
        # A scan has bounds of other shapes, and of its first frame.
        has_parts = result.report is None and count and _compound_of(result, 0) is not None
        for index in range(count) if has_parts else ():
            if (compound := _compound_of(result, index)) is not None:
                self._scales[index] = result.objects[index].scale
                for part in compound.parts:
                    parts[type(part)].append((part, index))
        hulls = parts.pop(ConvexHull, [])
        self._shapes = [
            OwnedShapes(stacked([shape for shape, _ in pairs]), np.array([index for _, index in pairs]))
            for pairs in parts.values()
        ]
        ends = [_sharp_edges(hull) for hull, _ in hulls]
        self._edges = np.concatenate([np.empty((0, 2, 3)), *ends])
        owners = np.array([index for _, index in hulls], dtype=np.int64)
        self._edge_owners: Ints = np.repeat(owners, [len(each) for each in ends])

    @property
    def has_parts(self) -> bool:
        """True if the result has convex parts."""
        return bool(np.isfinite(self._scales).any())

    def moved(self, is_shown: Bools, matrices: Floats) -> MovedParts:
        """Return the parts of subjects at their world matrices.

        is_shown : (n,) bool. Subjects that are present, and have the vertices of the result.
        matrices : (n, 4, 4) float64. World matrices.
        """
        placed, is_valid = decompose_matrices(matrices)
        difference = np.abs(placed.scale - self._scales)
        is_shown = is_shown & is_valid & (difference <= _SAME_SCALE * np.abs(self._scales)).all(axis=1)
        turns, offsets = rotation_matrix(placed.rotation), matrices[:, :3, 3]
        shapes = []
        for shape, owners in self._shapes:
            keep = is_shown[owners]
            kept = owners[keep]
            shapes.append(OwnedShapes(_moved(shape[keep], turns[kept], offsets[kept]), kept))
        keep = is_shown[self._edge_owners]
        owners = self._edge_owners[keep]
        ends = transform_vectors(turns[owners][:, None], self._edges[keep]) + offsets[owners][:, None]
        return MovedParts(is_shown, tuple(shapes), ends, owners)


def _compound_of(result: Result, index: int) -> Compound | None:
    """Convex parts of a subject in its local axes; None without any."""
    local = result.objects[index].local
    return next((shape for shape in local if isinstance(shape, Compound)), None)


def _moved(shape: Shape, turns: Floats, offsets: Floats) -> Shape:
    """Rotate shapes (k,) by matrices (k, 3, 3), and move them by offsets (k, 3)."""
    center = transform_vectors(turns, shape.center) + offsets
    if isinstance(shape, Sphere):
        return Sphere.unchecked(center, shape.radius)
    if isinstance(shape, Capsule):
        return Capsule.unchecked(
            center, transform_vectors(turns, shape.axis), shape.half_length, shape.radius
        )
    assert isinstance(shape, Obb), "a compound has no other shapes"
    return Obb.unchecked(center, shape.half_extents, turns @ shape.rotation)


def _sharp_edges(hull: ConvexHull) -> Floats:
    """Return the ends (k, 2, 3) of the edges of a hull between faces that are not in one plane."""
    normals, _ = face_planes(hull.vertices, hull.faces)
    directed = np.concatenate([hull.faces[:, [0, 1]], hull.faces[:, [1, 2]], hull.faces[:, [2, 0]]])
    face = np.tile(np.arange(len(hull.faces)), 3)
    order = np.lexsort(np.sort(directed, axis=1).T)
    # Each edge has a face on both sides, so equal edges come in pairs.
    first, second = order[::2], order[1::2]
    is_sharp = np.abs(normals[face[first]] - normals[face[second]]).max(axis=1) > _FLAT
    found: Floats = hull.vertices[directed[first[is_sharp]]]
    return found
