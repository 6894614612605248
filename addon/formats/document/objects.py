"""Objects of a document: transforms and shapes in its space, rounded outward, in blocks of many objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...core import Aabb, ConvexHull, Obb, Sphere, SphereTree
from ...core.numeric.arrays import Floats, transform_vectors
from ..rounding import rounded_aabb, rounded_hull, rounded_obb, rounded_sphere, rounded_to_nearest, to_lists
from ..spaces import Space, matrix_from_quaternion, quaternion_from_matrix
from .json_numbers import lists_of_numbers
from .json_writer import compact_json, object_text, object_texts, value_text
from .model import SHAPE_TYPES, DocumentShape, ObjectBounds, SortedObjects
from .source_numbers import IDENTITY_SPACE, restore_source_numbers

# More than lengths have, so that a rounded unit quaternion still has unit length.
_ROTATION_DECIMALS = 9

_BLOCK = 1024
"""Objects that are converted at once: larger blocks are no faster."""

_Fields: TypeAlias = Mapping[str, Floats]
"""Numbers of several objects by JSON key: (n,) or (n, c) arrays."""


class WrittenObjects(Sequence[dict[str, Any]]):
    """Objects of a document, sorted by name, then id, each converted to a dict on access.

    A document can have very many. `json_parts` writes them without making the dicts.
    """

    def __init__(
        self, objects: Sequence[ObjectBounds], space: Space, decimals: int, unit_decimals: int
    ) -> None:
        """Convert objects on demand.

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
        """
        is_sorted = isinstance(objects, SortedObjects)
        self._objects = objects if is_sorted else sorted(objects, key=lambda entry: (entry.name, entry.id))
        self._space, self._decimals, self._unit_decimals = space, decimals, unit_decimals

    def __len__(self) -> int:
        return len(self._objects)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return list(self._dicts(self._objects[index]))
        return next(self._dicts([self._objects[index]]))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for block in self._blocks():
            yield from self._dicts(block)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # like a list

    def texts(self, indent: str) -> Iterator[str]:
        """Yield the JSON text of each object, see `json_writer.JsonEntries`."""
        for block in self._blocks():
            yield from self._converted(block, lambda part: part.texts(indent))

    def _blocks(self) -> Iterator[Sequence[ObjectBounds]]:
        for start in range(0, len(self._objects), _BLOCK):
            yield self._objects[start : start + _BLOCK]

    def _dicts(self, objects: Sequence[ObjectBounds]) -> Iterator[dict[str, Any]]:
        return self._converted(objects, _Block.dicts)

    def _converted(
        self, objects: Sequence[ObjectBounds], convert: Callable[[_Block], Iterator[Any]]
    ) -> Iterator[Any]:
        """Convert objects; those that were read from a document of this space keep their numbers."""
        restored = [restore_source_numbers(entry, self._space) for entry in objects]
        changed = [entry for entry, source in zip(objects, restored, strict=True) if source is None]
        unchanged = [source for source in restored if source is not None]
        precision = self._decimals, self._unit_decimals
        of_changed = convert(_Block.of(changed, self._space, *precision))
        of_unchanged = convert(_Block.of(unchanged, IDENTITY_SPACE, *precision))
        for source in restored:
            yield next(of_changed if source is None else of_unchanged)


class _ShapeRows(NamedTuple):
    """Shapes of one type: the rows of their objects, and their numbers, or finished JSON values."""

    rows: list[int]
    fields: _Fields
    values: Sequence[Any]

    def dicts(self) -> Sequence[Any]:
        return self.values or _entries(self.fields)

    def texts(self, decimals: int, indent: str) -> list[str]:
        """JSON text of each shape."""
        if self.values:
            return [value_text(value, indent) for value in self.values]
        columns = {
            key: _number_texts(values, _ROTATION_DECIMALS if key == "rotation" else decimals)
            for key, values in self.fields.items()
        }
        return object_texts(columns, indent)


class _Block(NamedTuple):
    """Numbers of several objects in a document's space, rounded.

    Attributes
    ----------
    objects : sequence of ObjectBounds
    transforms : dict of str to (n, 3) or (n, 4) float
    groups : dict of str to dict of str to _ShapeRows
        Shapes by JSON key, for each of "local", "world" and "envelope".
    decimals, unit_decimals : int
        Decimals of lengths, and of numbers without a length unit.
    """

    objects: Sequence[ObjectBounds]
    transforms: _Fields
    groups: dict[str, dict[str, _ShapeRows]]
    decimals: int
    unit_decimals: int

    @classmethod
    def of(cls, objects: Sequence[ObjectBounds], space: Space, decimals: int, unit_decimals: int) -> _Block:
        """Convert objects to a space."""
        rotations = _rounded_quaternions(space.quaternion(_rows([entry.rotation for entry in objects], 4)))
        exact = space.vectors(_rows([entry.translation for entry in objects]))
        translations = rounded_to_nearest(exact, decimals)
        factors = space.scale_factors(_rows([entry.scale for entry in objects]))
        transforms = {
            "translation": translations,
            "rotation": rotations,
            "scale": rounded_to_nearest(factors, unit_decimals),
        }
        # Readers place local shapes at the rounded translation, so the local shapes move by the difference.
        to_local = matrix_from_quaternion(rotations).swapaxes(-1, -2)
        lost = transform_vectors(to_local, exact - translations)
        writer = _ShapeWriter(space, decimals)
        no_offsets = np.zeros_like(lost)
        groups = {
            "local": writer.shapes([entry.local for entry in objects], lost),
            "world": writer.shapes([entry.world for entry in objects], no_offsets),
            "envelope": writer.shapes([entry.envelope for entry in objects], no_offsets),
        }
        return cls(objects, transforms, groups, decimals, unit_decimals)

    def dicts(self) -> Iterator[dict[str, Any]]:
        """Objects as JSON dicts."""
        transforms = _entries(self.transforms)
        groups = {
            name: self._by_object({key: shapes.dicts() for key, shapes in kinds.items()}, name)
            for name, kinds in self.groups.items()
        }
        for row, entry in enumerate(self.objects):
            yield {
                "id": entry.id,
                "name": entry.name,
                "type": entry.kind,
                "parent": entry.parent,
                **({"override": entry.override} if entry.override else {}),
                "transform": transforms[row],
                "local": groups["local"][row],
                "world": groups["world"][row],
                **({"envelope": groups["envelope"][row]} if entry.envelope else {}),
            }

    def texts(self, indent: str) -> Iterator[str]:
        """Objects as JSON text."""
        inner, shape_indent = indent + " ", indent + "  "
        translation, rotation, scale = self.transforms.values()
        transforms = object_texts(
            {
                "translation": _number_texts(translation, self.decimals),
                "rotation": _number_texts(rotation, _ROTATION_DECIMALS),
                "scale": _number_texts(scale, self.unit_decimals),
            },
            inner,
        )
        groups = {
            name: self._by_object(
                {key: shapes.texts(self.decimals, shape_indent) for key, shapes in kinds.items()}, name
            )
            for name, kinds in self.groups.items()
        }
        for row, entry in enumerate(self.objects):
            texts = {
                "id": compact_json(entry.id),
                "name": compact_json(entry.name),
                "type": compact_json(entry.kind),
                "parent": compact_json(entry.parent),
                **({"override": compact_json(entry.override)} if entry.override else {}),
                "transform": transforms[row],
                "local": object_text(groups["local"][row], inner),
                "world": object_text(groups["world"][row], inner),
            }
            if entry.envelope:
                texts["envelope"] = object_text(groups["envelope"][row], inner)
            yield object_text(texts, indent)

    def _by_object(self, shapes: Mapping[str, Sequence[Any]], group: str) -> list[dict[str, Any]]:
        """Group converted shapes by object, each by JSON key."""
        by_object: list[dict[str, Any]] = [{} for _ in self.objects]
        for key, converted in shapes.items():
            for row, entry in zip(self.groups[group][key].rows, converted, strict=True):
                by_object[row][key] = entry
        return by_object


class _ShapeWriter:
    """Converts shapes to a space, rounded outward, all shapes of a type at once."""

    def __init__(self, space: Space, decimals: int) -> None:
        self._space, self._decimals = space, decimals
        self._numbers: Mapping[str, Callable[[Any, Floats], _Fields]] = {
            "aabb": self._boxes,
            "obb": self._oriented_boxes,
            "sphere": self._spheres,
        }
        self._values: Mapping[str, Callable[[Any, Floats], list[Any]]] = {
            "hull": self._hulls,
            "spheres": self._trees,
        }

    def shapes(self, groups: Sequence[Sequence[DocumentShape]], offsets: Floats) -> dict[str, _ShapeRows]:
        """Convert groups of shapes of different types, moved by `offsets` (n, 3), one row a group."""
        written = {}
        for key, shape_type in SHAPE_TYPES.items():
            rows, shapes = _shapes_of_type(shape_type, groups)
            if not shapes:
                continue
            if key in self._numbers:
                written[key] = _ShapeRows(rows, self._numbers[key](shapes, offsets[rows]), ())
            else:
                written[key] = _ShapeRows(rows, {}, self._values[key](shapes, offsets[rows]))
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
        nodes = zip(_entries(spheres), children, strict=True)
        return [{**sphere, "children": indices} for sphere, indices in nodes]

    def _boxes(self, boxes: Sequence[Aabb], offsets: Floats) -> _Fields:
        box = self._space.aabb(Aabb(_rows([box.min for box in boxes]), _rows([box.max for box in boxes])))
        box = rounded_aabb(Aabb(box.min + offsets, box.max + offsets), self._decimals)
        return {"min": box.min, "max": box.max}

    def _oriented_boxes(self, boxes: Sequence[Obb], offsets: Floats) -> _Fields:
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
        return {"center": box.center, "halfExtents": box.half_extents, "rotation": rotation}

    def _spheres(self, spheres: Sequence[Sphere], offsets: Floats) -> _Fields:
        radius = np.array([sphere.radius for sphere in spheres], dtype=np.float64)
        sphere = self._space.sphere(Sphere(_rows([sphere.center for sphere in spheres]), radius))
        sphere = rounded_sphere(Sphere(sphere.center + offsets, sphere.radius), self._decimals)
        return {"center": sphere.center, "radius": sphere.radius}


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


def _entries(fields: _Fields) -> list[dict[str, Any]]:
    """Rows of several arrays as dicts."""
    columns = [to_lists(values) for values in fields.values()]
    return [dict(zip(fields, row, strict=True)) for row in zip(*columns, strict=True)]


def _number_texts(values: Floats, decimals: int) -> list[str]:
    """JSON text of each number (n,), or of each row (n, c)."""
    columns = values.shape[1] if values.ndim > 1 else 1
    lists = lists_of_numbers(values.reshape(-1), decimals, np.full(len(values), columns))
    return lists if values.ndim > 1 else [text[1:-1] for text in lists]


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
