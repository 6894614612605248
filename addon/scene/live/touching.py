"""Pairs of subjects that overlap now: how deep, in what way, and how to move them apart.

Bounds are tested at once. Meshes take longer, so they are tested in chunks, those first that are probably
deepest, and a caller can stop after any chunk.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core import (
    Meshes,
    Obb,
    Sphere,
    minimum_translation,
    overlaps,
    separation,
    witness_points,
)
from ...core.distance.mesh_depth import separations_by_depth
from ...core.distance.overlap_kinds import OVERLAPS, overlap_kinds
from ...core.mesh.meshes import moving_nodes
from ...core.numeric.arrays import Floats, Ints, chunks_by_cost, length
from ...core.numeric.geodesic import geodesic_directions
from ...core.scan.candidates import PairFilter
from ...core.sweep.mesh_mesh import first_impacts_of_meshes
from . import contact_state
from .contact_state import OwnedShapes, costs_of_pairs, near_shapes


class TouchingPairs(NamedTuple):
    """Pairs of subjects whose shapes share a point, the deepest first.

    pairs : (m, 2) int64. Indices of subjects.
    depths : (m,) float64. In world space; 0 if they only touch. Of bounds, the length of the smallest
        translation that separates them; of meshes as in a scan, NaN where neither is closed.
    overlaps : (m,) str. Kinds of the overlaps of meshes without a depth; empty for all that have one.
    untested : Number of pairs of meshes that are near, and have not been tested yet.
    seconds : Time that the search has taken, if it was measured.
    """

    pairs: Ints
    depths: Floats
    overlaps: NDArray[np.str_]
    untested: int = 0
    seconds: float = 0.0


def find_touching_pairs(owned: OwnedShapes, pair_filter: PairFilter) -> TouchingPairs:
    """Find the pairs of subjects, of those that the filter includes, with overlapping shapes.

    owned : Shapes of one kind.
    """
    pairs = near_shapes(owned, pair_filter.includes)
    pairs = pairs[overlaps(owned.shape[pairs[:, 0]], owned.shape[pairs[:, 1]])]
    gaps = separation(owned.shape[pairs[:, 0]], owned.shape[pairs[:, 1]])
    # A subject may have several shapes: the deepest pair of them counts.
    subjects = np.sort(owned.owners[pairs], axis=1)
    found, index = np.unique(pair_filter.keys(*subjects.T), return_inverse=True)
    depths = np.zeros(len(found))
    np.maximum.at(depths, index.ravel(), -gaps)
    order = np.argsort(-depths, kind="stable")
    count = max(pair_filter.count, 1)
    subjects = np.stack([found // count, found % count], axis=1)
    return TouchingPairs(subjects[order], depths[order], np.full(len(order), ""))


def touching_meshes(owned: OwnedShapes, pair_filter: PairFilter) -> Iterator[TouchingPairs]:
    """Find the pairs of subjects, of those that the filter includes, with overlapping meshes.

    Yields all that is found after each chunk of work, at least once; first where the boxes overlap most.

    owned : Meshes, of which each subject has one.
    """
    meshes, owners = owned
    assert isinstance(meshes, Meshes), "other shapes are found at once"
    boxes, near = meshes.aabb(), near_shapes(owned, pair_filter.includes)
    low, high = (corner[near] for corner in (boxes.min, boxes.max))
    common = (high.min(axis=1) - low.max(axis=1)).min(axis=1)
    near = near[np.argsort(-common, kind="stable")]
    found = TouchingPairs(near[:0], np.empty(0), np.empty(0, dtype="U7"), len(near))
    costs = costs_of_pairs(meshes, near)
    for chunk in chunks_by_cost(costs, contact_state.TRIANGLES_AT_ONCE) if len(near) else ():
        pairs = near[chunk]
        pairs = pairs[overlaps(meshes[pairs[:, 0]], meshes[pairs[:, 1]])]
        a, b = meshes[pairs[:, 0]], meshes[pairs[:, 1]]
        depths = -separations_by_depth(a, b, np.zeros(len(pairs)))
        are_balls = a.are_balls | b.are_balls
        overlap, flat = np.full(len(pairs), "", dtype="U7"), np.flatnonzero((depths <= 0) & ~are_balls)
        overlap[flat] = np.array(OVERLAPS)[overlap_kinds(a[flat], b[flat], depths[flat])]
        depths = np.where(are_balls | a.have_inside | b.have_inside, np.maximum(depths, 0.0), np.nan)
        depths = np.append(found.depths, depths)
        order = np.argsort(-np.nan_to_num(depths), kind="stable")
        subjects = np.concatenate([found.pairs, np.sort(owners[pairs], axis=1)])[order]
        overlap = np.append(found.overlaps, overlap)[order]
        found = TouchingPairs(subjects, depths[order], overlap, len(near) - chunk.stop)
        yield found
    if not len(near):
        yield found


_DIRECTIONS = geodesic_directions(6).vectors
"""Directions (362, 3) that are tried for subjects of several parts: neighbors are about 10 degrees apart."""
_DIRECTIONS_OF_MESHES = geodesic_directions(2).vectors
"""Directions (42, 3) that are tried for meshes, and that out of the deepest place."""
_ROUNDING = 2e-6
"""Part of the coordinates by which a translation is longer: Blender stores matrices in single precision."""


def separating_translation(owned: OwnedShapes, moved: int, fixed: int) -> Floats:
    """Return the translation (3,) of one subject that ends its overlap with another, in world space.

    A hair longer than the shortest, so that they do not touch in single precision either. For subjects of
    several parts, it is the shortest along any of 362 directions, and for meshes along any of 43. Zero if the
    subjects do not overlap.

    owned : Shapes of one kind. Only spheres and oriented boxes can be several of one subject.
    moved, fixed : Indices of both subjects.
    """
    first, second = (owned.shape[owned.owners == subject] for subject in (moved, fixed))
    rows = np.indices((first.shape[0], second.shape[0])).reshape(2, -1)
    a, b = first[rows[0]], second[rows[1]]
    if not rows.size or not overlaps(a, b).any():
        return np.zeros(3)
    if isinstance(a, Meshes) and isinstance(b, Meshes):
        directions = np.concatenate([-witness_points(a, b).normal, _DIRECTIONS_OF_MESHES])
        exits = _exits_of_meshes(directions, a, b)
        best = int(np.argmin(exits))
        direction, size = directions[best], float(exits[best])
    elif rows.shape[1] > 1:
        if isinstance(a, Sphere) and isinstance(b, Sphere):
            # The centers of the one leave spheres around those of the other, with the sums of the radii.
            offset = a.center - b.center
            along = _DIRECTIONS @ offset.T
            inside = along**2 - (offset**2).sum(axis=1) + (a.radius + b.radius) ** 2
            exits = np.where(inside >= 0, -along + np.sqrt(np.maximum(inside, 0.0)), 0.0).max(axis=1)
        else:
            assert isinstance(a, Obb) and isinstance(b, Obb), "other shapes are single"
            exits = _exits_of_boxes(_DIRECTIONS, a, b)
        best = int(np.argmin(exits))
        direction, size = _DIRECTIONS[best], max(float(exits[best]), 0.0)
    else:
        step = minimum_translation(a, b)[0]
        size = float(np.linalg.norm(step))
        direction = step / size if size else -witness_points(a, b).normal[0]
    extent = max(float(np.abs([box.min, box.max]).max()) for box in (a.aabb(), b.aabb()))
    return np.asarray(direction * (size + _ROUNDING * extent))


def _exits_of_meshes(directions: Floats, a: Meshes, b: Meshes) -> Floats:
    """Return the distances (d,) after which a mesh (1,), moved along directions (d, 3), has left another."""
    (center_a, radius_a), (center_b, radius_b) = a.around(), b.around()
    apart = length(center_a - center_b)[0] + (radius_a + radius_b + a.margin + b.margin)[0]
    near, fixed = a[np.zeros(len(directions), np.int64)], b[np.zeros(len(directions), np.int64)]
    matrices = near.matrix.copy()
    matrices[:, :3, 3] += directions * (apart * (1 + _ROUNDING))
    # It comes back from where it is apart.
    far = Meshes.unchecked(near.nodes, matrices, near.margin)
    moving = moving_nodes((far, near), (fixed, fixed))
    times, _ = first_impacts_of_meshes(*moving, near.margin + fixed.margin)
    return np.asarray((1 - np.nan_to_num(times, nan=1.0)) * apart * (1 + _ROUNDING))


def _exits_of_boxes(directions: Floats, a: Obb, b: Obb) -> Floats:
    """Return the distances (d,) after which boxes a (n,), moved together, have left boxes b (n,).

    They move in each of several directions (d, 3). Each pair is apart if its centers are farther apart along
    one of 15 axes than the boxes reach. So a pair overlaps while the distance that it moves is in the
    intervals of all axes.
    """
    crossed = np.cross(a.rotation[:, :, :, None], b.rotation[:, :, None, :], axis=1).reshape(-1, 3, 9)
    axes = np.concatenate([a.rotation, b.rotation, crossed], axis=2)
    reach = (np.abs(np.einsum("nik,nij->nkj", axes, a.rotation)) * a.half_extents[:, None]).sum(axis=2)
    reach += (np.abs(np.einsum("nik,nij->nkj", axes, b.rotation)) * b.half_extents[:, None]).sum(axis=2)
    offset = np.einsum("nik,ni->nk", axes, a.center - b.center)
    exits = np.zeros(len(directions))
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
    return exits
