"""Columns of fitted shapes that are moved and grown in place, and the linear maps that move them."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...core import Aabb, Shape, Sphere
from ...core.numeric.arrays import Bools, Floats, Ints, length, normalized, transform_vectors

Rows: TypeAlias = Ints | slice

MAX_RESIDUAL = 1e-4
"""Largest residual of a motion for which a fit is moved instead of made again."""

_THIN = 0.2
"""Determinant, relative to the size, up to which a linear map counts as nearly flat."""

_AT_REST = {"rotation": np.eye(3), "axis": np.array([0.0, 0.0, 1.0])}
"""Values of columns before the first fit; zeros for the others."""

_PLACES = frozenset({"center", "min", "max"})
"""Fields that are positions."""


class Motions(NamedTuple):
    """Linear maps that move fits.

    linear : (m, 3, 3) float64
    scale, residual : (m,) float64. See `uniform_scale_and_residual`.
    stretch : (m,) float64. Factors by which the maps lengthen vectors at most.
    error : (m,) float64. Largest distance of an image from where a point should be, of nearly flat objects.
    """

    linear: Floats
    scale: Floats
    residual: Floats
    stretch: Floats
    error: Floats


class FitColumns:
    """Fields of N shapes of one class, which are volumes.

    kind : Class of the shapes.
    fields : By their names, in the order of the fields of the class. (N, ...) float64
    has_rotation : Whether the shapes are boxes whose axes rotate with a subject.
    """

    def __init__(self, kind: type[Any], fields: dict[str, Floats]) -> None:
        self.kind, self.fields = kind, fields
        self.has_rotation = "rotation" in fields
        # The sizes that padding changes, and the others.
        self._grown = list(kind.grown_by_padding)
        self._lengths = [name for name in fields if name not in (*_PLACES, *_AT_REST)]

    @classmethod
    def room(cls, kind: Any, count: int) -> FitColumns:
        """Make room for `count` shapes."""
        return cls(
            kind,
            {
                name: np.array(np.broadcast_to(_AT_REST.get(name, 0.0), (count, *tail)))
                for name, tail in kind.field_shapes.items()
            },
        )

    def take(self, rows: Rows) -> FitColumns:
        """Copy the shapes at rows (k,)."""
        return FitColumns(self.kind, {name: values[rows] for name, values in self.fields.items()})

    def put(self, rows: Rows, shape: Shape) -> None:
        """Replace the shapes at rows (k,) by a batch (k,)."""
        for name, column in self.fields.items():
            column[rows] = getattr(shape, name)

    def at(self, offset: Floats) -> Any:
        """Shapes (N,) moved by offsets (N, 3)."""
        fields = self.fields.items()
        return self.kind.unchecked(*(each + offset if name in _PLACES else each for name, each in fields))

    def enlarge_to(self, room: Floats) -> Bools:
        """Enlarge shapes that a half size (N,) of padding makes vanish, and return which these were."""
        is_smaller = np.zeros(len(room), dtype=bool)
        if self.kind is Aabb:
            low, high = self.fields.values()
            is_smaller |= ((high - low) / 2 < room[:, None]).any(axis=1)
            low[is_smaller], high[is_smaller] = -2 * room[is_smaller, None], 2 * room[is_smaller, None]
            return is_smaller
        sizes = [self.fields[name].reshape(len(room), -1) for name in self._grown]
        for size in sizes:
            is_smaller |= (size < room[:, None]).any(axis=1)
        for size in sizes:
            size[is_smaller] = np.maximum(size, room[:, None])[is_smaller]
        return is_smaller

    def move(self, rows: Rows, motions: Motions) -> None:
        """Rotate and scale the shapes at rows (k,) by motions (k,) that nearly are similarities.

        The shapes grow by what the maps lack of a similarity, so that all points stay inside.
        """
        fields, scale = self.fields, motions.scale
        fields["center"][rows] = center = transform_vectors(motions.linear, fields["center"][rows])
        slack, sizes = 1e-15 * length(center), [fields[name][rows] for name in self._lengths]
        if "axis" in fields:
            fields["axis"][rows] = normalized(transform_vectors(motions.linear, fields["axis"][rows]))
        if self.has_rotation:
            turned = matrix_products(motions.linear, fields["rotation"][rows]) / scale[:, None, None]
            fields["rotation"][rows] = nearest_rotation(turned)
        if self.kind is not Sphere:
            # What is perpendicular to an axis is not quite perpendicular to its image.
            reach = sum(size if size.ndim == 1 else length(size) for size in sizes)
            slack = 2 * motions.residual * reach * scale + 1e-14 * length(center)
        for name, size in zip(self._lengths, sizes, strict=True):
            fields[name][rows] = (size.T * motions.stretch + slack).T

    def grow(self, rows: Rows, amounts: Floats) -> None:
        """Move all surfaces of the shapes at rows (k,) outward by amounts (k,)."""
        for name in self._grown:
            self.fields[name].T[..., rows] += amounts


def matrix_products(first: Floats, second: Floats) -> Floats:
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

    linear : (m, 3, 3) float64. Linear maps, finite or not.
    Returns scale : (m,) float64
    Returns residual : (m,) float64. Frobenius norm of M M^T / scale^2 - I. It is infinite for mirrored and
        singular maps.
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


def inverses_or_zeros(linear: Floats) -> Floats:
    """Inverses of linear maps (m, 3, 3); zeros for singular ones."""
    result = np.zeros_like(linear)
    with np.errstate(all="ignore"):
        determinant = np.linalg.det(linear)
        invertible = np.isfinite(determinant) & (determinant != 0)
        result[invertible] = np.linalg.inv(linear[invertible])
    result[~np.isfinite(result).all(axis=(1, 2))] = 0.0
    return result


def are_nearly_flat(linear: Floats) -> Bools:
    """Mask (m,) of linear maps (m, 3, 3) whose images are flat or thin."""
    size = np.sqrt((linear * linear).sum(axis=(1, 2)) / 3)
    with np.errstate(all="ignore"):
        return np.asarray(np.isfinite(size) & (np.abs(np.linalg.det(linear)) <= _THIN * size**3))


def rotations_of_flat(fitted: Floats, linear: Floats) -> tuple[Floats, Floats]:
    """Find the rotations (m, 3, 3) that carry nearly flat maps (m, 3, 3) to others (Kabsch's method).

    Also returns how far (m,) the images of points at a distance of 1 from the origin are from these; infinite
    where it is no rotation.
    """
    rotations, deviations = np.tile(np.eye(3), (len(linear), 1, 1)), np.full(len(linear), np.inf)
    size = np.sqrt((linear * linear).sum(axis=(1, 2)))
    rows = np.flatnonzero(np.isfinite(size))
    left, _, right = np.linalg.svd(linear[rows] @ fitted[rows].transpose(0, 2, 1))
    # Without a mirror image: a flat object does not show which of both it is.
    left[:, :, 2] *= np.where(np.linalg.det(left @ right) < 0, -1, 1)[:, None]
    rotations[rows] = left @ right
    difference = linear[rows] - rotations[rows] @ fitted[rows]
    of_unit = np.sqrt((difference * difference).sum(axis=(1, 2)))
    is_near = of_unit <= MAX_RESIDUAL * size[rows]
    deviations[rows[is_near]] = of_unit[is_near]
    return rotations, deviations
