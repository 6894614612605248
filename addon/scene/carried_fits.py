"""One shape for each of many things, fitted once and then carried along by their matrices.

What moves, turns and grows evenly keeps the form of its vertices, and so its fit. Anything else, a shear that
changes or a box along the world's axes around something that turns, is fitted again. All vertices are inside
in every case: where a matrix in single precision is not quite a turn, the fit grows by that much.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core import Aabb, CollisionBoundsError, Obb, Shape, Sphere
from ..core.arrays import Bools, Floats, Ints, length, transform_vectors
from .extraction import Geometry
from .fitting import (
    FitSettings,
    Groups,
    ShapeName,
    alike,
    fitted_around_origins,
    in_batches,
    nothing_left,
    padded,
)
from .turns import evenness, inverses, products, turned
from .vertex_stacks import VertexStacks

_TURN = 1e-4
"""How far from a turn and an even scale the linear part of a motion may be for a fit to be carried."""

_NONE = np.empty(0, dtype=np.int64)

_Number = TypeVar("_Number", np.int64, np.float64)


class CarriedFits:
    """Shapes of things 0 to n - 1, each of one part, of as many as its groups of vertices has, or of none.

    owners : (N,) the thing that each part belongs to
    fitted : (n,) which have a fit
    """

    def __init__(
        self,
        count: int,
        shape: ShapeName,
        settings: FitSettings | Sequence[FitSettings],
        groups: list[Groups] | None,
        without: Ints,
    ) -> None:
        """Of `count` things, `without` shapes for some.

        settings : of all things, or of each; the axes of oriented boxes are the things' own unless "world"
        """
        self._shape = shape
        self._settings = [settings] * count if isinstance(settings, FitSettings) else list(settings)
        # One number, as long as all have the same.
        self._padding: float | Floats = np.array([own.padding for own in self._settings])
        if (self._padding == self._padding[:1]).all():
            self._padding = float(self._padding[0]) if count else 0.0
        self._along_world = np.array([own.axes == "world" for own in self._settings], dtype=bool)
        self._radii = np.zeros(count)
        self._has_balls = False
        self._groups = groups
        self._points: dict[int, NDArray[np.float32]] = {}
        self._stacks: VertexStacks | None = None
        parts = [1] * count if self._groups is None else [len(offsets) - 1 for _, offsets in self._groups]
        self._parts = np.array(parts, dtype=np.int64)
        self._parts[without] = 0
        self._first = np.cumsum(self._parts) - self._parts
        self._is_whole = bool((self._parts == 1).all())
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

    def fit(self, things: Sequence[int], geometries: Sequence[Geometry]) -> dict[int, CollisionBoundsError]:
        """Fit things anew, and say why those have no fit any more that cannot be fitted."""
        linear = np.array([geometry.matrix[:3, :3] for geometry in geometries]).reshape(-1, 3, 3)
        points = [geometry.points for geometry in geometries]
        index = np.array(things, dtype=np.int64)
        self._radii[index] = [geometry.radius for geometry in geometries]
        self._has_balls = bool(self._radii.any())
        errors: dict[int, CollisionBoundsError] = {}
        for some, shape in self._fitted(index, points, linear, errors):
            fitted = index[some]
            for values, name in zip(self._all_numbers().values(), shape.tails, strict=True):
                values[self._parts_of(fitted)] = getattr(shape, name)
            self._linear[fitted] = linear[some]
            self._inverse[fitted] = inverses(linear[some])
            self.fitted[fitted] = True
        for thing, own in zip(things, points, strict=True):
            if thing in errors:
                self._points.pop(thing, None)
                self.fitted[thing] = False
            elif self._points.get(thing) is not own:
                self._points[thing] = own
                self._stacks = None
        return errors

    def at(self, things: Ints, matrices: Floats) -> tuple[Shape, dict[int, CollisionBoundsError]]:
        """The shapes of all parts of things (m,) at world matrices (m, 4, 4), and what has no fit there."""
        linear, offset = matrices[:, :3, :3], matrices[:, :3, 3]
        differs = linear != self._linear[things]
        turned = _NONE
        if differs.any():
            turned = np.flatnonzero(differs.any(axis=(1, 2)) & self.fitted[things])
        numbers = self._numbers(self._parts_of(things))
        errors: dict[int, CollisionBoundsError] = {}
        if not len(turned):
            return self._moved(numbers, offset, things, errors), errors
        counts = self._parts[things]
        begin = np.cumsum(counts) - counts
        row = np.repeat(np.arange(len(things)), counts)
        again = turned
        if self._shape == "aabb":
            self._stacks = self._stacks or VertexStacks(self._points)
            low, high = self._stacks.boxes(things[turned], linear[turned])
            reach = self._radii[things[turned], None] * length(linear[turned]) if self._has_balls else 0.0
            numbers["low"][begin[turned]], numbers["high"][begin[turned]] = low - reach, high + reach
            again = _NONE
        else:
            motion = products(linear[turned], self._inverse[things[turned]])
            scale, bent = evenness(motion)
            carried = bent < _TURN
            if self._shape == "obb":
                carried &= ~self._along_world[things[turned]]
            self._carry(numbers, row, turned[carried], motion[carried], scale[carried], bent[carried])
            again = turned[~carried]
        points_again = [self._points[k] for k in things[again].tolist()]
        for some, shape in self._fitted(things[again], points_again, linear[again], errors):
            where = np.flatnonzero(np.isin(row, again[some]))
            for values, name in zip(numbers.values(), shape.tails, strict=True):
                values[where] = getattr(shape, name)
        return self._moved(numbers, offset, things, errors), errors

    def _fitted(
        self,
        things: Ints,
        points: Sequence[NDArray[np.float32]],
        linear: Floats,
        errors: dict[int, CollisionBoundsError],
    ) -> Iterator[tuple[Ints, Shape]]:
        """Places among `things`, and all their parts without padding around the things' origins.

        As many things at once as there is room for. Those that cannot be fitted go to `errors`.
        """
        for whole in in_batches(range(len(points)), points.__getitem__):
            for settings, places in alike([self._settings[things[k]] for k in whole]):
                batch = [whole[place] for place in places]
                some = np.array(batch)
                own = [points[k] for k in batch]
                try:
                    yield some, self._fitted_together(things[some], own, linear[some], settings)
                except CollisionBoundsError as error:
                    if len(batch) == 1:
                        errors[int(things[some[0]])] = error
                        continue
                    for k in batch:  # the others are not to blame
                        for _, shape in self._fitted(things[[k]], [points[k]], linear[[k]], errors):
                            yield np.array([k]), shape

    def _fitted_together(
        self, things: Ints, points: Sequence[NDArray[np.float32]], linear: Floats, settings: FitSettings
    ) -> Shape:
        groups = None
        if self._groups is not None:
            # Another mesh than the groups were made for: one sphere around all stands for each.
            whole = [(np.arange(len(own)), np.array([0, len(own)])) for own in points]
            known = [self._groups[k] for k in things.tolist()]
            groups = [
                own if len(points[k]) == own[0].max(initial=-1) + 1 > 0 else whole[k]
                for k, own in enumerate(known)
            ]
        radii = self._radii[things] if self._has_balls else None
        shape = fitted_around_origins(points, linear, self._shape, settings, groups, radii)
        if groups is not None:
            given = np.array([len(bounds) - 1 for _, bounds in groups])
            repeats = np.where(given == self._parts[things], 1, self._parts[things])
            shape = shape[np.repeat(np.arange(given.sum()), np.repeat(repeats, given))]
        # A negative padding must leave something.
        padded(shape, self._padding_of(things))
        return shape

    def _padding_of(self, things: Ints) -> float | Floats:
        """Of each part of things, or of all."""
        every = self._padding
        return every if isinstance(every, float) else self._each_part(every[things], things)

    def set_padding(self, thing: int, padding: float) -> None:
        """Give a thing another padding, from now on."""
        if isinstance(self._padding, float):
            self._padding = np.full(len(self._settings), self._padding)
        self._padding[thing] = padding

    def _parts_of(self, things: Ints) -> Ints:
        """All parts of things, in order."""
        if self._is_whole:
            return things
        counts = self._parts[things]
        return np.repeat(self._first[things] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())

    def _each_part(self, values: NDArray[_Number], things: Ints) -> NDArray[_Number]:
        """What belongs to things, once for each of their parts."""
        return values if self._is_whole else values.repeat(self._parts[things], axis=0)

    def _make_room(self, numbers: dict[str, Floats], rooms: float | Floats) -> Bools:
        """Which parts are smaller than their room, (N,) or one for all, on a side; they get that large."""
        room = np.broadcast_to(np.maximum(rooms, 0.0), len(next(iter(numbers.values()))))
        sides = room[:, None]
        if self._shape == "aabb":
            lost = ((numbers["high"] - numbers["low"]) / 2 < sides).any(axis=1)
            numbers["low"][lost], numbers["high"][lost] = -2 * sides[lost], 2 * sides[lost]
        elif self._shape == "obb":
            lost = (numbers["half"] < sides).any(axis=1)
            numbers["half"][lost] = sides[lost]
        else:
            lost = numbers["radius"] < room
            numbers["radius"][lost] = room[lost]
        return np.asarray(lost)

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
        parts: Ints | slice
        k: Ints | slice
        if self._is_whole:
            # All of them, as a rule: then nothing is copied.
            parts, k = slice(None) if len(carried) == len(row) else carried, slice(None)
        else:
            place = np.full(int(row.max()) + 1, -1)
            place[carried] = np.arange(len(carried))
            parts = np.flatnonzero(place[row] >= 0)
            k = place[row[parts]]
        # What is not quite a turn may stretch by this much.
        stretch = scale[k] * np.sqrt(1 + bent[k]) * (1 + 1e-14)
        numbers["center"][parts] = transform_vectors(motion[k], numbers["center"][parts])
        if self._shape == "obb":
            half = numbers["half"][parts]
            numbers["rotation"][parts] = turned(motion[k], scale[k], numbers["rotation"][parts])
            slack = 2 * bent[k] * length(half) + 1e-14 * length(numbers["center"][parts])
            numbers["half"][parts] = half * stretch[:, None] + (slack * scale[k])[:, None]
        else:
            slack = 1e-15 * length(numbers["center"][parts])
            numbers["radius"][parts] = numbers["radius"][parts] * stretch + slack

    def _moved(
        self,
        numbers: dict[str, Floats],
        offset: Floats,
        things: Ints,
        errors: dict[int, CollisionBoundsError],
    ) -> Shape:
        """With padding, where things are moved to; those that it leaves nothing of go to `errors`."""
        offset, padding = self._each_part(offset, things), self._padding_of(things)
        if (padding if isinstance(padding, float) else padding.min(initial=0.0)) < 0:
            lost = self._make_room(numbers, -padding)
            too_much = np.broadcast_to(padding, len(lost))[lost]
            for thing, amount in zip(self._each_part(things, things)[lost].tolist(), too_much, strict=True):
                errors.setdefault(thing, nothing_left(amount))
        shape: Shape
        if self._shape == "aabb":
            shape = Aabb.trusted(numbers["low"] + offset, numbers["high"] + offset)
        elif self._shape == "obb":
            shape = Obb.trusted(numbers["center"] + offset, numbers["half"], numbers["rotation"])
        else:
            shape = Sphere.trusted(numbers["center"] + offset, numbers["radius"])
        return padded(shape, padding)
