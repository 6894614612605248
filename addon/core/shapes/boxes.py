"""Bounding boxes: axis-aligned and oriented.

Guarantees hold after rounding: the result of `merged`, `transformed`, `aabb` and `oriented` encloses the
boxes it was made from, where the docstring does not say otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShapeError
from ..numeric.arguments import require_type
from ..numeric.arrays import (
    Bools,
    Floats,
    as_floats,
    cross,
    dot,
    first_index,
    length,
    normalized,
    perpendicular,
    require_finite,
    transform_vectors,
)
from ..numeric.batch import Batched, common_batch
from ..numeric.floating_point import raised_by_ulps, transformed_centers, with_rounding_slack
from ..numeric.tolerances import CHAIN_ROUNDING, EPS, LENGTH_ROUNDING, SUM_ROUNDING

_Self = TypeVar("_Self", bound="BoundingVolume")
_ROTATION_TOLERANCE = 1e-4
"""Largest accepted deviation of R^T R from identity: float32 and long chains of matrices stay below it."""


VOLUMES: dict[str, type[BoundingVolume]] = {}
"""Types of shapes that enclose a volume, by their names, which documents and options have too."""


class BoundingVolume(Batched):
    """Base of the shapes that enclose a volume; each is in `VOLUMES`.

    Fields of several numbers are positions (`center`, `min`, `max`), directions (`axis`, `rotation`) or
    `half_extents`; fields of one number are lengths.

    name : Of the type.
    grown_by_padding : The fields that padding changes, each with the sign of the change.
    arm : (...) float64. Of shapes with an axis: no point that turns with it is farther from the center.

    Shapes with an axis also have `_around` and `balls`.
    """

    name: ClassVar[str]
    grown_by_padding: ClassVar[dict[str, int]]

    def __init_subclass__(cls) -> None:
        if "name" in vars(cls):
            vectors = {name for name, tail in cls.field_shapes.items() if tail}
            if unknown := vectors - {"center", "min", "max", "axis", "half_extents", "rotation"}:
                raise TypeError(f"{cls.__name__}: unknown fields {', '.join(sorted(unknown))}")
            VOLUMES[cls.name] = cls

    def contains(self, points: ArrayLike) -> Bools:
        """Decide which points (..., 3) are inside or on the shape."""
        raise NotImplementedError

    def transformed(self: _Self, matrix: ArrayLike) -> _Self:
        """Return shapes that enclose the images of these under affine maps (..., 4, 4)."""
        raise NotImplementedError

    def aabb(self) -> Aabb:
        """Return the boxes around the shapes."""
        raise NotImplementedError

    def _around(self: _Self, points: Floats) -> _Self:
        """Make the smallest shape with the center and axis of this one, batch (), around points (n, 3).

        Every point is inside, exactly as `contains` computes it. A capsule keeps its half length.
        """
        raise NotImplementedError

    @classmethod
    def _grown(cls, fields: dict[str, Floats], amount: Floats) -> dict[str, Floats]:
        """Return fields of shapes with their surface moved outward. Exact up to float64 rounding.

        fields : (..., *own axes) float64. By their names, at least those that padding changes.
        amount : (...) float64. Lengths; negative ones move it inward, until sizes become negative.
        Returns fields : As given, with the changed ones replaced.
        """
        changes = {name: sign * amount for name, sign in cls.grown_by_padding.items()}
        return fields | {
            name: fields[name] + (change[..., None] if cls.field_shapes[name] else change)
            for name, change in changes.items()
        }

    def padded(self: _Self, amount: ArrayLike) -> _Self:
        """Return shapes with their surface moved outward. Exact up to float64 rounding.

        All faces of boxes are moved, and both ends of cylinders.

        Parameters
        ----------
        amount : (...) array_like
            Length in the unit of the shapes; negative shrinks. Broadcast against the batch.

        Returns
        -------
        shapes : of the same kind, batch (...)

        Raises
        ------
        InvalidShapeError
            Where a size becomes negative.
        """
        pad = self._broadcastable(amount, "padding")
        fields = {name: getattr(self, name) for name in self.field_shapes}
        with np.errstate(over="ignore"):  # the constructor finds infinity
            return type(self)(*self._grown(fields, pad).values())


@dataclass(frozen=True, eq=False)
class Aabb(BoundingVolume):
    """Axis-aligned boxes.

    Attributes
    ----------
    min, max : (..., 3) float64
        min <= max on every axis.

    Raises
    ------
    InvalidShapeError, NonFiniteGeometryError
        With the index of the first bad element.
    """

    min: Floats
    max: Floats
    field_shapes: ClassVar[dict[str, tuple[int, ...]]] = {"min": (3,), "max": (3,)}
    name: ClassVar[str] = "aabb"
    grown_by_padding: ClassVar[dict[str, int]] = {"min": -1, "max": 1}

    def __init__(self, min: ArrayLike, max: ArrayLike) -> None:
        self._fill("box", min, max)
        if (self.min > self.max).any():
            index = first_index((self.min > self.max).any(axis=-1))
            raise InvalidShapeError(f"box: element {index} has min > max")

    @property
    def center(self) -> Floats:
        """Centers (..., 3) of the boxes, computed without overflow."""
        return self.min * 0.5 + self.max * 0.5

    @property
    def half_extents(self) -> Floats:
        """Half the size on each axis, (..., 3)."""
        return self.max * 0.5 - self.min * 0.5

    def contains(self, points: ArrayLike) -> Bools:
        """Decide which points (..., 3) are inside or on the box. Exact."""
        p = self._broadcastable(points, "points", (3,))
        return np.asarray(((p >= self.min) & (p <= self.max)).all(axis=-1))

    def merged(self, other: Aabb) -> Aabb:
        """Return the smallest boxes around pairs. Exact."""
        require_type(other, Aabb, "other")
        common_batch("other", self.shape, other.shape)
        return Aabb.unchecked(np.minimum(self.min, other.min), np.maximum(self.max, other.max))

    def transformed(self, matrix: ArrayLike) -> Aabb:
        """Return the boxes around the images of these under affine maps (..., 4, 4).

        The smallest around the eight transformed corners (Arvo 1990: the absolute matrix), rounded outward.
        """
        m = self._broadcastable(matrix, "matrix", (4, 4))
        with np.errstate(over="ignore", invalid="ignore"):
            center, lost = transformed_centers(m, self.center)
            half = transform_vectors(np.abs(m[..., :3, :3]), self.half_extents)
            box = box_around(center, with_rounding_slack(half, lost))
        require_finite(box.min, "box min by this matrix")
        require_finite(box.max, "box max by this matrix")
        return box

    def corners(self) -> Floats:
        """Return the corners (..., 8, 3): corner i is at max on axis k if bit k of i is set. Exact."""
        return np.where(_IS_AT_MAX, self.max[..., None, :], self.min[..., None, :])

    def oriented(self) -> Obb:
        """Return the same boxes as oriented boxes. Conservative: sides grow by about one rounding."""
        # Measure both faces from the rounded center, by the arithmetic of `Obb.contains`.
        center = self.center
        half = np.maximum(self.max - center, center - self.min)
        return Obb.unchecked(center, half, np.broadcast_to(np.eye(3), (*self.shape, 3, 3)))

    def aabb(self) -> Aabb:
        """Return the boxes themselves, so that every shape has this method. Exact."""
        return self


@dataclass(frozen=True, eq=False)
class Obb(BoundingVolume):
    """Oriented boxes. A point p is inside where abs(rotation^T (p - center)) <= half_extents.

    Attributes
    ----------
    center : (..., 3) float64
    half_extents : (..., 3) float64, >= 0
        Half the size along each axis of the box.
    rotation : (..., 3, 3) float64
        The columns are the axes of the box. A rotation that is orthonormal to float32 only is made
        orthonormal to float64.

    Raises
    ------
    InvalidShapeError
        For negative extents, and for matrices that scale, shear or mirror; with the index of the first.
    NonFiniteGeometryError
        With the index of the first element that is NaN or infinite.
    """

    center: Floats
    half_extents: Floats
    rotation: Floats
    field_shapes: ClassVar[dict[str, tuple[int, ...]]] = {
        "center": (3,),
        "half_extents": (3,),
        "rotation": (3, 3),
    }
    name: ClassVar[str] = "obb"
    grown_by_padding: ClassVar[dict[str, int]] = {"half_extents": 1}

    def __init__(self, center: ArrayLike, half_extents: ArrayLike, rotation: ArrayLike) -> None:
        rotations = orthonormalized(as_floats(rotation, "oriented box rotation", (3, 3)))
        self._fill("oriented box", center, half_extents, rotations)

    def to_local(self, points: ArrayLike) -> Floats:
        """Transform points (..., 3) from world space to the local space of the box.

        That is to coordinates along the axes of the box, from its center. Exact up to float64 rounding.
        """
        p = self._broadcastable(points, "points", (3,))
        with np.errstate(over="ignore"):
            local = local_points(self, p)
        require_finite(local, "points in local space")
        return local

    def to_world(self, points: ArrayLike) -> Floats:
        """Transform points (..., 3) from local space to world space: the inverse of `to_local`.

        Exact up to float64 rounding.
        """
        p = self._broadcastable(points, "points", (3,))
        with np.errstate(over="ignore"):
            world = world_points(self, p)
        require_finite(world, "points in world space")
        return world

    def contains(self, points: ArrayLike) -> Bools:
        """Decide which points (..., 3) in world space are inside or on the box.

        Exact for the float64 coordinates of `to_local`.
        """
        p = self._broadcastable(points, "points", (3,))
        with np.errstate(over="ignore"):
            local = local_points(self, p)
        return np.asarray((np.abs(local) <= self.half_extents).all(axis=-1))

    def merged(self, other: Obb) -> Obb:
        """Return boxes around pairs, with the axes of the first. Conservative: others may be smaller."""
        require_type(other, Obb, "other")
        batch = common_batch("other", self.shape, other.shape)
        inverse = np.swapaxes(self.rotation, -1, -2)[..., None, :, :]
        corners = transform_vectors(inverse, other.corners() - self.center[..., None, :])
        low = np.minimum(-self.half_extents, corners.min(axis=-2))
        high = np.maximum(self.half_extents, corners.max(axis=-2))
        center = world_points(self, low * 0.5 + high * 0.5)
        half = with_rounding_slack(high * 0.5 - low * 0.5, SUM_ROUNDING * np.abs(center).max(axis=-1))
        return Obb(center, half, np.broadcast_to(self.rotation, (*batch, 3, 3)))

    def transformed(self, matrix: ArrayLike) -> Obb:
        """Return boxes that enclose the images of these under affine maps (..., 4, 4).

        The image itself, rounded outward, where that is a box: under rigid motion, and under scale that is
        uniform or along the axes of the box. Conservative under shear: the longest side keeps its
        direction.
        """
        m = self._broadcastable(matrix, "matrix", (4, 4))
        with np.errstate(over="ignore", invalid="ignore"):
            edges = np.einsum("...ij,...jk->...ik", m[..., :3, :3], self.rotation)
            sides = edges * self.half_extents[..., None, :]
            rotation = axes_from_edges(edges, length(np.swapaxes(sides, -1, -2)))
            half = np.abs(np.einsum("...ji,...jk->...ik", rotation, sides)).sum(axis=-1)
            center, lost = transformed_centers(m, self.center)
            return Obb(center, with_rounding_slack(half, lost), rotation)

    def aabb(self) -> Aabb:
        """Return the axis-aligned boxes around the boxes, rounded outward by a few ulps."""
        return box_around(
            self.center, raised_by_ulps(transform_vectors(np.abs(self.rotation), self.half_extents))
        )

    def corners(self) -> Floats:
        """Return the corners (..., 8, 3): corner i is on the positive side of axis k if bit k of i is set.

        Exact up to float64 rounding.
        """
        local = np.where(_IS_AT_MAX, self.half_extents[..., None, :], -self.half_extents[..., None, :])
        return self.center[..., None, :] + transform_vectors(self.rotation[..., None, :, :], local)

    def oriented(self) -> Obb:
        """Return the boxes themselves, so that every kind of box has this method. Exact."""
        return self


_IS_AT_MAX = ((np.arange(8)[:, None] >> np.arange(3)) & 1).astype(bool)


def local_points(box: Obb, points: Floats) -> Floats:
    """Transform points (..., 3) from world space to the local space of boxes, without tests.

    Exact up to float64 rounding.
    """
    return transform_vectors(np.swapaxes(box.rotation, -1, -2), points - box.center)


def world_points(box: Obb, points: Floats) -> Floats:
    """Transform points (..., 3) from the local space of boxes to world space, without tests.

    Exact up to float64 rounding.
    """
    return box.center + transform_vectors(box.rotation, points)


def box_around(center: Floats, half: Floats) -> Aabb:
    """Return boxes from `center` - `half` to `center` + `half`, (..., 3) each, rounded outward."""
    low, high = center - half, center + half
    # A sum has an error of up to half an ulp. Subnormal sums are exact.
    ulp = EPS
    return Aabb.unchecked(low - ulp * np.abs(low), high + ulp * np.abs(high))


def orthonormalized(rotation: Floats) -> Floats:
    """Make rotations (..., 3, 3) orthonormal to float64 that are so to float32, or better.

    Newton's iteration for the orthogonal polar factor, at most two steps. Rotations that are orthonormal
    already are returned as they are.

    Raises InvalidShapeError: for matrices that scale, shear or mirror, with the index of the first.
    """
    identity = np.eye(3)
    gram = np.einsum("...ji,...jk->...ik", rotation, rotation)
    deviation = np.abs(gram - identity).max(axis=(-2, -1))
    skewed = ~(deviation <= _ROTATION_TOLERANCE)
    if skewed.any():
        raise InvalidShapeError(
            f"oriented box rotation: element {first_index(skewed)} is not a rotation, its columns are not of"
            " length 1 and at right angles"
        )
    mirrored = dot(cross(rotation[..., 0], rotation[..., 1]), rotation[..., 2]) < 0
    if mirrored.any():
        raise InvalidShapeError(f"oriented box rotation: element {first_index(mirrored)} mirrors")
    # Each step squares the deviation: from 1e-4 to 1e-8 to rounding.
    for _ in range(2):
        if not (deviation > LENGTH_ROUNDING).any():
            break
        rotation = np.einsum("...ij,...jk->...ik", rotation, 1.5 * identity - 0.5 * gram)
        gram = np.einsum("...ji,...jk->...ik", rotation, rotation)
        deviation = np.abs(gram - identity).max(axis=(-2, -1))
    return rotation


def axes_from_edges(edges: Floats, importance: Floats) -> Floats:
    """Fit rotations to the columns of `edges` (..., 3, 3) by Gram-Schmidt, in order of importance (..., 3).

    The most important column keeps its direction; each other one loses its components along those before it.
    Columns keep their positions. Where columns are parallel or zero, any perpendicular axis is taken. Never
    mirrored.
    """
    order = np.argsort(-importance, axis=-1, kind="stable")
    first, second, third = np.moveaxis(np.take_along_axis(edges, order[..., None, :], axis=-1), -1, 0)
    x = normalized(first)
    in_plane = second - x * dot(x, second)[..., None]
    # Rounding errors are all that is left of parallel columns: they have no direction.
    flat = length(in_plane) <= CHAIN_ROUNDING * length(second)
    y = np.where(flat[..., None], perpendicular(x), normalized(in_plane))
    # Orthogonalize twice, because the first subtraction may have canceled.
    y = normalized(y - x * dot(x, y)[..., None])
    z = cross(x, y)
    z = np.where((dot(z, third) < 0)[..., None], -z, z)
    axes = np.empty(edges.shape)
    np.put_along_axis(axes, np.broadcast_to(order[..., None, :], edges.shape), np.stack([x, y, z], -1), -1)
    # A box is the same with an axis reversed: reverse the last one where the axes are mirrored.
    mirrored = dot(cross(axes[..., 0], axes[..., 1]), axes[..., 2]) < 0
    axes[..., 2] = np.where(mirrored[..., None], -axes[..., 2], axes[..., 2])
    return axes
