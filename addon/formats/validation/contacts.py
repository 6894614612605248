"""Consistency of contacts and near misses: with themselves, with each other and with the frames."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ..contact_extents import EXTENTS, extent, signed_depth
from ..wording import quoted

_UNIT_TOLERANCE = 1e-5
"""Unit vectors have at least six decimals."""

_FRAME_TOLERANCE = 1e-5


def is_unit(vector: Sequence[float], tolerance: float = _UNIT_TOLERANCE) -> bool:
    """Return whether a direction or quaternion has unit length, up to its rounding."""
    return abs(math.hypot(*vector) - 1) <= tolerance


def pair_problems(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the problems of contacts and near misses, each as "path: problem"."""
    ids = {entry["id"] for entry in document["objects"]}
    time = document["time"]
    touching: set[frozenset[str]] = set()
    for index, contact in enumerate(document["contacts"]):
        path, pair = f"contacts[{index}]", frozenset((contact["a"], contact["b"]))
        yield from _side_problems(contact, ids, path)
        if any(_extent_of(each) is None for each in (contact, *contact["intervals"])):
            yield f"{path}: must have either deepest or closest, and so must each interval with a point"
            return
        if pair in touching:
            yield f"{path}: a and b have a contact already"
        touching.add(pair)
        yield from _interval_problems(contact, path)
        yield from _details_problems(contact, path)
        yield from _time_problems(contact, time, path)
        yield from _gap_problems(contact, path)
        for key in ("shape", "clearance"):
            if contact.get(key) != document["contacts"][0].get(key):
                yield f"{path}.{key}: differs from that of contacts[0], but a scan has one {key}"
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
    if "obstacle" in contact and contact["shape"] not in ("sphere", "spheres", "mesh"):
        yield f"{path}.obstacle: obstacles are tested against spheres and meshes, not {contact['shape']}"
    intervals, first = contact["intervals"], contact["first"]
    if any(span["start"] > span["end"] for span in intervals):
        yield f"{path}.intervals: start > end"
    if any(a["end"] > b["start"] for a, b in pairwise(intervals)):
        yield f"{path}.intervals: are not in order, or overlap"
    if first["frame"] != intervals[0]["start"]:
        yield f"{path}.first.frame: is not the start of the first interval"
    if not is_unit(first["normal"]):
        yield f"{path}.first.normal: is not a unit vector"
    if not _is_in_any(extent(contact)["frame"], intervals):
        yield f"{path}.{_extent_of(contact)}.frame: is outside all intervals"


_DETAILS = ("uncertainty", "point", "normal", "velocity", "closingSpeed")
"""Keys of an interval that are there together, with its extent."""

_LENGTH_TOLERANCE = 1e-3
"""Lengths have at least three decimals."""


def _details_problems(contact: Mapping[str, Any], path: str) -> Iterator[str]:
    """Contradictions in begin and deepest overlap of the intervals."""
    intervals, first = contact["intervals"], contact["first"]
    if not all((key in span) == ("point" in intervals[0]) for span in intervals for key in _DETAILS):
        yield f"{path}.intervals: must have all of {', '.join(_DETAILS)} and deepest or closest, or none"
        return
    if "point" not in intervals[0]:
        return
    for key in ("uncertainty", "point", "normal"):
        if first[key] != intervals[0][key]:
            yield f"{path}.intervals[0].{key}: differs from that of first"
    for index, span in enumerate(intervals):
        place, key = f"{path}.intervals[{index}]", str(_extent_of(span))
        if not is_unit(span["normal"]):
            yield f"{place}.normal: is not a unit vector"
        if not is_unit(span[key]["direction"]):
            yield f"{place}.{key}.direction: is not a unit vector"
        if not _is_in_any(span[key]["frame"], [span]):
            yield f"{place}.{key}.frame: is outside the interval"
        if signed_depth(span) > signed_depth(contact) + _LENGTH_TOLERANCE:
            relation = "more" if key == "deepest" else "less"
            yield f"{place}.{key}.{_LENGTHS[key]}: is {relation} than that of the contact"
        velocity, speed = span["velocity"], span["closingSpeed"]
        if (velocity is None) != (speed is None):
            yield f"{place}.closingSpeed: must be null if velocity is null, and a number otherwise"
        elif velocity is not None:
            expected = -sum(part * along for part, along in zip(velocity, span["normal"], strict=True))
            if abs(speed - expected) > _LENGTH_TOLERANCE + _UNIT_TOLERANCE * math.hypot(*velocity):
                yield f"{place}.closingSpeed: is not the velocity against the normal"


_LENGTHS = {"deepest": "depth", "closest": "gap"}


def _extent_of(entry: Mapping[str, Any]) -> str | None:
    """Key of the deepest overlap or closest approach; empty without details of an interval, None if wrong."""
    present = [key for key in EXTENTS if key in entry]
    if not present and "start" in entry and "point" not in entry:
        return ""
    return present[0] if len(present) == 1 else None


def _gap_problems(contact: Mapping[str, Any], path: str) -> Iterator[str]:
    """Gaps above the clearance of a contact, and gaps without one."""
    clearance = contact.get("clearance", 0.0)
    places = [(path, contact)]
    places += [(f"{path}.intervals[{index}]", span) for index, span in enumerate(contact["intervals"])]
    for place, entry in places:
        if "closest" in entry and entry["closest"]["gap"] > clearance:
            yield f"{place}.closest.gap: is more than the clearance, {clearance:g}"
        if "clearance" in contact and "deepest" in entry and signed_depth(entry) < 0:
            yield f"{place}.deepest.depth: is negative, but a gap is in closest"
        if contact["shape"] != "mesh" and "deepest" in entry:
            if "overlap" in entry["deepest"]:
                yield f"{place}.deepest.overlap: only meshes can have that"
            if entry["deepest"]["depth"] is None:
                yield f"{place}.deepest.depth: is null, but only meshes can have none"


def _time_problems(contact: Mapping[str, Any], time: Mapping[str, Any], path: str) -> Iterator[str]:
    intervals, first = contact["intervals"], contact["first"]
    if not all(_is_within(span[end], time) for span in intervals for end in ("start", "end")):
        yield f"{path}.intervals: must be from frameStart to frameEnd"
    exact = first["frame"] / time["fps"]
    if not abs(first["seconds"] - exact) <= 1e-5 + 1e-9 * abs(exact):
        yield f"{path}.first.seconds: is not frame / fps"
    starts_at_start = first["frame"] <= time["frameStart"] + _FRAME_TOLERANCE
    if first["atStart"] and not starts_at_start:
        yield f"{path}.first.atStart: is true, but the contact begins after frameStart"
    if not first["atStart"] and first["frame"] <= time["frameStart"]:
        yield f"{path}.first.atStart: is false, but the contact begins at frameStart"
    start, end = intervals[0]["start"], intervals[0]["end"]
    if first["tunnelling"] and math.floor(end - _FRAME_TOLERANCE) >= start + _FRAME_TOLERANCE:
        yield f"{path}.first.tunnelling: is true, but a whole frame lies in the first interval"
    if not first["tunnelling"] and math.floor(end + _FRAME_TOLERANCE) < start - _FRAME_TOLERANCE:
        yield f"{path}.first.tunnelling: is false, but no whole frame lies in the first interval"


def _is_within(frame: float, time: Mapping[str, float]) -> bool:
    return time["frameStart"] - _FRAME_TOLERANCE <= frame <= time["frameEnd"] + _FRAME_TOLERANCE


def _is_in_any(frame: float, intervals: Sequence[Mapping[str, float]]) -> bool:
    spans = ((span["start"] - _FRAME_TOLERANCE, span["end"] + _FRAME_TOLERANCE) for span in intervals)
    return any(start <= frame <= end for start, end in spans)
