"""Subjects that follow F-curves and drivers of the frame alone: poses and shapes, at any time and in between.

Playing evaluates all objects of a scene, and moves the user's playhead. The curves are compared with the
scene at a few times before they are relied on.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...core import Aabb, Meshes, Shape, Sphere
from ...core.curves.keyframes import rounded_times
from ...core.curves.transform_bounds import (
    Jumps,
    TransformChords,
    location_deviations,
    only_moves,
    transform_chords,
)
from ...core.curves.transforms import Transforms
from ...core.motion.samples import KNOWN_SHORTEST
from ...core.numeric.arrays import Bools, Floats, Ints, Singles
from ..blender.frames import scene_by_uid
from ..blender.mesh_data import MeshFaces
from ..fitting.fit_cache import FitCache, WorldBoxes
from ..settings import SHAPE_KINDS, ShapeKind, ShapeName
from .channels import Visibility
from .skin_poses import SkinPoses
from .skinned_meshes import read_skin_poses
from .transform_curves import TransformCurves

_ROUNDING = 2.0**-20
"""Difference of matrices, relative to their largest number, that single precision may cause."""
_BEYOND = 1.0
"""Frames before the first and after the last one in which motion is known too, for limits there."""


_TURN = 1e-3
"""Change of the direction of an axis, about in radians, from which on a subject rotates."""
MAX_COORDINATE = 1e15
"""Single precision is 1e8 coarse there. An endless curve reaches 1e38, where sweeps lose their digits."""
_FEW_TIMES = 8
"""Times of a scan that show whether most objects turn."""
_MOST_UNUSED = 4
"""Matrices of all objects at all times, for each that is wanted, that take no longer than those alone."""
_OBJECTS_PER_STEP = 256
"""Objects whose keys are read at once, which takes about 25 ms."""


@dataclass
class CurvePoses:
    """World matrices of subjects from curves, and when they are shown.

    transforms, jumps, visibility : Of all objects that were read.
    rows : (n,) int64. The object of each subject among these, -1 for none.
    is_known : (n,) bool. Subjects whose matrices and visibility follow from curves.
    skins : Shapes of those of them whose vertices follow from curves of bones; None if there are none.
    is_skinned : (n,) bool. These subjects.
    """

    transforms: Transforms
    jumps: Jumps
    visibility: Visibility
    rows: Ints
    is_known: Bools
    skins: SkinPoses | None
    is_skinned: Bools
    # World matrices (t, m, 4, 4) of all objects at the last times (t,) that were queried together.
    _grid_times: Floats = field(default_factory=lambda: np.empty(0))
    _grid: Singles = field(default_factory=lambda: np.empty((0, 0, 4, 4), dtype=np.float32))

    def compare(
        self, time: float, is_shown: Bools, expected: Floats, vertices: dict[int, NDArray[np.float32]]
    ) -> None:
        """Drop subjects that a scene hides or shows at `time`, in frames, or that are elsewhere in it.

        Only the matrices of those that are shown are compared, because Blender need not evaluate the others.

        is_shown, expected : (n,), (n, 4, 4) of all subjects
        vertices : of shown subjects that are skinned
        """
        if self.skins is not None:
            self.is_known[self.skins.differing(time, expected, vertices)] = False
        subjects = np.flatnonzero(self.is_known)
        is_shown, expected = is_shown[subjects], expected[subjects]
        found = self.matrices(np.full(len(subjects), time), subjects)
        largest = np.abs(expected).max(axis=(1, 2))
        is_same = ~is_shown | (np.abs(found - expected).max(axis=(1, 2)) <= _ROUNDING * largest)
        is_same &= is_shown == self.visibility.are_shown(self.rows[subjects], time)
        self.is_known[subjects[~is_same]] = False
        if self.skins is not None:
            self.skins.keep(self.is_known)

    @property
    def is_switched(self) -> Bools:
        """Mask (n,) of known subjects that may appear or disappear."""
        mask = self.is_known.copy()
        mask[mask] = self.visibility.is_switched[self.rows[mask]]
        return mask

    def matrices(self, times: Floats, subjects: Ints) -> Floats:
        """World matrices (m, 4, 4) of known subjects (m,), each at its own time (m,) in frames."""
        distinct = np.unique(times)
        if not np.isin(distinct, self._grid_times).all():
            if len(distinct) * len(self.transforms.parent) > _MOST_UNUSED * len(times):
                found = self.transforms.matrices_of(self.rows[subjects], rounded_times(times))
                return found.astype(np.float64)
            self._grid_times, self._grid = distinct, self.transforms.world_matrices(rounded_times(distinct))
        places = np.searchsorted(self._grid_times, times)
        return self._grid[places, self.rows[subjects]].astype(np.float64)


def read_curve_poses(
    scene_uid: int,
    uids: Ints,
    is_candidate: Bools,
    times: tuple[float, float],
    may_be_skinned: Bools,
    faces: Mapping[int, MeshFaces] | None = None,
) -> Generator[None, None, CurvePoses]:
    """Read the curves of those subjects that may be known; yields between steps, so that windows respond.

    scene_uid : session_uid of the scene.
    uids : (n,) int. session_uid of each subject's object.
    is_candidate : (n,) bool. Subjects that neither deform nor are instances or merged objects.
    times : (float, float). First and last frame.
    may_be_skinned : (n,) bool. Subjects that may be known if curves of bones bend their meshes.
    faces : Of these, if their triangles are wanted, and not boxes along the world's axes.
    """
    span = times[0] - _BEYOND, times[1] + _BEYOND
    skins = None
    if may_be_skinned.any():
        skins = yield from read_skin_poses(scene_uid, uids, may_be_skinned, span, faces or {})
    if skins is not None:
        is_candidate = is_candidate | skins.is_skinned
    curves, wanted = TransformCurves(), uids[is_candidate].tolist()
    for start in range(0, len(wanted), _OBJECTS_PER_STEP):
        scene = scene_by_uid(scene_uid)
        items = {item.session_uid: item for item in scene.objects}
        step = (items[uid] for uid in wanted[start : start + _OBJECTS_PER_STEP] if uid in items)
        curves.read(scene, step, span)
        if len(wanted) > _OBJECTS_PER_STEP:
            yield
    transforms, visibility = curves.transforms(), Visibility(curves.hidden_by)
    rows = np.array([curves.index_of.get(uid, -1) for uid in uids.tolist()], dtype=np.int64)
    is_known, is_skinned = (rows >= 0) & is_candidate, np.zeros(len(uids), dtype=bool)
    if skins is not None:
        skins.keep(is_known)
        is_skinned = skins.is_skinned
    return CurvePoses(transforms, Jumps(transforms), visibility, rows, is_known, skins, is_skinned)


_VERTICES_PER_COST = 2000
"""Vertices around which a box is fitted in the time that one takes to be moved."""
_COST_OF_BENT = 40.0
"""Cost of a mesh that bones bend: of its box, which hardly depends on the number of its vertices."""


class KnownShapes:
    """Shapes (N,) of subjects (n,), some of which follow curves. Implements `core.Motion`.

    is_certain : (N,) bool. Shapes of the subjects that do, and can be bounded.
    costs, grain : (N,) float64
    """

    def __init__(
        self,
        poses: CurvePoses,
        fits: FitCache,
        shape: ShapeName,
        is_eligible: Bools,
        span: tuple[float, float],
    ) -> None:
        """Find the known subjects among those that are eligible (n,); some subjects follow curves.

        span : first and last time
        """
        self._poses = poses
        kind = SHAPE_KINDS[shape]
        self._farthest = kind.farthest
        # None for boxes that are fitted.
        self._bound_surface = None if kind.fitted_as is Aabb else _bound_of_surface(kind)
        transforms, is_skinned = poses.transforms, poses.is_skinned
        self._only_moves = poses.is_known & ~is_skinned & only_moves(transforms)[poses.rows]
        is_known = poses.is_known & is_eligible & fits.is_fitted
        shrinks = fits.padding < 0
        # A box along the axes is fitted to the vertices at each time, and triangles follow any matrix; other
        # shapes are moved and turned.
        if kind.fitted_as is not Aabb:
            can_turn = ~fits.is_along_world | self._only_moves
            is_moved = transforms.keeps_form()[poses.rows] & fits.has_orientation & can_turn
            is_known &= is_moved | fits.is_mesh
        # Where numbers are too large for a scan, samples are without a subject, and say so.
        known, ends = np.flatnonzero(is_known), np.broadcast_to(np.array(span)[:, None], (2, len(is_known)))
        if span[0] < span[1]:
            chords = transform_chords(transforms, poses.rows[known], *ends[:, known])
            far = np.maximum(np.abs(chords.begin), np.abs(chords.end)).max(axis=(1, 2)) + chords.offset
            # Not a number compares as False.
            is_known[known[~(far + chords.linear <= MAX_COORDINATE)]] = False
        # Those that turn or grow may vanish at some times, because their padding is negative.
        is_known &= ~shrinks | self._only_moves
        small = np.flatnonzero(is_known & shrinks)
        if len(small):
            _, errors = fits.shapes_at(small, poses.matrices(np.zeros(len(small)), small))
            is_known[list(errors)] = False
        self._owner_of_part, self._fit_of_part = fits.owners, fits
        # Boxes along the world's axes have no parts, and are fitted again.
        if not isinstance(fits, WorldBoxes):
            self._fit_of_part = fits.by_part()
        self.is_certain: Bools = is_known[fits.owners]
        self.costs: Floats = np.ones(len(fits.owners))
        self.grain = np.full(len(fits.owners), KNOWN_SHORTEST)
        if shape == "mesh":
            self.costs[is_skinned[fits.owners]] = _COST_OF_BENT
        self._reach: Floats = np.full(len(is_known), np.nan)
        turns = is_known & ~self._only_moves & ~is_skinned
        if turns.any():
            self._reach, vertex_counts = fits.reach_and_counts()
            if shape == "aabb":
                self.costs += np.where(turns, vertex_counts / _VERTICES_PER_COST, 0)[fits.owners]

    def at(self, shapes: Ints, times: Floats, is_before: bool = False) -> Shape:
        subjects, poses = self._owner_of_part[shapes], self._poses
        matrices = poses.matrices(times, subjects)
        poses.jumps.put_limits(matrices, poses.rows[subjects], times, is_before)
        bent = None if poses.skins is None else poses.skins.shapes(subjects, times, is_before)
        return self._fit_of_part.shapes_at(shapes, matrices, bent)[0]

    def are_present(self, shapes: Ints, times: Floats) -> Bools:
        rows = self._poses.rows[self._owner_of_part[shapes]]
        return self._poses.visibility.are_shown(rows, times)

    def bound(self, shapes: Ints, begin: Floats, end: Floats) -> tuple[Floats, Bools]:
        subjects = self._owner_of_part[shapes]
        result, poses = np.zeros(len(subjects)), self._poses
        is_span = begin < end
        is_simple, is_bent = self._only_moves[subjects], poses.is_skinned[subjects]
        simple = np.flatnonzero(is_simple & is_span)
        turning = np.flatnonzero(~(is_simple | is_bent) & is_span)
        result[simple] = location_deviations(
            poses.transforms, poses.rows[subjects[simple]], begin[simple], end[simple]
        )
        if len(turning):
            turned = subjects[turning]
            span, reach = (begin[turning], end[turning]), self._reach[turned]
            chords = transform_chords(poses.transforms, poses.rows[turned], *span)
            if self._bound_surface is None:
                linear = chords.begin[:, :3, :3], chords.end[:, :3, :3]
                assert isinstance(self._fit_of_part, WorldBoxes), "others have surfaces with a bound"
                kinks = self._fit_of_part.stacked().kinks(turned, reach, *linear)
                result[turning] = chords.offset + chords.linear * reach + kinks
            else:
                reach *= self._farthest
                points = chords.offset + chords.linear * reach
                result[turning] = self._bound_surface(points, chords, reach)
        bent = np.flatnonzero(is_bent & is_span)
        if poses.skins is not None and len(bent):
            result[bent] = poses.skins.deviations(subjects[bent], begin[bent], end[bent])
        return (result, np.zeros(len(subjects), dtype=bool))

    def breaks(self, shapes: Ints, begin: Floats, end: Floats) -> Floats:
        subjects, poses = self._owner_of_part[shapes], self._poses
        jumps = poses.jumps.next_after(poses.rows[subjects], begin)
        if poses.skins is not None:
            jumps = np.minimum(jumps, poses.skins.next_jumps(subjects, begin))
        return np.where(jumps < end, jumps, np.inf)

    def turning(self, subjects: Ints, times: Floats) -> Ints:
        """Return those of certain subjects (m,) whose axes have turned at any of increasing times (t,)."""
        is_known = np.isin(subjects, self._owner_of_part[self.is_certain])
        subjects = subjects[is_known & ~self._only_moves[subjects] & ~self._poses.is_skinned[subjects]]
        found = []
        # A few times show most of those that turn.
        for chosen in (times[:: max(1, len(times) // _FEW_TIMES)], times):
            for begin in range(0, len(subjects), _OBJECTS_PER_STEP):
                chunk = subjects[begin : begin + _OBJECTS_PER_STEP]
                every = np.append(times[0], chosen)
                matrices = self._poses.matrices(np.tile(every, len(chunk)), np.repeat(chunk, len(every)))
                columns = matrices.reshape(len(chunk), len(every), 4, 4)[..., :3, :3]
                found.append(chunk[axes_turn(columns[:, :1], columns).any(axis=1)])
            subjects = np.setdiff1d(subjects, np.concatenate([subjects[:0], *found]))
        return np.sort(np.concatenate([subjects[:0], *found]))


def axes_turn(first: Floats, linear: Floats) -> Bools:
    """Mask (...) of linear maps (..., 3, 3) whose axes have other directions than those of `first`."""
    # Not a number, which is no change, for axes that are collapsed.
    with np.errstate(invalid="ignore", divide="ignore"):
        before, after = (each / np.linalg.norm(each, axis=-2, keepdims=True) for each in (first, linear))
    return np.asarray((np.abs(after - before) > _TURN).any(axis=(-2, -1)))


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


def _bound_of_surface(shape: ShapeKind) -> Callable[[Floats, TransformChords, Floats], Floats]:
    """Find the bound of the deviation of surfaces that are moved.

    Raises TypeError for any other shape, because its surface may deviate in another way.
    """
    kind = shape.fitted_as
    if kind in (Sphere, Meshes):  # no axes turn: its deviation is that of points
        return lambda points, _chords, _reach: points
    if kind is not None and shape.farthest < np.inf:
        for name, bound in (("axis", _bound_axis), ("rotation", _bound_axes)):
            if name in kind.field_shapes:
                return bound
    raise TypeError(f"the motion of {shape.label} has no bound")
