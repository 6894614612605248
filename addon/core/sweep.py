"""Two shapes that move from one sample to the next: when they touch, and where.

Time runs from 0 at the start to 1 at the end. Centres, radii, faces and half extents change linearly with
it, rotations at a constant rate the shorter way. Touching counts as overlap; no overlap is NaN, never an
error and never 1. Float32 input is widened first. Shapes may be named in either order.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from . import sweep_boxes as boxes
from . import sweep_spheres as spheres
from . import sweep_trees as trees
from . import sweep_turning as turning
from .arrays import Floats, Ints
from .errors import InvalidShapeError
from .interpolation import at
from .separation import require_common_batch, separation, unsupported_pair, witness_points
from .shapes import Aabb, Obb, Shape, Sphere
from .sphere_tree import SphereTree

_CLOSEST_AT_ONCE = 2048
"""Pairs, of which boxes have fifty times each to choose from."""


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
    of kinds without a method, for two samples of one shape that are of different kinds, and for batches that
    do not broadcast.
    """
    return _timed(a_start, a_end, b_start, b_end)[0]


def first_impact(a_start: Shape, a_end: Shape, b_start: Shape, b_end: Shape) -> Impact:
    """When and where two moving shapes first overlap, (...), and how sure that is: times of `time_of_impact`.

    Each time is exact, conservative or unresolved, as its `status` says. Point and normal are those of
    `witness_points` at that time: of shapes that overlap from the start, the middle and the direction of the
    shortest way out. Raises as `time_of_impact` does.
    """
    time, status = _timed(a_start, a_end, b_start, b_end)
    point, normal = np.full((*time.shape, 3), np.nan), np.full((*time.shape, 3), np.nan)
    hit = ~np.isnan(time)
    if hit.any():
        a0, a1, b0, b1 = (shape.broadcast_to(time.shape)[hit] for shape in (a_start, a_end, b_start, b_end))
        witness = witness_points(at(a0, a1, time[hit]), at(b0, b1, time[hit]))
        point[hit], normal[hit] = witness.middle, witness.normal
    return Impact(time, point, normal, status)


def overlap_span(
    a_start: Shape, a_end: Shape, b_start: Shape, b_end: Shape, clearance: float = 0.0
) -> tuple[Floats, Floats]:
    """When two moving shapes begin and cease to be within `clearance` of each other.

    For spheres and axis-aligned boxes: being within a clearance of each other is then convex in time, one
    span of it or none. Returns (enter, leave), each (...) float64 in [0, 1], both NaN where they never are.
    `enter` is 0 exactly where the shapes are within clearance at the start, and `leave` is 1 exactly where
    they are at the end, so that spans of neighbouring intervals join without a seam.

    A clearance is Euclidean: for boxes it rounds the corners. Exact up to float64 rounding. Raises as
    `time_of_impact` does, and InvalidShapeError for a clearance that is no length.
    """
    if not 0 <= clearance < np.inf:
        raise InvalidShapeError(f"clearance: {clearance} is not a length >= 0")
    method, (a0, a1, b0, b1) = _method(_WITHIN, "overlap span", a_start, a_end, b_start, b_end)
    if clearance == 0 and isinstance(a0, Aabb):
        return boxes.overlap_span_aabb_aabb(a0, a1, b0, b1)  # type: ignore[arg-type]
    enter, left = method(a0, a1, b0, b1, clearance), method(a1, a0, b1, b0, clearance)
    # A hair before the end is not the end.
    leave = np.where(left > 0, np.minimum(1 - left, boxes.BEFORE_END), 1 - left)
    # Rounding may see a graze from one side only.
    leave = np.where(np.isnan(leave), enter, leave)
    enter = np.where(np.isnan(enter), leave, enter)
    return enter, np.maximum(enter, leave)


def closest_time(a_start: Shape, a_end: Shape, b_start: Shape, b_end: Shape) -> Floats:
    """The first time in [0, 1] at which the signed separation is least, (...).

    For two spheres or two axis-aligned boxes. Exact up to float64 rounding: the smallest gap of a pair that
    passes by, the deepest overlap of one that meets. Raises as `time_of_impact` does.
    """
    method, (a0, a1, b0, b1) = _method(_CLOSEST, "closest time", a_start, a_end, b_start, b_end)
    batch, motion = a0.shape, [shape.reshaped((-1,)) for shape in (a0, a1, b0, b1)]
    best = np.empty(motion[0].shape)
    for start in range(0, len(best), _CLOSEST_AT_ONCE):
        rows = slice(start, start + _CLOSEST_AT_ONCE)
        a0, a1, b0, b1 = (shape[rows] for shape in motion)
        times = np.sort(method(a0, a1, b0, b1), axis=0)
        values = separation(at(a0, a1, times), at(b0, b1, times))
        best[rows] = np.take_along_axis(times, values.argmin(axis=0)[None], axis=0)[0]
    return best.reshape(batch)


def _exact(kernel: Callable[..., Floats]) -> _Timer:
    """A kernel whose times are all exact, with statuses that say so."""

    def timer(*motion: Any) -> tuple[Floats, Ints]:
        time = kernel(*motion)
        return time, np.full(time.shape, ImpactStatus.EXACT, dtype=np.int64)

    return timer


def _tree(kernel: Callable[..., trees.TreeImpact]) -> _Timer:
    """The time and status of what a kernel finds with trees."""

    def timer(*motion: Any) -> tuple[Floats, Ints]:
        impact = kernel(*motion)
        return impact.time, impact.status

    return timer


def _sphere_within(kernel: Callable[..., Floats]) -> Callable[..., Floats]:
    """When a sphere and another shape first are within a clearance: when a larger sphere touches."""

    def entry(a0: Sphere, a1: Sphere, b0: Shape, b1: Shape, clearance: float) -> Floats:
        return kernel(a0.padded(clearance), a1.padded(clearance), b0, b1)

    return entry


_Timer: TypeAlias = Callable[..., tuple[Floats, Ints]]

_TIMES: dict[tuple[type, type], _Timer] = {
    (Sphere, Sphere): _exact(spheres.time_of_impact_sphere_sphere),
    (Sphere, Aabb): _exact(boxes.time_of_impact_sphere_aabb),
    (Sphere, Obb): turning.time_of_impact_sphere_obb,
    (Aabb, Aabb): _exact(boxes.time_of_impact_aabb_aabb),
    (Aabb, Obb): turning.time_of_impact_obb_obb,
    (Obb, Obb): turning.time_of_impact_obb_obb,
    **{(SphereTree, kind): _tree(trees.first_impact_tree_shape) for kind in trees.SWEPT_SPHERE_PAIRS},
    (SphereTree, SphereTree): _tree(trees.first_impact_tree_tree),
}
_WITHIN: dict[tuple[type, type], Callable[..., Floats]] = {
    (Sphere, Sphere): _sphere_within(spheres.time_of_impact_sphere_sphere),
    (Sphere, Aabb): _sphere_within(boxes.time_of_impact_sphere_aabb),
    (Aabb, Aabb): boxes.entry_within_clearance_aabb_aabb,
}
_CLOSEST: dict[tuple[type, type], Callable[..., Floats]] = {
    (Sphere, Sphere): spheres.closest_time_sphere_sphere,
    (Aabb, Aabb): boxes.closest_time_aabb_aabb,
}

_M = TypeVar("_M")


def _method(
    methods: dict[tuple[type, type], _M],
    what: str,
    a_start: Shape,
    a_end: Shape,
    b_start: Shape,
    b_end: Shape,
) -> tuple[_M, list[Shape]]:
    """The method for a pair, and the four shapes as it takes them: in its order, all of one batch."""
    for start, end in ((a_start, a_end), (b_start, b_end)):
        if type(start) is not type(end):
            raise unsupported_pair("motion", start, end)
    for motion in ((a_start, a_end, b_start, b_end), (b_start, b_end, a_start, a_end)):
        method = methods.get((type(motion[0]), type(motion[2])))
        if method is not None:
            batch = require_common_batch(a_start, a_end, b_start, b_end)
            return method, [s if s.shape == batch else s.broadcast_to(batch) for s in motion]
    raise unsupported_pair(what, a_start, b_start)


def _timed(a_start: Shape, a_end: Shape, b_start: Shape, b_end: Shape) -> tuple[Floats, Ints]:
    """Times of impact and their statuses."""
    method, motion = _method(_TIMES, "sweep", a_start, a_end, b_start, b_end)
    return method(*motion)
