"""Poses of subjects that follow F-curves and drivers of the frame alone, without playing the scene.

Playing evaluates all objects of a scene, and moves the user's playhead. The curves are compared with the
scene at a few times before they are relied on.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np
from numpy.typing import NDArray

from ...core.curves.keyframes import rounded_times
from ...core.curves.segments import Singles
from ...core.curves.transform_bounds import (
    Jumps,
    TransformChords,
    chords_between,
    chords_between_times,
    location_deviations,
    only_moves,
    transform_chords,
)
from ...core.numeric.arrays import Bools, Floats, Ints
from ..blender.frames import scene_by_uid
from .curve_keys import Visibility
from .skin_poses import SkinPoses
from .skinned_meshes import read_skin_poses
from .transform_curves import TransformCurves

_ROUNDING = 2.0**-20
"""Difference of matrices, relative to their largest number, that single precision may cause."""
_BEYOND = 1.0
"""Frames before the first and after the last one in which motion is known too, for limits there."""
_COMPARED = 5
"""Times at which curves are compared with the scene."""


_OBJECTS_PER_STEP = 256
"""Objects whose keys are read at once, which takes about 25 ms."""


class CurvePoses:
    """World matrices of subjects from curves, and when they are shown.

    is_known : (n,) bool. Subjects whose matrices and visibility follow from curves.
    skins : Boxes of those of them whose vertices follow from curves of bones.
    """

    def __init__(self, curves: TransformCurves, uids: Ints, is_candidate: Bools, skins: SkinPoses) -> None:
        """Take the curves of those subjects that may be known, as `read_curve_poses` reads them."""
        self._transforms = curves.transforms()
        self._jumps = Jumps(self._transforms)
        self._rows = np.array([curves.index_of.get(uid, -1) for uid in uids.tolist()], dtype=np.int64)
        self._visibility = Visibility(curves.hidden_by)
        self.is_known: Bools = (self._rows >= 0) & is_candidate
        self.skins = skins
        self._ahead: dict[float, Singles] = {}
        skins.keep(self.is_known)

    def look_ahead(self, times: Sequence[float]) -> None:
        """Compute the matrices that `compare` needs at some increasing times, at once."""
        every = rounded_times(np.array(times))
        self._ahead = dict(zip(times, self._transforms.world_matrices(every), strict=True))
        self.skins.look_ahead(np.array(times))

    def compare(
        self, time: float, is_shown: Bools, expected: Floats, vertices: dict[int, NDArray[np.float32]]
    ) -> None:
        """Drop subjects that a scene hides or shows at `time`, in frames, or that are elsewhere in it.

        Sooner if `look_ahead` was called before, with all times to compare.

        Only the matrices of those that are shown are compared, because Blender need not evaluate the others.

        is_shown, expected : (n,), (n, 4, 4) of all subjects
        vertices : of shown subjects that are skinned
        """
        self.is_known[self.skins.differing(time, expected, vertices)] = False
        subjects = np.flatnonzero(self.is_known)
        is_shown, expected = is_shown[subjects], expected[subjects]
        if time not in self._ahead:
            self.look_ahead([time])
        found = self._ahead.pop(time)[self._rows[subjects]].astype(np.float64)
        largest = np.abs(expected).max(axis=(1, 2))
        is_same = ~is_shown | (np.abs(found - expected).max(axis=(1, 2)) <= _ROUNDING * largest)
        is_same &= is_shown == self.are_shown(np.array([time]), subjects)[0]
        self.is_known[subjects[~is_same]] = False
        self.skins.keep(self.is_known)

    def are_shown(self, times: Floats, subjects: Ints) -> Bools:
        """Mask (t, m) of known subjects (m,) that are shown at increasing times (t,) in frames."""
        return self._visibility.are_shown(self._rows[subjects], rounded_times(times))

    @property
    def is_switched(self) -> Bools:
        """Mask (n,) of known subjects that may appear or disappear."""
        mask = self.is_known.copy()
        mask[mask] = self._visibility.is_switched[self._rows[mask]]
        return mask

    def switches(self, subjects: Ints) -> Floats:
        """Increasing times at which any of some known subjects (m,) appears or disappears."""
        return self._visibility.switches(self._rows[subjects])

    def chords(self, subjects: Ints, begin: Floats, end: Floats) -> TransformChords:
        """Matrices of known subjects (m,) at both ends of intervals, and bounds in between."""
        chords_of = chords_between(self._transforms, begin, end)
        return transform_chords(self._transforms, self._rows[subjects], chords_of)

    def successive_chords(self, subjects: Ints, times: Floats) -> TransformChords:
        """Chords of known subjects (m,) between times (t + 1,): t * m rows, interval by interval."""
        objects = np.tile(self._rows[subjects], len(times) - 1)
        chords_of = chords_between_times(self._transforms, times, len(subjects))
        return transform_chords(self._transforms, objects, chords_of)

    @property
    def only_moves(self) -> Bools:
        """Mask (n,) of known subjects without parents that neither turn nor change their size."""
        is_simple = only_moves(self._transforms)
        known = self.is_known & ~self.skins.is_skinned
        return known & is_simple[np.maximum(self._rows, 0)] if len(is_simple) else known

    def location_deviations(self, subjects: Ints, begin: Floats, end: Floats) -> Floats:
        """Deviation (m,) of subjects (m,) that only move from linear motion, over intervals (m,)."""
        chords_of = chords_between(self._transforms, begin, end)
        return location_deviations(self._transforms, self._rows[subjects], chords_of)

    def successive_location_deviations(self, subjects: Ints, times: Floats) -> Floats:
        """Deviation (t, m) of subjects (m,) that only move, between times (t + 1,)."""
        count = len(times) - 1
        chords_of = chords_between_times(self._transforms, times, len(subjects))
        objects = np.tile(self._rows[subjects], count)
        return location_deviations(self._transforms, objects, chords_of).reshape(count, -1)

    def stay(self, subjects: Ints, matrices: Floats, begin: float, end: float) -> Bools:
        """Mask (m,) of subjects (m,) that are known to have matrices (m, 4, 4) from `begin` to `end`."""
        is_at_rest = self.is_known[subjects]
        known, expected = subjects[is_at_rest], matrices[is_at_rest]
        begins, ends = np.full(len(known), begin), np.full(len(known), end)
        is_still = (self.matrices(begins, known) == expected).all(axis=(1, 2))
        if begin < end:
            chords = self.chords(known, begins, ends)
            is_still &= (chords.begin == chords.end).all(axis=(1, 2))
            is_still &= (chords.offset == 0) & (chords.linear == 0) & (self.next_jumps(known, begins) > end)
        is_at_rest[is_at_rest] = is_still
        return is_at_rest

    def next_jumps(self, subjects: Ints, begin: Floats) -> Floats:
        """First time (m,) after `begin` (m,) at which known subjects (m,) jump; inf for none."""
        jumps = self._jumps.next_after(self._rows[subjects], begin)
        return np.minimum(jumps, self.skins.next_jumps(subjects, begin))

    def jumps_at(self, subjects: Ints, times: Floats) -> Bools:
        """Mask (t, m) of known subjects that jump at times (t,)."""
        jumps: Bools = self._jumps.at(self._rows[subjects], times) | self.skins.jumps_at(subjects, times)
        return jumps

    @property
    def keeps_form(self) -> Bools:
        """Mask (n,) of known subjects that only move and turn, and neither stretch nor shear."""
        rigid = self._transforms.keeps_form()
        return self.is_known & rigid[np.maximum(self._rows, 0)] if len(rigid) else self.is_known

    def matrices(self, times: Floats, subjects: Ints) -> Floats:
        """World matrices (m, 4, 4) of known subjects (m,), each at its own time (m,) in frames."""
        return self._transforms.matrices_of(self._rows[subjects], rounded_times(times)).astype(np.float64)

    def matrices_at(self, times: Floats, subjects: Ints) -> Floats:
        """World matrices (t, m, 4, 4) of known subjects (m,) at times (t,) in frames.

        Computes all that is known, which takes less time than `matrices` if most of it is wanted.
        """
        world = self._transforms.world_matrices(rounded_times(times))
        return world[:, self._rows[subjects]].astype(np.float64)


def times_to_compare(times: list[float]) -> list[float]:
    """Choose times at which curves are compared with a scene: the first, the last, and some in between."""
    rows = np.unique(np.linspace(0, len(times) - 1, _COMPARED).round().astype(int))
    chosen = [times[row] for row in rows.tolist()]
    if len(chosen) > 2:
        # Between frames too.
        chosen[1] = (chosen[1] + times[rows[1] + 1]) / 2
    return chosen


def read_curve_poses(
    scene_uid: int,
    uids: Ints,
    is_candidate: Bools,
    times: tuple[float, float],
    may_be_skinned: Bools | None = None,
) -> Generator[None, None, CurvePoses]:
    """Read the curves of those subjects that may be known; yields between steps, so that windows respond.

    scene_uid : session_uid of the scene.
    uids : (n,) int. session_uid of each subject's object.
    is_candidate : (n,) bool. Subjects that neither deform nor are instances or merged objects.
    times : (float, float). First and last frame.
    may_be_skinned : (n,) bool. Subjects that may be known if curves of bones bend their meshes, and boxes
        along the world's axes are wanted.
    """
    span = times[0] - _BEYOND, times[1] + _BEYOND
    skins = SkinPoses(len(uids))
    if may_be_skinned is not None and may_be_skinned.any():
        skins = yield from read_skin_poses(scene_uid, uids, may_be_skinned, span)
        is_candidate = is_candidate | skins.is_skinned
    curves, wanted = TransformCurves(), uids[is_candidate].tolist()
    for start in range(0, len(wanted), _OBJECTS_PER_STEP):
        scene = scene_by_uid(scene_uid)
        items = {item.session_uid: item for item in scene.objects}
        step = (items[uid] for uid in wanted[start : start + _OBJECTS_PER_STEP] if uid in items)
        curves.read(scene, step, span)
        if len(wanted) > _OBJECTS_PER_STEP:
            yield
    return CurvePoses(curves, uids, is_candidate, skins)
