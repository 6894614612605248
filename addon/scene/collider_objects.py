"""Collider objects in the file: made, made over, removed; what users made children of them stays in place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import bpy
from mathutils import Euler, Matrix, Quaternion, Vector

from .collider_shapes import ColliderMesh
from .own_settings import COLLIDER

_UPRIGHT = (1.0, 0.0, 0.0, 0.0)
_FULL = (1.0, 1.0, 1.0)


class Wanted(NamedTuple):
    """A collider as it is to be.

    mark : of the object and its mesh, the name of what it stands for
    homes : the collections it is to be in; it leaves others but those that users put it in besides
    before : an object that becomes it; None: there is none
    """

    name: str
    shape: ColliderMesh
    mark: str
    parent: bpy.types.Object | None
    homes: Sequence[bpy.types.Collection]
    before: bpy.types.Object | None


def matched(items: Iterable[bpy.types.Object], names: Sequence[str]) -> dict[str, bpy.types.Object]:
    """Which of the colliders that there are becomes which: that of its name, else any, in their order."""
    usable = {item.name: item for item in items if item.type == "MESH" and item.mode == "OBJECT"}
    found = {name: usable.pop(name) for name in names if name in usable}
    left = [name for name in names if name not in found]
    return found | {name: usable[before] for name, before in zip(left, sorted(usable), strict=False)}


def put(wanted: Sequence[Wanted]) -> None:
    """Make all of these, or make them over. None of their names may be another object's."""
    _free_names(wanted)
    _remove_meshes(filter(None, (bpy.data.meshes.get(entry.name) for entry in wanted)))
    items = {entry.before for entry in wanted if entry.before is not None}
    children, homes = _children_of(items), _collections_of(items)
    unused: set[bpy.types.ID] = set()
    renewed: dict[bpy.types.Mesh, str] = {}
    for entry in wanted:
        item = entry.before
        mesh = item.data if item is not None else None
        assert mesh is None or isinstance(mesh, bpy.types.Mesh), "those that have others are not taken"
        own = _filled(mesh, entry)
        if own != mesh:
            if mesh is not None:
                unused.add(mesh)
            renewed[own] = entry.name
        if item is None:
            item = bpy.data.objects.new(entry.name, own)
        elif own != mesh:
            item.data = own
        place = _place(item) if item in children else None
        _set(item, entry)
        if place is not None:
            _keep_places(children[item], place, item)
        for home in entry.homes:
            if home not in homes[item]:
                home.objects.link(item)
        for home in homes[item].difference(entry.homes):
            # What users put it in besides is theirs.
            if home.get(COLLIDER) is not None or len(homes[item]) == 1:
                home.objects.unlink(item)
    _remove_meshes(unused)
    for own, name in renewed.items():
        if own.name != name:
            own.name = name


def remove(items: Iterable[bpy.types.Object]) -> None:
    """Remove colliders, and their meshes where these are ours and nobody else has them.

    What users made children of them becomes a child of what they stand for, and stays where it is.
    """
    items = set(items)
    moved = [
        (child, _place(item))
        for item, children in _children_of(items).items()
        for child in children
        if child not in items
    ]
    # Places are read before anything is set.
    settled = [(child, *_settled(child, place, items)) for child, place in moved]
    for child, parent, below in settled:
        child.parent, child.parent_type = parent, "OBJECT"
        if parent is None:
            child.matrix_basis = below @ child.matrix_basis
        else:
            child.matrix_parent_inverse = below
    meshes = {item.data for item in items if item.data is not None}
    bpy.data.batch_remove(items)
    _remove_meshes(meshes)


def _settled(
    child: bpy.types.Object, place: _Place, items: set[bpy.types.Object]
) -> tuple[bpy.types.Object | None, Matrix]:
    """The parent that a child of `items`, of one at a place, is to have, and what it is there below that."""
    parent = place.parent
    while parent in items:
        parent = parent.parent
    if child.parent_type != "OBJECT":
        below = child.matrix_world @ child.matrix_basis.inverted_safe()
    elif place.is_plain and place.parent == parent:
        return parent, place.local @ child.matrix_parent_inverse
    else:
        below = place.world @ child.matrix_parent_inverse
    return parent, parent.matrix_world.inverted_safe() @ below if parent else below


def _remove_meshes(meshes: Iterable[bpy.types.ID]) -> None:
    bpy.data.batch_remove(
        [mesh for mesh in meshes if mesh.get(COLLIDER) is not None and not mesh.users and not mesh.library]
    )


def _free_names(wanted: Sequence[Wanted]) -> None:
    """Take names away that others get: Blender would hang .001 to the second that comes by one."""
    names = {entry.name for entry in wanted}
    for entry in wanted:
        item = entry.before
        if item is not None and item.name != entry.name and item.name in names:
            item.name = f"{item.session_uid}"
            assert isinstance(item.data, bpy.types.Mesh), "those that have others are not taken"
            if _is_its_own(item.data):
                item.data.name = item.name


def _children_of(items: set[bpy.types.Object]) -> dict[bpy.types.Object, list[bpy.types.Object]]:
    """What can be kept where it is of what is below these, in one look at the file."""
    found: dict[bpy.types.Object, list[bpy.types.Object]] = defaultdict(list)
    for item in bpy.data.objects if items else ():
        if item.parent in items and item.library is None:
            found[item.parent].append(item)
    return found


def _collections_of(items: set[bpy.types.Object]) -> dict[bpy.types.Object, set[bpy.types.Collection]]:
    """The collections that can be changed and have these, in one look at the file.

    Not those by which a scene has its rigid bodies.
    """
    found: dict[bpy.types.Object, set[bpy.types.Collection]] = defaultdict(set)
    if items:
        worlds = [scene.rigidbody_world for scene in bpy.data.scenes if scene.rigidbody_world is not None]
        bodies = {home for world in worlds for home in (world.collection, world.constraints)}
        for home in (*bpy.data.collections, *(scene.collection for scene in bpy.data.scenes)):
            if home.library is None and home not in bodies:
                for item in items.intersection(home.objects):
                    found[item].add(home)
    return found


def _filled(mesh: bpy.types.Mesh | None, entry: Wanted) -> bpy.types.Mesh:
    """This mesh, if it is the collider's own, or another, with a collider's surface."""
    if mesh is None or not _is_its_own(mesh):
        mesh = bpy.data.meshes.new(entry.name)
    else:
        mesh.clear_geometry()
        if mesh.name != entry.name:
            mesh.name = entry.name
    mesh.from_pydata(entry.shape.vertices.tolist(), [], list(entry.shape.faces))
    mesh[COLLIDER] = entry.mark
    return mesh


def _is_its_own(mesh: bpy.types.Mesh) -> bool:
    """Whether a mesh was made for one collider, and nothing else has it."""
    return mesh.get(COLLIDER) is not None and mesh.users == 1 and not mesh.library and not mesh.shape_keys


def _set(item: bpy.types.Object, entry: Wanted) -> None:
    """Make an object the collider that is wanted: nothing that users did to its place is left."""
    if item.animation_data is not None:
        item.animation_data_clear()
    for added in (item.modifiers, item.constraints):
        if added:
            added.clear()
    item[COLLIDER] = entry.mark
    turn = entry.shape.turn
    rotation, scale = _UPRIGHT, _FULL
    if turn is not None:
        x, y, z, w = turn.rotation.tolist()
        rotation, scale = (w, x, y, z), tuple(turn.scale.tolist())
    values = {
        "name": entry.name,
        "hide_render": True,
        "display_type": "WIRE",
        "parent": entry.parent,
        "parent_type": "OBJECT",
        "matrix_parent_inverse": Matrix(),
        **dict.fromkeys(("delta_location", "location"), Vector()),
        **dict.fromkeys(("delta_rotation_euler", "rotation_euler"), Euler()),
        "delta_rotation_quaternion": Quaternion(),
        "delta_scale": Vector(_FULL),
        "rotation_mode": "XYZ" if turn is None else "QUATERNION",
        "rotation_quaternion": Quaternion(rotation),
        "scale": Vector(scale),
    }
    for key, value in values.items():
        # Blender looks through the whole file when some of these are set.
        if getattr(item, key) != value:
            setattr(item, key, value)


class _Place(NamedTuple):
    """Where an object is below its parent and in the world; whether its numbers are all that places it."""

    parent: bpy.types.Object | None
    local: Matrix
    world: Matrix
    is_plain: bool


def _place(item: bpy.types.Object) -> _Place:
    return _Place(
        item.parent,
        item.matrix_parent_inverse @ item.matrix_basis if item.parent else item.matrix_basis.copy(),
        item.matrix_world.copy(),
        item.parent_type == "OBJECT" and not item.constraints,
    )


def _keep_places(children: Iterable[bpy.types.Object], before: _Place, item: bpy.types.Object) -> None:
    """Leave the children of a collider where they were before it was set anew."""
    if before.is_plain and before.parent == item.parent:
        old, now = before.local, item.matrix_basis
    else:
        now = item.parent.matrix_world @ item.matrix_basis if item.parent else item.matrix_basis
        old = before.world
    if old != now:
        # One by its vertices goes along with those.
        for child in (child for child in children if child.parent_type == "OBJECT"):
            child.matrix_parent_inverse = now.inverted_safe() @ old @ child.matrix_parent_inverse
