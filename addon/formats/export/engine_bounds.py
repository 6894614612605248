"""Bounds as Unity's `Bounds` and Unreal's `FBoxSphereBounds`, from documents in their spaces."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import CollisionBoundsError
from ...core.messages import message
from ...core.numeric.arrays import Floats
from ...core.numeric.floating_point import float32_at_least, nearest_float32
from ..shape_members import read_shape
from ..spaces import center_and_half_extents, half_extents_around, interval_around, to_lists

_GROUPS = ("world", "local", "envelope", "localEnvelope")
"""Groups of bounds by their keys in the file; the last is `envelope.local` of the document."""

_SLACK = 4 * np.finfo(np.float64).eps
"""Relative rounding error of the distance of two points."""


class EngineBoundsError(CollisionBoundsError):
    """The document cannot be converted to an engine's bounds."""


def unity_bounds(document: dict[str, Any]) -> dict[str, Any]:
    """Convert boxes to Unity's `m_Center` and `m_Extent`.

    All numbers are single-precision numbers, as in Unity. The min and max that Unity computes from them in
    single precision enclose the document's box.

    document : In Unity's space.
    Returns file : dict. Of dicts and lists. An object without a box has the box around its sphere.
    Raises EngineBoundsError: for a document in another space, without boxes and spheres, or with a box
        beyond single precision.
    """
    return _engine_bounds(document, "unity", _unity_entry)


def unreal_bounds(document: dict[str, Any]) -> dict[str, Any]:
    """Convert boxes and spheres to Unreal's `Origin`, `BoxExtent` and `SphereRadius`.

    Box and sphere share the box's center, so the radius is not the document's. It reaches from that center
    to the box's corners or around the document's sphere, whichever is nearer. So the result encloses all that
    is in both the box and the sphere.

    document : In Unreal's space.
    Returns file : dict. Of dicts and lists. An object without a box has the box around its sphere.
    Raises EngineBoundsError: for a document in another space, or without boxes and spheres.
    """
    return _engine_bounds(document, "unreal", _unreal_entry)


def _engine_bounds(
    document: dict[str, Any], preset: str, convert: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    space, generator = document["space"], document["generator"]
    if space["preset"] != preset:
        raise EngineBoundsError(f"bounds for {preset} need a document in the space of {preset}")
    bounds = []
    for entry in document["objects"]:
        try:
            shapes = {**entry, "localEnvelope": entry.get("envelope", {}).get("local", {})}
            stored = (each for each in _GROUPS if shapes.get(each, {}).keys() & {"aabb", "sphere"})
            groups = {group: convert(shapes[group]) for group in stored}
        except EngineBoundsError as error:
            text = "object {name!r}: {reason}"
            raise EngineBoundsError(message(text, name=entry["name"], reason=error.message)) from None
        if "world" in groups:
            bounds.append({"id": entry["id"], "name": entry["name"], "parent": entry["parent"], **groups})
    if not bounds:
        text = "bounds for {engine} need an axis-aligned box or a sphere, and no object has one"
        raise EngineBoundsError(message(text, engine=preset))
    return {
        "generator": f"{generator['name']} {generator['version']}",
        "source": document["source"],
        "unit": space["unit"],
        "frame": document["time"]["referenceFrame"],
        "bounds": bounds,
    }


def _unity_entry(shapes: dict[str, Any]) -> dict[str, Any]:
    low, high = _box_corners(shapes)
    low, high = -float32_at_least(-low), float32_at_least(high)
    if np.isfinite([low, high]).all():
        center = nearest_float32(low / 2 + high / 2)
        extent = float32_at_least(half_extents_around(center, low, high))
        if np.isfinite(extent).all():
            return {"m_Center": _vector("xyz", center), "m_Extent": _vector("xyz", extent)}
    raise EngineBoundsError(message("its box exceeds the range of numbers in Unity; exclude the object"))


def _unreal_entry(shapes: dict[str, Any]) -> dict[str, Any]:
    center, extent = center_and_half_extents(*_box_corners(shapes))
    radius = math.nextafter(math.hypot(*extent), math.inf) if extent.any() else 0.0
    if sphere := shapes.get("sphere"):
        offset, reach = math.dist(center, sphere["center"]), sphere["radius"]
        radius = min(radius, math.nextafter(offset * (1 + _SLACK) + reach, math.inf) if offset else reach)
    return {
        "Origin": _vector("XYZ", center),
        "BoxExtent": _vector("XYZ", extent),
        "SphereRadius": float(radius),
    }


def _box_corners(shapes: dict[str, Any]) -> tuple[Floats, Floats]:
    """Min and max (3,) of the box, or of the box around the sphere."""
    if "aabb" in shapes:
        box = read_shape("aabb", shapes["aabb"])
        return box.min, box.max
    sphere = read_shape("sphere", shapes["sphere"])
    return interval_around(sphere.center, np.full(3, sphere.radius))


def _vector(axes: str, values: Floats) -> dict[str, float]:
    return dict(zip(axes, to_lists(values), strict=True))
