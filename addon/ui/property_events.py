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


def on_display_changed(owner: Any, context: Context) -> None:
    """Announce a change of a property that the draw data depends on."""
    _announce(display_changed, owner, context)


def on_style_changed(owner: Any, context: Context) -> None:
    """Announce a change of the style of the overlay."""
    _announce(style_changed, owner, context)


def on_active_contact_changed(owner: Any, context: Context) -> None:
    """Announce that the active row of the contact list was set."""
    _announce(active_contact_changed, owner, context)


def on_tab_renamed(owner: Any, context: Context) -> None:
    """Announce that the preferences contain another name of the tab."""
    _announce(tab_renamed, owner, context)


def _announce(listeners: list[Listener], owner: Any, context: Context) -> None:
    """Call all listeners."""
    for listener in listeners:
        listener(owner, context)
