"""What the overlay shows, and how."""

from __future__ import annotations

from bpy.props import BoolProperty, EnumProperty, FloatProperty
from bpy.types import Context, PropertyGroup

from ..scene.fitting import ShapeName
from . import overlay
from .drawing import Style
from .overlay_state import redraw

SWITCHES: dict[ShapeName, str] = {
    "sphere": "show_spheres",
    "aabb": "show_boxes",
    "obb": "show_oriented_boxes",
    "spheres": "show_sphere_trees",
}
"""The switch of each shape."""


def _redraw(_self: PropertyGroup, _context: Context) -> None:
    redraw()


class DisplaySettings(PropertyGroup):
    """The Display panel of a scene."""

    show_overlay: BoolProperty(
        name="Show Bounds",
        description="Draw the bounds over the viewport: blue when free, red when in contact at this frame",
        default=True,
        update=overlay.look_again,
    )
    show_spheres: BoolProperty(
        name="Spheres", description="A sphere around each object", default=True, update=overlay.look_again
    )
    show_boxes: BoolProperty(
        name="Boxes",
        description="A box along the world's axes around each object",
        default=True,
        update=overlay.look_again,
    )
    show_oriented_boxes: BoolProperty(
        name="Oriented Boxes",
        description="A box along its own axes around each object",
        default=False,
        update=overlay.look_again,
    )
    show_sphere_trees: BoolProperty(
        name="Sphere Trees",
        description="Many small spheres along the form of each object",
        default=False,
        update=overlay.look_again,
    )
    show_envelopes: BoolProperty(
        name="Envelopes",
        description="What Compute Envelope has put around all that objects sweep: spheres, boxes, "
        "whichever are shown",
        default=True,
        update=overlay.look_again,
    )
    only_selected: BoolProperty(
        name="Only Selected",
        description="Draw bounds of selected objects only. Colors still tell of contacts with all others",
        default=False,
        update=overlay.look_again,
    )
    fill: EnumProperty(
        name="Draw As",
        description="How bounds are drawn",
        items=(
            ("WIRE", "Wire", "Outlines"),
            ("FACES", "Filled", "Surfaces that let through what is behind them"),
            ("BOTH", "Both", "Outlines and surfaces"),
        ),
        default="WIRE",
        update=_redraw,
    )
    in_front: BoolProperty(
        name="In Front",
        description="Draw bounds over everything, instead of hiding them behind objects",
        default=True,
        update=_redraw,
    )
    line_width: FloatProperty(
        name="Line Width",
        description="Width of outlines in pixels",
        subtype="PIXEL",
        default=1.8,
        min=1.0,
        max=20.0,
        soft_max=6.0,
        update=_redraw,
    )
    line_opacity: FloatProperty(
        name="Line Opacity",
        description="Opacity of outlines; shapes that are not checked for contact are fainter",
        subtype="FACTOR",
        default=1.0,
        min=0.0,
        max=1.0,
        update=_redraw,
    )
    face_opacity: FloatProperty(
        name="Fill Opacity",
        description="Opacity of surfaces",
        subtype="FACTOR",
        default=0.15,
        min=0.0,
        max=1.0,
        update=_redraw,
    )
    show_names: BoolProperty(
        name="Names",
        description="Write the names of objects on their bounds, of the hundred nearest at most",
        default=False,
        update=overlay.look_again,
    )
    show_contact: BoolProperty(
        name="Contact Point",
        description="Mark where the chosen pair first touches, with an arrow from the first to the second",
        default=True,
        update=overlay.look_again,
    )
    show_ghosts: BoolProperty(
        name="Ghosts",
        description="Keep the chosen pair in view as it was at its first contact",
        default=False,
        update=overlay.look_again,
    )

    @property
    def shapes_drawn(self) -> tuple[ShapeName, ...]:
        """Those that are switched on."""
        return tuple(name for name, switch in SWITCHES.items() if getattr(self, switch))

    def style(self, scale: float) -> Style:
        """How to draw, with lines that grow with the interface."""
        has_lines, has_faces = self.fill != "FACES", self.fill != "WIRE"
        width = self.line_width * scale if has_lines else 0.0
        return Style(width, self.line_opacity, self.face_opacity if has_faces else 0.0, self.in_front)


CLASSES = (DisplaySettings,)
