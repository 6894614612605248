"""The scene's animation as a Motion: each subject's shape at a time."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from copy import copy
from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import Sample, Shape
from ..core.arrays import Bools, Floats, Ints
from ..formats import Skipped
from .carried_fits import CarriedFits
from .changes import Simulations, may_deform
from .composition import Composition, Piece
from .errors import SceneError
from .extraction import Geometry, points_of
from .fitting import FitSettings, Groups, ShapeName, as_scanned, in_batches
from .loose_parts import part_numbers, rows_by_part
from .object_order import ObjectOrder
from .obstacles import MeshObstacles
from .overrides import override_of
from .own_settings import fit_of, is_padding_animated, padding_of, says_something
from .playhead import arrive, go_to, scene_by_uid
from .selection import Selection, accepted
from .subjects import Subject
from .tree_leaves import leaf_groups
from .walk import Key, visible

_FARTHEST = 1e15
"""Blender's numbers are 10^8 apart there. An endless curve gives 10^38, in which sweeps lose their digits."""


_PLACED_AT_ONCE = 1 << 13
"""Shapes to place together: more would keep the window waiting."""


class _Reading(NamedTuple):
    """What was read of the subjects at a time: which are there (m,), and world matrices (m, 4, 4)."""

    time: float
    present: Bools
    matrices: Floats


class Playback:
    """The motion of `subjects`: evaluates the scene at a time and gives each subject its shape.

    Implements `SubframeMotion` and `RecordedMotion` of `core.motion`. What moves without deforming is fitted
    once, and only its matrix is read in a frame; of several frames, shapes are placed together. A subject
    that is gone, or has no usable geometry, is not present in that sample; `left_out` collects why. Made at
    the first frame of the scan.

    shape : what each sample has of all subjects
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
        """For a scan that was asked to check `shape`; where boxes have axes of their own, oriented boxes are.

        settings : of subjects that have no settings of their own
        """
        self._obstacles = obstacles
        self._scene_uid = scene.session_uid
        self._subjects = subjects
        self._index: dict[Key, list[int]] = {}
        for index, subject in enumerate(subjects):
            for key in subject.members or (subject.key,):
                self._index.setdefault(key, []).append(index)
        shape, settings = as_scanned(shape, {subject.axes for subject in subjects}, settings)
        self.shape = shape
        self._settings = settings
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
        # Instances have no matrix of their own to read, nor have several taken as one: they are walked over,
        # in each frame.
        walked = [bool(subject.key[2] or subject.members) for subject in subjects]
        self._is_instance = np.array(walked, dtype=bool)
        self._deforms = np.zeros(len(subjects), dtype=bool)
        self._walks = bool(self._is_instance.any())
        self._together = [index for index, subject in enumerate(subjects) if subject.members]
        # Of loose parts: how many vertices all have, and which are theirs.
        self._rows: dict[int, tuple[int, Ints]] = {}
        self._animated: dict[int, str] = {}
        self._order = ObjectOrder(self._uid)
        self._all = np.arange(len(subjects))
        self._missed = np.zeros(len(subjects), dtype=bool)
        self._solid = np.isin(self._all, obstacles.indices)
        # What was recorded: as it was read, for as long as the fits are those it was read for; then placed.
        self._waiting: list[_Reading] = []
        self._placed: list[Sample] = []
        self._found = self._first_pieces(depsgraph, shape, settings)
        self._fits = self._unfitted(shape, settings)
        self._may_deform = bool(self._deforms.any())

    def _first_pieces(
        self, depsgraph: bpy.types.Depsgraph, shape: ShapeName, settings: FitSettings
    ) -> dict[int, Piece]:
        """What the subjects are made of now; obstacles are taken as they are."""
        found: dict[int, Piece] = {}
        composition = Composition(
            self._subjects,
            settings,
            range(len(self._subjects)) if shape == "spheres" else self._obstacles.indices.tolist(),
        )
        for item in visible(depsgraph):
            self._known.add(item.key)
            evaluated = item.instance.object
            if evaluated.original.is_instancer:
                self._walks = True
            indices = self._index.get(item.key, ())
            for index in indices:
                self._learn(index, evaluated)
            self._learn_parts(indices, evaluated)
            found.update((piece.subject, piece) for piece in composition.of(item))
        found.update((piece.subject, piece) for piece in composition.rest())
        for index in self._obstacles.indices.tolist():
            if self._subjects[index].override:
                name = self._subjects[index].name
                raise SceneError(f"obstacle {name!r}: has an override, which has no faces: clear that first")
            if index in found:
                piece = found.pop(index)
                self._obstacles.take(index, piece.geometry, piece.triangles)
        return found

    def _unfitted(self, shape: ShapeName, settings: FitSettings) -> CarriedFits:
        """Room for the fits of all subjects."""
        leaves: list[Groups] | None = None
        if shape == "spheres":
            leaves = [(np.zeros(0, dtype=np.int64), np.array([0, 0]))] * len(self._subjects)
            for index, piece in self._found.items():
                leaves[index] = leaf_groups(piece.geometry.points, piece.triangles, piece.fit.depth)
        each = [settings] * len(self._subjects)
        for index, piece in self._found.items():
            each[index] = piece.fit
        return CarriedFits(len(self._subjects), shape, each, leaves, self._obstacles.indices)

    def beside(self, shape: ShapeName) -> Playback:
        """Another player of the same subjects, with a shape that needs no faces, before anything is fitted.

        Looking through a scene takes as long as all that both do afterwards in a frame.
        """
        other = copy(self)
        other.shape = shape
        other._found, other._problems, other._known = dict(self._found), {}, set(self._known)
        other._order, other._missed = ObjectOrder(self._uid), self._missed.copy()
        other._waiting, other._placed = [], []
        other._fits = other._unfitted(shape, self._settings)
        return other

    def fitting(self) -> Generator[None, None, None]:
        """Fit all subjects where they were at first, part by part; what is left is fitted when it is needed.

        What cannot be fitted then is said when it is sampled.
        """
        while self._found:
            batch = next(in_batches(self._found.items(), lambda entry: entry[1].geometry.points))
            self._fits.fit([index for index, _ in batch], [piece.geometry for _, piece in batch])
            for index, _ in batch:
                del self._found[index]
            yield

    def _learn(self, index: int, evaluated: bpy.types.Object) -> None:
        """What may become of a subject that this object is, or is one of."""
        original = evaluated.original
        if evaluated.type != original.type:
            # Geometry nodes made a mesh of hair, say: there is no such object but in the walk.
            self._is_instance[index] = self._walks = True
        if self._subjects[index].members:
            return
        if not says_something(original):
            self._deforms[index] = may_deform(original, self._settings.modifiers)
            if self._subjects[index].part is None:
                return
        modifiers = fit_of(original, self._settings).modifiers
        # A shape set by hand stays.
        self._deforms[index] = may_deform(original, modifiers) and override_of(original) is None
        if is_padding_animated(original):
            self._animated[index] = original.name_full

    def _learn_parts(self, indices: Sequence[int], evaluated: bpy.types.Object) -> None:
        """Which vertices of this object are whose, of its loose parts that may deform."""
        parts = {index: self._subjects[index].part for index in indices if self._deforms[index]}
        loose = {index: part for index, part in parts.items() if part is not None}
        if loose:
            numbers = part_numbers(evaluated, fit_of(evaluated.original, self._settings).modifiers)
            rows = rows_by_part(numbers, max(loose.values()) + 1)
            self._rows.update((index, (len(numbers), rows[part])) for index, part in loose.items())

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
        found = ~(np.isin(self._uid, simulated) | np.isin(self._shown_uid, simulated))
        names = {item.name_full for item in bpy.data.objects if item.session_uid in self._simulations.uids}
        for index in self._together:
            members = self._subjects[index].members
            found[index] = not any(owner in names or shown in names for owner, shown, _ in members)
        return found

    @property
    def left_out(self) -> list[Skipped]:
        """One record a subject that was left out of a sample: the first time, and why."""
        return [Skipped(name, reason) for name, reason in self._problems.items()]

    def sample(self, time: float) -> Sample:
        """The shapes of all subjects at `time`, a frame that may be fractional; times must grow."""
        return self._placed_alone(self._arrived(time))

    def record(self, time: float) -> None:
        """Read all subjects at `time`, a frame that may be fractional; times must grow."""
        reading = self._arrived(time)  # which may place those before
        self._waiting.append(reading)
        if (len(self._waiting) + 1) * len(self._fits.owners) > _PLACED_AT_ONCE:
            self._place_waiting()

    def recorded(self) -> Sample:
        """The shapes of all subjects at the times recorded since this was asked before, at least one."""
        self._place_waiting()
        placed, self._placed = self._placed, []
        return Sample.joined(placed)

    def _arrived(self, time: float) -> _Reading:
        scene = scene_by_uid(self._scene_uid)
        arrive(scene, time, self._simulations, self._placed_at)
        self._placed_at = time
        return self._read(scene, time, self._all)

    def _place_waiting(self) -> None:
        """Place what was read, while the fits are those that it was read for."""
        readings, self._waiting = self._waiting, []
        together = self._placed_together(readings) if len(readings) > 1 else None
        if together is None:
            self._placed += [self._placed_alone(reading).as_batch() for reading in readings]
        else:
            self._placed.append(together)

    def _placed_together(self, readings: Sequence[_Reading]) -> Sample | None:
        """The shapes of all subjects at several times; None if there is something to tell of any of them."""
        if self._solid.any() or not self._fits.fitted.all():
            return None
        if not np.concatenate([reading.present for reading in readings]).all():
            return None
        matrices = np.concatenate([reading.matrices for reading in readings])
        if not np.abs(matrices).max(initial=0) <= _FARTHEST:
            return None
        shapes, errors = self._fits.at(np.tile(self._all, len(readings)), matrices)
        return None if errors else Sample(shapes.reshaped((len(readings), -1)))

    def _placed_alone(self, reading: _Reading) -> Sample:
        """The shapes of all subjects at one time."""
        shapes, present, places = self._shapes(self._all, reading)
        if not present.all():
            for index in np.flatnonzero(~(present | self._missed)).tolist():
                why = f"not there at frame {reading.time:g}: left out while away"
                self._problems.setdefault(self._subjects[index].name, why)
            self._missed |= ~present
        return Sample(shapes, present, places)

    def sample_between(self, time: float, subjects: Ints) -> Sample:
        """The shapes of some subjects at any time, as parts if they have parts."""
        go_to(scene_by_uid(self._scene_uid), time)
        return self.sample_here(time, subjects)

    def sample_here(self, time: float, subjects: Ints) -> Sample:
        """The same, of a scene that stands at `time` already."""
        scene = scene_by_uid(self._scene_uid)
        subjects = np.union1d(subjects, self._obstacles.indices)
        shapes, present, places = self._shapes(subjects, self._read(scene, time, subjects))
        parts = np.isin(self._fits.owners, subjects)
        where = np.searchsorted(subjects, self._fits.owners[parts])
        return Sample(shapes, present[where], places)

    def _read(self, scene: bpy.types.Scene, time: float, subjects: Ints) -> _Reading:
        """Growing `subjects` (m,) where they are, those fitted anew that have other vertices than before."""
        for _ in self.fitting():
            pass
        # Of few objects each array call here takes as long as a part of what Blender needs for the frame.
        place, present, matrices = self._order.read(scene, subjects)
        if self._walks:
            present &= ~self._is_instance[subjects]
        if self._animated:
            self._place_waiting()
            self._read_paddings()
        stale: dict[int, Geometry] = {}
        if not (self._order.changed or self._walks or self._may_deform):
            return _Reading(time, present, matrices)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        deforming = np.flatnonzero(present & self._deforms[subjects])
        if self._order.changed or self._walks:
            self._walk(depsgraph, time, subjects, matrices, present, stale)
        if len(deforming):
            items = list(scene.objects)
            for row in map(int, deforming):
                evaluated = items[place[row]].evaluated_get(depsgraph)
                self._compare(int(subjects[row]), evaluated, matrices[row], time, stale)
        if stale:
            self._place_waiting()
            for index, error in self._fits.fit(list(stale), list(stale.values())).items():
                self._leave_out(index, time, str(error))
        return _Reading(time, present, matrices)

    def _shapes(self, subjects: Ints, reading: _Reading) -> tuple[Shape, Bools, Floats | None]:
        """Shapes of the parts of growing `subjects` (m,), which of those are there, and where obstacles are.

        All obstacles are among the subjects.
        """
        time, present, matrices = reading
        if not present.all():
            matrices[~present] = np.eye(4)
        if not np.abs(matrices).max(initial=0) <= _FARTHEST:  # which includes what is not a number
            finite = np.asarray((np.abs(matrices) <= _FARTHEST).all(axis=(1, 2)))
            why = f"its place or size is not a number up to {_FARTHEST:g}"
            self._require(present, finite, subjects, time, why)
            matrices[~finite] = np.eye(4)
        places = None
        shaped = subjects
        solid = self._solid[subjects]
        self._require(present, self._fits.fitted[subjects] | solid, subjects, time, "it could not be fitted")
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
        together = [index for index in self._together if index in row_of]
        composition = Composition([self._subjects[index] for index in together], self._settings)
        for item in visible(depsgraph):
            indices = self._index.get(item.key)
            if indices is None:
                # A subject that was renamed does not come in.
                if item.key[2] or item.owner.session_uid not in self._uid:
                    self._meet(item.key, time)
                continue
            if together:
                next(composition.of(item), None)
            for index in indices:
                if self._is_instance[index] and index in row_of and not self._subjects[index].members:
                    row = row_of[index]
                    matrices[row] = np.array(item.instance.matrix_world, dtype=np.float64)
                    present[row] = True
                    if self._deforms[index]:
                        self._compare(index, item.instance.object, matrices[row], time, stale)
        for piece in composition.rest():
            index = together[piece.subject]
            matrices[row_of[index]] = piece.geometry.matrix
            present[row_of[index]] = True
            self._take(index, piece.geometry, time, stale)

    def _compare(
        self,
        index: int,
        evaluated: bpy.types.Object,
        matrix: NDArray[np.float64],
        time: float,
        stale: dict[int, Geometry],
    ) -> None:
        """Take note of a subject whose vertices may be others than those it was fitted to."""
        points = points_of(evaluated, fit_of(evaluated.original, self._settings).modifiers)
        if index in self._rows:
            count, rows = self._rows[index]
            # With other vertices there is no telling which part was which: all of them hold it.
            points = points[rows] if len(points) == count else points
        self._take(index, Geometry(points, matrix), time, stale)

    def _take(self, index: int, geometry: Geometry, time: float, stale: dict[int, Geometry]) -> None:
        """Take note of a subject whose vertices are others than those it was fitted to."""
        if index in self._obstacles:
            self._obstacles.require_unchanged(index, geometry.points, time)
        elif not self._fits.knows(index, geometry.points):
            stale[index] = geometry

    def _read_paddings(self) -> None:
        """Paddings as they are at this frame."""
        items = {item.name_full: item for item in bpy.data.objects}
        for index, name in self._animated.items():
            if name in items:
                self._fits.set_padding(index, padding_of(items[name]))

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
