"""The scene's animation as a motion: the shape of each subject at a time."""

from __future__ import annotations

from collections.abc import Container, Generator, Mapping, Sequence
from contextlib import nullcontext
from copy import copy, deepcopy
from functools import partial
from typing import Any

import bpy
import numpy as np

from ...core import Sample, Shape
from ...core.curves.keyframes import NEAR_KEY
from ...core.numeric.arrays import Bools, Floats, Ints
from ...core.progress import run_to_end
from ...core.scan.report import PairContacts
from ...core.scan.scan import probed_times
from ..blender.animated import Simulations, may_have_instances
from ..blender.frames import advance_to, go_to, playhead, returning_between_steps, scene_by_uid
from ..blender.instances import InstanceKey, full_name_of
from ..blender.mesh_data import Geometry
from ..blender.object_settings import object_padding
from ..blender.parts.mesh_parts import ALONG_BONE
from ..errors import describe_error
from ..fitting.fit import in_batches, resolve_scanned_shape
from ..fitting.fit_cache import Errors, FitCache, new_fits
from ..fitting.fit_columns import Line
from ..fitting.mesh_fits import BallFits, MeshFits, Obstacles
from ..fitting.parts import NO_PARTS, PartVertices, TreeVertices, part_vertices
from ..settings import SHAPES_OF_PARTS, SHAPES_OF_TRIANGLES, FitSettings, Selection, ShapeName
from ..subjects.reader import SubjectGeometry
from ..subjects.selection import may_match_instances, owner_filter, would_be_selected
from ..subjects.subject import Skip, SkipLog, Subject
from .frame_reader import FrameReader, Reading
from .known_motion import MAX_COORDINATE, KnownShapes, axes_turn
from .pose_sources import PoseSources
from .skin_poses import SkinPoses

_MOST_SHAPES = float(1 << 15)
"""Shapes that are computed together: more would block the window."""


class SceneMotion:
    """Motion of subjects: evaluates the scene at a time and gives each subject its shape.

    Implements `core.Sampler`. A subject that does not deform is fitted once; later only its matrix is read. A
    subject that is absent, or has no usable geometry, is not present in that sample, and `skips` has the
    reason. Must be created at the first frame.

    shape : Shape of all subjects in each sample.
    may_have_late_instances : Whether there is an object of the selection that may show instances at some
        frame.
    refinable : (n,) bool. Subjects that can be evaluated between frames: not simulated ones. None at all
        while a simulation is not baked, because going back and forth would spoil its cache.
    is_divisible : See `Sampler`: simulations that are not baked are played frame by frame.
    owners : (N,) int or None. Subject that each shape of a sample is part of; None where each is one shape.
    certain : Shapes that follow curves; None until `comparing` has found any.
    is_known : Whether the motion of all subjects follows from curves.
    is_certain : Whether nothing need be sampled: all motion is known, and no other subject may appear.
    has_switches : Whether keys show or hide objects that follow curves.
    reader : Reader of the subjects.
    sources : Sources of the subjects' poses.
    skips : Log of the subjects that samples are without.
    obstacles : Subjects that are meshes whatever the shape is.
    arrived : Instances that have appeared in samples since it was emptied, and would have been subjects.
    last : What was read at the last frame that was sampled.
    """

    def __init__(
        self,
        scene: bpy.types.Scene,
        subjects: Sequence[Subject] | FrameReader,
        selection: Selection,
        shape: ShapeName,
        settings: FitSettings,
        obstacles: Obstacles | None = None,
        late: Sequence[FrameReader] = (),
    ) -> None:
        """Read all subjects as they are now.

        scene : The active scene, at the first frame.
        subjects : Found at the first frame, or read there already, with the same settings.
        selection : Objects that match it, but appear later, are reported as skipped.
        shape : Requested shape. With boxes along objects' own axes, all are oriented boxes.
        settings : For subjects without settings of their own.
        obstacles : Among the subjects, which are meshes whatever the shape is: none by default.
        late : The last subjects, which appear after the first frame, read at that time.
        """
        self._in_own_frames = False
        self._scene_uid = scene.session_uid
        reader: FrameReader | None = None
        if isinstance(subjects, FrameReader):
            reader, subjects = subjects, subjects.subjects
        self.obstacles = obstacles or Obstacles(np.full(len(subjects), False))
        self.shape, self._settings = resolve_scanned_shape(
            shape, {subject.axes for subject in subjects}, settings
        )
        is_selected = owner_filter(scene, selection)
        accepts = partial(would_be_selected, selection, is_selected)
        self.skips = SkipLog([subject.name for subject in subjects], accepts)
        self._all = np.arange(len(subjects))
        self._simulations = Simulations.of(scene)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        if reader is None:
            meshes = frozenset(np.flatnonzero(self.obstacles.mask | (self.shape == "mesh")).tolist())
            wanted: Container[int] = range(len(subjects)) if self.shape in SHAPES_OF_TRIANGLES else meshes
            reader = FrameReader(subjects, self._settings, wanted, bool(meshes))
        self.reader = reader
        unfitted = reader.first_geometries()
        if late:
            unfitted |= reader.include(late)
        reader.shared = []
        for row, source in list(unfitted.items()):
            if not source.matrices[0, :3, :3].any():
                # A subject without size may grow from nothing. Of a point no axes and parts of its shape
                # could be found, so it gets the size of its vertices in its own space.
                matrices = source.matrices.copy()
                matrices[0, :3, :3] = np.eye(3)
                unfitted[row] = source._replace(matrices=matrices)
        self._unfitted = unfitted
        self.arrived: set[InstanceKey] = set()
        items = (block.original for block in depsgraph.ids if isinstance(block, bpy.types.Object))
        owners = [full_name_of(item) for item in items if may_have_instances(item)]
        self.may_have_late_instances = any(
            is_selected(owner) and may_match_instances(selection, owner) for owner in owners
        )
        reader.needs_walk |= self.may_have_late_instances
        self.skips.known |= reader.unknown_keys
        # A scene whose cache is being filled cannot be evaluated back and forth.
        self.is_divisible = self._simulations.first_frame is None
        if self._simulations.uids:
            reader.find_simulated(self._simulations)
        self.refinable: Bools = self.is_divisible & ~reader.is_simulated
        self._reset()

    def _reset(self) -> None:
        """Make room for the fits of all subjects, or for their meshes, and drop what was sampled."""
        count = len(self._all)
        self.last: Reading | None = None
        self._fit_errors: Errors = {}
        # Faces at the first frame.
        self._kept_faces = dict(self.reader.faces)
        self._first_linear: Floats | None = None
        self._is_rotating: Bools = np.zeros(count, dtype=bool)
        # Those that are noted as absent, once.
        self._was_absent: Bools = np.zeros(count, dtype=bool)
        # Subjects whose vertices or faces have changed since the last frame, or between frames.
        self._changed: set[int] = set()
        self.sources = PoseSources(scene_by_uid(self._scene_uid), self.reader, self._simulations)
        self.certain: KnownShapes | None = None
        self.is_known = self.is_certain = self.has_switches = False
        # Shapes of bent subjects, at their times.
        self._skins: SkinPoses | None = None
        # What was recorded, whose shapes are computed together, before the fits change; and samples.
        self._queue: list[tuple[Reading, list[int]]] = []
        # The frame with which the next one is compared.
        self._compared: Reading | None = None
        self._samples: list[Sample] = []
        settings = [self._settings] * count
        for index, source in self._unfitted.items():
            settings[index] = source.fit
        is_mesh = self.obstacles.mask | (self.shape == "mesh")
        parts: list[PartVertices] | None = None
        if self.shape in SHAPES_OF_PARTS:
            parts = [NO_PARTS] * count
            for index, source in self._unfitted.items():
                if not is_mesh[index]:
                    parts[index] = part_vertices(self.shape, source, self.reader.of_triangle.get(index))
        if self.shape == "mesh" or is_mesh.any():
            deforms = self.reader.may_deform.copy()
            deforms[list(self.reader.merged)] = True
            meshes = MeshFits(settings, deforms, self.obstacles)
            for index, source in self._unfitted.items():
                if is_mesh[index] and self.reader.subjects[index].override is None:
                    meshes.set_triangles(index, source.points, source.triangles, None)
            self._fits: FitCache = meshes
            if self.shape != "mesh":
                self._fits = BallFits(self.shape, settings, parts, meshes)
        else:
            self._fits = new_fits(count, self.shape, settings, parts)
        owners = self._fits.owners
        # Of a frame: as many as it has shapes, more if they take long.
        self._cost = float(max(len(owners), 1))
        self.owners: Ints | None = None if np.array_equal(owners, self._all) else owners
        for index in self.reader.bones:
            if self.reader.may_deform[index]:
                self._fits.lines[index] = Line(ALONG_BONE)
        self._fits.in_own_frames = self._in_own_frames

    def with_shape(self, shape: ShapeName, in_own_frames: bool = False) -> SceneMotion:
        """Motion of the same subjects with a shape that needs no triangles, before anything is fitted.

        It shares what was read of the scene, because reading takes as long as all that follows in a frame.

        in_own_frames : whether shapes are in the frames of their subjects, see `FitCache`
        """
        other = copy(self)
        other.shape, other._in_own_frames = shape, in_own_frames
        other._unfitted, other.skips = dict(self._unfitted), deepcopy(self.skips)
        other._reset()
        return other

    def comparing(self, times: Sequence[float], home: float | None = None) -> Generator[None, None, None]:
        """Find the subjects that need not be read from the user's scene; yields after each look at a scene.

        Without a call all are read from the user's scene, and no subject is known.

        times : Increasing times of the samples to come, in frames.
        home : Frame that the scene returns to at the end, unless it has to be played, and in a window at each
            yield. Without one, the scene stays where it is.
        """
        reader = self.reader
        # Boxes and triangles of whole meshes may follow from the curves of bones.
        may_be_skinned: Bools = np.zeros(len(self._all), dtype=bool)
        has_skins = self.shape in ("aabb", "mesh") and not self._in_own_frames
        if has_skins and self._settings.vertex_group is None:
            of_each = zip(reader.subjects, reader.modifiers, strict=True)
            is_whole = [each.part is None and source == "evaluated" for each, source in of_each]
            may_be_skinned = reader.may_deform & np.array(is_whole, dtype=bool)
        faces = None
        if self.shape == "mesh":
            faces = {index: each for index, each in reader.faces.items() if len(each.of_triangle)}
            may_be_skinned &= np.isin(self._all, list(faces))
        uid, stays = self._scene_uid, home is None or bpy.app.background
        with nullcontext() if stays else returning_between_steps(scene_by_uid(uid), home):
            yield from self.sources.choose(
                times, lambda name: self.skips.accepts((name, name, ())), may_be_skinned, faces
            )
            if home is not None and not self.sources.is_played and playhead(scene_by_uid(uid)) != home:
                go_to(scene_by_uid(uid), home, within_step=True)
        curves = self.sources.curves
        if curves is None or not curves.is_known.any():
            return
        run_to_end(self.fitting())
        has_mesh = np.array([subject.override is None for subject in reader.subjects], dtype=bool)
        # While some cannot be sampled between frames, others must not appear there.
        is_steady = np.ones(len(self._all), dtype=bool) if self.refinable.all() else ~curves.is_switched
        span = times[0], times[-1]
        self.certain = KnownShapes(curves, self._fits, self.shape, has_mesh & is_steady, span)
        self._cost = max(self._cost, self.certain.costs.sum())
        if curves.skins is not None and curves.is_skinned.any():
            self._skins, self._cost = curves.skins, _MOST_SHAPES
            if isinstance(self._fits, MeshFits):
                self._skins.set_meshes(self._fits.first_meshes(np.flatnonzero(curves.is_skinned)))
        self.has_switches = bool(curves.visibility.is_switched.any())
        self.is_known = bool(self.certain.is_certain.all())
        self.is_certain = self.is_known and not self.sources.is_played

    def with_switches(self, times: Sequence[float]) -> list[float]:
        """Add the times at which keys show or hide subjects, in frames, so that samples show that.

        Blender shows a key from a little before it on, so times that are nearer to each other are one. Call
        this after `comparing`, with the same times.
        """
        every, curves = np.array(times), self.sources.curves
        if curves is not None and self.refinable.all():
            switches = np.unique(self.sources.sampled_switches)
            if self.has_switches:
                known = curves.visibility.switches(curves.rows[curves.is_known])
                switches = np.union1d(known, switches)
            for switch in switches[(switches > every[0]) & (switches < every[-1])].tolist():
                position = int(np.searchsorted(every, switch))
                if every[position] - switch > NEAR_KEY and switch - every[position - 1] > NEAR_KEY:
                    every = np.insert(every, position, switch)
        self.sources.times = probed_times(every, self)
        return [float(time) for time in every]

    def fitting(self) -> Generator[None, None, None]:
        """Fit all subjects as they were at the first frame; yields after each batch.

        Subjects that remain are fitted when the first sample is taken. Those that cannot be fitted are
        reported when they are sampled.
        """
        while self._unfitted:
            batch: list[tuple[int, SubjectGeometry]] = next(
                in_batches(self._unfitted.items(), lambda entry: len(entry[1].points))
            )
            errors = self._fits.fit([index for index, _ in batch], [source.geometry for _, source in batch])
            self._fit_errors.update(errors)
            for index, _ in batch:
                del self._unfitted[index]
            if not self._unfitted:
                self._kept_faces = dict(self.reader.faces)
                self._fits.keep_frames()
            yield

    def fitted(self) -> Generator[None, None, tuple[Any, Ints, Floats, Mapping[int, TreeVertices]]]:
        """Fit all subjects as `fitting` does, and return the shapes around them as they were read.

        Returns parts, owners, offsets and trees, as `ScannedShapes` of `scene.jobs` has them.
        """
        sources = dict(self._unfitted)
        yield from self.fitting()
        subjects = np.array(sorted(sources), dtype=np.int64)
        subjects = subjects[self._fits.is_fitted[subjects] & ~self.obstacles.mask[subjects]]
        matrices = np.array([sources[index].geometry.matrix for index in subjects.tolist()]).reshape(-1, 4, 4)
        # Not as balls.
        shapes, errors = FitCache.shapes_at(self._fits, subjects, matrices)
        owners = self._fits.owners[np.isin(self._fits.owners, subjects)]
        kept = ~np.isin(owners, list(errors))
        trees: dict[int, TreeVertices] = {}
        if self.shape == "spheres":
            for index in np.unique(owners[kept]).tolist():
                geometry, groups = sources[index].geometry, self._fits.groups[index]
                linear, padding = geometry.matrix[:3, :3], sources[index].fit.padding
                trees[index] = TreeVertices(geometry.points, linear, groups, padding)
        offsets = np.zeros((len(self._all), 3))
        offsets[subjects] = matrices[:, :3, 3]
        return shapes[kept], owners[kept], offsets, trees

    def restart(self) -> None:
        """See `Sampler`: subjects that may deform are fitted again at the next sample of each."""
        subjects = self.reader
        deforming = {*np.flatnonzero(subjects.may_deform).tolist(), *subjects.merged}
        subjects.faces = dict(self._kept_faces)
        self._fits.restart(deforming)
        self.last = self._compared = None
        self._changed.clear()

    def rotating(self, pairs: PairContacts, times: Sequence[float]) -> Ints:
        """Find the subjects in contact that have rotated; none unless all are boxes along the world's axes.

        pairs : Contacts. times : Of the samples.
        """
        touching = np.union1d(pairs.a, pairs.b)
        if self.shape != "aabb" or self.certain is None or not self.is_certain:
            return np.intersect1d(touching, np.flatnonzero(self._is_rotating))
        return self.certain.turning(touching, np.array(times))

    def log_absences(self, times: Sequence[float]) -> None:
        """Note which subjects are absent at any of increasing times (t,), if nothing is sampled."""
        curves = self.sources.curves
        if curves is None or not self.is_certain:
            return
        subjects = np.intersect1d(np.flatnonzero(curves.is_switched), self._fits.owners)
        every = np.array(times)
        is_shown = curves.visibility.are_shown(curves.rows[subjects, None], every)
        first = is_shown.argmin(axis=1)
        for row in np.argsort(first, kind="stable").tolist():
            if not is_shown[row, first[row]]:
                self.skips.log([Skip(int(subjects[row]), float(every[first[row]]), None)])

    def sample(self, time: float) -> Sample:
        """Shapes of all subjects at `time`, in frames, maybe fractional; times must grow."""
        frame = self._advance(time)
        return self._sample_frame(frame[0], self._moved([frame])[0])

    def record(self, time: float) -> None:
        """Read all subjects at `time`, in frames, maybe fractional; times must grow."""
        # It may compute what has been recorded, and then the queue is another one.
        frame = self._advance(time)
        self._queue.append(frame)
        if len(self._queue) * self._cost >= _MOST_SHAPES:
            self._flush()

    def recorded(self) -> Sample:
        """Shapes of all subjects at all times recorded since the last call, at least one."""
        self._flush()
        samples, self._samples = self._samples, []
        return samples[0] if len(samples) == 1 else Sample.concatenate(samples)

    def _advance(self, time: float) -> tuple[Reading, list[int]]:
        """Read all subjects at `time`, after the last time, and find those that are fitted again."""
        if self.sources.is_played:
            scene = scene_by_uid(self._scene_uid)
            advance_to(scene, time, self._simulations, None if self.last is None else self.last.time)
            reading = self.reader.read(scene, time, self._all)
        else:
            reading = self.sources.read_elsewhere(time, self._all, is_in_turn=True)
        self._fit_changed(reading, None)
        changed = [] if self.last is None else list(self._changed)
        self.last = reading
        self._changed.clear()
        return reading, changed

    def _sample_frame(self, reading: Reading, moved: Bools) -> Sample:
        """Compute the shapes of all subjects as they were read; notes which are skipped."""
        shapes, present, skips = self._shapes_of(self._all, reading)
        absent = np.flatnonzero(~(present | self._was_absent))
        if len(absent):
            self._was_absent |= ~present
            skips += [Skip(index, reading.time, None) for index in absent.tolist()]
        if skips:
            self.skips.log(skips)
        return Sample(shapes, present, moved)

    def _flush(self) -> None:
        """Compute the shapes of all recorded frames by the current fits: together if they may be."""
        frames, self._queue = self._queue, []
        if not frames:
            return
        moved = self._moved(frames)
        is_whole = self._skins is None and self._fits.is_fitted.all()
        if is_whole and all(reading.present.all() for reading, _ in frames):
            matrices = np.concatenate([reading.matrices for reading, _ in frames])
            shapes = self.moved_shapes(np.tile(self._all, len(frames)), matrices)
            if shapes is not None:
                self._samples.append(Sample(shapes.reshaped((len(frames), -1)), moved=moved))
                return
        self._samples += [
            self._sample_frame(reading, row).as_batch()
            for (reading, _), row in zip(frames, moved, strict=True)
        ]

    def moved_shapes(self, subjects: Ints, matrices: Floats) -> Shape | None:
        """Move the shapes of subjects (m,) to world matrices (m, 4, 4); None if any has no shape there."""
        # Not a number compares as False.
        if not (self._fits.is_fitted[subjects].all() and np.abs(matrices).max(initial=0) <= MAX_COORDINATE):
            return None
        shapes, errors = self._fits.shapes_at(subjects, matrices)
        return None if errors else shapes

    def sample_between(
        self, time: float, subjects: Ints, shapes: Ints | None = None, reading: Reading | None = None
    ) -> Sample:
        """Sample sorted `subjects` (m,) at any time.

        shapes : (k,) those that are wanted; all parts of the subjects without them
        reading : of the subjects at that time, by a motion of the same ones; without one they are read
        """
        parts, is_wanted = np.flatnonzero(np.isin(self._fits.owners, subjects)), None
        # A subject is absent as soon as one of its parts vanishes.
        if shapes is not None and not (self._fits.padding < 0).any():
            is_wanted = np.zeros(len(self._fits.owners), dtype=bool)
            is_wanted[shapes] = True
        reading = reading or self.sources.read(time, subjects)
        self._fit_changed(reading, is_wanted)
        found, present, skips = self._shapes_of(subjects, reading)
        if skips:
            self.skips.log(skips)
        if shapes is not None:
            found, parts = found[np.searchsorted(parts, shapes)], shapes
        return Sample(found, present[np.searchsorted(subjects, self._fits.owners[parts])])

    def sample_parts(self, time: float, subjects: Ints, shapes: Ints) -> Sample:
        """See `Sampler`: subjects that changed are fitted again at these shapes alone."""
        return self.sample_between(time, subjects, shapes)

    def find_present(self, time: float, subjects: Ints) -> Bools:
        """See `Sampler`: which sorted `subjects` (m,) are shown at any time, and have a shape."""
        reading = self.sources.read(time, subjects)
        self._fit_changed(reading, None)
        return self._shapes_of(subjects, reading)[1]

    def _moved(self, frames: list[tuple[Reading, list[int]]]) -> Bools:
        """Mask (t, n) of subjects that differ from the frame before, and note which have rotated.

        frames : successive ones (t,), and the subjects that are fitted again in each
        """
        every = [self._compared or frames[0][0], *(reading for reading, _ in frames)]
        self._compared = every[-1]
        matrices = np.array([reading.matrices for reading in every])
        # Sixteen bytes each, of which numpy would take any() one by one.
        halves = (matrices[1:] != matrices[:-1]).reshape(len(frames), -1, 16).view(np.uint64)
        moved: Bools = np.asarray((halves[..., 0] | halves[..., 1]) != 0)
        if self._skins is not None:
            moved |= self._skins.moved(np.array([reading.time for reading in every]))
        if self.shape == "aabb":
            linear = matrices[1:, :, :3, :3]
            if self._first_linear is None:
                self._first_linear = linear[0].copy()
            rows = np.flatnonzero(moved.any(axis=0) & ~self._is_rotating)
            if len(rows):
                turned = axes_turn(self._first_linear[rows], linear[:, rows])
                self._is_rotating[rows] = turned.any(axis=0)
        for of_frame, (_, changed) in zip(moved, frames, strict=True):
            of_frame[changed] = True
        return moved

    def _fit_changed(self, reading: Reading, is_wanted: Bools | None) -> None:
        """Fit subjects again whose vertices have changed, and note what has come.

        is_wanted : (N,) mask of the shapes that are fitted; all without one
        """
        if self._unfitted:
            run_to_end(self.fitting())
        if self.reader.animated_paddings:
            self._flush()
            items = {full_name_of(item): item for item in bpy.data.objects}
            for subject, name in self.reader.animated_paddings.items():
                if name in items:
                    self._fits.padding[subject] = object_padding(items[name])
        for key in reading.unknown:
            if self.skips.log_late_arrival(key, reading.time) and key[2]:
                self.arrived.add(key)
        refits: dict[int, Geometry] = {}
        for subject, geometry in reading.geometry.items():
            faces = reading.faces.get(subject)
            if self._skins is not None and self._skins.is_skinned[subject]:
                # Its vertices follow from its bones, also where the scene is played.
                continue
            if faces is not None or not self._fits.is_fitted_to(subject, geometry.points):
                refits[subject] = geometry
        if refits:
            self._flush()
            for subject in refits.keys() & reading.faces.keys():
                self._fits.set_triangles(subject, refits[subject].points, *reading.faces[subject])
            self._changed |= refits.keys()
            errors = self._fits.fit(list(refits), list(refits.values()), is_wanted)
            self.skips.log(
                Skip(subject, reading.time, describe_error(error)) for subject, error in errors.items()
            )

    def _shapes_of(self, subjects: Ints, reading: Reading) -> tuple[Any, Bools, list[Skip]]:
        """Compute the shapes of sorted `subjects` (m,) as they were read.

        Also returns which subjects are present (m,), and those that are skipped.
        """
        time, present = reading.time, reading.present.copy()
        matrices = np.where(present[:, None, None], reading.matrices, np.eye(4))
        # Not a number compares as False.
        is_finite = np.asarray((np.abs(matrices) <= MAX_COORDINATE).all(axis=(1, 2)))
        reason = f"its location or scale is not a number up to {MAX_COORDINATE:g}"
        skips = [Skip(index, time, reason) for index in subjects[~is_finite].tolist()]
        matrices[~is_finite] = np.eye(4)
        has_shape = self._fits.is_fitted[subjects]
        present &= is_finite
        unfitted = subjects[present & ~has_shape].tolist()
        reasons = {index: describe_error(error) for index, error in self._fit_errors.items()}
        skips += [Skip(index, time, reasons.get(index, "it could not be fitted")) for index in unfitted]
        present &= has_shape
        skins = None if self._skins is None else self._skins.shapes(subjects, np.full(len(subjects), time))
        shapes, errors = self._fits.shapes_at(subjects, matrices, skins)
        for index, error in errors.items():
            skips.append(Skip(index, time, describe_error(error)))
            present[np.searchsorted(subjects, index)] = False
        return shapes, present, skips
