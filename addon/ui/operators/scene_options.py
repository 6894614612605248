"""Options that operators share with the settings of a scene."""

from __future__ import annotations

from typing import Any

from bpy.types import Context, Operator

from ..properties.preferences import preferences
from ..properties.scene import COLLISION_BOUNDS_PG_scene, has_objects, settings_of


def initialized_settings(context: Context) -> COLLISION_BOUNDS_PG_scene:
    """Return the settings of the context's scene, with the default padding if none was set yet."""
    settings = settings_of(context)
    if not settings.is_property_set("padding") and preferences().padding:
        settings.padding = preferences().padding
    return settings


class SelectionTooltip:
    """Mixin of operators on objects: the tooltip explains why the button is greyed out."""

    @classmethod
    def description(cls, context: Context, properties: Any) -> str:
        """Return the tooltip, with the remedy if nothing is selected."""
        text = str(cls.__doc__)
        if context.scene is None or properties.is_property_set("scope") or has_objects(context):
            return text
        return f"{text}.\n\nNothing is selected: select something, or set Objects to All Visible"


def sync_with_scene(operator: Operator, settings: Any, names: tuple[str, ...]) -> None:
    """Copy options that were passed to the operator to the scene, and the other ones from there."""
    for name in names:
        if operator.properties.is_property_set(name):
            setattr(settings, name, getattr(operator, name))
        else:
            setattr(operator, name, getattr(settings, name))
