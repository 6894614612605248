"""Spheres, boxes along the axes, and boxes along axes of their own: what encloses a volume."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Bools, Floats, as_floats, length, transform_vectors
from .batch import Batched, broadcast_fields, common_batch, first_index
from .box_axes import axes_of, orthonormal
from .errors import InvalidShapeError
from .rounding_loss import LOSS, largest_stretch, moved_centers, raised, with_slack


@dataclass(frozen=True, eq=False)
class Sphere(Batched):
    """Spheres: `center` (..., 3) and `radius` (...), radius >= 0.

    Raises InvalidShapeError or NonFiniteGeometryError, naming the element.
    """

    center: Floats
    radius: Floats
    tails: ClassVar[dict[str, tuple[int, ...]]] = {"center": (3,), "radius": ()}

    def __init__(self, center: ArrayLike, radius: ArrayLike) -> None:
        centers = as_floats(center, "sphere center", (3,))
        radii = as_floats(radius, "sphere radius")
        centers, radii = broadcast_fields("sphere", [(centers, 1), (radii, 0)])
        if (radii < 0).any():
            raise InvalidShapeError(f"sphere radius: element {first_index(radii < 0)} is negative")
        self._freeze((centers, radii))

    def contains(self, points: ArrayLike) -> Bools:
        """Which points lie inside or on the sphere; (..., 3) broadcast against the batch."""
        # Not by squares: a radius that is the distance of a point, rounded, must hold that point.
        return np.asarray(length(self._beside(points, "points", (3,)) - self.center) <= self.radius)

    def padded(self, amount: ArrayLike) -> Sphere:
        """Spheres grown by `amount` (negative shrinks; below zero is an InvalidShapeError)."""
        return Sphere(self.center, self.radius + self._beside(amount, "padding"))

    def merged(self, other: Sphere) -> Sphere:
        """The smallest sphere around two, pair by pair. Conservative: rounded up by a few float64 ulps."""
        common_batch("merged spheres", self.shape, other.shape)
        offset = other.center - self.center
        distance = length(offset)
        radius = np.maximum(
            (distance + self.radius + other.radius) / 2, np.maximum(self.radius, other.radius)
        )
        along = np.divide(radius - self.radius, distance, out=np.zeros_like(distance), where=distance > 0)
        along = np.where(distance + self.radius <= other.radius, 1.0, np.minimum(along, 1.0))
        center = self.center + offset * along[..., None]
        # The centre was rounded: make the radius reach both spheres from where it really is.
        reach = np.maximum(
            length(self.center - center) + self.radius, length(other.center - center) + other.radius
        )
        return Sphere(center, raised(np.where(distance > 0, reach, radius)))

    def transformed(self, matrix: ArrayLike) -> Sphere:
        """Spheres that enclose the images of these under affine 4x4 matrices.

        Conservative under any scale and shear: the radius grows by the largest singular value, since the
        longest column understates the stretch of a sheared matrix. Rounding goes outward.
        """
        m = self._beside(matrix, "matrix", (4, 4))
        stretch = largest_stretch(m[..., :3, :3])
        center, lost = moved_centers(m, self.center)
        return Sphere(center, self.radius * stretch + lost)

    def aabb(self) -> Aabb:
        """The boxes around the spheres, rounded outward by an ulp or two."""
        return _box_around(self.center, self.radius[..., None])


@dataclass(frozen=True, eq=False)
class Aabb(Batched):
    """Axis-aligned boxes: `min` and `max` (..., 3), min <= max on every axis.

    Raises InvalidShapeError or NonFiniteGeometryError, naming the element.
    """

    min: Floats
    max: Floats
    tails: ClassVar[dict[str, tuple[int, ...]]] = {"min": (3,), "max": (3,)}

    def __init__(self, min: ArrayLike, max: ArrayLike) -> None:
        low = as_floats(min, "box min", (3,))
        high = as_floats(max, "box max", (3,))
        low, high = broadcast_fields("box", [(low, 1), (high, 1)])
        if (low > high).any():
            raise InvalidShapeError(f"box: element {first_index((low > high).any(axis=-1))} has min > max")
        self._freeze((low, high))

    @property
    def center(self) -> Floats:
        """(..., 3) middle of the boxes, free of overflow."""
        center: Floats = self.min * 0.5 + self.max * 0.5
        return center

    @property
    def half_extents(self) -> Floats:
        """(..., 3) half the size on each axis."""
        half: Floats = self.max * 0.5 - self.min * 0.5
        return half

    def contains(self, points: ArrayLike) -> Bools:
        """Which points lie inside or on the box; (..., 3) broadcast against the batch."""
        p = self._beside(points, "points", (3,))
        return np.asarray(((p >= self.min) & (p <= self.max)).all(axis=-1))

    def padded(self, amount: ArrayLike) -> Aabb:
        """Boxes grown by `amount` on every side (shrinking past zero is an InvalidShapeError)."""
        pad = self._beside(amount, "padding")[..., None]
        return Aabb(self.min - pad, self.max + pad)

    def merged(self, other: Aabb) -> Aabb:
        """The smallest box around two, pair by pair. Exact."""
        common_batch("merged boxes", self.shape, other.shape)
        return Aabb.trusted(np.minimum(self.min, other.min), np.maximum(self.max, other.max))

    def transformed(self, matrix: ArrayLike) -> Aabb:
        """Boxes around the images of these under affine 4x4 matrices.

        Tight around the eight moved corners (Arvo's absolute matrix), to rounding, which goes outward.
        """
        m = self._beside(matrix, "matrix", (4, 4))
        center, lost = moved_centers(m, self.center)
        half = transform_vectors(np.abs(m[..., :3, :3]), self.half_extents)
        return _box_around(center, with_slack(half, lost))

    def corners(self) -> Floats:
        """(..., 8, 3) the corners; corner i takes max on axis k where bit k of i is set."""
        return np.where(_TAKES_MAX, self.max[..., None, :], self.min[..., None, :])

    def oriented(self) -> Obb:
        """The same boxes as oriented ones, to about a rounding of their sides."""
        # Both faces are reached from the rounded centre, by the arithmetic that asks what a box contains.
        center = self.center
        half = np.maximum(self.max - center, center - self.min)
        return Obb.trusted(center, half, np.broadcast_to(np.eye(3), (*self.shape, 3, 3)))

    def aabb(self) -> Aabb:
        """Themselves: every shape has boxes around it."""
        return self


@dataclass(frozen=True, eq=False)
class Obb(Batched):
    """Oriented boxes: `center` (..., 3), `half_extents` (..., 3) >= 0, `rotation` (..., 3, 3).

    The columns of a rotation are the box's own axes; a point p lies inside where
    abs(rotation^T (p - center)) <= half_extents. A rotation given to single precision is made orthonormal to
    double. Raises InvalidShapeError for negative extents and for matrices that scale, shear or mirror,
    NonFiniteGeometryError for NaN and infinity, naming the element.
    """

    center: Floats
    half_extents: Floats
    rotation: Floats
    tails: ClassVar[dict[str, tuple[int, ...]]] = {"center": (3,), "half_extents": (3,), "rotation": (3, 3)}

    def __init__(self, center: ArrayLike, half_extents: ArrayLike, rotation: ArrayLike) -> None:
        centers = as_floats(center, "box center", (3,))
        halves = as_floats(half_extents, "box half extents", (3,))
        turns = orthonormal(as_floats(rotation, "box rotation", (3, 3)))
        centers, halves, turns = broadcast_fields("oriented box", [(centers, 1), (halves, 1), (turns, 2)])
        if (halves < 0).any():
            raise InvalidShapeError(f"box half extents: element {first_index(halves < 0)} is negative")
        self._freeze((centers, halves, turns))

    def to_local(self, points: Floats) -> Floats:
        """Points (..., 3), broadcast against the batch, as seen from the centre along the box's own axes."""
        return transform_vectors(np.swapaxes(self.rotation, -1, -2), points - self.center)

    def to_world(self, points: Floats) -> Floats:
        """The inverse of `to_local`."""
        result: Floats = self.center + transform_vectors(self.rotation, points)
        return result

    def contains(self, points: ArrayLike) -> Bools:
        """Which points lie inside or on the box; (..., 3) broadcast against the batch."""
        local = self.to_local(self._beside(points, "points", (3,)))
        return np.asarray((np.abs(local) <= self.half_extents).all(axis=-1))

    def padded(self, amount: ArrayLike) -> Obb:
        """Boxes grown by `amount` on every side (shrinking past zero is an InvalidShapeError)."""
        pad = self._beside(amount, "padding")[..., None]
        return Obb(self.center, self.half_extents + pad, self.rotation)

    def merged(self, other: Obb) -> Obb:
        """Boxes around two, pair by pair, with the axes of the first. Conservative: others may be smaller."""
        batch = common_batch("merged boxes", self.shape, other.shape)
        turned = np.swapaxes(self.rotation, -1, -2)[..., None, :, :]
        corners = transform_vectors(turned, other.corners() - self.center[..., None, :])
        low = np.minimum(-self.half_extents, corners.min(axis=-2))
        high = np.maximum(self.half_extents, corners.max(axis=-2))
        center = self.to_world(low * 0.5 + high * 0.5)
        half = with_slack(high * 0.5 - low * 0.5, LOSS * np.abs(center).max(axis=-1))
        return Obb(center, half, np.broadcast_to(self.rotation, (*batch, 3, 3)))

    def transformed(self, matrix: ArrayLike) -> Obb:
        """Boxes around the images of these under affine 4x4 matrices.

        Tight to rounding, which goes outward, where the images are boxes: rigid motion, and scale that is
        uniform or along the box's own axes. Under shear conservative: the longest side keeps its direction.
        """
        m = self._beside(matrix, "matrix", (4, 4))
        edges = np.einsum("...ij,...jk->...ik", m[..., :3, :3], self.rotation)
        sides = edges * self.half_extents[..., None, :]
        turned = axes_of(edges, length(np.swapaxes(sides, -1, -2)))
        half = np.abs(np.einsum("...ji,...jk->...ik", turned, sides)).sum(axis=-1)
        center, lost = moved_centers(m, self.center)
        return Obb(center, with_slack(half, lost), turned)

    def aabb(self) -> Aabb:
        """The boxes around the boxes, rounded outward by a few ulps."""
        return _box_around(self.center, raised(transform_vectors(np.abs(self.rotation), self.half_extents)))

    def corners(self) -> Floats:
        """(..., 8, 3) the corners; corner i is on the positive side of axis k where bit k of i is set."""
        local = np.where(_TAKES_MAX, self.half_extents[..., None, :], -self.half_extents[..., None, :])
        corners: Floats = self.center[..., None, :] + transform_vectors(self.rotation[..., None, :, :], local)
        return corners

    def oriented(self) -> Obb:
        """Themselves: every box can be had as an oriented one."""
        return self


_TAKES_MAX = ((np.arange(8)[:, None] >> np.arange(3)) & 1).astype(bool)


def _box_around(center: Floats, half: Floats) -> Aabb:
    """The boxes `center` - `half` to `center` + `half`, with what these sums may lose and little more."""
    low, high = center - half, center + half
    # A sum loses up to half an ulp. Sums too small to have ulps are exact.
    ulp = float(np.finfo(np.float64).eps)
    return Aabb.trusted(low - ulp * np.abs(low), high + ulp * np.abs(high))
