"""Collider objects: a mesh for each subject, below what it stands for, in a collection of their own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import bpy

from ..core import CollisionBoundsError
from ..formats import Skipped
from .collider_names import PATTERNS, ColliderKind, ColliderNames
from .collider_objects import Wanted, matched, put, remove
from .collider_shapes import ColliderMesh, collider_mesh
from .composition import Piece, read_subjects
from .errors import SceneError, reason_of
from .fitting import FitSettings
from .own_settings import COLLIDER, is_collider, is_one
from .selection import Selection
from .subjects import HIDDEN, STANDS_FOR_ANOTHER, Subject, find_subjects

_INSTANCE = "is an instance, which nothing can be a child of: Object > Apply > Make Instances Real"
_INSTANCER = "has instances of its children, and so of a collider: set Instancing to None"
_ELSEWHERE = "is in the scene that this one has as its background: go there"
_PATH = "is a path, which moves its children along: switch Path Animation off"


@dataclass(frozen=True)
class ColliderSettings:
    """Which things get colliders, and of which kind; a shape set by hand keeps its own.

    pattern : of names, see `collider_names.ColliderNames`
    collection : the name of the collection that colliders are put into
    most : corners of a hull, at least 4
    """

    selection: Selection = field(default_factory=Selection)
    fit: FitSettings = field(default_factory=FitSettings)
    kind: ColliderKind = "box"
    pattern: str = PATTERNS["unreal"]
    collection: str = "Colliders"
    most: int = 255


class Made(NamedTuple):
    """How many colliders there are now for how many things, how many there were of them, and who got none."""

    colliders: int
    sources: int
    replaced: int
    skipped: list[Skipped]


class _Source(NamedTuple):
    """What colliders stand for: an object, by its full name, or a collection taken as one, by None."""

    name: str
    owner: str | None


def make_colliders(scene: bpy.types.Scene, settings: ColliderSettings) -> Made:
    """Make colliders of what is selected, in place of those that were made for the same before.

    Who gets none now keeps those it has. Raises SceneError where there is no place for any, or no such name;
    then nothing is changed.
    """
    own, others = _colliders_by_source()
    names = ColliderNames(settings.pattern, others)
    home = _home(scene, settings.collection)
    meshes, skipped = _meshes(scene, settings)
    objects = {item.name_full: item for item in scene.objects}
    _claim(own, meshes, objects)
    elsewhere = _elsewhere(scene)
    planned: list[tuple[_Source, list[str], list[ColliderMesh]]] = []
    # Colliders that stay keep their names.
    for source, items in own.items():
        if source not in meshes:
            names.take(item.name for item in items)
    for source, found in meshes.items():
        try:
            given = names.given(source.name, [kind for kind, _ in found])
            planned.append((source, given, [mesh for _, mesh in found]))
        except CollisionBoundsError as error:
            names.take(item.name for item in own.get(source, ()))
            skipped.append(Skipped(source.name, str(error)))
    before = {source: own.get(source, []) for source, *_ in planned}
    others_homes = {
        source: {entry for item in items for entry in elsewhere.get(item, ())}
        for source, items in before.items()
    }
    count = sum(map(len, before.values()))
    if planned and home is None:
        home = bpy.data.collections.new(settings.collection)
        home[COLLIDER] = settings.collection
        scene.collection.children.link(home)
    wanted: list[Wanted] = []
    kept: set[bpy.types.Object] = set()
    for source, given, shapes in planned:
        becoming = matched(before[source], given)
        kept.update(becoming.values())
        for name, shape in zip(given, shapes, strict=True):
            assert home is not None, "made above"
            parent = None if source.owner is None else objects[source.owner]
            homes = (home, *others_homes[source])
            wanted.append(Wanted(name, shape, source.name, parent, homes, becoming.get(name)))
    if planned:
        remove(item for items in before.values() for item in items if item not in kept)
        put(wanted)
        _remove_empty(scene)
    return Made(sum(len(given) for _, given, _ in planned), len(planned), count, skipped)


def remove_colliders(scene: bpy.types.Scene) -> int:
    """Remove all colliders of a scene that were made here, and their collections where these are empty then.

    Returns how many that were.
    """
    items = [item for item in scene.objects if _is_ours(item)]
    count = len(items)
    remove(items)
    _remove_empty(scene)
    return count


def has_colliders(scene: bpy.types.Scene) -> bool:
    """Whether there is any to remove."""
    return any(_is_ours(item) for item in scene.objects)


def _is_ours(item: bpy.types.Object) -> bool:
    return is_collider(item) and item.library is None and item.override_library is None


def _colliders_by_source() -> tuple[dict[_Source, list[bpy.types.Object]], list[str]]:
    """Our colliders of the whole file, by what they stand for, and the names of all its other objects."""
    own: dict[_Source, list[bpy.types.Object]] = defaultdict(list)
    others = []
    for item in bpy.data.objects:
        if not _is_ours(item):
            if item.library is None:
                others.append(item.name)
        elif item.parent is None:
            own[_Source(str(item[COLLIDER]), None)].append(item)
        else:
            own[_Source(item.parent.name, item.parent.name_full)].append(item)
    return own, others


def _claim(
    own: dict[_Source, list[bpy.types.Object]],
    sources: Iterable[_Source],
    objects: dict[str, bpy.types.Object],
) -> None:
    """Give colliders whose parent is gone to the object that has its name now, but not those it is below."""
    for source in sources:
        lost = _Source(source.name, None)
        if source.owner is None or lost not in own or is_one(bpy.data.collections.get(source.name)):
            continue
        above = set(_ancestors(objects[source.owner]))
        items = own.pop(lost)
        own[source] = [*own.get(source, ()), *(item for item in items if item not in above)]
        if stays := [item for item in items if item in above]:
            own[lost] = stays


def _ancestors(item: bpy.types.Object) -> Iterator[bpy.types.Object]:
    parent = item.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def _elsewhere(scene: bpy.types.Scene) -> dict[bpy.types.Object, list[bpy.types.Collection]]:
    """The collections of other scenes that colliders are in: what stands there has none but these."""
    here = {scene.collection, *scene.collection.children_recursive}
    found: dict[bpy.types.Object, list[bpy.types.Collection]] = defaultdict(list)
    for entry in bpy.data.collections:
        if entry.get(COLLIDER) is not None and entry.library is None and entry not in here:
            for item in entry.objects:
                found[item].append(entry)
    return found


def _home(scene: bpy.types.Scene, name: str) -> bpy.types.Collection | None:
    """The collection of a scene that colliders go to, by its name or by the one that was asked for.

    Those of other files are passed over: beside them there can be one of the same name.
    """
    if not name.strip():
        raise SceneError("the collection for colliders has no name")
    if scene.library is not None:
        raise SceneError(f"scene {scene.name!r} is linked from another file: open that to add colliders")
    homes: tuple[bpy.types.Collection, ...] = (scene.collection, *scene.collection.children_recursive)
    for entry in homes:
        is_asked_for = entry.name == name or entry.get(COLLIDER) == name
        if is_asked_for and entry.library is None and entry.override_library is None:
            return entry
    return None


def _meshes(
    scene: bpy.types.Scene, settings: ColliderSettings
) -> tuple[dict[_Source, list[tuple[ColliderKind, ColliderMesh]]], list[Skipped]]:
    """Colliders by what they stand for, loose parts in their order, and who gets none."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    subjects, skipped = find_subjects(scene, depsgraph, settings.selection)
    pieces = {piece.subject: piece for piece in read_subjects(depsgraph, subjects, settings.fit)}
    objects = {item.name_full: item for item in scene.objects}
    found: dict[_Source, list[tuple[ColliderKind, ColliderMesh]]] = defaultdict(list)
    known: dict[object, ColliderMesh] = {}
    for index, subject in sorted(enumerate(subjects), key=lambda entry: _in_order(entry[1])):
        try:
            source = _source(subject, objects)
            if index not in pieces or not len(pieces[index].geometry.points):
                raise SceneError("no vertices")
            kind = subject.override or settings.kind
            mesh = _once(known, pieces[index], kind, settings.most)
            found[source].append((kind, mesh))
        except CollisionBoundsError as error:
            skipped.append(Skipped(subject.name, reason_of(error)))
    if found:
        # Who hid something, or selected a collider too, knows that it gets none.
        skipped = [entry for entry in skipped if entry.reason not in (HIDDEN, STANDS_FOR_ANOTHER)]
    return found, skipped


def _in_order(subject: Subject) -> tuple[str, str, int]:
    """By name, and parts by their number: the tenth comes after the second."""
    return subject.name if subject.part is None else subject.key[1], subject.key[0], subject.part or 0


def _source(subject: Subject, objects: dict[str, bpy.types.Object]) -> _Source:
    if any(indices for _, _, indices in (subject.key, *subject.members)):
        raise SceneError(_INSTANCE)
    if subject.members:
        return _Source(subject.name, None)
    owner = objects.get(subject.key[0])
    if owner is None:
        raise SceneError(_ELSEWHERE)
    if owner.instance_type != "NONE":
        raise SceneError(_INSTANCER)
    if isinstance(owner.data, bpy.types.Curve) and owner.data.use_path:
        raise SceneError(_PATH)
    return _Source(owner.name, owner.name_full)


def _once(known: dict[object, ColliderMesh], piece: Piece, kind: ColliderKind, most: int) -> ColliderMesh:
    """The mesh of a piece: a hull, which takes long, only once for all that share their vertices."""
    geometry, fit = piece.geometry, piece.fit
    if kind != "hull" or fit.padding:
        return collider_mesh(geometry, kind, fit, most)
    lengths = (geometry.matrix[:3, :3] ** 2).sum(axis=0) ** 0.5
    # How thick the thinnest may be goes by the scale: to three digits, that is the same.
    key = geometry.points.tobytes(), tuple(f"{length:.3e}" for length in lengths)
    if key not in known:
        known[key] = collider_mesh(geometry, kind, fit, most)
    return known[key]


def _remove_empty(scene: bpy.types.Scene) -> None:
    """Remove collections that were made for colliders and have none any more, nor anything else."""
    empty = [
        entry
        for entry in scene.collection.children_recursive
        if entry.get(COLLIDER) is not None
        and not entry.library
        and not entry.all_objects
        and not entry.children
    ]
    bpy.data.batch_remove(empty)
