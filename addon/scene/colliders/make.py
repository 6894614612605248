"""Collider objects for the subjects of a selection, as children of objects or bones, in a collection."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import bpy

from ...core import CollisionBoundsError, Progress
from ...core.messages import message
from ...core.progress import JobProgress, converted
from ...formats import Skipped
from ...formats.document.model import InputWarning
from ..blender.frames import scene_by_uid
from ..blender.instances import full_name_of, name_of
from ..blender.object_settings import (
    COLLIDER_PROPERTY,
    collision_response,
    is_marked_collider,
    is_merged_collection,
)
from ..blender.parts.mesh_parts import armature_of
from ..collider_names import collision_levels
from ..errors import SceneError, describe_error
from ..fitting.parts import convex_pieces, split_pieces
from ..motion.over_time import BoneSweeps, sweep_bones
from ..settings import ColliderSettings, FitSettings
from ..subjects.find import HIDDEN, IS_COLLIDER, find_subjects
from ..subjects.reader import SubjectGeometry, SubjectReader, in_bone_space
from ..subjects.selection import selected_objects
from ..subjects.subject import Subject
from .objects import (
    ColliderMesh,
    ColliderNames,
    ColliderRequest,
    ancestors,
    create_or_update,
    fit_colliders,
    match_existing,
    remove_objects,
)
from .records import Recipe, is_edited, is_replaceable, stored_recipe

NO_RESPONSE = message("its collision response is None")
OTHER_LEVEL = message("is a level of detail: the most detailed one has the collider")


class CreatedColliders(NamedTuple):
    """Result of `colliders_in_parts`.

    colliders, sources : numbers of colliders that exist now, and of sources that they stand for
    replaced : number of colliders that these sources had before
    edited : number of colliders that were kept because they were edited manually
    skipped : objects without a collider
    warnings : bones whose colliders do not enclose their vertices at some frames
    """

    colliders: int
    sources: int
    replaced: int
    skipped: list[Skipped]
    warnings: Sequence[InputWarning] = ()
    edited: int = 0


class _Source(NamedTuple):
    """Source of colliders.

    name : of the object, or of a merged collection
    owner : full name of the object that is the parent of its colliders; None for a merged collection
    bone : bone of the owner, an armature, that its colliders follow; empty if they follow the owner
    """

    name: str
    owner: str | None
    bone: str = ""


def colliders_in_parts(
    scene: bpy.types.Scene, settings: ColliderSettings
) -> Generator[Progress, None, CreatedColliders]:
    """Create colliders for a selection of the active scene, in place of those that its sources have.

    A source that is skipped keeps the colliders it has. Yields progress while bones are read at all frames,
    and while meshes are split. The scene may change at a yield, and nothing is created before the last one.

    Raises SceneError if the scene cannot have colliders, or the pattern or the collection's name is invalid.
    Nothing is changed then.
    """
    uid = scene.session_uid
    # Raise errors of the settings before bones are read at all frames, which takes long.
    ColliderNames(settings.pattern, ())
    find_home(scene, settings.collection)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    subjects, skipped = find_subjects(scene, depsgraph, settings.selection)
    recipes = _recipes(scene, subjects, settings)
    # All subjects are read before the scene is played for the bones of some.
    is_split = any(recipe.parts > 1 for recipe in recipes)
    with_triangles = [index for index, recipe in enumerate(recipes) if recipe.parts > 1]
    read = list(SubjectReader(subjects, settings.fit, with_triangles).singles(depsgraph))
    span = (scene.frame_start, scene.frame_end, scene.frame_step)
    job = JobProgress(end=0.5 if is_split else 1.0)
    sweeps = yield from job.track(sweep_bones(scene, subjects, settings.fit, span))
    pieces = {piece.subject: sweeps.swept(piece, subjects[piece.subject]) for piece in read}
    job.begin_phase(1.0)
    yield from job.track(
        converted(_split(pieces, recipes, settings), lambda share: Progress(0, 1, span[0], "fitting", share))
    )
    scene = scene_by_uid(uid)
    objects = {full_name_of(item): item for item in scene.objects}
    levels = _collision_levels(subjects, objects)
    planned = _planned(subjects, pieces, sweeps, recipes, objects, levels, skipped)
    meshes = _meshes(planned, settings.fit, skipped)
    created = _replace(scene, settings, meshes, objects, levels, skipped)
    return created._replace(warnings=sweeps.warnings())


def _recipes(scene: bpy.types.Scene, subjects: Iterable[Subject], settings: ColliderSettings) -> list[Recipe]:
    """Return the options of the colliders of each subject: those that it has, if these are kept."""
    recipe = Recipe.of(settings)
    kept: dict[_Source | None, Recipe] = {}
    if settings.kept_kinds != "none":
        for source, items in _colliders_by_source()[0].items():
            kept[source] = stored_recipe(min(items, key=name_of), recipe)
    if not kept:
        return [recipe for _ in subjects]
    objects = {full_name_of(item): item for item in scene.objects}
    changed = selected_objects() if settings.kept_kinds == "unselected" else []
    selected = set(map(full_name_of, changed))
    recipes = []
    for subject in subjects:
        of_subject: list[_Source] = []
        if not any(key[0] in selected for key in (subject.key, *subject.members)):
            with suppress(SceneError):
                source = _source(subject, objects)
                of_subject = [source, _Source(source.name, None)]  # or of an object that was deleted
        found = next((kept[each] for each in of_subject if each in kept), recipe)
        recipes.append(found._replace(pattern=settings.pattern))
    return recipes


def _split(
    pieces: Mapping[int, SubjectGeometry], recipes: Sequence[Recipe], settings: ColliderSettings
) -> Generator[float, None, None]:
    """Split subjects ahead of `convex_pieces`, those with the same parts together; yields the share done."""
    together: dict[FitSettings, list[SubjectGeometry]] = defaultdict(list)
    for index, piece in pieces.items():
        together[recipes[index].fit(settings.fit)].append(in_bone_space(piece))
    for number, (fit, group) in enumerate(together.items()):
        for share in split_pieces(group, fit):
            yield (number + share) / len(together)


def _replace(
    scene: bpy.types.Scene,
    settings: ColliderSettings,
    meshes: dict[_Source, list[tuple[Recipe, ColliderMesh]]],
    objects: dict[str, bpy.types.Object],
    levels: Mapping[str, str],
    skipped: list[Skipped],
) -> CreatedColliders:
    """Create colliders in place of those that their sources have, unless these were edited manually."""
    existing, other_names = _colliders_by_source()
    _reattach(existing, meshes, objects)
    old = _outdated(existing, meshes, levels)
    edited: dict[_Source, int] = {}
    for source in () if settings.replace_edited else (*meshes, *old):
        # Colliders of one object enclose it together, so all of them are kept if one is.
        if count := sum(map(is_edited, existing.get(source, ()))):
            edited[source] = count
    meshes = {source: shapes for source, shapes in meshes.items() if source not in edited}
    outdated = [item for source in old if source not in edited for item in existing.pop(source)]
    requests, replaced = _requests(
        scene, meshes, existing, ColliderNames(settings.pattern, other_names), objects, skipped
    )
    if requests:
        home = find_home(scene, settings.collection) or create_home(scene, settings.collection)
        remove_objects({*replaced, *outdated} - {entry.before for entry in requests})
        create_or_update(requests, home)
        _remove_empty(scene)
    if meshes or edited:
        # Hidden objects and existing colliders are not reported: the user expects them to be skipped.
        skipped = [entry for entry in skipped if entry.reason not in (HIDDEN, IS_COLLIDER)]
    return CreatedColliders(
        len(requests),
        # The bones of an object are one source.
        len({(entry.mark, bool(entry.bone) or entry.parent) for entry in requests}),
        len(replaced) + len(outdated),
        skipped,
        edited=sum(edited.values()),
    )


def _outdated(
    existing: Iterable[_Source], meshes: Collection[_Source], levels: Mapping[str, str]
) -> list[_Source]:
    """Return the sources of objects that have others now: other bones, bones instead of the object, or the
    most detailed level.
    """
    names = {source.name for source in meshes if source.owner is not None}
    is_split = {source.name for source in (*existing, *meshes) if source.bone}
    has_other_level = {name for name, first in levels.items() if first != name and first in names}
    return [
        source
        for source in existing
        if source not in meshes
        and (source.name in names & is_split or (source.owner is not None and source.name in has_other_level))
    ]


def _requests(
    scene: bpy.types.Scene,
    meshes: Mapping[_Source, list[tuple[Recipe, ColliderMesh]]],
    existing: Mapping[_Source, list[bpy.types.Object]],
    names: ColliderNames,
    objects: Mapping[str, bpy.types.Object],
    skipped: list[Skipped],
) -> tuple[list[ColliderRequest], list[bpy.types.Object]]:
    """Assign names and existing objects to all colliders, and return them with the colliders before.

    Sources without a name keep theirs, and are added to `skipped`.
    """
    # Colliders of other sources stay, and keep their names.
    for source in existing.keys() - meshes.keys():
        names.reserve(map(name_of, existing[source]))
    here = {scene.collection, *scene.collection.children_recursive}
    elsewhere: dict[bpy.types.Object, set[bpy.types.Collection]] = defaultdict(set)
    for entry in bpy.data.collections:
        if entry.get(COLLIDER_PROPERTY) is not None and entry.library is None and entry not in here:
            for item in entry.objects:
                elsewhere[item].add(entry)
    requests: list[ColliderRequest] = []
    replaced: list[bpy.types.Object] = []
    for source, shapes in meshes.items():
        before = existing.get(source, [])
        try:
            name = f"{source.name}_{source.bone}" if source.bone else source.name
            assigned = names.assign(name, [recipe.kind for recipe, _ in shapes])
        except CollisionBoundsError as error:
            names.reserve(map(name_of, before))
            skipped.append(Skipped(source.name, error.message))
            continue
        replaced += before
        matched = match_existing(before, assigned)
        # They stay linked to the collections of other scenes that they are in.
        linked = set().union(*(elsewhere.get(item, ()) for item in before))
        parent = None if source.owner is None else objects[source.owner]
        requests += [
            ColliderRequest(name, mesh, recipe, source.name, parent, matched.get(name), linked, source.bone)
            for name, (recipe, mesh) in zip(assigned, shapes, strict=True)
        ]
    return requests, replaced


def remove_colliders(scene: bpy.types.Scene) -> int:
    """Remove all colliders of a scene that belong to this file, and the collections that are empty then.

    Returns the number of removed colliders.
    """
    items = [item for item in scene.objects if _is_removable(item)]
    remove_objects(items)
    _remove_empty(scene)
    return len(items)


def has_colliders(scene: bpy.types.Scene) -> bool:
    return any(_is_removable(item) for item in scene.objects)


def _is_removable(item: bpy.types.Object) -> bool:
    """Return whether an object is a collider of this file, neither linked nor a library override."""
    return is_marked_collider(item) and item.library is None and item.override_library is None


def _colliders_by_source() -> tuple[defaultdict[_Source, list[bpy.types.Object]], list[str]]:
    """Colliders of the whole file by their sources, and the names of all its other objects.

    Those around vertices that the user chose are other objects.
    """
    colliders: defaultdict[_Source, list[bpy.types.Object]] = defaultdict(list)
    other_names = []
    for item in bpy.data.objects:
        if not is_replaceable(item):
            if item.library is None:
                other_names.append(name_of(item))
        elif item.parent is None:
            colliders[_Source(str(item[COLLIDER_PROPERTY]), None)].append(item)
        elif item.parent_type == "BONE":
            mark, parent = str(item[COLLIDER_PROPERTY]), full_name_of(item.parent)
            colliders[_Source(mark, parent, item.parent_bone)].append(item)
        else:
            colliders[_Source(name_of(item.parent), full_name_of(item.parent))].append(item)
    return colliders, other_names


def _reattach(
    existing: defaultdict[_Source, list[bpy.types.Object]],
    sources: Iterable[_Source],
    objects: dict[str, bpy.types.Object],
) -> None:
    """Assign colliders whose parent was deleted to the object of its name, unless it is their child."""
    for source in sources:
        if source.owner is None or is_merged_collection(bpy.data.collections.get(source.name)):
            continue
        above = set(ancestors(objects[source.owner]))
        for item in existing.pop(_Source(source.name, None), ()):
            existing[_Source(source.name, None) if item in above else source].append(item)


def find_home(scene: bpy.types.Scene, name: str) -> bpy.types.Collection | None:
    """Find the collection of a scene for colliders, by its name or by the requested name that it stores.

    Linked collections are ignored, because a local one can have the same name. Raises SceneError for a scene
    that cannot have one.
    """
    if not name.strip():
        raise SceneError(message("the collection for colliders has no name: enter one"))
    if scene.library is not None:
        text = "scene {name!r} is linked from another file: open that file to create colliders"
        raise SceneError(message(text, name=name_of(scene)))
    homes: tuple[bpy.types.Collection, ...] = (scene.collection, *scene.collection.children_recursive)
    for entry in homes:
        is_requested = name_of(entry) == name or entry.get(COLLIDER_PROPERTY) == name
        if is_requested and entry.library is None and entry.override_library is None:
            return entry
    return None


def create_home(scene: bpy.types.Scene, name: str) -> bpy.types.Collection:
    """Create a collection for colliders, which stores the requested name."""
    home = bpy.data.collections.new(name)
    home[COLLIDER_PROPERTY] = name
    scene.collection.children.link(home)
    return home


def _planned(
    subjects: Sequence[Subject],
    pieces: Mapping[int, SubjectGeometry],
    sweeps: BoneSweeps,
    recipes: Sequence[Recipe],
    objects: Mapping[str, bpy.types.Object],
    levels: Mapping[str, str],
    skipped: list[Skipped],
) -> Iterator[tuple[str, _Source, Recipe, SubjectGeometry]]:
    """Name, source, options and vertices of each collider, loose parts in order; others to `skipped`."""

    def place(entry: tuple[int, Subject]) -> tuple[str, str, int]:
        # Loose parts by number, so that the tenth comes after the second.
        _, subject = entry
        return subject.name if subject.part is None else subject.key[1], subject.key[0], subject.part or 0

    for index, subject in sorted(enumerate(subjects), key=place):
        try:
            source = _source(subject, objects)
            item = objects.get(subject.key[1])
            if source.owner is not None and levels.get(source.name, source.name) != source.name:
                raise SceneError(OTHER_LEVEL)
            if item is not None and not subject.members and is_without_response(item):
                raise SceneError(NO_RESPONSE)
            if index not in pieces or not len(pieces[index].points):
                raise SceneError(message("no vertices"))
            piece = pieces[index]
            if source.bone and not sweeps.holds(subject):
                piece = in_bone_space(piece)
            recipe = recipes[index]
            yield subject.name, source, recipe._replace(kind=subject.override or recipe.kind), piece
        except CollisionBoundsError as error:
            skipped.append(Skipped(subject.name, describe_error(error)))


def _meshes(
    planned: Iterable[tuple[str, _Source, Recipe, SubjectGeometry]],
    fit: FitSettings,
    skipped: list[Skipped],
) -> dict[_Source, list[tuple[Recipe, ColliderMesh]]]:
    """Meshes of colliders with their options, by their sources; others are added to `skipped`."""
    fits: list[tuple[Recipe, Sequence[SubjectGeometry]]] = []
    owners: list[tuple[str, _Source]] = []
    for name, source, recipe, piece in planned:
        try:
            fits.append((recipe, convex_pieces(piece, recipe.fit(fit))))
            owners.append((name, source))
        except CollisionBoundsError as error:
            skipped.append(Skipped(name, describe_error(error)))
    meshes: dict[_Source, list[tuple[Recipe, ColliderMesh]]] = defaultdict(list)
    for (name, source), (recipe, _), made in zip(owners, fits, fit_colliders(fits), strict=True):
        if isinstance(made, CollisionBoundsError):
            skipped.append(Skipped(name, describe_error(made)))
        else:
            meshes[source] += [(recipe, mesh) for mesh in made]
    return meshes


def _collision_levels(subjects: Iterable[Subject], objects: Mapping[str, bpy.types.Object]) -> dict[str, str]:
    """Map names of objects that can have a collider to those of the level of detail that has it."""
    owners = {subject.key[0] for subject in subjects if not subject.members and not subject.key[2]}
    items = [objects[owner] for owner in owners if owner in objects]
    return collision_levels(name_of(item) for item in items if not is_without_response(item))


def _source(subject: Subject, objects: Mapping[str, bpy.types.Object]) -> _Source:
    """Return the source of a subject's collider. Raises SceneError if it cannot have a child."""
    if any(indices for _, _, indices in (subject.key, *subject.members)):
        text = "is an instance, which cannot have children: use Object > Apply > Make Instances Real"
        raise SceneError(message(text))
    if subject.members:
        return _Source(subject.name, None)
    owner = objects.get(subject.key[0])
    if owner is None:
        raise SceneError(message("is in the background scene: create its collider there"))
    check_parent(owner)
    if subject.bone:
        armature = armature_of(owner)
        if armature is None or full_name_of(armature) not in objects:
            text = "is deformed by an armature that is not in this scene: add the armature to it"
            raise SceneError(message(text))
        return _Source(name_of(owner), full_name_of(armature), subject.bone)
    return _Source(name_of(owner), full_name_of(owner))


def is_without_response(item: bpy.types.Object) -> bool:
    """Return whether an object gets no collider because nothing collides with it."""
    return collision_response(item).response == "none"


def check_parent(owner: bpy.types.Object) -> None:
    """Raise SceneError if an object would instance or move its children."""
    if owner.instance_type != "NONE":
        text = "instances its children, so a child collider would be instanced too: set Instancing to None"
        raise SceneError(message(text))
    if isinstance(owner.data, bpy.types.Curve) and owner.data.use_path:
        raise SceneError(message("is a path, which moves its children: disable Path Animation"))


def _remove_empty(scene: bpy.types.Scene) -> None:
    """Remove collections that were created for colliders and are empty."""
    empty = [
        entry
        for entry in scene.collection.children_recursive
        if entry.get(COLLIDER_PROPERTY) is not None
        and not entry.library
        and not entry.all_objects
        and not entry.children
    ]
    bpy.data.batch_remove(empty)
