"""Results of searches that take long: axes of smallest boxes, and lines of shapes with an axis.

All subjects, jobs and frames of a session share these results, and those of `parts`: sphere trees, and convex
parts. Each is decided by the bits of the numbers in its key alone, so a result that is found here is the one
that a search would find. Those used least recently are dropped first.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...core import obb_from_points
from ...core.numeric.arrays import Floats, rotation_matrix, transform_vectors
from ..blender.mesh_data import UNPLACED, decompose_matrices
from ..errors import SceneError
from ..settings import SHAPE_KINDS, DrawnShape

_Result = TypeVar("_Result")

_MOST_BYTES = 64 << 20
_ENTRY_BYTES = 500
"""Memory of a key and of a small result."""

_known: OrderedDict[bytes, tuple[int, Any]] = OrderedDict()
_size = 0


def search_key(kind: str, *parts: Any) -> bytes:
    """Key of a search of one kind in arrays and numbers."""
    digest = hashlib.blake2b(kind.encode())
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(repr((part.dtype, part.shape)).encode() + part.tobytes())
        else:
            digest.update(repr(part).encode())
    return digest.digest()


def known_result(key: bytes) -> Any:
    """Return a result that is known; None if it is not."""
    if key not in _known:
        return None
    _known.move_to_end(key)
    return _known[key][1]


def store_result(key: bytes, result: _Result, size: int = 0) -> _Result:
    """Remember a result whose arrays have a size in bytes, and return it."""
    global _size
    _size += size + _ENTRY_BYTES - _known.pop(key, (0, None))[0]
    _known[key] = size + _ENTRY_BYTES, result
    while len(_known) > 1 and _size > _MOST_BYTES:
        _size -= _known.popitem(last=False)[1][0]
    return result


def searched(key: bytes, search: Callable[[], _Result], size: int = 0) -> _Result:
    """Return a result that is known, or search for it; an error is not remembered."""
    result: _Result | None = known_result(key)
    return store_result(key, search(), size) if result is None else result


def smallest_box_axes(points: NDArray[np.float32], linear: Floats) -> Floats:
    """Axes (3, 3), as columns, of about the smallest box around vertices, in the frame of their subject.

    points : (n, 3) float32
        In object space.
    linear : (3, 3) float64
        Linear part of the world matrix.

    Raises EmptyGeometryError, NonFiniteGeometryError and SceneError.
    """
    key = search_key("box", points, rounded_frame(linear))
    return searched(key, lambda: obb_from_points(points_for_search(points, linear)).rotation)


def fit_axial_to_points(shape: DrawnShape, points: Floats, axis: Floats | None) -> Any:
    """Fit about the smallest shape to points (n, 3), along an axis (3,) if one is given.

    Raises ValueError for a shape that has no axis.
    """
    fit = SHAPE_KINDS[shape].fit
    if fit is None:
        raise ValueError(f"shape {shape!r} has no axis")
    return fit(points, axis)


def fit_axial(
    shape: DrawnShape, vertices: NDArray[Any], linear: Floats, local: Floats, axis: Floats | None
) -> Any:
    """Fit a shape with an axis to a subject, the same in scans and in documents.

    shape : One of AXIAL_SHAPES.
    vertices : (n, 3) float32 or float64. In object space.
    linear : (3, 3) float64. Linear part of the world matrix.
    local : (n, 3) float64. The vertices in the frame of the subject. All are inside.
    axis : (3,) float64, optional. Direction in the frame of the subject. If given, only lines in this
        direction are compared.
    """
    key = search_key(shape, vertices, rounded_frame(linear), axis)
    found = searched(key, lambda: fit_axial_to_points(shape, points_for_search(vertices, linear), axis))
    return found._around(local)


_LOST = 1e-4
"""Length of the image of an axis, relative to the longest, up to which rounding may hide its direction."""
_SCALE_STEPS = 2.0**16
"""Steps of the numbers of a linear map for a search, in its largest number."""


def rounded_frame(linear: Floats) -> Floats:
    """Map (3, 3) of `in_own_frame` in steps, the same for any rotation. Raises SceneError."""
    frame = in_own_frame(linear)
    largest = float(np.abs(frame).max())
    step = 2.0 ** np.frexp(largest)[1] / _SCALE_STEPS
    return np.round(frame / step) * step + 0.0 if 0 < largest < np.inf else frame


def points_for_search(points: NDArray[Any], linear: Floats) -> Floats:
    """Vertices (n, 3) in about the frame of their subject, for searches whose result depends on each bit.

    Scans and documents search the axes of boxes and split triangles for sphere trees in these points, so
    that both find the same. The shapes are fitted to the exact points.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        return transform_vectors(rounded_frame(linear), points.astype(np.float64))


def in_own_frame(linear: Floats) -> Floats:
    """Map (3, 3) from object space to the frame of a subject: its scale and shear. Raises SceneError."""
    return np.asarray(own_rotation(linear).T @ linear)


def own_rotation(linear: Floats) -> Floats:
    """Rotation (3, 3) from the frame of a subject to the world. Raises SceneError."""
    return np.asarray(rotations_of(linear[None])[0])


def rotations_of(linear: Floats) -> Floats:
    """Rotations (g, 3, 3) of linear maps (g, 3, 3), as Blender decomposes them. Raises SceneError.

    Those of maps that flatten one axis are the limits of Blender's, which has another rotation there.
    """
    matrices = np.tile(np.eye(4), (len(linear), 1, 1))
    matrices[:, :3, :3] = linear
    lengths = np.sqrt((linear * linear).sum(axis=1))
    is_lost = lengths <= _LOST * lengths.max(axis=1, keepdims=True)
    rows = np.flatnonzero((is_lost.sum(axis=1) == 1) & np.isfinite(lengths).all(axis=1))
    if len(rows):
        # The axis that is mapped to nothing is mapped to the normal of the other two.
        axis = is_lost[rows].argmax(axis=1)
        first, second = (linear[rows, :, (axis + step) % 3] for step in (1, 2))
        matrices[rows, :3, axis] = np.cross(first, second) / lengths[rows].max(axis=1)[:, None]
    placements, is_valid = decompose_matrices(matrices)
    if not is_valid.all():
        raise SceneError(UNPLACED)
    return np.asarray(rotation_matrix(placements.rotation), dtype=np.float64)
