"""Readings and shapes of the live subjects at a frame, and which subjects are in contact then.

Of pairs that overlap now also the depth, and how to move them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core import (
    ContactReport,
    Obb,
    Shape,
    Sphere,
    minimum_translation,
    overlapping_pairs,
    overlaps,
    separation,
    witness_points,
)
from ...core.numeric.arrays import Bools, Floats, Ints
from ...core.numeric.geodesic import geodesic_directions
from ...core.scan.candidates import PairFilter
from ...formats.document.model import TimeSettings
from ..settings import DrawnShape, FitSettings


class OwnedShapes(NamedTuple):
    """Shapes, each of which belongs to one subject.

    shape : Shape, batch (m,). In world space. A subject has none, one, or several: the spheres of its tree.
    owners : (m,) int. Index of the subject of each shape.
    """

    shape: Shape
    owners: Ints


class LiveShapes(NamedTuple):
    """Shapes and flags of n subjects at the current frame.

    shapes : One entry for each name that was requested, with the subjects that are present. Boxes are
        oriented ones where the box of any subject lies along the axes of its object.
    in_contact, selected, visible : (n,) bool
    moved : Whether any subject has another matrix, or other vertices, than at the update before.
    parts : Convex parts as Compute Bounds has fitted them, of hulls the edges. Subjects with these have no
        box of a part. None where the boxes are tested.
    """

    shapes: Mapping[DrawnShape, OwnedShapes]
    in_contact: Bools
    selected: Bools
    visible: Bools
    moved: bool = False
    parts: tuple[OwnedShapes, ...] = ()


class LiveReading(NamedTuple):
    """Geometry that was read of a subject last.

    points, radius : As of `Geometry`.
    faces : Arrays that differ where the triangles do, as far as these are needed; None for an override.
    """

    points: NDArray[np.float32]
    radius: float
    fit: FitSettings
    faces: tuple[NDArray[np.int32], ...] | None

    def has_shape_of(self, other: LiveReading) -> bool:
        """Return whether vertices and settings are equal, whatever the faces are."""
        is_same = self.radius == other.radius and (self.fit is other.fit or self.fit == other.fit)
        return is_same and (self.points is other.points or np.array_equal(self.points, other.points))

    def has_groups_of(self, other: LiveReading) -> bool:
        """Return whether vertices are grouped as those of another reading."""
        if len(self.points) != len(other.points) or self.fit.depth != other.fit.depth:
            return False
        if self.faces is other.faces:
            return True
        is_mesh = self.faces is not None and other.faces is not None and len(self.faces) == len(other.faces)
        return is_mesh and all(map(np.array_equal, self.faces, other.faces))


class FrameSnapshot(NamedTuple):
    """Everything that an update has read of n subjects at a frame, to compare two moments.

    matrices : (n, 4, 4) float. World matrices.
    readings : By the index of the subject.
    """

    frame: float
    matrices: Floats
    readings: Mapping[int, LiveReading]

    def is_same(self, other: FrameSnapshot) -> bool:
        """Return whether frames, matrices, vertices and settings are equal."""
        return (
            self.frame == other.frame
            and np.array_equal(self.matrices, other.matrices)
            and self.readings.keys() == other.readings.keys()
            and all(now.has_shape_of(other.readings[index]) for index, now in self.readings.items())
        )


_FRAME_TOLERANCE = 1e-4
"""Blender keeps sub-frames in single precision: a jump to a contact lands this close to it."""
_SINGLE_PRECISION = 2e-7


class ContactTimes:
    """Intervals of a report's contacts, to evaluate at a frame. Static overlaps last for all time.

    count : Number of subjects n.
    """

    def __init__(self, report: ContactReport, count: int, time: TimeSettings) -> None:
        pairs, spans = report.contacts.pairs, report.contacts.intervals
        sides = np.stack([pairs.a, pairs.b], axis=1)[report.contacts.owners]
        static = np.array(report.static_overlaps, dtype=np.int64).reshape(-1, 2)
        always = np.tile([-np.inf, np.inf], (len(static), 1))
        self._sides = np.concatenate([sides, static])
        self._ends = np.concatenate([np.stack([spans.start, spans.end], axis=1), always])
        self._count = count
        self._range = time.start, time.end

    def in_contact_at(self, frame: float) -> Bools | None:
        """Return which subjects (n,) are in contact at a frame; both ends of an interval count.

        None for a frame outside of the range that was scanned.
        """
        tolerance = _FRAME_TOLERANCE + _SINGLE_PRECISION * abs(frame)
        if not self._range[0] - tolerance <= frame <= self._range[1] + tolerance:
            return None
        start, end = self._ends.T
        is_on = (start - tolerance <= frame) & (frame <= end + tolerance)
        in_contact = np.zeros(self._count, dtype=bool)
        in_contact[self._sides[is_on]] = True
        return in_contact


def overlapping_subjects(owned: OwnedShapes, objects: Ints) -> Bools:
    """Return which subjects (n,) have a shape that overlaps a shape of another object.

    owned : Shapes of one kind.
    objects : (n,) int. Number of the object of each subject: bones and loose parts of one object have the
        same.
    """
    in_contact = np.zeros(len(objects), dtype=bool)
    pairs = _touching(owned, lambda first, second: objects[first] != objects[second])
    in_contact[owned.owners[pairs]] = True
    return in_contact


def _touching(owned: OwnedShapes, includes: Callable[[Ints, Ints], Bools]) -> Ints:
    """Return the pairs (k, 2) of shapes that overlap, of subjects that `includes` accepts."""
    pairs = overlapping_pairs(owned.shape.aabb())
    pairs = pairs[includes(*owned.owners[pairs].T)]
    return pairs[overlaps(owned.shape[pairs[:, 0]], owned.shape[pairs[:, 1]])]


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
    """
    pairs = _touching(owned, pair_filter.includes)
    gaps = separation(owned.shape[pairs[:, 0]], owned.shape[pairs[:, 1]])
    # A subject may have several shapes: the deepest pair of them counts.
    subjects = np.sort(owned.owners[pairs], axis=1)
    found, index = np.unique(pair_filter.keys(*subjects.T), return_inverse=True)
    depths = np.zeros(len(found))
    np.maximum.at(depths, index.ravel(), -gaps)
    order = np.argsort(-depths, kind="stable")
    count = max(pair_filter.count, 1)
    return TouchingPairs(np.stack([found // count, found % count], axis=1)[order], depths[order])


_DIRECTIONS = geodesic_directions(6).vectors
"""Directions (362, 3) that are tried for subjects of several parts: neighbors are about 10 degrees apart."""
_ROUNDING = 2e-6
"""Part of the coordinates by which a translation is longer: Blender stores matrices in single precision."""


def separating_translation(owned: OwnedShapes, moved: int, fixed: int) -> Floats:
    """Return the translation (3,) of one subject that ends its overlap with another, in world space.

    A hair longer than the shortest, so that they do not touch in single precision either. For subjects of
    several parts, it is the shortest along any of 362 directions. Zero if the subjects do not overlap.

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
