"""Bounds as a glTF 2.0 file of colliders alone: a node for each object, with a collider as its child.

The file is converted from a document in glTF's space. An object's node has the object's world position and
rotation but not its scale, which is in the shapes. Nodes have no hierarchy, because each multiplication of
matrices would add rounding errors; the parent's id is in "extras".
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from ...core import Capsule, ConvexHull, Cylinder, Obb, Sphere
from ...core.messages import message
from ...core.numeric.arguments import require_texts
from ...core.numeric.arrays import cross, perpendicular
from ...core.numeric.floating_point import nearest_float32
from ..document.model import COLLISION_GROUPS, DEFAULT_RESPONSE, CollisionResponse, response_of
from ..shape_members import preferred_shapes, read_normalized_shape, read_placement, read_shape
from ..spaces import matrix_from_quaternion, quaternion_from_matrix
from ..validation.validate import require_document
from .gltf_collider_nodes import (
    PARENT_FRAME,
    Collider,
    ColliderVolume,
    GltfError,
    NodeFrame,
    capsule_hull,
    collider_node_name,
    fit_collider,
    fit_hull,
    node_matrix,
    unit_length_error,
)

GltfExtension = Literal["omi", "khr", "volumes"]
"""OMI_physics_body, KHR_physics_rigid_bodies, or bounding volumes of the draft of glTF 2.1."""
GLTF_EXTENSIONS: tuple[GltfExtension, ...] = get_args(GltfExtension)
DEFAULT_GLTF_EXTENSIONS: tuple[GltfExtension, ...] = ("omi", "khr")

SHAPE_EXTENSIONS: dict[GltfExtension, str] = {"omi": "OMI_physics_shape", "khr": "KHR_implicit_shapes"}
"""Extensions of the file that list the shapes."""
BODY_EXTENSIONS: dict[GltfExtension, str] = {"omi": "OMI_physics_body", "khr": "KHR_physics_rigid_bodies"}
"""Extensions of nodes that make them colliders."""
_FLOAT, _UNSIGNED_BYTE = 5126, 5121
_VERTICES, _INDICES = 34962, 34963


def body_extension(
    extension: GltfExtension,
    geometry: dict[str, Any],
    response: CollisionResponse,
    index_of: Callable[[str, dict[str, Any]], Any],
) -> dict[str, Any]:
    """Return the content of a node's extension of BODY_EXTENSIONS: a collider or a trigger.

    extension : "omi" or "khr".
    geometry : With the index of its shape, as `shape`, or in another form that the extension has.
    response : Of the object, not "none".
    index_of : Returns the index of an entry of a list in the file's extension, given the key of the list
        and the entry.
    """
    body = dict(geometry) if extension == "omi" else {"geometry": geometry}
    if (response.group, response.mask) != (DEFAULT_RESPONSE.group, DEFAULT_RESPONSE.mask):
        systems = {"collisionSystems": [f"Group {response.group}"]}
        if response.mask != DEFAULT_RESPONSE.mask:
            bits = (bit for bit in range(COLLISION_GROUPS) if response.mask >> bit & 1)
            systems["collideWithSystems"] = [f"Group {bit + 1}" for bit in bits]
        body["collisionFilter"] = index_of("collisionFilters", systems)
    if response.response == "trigger":
        return {"trigger": body}
    if response.material is not None:
        body["physicsMaterial"] = index_of("physicsMaterials", {"name": response.material})
    return {"collider": body}


def collider_geometry(
    extension: GltfExtension, shape: dict[str, Any], mesh: Any, index_of: Callable[[dict[str, Any]], Any]
) -> dict[str, Any]:
    """Return the geometry of a collider for `body_extension`.

    extension : "omi" or "khr".
    shape : Of a collider without a hull.
    index_of : Returns the index of a shape in the extension of SHAPE_EXTENSIONS.
    """
    if mesh is None and extension == "omi" and shape["type"] == "cylinder":
        # Godot reads the key of an earlier version of the extension.
        sizes = {"radius": shape["cylinder"]["radiusBottom"], **shape["cylinder"]}
        return {"shape": index_of({"type": "cylinder", "cylinder": sizes})}
    if mesh is None:
        return {"shape": index_of(shape)}
    if extension == "khr":
        # Hulls are no implicit shapes; the draft has geometry for them.
        return {"mesh": mesh, "convexHull": True}
    return {"shape": index_of({"type": "convex", "convex": {"mesh": mesh}})}


def gltf(
    document: dict[str, Any], extensions: Sequence[GltfExtension] = DEFAULT_GLTF_EXTENSIONS
) -> dict[str, Any]:
    """Convert the bounds of a document to a glTF file with one collider for each object, or for each part.

    An object with a compound has a collider for each of its parts. Otherwise the collider is the object's
    hull, capsule, cylinder, or oriented box, else the box along its own axes, else its sphere; the sphere
    first if the override of the object is one. The file has a mesh for each hull, which no node draws.

    document : In glTF's space.
    extensions : At least one. With "volumes", an experiment, nodes have a `boundingVolume` and the version
        is 2.1. It is that of the collider, or without hulls and parts the one that would be. In a document
        with envelopes, it encloses the object at all frames, if it has a local envelope; parts that belong
        to bones have none, and no `boundingVolume` then.
    Returns file : dict. Of dicts and lists; objects without bounds are skipped, the others keep their
        order.
    Raises GltfError: for a document in another space, no extension, or an object too large for single
        precision.
    """
    require_document(document)
    require_texts(extensions, "extensions")
    if not set(extensions) <= set(GLTF_EXTENSIONS):
        raise GltfError(f"extensions: choose from {', '.join(GLTF_EXTENSIONS)}")
    if not extensions:
        text = "no glTF extension: choose at least one of {extensions}"
        raise GltfError(message(text, extensions=", ".join(GLTF_EXTENSIONS)))
    space = document["space"]
    axes = space["up"], space["forward"], space["handedness"]
    if axes != ("+Y", "+Z", "right") or space["metersPerUnit"] != 1:
        raise GltfError("glTF needs a document in meters, right-handed, with Y up and Z forward")
    has_volumes = "volumes" in extensions
    lists = _Lists()
    roots, children = _nodes(document["objects"], extensions, lists)
    generator, volumes = document["generator"], lists.entries("volumes")
    used = [name for name in GLTF_EXTENSIONS if name in extensions and name in BODY_EXTENSIONS and children]
    keys = ("collisionFilters", "physicsMaterials")
    of_bodies = {key: entries for key in keys if (entries := lists.entries(key))}
    in_root = {
        **{SHAPE_EXTENSIONS[name]: {"shapes": shapes} for name in used if (shapes := lists.entries(name))},
        **({BODY_EXTENSIONS[name]: of_bodies for name in used} if of_bodies else {}),
    }
    names = sorted({*in_root, *(BODY_EXTENSIONS[name] for name in used)})
    return {
        "asset": {
            "version": "2.1" if has_volumes else "2.0",
            "generator": f"{generator['name']} {generator['version']}",
        },
        **({"extensionsUsed": names} if used else {}),
        **({"extensions": in_root} if in_root else {}),
        **({"shapes": volumes} if volumes else {}),
        "scene": 0,
        "scenes": [
            {"name": document["source"]["scene"], **({"nodes": list(range(len(roots)))} if roots else {})}
        ],
        **({"nodes": [*roots, *children]} if roots else {}),
        **lists.meshes.properties(),
    }


class HullMeshes:
    """The meshes of a file, each a convex hull, in one buffer."""

    def __init__(self) -> None:
        self._meshes: dict[bytes, tuple[int, str]] = {}
        self._accessors: list[dict[str, Any]] = []
        self._views: list[dict[str, Any]] = []
        self._data = bytearray()

    def index_of(self, name: str, hull: ConvexHull) -> int:
        """Return the index of the mesh of a hull; equal hulls are written once, with the first name."""
        vertices, faces = hull.vertices.astype("<f4"), hull.faces.astype(np.uint8)
        new = len(self._meshes)
        index, _ = self._meshes.setdefault(vertices.tobytes() + faces.tobytes(), (new, name))
        if index == new:
            limits = {"min": vertices.min(axis=0).tolist(), "max": vertices.max(axis=0).tolist()}
            self._add(vertices.tobytes(), _VERTICES, _FLOAT, len(vertices), "VEC3", limits)
            self._add(faces.tobytes(), _INDICES, _UNSIGNED_BYTE, faces.size, "SCALAR", {})
        return index

    def _add(
        self, data: bytes, target: int, component: int, count: int, kind: str, limits: dict[str, Any]
    ) -> None:
        """Add an accessor, which begins at a multiple of four bytes."""
        self._data += bytes(-len(self._data) % 4)
        self._views.append(
            {"buffer": 0, "byteOffset": len(self._data), "byteLength": len(data), "target": target}
        )
        self._data += data
        accessor = {"bufferView": len(self._views) - 1, "componentType": component, "count": count}
        self._accessors.append({**accessor, "type": kind, **limits})

    def properties(self) -> dict[str, Any]:
        """Return the properties of the file that hold the meshes; none without meshes."""
        if not self._meshes:
            return {}
        meshes = [
            {"name": name, "primitives": [{"attributes": {"POSITION": 2 * index}, "indices": 2 * index + 1}]}
            for index, name in self._meshes.values()
        ]
        uri = "data:application/octet-stream;base64," + b64encode(self._data).decode("ascii")
        return {
            "meshes": meshes,
            "accessors": self._accessors,
            "bufferViews": self._views,
            "buffers": [{"byteLength": len(self._data), "uri": uri}],
        }


class _Lists:
    """Lists of the file that nodes refer to by index: shapes of each extension, meshes of hulls, and more."""

    def __init__(self) -> None:
        self.meshes = HullMeshes()
        self._entries: dict[str, dict[str, tuple[int, dict[str, Any]]]] = {}

    def index_of(self, key: str, entry: dict[str, Any]) -> int:
        """Return the index of an entry in a list; equal entries are written once."""
        entries = self._entries.setdefault(key, {})
        return entries.setdefault(str(entry), (len(entries), entry))[0]

    def entries(self, key: str) -> list[dict[str, Any]]:
        """Return a list, empty if nothing refers to it."""
        return [entry for _, entry in self._entries.get(key, {}).values()]


def _nodes(
    objects: Sequence[dict[str, Any]], extensions: Sequence[GltfExtension], lists: _Lists
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Nodes of the objects, and nodes of their colliders, which come after them in the file."""
    roots: list[dict[str, Any]] = []
    children: list[dict[str, Any]] = []
    bounded = [entry for entry in objects if entry["world"].keys() & _COLLIDER_SHAPES]
    is_over_frames = any("envelope" in entry for entry in objects)

    for entry in bounded:
        try:
            translation, rotation = map(nearest_float32, read_placement(entry))
            node = Collider(translation, rotation, np.ones(3), {})
            colliders = _colliders(node, entry)
            # The one that is no hull and no compound.
            volume = next((_volume(entry, *item) for item in preferred_shapes(entry, _VOLUME_SHAPES)), None)
            if is_over_frames:
                local = entry.get("envelope", {}).get("local")
                volume = _in_world_space(entry, local) if local else None
            visible = None if volume is None else _collider(node, volume)
        except GltfError as error:
            text = "object {name!r}: {reason}"
            raise GltfError(message(text, name=entry["name"], reason=error.message)) from None
        root = {
            "name": entry["name"],
            **node.transform_properties(),
            "extras": {"id": entry["id"], "parent": entry["parent"]},
        }
        if "volumes" in extensions and visible is not None:
            root["boundingVolume"] = {
                "shape": lists.index_of("volumes", visible.shape),
                **visible.transform_properties(),
            }
        response = response_of(entry)
        names = [name for name in extensions if name in BODY_EXTENSIONS]
        if names and response.response != "none":
            first = len(bounded) + len(children)
            root["children"] = list(range(first, first + len(colliders)))
            for number, collider in enumerate(colliders):
                name = collider_node_name(entry["name"], number)
                bodies = _bodies(name, collider, names, response, lists)
                children.append({"name": name, **collider.transform_properties(), "extensions": bodies})
        roots.append(root)
    return roots, children


def _bodies(
    name: str,
    collider: Collider,
    extensions: Sequence[GltfExtension],
    response: CollisionResponse,
    lists: _Lists,
) -> dict[str, Any]:
    """Extensions of the node of a collider.

    The height of an OMI capsule is that between the centers of its ends, but Godot takes it for the whole
    height. A convex shape around the capsule is the same for all readers.
    """
    bodies = {}
    for each in extensions:
        hull = collider.hull
        if each == "omi" and "capsule" in collider.shape:
            sizes = collider.shape["capsule"]
            hull = capsule_hull(sizes["height"], sizes["radiusBottom"])
        mesh = None if hull is None else lists.meshes.index_of(name, hull)
        geometry = collider_geometry(each, collider.shape, mesh, partial(lists.index_of, each))
        bodies[BODY_EXTENSIONS[each]] = body_extension(each, geometry, response, lists.index_of)
    return bodies


def _colliders(node: Collider, entry: dict[str, Any]) -> list[Collider]:
    """Colliders below the node of an object: of its parts, of its hull, or of another shape."""
    parent, error = node_matrix(node.translation, node.rotation, node.scale), unit_length_error(node.rotation)
    return [
        fit_hull(parent, np.array(numbers["vertices"], np.float64), error)
        if key == "hull"
        else _collider(node, _volume(entry, key, numbers))
        for key, numbers in preferred_shapes(entry, _COLLIDER_SHAPES)
    ]


def _collider(node: Collider, volume: ColliderVolume) -> Collider:
    parent = node_matrix(node.translation, node.rotation, node.scale)
    frame = PARENT_FRAME
    if isinstance(volume, Obb):
        relative = parent[:3, :3].T @ volume.rotation
        if np.abs(relative - np.eye(3)).max() > 1e-6:
            frame = NodeFrame(nearest_float32(quaternion_from_matrix(relative)), np.ones(3))
    if isinstance(volume, Capsule | Cylinder):
        # The Y axis of the node is that of the shape.
        axis = parent[:3, :3].T @ volume.axis
        side = perpendicular(axis)
        axes = np.stack([side, axis, cross(side, axis)], axis=-1)
        frame = NodeFrame(nearest_float32(quaternion_from_matrix(axes)), np.ones(3))
    return fit_collider(parent, frame, volume, unit_length_error(node.rotation))


_VOLUME_SHAPES = frozenset({"sphere", "aabb", "obb", "capsule", "cylinder"})
_COLLIDER_SHAPES = _VOLUME_SHAPES | {"hull", "compound"}


def _volume(entry: dict[str, Any], key: str, numbers: Mapping[str, Any]) -> ColliderVolume:
    """Convert a shape of an object; its box along the axes is the one along its own axes."""
    return _in_world_space(entry, entry["local"]) if key == "aabb" else read_normalized_shape(key, numbers)


def _in_world_space(entry: dict[str, Any], local: dict[str, Any]) -> ColliderVolume:
    """Move the box, else the sphere, from the axes of an object to world space."""
    translation, rotation = read_placement(entry)
    axes = matrix_from_quaternion(rotation)
    if "aabb" not in local:
        sphere = read_shape("sphere", local["sphere"])
        return Sphere(translation + axes @ sphere.center, sphere.radius)
    box = read_shape("aabb", local["aabb"])
    middle = box.min + (box.max - box.min) / 2
    half = np.maximum(box.max - middle, middle - box.min)
    return Obb(translation + axes @ middle, half, axes)
