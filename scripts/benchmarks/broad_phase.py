"""All overlapping pairs of many boxes, in layouts that are tuned to the same number of pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addon.core import Aabb, overlapping_pairs

from .tables import THIS_PROJECT, Call, Competitor, Row, Table, Target, check_counts, compare_counts

Floats = NDArray[np.float64]

_UNIFORM = f"{THIS_PROJECT}, uniform"
"""Competitor that measures this project on as many evenly distributed boxes, for comparison."""

PAIRS_PER_BOX = 5.0
TOLERANCE = 0.02
"""Relative tolerance of the number of pairs."""


def _uniform(count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    return rng.random((count, 3)), rng.uniform(0.5, 1.5, (count, 3))


def _thin_boxes(count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    centers, sizes = _uniform(count, rng)
    sizes[np.arange(count), rng.integers(0, 3, count)] *= 30
    return centers, sizes


def _flat_boxes(count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    centers, sizes = _uniform(count, rng)
    sizes[np.arange(count), rng.integers(0, 3, count)] /= 30
    return centers, sizes


def _flat_world(count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    centers, sizes = _uniform(count, rng)
    return centers * [1, 1, 2 / np.sqrt(count)], sizes


def _clustered(count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    cluster_centers, cluster_radii = rng.random((100, 3)), rng.uniform(0.005, 0.05, 100)
    cluster = rng.integers(0, 100, count)
    centers = cluster_centers[cluster] + rng.normal(size=(count, 3)) * cluster_radii[cluster, None]
    return centers, rng.uniform(0.5, 1.5, (count, 3))


def _heavy_tailed(count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    centers, sizes = _uniform(count, rng)
    return centers, sizes * (1 + rng.pareto(1.8, (count, 1)))


def _giants(count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    centers, sizes = _uniform(count, rng)
    sizes[:8] = np.inf
    return centers, sizes


@lru_cache(maxsize=1)
def _uniform_layout(count: int) -> Aabb:
    return layout(_uniform, count)


def layout(
    kind: Callable[[int, np.random.Generator], tuple[Floats, Floats]],
    count: int,
    pairs_per_box: float = PAIRS_PER_BOX,
) -> Aabb:
    """Return boxes of a layout, scaled until about `pairs_per_box * count` pairs overlap.

    No side is longer than half the world.
    """
    centers, sizes = kind(count, np.random.default_rng(count))
    scale = count ** (-1 / 3)
    for _ in range(12):
        half = np.minimum(sizes * scale, 0.5) / 2
        boxes = Aabb(centers - half, centers + half)
        measured = max(1, len(overlapping_pairs(boxes))) / count
        if abs(measured / pairs_per_box - 1) < TOLERANCE:
            break
        # The number of pairs grows with the volume, except for pairs with a giant box, so steps are limited.
        scale *= min(1.5, max(0.67, (pairs_per_box / measured) ** (1 / 3)))
    return boxes


def _this_project(boxes: Aabb) -> Call:
    return lambda: len(overlapping_pairs(boxes))


def _this_project_uniform(boxes: Aabb) -> Call:
    uniform = _uniform_layout(boxes.shape[0])
    return lambda: len(overlapping_pairs(uniform))


def _scipy(boxes: Aabb) -> Call:
    from scipy.spatial import cKDTree

    def pairs() -> int:
        # In units of the largest extent on each axis, the centers of overlapping boxes are at most 1 apart.
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
        colliding: list[tuple[Any, Any]] = []

        def add(a: Any, b: Any, _: Any) -> bool:
            colliding.append((a, b))
            return False

        tree.collide(None, add)
        return len(colliding)

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
        collected = coal.CollisionCallBackCollect(20 * len(objects))
        tree.collide(collected)
        return int(collected.numCollisionPairs())

    return pairs


def _rtree(boxes: Aabb) -> Call:
    from rtree import index

    numbers = np.arange(boxes.shape[0])

    def pairs() -> int:
        tree = index.Index((numbers, boxes.min, boxes.max), properties=index.Property(dimension=3))
        partners, counts = tree.intersection_v(boxes.min, boxes.max)
        return int((np.repeat(numbers, counts.astype(np.int64)) < partners).sum())

    return pairs


def _listed(counts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: count for name, count in counts.items() if name != _UNIFORM}


def _compare(_: Aabb, counts: Mapping[str, Any]) -> str:
    return compare_counts(_listed(counts), "pairs")


def _check(boxes: Aabb, counts: Mapping[str, Any]) -> str:
    """Count the pairs of some boxes with all by their coordinates, and compare all counts."""
    pairs = overlapping_pairs(boxes)
    chosen = np.arange(0, boxes.shape[0], max(1, boxes.shape[0] // 300))
    expected = 0
    for row in chosen.tolist():
        apart = np.maximum(boxes.min - boxes.max[row], boxes.min[row] - boxes.max).max(axis=1)
        expected += int((apart <= 0).sum()) - 1
    found = int(np.isin(pairs, chosen).sum())
    if found != expected:
        return f"{found} pairs of some boxes instead of {expected}"
    return check_counts(_listed(counts), "pairs")


_PEER_TARGETS = [
    Target(3, "scipy", faster=True),
    Target(5, "fcl", faster=True),
    Target(15, "rtree", faster=True),
]
_OUT_OF_MEMORY = {"scipy": "all pairs within the largest extent would not fit into memory"}

_TOO_MANY = dict.fromkeys(("scipy", "fcl", "coal", "rtree"), "peers are measured up to 10^5 boxes")


def _rows() -> list[Row]:
    rows = [
        Row(
            f"10^{power}, uniform",
            partial(layout, _uniform, 10**power),
            10**power,
            targets=_PEER_TARGETS if power == 5 else [],
            series="uniform",
            without={_UNIFORM: "", **(_TOO_MANY if power == 6 else {})},
        )
        for power in (3, 4, 5, 6)
    ]
    count = 100_000
    rows.append(
        Row(
            "10^5, uniform, 1 pair per 20 boxes",
            partial(layout, _uniform, count, 0.05),
            count,
            # The limit is per box, because there are few pairs.
            targets=[Target(0.6e-6 * count), *_PEER_TARGETS],
        )
    )
    for name, kind, without in (
        ("thin boxes, 30 : 1 : 1", _thin_boxes, {}),
        ("flat boxes, 30 : 30 : 1", _flat_boxes, {}),
        ("flat world", _flat_world, {}),
        ("clusters", _clustered, {}),
        ("heavy-tailed sizes", _heavy_tailed, _OUT_OF_MEMORY),
        ("8 giants", _giants, _OUT_OF_MEMORY),
    ):
        targets = [Target(1.5, _UNIFORM), *_PEER_TARGETS]
        rows.append(
            Row(f"10^5, {name}", partial(layout, kind, count), count, targets=targets, without=without)
        )
    return rows


BROAD_PHASE = Table(
    "broad-phase",
    "boxes",
    (
        Competitor(THIS_PROJECT, _this_project),
        Competitor(_UNIFORM, _this_project_uniform),
        Competitor("scipy", _scipy),
        Competitor("fcl", _fcl),
        Competitor("coal", _coal),
        Competitor("rtree", _rtree),
    ),
    _rows(),
    _compare,
    _check,
)
