"""Pairs of subjects that overlap now, with the depth of each, and how to move them apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core import (
    Obb,
    Sphere,
    minimum_translation,
    overlapping_pairs,
    overlaps,
    separation,
    witness_points,
)
from ...core.numeric.arrays import Floats, Ints
from ...core.scan.pair_filter import PairFilter
from .contact_state import OwnedShapes


class TouchingPairs(NamedTuple):
    """Pairs of subjects whose shapes share a point, the deepest first.

    pairs : (m, 2) int64. Indices of subjects.
    depths : (m,) float64. Length of the smallest translation that separates them, in world space; 0 if they
        only touch.
    """

    pairs: Ints
    depths: Floats


def find_touching_pairs(owned: OwnedShapes, pair_filter: PairFilter) -> TouchingPairs:
    """Find the pairs of subjects, of those that the filter includes, with overlapping shapes.

    owned : Shapes of one kind.
    pair_filter : For all subjects.
    """
    pairs = overlapping_pairs(owned.shape.aabb())
    pairs = pairs[pair_filter.includes(*owned.owners[pairs].T)]
    a, b = owned.shape[pairs[:, 0]], owned.shape[pairs[:, 1]]
    is_touching = overlaps(a, b)
    pairs = pairs[is_touching]
    gaps = separation(a[is_touching], b[is_touching])
    # A subject may have several shapes: the deepest pair of them counts.
    subjects = np.sort(owned.owners[pairs], axis=1)
    found, index = np.unique(pair_filter.keys(*subjects.T), return_inverse=True)
    depths = np.zeros(len(found))
    np.maximum.at(depths, index.ravel(), -gaps)
    order = np.argsort(-depths, kind="stable")
    count = max(pair_filter.count, 1)
    return TouchingPairs(np.stack([found // count, found % count], axis=1)[order], depths[order])


_DIRECTIONS = 400
"""Directions that are tried for subjects of several parts: neighbors are about 10 degrees apart."""
_ROUNDING = 2e-6
"""Part of the coordinates by which a translation is longer: Blender stores matrices in single precision."""


def separating_translation(owned: OwnedShapes, moved: int, fixed: int) -> Floats:
    """Return the translation (3,) of one subject that ends its overlap with another, in world space.

    A hair longer than the shortest, so that they do not touch in single precision either. For subjects of
    several parts, it is the shortest along any of 400 directions. Zero if the subjects do not overlap.

    owned : Shapes of one kind. Only spheres and oriented boxes can be several of one subject.
    moved, fixed : Indices of both subjects.
    """
    first, second = (owned.shape[owned.owners == subject] for subject in (moved, fixed))
    rows = np.indices((first.shape[0], second.shape[0])).reshape(2, -1)
    a, b = first[rows[0]], second[rows[1]]
    if not rows.size or not overlaps(a, b).any():
        return np.zeros(3)
    if rows.shape[1] > 1:
        if isinstance(a, Sphere) and isinstance(b, Sphere):
            direction, size = _shortest_exit(a.center - b.center, a.radius + b.radius)
        else:
            assert isinstance(a, Obb) and isinstance(b, Obb), "other shapes are single"
            direction, size = _shortest_exit_of_boxes(a, b)
    else:
        step = minimum_translation(a, b)[0]
        size = float(np.linalg.norm(step))
        direction = step / size if size else -witness_points(a, b).normal[0]
    extent = max(float(np.abs([box.min, box.max]).max()) for box in (a.aabb(), b.aabb()))
    return np.asarray(direction * (size + _ROUNDING * extent))


def _shortest_exit(offsets: Floats, radii: Floats) -> tuple[Floats, float]:
    """Return the direction (3,) in which points leave spheres around the origin soonest, and the distance.

    offsets : (n, 3) float. The points, which move together.
    radii : (n,) float. The sphere that each has to leave.
    """
    directions = _spiral()
    along = directions @ offsets.T
    inside = along**2 - (offsets**2).sum(axis=1) + radii**2
    exits = np.where(inside >= 0, -along + np.sqrt(np.maximum(inside, 0.0)), 0.0).max(axis=1)
    best = int(np.argmin(exits))
    return directions[best], float(max(exits[best], 0.0))


def _shortest_exit_of_boxes(a: Obb, b: Obb) -> tuple[Floats, float]:
    """Return the direction (3,) in which boxes a (n,), moved together, leave boxes b (n,) soonest.

    Also the distance. Each pair is apart if its centers are farther apart along one of 15 axes than the boxes
    reach. So a pair overlaps while the distance that it moves is in the intervals of all axes.
    """
    crossed = np.cross(a.rotation[:, :, :, None], b.rotation[:, :, None, :], axis=1).reshape(-1, 3, 9)
    axes = np.concatenate([a.rotation, b.rotation, crossed], axis=2)
    reach = (np.abs(np.einsum("nik,nij->nkj", axes, a.rotation)) * a.half_extents[:, None]).sum(axis=2)
    reach += (np.abs(np.einsum("nik,nij->nkj", axes, b.rotation)) * b.half_extents[:, None]).sum(axis=2)
    offset = np.einsum("nik,ni->nk", axes, a.center - b.center)
    directions = _spiral()
    exits = np.zeros(_DIRECTIONS)
    for number, direction in enumerate(directions):
        speed = np.einsum("nik,i->nk", axes, direction)
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.sort(np.stack([(-reach - offset) / speed, (reach - offset) / speed]), axis=0)
        # Along an axis that is perpendicular to the direction, a pair overlaps always or never.
        still = np.abs(speed) < 1e-12
        is_inside = np.abs(offset) <= reach
        begin = np.where(still, np.where(is_inside, -np.inf, np.inf), ends[0]).max(axis=1)
        end = np.where(still, np.inf, ends[1]).min(axis=1)
        exits[number] = np.where(begin <= end, end, 0.0).max(initial=0.0)
    best = int(np.argmin(exits))
    return directions[best], float(exits[best])


def _spiral() -> Floats:
    """Directions (d, 3), evenly over the sphere."""
    number = np.arange(_DIRECTIONS) + 0.5
    height, angle = 1 - 2 * number / _DIRECTIONS, np.pi * (1 + np.sqrt(5)) * number
    across = np.sqrt(1 - height**2)
    return np.stack([across * np.cos(angle), across * np.sin(angle), height], axis=1)
