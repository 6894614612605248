"""What the overlay shows of one scene as plain arrays: one matrix and one colour for each form drawn.

NumPy only, so that it is tested without a graphics card.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..core import Aabb, Contact, Obb, Shape, Sphere, stacked
from ..core.arrays import Bools, Floats, Ints, length, perpendicular
from ..scene.fitting import ShapeName
from ..scene.live_shapes import LiveShapes
from ..scene.result import Result

FAINT = 0.3
"""Opacity of shapes that are not the ones checked for contact."""
_GHOST_COLOR = (1.0, 1.0, 1.0, 0.5)
_ENVELOPE_COLOR = (0.55, 0.9, 0.35, 0.8)
_MARK_COLOR = (1.0, 0.85, 0.1, 1.0)
_ARROW_HEAD = 0.2

Rows = NDArray[np.float32]
"""(n, 4, 4): three rows of a matrix that places a unit shape in the world, and a colour, red to alpha."""

_NO_ROWS = np.empty((0, 4, 4), dtype=np.float32)
_NO_OWNERS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Forms:
    """Rows of one unit shape, and the subject that each belongs to, (n,)."""

    rows: Rows = field(default_factory=lambda: _NO_ROWS)
    owners: Ints = field(default_factory=lambda: _NO_OWNERS)

    def __len__(self) -> int:
        return len(self.rows)

    def __add__(self, other: Forms) -> Forms:
        if not len(other):
            return self
        return Forms(np.concatenate([self.rows, other.rows]), np.concatenate([self.owners, other.owners]))

    def of(self, chosen: Bools) -> Forms:
        """Those of some subjects (n,)."""
        keep = chosen[self.owners]
        return Forms(self.rows[keep], self.owners[keep])

    def in_color(self, color: Sequence[float]) -> Forms:
        """The same in one colour."""
        rows = self.rows.copy()
        rows[:, 3] = color
        return Forms(rows, self.owners)


@dataclass(frozen=True)
class Picture:
    """Everything drawn for one scene: balls, boxes and sticks, and names (k) with their places (k, 3)."""

    balls: Forms = field(default_factory=Forms)
    boxes: Forms = field(default_factory=Forms)
    sticks: Forms = field(default_factory=Forms)
    names: tuple[str, ...] = ()
    places: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 3), dtype=np.float32))
    named: Ints = field(default_factory=lambda: _NO_OWNERS)

    def of(self, chosen: Bools) -> Picture:
        """What belongs to some subjects (n,), and all marks."""
        keep = chosen[self.named]
        names = tuple(name for name, kept in zip(self.names, keep.tolist(), strict=True) if kept)
        return replace(
            self,
            balls=self.balls.of(chosen),
            boxes=self.boxes.of(chosen),
            names=names,
            places=self.places[keep],
            named=self.named[keep],
        )

    def over(self, other: Picture, balls: bool, boxes: bool) -> Picture:
        """With the balls of another picture below, or its boxes, or both."""
        return replace(
            self,
            balls=other.balls + self.balls if balls else self.balls,
            boxes=other.boxes + self.boxes if boxes else self.boxes,
        )

    def with_ghosts(self, ghosts: Picture) -> Picture:
        """With what the other picture shows, in the colour of what was."""
        balls, boxes = ghosts.balls.in_color(_GHOST_COLOR), ghosts.boxes.in_color(_GHOST_COLOR)
        return replace(self, balls=self.balls + balls, boxes=self.boxes + boxes)


def picture_of(
    shown: LiveShapes,
    drawn: Sequence[ShapeName],
    checked: ShapeName,
    free: Sequence[float],
    contact: Sequence[float],
) -> Picture:
    """Shapes in the colours of what is free and of what is in contact; all but `checked` are faint."""
    colors = np.where(shown.in_contact[:, None], np.array(contact), np.array(free)).astype(np.float32)
    faint = colors * np.array((1, 1, 1, FAINT), dtype=np.float32)
    balls, boxes = Forms(), Forms()
    for name in drawn:
        shape, owners = shown.shapes[name]
        rows = placed(shape)
        rows[:, 3] = (colors if name == checked else faint)[owners]
        if name in ("sphere", "spheres"):
            balls = Forms(rows, owners) + balls
        else:
            boxes = Forms(rows, owners) + boxes
    return Picture(balls, boxes)


def envelopes_of(result: Result, envelopes: Result) -> Picture:
    """The envelopes of those subjects of `result` that have any."""
    number = {subject.id: index for index, subject in enumerate(result.subjects)}
    parts: dict[type[Shape], list[tuple[int, Shape]]] = {Sphere: [], Aabb: []}
    for entry in envelopes.objects:
        if entry.id in number:
            for shape in entry.envelope:
                parts[type(shape)].append((number[entry.id], shape))
    balls, boxes = Forms(), Forms()
    for kind, listed in parts.items():
        if listed:
            rows = placed(stacked([shape for _, shape in listed]))
            forms = Forms(rows, np.array([index for index, _ in listed])).in_color(_ENVELOPE_COLOR)
            balls, boxes = (forms, boxes) if kind is Sphere else (balls, forms)
    return Picture(balls, boxes)


def placed(shape: Shape) -> Rows:
    """Matrices from the unit shape to each of (n,) spheres or boxes; the colours are not set."""
    center = shape.center
    rows = np.zeros((len(center), 4, 4), dtype=np.float32)
    rows[:, :3, 3] = center
    if isinstance(shape, Sphere):
        rows[:, [0, 1, 2], [0, 1, 2]] = shape.radius[:, None]
    elif isinstance(shape, Aabb):
        rows[:, [0, 1, 2], [0, 1, 2]] = shape.half_extents
    else:
        assert isinstance(shape, Obb), "there are no other shapes to draw"
        rows[:, :3, :3] = shape.rotation * shape.half_extents[:, None, :]
    return rows


def names_of(picture: Picture, names: Sequence[str]) -> Picture:
    """With the names of all subjects that something is drawn of, each in the middle of it."""
    owners = np.concatenate([picture.balls.owners, picture.boxes.owners])
    rows = np.concatenate([picture.balls.rows, picture.boxes.rows])
    numbers = np.bincount(owners, minlength=len(names))
    sums = [np.bincount(owners, rows[:, axis, 3], len(names)) for axis in range(3)]
    named = np.flatnonzero(numbers)
    places = (np.stack(sums, axis=1)[named] / numbers[named, None]).astype(np.float32)
    return replace(picture, names=tuple(names[k] for k in named.tolist()), places=places, named=named)


def mark_of(contact: Contact, picture: Picture) -> Forms:
    """A cross where a pair first touches, and an arrow along its normal, sized between the two."""
    size = float(np.sqrt(_size_of(picture, contact.a) * _size_of(picture, contact.b))) or 1.0
    normal = np.asarray(contact.first.normal, dtype=np.float64)
    point = np.asarray(contact.first.point, dtype=np.float64)
    ends = [(point - 0.15 * size * axis, 0.3 * size * axis) for axis in np.eye(3)]
    if length(normal) > 0:
        shaft = normal * size
        side = perpendicular(normal)
        ends.append((point, shaft))
        for across in (side, -side):
            ends.append((point + shaft, _ARROW_HEAD * size * (0.5 * across - normal)))
    rows = np.zeros((len(ends), 4, 4), dtype=np.float32)
    rows[:, :3, 3] = [start for start, _ in ends]
    rows[:, :3, 2] = [reach for _, reach in ends]
    rows[:, 3] = _MARK_COLOR
    return Forms(rows, np.full(len(ends), contact.a))


def _size_of(picture: Picture, subject: int) -> float:
    """Half of how large a subject is drawn."""
    sizes: list[Floats] = []
    for forms in (picture.balls, picture.boxes):
        own = forms.rows[forms.owners == subject, :3, :3].astype(np.float64)
        sizes += list(np.abs(own).max(axis=(1, 2)))
    return float(max(sizes, default=0.0))
