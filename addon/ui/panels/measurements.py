"""The Measurements panel: size and position of the bounds of the active object, and how tightly they fit."""

from __future__ import annotations

from typing import Any, ClassVar

from bpy.types import Context, Panel, UILayout

from ...scene.blender.names import name_of
from ...scene.fitting.quality import FitQuality
from ..fit_measurements import active_with_geometry, find_measurement
from ..number_texts import length_text
from ..properties.scene import settings_of
from ..translation import iface_, iface_count, meaning_, n_
from .sidebar import Tab, draw_note

_DIGITS = 3
"""Digits of a length, so that three fit into a line. The copied numbers have more."""


class COLLISION_BOUNDS_PT_measurements(Tab, Panel):
    """Sizes, positions and tightness of the bounds of the active object."""

    bl_label = "Measurements"
    bl_parent_id = "COLLISION_BOUNDS_PT_bounds"
    # Closed at first, so that the list of contacts is on the screen.
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        """Draw the measurements, or a button to measure."""
        layout, item = self.layout, active_with_geometry(context)
        if item is None:
            draw_reason(layout, context)
            return
        found = find_measurement(item, settings_of(context))
        column = layout.column(align=True)
        if found is not None:
            units = context.scene.unit_settings
            lines = column.column(align=True)
            lines.active = not found.stale
            _draw_sizes(lines, found.quality, units)
            lines.separator()
            _draw_quality(lines, found.quality, units)
        text, icon = (
            (iface_("Changed: Measure Again"), "FILE_REFRESH")
            if found and found.stale
            else (meaning_("Measure"), "NONE")
        )
        measure: Any = column.row()
        measure.operator("collision_bounds.measure_fit", text=text, translate=False, icon=icon)


def draw_reason(layout: UILayout, context: Context) -> None:
    """Draw the reason why there is nothing to set."""
    item = context.object
    shown = None if item is None or item.instance_type != "COLLECTION" else item.instance_collection
    if item is None:
        layout.label(text="No object is active: click one", icon="INFO")
    elif shown is not None:
        text = iface_(
            "{name} instances {collection}:\nchange its objects instead",
            name=name_of(item),
            collection=name_of(shown),
        )
        draw_note(layout.column(align=True), text)
    else:
        text = iface_("{name} has no geometry", name=name_of(item))
        layout.label(text=text, translate=False, icon="INFO")


def _draw_sizes(layout: UILayout, quality: FitQuality, units: Any) -> None:
    """Draw radius or size, length, and center, of each shape, with buttons that copy the numbers."""
    for shape in quality.shapes:
        is_radius = isinstance(shape.size, float)
        numbers = [shape.size] if isinstance(shape.size, float) else shape.size.tolist()
        _draw_value(
            layout, meaning_(shape.label), numbers, units, n_("Radius {value}") if is_radius else "{value}"
        )
        if shape.length is not None:
            _draw_value(layout, iface_("Length"), [shape.length], units)
        _draw_value(layout, meaning_("Center"), shape.center.tolist(), units)


def _draw_value(
    layout: UILayout, label: str, numbers: list[float], units: Any, template: str = "{value}"
) -> None:
    """Draw a value with its unit, and the button that copies it."""
    line = layout.row(align=True)
    parts = line.split(factor=0.25)
    parts.label(text=label, translate=False)
    value = "  ".join(length_text(number, units, _DIGITS) for number in numbers)
    parts.label(text=iface_(template, value=value), translate=False)
    copy: Any = line.operator("collision_bounds.copy_value", text="", icon="COPYDOWN", emboss=False)
    copy.value = ", ".join(f"{number:.7g}" for number in numbers)


def _draw_quality(layout: UILayout, quality: FitQuality, units: Any) -> None:
    if quality.volume is None:
        layout.label(text="Not closed: no volume", icon="INFO")
    _line(layout, "", meaning_("Volume"), meaning_("Ratio"), iface_("Touching"))
    if quality.volume is not None:
        total = iface_("of {count}", count=quality.vertices)
        _line(layout, iface_("Mesh"), _volume(quality.volume, units), "", total)
    for shape in quality.shapes:
        ratio = _ratio(shape.volume / quality.volume) if quality.volume else ""
        _line(layout, meaning_(shape.label), _volume(shape.volume, units), ratio, f"{shape.touching}")
    if quality.outside:
        layout.label(text=outside_text(quality), translate=False, icon="INFO")


def outside_text(quality: FitQuality) -> str:
    """Return how many vertices are outside a custom shape, as text."""
    return iface_count(quality.outside, "{count} vertex lies outside", "{count} vertices lie outside")


def _ratio(value: float) -> str:
    """Return a ratio in few enough digits for its column."""
    return f"{value:.2f}" if value < 100 else f"{value:.0f}" if value < 1e5 else f"{value:.0e}"


def _volume(value: float, units: Any) -> str:
    """Return a volume in cubic meters or feet.

    Blender's own conversion chooses a unit for each number, so volumes would be hard to compare.
    """
    if units.system == "NONE":
        return f"{value:.3g}"
    value *= units.scale_length**3
    return f"{value:.3g} m³" if units.system == "METRIC" else f"{value / 0.3048**3:.3g} ft³"


def _line(layout: UILayout, *texts: str) -> None:
    remainder = layout
    for text, width in zip(texts, (0.2, 0.36, 0.42, 1.0), strict=True):
        remainder = remainder.split(factor=width)
        remainder.label(text=text, translate=False)


CLASSES = (COLLISION_BOUNDS_PT_measurements,)
