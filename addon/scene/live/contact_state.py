"""Readings and shapes of the live subjects at a frame, and which subjects are in contact then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core import ContactReport, Meshes, Shape, overlapping_pairs, overlaps
from ...core.mesh.node_pool import distinct_objects
from ...core.numeric.arrays import Bools, Floats, Ints, chunks_by_cost
from ...formats.document.model import TimeSettings
from ..settings import DrawnShape, FitSettings

TRIANGLES_AT_ONCE = 1 << 15
"""Triangles of pairs of meshes that are tested at once: about 50 ms, and more for larger meshes."""
_SECONDS = 0.02
"""Time after which an update tests no more meshes for the color of their bounds."""


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
    is_complete : Whether `in_contact` is final: another update tests more of the meshes.
    parts : Convex parts as Compute Bounds has fitted them, of hulls the edges. Subjects with these have no
        box of a part. None where the boxes are tested.
    """

    shapes: Mapping[DrawnShape, OwnedShapes]
    in_contact: Bools
    selected: Bools
    visible: Bools
    moved: bool = False
    is_complete: bool = True
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


class OverlapTest:
    """Test which of n subjects have a shape that overlaps a shape of another object.

    Meshes are tested for a limited time at once. Pairs that are left count where their boxes overlap.
    """

    def __init__(self, owned: OwnedShapes, objects: Ints) -> None:
        """Find the pairs to test.

        owned : Shapes of one kind.
        objects : (n,) int. Number of the object of each subject: bones and loose parts of one object have the
            same.
        """
        self._owned, self._found = owned, np.zeros(len(objects), dtype=bool)
        pairs = near_shapes(owned, lambda first, second: objects[first] != objects[second])
        shapes = owned.shape
        costs = costs_of_pairs(shapes, pairs) if isinstance(shapes, Meshes) else np.zeros(len(pairs))
        chunks = chunks_by_cost(costs, TRIANGLES_AT_ONCE) if len(pairs) else ()
        self._left = [pairs[chunk] for chunk in reversed(chunks)]

    @property
    def is_complete(self) -> bool:
        """Return whether all pairs are tested."""
        return not self._left

    def go_on(self) -> Bools:
        """Test pairs for `_SECONDS`, at least some, and return which subjects (n,) count as overlapping."""
        shapes, owners, end = self._owned.shape, self._owned.owners, perf_counter() + _SECONDS
        while self._left:
            pairs = self._left.pop()
            pairs = pairs[overlaps(shapes[pairs[:, 0]], shapes[pairs[:, 1]])]
            self._found[owners[pairs]] = True
            if perf_counter() >= end:
                break
        result = self._found.copy()
        for pairs in self._left:
            result[owners[pairs]] = True
        return result


def near_shapes(owned: OwnedShapes, includes: Callable[[Ints, Ints], Bools]) -> Ints:
    """Return the pairs (k, 2) of shapes whose boxes overlap, of subjects that `includes` accepts."""
    pairs = overlapping_pairs(owned.shape.aabb())
    return pairs[includes(*owned.owners[pairs].T)]


def costs_of_pairs(meshes: Meshes, pairs: Ints) -> Ints:
    """Return the numbers (k,) of triangles of pairs (k, 2) of meshes."""
    kinds, which = distinct_objects(meshes.nodes)
    counts = np.array([len(each.given) for each in kinds], dtype=np.int64)
    return np.asarray(counts[which][pairs].sum(axis=1))
