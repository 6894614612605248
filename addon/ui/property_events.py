"""Events for changes of properties: property groups announce them; overlay, panels and operators subscribe.

Imports nothing of `ui`, so that properties need not import the modules that read them: that would be a cycle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bpy.types import Context

Listener = Callable[[Any, Context], None]
"""Called with the owner of the property and the context."""

display_changed: list[Listener] = []
"""Listeners to changes of the bounds that are drawn, of their fit, or of their colors."""

style_changed: list[Listener] = []
"""Listeners to changes of the style, which leave the draw data as it is."""

active_contact_changed: list[Listener] = []
"""Listeners to changes of the active row of the contact list."""

tab_renamed: list[Listener] = []
"""Listeners to changes of the name of the tab in the sidebar."""


def _announcing(listeners: list[Listener]) -> Listener:
    """Return a function that calls all listeners: Blender accepts nothing else that can be called."""

    def announce(owner: Any, context: Context) -> None:
        for listener in listeners:
            listener(owner, context)

    return announce


on_display_changed = _announcing(display_changed)
on_style_changed = _announcing(style_changed)
on_active_contact_changed = _announcing(active_contact_changed)
on_tab_renamed = _announcing(tab_renamed)
