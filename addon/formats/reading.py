"""Documents back to what they were made from, in Blender's space, whatever space they are in."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..core import (
    Aabb,
    Clearance,
    Contact,
    ContactInterval,
    ContactReport,
    ConvexHull,
    FirstContact,
    MeshContact,
    Obb,
    Sphere,
    SphereTree,
)
from .contents import (
    Confirmation,
    ObjectBounds,
    Origin,
    Partial,
    ScannedContacts,
    Skipped,
    TimeSettings,
    Track,
    WrittenShape,
)
from .spaces import Space, matrix_of
from .validation import DocumentError, parse_document


@dataclass(frozen=True)
class Reading:
    """What a document tells. `scanned` refers to `objects` by index; its shape is empty without contacts.

    scale_length : metres for one Blender unit
    straight : ids of objects whose envelopes take the straight way between frames
    """

    objects: tuple[ObjectBounds, ...]
    skipped: tuple[Skipped, ...]
    origin: Origin
    time: TimeSettings
    scale_length: float
    scanned: ScannedContacts
    partial: Partial | None
    tracks: tuple[Track, ...] = ()
    straight: tuple[str, ...] = ()


def read_file(path: Path) -> Reading:
    """Read, check and take apart a document. Raises DocumentError with one sentence that names the file."""
    try:
        return read_document(parse_document(path.read_text("utf-8")))
    except OSError as error:
        raise DocumentError(f"{path.name}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise DocumentError(f"{path.name}: is not a text file in UTF-8") from None
    except DocumentError as error:
        raise DocumentError(f"{path.name}: {error}") from None


def read_document(document: Mapping[str, Any]) -> Reading:
    """Take apart a correct document, as `parse_document` gives it, in any space."""
    space = Space.of_document(document["space"])
    reader = _Reader(space.backwards())
    objects = tuple(reader.object(entry) for entry in document["objects"])
    ids = [entry.id for entry in objects]
    number = {id: index for index, id in enumerate(ids)}
    told = document["contacts"]
    contacts = tuple(reader.contact(entry, number) for entry in told)
    clearances = tuple(reader.clearance(entry, number) for entry in document["clearances"])
    answers = tuple(reader.confirmation(entry.get("meshes")) for entry in told)
    asked = answers if any(answers) else ()
    solid = frozenset(entry["obstacle"] for entry in told if "obstacle" in entry)
    time, generator, source = document["time"], document["generator"], document["source"]
    end = time["frameEnd"]
    partial = _partial(document["extras"].get("partial"), end)
    was_stopped = partial is not None and partial.planned_end != end
    report = ContactReport(contacts, clearances, end if was_stopped else None)
    return Reading(
        objects,
        tuple(Skipped(entry["name"], entry["reason"]) for entry in document["skipped"]),
        Origin(
            generator["name"],
            generator["version"],
            generator["blender"],
            source["file"],
            source["scene"],
        ),
        TimeSettings(
            time["fps"], time["frameStart"], time["frameEnd"], time["frameStep"], time["referenceFrame"]
        ),
        space.scale * space.meters_per_unit,
        ScannedContacts(report, ids, told[0]["shape"] if told else "", solid, asked),
        partial,
        tuple(reader.track(entry) for entry in document["tracks"]),
        _straight(document["extras"].get("straightBetweenFrames"), number),
    )


def _straight(told: Any, known: Collection[str]) -> tuple[str, ...]:
    return tuple(id for id in told if id in known) if _is_names(told) else ()


def _is_names(told: Any) -> bool:
    return isinstance(told, list) and all(isinstance(id, str) for id in told)


def _partial(told: Any, end: float) -> Partial | None:
    """Extras may hold anything: what is not as we write it says nothing."""
    if not isinstance(told, dict) or not isinstance(told.get("plannedEnd"), (int, float)):
        return None
    unasked = told.get("meshesNotAsked", 0)
    unasked = unasked if isinstance(unasked, int) else 0
    return Partial(told["plannedEnd"], unasked) if unasked or told["plannedEnd"] != end else None


@dataclass(frozen=True)
class _Reader:
    """Takes a document's numbers to Blender's by `space`."""

    space: Space

    def object(self, entry: Mapping[str, Any]) -> ObjectBounds:
        placed = entry["transform"]
        return ObjectBounds(
            entry["id"],
            entry["name"],
            entry["type"],
            entry["parent"],
            self.space.vectors(placed["translation"]),
            self.space.quaternion(_w_first(placed["rotation"]))[[3, 0, 1, 2]],
            self.space.factors(placed["scale"]),
            self.shapes(entry["local"]),
            self.shapes(entry["world"]),
            entry.get("override"),
            self.shapes(entry.get("envelope", {})),
        )

    def track(self, entry: Mapping[str, Any]) -> Track:
        ball, box = entry.get("sphere"), entry.get("aabb")
        return Track(
            entry["object"],
            np.array(entry["frames"], dtype=np.float64),
            None if ball is None else self.space.sphere(Sphere(_rows(ball["centers"]), ball["radii"])),
            None if box is None else self.space.aabb(Aabb(_rows(box["mins"]), _rows(box["maxs"]))),
        )

    def shapes(self, told: Mapping[str, Any]) -> tuple[Any, ...]:
        found: list[WrittenShape] = []
        if box := told.get("aabb"):
            found.append(self.space.aabb(Aabb(box["min"], box["max"])))
        if turned := told.get("obb"):
            rotation = matrix_of(turned["rotation"])  # as it is written, to the last digit
            found.append(self.space.obb(Obb(turned["center"], turned["halfExtents"], rotation)))
        if ball := told.get("sphere"):
            found.append(self.space.sphere(Sphere(ball["center"], ball["radius"])))
        if hull := told.get("hull"):
            # A mirror turns faces inside out.
            order = -1 if np.linalg.det(self.space.axes) < 0 else 1
            faces = np.array(hull["faces"], dtype=np.int64)[:, ::order]
            found.append(ConvexHull(self.space.vectors(hull["vertices"]), faces))
        if tree := told.get("spheres"):
            balls = self.space.sphere(
                Sphere(_rows([own["center"] for own in tree]), [own["radius"] for own in tree])
            )
            children = [own["children"] or (-1, -1) for own in tree]
            found.append(SphereTree(balls.center, balls.radius, children))
        return tuple(found)

    def contact(self, entry: Mapping[str, Any], number: Mapping[str, int]) -> Contact:
        told, deepest = entry["first"], entry["deepest"]
        first = FirstContact(
            told["frame"],
            told["uncertainty"],
            self.space.vectors(told["point"]),
            self.space.directions(told["normal"]),
            told["atStart"],
            told["tunnelling"],
            entry["motion"],
        )
        spans = tuple(ContactInterval(span["start"], span["end"]) for span in entry["intervals"])
        depth = deepest["depth"] * self.space.scale
        return Contact(number[entry["a"]], number[entry["b"]], first, spans, deepest["frame"], depth)

    def confirmation(self, told: Mapping[str, Any] | None) -> Confirmation | None:
        if told is None:
            return None
        if not told["touch"]:
            return Confirmation(None)
        point = self.space.vectors(told.get("point", (0, 0, 0)))
        # Documents do not tell normals of meshes.
        nowhere = np.full(3, np.nan)
        return Confirmation(MeshContact(told["frame"], told.get("uncertainty", 0.0), point, nowhere))

    def clearance(self, entry: Mapping[str, Any], number: Mapping[str, int]) -> Clearance:
        both = number[entry["a"]], number[entry["b"]]
        return Clearance(*both, entry["frame"], entry["gap"] * self.space.scale)


def _rows(vectors: Any) -> Any:
    return np.array(vectors, dtype=np.float64).reshape(-1, 3)


def _w_first(quaternion: Any) -> Any:
    return np.array(quaternion, dtype=np.float64)[[3, 0, 1, 2]]
