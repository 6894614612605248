"""Continuous collision queries of two moving shapes: time of impact, overlap span and closest time.

Time is 0 at the first sample and 1 at the second. Centers, radii, faces and half extents change linearly,
rotations at a constant rate along the shorter arc. Triangles and meshes are at rest. Touching counts as
overlap. No overlap is NaN, never an error and never 1. Float32 input is widened first. The shapes may be
given in either order; a table finds the method for a pair.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np

from ..distance.dispatch import Solid, separation, unsupported_pair, witness_points
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arguments import LARGEST_LENGTH, as_number
from ..numeric.arrays import Floats, Ints
from ..numeric.batch import common_batch
from ..shapes import Aabb, Capsule, Obb, Sphere, Triangle, stacked
from ..trees.sphere_tree import SphereTree
from . import closed_forms
from . import obb as oriented_boxes
from . import sphere_mesh as meshes
from .interpolation import Impact, ImpactStatus, at

_CLOSEST_CHUNK_PAIRS = 2048
"""Pairs evaluated together for their closest time: boxes have about fifty candidate times each."""


def time_of_impact(a_start: Solid, a_end: Solid, b_start: Solid, b_end: Solid) -> Floats:
    """First time in [0, 1] at which two moving shapes overlap.

    Overlap at the start is 0. Grazing at one instant and contact exactly at 1 count. Exact up to float64
    rounding; never late for oriented boxes that rotate, see `first_impact`.

    Parameters
    ----------
    a_start, a_end, b_start, b_end : shapes, trees or meshes, batches that broadcast
        Both shapes at times 0 and 1, in one space and unit.

    Returns
    -------
    time : (...) float64
        NaN for never.

    Raises
    ------
    InvalidShapeError
        For a pair of kinds without a method, for two samples of one shape that are of different kinds, for
        triangles and meshes that move, and for batches that do not broadcast.
    """
    method, motion = _method(TIMES, "sweep", a_start, a_end, b_start, b_end)
    return method(*motion)[0]


def first_impact(a_start: Solid, a_end: Solid, b_start: Solid, b_end: Solid) -> Impact:
    """First time, point and normal of contact of two moving shapes, and the certainty of the time.

    Times are those of `time_of_impact`; `status` says whether each is exact, conservative or unresolved.
    Point and normal are those of `witness_points` at that time. For shapes that overlap at the start they are
    the middle and the direction of the minimum translation.

    Parameters
    ----------
    a_start, a_end, b_start, b_end : shapes, trees or meshes, batches that broadcast
        Both shapes at times 0 and 1, in one space and unit.

    Returns
    -------
    impact : Impact, arrays (...)
        In the space and unit of the shapes.

    Raises
    ------
    InvalidShapeError
        As `time_of_impact`.
    """
    if isinstance(a_start, TriangleMesh) and not isinstance(b_start, TriangleMesh):
        impact = first_impact(b_start, b_end, a_start, a_end)
        return impact._replace(normal=-impact.normal)
    method, motion = _method(TIMES, "sweep", a_start, a_end, b_start, b_end)
    touching: list[Any]
    if isinstance(b_start, TriangleMesh):
        # The sphere and the triangle that touch, so that the mesh is not searched again for the point.
        *touching, time = meshes.first_impact_sphere_mesh(*motion)
        status = np.full(time.shape, ImpactStatus.EXACT, dtype=np.int64)
    else:
        touching, (time, status) = [a_start, a_end, b_start, b_end], method(*motion)
    point, normal = np.full((*time.shape, 3), np.nan), np.full((*time.shape, 3), np.nan)
    hit = ~np.isnan(time)
    if hit.any():
        a0, a1, b0, b1 = (shape.broadcast_to(time.shape)[hit] for shape in touching)
        witness = witness_points(at(a0, a1, time[hit]), at(b0, b1, time[hit]))
        point[hit], normal[hit] = witness.middle, witness.normal
    return Impact(time, point, normal, status)


def overlap_span(
    a_start: Solid, a_end: Solid, b_start: Solid, b_end: Solid, clearance: float = 0.0
) -> tuple[Floats, Floats]:
    """First and last time in [0, 1] at which two moving shapes are within `clearance` of each other.

    Defined for spheres and axis-aligned boxes, and for spheres with triangles, which are within a clearance
    during one span of time or never; and for a sphere with a mesh, where it may leave one triangle before it
    reaches another. Exact up to float64 rounding. `enter` is 0 if and only if the shapes are within the
    clearance at the start, and `leave` is 1 if and only if they are at the end, so that spans of adjacent
    intervals join without a seam.

    Parameters
    ----------
    a_start, a_end, b_start, b_end : shapes or meshes, batches that broadcast
        Both shapes at times 0 and 1, in one space and unit.
    clearance : float
        Euclidean distance >= 0: around a box it has rounded corners.

    Returns
    -------
    enter, leave : (...) float64
        Both NaN for never.

    Raises
    ------
    InvalidShapeError
        As `time_of_impact`, and for a clearance that is negative or not finite.
    """
    clearance = as_number(clearance, "clearance", 0.0, most=LARGEST_LENGTH)
    method, (a0, a1, b0, b1) = _method(_WITHIN, "overlap span", a_start, a_end, b_start, b_end)
    if clearance == 0 and isinstance(a0, Aabb):
        return closed_forms.overlap_span_aabb_aabb(a0, a1, b0, b1)
    # Forward and backward in time in one call, because the overhead of a call exceeds the work for few pairs.
    if isinstance(b0, Triangle):
        enter, back = method(a0, a1, b0, b1, clearance), method(a1, a0, b1, b0, clearance)
    else:
        b_both = (b0, b1) if isinstance(b0, TriangleMesh) else (stacked([b0, b1]), stacked([b1, b0]))
        enter, back = method(stacked([a0, a1]), stacked([a1, a0]), *b_both, clearance)
    # 1 - back may round to 1, which is reserved for contact at the end.
    leave = np.where(back == 0, 1.0, np.minimum(1 - back, closed_forms.LAST_TIME_BEFORE_END))
    # Because of rounding, a graze may be found in one direction of time only.
    leave = np.where(np.isnan(leave), enter, leave)
    enter = np.where(np.isnan(enter), leave, enter)
    return enter, np.maximum(enter, leave)


def closest_time(a_start: Solid, a_end: Solid, b_start: Solid, b_end: Solid) -> Floats:
    """First time in [0, 1] at which the signed separation of two moving shapes is minimal.

    That is the smallest gap of a pair that stays disjoint, and the deepest overlap of another. Defined for
    two spheres, two axis-aligned boxes, and a sphere with a triangle or a mesh. Exact up to float64 rounding.

    Parameters
    ----------
    a_start, a_end, b_start, b_end : shapes or meshes, batches that broadcast
        Both shapes at times 0 and 1, in one space and unit.

    Returns
    -------
    time : (...) float64

    Raises
    ------
    InvalidShapeError
        As `time_of_impact`.
    """
    method, motion = _method(_CLOSEST, "closest time", a_start, a_end, b_start, b_end)
    return method(*motion)


def _exact(kernel: Callable[..., Floats]) -> _TimeKernel:
    """Add the status EXACT to the times of a kernel."""

    def with_status(*motion: Any) -> tuple[Floats, Ints]:
        time = kernel(*motion)
        return time, np.full(time.shape, ImpactStatus.EXACT, dtype=np.int64)

    return with_status


def _of_leaves(*motion: Any) -> tuple[Floats, Ints]:
    """Sweep a sphere tree with a shape or another tree: the first of the sweeps of all leaves.

    Needs memory for all pairs of leaves, about 200 bytes each.
    """
    for start, end in (motion[:2], motion[2:]):
        if isinstance(start, SphereTree):
            start.require_same_nodes(end)
    leaves = [each.leaf_spheres if isinstance(each, SphereTree) else each[..., None] for each in motion]
    # Leaves of the first tree along the last axis but one, those of the second along the last.
    pairs = [*(each[..., None] for each in leaves[:2]), *(each[..., None, :] for each in leaves[2:])]
    each = np.broadcast_shapes(pairs[0].shape, pairs[2].shape)
    time, status = TIMES[Sphere, type(pairs[2])](*(shape.broadcast_to(each) for shape in pairs))
    flat = (*motion[0].shape, each[-2] * each[-1])
    time, status = time.reshape(flat), status.reshape(flat)
    first = np.where(np.isnan(time), np.inf, time).argmin(axis=-1)[..., None]
    time = np.take_along_axis(time, first, axis=-1)[..., 0]
    return time, np.take_along_axis(status, first, axis=-1)[..., 0]


def _sphere_within(a0: Sphere, a1: Sphere, b0: Solid, b1: Solid, clearance: float) -> Floats:
    """Entry within a clearance of a sphere, as the time of impact of a sphere with a larger radius."""
    return TIMES[Sphere, type(b0)](a0.padded(clearance), a1.padded(clearance), b0, b1)[0]


def _first_minimum(
    candidates: Callable[..., Floats], at_end: Callable[..., Floats] | None = None
) -> Callable[..., Floats]:
    """Choose the first candidate time with the minimum separation, from a kernel's candidates (k, ...).

    at_end : kernel that finds minima at the begin and the end faster, and returns NaN for others
    """

    def closest(*shapes: Any) -> Floats:
        motion = [shape.reshaped((-1,)) for shape in shapes]
        best = np.full(motion[0].shape, np.nan) if at_end is None else at_end(*motion)
        left = np.flatnonzero(np.isnan(best))
        for rows in (left[k : k + _CLOSEST_CHUNK_PAIRS] for k in range(0, len(left), _CLOSEST_CHUNK_PAIRS)):
            a0, a1, b0, b1 = (shape[rows] for shape in motion)
            times = np.sort(candidates(a0, a1, b0, b1), axis=0)
            values = separation(at(a0, a1, times), at(b0, b1, times))
            lowest = values.argmin(axis=0)[None]
            best[rows] = np.take_along_axis(times, lowest, axis=0)[0]
        return best.reshape(shapes[0].shape)

    return closest


_TimeKernel: TypeAlias = Callable[..., tuple[Floats, Ints]]

TIMES: dict[tuple[type, type], _TimeKernel] = {
    (Sphere, Sphere): _exact(closed_forms.time_of_impact_sphere_sphere),
    (Sphere, Aabb): _exact(closed_forms.time_of_impact_sphere_aabb),
    (Sphere, Triangle): _exact(meshes.time_of_impact_sphere_triangle),
    **{
        (kind, TriangleMesh): _exact(lambda *motion: meshes.first_impact_sphere_mesh(*motion)[-1])
        for kind in (Sphere, SphereTree)
    },
    (Sphere, Obb): oriented_boxes.time_of_impact_sphere_obb,
    (Aabb, Aabb): _exact(lambda *motion: closed_forms.overlap_span_aabb_aabb(*motion)[0]),
    **{(kind, Obb): oriented_boxes.time_of_impact_boxes for kind in (Aabb, Obb)},
    **{(Capsule, kind): oriented_boxes.time_of_impact_boxes for kind in (Capsule, Sphere, Aabb, Obb)},
    **{(SphereTree, kind): _of_leaves for kind in (SphereTree, Sphere, Aabb, Obb)},
}
_WITHIN: dict[tuple[type, type], Callable[..., Floats]] = {
    **{(Sphere, kind): _sphere_within for kind in (Sphere, Aabb, Triangle, TriangleMesh)},
    (Aabb, Aabb): closed_forms.time_within_clearance_aabb_aabb,
}
_CLOSEST: dict[tuple[type, type], Callable[..., Floats]] = {
    (Sphere, Sphere): _first_minimum(closed_forms.closest_time_candidates_sphere_sphere),
    (Sphere, Triangle): meshes.closest_time_sphere_triangle,
    (Sphere, TriangleMesh): meshes.closest_time_sphere_mesh,
    (Aabb, Aabb): _first_minimum(
        closed_forms.closest_time_candidates_aabb_aabb, closed_forms.closest_end_aabb_aabb
    ),
}

_M = TypeVar("_M")


def _method(methods: dict[tuple[type, type], _M], query: str, *shapes: Solid) -> tuple[_M, list[Any]]:
    """Find the method for a pair of kinds; return it with the shapes in its order and of one batch."""
    a_start, a_end, b_start, b_end = shapes
    for start, end, name in ((a_start, a_end, "a"), (b_start, b_end, "b")):
        if type(start) is not type(end):
            raise unsupported_pair("motion", start, end, (f"{name}_start", f"{name}_end"))
    for motion in (shapes, (*shapes[2:], *shapes[:2])):
        method = methods.get((type(motion[0]), type(motion[2])))
        if method is not None:
            batch = common_batch("shapes", *(shape.shape for shape in motion))
            # A mesh has no batch.
            return method, [
                shape
                if isinstance(shape, TriangleMesh) or shape.shape == batch
                else shape.broadcast_to(batch)
                for shape in motion
            ]
    raise unsupported_pair(query, a_start, b_start, ("a_start", "b_start"))
