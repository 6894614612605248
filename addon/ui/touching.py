"""Pairs that touch at the playhead, of the bounds that the overlay reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bpy.types import Context

from ..core.messages import message
from ..core.numeric.arrays import Bools
from ..core.scan.pair_filter import PairFilter
from ..scene.errors import SceneError
from ..scene.jobs import result_store
from ..scene.live.contact_state import LiveShapes, TouchingPairs, find_touching_pairs
from ..scene.settings import ContactSettings
from ..scene.subjects.scan_settings import make_scan_settings
from ..scene.subjects.subject import Subject
from . import job_state
from .overlay.state import find_overlay
from .properties.scene import contact_settings, results_of, settings_of


class _Cache:
    """Filter and pairs that were found last, and what they were found for.

    A panel is drawn far more often than anything moves, and the filter needs a loop over all subjects.
    """

    results: result_store.Results | None = None
    settings: ContactSettings | None = None
    visible: Bools | None = None
    pair_filter: PairFilter | None = None
    live: LiveShapes | None = None
    pairs: TouchingPairs | None = None


def overlay_now(context: Context) -> LiveShapes:
    """Return the shapes that the overlay shows. Raises SceneError, in the words of the user, without any."""
    if job_state.running():
        raise SceneError(message("A scan is running"))
    settings = settings_of(context)
    results = results_of(settings)
    if not (results.contacts or results.bounds):
        raise SceneError(message("Compute bounds or find contacts first"))
    cached = find_overlay(context.scene, context.view_layer) if settings.display.show_overlay else None
    if cached is None or cached.live is None:
        raise SceneError(message("Switch Display on to see it"))
    return cached.live


def pairs_now(context: Context) -> tuple[Sequence[Subject], TouchingPairs]:
    """Return all subjects, and the pairs of them whose checked shapes overlap at the playhead.

    Raises SceneError, with a sentence for the user, if there is nothing to check.
    """
    shown, settings = overlay_now(context), settings_of(context)
    results = results_of(settings)
    cached = find_overlay(context.scene, context.view_layer)
    assert cached is not None, "the overlay was found"
    wanted = contact_settings(settings)
    # The array of flags is a new one after every change of collections, objects and visibility.
    is_same = _Cache.results is results and _Cache.visible is shown.visible and _Cache.settings == wanted
    if not is_same or _Cache.pair_filter is None:
        result = cached.result
        parents: list[Any] = [None] * len(result.subjects)
        if wanted.ignore_parents:
            parents = [entry.parent for entry in result.objects]
        _Cache.pair_filter = make_scan_settings(context.scene, result.subjects, parents, wanted).tested
        _Cache.live = None
        _Cache.results, _Cache.settings, _Cache.visible = results, wanted, shown.visible
    if _Cache.live is not shown or _Cache.pairs is None:
        _Cache.pairs = find_touching_pairs(shown.shapes[settings.shape], _Cache.pair_filter)
        _Cache.live = shown
    return cached.result.subjects, _Cache.pairs
