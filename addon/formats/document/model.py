"""Contents of a document as data classes, in Blender's space and units, and its extras.

`objects` and `conversion` write the other members and read them, and `validation/schema.json` describes all,
with the version of documents. Extras can hold anything: a value of another form is read as none there.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from ...core import Aabb, ContactReport, ConvexHull, Shape, Sphere, SphereTree
from ...core.compound.convex_parts import Compound
from ...core.messages import template
from ...core.numeric.arrays import Floats, Ints
from ...core.shapes import VOLUMES
from ..shape_members import SHAPE_TYPES
from ..spaces import Space, json_number


class _Reason(StrEnum):
    """Reason with its name in documents, `text` for the user, and a `remedy` of the command line, if any."""

    text: str
    remedy: str

    def __new__(cls, name: str, text: str = "", remedy: str = "") -> Self:
        reason = str.__new__(cls, name)
        reason._value_, reason.text, reason.remedy = name, text, remedy
        return reason


class SkippedPairs(_Reason):
    """Reason why a scan skips pairs. If there are several reasons, a pair counts for the first one."""

    GROUPS = "groups", template("not of both groups"), "tested without --a and --b"
    IGNORED = "ignored", template("ignored"), "by --ignore, or in the file"
    PARENTS = "parents", template("parent and child"), "tested with --no-ignore-parents"
    PARTS = "parts", template("parts of one object"), "tested with --no-ignore-parents"
    COLLECTIONS = "collections", template("in one collection"), "tested without --ignore-collection"
    OBSTACLES = "obstacles", template("two obstacles"), "obstacles are not tested against each other"
    STATIC = "static", template("neither object moves"), "tested with --static-pairs"


DocumentShape: TypeAlias = Shape | ConvexHull | SphereTree | Compound
"""A single shape of an object. The children of a tree's node have higher indices than the node."""


class SourceNumbers(NamedTuple):
    """An object or track as it is in the document that it was read from, and the document's space."""

    space: Space
    in_document: Any

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle as None, because the arrays of a copy are writable and may have been changed."""
        return type(None), ()


@dataclass(frozen=True)
class ObjectBounds:
    """One subject with its shapes, in Blender's space and units.

    id : Unique in the document.
    name : Name to show; need not be unique.
    kind : Blender's object type, such as "MESH".
    parent : Id of the nearest ancestor that is in the document.
    translation, rotation, scale : (3,), (4,), (3,) float. Of the world matrix, the quaternion w first.
        Shear is not in them.
    local : Shapes in the subject's rotated and moved axes, its scale (and shear) applied.
    world : Shapes in world space, of the same types as `local`.
    override : "box" or "sphere" when the shapes enclose an override instead of the vertices.
    envelope : World-space shapes that enclose the world shapes at all of the document's frames.
    source_numbers : Numbers of the document that the object was read from.
    local_envelope : Shapes in the frame of the subject, as `local`, that enclose it there at all of the
        document's frames.
    bone : Name of the bone whose vertices the shapes enclose; its frame is that of the object then. Empty
        for the vertices of an object without a bone.
    bone_weight : A vertex belongs to the bone with its largest weight, and also to each one for which its
        weight is at least this. None if only to that one.
    all_frames : Whether the shapes enclose the vertices of the bone, in its space, at all of the document's
        frames.
    """

    id: str
    name: str
    kind: str
    parent: str | None
    translation: Floats
    rotation: Floats
    scale: Floats
    local: tuple[DocumentShape, ...]
    world: tuple[DocumentShape, ...]
    override: str | None = None
    envelope: tuple[Shape, ...] = ()
    source_numbers: SourceNumbers | None = field(default=None, init=False, repr=False, compare=False)
    local_envelope: tuple[Shape, ...] = ()
    bone: str | None = None
    all_frames: bool = False
    bone_weight: float | None = None


class CollisionResponse(NamedTuple):
    """Behavior of an object in engines when something meets it.

    response : "solid", "trigger" (overlaps are reported, but nothing is stopped) or "none" (no collider).
    group : Collision group of the object, 1 to COLLISION_GROUPS.
    mask : Groups that it collides with: bit k is that of group k + 1. Two objects collide if each has the
        group of the other in its mask.
    """

    response: str = "solid"
    group: int = 1
    mask: int = 0xFFFF
    material: str | None = None


COLLISION_GROUPS = 16
DEFAULT_RESPONSE = CollisionResponse()


def response_of(entry: Mapping[str, Any]) -> CollisionResponse:
    """Return the collision response of an object of a document."""
    value = entry.get("collision")
    if value is None:
        return DEFAULT_RESPONSE
    # JSON allows 1.0 for 1.
    return CollisionResponse(value["response"], int(value["group"]), int(value["mask"]), value["material"])


class ShapeColumn(NamedTuple):
    """Shapes of one type of several objects.

    rows : (m,) int. Rows of the objects that have one, increasing.
    shapes : Sphere, Aabb, Obb, Capsule or Cylinder, batch (m,), or sequence of the other types
    """

    rows: Ints
    shapes: Any

    def converted(self, space: Space) -> ShapeColumn:
        """Convert the shapes from Blender's space, as `Space.shape`."""
        if isinstance(self.shapes, Shape):
            return ShapeColumn(self.rows, space.shape(self.shapes))
        return ShapeColumn(self.rows, list(map(space.shape, self.shapes)))


class ObjectColumns(NamedTuple):
    """Several objects as columns, in Blender's space and units; see `ObjectBounds`.

    id, name, kind, parent, override : sequence of n
    translation, rotation, scale : (n, 3), (n, 4), (n, 3) float
    local, world, envelope, local_envelope : By the keys of SHAPE_TYPES; without those that no object has.
    bone, all_frames, bone_weight : sequence of n
    """

    id: Sequence[str]
    name: Sequence[str]
    kind: Sequence[str]
    parent: Sequence[str | None]
    override: Sequence[str | None]
    translation: Floats
    rotation: Floats
    scale: Floats
    local: Mapping[str, ShapeColumn]
    world: Mapping[str, ShapeColumn]
    envelope: Mapping[str, ShapeColumn]
    local_envelope: Mapping[str, ShapeColumn]
    bone: Sequence[str | None]
    all_frames: Sequence[bool]
    bone_weight: Sequence[float | None]

    @classmethod
    def of(cls, objects: Sequence[ObjectBounds]) -> ObjectColumns:
        columns: dict[str, Any] = {name: [getattr(entry, name) for entry in objects] for name in cls._fields}
        for name, size in (("translation", 3), ("rotation", 4), ("scale", 3)):
            columns[name] = np.array(columns[name], dtype=np.float64).reshape(-1, size)
        for name in SHAPE_GROUPS:
            columns[name] = shape_columns(columns[name])
        return cls(**columns)

    def objects(self) -> Iterator[ObjectBounds]:
        """Yield the objects, each with its shapes in the order of the columns."""
        columns = self._asdict()
        for name in SHAPE_GROUPS:
            by_row: list[list[Any]] = [[] for _ in self.id]
            for rows, shapes in columns[name].values():
                each = shapes.to_list() if isinstance(shapes, Shape) else shapes
                for row, shape in zip(rows.tolist(), each, strict=True):
                    by_row[row].append(shape)
            columns[name] = list(map(tuple, by_row))
        for values in zip(*columns.values(), strict=True):
            yield ObjectBounds(**dict(zip(columns, values, strict=True)))


SHAPE_GROUPS = ("local", "world", "envelope", "local_envelope")
"""Attributes of objects that are shapes."""


def shape_columns(groups: Iterable[Sequence[DocumentShape]]) -> dict[str, ShapeColumn]:
    """Collect the shapes of each object by type."""
    of_type: dict[type, list[tuple[int, Any]]] = defaultdict(list)
    for row, group in enumerate(groups):
        for shape in group:
            of_type[type(shape)].append((row, shape))
    columns = {}
    for key, shape_type in SHAPE_TYPES.items():
        if shape_type in of_type:
            rows, shapes = zip(*of_type[shape_type], strict=True)
            if key in VOLUMES:
                fields = ([getattr(shape, name) for shape in shapes] for name in shape_type.field_shapes)
                shapes = shape_type.unchecked(*map(np.array, fields))
            columns[key] = ShapeColumn(np.array(rows), shapes)
    return columns


class SortedObjects(Sequence[ObjectBounds]):
    """Very many objects, sorted by name, then id. Each is made on access, so that memory stays small."""

    @abstractmethod
    def columns(self, start: int, stop: int) -> ObjectColumns:
        """Columns of the objects from `start` up to `stop`, which are written without making the objects."""

    @abstractmethod
    def names(self) -> dict[str, str]:
        """Names of all objects by id, without their shapes."""


@dataclass(frozen=True)
class Track:
    """World shapes of one subject over many frames, in Blender's space and units.

    frames : (k,) float. Strictly increasing; the frames at which the subject is present.
    sphere : Sphere, batch (k,), or None
    aabb : Aabb, batch (k,), or None. None when the shape was not requested.
    source_numbers : Numbers of the document that the track was read from.
    """

    id: str
    frames: Floats
    sphere: Sphere | None
    aabb: Aabb | None
    source_numbers: SourceNumbers | None = field(default=None, init=False, repr=False, compare=False)


@dataclass(frozen=True)
class Skipped:
    """An object without bounds, and the reason in words for the user."""

    name: str
    reason: str


@dataclass(frozen=True)
class Origin:
    """The program that made the document, with its version and Blender's, and the source file and scene.

    generator_version : Empty for this version of the extension.
    file : Bytes that are not UTF-8 may be surrogates.
    """

    generator: str
    generator_version: str
    blender: str
    file: str
    scene: str


@dataclass(frozen=True)
class InputWarning:
    """Something that the results depend on, and that was not read or run, or that cannot be enclosed.

    kind : "backgroundScene", "blockedDriver", "blockedScript", "collapsedBone", "lateMesh", "missingData",
        "missingFile", "missingLibrary" or "newerFile".
    name : Name of the data-block or file.
    message : A clause in words for the user, of which `name` is the subject.
    """

    kind: str
    name: str
    message: str


MISSING_INPUTS = frozenset(
    {"backgroundScene", "lateMesh", "missingData", "missingFile", "missingLibrary", "newerFile"}
)
"""Kinds of warnings about data that could not be read, or that is omitted."""


@dataclass(frozen=True)
class TimeSettings:
    """Frames as Blender counts them, both ends included; `fps` is the true rate (fps / fps_base)."""

    fps: float
    start: float
    end: float
    step: float
    reference: float


@dataclass(frozen=True)
class ScannedContacts:
    """A contact report, with the settings that produced it.

    ids : Object ids of the report's subject indices.
    shape : One of those that the schema lists for contacts; empty in a document without contacts.
    obstacles : Ids of the subjects that were tested as triangle meshes.
    accepted : sequence of (str or None). For each contact, the comment with which it is accepted, None if
        it is not; empty if none is.
    clearance : Pairs closer than this are in contact; 0 means touching.
    """

    report: ContactReport
    ids: Sequence[str]
    shape: str
    obstacles: frozenset[str] = frozenset()
    accepted: Sequence[str | None] = ()
    clearance: float = 0.0


@dataclass(frozen=True)
class Partial:
    """The unfinished part of a scan that was stopped; the document's time settings cover the finished part.

    planned_end : Last frame that was requested.
    """

    planned_end: float


@dataclass(frozen=True)
class DocumentContents:
    """Everything that a document holds, in Blender's space and units.

    scanned : None for bounds alone.
    partial : None for a job that was not stopped.
    linear_ids : Ids of the objects whose envelopes assume linear motion between frames.
    warnings : In any order.
    played : Why the scene was played for objects of a scan, by their ids.
    responses : Of the objects, by their ids; those that are missing have DEFAULT_RESPONSE.
    vertex_group : Name of the vertex group whose vertices alone are enclosed; None for all vertices.
    armature_roots : Ids of the objects without a parent that are below one armature, by its name, if there
        are several.
    skipped_pairs : Number of pairs that a scan does not test, by the reason, as of `SkippedPairs`.
    """

    objects: Sequence[ObjectBounds]
    skipped: Sequence[Skipped]
    origin: Origin
    time: TimeSettings
    scanned: ScannedContacts | None = None
    partial: Partial | None = None
    tracks: Sequence[Track] = ()
    linear_ids: Sequence[str] = ()
    warnings: Sequence[InputWarning] = ()
    played: Mapping[str, str] = field(default_factory=dict)
    responses: Mapping[str, CollisionResponse] = field(default_factory=dict)
    vertex_group: str | None = None
    armature_roots: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    skipped_pairs: Mapping[str, int] = field(default_factory=dict)


def _write_partial(partial: Partial) -> dict[str, Any]:
    return {"plannedEnd": json_number(partial.planned_end)}


def _read_partial(extra: Any, _: Collection[str]) -> Partial | None:
    if not isinstance(extra, dict) or not isinstance(extra.get("plannedEnd"), (int, float)):
        return None
    return Partial(extra["plannedEnd"])


def _read_ids(extra: Any, known: Collection[str]) -> tuple[str, ...]:
    if not isinstance(extra, list) or not all(isinstance(id, str) for id in extra):
        return ()
    return tuple(id for id in extra if id in known)


def _write_groups(key: str, groups: Mapping[str, Iterable[str]]) -> list[dict[str, Any]]:
    """Names of groups in order, with the ids of their objects."""
    return [{key: name, "ids": sorted(groups[name])} for name in sorted(groups)]


def _read_groups(key: str, extra: Any) -> list[tuple[str, tuple[str, ...]]]:
    return [
        (entry[key], tuple(id for id in entry["ids"] if isinstance(id, str)))
        for entry in (extra if isinstance(extra, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get(key), str) and isinstance(entry.get("ids"), list)
    ]


def _write_played(played: Mapping[str, str]) -> list[dict[str, Any]]:
    ids: dict[str, list[str]] = {}
    for id, reason in played.items():
        ids.setdefault(reason, []).append(id)
    return _write_groups("reason", ids)


def _read_played(extra: Any, known: Collection[str]) -> dict[str, str]:
    return {id: reason for reason, ids in _read_groups("reason", extra) for id in ids if id in known}


def read_armature_roots(extra: Any, _: Collection[str] = ()) -> dict[str, tuple[str, ...]]:
    return dict(_read_groups("armature", extra))


def read_skipped_pairs(extra: Any, _: Collection[str] = ()) -> dict[str, int]:
    counts = extra.items() if isinstance(extra, Mapping) else ()
    return {str(name): count for name, count in counts if type(count) is int and count > 0}


EXTRAS: dict[str, tuple[str, Callable[[Any], Any], Callable[[Any, Collection[str]], Any]]] = {
    "partial": ("partial", _write_partial, _read_partial),
    "straightBetweenFrames": ("linear_ids", sorted, _read_ids),
    "playedInScene": ("played", _write_played, _read_played),
    "vertexGroup": ("vertex_group", str, lambda extra, _: extra if isinstance(extra, str) else None),
    "armatureRoots": ("armature_roots", partial(_write_groups, "armature"), read_armature_roots),
    "skippedPairs": ("skipped_pairs", lambda pairs: dict(sorted(pairs.items())), read_skipped_pairs),
}
"""Attributes of `DocumentContents`, how each is written, and how it is read, with the ids of all objects."""
