"""Colliders for Blender's glTF exporter, fitted to the vertices that are exported.

The exporter's nodes and meshes are read before they are written. So colliders enclose what is in the file,
whether or not modifiers are applied, with shape keys at their current values. Convex hulls are meshes of the
exporter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from inspect import signature
from typing import Any, Literal, TypeAlias

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import CollisionBoundsError, ConvexHull, Obb, Sphere, hull_from_points
from ...core.messages import message
from ...core.numeric.arrays import Floats, require_finite
from ...core.numeric.components import connected_components
from ...core.progress import run_to_end
from ...formats.document.model import DEFAULT_RESPONSE, CollisionResponse
from ...formats.export.gltf import (
    BODY_EXTENSIONS,
    SHAPE_EXTENSIONS,
    GltfExtension,
    body_extension,
    collider_geometry,
)
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
    bounds_for,
    collider_owner,
    collision_response,
    is_collider,
    object_fit_settings,
    read_overrides,
)
from ..blender.parts.weights import rows_by_label
from ..errors import describe_error
from ..fitting.fit import fit_many, inflated_points
from ..fitting.parts import cut_rounding, split_in_steps
from ..settings import FitSettings
from ..subjects.reader import SubjectGeometry

_TRIANGLES = 4
_DTYPES = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
_FLOAT, _UNSIGNED_BYTE = 5126, 5121
_VERTICES, _INDICES = 34962, 34963
_ROUNDING = 64 * float(np.finfo(np.float64).eps)

ExportedPart: TypeAlias = tuple[NDArray[Any], float]
"""Points (n, 3) of a part of a mesh, in the space of its node, float32, or float64 of a convex part; and
their largest error in the world."""


def exported_parts(
    mesh: Any, matrix: Floats, splits_loose_parts: bool, fit: FitSettings
) -> list[ExportedPart]:
    """Split the vertices of a mesh by loose parts, if requested, and each by convex parts.

    matrix : (4, 4) float64. World matrix of the node.
    splits_loose_parts : Whether each loose part is split by itself.
    fit : With the limits of each split.
    Raises CollisionBoundsError: if vertices are not finite.
    """
    points = np.concatenate([_positions(mesh, primitive) for primitive in mesh.primitives])
    if fit.parts == 1 and not splits_loose_parts:
        return [(points, 0.0)]
    triangles = _triangles(mesh)
    groups = [np.arange(len(points))]
    if splits_loose_parts:
        # Vertices in the same position are one, because the exporter splits them at seams.
        welded = np.unique(points, axis=0, return_inverse=True)[1].reshape(-1)
        edges = welded[np.concatenate([triangles[:, :2], triangles[:, 1:]])].astype(np.int32)
        labels = connected_components(int(welded.max(initial=-1)) + 1, edges)
        groups = rows_by_label(np.asarray(labels[welded]))
    if fit.parts == 1:
        return [(points[rows], 0.0) for rows in groups]
    parts: list[ExportedPart] = []
    for rows in groups:
        place = np.full(len(points), -1, dtype=np.int32)
        place[rows] = np.arange(len(rows))
        faces = place[triangles[place[triangles[:, 0]] >= 0]]
        split = [points[rows]]
        if len(faces):
            split = run_to_end(split_in_steps(points[rows], faces, matrix[:3, :3], fit))
        rounding = cut_rounding(points[rows], matrix[:3, :3]) if len(split) > 1 else 0.0
        parts += [(part, rounding) for part in split]
    return parts


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


def _triangles(mesh: Any) -> NDArray[np.int32]:
    """Triangles (t, 3) of all primitives, as rows of the vertices of the mesh."""
    found = [np.empty((0, 3), dtype=np.int32)]
    start = 0
    for primitive in mesh.primitives:
        if primitive.indices is not None and primitive.mode in (None, _TRIANGLES):
            found.append(_accessor_values(primitive.indices).reshape(-1, 3).astype(np.int32) + start)
        start += primitive.attributes["POSITION"].count
    return np.concatenate(found)


def _to_frame(axes: Floats, points: NDArray[Any]) -> Floats:
    """Points (n, 3) in the coordinates of a frame with axes (3, 3)."""
    return np.asarray(np.linalg.solve(axes, points.astype(np.float64).T).T, dtype=np.float64)


def _slack(local: Floats, points: NDArray[Any], linear: Floats, axes: Floats, frame: NodeFrame) -> float:
    """Error with which a reader may place points `local` (n, 3) of a collider's frame."""
    world = linear @ axes
    deviation = float(np.abs(world.T @ world - np.eye(3)).max())
    if np.array_equal(axes, np.eye(3)) and deviation <= _ROUNDING:
        return 0.0
    # A reader that does not normalize a quaternion rotates by another angle.
    rotation = axes / frame.scale - np.eye(3)
    unnormalized = (np.eye(3) + rotation * float((frame.rotation**2).sum())) * frame.scale
    extent = float(np.abs(points).max(initial=0)) / float(np.abs(frame.scale).min())
    slack = float(np.abs(_to_frame(unnormalized, points) - local).max(initial=0))
    return slack + deviation * float(np.abs(local).max(initial=0)) + _ROUNDING * extent


def _exporter_mesh(name: str, hull: ConvexHull) -> Any:
    from io_scene_gltf2.io.com import gltf2_io

    vertices = hull.vertices.astype(np.float32)
    # A hull has at most 255 vertices, so indices fit into bytes.
    indices = hull.faces.astype(np.uint8)
    limits = {"min": vertices.min(axis=0).tolist(), "max": vertices.max(axis=0).tolist()}
    positions = _accessor(vertices, _FLOAT, "VEC3", _VERTICES, **limits)
    index_accessor = _accessor(indices.reshape(-1), _UNSIGNED_BYTE, "SCALAR", _INDICES)
    attributes = {"POSITION": positions}
    primitive = _made(gltf2_io.MeshPrimitive, attributes=attributes, indices=index_accessor)
    return _made(gltf2_io.Mesh, name=name, primitives=[primitive])


def _made(kind: Any, **values: Any) -> Any:
    """Make an object of the exporter, whose classes need all of their members; the others are None."""
    return kind(**dict.fromkeys(signature(kind).parameters) | values)


def _accessor(values: Any, component_type: int, type_name: str, target: int, **limits: list[float]) -> Any:
    from io_scene_gltf2.io.com import gltf2_io

    try:
        module = import_module("io_scene_gltf2.io.exp.binary_data")
    except ImportError:  # its name in Blender 4.2
        module = import_module("io_scene_gltf2.io.exp.gltf2_io_binary_data")
    return _made(
        gltf2_io.Accessor,
        buffer_view=module.BinaryData(values.tobytes(), target),
        component_type=component_type,
        count=len(values),
        type=type_name,
        **limits,
    )


Node = Any
"""A node of the exporter, `io_scene_gltf2.io.com.gltf2_io.Node`."""

ExportedShape: TypeAlias = Literal["obb", "sphere", "hull"]


@dataclass(frozen=True)
class ExportSettings:
    """Settings of the colliders that are added.

    extensions : Extensions to write; each collider is written in all of them.
    shape : Shape for objects without an override.
    fit : With the largest number of convex parts of a mesh, each of which gets a collider.
    max_vertices : Maximum number of vertices of a hull, 4 to 255.
    y_up : Whether the exporter converts Blender's axes to those of glTF.
    """

    extensions: Sequence[GltfExtension]
    shape: ExportedShape
    fit: FitSettings
    max_vertices: int = 255
    y_up: bool = True


_NodeCollider: TypeAlias = tuple[Collider, Any]
"""A collider below a node, and the exporter's mesh of a hull; None for another shape."""


class _Export:
    """Hulls and entries of lists of one export, each made once.

    The exporter replaces parts of the extensions of nodes by indices of lists. It writes an entry of a list
    once if it is the same Python object in several nodes.
    """

    def __init__(self, settings: ExportSettings) -> None:
        self.settings = settings
        self._hulls: dict[object, Any] = {}
        self._entries: dict[tuple[str, str, str], Any] = {}

    def hull_mesh(
        self, name: str, part: ExportedPart, linear: Floats, frame: NodeFrame, padding: float
    ) -> Any:
        """Make the hull of a node's vertices, or of a part of them, for a collider node below it.

        No point is above any face, whether or not readers normalize quaternions, or take only the rotation of
        the world matrix. Nodes with the same vertices and scale have the same mesh.

        name : Name of the mesh in the file.
        part : Vertices in the space of the node.
        linear : (3, 3) float64. Linear part of the node's world matrix.
        frame : Rotation and scale of the collider node.
        padding : Length in world units.
        Raises CollisionBoundsError: if there is no such hull.
        """
        points, rounding = part
        require_finite(points, "vertices")
        axes = node_matrix(np.zeros(3), frame.rotation, frame.scale)[:3, :3]
        local = _to_frame(axes, points)
        # The frame has the unit of the world, as the rounding has.
        slack = _slack(local, points, linear, axes, frame) + rounding
        # A power of two, so that it is equal for all nodes with the same scale, however they are rotated.
        slack = float(2.0 ** np.ceil(np.log2(2 * slack))) if slack else 0.0
        key = points.tobytes(), axes.tobytes(), padding, slack
        if key not in self._hulls:
            around = inflated_points(local, np.eye(3), np.ones(3), padding)
            hull = hull_from_points(around, self.settings.max_vertices, margin=slack)
            self._hulls[key] = _exporter_mesh(name, hull)
        return self._hulls[key]

    def node(self, name: str, collider: _NodeCollider, response: CollisionResponse) -> Node:
        """Make a node of the exporter for a collider, with its extensions."""
        from io_scene_gltf2.io.com import gltf2_io
        from io_scene_gltf2.io.com.gltf2_io_extensions import Extension

        placed, mesh = collider
        extensions = {}
        for each in self.settings.extensions:
            in_shapes = partial(self._entry, SHAPE_EXTENSIONS[each], "shapes")
            name_of_body = BODY_EXTENSIONS[each]
            geometry = collider_geometry(each, placed.shape, mesh, in_shapes)
            body = body_extension(each, geometry, response, partial(self._entry, name_of_body))
            extensions[name_of_body] = Extension(name_of_body, body, required=False)
        transform = placed.transform_properties()
        return _made(gltf2_io.Node, name=name, children=[], extensions=extensions, **transform)

    def _entry(self, extension: str, key: str, content: dict[str, Any]) -> Any:
        from io_scene_gltf2.io.com.gltf2_io_extensions import ChildOfRootExtension

        place = extension, key, str(content)
        if place not in self._entries:
            self._entries[place] = ChildOfRootExtension([key], extension, dict(content), required=False)
        return self._entries[place]


def add_colliders(
    roots: Iterable[Node],
    objects: Mapping[int, bpy.types.Object],
    settings: ExportSettings,
    warn: Callable[[str], None],
) -> None:
    """Add collider nodes below each node with a mesh, one for each loose part or convex part.

    roots : root nodes of a scene
    objects : object of each node, by the node's id()
    warn : called with a message for each node that gets no collider, or none for some of its parts
    """
    export = _Export(settings)
    owners = _owners_of_bone_colliders(objects.values())
    for node, matrix in list(_nodes_with_matrices(roots, np.eye(4))):
        item = objects.get(id(node))
        original = item.original if isinstance(item, bpy.types.Object) else None
        if node.mesh is None or (original is not None and is_collider(original)):
            continue
        has_skin = node.skin is not None and original is not None
        if has_skin and not owners.isdisjoint((original, original.find_armature())):
            continue  # The colliders of its bones are in the file.
        response = DEFAULT_RESPONSE if original is None else collision_response(original)
        if response.response == "none":
            continue
        try:
            results = list(_colliders(node, matrix, original, export))
        except CollisionBoundsError as error:
            results = [error]
        colliders = [result for result in results if not isinstance(result, CollisionBoundsError)]
        errors = (result for result in results if isinstance(result, CollisionBoundsError))
        problems = Counter(map(describe_error, errors))
        for problem, count in problems.items():
            if colliders or len(problems) > 1:
                text = "{name}: no collider for {count} of its {total} parts, {problem}"
            else:
                text = "{name}: no collider, {problem}"
            warn(message(text, name=node.name, count=count, total=len(results), problem=problem))
        named = ((collider_node_name(node.name, k), collider) for k, collider in enumerate(colliders))
        nodes = [export.node(name, collider, response) for name, collider in named]
        if nodes:
            node.children = [*(node.children or ()), *nodes]


def _owners_of_bone_colliders(items: Iterable[Any]) -> set[bpy.types.Object]:
    """Objects that the exported colliders of bones belong to: meshes, or armatures if no mesh is known."""
    originals = [item.original for item in items if isinstance(item, bpy.types.Object)]
    held = [item for item in originals if item.parent_type == "BONE" and is_collider(item)]
    return {owner for item in held if (owner := collider_owner(item)) is not None}


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
    node: Node, matrix: Floats, original: bpy.types.Object | None, export: _Export
) -> Iterator[_NodeCollider | CollisionBoundsError]:
    """Colliders of a node, one per part, or the error of a part that has none."""
    if node.skin is not None:
        raise GltfError(
            "it is deformed by bones, which a collider would not follow: "
            "set Bounds For to Each Bone, and use Create Colliders"
        )
    settings = export.settings
    overrides = () if original is None else read_overrides(original)
    fit = settings.fit if original is None else object_fit_settings(original, settings.fit)
    frame = compensating_frame(matrix[:3, :3])
    # Points of overrides and of parts of the mesh, by their shape and the radius of balls around them.
    groups: list[tuple[ExportedShape, float, list[ExportedPart]]] = []
    for override in overrides:
        x, y, z = override.points.T
        part = np.stack([x, z, -y] if settings.y_up else [x, y, z], axis=1), 0.0
        groups.append(("sphere" if override.shape == "sphere" else "obb", override.radius, [part]))
    if not overrides:
        splits = original is not None and bounds_for(original) == "loose_parts"
        groups.append((settings.shape, 0.0, exported_parts(node.mesh, matrix, splits, settings.fit)))
    for shape, radius, parts in groups:
        if shape != "hull":
            yield from _primitives(matrix, frame, parts, shape, fit, radius)
            continue
        # At the origin of the node; the frame compensates its scale and shear.
        collider = Collider(np.zeros(3), frame.rotation, frame.scale, {})
        for number, part in enumerate(parts):
            name = collider_node_name(node.name, number)
            try:
                yield collider, export.hull_mesh(name, part, matrix[:3, :3], frame, fit.padding)
            except CollisionBoundsError as error:
                yield error


def _primitives(
    matrix: Floats,
    frame: NodeFrame,
    groups: Sequence[ExportedPart],
    shape: Literal["obb", "sphere"],
    fit: FitSettings,
    radius: float,
) -> Iterator[_NodeCollider | CollisionBoundsError]:
    """Boxes or spheres of a node, one per part, around balls of a radius at the points of the part."""
    world = matrix @ node_matrix(np.zeros(3), frame.rotation, frame.scale)
    quaternion = quaternion_from_matrix(world[:3, :3])[[3, 0, 1, 2]]
    placed = Placement(world[None, :3, 3], quaternion[None], np.ones((1, 3)))
    margin = max((rounding for _, rounding in groups), default=0.0)
    own_axes = replace(fit, axes="object", padding=fit.padding + margin)
    pieces = (SubjectGeometry.of(0, Geometry(points, matrix, radius), own_axes) for points, _ in groups)
    fits, errors = fit_many([piece._replace(placements=placed) for piece in pieces], (shape,))
    found = {row: world[k] for rows, _, (world,) in fits for k, row in enumerate(rows.tolist())}
    for number in range(len(groups)):
        if number in errors:
            yield errors[number]
            continue
        volume = found[number]
        assert isinstance(volume, (Obb, Sphere))
        try:
            yield fit_collider(matrix, frame, volume), None
        except GltfError as error:
            yield error
