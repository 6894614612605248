"""Boxes along the world's axes around meshes that armatures bend, from the curves of the bones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.curves.keyframes import rounded_times
from ...core.curves.segments import Singles
from ...core.curves.transform_bounds import (
    SHORT,
    Jumps,
    TransformChords,
    hierarchy_chords,
    transform_chords,
)
from ...core.curves.transforms import Hierarchy, Transforms, joined_hierarchies
from ...core.numeric.arrays import Bools, Floats, Ints
from ...core.skins.blended_points import (
    BlendedPoints,
    RecentPoints,
    kinks_between,
    kinks_of_any,
    point_deviations,
)
from ..fitting.fit_cache import SkinBoxes

_ROUNDING = 2.0**-16
"""Difference of vertices, relative to the largest coordinate, that single precision may cause in chains."""

_COMPARED = 1000
"""Vertices of a mesh that are compared with Blender's at each time, at least, if there are so many."""

_MOST_OBJECTS = 1 << 14
"""Objects and bones at their moments whose matrices and bounds are computed together: about 40 MB."""


class Skin(NamedTuple):
    """A mesh that an armature bends.

    subject : Index of the subject whose mesh it is.
    armature : session_uid of the object that bends it.
    rows : (b,) int64. Indices of the bones in the transforms, and maybe of the mesh's object, which carries
        vertices without weights.
    points : Vertices, carried by these.
    """

    subject: int
    armature: int
    rows: Ints
    points: BlendedPoints


class _Rig:
    """The bones of an armature that bend meshes, with all their parents.

    hierarchy : Hierarchy, (r,)
    skins : list of (Skin, (b,) int64). Each with the positions of its bones in the hierarchy.
    """

    def __init__(self, transforms: Transforms, skins: Sequence[Skin]) -> None:
        self.hierarchy = transforms.hierarchy_of(np.concatenate([skin.rows for skin in skins]))
        self.skins = [(skin, np.searchsorted(self.hierarchy.objects, skin.rows)) for skin in skins]


class _Moments(NamedTuple):
    """Distinct times or intervals of some of the wanted rows.

    rows : (k,) int64. Rows of the rig's skins.
    values : (q, ...) float64. Distinct moments.
    row_of : (k,) int64. Moment of each row.
    """

    rig: _Rig
    rows: Ints
    values: Floats
    row_of: Ints


class SkinPoses:
    """Boxes of subjects (n,) that armatures bend.

    is_skinned : (n,) bool. Subjects whose boxes follow from curves of bones.
    """

    def __init__(self, count: int, transforms: Transforms, skins: Sequence[Skin]) -> None:
        """Take skins, among `count` subjects, and the transforms of all their bones."""
        self.is_skinned: Bools = np.zeros(count, dtype=bool)
        # Matrices of all at the last times: those of boxes are the ones between which bones move.
        self._recent: tuple[Floats, Singles] | None = None
        # By subject, of the boxes computed last.
        self._outermost = {skin.subject: RecentPoints() for skin in skins}
        self._transforms = transforms
        self._jumps = Jumps(transforms)
        self.is_skinned[[skin.subject for skin in skins]] = True
        by_rig: dict[int, list[Skin]] = {}
        for skin in skins:
            by_rig.setdefault(skin.armature, []).append(skin)
        self._rigs = [_Rig(transforms, members) for members in by_rig.values()]

    def _skins(self) -> list[Skin]:
        return [skin for rig in self._rigs for skin, _ in rig.skins]

    def keep(self, is_kept: Bools) -> None:
        """Forget the subjects that a mask (n,) does not have."""
        self.is_skinned &= is_kept
        for rig in self._rigs:
            rig.skins = [each for each in rig.skins if self.is_skinned[each[0].subject]]
        self._rigs = [rig for rig in self._rigs if rig.skins]

    def differing(self, time: float, matrices: Floats, vertices: dict[int, NDArray[np.float32]]) -> list[int]:
        """Return the skinned subjects that a scene shows in another form.

        time : In frames.
        matrices : (n, 4, 4) float64. World matrices of all subjects.
        vertices : Vertices of the skinned subjects that are shown, in the space of their objects.
        """
        differing = []
        subjects = np.array(sorted(vertices), dtype=np.int64)
        found = self._moments(subjects, np.full(len(subjects), time))
        for (rig, *_), of_rig in zip(found, self._limits(found, is_before=False), strict=True):
            for skin, places in rig.skins:
                if skin.subject not in vertices:
                    continue
                # Coordinate by coordinate, which is ten times as fast as a reduction over points.
                matrix = matrices[skin.subject]
                expected = matrix[:3, :3] @ vertices[skin.subject].T + matrix[:3, 3:]
                count = expected.shape[1]
                is_same = count == skin.points.count
                if is_same:
                    bones, rows = of_rig[0, places], np.arange(0, count, max(1, count // _COMPARED))
                    low, high, _ = skin.points.boxes(bones[None])
                    found = np.concatenate([skin.points.positions(bones, rows), low, high])
                    low, high = expected.min(axis=1), expected.max(axis=1)
                    wanted = np.concatenate([expected[:, rows].T, [low, high]])
                    is_same = bool(np.abs(found - wanted).max() <= _ROUNDING * max(-low.min(), high.max()))
                if not is_same:
                    differing.append(skin.subject)
        return differing

    def boxes(self, subjects: Ints, times: Floats, is_before: bool = False) -> SkinBoxes | None:
        """Boxes of those of `subjects` (m,) that are skinned, each at its own time (m,) in frames.

        is_before : whether to compute the limit from earlier times
        """
        rows = np.flatnonzero(self.is_skinned[subjects])
        if not len(rows):
            return None
        subjects, times = subjects[rows], times[rows]
        found = self._moments(subjects, times)
        if len(rows) > 1 and _count_objects(found) > _MOST_OBJECTS:
            parts = [self.boxes(subjects[k], times[k], is_before) for k in _halves(len(rows))]
            low, high = (np.concatenate([part[k] for part in parts if part]) for k in (1, 2))
            return SkinBoxes(rows, low, high)
        low, high = np.empty((2, len(rows), 3))
        for moments, matrices in zip(found, self._limits(found, is_before), strict=True):
            for skin, places in moments.rig.skins:
                wanted = subjects[moments.rows] == skin.subject
                used, of_used = np.unique(moments.row_of[wanted], return_inverse=True)
                if len(used):
                    minima, maxima, outermost = skin.points.boxes(matrices[used][:, places])
                    low[moments.rows[wanted]], high[moments.rows[wanted]] = minima[of_used], maxima[of_used]
                    if not is_before:
                        self._outermost[skin.subject].add(moments.values[used], outermost)
        return SkinBoxes(rows, low, high)

    def _moments(self, subjects: Ints, values: Floats) -> list[_Moments]:
        """Distinct values (m, ...) of the subjects (m,) of each rig that has any."""
        found = []
        for rig in self._rigs:
            mine = np.flatnonzero(np.isin(subjects, [skin.subject for skin, _ in rig.skins]))
            if len(mine):
                distinct, row_of = np.unique(values[mine], axis=0, return_inverse=True)
                found.append(_Moments(rig, mine, distinct, row_of.reshape(-1)))
        return found

    def _limits(self, moments: Sequence[_Moments], is_before: bool) -> list[Floats]:
        """World matrices (q, r, 4, 4) of each rig at its times (q,), or their limits from before.

        Blender shows a key from a little before it on, so where a jump follows at once, the limit from before
        that time is the one at it.
        """
        if not moments:
            return []
        hierarchy, times = _hierarchy_of(moments), _repeated(moments)
        if all(np.array_equal(each.values, moments[0].values) for each in moments):
            world = self._world(moments[0].values)
            parts = [world[:, each.rig.hierarchy.objects].reshape(-1, 4, 4) for each in moments]
            matrices = np.concatenate(parts).astype(np.float64)
        else:
            found = self._transforms.hierarchy_matrices(hierarchy, rounded_times(times))
            matrices = found.astype(np.float64)
        rows = np.flatnonzero(self._jumps.next_after(hierarchy.objects, times - SHORT) < times + SHORT)
        if len(rows):
            near, ends = hierarchy.objects[rows], times[rows]
            if is_before:
                matrices[rows] = transform_chords(self._transforms, near, ends - SHORT, ends).end
            else:
                matrices[rows] = transform_chords(self._transforms, near, ends, ends + SHORT).begin
        return [
            matrices[start : start + count].reshape(len(each.values), -1, 4, 4)
            for each, start, count in _ranges(moments)
        ]

    def _world(self, times: Floats) -> Singles:
        """World matrices (t, n, 4, 4) of all objects and bones at increasing times (t,)."""
        if self._recent is not None:
            known, matrices = self._recent
            places = np.minimum(np.searchsorted(known, times), len(known) - 1)
            if np.array_equal(known[places], times):
                return matrices if len(times) == len(known) else matrices[places]
        self._recent = times, self._transforms.world_matrices(rounded_times(times))
        return self._recent[1]

    def moved(self, times: Floats) -> Bools:
        """Mask (t, n) of skinned subjects that a bone moves between times (t + 1,)."""
        result = np.zeros((len(times) - 1, len(self.is_skinned)), dtype=bool)
        first = self._transforms.world_matrices(rounded_times(times[:1]))
        matrices = self._world(times[1:])
        differs = (matrices != np.concatenate([first, matrices[:-1]])).any(axis=(2, 3))
        for skin in self._skins():
            result[:, skin.subject] = differs[:, skin.rows].any(axis=1)
        return result

    def deviations(self, subjects: Ints, begin: Floats, end: Floats) -> Floats:
        """Bound the deviation (m,) of the sides of boxes of skinned subjects (m,) from linear motion."""
        result = np.empty(len(subjects))
        moments = self._moments(subjects, np.stack([begin, end], axis=1))
        if not moments:
            return result
        if len(subjects) > 1 and _count_objects(moments) > _MOST_OBJECTS:
            halves = _halves(len(subjects))
            return np.concatenate([self.deviations(subjects[k], begin[k], end[k]) for k in halves])
        chords = hierarchy_chords(self._transforms, _hierarchy_of(moments), *_repeated(moments).T)
        for (rig, mine, values, row_of), start, _ in _ranges(moments):
            for skin, places in rig.skins:
                wanted = subjects[mine] == skin.subject
                steps = np.arange(len(values))[:, None] * len(rig.hierarchy.objects)
                of_skin = chords.take((start + places + steps).reshape(-1))
                result[mine[wanted]] = self._bounds(skin, of_skin, values)[row_of[wanted]]
        return result

    def _bounds(self, skin: Skin, chords: TransformChords, values: Floats) -> Floats:
        """Deviations (q,) of the sides of a skin's boxes from linear motion over intervals.

        chords : (q * b,) of its bones
        values : (q, 2) begin and end
        """
        begin, end = values.T
        recent, balls = self._outermost[skin.subject], skin.points.balls
        points = np.stack([recent.at(begin), recent.at(end)], axis=1)
        is_known: Bools = np.asarray((points >= 0).all(axis=(1, 2)))
        # Where a bone jumps, the points are those after it.
        jumps = self._jumps.next_after(np.tile(skin.rows, len(end)), np.repeat(end - SHORT, len(skin.rows)))
        is_known &= jumps.reshape(len(end), -1).min(axis=1) >= end + SHORT
        kinks = np.empty(len(end))
        matrices = [part.reshape(len(end), -1, 4, 4) for part in (chords.begin, chords.end)]
        kinks[is_known] = kinks_between(
            *(skin.points.coordinates(each[is_known], points[is_known]) for each in matrices)
        )
        if not is_known.all():
            kinks[~is_known] = kinks_of_any(balls, chords)[~is_known]
        return np.asarray(point_deviations(balls, chords) + kinks)

    def next_jumps(self, subjects: Ints, begin: Floats) -> Floats:
        """First time (m,) after `begin` (m,) at which a bone of skinned subjects (m,) jumps; inf for none."""
        result = np.full(len(subjects), np.inf)
        for skin in self._skins():
            mine = np.flatnonzero(subjects == skin.subject)
            bones, times = np.tile(skin.rows, len(mine)), begin[mine].repeat(len(skin.rows))
            result[mine] = self._jumps.next_after(bones, times).reshape(-1, len(skin.rows)).min(axis=1)
        return result


def _halves(count: int) -> tuple[slice, slice]:
    """Divide rows (count,) into two parts, where all together would take too much memory."""
    return slice(count // 2), slice(count // 2, None)


def _hierarchy_of(moments: Sequence[_Moments]) -> Hierarchy:
    """Return the hierarchies of rigs, each as often as it has moments."""
    return joined_hierarchies(
        [each.rig.hierarchy for each in moments], [len(each.values) for each in moments]
    )


def _count_objects(moments: Sequence[_Moments]) -> int:
    """Return the number of objects in `_hierarchy_of`."""
    return sum(len(each.values) * len(each.rig.hierarchy.objects) for each in moments)


def _repeated(moments: Sequence[_Moments]) -> Floats:
    """Repeat the moments of each rig for all objects of `_hierarchy_of`."""
    values = [np.repeat(each.values, len(each.rig.hierarchy.objects), axis=0) for each in moments]
    return np.concatenate(values)


def _ranges(moments: Sequence[_Moments]) -> Iterator[tuple[_Moments, int, int]]:
    """Iterate over rigs, with where each one's objects begin in `_hierarchy_of`, and their number."""
    start = 0
    for each in moments:
        count = len(each.values) * len(each.rig.hierarchy.objects)
        yield each, start, count
        start += count
