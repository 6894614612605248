"""The two jobs that all three doors run, panel, command line and script: fit bounds, find contacts.

A job takes settings and gives a result that holds no bpy object. Same scene, same settings: the same
document, to the byte.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..core import CollisionBoundsError, ContactReport, MotionKind, Progress, scan_contacts
from ..formats import (
    DEFAULT_DECIMALS,
    Confirmation,
    ObjectBounds,
    Origin,
    ScannedContacts,
    Skipped,
    TimeSettings,
    make_document,
    space_for,
)
from .changes import Simulations
from .errors import SceneError
from .extraction import Geometry, Placement, placement, read_geometry
from .fitting import BoundShape, FitSettings, ShapeName, fitted_both, in_batches
from .mesh_contacts import confirmed
from .pairs import PairSettings, chosen_obstacles, chosen_pairs
from .playback import Playback, arrive, frame_kept, go_to, playhead
from .subjects import Selection, Subject, find_subjects
from .walk import Key

_SHAPES: tuple[BoundShape, ...] = ("sphere", "aabb")

_LAST_FRAME = 1_048_574

_LEAST_STEP = 0.001
"""Frames. Blender keeps times in single precision: finer steps would fall on one another."""


@dataclass(frozen=True)
class BoundsSettings:
    """What to bound and how; `frame` None is where the playhead stands."""

    selection: Selection = field(default_factory=Selection)
    shapes: tuple[BoundShape, ...] = _SHAPES
    fit: FitSettings = field(default_factory=FitSettings)
    frame: float | None = None


@dataclass(frozen=True)
class ContactSettings(PairSettings):
    """What to check against what, over which frames.

    shape : what stands in for each subject; "spheres" are the leaves of a sphere tree
    frames : first, last, step, all of which may be fractional; None is the scene's own range
    motion : adaptive asks the scene between frames where that matters; linear takes the straight way
    clearance : Blender units; pairs closer than this are in contact
    confirm : ask the meshes themselves about each contact
    """

    selection: Selection = field(default_factory=Selection)
    shape: ShapeName = "aabb"
    fit: FitSettings = field(default_factory=FitSettings)
    frames: tuple[float, float, float] | None = None
    motion: MotionKind = "adaptive"
    clearance: float = 0.0
    confirm: bool = False


@dataclass(frozen=True)
class Result:
    """What a job found. `subjects` and `objects` run parallel to the indices in `report`.

    report, shape : None for bounds alone
    linear_only : names of what an adaptive scan could not look at between frames, such as simulations
    obstacles : indices of subjects that were checked as the meshes they are
    confirmed : for each contact of the report what the meshes do; None where they were not or cannot be asked
    """

    objects: tuple[ObjectBounds, ...]
    subjects: tuple[Subject, ...]
    skipped: tuple[Skipped, ...]
    origin: Origin
    time: TimeSettings
    scale_length: float
    report: ContactReport | None = None
    shape: ShapeName | None = None
    linear_only: tuple[str, ...] = ()
    obstacles: tuple[int, ...] = ()
    confirmed: tuple[Confirmation | None, ...] = ()

    @property
    def has_contacts(self) -> bool:
        """Whether anything touches: of contacts that the meshes were asked about, those that they confirm."""
        count = len(self.report.contacts) if self.report else 0
        asked = self.confirmed or (None,) * count
        return any(answer is None or answer.first is not None for answer in asked)

    def document(self, preset: str = "blender", decimals: int = DEFAULT_DECIMALS) -> dict[str, Any]:
        """The result as a document in the space of `preset`."""
        scanned = None
        if self.report is not None and self.shape is not None:
            ids = [subject.id for subject in self.subjects]
            obstacles = frozenset(ids[index] for index in self.obstacles)
            scanned = ScannedContacts(self.report, ids, self.shape, obstacles, self.confirmed)
        space = space_for(preset, self.scale_length)
        return make_document(self.objects, self.skipped, self.origin, self.time, space, decimals, scanned)


def compute_bounds(scene: bpy.types.Scene, settings: BoundsSettings) -> Result:
    """Fit shapes to the selection at one frame; the playhead returns to where it was.

    Raises SceneError when the selection names something that is not there.
    """
    _require_current(scene)
    if settings.frame is not None:
        require_frame(settings.frame)
    with frame_kept(scene):
        reference = playhead(scene) if settings.frame is None else settings.frame
        if settings.frame is not None:
            go_to(scene, settings.frame)
        subjects, objects, skipped = _bounded(scene, settings.selection, settings.shapes, settings.fit)
        span = (scene.frame_start, scene.frame_end, scene.frame_step)
        return _result(scene, subjects, objects, skipped, span, reference)


def find_contacts(scene: bpy.types.Scene, settings: ContactSettings) -> Generator[Progress, None, Result]:
    """Scan the animation for contacts; yields progress, returns the result.

    Bounds in the result are those of the first frame. Closing the generator cancels; in any case the
    playhead returns to where it was. Raises SceneError for a frame range or name that makes no sense.
    """
    _require_current(scene)
    span = settings.frames or (scene.frame_start, scene.frame_end, scene.frame_step)
    times = sample_times(*span)
    if not (settings.clearance >= 0 and np.isfinite(settings.clearance)):
        raise SceneError(f"clearance {settings.clearance:g}: must be a length of 0 or more")
    if settings.obstacles is not None and settings.shape not in ("sphere", "spheres"):
        raise SceneError(f"obstacles {settings.obstacles!r}: only spheres or sphere trees bump into meshes")
    uid = scene.session_uid
    with frame_kept(scene):
        arrive(scene, times[0], Simulations.of(scene), None)
        shapes = (*_SHAPES, "obb") if settings.shape == "obb" else _SHAPES
        subjects, objects, skipped = _bounded(scene, settings.selection, shapes, settings.fit)
        pairs = chosen_pairs(scene, subjects, [entry.parent for entry in objects], settings)
        # Everything about the scene is read now: it may be gone after a yield.
        result = _result(scene, subjects, objects, skipped, span, times[0])
        obstacles = chosen_obstacles(scene, subjects, settings)
        playback = Playback(scene, subjects, settings.selection, settings.shape, settings.fit, obstacles)
        scan = replace(
            pairs,
            clearance=settings.clearance,
            motion=settings.motion,
            owners=playback.owners,
            obstacles=obstacles.for_scan,
        )
        report = ContactReport((), ())
        if subjects:
            report = yield from scan_contacts(playback, times, scan)
        answers: tuple[Confirmation | None, ...] = ()
        if settings.confirm:
            answers = yield from confirmed(
                uid,
                subjects,
                report.contacts,
                settings.fit.modifiers,
                settings.clearance,
                playback.refinable,
                Progress(len(times), len(times), times[-1]),
            )
    asked_between = settings.motion == "adaptive" and len(times) > 1
    linear = np.flatnonzero(~playback.refinable) if asked_between else ()
    return replace(
        result,
        skipped=(*result.skipped, *playback.left_out),
        report=report,
        shape=settings.shape,
        linear_only=tuple(subjects[index].name for index in linear),
        obstacles=tuple(obstacles.indices.tolist()),
        confirmed=answers,
    )


def sample_times(start: float, end: float, step: float) -> list[float]:
    """Every `step` frames from `start`, and `end` itself. Raises SceneError when there are none."""
    if not _LEAST_STEP <= step < math.inf:
        raise SceneError(f"frames {start:g}:{end:g}:{step:g}: the step must be {_LEAST_STEP} or more")
    if start > end:
        raise SceneError(f"frames {start:g}:{end:g}: the first frame is after the last")
    for frame in (start, end):
        require_frame(frame)
    # Rounded down, but 0.3 / 0.1, which comes out below 3, is 3 steps.
    steps = math.floor((end - start) / step + 1e-6)
    times = [float(start + index * step) for index in range(steps + 1)]
    if end - times[-1] < 1e-6 * step:
        times.pop()
    return [*times, float(end)]


def require_frame(frame: float) -> None:
    """Raise SceneError for a frame that Blender does not have."""
    if not abs(frame) <= _LAST_FRAME:
        raise SceneError(f"frame {frame:g}: Blender's frames end at {_LAST_FRAME}")


def _require_current(scene: bpy.types.Scene) -> None:
    """Only the scene of the context has its animation evaluated."""
    if scene != bpy.context.scene:
        raise SceneError(f"scene {scene.name!r}: is not the one on show, make it so first")


def _bounded(
    scene: bpy.types.Scene, selection: Selection, shapes: tuple[BoundShape, ...], fit: FitSettings
) -> tuple[list[Subject], list[ObjectBounds], list[Skipped]]:
    """The usable subjects with their bounds at the current frame, and what cannot have any."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    candidates, skipped = find_subjects(scene, depsgraph, selection)
    by_key = {subject.key: subject for subject in candidates}
    bounds: dict[Key, ObjectBounds] = {}
    read = _placed(read_geometry(depsgraph, fit.modifiers, by_key), by_key, skipped)
    for batch in in_batches(read, lambda entry: entry[1].points):
        fits = fitted_both([entry[1] for entry in batch], [entry[2] for entry in batch], shapes, fit)
        for (subject, _, placed), found in zip(batch, fits, strict=True):
            if isinstance(found, CollisionBoundsError):
                skipped.append(Skipped(subject.name, str(found)))
                continue
            local, world = found
            about = subject.id, subject.name, subject.kind, subject.parent
            bounds[subject.key] = ObjectBounds(*about, *placed, local, world)
    usable = [subject for subject in candidates if subject.key in bounds]
    return usable, _with_parents([bounds[subject.key] for subject in usable], by_key), skipped


def _placed(
    geometries: Iterable[tuple[Key, Geometry]], by_key: Mapping[Key, Subject], skipped: list[Skipped]
) -> Iterator[tuple[Subject, Geometry, Placement]]:
    """Subjects with their geometry and their place; those without either go to `skipped`."""
    for key, geometry in geometries:
        subject = by_key[key]
        if not len(geometry.points):
            skipped.append(Skipped(subject.name, "no vertices"))
            continue
        try:
            yield subject, geometry, placement(geometry.matrix)
        except CollisionBoundsError as error:
            skipped.append(Skipped(subject.name, str(error)))


def _with_parents(objects: list[ObjectBounds], by_key: dict[Any, Subject]) -> list[ObjectBounds]:
    """The same with parents that have no bounds replaced by the nearest ancestor that has."""
    parents = {subject.id: subject.parent for subject in by_key.values()}
    written = {entry.id for entry in objects}
    resolved = []
    for entry in objects:
        parent = entry.parent
        while parent is not None and parent not in written:
            parent = parents[parent]
        resolved.append(ObjectBounds(**{**vars(entry), "parent": parent}))
    return resolved


def _result(
    scene: bpy.types.Scene,
    subjects: Sequence[Subject],
    objects: Sequence[ObjectBounds],
    skipped: Sequence[Skipped],
    span: tuple[float, float, float],
    reference: float,
) -> Result:
    rate = scene.render.fps / as_typed(scene.render.fps_base)
    return Result(
        tuple(objects),
        tuple(subjects),
        tuple(skipped),
        Origin(
            "Collision Bounds",
            manifest_version(),
            bpy.app.version_string.split()[0],
            Path(bpy.data.filepath).name,
            scene.name,
        ),
        TimeSettings(round(rate, 9), *span, reference),
        as_typed(scene.unit_settings.scale_length),
    )


def as_typed(value: float) -> float:
    """A single-precision property as the decimal number it stands for: 0.01, not 0.0099999998."""
    return float(str(np.float32(value)))


def manifest_version() -> str:
    """The extension's version: from the manifest beside the package, or above it in a checkout."""
    import tomllib

    package = Path(__file__).resolve().parents[1]
    for folder in (package, package.parent):
        manifest = folder / "blender_manifest.toml"
        if manifest.is_file():
            return str(tomllib.loads(manifest.read_text("utf-8"))["version"])
    raise FileNotFoundError(f"blender_manifest.toml is neither in {package} nor above it")
