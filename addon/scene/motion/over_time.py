"""Points around the vertices of bones at all frames; boxes and spheres over time for envelopes and tracks."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core import Aabb, Progress, Sphere
from ...core.envelope.swept_points import points_swept
from ...core.messages import message, template
from ...core.numeric.arrays import Bools, Floats, Ints
from ...core.progress import with_progress
from ...formats import Skipped, Track
from ...formats.document.model import InputWarning
from ..blender.animated import Simulations, changing
from ..blender.frames import advance_to, preserve_frame, sample_times, scene_by_uid
from ..blender.instances import InstanceKey, full_name_of
from ..blender.mesh_data import Geometry
from ..blender.object_settings import may_sweep, object_fit_settings
from ..blender.parts.mesh_parts import LEAST_SCALE
from ..blender.private_scene import PrivateScene, without_private_scenes
from ..settings import BoundShape, FitSettings, Selection
from ..subjects.reader import NO_TRIANGLES, SubjectGeometry, SubjectReader, in_bone_space
from ..subjects.subject import Skip, Subject
from .frame_reader import FrameReader
from .known_motion import CurvePoses
from .pose_sources import PoseSources
from .scene_motion import SceneMotion

_COST_OF_EVALUATED = 1e6
"""Cost of bounds for which a scene is evaluated: one time is a step."""

_ITEM = re.compile(r'(?s)(.*)\["((?:[^"\\]|\\.)*)"\]')
"""Path of a custom property: its owner, and its name with escapes."""


@contextmanager
def preserve_unkeyed_values() -> Iterator[None]:
    """Set animated properties at the end of the block to their values at its beginning.

    Properties that were removed are passed over. The end of the block has to be at the same frame.
    """
    values = {
        block.session_uid: {path: _value(block, path) for path in changing(block)}
        for block in _animated_blocks()
    }
    try:
        yield
    finally:
        is_changed = False
        for block in _animated_blocks():
            for path, value in values.get(block.session_uid, {}).items():
                if value is not None and _value(block, path) != value:
                    _set_value(block, path, value)
                    is_changed = True
        if is_changed:
            bpy.context.view_layer.update()


def _animated_blocks() -> list[Any]:
    """Data-blocks with animation, the shape keys, materials and nodes that objects use among them."""
    collections = (getattr(bpy.data, each.identifier) for each in bpy.data.bl_rna.properties)
    return [
        block
        for collection in collections
        if isinstance(collection, bpy.types.bpy_prop_collection)
        for block in collection
        if getattr(block, "animation_data", None) is not None
    ]


def _value(block: Any, path: str) -> object:
    """Copy the value of a property, a vector or another array; None for any other, or none."""
    try:
        value = block.path_resolve(path)
        return value if isinstance(value, (bool, int, float, str)) else tuple(value)
    except (ValueError, TypeError):
        return None


def _set_value(block: Any, path: str, value: object) -> None:
    item = _ITEM.fullmatch(path)
    try:
        if item is not None:
            owner = block.path_resolve(item[1]) if item[1] else block
            owner[bpy.utils.unescape_identifier(item[2])] = value
        else:
            place, _, name = path.rpartition(".")
            setattr(block.path_resolve(place) if place else block, name, value)
    except (AttributeError, TypeError, ValueError):
        # A property that scripts cannot set, of a linked data-block for example.
        return


class BoneSweeps(NamedTuple):
    """Points around the vertices of bones at all frames.

    points : By the key of the object or instance and the name of the bone, (k, 3) float64. In the space of
        the bone; of vertices without a bone, in that of their object.
    collapsed : mapping of str to (float, float). Names of subjects, each with the first and the last frame at
        which its bone has a scale of nearly 0, so that the points do not hold its vertices there.
    """

    points: Mapping[tuple[InstanceKey, str], Floats]
    collapsed: Mapping[str, tuple[float, float]] = {}

    def warnings(self) -> list[InputWarning]:
        """Return a warning for each bone that has a scale of nearly 0 at some frames."""
        return [
            InputWarning("collapsedBone", name, message(_COLLAPSED, first=first, last=last))
            for name, (first, last) in self.collapsed.items()
        ]

    def holds(self, subject: Subject) -> bool:
        """Return whether there are points of a subject."""
        return (subject.key, subject.bone or "") in self.points

    def swept(self, piece: SubjectGeometry, subject: Subject) -> SubjectGeometry:
        """Replace the vertices of a bone at one frame by the points around those at all frames."""
        points: Any = self.points.get((subject.key, subject.bone or ""))
        if points is None:
            return piece
        matrix = piece.geometry.matrix if piece.frame is None else piece.frame
        return piece.with_geometry(Geometry(points, matrix))._replace(triangles=NO_TRIANGLES)


NO_SWEEPS = BoneSweeps({})

_COLLAPSED = template("has a scale of nearly 0 between frames {first:g} and {last:g}: its bounds omit these")


@without_private_scenes
def sweep_bones(
    scene: bpy.types.Scene, subjects: Sequence[Subject], fit: FitSettings, span: tuple[float, float, float]
) -> Generator[Progress, None, BoneSweeps]:
    """Find the points around the vertices of bones at all frames, for the objects whose settings ask for it.

    Vertices are read once within each step too, and more often where they do not move linearly. Objects that
    are the same without the rest of the scene are evaluated alone. For the others, the scene is played. It
    returns to its frame, and to values of animated properties that have no key. Scenes with simulations that
    concern these objects are evaluated at the steps alone. Frames at which a bone is not visible, or has a
    scale of nearly zero, are passed over: vertices that other bones move too are far away in its space.

    scene : The active scene. It may change at a yield.
    subjects : Visible subjects, bones or not.
    fit : Settings of objects that have none of their own.
    span : (float, float, float). First frame, last frame and step.
    Yields progress : After each sample.
    Raises SceneError: for an invalid frame range.
    """
    if not may_sweep(fit):
        return NO_SWEEPS
    times = sample_times(*span)
    settings = {full_name_of(item): object_fit_settings(item, fit) for item in bpy.data.objects}
    swept = [
        subject
        for subject in subjects
        if subject.bone is not None and settings.get(subject.key[1], fit).bone_frames == "all"
    ]
    if not swept:
        return NO_SWEEPS
    with preserve_unkeyed_values(), preserve_frame(scene):
        motion = BoneMotion(scene, swept, fit)
        yield from motion.choose_source(times)
        points = yield from points_swept(motion.sample, times, len(swept), motion.is_refinable)
    found = zip(swept, points, strict=True)
    collapsed = {swept[index].name: (min(at), max(at)) for index, at in sorted(motion.collapsed.items())}
    return BoneSweeps({(s.key, s.bone or ""): each for s, each in found if len(each)}, collapsed)


class BoneMotion:
    """Vertices of bones over time, in the spaces of the bones.

    is_refinable : Whether there is no simulation that the vertices depend on.
    collapsed : Times at which the bone of a subject had a scale of nearly 0, by its index.
    alone : Subjects that are read from a private scene, by their indices. The scene is played for the others.
    """

    def __init__(self, scene: bpy.types.Scene, subjects: Sequence[Subject], fit: FitSettings) -> None:
        """Read all subjects from the user's scene."""
        self._uid, self._subjects, self._fit = scene.session_uid, subjects, fit
        self._simulations = Simulations.of(scene)
        self._reader = reader = FrameReader(subjects, fit, ())
        reader.shared = []
        reader.find_simulated(self._simulations)
        self.is_refinable = self._simulations.first_frame is None and not reader.is_simulated.any()
        self.collapsed: dict[int, list[float]] = {}
        self.alone: tuple[int, ...] = ()
        self._private: PrivateScene | None = None
        self._last: float | None = None

    def choose_source(self, times: Sequence[float]) -> Generator[Progress, None, None]:
        """Find the subjects that are the same, to the bit, without the rest of the scene at a few times."""
        if not self.is_refinable:
            return
        sources = PoseSources(scene_by_uid(self._uid), self._reader, self._simulations)
        choosing = sources.choose(times, lambda _: False, np.zeros(len(self._subjects), dtype=bool))
        yield from with_progress(choosing, Progress(0, len(times), times[0]))
        alone = np.flatnonzero(sources.is_elsewhere)
        self.alone = tuple(alone.tolist())
        self._private = PrivateScene(scene_by_uid(self._uid), self._reader.uids[alone].tolist())

    def sample(self, time: float) -> dict[int, Floats]:
        """Vertices (n, 3) of the bones that are visible at a time."""
        found: dict[int, Floats] = {}
        if self.alone:
            assert self._private is not None, "choose_source sets both"
            found = self._read(self._private.evaluate(time), time, self.alone)
        if len(self.alone) < len(self._subjects):
            advance_to(scene_by_uid(self._uid), time, self._simulations, self._last)
            self._last = time
            rest = sorted(set(range(len(self._subjects))) - set(self.alone))
            found |= self._read(bpy.context.evaluated_depsgraph_get(), time, rest)
        return found

    def _read(self, depsgraph: bpy.types.Depsgraph, time: float, indices: Sequence[int]) -> dict[int, Floats]:
        """Vertices (n, 3) of those of some subjects that are visible, by their indices."""
        found: dict[int, Floats] = {}
        reader = SubjectReader([self._subjects[index] for index in indices], self._fit)
        for piece in reader.singles(depsgraph):
            if piece.frame is not None:
                if not piece.bone_scale >= LEAST_SCALE:
                    self.collapsed.setdefault(indices[piece.subject], []).append(time)
                    continue
                piece = in_bone_space(piece)
            points: Floats = piece.points.astype(np.float64)
            if len(points) and np.isfinite(points).all():
                found[indices[piece.subject]] = points
        return found


class SceneBounds:
    """Boxes of subjects at any time, and their spheres. Implements `core.Motion`: nothing between is certain.

    All share what is read of the scene at each time. Must be created at the frame at which the subjects were
    found.

    grain, costs : (n,) or (2n,) float64. Infinite grain for simulated subjects: they move linearly.
    is_certain : (n,) or (2n,) bool
    """

    def __init__(
        self,
        scene: bpy.types.Scene,
        subjects: Sequence[Subject],
        selection: Selection,
        fit: FitSettings,
        frames: Sequence[float],
        with_own_frames: bool = False,
        with_tracks: bool = False,
    ) -> None:
        """Read all subjects as they are now; see `SceneMotion` for the parameters.

        frames : increasing times at which all subjects will be queried
        with_own_frames : whether n more bounds follow, those of the subjects in their own frames
        with_tracks : whether the bounds at frames are kept for tracks
        """
        # Boxes are along the world's axes, whatever axes a contact scan would use.
        along_world = [subject._replace(axes="checked") for subject in subjects]
        self._boxes = boxes = SceneMotion(scene, along_world, selection, "aabb", fit)
        # Motions of boxes and of spheres: of n bounds in the world, maybe of n in their own frames.
        self._motions = [boxes, boxes.with_shape("sphere")]
        if with_own_frames:
            self._motions += [boxes.with_shape("aabb", True), boxes.with_shape("sphere", True)]
        self.shapes = np.arange(len(subjects) * len(self._motions) // 2)
        self._all, self._frames, self._with_tracks = np.arange(len(subjects)), frames, with_tracks
        self.grain: Floats = np.resize(np.where(boxes.refinable, 0.0, np.inf), len(self.shapes))
        # Whatever is evaluated is a step of its own.
        self.costs: Floats = np.full(len(self.shapes), _COST_OF_EVALUATED)
        self.is_certain: Bools = np.zeros(len(self.shapes), dtype=bool)
        # The curves that all subjects follow.
        self._curves: CurvePoses | None = None
        # The last query, and the numbers (m, 10) of its answer; for tracks, those of subjects at frames.
        self._queried, self._answer = (self._all[:0], np.empty(0)), np.empty((0, 10))
        self._kept: dict[float, Floats] = {}

    def preparing(self) -> Generator[None, None, None]:
        """Fit all subjects, and for envelopes choose what they are read from; yields after each step."""
        for motion in self._motions:
            yield from motion.fitting()
        if len(self._motions) > 2:
            # Boxes of bent meshes alone could follow from curves, but not spheres.
            is_bent, sources = np.zeros(len(self._all), dtype=bool), self._boxes.sources
            accepts = self._boxes.skips.accepts
            yield from sources.choose(self._frames, lambda name: accepts((name, name, ())), is_bent)
            curves = sources.curves
            if curves is not None and curves.is_known.all() and not sources.is_played:
                self._curves, self.costs = curves, np.ones(len(self.shapes))

    @property
    def skipped(self) -> list[Skipped]:
        """One record for each subject that a sample is without: the first time, and why."""
        return [*self._boxes.skips.records.values()]

    def at(self, shapes: Ints, times: Floats, is_before: bool = False) -> Aabb:
        numbers = self._numbers(shapes, times)
        return Aabb.unchecked(numbers[:, :3], numbers[:, 3:6])

    def spheres_at(self, shapes: Ints, times: Floats) -> Sphere:
        """Return the spheres of the same subjects, as `at` does."""
        numbers = self._numbers(shapes, times)
        return Sphere.unchecked(numbers[:, 6:9], numbers[:, 9])

    def are_present(self, shapes: Ints, times: Floats) -> Bools:
        return ~np.isnan(self._numbers(shapes, times)[:, 0])

    def bound(self, shapes: Ints, begin: Floats, end: Floats) -> tuple[Floats, Bools]:
        """See `Motion`: nothing is known."""
        return (np.full(len(shapes), np.nan), np.ones(len(shapes), dtype=bool))

    def breaks(self, shapes: Ints, begin: Floats, end: Floats) -> Floats:
        """See `Motion`: none is known."""
        return np.full(len(shapes), np.inf)

    def _numbers(self, shapes: Ints, times: Floats) -> Floats:
        """Corners of boxes, centers and radii of spheres: (m, 10), NaN where they are absent."""
        if not all(map(np.array_equal, self._queried, (shapes, times))):
            self._queried, self._answer = (shapes, times), np.full((len(shapes), 10), np.nan)
            if self._curves is None or not self._follow(self._curves):
                for time in np.unique(times).tolist():
                    self._evaluate(time, np.flatnonzero(times == time))
            for time in self._frames if self._with_tracks else ():
                found = self._answer[(times == time) & (shapes < len(self._all))]
                if len(found) == len(self._all):
                    self._kept[time] = found
        return self._answer

    def _follow(self, curves: CurvePoses) -> bool:
        """Answer from curves, each shape at its time; returns whether all could be."""
        shapes, times = self._queried
        subjects, is_own = shapes % len(self._all), shapes >= len(self._all)
        matrices = curves.matrices(times, subjects)
        found: list[tuple[Ints, Any]] = []
        for index, motion in enumerate(self._motions):
            places = np.flatnonzero(is_own == (index > 1))
            found.append((places, motion.moved_shapes(subjects[places], matrices[places])))
            if found[-1][1] is None:
                return False
        for each in found:
            self._put(*each)
        is_absent = ~curves.visibility.are_shown(curves.rows[subjects], times)
        self._answer[is_absent] = np.nan
        absent = np.flatnonzero(is_absent & np.isin(times, self._frames))
        for row in absent[np.lexsort((subjects[absent], times[absent]))].tolist():
            self._boxes.skips.log([Skip(int(subjects[row]), float(times[row]), None)])
        return True

    def _evaluate(self, time: float, places: Ints) -> None:
        """Answer for some places at a time."""
        count = len(self._all)
        shapes = self._queried[0][places]
        # Those in their own frames are read with the others, because the scene is evaluated for these.
        every = np.unique(shapes % count)
        present: Any = True
        for index, motion in enumerate(self._motions):
            if index == 0 and time in self._frames:
                sample = motion.sample(time)
                assert motion.last is not None, "it was sampled"
                reading = motion.last
            else:
                reading = motion.sources.read(time, every) if index == 0 else reading
                sample = motion.sample_between(time, every, reading=reading)
            present &= sample.present
            is_of_motion = (shapes >= count) == (index > 1)
            rows = np.searchsorted(every, shapes[is_of_motion] % count)
            shown = present[rows]
            self._put(places[is_of_motion][shown], sample.shapes[rows[shown]])

    def _put(self, places: Ints, shapes: Any) -> None:
        """Put boxes or spheres (k,) at some places of the answer."""
        if isinstance(shapes, Aabb):
            self._answer[places, :3], self._answer[places, 3:6] = shapes.min, shapes.max
        else:
            self._answer[places, 6:9], self._answer[places, 9] = shapes.center, shapes.radius

    def tracks(self, ids: Sequence[str], shapes: Sequence[BoundShape]) -> tuple[Track, ...]:
        """Tracks of all subjects that were ever present.

        ids : Of all subjects.
        shapes : Tracks have those of "sphere" and "aabb" that are among these.
        """
        times, every, tracks = np.array(list(self._kept)), np.array(list(self._kept.values())), []
        for index, id in enumerate(ids):
            numbers = every[:, index]
            present = ~np.isnan(numbers).any(axis=1)
            if present.any():
                low, high, center, radius = np.split(numbers[present], (3, 6, 9), axis=1)
                box = Aabb.unchecked(low, high) if "aabb" in shapes else None
                ball = Sphere.unchecked(center, radius[:, 0]) if "sphere" in shapes else None
                tracks.append(Track(id, times[present], ball, box))
        return tuple(tracks)
