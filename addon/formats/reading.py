"""Documents back to what they were made from, in Blender's space, whatever space they are in."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
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
from .kept_numbers import keeping
from .spaces import Floats, Space, matrix_of
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
    """Take apart a correct document, as `parse_document` gives it, in any space.

    Objects and tracks keep the numbers that they have there as well, so that `make_document` writes them in
    the same space, with as many decimals, as they were.
    """
    space = Space.of_document(document["space"])
    reader = _Reader(space, space.backwards())
    objects = tuple(reader.object(entry) for entry in document["objects"])
    ids = [entry.id for entry in objects]
    number = {id: index for index, id in enumerate(ids)}
    told = document["contacts"]
    contacts = tuple(reader.contact(entry, number) for entry in told)
    clearances = tuple(
        Clearance(number[entry["a"]], number[entry["b"]], entry["frame"], _gap(entry["gap"], space.scale))
        for entry in document["clearances"]
    )
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
        _scale_length(space),
        ScannedContacts(report, ids, told[0]["shape"] if told else "", solid, asked),
        partial,
        tuple(reader.track(entry) for entry in document["tracks"]),
        _straight(document["extras"].get("straightBetweenFrames"), number),
    )


def _scale_length(space: Space) -> float:
    """Metres for one Blender unit: as typed, where the product of two numbers is off by the last bits."""
    length = space.scale * space.meters_per_unit
    typed = float(f"{length:.12g}")
    return typed if math.isclose(typed, length, rel_tol=4 * sys.float_info.epsilon) else length


def _gap(told: float, scale: float) -> float:
    """The least gap in Blender's unit that is not less in the document's, as gaps are rounded down there."""
    gap = told / scale
    return gap if gap * scale >= told else math.nextafter(gap, math.inf)


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
    """Takes what a document tells to Blender's numbers."""

    told_in: Space
    space: Space

    def object(self, entry: Mapping[str, Any]) -> ObjectBounds:
        placed = entry["transform"]
        there = ObjectBounds(
            entry["id"],
            entry["name"],
            entry["type"],
            entry["parent"],
            _floats(placed["translation"]),
            _floats(placed["rotation"])[[3, 0, 1, 2]],
            _floats(placed["scale"]),
            _shapes(entry["local"]),
            _shapes(entry["world"]),
            entry.get("override"),
            _shapes(entry.get("envelope", {})),
        )
        here = replace(
            there,
            translation=self.space.vectors(there.translation),
            rotation=self.space.quaternion(there.rotation)[[3, 0, 1, 2]],
            scale=self.space.factors(there.scale),
            local=tuple(self.space.shape(shape) for shape in there.local),
            world=tuple(self.space.shape(shape) for shape in there.world),
            envelope=tuple(self.space.shape(shape) for shape in there.envelope),
        )
        return keeping(here, there, self.told_in)

    def track(self, entry: Mapping[str, Any]) -> Track:
        ball, box = entry.get("sphere"), entry.get("aabb")
        there = Track(
            entry["object"],
            _floats(entry["frames"]),
            None if ball is None else Sphere(_rows(ball["centers"]), ball["radii"]),
            None if box is None else Aabb(_rows(box["mins"]), _rows(box["maxs"])),
        )
        here = replace(
            there,
            sphere=None if there.sphere is None else self.space.sphere(there.sphere),
            aabb=None if there.aabb is None else self.space.aabb(there.aabb),
        )
        return keeping(here, there, self.told_in)

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


def _shapes(told: Mapping[str, Any]) -> tuple[Any, ...]:
    """The shapes of a group, in the numbers that they are told in."""
    found: list[WrittenShape] = []
    if box := told.get("aabb"):
        found.append(Aabb(box["min"], box["max"]))
    if turned := told.get("obb"):
        # Not made orthonormal again, see `Space.obb`.
        rotation = matrix_of(turned["rotation"])
        found.append(Obb.trusted(turned["center"], turned["halfExtents"], rotation))
    if ball := told.get("sphere"):
        found.append(Sphere(ball["center"], ball["radius"]))
    if hull := told.get("hull"):
        found.append(ConvexHull(_floats(hull["vertices"]), np.array(hull["faces"], dtype=np.int64)))
    if tree := told.get("spheres"):
        children = [own["children"] or (-1, -1) for own in tree]
        centers = _rows([own["center"] for own in tree])
        found.append(SphereTree(centers, [own["radius"] for own in tree], children))
    return tuple(found)


def _floats(values: Any) -> Floats:
    return np.array(values, dtype=np.float64)


def _rows(vectors: Any) -> Floats:
    return _floats(vectors).reshape(-1, 3)
