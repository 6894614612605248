"""Points of meshes, and whole components, that are inside other meshes."""

from __future__ import annotations

import numpy as np

from ..numeric.arrays import Bools, Floats, Ints, concatenated_ranges, transform_points
from .meshes import Meshes
from .node_pool import distinct_objects


def are_inside(a: Meshes, b: Meshes) -> Bools:
    """Decide for which pairs (m,) of meshes with disjoint surfaces a component of one is inside the other.

    Exact like `ClosedSurface.contains`: one point of each component is tested.
    """
    return _have_component_inside(a, b) | _have_component_inside(b, a)


def _have_component_inside(a: Meshes, b: Meshes) -> Bools:
    """Decide for which pairs (m,) a component of the first is inside the second: one point of each counts."""
    result = np.zeros(a.shape, dtype=bool)
    inner, outer = a.aabb(), b.aabb()
    rows = np.flatnonzero(((inner.min <= outer.max) & (outer.min <= inner.max)).all(axis=-1))
    rows = rows[b[rows].have_inside]
    if not len(rows):
        return result
    a, b = a[rows], b[rows]
    kinds, which = distinct_objects(a.nodes)
    corners = [each.component_corners for each in kinds]
    counts = np.array([len(each) for each in corners])
    every = np.concatenate(corners)[concatenated_ranges((np.cumsum(counts) - counts)[which], counts[which])]
    row = np.arange(len(which)).repeat(counts[which])
    place, _, local = points_within(a, b, row, every)
    result[rows[row[place[are_points_inside(b, row[place], local)]]]] = True
    return result


def points_within(a: Meshes, b: Meshes, row: Ints, points: Floats) -> tuple[Ints, Floats, Floats]:
    """Select the points (k, 3) of the first meshes in the boxes around the second ones.

    row : (k,) int64. Pairs of meshes.
    points : (k, 3) float64. Before the matrices.
    Returns place : (n,) int64. Of those selected.
    Returns points, local : (n, 3) float64. In world space, and in the spaces of the second meshes.
    """
    world, box = transform_points(a.matrix[row], points), b.aabb()
    is_within = ((world >= box.min[row]) & (world <= box.max[row])).all(axis=-1)
    # A flat image of a mesh has nothing inside.
    is_within &= (np.linalg.matrix_rank(b.matrix[:, :3, :3]) == 3)[row]
    place = np.flatnonzero(is_within)
    row, world = row[place], world[place]
    local = np.linalg.solve(b.matrix[row, :3, :3], (world - b.matrix[row, :3, 3])[..., None])
    return place, world, np.asarray(local[..., 0], np.float64)


def are_points_inside(meshes: Meshes, row: Ints, points: Floats) -> Bools:
    """Mask (n,) of points (n, 3) inside the closed components of meshes in rows (n,), in their space."""
    result = np.zeros(len(row), dtype=bool)
    nodes = meshes.nodes[row]
    for kind in distinct_objects(nodes)[0] if len(row) else ():
        of_kind = np.flatnonzero(nodes == kind)
        result[of_kind] = kind.contains(points[of_kind])
    return result
