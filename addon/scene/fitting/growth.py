"""Growing fitted shapes: by balls around the points, and by the padding."""

from __future__ import annotations

import numpy as np

from ...core import Aabb, InvalidShapeError, Obb, Shape, Sphere
from ...core.numeric.arrays import Floats, length


def grown_by_point_radii(shape: Shape, linear: Floats, radii: Floats) -> Shape:
    """Shapes around points, grown to enclose a ball around each point.

    Parameters
    ----------
    shape : Sphere, Aabb or Obb, batch (g,)
    linear : (g, 3, 3) float64
        Maps from object space to the space of the shapes, which make ellipsoids of the balls. Oriented boxes
        grow by the extents of the ellipsoids along their own axes.
    radii : (g,) float64
        Radii of the balls in object space.
    """
    if not radii.any():
        return shape
    if isinstance(shape, Sphere):
        return Sphere(shape.center, shape.radius + radii * np.linalg.norm(linear, 2, axis=(1, 2)))
    if isinstance(shape, Aabb):
        extent = radii[:, None] * length(linear)
        return Aabb(shape.min - extent, shape.max + extent)
    assert isinstance(shape, Obb)
    extent = radii[:, None] * length(np.swapaxes(shape.rotation, 1, 2) @ linear)
    return Obb(shape.center, shape.half_extents + extent, shape.rotation)


def padded(shape: Shape, padding: float | Floats) -> Shape:
    """Shapes grown by a padding, one for all or one each. Raises InvalidShapeError where nothing is left."""
    if isinstance(padding, float) and not padding:
        return shape
    try:
        return shape.padded(padding)
    except InvalidShapeError:
        raise padding_error(float(np.min(padding))) from None


def padding_error(padding: float) -> InvalidShapeError:
    """Error of a negative padding that is larger than the shape."""
    return InvalidShapeError(f"a padding of {padding:g} leaves nothing of it")
