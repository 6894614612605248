"""World-space shapes of a document as shapes of the math."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core import Capsule, Cylinder, Obb, Sphere
from ..spaces import matrix_from_quaternion


def world_shape(key: str, numbers: Mapping[str, Any]) -> Sphere | Obb | Capsule | Cylinder:
    """Convert the numbers of a sphere, oriented box, capsule or cylinder.

    key : Key of the shape in the document.
    numbers : Its value, in the space of the document.
    Returns shape : Sphere, Obb, Capsule or Cylinder. Batch (), in the same space.
    """
    if key == "sphere":
        return Sphere(numbers["center"], numbers["radius"])
    if key == "obb":
        return Obb(numbers["center"], numbers["halfExtents"], matrix_from_quaternion(numbers["rotation"]))
    kind = Capsule if key == "capsule" else Cylinder
    return kind(*(numbers[name] for name in ("center", "axis", "halfLength", "radius")))
