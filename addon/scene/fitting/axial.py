"""Capsules and cylinders of subjects around their origins, each along an axis that turns with its subject."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core import Capsule, Cylinder, EmptyGeometryError, Shape, capsule_from_points, cylinder_from_points
from ...core.fitting.axial import axial_around, capsule_along
from ...core.numeric.arrays import Floats, transform_vectors
from ...core.shapes import stacked
from ..settings import DrawnShape
from .fit import in_own_frame, own_rotation, points_for_search, rounded_frame
from .fit_cache import MAX_RESIDUAL, FoundBefore, PosedVertices, uniform_scale_and_residual
from .searches import search_key, searched

_FITS_TO_POINTS: dict[str, Callable[[Floats, Floats | None], Capsule | Cylinder]] = {
    "capsule": capsule_from_points,
    "cylinder": cylinder_from_points,
}


def fit_axial_to_points(shape: str, points: Floats, axis: Floats | None) -> Capsule | Cylinder:
    """Fit about the smallest shape to points (n, 3), along an axis (3,) if one is given."""
    return _FITS_TO_POINTS[shape](points, axis)


def fit_axial(
    shape: str, vertices: NDArray[Any], linear: Floats, local: Floats, axis: Floats | None
) -> Capsule | Cylinder:
    """Fit a capsule or cylinder to a subject, the same in scans and in documents.

    shape : "capsule" or "cylinder".
    vertices : (n, 3) float32 or float64. In object space.
    linear : (3, 3) float64. Linear part of the world matrix.
    local : (n, 3) float64. The vertices in the frame of the subject. All are inside.
    axis : (3,) float64, optional. Direction in the frame of the subject. If given, only lines in this
        direction are compared.
    """
    found = searched(
        search_key(shape, vertices, rounded_frame(linear), axis),
        lambda: fit_axial_to_points(shape, points_for_search(vertices, linear), axis),
    )
    return axial_around(found, local)


class _Line(NamedTuple):
    """Axis (3,) of a subject in its space, and a point (3,) of the line of a capsule: its search takes a
    hundred times as long as a fit along a line.
    """

    axis: Floats
    point: Floats | None = None


class AxialFits:
    """Fits of capsules or cylinders, and the lines of all subjects that were fitted.

    Other axes at each sample would not turn with the subject, and the shape in between would be wrong.
    """

    def __init__(self, shape: DrawnShape) -> None:
        self._shape = shape
        self.found: FoundBefore[_Line] = FoundBefore()

    def set_axis(self, subject: int, axis: Floats) -> None:
        """Set the axis (3,) of a subject that was not fitted yet, in its space."""
        self.found[subject] = _Line(axis)

    def fit(self, every: PosedVertices, radii: Floats | None) -> Shape:
        """Fit shapes to subjects under the linear parts of their matrices, without translation and padding.

        A subject that was fitted before keeps its axis.

        radii : (m,) float64, optional. Radii of balls around the vertices, in object space.
        Returns shapes : Capsule or Cylinder, batch (m,)
        Raises EmptyGeometryError, NonFiniteGeometryError
        """
        found: dict[bytes, tuple[Floats, Capsule | Cylinder]] = {}
        fitted = []
        for index, (subject, vertices, matrix) in enumerate(zip(*every, strict=True)):
            if not len(vertices):
                raise EmptyGeometryError("no points")
            line = self.found.get(subject)
            axis = None if line is None else matrix @ line.axis
            if axis is not None and not axis.any():
                axis = None  # a map flattens it
            if axis is not None and line.point is not None:
                moved = transform_vectors(matrix, vertices.astype(np.float64))
                shape: Capsule | Cylinder = capsule_along(moved, axis, matrix @ line.point)
            elif axis is None:
                # The search for an axis takes long, so subjects with the same vertices share its result.
                key = vertices.tobytes()
                shape = _moved(found.get(key), matrix) or self._fit_once(vertices, matrix, None)
                found.setdefault(key, (matrix, shape))
                self._keep_line(subject, matrix, shape)
            else:
                shape = self._fit_once(vertices, matrix, axis)
                self._keep_line(subject, matrix, shape)
            growth = 0.0 if radii is None else float(radii[index]) * float(np.linalg.norm(matrix, 2))
            fitted.append(shape.padded(growth) if growth else shape)
        return stacked(fitted)

    def _fit_once(
        self, vertices: NDArray[np.float32], matrix: Floats, axis: Floats | None
    ) -> Capsule | Cylinder:
        """Fit a shape to the images of vertices (n, 3) under a map (3, 3), along an axis if given.

        In the subject's own frame, as for documents: the search ends elsewhere in a frame that is turned.
        """
        local = transform_vectors(in_own_frame(matrix), vertices.astype(np.float64))
        turn = np.eye(4)
        turn[:3, :3] = own_rotation(matrix)
        direction = None if axis is None else axis @ turn[:3, :3]
        return fit_axial(self._shape, vertices, matrix, local, direction).transformed(turn)

    def _keep_line(self, subject: int, matrix: Floats, shape: Capsule | Cylinder) -> None:
        """Keep the line of a fit for later ones, unless the map (3, 3) is singular."""
        if np.linalg.matrix_rank(matrix) < 3:
            return
        known = self.found.get(subject)
        axis = known.axis if known else np.linalg.solve(matrix, shape.axis).astype(np.float64)
        point = None
        if isinstance(shape, Capsule):
            point = np.linalg.solve(matrix, shape.center).astype(np.float64)
        self.found[subject] = _Line(axis, point)


def _moved(fit: tuple[Floats, Capsule | Cylinder] | None, matrix: Floats) -> Capsule | Cylinder | None:
    """Bring a fit, under a map (3, 3), to another map; None if that changes the form of the vertices."""
    if fit is None or np.linalg.matrix_rank(fit[0]) < 3:
        return None
    motion = np.eye(4)
    motion[:3, :3] = matrix @ np.linalg.inv(fit[0])
    residual = uniform_scale_and_residual(motion[None, :3, :3])[1][0]
    return fit[1].transformed(motion) if residual < MAX_RESIDUAL else None
