"""Mending problems that the check has found: colliders get names for their engines, or are created again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

import bpy

from ..blender.instances import full_name_of, name_of
from ..settings import ColliderSettings, Selection
from .check import ColliderFinding, find_candidates
from .check_rules import free_name
from .records import Recipe, is_replaceable, stored_recipe


def rename_colliders(scene: bpy.types.Scene, findings: Iterable[ColliderFinding]) -> int:
    """Rename colliders as the findings about their names suggest, and their meshes if these have their names.

    Returns the number of renamed colliders. Linked ones keep their names.
    """
    wanted = {finding.id for finding in findings if finding.mended_by == "rename"}
    used = {name_of(item) for item in bpy.data.objects}
    count = 0
    for candidate in find_candidates(scene):
        item, source = candidate.item, candidate.match.name
        if candidate.id not in wanted or source is None or item.library is not None:
            continue
        before, name = name_of(item), free_name(candidate.name, source, used)
        used.add(name)
        item.name = name
        mesh = item.data
        if mesh is not None and mesh.users == 1 and mesh.library is None and name_of(mesh) == before:
            mesh.name = name
        count += 1
    return count


def rebuilding_settings(
    scene: bpy.types.Scene, settings: ColliderSettings, findings: Iterable[ColliderFinding]
) -> list[ColliderSettings]:
    """Return settings of `colliders_in_parts` that create the colliders with findings again.

    They keep their kinds and name patterns, but no edits. Empty if no finding can be mended in this way.
    """
    meshes = {finding.mesh for finding in findings if finding.mended_by == "rebuild"}
    owners: dict[str, set[str]] = defaultdict(set)
    for candidate in find_candidates(scene):
        mesh, name = candidate.enclosed
        if name is None or not is_replaceable(candidate.item):
            continue
        pattern = stored_recipe(candidate.item, Recipe.of(settings)).pattern or settings.pattern
        if mesh is not None and full_name_of(mesh) in meshes:
            owners[pattern].add(full_name_of(mesh))
        elif mesh is None and name in meshes:
            owners[pattern] |= set(map(full_name_of, bpy.data.collections[name].all_objects))
    return [
        replace(
            settings,
            selection=Selection(owners=frozenset(names)),
            pattern=pattern,
            kept_kinds="all",
            replace_edited=True,
        )
        for pattern, names in owners.items()
    ]
