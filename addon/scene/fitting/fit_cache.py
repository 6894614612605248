"""Fits of many subjects, made once and then brought to the subjects' matrices: what all kinds share.

They are kept in columns that are moved and grown in place, by linear maps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...core import Aabb, CollisionBoundsError, Shape, Sphere
from ...core.numeric.arrays import (
    Bools,
    Floats,
    Ints,
    dot,
    length,
    normalized,
    rotation_matrix,
    transform_vectors,
)
from ..blender.mesh_data import Geometry, decompose_matrices
from ..settings import FitSettings
from .fit import PartVertices, padded, padding_error

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

    def __init__(self, kind: Any, count: int) -> None:
        """Make room for `count` shapes."""
        self.kind = kind
        self.fields: dict[str, Floats] = {
            name: np.array(np.broadcast_to(_AT_REST.get(name, 0.0), (count, *tail)))
            for name, tail in kind.field_shapes.items()
        }
        self.has_rotation = "rotation" in self.fields
        self._sizes = [name for name in self.fields if name not in (*_PLACES, *_AT_REST)]

    def take(self, rows: Rows) -> FitColumns:
        """Copy the shapes at rows (k,)."""
        result = copy(self)
        result.fields = {name: values[rows] for name, values in self.fields.items()}
        return result

    def put(self, rows: Rows, shape: Shape) -> None:
        """Replace the shapes at rows (k,) by a batch (k,)."""
        for name, column in self.fields.items():
            column[rows] = getattr(shape, name)

    def enlarge_to(self, room: Floats) -> Bools:
        """Enlarge shapes that a half size (N,) of padding makes vanish, and return which these were."""
        is_smaller = np.zeros(len(room), dtype=bool)
        if self.kind is Aabb:
            low, high = self.fields.values()
            is_smaller |= ((high - low) / 2 < room[:, None]).any(axis=1)
            low[is_smaller], high[is_smaller] = -2 * room[is_smaller, None], 2 * room[is_smaller, None]
            return is_smaller
        sizes = {name: self.fields[name] for name in self._sizes}
        for size in self.kind._grown(sizes, -room).values():
            is_smaller |= (size.reshape(len(room), -1) < 0).any(axis=1)
        for size in sizes.values():
            size.T[..., is_smaller] = 4 * room[is_smaller]
        return is_smaller

    def move(self, rows: Rows, motions: Motions) -> None:
        """Rotate and scale the shapes at rows (k,) by motions (k,) that nearly are similarities.

        The shapes grow by what the maps lack of a similarity, so that all points stay inside.
        """
        fields, scale = self.fields, motions.scale
        fields["center"][rows] = center = transform_vectors(motions.linear, fields["center"][rows])
        slack, sizes = 1e-15 * length(center), {name: fields[name][rows] for name in self._sizes}
        if "axis" in fields:
            fields["axis"][rows] = normalized(transform_vectors(motions.linear, fields["axis"][rows]))
        if self.has_rotation:
            turned = matrix_products(motions.linear, fields["rotation"][rows]) / scale[:, None, None]
            fields["rotation"][rows] = nearest_rotation(turned)
        if self.kind is not Sphere:
            # What is perpendicular to an axis is not quite perpendicular to its image.
            reach = sum(size if size.ndim == 1 else length(size) for size in sizes.values())
            slack = 2 * motions.residual * reach * scale + 1e-14 * length(center)
        is_grown = self.kind.grown_by_padding
        stretched = {
            name: (size.T * motions.stretch + (0.0 if name in is_grown else slack)).T
            for name, size in sizes.items()
        }
        for name, size in self.kind._grown(stretched, slack).items():
            fields[name][rows] = size

    def grow(self, rows: Rows, amounts: Floats) -> None:
        """Move all surfaces of the shapes at rows (k,) outward by amounts (k,)."""
        sizes = {name: self.fields[name][rows] for name in self._sizes}
        for name, size in self.kind._grown(sizes, amounts).items():
            self.fields[name][rows] = size


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


_LEAST_SIZE = 1e-30
"""Scale of a matrix in single precision down to which all its digits count."""
_THINNEST = 1e-4
"""Second largest scale of a matrix, relative to the largest, from which on turns follow from it."""

_STEP = 2.0**-40
"""Part of the largest number to which linear maps without their rotation are rounded.

Removing a rotation leaves rounding errors, which would differ at each frame, and each subject would be fitted
again.
"""

_Value = TypeVar("_Value")
Errors: TypeAlias = dict[int, CollisionBoundsError]


class FoundBefore(dict[int, _Value], Generic[_Value]):
    """Results of searches for each subject, which later fits use again; `restart` returns to those kept."""

    _kept: dict[int, _Value] | None = None

    def keep(self) -> None:
        """Keep everything as it is now."""
        self._kept = dict(self)

    def restart(self) -> None:
        """Return to what was kept, if anything was."""
        if self._kept is not None:
            self.clear()
            self.update(self._kept)


class SkinBoxes(NamedTuple):
    """World boxes of some of the rows of a batch.

    rows : (k,) int64. Increasing.
    low, high : (k, 3) float64. Minima and maxima.
    """

    rows: Ints
    low: Floats
    high: Floats


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


class FitCache(ABC):
    """Shapes of subjects 0 to n - 1, each with one part, a part for each of its groups of vertices, or none.

    is_fitted : (n,) bool. Whether each subject has a fit.
    owners : (N,) int. Subject that each part belongs to.
    has_parts : Whether any subject may have more or fewer parts than one.
    are_parts_alone : Whether `fit` can fit some parts of a subject alone: nothing that it finds is shared
        between them.
    in_own_frames : Whether `shapes_at` returns shapes in the frames of the subjects, as `local` ones of
        documents: world matrices without scale and shear. All vertices are inside, but for rounding errors of
        1e-12 of their distance from the origin.
    """

    has_parts = False
    are_parts_alone = False
    in_own_frames = False

    def __init__(self, settings: Sequence[FitSettings], owners: Ints, columns: FitColumns) -> None:
        """Make room for the fits of subjects with settings, as `new_fits`."""
        count = len(settings)
        self._padding = np.array([each.padding for each in settings], dtype=np.float64)
        self._points: dict[int, NDArray[np.float32]] = {}
        self._radii = np.zeros(count)
        # Subjects that are fitted again, whatever their next vertices are.
        self._outdated: set[int] = set()
        self.is_fitted: Bools = np.zeros(count, dtype=bool)
        # Linear parts of the matrices at which the subjects were fitted.
        self._linear = np.zeros((count, 3, 3))
        self.owners, self._columns = owners, columns
        self._counts = np.bincount(owners, minlength=count)
        self._found: tuple[FoundBefore[Any], ...] = ()

    @abstractmethod
    def _fit(self, vertices: PosedVertices, errors: Errors, is_wanted: Bools | None) -> None:
        """Fit shapes around the origins of subjects; see `fit`. Adds to `errors`."""

    @abstractmethod
    def _follow(
        self, columns: FitColumns, subjects: Ints, linear: Floats, changed: Ints, errors: Errors
    ) -> None:
        """Bring shapes of subjects (m,) to linear maps (m, 3, 3); those at `changed` (k,) differ."""

    def _rows(self, subjects: Ints) -> Ints:
        """Rows of all parts of subjects (m,), in their order."""
        return subjects

    def by_part(self) -> FitCache:
        """Fits of all parts as they are now, each as the only part of a subject.

        They can be moved to matrices which differ from those of the fit by a rotation and a uniform scale.
        """
        return self

    def is_fitted_to(self, index: int, points: NDArray[np.float32]) -> bool:
        """Return whether a subject has been fitted to these vertices (k, 3)."""
        known = self._points.get(index)
        return (
            index not in self._outdated
            and known is not None
            and (known is points or np.array_equal(known, points))
        )

    def keep_frames(self) -> None:
        """Keep the axes and the groups of vertices of all subjects as they are now, for `restart`."""
        for found in self._found:
            found.keep()

    def restart(self, subjects: Iterable[int]) -> None:
        """Fit some subjects again to the vertices that come next, with the axes and groups that were kept."""
        self._outdated.update(subjects)
        for found in self._found:
            found.restart()

    @property
    def has_orientation(self) -> Bools:
        """Mask (n,) of subjects whose turns follow from their matrices.

        Not those that scales of nearly 0 make a line or a point, or whose matrices lost their precision.
        """
        linear = np.where(np.isfinite(self._linear), self._linear, 0.0)
        sizes = np.linalg.svd(linear, compute_uv=False)
        return np.asarray((sizes[:, 0] >= _LEAST_SIZE) & (sizes[:, 1] >= _THINNEST * sizes[:, 0]))

    @property
    def turns_with_subject(self) -> Bools:
        """Mask (n,) of subjects whose shapes turn with them: not boxes along the world's axes."""
        return np.zeros(len(self.is_fitted), dtype=bool)

    def reach_and_counts(self) -> tuple[Floats, Ints]:
        """Largest distance (n,) of each subject's vertices from its origin, and numbers (n,) of vertices."""
        reach, counts = np.zeros(len(self.is_fitted)), np.zeros(len(self.is_fitted), dtype=np.int64)
        for index, points in self._points.items():
            precise = points.astype(np.float64)
            reach[index], counts[index] = np.sqrt(dot(precise, precise).max(initial=0)), len(points)
        return reach, counts

    def kinks(self, subjects: Ints, reach: Floats, begin: Floats, end: Floats) -> Floats:
        """Bound how far the sides of boxes of subjects (m,) along the world's axes are from linear motion.

        All vertices move linearly between linear maps (m, 3, 3), and another one becomes the outermost. They
        have no radius: subjects with custom shapes are not known.

        reach : (m,) as `reach_and_counts` returns it
        """
        raise TypeError("only boxes along the world's axes have kinks")

    def set_axis(self, subject: int, axis: Floats) -> None:  # noqa: B027  # as a rule there is none
        """Set the axis (3,) of a capsule or cylinder that was not fitted yet, in the space of its subject.

        Other subjects have the axis of the smallest one, and other shapes have none.
        """

    def set_padding(self, subject: int, padding: float) -> None:
        """Set the padding of one subject, from now on."""
        self._padding[subject] = padding

    @property
    def is_padding_negative(self) -> bool:
        """True if shapes may vanish by their padding."""
        return bool(np.min(self._padding, initial=0.0) < 0)

    def set_triangles(
        self,
        subject: int,
        points: NDArray[np.float32],
        triangles: NDArray[np.int32],
        faces: NDArray[np.int32] | None,
    ) -> None:
        """Group the vertices of one subject again, for its next fit; its number of parts stays.

        subject : Index of the subject.
        points, triangles, faces : As for `leaf_vertices`.
        """
        raise TypeError("only sphere trees and compounds have parts")

    def groups_of(self, subject: int) -> PartVertices:
        """Return the groups of vertices of a subject with several parts."""
        raise TypeError("only sphere trees and compounds have parts")

    def fit(
        self, subjects: Sequence[int], geometries: Sequence[Geometry], is_wanted: Bools | None = None
    ) -> Errors:
        """Fit subjects again.

        subjects : Indices of the subjects, each once.
        geometries : Vertices and matrix of each of them.
        is_wanted : (N,) bool, optional. Parts to fit, of all subjects. The others mean nothing until all
            are fitted again.
        Returns errors : dict. Error of each subject that cannot be fitted. Such a subject has no fit any
            more.
        """
        linear = np.array([geometry.matrix[:3, :3] for geometry in geometries]).reshape(-1, 3, 3)
        points = [geometry.points for geometry in geometries]
        index = np.array(subjects, dtype=np.int64)
        self._radii[index] = [geometry.radius for geometry in geometries]
        errors: Errors = {}
        if is_wanted is not None and self.are_parts_alone:
            self._outdated.update(subjects)
        else:
            is_wanted = None
            self._outdated.difference_update(subjects)
        self._fit(PosedVertices(index, points, linear), errors, is_wanted)
        self._points.update(zip(subjects, points, strict=True))
        self._linear[index] = linear
        self.is_fitted[index] = True
        for subject in errors:
            del self._points[subject]
            self.is_fitted[subject] = False
        return errors

    def shapes_at(
        self, subjects: Ints, matrices: Floats, replaced: SkinBoxes | None = None
    ) -> tuple[Shape, Errors]:
        """Move the fits of subjects to their matrices, padding included.

        All vertices are inside. Subjects are fitted again where a fit cannot be moved.

        subjects : (m,) int. Indices of subjects; the same one may occur at several matrices.
        matrices : (m, 4, 4) float64. World matrices.
        replaced : World boxes of those subjects that are bent, among boxes along the world's axes.
        Returns shapes : Shape. One per part, in the order of `subjects`.
        Returns errors : dict. Error of each subject that cannot be fitted at its matrix; its shapes mean
            nothing.
        """
        if self.in_own_frames:
            assert replaced is None, "boxes of bent meshes are along the world's axes"
            matrices = _without_pose(matrices)
        linear, offset = matrices[:, :3, :3], matrices[:, :3, 3]
        differs = linear != self._linear[subjects]
        rows = self._rows(subjects) if self.has_parts else subjects
        columns = self._columns.take(rows)
        errors: Errors = {}
        if replaced is not None:
            differs[replaced.rows] = False
        if differs.any():
            changed = np.flatnonzero(differs.any(axis=(1, 2)) & self.is_fitted[subjects])
            if len(changed):
                self._follow(columns, subjects, linear, changed, errors)
        if replaced is not None:
            columns.fields["min"][replaced.rows] = replaced.low - offset[replaced.rows]
            columns.fields["max"][replaced.rows] = replaced.high - offset[replaced.rows]
        owners = subjects
        if self.has_parts:
            owners = subjects.repeat(self._counts[subjects])
            offset = offset.repeat(self._counts[subjects], axis=0)
        padding = self._padding[owners]
        if (padding < 0).any():
            is_lost = columns.enlarge_to(np.maximum(-padding, 0.0))
            for subject, amount in zip(owners[is_lost].tolist(), padding[is_lost], strict=True):
                errors.setdefault(subject, padding_error(amount))
        shapes: Shape = columns.kind.unchecked(
            *(each + offset if name in _PLACES else each for name, each in columns.fields.items())
        )
        return (padded(shapes, padding) if padding.any() else shapes), errors


def _without_pose(matrices: Floats) -> Floats:
    """World matrices (m, 4, 4) without their rotation and translation."""
    placements, _ = decompose_matrices(matrices)
    turns = rotation_matrix(placements.rotation)
    linear = np.einsum("mji,mjk->mik", turns, matrices[:, :3, :3])
    size = np.abs(linear).max(axis=(1, 2), initial=0.0)[:, None, None]
    step = _STEP * np.exp2(np.ceil(np.log2(np.where(size > 0, size, 1.0))))
    result = np.tile(np.eye(4), (len(matrices), 1, 1))
    result[:, :3, :3] = np.rint(linear / step) * step
    return result
