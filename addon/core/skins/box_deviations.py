"""Deviation of the sides of boxes around blended points from linear motion over an interval."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..curves.transform_bounds import TransformChords
from ..numeric.arrays import Floats


class BoneBalls(NamedTuple):
    """Balls around the points that each bone (b,) carries, in the space of the bone.

    center : (b, 3) float64
    radius : (b,) float64
    reach : (b,) float64. Largest distance of such a point from the bone's origin.
    """

    center: Floats
    radius: Floats
    reach: Floats


def point_deviations(balls: BoneBalls, chords: TransformChords) -> Floats:
    """Bound the deviation of blended points from linear motion.

    A blended point is within the hull of its places, so it deviates from its chord by no more than the
    farthest of them.

    balls : BoneBalls, (b,). Around the points that each bone carries.
    chords : TransformChords, (q * b,). Motion of all bones over an interval, then over the next one, and so
        on.
    Returns deviations : (q,) float64. Conservative, in world space.
    """
    reach = np.tile(balls.reach, len(chords.offset) // len(balls.reach))
    return np.asarray((chords.offset + chords.linear * reach).reshape(-1, len(balls.reach)).max(axis=1))


def kinks_of_any(balls: BoneBalls, chords: TransformChords) -> Floats:
    """Bound how far the sides of boxes around linearly moving points are from linear motion.

    The side of a box is the largest of many coordinates. If all of these are linear, it is convex: below its
    chord by at most a quarter of the difference of the coordinates' changes, where another point becomes the
    outermost.

    balls, chords. As for `point_deviations`.
    Returns deviations : (q,) float64. Conservative, in world space.
    """
    count = len(balls.radius)
    change = (chords.end - chords.begin)[:, :3].reshape(-1, count, 3, 4)
    middle = np.einsum("qbij,bj->qbi", change[..., :3], balls.center) + change[..., 3]
    room = np.sqrt((change[..., :3] ** 2).sum(axis=-1)) * balls.radius[:, None]
    spread = (middle + room).max(axis=1) - (middle - room).min(axis=1)
    return np.asarray(spread.max(axis=1) / 4)
