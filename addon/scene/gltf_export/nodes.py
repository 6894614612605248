"""Colliders for Blender's glTF exporter, fitted to the vertices that are exported.

The exporter's nodes and meshes are read before they are written. So colliders enclose what is in the file,
whether or not modifiers are applied, with shape keys at their current values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import bpy
import numpy as np

from ...core import CollisionBoundsError, Obb, Sphere
from ...core.messages import message
from ...core.numeric.arrays import Floats
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
)
from ..blender.overrides import read_overrides
from ..errors import describe_error
from ..fitting.local_and_world import PlacedGeometry, fit_many
from ..settings import FitSettings
from ..subjects.reader import SubjectGeometry
from .exporter_meshes import ExportedPart, HullCache, exported_parts

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


class _NodeCollider(NamedTuple):
    """A collider below a node, and the exporter's mesh of a hull; None for another shape."""

    collider: Collider
    mesh: Any


class _Bodies:
    """Contents of the extensions of collider nodes; the exporter replaces parts of them by indices of lists.

    The exporter writes an entry of a list once if it is the same Python object in several nodes.
    """

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str, str], Any] = {}

    def body(
        self, collider: _NodeCollider, extension: GltfExtension, response: CollisionResponse
    ) -> dict[str, Any]:
        """Return the content of the extension of a collider's node."""
        from io_scene_gltf2.io.com.gltf2_io_extensions import ChildOfRootExtension

        def shape_of_root(shape: dict[str, Any]) -> Any:
            return ChildOfRootExtension(["shapes"], SHAPE_EXTENSIONS[extension], dict(shape), required=False)

        def entry(key: str, content: dict[str, Any]) -> Any:
            place = extension, key, str(content)
            if place not in self._entries:
                name = BODY_EXTENSIONS[extension]
                self._entries[place] = ChildOfRootExtension([key], name, content, required=False)
            return self._entries[place]

        geometry = collider_geometry(extension, collider.collider.shape, collider.mesh, shape_of_root)
        return body_extension(extension, geometry, response, entry)


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
    hulls, bodies = HullCache(settings.max_vertices), _Bodies()
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
            results = list(_colliders(node, matrix, original, settings, hulls))
        except CollisionBoundsError as error:
            results = [error]
        colliders = [result for result in results if isinstance(result, _NodeCollider)]
        problems = Counter(
            describe_error(result) for result in results if not isinstance(result, _NodeCollider)
        )
        for problem, count in problems.items():
            if colliders or len(problems) > 1:
                text = "{name}: no collider for {count} of its {total} parts, {problem}"
            else:
                text = "{name}: no collider, {problem}"
            warn(message(text, name=node.name, count=count, total=len(results), problem=problem))
        nodes = [
            _exporter_node(
                collider_node_name(node.name, number),
                collider.collider,
                {name: bodies.body(collider, name, response) for name in settings.extensions},
            )
            for number, collider in enumerate(colliders)
        ]
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
    node: Node,
    matrix: Floats,
    original: bpy.types.Object | None,
    settings: ExportSettings,
    hulls: HullCache,
) -> Iterator[_NodeCollider | CollisionBoundsError]:
    """Colliders of a node, one per part, or the error of a part that has none."""
    if node.skin is not None:
        raise GltfError(
            "it is deformed by bones, which a collider would not follow: "
            "set Bounds For to Each Bone, and use Create Colliders"
        )
    overrides = () if original is None else read_overrides(original)
    fit = settings.fit if original is None else object_fit_settings(original, settings.fit)
    frame = compensating_frame(matrix[:3, :3])
    # Points of overrides and of parts of the mesh, by their shape and the radius of balls around them.
    groups: list[tuple[ExportedShape, float, list[ExportedPart]]] = []
    for override in overrides:
        x, y, z = override.points.T
        part = ExportedPart(np.stack([x, z, -y] if settings.y_up else [x, y, z], axis=1))
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
                yield _NodeCollider(collider, hulls.mesh(name, part, matrix[:3, :3], frame, fit.padding))
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
    margin = max((part.rounding for part in groups), default=0.0)
    own_axes = replace(fit, axes="object", padding=fit.padding + margin)
    pieces = (SubjectGeometry.of(0, Geometry(part.points, matrix, radius), own_axes) for part in groups)
    fits, errors = fit_many([PlacedGeometry(piece, placed) for piece in pieces], (shape,))
    found = {row: world[k] for rows, _, (world,) in fits for k, row in enumerate(rows.tolist())}
    for number in range(len(groups)):
        if number in errors:
            yield errors[number]
            continue
        volume = found[number]
        assert isinstance(volume, (Obb, Sphere))
        try:
            yield _NodeCollider(fit_collider(matrix, frame, volume), None)
        except GltfError as error:
            yield error


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
