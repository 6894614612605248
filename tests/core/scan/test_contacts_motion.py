"""Adaptive motion against formulas: pairs on known paths, with times of contact computed by this test alone.

The time of contact is the first root of the gap of a pair. For spheres the gap is the distance of the
centers less the radii, for boxes the largest gap along all separating axes. It is sampled densely, every
local minimum is refined, and the root is found by bisection in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest

from addon.core import ContactReport, Sample, ScanSettings, scan_contacts
from tests.core.moving_bodies import (
    FIRST,
    LAST,
    MOTIONS,
    Array,
    Body,
    Draw,
    batch,
    circular,
    direction,
    gap,
    log_uniform,
    straight,
)
from tests.finished import finished
from tests.tiers import times

PAIRS = {
    **dict.fromkeys(("sphere", "aabb"), times(5, full=14)),
    **dict.fromkeys(("obb", "capsule"), times(5, 3, full=8)),
}
"""Pairs for each motion and pace; rotating boxes take longest."""
GRAZE = 1e-3
"""Gap of a near miss and depth of a graze, in radii."""


# --- the truth -------------------------------------------------------------------------------------------

Gap = Callable[[Array], Array]
GRID = np.linspace(FIRST, LAST, 32 * (LAST - FIRST) + 1)


def low_points(f: Gap, values: Array) -> list[tuple[float, float]]:
    """Local minima of f as (time, value), each refined around its sample."""
    padded = np.concatenate([[np.inf], values, [np.inf]])
    lows = np.flatnonzero((padded[1:-1] <= padded[:-2]) & (padded[1:-1] <= padded[2:]))
    lows = lows[np.argsort(values[lows])[:6]]
    low, high = GRID[np.maximum(lows - 1, 0)], GRID[np.minimum(lows + 1, len(GRID) - 1)]
    rows = np.arange(len(lows))
    for _ in range(8):
        times = np.linspace(low, high, 17, axis=1)
        near = f(times.ravel()).reshape(times.shape)
        best = near.argmin(axis=1)
        low, high = times[rows, np.maximum(best - 1, 0)], times[rows, np.minimum(best + 1, 16)]
    return list(zip(times[rows, best].tolist(), near[rows, best].tolist(), strict=True))


def least(f: Gap) -> float:
    return min(value for _, value in low_points(f, f(GRID)))


def first_touch(f: Gap) -> float | None:
    """Find the first time at which f is not positive; None for never."""
    values = f(GRID)
    if values[0] <= 0:
        return float(GRID[0])
    touching = [float(t) for t, value in low_points(f, values) if value <= 0]
    touching += GRID[values <= 0][:1].tolist()
    if not touching:
        return None
    high = min(touching)
    low = float(GRID[(high > GRID) & (values > 0)].max())
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if f(np.array([middle]))[0] > 0 else (low, middle)
    return high


# --- pairs -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """Two bodies, and the true time of their first contact; `wanted` is "any", "graze" or "miss"."""

    a: Body
    b: Body
    wanted: str
    first: float | None


def sized(body: Body, factor: float) -> Body:
    return replace(body, half=body.half * factor)


def shrunk_to(shape: str, a: Body, b: Body, goal: float) -> tuple[Body, Body] | None:
    """Scale both bodies so that their least gap is `goal` radii; None where that takes extreme factors."""

    def error(factor: float) -> float:
        one, two = sized(a, factor), sized(b, factor)
        radius = min(one.half[0], two.half[0])
        return least(lambda t: gap(shape, one, two, t)) / radius - goal

    low, high = 0.3, 3.0
    if error(low) < 0 or error(high) > 0:
        return None
    # Regula falsi, Illinois: the error is nearly a hyperbola in the factor.
    at_low, at_high = error(low), error(high)
    for _ in range(40):
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        at_middle = error(middle)
        if abs(at_middle) < 1e-3 * abs(goal):
            return sized(a, middle), sized(b, middle)
        if at_middle > 0:
            low, at_low, at_high = middle, at_middle, at_high / 2
        else:
            high, at_high, at_low = middle, at_middle, at_low / 2
    return None


def random_pair(
    shape: str, draw: Draw, pace: tuple[float, float], wanted: str, rng: np.random.Generator
) -> Pair:
    while True:
        speed = log_uniform(rng, *pace)
        draws = [draw, straight, MOTIONS[str(rng.choice(list(MOTIONS)))]]
        other: Draw = draws[rng.integers(3)]
        a = draw(rng, speed, rng.uniform(0.4, 1.4, 3))
        b = other(rng, speed * rng.choice([0.0, 0.3, 1.0]) + 1e-9, rng.uniform(0.4, 1.4, 3))
        # Let them meet at a random time, at a distance of about the sum of their sizes.
        meeting = np.array([rng.uniform(FIRST + 1, LAST - 1)])
        reach = rng.uniform(0.3, 1.2) * (a.half[0] + b.half[0])
        away = direction(rng) * reach
        b = replace(b, anchor=(a.center(meeting) - b.center(meeting))[0] + away)
        if wanted != "any":
            goal = GRAZE if wanted == "miss" else -GRAZE
            pair = shrunk_to(shape, a, b, goal)
            if pair is None:
                continue
            a, b = pair
        first = first_touch(lambda t, a=a, b=b: gap(shape, a, b, t))
        # Keep few pairs that touch at the start, because they do not test the search for a time.
        if first == FIRST and rng.random() < 0.8:
            continue
        return Pair(a, b, wanted, first)


PACES = {"slow": (0.05, 0.8), "fast": (1.0, 40.0)}


def scenes() -> list[object]:
    """Return all shapes, motions and paces: each motion of a shape is long with one of the two paces."""
    every = product(enumerate(PAIRS), enumerate(MOTIONS), enumerate(PACES))
    return [
        pytest.param((shape, name, pace), marks=[] if (i + j + k) % 2 else pytest.mark.long)
        for (i, shape), (j, name), (k, pace) in every
    ]


@pytest.fixture(scope="module", params=scenes(), ids="-".join)
def scene(request) -> tuple[str, list[Pair]]:
    """Pairs of one shape and motion, each far from all other pairs."""
    shape, name, pace = request.param
    order = [list(PAIRS).index(shape), list(MOTIONS).index(name), list(PACES).index(pace)]
    rng = np.random.default_rng([20, *order])
    spacing = 200.0 if pace == "slow" else 4000.0
    pairs = []
    for index in range(PAIRS[shape]):
        wanted = ("any", "any", "graze", "any", "miss")[index % 5]
        pair = random_pair(shape, MOTIONS[name], PACES[pace], wanted, rng)
        middle = pair.a.center(np.array([(FIRST + LAST) / 2]))[0]
        home = np.array([index % 3 - 1, index // 3 % 3 - 1, index // 9 - 1]) * spacing - middle
        a, b = (replace(body, anchor=body.anchor + home) for body in (pair.a, pair.b))
        pairs.append(replace(pair, a=a, b=b))
    return shape, pairs


@dataclass(frozen=True)
class Formulas:
    """The motion of all bodies, at any time."""

    shape: str
    bodies: list[Body]
    refinable: Array

    def sample(self, time: float) -> Sample:
        return Sample(batch(self.shape, self.bodies, time))

    def sample_between(self, time: float, subjects: Array) -> Sample:
        return Sample(batch(self.shape, [self.bodies[index] for index in subjects], time))


def scanned(shape: str, pairs: list[Pair], refinable: bool = True) -> ContactReport:
    bodies = [body for pair in pairs for body in (pair.a, pair.b)]
    motion = Formulas(shape, bodies, np.full(len(bodies), refinable))
    # Ignore pairs of different tests, because large circles reach other pairs.
    among = [(i, j) for i in range(len(bodies)) for j in range(i) if i // 2 != j // 2]
    scan = scan_contacts(motion, range(FIRST, LAST + 1), ScanSettings(ignored=among, motion="adaptive"))
    return finished(scan)


def test_first_contacts_match_formulas(scene):
    shape, pairs = scene
    found = {contact.a // 2: contact.first for contact in scanned(shape, pairs).contacts}
    wrong = []
    for index, pair in enumerate(pairs):
        first = found.get(index)
        if pair.first is None:
            if first is not None:
                wrong.append(f"{index} ({pair.wanted}): never touches, reported at {first.frame}")
        elif first is None:
            wrong.append(f"{index} ({pair.wanted}): touches at {pair.first}, missed")
        else:
            late = first.frame - pair.first
            if abs(late) > 1e-3 or late > first.uncertainty + 1e-9:
                wrong.append(
                    f"{index} ({pair.wanted}): {pair.first}, late by {late:.3g}, {first.uncertainty:.3g}"
                )
            if first.at_start != (pair.first == FIRST) or first.motion != "sampled":
                wrong.append(f"{index} ({pair.wanted}): {first}")
    assert not wrong, "\n".join(wrong)


def test_random_pairs_include_enough_hits_grazes_and_misses(scene):
    # Guards the test above: it proves nothing if all pairs miss.
    _, pairs = scene
    hits = [pair.first for pair in pairs if pair.first is not None]
    assert len(hits) >= len(pairs) // 2
    assert all(pair.first is not None for pair in pairs if pair.wanted == "graze")
    assert all(pair.first is None for pair in pairs if pair.wanted == "miss")


@pytest.mark.smoke
def test_subject_that_is_not_refinable_is_reported_as_linear():
    rng = np.random.default_rng(5)
    pairs = [random_pair("sphere", circular, PACES["slow"], "any", rng) for _ in range(6)]
    report = scanned("sphere", pairs, refinable=False)
    assert report.contacts
    assert {contact.first.motion for contact in report.contacts} == {"linear"}
