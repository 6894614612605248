"""Colliders for what Blender's own glTF exporter writes: fitted to the vertices that are exported.

The exporter's own objects are read as they are before it writes them: nodes with their places, meshes with
their positions. So colliders hold what is in the file, modifiers applied or not, shape keys as they stand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import CollisionBoundsError, Obb, Sphere
from ..core.arrays import Floats
from ..formats.gltf import BODIES, SHAPE_LISTS, Dialect, body
from ..formats.gltf_colliders import Collider, GltfError, Turn, collider_below, node_matrix, straightened
from ..formats.spaces import quaternion_of
from .errors import reason_of
from .extraction import Geometry, Placement
from .fitting import FitSettings, fitted_both
from .gltf_hulls import Hulls
from .loose_parts import connected, rows_by_part
from .overrides import Override, override_of
from .own_settings import fit_of, is_collider, is_in_parts

Node = Any
"""A node of the exporter, `io_scene_gltf2.io.com.gltf2_io.Node`."""

ExportedShape: TypeAlias = Literal["obb", "sphere", "hull"]

_TRIANGLES = 4
_NUMBERS = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}


@dataclass(frozen=True)
class ExportSettings:
    """Which colliders are added.

    dialects : each collider is told in all of them
    shape : for objects that were not given one by hand
    most : corners of a hull, 4 to 255
    y_up : whether the exporter turns Blender's axes to glTF's
    """

    dialects: Sequence[Dialect]
    shape: ExportedShape
    fit: FitSettings
    most: int = 255
    y_up: bool = True


class _Placed(NamedTuple):
    """A collider below a node, and the mesh of the exporter that it is, if it is a hull."""

    collider: Collider
    mesh: Any


def add_colliders(
    roots: Iterable[Node],
    objects: Mapping[int, bpy.types.Object],
    settings: ExportSettings,
    warn: Callable[[str], None],
) -> None:
    """Give each node with a mesh a child with a collider; one for each loose part.

    roots : the nodes of a scene that are below no other
    objects : the object of each node, by the node's id()
    warn : is told of each node that gets no collider, or not for all of its parts, and why
    """
    hulls = Hulls(settings.most)
    for node, matrix in list(_placed(roots, np.eye(4))):
        item = objects.get(id(node))
        if node.mesh is None or (isinstance(item, bpy.types.Object) and is_collider(item.original)):
            continue
        try:
            found = list(_colliders(node, matrix, item, settings, hulls))
        except CollisionBoundsError as error:
            found = [error]
        made = [own for own in found if isinstance(own, _Placed)]
        problems = Counter(reason_of(own) for own in found if not isinstance(own, _Placed))
        for problem, count in problems.items():
            which = f" for {count} of its {len(found)} parts" if made or len(problems) > 1 else ""
            warn(f"{node.name}: no collider{which}, {problem}")
        nodes = [_node(_name(node, number), own, settings.dialects) for number, own in enumerate(made)]
        if nodes:
            node.children = [*(node.children or ()), *nodes]


def _name(node: Node, number: int) -> str:
    return f"{node.name} collider" + (f" {number + 1}" if number else "")


def _placed(nodes: Iterable[Node], above: Floats) -> Iterator[tuple[Node, Floats]]:
    """All nodes with their world matrices (4, 4)."""
    for node in nodes:
        if node.matrix:
            own = np.array(node.matrix, dtype=np.float64).reshape(4, 4).T
        else:
            turn = node.rotation or (0, 0, 0, 1)
            own = node_matrix(node.translation or (0, 0, 0), turn, node.scale or (1, 1, 1))
        matrix = above @ own
        yield node, matrix
        yield from _placed(node.children or (), matrix)


def _colliders(
    node: Node, matrix: Floats, item: bpy.types.Object | None, settings: ExportSettings, hulls: Hulls
) -> Iterator[_Placed | CollisionBoundsError]:
    """The colliders of a node, by its parts, or why a part has none."""
    if node.skin is not None:
        raise GltfError("it is moved by bones, and a collider would stay behind")
    original = item.original if isinstance(item, bpy.types.Object) else None
    override = None if original is None else override_of(original)
    fit = settings.fit if original is None else fit_of(original, settings.fit)
    shape = settings.shape
    if override is not None:
        groups, radius = [_axes(override, settings.y_up)], override.radius
        shape = "sphere" if override.shape == "sphere" else "obb"
    else:
        points = np.concatenate([_positions(node.mesh, part) for part in node.mesh.primitives])
        groups, radius = [points], 0.0
        if original is not None and is_in_parts(original):
            groups = [points[rows] for rows in rows_by_part(_part_numbers(node.mesh, points))]
    turn = straightened(matrix[:3, :3])
    if shape == "hull":
        yield from _hulls(node, matrix, turn, groups, fit.padding, hulls)
        return
    frame = matrix @ node_matrix(np.zeros(3), turn.rotation, turn.scale)
    quaternion = quaternion_of(frame[:3, :3])[[3, 0, 1, 2]]
    placed = Placement(frame[:3, 3], quaternion, np.ones(3))
    geometries = [Geometry(points, matrix, radius) for points in groups]
    along = replace(fit, axes="object")
    for fitted in fitted_both(geometries, [placed] * len(geometries), (shape,), along):
        if isinstance(fitted, CollisionBoundsError):
            yield fitted
            continue
        volume = fitted[1][0]
        assert isinstance(volume, (Obb, Sphere))
        try:
            yield _Placed(collider_below(matrix, turn, volume), None)
        except GltfError as error:
            yield error


def _hulls(
    node: Node,
    matrix: Floats,
    turn: Turn,
    groups: Iterable[NDArray[np.float32]],
    padding: float,
    hulls: Hulls,
) -> Iterator[_Placed | CollisionBoundsError]:
    """The same as hulls: at the node's own place, whose scale and shear their nodes take back."""
    place = Collider(np.zeros(3), turn.rotation, turn.scale, {})
    for number, points in enumerate(groups):
        try:
            yield _Placed(place, hulls.mesh(_name(node, number), points, matrix[:3, :3], turn, padding))
        except CollisionBoundsError as error:
            yield error


def _axes(override: Override, y_up: bool) -> NDArray[np.float32]:
    x, y, z = override.points.T
    return np.stack([x, z, -y] if y_up else [x, y, z], axis=1)


def _positions(mesh: Any, primitive: Any) -> NDArray[np.float32]:
    """The vertices (n, 3) of a primitive, moved as its shape keys are set."""
    points = _numbers(primitive.attributes["POSITION"]).reshape(-1, 3)
    for weight, target in zip(mesh.weights or (), primitive.targets or (), strict=False):
        if weight and "POSITION" in target:
            moved = _numbers(target["POSITION"]).reshape(-1, 3).astype(np.float64)
            points = (points + weight * moved).astype(np.float32)
    return points


def _numbers(accessor: Any) -> NDArray[Any]:
    """What an accessor of the exporter stands for, sparse or not, in one row."""
    kind = _NUMBERS[int(accessor.component_type)]
    width = {"SCALAR": 1, "VEC3": 3}[str(getattr(accessor.type, "value", accessor.type))]
    if accessor.buffer_view is not None:
        return np.frombuffer(accessor.buffer_view.data, dtype=kind)[: accessor.count * width]
    values = np.zeros((accessor.count, width), dtype=kind)
    if accessor.sparse is not None:
        rows = np.frombuffer(
            accessor.sparse.indices.buffer_view.data, _NUMBERS[int(accessor.sparse.indices.component_type)]
        )
        some = np.frombuffer(accessor.sparse.values.buffer_view.data, dtype=kind)
        values[rows[: accessor.sparse.count]] = some.reshape(-1, width)[: accessor.sparse.count]
    return values.reshape(-1)


def _part_numbers(mesh: Any, points: NDArray[np.float32]) -> NDArray[np.intp]:
    """The loose part (n,) of each vertex; those at one place, where a seam may part them, are one."""
    _, same = np.unique(points, axis=0, return_inverse=True)
    same = same.reshape(-1)
    edges = [np.empty((0, 2), dtype=np.int32)]
    start = 0
    for primitive in mesh.primitives:
        count = primitive.attributes["POSITION"].count
        if primitive.indices is not None and primitive.mode in (None, _TRIANGLES):
            corners = _numbers(primitive.indices).reshape(-1, 3).astype(np.int32) + start
            edges += [corners[:, :2], corners[:, 1:]]
        start += count
    welded = same[np.concatenate(edges)].astype(np.int32)
    return np.asarray(connected(int(same.max(initial=-1)) + 1, welded)[same])


def _node(name: str, placed: _Placed, dialects: Sequence[Dialect]) -> Node:
    from io_scene_gltf2.io.com import gltf2_io
    from io_scene_gltf2.io.com.gltf2_io_extensions import Extension

    told = {
        BODIES[dialect]: Extension(BODIES[dialect], _told(placed, dialect), required=False)
        for dialect in dialects
    }
    nothing = ("camera", "extras", "matrix", "mesh", "skin", "weights")
    place = {"translation": None, "rotation": None, "scale": None, **placed.collider.placement()}
    return gltf2_io.Node(name=name, children=[], extensions=told, **place, **dict.fromkeys(nothing))


def _told(placed: _Placed, dialect: Dialect) -> dict[str, Any]:
    """What a node says of its collider. The exporter puts indices where shapes and meshes are."""
    from io_scene_gltf2.io.com.gltf2_io_extensions import ChildOfRootExtension

    shape = dict(placed.collider.shape)
    if placed.mesh is not None:
        if dialect == "khr":
            # Hulls are no implicit shapes: the draft has them beside these.
            return {"collider": {"geometry": {"mesh": placed.mesh, "convexHull": True}}}
        shape = {"type": "convex", "convex": {"mesh": placed.mesh}}
    return body(dialect, ChildOfRootExtension(["shapes"], SHAPE_LISTS[dialect], shape, required=False))
