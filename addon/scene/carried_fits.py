"""One shape for each of many things, fitted once and then carried along by their matrices.

What moves, turns and grows evenly keeps the form of its vertices, and so its fit. Anything else, a shear that
changes or a box along the world's axes around something that turns, is fitted again. All vertices are inside
in every case: where a matrix in single precision is not quite a turn, the fit grows by that much.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..core import Aabb, CollisionBoundsError, Obb, Shape, Sphere, spheres_from_groups
from ..core.arrays import CHUNK_ROWS, Bools, Floats, Ints, length
from .extraction import Geometry
from .fitting import FitSettings, ShapeName, fitted, fitted_in_own_axes, padded
from .turns import evenness, orthonormal

_TURN = 1e-4
"""How far from a turn and an even scale the linear part of a motion may be for a fit to be carried."""

Groups: TypeAlias = tuple[Ints, Ints]
"""Indices of vertices group by group, and where the groups begin and end: the parts of a sphere tree."""


class CarriedFits:
    """Shapes of things 0 to n - 1, each of one part, of as many as its groups of vertices has, or of none.

    owners : (N,) the thing that each part belongs to
    fitted : (n,) which have a fit
    """

    def __init__(
        self, count: int, shape: ShapeName, settings: FitSettings, groups: list[Groups] | None, without: Ints
    ) -> None:
        """Of `count` things, `without` shapes for some."""
        self._shape = shape
        self._settings = settings
        self._groups = groups
        self._points: dict[int, NDArray[np.float32]] = {}
        self._stacks: dict[int, tuple[Ints, NDArray[np.float32]]] = {}
        parts = [1] * count if self._groups is None else [len(offsets) - 1 for _, offsets in self._groups]
        self._parts = np.array(parts, dtype=np.int64)
        self._parts[without] = 0
        self._first = np.cumsum(self._parts) - self._parts
        self.owners: Ints = np.repeat(np.arange(count), self._parts)
        total = len(self.owners)
        self.fitted: Bools = np.zeros(count, dtype=bool)
        # Where each was when it was fitted, and the fit around its origin.
        self._linear, self._inverse = np.zeros((count, 3, 3)), np.zeros((count, 3, 3))
        self._center, self._radius = np.zeros((total, 3)), np.zeros(total)
        self._low, self._high = np.zeros((total, 3)), np.zeros((total, 3))
        self._half, self._rotation = np.zeros((total, 3)), np.tile(np.eye(3), (total, 1, 1))

    def knows(self, index: int, points: NDArray[np.float32]) -> bool:
        """Whether a thing has been fitted to these vertices."""
        known = self._points.get(index)
        return known is not None and (known is points or np.array_equal(known, points))

    def forget(self, index: int) -> None:
        """Take a thing's fit back: its vertices are of no use any more."""
        self._points.pop(index, None)
        self._stacks.clear()
        self.fitted[index] = False

    def fit(self, index: int, geometry: Geometry) -> None:
        """Fit a thing anew. Raises what the fits raise, naming no thing."""
        linear = geometry.matrix[:3, :3]
        self._store(index, self._fitted(index, geometry.points, linear))
        if self._points.get(index) is not geometry.points:
            self._points[index] = geometry.points
            self._stacks.clear()
        self._linear[index] = linear
        self.fitted[index] = True
        with np.errstate(all="ignore"):
            try:
                inverse = np.linalg.inv(linear)
            except np.linalg.LinAlgError:
                inverse = np.zeros((3, 3))
        self._inverse[index] = inverse if np.isfinite(inverse).all() else 0.0

    def at(self, things: Ints, matrices: Floats) -> tuple[Shape, dict[int, CollisionBoundsError]]:
        """The shapes of all parts of things (m,) at world matrices (m, 4, 4), and what has no fit there."""
        linear, offset = matrices[:, :3, :3], matrices[:, :3, 3]
        turned = np.flatnonzero((linear != self._linear[things]).any(axis=(1, 2)))
        counts = self._parts[things]
        begin = np.cumsum(counts) - counts
        parts = np.repeat(self._first[things] - begin, counts) + np.arange(counts.sum())
        row = np.repeat(np.arange(len(things)), counts)
        numbers = self._numbers(parts)
        errors: dict[int, CollisionBoundsError] = {}
        again = turned
        if len(turned):
            if self._shape == "aabb":
                low, high = self._turned_boxes(things[turned], linear[turned])
                numbers["low"][begin[turned]], numbers["high"][begin[turned]] = low, high
                again = turned[:0]
            else:
                motion = linear[turned] @ self._inverse[things[turned]]
                scale, bent = evenness(motion)
                carried = bent < _TURN
                self._carry(numbers, row, turned[carried], motion[carried], scale[carried], bent[carried])
                again = turned[~carried]
        for k in again.tolist():
            try:
                fit = self._fitted(int(things[k]), self._points[int(things[k])], linear[k])
            except CollisionBoundsError as error:
                errors[int(things[k])] = error
                continue
            _put(numbers, slice(begin[k], begin[k] + counts[k]), fit)
        return self._moved(numbers, offset[row]), errors

    def _fitted(self, index: int, points: NDArray[np.float32], linear: Floats) -> Shape:
        """Without padding, around the thing's origin: a batch (parts,)."""
        world = points @ linear.T
        shape: Shape
        if self._shape == "spheres":
            assert self._groups is not None
            order, offsets = self._groups[index]
            if len(order) and len(points) > order.max():
                shape = spheres_from_groups(world[order], offsets)
            else:
                # Another mesh than the groups were made for: one sphere around all stands for each.
                whole = fitted(world, "sphere", self._settings.method)
                shape = whole.broadcast_to((len(offsets) - 1,))
        elif self._shape == "obb":
            shape = fitted_in_own_axes(world, linear).reshaped((1,))
        else:
            shape = fitted(world, self._shape, self._settings.method).reshaped((1,))
        # A negative padding must leave something.
        padded(shape, self._settings.padding)
        return shape

    def _store(self, index: int, shape: Shape) -> None:
        numbers = self._all_numbers()
        _put(numbers, slice(self._first[index], self._first[index] + self._parts[index]), shape)

    def _all_numbers(self) -> dict[str, Floats]:
        if self._shape == "aabb":
            return {"low": self._low, "high": self._high}
        if self._shape == "obb":
            return {"center": self._center, "half": self._half, "rotation": self._rotation}
        return {"center": self._center, "radius": self._radius}

    def _numbers(self, parts: Ints) -> dict[str, Floats]:
        return {name: values[parts] for name, values in self._all_numbers().items()}

    def _carry(
        self,
        numbers: dict[str, Floats],
        row: Ints,
        carried: Ints,
        motion: Floats,
        scale: Floats,
        bent: Floats,
    ) -> None:
        """Turn and scale the fits of things `carried`; `row` names the thing of each part."""
        place = np.full(int(row.max()) + 1, -1)
        place[carried] = np.arange(len(carried))
        parts = np.flatnonzero(place[row] >= 0)
        k = place[row[parts]]
        # What is not quite a turn may stretch by this much.
        stretch = scale[k] * np.sqrt(1 + bent[k]) * (1 + 1e-14)
        numbers["center"][parts] = (motion[k] @ numbers["center"][parts][..., None])[..., 0]
        if self._shape == "obb":
            half = numbers["half"][parts]
            numbers["rotation"][parts] = orthonormal(
                motion[k] / scale[k, None, None] @ numbers["rotation"][parts]
            )
            slack = 2 * bent[k] * length(half) + 1e-14 * length(numbers["center"][parts])
            numbers["half"][parts] = half * stretch[:, None] + (slack * scale[k])[:, None]
        else:
            slack = 1e-15 * length(numbers["center"][parts])
            numbers["radius"][parts] = numbers["radius"][parts] * stretch + slack

    def _turned_boxes(self, things: Ints, linear: Floats) -> tuple[Floats, Floats]:
        """Boxes (m, 3) along the world's axes around the vertices, those with equally many at once."""
        low, high = np.empty((len(things), 3)), np.empty((len(things), 3))
        if not self._stacks:
            counts = np.array([len(self._points.get(k, ())) for k in range(len(self._parts))])
            for count in np.unique(counts[counts > 0]).tolist():
                members = np.flatnonzero(counts == count)
                self._stacks[count] = members, np.stack([self._points[k].T for k in members.tolist()])
        for count, (members, stack) in self._stacks.items():
            rows = np.flatnonzero(np.isin(things, members))
            chunk = max(1, CHUNK_ROWS // count)
            for begin in range(0, len(rows), chunk):
                some = rows[begin : begin + chunk]
                points = stack[np.searchsorted(members, things[some])].astype(np.float64)
                world = linear[some] @ points
                low[some], high[some] = world.min(axis=-1), world.max(axis=-1)
        return low, high

    def _moved(self, numbers: dict[str, Floats], offset: Floats) -> Shape:
        padding = self._settings.padding
        shape: Shape
        if self._shape == "aabb":
            shape = Aabb.trusted(numbers["low"] + offset, numbers["high"] + offset)
        elif self._shape == "obb":
            shape = Obb.trusted(numbers["center"] + offset, numbers["half"], numbers["rotation"])
        else:
            shape = Sphere.trusted(numbers["center"] + offset, numbers["radius"])
        return padded(shape, padding)


def _put(numbers: dict[str, Floats], where: slice, shape: Shape) -> None:
    for values, name in zip(numbers.values(), shape.tails, strict=True):
        values[where] = getattr(shape, name)
