"""Check of colliders that users or other tools have made, and of those that were created here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import bpy

from ...core.messages import message
from ..blender.instances import MESH_LIKE
from ..blender.names import full_name_of, name_of
from ..blender.object_settings import (
    COLLIDER_PROPERTY,
    is_marked_collider,
    is_merged_collection,
    meters_per_unit,
)
from ..collider_names import (
    ColliderName,
    Engine,
    SourceMatch,
    has_blender_suffix,
    match_source,
    recognize_name,
)
from ..errors import SceneError
from ..levels_of_detail import base_name, collision_levels
from ..settings import ColliderCheckSettings
from ..subjects.selection import matches_names, owner_filter
from .check_records import CheckedCollider, ColliderCheck, ColliderNote, ColliderProblem
from .check_rules import (
    CheckedShape,
    filled_note,
    geometry_problems,
    is_readable,
    name_note,
    name_problems,
    outside_problem,
)
from .filled_holes import filled_distances, is_noticeable
from .reading import ColliderGroup, ReadGroup, ReadObject, read_groups, read_merged

_DISABLED = "is disabled in viewports, so Blender does not evaluate it: enable it to check it"
_OF_BONE = message(
    "is of a bone, which Unreal ignores: skeletal meshes have the collision of their physics asset"
)
_CUSTOM = ColliderName("custom", "hull", (), ())


class _Candidate(NamedTuple):
    """Collider with its name, and the mesh object or merged collection that it belongs to.

    match : with the name of that object or collection
    mesh : full name of the object; None for a collection
    is_created : whether Create Colliders gave it its name, by any pattern
    """

    item: bpy.types.Object
    name: ColliderName
    match: SourceMatch
    mesh: str | None
    is_created: bool

    @property
    def enclosed(self) -> tuple[str | None, str | None]:
        """`mesh`, and the name of the object or collection; both None if the collider is its own mesh."""
        return (self.mesh, self.match.name) if self.name.is_separate else (None, None)


def check_colliders(scene: bpy.types.Scene, settings: ColliderCheckSettings | None = None) -> ColliderCheck:
    """Check all objects of the active scene that are colliders by their names, or were created here.

    Vertices are those of the current frame. Nothing in the file changes. A vertex is inside if it is in one
    of the colliders of its mesh: in the convex hull of its vertices, or in the sphere or capsule that Unreal
    makes of it. Distances are exact up to rounding in double precision of the numbers that Blender stores.

    settings : colliders to check; all by default

    Returns a check sorted by name. Raises SceneError for a collection that does not exist, or a pattern that
    matches no collider and no mesh of one.
    """
    settings = settings or ColliderCheckSettings()
    candidates = _candidates(scene)
    selected = _selected(scene, candidates, settings)
    # Colliders of one mesh enclose it together, so the others of a mesh are read too.
    groups: dict[tuple[str | None, str | None], list[_Candidate]] = defaultdict(list)
    for candidate in candidates:
        groups[candidate.enclosed].append(candidate)
    chosen = {
        source: group
        for source, group in groups.items()
        if any(full_name_of(candidate.item) in selected for candidate in group)
    }
    objects = {full_name_of(item): item for item in scene.objects}
    to_read = [
        ColliderGroup(None if mesh is None else objects[mesh], [candidate.item for candidate in group])
        for (mesh, _), group in chosen.items()
    ]
    checked: list[CheckedCollider] = []
    problems: list[ColliderProblem] = []
    notes: list[ColliderNote] = []
    unit = meters_per_unit(scene)
    used = {name_of(item) for item in bpy.data.objects}
    reads = read_groups(scene, to_read, settings.fit)
    for ((mesh, name), group), read in zip(chosen.items(), reads, strict=True):
        if mesh is None and name is not None:
            read = read._replace(source=read_merged(scene, name, settings.fit))
        result = _check_group(group, read, unit, used)
        # A collider that was not selected is only part of what encloses its mesh.
        skipped = {full_name_of(candidate.item) for candidate in group} - selected
        checked += [entry for entry in result.colliders if entry.id not in skipped]
        problems += [entry for entry in result.problems if entry.id not in skipped]
        notes += [entry for entry in result.notes if entry.id not in skipped]
    checked.sort(key=lambda entry: (entry.name, entry.id))
    problems.sort(key=lambda entry: (entry.name, entry.id))
    filled = {entry.id: entry.filled or 0.0 for entry in checked}
    notes.sort(key=lambda entry: (entry.kind, -filled[entry.id], entry.name, entry.id))
    return ColliderCheck(tuple(checked), tuple(problems), tuple(notes))


def _candidates(scene: bpy.types.Scene) -> list[_Candidate]:
    """Find the colliders of a scene, and the meshes that they belong to."""
    names: dict[str, ColliderName] = {}
    items = [item for item in scene.objects if item.type in MESH_LIKE]
    for item in items:
        name = recognize_name(name_of(item))
        if is_marked_collider(item) and (name is None or name.defect):
            name = _CUSTOM  # by a pattern of the user
        if name is not None:
            names[full_name_of(item)] = name
    meshes = [item for item in items if _may_be_source(item, names)]
    by_name: dict[str, list[str]] = defaultdict(list)
    for item in meshes:
        by_name[name_of(item).lower()].append(name_of(item))
    full_names = {name_of(item): full_name_of(item) for item in meshes}
    first_levels = collision_levels(full_names).values()
    levels = {base_name(name).lower(): name for name in first_levels if base_name(name) != name}
    collections = {
        name_of(entry) for entry in scene.collection.children_recursive if is_merged_collection(entry)
    }
    candidates = []
    for item in items:
        name = names.get(full_name_of(item))
        if name is None:
            continue
        known: Mapping[str, list[str]] = by_name
        if not name.is_certain:
            # It cannot be its own mesh.
            itself = name_of(item)
            known = {key: [mesh for mesh in found if mesh != itself] for key, found in by_name.items()}
        parent = _parent_mesh(item, names)
        # The name of a bone's collider has that of the bone, too, and its parent is the armature.
        of_bone = _marked_mesh(item, known) if item.parent_type == "BONE" else None
        if of_bone is not None or name.engine == "custom":
            match = SourceMatch(of_bone or parent or _marked_mesh(item, known), True)
        else:
            match = match_source(name_of(item), name, parent, known, levels)
            if parent is not None and _has_created_name(item, parent):
                match = SourceMatch(parent, match.is_named and match.name == parent)
        if of_bone is None and not name.is_certain and not _is_named(name, known):
            continue
        candidates.append(_candidate(item, name, match, full_names, collections))
    return candidates


def _candidate(
    item: bpy.types.Object,
    name: ColliderName,
    match: SourceMatch,
    full_names: Mapping[str, str],
    collections: set[str],
) -> _Candidate:
    """Complete a candidate by the merged collection that it belongs to, or by the full name of its mesh.

    It belongs to a collection that it was created for, or to one that its name contains if there is no mesh.
    """
    mark = _mark_of(item)
    possible = [mark] if item.parent is None else []
    if match.name is None:
        possible += [*name.sources, *name.similar]
    collection = next((entry for entry in possible if entry in collections), None)
    mesh = None
    if collection is not None:
        match = SourceMatch(collection, name.engine == "custom" or collection in name.sources)
    elif match.name is not None:
        mesh = full_names[match.name]
    is_created = match.name is not None and _has_created_name(item, match.name)
    return _Candidate(item, name, match, mesh, is_created)


def _has_created_name(item: bpy.types.Object, source: str) -> bool:
    """Return whether a collider has the name that Create Colliders gave it for a source of this name.

    It contains that of the source, as a whole or without its level of detail. The mesh has it too, and what
    follows is no suffix that Blender adds to copies.
    """
    name = name_of(item)
    if _mark_of(item) != source or item.data is None or name_of(item.data) != name:
        return False
    return any(
        each in name and not has_blender_suffix(name.rpartition(each)[2])
        for each in (source, base_name(source))
    )


def _mark_of(item: bpy.types.Object) -> str:
    """Name of the source that a collider was created for; empty if it was not created here."""
    if not is_marked_collider(item):
        return ""
    try:
        return str(item[COLLIDER_PROPERTY])
    except UnicodeDecodeError:  # of an old or damaged file
        return ""


def _marked_mesh(item: bpy.types.Object, meshes: Mapping[str, list[str]]) -> str | None:
    """Name of the mesh that a collider was created for; None if there is none of that name."""
    mark = _mark_of(item)
    return mark if mark in meshes.get(mark.lower(), ()) else None


def _is_named(name: ColliderName, meshes: Mapping[str, list[str]]) -> bool:
    """Return whether a mesh has one of the names that a name can stand for."""
    return any(meshes.get(each.lower()) for each in (*name.sources, *name.similar))


def _may_be_source(item: bpy.types.Object, names: Mapping[str, ColliderName]) -> bool:
    """Return whether an object can have colliders: it is none itself, unless it is visible as well."""
    name = names.get(full_name_of(item))
    return name is None or not name.is_separate or not name.is_certain


def _parent_mesh(item: bpy.types.Object, names: Mapping[str, ColliderName]) -> str | None:
    """Name of the nearest mesh above an object; None if there is none."""
    parent = item.parent
    while parent is not None:
        if parent.type in MESH_LIKE and _may_be_source(parent, names):
            return name_of(parent)
        parent = parent.parent
    return None


def _selected(
    scene: bpy.types.Scene, candidates: list[_Candidate], settings: ColliderCheckSettings
) -> set[str]:
    """Full names of the colliders that are selected, also by their meshes. Raises as `check_colliders`."""
    selection = settings.selection
    is_owner_selected = owner_filter(scene, selection)

    def names_of(candidate: _Candidate) -> list[str]:
        of_item = [name_of(candidate.item), full_name_of(candidate.item)]
        return [*of_item, *filter(None, (candidate.match.name, candidate.mesh))]

    for pattern in selection.patterns:
        only = selection.__class__((pattern,))
        if not any(matches_names(only, *names_of(candidate)) for candidate in candidates):
            raise SceneError(
                f"object {pattern!r}: no collider in scene {name_of(scene)!r} has this name, or belongs to a "
                "mesh of this name"
            )
    return {
        full_name_of(candidate.item)
        for candidate in candidates
        if matches_names(selection, *names_of(candidate))
        and any(is_owner_selected(name) for name in names_of(candidate))
    }


def _check_group(group: list[_Candidate], read: ReadGroup, unit: float, used: set[str]) -> ColliderCheck:
    """Check the colliders of one mesh, each alone and all together.

    `unit` is the length of a Blender unit in meters, and `used` are the names of all objects.
    """
    mesh, mesh_name = group[0].enclosed
    colliders: list[CheckedCollider] = []
    problems: list[ColliderProblem] = []
    notes: list[ColliderNote] = []
    shapes: dict[str, CheckedShape] = {}
    for candidate in group:
        item, name = candidate.item, candidate.name
        id = full_name_of(item)
        found = name_problems(name_of(item), name, candidate.match, used)
        if found and candidate.is_created:
            found = []
            if name.engine == "unreal":
                text = name_note(name, candidate.match.name or "")
                notes.append(ColliderNote(name_of(item), id, "name", text))
        if name.engine == "unreal" and item.parent_type == "BONE":
            found.append(("name", _OF_BONE))
        geometry = read.colliders.get(id)
        if geometry is None:
            found.append(("unreadable", _DISABLED))
        else:
            matrix = None if read.source is None or not name.is_separate else read.source.matrix
            shapes[id] = geometry_problems(name, geometry, matrix, unit)
            found += shapes[id].problems
        vertices = 0 if geometry is None else len(geometry.points)
        colliders.append(
            CheckedCollider(
                name_of(item), id, mesh or mesh_name, name.engine, name.kind, vertices, len(found)
            )
        )
        problems += [ColliderProblem(name_of(item), id, kind, text) for kind, text in found]
    if mesh_name is not None and read.source is not None:
        problems += _outside(mesh_name, mesh or mesh_name, group, shapes, read.source)
        colliders = _with_filled(colliders, shapes, read.source)
        notes += [
            ColliderNote(entry.name, entry.id, "filled", filled_note(entry.filled))
            for entry in colliders
            if entry.filled and is_noticeable(entry.filled, read.source, unit)
        ]
    elif mesh_name is not None and mesh is not None:
        problems.append(ColliderProblem(mesh_name, mesh, "unreadable", _DISABLED))
    return ColliderCheck(tuple(colliders), tuple(problems), tuple(notes))


def _with_filled(
    colliders: list[CheckedCollider], shapes: Mapping[str, CheckedShape], source: ReadObject
) -> list[CheckedCollider]:
    """Add how far the colliders of a mesh fill its notches and holes, to those that have a volume."""
    volumes = {id: shape.volume for id, shape in shapes.items() if shape.volume is not None}
    is_known = bool(volumes) and is_readable(source)
    distances = filled_distances(source, list(volumes.values())) if is_known else None
    if distances is None:
        return colliders
    filled = dict(zip(volumes, distances.tolist(), strict=True))
    return [entry._replace(filled=filled.get(entry.id)) for entry in colliders]


def _outside(
    name: str, id: str, group: list[_Candidate], shapes: Mapping[str, CheckedShape], source: ReadObject
) -> Iterator[ColliderProblem]:
    """Report the vertices of a mesh that are in none of its colliders, for each engine."""
    if not len(source.points) or not is_readable(source):
        return
    by_engine: dict[Engine, list[_Candidate]] = defaultdict(list)
    for candidate in group:
        by_engine[candidate.name.engine].append(candidate)
    for candidates in by_engine.values():
        read = [shapes.get(full_name_of(candidate.item)) for candidate in candidates]
        with_volume = [shape for shape in read if shape is not None and shape.volume is not None]
        has_surface = any(candidate.name.kind == "triangles" for candidate in candidates)
        if with_volume and None not in read and not has_surface:
            names = [name_of(candidate.item) for candidate in candidates]
            found = outside_problem(source, with_volume, names)
            if found is not None:
                yield ColliderProblem(name, id, "outside", *found)
