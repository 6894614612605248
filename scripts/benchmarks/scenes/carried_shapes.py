"""Distances of the shapes of a scan: those of its first frame, carried by the matrices that Blender shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addon.core import Capsule, Obb, Sphere
from addon.core.compound.convex_parts import Compound

from ..truth import (
    TOLERANCE,
    Floats,
    Gaps,
    between_frames,
    box_distance,
    capsule_distance,
    matrices_at,
    names_of,
    oriented_distance,
    part_gaps,
    sampled_frames,
    sphere_gaps,
    wrong_contacts,
)

_BETWEEN = 100
_ROUNDED = 1e-4
_OF_PARTS = 0.02
"""Tolerance of distances of parts, whose boxes a scan and bounds search again with other rounding."""


def wrong_scan(scene: Any, result: Any, is_linear: bool, frames: tuple[int, int]) -> str:
    """Describe the first wrong contact of rigid objects in a result, or a vertex outside of its shape.

    The sizes of the shapes are those of the result at its first frame. They must enclose the vertices there.
    Linear scans of shapes that turn are tested at whole frames; faces and centers of others are linear.
    """
    names = names_of(result)
    matrices = matrices_at(scene, names)
    points = _vertices(scene, names)
    shape, shaped = result.scanned.shape, _with_shapes(scene, result)
    listed = [] if shape == "aabb" else [_parts(entry, shape) for entry in shaped.objects]
    gaps, outside = _gaps(shape, listed, (matrices, matrices(frames[0])), points, is_linear)
    if outside > _ROUNDED:
        return f"a vertex is {outside:.3g} outside of its {shape}"
    is_straight = shape in ("aabb", "sphere") or not is_linear
    times = sampled_frames(*frames, _BETWEEN if is_straight else 0)
    tolerance = _OF_PARTS if shape == "compound" else TOLERANCE
    return wrong_contacts(result.report, len(names), gaps, times, not is_straight, tolerance)


def _vertices(scene: Any, names: list[str]) -> Floats:
    """Vertices (m, 3) of the mesh that all objects share, in its space."""
    mesh = scene.objects[names[0]].data
    return np.array([vertex.co for vertex in mesh.vertices], dtype=np.float64)


def _world(matrices: Floats, points: Floats) -> Floats:
    """Points (n, m, 3) of all objects in world space."""
    moved: Floats = np.einsum("mj,nij->nmi", points, matrices[:, :3, :3]) + matrices[:, None, :3, 3]
    return moved


def _with_shapes(scene: Any, result: Any) -> Any:
    """Return a result that has the tested shapes at the first frame: the scan, or bounds."""
    from addon.scene.jobs.bounds import compute_bounds
    from addon.scene.settings import BoundsSettings, FitSettings

    shape = result.scanned.shape
    if shape in ("aabb", "sphere", "obb"):
        return result
    settings = BoundsSettings(shapes=(shape,), fit=FitSettings(part_shape="box"), frame=result.time.start)
    return compute_bounds(scene, settings)


def _parts(entry: Any, shape: str) -> list[Any]:
    """Spheres, oriented boxes or capsules of an object at the first frame, in world space."""
    if shape == "compound":
        return next(list(each.parts) for each in entry.world if isinstance(each, Compound))
    kind = {"sphere": Sphere, "obb": Obb, "capsule": Capsule}[shape]
    return [next(each for each in entry.world if isinstance(each, kind))]


@dataclass(frozen=True)
class Carried:
    """Shapes of objects at the first frame, which their matrices carry.

    owners : (p,) object of each of the parts
    back : (p, 4, 4) from world space at the first frame to that of the object
    """

    matrices: Callable[[float], Floats]
    owners: NDArray[np.int64]
    back: Floats

    def moves(self, time: float) -> Floats:
        """Matrices (p, 4, 4) from the first frame to a time."""
        moved: Floats = self.matrices(time)[self.owners] @ self.back
        return moved

    def points(self, time: float, at_first: Floats) -> Floats:
        """Points (p, 3) of the parts at a time, by those at the first frame."""
        moves = self.moves(time)
        moved: Floats = np.einsum("nij,nj->ni", moves[:, :3, :3], at_first) + moves[:, :3, 3]
        return moved


def _gaps(
    shape: str,
    listed: list[list[Any]],
    poses: tuple[Callable[[float], Floats], Floats],
    points: Floats,
    is_linear: bool,
) -> tuple[Gaps, float]:
    """Distances of shapes, and the greatest distance of a vertex outside of its shape at the first frame.

    listed : parts of each object, unused for boxes along the world axes
    poses : matrices at any time, and those at the first frame
    """
    matrices, first = poses
    world = _world(first, points)
    if shape == "aabb":

        def boxes(time: float) -> Floats:
            now = _world(matrices(time), points)
            return np.array([now.min(axis=1), now.max(axis=1)])

        faces = between_frames(boxes) if is_linear else boxes
        return part_gaps(faces, np.arange(len(first)), box_distance), 0.0
    owners = np.repeat(np.arange(len(listed)), [len(parts) for parts in listed])
    shapes = [part for parts in listed for part in parts]
    back: Floats = np.linalg.inv(first)[owners].astype(np.float64)
    carried = Carried(matrices, owners, back)
    centers = np.array([part.center for part in shapes])
    offsets = world[owners] - centers[:, None]
    if shape == "sphere":
        radius = np.array([float(part.radius) for part in shapes])
        outside = float((np.sqrt((offsets**2).sum(axis=2)) - radius[:, None]).max())

        def now(time: float) -> Floats:
            return carried.points(time, centers)

        return sphere_gaps(between_frames(now) if is_linear else now, radius), outside
    if shape == "capsule":
        return _capsule_gaps(carried, shapes, offsets)
    axes, half = (np.array([getattr(part, name) for part in shapes]) for name in ("rotation", "half_extents"))
    beyond = (np.abs(np.einsum("pmi,pij->pmj", offsets, axes)) - half[:, None]).max(axis=2)
    least = np.full((len(listed), len(points)), np.inf)
    np.minimum.at(least, owners, beyond)

    def oriented(time: float) -> tuple[Floats, Floats, Floats]:
        return carried.points(time, centers), carried.moves(time)[:, :3, :3] @ axes, half

    return part_gaps(oriented, owners, oriented_distance), float(least.max())


def _capsule_gaps(carried: Carried, shapes: list[Any], offsets: Floats) -> tuple[Gaps, float]:
    """Distances of capsules, and the greatest distance of a vertex outside of its capsule."""
    centers, axis = (np.array([getattr(part, name) for part in shapes]) for name in ("center", "axis"))
    half, radius = (
        np.array([float(getattr(part, name)) for part in shapes]) for name in ("half_length", "radius")
    )
    along = np.clip(np.einsum("pmi,pi->pm", offsets, axis), -half[:, None], half[:, None])
    outside = np.sqrt(((offsets - along[..., None] * axis[:, None]) ** 2).sum(axis=2)) - radius[:, None]
    start, end = centers - half[:, None] * axis, centers + half[:, None] * axis

    def capsules(time: float) -> tuple[Floats, Floats, Floats]:
        return carried.points(time, start), carried.points(time, end), radius

    return part_gaps(capsules, carried.owners, capsule_distance), float(outside.max())
