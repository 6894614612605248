"""Bounds and contacts as the "collision-bounds" JSON document, version 1.

All numbers are in the document's declared space. The same input makes the same bytes: objects sorted by name
then id, keys in one order, no time stamps, shapes rounded outward so that they still enclose.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from ..core import Aabb, Clearance, Contact, ContactReport, MeshContact, Obb, Shape, Sphere
from ..core.arrays import rotation_matrix
from .rounding import (
    is_whole,
    plain,
    rounded,
    rounded_aabb,
    rounded_down,
    rounded_obb,
    rounded_sphere,
    rounded_up,
)
from .spaces import Floats, Space, quaternion_of

FORMAT = "collision-bounds"
VERSION = "1.0.0"
SCHEMA_ID = "urn:collision-bounds:document:1"
DEFAULT_DECIMALS = 6
LEAST_DECIMALS, MOST_DECIMALS = 3, 9

# Angles, directions and frames keep at least this many decimals whatever lengths are rounded to: a unit
# quaternion must stay one, and a frame must stay comparable with an animation curve.
_UNIT_DECIMALS = 6
_ROTATION_DECIMALS = 9

_INLINE_WIDTH = 100


@dataclass(frozen=True)
class ObjectBounds:
    """One subject with its shapes, in Blender's space and units.

    id : unique in the document
    kind : Blender's object type, such as "MESH"
    parent : id of the nearest ancestor that is in the document, or None
    translation (3,), rotation (4,) w first, scale (3,) : of the world matrix; shear is not in them
    local : shapes in the subject's own turned and moved axes, its scale (and shear) baked in
    world : shapes in world space
    override : "box" or "sphere", set by hand, when shapes enclose that instead of the vertices
    envelope : shapes in world space around all that the world shapes sweep over the document's frames
    """

    id: str
    name: str
    kind: str
    parent: str | None
    translation: Floats
    rotation: Floats
    scale: Floats
    local: tuple[Shape, ...]
    world: tuple[Shape, ...]
    override: str | None = None
    envelope: tuple[Shape, ...] = ()


@dataclass(frozen=True)
class Track:
    """The world shapes of one subject over many frames, in Blender's space and units.

    id : of its object
    frames : (k,) growing, those at which it is there
    sphere, aabb : (k,), None where not asked for
    """

    id: str
    frames: Floats
    sphere: Sphere | None
    aabb: Aabb | None


@dataclass(frozen=True)
class Skipped:
    """Something that got no bounds, and why, in words for its user."""

    name: str
    reason: str


@dataclass(frozen=True)
class Origin:
    """What made the document, from what."""

    generator: str
    generator_version: str
    blender: str
    file: str
    scene: str


@dataclass(frozen=True)
class TimeSettings:
    """Frames as Blender counts them, both ends included; `fps` is the true rate (fps / fps_base)."""

    fps: float
    start: float
    end: float
    step: float
    reference: float


@dataclass(frozen=True)
class Confirmation:
    """What the meshes of a contact do: `first` is None where they never touch."""

    first: MeshContact | None


@dataclass(frozen=True)
class ScannedContacts:
    """A report together with what it was made from.

    ids : those of the report's subject indices
    obstacles : ids of subjects that were checked as the meshes they are
    confirmed : for each contact what its meshes do, None where they were not asked; empty for none asked
    """

    report: ContactReport
    ids: Sequence[str]
    shape: str
    obstacles: frozenset[str] = frozenset()
    confirmed: Sequence[Confirmation | None] = ()


@dataclass(frozen=True)
class Partial:
    """A scan that was stopped: what was planned, while the document's time says what was done.

    planned_end : the last frame that was asked for
    unasked : how many contacts were not asked of the meshes although that was wanted
    """

    planned_end: float
    unasked: int = 0


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
    ordered = sorted(objects, key=lambda entry: (entry.name, entry.id))
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
            "fps": _number(time.fps),
            "frameStart": _number(time.start),
            "frameEnd": _number(time.end),
            "frameStep": _number(time.step),
            "referenceFrame": _number(time.reference),
        },
        "objects": [writer.object(entry) for entry in ordered],
        "tracks": WrittenTracks(tracks, writer) if tracks else [],
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


class WrittenTracks(Sequence[dict[str, Any]]):
    """The tracks of a document, each made when it is asked for, sorted by id."""

    def __init__(self, tracks: Sequence[Track], writer: _Writer) -> None:
        self._tracks = sorted(tracks, key=lambda track: track.id)
        self._writer = writer

    def __len__(self) -> int:
        return len(self._tracks)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._writer.track(track) for track in self._tracks[index]]
        return self._writer.track(self._tracks[index])


def dumps(document: Mapping[str, Any]) -> str:
    """The document as text: UTF-8 characters as they are, LF, what fits a line on one line."""
    return "".join(chunks(document))


def chunks(document: Mapping[str, Any]) -> Iterator[str]:
    """The same text in parts, so that tracks need not be held all at once."""
    opening = "{"
    for key, value in document.items():
        yield f"{opening}\n {_one_line(key)}: "
        opening = ","
        if isinstance(value, WrittenTracks):
            for number, track in enumerate(value):
                yield ("," if number else "[") + "\n  " + _rendered(track, "  ")
            yield "\n ]"
        else:
            yield _rendered(value, " ")
    yield "\n}\n"


def _space(space: Space) -> dict[str, Any]:
    return {
        "preset": space.preset,
        "up": space.up,
        "forward": space.forward,
        "handedness": space.handedness,
        "unit": space.unit,
        "metersPerUnit": _number(space.meters_per_unit),
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

    def object(self, entry: ObjectBounds) -> dict[str, Any]:
        rotation = _written_rotation(self.space.quaternion(entry.rotation))
        exact = self.space.vectors(entry.translation)
        translation = rounded(exact, self.decimals)
        # Local shapes are placed at the translation as it is written, so what it lost moves into them.
        lost = rotation_matrix(rotation[[3, 0, 1, 2]]).T @ (exact - translation)
        return {
            "id": entry.id,
            "name": entry.name,
            "type": entry.kind,
            "parent": entry.parent,
            **({"override": entry.override} if entry.override else {}),
            "transform": {
                "translation": plain(translation),
                "rotation": plain(rotation),
                "scale": plain(rounded(self.space.factors(entry.scale), self.unit_decimals)),
            },
            "local": self.shapes(entry.local, lost),
            "world": self.shapes(entry.world, np.zeros(3)),
            **({"envelope": self.shapes(entry.envelope, np.zeros(3))} if entry.envelope else {}),
        }

    def track(self, track: Track) -> dict[str, Any]:
        """Shapes over time, rounded outward."""
        written: dict[str, Any] = {
            "object": track.id,
            "space": "world",
            "frames": [_number(frame) for frame in track.frames.tolist()],
        }
        if track.sphere is not None:
            ball = rounded_sphere(self.space.sphere(track.sphere), self.decimals)
            written["sphere"] = {"centers": plain(ball.center), "radii": plain(ball.radius)}
        if track.aabb is not None:
            box = rounded_aabb(self.space.aabb(track.aabb), self.decimals)
            written["aabb"] = {"mins": plain(box.min), "maxs": plain(box.max)}
        return written

    def shapes(self, shapes: Sequence[Shape], offset: Floats) -> dict[str, Any]:
        """Shapes of Blender moved by `offset` (3,) of this space, rounded outward."""
        written: dict[str, Any] = {}
        for shape in shapes:
            if isinstance(shape, Aabb):
                box = self.space.aabb(shape)
                box = rounded_aabb(Aabb(box.min + offset, box.max + offset), self.decimals)
                written["aabb"] = {"min": plain(box.min), "max": plain(box.max)}
            elif isinstance(shape, Sphere):
                ball = self.space.sphere(shape)
                ball = rounded_sphere(Sphere(ball.center + offset, ball.radius), self.decimals)
                written["sphere"] = {"center": plain(ball.center), "radius": plain(ball.radius)}
            elif isinstance(shape, Obb):
                turned = self.space.obb(shape)
                rotation = _written_rotation(quaternion_of(turned.rotation))
                turned = Obb(turned.center + offset, turned.half_extents, turned.rotation)
                turned = rounded_obb(turned, rotation_matrix(rotation[[3, 0, 1, 2]]), self.decimals)
                written["obb"] = {
                    "center": plain(turned.center),
                    "halfExtents": plain(turned.half_extents),
                    "rotation": plain(rotation),
                }
        return dict(sorted(written.items()))

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
                "seconds": _number(float(rounded_down(frame / self.fps, self.unit_decimals))),
                "uncertainty": self.later(first.uncertainty),
                "point": plain(rounded(self.space.vectors(first.point), self.decimals)),
                "normal": plain(rounded(self.space.directions(first.normal), self.unit_decimals)),
                "atStart": first.at_start,
                "tunnelling": first.tunnelling,
            },
            "intervals": self.intervals(contact),
            "deepest": {
                "frame": self.near(contact.deepest_frame),
                "depth": _number(float(rounded(contact.depth * self.space.scale, self.decimals))),
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
            "seconds": _number(float(rounded_down(frame / self.fps, self.unit_decimals))),
            "uncertainty": self.later(first.uncertainty),
            "point": plain(rounded(self.space.vectors(first.point), self.decimals)),
        }

    def partial(self, partial: Partial) -> dict[str, Any]:
        """What was asked for and not done."""
        unasked = {"meshesNotAsked": partial.unasked} if partial.unasked else {}
        return {"plannedEnd": _number(partial.planned_end), **unasked}

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
            "gap": _number(float(rounded_down(near.gap * self.space.scale, self.decimals))),
        }

    def earlier(self, frame: float) -> float:
        """A frame rounded towards the past: a contact is never reported late."""
        return _number(float(rounded_down(frame, self.unit_decimals)))

    def later(self, frame: float) -> float:
        return _number(float(rounded_up(frame, self.unit_decimals)))

    def near(self, frame: float) -> float:
        return _number(float(rounded(frame, self.unit_decimals)))


def _written_rotation(quaternion: Floats) -> Floats:
    """A quaternion (4,), (x, y, z, w), rounded, of the two that turn alike the one with a positive w."""
    return rounded(quaternion * (-1.0 if quaternion[3] < 0 else 1.0), _ROTATION_DECIMALS)


def _number(value: float) -> float:
    """A number as JSON should show it: 24 instead of 24.0, 0 instead of -0.0."""
    return int(value) if is_whole(value) and abs(value) < 2**53 else float(np.float64(value))


def _rendered(value: Any, indent: str) -> str:
    line = _one_line(value)
    is_scalars = isinstance(value, list) and not any(isinstance(item, (dict, list)) for item in value)
    if not isinstance(value, (dict, list)) or not value or is_scalars or len(line) <= _INLINE_WIDTH:
        return line
    deeper = indent + " "
    if isinstance(value, list) and _is_rows(value, line):
        # Of tracks there may be millions.
        return f"[\n{deeper}" + line[1:-1].replace("], [", f"],\n{deeper}[") + f"\n{indent}]"
    if isinstance(value, dict):
        parts = [f"{_one_line(key)}: {_rendered(item, deeper)}" for key, item in value.items()]
        opening, closing = "{", "}"
    else:
        parts = [_rendered(item, deeper) for item in value]
        opening, closing = "[", "]"
    inner = f",\n{deeper}".join(parts)
    return f"{opening}\n{deeper}{inner}\n{indent}{closing}"


_one_line = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _is_rows(value: list[Any], line: str) -> bool:
    """Whether a list is of lists of numbers, which `line` shows."""
    return '"' not in line and "{" not in line and line.count("[") == len(value) + 1 and line[1] == "["
