"""Objects of a document: transforms and shapes in its space, rounded outward, in blocks of many objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...core import Aabb, Capsule, ConvexHull, Cylinder, Obb, Sphere, SphereTree
from ...core.compound.convex_parts import Compound
from ...core.numeric.arrays import Bools, Floats, Ints, length, transform_vectors
from ..rounding import (
    rounded_aabb,
    rounded_capsule,
    rounded_cylinder,
    rounded_hulls,
    rounded_obb,
    rounded_sphere,
    rounded_to_nearest,
    to_lists,
)
from ..spaces import Space, matrix_from_quaternion, quaternion_from_matrix
from .joint_frames import in_joint_frames
from .json_columns import (
    Column,
    ObjectColumn,
    number_column,
    object_texts,
    repeated_string_column,
    spread,
    string_column,
    text_column,
)
from .json_writer import value_text
from .model import (
    SHAPE_TYPES,
    CollisionResponse,
    ObjectBounds,
    ObjectColumns,
    ShapeColumn,
    SortedObjects,
    shape_columns,
)
from .source_numbers import IDENTITY_SPACE, restore_source_numbers

# More than lengths have, so that a rounded unit quaternion still has unit length.
_ROTATION_DECIMALS = 9

_LOCAL_ENVELOPE = "envelope.local"

_BLOCK = 2048
"""Objects that are converted at once: larger blocks are no faster."""

_Fields: TypeAlias = Mapping[str, Floats]
"""Numbers of several objects by JSON key: (n,) or (n, c) arrays."""


class WrittenObjects(Sequence[dict[str, Any]]):
    """Objects of a document, sorted by name, then id, each converted to a dict on access.

    A document can have very many. `json_parts` writes them without making the dicts.
    """

    def __init__(
        self,
        objects: Sequence[ObjectBounds],
        space: Space,
        decimals: int,
        unit_decimals: int,
        responses: Mapping[str, CollisionResponse],
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
        responses : mapping of str to CollisionResponse
            By the ids of objects.
        """
        is_sorted = isinstance(objects, SortedObjects)
        self._objects = objects if is_sorted else sorted(objects, key=lambda entry: (entry.name, entry.id))
        self._space, self._responses = space, responses
        self._decimals, self._unit_decimals = decimals, unit_decimals

    def __len__(self) -> int:
        return len(self._objects)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:
                return list(self._converted_blocks(start, stop, _Block.dicts))
            return [self[row] for row in range(start, stop, step)]
        row = index if index >= 0 else len(self) + index
        if not 0 <= row < len(self):
            raise IndexError(index)
        return next(self._converted(row, row + 1, _Block.dicts))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self._converted_blocks(0, len(self), _Block.dicts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # like a list

    def names(self) -> dict[str, str]:
        """Names of all objects by id."""
        if isinstance(self._objects, SortedObjects):
            return self._objects.names()
        return {entry.id: entry.name for entry in self._objects}

    def texts(self, indent: str) -> Iterator[str]:
        """Yield the JSON text of each object, see `json_writer.JsonEntries`."""
        return self._converted_blocks(0, len(self), lambda part: part.texts(indent))

    def _converted_blocks(
        self, start: int, stop: int, convert: Callable[[_Block], Iterable[Any]]
    ) -> Iterator[Any]:
        for begin in range(start, stop, _BLOCK):
            yield from self._converted(begin, min(begin + _BLOCK, stop), convert)

    def _converted(self, start: int, stop: int, convert: Callable[[_Block], Iterable[Any]]) -> Iterator[Any]:
        """Convert objects; those that were read from a document of this space keep their numbers."""
        precision = self._decimals, self._unit_decimals
        if isinstance(self._objects, SortedObjects):
            columns = self._objects.columns(start, stop)
            yield from convert(_Block.of(columns, self._space, *precision, self._responses))
            return
        objects = self._objects[start:stop]
        restored = [restore_source_numbers(entry, self._space) for entry in objects]
        changed = [entry for entry, source in zip(objects, restored, strict=True) if source is None]
        unchanged = [source for source in restored if source is not None]
        of_changed, of_unchanged = (
            iter(convert(_Block.of(ObjectColumns.of(entries), space, *precision, self._responses)))
            for entries, space in ((changed, self._space), (unchanged, IDENTITY_SPACE))
        )
        for source in restored:
            yield next(of_changed if source is None else of_unchanged)


def object_names(document: Mapping[str, Any]) -> dict[str, str]:
    """Names of the objects of a document by id, without converting their shapes."""
    objects = document["objects"]
    if isinstance(objects, WrittenObjects):
        return objects.names()
    return {entry["id"]: entry["name"] for entry in objects}


class _ShapeRows(NamedTuple):
    """Shapes of one type: the rows of their objects, and their numbers, or finished JSON values."""

    rows: Ints
    fields: _Fields
    values: Sequence[Any]

    def dicts(self) -> Sequence[Any]:
        return self.values or _entries(self.fields)

    def column(self, decimals: int, indent: str) -> Column:
        """Text of each shape, on lines of its own after `indent`."""
        if self.values:
            return text_column([value_text(value, indent) for value in self.values])
        return ObjectColumn(
            {
                key: number_column(values, _ROTATION_DECIMALS if key in ("rotation", "axis") else decimals)
                for key, values in self.fields.items()
            }
        )


class _Block(NamedTuple):
    """Numbers of several objects in a document's space, rounded.

    Attributes
    ----------
    objects : ObjectColumns
    transforms : dict of str to (n, 3) or (n, 4) float
    groups : dict of str to dict of str to _ShapeRows
        Shapes by JSON key, for each of "local", "world", "envelope" and _LOCAL_ENVELOPE.
    decimals, unit_decimals : int
        Decimals of lengths, and of numbers without a length unit.
    responses : dict of int to CollisionResponse
        By row, of those objects that have one.
    """

    objects: ObjectColumns
    transforms: _Fields
    groups: dict[str, dict[str, _ShapeRows]]
    decimals: int
    unit_decimals: int
    responses: dict[int, CollisionResponse]

    @classmethod
    def of(
        cls,
        objects: ObjectColumns,
        space: Space,
        decimals: int,
        unit_decimals: int,
        responses: Mapping[str, CollisionResponse],
    ) -> _Block:
        """Convert objects to a space."""
        objects = in_joint_frames(objects, space)
        rotations = _rounded_quaternions(space.quaternion(objects.rotation))
        exact = space.vectors(objects.translation)
        translations = rounded_to_nearest(exact, decimals)
        factors = space.scale_factors(objects.scale)
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
            "local": writer.shapes(objects.local, lost),
            "world": writer.shapes(objects.world, no_offsets),
            "envelope": writer.shapes(objects.envelope, no_offsets),
            # Placed at other frames as well, so that it grows by the difference instead of moving.
            _LOCAL_ENVELOPE: writer.shapes(_grown(objects.local_envelope, length(lost)), no_offsets),
        }
        by_row = {}
        if responses:
            by_row = {row: responses[id] for row, id in enumerate(objects.ids) if id in responses}
        return cls(objects, transforms, groups, decimals, unit_decimals, by_row)

    def dicts(self) -> Iterator[dict[str, Any]]:
        """Objects as JSON dicts."""
        transforms = _entries(self.transforms)
        groups = {
            name: self._by_object({key: shapes.dicts() for key, shapes in kinds.items()}, name)
            for name, kinds in self.groups.items()
        }
        columns = self.objects
        for row, transform in enumerate(transforms):
            override, envelope = columns.overrides[row], groups["envelope"][row]
            if local_envelope := groups[_LOCAL_ENVELOPE][row]:
                envelope = {**envelope, "local": local_envelope}
            yield {
                "id": columns.ids[row],
                "name": columns.names[row],
                "type": columns.kinds[row],
                "parent": columns.parents[row],
                **({"override": override} if override else {}),
                **({"bone": columns.bones[row]} if columns.bones[row] is not None else {}),
                **({"boneWeight": weight} if (weight := columns.bone_weights[row]) is not None else {}),
                **({"collision": self.responses[row]._asdict()} if row in self.responses else {}),
                **({"allFrames": True} if columns.all_frames[row] else {}),
                "transform": transform,
                "local": groups["local"][row],
                "world": groups["world"][row],
                **({"envelope": envelope} if envelope else {}),
            }

    def texts(self, indent: str) -> list[str]:
        """Objects as JSON text."""
        if not self.objects.ids:
            return []
        columns = self.objects
        translation, rotation, scale = self.transforms.values()
        members: dict[str, Column] = {
            "id": string_column(columns.ids),
            "name": string_column(columns.names),
            "type": repeated_string_column(columns.kinds),
            "parent": repeated_string_column(columns.parents),
        }
        overridden = np.flatnonzero([bool(override) for override in columns.overrides])
        if len(overridden):
            overrides = repeated_string_column([columns.overrides[row] for row in overridden.tolist()])
            members["override"] = spread(overrides, overridden, len(columns.ids))
        with_bones = np.flatnonzero([bone is not None for bone in columns.bones])
        if len(with_bones):
            bones = repeated_string_column([columns.bones[row] for row in with_bones.tolist()])
            members["bone"] = spread(bones, with_bones, len(columns.ids))
        with_weights = np.flatnonzero([weight is not None for weight in columns.bone_weights])
        if len(with_weights):
            weights = [columns.bone_weights[row] for row in with_weights.tolist()]
            column = text_column([value_text(weight, "") for weight in weights])
            members["boneWeight"] = spread(column, with_weights, len(columns.ids))
        if self.responses:
            members["collision"] = self._responses_column()
        with_all_frames = np.flatnonzero(columns.all_frames)
        if len(with_all_frames):
            flags = text_column(["true"] * len(with_all_frames))
            members["allFrames"] = spread(flags, with_all_frames, len(columns.ids))
        members["transform"] = ObjectColumn(
            {
                "translation": number_column(translation, self.decimals),
                "rotation": number_column(rotation, _ROTATION_DECIMALS),
                "scale": number_column(scale, self.unit_decimals),
            }
        )
        for name in ("local", "world"):
            members[name] = ObjectColumn(self._shape_columns(name, indent + "  "))
        if envelopes := self._shape_columns("envelope", indent + "  "):
            if local := self._shape_columns(_LOCAL_ENVELOPE, indent + "   "):
                envelopes["local"] = ObjectColumn(local, self._has_shapes(_LOCAL_ENVELOPE))
            members["envelope"] = ObjectColumn(envelopes, self._has_shapes("envelope"))
        return object_texts(ObjectColumn(members), indent)

    def _responses_column(self) -> Column:
        responses, rows = self.responses.values(), np.array([*self.responses])
        column = ObjectColumn(
            {
                "response": repeated_string_column([each.response for each in responses]),
                "group": text_column([str(each.group) for each in responses]),
                "mask": text_column([str(each.mask) for each in responses]),
                "material": repeated_string_column([each.material for each in responses]),
            }
        )
        return spread(column, rows, len(self.objects.ids))

    def _shape_columns(self, group: str, indent: str) -> dict[str, Column]:
        """Texts of the shapes of a group by JSON key."""
        count = len(self.objects.ids)
        return {
            key: spread(kind.column(self.decimals, indent), kind.rows, count)
            for key, kind in self.groups[group].items()
        }

    def _has_shapes(self, group: str) -> Bools:
        """Return which objects (n,) have shapes of a group."""
        rows = np.concatenate([kind.rows for kind in self.groups[group].values()])
        return np.isin(np.arange(len(self.objects.ids)), rows)

    def _by_object(self, shapes: Mapping[str, Sequence[Any]], group: str) -> list[dict[str, Any]]:
        """Group converted shapes by object, each by JSON key."""
        by_object: list[dict[str, Any]] = [{} for _ in self.objects.ids]
        for key, converted in shapes.items():
            for row, entry in zip(self.groups[group][key].rows.tolist(), converted, strict=True):
                by_object[row][key] = entry
        return by_object


def _grown(columns: Mapping[str, ShapeColumn], amounts: Floats) -> dict[str, ShapeColumn]:
    """Boxes and spheres of objects, grown by amounts (n,)."""
    return {
        key: column._replace(shapes=column.shapes.padded(amounts[column.rows]))
        for key, column in columns.items()
    }


class _ShapeWriter:
    """Converts shapes to a space, rounded outward, all shapes of a type at once."""

    def __init__(self, space: Space, decimals: int) -> None:
        self._space, self._decimals = space, decimals
        self._numbers: Mapping[str, Callable[[Any, Floats], _Fields]] = {
            "aabb": self._boxes,
            "capsule": self._axial_shapes,
            "cylinder": self._axial_shapes,
            "obb": self._oriented_boxes,
            "sphere": self._spheres,
        }
        self._values: Mapping[str, Callable[[Any, Floats], list[Any]]] = {
            "compound": self._compounds,
            "hull": self._hulls,
            "spheres": self._trees,
        }

    def shapes(self, columns: Mapping[str, ShapeColumn], offsets: Floats) -> dict[str, _ShapeRows]:
        """Convert the shapes of objects, moved by `offsets` (n, 3)."""
        written = {}
        for key in SHAPE_TYPES:
            if key not in columns:
                continue
            rows, shapes = columns[key]
            if key in self._numbers:
                written[key] = _ShapeRows(rows, self._numbers[key](shapes, offsets[rows]), ())
            else:
                written[key] = _ShapeRows(rows, {}, self._values[key](shapes, offsets[rows]))
        return written

    def _hulls(self, hulls: Sequence[ConvexHull], offsets: Floats) -> list[dict[str, Any]]:
        moved = []
        for hull, offset in zip(hulls, offsets, strict=True):
            in_space = self._space.hull(hull)
            moved.append(in_space._replace(vertices=in_space.vertices + offset))
        return [
            {"vertices": to_lists(outer.vertices), "faces": outer.faces.tolist()}
            for outer in rounded_hulls(moved, self._decimals)
        ]

    def _compounds(self, compounds: Sequence[Compound], offsets: Floats) -> list[list[dict[str, Any]]]:
        written = []
        for compound, offset in zip(compounds, offsets, strict=True):
            parts: list[dict[str, Any]] = [{} for _ in compound.parts]
            moves = np.broadcast_to(offset, (len(parts), 3))
            for key, shapes in self.shapes(shape_columns([[part] for part in compound.parts]), moves).items():
                for row, entry in zip(shapes.rows.tolist(), shapes.dicts(), strict=True):
                    parts[row] = {key: entry}
            written.append(parts)
        return written

    def _trees(self, trees: Sequence[SphereTree], offsets: Floats) -> list[list[dict[str, Any]]]:
        return [self._tree(tree, offset) for tree, offset in zip(trees, offsets, strict=True)]

    def _tree(self, tree: SphereTree, offset: Floats) -> list[dict[str, Any]]:
        spheres = self._spheres(tree.spheres, np.broadcast_to(offset, tree.center.shape))
        children = [[child for child in pair if child >= 0] for pair in tree.children.tolist()]
        nodes = zip(_entries(spheres), children, strict=True)
        return [{**sphere, "children": indices} for sphere, indices in nodes]

    def _boxes(self, boxes: Aabb, offsets: Floats) -> _Fields:
        box = self._space.aabb(boxes)
        box = rounded_aabb(Aabb(box.min + offsets, box.max + offsets), self._decimals)
        return {"min": box.min, "max": box.max}

    def _oriented_boxes(self, boxes: Obb, offsets: Floats) -> _Fields:
        box = self._space.obb(boxes)
        rotation = _stable_quaternions(quaternion_from_matrix(box.rotation))
        box = Obb.unchecked(box.center + offsets, box.half_extents, box.rotation)
        box = rounded_obb(box, matrix_from_quaternion(rotation), self._decimals)
        return {"center": box.center, "halfExtents": box.half_extents, "rotation": rotation}

    def _axial_shapes(self, shapes: Capsule | Cylinder, offsets: Floats) -> _Fields:
        shape: Capsule | Cylinder = self._space.shape(shapes)
        axis = _stable_axes(shape.axis)
        center = shape.center + offsets
        if isinstance(shape, Capsule):
            moved = Capsule.unchecked(center, shape.axis, shape.half_length, shape.radius)
            outer: Capsule | Cylinder = rounded_capsule(moved, axis, self._decimals)
        else:
            outer = rounded_cylinder(
                Cylinder.unchecked(center, shape.axis, shape.half_length, shape.radius), axis, self._decimals
            )
        return {"center": outer.center, "axis": axis, "halfLength": outer.half_length, "radius": outer.radius}

    def _spheres(self, spheres: Sphere, offsets: Floats) -> _Fields:
        sphere = self._space.sphere(spheres)
        sphere = rounded_sphere(Sphere(sphere.center + offsets, sphere.radius), self._decimals)
        return {"center": sphere.center, "radius": sphere.radius}


def _entries(fields: _Fields) -> list[dict[str, Any]]:
    """Rows of several arrays as dicts."""
    columns = [to_lists(values) for values in fields.values()]
    return [dict(zip(fields, row, strict=True)) for row in zip(*columns, strict=True)]


def _stable_axes(axes: Floats) -> Floats:
    """Round unit vectors (n, 3) so that normalizing and rounding them again changes nothing.

    Of both directions of an axis, that whose last number that is not zero is positive.
    """
    for _ in range(2):
        axes = rounded_to_nearest(axes / length(axes)[:, None], _ROTATION_DECIMALS)
    last = 2 - (axes[:, ::-1] != 0).argmax(axis=1)
    signs = np.where(axes[np.arange(len(axes)), last] < 0, -1.0, 1.0)
    stable: Floats = axes * signs[:, None] + 0.0
    return stable


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
