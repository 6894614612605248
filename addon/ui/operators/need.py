"""Needs of a button, before it can be clicked: a greyed out button shows the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bpy.types import Context

from .. import job_state
from ..kept_checks import active_with_geometry
from ..properties.scene import settings_of
from ..row_order import active_row, has_rows
from ..texts import n_

Need = Callable[[Context], str]
"""Returns why an operator cannot run now, not translated; an empty text if it can."""


def idle(_context: Context) -> str:
    """Need that no job runs."""
    job = job_state.running()
    return "" if job is None else job.busy


def that(condition: Callable[[Context], Any], reason: str) -> Need:
    return lambda context: "" if condition(context) else reason


_NO_CONTACTS = n_("There are no contacts: find contacts or load a report first")
LINKED = n_("Linked from another file: make a library override first")

object_mode = that(lambda context: context.mode == "OBJECT", n_("Go to Object Mode first"))
"""Other modes have undo steps of their own."""
edit_mode = that(
    lambda context: context.mode == "EDIT_MESH",
    n_("Go to Edit Mode of a mesh, and select vertices, edges or faces"),
)
row = that(lambda context: active_row(settings_of(context)), n_("Click a row first"))
rows = that(lambda context: has_rows(settings_of(context)), _NO_CONTACTS)
contacts = that(lambda context: settings_of(context).results.contacts, _NO_CONTACTS)
geometry = that(active_with_geometry, n_("The active object has no geometry: click a mesh"))
editable = that(lambda context: not context.object.library, LINKED)
"""Only after `geometry`."""
