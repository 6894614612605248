"""Envelopes: one box and one sphere around everything that moving bounds sweep, between samples too.

Swept bounds are accumulated as a k-DOP: the largest support distance so far along fixed directions. Six of
these make the box, and a sphere is fitted around all. Each support distance is a function of time. Between
two samples it is at most a parabola above both, whose height follows from neighboring samples
(`interval.pair_motion`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShapeError
from ..fitting.enclosing import spheres_from_groups
from ..interval.pair_motion import parabola_overshoot
from ..motion.motion import Motion
from ..numeric.arguments import as_mask, as_times, require_methods, require_type
from ..numeric.arrays import CHUNK_ROWS, Bools, Floats, Ints, as_array, as_floats, length, transform_vectors
from ..numeric.geodesic import geodesic_directions
from ..numeric.tolerances import GAP_ROUNDING
from ..progress import Progress
from ..shapes import Aabb, Sphere
from .halving import SWEPT_TOLERANCE, deviations, sweep_over

SpheresAt: TypeAlias = Callable[[Ints, Floats], Sphere]
_MOST_COST = 1 << 13
"""Cost of the bounds that are queried together: more would block the window."""
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


class SweptBounds:
    """Bounds of everything that subjects (n,) have swept so far. Implements `halving.Sweep`.

    center, radius : (n, 3) and (n,) float. All spheres of a subject merged one after another: the smallest
        sphere while it moves along a line. The radius is -inf for subjects that were never present.
    """

    most_halvings = 10
    jump_halvings = most_halvings + 1
    chunk = 2 * CHUNK_ROWS // SUPPORT_COUNT

    def __init__(self, boxes: Motion, spheres: SpheresAt, costs: Floats) -> None:
        self._boxes, self._spheres, self._costs, count = boxes, spheres, costs, len(costs)
        # Of each sample: both corners of its box, then center and radius of its sphere; NaN if it is absent.
        self._numbers: Floats = np.empty((0, 10))
        # Supports at samples, and those with what was added between samples: additions must not add up.
        self._sampled = np.full((count, SUPPORT_COUNT), -np.inf)
        self._supports = self._sampled.copy()
        self.center, self.radius = np.zeros((count, 3)), np.full(count, -np.inf)

    @property
    def is_present(self) -> Bools:
        """Mask (n,) of subjects that were present at some sample."""
        return np.asarray(np.isfinite(self.radius))

    def sample(self, rows: Ints, times: Floats) -> Generator[float, None, Ints]:
        order = np.lexsort((rows, times))
        # All subjects at a time are queried together, because a scene may have to be evaluated for them.
        ends = np.flatnonzero(np.diff(times[order], append=np.inf)) + 1
        cost, begin, found = np.cumsum(self._costs[rows[order]]), 0, np.empty((len(rows), 10))
        while begin < len(rows):
            spent = cost[begin - 1] if begin else 0.0
            place = np.searchsorted(cost[ends - 1], spent + _MOST_COST, side="right")
            end = ends[max(place - 1, np.searchsorted(ends, begin, side="right"))]
            part = order[begin:end]
            found[part], begin = self._query(rows[part], times[part]), end
            yield float(times[part[-1]])
        by_row = np.lexsort((times, rows))
        self._merge_spheres(rows[by_row], found[by_row, 6:])
        numbers = np.arange(len(rows)) + len(self._numbers)
        self._numbers = np.concatenate([self._numbers, found])
        return numbers

    def keep(self, samples: Ints) -> None:
        self._numbers = self._numbers[samples]

    def _query(self, rows: Ints, times: Floats) -> Floats:
        """Query the bounds (m, 10) of subjects (m,), each at its time."""
        boxes: Any = self._boxes.at(rows, times)
        spheres: Any = self._spheres(rows, times)
        for name, shapes, kind in (("boxes", boxes, Aabb), ("spheres", spheres, Sphere)):
            require_type(shapes, kind, name)
            if shapes.shape != rows.shape:
                raise InvalidShapeError(f"{name}: {shapes.shape} instead of {rows.shape} shapes")
        present = as_mask(self._boxes.are_present(rows, times), "boxes, are_present", rows.shape)
        columns = boxes.min, boxes.max, spheres.center, spheres.radius[:, None]
        return np.where(present[:, None], np.concatenate(columns, axis=1), np.nan)

    def growth(self, rows: Ints, around: Ints, times: Floats) -> tuple[Ints, Floats, Floats]:
        """See `Sweep`: the growth is that of the supports, then the spheres at both ends, as far as they go.

        Supports of the samples are added too.
        """
        numbers = self._numbers[around]
        is_known: Bools = (around >= 0) & ~np.isnan(numbers[..., 0])
        is_same = (numbers[1:] == numbers[:-1]).all(axis=2) | (around[1:] < 0) | (around[:-1] < 0)
        moving = np.flatnonzero(~is_same.all(axis=0))
        # Of those at rest, one sample is enough.
        rest = np.flatnonzero(is_same.all(axis=0))
        rest = rest[np.diff(rows[rest], prepend=-1) > 0]
        raise_rows(self._sampled, rows[rest], supports_of(numbers[1, rest]))
        is_known, around = is_known[:, moving], around[:, moving]
        used, places = np.unique(around, return_inverse=True)
        every, places = supports_of(self._numbers[used]), places.reshape(4, -1)
        # Those that appear or disappear in between.
        one = np.flatnonzero(is_known[1] != is_known[2])
        raise_rows(self._sampled, rows[moving[one]], every[np.where(is_known[1], places[1], places[2])[one]])
        both = np.flatnonzero(is_known[1] & is_known[2])
        rows, places, times = rows[moving[both]], places[:, both], times[:, moving[both], None]
        numbers, is_known = numbers[:, moving[both], 6:], is_known[::3, both, None]
        supports = every[places]
        high = np.maximum(supports[1], supports[2])
        raise_rows(self._sampled, rows, high)
        growth = np.empty((len(both), SUPPORT_COUNT + 8))
        rise = np.abs(supports[2] - supports[1])
        growth[:, :SUPPORT_COUNT] = high + parabola_overshoot(rise, deviations(times, supports, is_known))
        added = growth[:, :SUPPORT_COUNT] - self._sampled[rows]
        added = np.maximum(added[:, :6].max(axis=1), added[:, 6:].max(axis=1) / _SLANTED)
        of_spheres = deviations(times, numbers, is_known)
        growth[:, SUPPORT_COUNT:] = numbers[1:3].transpose(1, 0, 2).reshape(-1, 8)
        growth[:, SUPPORT_COUNT + 3 :: 4] += (length(of_spheres[:, :3]) + of_spheres[:, 3])[:, None]
        return moving[both], added / self._tolerance(rows), growth

    def add(self, rows: Ints, growth: Floats) -> None:
        raise_rows(self._supports, rows, growth[:, :SUPPORT_COUNT])
        self._merge_spheres(rows.repeat(2), growth[:, SUPPORT_COUNT:].reshape(-1, 4))

    def boxes(self) -> Aabb:
        """Boxes (n,) around everything so far; zero for subjects that were never present."""
        supports = np.maximum(self._sampled[:, :6], self._supports[:, :6])
        supports = np.where(self.is_present[:, None], supports, 0.0)
        return Aabb.unchecked(-supports[:, 3:6], supports[:, :3])

    def fit_spheres(self, rows: Ints) -> None:
        """Replace spheres of present subjects (r,) by those around their k-DOPs where these are smaller."""
        fitted = spheres_around(np.maximum(self._sampled[rows], self._supports[rows])[:, 6:])
        smaller = fitted.radius < self.radius[rows]
        rows, fitted = rows[smaller], fitted[smaller]
        self.center[rows], self.radius[rows] = fitted.center, fitted.radius

    def _tolerance(self, rows: Ints) -> Floats:
        """Length (r,) that may be added to the supports of subjects (r,) that were present."""
        supports = self._sampled[rows, :6]
        size = (supports[:, :3] + supports[:, 3:]).max(axis=1) / 2
        return np.asarray(SWEPT_TOLERANCE * size + _SINGLE_PRECISION * np.abs(supports).max(axis=1))

    def _merge_spheres(self, rows: Ints, spheres: Floats) -> None:
        """Merge spheres (m, 4) into those of subjects (m,), in order, unless they are inside already.

        Those that are farthest outside are merged first. NaN is no sphere.
        """
        while len(rows):
            beyond = length(spheres[:, :3] - self.center[rows]) + spheres[:, 3] - self.radius[rows]
            is_outside = beyond > 0
            rows, spheres, beyond = rows[is_outside], spheres[is_outside], beyond[is_outside]
            # The first of each subject that has none yet, and the farthest of the others.
            order = np.lexsort((-beyond, rows))
            chosen = order[np.diff(rows[order], prepend=-1) > 0]
            each, added = rows[chosen], Sphere.unchecked(spheres[chosen, :3], spheres[chosen, 3])
            is_first = self.radius[each] == -np.inf
            merged = Sphere.unchecked(self.center[each], np.where(is_first, 0.0, self.radius[each])).merged(
                added
            )
            self.center[each] = np.where(is_first[:, None], added.center, merged.center)
            self.radius[each] = np.where(is_first, added.radius, merged.radius)
            is_left = np.ones(len(rows), dtype=bool)
            is_left[chosen] = False
            rows, spheres = rows[is_left], spheres[is_left]


def raise_rows(target: Floats, rows: Ints, values: Floats) -> None:
    """Raise rows of `target` to values (m, k) of ordered rows (m,), of which some may be the same."""
    begins = np.flatnonzero(np.diff(rows, prepend=-1))
    if len(begins):
        target[rows[begins]] = np.maximum(target[rows[begins]], np.maximum.reduceat(values, begins))


def supports_of(numbers: Floats) -> Floats:
    """Compute support distances (k, m, SUPPORT_COUNT) of the intersections of boxes and spheres (k, m, 10).

    Conservative: rounded up. Along the axes, of the box alone.
    """
    low, high, center, radius = np.split(numbers, (3, 6, 9), axis=-1)
    middle, half = (low + high) / 2, (high - low) / 2
    # Rounded up by the error of the sums.
    lost = GAP_ROUNDING * np.maximum(np.abs(low), np.abs(high)).max(axis=-1)[..., None]
    box = _along(middle) + _along(half, np.abs(DIRECTIONS.vectors))
    sphere = _along(center) + radius
    return np.concatenate([high, -low, np.minimum(box, sphere) + lost], axis=-1)


def _along(points: Floats, directions: Floats = DIRECTIONS.vectors) -> Floats:
    """Coordinates (..., k) of points (..., 3) along the directions (k, 3)."""
    # No matrix product, because its rounding depends on the machine.
    x, y, z = points[..., 0:1], points[..., 1:2], points[..., 2:3]
    return x * directions[:, 0] + y * directions[:, 1] + z * directions[:, 2]


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


_SPHERES_PER_CHUNK = 64
"""Subjects whose spheres are fitted at once."""


@dataclass(frozen=True)
class Envelopes:
    """Bounds of everything that each subject (n,) sweeps.

    Attributes
    ----------
    boxes : Aabb, batch (n,)
        Around the boxes at all times.
    spheres : Sphere, batch (n,)
        Around the intersections of box and sphere at all times.
    present : (n,) bool
        False for subjects that were never present, whose bounds have no meaning.
    """

    boxes: Aabb
    spheres: Sphere
    present: Bools


def envelopes_over(
    boxes: Motion, spheres: SpheresAt, frames: ArrayLike
) -> Generator[Progress, None, Envelopes]:
    """Compute the envelopes of all subjects over the sample times of an animation.

    Guarantee: encloses every sample, to rounding. Between samples conservative as far as the curvature of
    the motion follows from four neighboring samples, with a safety factor of four; motion that goes out and
    back between two samples is missed. Subjects whose grain is infinite are taken to move linearly. A box is
    at most about 0.2 % of its size larger than needed on a side. A sphere is at most about 3 % larger than
    the smallest around the intersections of box and sphere at all times; that of a subject at rest is its
    own.

    Parameters
    ----------
    boxes : Motion
        Boxes along the axes around n subjects. Each interval is also sampled within, at least once. If no
        subject can be, all are queried at increasing times.
    spheres : function
        Returns spheres around the same subjects, as `boxes.at` does. Called after it with the same arguments.
    frames : (k,) float
        Increasing sample times, at least one.

    Yields
    ------
    progress : Progress
        After each step of work.

    Returns
    -------
    envelopes : Envelopes
        Return value of the generator.

    Raises
    ------
    InvalidShapeError, NonFiniteGeometryError
        For times that do not increase.
    """
    times = as_times(frames)
    require_methods(boxes, ("grain", "costs", "at", "are_present"), "boxes")
    require_methods(spheres, ("__call__",), "spheres")
    grain, costs = as_array(boxes.grain, "boxes, grain"), as_floats(boxes.costs, "boxes, costs")
    if grain.ndim != 1 or grain.dtype.kind not in "fiub":
        raise InvalidShapeError(f"boxes, grain: one number for each subject is needed, not {grain.shape}")
    if costs.shape != grain.shape:
        raise InvalidShapeError(f"boxes, costs: {costs.shape} instead of {grain.shape} as grain")
    swept = SweptBounds(boxes, spheres, np.clip(costs, 0, _MOST_COST))
    yield from sweep_over(swept, times, np.isfinite(grain))
    rows = np.flatnonzero(swept.is_present)
    for start in range(0, len(rows), _SPHERES_PER_CHUNK):
        yield Progress(len(times), len(times), float(times[-1]))
        swept.fit_spheres(rows[start : start + _SPHERES_PER_CHUNK])
    radius = np.where(swept.is_present, swept.radius, 0.0)
    return Envelopes(swept.boxes(), Sphere.unchecked(swept.center, radius), swept.is_present)
