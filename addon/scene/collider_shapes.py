"""From the vertices of one thing to the mesh of its collider, in the space of the object it is a child of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core import (
    InvalidShapeError,
    ball_surface,
    box_surface,
    capsule_from_points,
    capsule_surface,
    hull_from_points,
    sphere_from_points,
)
from ..core.arrays import Floats, require_finite
from ..core.surfaces import Faces
from ..formats.gltf_colliders import Turn, least_thickness, node_matrix, straightened
from .collider_names import ColliderKind
from .extraction import Geometry
from .fitting import FitSettings, nothing_left

_CORNERS = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
_UPRIGHT = (0.0, 0.0, 0.0, 1.0)
_EVEN = 1e-6
_SINGLE = float(np.finfo(np.float32).eps)


class ColliderMesh(NamedTuple):
    """A closed convex mesh.

    vertices : (v, 3), single-precision numbers
    faces : indices of polygons, counter-clockwise from outside
    turn : of the collider below what it stands for; None: it has the very same axes
    """

    vertices: Floats
    faces: Faces
    turn: Turn | None


def collider_mesh(geometry: Geometry, kind: ColliderKind, fit: FitSettings, most: int) -> ColliderMesh:
    """The collider around a thing's vertices, and the padding around that, which is in the world's unit.

    most : corners of a hull

    Vertices are in the thing's own space, so that a collider is scaled as the thing is. Where that would make
    no ball of a ball, or no right angles of a box's, the collider takes the scale back, and is turned where
    there is shear. Guarantee: no vertex of the thing is above any face.

    Raises CollisionBoundsError where there is none.
    """
    linear = geometry.matrix[:3, :3]
    turn = straightened(linear)
    lengths = 1 / np.abs(turn.scale)
    is_sheared = tuple(turn.rotation.tolist()) != _UPRIGHT
    is_even = bool(np.ptp(lengths) <= _EVEN * lengths.max())
    require_finite(geometry.points, "vertices")
    points: Floats = geometry.points.astype(np.float64)
    if kind == "hull":
        axes = node_matrix(np.zeros(3), turn.rotation, turn.scale)[:3, :3]
        surface = hull_from_points(swollen(points, axes, lengths, fit.padding), most)
        faces: Faces = tuple(map(tuple, surface.faces.tolist()))
        return ColliderMesh(surface.vertices, faces, None)
    slack = 0.0
    own_turn = None
    if is_sheared or not (is_even or kind == "box"):
        own_turn = turn
        axes = node_matrix(np.zeros(3), turn.rotation, turn.scale)[:3, :3]
        points = np.asarray(np.linalg.solve(axes, points.T).T, dtype=np.float64)
        # Blender multiplies both matrices in single precision, and makes turns of rounded quaternions,
        # no entry of which is surer than the largest.
        entries = np.tile(np.abs(turn.scale), (3, 1)) if is_sheared else np.abs(axes)
        unsure = float((np.abs(linear) @ entries).sum(axis=1).max())
        slack = 8 * _SINGLE * unsure * float(np.abs(points).max())
        lengths = np.ones(3)
    if kind == "box":
        return ColliderMesh(*_box(points, lengths, fit.padding, slack), own_turn)
    ball = geometry.radius * float(np.linalg.norm(linear, 2)) if geometry.radius else 0.0
    unit = float(lengths.min())
    more = slack + (ball + fit.padding) / unit
    if kind == "sphere":
        sphere = sphere_from_points(points, fit.method)
        radius = _not_flat(float(sphere.radius) + more, unit, fit)
        return ColliderMesh(*ball_surface(sphere.center, radius), own_turn)
    capsule = capsule_from_points(points)
    capsule = capsule._replace(
        radius=_not_flat(capsule.radius + more, unit, fit, capsule.end - capsule.start)
    )
    return ColliderMesh(*capsule_surface(capsule), own_turn)


def _box(points: Floats, lengths: Floats, padding: float, slack: float) -> tuple[Floats, Faces]:
    low, high = points.min(axis=0), points.max(axis=0)
    more = np.full(3, slack)
    if padding or slack:
        more += padding / lengths
        if (high - low + 2 * more < 0).any():
            raise nothing_left(padding)
    sides = (high - low + 2 * more) * lengths
    least = least_thickness(float(sides.max()))
    if (sides < least).any():
        more += np.maximum(least - sides, 0) / 2 / lengths
    if more.any():
        low, high = low - more, high + more
    return box_surface(low, high)


def _not_flat(radius: float, unit: float, fit: FitSettings, length: Floats | None = None) -> float:
    """A radius that is not zero, in a space where the world's unit is `unit`."""
    if radius < 0:
        raise nothing_left(fit.padding)
    largest = 2 * radius + (0.0 if length is None else float(length.max()))
    return max(radius, least_thickness(largest * unit) / unit / 2)


def swollen(points: Floats, axes: Floats, lengths: Floats, padding: float) -> Floats:
    """Points whose hull has a volume, and is larger than that of (n, 3) points by the padding.

    axes : (3, 3) columns one unit of the world long, at right angles there, in the space of the points
    lengths : (3,) of the points' own units in the world
    """
    if padding < 0:
        raise InvalidShapeError("a hull can't be made smaller: take a padding of 0 or more")
    single = float(np.spacing(np.float32(np.abs(points).max())))
    seen = np.linalg.solve(axes, (points - points.mean(axis=0)).T).T
    along = np.einsum("ni,ij->nj", seen, np.linalg.eigh(np.einsum("ni,nj->ij", seen, seen))[1])
    sides = np.ptp(along, axis=0)
    least = max(least_thickness(float(sides.max())), 16 * single * float(lengths.max()))
    if sides.min() < least:
        padding = max(padding, least / 2)
    elif padding:
        points = hull_from_points(points).vertices
    if not padding:
        return points
    return (points[:, None] + padding * _CORNERS @ axes.T).reshape(-1, 3)
