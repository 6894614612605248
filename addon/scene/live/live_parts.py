"""Convex parts as Compute Bounds has fitted them, moved with their subjects; hulls as edges."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from ...core import Segment
from ...core.compound.convex_parts import Compound
from ...core.fitting.convex_hull import ConvexHull
from ...core.fitting.quickhull import edges_of_surface, face_planes
from ...core.numeric.arrays import Bools, Floats, rotation_matrix, transform_vectors
from ...core.shapes import concatenated
from ..blender.mesh_data import decompose_matrices
from ..jobs.result import Result
from .contact_state import OwnedShapes

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
                    shapes = _sharp_edges(part) if isinstance(part, ConvexHull) else part[None]
                    parts[type(shapes)].append((shapes, index))
        self._shapes = [
            OwnedShapes(
                concatenated(*(shapes for shapes, _ in pairs)),
                np.repeat([index for _, index in pairs], [shapes.shape[0] for shapes, _ in pairs]),
            )
            for pairs in parts.values()
        ]

    @property
    def has_parts(self) -> bool:
        return bool(np.isfinite(self._scales).any())

    def moved(self, is_shown: Bools, matrices: Floats) -> tuple[Bools, tuple[OwnedShapes, ...]]:
        """Return which subjects (n,) the parts of the result are right for, and these at world matrices.

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
            shape, owners = shape[keep], owners[keep]
            turn, fields = turns[owners], {name: getattr(shape, name) for name in shape.field_shapes}
            # Far faster than `transformed`, which encloses the images under any map.
            for name in fields.keys() & {"center", "start", "end"}:
                fields[name] = transform_vectors(turn, fields[name]) + offsets[owners]
            if "axis" in fields:
                fields["axis"] = transform_vectors(turn, fields["axis"])
            if "rotation" in fields:
                fields["rotation"] = turn @ fields["rotation"]
            shapes.append(OwnedShapes(shape.unchecked(*fields.values()), owners))
        return is_shown, tuple(shapes)


def _compound_of(result: Result, index: int) -> Compound | None:
    local = result.objects[index].local
    return next((shape for shape in local if isinstance(shape, Compound)), None)


def _sharp_edges(hull: ConvexHull) -> Segment:
    """Return the edges (k,) of a hull between faces that are not in one plane."""
    normals, _ = face_planes(hull.vertices, hull.faces)
    edges, sides = edges_of_surface(hull.faces, len(hull.vertices))
    first, second = normals[sides.T]
    start, end = edges[np.abs(first - second).max(axis=1) > _FLAT].T
    return Segment(hull.vertices[start], hull.vertices[end])
