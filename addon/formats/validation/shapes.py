"""Consistency of the shapes of an object: all enclose the same points, and closely.

The checks are independent of padding, which moves all faces by the same distance and can be negative: boxes
are compared along common axes, and with spheres along the axes of the box.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.numeric.arrays import Bools, Floats
from ..spaces import matrix_from_quaternion
from .enclosures import enclosure_problems

_NAMES = ("world.aabb", "world.obb", "world.sphere", "local.aabb", "local.obb", "local.sphere")
_IS_WORLD = np.array([name.startswith("world") for name in _NAMES])

# Half a side or a lost sign is more than this; errors of rounding, and of nine decimals, are less.
_SIZE_TOLERANCE, _POSITION_TOLERANCE = 1e-3, 1e-8
# An envelope encloses what is in both box and sphere: with negative padding that is a little less than each.
_ENVELOPE_TOLERANCE = 5e-2
_LEAST_DECIMALS, _MOST_NUMBERS = 3, 0.95
_PARALLEL_TOLERANCE = 1e-6


def shape_problems(document: Mapping[str, Any]) -> list[str]:
    """Find contradictions between shapes, each as "path: problem".

    Parameters
    ----------
    document : mapping of str to Any
        Correct in all other respects.

    Returns
    -------
    problems : list of str
    """
    # Numbers can be as large as float64 allows.
    with np.errstate(over="ignore", invalid="ignore"):
        return [
            *_object_problems(document),
            *_track_problems(document),
            *enclosure_problems(document, _rounding_step(document)),
        ]


def _object_problems(document: Mapping[str, Any]) -> Iterator[str]:
    """Objects whose shapes contradict each other or their envelope."""
    objects, step = document["objects"], _rounding_step(document)
    if not objects:
        return
    solids = _Solids.of_objects(objects)
    wrong = solids.excess(solids) > solids.slack(step, _SIZE_TOLERANCE)[:, :, None]
    for index in np.flatnonzero(wrong.any(axis=(1, 2))).tolist():
        yield f"objects[{index}].{_contradiction(wrong[index] | wrong[index].T)}"
    for index in np.flatnonzero(solids.is_askew()).tolist():
        yield f"objects[{index}].world.obb.rotation: is not that of local.obb, the object or the world"
    envelopes = _read_solids([entry.get("envelope", {}) for entry in objects])
    excess = envelopes.excess(envelopes)
    is_contradictory = (excess > envelopes.slack(step, _ENVELOPE_TOLERANCE)[:, :, None]).any(axis=(1, 2))
    for index in np.flatnonzero(is_contradictory).tolist():
        yield f"objects[{index}].envelope: its box and sphere cannot enclose the same object"
    if _is_envelope_frame(document["time"]):
        yield from _local_envelope_problems(objects, step)
        is_outside = solids.is_out_of_envelope(envelopes, step)[:, _IS_WORLD]
        linear_ids = document["extras"].get("straightBetweenFrames", ())
        # Shapes around a bone at all frames are larger than the bone at one, around which the envelope is.
        is_outside[[bool(entry.get("allFrames")) for entry in objects]] = False
        for index in np.flatnonzero(is_outside.any(axis=(1, 2)) & ~is_contradictory).tolist():
            # A simulated object can be elsewhere when its frame is evaluated a second time.
            if not isinstance(linear_ids, Collection) or objects[index]["id"] not in linear_ids:
                yield f"objects[{index}].envelope: does not enclose the world shapes at one of its frames"


def _local_envelope_problems(objects: Sequence[Mapping[str, Any]], step: float) -> Iterator[str]:
    """Local shapes at one of the frames that are not in the envelope in their axes."""
    solids = _read_solids([entry["local"] for entry in objects])
    envelopes = _read_solids([entry.get("envelope", {}).get("local", {}) for entry in objects])
    is_outside = solids.is_out_of_envelope(envelopes, step)
    for index in np.flatnonzero(is_outside.any(axis=(1, 2))).tolist():
        yield f"objects[{index}].envelope.local: does not enclose the local shapes at one of its frames"


def _track_problems(document: Mapping[str, Any]) -> Iterator[str]:
    """Tracks that contradict themselves or the envelope of their object."""
    by_id = {entry["id"]: entry for entry in document["objects"]}
    time, step = document["time"], _rounding_step(document)
    for number, track in enumerate(document["tracks"]):
        path, frames = f"tracks[{number}]", track["frames"]
        if not frames:
            continue
        if not time["frameStart"] <= frames[0] <= frames[-1] <= time["frameEnd"]:
            yield f"{path}.frames: must be from frameStart to frameEnd"
        solids = _Solids.of_track(track)
        wrong = solids.excess(solids) > solids.slack(step, _SIZE_TOLERANCE)[:, :, None]
        envelope = _read_solids([by_id[track["object"]].get("envelope", {})])
        is_outside = solids.is_out_of_envelope(envelope, step)
        for is_bad, problem in (
            (wrong, "box and sphere cannot enclose the same object"),
            (is_outside, "is not in the envelope of its object"),
        ):
            if is_bad.any():
                yield f"{path}: at frame {frames[int(is_bad.any(axis=(1, 2)).argmax())]:g} {problem}"
                break


class _Solids:
    """Boxes and spheres of n objects, k of each object, in one space; NaN for missing shapes.

    Attributes
    ----------
    center : (n, k, 3) float
    axes : (n, k, 3, 3) float
        Axes as rows.
    half : (n, k, 3) float
        Half extents along the axes; 0 for spheres.
    radius : (n, k) float
        0 for boxes.
    """

    def __init__(self, center: Floats, axes: Floats, half: Floats, radius: Floats) -> None:
        self.center, self.axes, self.half, self.radius = center, axes, half, radius

    @classmethod
    def of_objects(cls, objects: Sequence[Mapping[str, Any]]) -> _Solids:
        """Read six shapes of each object, as in _NAMES; local ones are converted to world space."""
        world = _read_solids([entry["world"] for entry in objects])
        local = _read_solids([entry["local"] for entry in objects])
        rotations = np.array([entry["transform"]["rotation"] for entry in objects], dtype=np.float64)
        rotation = matrix_from_quaternion(rotations.reshape(-1, 4)).swapaxes(1, 2)
        position = np.array([entry["transform"]["translation"] for entry in objects], dtype=np.float64)
        local.center = np.einsum("nji,nkj->nki", rotation, local.center) + position[:, None]
        local.axes = np.einsum("nkaj,nji->nkai", local.axes, rotation)
        pairs = zip(world._arrays, local._arrays, strict=True)
        return cls(*(np.concatenate(pair, axis=1) for pair in pairs))

    @classmethod
    def of_track(cls, track: Mapping[str, Any]) -> _Solids:
        """Read a box and a sphere of each frame, with frames in place of objects."""
        count = len(track["frames"])
        center, half = np.full((count, 2, 3), np.nan), np.zeros((count, 2, 3))
        radius = np.zeros((count, 2))
        if boxes := track.get("aabb"):
            low, high = (np.array(boxes[key], dtype=np.float64) for key in ("mins", "maxs"))
            center[:, 0], half[:, 0] = low / 2 + high / 2, high / 2 - low / 2
        if spheres := track.get("sphere"):
            center[:, 1], radius[:, 1] = spheres["centers"], spheres["radii"]
        return cls(center, np.broadcast_to(np.eye(3), (count, 2, 3, 3)), half, radius)

    @property
    def _arrays(self) -> tuple[Floats, Floats, Floats, Floats]:
        return self.center, self.axes, self.half, self.radius

    def is_askew(self) -> Bools:
        """Return which oriented boxes (n,) in world space have other axes than all of these: the box in local
        space, the object, the world.
        """
        is_along = np.zeros(len(self.center), dtype=bool)
        for k in (4, 3, 0):
            is_along |= _are_parallel(np.abs(np.einsum("nai,nbi->nab", self.axes[:, 1], self.axes[:, k])))
        askew: Bools = np.isfinite(self.center[:, 1, 0]) & ~is_along
        return askew

    def slack(self, step: float, size_tolerance: float) -> Floats:
        """Largest distance (n, k) by which each shape can exceed another without a contradiction."""
        size = self.half.max(axis=-1) + self.radius
        position = np.abs(self.center).max(axis=-1)
        slack: Floats = 8 * step + size_tolerance * size + _POSITION_TOLERANCE * (position + size)
        return slack

    def excess(self, targets: _Solids) -> Floats:
        """Least distance (n, k, m) by which each shape exceeds each target shape of its object.

        Boxes are compared with boxes of common axes and with spheres, spheres with spheres; NaN elsewhere.
        """
        offset = targets.center[:, None] - self.center[:, :, None]
        along = np.abs(np.einsum("nkai,nkmi->nkma", self.axes, offset))
        beyond = along + self.half[:, :, None] - targets.radius[:, None, :, None]
        # Absolute cosines of the angles between the axes of both.
        cosines = np.abs(np.einsum("nkai,nmbi->nkmab", self.axes, targets.axes))
        beyond -= np.einsum("nkmab,nmb->nkma", cosines, targets.half)
        box_excess: Floats = beyond.max(axis=-1)
        distance = np.sqrt((offset**2).sum(axis=-1))
        sphere_excess = self.radius[:, :, None] - targets.radius[:, None] - distance
        is_sphere, is_target_sphere = (solids.radius > 0 for solids in (self, targets))
        excess = np.where(is_sphere[:, :, None], sphere_excess, box_excess)
        is_comparable = np.where(
            is_sphere[:, :, None],
            is_target_sphere[:, None],
            is_target_sphere[:, None] | _are_parallel(cosines),
        )
        return np.where(is_comparable, excess, np.nan)

    def is_out_of_envelope(self, envelope: _Solids, step: float) -> Bools:
        """Return which shapes are boxes that exceed the envelopes of their object, (n, k, m)."""
        is_outside = self.excess(envelope) > self.slack(step, _ENVELOPE_TOLERANCE)[:, :, None]
        is_outside_box: Bools = is_outside & (self.radius == 0)[:, :, None]
        return is_outside_box


def _read_solids(groups: Sequence[Mapping[str, Any]]) -> _Solids:
    """Box, oriented box and sphere of each group of shapes."""
    count = len(groups)
    center, half = np.full((count, 3, 3), np.nan), np.zeros((count, 3, 3))
    quaternions, radius = np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)), np.zeros((count, 3))
    for row, group in enumerate(groups):
        if box := group.get("aabb"):
            low, high = (np.array(box[key], dtype=np.float64) for key in ("min", "max"))
            center[row, 0], half[row, 0] = low / 2 + high / 2, high / 2 - low / 2
        if oriented := group.get("obb"):
            center[row, 1], half[row, 1] = oriented["center"], oriented["halfExtents"]
            quaternions[row] = oriented["rotation"]
        if sphere := group.get("sphere"):
            center[row, 2], radius[row, 2] = sphere["center"], sphere["radius"]
    axes = np.broadcast_to(np.eye(3), (count, 3, 3, 3)).copy()
    axes[:, 1] = matrix_from_quaternion(quaternions).swapaxes(1, 2)
    return _Solids(center, axes, half, radius)


def _are_parallel(cosines: Floats) -> Bools:
    """Return whether two sets of axes are equal in any order: all absolute cosines (..., 3, 3) are 0 or 1."""
    parallel: Bools = (np.minimum(cosines, np.abs(1 - cosines)) < _PARALLEL_TOLERANCE).all(axis=(-1, -2))
    return parallel


def _contradiction(wrong: Bools) -> str:
    """Name the shape that contradicts most others, or the transform.

    The transform is wrong if the world shapes agree with each other, the local ones too, and no shape takes
    part in half of the contradictions.

    wrong : (6, 6), symmetric, whether two shapes contradict each other; ordered as _NAMES
    """
    if not wrong[np.ix_(_IS_WORLD, _IS_WORLD)].any() and not wrong[np.ix_(~_IS_WORLD, ~_IS_WORLD)].any():
        counts = wrong.sum(axis=1)
        if counts.max() < counts.sum() / 2:
            return "transform: does not map the local shapes to the world shapes"
    worst = int(wrong.sum(axis=1).argmax())
    contradicted = ", ".join(name for name, is_wrong in zip(_NAMES, wrong[worst], strict=True) if is_wrong)
    return f"{_NAMES[worst]}: cannot enclose the same object as {contradicted}"


def _is_envelope_frame(time: Mapping[str, float]) -> bool:
    """Return whether the envelopes were sampled at the frame of the objects' shapes."""
    reference, start, end, step = (
        float(time[key]) for key in ("referenceFrame", "frameStart", "frameEnd", "frameStep")
    )
    if not start <= reference <= end or math.isinf(end - start):
        return False
    return reference == end or abs(math.remainder(reference - start, step)) < 1e-9


def _rounding_step(document: Mapping[str, Any]) -> float:
    """Estimate the step that lengths were rounded to: a unit of the last decimal, or a larger one before.

    A document can have been read from one with fewer decimals in another unit, such as meters instead of
    centimeters. Its numbers are then multiples of a larger step, up to its own last decimal.

    Parameters
    ----------
    document : mapping of str to Any
        Correct by the schema.

    Returns
    -------
    step : float
        In the document's unit.
    """
    values = np.array(list(_lengths(document)), dtype=np.float64)
    least = _MOST_NUMBERS * len(values)
    decimals = next(
        (
            decimals
            for decimals in range(_LEAST_DECIMALS, 9)
            if np.count_nonzero(np.around(values, decimals) == values) >= least
        ),
        9,
    )
    step, space = 10.0**-decimals, document["space"]
    meter, unit = 1 / space["metersPerUnit"], max(map(abs, space["fromBlender"]))
    for earlier_decimals in range(_LEAST_DECIMALS, decimals + 1):
        earlier = 10.0**-earlier_decimals * max(meter, unit)
        away = np.abs(values - np.rint(values / earlier) * earlier)
        if step < earlier and (earlier <= 20 * step or np.count_nonzero(away <= 1.01 * step) >= least):
            return float(earlier)
    return step


def _lengths(document: Mapping[str, Any]) -> Iterator[float]:
    """Yield the lengths of boxes and spheres; where there are none, of hulls and trees, or of parts."""
    groups = [group for entry in document["objects"] for group in (entry["world"], entry["local"])]
    parts = [part for group in groups for part in group.get("compound", ())]
    for names, holders in (
        (("aabb", "obb", "sphere"), groups),
        (("hull", "spheres"), groups),
        (("hull", "obb", "sphere"), parts),
    ):
        count = 0
        for group in holders:
            for name in names:
                shapes = group.get(name, {})
                for shape in shapes if isinstance(shapes, list) else [shapes]:
                    for key, value in shape.items():
                        if key not in ("rotation", "faces", "children"):
                            numbers = np.ravel(value).tolist()
                            count += len(numbers)
                            yield from numbers
        if count:
            return
