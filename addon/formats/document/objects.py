"""Objects and tracks of a document: transforms and shapes in its space, rounded outward, many at once.

What is written of an object is in `object_members`, and how it is read in `read_objects`.

The frames of bones are those of the joints that exporters write and engines import. Exporters convert the
matrix of an object on both sides, and its vertices with it. A joint keeps the axes of its bone, because
exporters convert its matrix on the left side only. So an entry of a bone is turned into the frame whose
conversion to the space of the document is the frame of the joint.

Entries that were read from a document keep its numbers, so that they are written again to the byte. A
conversion to Blender's unit and back can change the last bit of a number, and outward rounding then adds a
step of the last decimal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

import numpy as np

from ...core import Aabb, Obb, Shape
from ...core.numeric.arrays import CHUNK_ROWS, Bools, Floats, length, transform_vectors
from ...core.shapes import concatenated, where_shapes
from ..shape_members import MEMBERS, SHAPE_TYPES, TRACK_MEMBERS, TRACK_SHAPES, read_column, read_track_shapes
from ..spaces import (
    Space,
    json_number,
    matrix_from_quaternion,
    quaternion_from_matrix,
    rounded_around_center,
    rounded_down,
    rounded_hulls,
    rounded_obb,
    rounded_up,
    space_for,
    to_lists,
)
from .json_writer import Column, Members, object_values, present
from .model import (
    SHAPE_GROUPS,
    CollisionResponse,
    ObjectBounds,
    ObjectColumns,
    ShapeColumn,
    SortedObjects,
    SourceNumbers,
    Track,
    shape_columns,
)

Entry = TypeVar("Entry", ObjectBounds, Track)

IDENTITY_SPACE = space_for("blender")
"""A space that changes no number."""


def with_source_numbers(in_blender: Entry, in_document: Entry, space: Space) -> Entry:
    """Attach the numbers of the document, whose space is `space`, to an object or track in Blender's units.

    All arrays become read-only: only `dataclasses.replace` changes a part, and it omits these numbers.
    """
    _make_read_only((*vars(in_blender).values(), *vars(in_document).values()))
    object.__setattr__(in_blender, "source_numbers", SourceNumbers(space, in_document))
    return in_blender


def restore_source_numbers(entry: Entry, space: Space) -> Entry | None:
    """Return an object or track in the numbers that it had in a document of `space`.

    None when it was not read from a document of that space, or was changed since.
    """
    source = entry.source_numbers
    if source is None or source.space.scale != space.scale:
        return None
    return source.in_document if np.array_equal(source.space.axes, space.axes) else None


def _make_read_only(part: Any) -> None:
    """Make arrays read-only, also those of hulls, which are tuples; other shapes are immutable."""
    if isinstance(part, np.ndarray):
        part.setflags(write=False)
    elif isinstance(part, tuple):
        for item in part:
            _make_read_only(item)


@dataclass(eq=False, repr=False)
class WrittenEntries(Sequence[dict[str, Any]]):
    """Entries of a document, each converted to a dict on access.

    A document can have very many. `json_parts` writes them without making the dicts.

    entries : Objects or tracks, in the order of the document.
    block : Number of entries that are converted at once.
    members : Converts entries, or the columns of SortedObjects, to the members that they have in a space.
    """

    entries: Sequence[Any]
    space: Space
    block: int
    members: Callable[[Any, Space], Members]

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, index: Any) -> Any:
        rows = range(len(self))[index]
        if isinstance(rows, int):
            return next(self.converted(object_values, range(rows, rows + 1)))
        return [self[row] for row in rows] if rows.step != 1 else list(self.converted(object_values, rows))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.converted(object_values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # like a list

    def converted(
        self, convert: Callable[[Members, int], Iterable[Any]], rows: range | None = None
    ) -> Iterator[Any]:
        """Convert entries by their columns; those of a document of this space keep their numbers.

        convert : Converts columns of so many entries to their dicts or texts.
        rows : Of the entries; all by default.
        """
        rows = range(len(self)) if rows is None else rows
        for begin in range(rows.start, rows.stop, self.block):
            stop = min(begin + self.block, rows.stop)
            if isinstance(self.entries, SortedObjects):
                yield from convert(self.members(self.entries.columns(begin, stop), self.space), stop - begin)
                continue
            entries = self.entries[begin:stop]
            restored = [restore_source_numbers(entry, self.space) for entry in entries]
            pairs = zip(restored, entries, strict=True)
            for is_changed, run in groupby(pairs, key=lambda pair: pair[0] is None):
                found = [entry if is_changed else source for source, entry in run]
                members = self.members(found, self.space if is_changed else IDENTITY_SPACE)
                yield from convert(members, len(found))


def _turned(objects: ObjectColumns, axes: Floats) -> ObjectColumns:
    """Turn the frames of bones by a rotation (3, 3) of their axes."""
    if np.array_equal(axes, np.eye(3)):
        return objects
    is_bone = np.array([bool(bone) for bone in objects.bone], dtype=bool)
    turn = Space("blender", "+Z", "-Y", "right", "blender unit", axes, 1.0, 1.0)
    rotation, scale = objects.rotation.copy(), objects.scale.copy()
    matrices = matrix_from_quaternion(rotation[is_bone][:, [1, 2, 3, 0]]) @ axes.T
    rotation[is_bone] = quaternion_from_matrix(matrices)[:, [3, 0, 1, 2]]
    scale[is_bone] = turn.scale_factors(scale[is_bone])
    return objects._replace(
        rotation=rotation,
        scale=scale,
        local=_turned_columns(objects.local, is_bone, turn),
        local_envelope=_turned_columns(objects.local_envelope, is_bone, turn),
    )


def _turned_columns(
    columns: Mapping[str, ShapeColumn], is_bone: Bools, turn: Space
) -> dict[str, ShapeColumn]:
    """Shapes of several objects, of which those of bones are turned."""
    turned = {}
    for key, (rows, shapes) in columns.items():
        is_turned = is_bone[rows]
        if isinstance(shapes, Shape):
            changed = where_shapes(is_turned, turn.shape(shapes), shapes) if is_turned.any() else shapes
        else:
            pairs = zip(shapes, is_turned, strict=True)
            changed = [turn.shape(each) if turns else each for each, turns in pairs]
        turned[key] = ShapeColumn(rows, changed)
    return turned


UNIT_DECIMALS = 6
"""Decimals that directions, scale factors and frames keep at least, however lengths are rounded.

A unit vector must keep its length, and a frame must stay comparable with an animation curve.
"""

# More than lengths have, so that a rounded unit quaternion still has unit length.
_ROTATION_DECIMALS = 9

_ATTRIBUTES = {"id": "id", "name": "name", "type": "kind", "parent": "parent"}
"""Attributes that all objects have, and that are written as they are, by their keys."""

OBJECTS_AT_ONCE = 2048
"""Objects that are converted at once: larger blocks are no faster."""


def object_names(document: Mapping[str, Any]) -> dict[str, str]:
    """Names of the objects of a document by id, without converting their shapes."""
    objects = document["objects"]
    if not isinstance(objects, WrittenEntries):
        return {entry["id"]: entry["name"] for entry in objects}
    if isinstance(objects.entries, SortedObjects):
        return objects.entries.names()
    return {entry.id: entry.name for entry in objects.entries}


def object_members(
    entries: Sequence[ObjectBounds] | ObjectColumns,
    space: Space,
    decimals: int,
    responses: Mapping[str, CollisionResponse],
) -> Members:
    """Convert objects to the members of their entries in a space.

    decimals : Of lengths.
    responses : By the ids of objects.
    """
    columns = entries if isinstance(entries, ObjectColumns) else ObjectColumns.of(entries)
    # The conversion to the space turns the frames of bones, like other frames, to those of joints then.
    objects = _turned(columns, space.axes.T @ space.joint_axes) if any(columns.bone) else columns
    unit_decimals = max(decimals, UNIT_DECIMALS)
    rotations = _rounded_quaternions(space.quaternion(objects.rotation))
    exact = space.vectors(objects.translation)
    translations = np.around(exact, decimals)
    scales = np.around(space.scale_factors(objects.scale), unit_decimals)
    # Readers place local shapes at the rounded translation, so the local shapes move by the difference.
    lost = transform_vectors(matrix_from_quaternion(rotations).swapaxes(-1, -2), exact - translations)
    nowhere = np.zeros_like(lost)
    envelope = _written_shapes(objects.envelope, nowhere, space, decimals)
    # Placed at other frames as well, so that it grows by the difference instead of moving.
    grown = {
        key: ShapeColumn(rows, shapes.padded(length(lost)[rows]))
        for key, (rows, shapes) in objects.local_envelope.items()
    }
    if local_envelope := _written_shapes(grown, nowhere, space, decimals):
        envelope["local"] = Column(local_envelope, is_optional=True)
    found = [each and each._asdict() for each in map(responses.get, objects.id)] if responses else []
    members: dict[str, Column | Sequence[Any] | None] = {
        **{key: getattr(objects, name) for key, name in _ATTRIBUTES.items()},
        "override": present([override or None for override in objects.override]),
        "bone": present(objects.bone),
        "boneWeight": present(objects.bone_weight),
        "collision": present(found),
        "allFrames": present([flag or None for flag in objects.all_frames]),
        "transform": Column(
            {
                "translation": Column(translations, decimals=decimals),
                "rotation": Column(rotations, decimals=_ROTATION_DECIMALS),
                "scale": Column(scales, decimals=unit_decimals),
            }
        ),
        "local": Column(_written_shapes(objects.local, lost, space, decimals)),
        "world": Column(_written_shapes(objects.world, nowhere, space, decimals)),
        "envelope": Column(envelope, is_optional=True) if envelope else None,
    }
    return members


def _written_shapes(
    columns: Mapping[str, ShapeColumn], offsets: Floats, space: Space, decimals: int
) -> dict[str, Column]:
    """Convert the shapes of objects, moved by `offsets` (n, 3), all shapes of a type at once."""
    written: dict[str, Column] = {}
    for key in (key for key in SHAPE_TYPES if key in columns):
        rows, shapes = columns[key]
        moves = offsets[rows]
        values: list[Any] = []
        if key == "hull":
            moved = []
            for hull, move in zip(map(space.shape, shapes), moves, strict=True):
                moved.append(hull._replace(vertices=hull.vertices + move))
            for outer in rounded_hulls(moved, decimals):
                values.append({"vertices": to_lists(outer.vertices), "faces": outer.faces.tolist()})
        elif key == "compound":
            for compound, move in zip(shapes, moves, strict=True):
                of_parts = np.broadcast_to(move, (len(compound.parts), 3))
                parts = shape_columns([[part] for part in compound.parts])
                in_space = _written_shapes(parts, of_parts, space, decimals)
                values.append(object_values(in_space, len(of_parts)))
        elif key == "spheres":
            for tree, move in zip(shapes, moves, strict=True):
                children = [[child for child in pair if child >= 0] for pair in tree.children.tolist()]
                nodes = {"sphere": ShapeColumn(np.arange(len(children)), tree.spheres)}
                of_nodes = np.broadcast_to(move, (len(children), 3))
                spheres = _written_shapes(nodes, of_nodes, space, decimals)["sphere"].values
                values.append(object_values({**spheres, "children": Column(children)}, len(children)))
        else:
            in_space = space.shape(shapes)
            fields = {name: getattr(in_space, name) for name in in_space.field_shapes}
            fields |= {name: fields[name] + moves for name in ("center", "min", "max") if name in fields}
            rounded = rounded_fields(in_space.unchecked(*fields.values()), decimals)
            written[key] = Column({MEMBERS[name]: column for name, column in rounded.items()}, rows)
            continue
        written[key] = Column(values, rows)
    return written


def rounded_fields(shapes: Any, decimals: int) -> dict[str, Column]:
    """Round boxes, spheres, or shapes with an axis outward.

    shapes : batch (n,). In the space in which they are written.
    decimals : Of lengths.
    Returns fields : dict of str to Column. Numbers of each field; rotations are quaternions, (x, y, z, w).
    """
    directions: dict[str, Floats] = {}
    if isinstance(shapes, Aabb):
        outer: Any = Aabb.unchecked(rounded_down(shapes.min, decimals), rounded_up(shapes.max, decimals))
    elif isinstance(shapes, Obb):
        # Boxes grow by the angle that rounding turns them, so a box that is read must be written with the
        # same rotation. After a single rounding, one or two of 100 quaternions still change.
        once = _rounded_quaternions(quaternion_from_matrix(shapes.rotation))
        rotation = _rounded_quaternions(quaternion_from_matrix(matrix_from_quaternion(once)))
        directions["rotation"] = rotation
        outer = rounded_obb(shapes, matrix_from_quaternion(rotation), decimals)
    elif "center" in shapes.field_shapes:
        if "axis" in shapes.field_shapes:
            directions["axis"] = _stable_axes(shapes.axis)
        outer = rounded_around_center(shapes, directions.get("axis"), decimals)
    else:
        raise TypeError(f"no rounding of {type(shapes).__name__}")
    lengths = {name: Column(getattr(outer, name), decimals=decimals) for name in outer.field_shapes}
    return lengths | {name: Column(each, decimals=_ROTATION_DECIMALS) for name, each in directions.items()}


def _stable_axes(axes: Floats) -> Floats:
    """Round unit vectors (n, 3) so that normalizing and rounding them again changes nothing.

    Of both directions of an axis, that whose last number that is not zero is positive.
    """
    for _ in range(2):
        axes = np.around(axes / length(axes)[:, None], _ROTATION_DECIMALS)
    last = 2 - (axes[:, ::-1] != 0).argmax(axis=1)
    signs = np.where(axes[np.arange(len(axes)), last] < 0, -1.0, 1.0)
    return np.asarray(axes * signs[:, None] + 0.0)


def _rounded_quaternions(quaternions: Floats) -> Floats:
    """Quaternions (n, 4), (x, y, z, w), rounded; of the two that are the same rotation, that with w >= 0."""
    signs = np.where(quaternions[:, 3:] < 0, -1.0, 1.0)
    return np.asarray(np.around(quaternions * signs, _ROTATION_DECIMALS))


def read_objects(
    entries: Sequence[Mapping[str, Any]], space: Space, to_blender: Space
) -> tuple[ObjectBounds, ...]:
    """Convert the objects of a document to Blender's units; they keep the numbers of the document.

    space, to_blender : The document's, and its inverse.
    """
    transforms = [entry["transform"] for entry in entries]
    envelopes = [entry.get("envelope", {}) for entry in entries]
    in_document = ObjectColumns(
        **{name: [entry[key] for entry in entries] for key, name in _ATTRIBUTES.items()},
        override=[entry.get("override") for entry in entries],
        translation=_vectors(transforms, "translation", 3),
        rotation=_vectors(transforms, "rotation", 4)[:, [3, 0, 1, 2]],
        scale=_vectors(transforms, "scale", 3),
        local=_shapes([entry["local"] for entry in entries]),
        world=_shapes([entry["world"] for entry in entries]),
        envelope=_shapes(envelopes),
        local_envelope=_shapes([envelope.get("local", {}) for envelope in envelopes]),
        bone=[entry.get("bone") for entry in entries],
        all_frames=[entry.get("allFrames", False) for entry in entries],
        bone_weight=[entry.get("boneWeight") for entry in entries],
    )
    shapes: dict[str, Any] = {
        group: {key: column.converted(to_blender) for key, column in getattr(in_document, group).items()}
        for group in SHAPE_GROUPS
    }
    in_blender = in_document._replace(
        translation=to_blender.vectors(in_document.translation),
        rotation=to_blender.quaternion(in_document.rotation)[:, [3, 0, 1, 2]],
        scale=to_blender.scale_factors(in_document.scale),
        **shapes,
    )
    if any(in_blender.bone):  # these get the axes that they have in Blender
        in_blender = _turned(in_blender, space.joint_axes.T @ space.axes)
    pairs = zip(in_blender.objects(), in_document.objects(), strict=True)
    return tuple(with_source_numbers(*pair, space) for pair in pairs)


def _shapes(groups: Sequence[Mapping[str, Any]]) -> dict[str, ShapeColumn]:
    """Shapes of the groups of several objects, in the document's space."""
    columns = ((key, ShapeColumn(*read_column(key, groups))) for key in SHAPE_TYPES)
    return {key: column for key, column in columns if len(column.rows)}


def _vectors(transforms: Sequence[Mapping[str, Any]], key: str, size: int) -> Floats:
    return np.array([each[key] for each in transforms], dtype=np.float64).reshape(-1, size)


def written_tracks(tracks: Sequence[Track], space: Space, decimals: int) -> WrittenEntries:
    """Return the tracks of a document, sorted by id."""
    longest = max(len(track.frames) for track in tracks)
    # Blocks of the size that is converted fastest.
    block = max(1, CHUNK_ROWS // 2 // max(1, longest))
    in_order = sorted(tracks, key=lambda track: track.id)
    return WrittenEntries(in_order, space, block, partial(_track_members, decimals=decimals))


def _track_members(tracks: Sequence[Track], space: Space, decimals: int) -> Members:
    numbers: list[list[float]] = []
    frames = np.zeros(0)
    for track in tracks:
        # The same list while the frames are the same.
        is_same = numbers and np.array_equal(frames, track.frames)
        numbers.append(numbers[-1] if is_same else list(map(json_number, track.frames.tolist())))
        frames = track.frames
    members: dict[str, Column | Sequence[Any] | None] = {
        "object": [track.id for track in tracks],
        "space": ["world"] * len(tracks),
        "frames": numbers,
    }
    for key in TRACK_SHAPES:
        shapes = [getattr(track, key) for track in tracks]
        rows = [row for row, shape in enumerate(shapes) if shape is not None]
        if rows:
            in_rows = [shapes[row] for row in rows]
            counts = np.array([shape.shape[0] for shape in in_rows])
            fields = rounded_fields(space.shape(concatenated(*in_rows)), decimals)
            lists = {TRACK_MEMBERS[name]: each._replace(counts=counts) for name, each in fields.items()}
            members[key] = Column(lists, np.array(rows))
    return members


def read_track(entry: Mapping[str, Any], space: Space, to_blender: Space) -> Track:
    """Convert a track of a document to Blender's units, as `read_objects`."""
    shapes, frames = read_track_shapes(entry), np.array(entry["frames"], dtype=np.float64)
    in_document = Track(entry["object"], frames, shapes.get("sphere"), shapes.get("aabb"))
    in_blender: dict[str, Any] = {key: to_blender.shape(shape) for key, shape in shapes.items()}
    return with_source_numbers(replace(in_document, **in_blender), in_document, space)
