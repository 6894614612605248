"""Subjects that a scan skips, with the reasons, and shares of its frames for several processes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import bpy

from ...core import InvalidShapeError
from ...core.messages import message
from ...core.scan.pair_cache import PairCache
from ...core.scan.sections import sections_of, share_as_json, share_from_json
from ...formats import Skipped, extension_version
from ..blender.animated import Simulations
from ..blender.frames import sample_times
from ..blender.instances import InstanceKey
from ..settings import ContactSettings
from ..subjects.subject import Subject


class Skip(NamedTuple):
    """A subject that a sample is without, and why; reason None means that it is not present in the scene."""

    subject: int
    time: float
    reason: str | None


SkipEvent: TypeAlias = Skip | tuple[InstanceKey, float]


class SkipLog:
    """Records why subjects are skipped, by their indices.

    events : All entries, in order: subjects that are skipped, and instances that appear, with the time.
    accepts : Returns whether an instance that was not there at first would have been a subject.
    known : Instances that are visible at the first frame. One that is no subject was skipped for a reason
        that is reported elsewhere.
    """

    def __init__(self, names: Sequence[str], is_accepted: Callable[[InstanceKey], bool]) -> None:
        """Start an empty log.

        names : Names of the subjects.
        is_accepted : As `accepts`.
        """
        self._names = names
        self.accepts = is_accepted
        self.events: list[SkipEvent] = []
        self._reasons: dict[str, str] = {}
        # First frame and number of the instances that have appeared later, by name.
        self._late: dict[str, tuple[float, int]] = {}
        self.known: set[InstanceKey] = set()

    @property
    def records(self) -> list[Skipped]:
        """One record per subject, with the first frame and reason."""
        return [Skipped(name, reason) for name, reason in self._reasons.items()]

    def log(self, skips: Iterable[Skip]) -> None:
        """Record the subjects that samples are without."""
        for skip in skips:
            name, reason = self._names[skip.subject], skip.reason
            if name in self._reasons:
                continue
            self.events.append(skip)
            if reason is None:
                text = message("not present at frame {frame:g}: skipped while absent", frame=skip.time)
            else:
                text = message("skipped at frame {frame:g}: {reason}", frame=skip.time, reason=reason)
            self._reasons[name] = text

    def take_over(self, events: Sequence[SkipEvent]) -> None:
        """Add the entries of another log of the same subjects, which continues this one."""
        for event in events:
            if isinstance(event, Skip):
                self.log([event])
            else:
                self.log_late_arrival(*event)

    def log_late_arrival(self, key: InstanceKey, time: float) -> bool:
        """Record an instance that appears after the first frame, and so is not tested.

        Returns whether it would have been a subject, and appears for the first time.
        """
        if key in self.known:
            return False
        self.known.add(key)
        if not self.accepts(key):
            return False
        self.events.append((key, time))
        owner, name, indices = key
        shown = f"{owner}/{name}" if indices else name
        if shown in self._reasons and shown not in self._late:
            return True
        first, count = self._late.get(shown, (time, 0))
        self._late[shown] = first, count + 1
        if count:
            text = (
                "{count} instances are not present at the first frame, the first appears at frame {frame:g}: "
                "not tested"
            )
            self._reasons[shown] = message(text, count=count + 1, frame=first)
        else:
            text = "not present at the first frame, appears at frame {frame:g}: not tested"
            self._reasons[shown] = message(text, frame=first)
        return True


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
    handlers = [*bpy.app.handlers.frame_change_pre, *bpy.app.handlers.frame_change_post]
    # Those of the extension keep nothing that a scan depends on.
    extension = __name__.partition(".scene.")[0]
    if not all(str(getattr(each, "__module__", "")).startswith(f"{extension}.") for each in handlers):
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
