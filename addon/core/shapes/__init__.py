"""Shapes: frozen, batched arrays of bounding volumes, and of the segments and triangles they are tested
against.

- `rotation`: orthonormal rotation matrices of oriented boxes
- `volumes`: `Sphere`, `Aabb`, `Obb`
- `primitives`: `Segment`, `Triangle`, and the closest points on them
- `batches`: the conventions of all shapes, and functions that combine batches

Imports `core.errors` and `core.numeric` only. Other rooms import the shapes from here.

Decisions:

- A single shape is a batch of shape (): one code path serves one shape and a million.
- Arrays are read-only views: shapes can share memory without copies.
- Constructors test everything they are given; `unchecked` is for arrays that are valid already.
"""

from .batches import Bound, Shape, concatenated, gathered, stacked
from .primitives import Segment, Triangle
from .volumes import Aabb, Obb, Sphere

__all__ = [
    "Aabb",
    "Bound",
    "Obb",
    "Segment",
    "Shape",
    "Sphere",
    "Triangle",
    "concatenated",
    "gathered",
    "stacked",
]
