"""Names of colliders, recognized as engines do it, and the mesh object that each collider belongs to.

Also levels of detail of one object, recognized by their names: Crate_LOD0, Crate_LOD1 and so on.

Sources of the rules:

- Unreal: `FFbxImporter::FillCollisionModelList`, and `GetCollisionMeshType` of Interchange. The name of the
  mesh is all that follows the first underscore, or all between the first and the last. Case is ignored,
  except for that of the prefix, by the FBX importer.
- Godot: `_teststr` of `ResourceImporterScene`. Case is ignored, and so are digits, spaces, underscores and
  the dots of Blender's .001 at the end. Colliders belong to the node above them, whatever their names.
- Unity: the pattern of this project, for an import script of the user.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Literal, NamedTuple, TypeAlias

from ..core.messages import message, template
from .settings import ColliderKind

PREFIXES: dict[ColliderKind, str] = {"box": "UBX", "sphere": "USP", "capsule": "UCP", "hull": "UCX"}
"""Prefixes of Unreal by kind."""
COMPONENTS: dict[ColliderKind, str] = {
    "box": "BoxCollider",
    "sphere": "SphereCollider",
    "capsule": "CapsuleCollider",
    "hull": "MeshCollider",
}
"""Components of Unity by kind."""

Engine: TypeAlias = Literal["unreal", "unity", "godot", "custom"]
"""Engine whose naming convention a collider follows; "custom" for a pattern of the user."""

CheckedKind: TypeAlias = ColliderKind | Literal["triangles"]
"""Shape that an engine makes of a collider; "triangles" is a surface without an inside."""

_KINDS: dict[str, ColliderKind] = {prefix.lower(): kind for kind, prefix in PREFIXES.items()}
_COMPONENT_KINDS: dict[str, ColliderKind] = {name.lower(): kind for kind, name in COMPONENTS.items()}
_PREFIX = rf"(?P<prefix>{'|'.join(PREFIXES.values())})"
_UNREAL = re.compile(rf"{_PREFIX}_(?P<rest>.+)", re.IGNORECASE | re.DOTALL)
_UNREAL_WITHOUT_UNDERSCORE = re.compile(rf"{_PREFIX}[-. ]?(?P<rest>.*)", re.DOTALL)
_UNREAL_NOT_AT_START = re.compile(rf"(?P<rest>.+?)[-_. ]{_PREFIX}([-_. ]\d+)*", re.DOTALL)
_UNITY = re.compile(rf"(.+)_({'|'.join(COMPONENTS.values())})(_\d+)?(\.\d{{3,}})?", re.IGNORECASE | re.DOTALL)
_GODOT = re.compile(r"(.+)-(convcolonly|convcol|colonly|col)[\d_.\s]*", re.IGNORECASE | re.DOTALL)
_SUFFIX = re.compile(r"\.\d{3,}$")
_NUMBER = re.compile(r"_\d+$")


class ColliderName(NamedTuple):
    """Name of a collider, as an engine reads it.

    sources : Names of meshes that the engine accepts, in its order.
    similar : Names of meshes that are probably meant, if none of `sources` exists.
    defect : Problem of the name itself, whatever meshes exist; empty if there is none.
    is_separate : Whether the object is a collider alone; otherwise, it is a visible mesh that is its own
        collider.
    is_certain : Whether the name alone makes it a collider; otherwise, a mesh of that name must exist too.
    """

    engine: Engine
    kind: CheckedKind
    sources: tuple[str, ...]
    similar: tuple[str, ...]
    defect: str = ""
    is_separate: bool = True
    is_certain: bool = True


@lru_cache(maxsize=1 << 16)
def recognize_name(name: str) -> ColliderName | None:
    """Recognize the name of a collider of Unreal, Unity or Godot; None for any other name."""
    for pattern, read in _READERS:
        if match := pattern.fullmatch(name):
            return read(match)
    return None


def has_blender_suffix(name: str) -> bool:
    """Return whether a name ends like the names that Blender gives to copies, such as .001."""
    return _SUFFIX.search(name) is not None


def _read_unreal(match: re.Match[str], problem: str = "") -> ColliderName:
    prefix, rest = match["prefix"], match["rest"]
    wanted = prefix + "_"
    if not problem and not prefix.isupper():
        problem, wanted = template("begins with {found!r}: Unreal needs {wanted!r}"), prefix.upper()
    defect = message(problem, found=prefix, wanted=wanted) if problem else ""
    stripped = _SUFFIX.sub("", rest)
    similar = _distinct((stripped, stripped.rpartition("_")[0], _NUMBER.sub("", stripped)))
    kind, sources = _KINDS[prefix.lower()], _distinct((rest, rest.rpartition("_")[0]))
    return ColliderName("unreal", kind, sources, similar, defect, is_certain=not defect)


def _read_unity(match: re.Match[str]) -> ColliderName:
    base, component, number, suffix = match.groups()
    kind = _COMPONENT_KINDS[component.lower()]
    defect = ""
    if component != COMPONENTS[kind]:
        text = "contains {found!r}: the Unity pattern has {wanted!r}"
        defect = message(text, found=component, wanted=COMPONENTS[kind])
    elif number is None:
        text = "has no number after {found!r}: the Unity pattern has one, such as _00"
        defect = message(text, found=component)
    similar = _distinct((base, _SUFFIX.sub("", base)))
    return ColliderName("unity", kind, () if suffix else (base,), similar, defect)


def _read_godot(match: re.Match[str]) -> ColliderName:
    base, hint = match.group(1), match.group(2).lower()
    kind: CheckedKind = "hull" if hint.startswith("conv") else "triangles"
    names = _distinct((base, _NUMBER.sub("", base)))
    stripped = [_SUFFIX.sub("", name) for name in names]
    similar = _distinct([*stripped, _NUMBER.sub("", _SUFFIX.sub("", base))])
    return ColliderName("godot", kind, names, similar, is_separate=hint.endswith("only"))


_NO_UNDERSCORE = template("has no underscore after {found!r}: Unreal needs {wanted!r}")
_IN_THE_MIDDLE = template("has {found!r} in the middle: Unreal needs {wanted!r} at the start")
_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], ColliderName]], ...] = (
    (_UNREAL, _read_unreal),
    (_UNREAL_WITHOUT_UNDERSCORE, partial(_read_unreal, problem=_NO_UNDERSCORE)),
    (_UNREAL_NOT_AT_START, partial(_read_unreal, problem=_IN_THE_MIDDLE)),
    (_UNITY, _read_unity),
    (_GODOT, _read_godot),
)


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, names)))


class SourceMatch(NamedTuple):
    """Mesh that a collider belongs to.

    name : None if there is no such mesh.
    is_named : Whether the engine finds it by the name of the collider.
    """

    name: str | None
    is_named: bool


def match_source(
    collider: str,
    name: ColliderName,
    parent: str | None,
    meshes: Mapping[str, Sequence[str]],
    levels: Mapping[str, str] | None = None,
) -> SourceMatch:
    """Find the mesh that a collider belongs to: by its name, or else by its parent.

    A copy, whose name ends with .001, belongs to its parent, because Blender has renamed both.

    collider : Full name of the collider.
    parent : Name of the nearest mesh above it.
    meshes : Names of meshes by their names in lower case.
    levels : Names of the most detailed levels of meshes, by their names without a level in lower case.
    """
    named = _existing(name.sources, meshes, ignores_case=name.engine == "unreal")
    is_copy = has_blender_suffix(collider) and (not named or named[0] != name.sources[0])
    if parent is not None and (parent in named or is_copy or not named):
        return SourceMatch(parent, parent in named)
    if named:
        return SourceMatch(named[0], True)
    similar = _existing(name.similar, meshes, ignores_case=True)
    similar += [levels[each.lower()] for each in name.similar if levels and each.lower() in levels]
    return SourceMatch(similar[0] if similar else None, False)


def _existing(names: Iterable[str], meshes: Mapping[str, Sequence[str]], *, ignores_case: bool) -> list[str]:
    """Names of meshes that are any of `names`: of another case only where none has the same, if ignored."""
    found: list[str] = []
    for name in names:
        entries = meshes.get(name.lower(), ())
        if name in entries:
            found.append(name)
        elif ignores_case:
            found += entries
    return found


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
