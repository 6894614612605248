"""Options of shapes that scripts pass to `api` as keywords, checked and converted to settings."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypedDict, cast, get_args

from ..core.compound.convex_parts import MOST_PARTS
from .errors import SceneError
from .settings import (
    Axes,
    BoneFrames,
    BoundShape,
    BoundsSettings,
    FitSettings,
    Modifiers,
    PartShape,
    Selection,
    VertexGroup,
)


class FitOptions(TypedDict, total=False):
    """Options of `bounds_of` and `contacts_among`, as those of the command line of the same names.

    Attributes
    ----------
    bones : bool
        Whether objects that an armature deforms get bounds of each deform bone.
    bone_weight : float
        With `bones`: least weight, from 0 to 1, at which a vertex belongs to other bones than its heaviest.
    box_axes : str
        Axes of boxes: "object", "world" or "smallest".
    modifiers : str
        "evaluated", or "base" for meshes without modifiers and shape keys.
    parts : int
        Largest number of convex parts of each mesh.
    parts_tolerance : float
        Depth of notches, in Blender units, that need no further part.
    """

    bones: bool
    bone_weight: float
    box_axes: str
    modifiers: str
    parts: int
    parts_tolerance: float


class BoundsOptions(FitOptions, total=False):
    """Further options of `bounds_of`, as those of the command line of the same names.

    Attributes
    ----------
    part_shape : str
        Shape of convex parts: "hull", "box", "sphere" or "capsule".
    bone_frames : str
        With `bones`: "current", or "all" for bounds that enclose the vertices at all `frames`.
    envelope : bool
        Whether to add a box and a sphere that enclose each object over `frames`, in the world and its space.
    frames : tuple of float
        First, last and step. The frame range of the scene by default.
    vertex_group : str
        Name of a vertex group: bounds of its vertices alone.
    group_threshold : float
        With `vertex_group`: least weight of a vertex, from 0 to 1.
    """

    part_shape: str
    bone_frames: str
    envelope: bool
    frames: tuple[float, float, float]
    vertex_group: str
    group_threshold: float


def require_known(value: str, choices: Iterable[str], option: str) -> None:
    """Raise SceneError for a value that is not one of the choices."""
    if value not in choices:
        raise SceneError(f"{option} {value!r}: choose from {', '.join(choices)}")


def require_frames(frames: object) -> None:
    """Raise SceneError for frames that are neither None nor three numbers."""
    if frames is not None and not (isinstance(frames, tuple | list) and len(frames) == 3):
        raise SceneError(f"frames {frames}: must be the first frame, the last frame and the step")


def fit_with_options(fit: FitSettings, given: dict[str, Any], known: type) -> FitSettings:
    """Return fit settings with the options of `FitOptions` and `BoundsOptions` that are given.

    Raises SceneError for an option that the TypedDict `known` does not have, and for a wrong value.
    """
    for name in given:
        require_known(name, sorted(_names(known)), "option")
    changes: dict[str, Any] = {}
    for name, choices in (
        ("box_axes", [axes for axes in get_args(Axes) if axes != "checked"]),
        ("modifiers", get_args(Modifiers)),
        ("part_shape", get_args(PartShape)),
        ("bone_frames", get_args(BoneFrames)),
    ):
        if name in given:
            require_known(given[name], choices, name)
            changes["axes" if name == "box_axes" else name] = given[name]
    if "parts" in given:
        if type(given["parts"]) is not int or not 1 <= given["parts"] <= MOST_PARTS:
            raise SceneError(f"parts {given['parts']}: must be a whole number from 1 to {MOST_PARTS}")
        changes["parts"] = given["parts"]
    if "parts_tolerance" in given:
        changes["parts_tolerance"] = _number(given, "parts_tolerance", math.inf)
    if "vertex_group" in given:
        threshold = _number(given, "group_threshold", 1.0) if "group_threshold" in given else None
        group = VertexGroup(given["vertex_group"])
        changes["vertex_group"] = group if threshold is None else group._replace(threshold=threshold)
    return replace(fit, **changes)


def selection_with_options(selection: Selection, given: dict[str, Any]) -> Selection:
    """Return a selection whose objects are split by bones if the options say so. Raises SceneError."""
    is_split = bool(given.get("bones", False))
    for name in ("bone_weight", "bone_frames"):
        if name in given and not is_split:
            raise SceneError(f"{name}: only valid with bones=True")
    weight = _number(given, "bone_weight", 1.0) if "bone_weight" in given else selection.bone_weight
    return replace(selection, split_by_bones=is_split, bone_weight=weight)


def bounds_with_options(
    selection: Selection, shapes: Iterable[str], fit: FitSettings, frame: float | None, given: dict[str, Any]
) -> BoundsSettings:
    """Return settings of bounds with `BoundsOptions`. Raises SceneError for wrong and contradictory ones."""
    fit = fit_with_options(fit, given, BoundsOptions)
    selection = selection_with_options(selection, given)
    names = list(shapes)
    if "parts" in given and "compound" not in names:
        names.append("compound")
    for name in ("parts_tolerance", "part_shape"):
        if name in given and "compound" not in names:
            raise SceneError(f'{name}: only valid with parts, or with "compound" in shapes')
    envelope, frames = bool(given.get("envelope", False)), given.get("frames")
    require_frames(frames)
    if frames is not None and not (envelope or fit.bone_frames == "all"):
        raise SceneError('frames: only valid with envelope=True or bone_frames="all"; else use frame')
    if "group_threshold" in given and fit.vertex_group is None:
        raise SceneError("group_threshold: only valid with vertex_group")
    if fit.vertex_group is not None and (envelope or selection.split_by_bones):
        raise SceneError("vertex_group: not valid with bones or envelope")
    if envelope and not {"sphere", "aabb"} & set(names):
        raise SceneError(f"shapes {', '.join(names)}: envelopes need sphere or aabb; add one of them")
    wanted = cast("tuple[BoundShape, ...]", tuple(names))
    return BoundsSettings(
        selection, wanted, fit, frame, envelope, frames=None if frames is None else tuple(frames)
    )


def _names(options: type) -> set[str]:
    return set(options.__annotations__) | {
        name
        for base in getattr(options, "__orig_bases__", ())
        for name in getattr(base, "__annotations__", ())
    }


def _number(given: dict[str, Any], name: str, most: float) -> float:
    """Return a number from 0 to `most`. Raises SceneError for everything else."""
    value = given[name]
    if not isinstance(value, int | float) or not 0 <= value <= most or not math.isfinite(value):
        limit = "of 0 or more" if math.isinf(most) else f"from 0 to {most:g}"
        raise SceneError(f"{name} {value!r}: must be a number {limit}")
    return float(value)
