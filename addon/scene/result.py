"""What a job found, and how it becomes a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import bpy

from ..core import ContactReport
from ..formats import (
    DEFAULT_DECIMALS,
    Confirmation,
    Convention,
    ObjectBounds,
    Origin,
    Partial,
    ScannedContacts,
    Skipped,
    TimeSettings,
    Track,
    make_document,
    space_for,
)
from .fitting import ShapeName
from .own_settings import as_typed
from .subjects import Subject


@dataclass(frozen=True)
class Result:
    """What a job found. `subjects` and `objects` run parallel to the indices in `report`.

    report, shape : None for bounds alone
    linear_only : names of what an adaptive scan could not look at between frames, such as simulations
    obstacles : indices of subjects that were checked as the meshes they are
    sticking_out : names of what has vertices outside of the shape that was set for it by hand
    confirmed : for each contact of the report what the meshes do; None where they were not or cannot be asked
    partial : how far a scan came that was stopped; None for one that came to its end
    tracks : the shapes over time of those subjects that were ever there, if asked for
    straight : ids of subjects whose envelopes take the straight way between frames
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
    sticking_out: tuple[str, ...] = ()
    confirmed: tuple[Confirmation | None, ...] = ()
    partial: Partial | None = None
    tracks: tuple[Track, ...] = ()
    straight: tuple[str, ...] = ()

    @property
    def has_contacts(self) -> bool:
        """Whether anything touches: of contacts that the meshes were asked about, those that they confirm."""
        count = len(self.report.contacts) if self.report else 0
        asked = self.confirmed or (None,) * count
        return any(answer is None or answer.first is not None for answer in asked)

    def document(
        self, convention: str | Convention = "blender", decimals: int = DEFAULT_DECIMALS
    ) -> dict[str, Any]:
        """The result as a document in the space of a convention, or of one that is named."""
        scanned = None
        if self.report is not None and self.shape is not None:
            ids = [subject.id for subject in self.subjects]
            obstacles = frozenset(ids[index] for index in self.obstacles)
            scanned = ScannedContacts(self.report, ids, self.shape, obstacles, self.confirmed)
        space = space_for(convention, self.scale_length)
        about = self.objects, self.skipped, self.origin, self.time, space, decimals
        return make_document(*about, scanned, self.partial, self.tracks, self.straight)

    def with_envelopes_of(self, other: Result) -> Result | None:
        """The same with envelopes of another result; None if those are of other frames than contacts here."""
        span = replace(other.time, reference=self.time.reference)
        if self.report is not None and span != self.time:
            return None
        found = {entry.id: entry.envelope for entry in other.objects}
        objects = tuple(replace(entry, envelope=found.get(entry.id, ())) for entry in self.objects)
        return replace(self, objects=objects, time=span, straight=other.straight)

    def without_envelopes(self) -> Result:
        """The bounds alone."""
        objects = tuple(replace(entry, envelope=()) for entry in self.objects)
        return replace(self, objects=objects, linear_only=(), straight=())


def result_of(
    scene: bpy.types.Scene,
    subjects: Sequence[Subject],
    objects: Sequence[ObjectBounds],
    skipped: Sequence[Skipped],
    span: tuple[float, float, float],
    reference: float,
) -> Result:
    """The bounds of subjects of a scene at a frame, and over which frames they are asked about, if at all."""
    rate = scene.render.fps / as_typed(scene.render.fps_base)
    return Result(
        tuple(objects),
        tuple(subjects),
        tuple(skipped),
        Origin(
            "Collision Bounds",
            _manifest_version(),
            bpy.app.version_string.split()[0],
            Path(bpy.data.filepath).name,
            scene.name,
        ),
        TimeSettings(round(rate, 9), *span, reference),
        as_typed(scene.unit_settings.scale_length),
    )


@cache
def _manifest_version() -> str:
    """The extension's version: from the manifest beside the package, or above it in a checkout."""
    import tomllib

    package = Path(__file__).resolve().parents[1]
    for folder in (package, package.parent):
        manifest = folder / "blender_manifest.toml"
        if manifest.is_file():
            return str(tomllib.loads(manifest.read_text("utf-8"))["version"])
    raise FileNotFoundError(f"blender_manifest.toml is neither in {package} nor above it")
