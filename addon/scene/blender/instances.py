"""Visible mesh-like objects and instances of objects, as arrays, and the names by which they are known.

Objects, collection instances and geometry-nodes instances all come out of the dependency graph's
`object_instances`. Its items are valid only during their step of the loop, so nothing here keeps one.

Among them are objects that the viewport does not show, because a view with local collections may show them:
those in collections that are hidden by the eye in the outliner. Objects of background scenes are shown, but
are not in the scene. All readers of instances ask `shown_objects`.

Blender copies matrices and ids of all instances by `foreach_get`, but not the objects that they show. Those
are found in a loop over all instances that reads three pointers each; whatever else is needed of an object is
read once per kind of instance.

Names in old or damaged files may not be UTF-8: bpy raises errors for them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.messages import message
from ...core.numeric.arrays import Bools, Floats, Ints
from ...core.progress import run_to_end


def name_of(block: Any) -> str:
    r"""Return the name of a data-block, or of a part of one, with bytes that are not UTF-8 as \xe9."""
    try:
        return str(block.name)
    except UnicodeDecodeError as error:
        return error.object.decode("utf-8", "backslashreplace")


def are_names_readable(blocks: Iterable[Any]) -> bool:
    """Return whether the names of all data-blocks, or of parts of one, are UTF-8."""
    try:
        for block in blocks:
            _ = block.name
    except UnicodeDecodeError:
        return False
    return True


def full_name_of(block: bpy.types.ID) -> str:
    """Return the full name of a data-block, which identifies it among those of its type.

    A byte that is not UTF-8 is a surrogate, so that different names stay different. Neither documents nor bpy
    accept surrogates: use `formats.wording.valid_text` to show the name.
    """
    try:
        return block.name_full
    except UnicodeDecodeError as error:
        return error.object.decode("utf-8", "surrogateescape")


CURVE_LIKE = frozenset({"CURVE", "SURFACE", "FONT", "META"})
MESH_LIKE = CURVE_LIKE | {"MESH"}
UNSUPPORTED_REASONS = {
    "CURVES": message("hair curves have no surface"),
    "POINTCLOUD": message("point clouds have no surface"),
    "VOLUME": message("volumes have no surface"),
    "GREASEPENCIL": message("Grease Pencil drawings have no surface"),
    "GPENCIL": message("Grease Pencil drawings have no surface"),
}

PARTICLES_REASON = message("hair and particles have no surface")

UNUSED_INDEX = 2**31 - 1
"""Fills the persistent ids of instances to eight numbers."""

InstanceKey: TypeAlias = tuple[str, str, tuple[int, ...]]
"""Owner's full name, object's full name, Blender's persistent id of the instance; stable over all frames."""


class VisibleInstance(NamedTuple):
    """One visible mesh-like object or instance, valid until the next step of the loop that it came from.

    owner : Original object that instances it; the object itself if it is no instance.
    """

    key: InstanceKey
    instance: bpy.types.DepsgraphObjectInstance
    owner: bpy.types.Object


def shown_objects(depsgraph: bpy.types.Depsgraph) -> set[bpy.types.Object] | None:
    """Original objects that a view layer shows, if the dependency graph has them; None if it shows all.

    These are the objects of collections that are not hidden, whatever hides the objects themselves: Blender
    omits those. The local view and hidden types of a 3D view do not count: files are also read without one.
    """
    layer = depsgraph.view_layer
    has_others = depsgraph.scene.background_set is not None
    # As a rule all are shown, so that no object has to be read.
    is_filtered = has_others or any(_closes_eye(child) for child in layer.layer_collection.children)
    return _objects_of_layer(layer) if is_filtered else None


def _closes_eye(branch: bpy.types.LayerCollection) -> bool:
    return branch.hide_viewport or any(_closes_eye(child) for child in branch.children)


def _objects_of_layer(layer: bpy.types.ViewLayer) -> set[bpy.types.Object]:
    """All objects in the collections of a view layer that are not hidden or excluded."""
    shown: set[bpy.types.Object] = set()
    waiting = [layer.layer_collection]
    while waiting:
        branch = waiting.pop()
        # Collections in a hidden one are hidden, but those in an excluded one can be included.
        if branch.hide_viewport or branch.collection.hide_viewport:
            continue
        if not branch.exclude:
            shown.update(branch.collection.objects)
        waiting += branch.children
    return shown


def background_objects(depsgraph: bpy.types.Depsgraph) -> list[bpy.types.Object]:
    """Original objects of background scenes that the viewport shows, with a surface or instances with one."""
    scene = depsgraph.scene.background_set
    shown: set[bpy.types.Object] = set()
    scenes: list[bpy.types.Scene] = []
    while scene is not None and scene not in scenes:
        scenes.append(scene)
        layers = list(scene.view_layers)
        # Blender shows the first one that is not rendered, if there is one.
        shown |= _objects_of_layer(next((layer for layer in layers if not layer.use), layers[0]))
        scene = scene.background_set
    shown -= _objects_of_layer(depsgraph.view_layer)
    surfaces = (item for item in depsgraph.object_instances if item.object.type in MESH_LIKE)
    owners = dict.fromkeys((item.parent or item.object).original for item in surfaces)
    return [owner for owner in owners if owner in shown]


def is_made_by_nodes(key: InstanceKey) -> bool:
    """Return whether an instance is made by the object's own geometry nodes, and is not the object's mesh."""
    owner, name, indices = key
    return bool(indices) and owner == name


NO_INDEX = int(np.iinfo(np.int64).min)
"""Fills rows of persistent ids of different lengths; less than any index, so a shorter id sorts first."""

_ROWS_AT_ONCE = 4096
"""Instances between two yields."""

_ID_LENGTH = 8
"""Numbers in Blender's persistent id of an instance."""


class InstanceKind(NamedTuple):
    """Properties that instances share that show the same mesh of the same object for the same owner.

    key : Key of the first one.
    is_instance, is_curve : Whether it is an instance; and a curve, surface, text or metaball.
    mesh : The same for kinds that show the same mesh of the same object.
    details : What was read of the first one.
    """

    key: InstanceKey
    is_instance: bool
    is_curve: bool
    mesh: int
    details: Any


@dataclass(frozen=True)
class InstanceTable:
    """Visible mesh-like objects and instances of a dependency graph, in its order.

    kind_of : (n,) int32. Kind of each row.
    positions : (n,) int. Position of each row in the dependency graph's instances.
    indices : (n, k) int64. Blender's persistent ids, filled up with NO_INDEX; k is the length of the longest.
    count : Number of the dependency graph's instances, others than mesh-like ones included.
    without_surface : Full name of the owner, name to show, and type of all that instances or nodes show
        without a surface.
    """

    kinds: list[InstanceKind]
    kind_of: NDArray[np.int32]
    positions: Ints
    indices: NDArray[np.int64]
    count: int
    without_surface: tuple[tuple[str, str, str], ...]
    _matrices: NDArray[np.float32]

    def with_matrices(self, matrices: NDArray[np.float32]) -> InstanceTable:
        """Return the same instances with others of Blender's matrices (count, 4, 4)."""
        if len(self.positions) < self.count:
            matrices = matrices[self.positions]
        return replace(self, _matrices=matrices)

    def matrices(self, rows: Ints) -> Floats:
        """World matrices (m, 4, 4) of rows (m,)."""
        # Blender stores matrices by columns.
        return self._matrices[rows].transpose(0, 2, 1).astype(np.float64)

    def sorted_rows(self, rows: Ints, groups: Ints) -> Ints:
        """Rows (m,) sorted by their groups (m,), then by their persistent ids."""
        return np.asarray(rows[np.lexsort((*self.indices[rows].T[::-1], groups))])

    def key_of(self, row: int) -> InstanceKey:
        kind = self.kinds[self.kind_of[row]]
        return (*kind.key[:2], used_indices(self.indices[row])) if kind.is_instance else kind.key

    def rows_with(self, keys: Collection[InstanceKey]) -> dict[int, InstanceKey]:
        """Return the rows that have one of several keys, increasing, with their keys."""
        kinds = {(owner, shown, bool(indices)) for owner, shown, indices in keys}
        is_wanted = [(*kind.key[:2], bool(kind.key[2])) in kinds for kind in self.kinds]
        rows = np.flatnonzero(np.array([*is_wanted, False], dtype=bool)[self.kind_of])
        return {row: key for row in rows.tolist() if (key := self.key_of(row)) in keys}


def used_indices(indices: NDArray[np.int64]) -> tuple[int, ...]:
    """Return the persistent id (k,) of one instance without the numbers that fill it up."""
    return tuple([index for index in indices.tolist() if index != NO_INDEX])


def read_instance_table(
    depsgraph: bpy.types.Depsgraph, describe: Callable[[VisibleInstance], Any]
) -> Generator[int, None, InstanceTable]:
    """Read all visible mesh-like objects and instances; yields the number seen after each few thousand.

    The dependency graph must not change until the end.

    depsgraph : Evaluated at the frame to read.
    describe : Reads the details of a kind from its first instance.
    """
    numbers, kinds, without_surface = yield from _numbered_kinds(depsgraph, describe)
    # Blender would go through all instances to count them.
    count, kind_of = len(numbers), np.array(numbers, dtype=np.int32)
    ids = np.empty((count, _ID_LENGTH), dtype=np.int32)
    depsgraph.object_instances.foreach_get("persistent_id", ids.reshape(-1))
    # Objects that are no instances have no ids.
    ids[~np.array([*(kind.is_instance for kind in kinds), False], dtype=bool)[kind_of]] = UNUSED_INDEX
    is_used = ids != UNUSED_INDEX
    if (is_used[:, 1:] & ~is_used[:, :-1]).any():
        # As a rule only the end is unused.
        order = np.argsort(~is_used, axis=1, kind="stable")
        ids, is_used = np.take_along_axis(ids, order, axis=1), np.take_along_axis(is_used, order, axis=1)
    length = int(np.count_nonzero(is_used.any(axis=0)))
    indices = np.where(is_used[:, :length], ids[:, :length].astype(np.int64), NO_INDEX)
    is_row = kind_of >= 0
    if any(kind.is_curve for kind in kinds):
        is_row &= ~_is_converted(kind_of, indices, kinds)
    positions = np.flatnonzero(is_row)
    matrices = np.empty((count, 4, 4), dtype=np.float32)
    depsgraph.object_instances.foreach_get("matrix_world", matrices.reshape(-1))
    if len(positions) < count:
        kind_of, indices, matrices = kind_of[positions], indices[positions], matrices[positions]
    return InstanceTable(kinds, kind_of, positions, indices, count, tuple(without_surface), matrices)


def _numbered_kinds(
    depsgraph: bpy.types.Depsgraph, describe: Callable[[VisibleInstance], Any]
) -> Generator[int, None, tuple[array[int], list[InstanceKind], dict[tuple[str, str, str], None]]]:
    """Find the kind of each instance, -1 for one that is not visible or has no surface.

    Returns numbers, kinds, without_surface : See `InstanceTable`.
    """
    numbers, kinds, without_surface = array("i"), list[InstanceKind](), dict[tuple[str, str, str], None]()
    # By pointers, which stay valid and distinct while the dependency graph does not change.
    number_of: dict[Any, int] = {}
    mesh_of: dict[Any, int] = {}
    owners = shown_objects(depsgraph)
    for position, item in enumerate(depsgraph.object_instances):
        if not position % _ROWS_AT_ONCE and position:
            yield position
        shown = item.object
        pointers = shown.original, shown.data, item.parent
        if pointers in number_of:
            numbers.append(number_of[pointers])
            continue
        owner, name = (item.parent or shown).original, full_name_of(shown.original)
        is_visible = owners is None or owner in owners
        if is_visible and item.is_instance and shown.type in UNSUPPORTED_REASONS:
            # Nodes of an object show what has the name of the object.
            names = dict.fromkeys((name_of(owner), name_of(shown.original)))
            without_surface[full_name_of(owner), "/".join(names), shown.type] = None
        number_of[pointers] = len(kinds) if is_visible and shown.type in MESH_LIKE else -1
        numbers.append(number_of[pointers])
        if is_visible and shown.type in MESH_LIKE:
            persistent_id: Any = item.persistent_id if item.is_instance else ()
            ids = tuple([index for index in persistent_id if index != UNUSED_INDEX])
            key: InstanceKey = (full_name_of(owner) if ids else name, name, ids)
            mesh = mesh_of.setdefault((shown.original, shown.data, is_made_by_nodes(key)), len(mesh_of))
            details = describe(VisibleInstance(key, item, owner))
            kinds.append(InstanceKind(key, item.is_instance, shown.type in CURVE_LIKE, mesh, details))
    return numbers, kinds, without_surface


def instances_at(
    depsgraph: bpy.types.Depsgraph, table: InstanceTable, rows: Iterable[int]
) -> Iterator[tuple[int, VisibleInstance]]:
    """Iterate over some rows of a table, increasing, with their instances.

    The dependency graph must be as it was when the table was read.
    """
    instances = iter(depsgraph.object_instances)
    next_position = 0
    for row in rows:
        position = int(table.positions[row])
        item = next(islice(instances, position - next_position, None))
        next_position = position + 1
        yield row, VisibleInstance(table.key_of(row), item, (item.parent or item.object).original)


def visible_instances(depsgraph: bpy.types.Depsgraph) -> Iterator[VisibleInstance]:
    """Iterate over all visible mesh-like objects and instances of a dependency graph, in its order."""
    table = run_to_end(read_instance_table(depsgraph, lambda _: None))
    return (item for _, item in instances_at(depsgraph, table, range(len(table.positions))))


def meshes_at(
    depsgraph: bpy.types.Depsgraph, table: InstanceTable, rows: Ints
) -> Iterator[tuple[Ints, VisibleInstance]]:
    """Iterate over the meshes that increasing rows (m,) show: all rows of each, and the first's instance.

    The dependency graph must be as it was when the table was read, but for matrices and vertices.
    """
    meshes = np.array([*(kind.mesh for kind in table.kinds), -1], dtype=np.int64)[table.kind_of[rows]]
    order = np.argsort(meshes, kind="stable")
    shared = np.split(rows[order], np.flatnonzero(np.diff(meshes[order])) + 1) if len(rows) else []
    shared.sort(key=lambda each: int(each[0]))
    first = instances_at(depsgraph, table, [int(each[0]) for each in shared])
    yield from ((each, item) for (_, item), each in zip(first, shared, strict=True))


def _is_converted(
    kind_of: NDArray[np.int32], indices: NDArray[np.int64], kinds: Sequence[InstanceKind]
) -> Bools:
    """Mask (n,) of the meshes that Blender converts curves to, which have the same geometry.

    A curve, surface, text or metaball is followed by its mesh, as an instance with one more index.
    """
    is_converted = np.zeros(len(kind_of), dtype=bool)
    curves = {kind.key[1] for kind in kinds if kind.is_curve}
    is_related = np.array([kind.key[1] in curves for kind in kinds] + [False], dtype=bool)
    place = np.cumsum(kind_of >= 0)
    converted: tuple[str, tuple[int, ...]] | None = None
    last = -1
    for row in np.flatnonzero(is_related[kind_of]).tolist():
        if last < 0 or place[row] != place[last] + 1:
            converted = None
        last = row
        kind = kinds[kind_of[row]]
        used = used_indices(indices[row])
        if not kind.is_curve and converted == (kind.key[1], used[1:]):
            is_converted[row] = True
            continue
        converted = (kind.key[1], used) if kind.is_curve else None
    return is_converted
