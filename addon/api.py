"""Results for scripts that run in Blender: bounds and contacts as plain dicts and lists, without a file.

A script finds this module as `bpy.context.scene.collision_bounds.api`, whatever repository the extension was
installed from. Its names are stable: they change only with a new major version of the document.

All functions return values of the JSON document: dicts, lists, numbers and texts. They keep no references to
Blender's data, so the values stay valid after edits, undo and the loading of files.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Iterable, Mapping
from typing import Any

import bpy

from .core import CollisionBoundsError, Progress
from .core.progress import run_to_end
from .formats import CONVENTIONS, InputWarning, dumps
from .formats.document.model import MISSING_INPUTS
from .scene.blender.instances import full_name_of, name_of
from .scene.blender.missing_inputs import input_warnings
from .scene.blender.private_scene import keeping_open
from .scene.colliders.check import check_colliders
from .scene.declarations import choice, completed_keywords, with_options
from .scene.errors import SceneError
from .scene.jobs.bounds import bounds_in_parts
from .scene.jobs.contacts import find_contacts
from .scene.jobs.result import Result
from .scene.motion.over_time import preserve_unkeyed_values
from .scene.settings import (
    ALLOWED_INPUTS,
    JOB_OPTIONS,
    JOB_RULES,
    BoundsSettings,
    ColliderCheckSettings,
    ContactSettings,
    Selection,
)
from .ui import job_state
from .ui.overlay import handlers as overlay
from .ui.properties.scene import SceneSettings, exported_result, settings_on

__all__ = [
    "CollisionBoundsError",
    "NoResultsError",
    "StaleResultsError",
    "bounds_of",
    "collider_report",
    "contacts_among",
    "latest_contacts",
    "latest_results",
]


def __dir__() -> list[str]:
    """Return the public names alone, which are all that a script should use."""
    return sorted(__all__)


class NoResultsError(CollisionBoundsError):
    """The scene has no results: nothing was computed since the file was opened, or it was cleared."""


class StaleResultsError(CollisionBoundsError):
    """The scene has changed since its results were computed."""


def latest_results(
    scene: bpy.types.Scene | None = None, *, preset: str = "blender", allow_stale: bool = False
) -> dict[str, Any]:
    """Return the latest bounds and contacts of a scene, as Export JSON would write them.

    Parameters
    ----------
    scene : bpy.types.Scene, optional
        The active scene by default.
    preset : str, optional
        Axes and unit: "blender", "gltf", "unity" or "unreal".
    allow_stale : bool, optional
        Whether to return results although the scene has changed since.

    Returns
    -------
    document : dict
        The JSON document.

    Raises
    ------
    NoResultsError
        If nothing was computed for the scene.
    StaleResultsError
        If the scene has changed since, unless `allow_stale` is true.
    CollisionBoundsError
        For an unknown preset.
    """
    chosen = bpy.context.scene if scene is None else scene
    # Edits by the script itself are noticed when Blender evaluates the scene.
    if chosen == bpy.context.scene:
        bpy.context.view_layer.update()
    settings = settings_on(chosen)
    name, result = name_of(chosen), exported_result(settings)
    if result is None:
        raise NoResultsError(
            f"scene {name!r}: nothing was computed yet; compute bounds or find contacts first"
        )
    if settings.results.stale and not allow_stale:
        raise StaleResultsError(
            f"scene {name!r}: has changed since its results were computed; compute them again, "
            "or pass allow_stale=True"
        )
    _require_preset(preset)
    return _plain(result.document(preset))


def latest_contacts(
    scene: bpy.types.Scene | None = None, *, preset: str = "blender", allow_stale: bool = False
) -> list[dict[str, Any]]:
    """Return the contacts of the latest scan of a scene, in the order of the document.

    Parameters and errors are those of `latest_results`. An empty list means that the scan found no contact.

    Returns
    -------
    contacts : list of dict
        `contacts` of the JSON document. `a` and `b` are ids of objects.

    Raises
    ------
    NoResultsError
        If nothing was computed for the scene, or bounds alone.
    StaleResultsError
        If the scene has changed since, unless `allow_stale` is true.
    """
    document = latest_results(scene, preset=preset, allow_stale=allow_stale)
    chosen = bpy.context.scene if scene is None else scene
    if settings_on(chosen).results.contacts is None:
        raise NoResultsError(
            f"scene {name_of(chosen)!r}: has bounds, but no contacts were searched for; find contacts first"
        )
    contacts: list[dict[str, Any]] = document["contacts"]
    return contacts


def bounds_of(
    objects: Iterable[bpy.types.Object | str] | bpy.types.Object | str | None = None,
    *,
    preset: str = "blender",
    **options: Any,
) -> dict[str, Any]:
    """Compute bounds of objects of the active scene. The panel and its results do not change.

    Settings of single objects, such as custom shapes, apply. Objects without bounds are in `skipped`, each
    with the reason.

    Parameters
    ----------
    objects : iterable of bpy.types.Object or str, optional
        Objects or their names. All visible objects by default. Instances and parts of an object count too.
    preset : str, optional
        Axes and unit: "blender", "gltf", "unity" or "unreal".
    **options
        Options of the command `bounds` by their names, such as `shapes=("obb", "hull")`, `frame=24.5`,
        `padding=0.1`, `bones=True` or `frames=(1, 20)`, except those of files. A wrong one is an error that
        lists them.

    Returns
    -------
    document : dict
        The JSON document.

    Raises
    ------
    CollisionBoundsError
        For an object that is not in the scene, a wrong option, missing inputs and blocked drivers that the
        options do not allow, or while a job runs.
    """
    given = _completed("bounds", options)
    settings = with_options(BoundsSettings(_selection(objects)), given)
    return _run(bounds_in_parts(bpy.context.scene, settings), preset, given)


def contacts_among(
    objects: Iterable[bpy.types.Object | str] | bpy.types.Object | str | None = None,
    *,
    preset: str = "blender",
    **options: Any,
) -> dict[str, Any]:
    """Find contacts among objects of the active scene. The panel and its results do not change.

    Contacts are those of the meshes, unless `shape` names bounds.

    Parameters
    ----------
    objects : iterable of bpy.types.Object or str, optional
        Objects or their names. All visible objects by default. Instances and parts of an object count too.
    preset : str, optional
        Axes and unit: "blender", "gltf", "unity" or "unreal".
    **options
        Options of the command `contacts` by their names, such as `shape="obb"`, `frames=(20, 30)`,
        `clearance=0.05` or `static_pairs=True`, except those of files and exit codes. A wrong
        one is an error that lists them.

    Returns
    -------
    document : dict
        The JSON document. `contacts` has the contacts, `clearances` the near misses.

    Raises
    ------
    CollisionBoundsError
        For an object that is not in the scene, a wrong option, missing inputs and blocked drivers that the
        options do not allow, or while a job runs.
    """
    given = _completed("contacts", options)
    settings = with_options(ContactSettings(selection=_selection(objects)), given)
    return _run(find_contacts(bpy.context.scene, settings), preset, given)


def collider_report(
    objects: Iterable[bpy.types.Object | str] | bpy.types.Object | str | None = None,
) -> dict[str, Any]:
    """Check the collider objects of the active scene, made by the extension or otherwise.

    Parameters
    ----------
    objects : iterable of bpy.types.Object or str, optional
        Colliders or their meshes, or names of these. All colliders of the scene by default.

    Returns
    -------
    report : dict
        The report of the command `check-colliders`: `problems` has one entry per problem, with a sentence.

    Raises
    ------
    CollisionBoundsError
        For an object that is not in the scene.
    """
    found = check_colliders(bpy.context.scene, ColliderCheckSettings(_selection(objects)))
    return _plain(found.document(name_of(bpy.context.scene)))


def attach() -> None:
    """Make this module an attribute of the settings of each scene."""
    SceneSettings.api = property(lambda _settings: sys.modules[__name__])  # type: ignore[attr-defined]


def detach() -> None:
    del SceneSettings.api  # type: ignore[attr-defined]


def _selection(objects: Iterable[bpy.types.Object | str] | bpy.types.Object | str | None) -> Selection:
    """Return the selection of exactly these objects. Raises SceneError for one that is not in the scene."""
    if objects is None:
        return Selection()
    given = [objects] if isinstance(objects, str | bpy.types.Object) else objects
    if not isinstance(given, Iterable):
        raise SceneError(f"objects {given!r}: must be objects or their names")
    scene = bpy.context.scene
    by_name: dict[str, list[bpy.types.Object]] = {}
    for item in scene.objects:
        by_name.setdefault(name_of(item), []).append(item)
    owners: set[str] = set()
    for entry in given:
        if not isinstance(entry, str | bpy.types.Object):
            raise SceneError(f"object {entry!r}: must be an object or its name")
        name = entry if isinstance(entry, str) else name_of(entry)
        found = [item for item in by_name.get(name, ()) if isinstance(entry, str) or item == entry]
        if not found:
            raise SceneError(f"object {name!r}: is not in scene {name_of(scene)!r}")
        owners.update(map(full_name_of, found))
    return Selection(owners=frozenset(owners))


def _completed(command: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a command that a script passes, with those that they imply. Raises SceneError."""
    known = {
        name: option for name, option in JOB_OPTIONS[command].items() if option.help and name != "objects"
    }
    known |= {option.name: option for option in ALLOWED_INPUTS}
    return completed_keywords(options, known, JOB_RULES[command])


def _require_preset(preset: str) -> None:
    try:
        choice(*CONVENTIONS).check(preset)
    except ValueError as error:
        raise SceneError(f"preset {error}") from None


def _require_inputs(warnings: Iterable[InputWarning], given: Mapping[str, Any]) -> None:
    """Raise SceneError for the first missing input or blocked driver that the options do not allow."""
    for entry in warnings:
        is_missing = entry.kind in MISSING_INPUTS
        option = "allow_missing" if is_missing else "allow_blocked_drivers"
        if (is_missing or entry.kind == "blockedDriver") and not given.get(option):
            raise SceneError(f"{entry.name}: {entry.message}; {option}=True accepts this")


def _run(job: Generator[Progress, None, Result], preset: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Run a job to its end, without updates of the overlay, and return its document.

    Raises SceneError while another job runs, and for inputs that Blender did not read or run.
    """
    _require_preset(preset)
    running = job_state.running()
    if running is not None:
        raise SceneError(running.busy)
    _require_inputs(input_warnings(bpy.context.evaluated_depsgraph_get()), given)
    with overlay.paused(), preserve_unkeyed_values(), keeping_open():
        result = run_to_end(job)
    # Drivers of objects that are hidden at first are found at the latest when the job has ended.
    _require_inputs(result.warnings, given)
    return _plain(result.document(preset))


def _plain(document: Any) -> dict[str, Any]:
    """Convert a document to dicts and lists, with the numbers of the file."""
    # Objects of a document are converted on access: reading the file's text gives them as plain values.
    plain: dict[str, Any] = json.loads(dumps(document))
    return plain
