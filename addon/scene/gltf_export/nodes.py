"""Colliders for Blender's glTF exporter, fitted to the vertices that are exported.

The exporter's nodes and meshes are read before they are written. So colliders enclose what is in the file,
whether or not modifiers are applied, with shape keys at their current values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import CollisionBoundsError, Obb, Sphere
from ...core.mesh.components import connected_components
from ...core.numeric.arrays import Floats
from ...formats.document.model import DEFAULT_RESPONSE, CollisionResponse
from ...formats.export.gltf import BODY_EXTENSIONS, SHAPE_EXTENSIONS, GltfExtension, body_extension
from ...formats.export.gltf_collider_nodes import (
    Collider,
    GltfError,
    NodeFrame,
    collider_node_name,
    compensating_frame,
    fit_collider,
    node_matrix,
)
from ...formats.spaces import quaternion_from_matrix
from ..blender.mesh_data import Geometry, Placement
from ..blender.object_settings import (
    collision_response,
    is_collider,
    is_split_by_loose_parts,
    object_fit_settings,
)
from ..blender.overrides import Override, read_override
from ..blender.parts.loose_parts import rows_by_label
from ..errors import describe_error
from ..fitting.local_and_world import fit_local_and_world
from ..settings import FitSettings
from .hulls import HullCache

Node = Any
"""A node of the exporter, `io_scene_gltf2.io.com.gltf2_io.Node`."""

ExportedShape: TypeAlias = Literal["obb", "sphere", "hull"]

_TRIANGLES = 4
_DTYPES = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}


@dataclass(frozen=True)
class ExportSettings:
    """Settings of the colliders that are added.

    Attributes
    ----------
    extensions : sequence of GltfExtension
        Extensions to write; each collider is written in all of them.
    shape : ExportedShape
        Shape for objects without an override.
    fit : FitSettings
    max_vertices : int
        Maximum number of vertices of a hull, 4 to 255.
    y_up : bool
        Whether the exporter converts Blender's axes to those of glTF.
    """

    extensions: Sequence[GltfExtension]
    shape: ExportedShape
    fit: FitSettings
    max_vertices: int = 255
    y_up: bool = True


class _NodeCollider(NamedTuple):
    """A collider below a node, and the exporter's mesh of a hull; None for another shape."""

    collider: Collider
    mesh: Any


class _RootEntries:
    """Entries of lists in the file's extensions; the exporter replaces each by its index.

    The exporter writes an entry once if it is the same Python object in several nodes.
    """

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str, str], Any] = {}

    def entry(self, extension: GltfExtension, key: str, content: dict[str, Any]) -> Any:
        """Return the exporter's entry of a list in the extension of bodies."""
        from io_scene_gltf2.io.com.gltf2_io_extensions import ChildOfRootExtension

        place = extension, key, str(content)
        if place not in self._entries:
            name = BODY_EXTENSIONS[extension]
            self._entries[place] = ChildOfRootExtension([key], name, content, required=False)
        return self._entries[place]


def add_colliders(
    roots: Iterable[Node],
    objects: Mapping[int, bpy.types.Object],
    settings: ExportSettings,
    warn: Callable[[str], None],
) -> None:
    """Add collider nodes below each node with a mesh, one for each loose part.

    Parameters
    ----------
    roots : iterable of Node
        Root nodes of a scene.
    objects : mapping of int to bpy.types.Object
        Object of each node, by the node's id().
    settings : ExportSettings
        Settings of the colliders.
    warn : callable
        Called with a message for each node that gets no collider, or none for some of its parts.
    """
    hulls, entries = HullCache(settings.max_vertices), _RootEntries()
    for node, matrix in list(_nodes_with_matrices(roots, np.eye(4))):
        item = objects.get(id(node))
        if node.mesh is None or (isinstance(item, bpy.types.Object) and is_collider(item.original)):
            continue
        response = DEFAULT_RESPONSE
        if isinstance(item, bpy.types.Object):
            response = collision_response(item.original)
        if response.response == "none":
            continue
        try:
            results = list(_colliders(node, matrix, item, settings, hulls))
        except CollisionBoundsError as error:
            results = [error]
        colliders = [result for result in results if isinstance(result, _NodeCollider)]
        problems = Counter(
            describe_error(result) for result in results if not isinstance(result, _NodeCollider)
        )
        for problem, count in problems.items():
            parts = f" for {count} of its {len(results)} parts" if colliders or len(problems) > 1 else ""
            warn(f"{node.name}: no collider{parts}, {problem}")
        nodes = [
            _exporter_node(
                collider_node_name(node.name, number),
                collider.collider,
                {name: _body(collider, name, response, entries) for name in settings.extensions},
            )
            for number, collider in enumerate(colliders)
        ]
        if nodes:
            node.children = [*(node.children or ()), *nodes]


def _nodes_with_matrices(nodes: Iterable[Node], parent_matrix: Floats) -> Iterator[tuple[Node, Floats]]:
    """All nodes of a hierarchy with their world matrices (4, 4)."""
    for node in nodes:
        if node.matrix:
            local = np.array(node.matrix, dtype=np.float64).reshape(4, 4).T
        else:
            rotation = node.rotation or (0, 0, 0, 1)
            local = node_matrix(node.translation or (0, 0, 0), rotation, node.scale or (1, 1, 1))
        matrix = parent_matrix @ local
        yield node, matrix
        yield from _nodes_with_matrices(node.children or (), matrix)


def _colliders(
    node: Node, matrix: Floats, item: bpy.types.Object | None, settings: ExportSettings, hulls: HullCache
) -> Iterator[_NodeCollider | CollisionBoundsError]:
    """Colliders of a node, one per part, or the error of a part that has none."""
    if node.skin is not None:
        raise GltfError("it is deformed by bones, which a collider would not follow")
    original = item.original if isinstance(item, bpy.types.Object) else None
    override = None if original is None else read_override(original)
    fit = settings.fit if original is None else object_fit_settings(original, settings.fit)
    shape = settings.shape
    if override is not None:
        groups, radius = [_override_points(override, settings.y_up)], override.radius
        shape = "sphere" if override.shape == "sphere" else "obb"
    else:
        groups, radius = _vertex_groups(node, original), 0.0
    frame = compensating_frame(matrix[:3, :3])
    if shape == "hull":
        yield from _hulls(node, matrix, frame, groups, fit.padding, hulls)
        return
    world = matrix @ node_matrix(np.zeros(3), frame.rotation, frame.scale)
    quaternion = quaternion_from_matrix(world[:3, :3])[[3, 0, 1, 2]]
    placed = Placement(world[:3, 3], quaternion, np.ones(3))
    geometries = [Geometry(points, matrix, radius) for points in groups]
    own_axes = replace(fit, axes="object")
    for fitted in fit_local_and_world(geometries, [placed] * len(geometries), (shape,), own_axes):
        if isinstance(fitted, CollisionBoundsError):
            yield fitted
            continue
        volume = fitted[1][0]
        assert isinstance(volume, (Obb, Sphere))
        try:
            yield _NodeCollider(fit_collider(matrix, frame, volume), None)
        except GltfError as error:
            yield error


def _vertex_groups(node: Node, original: bpy.types.Object | None) -> list[NDArray[np.float32]]:
    """Vertices (n, 3) of a node's mesh, or of each of its loose parts if the object is split by them."""
    points = np.concatenate([_positions(node.mesh, primitive) for primitive in node.mesh.primitives])
    if original is not None and is_split_by_loose_parts(original):
        return [points[rows] for rows in rows_by_label(_part_labels(node.mesh, points))]
    return [points]


def _hulls(
    node: Node,
    matrix: Floats,
    frame: NodeFrame,
    groups: Iterable[NDArray[np.float32]],
    padding: float,
    hulls: HullCache,
) -> Iterator[_NodeCollider | CollisionBoundsError]:
    """Hulls of a node, one per part, at the node's origin; their frame compensates its scale and shear."""
    collider = Collider(np.zeros(3), frame.rotation, frame.scale, {})
    for number, points in enumerate(groups):
        try:
            mesh = hulls.mesh(collider_node_name(node.name, number), points, matrix[:3, :3], frame, padding)
            yield _NodeCollider(collider, mesh)
        except CollisionBoundsError as error:
            yield error


def _override_points(override: Override, y_up: bool) -> NDArray[np.float32]:
    """Points (n, 3) of an override in the exported axes."""
    x, y, z = override.points.T
    return np.stack([x, z, -y] if y_up else [x, y, z], axis=1)


def _positions(mesh: Any, primitive: Any) -> NDArray[np.float32]:
    """Vertices (n, 3) of a primitive, with shape keys at their current values."""
    points = _accessor_values(primitive.attributes["POSITION"]).reshape(-1, 3)
    for weight, target in zip(mesh.weights or (), primitive.targets or (), strict=False):
        if weight and "POSITION" in target:
            offsets = _accessor_values(target["POSITION"]).reshape(-1, 3).astype(np.float64)
            points = (points + weight * offsets).astype(np.float32)
    return points


def _accessor_values(accessor: Any) -> NDArray[Any]:
    """Values of an accessor of the exporter, sparse or not, as a flat array."""
    dtype = _DTYPES[int(accessor.component_type)]
    width = {"SCALAR": 1, "VEC3": 3}[str(getattr(accessor.type, "value", accessor.type))]
    if accessor.buffer_view is not None:
        return np.frombuffer(accessor.buffer_view.data, dtype=dtype)[: accessor.count * width]
    values = np.zeros((accessor.count, width), dtype=dtype)
    sparse = accessor.sparse
    if sparse is not None:
        rows = np.frombuffer(sparse.indices.buffer_view.data, _DTYPES[int(sparse.indices.component_type)])
        replaced = np.frombuffer(sparse.values.buffer_view.data, dtype=dtype)
        values[rows[: sparse.count]] = replaced.reshape(-1, width)[: sparse.count]
    return values.reshape(-1)


def _part_labels(mesh: Any, points: NDArray[np.float32]) -> NDArray[np.intp]:
    """Label of the loose part (n,) of each vertex; equal positions are welded, because seams split them."""
    _, welded = np.unique(points, axis=0, return_inverse=True)
    welded = welded.reshape(-1)
    edges = [np.empty((0, 2), dtype=np.int32)]
    start = 0
    for primitive in mesh.primitives:
        count = primitive.attributes["POSITION"].count
        if primitive.indices is not None and primitive.mode in (None, _TRIANGLES):
            corners = _accessor_values(primitive.indices).reshape(-1, 3).astype(np.int32) + start
            edges += [corners[:, :2], corners[:, 1:]]
        start += count
    welded_edges = welded[np.concatenate(edges)].astype(np.int32)
    return np.asarray(connected_components(int(welded.max(initial=-1)) + 1, welded_edges)[welded])


def _exporter_node(name: str, collider: Collider, bodies: Mapping[GltfExtension, dict[str, Any]]) -> Node:
    """Make a node of the exporter for a collider, with the contents of its extensions."""
    from io_scene_gltf2.io.com import gltf2_io
    from io_scene_gltf2.io.com.gltf2_io_extensions import Extension

    extensions = {
        BODY_EXTENSIONS[extension]: Extension(BODY_EXTENSIONS[extension], body, required=False)
        for extension, body in bodies.items()
    }
    unset = ("camera", "extras", "matrix", "mesh", "skin", "weights")
    transform: dict[str, Any] = dict.fromkeys(("translation", "rotation", "scale"))
    transform.update(collider.transform_properties())
    return gltf2_io.Node(name=name, children=[], extensions=extensions, **transform, **dict.fromkeys(unset))


def _body(
    collider: _NodeCollider, extension: GltfExtension, response: CollisionResponse, entries: _RootEntries
) -> dict[str, Any]:
    """Content of a node's extension; the exporter replaces shapes and meshes in it by indices."""
    from io_scene_gltf2.io.com.gltf2_io_extensions import ChildOfRootExtension

    shape = dict(collider.collider.shape)
    if collider.mesh is not None:
        shape = {"type": "convex", "convex": {"mesh": collider.mesh}}
    if collider.mesh is not None and extension == "khr":
        # Hulls are no implicit shapes; the draft has geometry for them.
        geometry: dict[str, Any] = {"mesh": collider.mesh, "convexHull": True}
    else:
        name = SHAPE_EXTENSIONS[extension]
        geometry = {"shape": ChildOfRootExtension(["shapes"], name, shape, required=False)}
    return body_extension(extension, geometry, response, partial(entries.entry, extension))
