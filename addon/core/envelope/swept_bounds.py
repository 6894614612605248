"""Accumulated bounds of what subjects sweep: support distances that only grow, and merged spheres."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numeric.arrays import Bools, Floats, Ints, length
from ..shapes import Aabb, Sphere
from .kdop import SUPPORT_COUNT, deviations_from_linear, max_over_interval, spheres_around, supports_of

_TOLERANCE = 2e-3
"""Part of an envelope's size that may be added to a side of its box between samples."""
_SLANTED = 4.0
"""How much more may be added along slanted directions, which only the sphere uses."""
_SINGLE_PRECISION = 4e-7
"""Relative error of coordinates from single precision: no further sample is more exact."""


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
