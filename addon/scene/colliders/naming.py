"""Names of collider objects, exactly as engines expect them."""

from __future__ import annotations

from collections.abc import Iterable
from string import Formatter
from typing import Any

import bpy

from ...core.messages import message
from ..collider_names import COMPONENTS, PREFIXES, base_name
from ..errors import SceneError
from ..settings import ColliderKind

FIELDS = ("name", "base", "number", "prefix", "component", "kind")


class ColliderNames:
    """Assigns unique names by a pattern, without those that are in use."""

    def __init__(self, pattern: str, used: Iterable[str]) -> None:
        """Parse a pattern; `used` has the names of existing objects.

        The pattern has {name}, the name of the source, or {base}, its name without a level of detail such as
        _LOD1, and optionally {number}, {prefix} (UBX, USP, UCP, UCX), {component} (BoxCollider and so on) and
        {kind} (box, sphere, capsule, hull). Raises SceneError without {name} and {base}, or with an unknown
        field.
        """
        try:
            parts = list(Formatter().parse(pattern))
        except ValueError:
            text = "name pattern {pattern!r}: a brace is missing"
            raise SceneError(message(text, pattern=pattern)) from None
        fields = {field for _, field, _, _ in parts if field is not None}
        if not fields <= set(FIELDS) or any(form or conversion for _, _, form, conversion in parts):
            known = ", ".join(f"{{{known}}}" for known in FIELDS)
            text = "name pattern {pattern!r}: unknown field in braces; allowed fields are {known}"
            raise SceneError(message(text, pattern=pattern, known=known))
        if not fields & {"name", "base"}:
            text = "name pattern {pattern!r}: has no {{name}}; add it, for the name of the object"
            raise SceneError(message(text, pattern=pattern))
        self._pattern, self._is_numbered = pattern, "number" in fields
        self._used = set(used)

    def reserve(self, names: Iterable[str]) -> None:
        """Exclude names from those that are assigned."""
        self._used.update(names)

    def assign(self, name: str, kinds: list[ColliderKind]) -> list[str]:
        """Assign a name to a collider of each kind, for the source of a name, with the lowest free numbers.

        Raises SceneError if a name is in use, or too long for Blender, which would append .001 or truncate
        it.
        """
        if len(kinds) > 1 and not self._is_numbered:
            raise SceneError(
                message("has {count} colliders: add {{number}} to the name pattern", count=len(kinds))
            )
        declared: Any = bpy.types.ID.bl_rna.properties["name"]
        limit = int(declared.length_max) - 1  # 63 bytes, 255 since Blender 5.0
        names: dict[str, None] = {}
        # All lower numbers are in use, so thousands of parts do not search from 0 again each.
        numbers = dict.fromkeys(kinds, 0)
        for kind in kinds:
            fields = {"name": name, "base": base_name(name), "kind": kind}
            fields |= {"prefix": PREFIXES[kind], "component": COMPONENTS[kind]}
            while (
                candidate := self._pattern.format(**fields, number=f"{numbers[kind]:02}")
            ) in self._used or candidate in names:
                if not self._is_numbered:
                    raise SceneError(
                        message(
                            "the name {candidate!r} is taken by another object: rename that object",
                            candidate=candidate,
                        )
                    )
                numbers[kind] += 1
            size = len(candidate.encode())
            if size > limit:
                raise SceneError(
                    message(
                        "the name {candidate!r} has {size} bytes, and Blender allows {limit}: "
                        "rename the object",
                        candidate=candidate,
                        size=size,
                        limit=limit,
                    )
                )
            names[candidate] = None
        self._used.update(names)
        return list(names)
