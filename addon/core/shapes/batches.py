"""Conventions of all shapes, and functions that combine batches of shapes.

Shapes are frozen, batched over leading axes, and float64.

A single shape is a batch of shape (); ``Sphere`` with ``center`` (n, 3) and ``radius`` (n,) is n spheres.
Lengths are in the caller's unit, in one space that the caller keeps track of. The arrays of a shape are
read-only views, so that a shape can be shared without being copied. Matrices are affine, (..., 4, 4), for
column vectors.

Arguments of methods broadcast against the batch of the shape. An argument that does not broadcast raises
InvalidShapeError, one that is not finite raises NonFiniteGeometryError; the message names it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from ..errors import InvalidShapeError
from ..numeric.arrays import Ints
from .primitives import Segment, Triangle
from .volumes import Aabb, Obb, Sphere

Shape: TypeAlias = Sphere | Aabb | Obb | Segment | Triangle
"""Any kind of shape."""

Bound: TypeAlias = Sphere | Aabb | Obb
"""The kinds of shapes that enclose a volume and can be padded and merged."""


def concatenated(*shapes: Shape, axis: int = 0) -> Shape:
    """Concatenate one or more batches of one kind along a batch axis >= 0, like np.concatenate."""
    columns = ([getattr(shape, name) for shape in shapes] for name in shapes[0].field_shapes)
    return type(shapes[0]).unchecked(*(np.concatenate(column, axis=axis) for column in columns))


def gathered(parts: Iterable[tuple[Shape, Ints]]) -> Shape:
    """Take rows (k,) from each of several batches (n,) of one kind, and concatenate them to one batch."""
    listed = list(parts)
    kind = listed[0][0]
    columns = ([getattr(shape, name)[rows] for shape, rows in listed] for name in kind.field_shapes)
    return type(kind).unchecked(*map(np.concatenate, columns))


def stacked(shapes: Iterable[Shape]) -> Shape:
    """Stack shapes of one kind along a new first batch axis, like np.stack.

    Exact: the numbers are the same.

    Parameters
    ----------
    shapes : iterable of n shapes, n >= 1
        Of one kind and one batch (...); triangles either all one-sided or all two-sided.

    Returns
    -------
    batch : shapes of the same kind, batch (n, ...)

    Raises
    ------
    InvalidShapeError
        When there are no shapes, or when kinds, sides or batches differ.
    """
    listed = list(shapes)
    kinds = {(type(shape), shape.shape, getattr(shape, "one_sided", None)) for shape in listed}
    if len(kinds) != 1:
        raise InvalidShapeError("only shapes of one kind and one batch, and at least one, make a batch")
    arrays = {name: np.stack([getattr(shape, name) for shape in listed]) for name in listed[0].field_shapes}
    return listed[0]._with_arrays(arrays)
