"""Shapes of a document: their keys, and shapes of the math from their members, in the document's space."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core import Capsule, ConvexHull, Cylinder, Obb, Sphere, SphereTree
from ..core.compound.convex_parts import Compound
from ..core.numeric.arrays import Floats, Ints
from ..core.shapes import VOLUMES
from .spaces import matrix_from_quaternion

_OF_PARTS: Mapping[str, Any] = {"compound": Compound, "hull": ConvexHull, "spheres": SphereTree}

SHAPE_TYPES: Mapping[str, Any] = dict(sorted({**VOLUMES, **_OF_PARTS}.items()))
"""The shapes that an object can have, by their JSON keys, in the order in which they are written."""

KEYS_OF_SHAPES: Mapping[type, str] = {kind: key for key, kind in SHAPE_TYPES.items()}

MEMBERS = {
    name: first + "".join(map(str.capitalize, rest))
    for kind in VOLUMES.values()
    for name in kind.field_shapes
    for first, *rest in (name.split("_"),)
}
"""Keys of the members that hold the fields of shapes; rotations are quaternions, (x, y, z, w)."""

EXPORTED_SHAPES = ("compound", "hull", "spheres", "capsule", "cylinder", "obb", "aabb", "sphere")
"""Shapes of other files than documents; those with one for each object have the first that they can store."""

TRACK_SHAPES = ("sphere", "aabb")
"""Shapes that a track can have, in the order in which they are written."""

TRACK_MEMBERS = {"center": "centers", "radius": "radii", "min": "mins", "max": "maxs"}
"""Keys of the members of tracks that hold a field at all frames."""


def read_shape(key: str, value: Any) -> Any:
    """Convert a shape of a document, of any kind. Its axes are not normalized again, as by `Space.shape`."""
    if key == "hull":
        vertices: Any = np.array(value["vertices"], dtype=np.float64)
        return ConvexHull(vertices, np.array(value["faces"], dtype=np.int64))
    if key == "compound":
        return Compound(tuple(read_shape(*item) for part in value for item in part.items()))
    if key == "spheres":
        spheres = read_shapes("sphere", value)
        children = np.array([node["children"] or (-1, -1) for node in value], dtype=np.int64)
        return SphereTree(spheres.center, spheres.radius, children)
    return _shape_of_fields(key, lambda name: value[MEMBERS[name]])


def read_shapes(key: str, values: Sequence[Mapping[str, Any]]) -> Any:
    """Convert volumes of one type of a document to a batch (n,), as `read_shape`."""
    return _shape_of_fields(key, lambda name: [value[MEMBERS[name]] for value in values])


def read_column(key: str, groups: Sequence[Mapping[str, Any]]) -> tuple[Ints, Any]:
    """Convert the shapes of one key of groups of shapes.

    Returns rows : (m,) int. Groups that have one.
    Returns shapes : Batch (m,), or list of hulls, compounds or trees
    """
    rows = np.array([row for row, group in enumerate(groups) if key in group], dtype=np.int64)
    values = [groups[row][key] for row in rows.tolist()]
    if key in _OF_PARTS or not values:
        return rows, [read_shape(key, value) for value in values]
    return rows, read_shapes(key, values)


def read_placement(entry: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """Convert translation (3,) and rotation (4,), (x, y, z, w), of an object."""
    transform = entry["transform"]
    return np.array(transform["translation"], np.float64), np.array(transform["rotation"], np.float64)


def read_normalized_shape(key: str, value: Any) -> Obb | Sphere | Capsule | Cylinder:
    """Convert a box, sphere, capsule or cylinder of a document; axes become unit vectors."""
    shape: Obb | Sphere | Capsule | Cylinder = read_shape(key, value)
    return type(shape)(*(getattr(shape, name) for name in shape.field_shapes))


def read_track_shapes(track: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the boxes and spheres of a track to batches (k,), by their keys."""

    def column(key: str, name: str) -> ArrayLike:
        return np.reshape(track[key][TRACK_MEMBERS[name]], (-1, *SHAPE_TYPES[key].field_shapes[name]))

    return {key: _shape_of_fields(key, partial(column, key)) for key in TRACK_SHAPES if key in track}


def _shape_of_fields(key: str, field: Callable[[str], ArrayLike]) -> Any:
    """Make shapes from the values of their fields by name."""
    kind = SHAPE_TYPES[key]
    fields = {name: np.array(field(name), dtype=np.float64) for name in kind.field_shapes}
    if "rotation" in fields:
        fields["rotation"] = matrix_from_quaternion(fields["rotation"])
    return kind.unchecked(*fields.values())


def preferred_shapes(
    entry: Mapping[str, Any], storable: AbstractSet[str]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the key and members of the world-space shape of an object that a file can store.

    For a compound, that is each of its parts, and for a sphere tree each of its leaves.

    storable : Keys of the shapes, and of parts of compounds, that the file can store.
    """
    world = entry["world"]
    preferred = ("sphere", *EXPORTED_SHAPES) if entry.get("override") == "sphere" else EXPORTED_SHAPES
    for key in preferred:
        if key in world and key in storable:
            shapes = [(key, world[key])]
            if key == "spheres":
                shapes = [("sphere", node) for node in world[key] if not node["children"]]
            if key == "compound":
                shapes = [item for part in world[key] for item in part.items()]
            if storable >= {kind for kind, _ in shapes}:
                yield from shapes
                return
