"""Triangles of one mesh that may be the nearest ones to many points: by boxes, clusters, then triangles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numeric.arrays import (
    Floats,
    Ints,
    chunks_by_cost,
    concatenated_ranges,
    dot,
    is_run_start,
    length,
)
from ..progress import pause
from .mesh_bvh import MeshBvh

_FEW_CLUSTERS = 64
"""Clusters of triangles up to which all are compared with a point."""
_POINTS_AT_ONCE = 1 << 10
"""Points whose nearest triangles are searched for at once: of more, the arrays do not fit the cache."""
_MORE, _MORE_ASIDE = 1e-9, 1e-6
"""Parts of distances that are added to bounds of them, for rounding, and taken from those on a plane."""


def near_triangles(mesh: MeshBvh, points: Floats, within: Floats, ratio: Floats) -> tuple[Ints, Ints, Floats]:
    """Find the triangles (k,) of a mesh that may be the nearest ones of points (n, 3), and these.

    Without holes: the nearest one is among them, also where lengths are not equal along all directions.

    points : (n, 3) float64. In the space of the mesh.
    within : (n,) float64. Upper bounds of the distances.
    ratio : (n,) float64, >= 1. Factor between the largest and the least scale of what is measured.
    Returns place, triangle : (k,) int64. Points, in order, and triangles in the order of the tree.
    Returns within : (n,) float64. Lower upper bounds of the distances, in the space of the mesh.
    """
    within = within * (1 + _MORE)
    found = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
    for chunk in chunks_by_cost(np.ones(len(points)), _POINTS_AT_ONCE) if len(points) else ():
        pause()
        search = _Search(points[chunk], within[chunk], ratio[chunk])
        place, triangle = _triangles_of(mesh, search, _clusters_of(mesh, search))
        found.append((place + chunk.start, triangle))
    places, triangles = zip(*found, strict=True)
    return np.concatenate(places), np.concatenate(triangles), within


class _Search(NamedTuple):
    """Points (n, 3), the least upper bounds (n,) of their distances so far, and ratios (n,) of lengths."""

    points: Floats
    within: Floats
    ratio: Floats

    def lower(self, place: Ints, upper: Floats) -> None:
        """Lower the bounds of points (k,), in order, by distances (k,) at which there is a triangle."""
        if not len(place):
            return
        starts = np.flatnonzero(is_run_start(place))
        row = place[starts]
        least = np.minimum.reduceat(upper, starts) * self.ratio[row] * (1 + _MORE)
        self.within[row] = np.minimum(self.within[row], least)


def _clusters_of(mesh: MeshBvh, search: _Search) -> tuple[Ints, Ints]:
    """Find clusters (k,) that may have the nearest triangles of points (n,), and these, in order."""
    count, clusters = len(search.points), len(mesh.nodes.clusters)
    if clusters <= _FEW_CLUSTERS:
        return np.arange(count).repeat(clusters), np.tile(np.arange(clusters), count)
    boxes = mesh.cluster_boxes
    found: list[tuple[Ints, Ints, Floats]] = []
    place, node = np.arange(count), np.zeros(count, dtype=np.int64)
    while len(place):
        offset = np.abs(search.points[place] - boxes.center[node])
        low = length(np.maximum(offset - boxes.half[node], 0.0))
        search.lower(place, length(offset) + boxes.reach[node])
        is_near = low <= search.within[place]
        child, low = boxes.first_child[node], low[is_near]
        place, node, child = place[is_near], node[is_near], child[is_near]
        is_cluster = child < 0
        found.append((place[is_cluster], -1 - child[is_cluster], low[is_cluster]))
        place, child = place[~is_cluster].repeat(2), child[~is_cluster]
        node = np.stack([child, child + 1], axis=1).ravel()
    place, cluster, low = (np.concatenate(columns) for columns in zip(*found, strict=True))
    is_near = low <= search.within[place]
    place, cluster = place[is_near], cluster[is_near]
    order = np.argsort(place, kind="stable")
    return place[order], cluster[order]


def _triangles_of(mesh: MeshBvh, search: _Search, near: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Find the triangles (k,) of clusters near points that may be the nearest ones, and these points."""
    place, cluster = near
    spheres = mesh.spheres
    apart = length(search.points[place] - spheres.center[cluster])
    is_near = apart - spheres.radius[cluster] <= search.within[place]
    place, cluster = place[is_near], cluster[is_near]
    starts, sizes = (each[mesh.nodes.clusters[cluster]] for each in mesh.nodes[2:4])
    place, triangle = place.repeat(sizes), concatenated_ranges(starts, sizes)
    apart = length(search.points[place] - spheres.triangle_center[triangle])
    search.lower(place, apart)
    most = search.within[place] * (1 + _MORE)
    rows = np.flatnonzero(apart - spheres.triangle_radius[triangle] <= most)
    place, triangle, apart, most = place[rows], triangle[rows], apart[rows], most[rows]
    low = least_distances(mesh, search.points[place], triangle, apart)
    rows = np.flatnonzero(low <= most)
    return place[rows], triangle[rows]


def least_distances(mesh: MeshBvh, points: Floats, triangle: Ints, apart: Floats) -> Floats:
    """Bound the distances (n,) of points (n, 3) from triangles (n,) of a mesh from below.

    apart : (n,) float64. The distances from their centers.
    """
    # On the plane of a triangle, it is within its radius around its center.
    spheres = mesh.spheres
    offset = points - spheres.triangle_center[triangle]
    height = np.abs(dot(offset, spheres.triangle_normal[triangle]))
    aside = np.sqrt(np.maximum(apart * apart - height * height, 0.0)) * (1 - _MORE_ASIDE)
    low = np.hypot(height * (1 - _MORE_ASIDE), np.maximum(aside - spheres.triangle_radius[triangle], 0.0))
    return np.asarray(low)
