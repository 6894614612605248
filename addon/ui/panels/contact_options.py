"""Options of Find Contacts: shape, scan, and which pairs are checked."""

from __future__ import annotations

from typing import Any

from bpy.types import Context, UILayout

from ...formats.wording import valid_text
from ...scene.blender.object_settings import ignored_pairs
from ..properties.options import SCAN_OPTIONS
from ..properties.scene import (
    OPTIONS_WITH_PICKER,
    SceneSettings,
    has_spheres,
    is_outside_scene,
    names_of_option,
)
from ..translation import iface_, iface_count, n_
from .sidebar import draw_parts, folded, greyed

_IGNORED_SHOWN = 20
"""Number of ignored pairs that are listed."""


def draw_contact_options(layout: UILayout, context: Context, settings: SceneSettings) -> None:
    """Draw the shape, and the other options folded."""
    span: Any = context.scene if settings.use_scene_range else settings
    instant = span.frame_start == span.frame_end
    layout.prop(settings, "shape")
    if settings.shape == "compound":
        draw_parts(layout, settings)
    _draw_scan(layout, context, settings, instant)
    _draw_pairs(layout, context, settings, instant)


def _draw_scan(layout: UILayout, context: Context, settings: SceneSettings, instant: bool) -> None:
    """Draw scan settings, folded because the defaults suit most scans."""
    body = folded(layout, "collision_bounds_scan", n_("Scan"))
    if body is None:
        return
    greyed(body, settings, "motion", n_("Single frame: nothing moves") if instant else "")
    for option in (*SCAN_OPTIONS, "use_scene_range"):
        body.prop(settings, option)
    if not settings.use_scene_range:
        column, scene = body.column(align=True), context.scene
        for option in ("frame_start", "frame_end", "frame_step"):
            column.prop(settings, option)
        if is_outside_scene(scene, settings.frame_start, settings.frame_end):
            text = iface_("The scene has {start} to {end}", start=scene.frame_start, end=scene.frame_end)
            body.label(text=text, translate=False, icon="ERROR")


def _draw_pairs(layout: UILayout, context: Context, settings: SceneSettings, instant: bool) -> None:
    """Draw pair filters, folded because most scans need all pairs."""
    body = folded(layout, "collision_bounds_pairs", n_("Pairs"))
    if body is None:
        return
    _draw_picker(body, settings, "group_a", n_("Group A"))
    _draw_picker(body, settings, "group_b", n_("Group B"))
    body.prop(settings, "ignore_parents")
    obstacles = body.column()
    obstacles.enabled = has_spheres(settings)
    _draw_picker(obstacles, settings, "obstacles", n_("Obstacles"))
    if not has_spheres(settings):
        body.label(text="Needs Spheres or Sphere Trees", icon="INFO")
    row = body.row()
    row.enabled = has_spheres(settings) and bool(names_of_option(settings, "obstacles"))
    row.prop(settings, "one_sided")
    reason = "" if context.scene.collection.children else n_("This scene has no collections")
    greyed(body, settings, "ignore_collection", reason)
    greyed(body, settings, "static_pairs", n_("Single frame: all pairs checked") if instant else "")
    # Folded, because pickers are enough for most.
    if (advanced := folded(body, "collision_bounds_patterns", n_("Advanced"))) is not None:
        advanced.label(text="Patterns of names, such as Car*", icon="INFO")
        for option in (*OPTIONS_WITH_PICKER, "ignored"):
            part = advanced.row()
            part.enabled = option != "obstacles" or has_spheres(settings)
            part.prop(settings, option)
    _draw_ignored(body)


def _draw_picker(layout: UILayout, settings: SceneSettings, option: str, label: str) -> None:
    """Draw the pickers of a group: a collection or an object. Blender adds an eyedropper to each."""
    column, picker = layout.column(align=True), getattr(settings.pickers, option)
    column.prop(picker, "collection", text=iface_(label), translate=False)
    column.prop(picker, "object", text="or Object")


def _draw_ignored(layout: UILayout) -> None:
    """Draw the pairs that are ignored by settings of their objects, each with a button to restore it."""
    pairs = ignored_pairs()
    if not pairs:
        return
    column = layout.column(align=True)
    one, many = n_("{count} pair ignored in this file:"), n_("{count} pairs ignored in this file:")
    text = iface_count(len(pairs), one, many)
    column.label(text=text, translate=False)
    for a, b in pairs[:_IGNORED_SHOWN]:
        line = column.row(align=True)
        names = line.split(factor=0.5)
        names.label(text=valid_text(a), translate=False)
        names.label(text=valid_text(b), translate=False)
        restore: Any = line.operator("collision_bounds.restore_pairs", text="", icon="X")
        restore.a, restore.b = valid_text(a), valid_text(b)
    column.operator("collision_bounds.restore_pairs", text="Restore All")
