"""Choice of the shapes to fit, and of the subjects to fit together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import replace
from typing import TypeVar

from ..settings import SHAPE_KINDS, Axes, BoundShape, FitSettings, PlainShape, ShapeName

_T = TypeVar("_T")

_POINTS_AT_ONCE = 1 << 15
"""Larger batches are no faster, because they do not fit into the cache."""


def plain_shapes(shapes: Sequence[BoundShape], settings: FitSettings) -> tuple[PlainShape, ...]:
    """Plain shapes among `shapes`, and the oriented box of a subject whose box has the object's axes."""
    plain: tuple[PlainShape, ...] = tuple(shape for shape in shapes if SHAPE_KINDS[shape].is_plain)  # type: ignore[misc]  # by the table
    if settings.axes == "object" and "aabb" in plain and "obb" not in plain:
        return (*plain, "obb")
    return plain


def scanned_shape(shape: ShapeName, axes: Iterable[Axes]) -> ShapeName:
    """Shape that a scan tests where boxes have these axes: oriented boxes for all if any box is oriented."""
    return "obb" if shape == "aabb" and "object" in axes else shape


def resolve_scanned_shape(
    shape: ShapeName, axes: Iterable[Axes], settings: FitSettings
) -> tuple[ShapeName, FitSettings]:
    """Shape that a scan tests, and the settings of subjects that leave their axes to the scan."""
    kind = scanned_shape(shape, axes)
    if kind == "obb":
        settings = replace(settings, axes="world" if shape == "aabb" else "object")
    return kind, settings


def grouped_by_settings(settings: Sequence[FitSettings]) -> list[tuple[FitSettings, list[int]]]:
    """Distinct settings, each with the indices at which it occurs."""
    if all(each is settings[0] for each in settings):
        return [(settings[0], list(range(len(settings))))] if settings else []
    groups: dict[FitSettings, list[int]] = {}
    for index, each in enumerate(settings):
        groups.setdefault(each, []).append(index)
    return list(groups.items())


def in_batches(items: Iterable[_T], points: Callable[[_T], Sized]) -> Iterator[list[_T]]:
    """Split items into batches of a limited number of points; an item with more is a batch by itself."""
    batch: list[_T] = []
    total = 0
    for item in items:
        count = len(points(item))
        if batch and total + count > _POINTS_AT_ONCE:
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += count
    if batch:
        yield batch
