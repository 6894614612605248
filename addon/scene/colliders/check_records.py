"""Results of checking colliders: immutable records without any bpy object."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

from ...formats.wording import valid_text
from ..collider_names import CheckedKind, Engine
from .containment import Outside

ProblemKind: TypeAlias = Literal[
    "outside", "open", "flat", "concave", "shape", "name", "mesh", "vertices", "scale", "unreadable"
]
"""Kinds of problems of colliders.

- "outside": vertices of the mesh are outside of all its colliders
- "open": the surface is not closed
- "flat": the vertices are in one plane
- "concave": the surface is not convex
- "shape": it is no box, sphere or capsule, as its name says
- "name": the engine does not recognize the name, or finds another mesh by it
- "mesh": there is no mesh object of the name
- "vertices": more vertices than the engine allows
- "scale": a scale that the engine does not support
- "unreadable": the object is disabled, or has coordinates that are not finite
"""


NoteKind: TypeAlias = Literal["filled", "name"]
"""Kinds of notes, which are no problems.

- "filled": notches or holes of the mesh are filled
- "name": the engine finds the mesh only if the exporter renames it
"""


class CheckedCollider(NamedTuple):
    """A collider that was checked.

    name, id : Name and full name of the object.
    mesh : Full name of the mesh object that it belongs to, or name of the collection that is treated as
        one. None if it belongs to none, as an object that is its own collider.
    engine : Engine whose naming convention it follows.
    kind : Shape that the engine makes of it.
    vertices : Number of its vertices; 0 if it could not be read.
    problems : Number of its own problems.
    filled : Distance from the surface of its mesh up to which it fills notches and holes, in world units; 0
        if it fills none. None if that was not measured.
    """

    name: str
    id: str
    mesh: str | None
    engine: Engine
    kind: CheckedKind
    vertices: int
    problems: int
    filled: float | None = None


class ColliderProblem(NamedTuple):
    """A problem of one object: a collider, or a mesh that its colliders do not enclose.

    name, id : Name and full name of the object.
    kind : ProblemKind
    text : Sentence without a full stop, whose subject is the object.
    outside : Vertices that are outside, of a problem "outside".
    """

    name: str
    id: str
    kind: ProblemKind
    text: str
    outside: Outside | None = None


class ColliderNote(NamedTuple):
    """A note about a collider, which is no problem.

    name, id : Name and full name of the object.
    kind : NoteKind
    text : Sentence without a full stop, whose subject is the object.
    """

    name: str
    id: str
    kind: NoteKind
    text: str


class ColliderCheck(NamedTuple):
    """Result of `check_colliders`.

    colliders : tuple of CheckedCollider
    problems : Empty if no problem was found.
    notes : The largest filled holes first.
    """

    colliders: tuple[CheckedCollider, ...]
    problems: tuple[ColliderProblem, ...]
    notes: tuple[ColliderNote, ...] = ()

    @property
    def findings(self) -> tuple[ColliderProblem | ColliderNote, ...]:
        """Problems, then notes."""
        return (*self.problems, *self.notes)

    def document(self, scene: str) -> dict[str, Any]:
        """Return the result as a JSON document, with the name of the scene.

        Bytes of names that are not UTF-8 are escapes.
        """
        return {
            "format": "collision-bounds-collider-check",
            "version": "1.0.0",
            "scene": scene,
            "colliders": [
                {
                    **entry._asdict(),
                    "id": valid_text(entry.id),
                    "mesh": None if entry.mesh is None else valid_text(entry.mesh),
                }
                for entry in self.colliders
            ],
            "problems": [
                {
                    "name": valid_text(entry.name),
                    "id": valid_text(entry.id),
                    "kind": entry.kind,
                    "text": entry.text,
                    **({} if entry.outside is None else {"outside": entry.outside._asdict()}),
                }
                for entry in self.problems
            ],
            "notes": [
                {**entry._asdict(), "name": valid_text(entry.name), "id": valid_text(entry.id)}
                for entry in self.notes
            ],
        }
