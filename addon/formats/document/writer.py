"""Bounds and contacts as the "collision-bounds" JSON document, version 1.

All numbers are in the document's declared space. The same input gives the same bytes: objects are sorted by
name, then id, keys have one order, there are no time stamps. Shapes are rounded outward, so they still
enclose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from ...core import Clearance, Contact, ContactDetails
from ...core.numeric.arguments import as_whole_number, require_type
from ...core.numeric.arrays import Floats
from ..rounding import json_number, rounded_down, rounded_to_nearest, rounded_up, to_lists
from ..spaces import Space
from .model import Confirmation, DocumentContents, Origin, Partial, ScannedContacts, TimeSettings
from .objects import WrittenObjects
from .tracks import WrittenTracks

FORMAT = "collision-bounds"
VERSION = "1.4.0"
SCHEMA_ID = "urn:collision-bounds:document:1"
DEFAULT_DECIMALS = 6
LEAST_DECIMALS, MOST_DECIMALS = 3, 9

# Directions, scale factors and frames keep at least this many decimals, however lengths are rounded: a unit
# vector must keep its length, and a frame must stay comparable with an animation curve.
_UNIT_DECIMALS = 6

# Velocities have no more decimals than this: more digits would not survive the conversion to frames and back.
_SPEED_DECIMALS = 6


@dataclass(frozen=True)
class WriteOptions:
    """Space and precision of a document.

    Attributes
    ----------
    space : Space
        The space that the document declares; all its numbers are in it.
    decimals : int
        Decimals of lengths, LEAST_DECIMALS to MOST_DECIMALS.

    Raises
    ------
    InvalidShapeError
        For another type, or decimals out of range.
    """

    space: Space
    decimals: int = DEFAULT_DECIMALS

    def __post_init__(self) -> None:
        require_type(self.space, Space, "space")
        as_whole_number(self.decimals, "decimals", LEAST_DECIMALS, MOST_DECIMALS)


def make_document(contents: DocumentContents, options: WriteOptions) -> dict[str, Any]:
    """Convert contents to a document of dicts and lists, keys in the order of the format.

    Shapes are rounded outward: each encloses the exact one, in the document's space. First frames are rounded
    down, so a contact is never late. Objects and tracks that were read from a document, and are written in
    its space with as many decimals, keep their numbers.

    Parameters
    ----------
    contents : DocumentContents
        In Blender's space and units.
    options : WriteOptions
        Space and precision of the document.

    Returns
    -------
    document : dict of str to Any
        Its objects and tracks are converted on access, since there can be very many, see `WrittenObjects`
        and `WrittenTracks`.
    """
    require_type(contents, DocumentContents, "contents")
    require_type(options, WriteOptions, "options")
    space, scanned = options.space, contents.scanned
    writer = _Writer(space, options.decimals, contents.time)
    contacts, clearances = [], []
    if scanned:
        rows = zip_longest(scanned.report.contacts, scanned.confirmed, scanned.accepted)
        contacts = [
            writer.contact(contact, scanned, confirmation, accepted)
            for contact, confirmation, accepted in rows
        ]
        clearances = [writer.clearance(clearance, scanned) for clearance in scanned.report.clearances]
    return {
        "$schema": SCHEMA_ID,
        "format": FORMAT,
        "version": VERSION,
        **_origin(contents.origin),
        "space": _space(space),
        "time": _time(contents.time),
        "objects": writer.objects(contents) if contents.objects else [],
        "tracks": WrittenTracks(contents.tracks, space, options.decimals) if contents.tracks else [],
        "contacts": contacts,
        "clearances": clearances,
        "skipped": [
            {"name": entry.name, "reason": entry.reason}
            for entry in sorted(contents.skipped, key=lambda entry: (entry.name, entry.reason))
        ],
        "warnings": [
            {"kind": entry.kind, "name": entry.name, "message": entry.message}
            for entry in sorted(contents.warnings, key=lambda entry: (entry.kind, entry.name, entry.message))
        ],
        "extras": {
            **({"partial": writer.partial(contents.partial)} if contents.partial else {}),
            **({"straightBetweenFrames": sorted(contents.linear_ids)} if contents.linear_ids else {}),
            **({"playedInScene": _played(contents.played)} if contents.played else {}),
        },
    }


def _played(played: Mapping[str, str]) -> list[dict[str, Any]]:
    """Reasons in order, each with the ids of its objects."""
    ids: dict[str, list[str]] = {}
    for id, reason in played.items():
        ids.setdefault(reason, []).append(id)
    return [{"reason": reason, "ids": sorted(ids[reason])} for reason in sorted(ids)]


def _origin(origin: Origin) -> dict[str, Any]:
    return {
        "generator": {
            "name": origin.generator,
            "version": origin.generator_version,
            "blender": origin.blender,
        },
        "source": {"file": origin.file, "scene": origin.scene},
    }


def _space(space: Space) -> dict[str, Any]:
    return {
        "preset": space.preset,
        "up": space.up,
        "forward": space.forward,
        "handedness": space.handedness,
        "unit": space.unit,
        "metersPerUnit": json_number(space.meters_per_unit),
        "fromBlender": to_lists((space.axes * space.scale).reshape(-1)),
        "matrixOrder": "row-major 3x3",
        "quaternion": "xyzw",
    }


def _time(time: TimeSettings) -> dict[str, Any]:
    return {
        "fps": json_number(time.fps),
        "frameStart": json_number(time.start),
        "frameEnd": json_number(time.end),
        "frameStep": json_number(time.step),
        "referenceFrame": json_number(time.reference),
    }


@dataclass(frozen=True)
class _Writer:
    """Converts objects, contacts and near misses to JSON dicts."""

    space: Space
    decimals: int
    time: TimeSettings

    @property
    def unit_decimals(self) -> int:
        return max(self.decimals, _UNIT_DECIMALS)

    @property
    def speed_decimals(self) -> int:
        return min(self.decimals, _SPEED_DECIMALS)

    def objects(self, contents: DocumentContents) -> WrittenObjects:
        """Convert objects on access."""
        precision = self.decimals, self.unit_decimals
        return WrittenObjects(contents.objects, self.space, *precision, contents.responses)

    def contact(
        self,
        contact: Contact,
        scanned: ScannedContacts,
        confirmation: Confirmation | None,
        accepted: str | None,
    ) -> dict[str, Any]:
        first = contact.first
        frame = self.frame_down(first.frame)
        ids = scanned.ids[contact.a], scanned.ids[contact.b]
        obstacles = [id for id in ids if id in scanned.obstacles]
        return {
            "a": ids[0],
            "b": ids[1],
            "shape": scanned.shape,
            **({"obstacle": obstacles[0]} if obstacles else {}),
            "motion": first.motion,
            "first": {
                "frame": frame,
                "seconds": self.seconds(frame),
                "uncertainty": self.frame_up(first.uncertainty),
                "point": self.vector(first.point),
                "normal": self.direction(first.normal),
                # The frame is rounded down, so a contact just after the first frame begins there too.
                "atStart": first.at_start or frame <= self.time.start,
                "tunnelling": first.tunnelling,
            },
            "intervals": self.intervals(contact),
            "deepest": {
                "frame": self.frame_nearest(contact.deepest_frame),
                "depth": self.length_nearest(contact.depth),
            },
            **({"meshes": self.confirmation(confirmation)} if confirmation else {}),
            **({} if accepted is None else {"accepted": accepted}),
        }

    def confirmation(self, confirmation: Confirmation) -> dict[str, Any]:
        """Convert the result of testing the meshes of a contact."""
        first = confirmation.first
        if first is None:
            return {"touch": False}
        frame = self.frame_down(first.time)
        return {
            "touch": True,
            "frame": frame,
            "seconds": self.seconds(frame),
            "uncertainty": self.frame_up(first.uncertainty),
            "point": self.vector(first.point),
        }

    def partial(self, partial: Partial) -> dict[str, Any]:
        """Convert the unfinished part of a scan that was stopped."""
        untested = {"meshesNotAsked": partial.untested} if partial.untested else {}
        return {"plannedEnd": json_number(partial.planned_end), **untested}

    def intervals(self, contact: Contact) -> list[dict[str, Any]]:
        """Convert contact intervals, rounded outward; intervals that then overlap are merged."""
        written: list[dict[str, Any]] = []
        for interval, details in zip_longest(contact.intervals, contact.details):
            start, end = self.frame_down(interval.start), self.frame_up(interval.end)
            entry = {"start": start, "end": end, **(self.details(details) if details else {})}
            if written and start < written[-1]["end"]:
                last = written[-1]
                last["end"] = end
                if details and entry["deepest"]["depth"] > last["deepest"]["depth"]:
                    last["deepest"] = entry["deepest"]
            else:
                written.append(entry)
        return written

    def details(self, details: ContactDetails) -> dict[str, Any]:
        """Convert begin and deepest overlap of an interval; velocities become lengths per second."""
        normal, velocity, closing_speed = self.direction(details.normal), None, None
        if details.velocity is not None:
            in_space = self.space.vectors(details.velocity * self.time.fps)
            velocity = to_lists(rounded_to_nearest(in_space, self.speed_decimals))
            # Of the written numbers, so that it is the same after it was read.
            speed = -sum(part * along for part, along in zip(velocity, normal, strict=True))
            closing_speed = json_number(float(rounded_to_nearest(speed, self.speed_decimals)))
        return {
            "uncertainty": self.frame_up(details.uncertainty),
            "point": self.vector(details.point),
            "normal": normal,
            "velocity": velocity,
            "closingSpeed": closing_speed,
            "deepest": {
                "frame": self.frame_nearest(details.deepest_frame),
                "depth": self.length_nearest(details.depth),
                "direction": self.direction(details.direction),
            },
        }

    def clearance(self, clearance: Clearance, scanned: ScannedContacts) -> dict[str, Any]:
        return {
            "a": scanned.ids[clearance.a],
            "b": scanned.ids[clearance.b],
            "frame": self.frame_nearest(clearance.frame),
            "gap": json_number(float(rounded_down(clearance.gap * self.space.scale, self.decimals))),
        }

    def vector(self, vector: Floats) -> Any:
        """Convert a position or a displacement."""
        return to_lists(rounded_to_nearest(self.space.vectors(vector), self.decimals))

    def direction(self, direction: Floats) -> Any:
        """Convert a unit vector."""
        return to_lists(rounded_to_nearest(self.space.directions(direction), self.unit_decimals))

    def length_nearest(self, length: float) -> float:
        return json_number(float(rounded_to_nearest(length * self.space.scale, self.decimals)))

    def seconds(self, frame: float) -> float:
        return json_number(float(rounded_down(frame / self.time.fps, self.unit_decimals)))

    def frame_down(self, frame: float) -> float:
        """Round a frame down, so that a contact is never reported late."""
        return json_number(float(rounded_down(frame, self.unit_decimals)))

    def frame_up(self, frame: float) -> float:
        return json_number(float(rounded_up(frame, self.unit_decimals)))

    def frame_nearest(self, frame: float) -> float:
        return json_number(float(rounded_to_nearest(frame, self.unit_decimals)))
