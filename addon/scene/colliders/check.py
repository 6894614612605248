"""Check of colliders that users or other tools have made, and of those that were created here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping
from contextlib import closing
from typing import Any, Literal, NamedTuple, TypeAlias

import bpy

from ...core.messages import message, template
from ...formats.wording import quoted, valid_text
from ..blender.instances import MESH_LIKE, full_name_of, name_of
from ..blender.object_settings import (
    COLLIDER_PROPERTY,
    is_marked_collider,
    is_merged_collection,
    meters_per_unit,
)
from ..collider_names import (
    CheckedKind,
    ColliderName,
    Engine,
    SourceMatch,
    base_name,
    collision_levels,
    has_blender_suffix,
    match_source,
    recognize_name,
)
from ..errors import SceneError
from ..settings import ColliderCheckSettings, Selection
from ..subjects.selection import matches_names, matches_pattern, owner_filter
from .check_rules import CheckedShape, ProblemKind, geometry_problems, name_problems, outside_problem
from .containment import (
    ObjectSurface,
    Outside,
    evaluated_groups,
    filled_distances,
    is_noticeable,
    read_merged,
    read_surface,
)
from .objects import ancestors
from .openings import filled_text
from .records import is_replaceable

_DISABLED = "is disabled in viewports, so Blender does not evaluate it: enable it to check it"
_OF_BONE = message(
    "is of a bone, which Unreal ignores: skeletal meshes have the collision of their physics asset"
)
_RENAMED = template(
    "is found by Unreal for its mesh {mesh} only if your exporter renames the mesh to {wanted}"
)
_CUSTOM = ColliderName("custom", "hull", (), ())

NoteKind: TypeAlias = Literal["filled", "name"]
"""Kinds of notes, which are no problems.

- "filled": notches or holes of the mesh are filled
- "name": the engine finds the mesh only if the exporter renames it
"""


Mend: TypeAlias = Literal["rename", "rebuild"]
"""Commands of the window that mend a problem: rename the collider, or create those of its mesh again."""


class CheckedCollider(NamedTuple):
    """A collider that was checked.

    name, id : Name and full name of the object.
    mesh : Full name of the mesh object that it belongs to, or name of the collection that is treated as
        one. None if it belongs to none, as an object that is its own collider.
    engine : Engine whose naming convention it follows.
    kind : Shape that the engine makes of it.
    vertices : Number of its vertices; 0 if it could not be read.
    problems : Number of its own problems.
    filled : Distance from the surface of its mesh up to which it fills notches and holes, in world units; 0
        if it fills none. None if that was not measured.
    """

    name: str
    id: str
    mesh: str | None
    engine: Engine
    kind: CheckedKind
    vertices: int
    problems: int
    filled: float | None = None


class ColliderFinding(NamedTuple):
    """A problem or a note of one object: a collider, or a mesh that its colliders do not enclose.

    name, id : Name and full name of the object.
    text : Sentence without a full stop, whose subject is the object.
    outside : Vertices that are outside, of a problem "outside".
    mended_by : Empty if neither command mends it.
    mesh : Full name of the mesh, or name of the collection, of a collider that was created here.
    """

    name: str
    id: str
    kind: ProblemKind | NoteKind
    text: str
    outside: Outside | None = None
    mended_by: Mend | Literal[""] = ""
    mesh: str = ""


class ColliderCheck(NamedTuple):
    """Result of `check_colliders`.

    problems : Empty if no problem was found.
    notes : The largest filled holes first.
    """

    colliders: tuple[CheckedCollider, ...]
    problems: tuple[ColliderFinding, ...]
    notes: tuple[ColliderFinding, ...]

    @property
    def findings(self) -> tuple[ColliderFinding, ...]:
        """Problems, then notes."""
        return (*self.problems, *self.notes)

    def document(self, scene: str) -> dict[str, Any]:
        """Return the result as a JSON document, with the name of the scene.

        Bytes of names that are not UTF-8 are escapes.
        """
        return {
            "format": "collision-bounds-collider-check",
            "version": "1.0.0",
            "scene": scene,
            **{key: list(map(_members, entries)) for key, entries in self._asdict().items()},
        }


def _members(entry: CheckedCollider | ColliderFinding) -> dict[str, Any]:
    members = entry._asdict()
    for key in members.keys() & {"name", "id", "mesh"}:
        members[key] = None if members[key] is None else valid_text(members[key])
    outside = members.pop("outside", None)
    if isinstance(entry, ColliderFinding):
        for key in ("mended_by", "mesh"):  # of the window alone
            del members[key]
    return members if outside is None else {**members, "outside": outside._asdict()}


class ColliderCandidate(NamedTuple):
    """Collider with its full name, what its name says, and what it belongs to.

    match : with the name of the mesh object or merged collection that it belongs to
    mesh : the mesh object; None for a collection
    is_created : whether Create Colliders gave it its name, by any pattern
    """

    item: bpy.types.Object
    id: str
    name: ColliderName
    match: SourceMatch
    mesh: bpy.types.Object | None
    is_created: bool

    @property
    def enclosed(self) -> tuple[bpy.types.Object | None, str | None]:
        """`mesh`, and the name of the object or collection; both None if the collider is its own mesh."""
        return (self.mesh, self.match.name) if self.name.is_separate else (None, None)

    @property
    def names(self) -> list[str]:
        """Names by which it is selected: its own, and those of the mesh or collection."""
        of_mesh = None if self.mesh is None else full_name_of(self.mesh)
        return [name_of(self.item), self.id, *filter(None, (self.match.name, of_mesh))]


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
    candidates = find_candidates(scene)
    selected = _selected(scene, candidates, settings.selection)
    # Colliders of one mesh enclose it together, so the others of a mesh are read too.
    by_source: dict[tuple[bpy.types.Object | None, str | None], list[ColliderCandidate]] = defaultdict(list)
    for candidate in candidates:
        by_source[candidate.enclosed].append(candidate)
    groups = [entry for entry in by_source.items() if any(each.id in selected for each in entry[1])]
    merged = [
        read_merged(scene, name, settings.fit) if mesh is None and name is not None else None
        for (mesh, name), _ in groups
    ]
    members = [[*filter(None, [mesh]), *(each.item for each in group)] for (mesh, _), group in groups]
    unit, used = meters_per_unit(scene), {name_of(item) for item in bpy.data.objects}
    colliders: list[CheckedCollider] = []
    problems: list[ColliderFinding] = []
    notes: list[ColliderFinding] = []
    with closing(evaluated_groups(scene, members)) as evaluated:
        for number, depsgraph in evaluated:
            (mesh, _), group = groups[number]
            source = merged[number] if mesh is None else read_surface(mesh, depsgraph, settings.fit)
            surfaces = {each.id: read_surface(each.item, depsgraph) for each in group}
            check = _check_group(group, selected, source, surfaces, unit, used)
            colliders += check.colliders
            problems += check.problems
            notes += check.notes
    filled = {entry.id: entry.filled or 0.0 for entry in colliders}
    return ColliderCheck(
        tuple(sorted(colliders, key=lambda entry: (entry.name, entry.id))),
        tuple(sorted(problems, key=lambda entry: (entry.name, entry.id))),
        tuple(sorted(notes, key=lambda entry: (entry.kind, -filled[entry.id], entry.name, entry.id))),
    )


def find_candidates(scene: bpy.types.Scene) -> list[ColliderCandidate]:
    """Find the colliders of a scene, and the meshes or merged collections that they belong to."""
    names: dict[str, ColliderName] = {}
    items = [item for item in scene.objects if item.type in MESH_LIKE]
    for item in items:
        name = recognize_name(name_of(item))
        if is_marked_collider(item) and (name is None or name.defect):
            name = _CUSTOM  # by a pattern of the user
        if name is not None:
            names[full_name_of(item)] = name
    meshes = {name_of(item): item for item in items if _may_be_source(item, names)}
    by_lower: dict[str, list[str]] = defaultdict(list)
    for each in meshes:
        by_lower[each.lower()].append(each)
    first_levels = collision_levels(meshes).values()
    levels = {base_name(each).lower(): each for each in first_levels if base_name(each) != each}
    merged = filter(is_merged_collection, scene.collection.children_recursive)
    collections = set(map(name_of, merged))
    candidates = []
    for item in items:
        id = full_name_of(item)
        name = names.get(id)
        match = None if name is None else _match(item, name, names, by_lower, levels)
        if name is None or match is None:
            continue
        # It belongs to a collection that it was created for, or to one in its name if there is no mesh.
        possible = [_mark_of(item)] if item.parent is None else []
        if match.name is None:
            possible += [*name.sources, *name.similar]
        collection = next((entry for entry in possible if entry in collections), None)
        if collection is not None:
            match = SourceMatch(collection, name.engine == "custom" or collection in name.sources)
        mesh = None if collection is not None or match.name is None else meshes[match.name]
        is_created = match.name is not None and _has_created_name(item, match.name)
        candidates.append(ColliderCandidate(item, id, name, match, mesh, is_created))
    return candidates


def _match(
    item: bpy.types.Object,
    name: ColliderName,
    names: Mapping[str, ColliderName],
    meshes: Mapping[str, list[str]],
    levels: Mapping[str, str],
) -> SourceMatch | None:
    """Find the mesh that a collider belongs to; None if it is no collider, as no mesh has a name in its name.

    names : of all colliders, by full name
    meshes : names of meshes, by their names in lower case
    levels : as of `match_source`
    """
    if not name.is_certain:
        # It cannot be its own mesh.
        itself = name_of(item)
        meshes = {key: [mesh for mesh in found if mesh != itself] for key, found in meshes.items()}
    above = (each for each in ancestors(item) if each.type in MESH_LIKE and _may_be_source(each, names))
    parent = next(map(name_of, above), None)
    mark = _mark_of(item)
    marked = mark if mark in meshes.get(mark.lower(), ()) else None
    if marked is not None and item.parent_type == "BONE":
        # Its name has that of the bone, too, and its parent is the armature.
        return SourceMatch(marked, True)
    if not name.is_certain and not any(meshes.get(each.lower()) for each in (*name.sources, *name.similar)):
        return None
    if name.engine == "custom":
        return SourceMatch(parent or marked, True)
    match = match_source(name_of(item), name, parent, meshes, levels)
    if parent is not None and _has_created_name(item, parent):
        match = SourceMatch(parent, match.is_named and match.name == parent)
    return match


def _may_be_source(item: bpy.types.Object, names: Mapping[str, ColliderName]) -> bool:
    """Return whether an object can have colliders: it is none itself, unless it is visible as well."""
    name = names.get(full_name_of(item))
    return name is None or not name.is_separate or not name.is_certain


def _mark_of(item: bpy.types.Object) -> str:
    """Name of the source that a collider was created for; empty if it was not created here."""
    if not is_marked_collider(item):
        return ""
    try:
        return str(item[COLLIDER_PROPERTY])
    except UnicodeDecodeError:  # of an old or damaged file
        return ""


def _has_created_name(item: bpy.types.Object, source: str) -> bool:
    """Return whether a collider has the name that Create Colliders gave it for a source of this name.

    It contains that of the source, as a whole or without its level of detail. The mesh has it too, and what
    follows is no suffix that Blender adds to copies.
    """
    name = name_of(item)
    if _mark_of(item) != source or item.data is None or name_of(item.data) != name:
        return False
    names = (each for each in (source, base_name(source)) if each in name)
    return any(not has_blender_suffix(name.rpartition(each)[2]) for each in names)


def _selected(scene: bpy.types.Scene, candidates: list[ColliderCandidate], selection: Selection) -> set[str]:
    """Full names of the colliders that are selected, also by their meshes. Raises as `check_colliders`."""
    is_owner_selected = owner_filter(scene, selection)
    for pattern in selection.patterns:
        if not any(matches_pattern(pattern, *candidate.names) for candidate in candidates):
            raise SceneError(
                f"object {pattern!r}: no collider in scene {name_of(scene)!r} has this name, or belongs to a "
                "mesh of this name"
            )
    named = (each for each in candidates if matches_names(selection, *each.names))
    return {each.id for each in named if any(map(is_owner_selected, each.names))}


def _check_group(
    group: list[ColliderCandidate],
    selected: Container[str],
    source: ObjectSurface | None,
    surfaces: Mapping[str, ObjectSurface | None],
    unit: float,
    used: set[str],
) -> ColliderCheck:
    """Check the colliders of one mesh or collection, each alone and all together.

    selected : full names of those to report; the others are only a part of what encloses the mesh
    source : the mesh; None if it is disabled, or the colliders are their own meshes
    surfaces : those of the colliders, by full name; None if disabled
    unit : length of a Blender unit in meters
    used : names of all objects
    """
    mesh, source_id = group[0].enclosed
    problems: list[ColliderFinding] = []
    if mesh is not None:
        source_id = full_name_of(mesh)
        if source is None:
            problems.append(ColliderFinding(name_of(mesh), source_id, "unreadable", _DISABLED))
    matrix = None if source is None else source.matrix
    shapes = {
        each.id: geometry_problems(each.name, surface, matrix, unit)
        for each in group
        if (surface := surfaces[each.id]) is not None
    }
    colliders: list[CheckedCollider] = []
    notes: list[ColliderFinding] = []
    for item, id, name, match, _, is_created in group:
        if id not in selected:
            continue
        found = name_problems(name_of(item), name, match, used)
        if found and is_created:
            found = []
            if name.engine == "unreal":
                text = message(_RENAMED, mesh=quoted(match.name or ""), wanted=quoted(name.sources[-1]))
                notes.append(ColliderFinding(name_of(item), id, "name", text))
        if name.engine == "unreal" and item.parent_type == "BONE":
            found.append(("name", _OF_BONE))
        found += shapes[id].problems if id in shapes else [("unreadable", _DISABLED)]
        surface = surfaces[id]
        count = 0 if surface is None else len(surface.local)
        checked = (name_of(item), id, source_id, name.engine, name.kind, count, len(found))
        colliders.append(CheckedCollider(*checked))
        problems += [
            _with_mend(ColliderFinding(name_of(item), id, *problem), group, [item]) for problem in found
        ]
    if source is not None and source_id is not None and len(source.local) and source.is_readable:
        problems += _outside(group, source_id, shapes, source)
        volumes = {id: shape.volume for id, shape in shapes.items() if shape.volume is not None}
        filled = filled_distances(source, volumes)
        colliders = [entry._replace(filled=filled.get(entry.id)) for entry in colliders]
        notes += [
            ColliderFinding(
                entry.name,
                entry.id,
                "filled",
                filled_text(source, volumes[entry.id], entry.filled, len(group) == 1),
            )
            for entry in colliders
            if entry.filled and is_noticeable(entry.filled, source, unit)
        ]
    return ColliderCheck(tuple(colliders), tuple(problems), tuple(notes))


def _outside(
    group: list[ColliderCandidate], id: str, shapes: Mapping[str, CheckedShape], source: ObjectSurface
) -> Iterator[ColliderFinding]:
    """Report the vertices of a mesh or collection, by full name, that are in no collider of an engine."""
    by_engine: dict[Engine, list[ColliderCandidate]] = defaultdict(list)
    for candidate in group:
        by_engine[candidate.name.engine].append(candidate)
    for candidates in by_engine.values():
        read = [shapes[each.id] for each in candidates if each.id in shapes]
        has_surface = any(candidate.name.kind == "triangles" for candidate in candidates)
        if len(read) < len(candidates) or has_surface:
            continue
        if found := outside_problem(source, read, name_of(candidates[0].item)):
            finding = ColliderFinding(group[0].match.name or id, id, "outside", *found)
            yield _with_mend(finding, group, [each.item for each in candidates])


def _with_mend(
    finding: ColliderFinding, group: list[ColliderCandidate], items: list[bpy.types.Object]
) -> ColliderFinding:
    """Add how a problem of colliders in a group, or of their mesh, can be mended.

    Colliders of other tools, and those around vertices that the user chose, cannot be created again.
    """
    if finding.kind == "name":
        (candidate,) = (each for each in group if each.id == finding.id)
        is_mendable = candidate.match.name is not None and candidate.item.parent_type != "BONE"
        return finding._replace(mended_by="rename") if is_mendable else finding
    mesh, name = group[0].enclosed
    if name is None or finding.kind in ("mesh", "unreadable") or not any(map(is_replaceable, items)):
        return finding
    return finding._replace(mended_by="rebuild", mesh=name if mesh is None else full_name_of(mesh))
