"""Columns of numbers of fitted shapes, which are moved and grown in place by linear maps, and the lines of
shapes with an axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...core import Aabb, Capsule, EmptyGeometryError, Shape, Sphere
from ...core.fitting.axial import capsule_along
from ...core.numeric.arrays import Bools, Floats, Ints, length, normalized, rotation_matrix, transform_vectors
from ...core.shapes import stacked
from ..blender.mesh_data import decompose_matrices
from ..settings import DrawnShape
from .searches import fit_axial, in_own_frame, own_rotation

Rows: TypeAlias = Ints | slice

Fields: TypeAlias = dict[str, Floats]
"""Fields (N, ...) of N shapes of one class, which are volumes, by their names, in the order of the class."""

MAX_RESIDUAL = 1e-4
"""Largest residual of a motion for which a fit is moved instead of made again."""

_THIN = 0.2
"""Determinant, relative to the size, up to which a linear map counts as nearly flat."""

AT_REST = {"rotation": np.eye(3), "axis": np.array([0.0, 0.0, 1.0])}
"""Values of fields before the first fit; zeros for the others."""

PLACES = frozenset({"center", "min", "max"})
"""Fields that are positions."""

_NO_SIZES = PLACES | AT_REST.keys()
"""Fields that are no sizes."""


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


def put_shapes(fields: Fields, rows: Rows, shape: Shape) -> None:
    """Replace the shapes at rows (k,) by a batch (k,)."""
    for name, column in fields.items():
        column[rows] = getattr(shape, name)


def are_vanishing(kind: Any, fields: Fields, padding: Floats) -> Bools:
    """Return which shapes (N,) of a class have no size left with a padding (N,)."""
    grown = kind._grown(fields, padding)
    if kind is Aabb:
        return np.asarray((grown["min"] > grown["max"]).any(axis=1))
    sizes = (grown[name].reshape(len(padding), -1) for name in fields if name not in _NO_SIZES)
    return np.asarray((np.concatenate([*sizes], axis=1) < 0).any(axis=1))


def move_shapes(kind: Any, fields: Fields, rows: Rows, motions: Motions) -> None:
    """Rotate and scale the shapes of a class at rows (k,) by motions (k,) that nearly are similarities.

    The shapes grow by what the maps lack of a similarity, and by their error, so that all points stay inside.
    """
    scale = motions.scale
    fields["center"][rows] = center = transform_vectors(motions.linear, fields["center"][rows])
    sizes = {name: values[rows] for name, values in fields.items() if name not in _NO_SIZES}
    slack = 1e-15 * length(center)
    if "axis" in fields:
        fields["axis"][rows] = normalized(transform_vectors(motions.linear, fields["axis"][rows]))
    if "rotation" in fields:
        turned = matrix_products(motions.linear, fields["rotation"][rows]) / scale[:, None, None]
        r = np.ascontiguousarray(turned.transpose(1, 2, 0))
        # The nearest rotation, by Newton's method for the polar factor. Each step squares the error:
        # 1e-4, then 1e-8, then below the rounding.
        for _ in range(2):
            r = 1.5 * r - 0.5 * np.einsum("ijn,jkn->ikn", np.einsum("ijn,kjn->ikn", r, r), r)
        fields["rotation"][rows] = r.transpose(2, 0, 1)
    if kind is not Sphere:
        # What is perpendicular to an axis is not quite perpendicular to its image.
        reach = sum(size if size.ndim == 1 else length(size) for size in sizes.values())
        slack = 2 * motions.residual * reach * scale + 1e-14 * length(center)
    is_grown = kind.grown_by_padding
    stretched = {
        name: (size.T * motions.stretch + (0.0 if name in is_grown else slack)).T
        for name, size in sizes.items()
    }
    for name, size in kind._grown(stretched, slack + motions.error).items():
        fields[name][rows] = size


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


_STEP = 2.0**-40
"""Part of the largest number to which linear maps without their rotation are rounded.

Removing a rotation leaves rounding errors, which would differ at each frame, and each subject would be fitted
again.
"""


def without_pose(matrices: Floats) -> Floats:
    """World matrices (m, 4, 4) without their rotation and translation."""
    placements, _ = decompose_matrices(matrices)
    turns = rotation_matrix(placements.rotation)
    linear = np.einsum("mji,mjk->mik", turns, matrices[:, :3, :3])
    size = np.abs(linear).max(axis=(1, 2), initial=0.0)[:, None, None]
    step = _STEP * np.exp2(np.ceil(np.log2(np.where(size > 0, size, 1.0))))
    result = np.tile(np.eye(4), (len(matrices), 1, 1))
    result[:, :3, :3] = np.rint(linear / step) * step
    return result


class PosedVertices(NamedTuple):
    """Vertices of subjects, and the maps under which they are fitted.

    subjects : (m,) int. Indices of the subjects.
    points : sequence of m (n, 3) float32. Vertices of each in object space.
    linear : (m, 3, 3) float64. Linear parts of their matrices.
    """

    subjects: Ints
    points: Sequence[NDArray[np.float32]]
    linear: Floats

    def take(self, entries: Sequence[int] | Ints) -> PosedVertices:
        """Select entries (k,)."""
        return PosedVertices(self.subjects[entries], [self.points[k] for k in entries], self.linear[entries])


class Line(NamedTuple):
    """Axis (3,) of a subject in its space, and a point (3,) of the line of a capsule: its search takes a
    hundred times as long as a fit along a line.
    """

    axis: Floats
    point: Floats | None = None


def fit_along_lines(shape: DrawnShape, every: PosedVertices, radii: Floats, lines: dict[int, Line]) -> Shape:
    """Fit shapes with an axis to subjects under the linear parts of their matrices, around their origins.

    A subject with a line keeps its axis: other axes at each sample would not turn with the subject, and the
    shape in between would be wrong.

    radii : (m,) float64. Radii of balls around the vertices, in object space.
    lines : By subject. Lines that are found are added, unless a map is singular.
    Returns shapes : Capsule or Cylinder, batch (m,), without padding
    Raises EmptyGeometryError, NonFiniteGeometryError
    """
    known: dict[bytes, tuple[Floats, Any]] = {}
    fitted = []
    for index, (subject, vertices, matrix) in enumerate(zip(*every, strict=True)):
        if not len(vertices):
            raise EmptyGeometryError("no points")
        line = lines.get(subject)
        axis = None if line is None else matrix @ line.axis
        if axis is not None and not axis.any():
            axis = None  # a map flattens it
        if line is not None and line.point is not None and axis is not None:
            moved = transform_vectors(matrix, vertices.astype(np.float64))
            fit: Any = capsule_along(moved, axis, matrix @ line.point)
        else:
            if axis is None:
                # The search for an axis takes long, so subjects with the same vertices share its result.
                key = vertices.tobytes()
                fit = _moved(known.get(key), matrix) or _fit_once(shape, vertices, matrix, None)
                known.setdefault(key, (matrix, fit))
            else:
                fit = _fit_once(shape, vertices, matrix, axis)
            if np.linalg.matrix_rank(matrix) == 3:
                in_subject = line.axis if line else np.linalg.solve(matrix, fit.axis).astype(np.float64)
                is_capsule = isinstance(fit, Capsule)
                point = np.linalg.solve(matrix, fit.center).astype(np.float64) if is_capsule else None
                lines[subject] = Line(in_subject, point)
        growth = float(radii[index]) * float(np.linalg.norm(matrix, 2)) if radii[index] else 0.0
        fitted.append(fit.padded(growth) if growth else fit)
    together: Shape = stacked(fitted)
    return together


def _fit_once(shape: DrawnShape, vertices: NDArray[np.float32], matrix: Floats, axis: Floats | None) -> Any:
    """Fit a shape to the images of vertices (n, 3) under a map (3, 3), along an axis if given.

    In the subject's own frame, as for documents: the search ends elsewhere in a frame that is turned.
    """
    local = transform_vectors(in_own_frame(matrix), vertices.astype(np.float64))
    turn = np.eye(4)
    turn[:3, :3] = own_rotation(matrix)
    direction = None if axis is None else axis @ turn[:3, :3]
    return fit_axial(shape, vertices, matrix, local, direction).transformed(turn)


def _moved(fit: tuple[Floats, Any] | None, matrix: Floats) -> Any:
    """Bring a fit, under a map (3, 3), to another map; None if that changes the form of the vertices."""
    if fit is None or np.linalg.matrix_rank(fit[0]) < 3:
        return None
    motion = np.eye(4)
    motion[:3, :3] = matrix @ np.linalg.inv(fit[0])
    residual = uniform_scale_and_residual(motion[None, :3, :3])[1][0]
    return fit[1].transformed(motion) if residual < MAX_RESIDUAL else None
