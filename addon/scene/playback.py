"""The scene's animation as a Motion, and the promise that the playhead ends up where it was."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import Sample, Shape, sphere_tree_from_triangles
from ..core.arrays import Bools, Ints
from ..formats import Skipped
from .carried_fits import CarriedFits
from .changes import Simulations, may_deform
from .errors import SceneError
from .extraction import Geometry, geometry_of, points_of, triangles_of
from .fitting import FitSettings, Groups, ShapeName
from .obstacles import MeshObstacles
from .subjects import Selection, Subject, accepted
from .walk import Key, visible

_FARTHEST = 1e15
"""Blender's numbers are 10^8 apart there. An endless curve gives 10^38, in which sweeps lose their digits."""


def scene_by_uid(uid: int) -> bpy.types.Scene:
    """The scene with that session_uid. Raises SceneError when it is gone."""
    for scene in bpy.data.scenes:
        if scene.session_uid == uid:
            return scene
    raise SceneError("the scene was removed while it was being looked at")


def playhead(scene: bpy.types.Scene) -> float:
    """The frame of the timeline, maybe fractional, where `scene` stands; what `go_to` takes.

    Blender's own `frame_current_final` is a frame of the animation, which time remapping may stretch.
    """
    return scene.frame_current + scene.frame_subframe


def go_to(scene: bpy.types.Scene, frame: float) -> None:
    """Evaluate `scene` at a frame that may be fractional.

    Like moving the playhead, this takes back changes to animated values that were not keyed.
    """
    whole = math.floor(frame)
    scene.frame_set(whole, subframe=frame - whole)


def arrive(scene: bpy.types.Scene, time: float, simulations: Simulations, last: float | None) -> None:
    """Evaluate `scene` at a frame that may be fractional, coming from `last`, None for anywhere.

    A simulation that is not baked is played on the way, frame by frame.
    """
    if simulations.first_frame is not None:
        begin = simulations.first_frame if last is None else math.floor(last) + 1
        for frame in range(begin, math.ceil(time)):
            scene.frame_set(frame)
    go_to(scene, time)


@contextmanager
def frame_kept(scene: bpy.types.Scene) -> Iterator[None]:
    """Whatever happens inside, also an exception, `scene` returns to its frame and sub-frame."""
    uid, frame = scene.session_uid, playhead(scene)
    try:
        yield
    finally:
        for candidate in bpy.data.scenes:
            if candidate.session_uid == uid and playhead(candidate) != frame:
                go_to(candidate, frame)


class Playback:
    """The motion of `subjects`: evaluates the scene at a time and gives each subject its shape.

    Implements `core.SubframeMotion`. What moves without deforming is fitted once, and only its matrix is read
    in a frame. A subject that is gone, or has no usable geometry, is not present in that sample; `left_out`
    collects why. Made at the first frame of the scan.
    """

    def __init__(
        self,
        scene: bpy.types.Scene,
        subjects: Sequence[Subject],
        selection: Selection,
        shape: ShapeName,
        settings: FitSettings,
        obstacles: MeshObstacles,
    ) -> None:
        self._obstacles = obstacles
        self._scene_uid = scene.session_uid
        self._subjects = subjects
        self._index = {subject.key: index for index, subject in enumerate(subjects)}
        self._modifiers = settings.modifiers
        self._problems: dict[str, str] = {}
        # What is there at the first frame and is no subject is left out for a reason that was given.
        self._is_accepted = accepted(scene, selection)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        self._known: set[Key] = set()
        self._placed_at: float | None = None
        self._simulations = Simulations.of(scene)
        uids = {item.name_full: item.session_uid for item in bpy.data.objects}
        self._uid = np.array([uids.get(subject.key[0], -1) for subject in subjects], dtype=np.int64)
        # Of an instance, the object that it shows.
        self._shown_uid = np.array([uids.get(subject.key[1], -1) for subject in subjects], dtype=np.int64)
        # Instances have no matrix of their own to read: they are walked over, in each frame.
        self._is_instance = np.array([bool(subject.key[2]) for subject in subjects], dtype=bool)
        self._deforms = np.zeros(len(subjects), dtype=bool)
        self._walks = bool(self._is_instance.any())
        self._order = _ObjectOrder(self._uid)
        self._all = np.arange(len(subjects))
        self._missed = np.zeros(len(subjects), dtype=bool)
        self._solid = np.isin(self._all, obstacles.indices)
        self._fits = self._fitted(scene, depsgraph, shape, settings)

    def _fitted(
        self,
        scene: bpy.types.Scene,
        depsgraph: bpy.types.Depsgraph,
        shape: ShapeName,
        settings: FitSettings,
    ) -> CarriedFits:
        """All subjects fitted where they are."""
        found: dict[int, Geometry] = {}
        groups: list[Groups] = [(np.zeros(0, dtype=np.int64), np.array([0, 0]))] * len(self._subjects)
        for item in visible(depsgraph):
            self._known.add(item.key)
            index = self._index.get(item.key)
            evaluated = item.instance.object
            if evaluated.original.is_instancer:
                self._walks = True
            if index is None:
                continue
            if evaluated.type != evaluated.original.type:
                # Geometry nodes made a mesh of hair, say: there is no such object but in the walk.
                self._is_instance[index] = self._walks = True
            self._deforms[index] = may_deform(evaluated.original, self._modifiers)
            found[index] = geometry_of(item, self._modifiers)
            if index in self._obstacles:
                geometry = found.pop(index)
                self._obstacles.take(index, geometry, triangles_of(evaluated, self._modifiers))
            elif shape == "spheres":
                groups[index] = _leaf_groups(found[index].points, triangles_of(evaluated, self._modifiers))
        leaves = groups if shape == "spheres" else None
        fits = CarriedFits(len(self._subjects), shape, settings, leaves, self._obstacles.indices)
        # What cannot be fitted now is said when it is sampled.
        fits.fit(list(found), list(found.values()))
        return fits

    @property
    def owners(self) -> Ints | None:
        """(N,) the subject that each shape of a sample is part of; None where each is one."""
        whole = np.array_equal(self._fits.owners, np.arange(len(self._subjects)))
        return None if whole else self._fits.owners

    @property
    def refinable(self) -> Bools:
        """(n,) which subjects can be evaluated between frames: not what is simulated.

        Nothing at all, while a simulation is not baked: going back and forth would spoil its cache.
        """
        if self._simulations.first_frame is not None:
            return np.zeros(len(self._subjects), dtype=bool)
        simulated = list(self._simulations.uids)
        return ~(np.isin(self._uid, simulated) | np.isin(self._shown_uid, simulated))

    @property
    def left_out(self) -> list[Skipped]:
        """One record a subject that was left out of a sample: the first time, and why."""
        return [Skipped(name, reason) for name, reason in self._problems.items()]

    def sample(self, time: float) -> Sample:
        """The shapes of all subjects at `time`, a frame that may be fractional; times must grow."""
        scene = scene_by_uid(self._scene_uid)
        arrive(scene, time, self._simulations, self._placed_at)
        self._placed_at = time
        shapes, present, places = self._shapes(scene, time, self._all)
        if not present.all():
            for index in np.flatnonzero(~(present | self._missed)).tolist():
                why = f"not there at frame {time:g}: no contacts looked for while away"
                self._problems.setdefault(self._subjects[index].name, why)
            self._missed |= ~present
        return Sample(shapes, present, places)

    def sample_between(self, time: float, subjects: Ints) -> Sample:
        """The shapes of some subjects at any time, as parts if they have parts."""
        scene = scene_by_uid(self._scene_uid)
        go_to(scene, time)
        subjects = np.union1d(subjects, self._obstacles.indices)
        shapes, present, places = self._shapes(scene, time, subjects)
        parts = np.isin(self._fits.owners, subjects)
        where = np.searchsorted(subjects, self._fits.owners[parts])
        return Sample(shapes, present[where], places)

    def _shapes(
        self, scene: bpy.types.Scene, time: float, subjects: Ints
    ) -> tuple[Shape, Bools, NDArray[np.float64] | None]:
        """Shapes of the parts of growing `subjects` (m,), which of those are there, and where obstacles are.

        All obstacles are among the subjects.
        """
        # Of few objects each array call here takes as long as a part of what Blender needs for the frame.
        depsgraph = bpy.context.evaluated_depsgraph_get()
        place, present, matrices = self._order.read(scene, subjects)
        present &= ~self._is_instance[subjects]
        stale: dict[int, Geometry] = {}
        deforming = np.flatnonzero(present & self._deforms[subjects]) if self._deforms.any() else ()
        if self._order.changed or self._walks:
            self._walk(depsgraph, time, subjects, matrices, present, stale)
        if len(deforming):
            items = list(scene.objects)
            for row in map(int, deforming):
                evaluated = items[place[row]].evaluated_get(depsgraph)
                points = points_of(evaluated, self._modifiers)
                self._compare(int(subjects[row]), Geometry(points, matrices[row]), time, stale)
        if stale:
            for index, error in self._fits.fit(list(stale), list(stale.values())).items():
                self._leave_out(index, time, str(error))
        solid = self._solid[subjects]
        if not present.all():
            matrices[~present] = np.eye(4)
        if not (np.abs(matrices) <= _FARTHEST).all():  # which includes what is not a number
            finite = np.asarray((np.abs(matrices) <= _FARTHEST).all(axis=(1, 2)))
            why = f"its place or size is not a number up to {_FARTHEST:g}"
            self._require(present, finite, subjects, time, why)
            matrices[~finite] = np.eye(4)
        self._require(present, self._fits.fitted[subjects] | solid, subjects, time, "it could not be fitted")
        places = None
        shaped = subjects
        if solid.any():
            places = self._obstacles.places(matrices[solid], present[solid], time)
            shaped, matrices = subjects[~solid], matrices[~solid]
        shapes, errors = self._fits.at(shaped, matrices)
        for index, error in errors.items():
            self._leave_out(index, time, str(error))
            present[np.searchsorted(subjects, index)] = False
        return shapes, present, places

    def _walk(
        self,
        depsgraph: bpy.types.Depsgraph,
        time: float,
        subjects: Ints,
        matrices: NDArray[np.float64],
        present: Bools,
        stale: dict[int, Geometry],
    ) -> None:
        """Place instances, and take note of what comes in."""
        row_of = {int(index): row for row, index in enumerate(subjects)}
        for item in visible(depsgraph):
            index = self._index.get(item.key)
            if index is None:
                # A subject that was renamed does not come in.
                if item.key[2] or item.owner.session_uid not in self._uid:
                    self._meet(item.key, time)
            elif self._is_instance[index] and index in row_of:
                row = row_of[index]
                matrices[row] = np.array(item.instance.matrix_world, dtype=np.float64)
                present[row] = True
                if self._deforms[index]:
                    points = points_of(item.instance.object, self._modifiers)
                    self._compare(index, Geometry(points, matrices[row]), time, stale)

    def _compare(self, index: int, geometry: Geometry, time: float, stale: dict[int, Geometry]) -> None:
        """Take note of a subject whose vertices are others than those it was fitted to."""
        if index in self._obstacles:
            self._obstacles.require_unchanged(index, geometry.points, time)
        elif not self._fits.knows(index, geometry.points):
            stale[index] = geometry

    def _require(self, present: Bools, good: Bools, subjects: Ints, time: float, why: str) -> None:
        """Only what is good is present; of the rest take note."""
        if good.all():
            return
        for row in np.flatnonzero(present & ~good).tolist():
            self._leave_out(int(subjects[row]), time, why)
        present &= good

    def _leave_out(self, index: int, time: float, why: str) -> None:
        self._problems.setdefault(self._subjects[index].name, f"left out at frame {time:g}: {why}")

    def _meet(self, key: Key, time: float) -> None:
        """Take note of something that comes in later: it has no bounds to begin with, and is not checked."""
        if key not in self._known:
            self._known.add(key)
            if self._is_accepted(key):
                owner, name, indices = key
                reason = f"not there at the first frame, comes in at frame {time:g}: not checked"
                self._problems.setdefault(f"{owner}/{name}" if indices else name, reason)


class _ObjectOrder:
    """Reads all objects of a scene at once, in the order of the scene, and finds subjects among them again.

    changed : whether objects came or went since the reading before, or others are shown than at the first
    """

    def __init__(self, wanted: Ints) -> None:
        """For subjects that are, or come with, objects of these session_uids (n,)."""
        self._wanted = wanted
        self._uids = np.empty(0, dtype=np.int32)
        self._hidden: Bools | None = None
        self._place = np.full(len(wanted), -1)
        self.changed = False

    def read(self, scene: bpy.types.Scene, subjects: Ints) -> tuple[Ints, Bools, NDArray[np.float64]]:
        """Of some subjects (m,): places in the scene's order, which are shown, world matrices (m, 4, 4).

        What is gone is at place -1, and is not shown.
        """
        items: Any = scene.objects
        count = len(items)
        uids, hidden = np.empty(count, dtype=np.int32), np.empty(count, dtype=bool)
        matrices = np.zeros((count + 1, 4, 4), dtype=np.float32)
        items.foreach_get("session_uid", uids)
        items.foreach_get("hide_viewport", hidden)
        items.foreach_get("matrix_world", matrices[:count].reshape(-1))
        same = np.array_equal(uids, self._uids)
        if self._hidden is None:
            self._hidden = hidden
        else:
            self.changed = not (same and np.array_equal(hidden, self._hidden))
        if not same:
            order = np.append(np.argsort(uids, kind="stable"), -1)
            place = order[np.searchsorted(uids[order[:-1]], self._wanted)]
            self._place = np.where(np.append(uids, -1)[place] == self._wanted, place, -1)
            self._uids = uids
        place = self._place[subjects]
        # Blender stores matrices by columns.
        return place, ~np.append(hidden, True)[place], matrices[place].transpose(0, 2, 1).astype(np.float64)


def _leaf_groups(points: NDArray[np.float32], triangles: NDArray[np.int32]) -> Groups:
    """The vertices of each leaf of a sphere tree; of what has no triangles, all in one."""
    corners = points[triangles].astype(np.float64)
    if not len(triangles) or not np.isfinite(corners).all():
        return np.arange(len(points)), np.array([0, len(points)])
    tree = sphere_tree_from_triangles(corners)
    leaves = [np.unique(triangles[tree.order[slice(*tree.parts[leaf])]]) for leaf in tree.leaves]
    # Vertices of no triangle belong to the first leaf: a bound holds them too.
    loose = np.setdiff1d(np.arange(len(points)), triangles)
    leaves[0] = np.concatenate([leaves[0], loose])
    return np.concatenate(leaves).astype(np.int64), np.cumsum([0, *map(len, leaves)])
