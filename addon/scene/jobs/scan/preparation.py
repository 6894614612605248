"""Preparation of a scan: its frames, bounds, pairs and motion at the first one, and objects that come later.

Instances are read when they appear, so that another scan can test them. Meshes without vertices at the first
frame that have some later are not in the result; it has a warning about each.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Generator, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

import bpy
import numpy as np

from ....core import Progress, ScanSettings
from ....core.messages import message, template
from ....core.progress import converted, run_to_end
from ....core.scan.scan import never
from ....formats import InputWarning, ObjectBounds, Skipped
from ...blender.animated import Simulations, may_deform, turning_times
from ...blender.frames import advance_to, playhead, sample_times, scene_by_uid
from ...blender.instances import MESH_LIKE, name_of
from ...blender.mesh_data import vertex_positions
from ...blender.object_settings import object_fit_settings
from ...blender.private_scene import PrivateScene, go_to_within_step, returning_between_steps
from ...errors import SceneError
from ...fitting.fit import ORIENTED_KINDS, resolve_scanned_shape
from ...fitting.parts import split_pieces
from ...motion.frame_reader import FrameReader
from ...motion.posed_shapes import MeshObstacles
from ...motion.scene_motion import SceneMotion
from ...progress import JobProgress
from ...settings import (
    DEFAULT_SHAPES,
    OBSTACLE_SHAPES,
    SHAPES_OF_TRIANGLES,
    BoundShape,
    ContactSettings,
    FitSettings,
    Modifiers,
)
from ...subjects.find import find_in_parts
from ...subjects.reader import SubjectReader
from ...subjects.scan_settings import NamePatterns, make_scan_settings
from ...subjects.selection import matches_names
from ...subjects.subject import Subject, SubjectList
from ..bounds import require_active_scene
from ..bounds_table import NO_VERTICES, BoundsTable, fit_bounds
from ..detailed_shapes import SHAPES_OF_SCANS, ScannedShapes
from ..result import Result, result_of


class ScanRequest(NamedTuple):
    """Scene, settings and frames of a scan, and conditions to end early.

    uid : The scene's session_uid.
    span : Start, end and step of its frames.
    times : Frames of the samples.
    begun : Progress before the first sample.
    stops, drops : See `find_contacts`.
    """

    uid: int
    settings: ContactSettings
    span: tuple[float, float, float]
    times: list[float]
    begun: Progress
    stops: Callable[[], bool]
    drops: Callable[[], bool]

    def shapes_of(self, subjects: Iterable[Subject]) -> tuple[tuple[BoundShape, ...], FitSettings]:
        """Return the shapes of the bounds of subjects: oriented boxes too, where the scan tests these.

        Returns settings of those that have none of their own, too, with the axes that the scan decides.
        """
        axes = {subject.axes for subject in subjects}
        kind, fit = resolve_scanned_shape(self.settings.shape, axes, self.settings.fit)
        return ((*DEFAULT_SHAPES, kind) if kind in ORIENTED_KINDS else DEFAULT_SHAPES), fit


def scan_request(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    stops: Callable[[], bool] = never,
    drops: Callable[[], bool] = never,
) -> ScanRequest:
    """Check the settings, and find the frames to scan. Raises SceneError."""
    require_active_scene(scene)
    span = settings.frames or (scene.frame_start, scene.frame_end, scene.frame_step)
    times = sample_times(*span)
    if not (settings.clearance >= 0 and np.isfinite(settings.clearance)):
        raise SceneError(
            message("clearance {clearance:g}: must be a length of 0 or more", clearance=settings.clearance)
        )
    if settings.obstacles and settings.shape not in OBSTACLE_SHAPES:
        raise SceneError(
            message(
                "obstacles {obstacles!r}: need spheres or sphere trees as the shape",
                obstacles=", ".join(settings.obstacles),
            )
        )
    begun = Progress(0, len(times), times[0])
    return ScanRequest(scene.session_uid, settings, span, times, begun, stops, drops)


_REASON = template("no vertices at the first frame, some at frame {frame:g}: not included")
_WARNING = template(
    "has no vertices at the first frame, and some at frame {frame:g}: frames from there on include it"
)


@dataclass
class LateInstances:
    """Subjects that appear during a scan.

    subjects : In the order in which they appear.
    objects : Their bounds at the frame at which they appear.
    readers : How they may change, and their geometry.
    """

    subjects: list[Subject] = field(default_factory=list)
    objects: list[ObjectBounds] = field(default_factory=list)
    readers: list[FrameReader] = field(default_factory=list)
    # Number of instances by the full names of owner and object, and ids of all subjects.
    _counts: dict[tuple[str, str], int] = field(default_factory=dict)
    _ids: set[str] = field(default_factory=set)

    def read(
        self,
        progress: Progress,
        request: ScanRequest,
        prepared: PreparedScan,
        job: JobProgress | None = None,
    ) -> Progress:
        """Read what has appeared in the last sample of a scan; the scene must be at its time.

        Members of merged collections and loose parts are not read.

        progress : Of the scan, returned as it is.
        job : Where another scan follows if any instance comes, which takes as long as this one.
        """
        motion, is_first = prepared.motion, not self.subjects
        arrived, motion.arrived = motion.arrived, set()
        if not arrived:
            return progress
        if not self._ids:
            self._counts = dict(motion.reader.instance_counts)
            self._ids = {each.id for each in prepared.bounds.subjects}
        depsgraph, selection = bpy.context.evaluated_depsgraph_get(), request.settings.selection
        finding = find_in_parts(scene_by_uid(request.uid), depsgraph, replace(selection, patterns=()))
        found, _, _ = run_to_end(finding)
        late = []
        for _, row in sorted(found.rows_of(arrived).items()):
            subject = found[row]
            if subject.part is not None or subject.members:
                continue
            # Its name and id have the number after those of the instances of its object so far.
            number = self._counts.get(subject.key[:2], 0)
            self._counts[subject.key[:2]] = number + 1
            name = f"{subject.name.rpartition('.')[0]}.{number}"
            id, count = name, 2
            while id in self._ids:
                id, count = f"{name}#{count}", count + 1
            self._ids.add(id)
            if matches_names(selection, name, subject.key[0]):
                parent = subject.parent if subject.parent in self._ids else None
                late.append(subject._replace(name=name, id=id, parent=parent))
        if not late:
            return progress
        found = SubjectList.of(late)
        shapes, fit = request.shapes_of(found)
        bounded = run_to_end(fit_bounds(SubjectReader(found, fit).geometries(depsgraph), found, shapes, []))
        self.subjects += bounded.subjects
        self.objects += bounded
        reader = FrameReader(bounded.subjects, request.settings.fit, range(len(bounded.subjects)))
        reader.read_first(bpy.context.evaluated_depsgraph_get())
        reader.forget_instances()
        self.readers.append(reader)
        if job and is_first and self.subjects:
            left = 1 - progress.share
            job.begin_phase(job.done + (job.end - job.done) * left / (1 + left), progress.share)
        return progress


def with_late_meshes(request: ScanRequest, result: Result) -> Generator[Progress, None, Result]:
    """Give the objects that a result skips without vertices the frame at which they get some, and warnings.

    They are evaluated by themselves: that takes no time where they do not depend on the frame.

    progress : After each evaluation.
    """
    empty = {entry.name for entry in result.skipped if entry.reason == NO_VERTICES}
    if not empty:
        return result
    modifiers: dict[int, Modifiers] = {}
    names: dict[int, str] = {}
    for item in scene_by_uid(request.uid).objects:
        if item.type in MESH_LIKE and name_of(item) in empty:
            source = object_fit_settings(item, request.settings.fit).modifiers
            if may_deform(item, source):
                names[item.session_uid], modifiers[item.session_uid] = name_of(item), source
    late: dict[str, float] = {}
    scene = PrivateScene(scene_by_uid(request.uid), names)
    for number, time in enumerate(request.times[1:], 1):
        if len(late) == len(names) or request.stops():
            break
        for item in scene.evaluate(time).objects:
            uid = item.original.session_uid
            if uid in names and names[uid] not in late and len(vertex_positions(item, modifiers[uid])):
                late[names[uid]] = time
        yield Progress(number, len(request.times), time)
    if not late:
        return result
    skipped = tuple(
        Skipped(entry.name, message(_REASON, frame=late[entry.name])) if entry.name in late else entry
        for entry in result.skipped
    )
    warnings = (
        InputWarning("lateMesh", name, message(_WARNING, frame=time)) for name, time in sorted(late.items())
    )
    return replace(result, skipped=skipped, warnings=(*result.warnings, *warnings))


_PREPARATION, _PREPARATION_OF_PARTS = 0.05, 0.5
"""Part of the work of a scan before its first frame, for the progress; more if meshes are split."""


class PreparedScan(NamedTuple):
    """All that a scan needs of the scene.

    bounds : Bounds at the first frame, without contacts.
    motion : SceneMotion
    settings : ScanSettings
    has_subjects : Whether there is something to scan, now or later.
    played : Why subjects are read from the user's scene, by the index of each that is.
    """

    bounds: Result
    motion: SceneMotion
    settings: ScanSettings
    has_subjects: bool
    played: Mapping[int, str] = MappingProxyType({})


def prepare_motion(
    request: ScanRequest, late: LateInstances, job: JobProgress
) -> Generator[Progress, None, tuple[PreparedScan, list[float]]]:
    """Read the scene at its first frame, choose the sources of motion, and return the times to sample.

    late : more subjects
    """
    home, times = playhead(scene_by_uid(request.uid)), request.times
    prepared = yield from prepare_first_frame(request, late, job)
    # Everything about the scene has been read: it may be deleted after this yield.
    yield request.begun
    prepared = yield from fitted_scan(prepared, request.begun)
    motion = prepared.motion
    for _ in choose_sources(scene_by_uid(request.uid), motion, times, home):
        yield request.begun
    prepared = prepared._replace(played=motion.sources.reasons)
    if request.settings.motion != "adaptive" or not prepared.has_subjects:
        return prepared, times
    # Motion that is not known, and can be sampled within frames, is where keys turn there.
    if len(times) > 1 and not motion.known.all() and motion.refinable.all():
        times = sorted([*times, *turning_times(bpy.context.evaluated_depsgraph_get(), times)])
    return prepared, motion.with_switches(times)


def fitted_scan(prepared: PreparedScan, begun: Progress) -> Generator[Progress, None, PreparedScan]:
    """Fit all subjects of a scan, and give its result the shapes; yields `begun` after each batch."""
    motion, bounds = prepared.motion, prepared.bounds
    if motion.shape not in SHAPES_OF_SCANS:
        for _ in motion.fitting():
            yield begun
        return prepared
    fitted = yield from converted(motion.fitted(), lambda _: begun)
    scanned = ScannedShapes(motion.shape, fitted, len(bounds.subjects))
    return prepared._replace(bounds=replace(bounds, scanned_shapes=scanned))


def choose_sources(
    scene: bpy.types.Scene, motion: SceneMotion, times: Sequence[float], home: float
) -> Generator[None, None, None]:
    """Choose the sources of motion, and return the scene to a frame: at the end, unless it has to be played.

    In a window the scene returns at each yield.
    """
    uid = scene.session_uid
    with nullcontext() if bpy.app.background else returning_between_steps(scene, home):
        yield from motion.comparing(times)
        if not motion.sources.is_played and playhead(scene_by_uid(uid)) != home:
            go_to_within_step(scene_by_uid(uid), home)


def prepare_first_frame(
    request: ScanRequest, late: LateInstances, job: JobProgress
) -> Generator[Progress, None, PreparedScan]:
    """Go to the first frame and read bounds, pairs and motion there.

    late : more subjects
    """
    settings, begun = request.settings, request.begun
    preparation = _PREPARATION_OF_PARTS if settings.shape == "compound" else _PREPARATION
    job.begin_phase(job.done + preparation * (job.end - job.done))
    scene, time = scene_by_uid(request.uid), request.times[0]
    simulations = Simulations.of(scene)
    if bpy.app.background or simulations.first_frame is not None or time != playhead(scene):
        advance_to(scene, time, simulations, None)
    else:
        # Values without keys are reset although the scene is at the first frame already.
        with returning_between_steps(scene, time):
            go_to_within_step(scene, time)
    yield begun
    reader, bounded = yield from _bound_first_frame(request)
    scene = scene_by_uid(request.uid)
    subjects = [*bounded.subjects, *late.subjects]
    parents = bounded.subjects.columns(np.arange(len(bounded.subjects))).parents
    parents = [*bounded.bounded_parents(parents), *(entry.parent for entry in late.objects)]
    is_obstacle = NamePatterns(scene, subjects).mask("obstacles", settings.obstacles)
    selection = settings.selection
    # They are tested although one may be the other's parent.
    is_pair_named = len(subjects) == 2 and (
        selection.selected_only or bool(selection.patterns) or selection.owners is not None
    )
    pairs = make_scan_settings(scene, subjects, parents, settings, is_pair_named, is_obstacle)
    bounds = replace(result_of(scene, bounded, request.span, time), skipped_pairs=pairs.skipped)
    if late.subjects:
        bounds = replace(bounds, subjects=subjects, objects=[*bounded, *late.objects])
    yield begun
    obstacles = MeshObstacles(subjects, is_obstacle, settings.one_sided)
    yield begun
    if settings.shape == "compound":
        for share in split_pieces(reader.first_geometries().values(), settings.fit):
            yield begun._replace(part=share)
    has_all_been_read = not late.subjects and bounded.subjects is reader.subjects
    motion = SceneMotion(
        scene_by_uid(request.uid),
        reader if has_all_been_read else subjects,
        selection,
        settings.shape,
        settings.fit,
        obstacles,
        late.readers,
    )
    scan = replace(
        pairs.settings,
        clearance=settings.clearance,
        motion=settings.motion,
        owners=motion.owners,
        obstacles=obstacles.for_scan,
    )
    return PreparedScan(bounds, motion, scan, bool(subjects) or motion.may_have_late_instances)


def _bound_first_frame(
    request: ScanRequest,
) -> Generator[Progress, None, tuple[FrameReader, BoundsTable]]:
    """Read the subjects of a scan in the scene, which is at the first frame, and fit their bounds."""
    settings, depsgraph = request.settings, bpy.context.evaluated_depsgraph_get()
    scene = scene_by_uid(request.uid)
    found, skipped, _ = run_to_end(find_in_parts(scene, depsgraph, settings.selection))
    yield request.begun
    shapes, fit = request.shapes_of(found.representatives())
    with_triangles: Container[int] = range(len(found))
    if settings.shape not in SHAPES_OF_TRIANGLES:
        patterns = NamePatterns(scene_by_uid(request.uid), found)
        mask = patterns.mask("obstacles", settings.obstacles)
        with_triangles = frozenset(np.flatnonzero(mask).tolist())
    reader = FrameReader(found, fit, with_triangles)
    reader.read_first(bpy.context.evaluated_depsgraph_get())
    yield request.begun
    fitting = fit_bounds(reader.shared, found, shapes, skipped)
    return reader, (yield from converted(fitting, lambda _: request.begun))
