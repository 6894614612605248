"""Two shapes that move from one sample to the next: when they touch, and where.

Time runs from 0 at the start to 1 at the end. Centres, radii, faces and half extents change linearly with
it, rotations at a constant rate the shorter way. Touching counts as overlap; no overlap is NaN, never an
error and never 1. Float32 input is widened first. Shapes may be named in either order.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from . import sweep_boxes as boxes
from . import sweep_spheres as spheres
from . import sweep_turning as turning
from .arrays import Floats, Ints
from .errors import InvalidShapeError
from .interpolation import at
from .separation import require_common_batch, separation, unsupported_pair, witness_points
from .shapes import Aabb, Obb, Shape, Sphere


class ImpactStatus(IntEnum):
    """How sure a time of impact is.

    EXACT : to float64 rounding, a miss included
    CONSERVATIVE : never late, and early by rounding only as far as the gap goes
    UNRESOLVED : the search was cut short; apart before the time given, possibly in contact from there
    """

    EXACT = turning.EXACT
    CONSERVATIVE = turning.CONSERVATIVE
    UNRESOLVED = turning.UNRESOLVED


class Impact(NamedTuple):
    """The first contact of two moving shapes.

    time : (...) in [0, 1], NaN for none
    point : (..., 3) where they touch, NaN for none
    normal : (..., 3) unit vector from the first shape to the second, NaN for none
    status : (...) int64, see ImpactStatus; a miss is EXACT
    """

    time: Floats
    point: Floats
    normal: Floats
    status: Ints


def time_of_impact(a_start: Shape, a_end: Shape, b_start: Shape, b_end: Shape) -> Floats:
    """When two moving shapes first overlap: (...) float64 in [0, 1], NaN where they never do.

    Already overlapping is 0; grazing at one instant and contact exactly at 1 count. Exact up to float64
    rounding; for oriented boxes that turn never late, see `first_impact`. Raises InvalidShapeError for a pair
    of kinds without a method, and for two samples of one shape that are of different kinds.
    """
    return _timed(a_start, a_end, b_start, b_end)[0]


def first_impact(a_start: Shape, a_end: Shape, b_start: Shape, b_end: Shape) -> Impact:
    """The same with witness point, normal and how sure the time is. Batches of any shape, (...)."""
    batch = require_common_batch(a_start, a_end, b_start, b_end)
    time, status = _timed(a_start, a_end, b_start, b_end)
    point, normal = np.full((*batch, 3), np.nan), np.full((*batch, 3), np.nan)
    hit = ~np.isnan(time)
    if hit.any():
        a0, a1, b0, b1 = (shape.broadcast_to(batch)[hit] for shape in (a_start, a_end, b_start, b_end))
        witness = witness_points(at(a0, a1, time[hit]), at(b0, b1, time[hit]))
        point[hit], normal[hit] = witness.middle, witness.normal
    return Impact(time, point, normal, status)


def overlap_span(
    a_start: Shape, a_end: Shape, b_start: Shape, b_end: Shape, clearance: float = 0.0
) -> tuple[Floats, Floats]:
    """When two moving shapes begin and cease to be within `clearance` of each other.

    For spheres and axis-aligned boxes, whose separation is a convex function of time, so that there is one
    span of it, or none. Returns (enter, leave), each (...) float64 in [0, 1], both NaN where they never are.
    `enter` is 0 exactly where the shapes are within clearance at the start, and `leave` is 1 exactly where
    they are at the end, so that spans of neighbouring intervals join without a seam.

    A clearance is Euclidean: for boxes it rounds the corners. Exact up to float64 rounding. Raises
    InvalidShapeError for a pair of kinds without a method and for a clearance that is no length.
    """
    if not clearance >= 0:
        raise InvalidShapeError(f"clearance: {clearance} is not a length >= 0")
    kinds = _kinds(a_start, a_end, b_start, b_end)
    if kinds == (Aabb, Aabb) and clearance == 0:
        return boxes.overlap_span_aabb_aabb(a_start, a_end, b_start, b_end)  # type: ignore[arg-type]
    if kinds == (Aabb, Aabb):
        gaps = boxes.box_gaps(a_start, b_start), boxes.box_gaps(a_end, b_end)  # type: ignore[arg-type]
        reach = np.full(gaps[0].shape[1:], clearance)
        enter = boxes.entry_within(gaps[0], gaps[1], reach, reach)
        leave = 1 - boxes.entry_within(gaps[1], gaps[0], reach, reach)
    elif kinds in _EXACT:
        # Being within a clearance of a sphere, the first of the two, is overlapping one that much larger.
        a0, a1 = a_start.padded(clearance), a_end.padded(clearance)  # type: ignore[union-attr]
        enter = _timed(a0, a1, b_start, b_end)[0]
        leave = 1 - _timed(a1, a0, b_end, b_start)[0]
    else:
        raise unsupported_pair("overlap span", a_start, b_start)
    # Rounding may see a graze from one side only.
    leave = np.where(np.isnan(leave), enter, leave)
    enter = np.where(np.isnan(enter), leave, enter)
    return enter, np.maximum(enter, leave)


def closest_time(a_start: Shape, a_end: Shape, b_start: Shape, b_end: Shape) -> Floats:
    """The first time in [0, 1] at which the signed separation is least, (...).

    For two spheres or two axis-aligned boxes. Exact up to float64 rounding: the smallest gap of a pair that
    passes by, the deepest overlap of one that meets. Raises InvalidShapeError for other pairs.
    """
    method = _CLOSEST.get(_kinds(a_start, a_end, b_start, b_end))
    if method is None:
        raise unsupported_pair("closest time", a_start, b_start)
    times = np.sort(method(a_start, a_end, b_start, b_end), axis=0)
    values = np.stack([separation(at(a_start, a_end, t), at(b_start, b_end, t)) for t in times])
    best: Floats = np.take_along_axis(times, values.argmin(axis=0)[None], axis=0)[0]
    return best


_Kinds: TypeAlias = tuple[type, type]

_EXACT: dict[_Kinds, Callable[[Any, Any, Any, Any], Floats]] = {
    (Sphere, Sphere): spheres.time_of_impact_sphere_sphere,
    (Sphere, Aabb): boxes.time_of_impact_sphere_aabb,
    (Aabb, Aabb): boxes.time_of_impact_aabb_aabb,
}
_ADVANCED: dict[_Kinds, Callable[[Any, Any, Any, Any], tuple[Floats, Ints]]] = {
    (Sphere, Obb): turning.time_of_impact_sphere_obb,
    (Aabb, Obb): turning.time_of_impact_obb_obb,
    (Obb, Obb): turning.time_of_impact_obb_obb,
}
_CLOSEST: dict[_Kinds, Callable[[Any, Any, Any, Any], Floats]] = {
    (Sphere, Sphere): spheres.closest_time_sphere_sphere,
    (Aabb, Aabb): boxes.closest_time_aabb_aabb,
}


def _kinds(a_start: Shape, a_end: Shape, b_start: Shape, b_end: Shape) -> _Kinds:
    """The kinds of both shapes, which must be the same at both ends."""
    for start, end in ((a_start, a_end), (b_start, b_end)):
        if type(start) is not type(end):
            raise unsupported_pair("motion", start, end)
    return type(a_start), type(b_start)


def _timed(a_start: Shape, a_end: Shape, b_start: Shape, b_end: Shape) -> tuple[Floats, Ints]:
    """Times of impact and their statuses."""
    kinds = _kinds(a_start, a_end, b_start, b_end)
    if kinds not in _EXACT and kinds not in _ADVANCED:
        kinds = kinds[1], kinds[0]
        a_start, a_end, b_start, b_end = b_start, b_end, a_start, a_end
    batch = require_common_batch(a_start, a_end, b_start, b_end)
    if kinds in _EXACT:
        time = np.asarray(_EXACT[kinds](a_start, a_end, b_start, b_end))
        return time, np.full(batch, ImpactStatus.EXACT, dtype=np.int64)
    if kinds in _ADVANCED:
        return _ADVANCED[kinds](a_start, a_end, b_start, b_end)
    raise unsupported_pair("sweep", b_start, a_start)
