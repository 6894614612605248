"""Members of "extras" of a document, each with its attribute of the contents and how it is written and read.

Extras can hold anything, so a value of another form is read as none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from ..rounding import json_number
from .model import DocumentContents, Partial


def read_extras(extras: Mapping[str, Any], ids: Collection[str], end: float) -> dict[str, Any]:
    """Read the extras of a document, by their attributes of `DocumentContents`.

    ids : of the objects; others are not read
    end : last frame
    """
    found = {each.attribute: each.read(extras.get(key), ids) for key, each in _EXTRAS.items()}
    partial = found["partial"]
    if partial is not None and not partial.untested and partial.planned_end == end:
        found["partial"] = None
    return found


def write_extras(contents: DocumentContents) -> dict[str, Any]:
    """Write the extras that contents have."""
    values = {key: getattr(contents, each.attribute) for key, each in _EXTRAS.items()}
    return {key: _EXTRAS[key].write(value) for key, value in values.items() if value or value == ""}


def _write_partial(partial: Partial) -> dict[str, Any]:
    untested = {"meshesNotAsked": partial.untested} if partial.untested else {}
    return {"plannedEnd": json_number(partial.planned_end), **untested}


def _read_partial(extra: Any, _: Collection[str]) -> Partial | None:
    if not isinstance(extra, dict) or not isinstance(extra.get("plannedEnd"), (int, float)):
        return None
    untested = extra.get("meshesNotAsked", 0)
    return Partial(extra["plannedEnd"], untested if isinstance(untested, int) else 0)


def _read_ids(extra: Any, known: Collection[str]) -> tuple[str, ...]:
    if not isinstance(extra, list) or not all(isinstance(id, str) for id in extra):
        return ()
    return tuple(id for id in extra if id in known)


def _write_played(played: Mapping[str, str]) -> list[dict[str, Any]]:
    """Reasons in order, each with the ids of its objects."""
    ids: dict[str, list[str]] = {}
    for id, reason in played.items():
        ids.setdefault(reason, []).append(id)
    return [{"reason": reason, "ids": sorted(ids[reason])} for reason in sorted(ids)]


def _read_played(extra: Any, known: Collection[str]) -> dict[str, str]:
    return {
        id: entry["reason"]
        for entry in (extra if isinstance(extra, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get("reason"), str)
        for id in _read_ids(entry.get("ids"), known)
    }


def _write_roots(roots: Mapping[str, tuple[str, ...]]) -> list[dict[str, Any]]:
    """Armatures in order, each with the ids of its objects without a parent."""
    return [{"armature": name, "ids": sorted(roots[name])} for name in sorted(roots)]


def read_armature_roots(extra: Any, _: Collection[str] = ()) -> dict[str, tuple[str, ...]]:
    """Convert "armatureRoots" of "extras"."""
    return {
        entry["armature"]: tuple(id for id in entry["ids"] if isinstance(id, str))
        for entry in (extra if isinstance(extra, list) else [])
        if isinstance(entry, dict)
        and isinstance(entry.get("armature"), str)
        and isinstance(entry.get("ids"), list)
    }


def read_skipped_pairs(extra: Any, _: Collection[str] = ()) -> dict[str, int]:
    """Convert "skippedPairs" of "extras"."""
    counts = extra.items() if isinstance(extra, Mapping) else ()
    return {str(name): count for name, count in counts if type(count) is int and count > 0}


class _Extra(NamedTuple):
    """The attribute of `DocumentContents` that it holds, and conversions of its value.

    read : also gets the ids of all objects
    """

    attribute: str
    write: Callable[[Any], Any]
    read: Callable[[Any, Collection[str]], Any]


_EXTRAS = {
    "partial": _Extra("partial", _write_partial, _read_partial),
    "straightBetweenFrames": _Extra("linear_ids", sorted, _read_ids),
    "playedInScene": _Extra("played", _write_played, _read_played),
    "vertexGroup": _Extra("vertex_group", str, lambda extra, _: extra if isinstance(extra, str) else None),
    "armatureRoots": _Extra("armature_roots", _write_roots, read_armature_roots),
    "skippedPairs": _Extra("skipped_pairs", lambda pairs: dict(sorted(pairs.items())), read_skipped_pairs),
}
