"""Where contacts and near misses of a document contradict themselves, each other or its frames."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

_UNIT_TOLERANCE = 1e-5
"""Unit vectors are written with at least six decimals."""

_FRAME_TOLERANCE = 1e-5


def is_unit(vector: Sequence[float]) -> bool:
    """Whether a direction or quaternion has the length 1, as far as it is written."""
    return abs(math.hypot(*vector) - 1) <= _UNIT_TOLERANCE


def pair_problems(document: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with contacts and near misses, each as "path: problem"."""
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
        yield from _time_problems(contact, time, path)
    near_pairs: set[frozenset[str]] = set()
    for index, near in enumerate(document["clearances"]):
        path, pair = f"clearances[{index}]", frozenset((near["a"], near["b"]))
        yield from _side_problems(near, ids, path)
        if pair in touching:
            yield f"{path}: a and b are said to touch, in contacts"
        if pair in near_pairs:
            yield f"{path}: a and b have a clearance already"
        near_pairs.add(pair)
        if not _is_within(near["frame"], time):
            yield f"{path}.frame: is not from frameStart to frameEnd"


def _side_problems(pair: Mapping[str, Any], ids: Collection[str], path: str) -> Iterator[str]:
    for side in ("a", "b"):
        if pair[side] not in ids:
            yield f"{path}.{side}: there is no object {pair[side]!r}"
    if pair["a"] == pair["b"]:
        yield f"{path}: a and b are the same object"


def _interval_problems(contact: Mapping[str, Any], path: str) -> Iterator[str]:
    if contact.get("obstacle", contact["a"]) not in (contact["a"], contact["b"]):
        yield f"{path}.obstacle: is neither a nor b"
    meshes = contact.get("meshes", {"touch": False})
    if meshes["touch"] != ("frame" in meshes):
        yield f"{path}.meshes: has a frame just when the meshes touch"
    spans, first = contact["intervals"], contact["first"]
    if any(span["start"] > span["end"] for span in spans):
        yield f"{path}.intervals: start > end"
    if any(a["end"] > b["start"] for a, b in pairwise(spans)):
        yield f"{path}.intervals: are not in order, or overlap"
    if first["frame"] != spans[0]["start"]:
        yield f"{path}.first.frame: is not the start of the first interval"
    if not is_unit(first["normal"]):
        yield f"{path}.first.normal: is not a unit vector"
    if not _is_in(contact["deepest"]["frame"], spans):
        yield f"{path}.deepest.frame: lies in no interval"
    if "frame" in meshes and not _is_in(meshes["frame"], spans):
        yield f"{path}.meshes.frame: lies in no interval"


def _time_problems(contact: Mapping[str, Any], time: Mapping[str, Any], path: str) -> Iterator[str]:
    spans, first = contact["intervals"], contact["first"]
    if not all(_is_within(span[end], time) for span in spans for end in ("start", "end")):
        yield f"{path}.intervals: are not from frameStart to frameEnd"
    for key in ("first", "meshes"):
        told = contact.get(key, {})
        if "seconds" in told and "frame" in told and not _are_alike(told, time):
            yield f"{path}.{key}.seconds: is not its frame by fps"
    begins = first["frame"] <= time["frameStart"] + _FRAME_TOLERANCE
    if first["atStart"] and not begins:
        yield f"{path}.first.atStart: is true, but the contact begins after frameStart"
    if first["tunnelling"] and math.floor(spans[0]["end"] - _FRAME_TOLERANCE) >= (
        spans[0]["start"] + _FRAME_TOLERANCE
    ):
        yield f"{path}.first.tunnelling: is true, but a whole frame lies in the first interval"
    if not first["tunnelling"] and math.floor(spans[0]["end"] + _FRAME_TOLERANCE) < (
        spans[0]["start"] - _FRAME_TOLERANCE
    ):
        yield f"{path}.first.tunnelling: is false, but no whole frame lies in the first interval"


def _are_alike(told: Mapping[str, float], time: Mapping[str, float]) -> bool:
    exact = told["frame"] / time["fps"]
    return abs(told["seconds"] - exact) <= 1e-5 + 1e-9 * abs(exact)


def _is_within(frame: float, time: Mapping[str, float]) -> bool:
    return time["frameStart"] - _FRAME_TOLERANCE <= frame <= time["frameEnd"] + _FRAME_TOLERANCE


def _is_in(frame: float, spans: Sequence[Mapping[str, float]]) -> bool:
    return any(span["start"] - _FRAME_TOLERANCE <= frame <= span["end"] + _FRAME_TOLERANCE for span in spans)
