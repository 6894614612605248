"""The tab in the 3D viewport's sidebar."""

from __future__ import annotations

from typing import Any, ClassVar

from bpy.types import Context, Operator, Panel, UILayout, UIList

from ..scene import session
from .operators import ClearResults, ComputeBounds, ExportJson, FindContacts
from .properties import ContactRow, SceneSettings, has_spheres, settings_of


class ContactList(UIList):
    """One row a pair, by first contact; then those in contact from the start, then near misses."""

    bl_idname = "COLLISION_BOUNDS_UL_contacts"

    def draw_item(
        self,
        _context: Context,
        layout: UILayout,
        _data: SceneSettings,
        item: ContactRow,
        _icon: int,
        _active_data: SceneSettings,
        _active_property: str,
        _index: int = 0,
        _filter_flag: int = 0,
    ) -> None:
        """Pair, frame, and a sign for what is special about it."""
        split = layout.split(factor=0.74)
        split.label(text=f"{item.a}  –  {item.b}", icon=_sign(item))
        right = split.row()
        right.alignment = "RIGHT"
        right.label(text=_when(item))

    def filter_items(
        self, _context: Context, data: SceneSettings, property_name: str
    ) -> tuple[list[int], list[int]]:
        """Show rows in which either name holds the text of the search field."""
        rows = getattr(data, property_name)
        wanted = self.filter_name.casefold()
        shown = [wanted in f"{row.a}\n{row.b}".casefold() for row in rows] if wanted else []
        return [self.bitflag_filter_item if is_shown else 0 for is_shown in shown], []


class _Tab:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Collision Bounds"


def _with_button(layout: UILayout, operator: type[Operator], icon: Any) -> UILayout:
    """A layout for settings, with the panel's one big button on top."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    row = layout.row()
    row.scale_y = 1.4
    row.operator(operator.bl_idname, icon=icon)
    return layout


class BoundsPanel(_Tab, Panel):
    """Fit bounds."""

    bl_idname = "COLLISION_BOUNDS_PT_bounds"
    bl_label = "Bounds"

    def draw(self, context: Context) -> None:
        """The first button, and what it goes by."""
        layout, settings = _with_button(self.layout, ComputeBounds, "MESH_UVSPHERE"), settings_of(context)
        layout.prop(settings, "scope")
        layout.prop(settings, "method")
        layout.prop(settings, "padding")


class ContactsPanel(_Tab, Panel):
    """Find contacts and read them."""

    bl_idname = "COLLISION_BOUNDS_PT_contacts"
    bl_label = "Contacts"

    def draw(self, context: Context) -> None:
        """Button, settings, results."""
        layout, settings = _with_button(self.layout, FindContacts, "MOD_PHYSICS"), settings_of(context)
        instant = _is_instant(context, settings)
        layout.prop(settings, "shape")
        _greyed(layout, settings, "motion", "A single frame: nothing moves" if instant else "")
        layout.prop(settings, "clearance")
        layout.prop(settings, "confirm")
        layout.prop(settings, "use_scene_range")
        if not settings.use_scene_range:
            column = layout.column(align=True)
            column.prop(settings, "frame_start")
            column.prop(settings, "frame_end")
            column.prop(settings, "frame_step")
        _draw_pairs(layout, context, settings, instant)
        self._draw_results(layout, settings)

    @staticmethod
    def _draw_results(layout: UILayout, settings: SceneSettings) -> None:
        results = session.get(settings.result_id)
        if results.contacts is None:
            return
        if results.stale:
            layout.label(text="The scene changed: find contacts again", icon="ERROR")
        if not settings.rows:
            layout.label(text="No contacts", icon="CHECKMARK")
            return
        layout.template_list(
            ContactList.bl_idname, "", settings, "rows", settings, "active_row", rows=5, sort_lock=True
        )
        if 0 <= settings.active_row < len(settings.rows):
            _draw_details(layout, settings.rows[settings.active_row])


def _is_instant(context: Context, settings: SceneSettings) -> bool:
    """Whether a scan would look at one frame only."""
    span: Any = context.scene if settings.use_scene_range else settings
    return span.frame_start == span.frame_end


def _greyed(layout: UILayout, settings: SceneSettings, option: str, reason: str) -> None:
    """An option that cannot be changed, with the reason below, if there is one."""
    row = layout.row()
    row.enabled = not reason
    row.prop(settings, option)
    if reason:
        layout.label(text=reason, icon="INFO")


def _draw_pairs(layout: UILayout, context: Context, settings: SceneSettings, instant: bool) -> None:
    """Which pairs matter, folded away: most scans want all of them."""
    header, body = layout.panel("collision_bounds_pairs", default_closed=True)
    header.label(text="Pairs")
    if body is None:
        return
    for option in ("group_a", "group_b", "ignored", "ignore_parents"):
        body.prop(settings, option)
    _greyed(body, settings, "obstacles", "" if has_spheres(settings) else "Only spheres bump into meshes")
    row = body.row()
    row.enabled = has_spheres(settings) and bool(settings.obstacles)
    row.prop(settings, "one_sided")
    without = "" if context.scene.collection.children else "This scene has no collections"
    _greyed(body, settings, "ignore_collection", without)
    _greyed(body, settings, "static_pairs", "A single frame: all pairs count" if instant else "")


def _when(row: ContactRow) -> str:
    """The end of a line in the list."""
    if row.is_near_miss:
        return f"gap {row.value:.3g}"
    return "start" if row.at_start else f"{row.frame:.2f}"


def _sign(row: ContactRow) -> Any:
    """The icon of a row."""
    if row.is_near_miss:
        return "DRIVER_DISTANCE"
    if row.tunnelling:
        return "GHOST_ENABLED"
    return "PINNED" if row.at_start else "RADIOBUT_ON"


def _draw_details(layout: UILayout, row: ContactRow) -> None:
    """What the list has no room for, about the row that was clicked."""
    column = layout.column(align=True)
    if row.is_near_miss:
        column.label(text=f"Closest at frame {row.frame:.4f}")
        column.label(text=f"Gap {row.value:.4g}")
        return
    off = f" ± {row.uncertainty:.1g}" if row.uncertainty else ""
    column.label(text=f"First contact at frame {row.frame:.4f}{off}")
    column.label(text=f"Deepest overlap {row.value:.4g}")
    if row.meshes == "TOUCH":
        column.label(text=f"The meshes touch at frame {row.mesh_frame:.4f}", icon="CHECKMARK")
    elif row.meshes == "NEVER":
        column.label(text="Only the bounds: the meshes never touch", icon="MESH_DATA")
    if row.linear:
        column.label(text="By straight lines between frames", icon="IPO_LINEAR")
    if row.tunnelling:
        column.label(text="Tunnelling: no whole frame shows it", icon="GHOST_ENABLED")
    if row.at_start:
        column.label(text="In contact from the start", icon="PINNED")


class DisplayPanel(_Tab, Panel):
    """Choose what is drawn."""

    bl_idname = "COLLISION_BOUNDS_PT_display"
    bl_label = "Display"
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    def draw_header(self, context: Context) -> None:
        """The switch for everything."""
        self.layout.prop(settings_of(context), "show_overlay", text="")

    def draw(self, context: Context) -> None:
        """Which shapes."""
        layout, settings = self.layout, settings_of(context)
        layout.active = settings.show_overlay
        row = layout.row(align=True)
        row.prop(settings, "show_spheres", toggle=True)
        row.prop(settings, "show_boxes", toggle=True)
        layout.operator(ClearResults.bl_idname)


class ExportPanel(_Tab, Panel):
    """Write files."""

    bl_idname = "COLLISION_BOUNDS_PT_export"
    bl_label = "Export"

    def draw(self, _context: Context) -> None:
        """The one format there is so far."""
        self.layout.operator(ExportJson.bl_idname, icon="EXPORT")


CLASSES = (ContactList, BoundsPanel, ContactsPanel, DisplayPanel, ExportPanel)
