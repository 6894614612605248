"""Options of shapes that scripts pass to `api` as keywords, checked and converted to settings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, TypedDict, cast, get_args

from ..core.compound.convex_parts import MOST_PARTS
from ..formats import InputWarning
from ..formats.document.model import MISSING_INPUTS
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
    allow_missing : bool
        Whether missing libraries, data-blocks and files are only named in `warnings`; else they are an error.
    allow_blocked_drivers : bool
        Whether drivers whose scripts are blocked are only named in `warnings`; else they are an error.
    """

    bones: bool
    bone_weight: float
    box_axes: str
    modifiers: str
    parts: int
    parts_tolerance: float
    allow_missing: bool
    allow_blocked_drivers: bool


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
    frames : float or tuple of float
        A frame; first and last; or first, last and step. The frame range of the scene by default.
    vertex_group : str
        Name of a vertex group: bounds of its vertices alone.
    group_threshold : float
        With `vertex_group`: least weight of a vertex, from 0 to 1.
    """

    part_shape: str
    bone_frames: str
    envelope: bool
    frames: float | Sequence[float]
    vertex_group: str
    group_threshold: float


def require_known(value: object, choices: Iterable[str], option: str) -> None:
    """Raise SceneError for a value that is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise SceneError(f"{option} {value!r}: choose from {', '.join(choices)}")


def require_number(value: object, option: str) -> None:
    """Raise SceneError for a value that is not a finite number."""
    if not isinstance(value, Real) or not math.isfinite(value):
        raise SceneError(f"{option} {value!r}: must be a finite number")


def texts_from(values: object, option: str) -> list[str]:
    """Return a text, or several, as a list. Raises SceneError for everything else."""
    if isinstance(values, str):
        return [values]
    if not isinstance(values, Iterable):
        raise SceneError(f"{option} {values!r}: must be a sequence of names")
    return list(values)


def frames_from(frames: object) -> tuple[float, float, float] | None:
    """Return first, last and step from frames as the command line has them: START, START:END or with a step.

    Raises SceneError for frames that are neither None, nor a number, nor two or three numbers.
    """
    if frames is None:
        return None
    numbers: tuple[Any, ...] = tuple(frames) if isinstance(frames, tuple | list) else (frames,)
    if len(numbers) not in (1, 2, 3) or not all(
        isinstance(number, Real) and math.isfinite(number) for number in numbers
    ):
        raise SceneError(f"frames {frames!r}: must be a frame, first and last, or first, last and step")
    end = numbers[1] if len(numbers) > 1 else numbers[0]
    return numbers[0], end, numbers[2] if len(numbers) > 2 else 1.0


def require_inputs(warnings: Iterable[InputWarning], given: Mapping[str, Any]) -> None:
    """Raise SceneError for the first missing input or blocked driver that the options do not allow."""
    for entry in warnings:
        is_missing = entry.kind in MISSING_INPUTS
        option = "allow_missing" if is_missing else "allow_blocked_drivers"
        if (is_missing or entry.kind == "blockedDriver") and not given.get(option, False):
            raise SceneError(f"{entry.name}: {entry.message}; {option}=True accepts this")


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
        if not isinstance(given["vertex_group"], str):
            raise SceneError(f"vertex_group {given['vertex_group']!r}: must be a name")
        group = VertexGroup(given["vertex_group"])
        changes["vertex_group"] = group if threshold is None else group._replace(threshold=threshold)
    return replace(fit, **changes)


def selection_with_options(selection: Selection, given: dict[str, Any]) -> Selection:
    """Return a selection whose objects are split by bones if the options say so. Raises SceneError."""
    is_split = bool(given.get("bones", False))
    if "bone_weight" in given and not is_split:
        raise SceneError("bone_weight: only valid with bones=True")
    # The default may be given, as on the command line.
    if given.get("bone_frames", "current") != "current" and not is_split:
        raise SceneError("bone_frames: only valid with bones=True")
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
    envelope, frames = bool(given.get("envelope", False)), frames_from(given.get("frames"))
    if frames is not None and not (envelope or fit.bone_frames == "all"):
        raise SceneError('frames: only valid with envelope=True or bone_frames="all"; else use frame')
    if "group_threshold" in given and fit.vertex_group is None:
        raise SceneError("group_threshold: only valid with vertex_group")
    if fit.vertex_group is not None and (envelope or selection.split_by_bones):
        raise SceneError("vertex_group: not valid with bones or envelope")
    if envelope and not {"sphere", "aabb"} & set(names):
        raise SceneError(f"shapes {', '.join(names)}: envelopes need sphere or aabb; add one of them")
    wanted = cast("tuple[BoundShape, ...]", tuple(names))
    return BoundsSettings(selection, wanted, fit, frame, envelope, frames=frames)


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
