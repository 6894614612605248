"""Objects as a document has them: their places and shapes, rounded, all objects at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from ..core import Aabb, ConvexHull, Obb, Sphere, SphereTree
from ..core.arrays import transform_vectors
from .contents import ObjectBounds, WrittenShape
from .kept_numbers import AS_THEY_ARE, kept_in
from .rounding import plain, rounded, rounded_aabb, rounded_hull, rounded_obb, rounded_sphere
from .spaces import Floats, Space, matrix_of, quaternion_of

# A unit quaternion must stay one.
_ROTATION_DECIMALS = 9

_Kind = TypeVar("_Kind", Aabb, ConvexHull, Obb, Sphere, SphereTree)


def written_objects(
    objects: Sequence[ObjectBounds], space: Space, decimals: int, unit_decimals: int
) -> list[dict[str, Any]]:
    """Objects in the order of the document: by name, then id.

    unit_decimals : of what is no length
    """
    ordered = sorted(objects, key=lambda entry: (entry.name, entry.id))
    kept = [kept_in(entry, space) for entry in ordered]
    changed = [entry for entry, own in zip(ordered, kept, strict=True) if own is None]
    unchanged = [own for own in kept if own is not None]
    made = iter(_written(changed, space, decimals, unit_decimals))
    again = iter(_written(unchanged, AS_THEY_ARE, decimals, unit_decimals))
    return [next(made if own is None else again) for own in kept]


def _written(
    ordered: Sequence[ObjectBounds], space: Space, decimals: int, unit_decimals: int
) -> list[dict[str, Any]]:
    rotations = _written_rotations(space.quaternion(_rows([entry.rotation for entry in ordered], 4)))
    exact = space.vectors(_rows([entry.translation for entry in ordered]))
    translations = rounded(exact, decimals)
    scales = rounded(space.factors(_rows([entry.scale for entry in ordered])), unit_decimals)
    # Local shapes are placed at the translation as it is written, so what it lost moves into them.
    backwards = matrix_of(rotations).swapaxes(-1, -2)
    lost = transform_vectors(backwards, exact - translations)
    writer = _ShapeWriter(space, decimals)
    nothing = np.zeros_like(lost)
    placed = zip(plain(translations), plain(rotations), plain(scales), strict=True)
    local = writer.shapes([entry.local for entry in ordered], lost)
    world = writer.shapes([entry.world for entry in ordered], nothing)
    around = writer.shapes([entry.envelope for entry in ordered], nothing)
    return [
        {
            "id": entry.id,
            "name": entry.name,
            "type": entry.kind,
            "parent": entry.parent,
            **({"override": entry.override} if entry.override else {}),
            "transform": {"translation": translation, "rotation": rotation, "scale": scale},
            "local": own,
            "world": there,
            **({"envelope": swept} if entry.envelope else {}),
        }
        for entry, (translation, rotation, scale), own, there, swept in zip(
            ordered, placed, local, world, around, strict=True
        )
    ]


class _ShapeWriter:
    """Takes shapes to a space, rounded outward, those of a kind at once."""

    def __init__(self, space: Space, decimals: int) -> None:
        self._space, self._decimals = space, decimals

    def shapes(self, groups: Sequence[Sequence[WrittenShape]], offsets: Floats) -> list[dict[str, Any]]:
        """Each group of shapes, one of a kind, moved by its one of `offsets` (n, 3) of this space."""
        written: list[dict[str, Any]] = [{} for _ in groups]
        where, boxes = _of_kind(Aabb, groups)
        for place, box in zip(where, self._boxes(boxes, offsets[where]), strict=True):
            written[place]["aabb"] = box
        where, hulls = _of_kind(ConvexHull, groups)
        for place, hull in zip(where, hulls, strict=True):
            written[place]["hull"] = self._hull(hull, offsets[place])
        where, turned = _of_kind(Obb, groups)
        for place, box in zip(where, self._turned_boxes(turned, offsets[where]), strict=True):
            written[place]["obb"] = box
        where, balls = _of_kind(Sphere, groups)
        for place, ball in zip(where, self._balls(balls, offsets[where]), strict=True):
            written[place]["sphere"] = ball
        where, trees = _of_kind(SphereTree, groups)
        for place, tree in zip(where, trees, strict=True):
            written[place]["spheres"] = self._tree(tree, offsets[place])
        return written

    def _hull(self, hull: ConvexHull, offset: Floats) -> dict[str, Any]:
        there = self._space.hull(hull)
        found = rounded_hull(there._replace(vertices=there.vertices + offset), self._decimals)
        return {"vertices": plain(found.vertices), "faces": found.faces.tolist()}

    def _tree(self, tree: SphereTree, offset: Floats) -> list[dict[str, Any]]:
        balls = self._balls(list(tree.spheres.each()), np.broadcast_to(offset, tree.center.shape))
        below = [[child for child in both if child >= 0] for both in tree.children.tolist()]
        return [{**ball, "children": children} for ball, children in zip(balls, below, strict=True)]

    def _boxes(self, boxes: Sequence[Aabb], offsets: Floats) -> list[dict[str, Any]]:
        box = self._space.aabb(Aabb(_rows([own.min for own in boxes]), _rows([own.max for own in boxes])))
        box = rounded_aabb(Aabb(box.min + offsets, box.max + offsets), self._decimals)
        return _named(min=box.min, max=box.max)

    def _turned_boxes(self, boxes: Sequence[Obb], offsets: Floats) -> list[dict[str, Any]]:
        box = self._space.obb(
            Obb.trusted(
                _rows([own.center for own in boxes]),
                _rows([own.half_extents for own in boxes]),
                _rows([own.rotation for own in boxes], 9).reshape(-1, 3, 3),
            )
        )
        rotation = _settled_rotations(quaternion_of(box.rotation))
        box = Obb.trusted(box.center + offsets, box.half_extents, box.rotation)
        box = rounded_obb(box, matrix_of(rotation), self._decimals)
        return _named(center=box.center, halfExtents=box.half_extents, rotation=rotation)

    def _balls(self, balls: Sequence[Sphere], offsets: Floats) -> list[dict[str, Any]]:
        radius = np.array([own.radius for own in balls], dtype=np.float64)
        ball = self._space.sphere(Sphere(_rows([own.center for own in balls]), radius))
        ball = rounded_sphere(Sphere(ball.center + offsets, ball.radius), self._decimals)
        return _named(center=ball.center, radius=ball.radius)


def _of_kind(kind: type[_Kind], groups: Sequence[Sequence[WrittenShape]]) -> tuple[list[int], list[_Kind]]:
    """The shapes of a kind, and the place of the group that each is of."""
    found = [(place, own) for place, shapes in enumerate(groups) for own in shapes if isinstance(own, kind)]
    return [place for place, _ in found], [own for _, own in found]


def _named(**fields: Floats) -> list[dict[str, Any]]:
    """Rows of several arrays, each with the names of its parts."""
    listed = [plain(values) for values in fields.values()]
    return [dict(zip(fields, row, strict=True)) for row in zip(*listed, strict=True)]


def _written_rotations(quaternions: Floats) -> Floats:
    """Quaternions (n, 4), (x, y, z, w), rounded, of the two that turn alike the one with a positive w."""
    return rounded(quaternions * np.where(quaternions[:, 3:] < 0, -1.0, 1.0), _ROTATION_DECIMALS)


def _settled_rotations(quaternions: Floats) -> Floats:
    """The same, for boxes that grow by what rounding turns them: what is read of them is written the same.

    Of 100 rounded once, made unit length and rounded again, one or two are not what they were.
    """
    return _written_rotations(quaternion_of(matrix_of(_written_rotations(quaternions))))


def _rows(vectors: Sequence[Floats], width: int = 3) -> Floats:
    return np.array(vectors, dtype=np.float64).reshape(-1, width)
