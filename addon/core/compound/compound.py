"""Compounds: several convex shapes that stand for one mesh."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from ..fitting.convex_hull import ConvexHull
from ..shapes import Capsule, Obb, Sphere

CompoundPart: TypeAlias = ConvexHull | Obb | Sphere | Capsule


class Compound(NamedTuple):
    """A union of convex shapes, each around one part of a mesh.

    parts : At least one; oriented boxes, spheres and capsules have the batch shape ().
    """

    parts: tuple[CompoundPart, ...]
