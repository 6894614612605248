# SPDX-License-Identifier: MIT-0
# SPDX-FileCopyrightText: 2026 Collision Bounds developers
"""Collision Bounds loader for Unreal Engine 5: the shapes of a document as Unreal's types, and as collision.

    import collision_bounds_unreal as collision_bounds

    bounds = collision_bounds.read("C:/level.json")
    bounds["Crate"].world.sphere
    collision_bounds.add_simple_collision(bounds, "/Game/Level")
    collision_bounds.spawn(bounds)
    collision_bounds.read_tracks("C:/level.json")["Crate"].boxes

Run it in the Python of the editor. Export the document with `--preset unreal`: centimeters, Z up, as in
Unreal. The types are Box, Sphere and BoxSphereBounds. `add_simple_collision` writes simple collision into
static meshes, `spawn` adds volumes to a level.

Tested outside of Unreal, in the project's tests. They compare the names and arguments that this file uses
with a description of the Python API of Unreal 5.6, and run this file with a substitute for the `unreal`
module, which records its calls.
"""

import json
import math
import operator
import re
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

import unreal


class DocumentError(Exception):
    """The file is not a document of version 1 in Unreal's space, or a key of it is broken."""


@dataclass(frozen=True)
class Axial:
    """A capsule or cylinder along the segment from center - half_length axis to center + half_length axis.

    A capsule is longer by its radius at each end: the half height of Unreal is half_length + radius.
    """

    center: unreal.Vector
    axis: unreal.Vector  # of length 1
    half_length: float
    radius: float


@dataclass(frozen=True)
class Hull:
    """Vertices, and triangles as lists of three indices of these."""

    vertices: list
    faces: list


@dataclass(frozen=True)
class SphereNode:
    """A node of a sphere tree, with the indices of its children. Nodes without children are the shape."""

    sphere: unreal.Sphere
    children: list


@dataclass(frozen=True)
class Collision:
    """What happens when something meets the object."""

    response: str = "solid"  # or "trigger", which reports overlaps, or "none", without a collider
    group: int = 1  # 1 to 16
    mask: int = 65535  # groups that it collides with: bit k is that of group k + 1
    material: str = None  # name of the physical material


@dataclass(frozen=True)
class Shapes:
    """Shapes of an object. A shape that is not in the document is None."""

    box: unreal.Box = None
    sphere: unreal.Sphere = None
    oriented: tuple = None  # center, half extents, unreal.Quat
    box_sphere_bounds: unreal.BoxSphereBounds = None  # box and sphere with one origin
    capsule: Axial = None
    cylinder: Axial = None
    hull: Hull = None
    spheres: list = None  # of SphereNode, the root first
    compound: list = None  # of Shapes, each with a hull, oriented box, sphere or capsule


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
    local_envelope: Shapes = None  # around the object at all frames, placed as local
    bone: str = None  # whose transform and vertices these are; None for an object
    scale: unreal.Vector = None  # which local shapes include
    collision: Collision = Collision()
    custom_shape: str = None  # "box" or "sphere" if the object has a custom shape


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
    return _read(path, lambda _, objects: objects)


def read_tracks(path):
    """Read the tracks of a document, as a dict from the id of an object to Track.

    Export the document with `bounds --tracks`. Raises the same errors as `read`.
    """
    return _read(path, _tracks)


def _read(path, convert):
    """Read a document, and return the result of `convert` for it and for its objects."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise DocumentError(f"{path}: is not JSON ({error})") from None
    except RecursionError:
        raise DocumentError(f"{path}: is not a Collision Bounds document") from None
    if not (isinstance(document, dict) and document.get("format") == "collision-bounds"):
        raise DocumentError(f"{path}: is not a Collision Bounds document")
    if not str(document.get("version")).startswith("1."):
        raise DocumentError(f"{path}: has version {document.get('version')}, but this loader reads version 1")
    try:
        preset = _text(_table(document.get("space"), "space").get("preset"), "space.preset")
        if preset != "unreal":
            raise DocumentError(f"is in the space {preset!r}: export it with --preset unreal")
        objects = _by_id(document.get("objects"), "objects", "id", _bounds)
        for i, entry in enumerate(objects.values()):
            if entry.parent is not None:
                _id(entry.parent, objects, f"objects[{i}].parent")
        return convert(document, objects)
    except DocumentError as error:
        raise DocumentError(f"{path}: {error}") from None


def spawn(bounds, shape="box", folder="Collision Bounds"):
    """Add a volume to the level for each object, and return the actors.

    Triggers overlap everything, solid objects block everything, and objects with the response "none" get no
    volume.

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
        if entry.collision.response == "none":
            continue
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
        actor.collision_component.set_collision_profile_name(_PROFILES[entry.collision.response])
        actor.set_actor_label(entry.name)
        actor.set_folder_path(folder)
        actors.append(actor)
    return actors


_PROFILES = {"solid": "BlockAll", "trigger": "OverlapAll", "none": "NoCollision"}
"""Collision profiles of a new project, by response."""

_PART = re.compile(r"/(part\.\d+|shape\.\d+|bone\..*|no bone)$", re.DOTALL)
"""Ends of the names of parts, after the name of their object."""


def add_simple_collision(bounds, folder="/Game", space="local"):
    """Replace the simple collision of the static meshes with the names of objects, and return the meshes.

    The shapes are those of the first of these that the document has: a custom sphere, the convex parts, the
    hull, the leaves of the sphere tree, the capsule, the oriented box, the box along the object's own axes,
    the sphere. Loose parts and several custom shapes become shapes of one mesh. The collision profile is
    that of the response, and the physical material that of its name. Save the meshes afterward, for example
    with `EditorAssetSubsystem`.

    Parameters
    ----------
    bounds : dict
        Result of `read`.
    folder : str
        Folder of the meshes and of the physical materials. A mesh belongs to an object if it has its name,
        with _ for characters that assets cannot have, or ends with _ and this name, as the importer of FBX
        files names them.
    space : str
        "local" if the origin of the mesh is that of the object; its scale must be applied in Blender. "world"
        if the origin is that of Blender's scene, as with Transform Vertex to Absolute of the importer.
    """
    if space not in ("local", "world"):
        raise ValueError(f"space is {space!r}, but must be 'local' or 'world'")
    meshes = _assets(folder, "Engine", "StaticMesh")
    materials = _assets(folder, "PhysicsCore", "PhysicalMaterial")
    by_object = {}
    for entry in bounds.values():
        by_object.setdefault(_PART.sub("", entry.name), []).append(entry)
    changed = []
    with unreal.ScopedEditorTransaction("Collision Bounds: simple collision"):
        for name, entries in by_object.items():
            problem, mesh = _unsuitable(entries, space), _mesh_of(name, meshes)
            if problem is None and mesh is None:
                problem = f"there is no static mesh of this name in {folder}"
            if problem:
                unreal.log_warning(f"Collision Bounds: {name}: {problem}")
                continue
            _set_simple_collision(mesh, entries, space, materials)
            changed.append(mesh)
    return changed


def _assets(folder, module, class_name):
    """Assets of a class below a folder, by name. Of several with one name, the first one."""
    found = {}
    registry = unreal.AssetRegistryHelpers.get_asset_registry()
    path = unreal.TopLevelAssetPath(f"/Script/{module}", class_name)
    for asset in registry.get_assets_by_class(path) or ():
        if f"{asset.package_path}/".startswith(f"{folder.rstrip('/')}/"):
            found.setdefault(str(asset.asset_name), asset)
    return found


def _mesh_of(name, meshes):
    asset_name = re.sub(r"\W", "_", name)
    ending = [each for each in meshes if each.endswith(f"_{asset_name}")]
    found = asset_name if asset_name in meshes else ending[0] if len(ending) == 1 else None
    return None if found is None else meshes[found].get_asset()


def _unsuitable(entries, space):
    """Reason why a static mesh cannot have these shapes; None if it can."""
    if any(entry.bone is not None for entry in entries):
        return "bounds of bones belong to a skeletal mesh"
    scale = entries[0].scale
    if space == "local" and any(abs(part - 1) > 1e-6 for part in (scale.x, scale.y, scale.z)):
        return "has a scale in Blender: apply it, or use space='world'"
    return None


def _set_simple_collision(mesh, entries, space, materials):
    collision = entries[0].collision
    elements = {"box_elems": [], "sphere_elems": [], "sphyl_elems": [], "convex_elems": []}
    for entry in entries:
        for key, element in _elements(entry, entry.world if space == "world" else entry.local):
            if collision.response != "none":
                elements[key].append(element)
    geometry = unreal.KAggregateGeom()
    for key, each in elements.items():
        geometry.set_editor_property(key, each)
    mesh.modify()
    body = mesh.get_editor_property("body_setup")
    body.modify()
    body.set_editor_property("agg_geom", geometry)
    instance = body.get_editor_property("default_instance")
    instance.set_editor_property("collision_profile_name", _PROFILES[collision.response])
    body.set_editor_property("default_instance", instance)
    if collision.material in materials:
        body.set_editor_property("phys_material", materials[collision.material].get_asset())
    elif collision.material is not None:
        unreal.log_warning(f"Collision Bounds: there is no physical material {collision.material}")
    # Keeps the shapes when the mesh is imported again.
    mesh.set_editor_property("customized_collision", True)
    # The notification makes Unreal build the physics data of the mesh.
    mesh.set_editor_property("body_setup", body, unreal.PropertyAccessChangeNotifyMode.ALWAYS)


def _elements(entry, shapes):
    """Elements of an object for KAggregateGeom, with the names of their lists."""
    if entry.custom_shape == "sphere" and shapes.sphere:
        return [_sphere_element(shapes.sphere)]
    if shapes.compound:
        return [_part_element(part) for part in shapes.compound]
    if shapes.hull:
        return [_convex_element(shapes.hull)]
    if shapes.spheres:
        return [_sphere_element(node.sphere) for node in shapes.spheres if not node.children]
    if shapes.capsule:
        return [_capsule_element(shapes.capsule)]
    if shapes.oriented:
        return [_box_element(*shapes.oriented)]
    if shapes is entry.local and shapes.box:
        low, high = _xyz(shapes.box.min), _xyz(shapes.box.max)
        center = [low[k] / 2 + high[k] / 2 for k in range(3)]
        half = [math.nextafter(max(high[k] - center[k], center[k] - low[k]), math.inf) for k in range(3)]
        return [_box_element(unreal.Vector(*center), unreal.Vector(*half), unreal.Quat(0, 0, 0, 1))]
    if entry.local.box:
        return [_box_element(*_placed_local_box(entry))]
    return [_sphere_element(shapes.sphere)] if shapes.sphere else []


def _part_element(part):
    if part.hull:
        return _convex_element(part.hull)
    if part.oriented:
        return _box_element(*part.oriented)
    return _sphere_element(part.sphere) if part.sphere else _capsule_element(part.capsule)


def _box_element(center, half, rotation):
    box = unreal.KBoxElem()
    box.set_editor_property("center", center)
    box.set_editor_property("rotation", rotation.rotator())
    for axis in "xyz":
        box.set_editor_property(axis, _single_up(2 * getattr(half, axis)))
    return "box_elems", box


def _sphere_element(sphere):
    element = unreal.KSphereElem()
    element.set_editor_property("center", sphere.center)
    element.set_editor_property("radius", _single_up(sphere.w))
    return "sphere_elems", element


def _capsule_element(capsule):
    x, y, z = _xyz(capsule.axis)
    # Shortest rotation from Z, the axis of capsules in Unreal, to the axis.
    length = math.hypot(x, y, 1 + z)
    turn = (-y / length, x / length, 0, (1 + z) / length) if length > 1e-6 else (1, 0, 0, 0)
    element = unreal.KSphylElem()
    element.set_editor_property("center", capsule.center)
    element.set_editor_property("rotation", unreal.Quat(*turn).rotator())
    element.set_editor_property("radius", _single_up(capsule.radius))
    # Of the segment, without the ends.
    element.set_editor_property("length", _single_up(2 * capsule.half_length))
    return "sphyl_elems", element


def _convex_element(hull):
    points = [_xyz(vertex) for vertex in hull.vertices]

    def text(point):
        return f"(X={point[0]!r},Y={point[1]!r},Z={point[2]!r})"

    # Python cannot set these properties by name, but the text of a struct can have all.
    vertices = ",".join(map(text, points))
    low, high = text([*map(min, *points)]), text([*map(max, *points)])
    element = unreal.KConvexElem()
    if not element.import_text(f"(VertexData=({vertices}),ElemBox=(Min={low},Max={high},IsValid=True))"):
        raise RuntimeError("Collision Bounds: this version of Unreal does not read hulls from text")
    return "convex_elems", element


def _xyz(vector):
    return float(vector.x), float(vector.y), float(vector.z)


def _bounds(entry, path):
    transform = _table(entry.get("transform"), f"{path}.transform")
    return Bounds(
        entry["id"],
        _text(entry.get("name"), f"{path}.name"),
        entry.get("parent", ""),
        _vector(transform.get("translation"), f"{path}.transform.translation"),
        _quaternion(transform.get("rotation"), f"{path}.transform.rotation"),
        _shapes(entry.get("world"), f"{path}.world"),
        _shapes(entry.get("local"), f"{path}.local"),
        _shapes(entry["envelope"], f"{path}.envelope") if "envelope" in entry else None,
        _shapes(entry["envelope"]["local"], f"{path}.envelope.local")
        if "local" in entry.get("envelope", ())
        else None,
        _text(entry["bone"], f"{path}.bone") if "bone" in entry else None,
        _vector(transform.get("scale"), f"{path}.transform.scale"),
        _collision(entry["collision"], f"{path}.collision") if "collision" in entry else Collision(),
        _text(entry["override"], f"{path}.override") if "override" in entry else None,
    )


def _collision(value, path):
    response = _text(_table(value, path).get("response"), f"{path}.response")
    if response not in ("solid", "trigger", "none"):
        raise DocumentError(f"{path}.response: must be solid, trigger or none")
    material = value.get("material", 0)
    return Collision(
        response,
        _whole(value.get("group"), 1, 16, f"{path}.group"),
        _whole(value.get("mask"), 0, 65535, f"{path}.mask"),
        None if material is None else _text(material, f"{path}.material"),
    )


def _shapes(group, path):
    _table(group, path)
    box, sphere, oriented = (_shape(group, name, path) for name in ("aabb", "sphere", "obb"))
    return Shapes(
        None if box is None else _box(box.get("min"), box.get("max"), f"{path}.aabb.min", f"{path}.aabb.max"),
        None
        if sphere is None
        else _sphere(
            sphere.get("center"), sphere.get("radius"), f"{path}.sphere.center", f"{path}.sphere.radius"
        ),
        None if oriented is None else _oriented_box(oriented, f"{path}.obb"),
        None if box is None else _box_sphere_bounds(box, sphere),
        *(_axial(_shape(group, name, path), f"{path}.{name}") for name in ("capsule", "cylinder")),
        _hull(_shape(group, "hull", path), f"{path}.hull"),
        _tree(group["spheres"], f"{path}.spheres") if "spheres" in group else None,
        _compound(group["compound"], f"{path}.compound") if "compound" in group else None,
    )


def _compound(parts, path):
    compound = [_shapes(part, f"{path}[{i}]") for i, part in enumerate(_list(parts, path))]
    for i, part in enumerate(compound):
        if not (part.hull or part.oriented or part.sphere or part.capsule):
            raise DocumentError(f"{path}[{i}]: must have a hull, obb, sphere or capsule")
    return compound


def _axial(shape, path):
    if shape is None:
        return None
    length = math.hypot(*_numbers(shape.get("axis"), 3, f"{path}.axis"))
    if not abs(length - 1) < 1e-3:
        raise DocumentError(f"{path}.axis: must have length 1")
    return Axial(
        _vector(shape.get("center"), f"{path}.center"),
        unreal.Vector(*(part / length for part in shape["axis"])),
        _size(shape.get("halfLength"), f"{path}.halfLength"),
        _size(shape.get("radius"), f"{path}.radius"),
    )


def _hull(shape, path):
    if shape is None:
        return None
    vertices = [
        _vector(vertex, f"{path}.vertices[{i}]")
        for i, vertex in enumerate(_list(shape.get("vertices"), f"{path}.vertices"))
    ]
    if not vertices:
        raise DocumentError(f"{path}.vertices: must not be empty")
    faces = _list(shape.get("faces"), f"{path}.faces")
    for i, face in enumerate(faces):
        if not _are_indices(face, 0, len(vertices)) or len(face) != 3:
            raise DocumentError(f"{path}.faces[{i}]: must be 3 indices of vertices")
    return Hull(vertices, faces)


def _tree(nodes, path):
    tree = []
    for i, node in enumerate(_list(nodes, path)):
        children = _table(node, f"{path}[{i}]").get("children")
        if not _are_indices(children, i + 1, len(nodes)):
            raise DocumentError(f"{path}[{i}].children: must be indices of later nodes")
        center, radius = f"{path}[{i}].center", f"{path}[{i}].radius"
        tree.append(SphereNode(_sphere(node.get("center"), node.get("radius"), center, radius), children))
    return tree


def _tracks(document, objects):
    tracks = _by_id(document.get("tracks"), "tracks", "object", _track)
    for i, id in enumerate(tracks):
        _id(id, objects, f"tracks[{i}].object")
    return tracks


def _track(entry, path):
    frames = _list(entry.get("frames"), f"{path}.frames")
    for i, frame in enumerate(frames):
        _number(frame, f"{path}.frames[{i}]")

    def each_frame(shape, first, second, convert):
        table, where = _shape(entry, shape, path), f"{path}.{shape}"
        if table is None:
            return None
        a, b = (_per_frame(table.get(key), frames, f"{where}.{key}") for key in (first, second))
        return [
            convert(a[i], b[i], f"{where}.{first}[{i}]", f"{where}.{second}[{i}]") for i in range(len(frames))
        ]

    return Track(
        frames, each_frame("aabb", "mins", "maxs", _box), each_frame("sphere", "centers", "radii", _sphere)
    )


def _box(low, high, low_path, high_path):
    box = unreal.Box(_vector(low, low_path), _vector(high, high_path))
    if not all(map(operator.le, low, high)):
        raise DocumentError(f"{low_path}: must not be above max")
    return box


def _sphere(center, radius, center_path, radius_path):
    return unreal.Sphere(_vector(center, center_path), _size(radius, radius_path))


def _oriented_box(box, path):
    half = _numbers(box.get("halfExtents"), 3, f"{path}.halfExtents")
    if min(half) < 0:
        raise DocumentError(f"{path}.halfExtents: must not be negative")
    return (
        _vector(box.get("center"), f"{path}.center"),
        unreal.Vector(*half),
        _quaternion(box.get("rotation"), f"{path}.rotation"),
    )


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


def _vector(value, path):
    return unreal.Vector(*_numbers(value, 3, path))


def _quaternion(value, path):
    """Normalize a quaternion, because documents have nine decimals."""
    length = math.hypot(*_numbers(value, 4, path))
    if not abs(length - 1) < 1e-3:
        raise DocumentError(f"{path}: must have length 1")
    return unreal.Quat(*(part / length for part in value))


# Each of these returns a value of the document, or raises DocumentError with its path.


def _number(value, path):
    if not _is_number(value):
        raise DocumentError(f"{path}: must be a finite number")
    return value


def _whole(value, least, greatest, path):
    if not (type(value) in (int, float) and least <= value <= greatest and value == int(value)):
        raise DocumentError(f"{path}: must be a whole number, {least} to {greatest}")
    return int(value)


def _size(value, path):
    if _number(value, path) < 0:
        raise DocumentError(f"{path}: must not be negative")
    return value


def _numbers(value, count, path):
    if not (isinstance(value, list) and len(value) == count and all(map(_is_number, value))):
        raise DocumentError(f"{path}: must be {count} finite numbers")
    return value


def _is_number(value):
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _are_indices(value, first, end):
    """Return whether a value is a list of whole numbers from `first` on that are less than `end`."""
    return isinstance(value, list) and all(type(index) is int and first <= index < end for index in value)


def _text(value, path):
    if not isinstance(value, str):
        raise DocumentError(f"{path}: must be text")
    return value


def _list(value, path):
    if not isinstance(value, list):
        raise DocumentError(f"{path}: must be a list")
    return value


def _per_frame(value, frames, path):
    if len(_list(value, path)) != len(frames):
        raise DocumentError(f"{path}: must have one item per frame")
    return value


def _table(value, path):
    if not isinstance(value, dict):
        raise DocumentError(f"{path}: must be an object")
    return value


def _shape(shapes, name, path):
    """Shape of an object or a track. None if the document does not have it."""
    return _table(shapes[name], f"{path}.{name}") if name in shapes else None


def _id(value, objects, path):
    if _text(value, path) not in objects:
        raise DocumentError(f"{path}: is not the id of an object")


def _by_id(entries, path, key, convert):
    """Convert each entry of a list. The result is a dict by one key of the entries, an id."""
    found = {}
    for i, entry in enumerate(_list(entries, path)):
        id = _text(_table(entry, f"{path}[{i}]").get(key), f"{path}[{i}].{key}")
        if id in found:
            raise DocumentError(f"{path}[{i}].{key}: is used twice")
        found[id] = convert(entry, f"{path}[{i}]")
    return found


def _single_up(value):
    """Smallest single-precision number that is not below `value`."""
    (near,) = struct.unpack("f", struct.pack("f", value))
    if near < value:
        (bits,) = struct.unpack("I", struct.pack("f", value))
        (near,) = struct.unpack("f", struct.pack("I", bits + 1))
    return near
