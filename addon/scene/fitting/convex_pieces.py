"""Subjects split into convex parts, once for all that have the same mesh, and for all jobs of a session."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.compound.convex_parts import convex_parts_in_steps
from ...core.numeric.arrays import Floats, length, require_finite
from ..progress import run_to_end
from ..subjects.geometry import SubjectGeometry
from .searches import known_result, search_key, store_result


def convex_pieces(piece: SubjectGeometry, count: int, tolerance: float = 0.0) -> list[SubjectGeometry]:
    """Split a subject into at most `count` convex parts, each with the vertices of its own hull.

    The hulls of the parts together hold every triangle of the subject. Subjects without triangles, such as
    custom shapes, stay whole. Parts are not split further if no notch is deeper than `tolerance`, in world
    units. Raises CollisionBoundsError if vertices are not finite.
    """
    points, triangles = piece.geometry.points, piece.triangles
    if count == 1 or not len(triangles):
        return [piece]
    depth = depth_in_object(tolerance, piece.geometry.matrix[:3, :3])
    parts = split_points(points, triangles, count, depth)
    if len(parts) == 1:
        return [piece]
    return [piece._replace(geometry=piece.geometry._replace(points=part)) for part in parts]


def split_points(
    points: NDArray[Any], triangles: NDArray[Any], count: int, depth: float
) -> list[NDArray[Any]]:
    """Split a mesh into at most `count` convex parts, each with the points (k, 3) of its own hull.

    A mesh that was split lately is not split again. Parts are not split further if no notch is deeper than
    `depth`, in the unit of the points. Raises CollisionBoundsError if points are not finite.
    """
    return run_to_end(split_in_steps(points, triangles, count, depth))


def split_in_steps(
    points: NDArray[Any], triangles: NDArray[Any], count: int, depth: float
) -> Generator[float, None, list[NDArray[Any]]]:
    """Split a mesh as `split_points` does; yields the share that is done after each step."""
    key = _key(points, triangles, count, depth)
    known: list[NDArray[Any]] | None = known_result(key)
    if known is not None:
        return known
    require_finite(points, "vertices")
    parts = yield from convex_parts_in_steps(points.astype(np.float64)[triangles], count, depth)
    loose = np.setdiff1d(np.arange(len(points)), triangles)
    if len(loose):
        # Vertices of no triangle are in the part whose middle is nearest.
        far = [length(points[loose] - part.mean(axis=0)) for part in parts]
        nearest = np.argmin(far, axis=0)
        parts = [np.concatenate([part, points[loose[nearest == k]]]) for k, part in enumerate(parts)]
    # Points of cuts are float64, as those of merged collections.
    return store_result(key, parts, sum(part.nbytes for part in parts))


def is_split(points: NDArray[Any], triangles: NDArray[Any], count: int, depth: float) -> bool:
    """Return whether a mesh was split lately; see `split_points` for the parameters."""
    return known_result(_key(points, triangles, count, depth)) is not None


def _key(points: NDArray[Any], triangles: NDArray[Any], count: int, depth: float) -> bytes:
    """Key of the parts of a mesh."""
    return search_key("parts", points, triangles, count, depth)


def depth_in_object(tolerance: float, linear: Floats) -> float:
    """Convert a depth of notches from world units to those of an object with this linear part (3, 3).

    Scale makes notches at most as deep in the world.
    """
    scale = float(np.linalg.norm(linear, 2)) if tolerance else 0.0
    return tolerance / scale if scale > 0 else 0.0
