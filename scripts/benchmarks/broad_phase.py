"""All overlapping pairs of many boxes, in layouts that are tuned to the same number of pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addon.core import Aabb, overlapping_pairs

from .tables import Call, Competitor, Row, Table, Target

Floats = NDArray[np.float64]

PAIRS_A_BOX = 5.0
CLOSE_ENOUGH = 0.02


def _uniform(count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    return rng.random((count, 3)), rng.uniform(0.5, 1.5, (count, 3))


def _thin(count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    centers, sizes = _uniform(count, rng)
    sizes[np.arange(count), rng.integers(0, 3, count)] *= 30
    return centers, sizes


def _flat(count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    centers, sizes = _uniform(count, rng)
    sizes[np.arange(count), rng.integers(0, 3, count)] /= 30
    return centers, sizes


def _flat_world(count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    centers, sizes = _uniform(count, rng)
    return centers * [1, 1, 2 / np.sqrt(count)], sizes


def _clustered(count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    clusters = rng.random((100, 3)), rng.uniform(0.005, 0.05, 100)
    which = rng.integers(0, 100, count)
    centers = clusters[0][which] + rng.normal(size=(count, 3)) * clusters[1][which, None]
    return centers, rng.uniform(0.5, 1.5, (count, 3))


def _heavy_tailed(count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    centers, sizes = _uniform(count, rng)
    return centers, sizes * (1 + rng.pareto(1.8, (count, 1)))


def _giants(count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    centers, sizes = _uniform(count, rng)
    sizes[:8] = np.inf
    return centers, sizes


@lru_cache(maxsize=1)
def _ordinary(count: int) -> Aabb:
    return layout(_uniform, count)


def layout(
    kind: Callable[[int, np.random.Generator], tuple[Floats, Floats]],
    count: int,
    pairs_a_box: float = PAIRS_A_BOX,
) -> Aabb:
    """Boxes of this kind, scaled until about so many pairs overlap; no side is over half the world."""
    centers, sizes = kind(count, np.random.default_rng(count))
    scale = count ** (-1 / 3)
    for _ in range(12):
        half = np.minimum(sizes * scale, 0.5) / 2
        boxes = Aabb(centers - half, centers + half)
        found = max(1, len(overlapping_pairs(boxes))) / count
        if abs(found / pairs_a_box - 1) < CLOSE_ENOUGH:
            break
        # Pairs grow with the volume; a giant's share of them does not, so the steps are kept small.
        scale *= min(1.5, max(0.67, (pairs_a_box / found) ** (1 / 3)))
    return boxes


def _ours(boxes: Aabb) -> Call:
    return lambda: len(overlapping_pairs(boxes))


def _ours_uniform(boxes: Aabb) -> Call:
    ordinary = _ordinary(boxes.shape[0])
    return lambda: len(overlapping_pairs(ordinary))


def _scipy(boxes: Aabb) -> Call:
    from scipy.spatial import cKDTree

    def pairs() -> int:
        # In units of the largest extent on each axis, centres of overlapping boxes are at most 1 apart.
        tree = cKDTree(boxes.center / (boxes.max - boxes.min).max(axis=0))
        first, second = tree.query_pairs(1 + 1e-9, p=np.inf, output_type="ndarray").T
        low, high = boxes.min, boxes.max
        overlap = ((low[first] <= high[second]) & (low[second] <= high[first])).all(axis=1)
        return int(overlap.sum())

    return pairs


def _fcl(boxes: Aabb) -> Call:
    import fcl

    objects = [
        fcl.CollisionObject(fcl.Box(*size), fcl.Transform(center))
        for size, center in zip(boxes.max - boxes.min, boxes.center, strict=True)
    ]

    def pairs() -> int:
        tree = fcl.DynamicAABBTreeCollisionManager()
        tree.registerObjects(objects)
        tree.setup()
        found: list[tuple[Any, Any]] = []

        def add(a: Any, b: Any, _: Any) -> bool:
            found.append((a, b))
            return False

        tree.collide(None, add)
        return len(found)

    return pairs


def _coal(boxes: Aabb) -> Call:
    import coal

    objects = [
        coal.CollisionObject(coal.Box(*size), np.eye(3), center)
        for size, center in zip(boxes.max - boxes.min, boxes.center, strict=True)
    ]

    def pairs() -> int:
        tree = coal.DynamicAABBTreeCollisionManager()
        for each in objects:
            tree.registerObject(each)
        tree.setup()
        found = coal.CollisionCallBackCollect(20 * len(objects))
        tree.collide(found)
        return int(found.numCollisionPairs())

    return pairs


def _rtree(boxes: Aabb) -> Call:
    from rtree import index

    numbers = np.arange(boxes.shape[0])

    def pairs() -> int:
        tree = index.Index((numbers, boxes.min, boxes.max), properties=index.Property(dimension=3))
        partners, counts = tree.intersection_v(boxes.min, boxes.max)
        return int((np.repeat(numbers, counts.astype(np.int64)) < partners).sum())

    return pairs


def _compare(boxes: Aabb, counts: Mapping[str, Any]) -> str:
    own = {name: count for name, count in counts.items() if name != "ours, uniform"}
    if len(set(own.values())) == 1:
        return f"{own['ours']} pairs"
    return "; ".join(f"{name} {count} pairs" for name, count in own.items())


_PEERS = [
    Target(3, "scipy", faster=True),
    Target(5, "fcl", faster=True),
    Target(15, "rtree", faster=True),
]
_SPREAD = {"scipy": "all pairs within the largest extent would not fit into memory"}

_TOO_MANY = dict.fromkeys(("scipy", "fcl", "coal", "rtree"), "peers are asked up to 10^5 boxes")


def _rows() -> list[Row]:
    rows = [
        Row(
            f"10^{power}, uniform",
            partial(layout, _uniform, 10**power),
            10**power,
            targets=_PEERS if power == 5 else [],
            series="uniform",
            without={"ours, uniform": "", **(_TOO_MANY if power == 6 else {})},
        )
        for power in (3, 4, 5, 6)
    ]
    count = 100_000
    rows.append(
        Row(
            "10^5, uniform, a pair for every 20 boxes",
            partial(layout, _uniform, count, 0.05),
            count,
            # A box, as there are hardly any pairs to be found.
            targets=[Target(0.6e-6 * count), *_PEERS],
        )
    )
    for name, kind, without in (
        ("thin boxes, 30 : 1 : 1", _thin, {}),
        ("flat boxes, 30 : 30 : 1", _flat, {}),
        ("a flat world", _flat_world, {}),
        ("clusters", _clustered, {}),
        ("heavy-tailed sizes", _heavy_tailed, _SPREAD),
        ("8 giants", _giants, _SPREAD),
    ):
        targets = [Target(1.5, "ours, uniform"), *_PEERS]
        rows.append(
            Row(f"10^5, {name}", partial(layout, kind, count), count, targets=targets, without=without)
        )
    return rows


BROAD_PHASE = Table(
    "broad-phase",
    "boxes",
    (
        Competitor("ours", _ours),
        Competitor("ours, uniform", _ours_uniform),
        Competitor("scipy", _scipy),
        Competitor("fcl", _fcl),
        Competitor("coal", _coal),
        Competitor("rtree", _rtree),
    ),
    _rows(),
    _compare,
)
