"""What collider objects are called: as engines want it, to the letter, or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from string import Formatter
from typing import Any, Literal, NamedTuple, TypeAlias

import bpy

from .errors import SceneError

ColliderKind: TypeAlias = Literal["box", "sphere", "capsule", "hull"]

PATTERNS = {
    "unreal": "{prefix}_{name}_{number}",
    "godot": "{name}_{number}-convcolonly",
    "godot_concave": "{name}_{number}-colonly",
    "unity": "{name}_{component}_{number}",
}

_PREFIXES: dict[ColliderKind, str] = {"box": "UBX", "sphere": "USP", "capsule": "UCP", "hull": "UCX"}
_COMPONENTS: dict[ColliderKind, str] = {
    "box": "BoxCollider",
    "sphere": "SphereCollider",
    "capsule": "CapsuleCollider",
    "hull": "MeshCollider",
}
FIELDS = ("name", "number", "prefix", "component", "kind")


class _Part(NamedTuple):
    """Text of a pattern, and the field after it; None at the end."""

    text: str
    field: str | None


class ColliderNames:
    """Gives names by a pattern, none of them twice and none of them taken.

    pattern : text with {name}, of what a collider stands for, and perhaps {number}, {prefix} (UBX, USP, UCP,
        UCX), {component} (BoxCollider and so on) and {kind} (box, sphere, capsule, hull)
    taken : names that objects have

    Raises SceneError for a pattern without {name}, or with other fields.
    """

    def __init__(self, pattern: str, taken: Iterable[str]) -> None:
        self._parts = _parts(pattern)
        self._is_numbered = any(part.field == "number" for part in self._parts)
        self._taken = set(taken)

    def take(self, names: Iterable[str]) -> None:
        """Let nobody have these any more."""
        self._taken.update(names)

    def given(self, name: str, kinds: list[ColliderKind]) -> list[str]:
        """A name for each collider of one thing: the lowest numbers that are free.

        Raises SceneError where there is none: Blender would cut it short, or hang .001 to it.
        """
        if len(kinds) > 1 and not self._is_numbered:
            raise SceneError(f"has {len(kinds)} colliders: put {{number}} into the name pattern")
        found: dict[str, None] = {}
        # Below these all numbers are taken: of thousands of parts, none looks from 0 again.
        numbers = dict.fromkeys(kinds, 0)
        for kind in kinds:
            while (candidate := self._filled(name, kind, numbers[kind])) in self._taken or candidate in found:
                if not self._is_numbered:
                    raise SceneError(f"there is another object {candidate!r}: rename that")
                numbers[kind] += 1
            size, most = len(candidate.encode()), _most_bytes()
            if size > most:
                raise SceneError(
                    f"{candidate!r} has {size} bytes, and Blender keeps {most}: rename the object"
                )
            found[candidate] = None
        self._taken.update(found)
        return list(found)

    def _filled(self, name: str, kind: ColliderKind, number: int) -> str:
        fields = {
            "name": name,
            "number": f"{number:02}",
            "prefix": _PREFIXES[kind],
            "component": _COMPONENTS[kind],
            "kind": kind,
        }
        return "".join(part.text + (fields[part.field] if part.field else "") for part in self._parts)


def _most_bytes() -> int:
    """How long Blender's names may be: 63 bytes, 255 from 5.0."""
    name: Any = bpy.types.ID.bl_rna.properties["name"]
    return int(name.length_max) - 1


def _parts(pattern: str) -> list[_Part]:
    problem = f"name pattern {pattern!r}: "
    parts = []
    try:
        for text, field, form, conversion in Formatter().parse(pattern):
            if form or conversion or (field is not None and field not in FIELDS):
                known = ", ".join(f"{{{known}}}" for known in FIELDS)
                raise SceneError(f"{problem}in braces can be {known}, and nothing else")
            parts.append(_Part(text, field))
    except ValueError as error:
        if isinstance(error, SceneError):
            raise
        raise SceneError(f"{problem}a brace is missing") from None
    if not any(part.field == "name" for part in parts):
        raise SceneError(f"{problem}has no {{name}}, the name of what a collider stands for")
    return parts
