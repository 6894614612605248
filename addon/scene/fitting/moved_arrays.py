"""Numbers of shapes that are moved by matrices: spheres, oriented boxes, capsules and cylinders."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from ...core import Capsule, Cylinder, Obb, Shape, Sphere
from ...core.numeric.arrays import Bools, Floats, Ints, length, normalized, transform_vectors
from ..settings import DrawnShape, shape_kind

MAX_RESIDUAL = 1e-4
"""Largest residual of a motion for which a fit is moved instead of made again."""

Rows: TypeAlias = Ints | slice


class MovedArrays(ABC):
    """Numbers of N shapes of one kind; the fields are those of the shape.

    Attributes
    ----------
    has_rotation : bool
        Whether the shapes have axes that rotate with a subject.
    """

    has_rotation: ClassVar[bool] = False

    @abstractmethod
    def apply_motion(
        self, rows: Rows, motion: Floats, scale: Floats, residual: Floats, stretch: Floats
    ) -> None:
        """Rotate and scale the shapes at rows (k,) by linear maps (k, 3, 3) that nearly are similarities.

        The shapes grow by what the maps lack of a similarity, so that all points stay inside.

        scale, residual : (k,), see `uniform_scale_and_residual`
        stretch : factors (k,) by which the maps lengthen vectors at most
        """

    @abstractmethod
    def enlarge_to(self, room: Floats) -> Bools:
        """Enlarge shapes that are smaller than a half size (N,) on any side, and return which these were."""

    @abstractmethod
    def at(self, offset: Floats) -> Shape:
        """Shapes (N,) moved by offsets (N, 3)."""


@dataclass
class SphereArrays(MovedArrays):
    """Spheres: center (N, 3), radius (N,)."""

    center: Floats
    radius: Floats

    def apply_motion(
        self, rows: Rows, motion: Floats, scale: Floats, residual: Floats, stretch: Floats
    ) -> None:
        """Rotate and scale the spheres at rows (k,); see `MovedArrays`."""
        self.center[rows] = transform_vectors(motion, self.center[rows])
        slack = 1e-15 * length(self.center[rows])
        self.radius[rows] = self.radius[rows] * stretch + slack

    def enlarge_to(self, room: Floats) -> Bools:
        """Enlarge spheres that are smaller than a radius (N,), and return which these were."""
        is_smaller = self.radius < room
        self.radius[is_smaller] = room[is_smaller]
        return np.asarray(is_smaller)

    def at(self, offset: Floats) -> Sphere:
        """Spheres (N,) moved by offsets (N, 3)."""
        return Sphere.unchecked(self.center + offset, self.radius)


@dataclass
class ObbArrays(MovedArrays):
    """Oriented boxes: center (N, 3), half_extents (N, 3), rotation (N, 3, 3)."""

    center: Floats
    half_extents: Floats
    rotation: Floats

    has_rotation: ClassVar[bool] = True

    def apply_motion(
        self, rows: Rows, motion: Floats, scale: Floats, residual: Floats, stretch: Floats
    ) -> None:
        """Rotate and scale the boxes at rows (k,); see `MovedArrays`."""
        self.center[rows] = transform_vectors(motion, self.center[rows])
        half = self.half_extents[rows]
        self.rotation[rows] = nearest_rotation(
            product_of_matrices(motion, self.rotation[rows]) / scale[:, None, None]
        )
        slack = 2 * residual * length(half) + 1e-14 * length(self.center[rows])
        self.half_extents[rows] = half * stretch[:, None] + (slack * scale)[:, None]

    def enlarge_to(self, room: Floats) -> Bools:
        """Enlarge boxes that are smaller than a half size (N,), and return which these were."""
        sides = room[:, None]
        is_smaller = (self.half_extents < sides).any(axis=1)
        self.half_extents[is_smaller] = sides[is_smaller]
        return np.asarray(is_smaller)

    def at(self, offset: Floats) -> Obb:
        """Boxes (N,) moved by offsets (N, 3)."""
        return Obb.unchecked(self.center + offset, self.half_extents, self.rotation)


@dataclass
class CapsuleArrays(MovedArrays):
    """Capsules: center (N, 3), axis (N, 3), half_length (N,), radius (N,)."""

    center: Floats
    axis: Floats
    half_length: Floats
    radius: Floats

    def apply_motion(
        self, rows: Rows, motion: Floats, scale: Floats, residual: Floats, stretch: Floats
    ) -> None:
        """Rotate and scale the capsules at rows (k,); see `MovedArrays`."""
        self.center[rows] = transform_vectors(motion, self.center[rows])
        self.axis[rows] = normalized(transform_vectors(motion, self.axis[rows]))
        half, radius = self.half_length[rows], self.radius[rows]
        # What is perpendicular to an axis is not quite perpendicular to its image.
        slack = 2 * residual * (half + radius) * scale + 1e-14 * length(self.center[rows])
        self.half_length[rows] = half * stretch + slack
        self.radius[rows] = radius * stretch + slack

    def enlarge_to(self, room: Floats) -> Bools:
        """Enlarge capsules that are smaller than a radius (N,), and return which these were."""
        is_smaller = self.radius < room
        self.radius[is_smaller] = room[is_smaller]
        return np.asarray(is_smaller)

    def at(self, offset: Floats) -> Capsule | Cylinder:
        """Capsules (N,) moved by offsets (N, 3)."""
        return Capsule.unchecked(self.center + offset, self.axis, self.half_length, self.radius)


class CylinderArrays(CapsuleArrays):
    """Cylinders: center (N, 3), axis (N, 3), half_length (N,), radius (N,)."""

    def enlarge_to(self, room: Floats) -> Bools:
        """Enlarge cylinders whose radius or half length is less than a size (N,), and return which."""
        is_smaller = np.minimum(self.radius, self.half_length) < room
        for values in (self.radius, self.half_length):
            values[is_smaller] = np.maximum(values, room)[is_smaller]
        return np.asarray(is_smaller)

    def at(self, offset: Floats) -> Cylinder:
        """Cylinders (N,) moved by offsets (N, 3)."""
        return Cylinder.unchecked(self.center + offset, self.axis, self.half_length, self.radius)


def moved_arrays(shape: DrawnShape, count: int) -> MovedArrays:
    """Arrays for `count` shapes of one kind; a sphere tree is one sphere per leaf.

    Raises ValueError for a kind of shape that is unknown, that is fitted again instead of moved, or that can
    neither be scanned nor shown.
    """
    if shape in ("capsule", "cylinder"):
        kind = CapsuleArrays if shape == "capsule" else CylinderArrays
        along_z = np.tile([0.0, 0.0, 1.0], (count, 1))
        return kind(np.zeros((count, 3)), along_z, np.zeros(count), np.zeros(count))
    tested_as = shape_kind(shape).tested_as
    if tested_as is Sphere:
        return SphereArrays(np.zeros((count, 3)), np.zeros(count))
    if tested_as is Obb:
        return ObbArrays(np.zeros((count, 3)), np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1)))
    raise ValueError(f"shape {shape!r} cannot be moved: it is fitted again, or neither scanned nor shown")


def product_of_matrices(first: Floats, second: Floats) -> Floats:
    """Products (m, 3, 3) of two arrays of matrices (m, 3, 3)."""
    # On arrays (3, 3, m), because NumPy multiplies long rows many times faster than small matrices.
    product = np.einsum(
        "ijn,jkn->ikn",
        np.ascontiguousarray(first.transpose(1, 2, 0)),
        np.ascontiguousarray(second.transpose(1, 2, 0)),
    )
    return np.asarray(product.transpose(2, 0, 1))


def uniform_scale_and_residual(linear: Floats) -> tuple[Floats, Floats]:
    """Find the best uniform scale of linear maps, and how far they are from a rotation with that scale.

    A map with a residual below 1e-4 is a rotation with uniform scale, up to the rounding of its matrix.

    Parameters
    ----------
    linear : (m, 3, 3) float64
        Linear maps, finite or not.

    Returns
    -------
    scale : (m,) float64
    residual : (m,) float64
        Frobenius norm of M M^T / scale^2 - I. It is infinite for mirrored and singular maps.
    """
    m = np.ascontiguousarray(linear.transpose(1, 2, 0))
    gram = np.einsum("kin,kjn->ijn", m, m)
    squared = (gram[0, 0] + gram[1, 1] + gram[2, 2]) / 3
    with np.errstate(divide="ignore", invalid="ignore"):
        off = gram / squared - np.eye(3)[..., None]
    residual = np.sqrt(np.einsum("ijn,ijn->n", off, off))
    minors = [m[1, (k + 1) % 3] * m[2, (k + 2) % 3] - m[1, (k + 2) % 3] * m[2, (k + 1) % 3] for k in range(3)]
    determinant = m[0, 0] * minors[0] + m[0, 1] * minors[1] + m[0, 2] * minors[2]
    # Mirrored and singular maps are no rotations, so whatever they move is fitted again.
    is_proper = np.isfinite(residual) & (determinant > 0)
    return np.sqrt(squared), np.where(is_proper, residual, np.inf)


def nearest_rotation(linear: Floats) -> Floats:
    """Rotations nearest to maps (m, 3, 3) whose residual is below 1e-4 (Newton's method, polar factor)."""
    r = np.ascontiguousarray(linear.transpose(1, 2, 0))
    # Each step squares the error: 1e-4, then 1e-8, then below the rounding.
    for _ in range(2):
        r = 1.5 * r - 0.5 * np.einsum("ijn,jkn->ikn", np.einsum("ijn,kjn->ikn", r, r), r)
    return r.transpose(2, 0, 1)
