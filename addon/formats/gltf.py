"""Bounds as a glTF file without meshes: a node for each object, with a collider for engines.

Made of a document in glTF's space. Each object's node stands where the object does, in the world and without
its scale, which is in the shapes. Nodes are not below one another, since every step down rounds once more;
the parent is told in `extras`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from ..core import Obb, Sphere
from ..core.single_precision import single
from .gltf_colliders import Collider, GltfError, Turn, collider_below, node_matrix, off_unit
from .spaces import Floats, matrix_of, quaternion_of

Dialect = Literal["omi", "khr", "volumes"]
"""How engines are told: OMI_physics_body, KHR_physics_rigid_bodies, bounding volumes of glTF 2.1's draft."""
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)
DEFAULT_DIALECTS: tuple[Dialect, ...] = ("omi", "khr")

SHAPE_LISTS: dict[Dialect, str] = {"omi": "OMI_physics_shape", "khr": "KHR_implicit_shapes"}
BODIES: dict[Dialect, str] = {"omi": "OMI_physics_body", "khr": "KHR_physics_rigid_bodies"}


def body(dialect: Dialect, shape: Any) -> dict[str, Any]:
    """What a node says in its extension of BODIES about its collider, `shape` being an index."""
    return {"collider": {"shape": shape} if dialect == "omi" else {"geometry": {"shape": shape}}}


def gltf(document: dict[str, Any], dialects: Sequence[Dialect] = DEFAULT_DIALECTS) -> dict[str, Any]:
    """A glTF 2.0 file as plain dicts and lists, of the objects that have bounds, in their order.

    Each object has one collider: its oriented box, or else the box along its own axes, or else its sphere; a
    sphere first where one was set by hand. With "volumes", an experiment, its node has a `boundingVolume`, as
    the draft of glTF 2.1 has it, and the file says that it is of that version.

    Raises GltfError for a document in another space, for no dialect, and for an object too large for glTF.
    """
    if not dialects:
        raise GltfError(f"glTF tells of colliders by {', '.join(DIALECTS)}: choose at least one")
    space = document["space"]
    if (space["up"], space["forward"], space["handedness"], space["metersPerUnit"]) != (
        "+Y",
        "+Z",
        "right",
        1,
    ):
        raise GltfError("glTF is in metres with Y up and Z forward, right-handed, and this document is not")
    shapes: dict[str, int] = {}
    listed: list[dict[str, Any]] = []
    roots: list[dict[str, Any]] = []
    children: list[dict[str, Any]] = []
    bounded = [entry for entry in document["objects"] if entry["world"].keys() & {"sphere", "aabb", "obb"}]
    for entry in bounded:
        try:
            place, collider = _collider(entry)
        except GltfError as error:
            raise GltfError(f"object {entry['name']!r}: {error}") from None
        index = shapes.setdefault(str(collider.shape), len(shapes))
        if index == len(listed):
            listed.append(collider.shape)
        root = {"name": entry["name"], **place, "extras": {"id": entry["id"], "parent": entry["parent"]}}
        if "volumes" in dialects:
            root["boundingVolume"] = {"shape": index, **collider.placement()}
        told = {BODIES[own]: body(own, index) for own in dialects if own in BODIES}
        if told:
            root["children"] = [len(bounded) + len(children)]
            children.append({"name": f"{entry['name']} collider", **collider.placement(), "extensions": told})
        roots.append(root)
    generator = document["generator"]
    told_by = [own for own in DIALECTS if own in dialects and own in BODIES] if listed else []
    return {
        "asset": {
            "version": "2.1" if "volumes" in dialects else "2.0",
            "generator": f"{generator['name']} {generator['version']}",
        },
        **(
            {"extensionsUsed": sorted({*map(SHAPE_LISTS.get, told_by), *map(BODIES.get, told_by)})}
            if told_by
            else {}
        ),
        **({"extensions": {SHAPE_LISTS[own]: {"shapes": listed} for own in told_by}} if told_by else {}),
        **({"shapes": listed} if listed and "volumes" in dialects else {}),
        "scene": 0,
        "scenes": [
            {"name": document["source"]["scene"], **({"nodes": list(range(len(roots)))} if roots else {})}
        ],
        **({"nodes": [*roots, *children]} if roots else {}),
    }


def _collider(entry: dict[str, Any]) -> tuple[dict[str, Any], Collider]:
    """Where an object's node is, as its properties, and the collider below it."""
    translation, rotation = (_floats(entry["transform"][key]) for key in ("translation", "rotation"))
    volume = _volume(entry, translation, rotation)
    place = Turn(single(rotation), np.ones(3))
    parent = node_matrix(single(translation), place.rotation, place.scale)
    root = Collider(parent[:3, 3], place.rotation, place.scale, {})
    turn = _AS_IT_IS
    if isinstance(volume, Obb):
        own = parent[:3, :3].T @ volume.rotation
        if np.abs(own - np.eye(3)).max() > 1e-6:
            turn = Turn(single(quaternion_of(own)), np.ones(3))
    collider = collider_below(parent, turn, volume, off_unit(place.rotation))
    return root.placement(), collider


_AS_IT_IS = Turn(np.array([0.0, 0.0, 0.0, 1.0]), np.ones(3))


def _volume(entry: dict[str, Any], translation: Floats, rotation: Floats) -> Obb | Sphere:
    """The shape in the world that an object's collider holds."""
    ball, turned, box = (entry["world"].get(key) for key in ("sphere", "obb", "aabb"))
    if ball and (entry.get("override") == "sphere" or not (turned or box)):
        return Sphere(ball["center"], ball["radius"])
    if turned:
        return Obb(turned["center"], turned["halfExtents"], matrix_of(turned["rotation"]))
    low, high = (_floats(entry["local"]["aabb"][key]) for key in ("min", "max"))
    axes = node_matrix(np.zeros(3), rotation, np.ones(3))[:3, :3]
    middle = low + (high - low) / 2
    half = np.maximum(high - middle, middle - low)
    return Obb(translation + axes @ middle, half, axes)


def _floats(values: Sequence[float]) -> Floats:
    return np.array(values, dtype=np.float64)
