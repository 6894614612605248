"""Contacts of meshes that begin so slowly that the rounding of a gap takes long to close.

Meshes within a gap of float64 rounding are in contact, so a contact begins early by the time in which that
gap closes. That matters only where they come closer by less than a millionth of their coordinates in a frame.
"""

from __future__ import annotations

import numpy as np

from ..distance.crossings import crossing_margins
from ..distance.mesh_mesh import closest_on_any_side
from ..mesh.meshes import Meshes, interpolated_meshes, moving_nodes
from ..numeric.arrays import Bools, Floats, largest_component
from ..numeric.tolerances import GAP_ROUNDING
from ..sweep.triangle_triangle import MovingTriangles
from .rounds import Pieces

_NEGLIGIBLE, _HALVINGS = 1e-8, 27
"""Frames within which a gap may close unnoticed, and halvings of a frame to less than that."""


def frames_until_crossing(solved: Pieces, enter: Floats, speed: Floats) -> Floats:
    """Estimate the frames (m,) from contacts of pairs (m,) without a clearance to a certain crossing.

    0 where they are negligible, where motion deviates by more than rounding, which the uncertainty includes,
    and for other shapes than meshes. Where a contact is over before that, it is a graze: then the frames to
    its end; but 0 for contacts that last from the begin of an interval, such as what slides along a plane.

    enter : (m,) float. Times of the contacts within the intervals.
    speed : (m,) float. Speeds at which pairs come closer then, in lengths per interval, or more.
    """
    frames, steps, leave = np.zeros(len(enter)), solved.end - solved.begin, solved.contacts.leave
    meshes = [each for each in solved.motion if isinstance(each, Meshes)]
    if len(meshes) < 4:
        return frames
    reach = np.max([largest_component(at) + radius for at, radius in (each.around() for each in meshes)], 0)
    # Gaps are compared in units of powers of two, which are up to twice the coordinates.
    rounding = 2 * GAP_ROUNDING * reach
    is_slow = (speed * _NEGLIGIBLE <= rounding * steps) & (leave > enter) & (steps > 0)
    is_slow &= (solved.deviation <= rounding) & np.isnan(solved.rest)
    rows = np.flatnonzero(is_slow & (meshes[0].margin + meshes[2].margin == 0))
    if not len(rows):
        return frames
    parts = 2.0 ** -np.arange(_HALVINGS, -1, -1)[:, None] * (leave - enter)[rows]
    a, a_end, b, b_end = (each[rows] for each in meshes)
    is_certain = _do_closest_cross((a, a_end), (b, b_end), enter[rows], parts)
    until = parts[is_certain.argmax(axis=0), np.arange(len(rows))]
    until = np.where(is_certain.any(axis=0), until, np.where(enter[rows] > 0, parts[-1], 0.0))
    # What crosses from the begin on has no gap to close.
    frames[rows] = np.where(is_certain[0], 0.0, until) * steps[rows]
    return frames


def _do_closest_cross(
    a: tuple[Meshes, Meshes], b: tuple[Meshes, Meshes], time: Floats, later: Floats
) -> Bools:
    """Decide which triangles cross for certain (k, m) that are closest at times (m,), `later` by (k, m).

    a, b : two Meshes each, (m,). At both ends of the interval.
    """
    now, rows = [interpolated_meshes(*each, time) for each in (a, b)], np.arange(len(time))
    nodes = closest_on_any_side(*moving_nodes((now[0], now[0]), (now[1], now[1])))
    first, second = (
        MovingTriangles(*each.corners(rows, node)).take(np.tile(rows, len(later))).at((time + later).ravel())
        for each, node in zip(moving_nodes(a, b), nodes, strict=True)
    )
    return np.asarray(crossing_margins(first, first, second, second) > 0).reshape(later.shape)
