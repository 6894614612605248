"""Continuous collision queries of two moving shapes: time of impact, overlap span and closest time.

Time is 0 at the first sample and 1 at the second. Centers, radii, faces and half extents change linearly,
rotations at a constant rate along the shorter arc. Corners of `Meshes` move in straight lines, also where
their matrices turn. Triangles and a `TriangleMesh` are at rest. Touching counts as overlap. No overlap is
NaN, never an error and never 1. Float32 input is widened first. The shapes may be given in either order; a
table finds the method for a pair.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np

from ..distance.dispatch import Solid, unsupported_pair, witness_points
from ..mesh.meshes import Meshes
from ..mesh.triangle_mesh import TriangleMesh, require_at_rest
from ..numeric.arguments import LARGEST_LENGTH, as_number
from ..numeric.arrays import Floats, Ints
from ..numeric.batch import common_batch
from ..shapes import Aabb, Capsule, Obb, Sphere, Triangle, concatenated
from ..trees.sphere_tree import SphereTree
from . import closed_forms, mesh_mesh
from . import obb as oriented_boxes
from .interpolation import Impact, ImpactStatus, at
from .sphere_mesh import closest_time_sphere_mesh, time_of_impact_sphere_mesh
from .sphere_triangle import entry_times_sphere_triangle, minimum_separation_sphere_triangle


def time_of_impact(a_start: Solid, a_end: Solid, b_start: Solid, b_end: Solid) -> Floats:
    """First time in [0, 1] at which two moving shapes overlap.

    Overlap at the start is 0. Grazing at one instant and contact exactly at 1 count. Exact up to float64
    rounding; never late for oriented boxes that rotate, see `first_impact`.

    Parameters
    ----------
    a_start, a_end, b_start, b_end : shapes, trees, meshes or `Meshes`, batches that broadcast
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
    method, motion, batch, _ = _method(TIMES, "sweep", a_start, a_end, b_start, b_end)
    return method(*motion)[0].reshape(batch)


def first_impact(a_start: Solid, a_end: Solid, b_start: Solid, b_end: Solid) -> Impact:
    """First time, point and normal of contact of two moving shapes, and the certainty of the time.

    Times are those of `time_of_impact`; `status` says whether each is exact, conservative or unresolved.
    Point and normal are those of `witness_points` at that time. For shapes that overlap at the start they are
    the middle and the direction of the minimum translation.

    Parameters
    ----------
    a_start, a_end, b_start, b_end : shapes, trees, meshes or `Meshes`, batches that broadcast
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
    method, motion, batch, is_swapped = _method(TIMES, "sweep", a_start, a_end, b_start, b_end)
    time, status = method(*motion)
    point, normal = np.full((*time.shape, 3), np.nan), np.full((*time.shape, 3), np.nan)
    hit = ~np.isnan(time)
    if hit.any():
        a0, a1, b0, b1 = (shape if isinstance(shape, TriangleMesh) else shape[hit] for shape in motion)
        witness = witness_points(at(a0, a1, time[hit]), at(b0, b1, time[hit]))
        point[hit], normal[hit] = witness.middle, -witness.normal if is_swapped else witness.normal
    vectors = point.reshape(*batch, 3), normal.reshape(*batch, 3)
    return Impact(time.reshape(batch), *vectors, status.reshape(batch))


def overlap_span(
    a_start: Solid, a_end: Solid, b_start: Solid, b_end: Solid, clearance: float = 0.0
) -> tuple[Floats, Floats]:
    """First and last time in [0, 1] at which two moving shapes are within `clearance` of each other.

    Spheres and axis-aligned boxes, and spheres and triangles, are within a clearance during one span of time
    or never. Others may part in between: a sphere may leave one triangle of a mesh before it reaches another,
    and shapes that rotate, and `Meshes`, may touch several times. `scan_contacts` finds the intervals of
    these.

    Exact up to float64 rounding; `Meshes` are within a clearance too where one is inside the other. For
    oriented boxes and capsules that rotate, `enter` is never late and `leave` never early, as for
    `first_impact`. `enter` is 0 if and only if the shapes are within the clearance at the start, and `leave`
    is 1 if and only if they are at the end, so that spans of adjacent intervals join without a seam. Of
    oriented boxes and capsules, that includes what is within the clearance up to float64 rounding of their
    path.

    Parameters
    ----------
    a_start, a_end, b_start, b_end : shapes, meshes or `Meshes`, batches that broadcast
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
    method, (a0, a1, b0, b1), batch, _ = _method(TIMES_WITHIN, "overlap span", a_start, a_end, b_start, b_end)
    if clearance == 0 and isinstance(a0, Aabb) and isinstance(b0, Aabb):
        enter, leave = closed_forms.overlap_span_aabb_aabb(a0, a1, b0, b1)
        return enter.reshape(batch), leave.reshape(batch)
    # Forward and backward in time in one call, because the overhead of a call exceeds the work for few pairs.
    if isinstance(b0, Triangle):
        enter, back = method(a0, a1, b0, b1, clearance), method(a1, a0, b1, b0, clearance)
    else:
        b_both = (b0, b1) if isinstance(b0, TriangleMesh) else (concatenated(b0, b1), concatenated(b1, b0))
        both = method(concatenated(a0, a1), concatenated(a1, a0), *b_both, clearance)
        enter, back = np.split(both, 2)
    # 1 - back may round to 1, which is reserved for contact at the end.
    leave = np.where(back == 0, 1.0, np.minimum(1 - back, closed_forms.LAST_TIME_BEFORE_END))
    # Because of rounding, a graze may be found in one direction of time only.
    leave = np.where(np.isnan(leave), enter, leave)
    enter = np.where(np.isnan(enter), leave, enter)
    return enter.reshape(batch), np.maximum(enter, leave).reshape(batch)


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
    method, motion, batch, _ = _method(CLOSEST, "closest time", a_start, a_end, b_start, b_end)
    return method(*motion).reshape(batch)


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
    # Leaves of the first tree along the last axis but one, those of the second along the last.
    pairs = [each.leaf_spheres[..., None] for each in motion[:2]]
    for each in motion[2:]:
        if isinstance(each, SphereTree):
            each = each.leaf_spheres[:, None]
        elif not isinstance(each, TriangleMesh):
            each = each[:, None, None]
        pairs.append(each)
    batch = np.broadcast_shapes(pairs[0].shape, pairs[2].shape)
    each = (
        shape if isinstance(shape, TriangleMesh) else shape.broadcast_to(batch).reshaped((-1,))
        for shape in pairs
    )
    time, status = TIMES[Sphere, type(pairs[2])](*each)
    flat = (batch[0], batch[1] * batch[2])
    time, status = time.reshape(flat), status.reshape(flat)
    first = np.where(np.isnan(time), np.inf, time).argmin(axis=-1)[..., None]
    time = np.take_along_axis(time, first, axis=-1)[..., 0]
    return time, np.take_along_axis(status, first, axis=-1)[..., 0]


def _sphere_within(a0: Sphere, a1: Sphere, b0: Solid, b1: Solid, clearance: float) -> Floats:
    """Entry within a clearance of a sphere, as the time of impact of a sphere with a larger radius."""
    return TIMES[Sphere, type(b0)](a0.padded(clearance), a1.padded(clearance), b0, b1)[0]


_TimeKernel: TypeAlias = Callable[..., tuple[Floats, Ints]]

TIMES: dict[tuple[type, type], _TimeKernel] = {
    (Sphere, Sphere): _exact(closed_forms.time_of_impact_sphere_sphere),
    (Sphere, Aabb): _exact(closed_forms.time_of_impact_sphere_aabb),
    (Sphere, Triangle): _exact(lambda a0, a1, b, _: entry_times_sphere_triangle(a0, a1, b)),
    (Sphere, TriangleMesh): _exact(time_of_impact_sphere_mesh),
    (Sphere, Obb): oriented_boxes.time_of_impact_sphere_obb,
    (Meshes, Meshes): _exact(lambda a0, a1, b0, b1: mesh_mesh.time_within_meshes(a0, a1, b0, b1, 0.0)),
    (Aabb, Aabb): _exact(lambda *motion: closed_forms.overlap_span_aabb_aabb(*motion)[0]),
    **{(kind, Obb): oriented_boxes.time_of_impact_boxes for kind in (Aabb, Obb)},
    **{(Capsule, kind): oriented_boxes.time_of_impact_boxes for kind in (Capsule, Sphere, Aabb, Obb)},
    **{(SphereTree, kind): _of_leaves for kind in (SphereTree, Sphere, Aabb, Obb, TriangleMesh)},
}
TIMES_WITHIN: dict[tuple[type, type], Callable[..., Floats]] = {
    **{(Sphere, kind): _sphere_within for kind in (Sphere, Aabb, Triangle, TriangleMesh, Obb)},
    (Meshes, Meshes): mesh_mesh.time_within_meshes,
    (Aabb, Aabb): closed_forms.time_within_clearance_aabb_aabb,
    **{
        pair: lambda *motion_and_clearance: oriented_boxes.time_of_impact_boxes(*motion_and_clearance)[0]
        for pair, method in TIMES.items()
        if method is oriented_boxes.time_of_impact_boxes
    },
}
"""First times within a Euclidean clearance, one for all pairs (n,) or one for each."""

CLOSEST: dict[tuple[type, type], Callable[..., Floats]] = {
    (Sphere, Sphere): closed_forms.closest_time_sphere_sphere,
    (Sphere, Triangle): lambda a0, a1, b, _: minimum_separation_sphere_triangle(a0, a1, b)[0],
    (Sphere, TriangleMesh): closest_time_sphere_mesh,
    (Aabb, Aabb): closed_forms.closest_time_aabb_aabb,
}

_M = TypeVar("_M")


def _method(
    methods: dict[tuple[type, type], _M], query: str, *shapes: Any
) -> tuple[_M, list[Any], tuple[int, ...], bool]:
    """Find the method for a pair of kinds; return it, the shapes (n,) in its order, and their batch.

    Also whether that order is swapped. Trees must be poses of one tree, triangles and meshes be at rest.
    """
    a_start, a_end, b_start, b_end = shapes
    for start, end, name in ((a_start, a_end, "a"), (b_start, b_end, "b")):
        if type(start) is not type(end):
            raise unsupported_pair("motion", start, end, (f"{name}_start", f"{name}_end"))
    kinds = type(a_start), type(b_start)
    is_swapped = kinds not in methods
    method = methods.get(kinds[::-1] if is_swapped else kinds)
    if method is None:
        raise unsupported_pair(query, a_start, b_start, ("a_start", "b_start"))
    batch = common_batch("shapes", *(shape.shape for shape in shapes))
    for start, end in (shapes[:2], shapes[2:]):
        if isinstance(start, SphereTree):
            start.require_same_nodes(end)
        elif isinstance(start, TriangleMesh):
            start.require_same(end)
        elif isinstance(start, Triangle):
            require_at_rest(start, end, "triangles")
    flat = (math.prod(batch),)
    # A mesh has no batch.
    motion = [
        shape
        if isinstance(shape, TriangleMesh) or shape.shape == flat
        else shape.broadcast_to(batch).reshaped(flat)
        for shape in ((*shapes[2:], *shapes[:2]) if is_swapped else shapes)
    ]
    return method, motion, batch, is_swapped
