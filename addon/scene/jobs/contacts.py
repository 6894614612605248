"""Job: contacts over a frame range, or over one share of its frames for several processes.

First comes the preparation of a scan: its frames, and bounds, pairs and motion at the first one.

Instances that come later are read when they appear, so that another scan can test them. Meshes without
vertices at the first frame that have some later are not in the result; it has a warning about each.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Generator, Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import NamedTuple

import bpy
import numpy as np

from ...core import ContactReport, Motion, Progress, Sampler, ScanSettings, scan_contacts
from ...core.messages import message, template
from ...core.progress import JobProgress, converted, run_to_end, until_stopped
from ...core.scan.scan import SECTION_INTERVALS, joined_shares, scan_share, sections_of, share_of
from ...formats import InputWarning, ObjectBounds, Partial, ScannedContacts, Skipped, SkippedPairs
from ..blender.animated import Simulations, may_deform, turning_times
from ..blender.frames import (
    advance_to,
    go_to,
    playhead,
    preserve_frame,
    require_active_scene,
    returning_between_steps,
    sample_times,
    scene_by_uid,
)
from ..blender.instances import MESH_LIKE, name_of
from ..blender.mesh_data import vertex_positions
from ..blender.object_settings import object_fit_settings
from ..blender.private_scene import PrivateScene, without_private_scenes
from ..errors import SceneError
from ..fitting.fit import ORIENTED_KINDS, resolve_scanned_shape
from ..fitting.mesh_fits import Obstacles
from ..fitting.parts import split_pieces
from ..motion.frame_reader import FrameReader
from ..motion.scene_motion import SceneMotion
from ..settings import (
    DEFAULT_SHAPES,
    OBSTACLE_SHAPES,
    SHAPES_OF_TRIANGLES,
    BoundShape,
    ContactSettings,
    FitSettings,
    Modifiers,
)
from ..subjects.find import find_in_parts
from ..subjects.reader import SubjectReader
from ..subjects.selection import NamePatterns, make_scan_settings, matches_names
from ..subjects.subject import Subject, SubjectList
from .bounds_table import NO_VERTICES, BoundsTable, fit_bounds
from .detailed_shapes import SHAPES_OF_SCANS, ScannedShapes
from .result import Result, result_of
from .scan_shares import ScanShare, has_sections, identity_of, refusal_of

_REASON = template("no vertices at the first frame, some at frame {frame:g}: not included")
_WARNING = template(
    "has no vertices at the first frame, and some at frame {frame:g}: frames from there on include it"
)

_PREPARATION, _PREPARATION_OF_PARTS = 0.05, 0.5
"""Part of the work of a scan before its first frame, for the progress; more if meshes are split."""
_LATE_MESHES = 0.98
"""Part of a job that is done before objects without vertices are evaluated again: few scenes have any."""


class PreparedScan(NamedTuple):
    """All that a scan needs of the scene.

    bounds : Bounds at the first frame, without contacts.
    motion : SceneMotion
    settings : ScanSettings
    has_subjects : Whether there is something to scan, now or later.
    """

    bounds: Result
    motion: SceneMotion
    settings: ScanSettings
    has_subjects: bool


class ContactJob:
    """A contact scan of a scene, and another one that tests the subjects that appear during the first.

    uid : The scene's session_uid.
    span : Start, end and step of its frames.
    times : Frames of the samples.
    progress : Of the whole job.
    late : Subjects that have appeared, in that order.
    """

    def __init__(
        self,
        scene: bpy.types.Scene,
        settings: ContactSettings,
        stops: Callable[[], bool] | None = None,
        drops: Callable[[], bool] | None = None,
    ) -> None:
        """Check the settings, and find the frames to scan; see `find_contacts`. Raises SceneError."""
        require_active_scene(scene)
        self.uid, self.settings, self.stops, self.drops = scene.session_uid, settings, stops, drops
        self.span = settings.frames or (scene.frame_start, scene.frame_end, scene.frame_step)
        self.times = sample_times(*self.span)
        if not (settings.clearance >= 0 and np.isfinite(settings.clearance)):
            text = "clearance {clearance:g}: must be a length of 0 or more"
            raise SceneError(message(text, clearance=settings.clearance))
        if settings.obstacles and settings.shape not in OBSTACLE_SHAPES:
            text = "obstacles {obstacles!r}: need meshes, spheres or sphere trees as the shape"
            raise SceneError(message(text, obstacles=", ".join(settings.obstacles)))
        self.progress = JobProgress()
        # Progress before the first sample.
        self._begun = Progress(0, len(self.times), self.times[0])
        self.late: list[Subject] = []
        # Their bounds at the frame at which they appear, and how they may change, with their geometry.
        self._late_objects: list[ObjectBounds] = []
        self._late_readers: list[FrameReader] = []
        # Number of instances by the full names of owner and object, and ids of all subjects.
        self._counts: dict[tuple[str, str], int] = {}
        self._ids: set[str] = set()

    def scan(
        self, shares: Sequence[ScanShare]
    ) -> Generator[Progress, None, tuple[PreparedScan, ContactReport]]:
        """Scan all frames, or join shares; in the first of two scans collect instances that come.

        At the end of the first scan, what is left of its phase is for the second one, which tests them.
        """
        end, is_second = self.progress.end, bool(self.late)
        if shares:
            # Nothing is sampled again, so no sources are needed, and no fits but those of the document.
            prepared = yield from self._prepare_first_frame()
            return prepared, self.joined(prepared, shares)
        prepared, scanned, times = yield from self.prepare()
        # Without subjects the frames are played to find instances that come.
        if not prepared.has_subjects:
            return prepared, ContactReport()
        self.progress.begin_phase(end)
        scan = scan_contacts(scanned, times, prepared.settings, self.stops, self.drops)
        if not is_second and scanned is prepared.motion:
            scan = converted(scan, lambda progress: self.read_late(progress, prepared, is_first=True))
        report = yield from scan
        last = np.inf if report.stopped_at is None else report.stopped_at
        if prepared.motion.has_switches:
            prepared.motion.log_absences([time for time in times if time <= last])
        self.progress.end = end
        return prepared, report

    def prepare(self) -> Generator[Progress, None, tuple[PreparedScan, Motion | Sampler, list[float]]]:
        """Read the scene at its first frame, choose the sources of motion; return what is scanned, and when.

        Motion that is certain needs no samples.
        """
        home, times = playhead(scene_by_uid(self.uid)), self.times
        prepared = yield from self._prepare_first_frame()
        motion = prepared.motion
        for _ in motion.fitting():
            yield self._begun
        for _ in motion.comparing(times, home):
            yield self._begun
        if self.settings.motion != "adaptive" or not prepared.has_subjects:
            return prepared, motion, times
        # Motion that is not known, and can be sampled within frames, is where keys turn there.
        if len(times) > 1 and not motion.is_known and motion.refinable.all():
            times = sorted([*times, *turning_times(bpy.context.evaluated_depsgraph_get(), times)])
        if motion.certain is None or not motion.is_certain:
            return prepared, motion, motion.with_switches(times)
        return prepared, motion.certain, motion.with_switches(times) if motion.has_switches else times

    def _prepare_first_frame(self) -> Generator[Progress, None, PreparedScan]:
        """Go to the first frame, read bounds, pairs and motion there, and fit shapes for the document."""
        settings, begun, done = self.settings, self._begun, self.progress.done
        preparation = _PREPARATION_OF_PARTS if settings.shape == "compound" else _PREPARATION
        self.progress.begin_phase(done + preparation * (self.progress.end - done))
        scene, time = scene_by_uid(self.uid), self.times[0]
        simulations = Simulations.of(scene)
        if simulations.first_frame is not None:
            advance_to(scene, time, simulations, None)
        elif bpy.app.background or time != playhead(scene):
            go_to(scene, time)
        else:
            # Values without keys are reset although the scene is at the first frame already.
            with returning_between_steps(scene, time):
                go_to(scene, time, within_step=True)
        yield begun
        reader, bounded = yield from self._bound_first_frame()
        scene = scene_by_uid(self.uid)
        subjects = [*bounded.subjects, *self.late]
        parents = [bounded.parents.get(each.parent, each.parent) for each in bounded.subjects]
        parents += [entry.parent for entry in self._late_objects]
        is_obstacle = np.zeros(len(subjects), dtype=bool)
        if settings.obstacles:
            is_obstacle = NamePatterns(scene, subjects).mask("obstacles", settings.obstacles)
        selection = settings.selection
        # They are tested although one may be the other's parent.
        is_pair_named = len(subjects) == 2 and (
            selection.selected_only or bool(selection.patterns) or selection.owners is not None
        )
        pairs = make_scan_settings(scene, subjects, parents, settings, is_pair_named, is_obstacle)
        bounds = replace(result_of(scene, bounded, self.span, time), skipped_pairs=pairs.skipped)
        if self.late:
            bounds = replace(bounds, subjects=subjects, objects=[*bounded, *self._late_objects])
        yield begun
        if settings.shape == "compound":
            for share in split_pieces(reader.first_geometries().values(), settings.fit):
                yield begun._replace(part=share)
        motion = SceneMotion(
            scene_by_uid(self.uid),
            # As a rule all of them have been read already.
            subjects if self.late or bounded.subjects is not reader.subjects else reader,
            selection,
            settings.shape,
            settings.fit,
            Obstacles(is_obstacle, settings.one_sided),
            self._late_readers,
        )
        # Everything about the scene has been read: it may be deleted after this yield.
        yield begun
        if motion.shape in SHAPES_OF_SCANS:
            fitted = yield from converted(motion.fitted(), lambda _: begun)
            bounds = replace(bounds, scanned_shapes=ScannedShapes(motion.shape, *fitted))
        scan = replace(
            pairs.settings, clearance=settings.clearance, motion=settings.motion, owners=motion.owners
        )
        return PreparedScan(bounds, motion, scan, bool(subjects) or motion.may_have_late_instances)

    def _bound_first_frame(self) -> Generator[Progress, None, tuple[FrameReader, BoundsTable]]:
        """Read the subjects of a scan in the scene, which is at the first frame, and fit their bounds."""
        settings, depsgraph = self.settings, bpy.context.evaluated_depsgraph_get()
        scene = scene_by_uid(self.uid)
        found, skipped, _ = run_to_end(find_in_parts(scene, depsgraph, settings.selection))
        # Windows would stand still twice as long if what was found were read in this step too.
        yield self._begun
        shapes, fit = self._shapes_of(found.representatives())
        with_triangles: Container[int] = range(len(found)) if settings.shape in SHAPES_OF_TRIANGLES else ()
        if settings.obstacles and not with_triangles:
            mask = NamePatterns(scene_by_uid(self.uid), found).mask("obstacles", settings.obstacles)
            with_triangles = frozenset(np.flatnonzero(mask).tolist())
        reader = FrameReader(found, fit, with_triangles, settings.shape == "mesh" or bool(settings.obstacles))
        yield self._begun
        fitting = fit_bounds(reader.shared, found, shapes, skipped)
        return reader, (yield from converted(fitting, lambda _: self._begun))

    def _shapes_of(self, subjects: Iterable[Subject]) -> tuple[tuple[BoundShape, ...], FitSettings]:
        """Return the shapes of the bounds of subjects: oriented boxes too, where the scan tests these.

        Returns settings of those that have none of their own, too, with the axes that the scan decides.
        """
        axes = {subject.axes for subject in subjects}
        kind, fit = resolve_scanned_shape(self.settings.shape, axes, self.settings.fit)
        return ((*DEFAULT_SHAPES, kind) if kind != "mesh" and kind in ORIENTED_KINDS else DEFAULT_SHAPES), fit

    def read_late(self, progress: Progress, prepared: PreparedScan, is_first: bool = False) -> Progress:
        """Read what has appeared in the last sample of a scan; the scene must be at its time.

        Members of merged collections and loose parts are not read.

        progress : Of the scan, returned as it is.
        is_first : Whether another scan follows if any instance comes, which takes as long as this one.
        """
        motion, begins_again = prepared.motion, is_first and not self.late
        arrived, motion.arrived = motion.arrived, set()
        if not arrived:
            return progress
        if not self._ids:
            self._counts = dict(motion.reader.instance_counts)
            self._ids = {each.id for each in prepared.bounds.subjects}
        depsgraph, selection = bpy.context.evaluated_depsgraph_get(), self.settings.selection
        finding = find_in_parts(scene_by_uid(self.uid), depsgraph, replace(selection, patterns=()))
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
        shapes, fit = self._shapes_of(found)
        bounded = run_to_end(fit_bounds(SubjectReader(found, fit).geometries(depsgraph), found, shapes, []))
        self.late += bounded.subjects
        self._late_objects += bounded
        found = bounded.subjects
        reader = FrameReader(found, self.settings.fit, range(len(found)), self.settings.shape == "mesh")
        reader.forget_instances()
        self._late_readers.append(reader)
        if begins_again and self.late:
            left, job = 1 - progress.share, self.progress
            job.begin_phase(job.done + (job.end - job.done) * left / (1 + left), progress.share)
        return progress

    def joined(self, prepared: PreparedScan, shares: Sequence[ScanShare]) -> ContactReport:
        """Join shares. Raises SceneError if one is of another scan."""
        identity = identity_of(prepared.bounds.subjects, self.settings, self.times)
        for number, share in enumerate(shares):
            is_same_scan = share.identity == identity and share.times == shares[0].times
            if (share.number, share.share_count) != (number, len(shares)) or not is_same_scan:
                raise SceneError(
                    f"share {number + 1} of {len(shares)} is of another scan: scan all shares again, with "
                    "the same scene, options and versions"
                )
            prepared.motion.skips.take_over(share.skips)
        records = [share.records for share in shares if share.records is not None]
        prepared.motion.sources.reasons = dict(shares[0].played)
        return joined_shares(shares[0].times, prepared.settings, records) if records else ContactReport()

    def result(self, prepared: PreparedScan, report: ContactReport) -> Generator[Progress, None, Result]:
        """Make the result of a scan; partial if it was stopped."""
        times, motion = self.times, prepared.motion
        result = prepared.bounds.with_late_warnings() if bpy.app.autoexec_fail else prepared.bounds
        last = times[-1] if report.stopped_at is None else report.stopped_at
        if report.stopped_at is not None:
            result = replace(result, partial=Partial(times[-1]), time=replace(result.time, end=last))
        is_adaptive = self.settings.motion == "adaptive" and len(times) > 1
        linear = np.flatnonzero(~motion.refinable) if is_adaptive else ()
        rotating = motion.rotating(report.contacts.pairs, [time for time in times if time <= last])
        skipped = dict(result.skipped_pairs)
        if report.static_pair_count:
            skipped[SkippedPairs.STATIC.value] = report.static_pair_count
        ids = result.ids
        scanned = ScannedContacts(
            report,
            ids,
            motion.shape,
            frozenset(ids[index] for index in np.flatnonzero(motion.obstacles.mask).tolist()),
            clearance=self.settings.clearance,
        )
        played = motion.sources.reasons if is_adaptive else {}
        result = replace(
            result,
            skipped=(*result.skipped, *motion.skips.records.values()),
            scanned=scanned,
            played={ids[index]: reason for index, reason in played.items()},
            linear_only=tuple(result.subjects[index].name for index in linear),
            rotating=tuple(rotating.tolist()),
            skipped_pairs=skipped,
        ).with_accepted_pairs()
        empty = {entry.name for entry in result.skipped if entry.reason == NO_VERTICES}
        if report.stopped_at is not None or not empty:
            return result
        self.progress.begin_phase(1.0)
        return (yield from self.progress.track(self._with_late_meshes(result, empty)))

    def _with_late_meshes(self, result: Result, empty: set[str]) -> Generator[Progress, None, Result]:
        """Give skipped objects without vertices the frame at which they get some, and warnings.

        They are evaluated by themselves: that takes no time where they do not depend on the frame.

        empty : Names of these objects.
        progress : After each evaluation.
        """
        modifiers: dict[int, Modifiers] = {}
        names: dict[int, str] = {}
        for item in scene_by_uid(self.uid).objects:
            if item.type in MESH_LIKE and name_of(item) in empty:
                source = object_fit_settings(item, self.settings.fit).modifiers
                if may_deform(item, source):
                    names[item.session_uid], modifiers[item.session_uid] = name_of(item), source
        late: dict[str, float] = {}
        scene = PrivateScene(scene_by_uid(self.uid), names)
        for number, time in enumerate(self.times[1:], 1):
            if len(late) == len(names) or (self.stops and self.stops()):
                break
            for item in scene.evaluate(time).objects:
                uid = item.original.session_uid
                if uid in names and names[uid] not in late and len(vertex_positions(item, modifiers[uid])):
                    late[names[uid]] = time
            yield Progress(number, len(self.times), time)
        if not late:
            return result
        reasons = {name: message(_REASON, frame=time) for name, time in late.items()}
        skipped = tuple(Skipped(each.name, reasons.get(each.name, each.reason)) for each in result.skipped)
        warnings = ((name, message(_WARNING, frame=time)) for name, time in sorted(late.items()))
        more = (InputWarning("lateMesh", *each) for each in warnings)
        return replace(result, skipped=skipped, warnings=(*result.warnings, *more))


@without_private_scenes
def find_contacts(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    stops: Callable[[], bool] | None = None,
    drops: Callable[[], bool] | None = None,
    shares: Sequence[ScanShare] = (),
) -> Generator[Progress, None, Result]:
    """Find the contacts of the selected objects over a frame range.

    In any case the playhead returns to where it was. Closing the generator cancels, without a result.

    scene : Must be the active scene.
    settings : Selection, shapes, pairs and frames of the scan.
    stops : Called before each frame. If it returns True, the job ends early: its result is that of the
        frames so far, and is marked as partial.
    drops : Called after each part of the work. If it returns True, a job that ends early drops the frames
        that are read but not solved.
    shares : All shares of this scan, which are joined instead of scanning. If one of them cannot be
        divided, all frames are scanned.
    progress : Its share is that of the whole job, with all scans.
    Returns result : Result. Its bounds are those of the first frame.
    Raises SceneError: for invalid settings, a selection that names something that does not exist, or shares
        of another scan.
    """
    if any(share.refusal for share in shares):
        shares = ()
    job = ContactJob(scene, settings, stops, drops)
    with preserve_frame(scene):
        job.progress.begin_phase(_LATE_MESHES)
        found = yield from job.progress.track(job.scan(shares))
        if job.late and found[1].stopped_at is None:
            # What was found stays if the scan with the instances that came is stopped.
            again = yield from until_stopped(job.progress.track(job.scan(shares)), stops)
            found = again or found
        return (yield from job.result(*found))


@without_private_scenes
def scan_frame_share(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    number: tuple[int, int],
    exchange: Callable[[ScanShare], Sequence[ScanShare]],
) -> Generator[Progress, None, Result | None]:
    """Scan one share of the frames of `find_contacts`, and join all shares if they are there.

    The scene is prepared once for both, which `find_contacts` would repeat.

    settings : of the whole scan
    number : of the share, from 0, and of all
    exchange : keeps the share, which has the reason alone if the scan cannot be divided; returns all shares,
        or none if others are missing

    Returns the result of `find_contacts`; None without all shares. Raises SceneError as `find_contacts`.
    """
    job = ContactJob(scene, settings)
    refusal = refusal_of(scene)
    if not has_sections(scene, settings):
        refusal = f"the animation is shorter than {SECTION_INTERVALS + 1} steps"
    if refusal:
        exchange(ScanShare(*number, "", refusal))
        return None
    with preserve_frame(scene):
        prepared, scanned, times = yield from job.progress.track(job.prepare())
        # The subjects that are skipped before the share are known to all shares.
        motion, subjects = prepared.motion, prepared.bounds.subjects
        skips = deepcopy(motion.skips)
        identity = identity_of(subjects, settings, job.times)
        share = ScanShare(*number, identity, times=tuple(times), played=motion.sources.reasons)
        sections = share_of(sections_of(len(times)), *number)
        if subjects and sections:
            job.progress.begin_phase(1.0)
            # Its progress is that of the frames of all shares.
            scan = converted(
                scan_share(scanned, times, prepared.settings, sections),
                lambda at: job.read_late(at._replace(part=at.share * number[1] - number[0]), prepared),
            )
            records = yield from job.progress.track(scan)
            if motion.has_switches:
                motion.log_absences(times)
            share = share._replace(records=records, skips=tuple(motion.skips.events))
            reasons = [f"{subject.name} appears after the first frame" for subject in job.late]
            if refusal := next(iter(reasons), refusal_of(scene_by_uid(job.uid))):
                share = ScanShare(*number, identity, refusal)
        shares = exchange(share)
        if not shares:
            return None
        if not any(each.refusal for each in shares):
            motion.skips = skips
            return (yield from job.result(prepared, job.joined(prepared, shares)))
    return (yield from find_contacts(scene_by_uid(job.uid), settings, shares=shares))
