"""Display settings of a scene: the shapes that the overlay shows, and its style."""

from __future__ import annotations

from functools import partial

from bpy.props import BoolProperty, EnumProperty, FloatProperty
from bpy.types import PropertyGroup

from ...scene.settings import SHAPE_KINDS, ContactSettings, DrawnShape
from ...translations import CONTEXT
from .. import property_events
from .options import HasOptions, with_properties

SWITCHES: dict[DrawnShape, str] = {name: kind.switch for name, kind in SHAPE_KINDS.items() if kind.switch}
"""Property that shows or hides each shape; at first, the shape that collision checks use is shown."""

_switch = partial(BoolProperty, update=property_events.on_display_changed)
"""A property that changes what is drawn; one of the style only draws it again."""
_style_switch = partial(BoolProperty, update=property_events.on_style_changed)
_opacity = partial(FloatProperty, subtype="FACTOR", min=0.0, max=1.0, update=property_events.on_style_changed)


@with_properties(
    **{
        switch: _switch(
            name=SHAPE_KINDS[name].label,
            description=SHAPE_KINDS[name].description,
            default=name == ContactSettings.shape,
        )
        for name, switch in SWITCHES.items()
    }
)
class COLLISION_BOUNDS_PG_display(HasOptions, PropertyGroup):
    """Settings of the Display panel, among them a switch for each of the shapes."""

    show_overlay: _switch(
        name="Show Bounds",
        description="Draw the bounds in the viewport: red in contact at the current frame, otherwise blue",
        default=True,
    )
    show_envelopes: _switch(
        name="Swept Bounds",
        description="Show the swept bounds from Compute Swept Bounds, as the shapes that are shown",
        default=True,
    )
    only_selected: _switch(
        name="Only Selected",
        description="Draw only the bounds of selected objects. Contact colors still consider all objects",
    )
    draw_as: EnumProperty(
        name="Draw As",
        description="Draw bounds as outlines, surfaces or both",
        translation_context=CONTEXT,
        items=(
            ("WIRE", "Wire", "Outlines", 0),
            ("FACES", "Filled", "Transparent surfaces", 1),
            ("BOTH", "Both", "Outlines and surfaces", 2),
        ),
        default="WIRE",
        update=property_events.on_style_changed,
    )
    in_front: _style_switch(name="In Front", description="Draw bounds in front of all objects", default=True)
    line_width: FloatProperty(
        name="Line Width",
        description="Width of outlines in pixels",
        subtype="PIXEL",
        default=1.8,
        min=1.0,
        max=20.0,
        soft_max=6.0,
        update=property_events.on_style_changed,
    )
    line_opacity: _opacity(
        name="Line Opacity",
        description="Opacity of outlines. Shapes that collision checks do not use are fainter",
        default=1.0,
    )
    face_opacity: _opacity(name="Fill Opacity", description="Opacity of surfaces", default=0.15)
    show_names: _switch(
        name="Names",
        description="Show the names of up to 100 objects next to their bounds, where there is room",
    )
    show_timeline: _style_switch(
        name="Contacts in Timeline",
        description="Show when pairs touch as bars in the timeline and the dope sheet: a row for each pair, "
        "the deepest on top, as many as fit",
        default=True,
    )
    show_separation: _style_switch(
        name="Separation Graph",
        description="Show the separation over time of the active pair at the bottom of the 3D viewport. "
        "Click in it to jump to a frame",
    )
    show_contact: _switch(
        name="Contact Point",
        description="Mark the first contact of the active pair, with an arrow from its first to its "
        "second object",
        default=True,
    )
    show_ghosts: _switch(
        name="Ghosts", description="Keep showing the active pair as it was at its first contact"
    )

    @property
    def shapes_drawn(self) -> tuple[DrawnShape, ...]:
        """Return the shapes that are shown."""
        return tuple(name for name, switch in SWITCHES.items() if getattr(self, switch))
