"""Shares of the frames of a scan for several processes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import bpy

from ...core import InvalidShapeError
from ...core.scan.pair_cache import PairCache
from ...core.scan.scan import sections_of
from ...core.scan.sections import share_as_json, share_from_json
from ...formats import extension_version
from ..blender.animated import Simulations
from ..blender.frames import has_foreign_handlers, sample_times
from ..settings import ContactSettings
from ..subjects.subject import Skip, SkipEvent, Subject

_FORMAT = "collision-bounds-scan-share"


class ScanShare(NamedTuple):
    """Records of one share of the frames of a scan.

    number, share_count : Number of the share, from 0, and number of shares.
    identity : Digest of what all shares of a scan have in common.
    refusal : Why the scan cannot be divided; empty if it can.
    records : None if the scan cannot be divided, or has fewer sections than shares.
    skips : Subjects that were skipped.
    times : Times of all samples of the scan, which are more than the requested ones if subjects appear
        between.
    played : Why subjects are read from the user's scene, by the index of each that is.
    """

    number: int
    share_count: int
    identity: str
    refusal: str = ""
    records: PairCache | None = None
    skips: tuple[SkipEvent, ...] = ()
    times: tuple[float, ...] = ()
    played: Mapping[int, str] = MappingProxyType({})


def share_as_text(share: ScanShare) -> str:
    """Convert a share to JSON."""
    fields: dict[str, Any] = {"format": _FORMAT, **share._asdict()}
    fields["records"] = None if share.records is None else share_as_json(share.records)
    fields["played"] = list(share.played.items())
    return json.dumps(fields)


def _skip_event(data: Sequence[Any]) -> SkipEvent:
    """Convert an entry of a log from JSON."""
    if len(data) == 2:
        (owner, name, indices), time = data
        return (str(owner), str(name), tuple(indices)), float(time)
    subject, time, reason = data
    return Skip(int(subject), float(time), reason and str(reason))


def share_from_text(text: str) -> ScanShare:
    """Convert JSON to a share. Raises InvalidShapeError for anything else."""
    try:
        data = json.loads(text)
        if data["format"] != _FORMAT:
            raise ValueError(f"format {data['format']!r}")
        skips = tuple(map(_skip_event, data["skips"]))
        records = data["records"] and share_from_json(data["records"])
        numbers = int(data["number"]), int(data["share_count"])
        times = tuple(map(float, data["times"]))
        played = {int(index): str(reason) for index, reason in data["played"]}
        identity, refusal = str(data["identity"]), str(data["refusal"])
        return ScanShare(*numbers, identity, refusal, records, skips, times, played)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InvalidShapeError(f"share of a scan: {error}") from None


def has_sections(scene: bpy.types.Scene, settings: ContactSettings) -> bool:
    """Return whether an animation is long enough to be divided. Raises SceneError for invalid frames."""
    span = settings.frames or (scene.frame_start, scene.frame_end, scene.frame_step)
    return len(sections_of(len(sample_times(*span)))) > 1


def refusal_of(scene: bpy.types.Scene) -> str:
    """Return why a scan of the active scene cannot be divided, as far as that is known; else nothing."""
    if Simulations.of(scene).first_frame is not None:
        return "a simulation is not baked, and must be played from its first frame"
    # Handlers of the extension keep nothing that a scan depends on.
    if has_foreign_handlers():
        return "a script runs at each change of the frame"
    if bpy.app.autoexec_fail:
        return "scripts are blocked, so some drivers were not run"
    return ""


def identity_of(subjects: Sequence[Subject], settings: ContactSettings, times: Sequence[float]) -> str:
    """Return a digest of what all shares of a scan have in common.

    times : those that are requested
    """
    versions = extension_version(), bpy.app.version_string
    try:
        with Path(bpy.data.filepath).open("rb") as stream:
            of_file = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        # A scene that was imported or not saved.
        of_file = ""
    text = repr((versions, of_file, settings, list(times), [subject.id for subject in subjects]))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
