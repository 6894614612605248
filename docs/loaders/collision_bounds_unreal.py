"""Collision Bounds in Unreal Engine 5: a document's shapes as Box, Sphere, BoxSphereBounds, and as volumes.

    import collision_bounds_unreal as collision_bounds

    bounds = collision_bounds.read("C:/level.json")
    bounds["Crate"].world.sphere
    collision_bounds.spawn(bounds)
    collision_bounds.read_tracks("C:/level.json")["Crate"].boxes

For the editor's Python. Write the document with `--preset unreal`: centimetres, Z up, as Unreal has it.

Checked by: the project's tests, outside of Unreal. They look up the names and arguments that this file uses
in a description of Python in Unreal 5.6, and run this file with a stand-in that records what is asked of it.
"""

import json
import math
import struct
from dataclasses import dataclass
from pathlib import Path

import unreal


class DocumentError(Exception):
    """A file that is not a document of version 1 in Unreal's space."""


@dataclass(frozen=True)
class Shapes:
    """The shapes that were asked for when the document was written; None for others."""

    box: unreal.Box = None
    sphere: unreal.Sphere = None
    oriented: tuple = None  # center, half extents, unreal.Quat
    both: unreal.BoxSphereBounds = None  # box and sphere about one origin


@dataclass(frozen=True)
class Bounds:
    """One object. Local shapes are placed by location and rotation alone: their scale is in them."""

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
    """One object in the world, in lists of one length, frame by frame; None for what was not asked for."""

    frames: list
    boxes: list = None
    spheres: list = None


def read(path):
    """The objects of a document, as a dict from id to Bounds.

    Raises DocumentError, or OSError for a file that cannot be read.
    """
    return _read(path, lambda document: {entry["id"]: _bounds(entry) for entry in document["objects"]})


def read_tracks(path):
    """The tracks of a document, as a dict from the id of an object to Track; for `bounds --tracks`.

    Raises as `read` does.
    """
    return _read(path, lambda document: {entry["object"]: _track(entry) for entry in document["tracks"]})


def _read(path, taken):
    """What `taken` makes of the document."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise DocumentError(f"{path}: is not JSON ({error})") from None
    if not isinstance(document, dict) or document.get("format") != "collision-bounds":
        raise DocumentError(f"{path}: is not a Collision Bounds document")
    if not str(document.get("version")).startswith("1."):
        raise DocumentError(f"{path}: is of version {document.get('version')}, and this reads version 1")
    try:
        preset = document["space"]["preset"]
        if preset != "unreal":
            raise DocumentError(f"{path}: is in the space {preset!r}: write it with --preset unreal")
        return taken(document)
    except (KeyError, TypeError, ValueError) as error:
        raise DocumentError(f"{path}: is damaged ({error!r}): write it again") from None


def spawn(bounds, shape="box", folder="Collision Bounds"):
    """Put a trigger volume into the level for each object, and return the actors.

    shape : "box" is the oriented box, or else the box along the object's own axes; "sphere" is the sphere
    """
    editor = unreal.get_editor_subsystem(unreal.EditorActorSubsystem)
    actors = []
    for entry in bounds.values():
        if shape == "sphere" and entry.world.sphere:
            center = entry.world.sphere.center
            actor = editor.spawn_actor_from_class(unreal.TriggerSphere, center)
            # Components have single precision.
            actor.collision_component.set_sphere_radius(_single_up(entry.world.sphere.w))
        elif shape == "box" and (entry.world.oriented or entry.local.box):
            center, half, turn = entry.world.oriented or _own_box(entry)
            actor = editor.spawn_actor_from_class(unreal.TriggerBox, center, turn.rotator())
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


def _shapes(told):
    box, ball, turned = (told.get(name) for name in ("aabb", "sphere", "obb"))
    return Shapes(
        _box(box["min"], box["max"]) if box else None,
        _sphere(ball["center"], ball["radius"]) if ball else None,
        (
            unreal.Vector(*turned["center"]),
            unreal.Vector(*turned["halfExtents"]),
            _quaternion(turned["rotation"]),
        )
        if turned
        else None,
        _both(box, ball) if box else None,
    )


def _track(told):
    frames = told["frames"]
    box, ball = told.get("aabb"), told.get("sphere")
    for shapes in (box, ball):
        if shapes and any(len(values) != len(frames) for values in shapes.values()):
            raise ValueError(f"a track of {len(frames)} frames has more shapes, or fewer")
    return Track(
        frames,
        [*map(_box, box["mins"], box["maxs"])] if box else None,
        [*map(_sphere, ball["centers"], ball["radii"])] if ball else None,
    )


def _box(low, high):
    return unreal.Box(unreal.Vector(*low), unreal.Vector(*high))


def _sphere(center, radius):
    return unreal.Sphere(unreal.Vector(*center), radius)


def _both(box, ball):
    """Box and sphere about the box's centre.

    The radius reaches the corners of the box, or all of the sphere where that is nearer.
    """
    low, high = box["min"], box["max"]
    center = [low[k] / 2 + high[k] / 2 for k in range(3)]
    # Up, for what roundings lose.
    half = [math.nextafter(max(high[k] - center[k], center[k] - low[k]), math.inf) for k in range(3)]
    radius = math.hypot(*half)
    if ball:
        radius = min(radius, math.dist(center, ball["center"]) + ball["radius"])
    return unreal.BoxSphereBounds(unreal.Vector(*center), unreal.Vector(*half), radius * (1 + 1e-15))


def _own_box(entry):
    """The local box where its object is: center, half extents, rotation."""
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
    """Made unit length: documents have nine decimals."""
    length = math.hypot(*xyzw)
    return unreal.Quat(*(value / length for value in xyzw))


def _single_up(value):
    """The next number of single precision that is not less."""
    (near,) = struct.unpack("f", struct.pack("f", value))
    if near < value:
        (bits,) = struct.unpack("I", struct.pack("f", value))
        (near,) = struct.unpack("f", struct.pack("I", bits + 1))
    return near
