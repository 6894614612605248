"""Shapes: frozen, batched arrays of bounding volumes, and of the segments and triangles they are tested
against.

- `boxes`: `Aabb` and `Obb`, with their orthonormal rotation matrices
- `spheres`: `Sphere`
- `axial`: `Capsule`, `Cylinder`
- `primitives`: `Segment`, `Triangle`, and the closest points on them

Functions that combine batches come from `numeric.batch`.

Conventions: shapes are batched over leading axes, and float64. A single shape is a batch of shape ();
``Sphere`` with ``center`` (n, 3) and ``radius`` (n,) is n spheres. Lengths are in the caller's unit, in one
space that the caller keeps track of. Matrices are affine, (..., 4, 4), for column vectors. Arguments of
methods broadcast against the batch of the shape. An argument that does not broadcast raises
InvalidShapeError, one that is not finite raises NonFiniteGeometryError; the message names it.

Other rooms import the shapes from here.

Decisions:

- A single shape is a batch of shape (): one code path serves one shape and a million.
- Arrays are read-only views: shapes can share memory without copies.
- Constructors test everything they are given; `unchecked` is for arrays that are valid already.
"""

from typing import TypeAlias

from ..numeric.batch import assigned, concatenated, differences, stacked, where_shapes
from .axial import Capsule, Cylinder
from .boxes import VOLUMES, Aabb, BoundingVolume, Obb
from .primitives import Segment, Triangle
from .spheres import Sphere

Shape: TypeAlias = BoundingVolume | Segment | Triangle
"""Any kind of shape."""

Bound: TypeAlias = Sphere | Aabb | Obb
"""The kinds of shapes that enclose a volume and can be padded and merged."""

__all__ = [
    "VOLUMES",
    "Aabb",
    "Bound",
    "BoundingVolume",
    "Capsule",
    "Cylinder",
    "Obb",
    "Segment",
    "Shape",
    "Sphere",
    "Triangle",
    "assigned",
    "concatenated",
    "differences",
    "stacked",
    "where_shapes",
]
