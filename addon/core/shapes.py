"""Bounding volumes and what they are tested against: frozen, batched over leading axes, float64.

A single shape is a batch of shape (); ``Sphere`` with ``center`` (n, 3) and ``radius`` (n,) is n spheres.
Lengths are in the caller's unit, in one space that the caller keeps track of. The arrays of a shape are
read-only views, so that a shape can be shared without being copied. Matrices are affine, (..., 4, 4), for
column vectors.

What a method is given broadcasts against the shape's batch. What does not, or is not finite, is an
InvalidShapeError or a NonFiniteGeometryError that names it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from .arrays import Ints
from .bounding_volumes import Aabb, Obb, Sphere
from .errors import InvalidShapeError
from .segments_and_triangles import Segment, Triangle

__all__ = [
    "Aabb",
    "Bound",
    "Obb",
    "Segment",
    "Shape",
    "Sphere",
    "Triangle",
    "gathered",
    "joined",
    "stacked",
]

Shape: TypeAlias = Sphere | Aabb | Obb | Segment | Triangle
"""Any single kind of shape."""

Bound: TypeAlias = Sphere | Aabb | Obb
"""The kinds that enclose a volume, and can be padded and merged."""


def joined(*shapes: Shape, axis: int = 0) -> Shape:
    """Batches of one kind, one or more, one after the other along a batch axis >= 0."""
    columns = ([getattr(shape, name) for shape in shapes] for name in shapes[0].tails)
    return type(shapes[0]).trusted(*(np.concatenate(column, axis=axis) for column in columns))


def gathered(parts: Iterable[tuple[Shape, Ints]]) -> Shape:
    """Some of each of several batches (n,) of one kind, as one batch."""
    listed = list(parts)
    kind = listed[0][0]
    columns = ([getattr(shape, name)[rows] for shape, rows in listed] for name in kind.tails)
    return type(kind).trusted(*map(np.concatenate, columns))


def stacked(shapes: Iterable[Shape]) -> Shape:
    """Shapes of one kind and one batch as a batch (n, ...): exactly the same numbers.

    Raises InvalidShapeError when there are none, or of mixed kinds, sides or batches.
    """
    listed = list(shapes)
    kinds = {(type(shape), shape.shape, getattr(shape, "one_sided", None)) for shape in listed}
    if len(kinds) != 1:
        raise InvalidShapeError("only shapes of one kind and one batch, and at least one, make a batch")
    arrays = {name: np.stack([getattr(shape, name) for shape in listed]) for name in listed[0].tails}
    return listed[0]._alike(arrays)
