"""Bounds as Unity's `Bounds` and Unreal's `FBoxSphereBounds` read them, from documents in their spaces."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import CollisionBoundsError
from ..core.single_precision import single, single_up
from .rounding import ends_of, middle_and_half, plain, reach_from
from .spaces import Floats

_PLACES = ("world", "local", "envelope")

_SLACK = 4 * np.finfo(np.float64).eps
"""What a distance of two points loses when it is computed, as part of it."""


class EngineBoundsError(CollisionBoundsError):
    """A document that makes no bounds for an engine."""


def unity_bounds(document: dict[str, Any]) -> dict[str, Any]:
    """Each object's boxes as `m_Center` and `m_Extent`, in plain dicts and lists.

    Numbers are single-precision ones, as Unity's are. Its min and max, which it computes from them in single
    precision, reach as far as the document's or further.

    Raises EngineBoundsError for a document in another space, for one without boxes or spheres, and where
    single precision has no numbers so large.
    """
    return _listed(document, "unity", _unity)


def unreal_bounds(document: dict[str, Any]) -> dict[str, Any]:
    """Each object's bounds as `Origin`, `BoxExtent` and `SphereRadius`, in plain dicts and lists.

    Box and sphere share the box's centre. So the radius is not the document's: it reaches from there as
    far as the box's corners or the document's sphere do, the nearer of the two, and holds what was in both.

    Raises EngineBoundsError as `unity_bounds` does.
    """
    return _listed(document, "unreal", _unreal)


def _listed(
    document: dict[str, Any], preset: str, spelled: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    space, generator = document["space"], document["generator"]
    if space["preset"] != preset:
        raise EngineBoundsError(f"the bounds of {preset} need a document in its space, and this one is not")
    bounds = []
    for entry in document["objects"]:
        try:
            told = {
                place: spelled(entry[place])
                for place in _PLACES
                if entry.get(place, {}).keys() & {"aabb", "sphere"}
            }
        except EngineBoundsError as error:
            raise EngineBoundsError(f"object {entry['name']!r}: {error}") from None
        if "world" in told:
            bounds.append({"id": entry["id"], "name": entry["name"], "parent": entry["parent"], **told})
    if not bounds:
        raise EngineBoundsError(
            f"the bounds of {preset} are boxes along its axes: no object has a box or a sphere to make one of"
        )
    return {
        "generator": f"{generator['name']} {generator['version']}",
        "source": document["source"],
        "unit": space["unit"],
        "frame": document["time"]["referenceFrame"],
        "bounds": bounds,
    }


def _unity(shapes: dict[str, Any]) -> dict[str, Any]:
    low, high = _span(shapes)
    low, high = -single_up(-low), single_up(high)
    if np.isfinite([low, high]).all():
        center = single(low / 2 + high / 2)
        extent = single_up(reach_from(center, low, high))
        if np.isfinite(extent).all():
            return {"m_Center": _vector("xyz", center), "m_Extent": _vector("xyz", extent)}
    raise EngineBoundsError("its box is larger than the numbers of Unity reach: leave the object out")


def _unreal(shapes: dict[str, Any]) -> dict[str, Any]:
    center, extent = middle_and_half(*_span(shapes))
    radius = math.nextafter(math.hypot(*extent), math.inf) if extent.any() else 0.0
    if ball := shapes.get("sphere"):
        away = math.dist(center, ball["center"])
        reach = math.nextafter(away * (1 + _SLACK) + ball["radius"], math.inf) if away else ball["radius"]
        radius = min(radius, reach)
    return {
        "Origin": _vector("XYZ", center),
        "BoxExtent": _vector("XYZ", extent),
        "SphereRadius": float(radius),
    }


def _span(shapes: dict[str, Any]) -> tuple[Floats, Floats]:
    """Corners (3,) of the box, or of one around the sphere."""
    if box := shapes.get("aabb"):
        return np.array(box["min"], dtype=np.float64), np.array(box["max"], dtype=np.float64)
    ball = shapes["sphere"]
    return ends_of(np.array(ball["center"], dtype=np.float64), np.full(3, float(ball["radius"])))


def _vector(axes: str, values: Floats) -> dict[str, float]:
    return dict(zip(axes, plain(values), strict=True))
