"""The Colliders panel: creating collider objects, and the list of their problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar

from bpy.types import Context, Panel, UILayout

from ...formats.wording import valid_text
from ...scene.colliders.check import ColliderCheck, Mend
from ...scene.colliders.records import ColliderState
from ...scene.settings import ColliderKind
from ..kept_checks import count_colliders, is_outdated, stored_check
from ..operators.colliders import check_summary
from ..properties.options import draw_options
from ..properties.scene import COLLIDER_OPTIONS, selected_count, settings_of
from ..texts import iface_, iface_count, n_, translated, wrapped_lines
from .menus import COLLISION_BOUNDS_PT_presets, draw_engine_presets
from .sidebar import Tab, fits_in_sidebar, running_job, with_button

_LISTED = 12
"""Problems and notes that the panel lists; the report of the command line has all."""
_SURROUNDINGS = 84
"""Pixels of a sidebar that are left and right of a text in the list."""
_SURROUNDINGS_OF_COUNTS = 90
"""Pixels of a sidebar that are left and right of a text with an icon in a panel."""


class COLLISION_BOUNDS_PT_colliders(Tab, Panel):
    bl_label = "Colliders"
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    def draw_header_preset(self, _context: Context) -> None:
        COLLISION_BOUNDS_PT_presets.draw_panel_header(self.layout)

    def draw(self, context: Context) -> None:
        layout = with_button(
            self.layout,
            "collision_bounds.create_colliders",
            "MESH_CUBE",
            "collision_bounds.remove_colliders",
            running_job("collision_bounds.create_colliders"),
            _button_text(context),
        )
        settings = settings_of(context)
        lines = layout.column(align=True)
        fits = fits_in_sidebar(context, _SURROUNDINGS_OF_COUNTS)
        for icon, text in count_lines(count_colliders(context.scene)):
            for line in wrapped_lines(text, fits):
                lines.label(text=line, translate=False, icon=icon)
                icon = "BLANK1"
        draw_engine_presets(layout.row(align=True))
        draw_options(layout, settings.colliders, COLLIDER_OPTIONS)
        row = layout.row()
        row.active = settings.display.show_overlay
        row.prop(settings.colliders, "show_surfaces")
        column = self.layout.column(align=True)
        column.operator("collision_bounds.colliders_from_selection", icon="EDITMODE_HLT")
        column.operator("collision_bounds.colliders_from_group", icon="GROUP_VERTEX")
        self.layout.operator("collision_bounds.check_colliders", icon="CHECKMARK")
        check = stored_check(context.scene)
        if check is not None:
            _draw_check(self.layout.box(), context, check)


def _button_text(context: Context) -> str:
    """Return the text of Create Colliders with the number of selected objects; empty for its label."""
    count = selected_count(context)
    return iface_("Create Colliders: {count} Selected", count=count) if count else ""


_KIND_COUNTS: dict[ColliderKind, tuple[str, str]] = {
    "box": (n_("{count} box"), n_("{count} boxes")),
    "sphere": (n_("{count} sphere"), n_("{count} spheres")),
    "capsule": (n_("{count} capsule"), n_("{count} capsules")),
    "hull": (n_("{count} hull"), n_("{count} hulls")),
}


def count_lines(states: Counter[ColliderState]) -> Iterator[tuple[Any, str]]:
    """Yield lines with an icon: how many colliders of which kinds, and how many were edited."""
    kinds: Counter[ColliderKind] = Counter()
    for state, count in states.items():
        kinds[state.kind] += count
    texts = [iface_count(kinds[kind], *texts) for kind, texts in _KIND_COUNTS.items() if kinds[kind]]
    if len(texts) > 1:
        one, many = n_("{count} collider: {kinds}"), n_("{count} colliders: {kinds}")
        texts = [iface_count(kinds.total(), one, many, kinds=", ".join(texts))]
    yield from (("CHECKMARK", text) for text in texts)
    if edited := sum(count for state, count in states.items() if state.is_edited):
        yield "INFO", iface_("{count} edited manually: kept", count=edited)


_MENDS: dict[Mend, tuple[str, str]] = {
    "rename": ("collision_bounds.rename_colliders", n_("Rename All: {count}")),
    "rebuild": ("collision_bounds.rebuild_colliders", n_("Rebuild All: {count}")),
}
"""Operator that mends a problem, and the text of the button that mends all that it can."""


def _draw_check(layout: UILayout, context: Context, check: ColliderCheck) -> None:
    """Draw the problems and notes of the last check: click a name to select the object.

    After a change of the scene there are none, because some may be mended.
    """
    is_old = is_outdated(context.scene)
    row = layout.row(align=True)
    if is_old:
        row.label(text="The scene changed: check again", icon="ERROR")
    else:
        row.label(text=check_summary(check), translate=False, icon="ERROR" if check.problems else "CHECKMARK")
    row.operator("collision_bounds.clear_collider_check", text="", icon="X", emboss=False)
    if is_old:
        return
    mends = Counter(problem.mended_by for problem in check.problems)
    several = [mend for mend in _MENDS if mends[mend] > 1]
    row = layout.row(align=True) if several else layout
    for mend in several:
        operator, text = _MENDS[mend]
        row.operator(operator, text=iface_(text, count=mends[mend]), translate=False)
    fits = fits_in_sidebar(context, _SURROUNDINGS)
    for index, problem in enumerate(check.findings[:_LISTED]):
        column = layout.column(align=True)
        line = column.row(align=True)
        name = line.row(align=True)
        name.alignment = "LEFT"
        icon: Any = "RESTRICT_SELECT_OFF" if index < len(check.problems) else "INFO"
        select, text = "collision_bounds.select_collider_problem", valid_text(problem.name)
        name.operator(select, text=text, translate=False, icon=icon, emboss=False).index = index
        if problem.mended_by:
            button = line.row(align=True)
            button.alignment = "RIGHT"
            button.operator(_MENDS[problem.mended_by][0]).index = index
        for text in wrapped_lines(valid_text(translated(problem.text)), fits):
            column.label(text=text, translate=False)
    if len(check.findings) > _LISTED:
        more = len(check.findings) - _LISTED
        text = iface_count(more, "and {count} other", "and {count} others")
        layout.label(text=text, translate=False)
