"""Where the shapes of a document contradict each other: all of one object hold the same things, and closely.

Nothing here depends on padding, which moves all faces alike and may be negative: boxes are compared where
their axes are the same, and with spheres along their own axes.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.arrays import Bools
from .spaces import Floats, matrix_of

_NAMES = ("world.aabb", "world.obb", "world.sphere", "local.aabb", "local.obb", "local.sphere")
_WORLD = np.array([name.startswith("world") for name in _NAMES])

# A halved side or a lost sign is more than that; what rounding and a turn of nine decimals do is less.
_OF_SIZE, _OF_PLACE = 1e-3, 1e-8
# Envelopes hold what is in both box and sphere: of shapes that were shrunk, a little less than each.
_OF_ENVELOPE = 5e-2
_LEAST_DECIMALS, _NEARLY_ALL = 3, 0.95
_PARALLEL = 1e-6


def shape_problems(document: Mapping[str, Any]) -> list[str]:
    """What is wrong with shapes, each as "path: problem", in a document that is correct otherwise."""
    # Numbers may be as large as there are.
    with np.errstate(over="ignore", invalid="ignore"):
        return [*_object_problems(document), *_track_problems(document)]


def _object_problems(document: Mapping[str, Any]) -> Iterator[str]:
    """Objects whose shapes cannot all be right."""
    objects, step = document["objects"], _step(document)
    if not objects:
        return
    solids = _Solids.of_objects(objects)
    wrong = solids.excess(solids) > solids.slack(step, _OF_SIZE)[:, :, None]
    for index in np.flatnonzero(wrong.any(axis=(1, 2))).tolist():
        yield f"objects[{index}].{_culprit(wrong[index] | wrong[index].T)}"
    for index in np.flatnonzero(solids.is_askew()).tolist():
        yield f"objects[{index}].world.obb.rotation: is along neither the object's axes nor the world's"
    swept = _read([entry.get("envelope", {}) for entry in objects])
    inside_out = (swept.excess(swept) > swept.slack(step, _OF_ENVELOPE)[:, :, None]).any(axis=(1, 2))
    for index in np.flatnonzero(inside_out).tolist():
        yield f"objects[{index}].envelope: its box and sphere cannot hold the same things"
    if _is_sampled(document["time"]):
        outside = solids.is_out_of_envelope(swept, step)[:, _WORLD]
        straight = document["extras"].get("straightBetweenFrames", ())
        for index in np.flatnonzero(outside.any(axis=(1, 2)) & ~inside_out).tolist():
            # What was simulated on the way may be elsewhere when its frame is gone to.
            if not isinstance(straight, Collection) or objects[index]["id"] not in straight:
                yield f"objects[{index}].envelope: does not hold the world shapes at one of its frames"


def _track_problems(document: Mapping[str, Any]) -> Iterator[str]:
    """Tracks that contradict themselves or the envelope of their object."""
    by_id = {entry["id"]: entry for entry in document["objects"]}
    time, step = document["time"], _step(document)
    for number, track in enumerate(document["tracks"]):
        path, frames = f"tracks[{number}]", track["frames"]
        if not frames:
            continue
        if not time["frameStart"] <= frames[0] <= frames[-1] <= time["frameEnd"]:
            yield f"{path}.frames: are not from frameStart to frameEnd"
        played = _Solids.of_track(track)
        wrong = played.excess(played) > played.slack(step, _OF_SIZE)[:, :, None]
        swept = _read([by_id[track["object"]].get("envelope", {})])
        outside = played.is_out_of_envelope(swept, step)
        for found, problem in (
            (wrong, "box and sphere cannot hold the same things"),
            (outside, "is not in the envelope of its object"),
        ):
            if found.any():
                yield f"{path}: at frame {frames[int(found.any(axis=(1, 2)).argmax())]:g} {problem}"
                break


class _Solids:
    """Boxes and spheres of n objects, k of each, in one space; what is not there is not a number.

    center (n, k, 3), axes (n, k, 3, 3) in rows, half (n, k, 3) along them, radius (n, k)

    A sphere has no `half`, and a box no `radius`.
    """

    def __init__(self, center: Floats, axes: Floats, half: Floats, radius: Floats) -> None:
        self.center, self.axes, self.half, self.radius = center, axes, half, radius

    @classmethod
    def of_objects(cls, objects: Sequence[Mapping[str, Any]]) -> _Solids:
        """Six of each, as in _NAMES; local ones where their object is."""
        world = _read([entry["world"] for entry in objects])
        local = _read([entry["local"] for entry in objects])
        rotations = np.array([entry["transform"]["rotation"] for entry in objects], dtype=np.float64)
        turn = matrix_of(rotations.reshape(-1, 4)).swapaxes(1, 2)
        place = np.array([entry["transform"]["translation"] for entry in objects], dtype=np.float64)
        local.center = np.einsum("nji,nkj->nki", turn, local.center) + place[:, None]
        local.axes = np.einsum("nkaj,nji->nkai", local.axes, turn)
        pairs = zip(world._parts, local._parts, strict=True)
        return cls(*(np.concatenate(pair, axis=1) for pair in pairs))

    @classmethod
    def of_track(cls, track: Mapping[str, Any]) -> _Solids:
        """A box and a sphere each frame, as if frames were objects."""
        count = len(track["frames"])
        center, half = np.full((count, 2, 3), np.nan), np.zeros((count, 2, 3))
        radius = np.zeros((count, 2))
        if boxes := track.get("aabb"):
            low, high = (np.array(boxes[key], dtype=np.float64) for key in ("mins", "maxs"))
            center[:, 0], half[:, 0] = low / 2 + high / 2, high / 2 - low / 2
        if balls := track.get("sphere"):
            center[:, 1], radius[:, 1] = balls["centers"], balls["radii"]
        return cls(center, np.broadcast_to(np.eye(3), (count, 2, 3, 3)), half, radius)

    @property
    def _parts(self) -> tuple[Floats, Floats, Floats, Floats]:
        return self.center, self.axes, self.half, self.radius

    def is_askew(self) -> Bools:
        """(n,) whether a world box has axes of its own, of objects as in `of_objects`."""
        object_axes, own, world_axes = (self.axes[:, k] for k in (3, 1, 0))
        along = [
            _are_parallel(np.abs(np.einsum("nai,nbi->nab", own, axes))) for axes in (object_axes, world_axes)
        ]
        found: Bools = np.isfinite(self.center[:, 1, 0]) & ~along[0] & ~along[1]
        return found

    def slack(self, step: float, of_size: float) -> Floats:
        """(n, k) how far each may stick out of another without contradicting it."""
        size = self.half.max(axis=-1) + self.radius
        place = np.abs(self.center).max(axis=-1)
        found: Floats = 8 * step + of_size * size + _OF_PLACE * (place + size)
        return found

    def excess(self, others: _Solids) -> Floats:
        """(n, k, m) how far each sticks out of each of the others of its object, for sure; NaN where none is.

        Boxes out of boxes along common axes and out of spheres along their own; spheres out of spheres.
        """
        away = others.center[:, None] - self.center[:, :, None]
        along = np.abs(np.einsum("nkai,nkmi->nkma", self.axes, away))
        beyond = along + self.half[:, :, None] - others.radius[:, None, :, None]
        # How much of each axis of the other is along each of one's own.
        common = np.abs(np.einsum("nkai,nmbi->nkmab", self.axes, others.axes))
        parallel = _are_parallel(common)
        beyond -= np.einsum("nkmab,nmb->nkma", common, others.half)
        found: Floats = beyond.max(axis=-1)
        is_ball, is_other_ball = (solids.radius > 0 for solids in (self, others))
        balls = self.radius[:, :, None] - others.radius[:, None] - np.sqrt((away**2).sum(axis=-1))
        found = np.where(is_ball[:, :, None], balls, found)
        known = np.where(is_ball[:, :, None], is_other_ball[:, None], is_other_ball[:, None] | parallel)
        return np.where(known, found, np.nan)

    def is_out_of_envelope(self, envelope: _Solids, step: float) -> Bools:
        """(n, k, m) whether each box sticks out of the envelopes of its object."""
        outside = self.excess(envelope) > self.slack(step, _OF_ENVELOPE)[:, :, None]
        found: Bools = outside & (self.radius == 0)[:, :, None]
        return found


def _read(groups: Sequence[Mapping[str, Any]]) -> _Solids:
    """Box, oriented box and sphere of each group of shapes."""
    count = len(groups)
    center, half = np.full((count, 3, 3), np.nan), np.zeros((count, 3, 3))
    turns, radius = np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)), np.zeros((count, 3))
    for row, group in enumerate(groups):
        if box := group.get("aabb"):
            low, high = (np.array(box[key], dtype=np.float64) for key in ("min", "max"))
            center[row, 0], half[row, 0] = low / 2 + high / 2, high / 2 - low / 2
        if turned := group.get("obb"):
            center[row, 1], half[row, 1] = turned["center"], turned["halfExtents"]
            turns[row] = turned["rotation"]
        if ball := group.get("sphere"):
            center[row, 2], radius[row, 2] = ball["center"], ball["radius"]
    axes = np.broadcast_to(np.eye(3), (count, 3, 3, 3)).copy()
    axes[:, 1] = matrix_of(turns).swapaxes(1, 2)
    return _Solids(center, axes, half, radius)


def _are_parallel(common: Floats) -> Bools:
    """Whether axes that have so much in common (..., 3, 3) are the same, in any order: all ones and zeros."""
    found: Bools = (np.minimum(common, np.abs(1 - common)) < _PARALLEL).all(axis=(-1, -2))
    return found


def _culprit(wrong: Bools) -> str:
    """Which of the six is wrong, by those that it contradicts (6, 6), and what is wrong with it."""
    if not wrong[np.ix_(_WORLD, _WORLD)].any() and not wrong[np.ix_(~_WORLD, ~_WORLD)].any():
        others = wrong.sum(axis=1)
        if others.max() < others.sum() / 2:
            return "transform: does not take the local shapes to where the world ones are"
    worst = int(wrong.sum(axis=1).argmax())
    others = ", ".join(name for name, apart in zip(_NAMES, wrong[worst], strict=True) if apart)
    return f"{_NAMES[worst]}: cannot hold the same things as {others}"


def _is_sampled(time: Mapping[str, float]) -> bool:
    """Whether an envelope was looked at where the shapes of the objects are."""
    reference, start, end, step = (
        float(time[key]) for key in ("referenceFrame", "frameStart", "frameEnd", "frameStep")
    )
    if not start <= reference <= end or math.isinf(end - start):
        return False
    return reference == end or abs(math.remainder(reference - start, step)) < 1e-9


def _step(document: Mapping[str, Any]) -> float:
    """What lengths seem to be rounded to: the last decimal that nearly all numbers of shapes have."""
    numbers = [
        value
        for entry in document["objects"]
        for group in (entry["world"], entry["local"])
        for name in ("aabb", "obb", "sphere")
        for key, told in group.get(name, {}).items()
        if key != "rotation"
        for value in (told if isinstance(told, list) else [told])
    ]
    values = np.array(numbers, dtype=np.float64)
    for decimals in range(_LEAST_DECIMALS, 9):
        if np.count_nonzero(np.around(values, decimals) == values) >= _NEARLY_ALL * len(values):
            return 10.0**-decimals
    return 1e-9
