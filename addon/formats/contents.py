"""What documents are made of, in Blender's space and units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from ..core import Aabb, ContactReport, ConvexHull, MeshContact, Shape, Sphere, SphereTree
from .spaces import Floats, Space

WrittenShape: TypeAlias = Shape | ConvexHull | SphereTree
"""What an object of a document may have. A tree's children are nodes after it."""


class Kept(NamedTuple):
    """What was read from a document: its parts by name in Blender's numbers, and in those of its `space`."""

    space: Space
    here: Mapping[str, Any]
    there: Mapping[str, Any]

    def __reduce__(self) -> tuple[Any, ...]:
        """None is what deep copies and pickles have of it: arrays of theirs can be changed."""
        return type(None), ()


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
    kept : the numbers of the document that it was read from
    """

    id: str
    name: str
    kind: str
    parent: str | None
    translation: Floats
    rotation: Floats
    scale: Floats
    local: tuple[WrittenShape, ...]
    world: tuple[WrittenShape, ...]
    override: str | None = None
    envelope: tuple[Shape, ...] = ()
    kept: Kept | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Track:
    """The world shapes of one subject over many frames, in Blender's space and units.

    id : of its object
    frames : (k,) growing, those at which it is there
    sphere, aabb : (k,), None where not asked for
    kept : the numbers of the document that it was read from
    """

    id: str
    frames: Floats
    sphere: Sphere | None
    aabb: Aabb | None
    kept: Kept | None = field(default=None, repr=False, compare=False)


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
