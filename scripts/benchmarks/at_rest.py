"""Pairs of shapes at rest: how far apart, whether they overlap."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from addon.core import Aabb, Obb, Segment, Sphere, Triangle, overlaps, separation

from .shapes import PEER_PAIRS, fcl_objects, placed, shapes
from .tables import Call, Competitor, Row, Table

COUNT = 10_000
SMALL_ERROR = 1e-9

Pair = tuple[Any, Any]


def _separation(pair: Pair) -> Call:
    return lambda: separation(*pair)


def _overlaps(pair: Pair) -> Call:
    return lambda: overlaps(*pair)


def _fcl(pair: Pair) -> Call:
    import fcl

    firsts, seconds = (fcl_objects(shape[:PEER_PAIRS]) for shape in pair)
    request, result = fcl.DistanceRequest(), fcl.DistanceResult()
    return lambda: [fcl.distance(a, b, request, result) for a, b in zip(firsts, seconds, strict=True)]


def _coal(pair: Pair) -> Call:
    import coal

    def objects(shape: Any) -> list[tuple[Any, Any]]:
        return [
            (coal.Box(*size) if len(size) == 3 else coal.Sphere(*size), coal.Transform3s(rotation, center))
            for size, rotation, center in placed(shape[:PEER_PAIRS]) or ()
        ]

    both = [(*a, *b) for a, b in zip(*map(objects, pair), strict=True)]
    request, result = coal.DistanceRequest(), coal.DistanceResult()

    def distances() -> list[float]:
        found = []
        for call in both:
            result.clear()
            found.append(coal.distance(*call, request, result))
        return found

    return distances


def _compare(pair: Pair, answers: Mapping[str, Any]) -> str:
    """How far the peers are off where the shapes are apart: deeper they mean different things."""
    ours = answers["separation"]
    if not np.array_equal(ours <= 0, answers["overlaps"]):
        return "separation and overlaps differ"
    notes = []
    for name in ("fcl", "coal"):
        if name in answers:
            exact = ours[:PEER_PAIRS]
            off = np.abs(np.array(answers[name]) - exact)[exact > 0]
            if off.max() > SMALL_ERROR:
                notes.append(f"{name} off by up to {off.max():.0e}")
    return "; ".join(notes)


def _made(kinds: tuple[type, type]) -> Pair:
    rng = np.random.default_rng(0)
    first, second = (shapes(kind, rng.uniform(-1.2, 1.2, (COUNT, 3)), rng) for kind in kinds)
    return first, second


_KINDS: list[tuple[type, type]] = [
    (Sphere, Sphere),
    (Sphere, Segment),
    (Sphere, Triangle),
    (Sphere, Aabb),
    (Sphere, Obb),
    (Aabb, Aabb),
    (Aabb, Obb),
    (Obb, Obb),
]
_UNKNOWN = dict.fromkeys(("fcl", "coal"), "no distance to a segment or a triangle")

AT_REST = Table(
    "at-rest",
    "pair",
    (
        Competitor("separation", _separation),
        Competitor("overlaps", _overlaps),
        Competitor("fcl", _fcl, per=PEER_PAIRS),
        Competitor("coal", _coal, per=PEER_PAIRS),
    ),
    [
        Row(
            " - ".join(kind.__name__ for kind in kinds),
            partial(_made, kinds),
            COUNT,
            COUNT,
            without=_UNKNOWN if Segment in kinds or Triangle in kinds else {},
        )
        for kinds in _KINDS
    ],
    _compare,
)
