"""Accumulated bounds of what subjects sweep: support distances that only grow, and merged spheres."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..fitting.enclosing import spheres_from_groups
from ..interval.linearity import interval_deviations, parabola_overshoot
from ..numeric.arrays import Bools, Floats, Ints, length, transform_vectors
from ..numeric.geodesic import geodesic_directions
from ..numeric.tolerances import GAP_ROUNDING
from ..shapes import Aabb, Sphere

_TOLERANCE = 2e-3
"""Part of an envelope's size that may be added to a side of its box between samples."""
_SLANTED = 4.0
"""How much more may be added along slanted directions, which only the sphere uses."""
_SINGLE_PRECISION = 4e-7
"""Relative error of coordinates from single precision: no further sample is more exact."""
DIRECTIONS = geodesic_directions(4)
SUPPORT_COUNT = 6 + len(DIRECTIONS.vectors)
"""Support distances of a k-DOP: up the axes, down the axes, then along the directions."""
_AXES = DIRECTIONS.vectors.argmax(axis=0)
_OPPOSITES = DIRECTIONS.vectors.argmin(axis=0)
"""Indices of the directions along the axes, and of their opposites."""
_CORNER_SOLVERS = np.asarray(np.linalg.inv(DIRECTIONS.vectors[DIRECTIONS.triangles]), dtype=np.float64)
"""Matrices (t, 3, 3) that map three supports to the corner where their planes meet."""


class SampleArrays(NamedTuple):
    """Successive samples of some subjects.

    rows : (m,) int. The subjects.
    times : (k,) float
    boxes : (k, m, 6) float. Both corners.
    spheres : (k, m, 4) float. Center and radius.
    present : (k, m) bool
    begin, end : Range of the intervals to add; samples outside serve to estimate deviations.
    accept_all : Whether intervals are added however much that adds.
    """

    rows: Ints
    times: Floats
    boxes: Floats
    spheres: Floats
    present: Bools
    begin: int
    end: int
    accept_all: bool

    def is_moving(self) -> Bools:
        """Mask (m,) of subjects that change, appear or disappear."""
        moves = (self.boxes[1:] != self.boxes[:-1]).any(axis=(0, 2))
        moves |= (self.spheres[1:] != self.spheres[:-1]).any(axis=(0, 2))
        return np.asarray(moves | (self.present[1:] != self.present[:-1]).any(axis=0))

    def is_present_throughout(self) -> Bools:
        """Mask (intervals, m) of subjects that are present at both ends of an interval to add."""
        return np.asarray(
            self.present[self.begin : self.end] & self.present[self.begin + 1 : self.end + 1], dtype=bool
        )


class SweptBounds:
    """Bounds of everything that subjects (n,) have swept so far.

    center, radius : (n, 3) and (n,) float. All spheres of a subject merged one after another: the smallest
        sphere while it moves along a line. The radius is -inf for subjects that were never present.
    """

    def __init__(self, count: int, refinable: Bools) -> None:
        self._refinable = refinable
        # Supports at samples, and those with what was added between samples: additions must not add up.
        self._sampled = np.full((count, SUPPORT_COUNT), -np.inf)
        self._supports = self._sampled.copy()
        self.center, self.radius = np.zeros((count, 3)), np.full(count, -np.inf)

    @property
    def is_present(self) -> Bools:
        """Mask (n,) of subjects that were present at some sample."""
        return np.asarray(np.isfinite(self.radius))

    def add_resting(self, arrays: SampleArrays, columns: Ints) -> None:
        """Add subjects in columns (c,) of the arrays that do not change: one sample is enough."""
        rows, spheres = arrays.rows[columns], arrays.spheres[:1, columns]
        self._add_sampled(rows, supports_of(arrays.boxes[:1, columns], spheres)[0])
        self._merge_spheres(rows, spheres[0])

    def add_moving(self, arrays: SampleArrays, columns: Ints) -> Bools:
        """Add supports of columns (c,), and of intervals between samples that do not add too much.

        Returns a mask (intervals, c) of the intervals that were added.
        """
        rows, begin, end = arrays.rows[columns], arrays.begin, arrays.end
        supports, present = (
            supports_of(arrays.boxes[:, columns], arrays.spheres[:, columns]),
            arrays.present[:, columns],
        )
        self._add_sampled(rows, np.where(present[..., None], supports, -np.inf).max(axis=0))
        if end <= begin:
            return np.zeros((0, len(columns)), dtype=bool)
        both = present[begin:end] & present[begin + 1 : end + 1]
        deviation = deviations_from_linear(supports, arrays.times, present)[begin:end]
        deviation[:, ~self._refinable[rows]] = 0.0
        highest = max_over_interval(supports[begin:end], supports[begin + 1 : end + 1], deviation)
        added = highest - self._sampled[rows]
        added = np.maximum(added[..., :6].max(axis=2), added[..., 6:].max(axis=2) / _SLANTED)
        accepted = both & ((added <= self._tolerance(rows)) | arrays.accept_all)
        largest = np.where(accepted[..., None], highest, -np.inf).max(axis=0)
        self._supports[rows] = np.maximum(self._supports[rows], largest)
        return np.asarray(accepted)

    def merge_spheres_of_samples(self, arrays: SampleArrays, columns: Ints) -> None:
        """Merge the spheres of columns (c,) at all samples."""
        for k in range(len(arrays.times)):
            present = columns[arrays.present[k, columns]]
            self._merge_spheres(arrays.rows[present], arrays.spheres[k, present])

    def merge_spheres_between(self, arrays: SampleArrays, accepted: Bools) -> None:
        """Merge the spheres at both ends of accepted intervals (i, m), padded by the deviation in between."""
        begin, end = arrays.begin, arrays.end
        each = deviations_from_linear(arrays.spheres, arrays.times, arrays.present)[begin:end]
        deviation = (length(each[..., :3]) + each[..., 3]) * self._refinable[arrays.rows]
        for interval in range(end - begin):
            columns = np.flatnonzero(accepted[interval] & (deviation[interval] > 0))
            for k in (begin + interval, begin + interval + 1):
                padded = arrays.spheres[k, columns]
                padded[:, 3] += deviation[interval, columns]
                self._merge_spheres(arrays.rows[columns], padded)

    def boxes(self) -> Aabb:
        """Boxes (n,) around everything so far; zero for subjects that were never present."""
        supports = np.maximum(self._sampled[:, :6], self._supports[:, :6])
        supports = np.where(self.is_present[:, None], supports, 0.0)
        return Aabb.unchecked(-supports[:, 3:6], supports[:, :3])

    def fit_spheres(self, rows: Ints) -> None:
        """Replace spheres of present subjects (r,) by those around their k-DOPs where these are smaller."""
        fitted = spheres_around(np.maximum(self._sampled[rows], self._supports[rows])[:, 6:])
        smaller = fitted.radius < self.radius[rows]
        self.center[rows[smaller]], self.radius[rows[smaller]] = (
            fitted.center[smaller],
            fitted.radius[smaller],
        )

    def _tolerance(self, rows: Ints) -> Floats:
        """Length (r,) that may be added to the supports of subjects (r,)."""
        supports = np.where(np.isfinite(self._sampled[rows, :6]), self._sampled[rows, :6], 0.0)
        size = (supports[:, :3] + supports[:, 3:]).max(axis=1) / 2
        tolerance: Floats = _TOLERANCE * size + _SINGLE_PRECISION * np.abs(supports).max(axis=1)
        return tolerance

    def _add_sampled(self, rows: Ints, supports: Floats) -> None:
        """Add supports (r, SUPPORT_COUNT) of subjects (r,) at samples."""
        self._sampled[rows] = np.maximum(self._sampled[rows], supports)

    def _merge_spheres(self, rows: Ints, spheres: Floats) -> None:
        """Merge spheres (r, 4) into those of subjects (r,), unless they are inside already."""
        radius = self.radius[rows]
        is_first = radius == -np.inf
        self.center[rows[is_first]], self.radius[rows[is_first]] = spheres[is_first, :3], spheres[is_first, 3]
        distance = length(spheres[:, :3] - self.center[rows])
        is_outside = ~is_first & (distance + spheres[:, 3] > radius)
        rows, spheres = rows[is_outside], spheres[is_outside]
        if len(rows):
            added = Sphere.unchecked(spheres[:, :3], spheres[:, 3])
            merged = Sphere.unchecked(self.center[rows], self.radius[rows]).merged(added)
            self.center[rows], self.radius[rows] = merged.center, merged.radius


def supports_of(boxes: Floats, spheres: Floats) -> Floats:
    """Compute support distances of the intersections of boxes and spheres. Conservative: rounded up.

    boxes : (k, m, 6) float64. Both corners, at k times.
    spheres : (k, m, 4) float64. Center and radius.
    Returns supports : (k, m, SUPPORT_COUNT) float64. Along the axes, of the box alone.
    """
    low, high = boxes[..., :3], boxes[..., 3:]
    middle, half = (low + high) / 2, (high - low) / 2
    # Rounded up by the error of the sums.
    lost = GAP_ROUNDING * np.maximum(np.abs(low), np.abs(high)).max(axis=-1)[..., None]
    box = _along(middle) + _along(half, np.abs(DIRECTIONS.vectors))
    sphere = _along(spheres[..., :3]) + spheres[..., 3:]
    return np.concatenate([high, -low, np.minimum(box, sphere) + lost], axis=-1)


def _along(points: Floats, directions: Floats = DIRECTIONS.vectors) -> Floats:
    """Coordinates (..., k) of points (..., 3) along the directions (k, 3)."""
    # No matrix product, because its rounding depends on the machine.
    x, y, z = points[..., 0:1], points[..., 1:2], points[..., 2:3]
    result: Floats = x * directions[:, 0] + y * directions[:, 1] + z * directions[:, 2]
    return result


def deviations_from_linear(values: Floats, times: Floats, present: Bools) -> Floats:
    """Estimate deviations of values from linear interpolation. Approximate: see `interval.linearity`.

    values : (k, m, c) float64. At k times.
    times : (k,) float64. Increasing, in frames.
    present : (k, m) bool. Whether the subject of the values is present.
    Returns deviations : (k - 1, m, c) float64. 0 where unknown.
    """
    steps = np.diff(times)[:, None, None]
    speeds = np.diff(values, axis=0) / steps
    is_known = present[:-2] & present[1:-1] & present[2:]
    changes = np.where(is_known[..., None], np.abs(np.diff(speeds, axis=0)), 0.0)
    return interval_deviations(changes, steps, 0.0)


def max_over_interval(start: Floats, end: Floats, deviation: Floats) -> Floats:
    """Bound values over an interval, given their deviation from linear interpolation.

    start, end : (...) float64. Values at both ends.
    deviation : (...) float64. Sagitta of the parabola through both ends, below which the value is assumed.
    Returns largest : (...) float64. Conservative under that assumption.
    """
    return np.asarray(np.maximum(start, end) + parabola_overshoot(np.abs(end - start), deviation))


def spheres_around(supports: Floats) -> Sphere:
    """Spheres (m,) around k-DOPs with supports (m, directions), the six of the axes not included.

    The center is that of the smallest sphere around the corners where neighboring planes meet, which is
    nearly the best one. Seen from there, everything in the cone of a triangle of directions is within the
    largest of its supports, divided by the cosine of the angle to the nearest direction.
    """
    _, triangles, covering_cosine = DIRECTIONS
    middle: Floats = (supports[:, _AXES] - supports[:, _OPPOSITES]) / 2
    local: Floats = supports - _along(middle)
    corners = transform_vectors(_CORNER_SOLVERS, local[:, triangles])
    offsets = np.arange(len(supports) + 1) * len(triangles)
    center = spheres_from_groups(corners.reshape(-1, 3), offsets).center
    farthest = (local - _along(center)).max(axis=1)
    lost = GAP_ROUNDING * np.abs(supports).max(axis=1)
    return Sphere.unchecked(center + middle, (farthest + lost) / covering_cosine + lost)
