"""Two shapes that move from one sample to the next: when they touch, and where.

Time runs from 0 at the start to 1 at the end. Centres, radii, faces and half extents change linearly with
it, rotations at a constant rate the shorter way; triangles and meshes are at rest. Touching counts as
overlap; no overlap is NaN, never an error and never 1. Float32 input is widened first. Shapes may be named in
either order.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from . import sweep_boxes as boxes
from . import sweep_meshes as meshes
from . import sweep_spheres as spheres
from . import sweep_trees as trees
from . import sweep_triangles as triangles
from . import sweep_turning as turning
from .arrays import Floats, Ints
from .errors import InvalidShapeError
from .interpolation import at
from .separation import Solid, require_common_batch, separation, unsupported_pair, witness_points
from .shapes import Aabb, Obb, Sphere, Triangle
from .sphere_tree import SphereTree
from .triangle_mesh import TriangleMesh

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


def time_of_impact(a_start: Solid, a_end: Solid, b_start: Solid, b_end: Solid) -> Floats:
    """When two moving shapes first overlap: (...) float64 in [0, 1], NaN where they never do.

    Already overlapping is 0; grazing at one instant and contact exactly at 1 count. Exact up to float64
    rounding; for oriented boxes that turn never late, see `first_impact`. Raises InvalidShapeError for a pair
    of kinds without a method, for two samples of one shape that are of different kinds, for triangles and
    meshes that move, and for batches that do not broadcast.
    """
    method, motion = _method(_TIMES, "sweep", a_start, a_end, b_start, b_end)
    return method(*motion)[0]


def first_impact(a_start: Solid, a_end: Solid, b_start: Solid, b_end: Solid) -> Impact:
    """When and where two moving shapes first overlap, (...), and how sure that is: times of `time_of_impact`.

    Each time is exact, conservative or unresolved, as its `status` says. Point and normal are those of
    `witness_points` at that time: of shapes that overlap from the start, the middle and the direction of the
    shortest way out. Raises as `time_of_impact` does.
    """
    if isinstance(a_start, TriangleMesh) and not isinstance(b_start, TriangleMesh):
        impact = first_impact(b_start, b_end, a_start, a_end)
        return impact._replace(normal=-impact.normal)
    method, motion = _method(_TIMES, "sweep", a_start, a_end, b_start, b_end)
    meeting: list[Any]
    if isinstance(b_start, TriangleMesh):
        # The two that meet: a mesh is not asked a second time where.
        *meeting, time = meshes.struck(*motion)
        status = np.full(time.shape, ImpactStatus.EXACT, dtype=np.int64)
    else:
        meeting, (time, status) = [a_start, a_end, b_start, b_end], method(*motion)
    point, normal = np.full((*time.shape, 3), np.nan), np.full((*time.shape, 3), np.nan)
    hit = ~np.isnan(time)
    if hit.any():
        a0, a1, b0, b1 = (shape.broadcast_to(time.shape)[hit] for shape in meeting)
        witness = witness_points(at(a0, a1, time[hit]), at(b0, b1, time[hit]))
        point[hit], normal[hit] = witness.middle, witness.normal
    return Impact(time, point, normal, status)


def overlap_span(
    a_start: Solid, a_end: Solid, b_start: Solid, b_end: Solid, clearance: float = 0.0
) -> tuple[Floats, Floats]:
    """When two moving shapes begin and cease to be within `clearance` of each other.

    For spheres and axis-aligned boxes, and for spheres with triangles: being within a clearance of each other
    is then one span of time or none. For a sphere with a mesh: from the first to the last time that it is.
    Returns (enter, leave), each (...) float64 in [0, 1], both NaN where they never are. `enter` is 0 exactly
    where the shapes are within clearance at the start, and `leave` is 1 exactly where they are at the end,
    so that spans of neighbouring intervals join without a seam.

    A clearance is Euclidean: for boxes it rounds the corners. Exact up to float64 rounding. Raises as
    `time_of_impact` does, and InvalidShapeError for a clearance that is no length.
    """
    if not 0 <= clearance < np.inf:
        raise InvalidShapeError(f"clearance: {clearance} is not a length >= 0")
    method, (a0, a1, b0, b1) = _method(_WITHIN, "overlap span", a_start, a_end, b_start, b_end)
    if clearance == 0 and isinstance(a0, Aabb):
        return boxes.overlap_span_aabb_aabb(a0, a1, b0, b1)
    enter, left = method(a0, a1, b0, b1, clearance), method(a1, a0, b1, b0, clearance)
    # A hair before the end is not the end.
    leave = np.where(left > 0, np.minimum(1 - left, boxes.BEFORE_END), 1 - left)
    # Rounding may see a graze from one side only.
    leave = np.where(np.isnan(leave), enter, leave)
    enter = np.where(np.isnan(enter), leave, enter)
    return enter, np.maximum(enter, leave)


def closest_time(a_start: Solid, a_end: Solid, b_start: Solid, b_end: Solid) -> Floats:
    """The first time in [0, 1] at which the signed separation is least, (...).

    For two spheres, two axis-aligned boxes, a sphere and a triangle or a mesh. Exact up to float64 rounding:
    the smallest gap of a pair that passes by, the deepest overlap of one that meets. Raises as
    `time_of_impact` does.
    """
    method, motion = _method(_CLOSEST, "closest time", a_start, a_end, b_start, b_end)
    return method(*motion)


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

    def entry(a0: Sphere, a1: Sphere, b0: Solid, b1: Solid, clearance: float) -> Floats:
        return kernel(a0.padded(clearance), a1.padded(clearance), b0, b1)

    return entry


def _least_of(candidates: Callable[..., Floats]) -> Callable[..., Floats]:
    """Of the times that a kernel gives for each pair, (k, ...), the first with the least separation."""

    def least(*shapes: Any) -> Floats:
        motion = [shape.reshaped((-1,)) for shape in shapes]
        best = np.empty(motion[0].shape)
        for start in range(0, len(best), _CLOSEST_AT_ONCE):
            a0, a1, b0, b1 = (shape[start : start + _CLOSEST_AT_ONCE] for shape in motion)
            times = np.sort(candidates(a0, a1, b0, b1), axis=0)
            values = separation(at(a0, a1, times), at(b0, b1, times))
            lowest = values.argmin(axis=0)[None]
            best[start : start + _CLOSEST_AT_ONCE] = np.take_along_axis(times, lowest, axis=0)[0]
        return best.reshape(shapes[0].shape)

    return least


_Timer: TypeAlias = Callable[..., tuple[Floats, Ints]]

_TIMES: dict[tuple[type, type], _Timer] = {
    (Sphere, Sphere): _exact(spheres.time_of_impact_sphere_sphere),
    (Sphere, Aabb): _exact(boxes.time_of_impact_sphere_aabb),
    (Sphere, Triangle): _exact(triangles.time_of_impact_sphere_triangle),
    (Sphere, TriangleMesh): _exact(meshes.time_of_impact_on_mesh),
    (SphereTree, TriangleMesh): _exact(meshes.time_of_impact_on_mesh),
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
    (Sphere, Triangle): _sphere_within(triangles.time_of_impact_sphere_triangle),
    (Sphere, TriangleMesh): _sphere_within(meshes.time_of_impact_on_mesh),
    (Aabb, Aabb): boxes.entry_within_clearance_aabb_aabb,
}
_CLOSEST: dict[tuple[type, type], Callable[..., Floats]] = {
    (Sphere, Sphere): _least_of(spheres.closest_time_sphere_sphere),
    (Sphere, Triangle): triangles.closest_time_sphere_triangle,
    (Sphere, TriangleMesh): meshes.closest_time_sphere_mesh,
    (Aabb, Aabb): _least_of(boxes.closest_time_aabb_aabb),
}

_M = TypeVar("_M")


def _method(
    methods: dict[tuple[type, type], _M],
    what: str,
    a_start: Solid,
    a_end: Solid,
    b_start: Solid,
    b_end: Solid,
) -> tuple[_M, list[Any]]:
    """The method for a pair, and the four shapes as it takes them: in its order, all of one batch."""
    for start, end in ((a_start, a_end), (b_start, b_end)):
        if type(start) is not type(end):
            raise unsupported_pair("motion", start, end)
    for motion in ((a_start, a_end, b_start, b_end), (b_start, b_end, a_start, a_end)):
        method = methods.get((type(motion[0]), type(motion[2])))
        if method is not None:
            batch = require_common_batch(a_start, a_end, b_start, b_end)
            return method, [_broadcast(shape, batch) for shape in motion]
    raise unsupported_pair(what, a_start, b_start)


def _broadcast(shape: Solid, batch: tuple[int, ...]) -> Solid:
    """The shape as a batch; a mesh is one obstacle for all of it."""
    if isinstance(shape, TriangleMesh) or shape.shape == batch:
        return shape
    return shape.broadcast_to(batch)
