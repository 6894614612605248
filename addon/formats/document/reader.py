"""Documents of any space, converted back to their contents in Blender's space and units."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...core import (
    Aabb,
    Capsule,
    ConvexHull,
    Cylinder,
    Obb,
    Sphere,
    SphereTree,
)
from ...core.compound.convex_parts import Compound
from ...core.messages import message
from ...core.numeric.arrays import Floats
from ..spaces import Space, matrix_from_quaternion
from ..validation.strict_json import MAX_MEGABYTES, DocumentError
from ..validation.validate import load_document, require_document
from ..wording import single_line
from .contacts import ContactReader
from .joint_frames import from_joint_frame
from .model import (
    CollisionResponse,
    DocumentContents,
    DocumentShape,
    InputWarning,
    ObjectBounds,
    Origin,
    Partial,
    ScannedContacts,
    Skipped,
    TimeSettings,
    Track,
    read_armature_roots,
    read_skipped_pairs,
    response_of,
)
from .source_numbers import with_source_numbers


@dataclass(frozen=True)
class LoadedDocument(DocumentContents):
    """Contents of a document, with the unit scale of its scene.

    Attributes
    ----------
    scanned : ScannedContacts
        Its subject indices are those of `objects`; its shape is empty in a document without contacts.
    scale_length : float
        Meters for one Blender unit; 1 for a document in the space of glTF, which does not have it.
    """

    objects: tuple[ObjectBounds, ...]
    skipped: tuple[Skipped, ...]
    scanned: ScannedContacts
    tracks: tuple[Track, ...] = ()
    linear_ids: tuple[str, ...] = ()
    warnings: tuple[InputWarning, ...] = ()
    responses: Mapping[str, CollisionResponse] = field(default_factory=dict)
    scale_length: float = 1.0


def read_file(path: Path, max_megabytes: float = MAX_MEGABYTES) -> LoadedDocument:
    """Read and validate a file, and convert it to contents in Blender's units.

    Parameters
    ----------
    path : Path
        Of a regular file.
    max_megabytes : float
        Limit of the size, in units of 1,000,000 bytes.

    Returns
    -------
    loaded : LoadedDocument

    Raises
    ------
    DocumentError
        With one sentence that names the file, when it cannot be read or is not a correct document.
    """
    try:
        return read_document(load_document(path, max_megabytes))
    except DocumentError as error:
        text = "{name}: {reason}"
        raise DocumentError(message(text, name=single_line(path.name), reason=error.message)) from None


def read_document(document: Mapping[str, Any]) -> LoadedDocument:
    """Convert a correct document, of any space, to contents in Blender's units.

    Objects and tracks also keep the numbers of the document, so that `make_document` writes them unchanged in
    the same space with as many decimals.

    Parameters
    ----------
    document : mapping of str to Any
        As `parse_document` returns it.

    Returns
    -------
    loaded : LoadedDocument
    """
    require_document(document)
    space = Space.from_document(document["space"])
    reader = _Reader(space, space.inverse())
    objects = tuple(reader.object(entry) for entry in document["objects"])
    time, generator, source = document["time"], document["generator"], document["source"]
    end, extras = time["frameEnd"], document["extras"]
    partial = _partial(extras.get("partial"), end)
    was_stopped = partial is not None and partial.planned_end != end
    return LoadedDocument(
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
        ContactReader(space, reader.to_blender, time["fps"]).scanned(
            document, [entry.id for entry in objects], end if was_stopped else None
        ),
        partial,
        tuple(reader.track(entry) for entry in document["tracks"]),
        _known_ids(extras.get("straightBetweenFrames"), {entry.id for entry in objects}),
        tuple(
            InputWarning(entry["kind"], entry["name"], entry["message"])
            for entry in document.get("warnings", ())
        ),
        _played(extras.get("playedInScene"), {entry.id for entry in objects}),
        _responses(document["objects"]),
        _vertex_group(extras.get("vertexGroup")),
        read_armature_roots(extras.get("armatureRoots")),
        read_skipped_pairs(extras.get("skippedPairs")),
        _scale_length(space),
    )


def _vertex_group(extra: Any) -> str | None:
    """Name of the vertex group from "extras"; None for another form, since extras can hold anything."""
    return extra if isinstance(extra, str) else None


def _responses(objects: Iterable[Mapping[str, Any]]) -> dict[str, CollisionResponse]:
    """Collision responses of the objects that have one, by their ids."""
    return {entry["id"]: response_of(entry) for entry in objects if "collision" in entry}


def _scale_length(space: Space) -> float:
    """Meters for one Blender unit as the user typed it, because the product can be off by an ulp."""
    length = space.scale * space.meters_per_unit
    typed = float(f"{length:.12g}")
    return typed if math.isclose(typed, length, rel_tol=4 * sys.float_info.epsilon) else length


def _known_ids(extra: Any, known: Collection[str]) -> tuple[str, ...]:
    """Known ids of a list in "extras"; none if it is not a list of texts, since extras can hold anything."""
    if not isinstance(extra, list) or not all(isinstance(id, str) for id in extra):
        return ()
    return tuple(id for id in extra if id in known)


def _played(extra: Any, known: Collection[str]) -> dict[str, str]:
    """Reasons of known ids from "extras"; none for another form, since extras can hold anything."""
    entries = extra if isinstance(extra, list) else []
    return {
        id: entry["reason"]
        for entry in entries
        if isinstance(entry, dict) and isinstance(entry.get("reason"), str)
        for id in _known_ids(entry.get("ids"), known)
    }


def _partial(extra: Any, end: float) -> Partial | None:
    """Unfinished part of a scan from "extras"; None for another form, since extras can hold anything."""
    if not isinstance(extra, dict) or not isinstance(extra.get("plannedEnd"), (int, float)):
        return None
    untested = extra.get("meshesNotAsked", 0)
    untested = untested if isinstance(untested, int) else 0
    return Partial(extra["plannedEnd"], untested) if untested or extra["plannedEnd"] != end else None


@dataclass(frozen=True)
class _Reader:
    """Converts entries of a document to Blender's units.

    Attributes
    ----------
    source_space : Space
        The document's.
    to_blender : Space
        Its inverse.
    """

    source_space: Space
    to_blender: Space

    def object(self, entry: Mapping[str, Any]) -> ObjectBounds:
        transform = entry["transform"]
        in_document = ObjectBounds(
            entry["id"],
            entry["name"],
            entry["type"],
            entry["parent"],
            _floats(transform["translation"]),
            _floats(transform["rotation"])[[3, 0, 1, 2]],
            _floats(transform["scale"]),
            _shapes(entry["local"]),
            _shapes(entry["world"]),
            entry.get("override"),
            _shapes(entry.get("envelope", {})),
            local_envelope=_shapes(entry.get("envelope", {}).get("local", {})),
            bone=entry.get("bone"),
            all_frames=entry.get("allFrames", False),
            bone_weight=None if "boneWeight" not in entry else float(entry["boneWeight"]),
        )
        space = self.to_blender
        in_blender = replace(
            in_document,
            translation=space.vectors(in_document.translation),
            rotation=space.quaternion(in_document.rotation)[[3, 0, 1, 2]],
            scale=space.scale_factors(in_document.scale),
            local=tuple(space.shape(shape) for shape in in_document.local),
            world=tuple(space.shape(shape) for shape in in_document.world),
            envelope=tuple(space.shape(shape) for shape in in_document.envelope),
            local_envelope=tuple(space.shape(shape) for shape in in_document.local_envelope),
        )
        in_bone_axes = from_joint_frame(in_blender, self.source_space)
        return with_source_numbers(in_bone_axes, in_document, self.source_space)

    def track(self, entry: Mapping[str, Any]) -> Track:
        sphere, box = entry.get("sphere"), entry.get("aabb")
        in_document = Track(
            entry["object"],
            _floats(entry["frames"]),
            None if sphere is None else Sphere(_rows(sphere["centers"]), sphere["radii"]),
            None if box is None else Aabb(_rows(box["mins"]), _rows(box["maxs"])),
        )
        in_blender = replace(
            in_document,
            sphere=None if in_document.sphere is None else self.to_blender.sphere(in_document.sphere),
            aabb=None if in_document.aabb is None else self.to_blender.aabb(in_document.aabb),
        )
        return with_source_numbers(in_blender, in_document, self.source_space)


def _shapes(group: Mapping[str, Any]) -> tuple[Any, ...]:
    """Shapes of a group, in the document's space."""
    shapes: list[DocumentShape] = []
    if box := group.get("aabb"):
        shapes.append(Aabb(box["min"], box["max"]))
    if oriented := group.get("obb"):
        # Not orthonormalized again, see `Space.obb`.
        rotation = matrix_from_quaternion(oriented["rotation"])
        shapes.append(Obb.unchecked(oriented["center"], oriented["halfExtents"], rotation))
    if sphere := group.get("sphere"):
        shapes.append(Sphere(sphere["center"], sphere["radius"]))
    for key, kind in (("capsule", Capsule), ("cylinder", Cylinder)):
        if axial := group.get(key):
            # Not normalized again, see `Space.axial`.
            fields = (_floats(axial[name]) for name in ("center", "axis", "halfLength", "radius"))
            shapes.append(kind.unchecked(*fields))
    if hull := group.get("hull"):
        shapes.append(ConvexHull(_floats(hull["vertices"]), np.array(hull["faces"], dtype=np.int64)))
    if parts := group.get("compound"):
        shapes.append(Compound(tuple(_shapes(part)[0] for part in parts)))
    if tree := group.get("spheres"):
        children = [node["children"] or (-1, -1) for node in tree]
        centers = _rows([node["center"] for node in tree])
        shapes.append(SphereTree(centers, [node["radius"] for node in tree], children))
    return tuple(shapes)


def _floats(values: Any) -> Floats:
    return np.array(values, dtype=np.float64)


def _rows(vectors: Any) -> Floats:
    return _floats(vectors).reshape(-1, 3)
