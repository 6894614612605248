"""Meshes that armatures bend, and boxes along the world's axes around them, from the curves of the bones."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.curves.keyframes import rounded_times
from ...core.curves.transform_bounds import SHORT, Jumps, TransformChords, hierarchy_chords
from ...core.curves.transforms import Hierarchy, Transforms
from ...core.mesh.bent_bvh import BentPoses, RecentVertices
from ...core.mesh.mesh_bvh import MeshBvh
from ...core.mesh.quad_cuts import CutChanges, CutWatch, QuadCuts
from ...core.numeric.arrays import Bools, Floats, Ints, Singles
from ...core.skins.blended_points import (
    BlendedPoints,
    RecentPoints,
    kinks_between,
    kinks_of_any,
    point_deviations,
)
from ..fitting.fit_cache import SkinBoxes, SkinMeshes, Skins

_ROUNDING = 2.0**-16
"""Difference of vertices, relative to the largest coordinate, that single precision may cause in chains."""

_COMPARED = 1000
"""Vertices of a mesh that are compared with Blender's at each time, at least, if there are so many."""

_MOST_BONES = 1 << 14
"""Bones at their moments whose matrices and bounds are computed together: about 40 MB."""


_CHECKED, _MOST_TIMES = 1 << 18, 64
"""Vertices, and times, at which the faces of a mesh are checked together, at most: about 20 ms."""


class Skin(NamedTuple):
    """A mesh that an armature bends.

    subject : Index of the subject whose mesh it is.
    rows : (b,) int64. Indices of the bones in the transforms, and maybe of the mesh's object, which carries
        vertices without weights.
    points : Vertices, carried by these: of faces alone, if triangles are wanted.
    vertices : Number of all vertices of the mesh.
    used : (n,) int64. The vertices of faces, if triangles are wanted.
    quads : Quads of these that may be cut in another way where the mesh bends.
    """

    subject: int
    rows: Ints
    points: BlendedPoints
    vertices: int
    used: Ints | None = None
    quads: QuadCuts | None = None


class _Moments(NamedTuple):
    """Bones of skins at distinct times or intervals, few enough to be computed together.

    hierarchy : Hierarchy, (h,). Of the bones, with all their parents, at each of their moments.
    values : (q, ...) float64. Distinct moments.
    moment_of : (h,) int64. Moment of each object of the hierarchy.
    skins : Each with its rows (k,) among the wanted ones, its moments (t,), which of these each row has (k,),
        and the places (t, b) of its bones in the hierarchy.
    """

    hierarchy: Hierarchy
    values: Floats
    moment_of: Ints
    skins: list[tuple[Skin, Ints, Ints, Ints, Ints]]


class SkinPoses:
    """Shapes of subjects (n,) that armatures bend: boxes, or meshes.

    is_skinned : (n,) bool. Subjects whose vertices follow from curves of bones.
    """

    def __init__(self, count: int, transforms: Transforms, skins: Sequence[Skin]) -> None:
        """Take skins, among `count` subjects, and the transforms of all their bones."""
        self.is_skinned: Bools = np.zeros(count, dtype=bool)
        # Matrices of all at the last times: those of boxes are the ones between which bones move.
        self._recent: deque[tuple[Floats, Singles]] = deque(maxlen=2)
        # Meshes of the subjects whose triangles are wanted, how far these may be from how Blender cuts faces,
        # and when it cuts some in another way.
        self._meshes: dict[int, BentPoses] = {}
        self._gaps = np.zeros(count)
        self._changes: dict[int, CutChanges] = {}
        # By subject, of the boxes computed last.
        self._outermost = {skin.subject: RecentPoints() for skin in skins}
        self._transforms = transforms
        self._jumps = Jumps(transforms)
        self.is_skinned[[skin.subject for skin in skins]] = True
        self._skins = list(skins)
        self._bone_counts = np.zeros(count, dtype=np.int64)
        self._bone_counts[[skin.subject for skin in skins]] = [len(skin.rows) for skin in skins]

    def keep(self, is_kept: Bools) -> None:
        """Forget the subjects that a mask (n,) does not have."""
        self.is_skinned &= is_kept
        self._skins = [skin for skin in self._skins if self.is_skinned[skin.subject]]

    def differing(self, time: float, matrices: Floats, vertices: dict[int, NDArray[np.float32]]) -> list[int]:
        """Return the skinned subjects that a scene shows in another form.

        time : In frames.
        matrices : (n, 4, 4) float64. World matrices of all subjects.
        vertices : Vertices of the skinned subjects that are shown, in the space of their objects.
        """
        differing = []
        subjects = np.array(sorted(vertices), dtype=np.int64)
        for moments in self._moments(subjects, np.full(len(subjects), time)):
            of_bones = self._limits(moments, is_before=False)
            for skin, *_, places in moments.skins:
                # Coordinate by coordinate, which is ten times as fast as a reduction over points.
                matrix = matrices[skin.subject]
                expected = matrix[:3, :3] @ vertices[skin.subject].T + matrix[:3, 3:]
                is_same = expected.shape[1] == skin.vertices
                if is_same:
                    expected = expected if skin.used is None else expected[:, skin.used]
                    count = expected.shape[1]
                    bones, rows = of_bones[places[0]], np.arange(0, count, max(1, count // _COMPARED))
                    low, high, _ = skin.points.boxes(bones[None])
                    found = np.concatenate([skin.points.positions(bones, rows), low, high])
                    low, high = expected.min(axis=1), expected.max(axis=1)
                    wanted = np.concatenate([expected[:, rows].T, [low, high]])
                    is_same = bool(np.abs(found - wanted).max() <= _ROUNDING * max(-low.min(), high.max()))
                if not is_same:
                    differing.append(skin.subject)
        return differing

    def following_cuts(self, times: Floats) -> Generator[None, None, list[int]]:
        """Find when Blender cuts faces in another way, between increasing times (t,); yields now and then.

        At these times, the triangles are Blender's own for certain. A face that folds and unfolds between two
        of them is not seen, like one that is folded before a jump only.

        Returns the subjects whose faces change too often to be followed.
        """
        refused = []
        for skin in self._skins:
            if skin.quads is None or not skin.quads.corners.size:
                continue
            watch, step = CutWatch(skin.quads), min(1 + _CHECKED // skin.points.count, _MOST_TIMES)
            for begin in range(0, len(times), step):
                chunk = slice(begin, begin + step)
                bones = self._bones_at(skin, times[chunk])
                # Between two times at which the bones are where they were, nothing is cut in another way.
                differs = np.append((bones[1:] != bones[:-1]).any(axis=(1, 2, 3)), True)
                differs[1:] |= differs[:-1]
                differs[0] = True
                for place in np.flatnonzero(differs).tolist():
                    watch.check(float(times[begin + place]), skin.points.vertices(bones[place]))
                yield
            changes = watch.changes(partial(self._corners_at, skin))
            if changes is None:
                refused.append(skin.subject)
                continue
            self._gaps[skin.subject] = watch.gap
            if len(changes.times):
                self._changes[skin.subject] = changes
        return refused

    def _bones_at(self, skin: Skin, times: Floats) -> Floats:
        """World matrices (t, b, 4, 4) of the bones of a skin at times (t,)."""
        found = []
        for moments in self._moments(np.full(len(times), skin.subject), times):
            ((_, _, _, of_row, places),) = moments.skins
            found.append(self._limits(moments, is_before=False)[places][of_row])
        return np.concatenate(found)

    def _corners_at(self, skin: Skin, corners: Ints, times: Floats) -> Floats:
        """Places (4, k, 3) of vertices (4, k) of a skin, each at its time (k,)."""
        return skin.points.positions_at(self._bones_at(skin, times), corners.T).swapaxes(0, 1)

    def set_meshes(self, first: Mapping[int, MeshBvh]) -> None:
        """Let shapes be meshes: those of all skinned subjects when their trees were built."""
        recent = RecentVertices()
        for skin in self._skins:
            changes = self._changes.get(skin.subject)
            cuts = None if skin.quads is None or changes is None else (skin.quads, changes)
            self._meshes[skin.subject] = BentPoses(first[skin.subject], skin.points, recent, cuts)

    def shapes(self, subjects: Ints, times: Floats, is_before: bool = False) -> Skins | None:
        """Boxes or meshes of those of `subjects` (m,) that are skinned, each at its own time (m,) in frames.

        is_before : whether to compute the limit from earlier times
        """
        rows = np.flatnonzero(self.is_skinned[subjects])
        if not len(rows):
            return None
        (low, high), nodes = np.empty((2, len(rows), 3)), np.empty(len(rows), dtype=object)
        for moments in self._moments(subjects[rows], times[rows]):
            matrices = self._limits(moments, is_before)
            for skin, mine, used, of_row, places in moments.skins:
                bones, at = matrices[places], moments.values[used]
                if self._meshes:
                    nodes[mine] = self._meshes[skin.subject].posed(bones, at, is_before)[of_row]
                    continue
                minima, maxima, outermost = skin.points.boxes(bones)
                low[mine], high[mine] = minima[of_row], maxima[of_row]
                if not is_before:
                    self._outermost[skin.subject].add(at, outermost)
        return SkinMeshes(rows, nodes) if self._meshes else SkinBoxes(rows, low, high)

    def _moments(self, subjects: Ints, values: Floats) -> Iterator[_Moments]:
        """Find the bones of skinned subjects (m,) at times or intervals (m, ...), some of them at once."""
        part_of = np.cumsum(self._bone_counts[subjects]) // _MOST_BONES
        for part in np.unique(part_of).tolist():
            chosen = np.flatnonzero(part_of == part)
            distinct, moment = np.unique(values[chosen], axis=0, return_inverse=True)
            skins, objects, moments = [], [], []
            for skin in self._skins:
                rows = np.flatnonzero(subjects[chosen] == skin.subject)
                if len(rows):
                    used, of_row = np.unique(moment.reshape(-1)[rows], return_inverse=True)
                    skins.append((skin, chosen[rows], used, of_row))
                    objects.append(np.tile(skin.rows, len(used)))
                    moments.append(np.repeat(used, len(skin.rows)))
            hierarchy, moment_of, places = self._transforms.hierarchy_of(
                np.concatenate(objects), np.concatenate(moments)
            )
            ends = np.cumsum([len(each) for each in objects])
            of_skins = np.split(places, ends[:-1])
            yield _Moments(
                hierarchy,
                distinct,
                moment_of,
                [
                    (*each, of_skin.reshape(len(each[2]), -1))
                    for each, of_skin in zip(skins, of_skins, strict=True)
                ],
            )

    def _limits(self, moments: _Moments, is_before: bool) -> Floats:
        """World matrices (h, 4, 4) of bones at their times, or their limits from before."""
        hierarchy, values, moment_of, skins = moments
        if all(len(used) == len(values) for _, _, used, *_ in skins):
            matrices = self._world(values)[moment_of, hierarchy.objects].astype(np.float64)
        else:
            found = self._transforms.hierarchy_matrices(hierarchy, rounded_times(values[moment_of]))
            matrices = found.astype(np.float64)
        self._jumps.put_limits(matrices, hierarchy.objects, values[moment_of], is_before)
        return matrices

    def _world(self, times: Floats) -> Singles:
        """World matrices (t, n, 4, 4) of all objects and bones at increasing times (t,)."""
        for known, matrices in self._recent:
            places = np.minimum(np.searchsorted(known, times), len(known) - 1)
            if np.array_equal(known[places], times):
                return matrices if len(times) == len(known) else matrices[places]
        self._recent.append((times, self._transforms.world_matrices(rounded_times(times))))
        return self._recent[-1][1]

    def moved(self, times: Floats) -> Bools:
        """Mask (t, n) of skinned subjects that a bone moves, from each of successive times to the next."""
        world = self._world(times)
        differs = (world[1:] != world[:-1]).any(axis=(2, 3))
        result = np.zeros((len(differs), len(self.is_skinned)), dtype=bool)
        for skin in self._skins:
            result[:, skin.subject] = differs[:, skin.rows].any(axis=1)
        return result

    def deviations(self, subjects: Ints, begin: Floats, end: Floats) -> Floats:
        """Bound the deviation (m,) from linear motion of skinned subjects (m,): of vertices, or of boxes."""
        result = np.empty(len(subjects))
        for moments in self._moments(subjects, np.stack([begin, end], axis=1)):
            hierarchy, values, moment_of, skins = moments
            chords = hierarchy_chords(self._transforms, hierarchy, *values[moment_of].T)
            for skin, mine, used, of_row, places in skins:
                of_bones = chords.take(places.reshape(-1))
                if self._meshes:
                    found = point_deviations(skin.points.balls, of_bones) + self._gaps[skin.subject]
                    if skin.subject in self._changes:
                        found = found + self._changes[skin.subject].rooms(*values[used].T)
                else:
                    found = self._bounds(skin, of_bones, values[used])
                result[mine] = found[of_row]
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
        for skin in self._skins:
            mine = np.flatnonzero(subjects == skin.subject)
            bones, times = np.tile(skin.rows, len(mine)), begin[mine].repeat(len(skin.rows))
            result[mine] = self._jumps.next_after(bones, times).reshape(-1, len(skin.rows)).min(axis=1)
            if skin.subject in self._changes:
                changes = self._changes[skin.subject].next_after(begin[mine])
                result[mine] = np.minimum(result[mine], changes)
        return result
