"""Objects of a document: transforms and shapes in its space, rounded outward, all objects at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...core import Aabb, ConvexHull, Obb, Sphere, SphereTree
from ...core.numeric.arrays import Floats, transform_vectors
from ..rounding import rounded_aabb, rounded_hull, rounded_obb, rounded_sphere, rounded_to_nearest, to_lists
from ..spaces import Space, matrix_from_quaternion, quaternion_from_matrix
from .model import SHAPE_TYPES, DocumentShape, ObjectBounds
from .source_numbers import IDENTITY_SPACE, restore_source_numbers

# More than lengths have, so that a rounded unit quaternion still has unit length.
_ROTATION_DECIMALS = 9


def written_objects(
    objects: Sequence[ObjectBounds], space: Space, decimals: int, unit_decimals: int
) -> list[dict[str, Any]]:
    """Convert objects to JSON dicts, sorted by name, then id.

    Parameters
    ----------
    objects : sequence of ObjectBounds
        In any order.
    space : Space
        The document's space.
    decimals : int
        Decimals of lengths.
    unit_decimals : int
        Decimals of numbers without a length unit, such as scale factors.

    Returns
    -------
    entries : list of dict
        The entries of the document's "objects".
    """
    ordered = sorted(objects, key=lambda entry: (entry.name, entry.id))
    restored = [restore_source_numbers(entry, space) for entry in ordered]
    changed = [entry for entry, source in zip(ordered, restored, strict=True) if source is None]
    unchanged = [source for source in restored if source is not None]
    of_changed = iter(_written(changed, space, decimals, unit_decimals))
    of_unchanged = iter(_written(unchanged, IDENTITY_SPACE, decimals, unit_decimals))
    return [next(of_changed if source is None else of_unchanged) for source in restored]


def _written(
    ordered: Sequence[ObjectBounds], space: Space, decimals: int, unit_decimals: int
) -> list[dict[str, Any]]:
    rotations = _rounded_quaternions(space.quaternion(_rows([entry.rotation for entry in ordered], 4)))
    exact = space.vectors(_rows([entry.translation for entry in ordered]))
    translations = rounded_to_nearest(exact, decimals)
    scales = rounded_to_nearest(space.scale_factors(_rows([entry.scale for entry in ordered])), unit_decimals)
    # Readers place local shapes at the rounded translation, so the local shapes move by the difference.
    to_local = matrix_from_quaternion(rotations).swapaxes(-1, -2)
    lost = transform_vectors(to_local, exact - translations)
    writer = _ShapeWriter(space, decimals)
    no_offsets = np.zeros_like(lost)
    transforms = zip(to_lists(translations), to_lists(rotations), to_lists(scales), strict=True)
    locals_ = writer.groups([entry.local for entry in ordered], lost)
    worlds = writer.groups([entry.world for entry in ordered], no_offsets)
    envelopes = writer.groups([entry.envelope for entry in ordered], no_offsets)
    return [
        {
            "id": entry.id,
            "name": entry.name,
            "type": entry.kind,
            "parent": entry.parent,
            **({"override": entry.override} if entry.override else {}),
            "transform": {"translation": translation, "rotation": rotation, "scale": scale},
            "local": local,
            "world": world,
            **({"envelope": envelope} if entry.envelope else {}),
        }
        for entry, (translation, rotation, scale), local, world, envelope in zip(
            ordered, transforms, locals_, worlds, envelopes, strict=True
        )
    ]


class _ShapeWriter:
    """Converts shapes to JSON dicts in a space, rounded outward, all shapes of a type at once."""

    def __init__(self, space: Space, decimals: int) -> None:
        self._space, self._decimals = space, decimals
        self._write: Mapping[str, Callable[[Any, Floats], Sequence[Any]]] = {
            "aabb": self._boxes,
            "hull": self._hulls,
            "obb": self._oriented_boxes,
            "sphere": self._spheres,
            "spheres": self._trees,
        }

    def groups(self, groups: Sequence[Sequence[DocumentShape]], offsets: Floats) -> list[dict[str, Any]]:
        """Convert groups of shapes of different types, moved by `offsets` (n, 3), one row a group."""
        written: list[dict[str, Any]] = [{} for _ in groups]
        for key, shape_type in SHAPE_TYPES.items():
            indices, shapes = _shapes_of_type(shape_type, groups)
            for index, entry in zip(indices, self._write[key](shapes, offsets[indices]), strict=True):
                written[index][key] = entry
        return written

    def _hulls(self, hulls: Sequence[ConvexHull], offsets: Floats) -> list[dict[str, Any]]:
        written = []
        for hull, offset in zip(hulls, offsets, strict=True):
            in_space = self._space.hull(hull)
            moved = in_space._replace(vertices=in_space.vertices + offset)
            outer = rounded_hull(moved, self._decimals)
            written.append({"vertices": to_lists(outer.vertices), "faces": outer.faces.tolist()})
        return written

    def _trees(self, trees: Sequence[SphereTree], offsets: Floats) -> list[list[dict[str, Any]]]:
        return [self._tree(tree, offset) for tree, offset in zip(trees, offsets, strict=True)]

    def _tree(self, tree: SphereTree, offset: Floats) -> list[dict[str, Any]]:
        spheres = self._spheres(tree.spheres.to_list(), np.broadcast_to(offset, tree.center.shape))
        children = [[child for child in pair if child >= 0] for pair in tree.children.tolist()]
        return [{**sphere, "children": indices} for sphere, indices in zip(spheres, children, strict=True)]

    def _boxes(self, boxes: Sequence[Aabb], offsets: Floats) -> list[dict[str, Any]]:
        box = self._space.aabb(Aabb(_rows([box.min for box in boxes]), _rows([box.max for box in boxes])))
        box = rounded_aabb(Aabb(box.min + offsets, box.max + offsets), self._decimals)
        return _entries(min=box.min, max=box.max)

    def _oriented_boxes(self, boxes: Sequence[Obb], offsets: Floats) -> list[dict[str, Any]]:
        box = self._space.obb(
            Obb.unchecked(
                _rows([box.center for box in boxes]),
                _rows([box.half_extents for box in boxes]),
                _rows([box.rotation for box in boxes], 9).reshape(-1, 3, 3),
            )
        )
        rotation = _stable_quaternions(quaternion_from_matrix(box.rotation))
        box = Obb.unchecked(box.center + offsets, box.half_extents, box.rotation)
        box = rounded_obb(box, matrix_from_quaternion(rotation), self._decimals)
        return _entries(center=box.center, halfExtents=box.half_extents, rotation=rotation)

    def _spheres(self, spheres: Sequence[Sphere], offsets: Floats) -> list[dict[str, Any]]:
        radius = np.array([sphere.radius for sphere in spheres], dtype=np.float64)
        sphere = self._space.sphere(Sphere(_rows([sphere.center for sphere in spheres]), radius))
        sphere = rounded_sphere(Sphere(sphere.center + offsets, sphere.radius), self._decimals)
        return _entries(center=sphere.center, radius=sphere.radius)


def _shapes_of_type(
    shape_type: type, groups: Sequence[Sequence[DocumentShape]]
) -> tuple[list[int], list[Any]]:
    """Shapes of a type, and the index of the group of each."""
    pairs = [
        (index, shape)
        for index, shapes in enumerate(groups)
        for shape in shapes
        if isinstance(shape, shape_type)
    ]
    return [index for index, _ in pairs], [shape for _, shape in pairs]


def _entries(**fields: Floats) -> list[dict[str, Any]]:
    """Rows of several arrays as dicts, keys as the parameters are named."""
    columns = [to_lists(values) for values in fields.values()]
    return [dict(zip(fields, row, strict=True)) for row in zip(*columns, strict=True)]


def _rounded_quaternions(quaternions: Floats) -> Floats:
    """Quaternions (n, 4), (x, y, z, w), rounded; of the two that are the same rotation, that with w >= 0."""
    return rounded_to_nearest(quaternions * np.where(quaternions[:, 3:] < 0, -1.0, 1.0), _ROTATION_DECIMALS)


def _stable_quaternions(quaternions: Floats) -> Floats:
    """Quaternions (n, 4), rounded so that normalizing and rounding them again changes nothing.

    Boxes grow by the angle that rounding turns them, so a box that is read must be written with the same
    rotation. After a single rounding, one or two of 100 quaternions still change when rounded again.
    """
    return _rounded_quaternions(
        quaternion_from_matrix(matrix_from_quaternion(_rounded_quaternions(quaternions)))
    )


def _rows(vectors: Sequence[Floats], width: int = 3) -> Floats:
    return np.array(vectors, dtype=np.float64).reshape(-1, width)
