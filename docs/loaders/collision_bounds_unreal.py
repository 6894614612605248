"""Collision Bounds loader for Unreal Engine 5: the shapes of a document as Unreal's types, and as volumes.

    import collision_bounds_unreal as collision_bounds

    bounds = collision_bounds.read("C:/level.json")
    bounds["Crate"].world.sphere
    collision_bounds.spawn(bounds)
    collision_bounds.read_tracks("C:/level.json")["Crate"].boxes

Run it in the Python of the editor. Export the document with `--preset unreal`: centimeters, Z up, as in
Unreal. The types are Box, Sphere and BoxSphereBounds. The volumes are trigger volumes.

Tested outside of Unreal, in the project's tests. They compare the names and arguments that this file uses
with a description of the Python API of Unreal 5.6, and run this file with a substitute for the `unreal`
module, which records its calls.
"""

import json
import math
import struct
from dataclasses import dataclass
from pathlib import Path

import unreal


class DocumentError(Exception):
    """The file is not a document of version 1 in Unreal's space."""


@dataclass(frozen=True)
class Shapes:
    """Shapes of an object. A shape that is not in the document is None."""

    box: unreal.Box = None
    sphere: unreal.Sphere = None
    oriented: tuple = None  # center, half extents, unreal.Quat
    box_sphere_bounds: unreal.BoxSphereBounds = None  # box and sphere with one origin


@dataclass(frozen=True)
class Bounds:
    """Bounds of one object.

    Place local shapes by location and rotation, without the scale of the object: local shapes include it.
    """

    id: str
    name: str
    parent: str
    location: unreal.Vector
    rotation: unreal.Quat
    world: Shapes
    local: Shapes
    envelope: Shapes


@dataclass(frozen=True)
class Track:
    """World shapes of one object, one per frame. Shapes that are not in the document are None."""

    frames: list
    boxes: list = None
    spheres: list = None


def read(path):
    """Read the objects of a document, as a dict from id to Bounds.

    Raises DocumentError for an invalid document, and OSError for a file that cannot be read.
    """
    return _read(path, lambda document: {entry["id"]: _bounds(entry) for entry in document["objects"]})


def read_tracks(path):
    """Read the tracks of a document, as a dict from the id of an object to Track.

    Export the document with `bounds --tracks`. Raises the same errors as `read`.
    """
    return _read(path, lambda document: {entry["object"]: _track(entry) for entry in document["tracks"]})


def _read(path, convert):
    """Read and check a document, and return the result of `convert` for it."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise DocumentError(f"{path}: is not JSON ({error})") from None
    if not isinstance(document, dict) or document.get("format") != "collision-bounds":
        raise DocumentError(f"{path}: is not a Collision Bounds document")
    if not str(document.get("version")).startswith("1."):
        raise DocumentError(f"{path}: has version {document.get('version')}, but this loader reads version 1")
    try:
        preset = document["space"]["preset"]
        if preset != "unreal":
            raise DocumentError(f"{path}: is in the space {preset!r}: export it with --preset unreal")
        return convert(document)
    except (KeyError, TypeError, ValueError) as error:
        raise DocumentError(f"{path}: is damaged ({error!r}): export it again") from None


def spawn(bounds, shape="box", folder="Collision Bounds"):
    """Add a trigger volume to the level for each object, and return the actors.

    Parameters
    ----------
    bounds : dict
        Result of `read`.
    shape : str
        "box" for the oriented box, or for the box along the object's own axes if there is no oriented box;
        "sphere" for the sphere.
    folder : str
        Folder of the actors in the outliner.
    """
    editor = unreal.get_editor_subsystem(unreal.EditorActorSubsystem)
    actors = []
    for entry in bounds.values():
        if shape == "sphere" and entry.world.sphere:
            center = entry.world.sphere.center
            actor = editor.spawn_actor_from_class(unreal.TriggerSphere, center)
            # Components store single-precision numbers.
            actor.collision_component.set_sphere_radius(_single_up(entry.world.sphere.w))
        elif shape == "box" and (entry.world.oriented or entry.local.box):
            center, half, rotation = entry.world.oriented or _placed_local_box(entry)
            actor = editor.spawn_actor_from_class(unreal.TriggerBox, center, rotation.rotator())
            actor.collision_component.set_box_extent(half)
        else:
            unreal.log_warning(f"Collision Bounds: {entry.name} has no {shape} in this document")
            continue
        actor.set_actor_label(entry.name)
        actor.set_folder_path(folder)
        actors.append(actor)
    return actors


def _bounds(entry):
    transform = entry["transform"]
    return Bounds(
        entry["id"],
        entry["name"],
        entry["parent"],
        unreal.Vector(*transform["translation"]),
        _quaternion(transform["rotation"]),
        _shapes(entry["world"]),
        _shapes(entry["local"]),
        _shapes(entry["envelope"]) if "envelope" in entry else None,
    )


def _shapes(group):
    box, sphere, oriented = (group.get(name) for name in ("aabb", "sphere", "obb"))
    return Shapes(
        _box(box["min"], box["max"]) if box else None,
        _sphere(sphere["center"], sphere["radius"]) if sphere else None,
        (
            unreal.Vector(*oriented["center"]),
            unreal.Vector(*oriented["halfExtents"]),
            _quaternion(oriented["rotation"]),
        )
        if oriented
        else None,
        _box_sphere_bounds(box, sphere) if box else None,
    )


def _track(entry):
    frames = entry["frames"]
    box, sphere = entry.get("aabb"), entry.get("sphere")
    for shapes in (box, sphere):
        if shapes and any(len(values) != len(frames) for values in shapes.values()):
            raise ValueError(f"a track of {len(frames)} frames has another number of shapes")
    return Track(
        frames,
        [*map(_box, box["mins"], box["maxs"])] if box else None,
        [*map(_sphere, sphere["centers"], sphere["radii"])] if sphere else None,
    )


def _box(low, high):
    return unreal.Box(unreal.Vector(*low), unreal.Vector(*high))


def _sphere(center, radius):
    return unreal.Sphere(unreal.Vector(*center), radius)


def _box_sphere_bounds(box, sphere):
    """Box and sphere around the center of the box.

    The sphere encloses the box or the document's sphere, whichever gives the smaller radius.
    """
    low, high = box["min"], box["max"]
    center = [low[k] / 2 + high[k] / 2 for k in range(3)]
    # Rounded up, because the subtraction can round down.
    half = [math.nextafter(max(high[k] - center[k], center[k] - low[k]), math.inf) for k in range(3)]
    radius = math.hypot(*half)
    if sphere:
        radius = min(radius, math.dist(center, sphere["center"]) + sphere["radius"])
    return unreal.BoxSphereBounds(unreal.Vector(*center), unreal.Vector(*half), radius * (1 + 1e-15))


def _placed_local_box(entry):
    """Local box, placed by the location and rotation of its object: center, half extents, rotation."""
    low, high = entry.local.box.min, entry.local.box.max
    half = unreal.Vector((high.x - low.x) / 2, (high.y - low.y) / 2, (high.z - low.z) / 2)
    q, x, y, z = entry.rotation, (low.x + high.x) / 2, (low.y + high.y) / 2, (low.z + high.z) / 2
    # v + 2 w (q x v) + 2 q x (q x v)
    a, b, c = q.y * z - q.z * y, q.z * x - q.x * z, q.x * y - q.y * x
    center = unreal.Vector(
        entry.location.x + x + 2 * (q.w * a + q.y * c - q.z * b),
        entry.location.y + y + 2 * (q.w * b + q.z * a - q.x * c),
        entry.location.z + z + 2 * (q.w * c + q.x * b - q.y * a),
    )
    return center, half, q


def _quaternion(xyzw):
    """Normalize a quaternion, because documents have nine decimals."""
    length = math.hypot(*xyzw)
    return unreal.Quat(*(value / length for value in xyzw))


def _single_up(value):
    """Smallest single-precision number that is not below `value`."""
    (near,) = struct.unpack("f", struct.pack("f", value))
    if near < value:
        (bits,) = struct.unpack("I", struct.pack("f", value))
        (near,) = struct.unpack("f", struct.pack("I", bits + 1))
    return near
