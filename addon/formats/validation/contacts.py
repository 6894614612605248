"""Consistency of contacts and near misses: with themselves, with each other and with the frames."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ..wording import quoted

_UNIT_TOLERANCE = 1e-5
"""Unit vectors have at least six decimals."""

_FRAME_TOLERANCE = 1e-5


def is_unit(vector: Sequence[float]) -> bool:
    """Return whether a direction or quaternion has unit length, up to its rounding."""
    return abs(math.hypot(*vector) - 1) <= _UNIT_TOLERANCE


def pair_problems(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the problems of contacts and near misses, each as "path: problem"."""
    ids = {entry["id"] for entry in document["objects"]}
    time = document["time"]
    touching: set[frozenset[str]] = set()
    for index, contact in enumerate(document["contacts"]):
        path, pair = f"contacts[{index}]", frozenset((contact["a"], contact["b"]))
        yield from _side_problems(contact, ids, path)
        if pair in touching:
            yield f"{path}: a and b have a contact already"
        touching.add(pair)
        yield from _interval_problems(contact, path)
        yield from _details_problems(contact, path)
        yield from _time_problems(contact, time, path)
        if contact["shape"] != document["contacts"][0]["shape"]:
            yield f"{path}.shape: differs from that of contacts[0], but a scan has one shape"
    near_pairs: set[frozenset[str]] = set()
    for index, near in enumerate(document["clearances"]):
        path, pair = f"clearances[{index}]", frozenset((near["a"], near["b"]))
        yield from _side_problems(near, ids, path)
        if pair in touching:
            yield f"{path}: a and b are listed in contacts too"
        if pair in near_pairs:
            yield f"{path}: a and b have a clearance already"
        near_pairs.add(pair)
        if not _is_within(near["frame"], time):
            yield f"{path}.frame: must be from frameStart to frameEnd"


def _side_problems(pair: Mapping[str, Any], ids: Collection[str], path: str) -> Iterator[str]:
    for side in ("a", "b"):
        if pair[side] not in ids:
            yield f"{path}.{side}: there is no object {quoted(pair[side])}"
    if pair["a"] == pair["b"]:
        yield f"{path}: a and b are the same object"


def _interval_problems(contact: Mapping[str, Any], path: str) -> Iterator[str]:
    if contact.get("obstacle", contact["a"]) not in (contact["a"], contact["b"]):
        yield f"{path}.obstacle: is neither a nor b"
    if "obstacle" in contact and contact["shape"] not in ("sphere", "spheres"):
        yield f"{path}.obstacle: obstacles are tested against sphere or spheres, not {contact['shape']}"
    meshes = contact.get("meshes", {"touch": False})
    if meshes["touch"] != ("frame" in meshes):
        yield f"{path}.meshes: must have a frame if touch is true, and none otherwise"
    if "meshes" in contact and "notVerified" in contact:
        yield f"{path}.notVerified: must be omitted where meshes is present"
    intervals, first = contact["intervals"], contact["first"]
    if any(span["start"] > span["end"] for span in intervals):
        yield f"{path}.intervals: start > end"
    if any(a["end"] > b["start"] for a, b in pairwise(intervals)):
        yield f"{path}.intervals: are not in order, or overlap"
    if first["frame"] != intervals[0]["start"]:
        yield f"{path}.first.frame: is not the start of the first interval"
    if not is_unit(first["normal"]):
        yield f"{path}.first.normal: is not a unit vector"
    if not _is_in_any(contact["deepest"]["frame"], intervals):
        yield f"{path}.deepest.frame: is outside all intervals"
    if "frame" in meshes and not _is_in_any(meshes["frame"], intervals):
        yield f"{path}.meshes.frame: is outside all intervals"


_DETAILS = ("uncertainty", "point", "normal", "velocity", "closingSpeed", "deepest")
"""Keys of an interval that are there together."""

_LENGTH_TOLERANCE = 1e-3
"""Lengths have at least three decimals."""


def _details_problems(contact: Mapping[str, Any], path: str) -> Iterator[str]:
    """Contradictions in begin and deepest overlap of the intervals."""
    intervals, first = contact["intervals"], contact["first"]
    if not all((key in span) == ("point" in intervals[0]) for span in intervals for key in _DETAILS):
        yield f"{path}.intervals: must have all of {', '.join(_DETAILS)}, or none"
        return
    if "point" not in intervals[0]:
        return
    for key in ("uncertainty", "point", "normal"):
        if first[key] != intervals[0][key]:
            yield f"{path}.intervals[0].{key}: differs from that of first"
    for index, span in enumerate(intervals):
        place, deepest = f"{path}.intervals[{index}]", span["deepest"]
        if not is_unit(span["normal"]):
            yield f"{place}.normal: is not a unit vector"
        if not is_unit(deepest["direction"]):
            yield f"{place}.deepest.direction: is not a unit vector"
        if not _is_in_any(deepest["frame"], [span]):
            yield f"{place}.deepest.frame: is outside the interval"
        if deepest["depth"] > contact["deepest"]["depth"] + _LENGTH_TOLERANCE:
            yield f"{place}.deepest.depth: is more than that of the contact"
        yield from _speed_problems(span, place)


def _speed_problems(span: Mapping[str, Any], path: str) -> Iterator[str]:
    velocity, speed = span["velocity"], span["closingSpeed"]
    if (velocity is None) != (speed is None):
        yield f"{path}.closingSpeed: must be null if velocity is null, and a number otherwise"
    elif velocity is not None:
        expected = -sum(part * along for part, along in zip(velocity, span["normal"], strict=True))
        if abs(speed - expected) > _LENGTH_TOLERANCE + _UNIT_TOLERANCE * math.hypot(*velocity):
            yield f"{path}.closingSpeed: is not the velocity against the normal"


def _time_problems(contact: Mapping[str, Any], time: Mapping[str, Any], path: str) -> Iterator[str]:
    intervals, first = contact["intervals"], contact["first"]
    if not all(_is_within(span[end], time) for span in intervals for end in ("start", "end")):
        yield f"{path}.intervals: must be from frameStart to frameEnd"
    for key in ("first", "meshes"):
        moment = contact.get(key, {})
        if "seconds" in moment and "frame" in moment and not _has_matching_seconds(moment, time):
            yield f"{path}.{key}.seconds: is not frame / fps"
    starts_at_start = first["frame"] <= time["frameStart"] + _FRAME_TOLERANCE
    if first["atStart"] and not starts_at_start:
        yield f"{path}.first.atStart: is true, but the contact begins after frameStart"
    if not first["atStart"] and first["frame"] <= time["frameStart"]:
        yield f"{path}.first.atStart: is false, but the contact begins at frameStart"
    if first["tunnelling"] and math.floor(intervals[0]["end"] - _FRAME_TOLERANCE) >= (
        intervals[0]["start"] + _FRAME_TOLERANCE
    ):
        yield f"{path}.first.tunnelling: is true, but a whole frame lies in the first interval"
    if not first["tunnelling"] and math.floor(intervals[0]["end"] + _FRAME_TOLERANCE) < (
        intervals[0]["start"] - _FRAME_TOLERANCE
    ):
        yield f"{path}.first.tunnelling: is false, but no whole frame lies in the first interval"


def _has_matching_seconds(moment: Mapping[str, float], time: Mapping[str, float]) -> bool:
    exact = moment["frame"] / time["fps"]
    return abs(moment["seconds"] - exact) <= 1e-5 + 1e-9 * abs(exact)


def _is_within(frame: float, time: Mapping[str, float]) -> bool:
    return time["frameStart"] - _FRAME_TOLERANCE <= frame <= time["frameEnd"] + _FRAME_TOLERANCE


def _is_in_any(frame: float, intervals: Sequence[Mapping[str, float]]) -> bool:
    return any(
        span["start"] - _FRAME_TOLERANCE <= frame <= span["end"] + _FRAME_TOLERANCE for span in intervals
    )
