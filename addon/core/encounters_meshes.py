"""Spheres on their way past a mesh at rest: contacts exactly, separations where they matter."""

from __future__ import annotations

import numpy as np

from .arrays import Bools, Floats
from .pair_motion import Encounters, PairMotion, lower_bounds
from .shapes import Sphere
from .sweep import closest_time, overlap_span
from .triangle_mesh import TriangleMesh


def encounters_with_mesh(pairs: PairMotion, clearance: float, doubt: Floats) -> Encounters:
    """See `encounters.encounters`."""
    enter, leave = overlap_span(*pairs, clearance=clearance)
    # Those in contact come closer than the clearance; how much is not known yet.
    least = np.where(np.isnan(enter), np.inf, clearance)
    low = np.where(np.isnan(enter), clearance, -np.inf)
    low = lower_bounds(pairs, enter, low, clearance, doubt)
    high = np.full(enter.shape, np.inf)
    whole = np.flatnonzero((enter == 0) & (leave == 1) & (doubt > 0))
    if len(whole):
        within = whole[_stay_within(pairs.picked(whole), clearance - doubt[whole])]
        high[within] = clearance - doubt[within]
    return Encounters(enter, leave, least, np.zeros_like(enter), low, high)


def least_with_mesh(pairs: PairMotion, news: Floats) -> tuple[Floats, Floats]:
    """The least separation of pairs and its time, (m,) each; inf and 0 for what is not below `news` (m,)."""
    a0, a1, mesh = pairs.a_start, pairs.a_end, pairs.b_start
    assert isinstance(a0, Sphere) and isinstance(a1, Sphere) and isinstance(mesh, TriangleMesh)
    least, least_time = np.full(a0.shape, np.inf), np.zeros(a0.shape)
    # Most are far from every triangle, which boxes tell sooner than distances.
    reach = np.maximum(news, 0)
    around = a0.padded(reach).aabb().merged(a1.padded(reach).aabb())
    near = np.zeros(a0.shape, dtype=bool)
    for rows, _ in mesh.pairs_of_boxes(around):
        near[rows] = True
    rows = np.flatnonzero(near)
    if len(rows):
        some = pairs.picked(rows)
        time = closest_time(*some)
        least[rows], least_time[rows] = some.separation_at(time), time
    return least, least_time


def _stay_within(pairs: PairMotion, distance: Floats) -> Bools:
    """Which pairs (m,) are within a distance, negative for deeper, all the way."""
    a0, a1, mesh = pairs.a_start, pairs.a_end, pairs.b_start
    assert isinstance(a0, Sphere) and isinstance(a1, Sphere) and isinstance(mesh, TriangleMesh)
    result = np.minimum(a0.radius, a1.radius) + distance >= 0
    by = distance[result]
    result[result] = _overlaps_throughout(a0[result].padded(by), a1[result].padded(by), mesh)
    return result


def _overlaps_throughout(a0: Sphere, a1: Sphere, mesh: TriangleMesh) -> Bools:
    """Which spheres (n,) overlap some triangle of the mesh all the way. Exact but for rounding."""
    found = [(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))]
    for i, t in mesh.pairs_of_boxes(a0.aabb().merged(a1.aabb())):
        triangle = mesh.triangles[t]
        begin, end = overlap_span(a0[i], a1[i], triangle, triangle)
        hit = ~np.isnan(begin)
        found.append((i[hit], begin[hit], end[hit]))
    i, begin, end = (np.concatenate(columns) for columns in zip(*found, strict=True))
    order = np.lexsort((begin, i))
    i, begin, end = i[order], begin[order], end[order]
    # The latest end so far: with 2 more for each sphere, none carries over to the next.
    latest = np.maximum.accumulate(end + 2 * i) - 2 * i
    before = np.where(np.diff(i, prepend=-1) != 0, 0.0, np.concatenate([[0.0], latest[:-1]])[: len(i)])
    result = np.zeros(a0.shape, dtype=bool)
    result[i] = True
    result[i[begin > before]] = False
    most = np.zeros(a0.shape)
    np.maximum.at(most, i, end)
    return np.asarray(result & (most == 1))
