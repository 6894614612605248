"""Links of a document: one for each object, with its name, pose and shapes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....core import CollisionBoundsError, InvalidShapeError, NonFiniteGeometryError
from ....core.messages import message
from ....core.numeric.arrays import require_finite
from ...document.model import DEFAULT_RESPONSE, CollisionResponse, response_of
from ...shape_members import read_placement
from ...spaces import Convention
from .link_shapes import LinkFormat, LinkFrame, LinkShape, frame_below, geometry_of, shapes_in_link
from .text import indented, link_names

ROBOTICS_SPACE = Convention("custom", "+Z", "-Y", "right", 1.0)
"""Blender's axes, in meters."""

_CUSTOM_SHAPE = re.compile(r"/shape\.\d+$")
"""End of the id and of the name of one of several custom shapes of an object."""

MAX_LEVELS = 60
"""Largest number of ancestors of a link. Readers limit the nesting of elements: MuJoCo to 500."""


class RoboticsError(CollisionBoundsError):
    """The document cannot be converted to a file for robots and simulators."""


@dataclass(frozen=True)
class Link:
    """An object as a link, body or prim.

    name : See `link_names`.
    object_name, id : Of the object in the document.
    path : Indices of the links above, and of itself.
    shapes : In the link's frame; none if the response is "none".
    """

    name: str
    object_name: str
    id: str
    path: tuple[int, ...]
    frame: LinkFrame
    shapes: tuple[LinkShape, ...]
    response: CollisionResponse = DEFAULT_RESPONSE

    @property
    def parent(self) -> int | None:
        return self.path[-2] if len(self.path) > 1 else None


def links_from_document(document: dict[str, Any], format: LinkFormat) -> list[Link]:
    """Convert the objects of a document to links, in the same order.

    document : In ROBOTICS_SPACE.
    format : The format of the file. An object without any of its shapes becomes a link without shapes.
    Returns links : list of Link. Empty for a document without objects.
    Raises RoboticsError: for a document in another space, one whose objects have none of these shapes, and
        for numbers that overflow.
    """
    label = format.label
    space = document["space"]
    declared = tuple(space[key] for key in ("up", "forward", "handedness", "metersPerUnit"))
    if declared != ("+Z", "-Y", "right", 1):
        raise RoboticsError(f"{label} needs a document in meters, right-handed, with Z up and -Y forward")
    objects = _objects_with_entries(document["objects"])
    entries = [each[0] for _, each in objects]
    rows = {entry["id"]: row for row, (_, of_object) in enumerate(objects) for entry in of_object}
    parents = [rows.get(entry["parent"]) for entry in entries]
    frames: dict[int | None, LinkFrame] = {}
    paths: dict[int | None, tuple[int, ...]] = {None: ()}
    for row in _parents_first(parents):
        above = paths[parents[row]][:MAX_LEVELS]
        parent, paths[row] = above[-1] if above else None, (*above, row)
        with np.errstate(over="ignore", invalid="ignore"):  # infinity is found later
            frames[row] = frame_below(frames.get(parent), *read_placement(entries[row]))
    links, has_shapes = [], False
    names = link_names(name for name, _ in objects)
    for row, (name, (object_name, of_object)) in enumerate(zip(names, objects, strict=True)):
        frame = frames[row]
        shapes: tuple[LinkShape, ...] = ()
        for entry in of_object:
            try:
                shapes += shapes_in_link(entry, frame, format)
                _require_finite(frame, shapes)
            except (InvalidShapeError, NonFiniteGeometryError):
                text = "object {name!r}: is too large, or too far from the origin, for {format}"
                raise RoboticsError(message(text, name=entry["name"], format=label)) from None
        has_shapes = has_shapes or bool(shapes)
        response = response_of(entries[row])
        shapes = () if response.response == "none" else shapes
        links.append(Link(name, object_name, entries[row]["id"], paths[row], frame, shapes, response))
    if links and not has_shapes:
        text = "{format} needs one of {shapes}, and no object has one"
        raise RoboticsError(message(text, format=label, shapes=", ".join(sorted(format.shapes))))
    return links


def nested_text(
    links: Sequence[Link], lines: Callable[[Link], Iterable[str]], end: str, levels: int
) -> Iterator[str]:
    """Yield the text of each link, then that of the links below it, then its end.

    lines : Returns the lines of a link but its end.
    end : Last line of a link.
    levels : By which links without a parent are indented.
    """
    in_order = sorted(links, key=lambda link: link.path)
    next_levels = [*(link.frame.level for link in in_order[1:]), 0]
    for link, next_level in zip(in_order, next_levels, strict=False):
        yield indented(lines(link), link.frame.level + levels)
        for level in range(link.frame.level, next_level - 1, -1):
            yield indented([end], level + levels)


def groups_that_meet(links: Iterable[Link]) -> dict[int, int]:
    """Return the groups that each collision group of solid links collides with, as a mask.

    Two groups meet if a link of each has the other group in its mask.

    links : Those without shapes, and triggers, are ignored.
    Returns masks : dict of int to int. By group: bit k is that of group k + 1. Empty if all links have the
        default group and mask.
    """
    masks: dict[int, int] = {}
    for link in links:
        if link.shapes and link.response.response == "solid":
            masks[link.response.group] = masks.get(link.response.group, 0) | link.response.mask
    if masks == {DEFAULT_RESPONSE.group: DEFAULT_RESPONSE.mask}:
        return {}
    return {
        group: sum(
            1 << other - 1 for other in masks if mask >> other - 1 & 1 and masks[other] >> group - 1 & 1
        )
        for group, mask in masks.items()
    }


def _objects_with_entries(entries: Iterable[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the objects with their names, in order. Several custom shapes are entries of one object."""
    groups: dict[tuple[str, ...], tuple[str, list[dict[str, Any]]]] = {}
    for entry in entries:
        key: tuple[str, ...] = (entry["id"],)
        name = entry["name"]
        if "override" in entry and _CUSTOM_SHAPE.search(entry["id"]) and _CUSTOM_SHAPE.search(name):
            key = _CUSTOM_SHAPE.sub("", entry["id"]), repr(entry["transform"])
            name = _CUSTOM_SHAPE.sub("", name)
        groups.setdefault(key, (name, []))[1].append(entry)
    return list(groups.values())


def _parents_first(parents: list[int | None]) -> list[int]:
    """Return all rows, each after its parent. A circle of parents, which is no valid document, is opened."""
    order: dict[int, None] = {}
    for row in range(len(parents)):
        path: dict[int, None] = {}
        above: int | None = row
        while above is not None and above not in order and above not in path:
            path[above] = None
            above = parents[above]
        if above in path:
            parents[next(reversed(path))] = None
        order.update(dict.fromkeys(reversed(path)))
    return list(order)


def _require_finite(frame: LinkFrame, shapes: Iterable[LinkShape]) -> None:
    numbers = [frame.offset, frame.quaternion]
    for kind, *pose, sizes in map(geometry_of, shapes):
        numbers += [*pose, sizes.vertices if kind == "mesh" else sizes]
    for values in numbers:
        require_finite(values, "link")
