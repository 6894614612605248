"""Parts joined again, where one hull is about as good as two."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..numeric.arrays import Floats
from .hull_estimate import FINEST, measure_between, points_in_directions

_FREE = 5e-3
"""Part of the measure of two parts by which joining them may raise it although there are few enough parts."""


def merge_parts(parts: Sequence[Floats], count: int, thickness: float) -> list[Floats]:
    """Join the two parts whose common hull adds least, until there are few enough parts. Approximate.

    The first cuts of a part are made without knowing the later ones. So more parts than wanted are cut, and
    those are joined whose cut has turned out to be needless. Parts that fit into one hull are always joined.

    parts : sequence of (k, 3) float64. Points of each part.
    count : Largest number of parts to keep.
    thickness : See `hull_measure`.
    Returns merged : list of (k, 3) float64
    """
    points = list(parts)
    extremes = [points_in_directions(each, FINEST) for each in points]
    measures = [float(measure_between(each[None], FINEST, thickness)[0]) for each in extremes]
    added = np.full((len(points), len(points)), np.inf)
    for index in range(len(points)):
        added[index, index + 1 :] = _added(
            index, range(index + 1, len(points)), extremes, measures, thickness
        )
    while len(points) > 1:
        first, second = np.unravel_index(int(added.argmin()), added.shape)
        if len(points) <= count and added[first, second] > _FREE * (measures[first] + measures[second]):
            break
        kept = [index for index in range(len(points)) if index not in (first, second)]
        both = points_in_directions(np.concatenate([extremes[first], extremes[second]]), FINEST)
        points = [*(points[index] for index in kept), np.concatenate([points[first], points[second]])]
        extremes = [*(extremes[index] for index in kept), both]
        measures = [
            *(measures[index] for index in kept),
            float(measure_between(both[None], FINEST, thickness)[0]),
        ]
        last = len(points) - 1
        smaller = np.full((len(points), len(points)), np.inf)
        smaller[:last, :last] = added[np.ix_(kept, kept)]
        smaller[:last, last] = _added(last, range(last), extremes, measures, thickness)
        added = smaller
    return points


def _added(
    index: int, rows: range, extremes: Sequence[Floats], measures: Sequence[float], thickness: float
) -> Floats:
    """Measures (m,) that joining a part with each of some parts adds."""
    if not len(rows):
        return np.zeros(0)
    joined = np.stack(
        [points_in_directions(np.concatenate([extremes[index], extremes[each]]), FINEST) for each in rows]
    )
    separate = measures[index] + np.array([measures[each] for each in rows])
    return np.asarray(measure_between(joined, FINEST, thickness) - separate)
