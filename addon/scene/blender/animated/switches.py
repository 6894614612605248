"""Properties by which the source of a motion is chosen.

Their values now are not enough, because they may be animated themselves: a constraint that is muted now may
move bones later. All of them are in one table, each with the data-block whose animation has it.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from .paths import animated_paths

_NAME = r'\["(?:[^"\\]|\\.)*"\]'
"""Name of a bone, a constraint or a custom property in a data path, with escapes."""
_BONE = r"pose\.bones" + _NAME


class Switch(NamedTuple):
    """Properties by which the source of a motion is chosen.

    owner : Type of the data-block whose animation they are in: its keys, NLA and drivers.
    paths : Their data paths.
    """

    owner: str
    paths: re.Pattern[str]

    def has(self, path: str) -> bool:
        """Return whether a data path is one of them."""
        return self.paths.fullmatch(path) is not None


def _switch(owner: str, paths: str, unrelated: str = "") -> Switch:
    """Make an entry of all paths of a pattern but for unrelated ones."""
    return Switch(owner, re.compile(f"(?!(?:{unrelated})$)(?:{paths})" if unrelated else paths, re.DOTALL))


TRANSFORM = _switch(
    "OBJECT",
    ".*",
    unrelated=f"{_BONE}.*|{_NAME}|(?:color|display_|lock_|hide_render|hide_select|pass_index).*"
    "|show_(?!instancer).*",
)
"""All of an object but what neither its matrix nor its visibility depends on. Bones do not move it."""
BONE_TRANSFORMS = _switch(
    "OBJECT",
    rf"{_BONE}\..*",
    unrelated=rf"{_BONE}\.(?:bbone_|color|custom_shape|hide|ik_|lock_|select|use_custom).*",
)
"""All of bones but what their matrices do not depend on without constraints and segments."""
BONE_CONSTRAINTS = _switch("OBJECT", rf"{_BONE}\.constraints\[.*")
"""Constraints of bones: muted or not, and how many bones they move."""
VISIBILITY = _switch("OBJECT", "hide_viewport")
INSTANCING = _switch("OBJECT", "instance_type|show_instancer_for_viewport")
"""Whether an object shows instances, and is shown itself as well."""
REST_BONES = _switch("ARMATURE", ".*")
"""Rest position, inheritance and segments of bones, which of them deform, and anything else."""
VERTICES = _switch("MESH", ".*")
SIMPLIFICATION = _switch("SCENE", r"render\..*simplify.*")
"""How much less modifiers do in the whole scene. The settings of time cannot be animated."""

ALL_SWITCHES = {
    "transform": TRANSFORM,
    "transforms of bones": BONE_TRANSFORMS,
    "constraints of bones": BONE_CONSTRAINTS,
    "visibility": VISIBILITY,
    "instancing": INSTANCING,
    "bones at rest": REST_BONES,
    "vertices": VERTICES,
    "simplification": SIMPLIFICATION,
}
"""All properties by which the source of a motion is chosen."""


def changing(owner: Any, switch: Switch) -> set[str]:
    """Return the data paths of those properties of a data-block that may change while the scene plays."""
    return {path for path in animated_paths(owner) if switch.has(path)}
