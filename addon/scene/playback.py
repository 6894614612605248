"""The scene's animation as a Motion: each subject's shape at a time."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from copy import copy

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import Sample
from ..core.arrays import Bools, Ints
from ..formats import Skipped
from .carried_fits import CarriedFits
from .changes import Simulations, may_deform
from .composition import Composition, Piece
from .errors import SceneError, reason_of
from .extraction import Geometry, points_of
from .fitting import FitSettings, Groups, ShapeName, as_scanned, in_batches
from .left_out import LeftOut
from .loose_parts import part_numbers, rows_by_part
from .object_order import ObjectOrder
from .obstacles import MeshObstacles
from .overrides import override_of
from .own_settings import fit_of, is_padding_animated, padding_of, says_something
from .placing import Placing, Reading
from .playhead import arrive, go_to, scene_by_uid
from .selection import Selection, accepted
from .subjects import Subject
from .tree_leaves import leaf_groups
from .walk import Key, visible


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
        self._left_out = LeftOut([subject.name for subject in subjects], accepted(scene, selection))
        depsgraph = bpy.context.evaluated_depsgraph_get()
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
        self._found = self._first_pieces(depsgraph, shape, settings)
        self._fits = self._unfitted(shape, settings)
        self._placing = Placing(self._fits, obstacles, len(subjects), self._left_out)
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
            self._left_out.known.add(item.key)
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
        other._found, other._left_out = dict(self._found), self._left_out.afresh()
        other._order, other._fits = ObjectOrder(self._uid), other._unfitted(shape, self._settings)
        other._placing = Placing(other._fits, self._obstacles, len(self._subjects), other._left_out)
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
        return self._left_out.records

    def sample(self, time: float) -> Sample:
        """The shapes of all subjects at `time`, a frame that may be fractional; times must grow."""
        return self._placing.alone(self._arrived(time))

    def record(self, time: float) -> None:
        """Read all subjects at `time`, a frame that may be fractional; times must grow."""
        self._placing.wait(self._arrived(time))  # which may place those before

    def recorded(self) -> Sample:
        """The shapes of all subjects at the times recorded since this was asked before, at least one."""
        return self._placing.recorded()

    def _arrived(self, time: float) -> Reading:
        scene = scene_by_uid(self._scene_uid)
        arrive(scene, time, self._simulations, self._placed_at)
        self._placed_at = time
        return self._read(scene, time, self._all)

    def sample_between(self, time: float, subjects: Ints) -> Sample:
        """The shapes of some subjects at any time, as parts if they have parts."""
        go_to(scene_by_uid(self._scene_uid), time)
        return self.sample_here(time, subjects)

    def sample_here(self, time: float, subjects: Ints) -> Sample:
        """The same, of a scene that stands at `time` already."""
        scene = scene_by_uid(self._scene_uid)
        subjects = np.union1d(subjects, self._obstacles.indices)
        shapes, present, places = self._placing.shapes(subjects, self._read(scene, time, subjects))
        parts = np.isin(self._fits.owners, subjects)
        where = np.searchsorted(subjects, self._fits.owners[parts])
        return Sample(shapes, present[where], places)

    def _read(self, scene: bpy.types.Scene, time: float, subjects: Ints) -> Reading:
        """Growing `subjects` (m,) where they are, those fitted anew that have other vertices than before."""
        for _ in self.fitting():
            pass
        # Of few objects each array call here takes as long as a part of what Blender needs for the frame.
        place, present, matrices = self._order.read(scene, subjects)
        if self._walks:
            present &= ~self._is_instance[subjects]
        if self._animated:
            self._placing.place_waiting()
            self._read_paddings()
        stale: dict[int, Geometry] = {}
        if not (self._order.changed or self._walks or self._may_deform):
            return Reading(time, present, matrices)
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
            self._placing.place_waiting()
            for index, error in self._fits.fit(list(stale), list(stale.values())).items():
                self._left_out.take(index, time, reason_of(error))
        return Reading(time, present, matrices)

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
                    self._left_out.meet(item.key, time)
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
