"""Bounds and contacts as the "collision-bounds" JSON document, version 1.

All numbers are in the document's declared space. The same input makes the same bytes: objects sorted by name
then id, keys in one order, no time stamps, shapes rounded outward so that they still enclose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from ..core import Clearance, Contact
from .contents import (
    Confirmation,
    ObjectBounds,
    Origin,
    Partial,
    ScannedContacts,
    Skipped,
    TimeSettings,
    Track,
)
from .rounding import json_number, plain, rounded, rounded_down, rounded_up
from .spaces import Space
from .written_objects import written_objects
from .written_tracks import WrittenTracks

FORMAT = "collision-bounds"
VERSION = "1.0.0"
SCHEMA_ID = "urn:collision-bounds:document:1"
DEFAULT_DECIMALS = 6
LEAST_DECIMALS, MOST_DECIMALS = 3, 9

# Angles, directions and frames keep at least this many decimals whatever lengths are rounded to: a unit
# quaternion must stay one, and a frame must stay comparable with an animation curve.
_UNIT_DECIMALS = 6


def make_document(
    objects: Sequence[ObjectBounds],
    skipped: Sequence[Skipped],
    origin: Origin,
    time: TimeSettings,
    space: Space,
    decimals: int = DEFAULT_DECIMALS,
    scanned: ScannedContacts | None = None,
    partial: Partial | None = None,
    tracks: Sequence[Track] = (),
    straight: Sequence[str] = (),
) -> dict[str, Any]:
    """The document as plain dicts and lists, keys in the order of the format.

    Tracks, of which there may be many, are made one by one as they are read, see `WrittenTracks`.

    straight : ids of objects whose envelopes take the straight way between frames
    """
    writer = _Writer(space, decimals, time.fps)
    contacts = scanned.report.contacts if scanned else ()
    clearances = scanned.report.clearances if scanned else ()
    return {
        "$schema": SCHEMA_ID,
        "format": FORMAT,
        "version": VERSION,
        "generator": {
            "name": origin.generator,
            "version": origin.generator_version,
            "blender": origin.blender,
        },
        "source": {"file": origin.file, "scene": origin.scene},
        "space": _space(space),
        "time": {
            "fps": json_number(time.fps),
            "frameStart": json_number(time.start),
            "frameEnd": json_number(time.end),
            "frameStep": json_number(time.step),
            "referenceFrame": json_number(time.reference),
        },
        "objects": written_objects(objects, space, decimals, writer.unit_decimals),
        "tracks": WrittenTracks(tracks, space, decimals) if tracks else [],
        "contacts": [
            writer.contact(contact, scanned, answer)
            for contact, answer in zip_longest(contacts, scanned.confirmed if scanned else ())
            if scanned
        ],
        "clearances": [writer.clearance(near, scanned) for near in clearances if scanned],
        "skipped": [
            {"name": entry.name, "reason": entry.reason}
            for entry in sorted(skipped, key=lambda entry: (entry.name, entry.reason))
        ],
        "extras": {
            **({"partial": writer.partial(partial)} if partial else {}),
            **({"straightBetweenFrames": sorted(straight)} if straight else {}),
        },
    }


def _space(space: Space) -> dict[str, Any]:
    return {
        "preset": space.preset,
        "up": space.up,
        "forward": space.forward,
        "handedness": space.handedness,
        "unit": space.unit,
        "metersPerUnit": json_number(space.meters_per_unit),
        "fromBlender": plain((space.axes * space.scale).reshape(-1)),
        "matrixOrder": "row-major 3x3",
        "quaternion": "xyzw",
    }


@dataclass(frozen=True)
class _Writer:
    space: Space
    decimals: int
    fps: float

    @property
    def unit_decimals(self) -> int:
        return max(self.decimals, _UNIT_DECIMALS)

    def contact(
        self, contact: Contact, scanned: ScannedContacts, answer: Confirmation | None
    ) -> dict[str, Any]:
        first = contact.first
        frame = self.earlier(first.frame)
        both = scanned.ids[contact.a], scanned.ids[contact.b]
        solid = [side for side in both if side in scanned.obstacles]
        return {
            "a": both[0],
            "b": both[1],
            "shape": scanned.shape,
            **({"obstacle": solid[0]} if solid else {}),
            "motion": first.motion,
            "first": {
                "frame": frame,
                "seconds": json_number(float(rounded_down(frame / self.fps, self.unit_decimals))),
                "uncertainty": self.later(first.uncertainty),
                "point": plain(rounded(self.space.vectors(first.point), self.decimals)),
                "normal": plain(rounded(self.space.directions(first.normal), self.unit_decimals)),
                "atStart": first.at_start,
                "tunnelling": first.tunnelling,
            },
            "intervals": self.intervals(contact),
            "deepest": {
                "frame": self.near(contact.deepest_frame),
                "depth": json_number(float(rounded(contact.depth * self.space.scale, self.decimals))),
            },
            **({"meshes": self.confirmation(answer)} if answer else {}),
        }

    def confirmation(self, answer: Confirmation) -> dict[str, Any]:
        """What the meshes of a contact do."""
        first = answer.first
        if first is None:
            return {"touch": False}
        frame = self.earlier(first.time)
        return {
            "touch": True,
            "frame": frame,
            "seconds": json_number(float(rounded_down(frame / self.fps, self.unit_decimals))),
            "uncertainty": self.later(first.uncertainty),
            "point": plain(rounded(self.space.vectors(first.point), self.decimals)),
        }

    def partial(self, partial: Partial) -> dict[str, Any]:
        """What was asked for and not done."""
        unasked = {"meshesNotAsked": partial.unasked} if partial.unasked else {}
        return {"plannedEnd": json_number(partial.planned_end), **unasked}

    def intervals(self, contact: Contact) -> list[dict[str, Any]]:
        """Rounded outward; intervals that overlap after that are one."""
        written: list[dict[str, Any]] = []
        for span in contact.intervals:
            start, end = self.earlier(span.start), self.later(span.end)
            if written and start < written[-1]["end"]:
                written[-1]["end"] = end
            else:
                written.append({"start": start, "end": end})
        return written

    def clearance(self, near: Clearance, scanned: ScannedContacts) -> dict[str, Any]:
        return {
            "a": scanned.ids[near.a],
            "b": scanned.ids[near.b],
            "frame": self.near(near.frame),
            "gap": json_number(float(rounded_down(near.gap * self.space.scale, self.decimals))),
        }

    def earlier(self, frame: float) -> float:
        """A frame rounded towards the past: a contact is never reported late."""
        return json_number(float(rounded_down(frame, self.unit_decimals)))

    def later(self, frame: float) -> float:
        return json_number(float(rounded_up(frame, self.unit_decimals)))

    def near(self, frame: float) -> float:
        return json_number(float(rounded(frame, self.unit_decimals)))
