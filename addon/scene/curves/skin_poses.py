"""Boxes along the world's axes around meshes that armatures bend, from the curves of the bones."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.curves.bezier import Singles
from ...core.curves.jumps import SHORT, Jumps
from ...core.curves.keyframes import rounded_times
from ...core.curves.transform_bounds import (
    TransformChords,
    all_chords,
    successive_all_chords,
    transform_chords,
)
from ...core.curves.transforms import Transforms
from ...core.numeric.arrays import Bools, Floats, Ints
from ...core.skins.box_deviations import box_deviations
from ..blender.frames import scene_by_uid
from .skinned_meshes import Skin, bending_armature, read_skin
from .transform_curves import TransformCurves

_ROUNDING = 2.0**-16
"""Difference of vertices, relative to the largest coordinate, that single precision may cause in chains."""

_COMPARED = 1000
"""Vertices of a mesh that are compared with Blender's at each time, at least, if there are so many."""


class SkinBoxes(NamedTuple):
    """World boxes of some of the rows of a batch.

    Attributes
    ----------
    rows : (k,) int64
        Increasing.
    low, high : (k, 3) float64
        Minima and maxima.
    """

    rows: Ints
    low: Floats
    high: Floats


class _Rig:
    """An armature, and the skins that it bends."""

    def __init__(self, transforms: Transforms, skins: list[Skin]) -> None:
        self.transforms, self.skins = transforms, skins
        self.jumps = Jumps(transforms)
        # Matrices at the last times: those of boxes are the ones between which bones move.
        self._recent: tuple[Floats, Singles] | None = None

    def matrices(self, times: Floats) -> Singles:
        """World matrices (t, r, 4, 4) of all rows at increasing times (t,)."""
        if self._recent is None or not np.array_equal(self._recent[0], times):
            self._recent = times, self.transforms.world_matrices(rounded_times(times))
        return self._recent[1]

    def moved(self, times: Floats) -> Bools:
        """Mask (t, r) of rows that move between times (t + 1,)."""
        matrices = self.matrices(times[1:])
        first = self.transforms.world_matrices(rounded_times(times[:1]))
        before = np.concatenate([first, matrices[:-1]])
        return np.asarray((matrices != before).any(axis=(2, 3)))

    def members(self, subjects: Ints) -> Ints:
        """Rows of those of `subjects` (m,) that are among its skins."""
        return np.flatnonzero(np.isin(subjects, [skin.subject for skin in self.skins]))

    def limits(self, times: Floats, is_before: bool) -> Floats:
        """World matrices (t, r, 4, 4) of all rows at increasing times (t,), or their limits from before.

        Blender shows a key from a little before it on, so where a jump follows at once, the limit from before
        that time is the one at it.
        """
        matrices = self.matrices(times).astype(np.float64)
        count = matrices.shape[1]
        rows, moments = np.tile(np.arange(count), len(times)), np.repeat(times, count)
        near = np.flatnonzero(self.jumps.next_after(rows, moments - SHORT) < moments + SHORT)
        if len(near):
            rows, ends = rows[near], moments[near]
            if is_before:
                limits = transform_chords(self.transforms, rows, ends - SHORT, ends).end
            else:
                limits = transform_chords(self.transforms, rows, ends, ends + SHORT).begin
            matrices.reshape(-1, 4, 4)[near] = limits
        return matrices


class SkinPoses:
    """Boxes of subjects (n,) that armatures bend.

    Attributes
    ----------
    is_skinned : (n,) bool
        Subjects whose boxes follow from curves of bones.
    """

    def __init__(self, count: int, rigs: Sequence[_Rig] = ()) -> None:
        """Take the skins of rigs, among `count` subjects."""
        self.is_skinned: Bools = np.zeros(count, dtype=bool)
        self._rigs = rigs
        for _, skin in self._skins():
            self.is_skinned[skin.subject] = True

    def _skins(self) -> list[tuple[_Rig, Skin]]:
        return [(rig, skin) for rig in self._rigs for skin in rig.skins]

    def keep(self, is_kept: Bools) -> None:
        """Forget the subjects that a mask (n,) does not have."""
        self.is_skinned &= is_kept
        for rig in self._rigs:
            rig.skins[:] = [skin for skin in rig.skins if self.is_skinned[skin.subject]]

    def differing(self, time: float, matrices: Floats, vertices: dict[int, NDArray[np.float32]]) -> list[int]:
        """Return the skinned subjects that a scene shows in another form.

        Parameters
        ----------
        time : float
            In frames.
        matrices : (n, 4, 4) float64
            World matrices of all subjects.
        vertices : dict
            Vertices of the skinned subjects that are shown, in the space of their objects.
        """
        differing = []
        for rig, skin in self._skins():
            if skin.subject in vertices:
                matrix = matrices[skin.subject]
                expected = vertices[skin.subject] @ matrix[:3, :3].T + matrix[:3, 3]
                bones = rig.limits(np.array([time]), is_before=False)[0, skin.rows]
                if not _is_same(skin, bones, expected):
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
        low, high = np.empty((2, len(rows), 3))
        for rig in self._rigs:
            mine = rig.members(subjects)
            moments, of_moment = np.unique(times[mine], return_inverse=True)
            matrices = rig.limits(moments, is_before) if len(mine) else np.empty(0)
            for skin in rig.skins:
                wanted = subjects[mine] == skin.subject
                used, of_used = np.unique(of_moment[wanted], return_inverse=True)
                if len(used):
                    minima, maxima = skin.points.boxes(matrices[used][:, skin.rows])
                    low[mine[wanted]], high[mine[wanted]] = minima[of_used], maxima[of_used]
        return SkinBoxes(rows, low, high)

    def moved(self, times: Floats) -> Bools:
        """Mask (t, n) of skinned subjects that a bone moves between times (t + 1,)."""
        result = np.zeros((len(times) - 1, len(self.is_skinned)), dtype=bool)
        for rig in self._rigs:
            differs = rig.moved(times)
            for skin in rig.skins:
                result[:, skin.subject] = differs[:, skin.rows].any(axis=1)
        return result

    def deviations(self, subjects: Ints, begin: Floats, end: Floats) -> Floats:
        """Bound the deviation (m,) of the sides of boxes of skinned subjects (m,) from linear motion."""
        result = np.empty(len(subjects))
        spans = np.stack([begin, end], axis=1)
        for rig in self._rigs:
            mine = rig.members(subjects)
            if not len(mine):
                continue
            distinct, of_span = np.unique(spans[mine], axis=0, return_inverse=True)
            chords = all_chords(rig.transforms, *distinct.T)
            for skin in rig.skins:
                wanted = subjects[mine] == skin.subject
                bounds = box_deviations(skin.points.balls, _chords_of(skin, chords, len(distinct)))
                result[mine[wanted]] = bounds[of_span.reshape(-1)[wanted]]
        return result

    def successive_deviations(self, subjects: Ints, times: Floats) -> Floats:
        """Deviations (t, m) of skinned subjects (m,) between times (t + 1,)."""
        count = len(times) - 1
        result = np.empty((count, len(subjects)))
        for rig in self._rigs:
            chords = successive_all_chords(rig.transforms, times)
            for skin in rig.skins:
                bounds = box_deviations(skin.points.balls, _chords_of(skin, chords, count))
                result[:, np.flatnonzero(subjects == skin.subject)] = bounds[:, None]
        return result

    def next_jumps(self, subjects: Ints, begin: Floats) -> Floats:
        """First time (m,) after `begin` (m,) at which a bone of skinned subjects (m,) jumps; inf for none."""
        result = np.full(len(subjects), np.inf)
        for rig, skin in self._skins():
            mine = np.flatnonzero(subjects == skin.subject)
            for row in skin.rows.tolist():
                jumps = rig.jumps.next_after(np.full(len(mine), row), begin[mine])
                result[mine] = np.minimum(result[mine], jumps)
        return result

    def jumps_at(self, subjects: Ints, times: Floats) -> Bools:
        """Mask (t, m) of skinned subjects (m,) of which a bone jumps at times (t,)."""
        result = np.zeros((len(times), len(subjects)), dtype=bool)
        for rig, skin in self._skins():
            jumps = rig.jumps.at(skin.rows, times).any(axis=1, keepdims=True)
            result[:, np.flatnonzero(subjects == skin.subject)] = jumps
        return result


def _is_same(skin: Skin, bones: Floats, expected: Floats) -> bool:
    """Return whether a skin has a box, and vertices at many places, as Blender: expected (n, 3)."""
    if len(expected) != skin.points.count:
        return False
    rows = np.arange(0, len(expected), max(1, len(expected) // _COMPARED))
    low, high = skin.points.boxes(bones[None])
    found = np.concatenate([skin.points.positions(bones, rows), low, high])
    wanted = np.concatenate([expected[rows], [expected.min(axis=0), expected.max(axis=0)]])
    return bool(np.abs(found - wanted).max() <= _ROUNDING * np.abs(expected).max())


def _chords_of(skin: Skin, chords: TransformChords, intervals: int) -> TransformChords:
    """Choose the chords of a skin's bones among those (intervals * r,) of all rows of its rig."""
    count = len(chords.offset) // intervals
    rows = (np.arange(intervals)[:, None] * count + skin.rows).reshape(-1)
    return TransformChords(*(values[rows] for values in chords))


def read_skin_poses(
    scene_uid: int, uids: Ints, is_candidate: Bools, times: tuple[float, float]
) -> Generator[None, None, SkinPoses]:
    """Read the skins of those subjects that have one; yields after each, so that windows respond.

    Parameters
    ----------
    scene_uid : int
        session_uid of the scene.
    uids : (n,) int
        session_uid of each subject's object.
    is_candidate : (n,) bool
        Subjects that are whole objects whose mesh, as its modifiers change it, may deform.
    times : (float, float)
        First and last time at which they must be known, in frames.
    """
    rigs: dict[int, tuple[TransformCurves, list[Skin]]] = {}
    objects: dict[int, bpy.types.Object] = {}
    for subject in np.flatnonzero(is_candidate).tolist():
        scene = scene_by_uid(scene_uid)
        objects = objects or {item.session_uid: item for item in scene.objects}
        item = objects.get(uids[subject])
        armature = None if item is None else bending_armature(item)
        if item is None or armature is None:
            continue
        key = armature.session_uid
        if key not in rigs:
            rigs[key] = TransformCurves(), []
            rigs[key][0].read(scene, [armature], times)
            rigs[key][0].read_bones(armature, times)
        known, skins = rigs[key]
        known.read(scene, [item], times)
        skin = read_skin(subject, item, armature, known)
        if skin is not None:
            skins.append(skin)
        # None of Blender's objects may be used after this yield.
        objects = {}
        del item, armature
        yield
    found = [(known.transforms(), skins) for known, skins in rigs.values() if skins]
    return SkinPoses(len(uids), [_Rig(transforms, skins) for transforms, skins in found])
