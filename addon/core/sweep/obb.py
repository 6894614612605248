"""Sweep of oriented boxes that move and rotate, with each other and with spheres: conservative advancement.

Conservative advancement (Mirtich 1996), here along separating axes with a second-order bound. While a pair is
disjoint there is an axis with a gap, and a time in which that gap cannot close: see `gap_advancement`.
Advance to the end of that time, choose the axis with the largest gap there, and repeat. The time reached is
never late. Without rotation the bound is the gap itself, and a few steps end exactly at the contact. Capsules
and their partners are boxes with a radius around them, followed along the shortest offset between the boxes.
"""

from __future__ import annotations

import numpy as np

from ..distance.obb import Rounded, box_and_radius
from ..numeric.arrays import Bools, Floats, Ints, length
from ..numeric.tolerances import CHAIN_ROUNDING, LENGTH_ROUNDING
from ..shapes import Capsule, Obb, Sphere
from ..shapes.boxes import local_points
from .closed_forms import gap_entry_time, time_of_impact_sphere_sphere
from .gap_advancement import BoxPairMotion, largest_gap, safe_step
from .interpolation import ImpactStatus, rotated_onto

_CHUNK_PAIRS = 2048
_MAX_STEPS, _MAX_ROUNDED_STEPS = 100, 300
"""Steps after which a pair is UNRESOLVED. Most pairs need two to eight.
More are needed only by pairs that slide along each other within rounding errors of a contact, and by rounded
ones that turn where their closest points change places."""


def time_of_impact_boxes(
    a_start: Rounded, a_end: Rounded, b_start: Rounded, b_end: Rounded, clearance: Floats | float = 0.0
) -> tuple[Floats, Ints]:
    """First time in [0, 1] at which two moving shapes that are boxes, or within a radius of one, touch.

    Centers, half extents and radii change linearly, rotations at a constant rate along the shorter arc. EXACT
    up to float64 rounding if neither shape rotates. Otherwise CONSERVATIVE: never late, and early by no more
    than the time in which a gap of about 1e-15 of the pair's size closes. UNRESOLVED after too many steps:
    possible contact from the time given.

    a_start, a_end, b_start, b_end : Capsule, Sphere, Aabb or Obb, batch (n,). Both shapes at times 0 and 1.
    clearance : (n,) float64 or float. Pairs within this Euclidean distance touch: around a box it has rounded
        corners.
    Returns time : (n,) float64. NaN for never.
    Returns status : (n,) int64. Values of ImpactStatus.
    """
    a0, a1, *a_radii = boxes_in_motion(a_start, a_end)
    b0, b1, *b_radii = boxes_in_motion(b_start, b_end)
    radius_start, radius_end = (one + other + clearance for one, other in zip(a_radii, b_radii, strict=True))
    is_rounded = any(isinstance(shape, Capsule | Sphere) for shape in (a_start, b_start))
    return advance((a0, a1, b0, b1), radius_start, radius_end, is_rounded or bool(np.any(clearance)))


def time_of_impact_sphere_obb(
    a_start: Sphere, a_end: Sphere, b_start: Obb, b_end: Obb
) -> tuple[Floats, Ints]:
    """First time in [0, 1] at which a moving sphere touches a moving box, and its certainty.

    The radius may change. Certainty as of `time_of_impact_boxes`. A box that keeps its rotation is
    axis-aligned in its own frame, and solved there in closed form.

    a_start, a_end : Sphere, batch (n,). The sphere at times 0 and 1.
    b_start, b_end : Obb, batch (n,). The box at times 0 and 1.
    Returns time : (n,) float64. NaN for never.
    Returns status : (n,) int64. Values of ImpactStatus.
    """
    times, status = np.full(a_start.shape, np.nan), np.full(a_start.shape, ImpactStatus.EXACT, dtype=np.int64)
    rotates = (b_start.rotation != b_end.rotation).any(axis=(-2, -1))
    rows = np.flatnonzero(~rotates)
    if len(rows):
        gaps = []
        for sphere, box in ((a_start[rows], b_start[rows]), (a_end[rows], b_end[rows])):
            local = local_points(box, sphere.center)
            gaps.append(np.concatenate([local - box.half_extents, -local - box.half_extents], axis=-1).T)
        times[rows] = gap_entry_time(gaps[0], gaps[1], a_start.radius[rows], a_end.radius[rows])
    rows = np.flatnonzero(rotates)
    if len(rows):
        # The box comes first, because gaps are measured in its frame.
        boxes, spheres = (b_start[rows], b_end[rows]), (a_start[rows], a_end[rows])
        times[rows], status[rows] = time_of_impact_boxes(*boxes, *spheres)
    return times, status


def advance(
    boxes: tuple[Obb, Obb, Obb, Obb], radius_start: Floats, radius_end: Floats, is_rounded: bool
) -> tuple[Floats, Ints]:
    """Advance pairs of boxes, with a radius around them, to contact.

    Certainty as of `time_of_impact_boxes`.

    boxes : four Obb, batch (n,). The first box at times 0 and 1, then the second.
    radius_start, radius_end : (n,) float64. Sum of the radii around both boxes at times 0 and 1.
    is_rounded : Whether boxes have a radius.
    Returns time : (n,) float64. NaN for never.
    Returns status : (n,) int64. Values of ImpactStatus.
    """
    shape = radius_start.shape
    times, status = np.full(shape, np.nan), np.full(shape, ImpactStatus.EXACT, dtype=np.int64)
    # The times of impact of the bounding spheres, and slightly earlier, because these are rounded.
    no_radius = np.zeros_like(radius_start)
    begin = time_of_impact_sphere_sphere(
        *(
            Sphere.unchecked(box.center, length(box.half_extents) * (1 + CHAIN_ROUNDING) + radius)
            for box, radius in zip(boxes, (radius_start, radius_end, no_radius, no_radius), strict=True)
        )
    )
    begin = np.maximum(begin - CHAIN_ROUNDING, 0.0)
    near = np.flatnonzero(~np.isnan(begin))
    if not len(near):
        return times, status
    motion = BoxPairMotion.of([box[near] for box in boxes], radius_start[near], radius_end[near])
    time = begin[near]
    trial = 1 - time
    active = np.arange(len(near))
    for _ in range(_MAX_ROUNDED_STEPS if is_rounded else _MAX_STEPS):
        continuing = []
        for start in range(0, len(active), _CHUNK_PAIRS):
            rows = active[start : start + _CHUNK_PAIRS]
            part = motion if len(rows) == len(near) else motion.take(rows)
            touching, continues, later, ahead = _step(part, time[rows], trial[rows], is_rounded)
            hit = rows[touching]
            times[near[hit]] = time[hit]
            status[near[hit]] = np.where(
                (part.angle[:, touching] > 0).any(axis=0), ImpactStatus.CONSERVATIVE, ImpactStatus.EXACT
            )
            time[rows], trial[rows] = later, ahead
            continuing.append(rows[continues])
        active = np.concatenate(continuing)
        if not len(active):
            return times, status
    times[near[active]], status[near[active]] = time[active], ImpactStatus.UNRESOLVED
    return times, status


def _step(
    motion: BoxPairMotion, now: Floats, stretch: Floats, is_rounded: bool
) -> tuple[Bools, Bools, Floats, Floats]:
    """Decide which pairs (n,) touch now and which go on, at what time (n,), and how far (n,) to try next."""
    gap, axis = largest_gap(motion, now, is_rounded)
    touching = gap <= LENGTH_ROUNDING
    step, crosses = safe_step(motion, now, axis, stretch)
    later = np.where(crosses, now + step, now + stretch)
    # A pair that stays disjoint to the end never touches. One that may touch at the end is evaluated there.
    continues = ~touching & (now < 1) & (crosses | (later < 1))
    # The next contact is expected about one step ahead or farther.
    ahead = np.minimum(2 * np.where(crosses, np.maximum(step, 1e-9), stretch), 1 - later)
    return touching, continues, later, ahead


def boxes_in_motion(start: Rounded, end: Rounded) -> tuple[Obb, Obb, Floats, Floats]:
    """Split moving shapes into boxes and radii, so that no box of a capsule rolls about its axis.

    start, end : Capsule, Sphere, Aabb or Obb, batch (n,). Shapes of one kind at times 0 and 1.
    Returns start, end : Obb, batch (n,)
    Returns radius_start, radius_end : (n,) float64
    """
    (first, radius), (last, radius_end) = box_and_radius(start), box_and_radius(end)
    if isinstance(start, Capsule) and isinstance(end, Capsule):
        turn = rotated_onto(start.axis, end.axis)
        last = Obb.unchecked(last.center, last.half_extents, np.einsum("nij,njk->nik", turn, first.rotation))
    return first, last, radius, radius_end
