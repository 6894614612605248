"""Moving shapes: one interval of many pairs, and many intervals of the same pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addon.core import Aabb, Obb, Sphere, at, overlaps, time_of_impact

from .pair_tracking import SweptPairs
from .shapes import PEER_PAIRS, fcl_objects, peer_shapes, random_shapes, rotations_from_quaternions
from .tables import THIS_PROJECT, Call, Competitor, Row, Table, Target, check_counts, compare_counts

Floats = NDArray[np.float64]

COUNT = 10_000
SAMPLES = 500
LARGE_ERROR = 0.01
"""Minimum error that is reported: five times the step of the samples that times are compared with."""


@dataclass(frozen=True)
class Interval:
    """Pairs of shapes at the start and the end of an interval."""

    a_start: Any
    a_end: Any
    b_start: Any
    b_end: Any

    @property
    def shapes(self) -> tuple[Any, Any, Any, Any]:
        """The shapes in the order of the parameters of `time_of_impact`."""
        return self.a_start, self.a_end, self.b_start, self.b_end

    @property
    def has_rotation(self) -> bool:
        """True if any shape rotates in the interval."""
        starts_and_ends = ((self.a_start, self.a_end), (self.b_start, self.b_end))
        return any(
            isinstance(start, Obb) and not np.array_equal(start.rotation, end.rotation)
            for start, end in starts_and_ends
        )


def _moving_shapes(kind: type, start: Floats, end: Floats, rotating: bool, seed: int) -> tuple[Any, Any]:
    """Return the same shapes at two positions. With `rotating`, they rotate by up to 90 degrees."""
    rng = np.random.default_rng(seed)
    count = len(start)
    first = rng.normal(size=(count, 4))
    axis = rng.normal(size=(count, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    half_angle = rng.uniform(0, np.pi / 4, (count, 1)) * rotating
    rotation = rotations_from_quaternions(np.hstack([np.cos(half_angle), np.sin(half_angle) * axis]))
    before = rotations_from_quaternions(first)
    after = np.einsum("nij,njk->nik", rotation, before) if rotating else before
    made = (
        random_shapes(kind, centers, np.random.default_rng(seed + 1), orientation)
        for centers, orientation in ((start, before), (end, after))
    )
    return next(made), next(made)


def interval(kinds: tuple[type, type], rotating: bool) -> Interval:
    """Return pairs that start separated and mostly collide: the first shape of each flies past the second."""
    rng = np.random.default_rng(3)
    away = rng.normal(size=(COUNT, 3))
    away *= 3 / np.linalg.norm(away, axis=1, keepdims=True)
    target = rng.normal(size=(COUNT, 3)) * 0.3
    a = _moving_shapes(kinds[0], away, -away * 0.5 + rng.normal(size=(COUNT, 3)) * 0.6, rotating, 10)
    b = _moving_shapes(kinds[1], target, target + rng.normal(size=(COUNT, 3)) * 0.3, rotating, 20)
    return Interval(*a, *b)


def _this_project(motion: Interval) -> Call:
    return lambda: time_of_impact(*motion.shapes)


def _fcl_times(motion: Interval) -> Call:
    import fcl

    a, b = (fcl_objects(shape[:PEER_PAIRS]) for shape in (motion.a_start, motion.b_start))
    a_end, b_end = (
        [fcl.Transform(rotation, center) for _, rotation, center in peer_shapes(shape[:PEER_PAIRS]) or ()]
        for shape in (motion.a_end, motion.b_end)
    )
    calls = list(zip(a, a_end, b, b_end, strict=True))
    # The best settings of fcl: conservative advancement along a line, with rotation only where shapes rotate.
    kind = fcl.CCDMotionType.CCDM_LINEAR if motion.has_rotation else fcl.CCDMotionType.CCDM_TRANS
    solver = fcl.CCDSolverType.CCDC_CONSERVATIVE_ADVANCEMENT
    request = fcl.ContinuousCollisionRequest(1000, 1e-6, kind, fcl.GJKSolverType.GST_LIBCCD, solver)

    def times() -> list[float]:
        values = []
        for arguments in calls:
            result = fcl.ContinuousCollisionResult()
            time = fcl.continuousCollide(*arguments, request, result)
            values.append(time if result.is_collide else np.nan)
        return values

    return times


def _sampled_times(motion: Interval) -> Floats:
    """Return the first of evenly spaced times at which a pair overlaps, or NaN."""
    a0, a1, b0, b1 = (shape[:PEER_PAIRS] for shape in motion.shapes)
    times = np.full(PEER_PAIRS, np.nan)
    for t in np.linspace(1, 0, SAMPLES + 1):
        now = np.full(PEER_PAIRS, t)
        times[overlaps(at(a0, a1, now), at(b0, b1, now))] = t
    return times


def _compare_with_samples(motion: Interval, results: Mapping[str, Any]) -> str:
    sampled = _sampled_times(motion)
    notes = []
    for name, result in results.items():
        times = np.array(result)[:PEER_PAIRS]
        both = ~np.isnan(times) & ~np.isnan(sampled)
        error = np.abs(times - sampled)[both]
        missed = int((np.isnan(times) & ~np.isnan(sampled)).sum())
        wrong = int((error > LARGE_ERROR).sum())
        if missed or wrong:
            note = f"{name}: {missed} of {int((~np.isnan(sampled)).sum())} hits missed"
            largest = f", {wrong} with an error above {LARGE_ERROR}, largest error {error.max(initial=0):.2f}"
            notes.append(note + largest * bool(both.any()))
    return "; ".join(notes)


def _check_samples(motion: Interval, results: Mapping[str, Any]) -> str:
    """No overlap at a sampled time is missed or found later; a time before the first one is a short graze."""
    sampled, times = _sampled_times(motion), np.array(results[THIS_PROJECT])[:PEER_PAIRS]
    missed = int((np.isnan(times) & ~np.isnan(sampled)).sum())
    late = int((times > sampled + 1e-6).sum())
    return f"{missed} hits missed, {late} late" if missed or late else ""


_MOVING: list[tuple[type, type, bool, float | None]] = [
    (Sphere, Sphere, False, None),
    (Sphere, Aabb, False, None),
    (Aabb, Aabb, False, None),
    (Sphere, Obb, True, None),
    (Obb, Obb, False, 3e-6),
    (Obb, Obb, True, 15e-6),
]

IN_MOTION = Table(
    "in-motion",
    "pair",
    (Competitor(THIS_PROJECT, _this_project), Competitor("fcl", _fcl_times, per=PEER_PAIRS)),
    [
        Row(
            f"{first.__name__} - {second.__name__}{', rotating' if rotating else ''}",
            partial(interval, (first, second), rotating),
            COUNT,
            COUNT,
            [Target(limit)] if limit else [],
        )
        for first, second, rotating, limit in _MOVING
    ],
    _compare_with_samples,
    _check_samples,
)


SPHERES = 1000
PAIRS = 100_000
INTERVALS = 250


@dataclass(frozen=True)
class Swarm:
    """Samples of moving spheres, and the pairs to test."""

    samples: list[Sphere]
    pairs: NDArray[np.int64]


def swarm(room_size: float) -> Swarm:
    """Return spheres on random walks in a room, and random pairs of them."""
    rng = np.random.default_rng(0)
    first = np.sort(rng.integers(0, SPHERES, PAIRS))
    second = (first + rng.integers(1, SPHERES, PAIRS)) % SPHERES
    steps = rng.normal(size=(INTERVALS + 1, SPHERES, 3)) * 0.3
    steps[0] = rng.uniform(0, room_size, (SPHERES, 3))
    radius = rng.uniform(0.1, 1, SPHERES)
    samples = [Sphere(center, radius) for center in np.cumsum(steps, axis=0)]
    return Swarm(samples, np.column_stack([first, second]))


def _swept_pairs(scene: Swarm, skipping: bool) -> Call:
    def hits() -> int:
        pairs = SweptPairs(scene.pairs, scene.samples[0], skipping=skipping)
        return sum(len(pairs.advance(end)[0]) for end in scene.samples[1:])

    return hits


def _time_of_impact(scene: Swarm) -> Call:
    first, second = np.ascontiguousarray(scene.pairs.T)

    def hits() -> int:
        count = 0
        for start, end in pairwise(scene.samples):
            count += int((time_of_impact(start[first], end[first], start[second], end[second]) >= 0).sum())
        return count

    return hits


def _fcl_spheres(scene: Swarm) -> Call:
    sample = np.random.default_rng(0).choice(len(scene.pairs), PEER_PAIRS)
    first, second = scene.pairs[sample].T
    start, end = scene.samples[:2]
    return _fcl_times(Interval(start[first], end[first], start[second], end[second]))


def _hits(results: Mapping[str, Any]) -> dict[str, Any]:
    return {name: count for name, count in results.items() if name != "fcl"}


def _compare_hits(_: Swarm, results: Mapping[str, Any]) -> str:
    return compare_counts(_hits(results), "hits")


def _check_hits(_: Swarm, results: Mapping[str, Any]) -> str:
    return check_counts(_hits(results), "hits")


_TESTS = PAIRS * INTERVALS

SWEPT_SPHERES = Table(
    "swept-spheres",
    "scene",
    (
        Competitor("dense", partial(_swept_pairs, skipping=False)),
        Competitor("skipping", partial(_swept_pairs, skipping=True)),
        Competitor("time_of_impact", _time_of_impact),
        Competitor("fcl", _fcl_spheres, per=PEER_PAIRS),
    ),
    [
        Row(
            f"{label}, 10^5 pairs in {INTERVALS} intervals",
            partial(swarm, room_size),
            _TESTS,
            _TESTS,
            [
                Target(15e-9),
                # The 15 ns are from a machine on which fcl took 0.96 us.
                Target(64, "fcl", faster=True),
                Target(2.5, "dense", competitor="skipping", faster=True),
            ],
        )
        for label, room_size in (("sparse", 100.0), ("crowded", 30.0))
    ],
    _compare_hits,
    _check_hits,
)
