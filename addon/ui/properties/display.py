"""Display settings of a scene: the shapes that the overlay shows, and its style."""

from __future__ import annotations

from bpy.props import BoolProperty, EnumProperty, FloatProperty
from bpy.types import PropertyGroup

from ...scene.settings import ShapeName
from .. import updates

SWITCHES: dict[ShapeName, str] = {
    "sphere": "show_spheres",
    "aabb": "show_boxes",
    "obb": "show_oriented_boxes",
    "spheres": "show_sphere_trees",
}
"""Property that shows or hides each shape."""


class COLLISION_BOUNDS_PG_display(PropertyGroup):
    """Settings of the Display panel."""

    show_overlay: BoolProperty(
        name="Show Bounds",
        description="Draw the bounds in the viewport: blue, or red where in contact at this frame",
        default=True,
        update=updates.on_display_changed,
    )
    show_spheres: BoolProperty(
        name="Spheres",
        description="A sphere around each object",
        default=True,
        update=updates.on_display_changed,
    )
    show_boxes: BoolProperty(
        name="Boxes",
        description="An axis-aligned box around each object",
        default=True,
        update=updates.on_display_changed,
    )
    show_oriented_boxes: BoolProperty(
        name="Oriented Boxes",
        description="A box along the object's own axes around each object",
        default=False,
        update=updates.on_display_changed,
    )
    show_sphere_trees: BoolProperty(
        name="Sphere Trees",
        description="Hierarchy of small spheres that follows the shape of each object",
        default=False,
        update=updates.on_display_changed,
    )
    show_envelopes: BoolProperty(
        name="Swept Bounds",
        description="Show the swept bounds from Compute Swept Bounds, as the shapes that are shown",
        default=True,
        update=updates.on_display_changed,
    )
    only_selected: BoolProperty(
        name="Only Selected",
        description="Draw only the bounds of selected objects. Contact colors still consider all objects",
        default=False,
        update=updates.on_display_changed,
    )
    fill: EnumProperty(
        name="Draw As",
        description="Draw bounds as outlines, surfaces or both",
        items=(
            ("WIRE", "Wire", "Outlines"),
            ("FACES", "Filled", "Transparent surfaces"),
            ("BOTH", "Both", "Outlines and surfaces"),
        ),
        default="WIRE",
        update=updates.on_style_changed,
    )
    in_front: BoolProperty(
        name="In Front",
        description="Draw bounds in front of all objects",
        default=True,
        update=updates.on_style_changed,
    )
    line_width: FloatProperty(
        name="Line Width",
        description="Width of outlines in pixels",
        subtype="PIXEL",
        default=1.8,
        min=1.0,
        max=20.0,
        soft_max=6.0,
        update=updates.on_style_changed,
    )
    line_opacity: FloatProperty(
        name="Line Opacity",
        description="Opacity of outlines. Shapes that collision checks do not use are fainter",
        subtype="FACTOR",
        default=1.0,
        min=0.0,
        max=1.0,
        update=updates.on_style_changed,
    )
    face_opacity: FloatProperty(
        name="Fill Opacity",
        description="Opacity of surfaces",
        subtype="FACTOR",
        default=0.15,
        min=0.0,
        max=1.0,
        update=updates.on_style_changed,
    )
    show_names: BoolProperty(
        name="Names",
        description="Show the names of up to a hundred nearest objects on their bounds",
        default=False,
        update=updates.on_display_changed,
    )
    show_contact: BoolProperty(
        name="Contact Point",
        description="Mark the first contact of the active pair, with an arrow from its first to its "
        "second object",
        default=True,
        update=updates.on_display_changed,
    )
    show_ghosts: BoolProperty(
        name="Ghosts",
        description="Keep showing the active pair as it was at its first contact",
        default=False,
        update=updates.on_display_changed,
    )

    @property
    def shapes_drawn(self) -> tuple[ShapeName, ...]:
        """Return the shapes that are shown."""
        return tuple(name for name, switch in SWITCHES.items() if getattr(self, switch))


CLASSES = (COLLISION_BOUNDS_PG_display,)
