"""Options that operators share with the settings of a scene."""

from __future__ import annotations

from typing import Any

from bpy.types import Context, Operator

from ...scene.motion.over_time import may_sweep
from ...scene.settings import Selection
from ..properties.preferences import preferences
from ..properties.scene import SceneSettings, fit_settings, has_objects, settings_of


def initialized_settings(context: Context) -> SceneSettings:
    """Return the settings of the context's scene, with the default padding if none was set yet."""
    settings = settings_of(context)
    if not settings.is_property_set("padding") and preferences().padding:
        settings.padding = preferences().padding
    return settings


def reads_all_frames(context: Context) -> bool:
    """Return whether there may be bones that bounds and colliders enclose at all frames."""
    return may_sweep(fit_settings(settings_of(context)))


def sync_scope(operator: Any, context: Context, settings: SceneSettings) -> Selection:
    """Return the objects of an operator: all visible ones if nothing is selected.

    A scope that was passed to the operator counts as it is, and is copied to the scene.
    """
    if operator.properties.is_property_set("scope"):
        settings.scope = operator.scope
    elif not has_objects(context):
        # The scope stays unset, so that Adjust Last Operation decides again.
        return Selection()
    operator.scope = settings.scope
    return Selection(selected_only=settings.scope == "SELECTED")


def sync_with_scene(operator: Operator, settings: Any, names: tuple[str, ...]) -> None:
    """Copy options that were passed to the operator to the scene, and the other ones from there."""
    for name in names:
        if operator.properties.is_property_set(name):
            setattr(settings, name, getattr(operator, name))
        else:
            setattr(operator, name, getattr(settings, name))
