"""Records of solved pairs: contacts in frames, described where they may be the first of their pairs."""

from __future__ import annotations

import numpy as np

from ..interval.pair_motion import IntervalContacts
from ..numeric.arrays import Floats, Ints
from .obstacle_space import to_world
from .pair_cache import IntervalRecords
from .refinement import PairIntervals, Subdivision


def records_of_rows(
    subdivision: Subdivision,
    intervals: PairIntervals,
    contacts: IntervalContacts,
    rows: Ints,
    uncertainty: Floats,
) -> IntervalRecords:
    """Make records of solved rows (r,) of a round, with contact points and normals in world space.

    contacts : (m,) of all rows of the round
    uncertainty : (m,) part of the interval by which a contact may be off, assessed for adaptive rows
    """
    candidate, steps = intervals.rows[rows], (intervals.end - intervals.begin)[rows]
    enter = contacts.enter[rows]
    adaptive = subdivision.is_refinable[candidate]
    records = IntervalRecords.from_contacts(
        subdivision.candidates.keys[candidate],
        contacts.take(rows),
        intervals.begin[rows],
        intervals.end[rows],
        uncertainty[rows] * steps,
        adaptive,
    )
    described = np.flatnonzero(~np.isnan(enter) & intervals.is_new[rows])
    if len(described):
        motion = intervals.motion.take(rows[described])
        point, normal = motion.contact_at(enter[described])
        if intervals.poses is not None:
            start, end, part = intervals.poses
            part = part[rows[described]]
            point, normal = to_world(start[part], end[part], enter[described], point, normal)
        records.point[described], records.normal[described] = point, normal
    linear = described[~adaptive[described]]
    if len(linear):
        deviation = subdivision.estimated_deviations(candidate[linear])
        speed = intervals.motion.take(rows[linear]).closing_speed(enter[linear])
        records.uncertainty[linear] = _linear_uncertainty(deviation, speed, steps[linear])
    return records


def _linear_uncertainty(deviation: Floats, speed: Floats, steps: Floats) -> Floats:
    """Frames (m,) that pairs take to cover the estimated deviation; the whole interval where it is unknown.

    deviation : (m,) from linear motion, NaN for unknown
    speed : (m,) closing speed, in lengths per interval
    steps : (m,) length of the interval in frames
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        frames = np.where(deviation > 0, deviation / speed, 0.0) * steps
    return np.where(np.isnan(deviation) | (speed <= 0), steps, np.minimum(frames, steps))
