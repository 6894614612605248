"""Pairs of shapes at rest: their separation, and whether they overlap."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from addon.core import Aabb, Obb, Segment, Sphere, Triangle, overlaps, separation

from .shapes import PEER_PAIRS, fcl_objects, peer_shapes, random_shapes
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
            for size, rotation, center in peer_shapes(shape[:PEER_PAIRS]) or ()
        ]

    both = [(*a, *b) for a, b in zip(*map(objects, pair), strict=True)]
    request, result = coal.DistanceRequest(), coal.DistanceResult()

    def distances() -> list[float]:
        values = []
        for arguments in both:
            result.clear()
            values.append(coal.distance(*arguments, request, result))
        return values

    return distances


def _compare(pair: Pair, results: Mapping[str, Any]) -> str:
    """Report the largest error of each peer, for separated pairs only.

    Libraries define the distance of overlapping shapes differently.
    """
    separations = results["separation"]
    notes = []
    for name in ("fcl", "coal"):
        if name in results:
            exact = separations[:PEER_PAIRS]
            error = np.abs(np.array(results[name]) - exact)[exact > 0]
            if error.max() > SMALL_ERROR:
                notes.append(f"{name} differs by up to {error.max():.0e}")
    return "; ".join(notes)


def _check(_: Pair, results: Mapping[str, Any]) -> str:
    is_same = np.array_equal(results["separation"] <= 0, results["overlaps"])
    return "" if is_same else "separation and overlaps differ"


def _make_pairs(kinds: tuple[type, type]) -> Pair:
    rng = np.random.default_rng(0)
    first, second = (random_shapes(kind, rng.uniform(-1.2, 1.2, (COUNT, 3)), rng) for kind in kinds)
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
_UNSUPPORTED = dict.fromkeys(("fcl", "coal"), "no distance to a segment or a triangle")

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
            partial(_make_pairs, kinds),
            COUNT,
            COUNT,
            without=_UNSUPPORTED if Segment in kinds or Triangle in kinds else {},
        )
        for kinds in _KINDS
    ],
    _compare,
    _check,
)
