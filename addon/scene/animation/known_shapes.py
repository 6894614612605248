"""Shapes of subjects that follow curves: where they are at any time, and where they may be in between."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core import Aabb, Capsule, Obb, Shape, Sphere
from ...core.curves.transform_bounds import SHORT, TransformChords
from ...core.numeric.arrays import Bools, Floats, Ints
from ..curves.curve_poses import CurvePoses
from ..fitting.fit_cache import FitCache
from ..settings import ShapeName, shape_kind

_VERTICES_PER_COST = 2000
"""Vertices around which a box is fitted in the time that one takes to be moved."""


class KnownShapes:
    """Shapes (N,) of the subjects that are known. See `core.scan.motion.KnownMotion`.

    known : (n,) bool. Subjects whose shapes are known, and obstacles that stay where they are.
    costs : (N,) float64. Of all shapes.
    """

    def __init__(
        self, poses: CurvePoses, fits: FitCache, shape: ShapeName, is_eligible: Bools, at_rest: Ints
    ) -> None:
        """Find the known subjects among those that are eligible (n,).

        at_rest : obstacles (k,) that stay where they are
        """
        self._poses = poses
        # An error for any other class, whose surface may deviate in another way.
        self._bound_surface = _BOUNDS_OF_SURFACES[shape_kind(shape).tested_as]
        self._only_moves = poses.only_moves
        # A box along the axes is fitted to the vertices at each time; other shapes are moved and turned.
        can_follow = poses.is_known
        if shape != "aabb":
            can_turn = fits.turns_with_subject | self._only_moves
            can_follow = poses.keeps_form & fits.has_orientation & can_turn
        self.known: Bools = can_follow & is_eligible & fits.is_fitted
        self.known[at_rest] = True
        self._owners, self._fits, self._reach = fits.owners, fits.by_part(), fits.reach()
        self.costs: Floats = np.ones(len(self._owners))
        if shape == "aabb":
            is_fitted = self.known & ~self._only_moves & ~poses.skins.is_skinned
            self.costs += np.where(is_fitted, fits.vertex_counts() / _VERTICES_PER_COST, 0)[self._owners]

    def shapes_of(self, shapes: Ints, times: Floats, is_before: bool = False) -> Shape:
        """Shapes (m,), each at its own time (m,) in frames; with `is_before` the limit from earlier times."""
        subjects = self._owners[shapes]
        if is_before:
            matrices = self._poses.chords(subjects, times - SHORT, times).end
        else:
            matrices = self._poses.matrices(times, subjects)
            # Blender shows a key from a little before it on. Between a time before that and one after it, a
            # jump at the key would be very fast linear motion.
            rows = np.flatnonzero(self._poses.next_jumps(subjects, times) - times < SHORT)
            matrices[rows] = self._poses.chords(subjects[rows], times[rows], times[rows] + SHORT).begin
        skins = self._poses.skins.boxes(subjects, times, is_before)
        return self._fits.shapes_at(shapes, matrices, skins)[0]

    def deviations(self, shapes: Ints, begin: Floats, end: Floats) -> Floats:
        """Bound the deviation (m,) of shapes (m,) from linear motion over intervals (m,)."""
        subjects = self._owners[shapes]
        is_simple = self._only_moves[subjects]
        result = np.empty(len(subjects))
        result[is_simple] = self._poses.location_deviations(
            subjects[is_simple], begin[is_simple], end[is_simple]
        )
        is_skinned = self._poses.skins.is_skinned[subjects]
        if not (is_simple | is_skinned).all():
            rows = np.flatnonzero(~(is_simple | is_skinned))
            chords = self._poses.chords(subjects[rows], begin[rows], end[rows])
            result[rows] = self._bounds(subjects[rows], chords)
        if is_skinned.any():
            skins = self._poses.skins
            result[is_skinned] = skins.deviations(subjects[is_skinned], begin[is_skinned], end[is_skinned])
        return result

    def successive_deviations(self, times: Floats) -> tuple[Floats, Bools]:
        """Deviations (t, N) between times (t + 1,), and which shapes jump at the end of the interval."""
        known = np.flatnonzero(self.known)
        is_skinned = self._poses.skins.is_skinned[known]
        simple, bent = known[self._only_moves[known]], known[is_skinned]
        turning = known[~(self._only_moves[known] | is_skinned)]
        shape = (len(times) - 1, len(self.known))
        deviations, jumps = np.zeros(shape), np.zeros(shape, dtype=bool)
        deviations[:, simple] = self._poses.successive_location_deviations(simple, times)
        if len(turning):
            chords = self._poses.successive_chords(turning, times)
            bounds = self._bounds(np.tile(turning, shape[0]), chords)
            deviations[:, turning] = bounds.reshape(shape[0], -1)
        if len(bent):
            deviations[:, bent] = self._poses.skins.successive_deviations(bent, times)
        jumps[:, known] = self._poses.jumps_at(known, times[1:])
        return deviations[:, self._owners], jumps[:, self._owners]

    def next_jumps(self, shapes: Ints, begin: Floats, end: Floats) -> Floats:
        """First time (m,) between `begin` and `end` at which a shape jumps; inf for none."""
        jumps = self._poses.next_jumps(self._owners[shapes], begin)
        return np.where(jumps < end, jumps, np.inf)

    def _bounds(self, subjects: Ints, chords: TransformChords) -> Floats:
        """Deviation (m,) of surfaces of subjects' shapes (m,) from linear motion, by that of all in reach."""
        if self._bound_surface is None:
            begin, end = chords.begin[:, :3, :3], chords.end[:, :3, :3]
            reach = self._reach[subjects]
            kinks = self._fits.kinks(subjects, reach, begin, end)
            return np.asarray(chords.offset + chords.linear * reach + kinks)
        # Corners of boxes and centers of spheres are in a cube around the origin that holds all vertices. So
        # are the ends of axes of capsules: tests/core/fitting/test_axial.py.
        reach = np.sqrt(3) * self._reach[subjects]
        points = chords.offset + chords.linear * reach
        return self._bound_surface(points, chords, reach)


def _bound_center(points: Floats, _chords: TransformChords, _reach: Floats) -> Floats:
    """Bound the deviation (m,) of spheres by that of points (m,): a sphere has no axes that turn."""
    return points


def _bound_axis(points: Floats, chords: TransformChords, reach: Floats) -> Floats:
    """Bound the deviation (m,) of capsules: their axis turns no more than the object, on the shortest arc."""
    begin, end = chords.begin[:, :3, :3], chords.end[:, :3, :3]
    change = np.sqrt(((end - begin) ** 2).sum(axis=(1, 2)))
    scales = np.sort(np.sqrt((begin**2).sum(axis=1)), axis=1)
    # Rotations that differ by an angle p move no axis by more than 2 sin(p / 2), and all three by
    # sqrt(8) sin(p / 2), so the two of the smaller scales by at least the former together. The sagitta of
    # their chord is 1 - cos(p / 2).
    with np.errstate(divide="ignore", invalid="ignore"):
        sine = np.fmin(change / (2 * np.sqrt((scales[:, :2] ** 2).sum(axis=1))), 1.0)
    return np.asarray(points + scales[:, 2] * reach * (1 - np.sqrt(1 - sine * sine)))


def _bound_axes(points: Floats, chords: TransformChords, reach: Floats) -> Floats:
    """Bound the deviation (m,) of oriented boxes by the shorter one of two arcs on which they turn."""
    largest = np.sqrt((chords.begin[:, :3, :3] ** 2).sum(axis=1)).max(axis=1)
    return np.asarray(np.fmin(_bound_axis(points, chords, reach), points + largest * reach * chords.arc))


_BOUNDS_OF_SURFACES: dict[type[Shape] | None, Callable[[Floats, TransformChords, Floats], Floats] | None] = {
    Aabb: None,
    Sphere: _bound_center,
    Capsule: _bound_axis,
    Obb: _bound_axes,
}
"""Bounds of the deviation of surfaces, by the class of the tested shapes; None for boxes that are fitted."""
