"""Levels of detail of one object, recognized by their names: Crate_LOD0, Crate_LOD1 and so on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

_LEVEL = re.compile(r"(.+?)(?:[-_. ](?i:LOD)_?|LOD_?)(\d+)((?:\.\d{3,})?)", re.DOTALL)
"""Name, number of the level, and Blender's suffix of a copy. Without a separator, LOD is in upper case."""


def base_name(name: str) -> str:
    """Return a name without its level of detail, but with the suffix of a copy, such as .001."""
    match = _LEVEL.fullmatch(name)
    return name if match is None else match.group(1) + match.group(3)


def collision_levels(names: Iterable[str]) -> dict[str, str]:
    """Map names of objects to those of the levels of detail that have their collision.

    Engines take the collision of the most detailed level for all levels. That is the one with the lowest
    number. An object without a number is level 0 if there is no other level 0.

    names : Names of the objects that can have a collider.
    Returns levels : dict of str to str. Every name is a key; names of objects without other levels are
        mapped to themselves.
    """
    families: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    names = list(names)
    for name in names:
        match = _LEVEL.fullmatch(name)
        number = -1 if match is None else int(match.group(2))
        families[base_name(name)][number].append(name)
    levels = {name: name for name in names}
    for family in families.values():
        numbered = sorted(number for number in family if number >= 0)
        if not numbered:
            continue
        lowest = -1 if -1 in family and numbered[0] > 0 else numbered[0]
        first = min(family[lowest])
        levels |= {name: first for number in numbered if number > lowest for name in family[number]}
    return levels
