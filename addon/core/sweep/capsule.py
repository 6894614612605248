"""Sweep of capsules that move and rotate, with spheres, boxes and each other.

As in `distance.capsule`, both shapes are boxes with radii around them, which conservative advancement follows
along the shortest offset between the boxes.
"""

from __future__ import annotations

import numpy as np

from ..distance.capsule import Rounded, box_and_radius
from ..numeric.arrays import Floats, Ints
from ..shapes import Capsule, Obb
from .interpolation import rotated_onto
from .obb import advance


def time_of_impact_capsule_shape(
    a_start: Capsule, a_end: Capsule, b_start: Rounded, b_end: Rounded
) -> tuple[Floats, Ints]:
    """First time in [0, 1] at which a moving capsule touches another moving shape, and its certainty.

    Centers, lengths and radii change linearly; axes turn at a constant rate along the shorter arc. EXACT up
    to float64 rounding if neither shape rotates. Otherwise CONSERVATIVE: never late, and early by no more
    than the time in which a gap of about 1e-15 of the pair's size closes. UNRESOLVED after too many steps:
    possible contact from the time given.

    a_start, a_end : Capsule, batch (...). The capsule at times 0 and 1.
    b_start, b_end : Sphere, Aabb, Obb or Capsule, batch (...). The other shape at times 0 and 1.
    Returns time : (...) float64. NaN for never.
    Returns status : (...) int64. Values of ImpactStatus.
    """
    batch = a_start.shape
    (a0, a1, *a_radii), (b0, b1, *b_radii) = (
        boxes_in_motion(start.reshaped((-1,)), end.reshaped((-1,)))
        for start, end in ((a_start, a_end), (b_start, b_end))
    )
    radius_start, radius_end = (one + other for one, other in zip(a_radii, b_radii, strict=True))
    times, status = advance((a0, a1, b0, b1), radius_start, radius_end, kind="rounded")
    return times.reshape(batch), status.reshape(batch)


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
