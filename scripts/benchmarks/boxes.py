"""Axis-aligned boxes around points."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addon.core import aabb_from_points

from .tables import THIS_PROJECT, Call, Competitor, Row, Table, Target

Points = NDArray[Any]


def _this_project(points: Points) -> Call:
    def box() -> Points:
        result = aabb_from_points(points)
        return np.stack([result.min, result.max])

    return box


def _copy(points: Points) -> Call:
    return points.copy


def _per_axis(points: Points) -> Call:
    return lambda: np.stack([points.min(axis=0), points.max(axis=0)])


def _trimesh(points: Points) -> Call:
    import trimesh

    return lambda: trimesh.PointCloud(points).bounds


def _compare(_: Points, boxes: Mapping[str, Any]) -> str:
    reference = boxes[THIS_PROJECT]
    differing = [
        name for name, box in boxes.items() if name != "one copy" and not np.array_equal(box, reference)
    ]
    return f"{', '.join(differing)} differ" if differing else ""


def _make_points(count: int, dtype: type) -> Points:
    return np.random.default_rng(0).normal(size=(count, 3)).astype(dtype)


BOX = Table(
    "box",
    "points",
    (
        Competitor(THIS_PROJECT, _this_project),
        Competitor("one copy", _copy),
        Competitor("min and max per axis", _per_axis),
        Competitor("trimesh", _trimesh),
    ),
    [
        Row(
            f"10^{power}, {dtype.__name__}",
            partial(_make_points, 10**power, dtype),
            10**power,
            targets=[Target(2, "one copy")] if power == 6 else [],
            series=dtype.__name__,
        )
        for dtype in (np.float32, np.float64)
        for power in (3, 5, 6)
    ],
    _compare,
)
