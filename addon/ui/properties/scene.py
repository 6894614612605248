"""Settings of a scene with its groups: display, colliders, pickers. Saved in the file and part of undo.

Among the colliders are those in Blender's own glTF export. The settings of jobs are made from them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import bpy
from bpy.props import CollectionProperty, FloatProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Context, PropertyGroup

from ...formats.wording import valid_text
from ...scene.blender.frames import is_outside_scene
from ...scene.blender.instances import MESH_LIKE, name_of
from ...scene.blender.object_settings import collider_owner, has_own_settings, is_collider
from ...scene.declarations import with_options
from ...scene.jobs import result_store
from ...scene.jobs.result import Result
from ...scene.settings import (
    BOUND_SHAPES,
    DEFAULT_SHAPES,
    OBSTACLE_SHAPES,
    SHAPE_KINDS,
    BoundShape,
    ContactSettings,
    DrawnShape,
    FitSettings,
    ShapeName,
)
from ...scene.subjects.selection import COLLECTION_PREFIX
from ...translations import CONTEXT
from . import options
from .contact_list import COLLISION_BOUNDS_PG_contact_list, COLLISION_BOUNDS_PG_contact_row
from .options import OPTIONS, OPTIONS_WITH_PICKER, announces, flag, one_of, option_property, option_values

SWITCHES: dict[DrawnShape, str] = {name: kind.switch for name, kind in SHAPE_KINDS.items() if kind.switch}
"""Property that shows or hides each shape."""
_SHOWN_AT_FIRST: ShapeName = "aabb"
"""Shape of bounds that is shown at first, and wherever the viewport cannot show that of collision checks."""

_switch = partial(flag, update=announces(options.display_changed))
"""A property that changes what is drawn; one of the style only draws it again."""
_style_switch = partial(flag, update=announces(options.style_changed))
_opacity = partial(FloatProperty, subtype="FACTOR", min=0.0, max=1.0, update=announces(options.style_changed))


@options.with_properties(
    **{
        switch: _switch(
            name=SHAPE_KINDS[name].label,
            description=SHAPE_KINDS[name].description,
            default=name == _SHOWN_AT_FIRST,
        )
        for name, switch in SWITCHES.items()
    }
)
class COLLISION_BOUNDS_PG_display(options.HasOptions, PropertyGroup):
    """Settings of the Display panel, among them a switch for each of the shapes."""

    show_overlay: _switch(
        "Show Bounds",
        "Draw the bounds in the viewport: red in contact at the current frame, otherwise blue",
        default=True,
    )
    show_envelopes: _switch(
        "Swept Bounds",
        "Show the swept bounds from Compute Swept Bounds, as the shapes that are shown",
        default=True,
    )
    only_selected: _switch(
        "Only Selected", "Draw only the bounds of selected objects. Contact colors still consider all objects"
    )
    draw_as: one_of(
        "Draw As",
        "Draw bounds as outlines, surfaces or both",
        ("WIRE", "Wire", "Outlines", 0),
        ("FACES", "Filled", "Transparent surfaces", 1),
        ("BOTH", "Both", "Outlines and surfaces", 2),
        translation_context=CONTEXT,
        update=announces(options.style_changed),
    )
    in_front: _style_switch("In Front", "Draw bounds in front of all objects", default=True)
    line_width: FloatProperty(
        name="Line Width",
        description="Width of outlines in pixels",
        subtype="PIXEL",
        default=1.8,
        min=1.0,
        max=20.0,
        soft_max=6.0,
        update=announces(options.style_changed),
    )
    line_opacity: _opacity(
        name="Line Opacity",
        description="Opacity of outlines. Shapes that collision checks do not use are fainter",
        default=1.0,
    )
    face_opacity: _opacity(name="Fill Opacity", description="Opacity of surfaces", default=0.15)
    show_names: _switch(
        "Names", "Show the names of up to 100 objects next to their bounds, where there is room"
    )
    show_timeline: _style_switch(
        "Contacts in Timeline",
        "Show when pairs touch as bars in the timeline and the dope sheet: a row for each pair, "
        "the deepest on top, as many as fit",
        default=True,
    )
    show_separation: _style_switch(
        "Separation Graph",
        "Show the separation over time of the active pair at the bottom of the 3D viewport. "
        "Click in it to jump to a frame",
    )
    show_contact: _switch(
        "Contact Point",
        "Mark the first contact of the active pair, with an arrow from its first to its second object",
        default=True,
    )
    show_overlap: _switch(
        "Overlap",
        "Show where the meshes of the active pair cross, what is inside, and how deep, "
        "or the gap between them, instead of bounds",
        default=True,
    )
    show_ghosts: _switch("Ghosts", "Keep showing the active pair as it was at its first contact")

    @property
    def shapes_drawn(self) -> tuple[DrawnShape, ...]:
        return tuple(name for name, switch in SWITCHES.items() if getattr(self, switch))


_naming = partial(
    one_of,
    "Names",
    "Naming convention that your engine uses to recognize colliders",
    ("unreal", "Unreal", "UBX_Name_00, USP_ for spheres, UCP_ for capsules, UCX_ for hulls", 0),
    ("godot", "Godot, Convex", "Name_00-convcolonly: a convex shape in Godot", 1),
    (
        "godot_concave",
        "Godot, Concave",
        "Name_00-colonly: the triangles themselves as a concave shape in Godot",
        2,
    ),
    (
        "unity",
        "Unity",
        "Name_BoxCollider_00 and so on, read in Unity by the script CollisionBoundsImporter.cs",
        3,
    ),
    ("custom", "Custom", "Use the pattern below", 4),
)

COLLIDER_OPTIONS = ("kind", "parts", "parts_tolerance", "max_vertices", "naming", "pattern", "collection")
"""Names of the settings, in the order of the interface."""


def collider_property(name: str, **changes: Any) -> Any:
    """Return the definition of the property of one of `COLLIDER_OPTIONS`, with changed arguments."""
    if name == "naming":
        return _naming(**changes)
    if name == "parts":
        description = (
            "Split each mesh into up to this many convex parts, each with a collider, so that notches "
            "and holes stay open. 1 is one collider around all"
        )
        changes |= {"default": 1, "description": description}
    return option_property(name, **changes)


@options.with_properties(**{name: collider_property(name) for name in COLLIDER_OPTIONS})
class COLLISION_BOUNDS_PG_colliders(options.HasOptions, PropertyGroup):
    show_surfaces: flag(
        "Fill Colliders",
        "Draw the surfaces of collider objects, translucent. Nothing is added to the objects",
        default=True,
        update=announces(options.style_changed),
    )


class COLLISION_BOUNDS_PG_gltf(PropertyGroup):
    """Settings of the colliders that are added to Blender's glTF exports; none by default."""

    omi: flag(
        "OMI (Godot)", "Add a collider to each exported mesh as OMI_physics_body, read by Godot 4.3 and later"
    )
    khr: flag(
        "KHR (Draft)", "Add a collider to each exported mesh as KHR_physics_rigid_bodies, a Khronos draft"
    )
    shape: one_of(
        "Shape",
        "Collider shape. Objects with a custom shape keep it",
        ("obb", "Boxes", "A box along the object's own axes", 0),
        ("sphere", "Spheres", "A sphere", 1),
        ("hull", "Convex Hulls", "The convex hull of the vertices, as a small mesh that is not rendered", 2),
    )
    parts: collider_property("parts")
    parts_tolerance: collider_property("parts_tolerance")
    max_vertices: collider_property("max_vertices")


def _is_in_scene(self: Any, item: bpy.types.Object | bpy.types.Collection) -> bool:
    scene = self.id_data
    if isinstance(item, bpy.types.Object):
        return item.name in scene.objects
    return item in scene.collection.children_recursive


def _choice(kind: type, chosen: str, other: str, description: str) -> Any:
    """Return the definition of a choice, which clears its alternatives: the other one, and the pattern."""

    def clear_others(self: Any, _context: Context) -> None:
        if getattr(self, chosen) is not None:
            setattr(self, other, None)
            if chosen == "object":
                self.more.clear()
            settings, option = self.id_data.collision_bounds, self.path_from_id().rsplit(".", 1)[-1]
            if getattr(settings, option):
                setattr(settings, option, "")

    definition: dict[str, Any] = {"type": kind, "name": chosen.title(), "description": description}
    return PointerProperty(**definition, poll=_is_in_scene, update=clear_others)


def clear_picker(name: str) -> Any:
    """Make the function that clears the picker of an option when its pattern is set."""

    def update(self: Any, _context: Context) -> None:
        picker = getattr(self.pickers, name)
        if getattr(self, name):
            picker.collection = picker.object = None
            picker.more.clear()

    return update


class COLLISION_BOUNDS_PG_collection_choice(PropertyGroup):
    """One of several collections."""

    collection: PointerProperty(
        type=bpy.types.Collection,
        name="Collection",
        description="All objects of this collection as well",
        poll=_is_in_scene,
    )


class COLLISION_BOUNDS_PG_picker(PropertyGroup):
    """One or more collections, an object, or nothing."""

    collection: _choice(bpy.types.Collection, "collection", "object", "All objects of this collection")
    object: _choice(bpy.types.Object, "object", "collection", "This object alone")

    more: CollectionProperty(type=COLLISION_BOUNDS_PG_collection_choice)

    def patterns(self) -> tuple[str, ...]:
        """Return the patterns of names that what was chosen has."""
        if self.object is not None:
            return (_escaped(name_of(self.object)),)
        chosen = [self.collection, *(entry.collection for entry in self.more)]
        return tuple(COLLECTION_PREFIX + _escaped(name_of(entry)) for entry in chosen if entry is not None)


class COLLISION_BOUNDS_PG_pickers(PropertyGroup):
    group_a: PointerProperty(type=COLLISION_BOUNDS_PG_picker)
    group_b: PointerProperty(type=COLLISION_BOUNDS_PG_picker)
    obstacles: PointerProperty(type=COLLISION_BOUNDS_PG_picker)


def _escaped(name: str) -> str:
    """Return a pattern that a name alone matches."""
    pattern = re.sub(r"([*?\[])", r"[\1]", valid_text(name))
    # An object can have a name that begins as the patterns of collections do.
    return f"[{pattern[0]}]{pattern[1:]}" if pattern.startswith(COLLECTION_PREFIX) else pattern


def _start_with_scene_range(self: COLLISION_BOUNDS_PG_scene, _context: Context) -> None:
    """Copy the scene's frame range when it is switched off, unless numbers inside it were entered."""
    if self.use_scene_range:
        return
    scene: Any = self.id_data
    is_entered = any(map(self.is_property_set, ("frame_start", "frame_end")))
    if not is_entered or is_outside_scene(scene, self.frame_start, self.frame_end):
        self.frame_start, self.frame_end = scene.frame_start, scene.frame_end
        self.frame_step = scene.frame_step


_COUNTED = 1000
"""Number of selected objects up to which the types of all are read, whenever the panel is drawn."""


_announce_display = announces(options.display_changed)


def _show_shape(self: COLLISION_BOUNDS_PG_scene, context: Context) -> None:
    """Show the shape that collision checks use, instead of the one before if that alone was shown.

    Shapes of Also Fit stay.
    """
    if self.shape != self.shape_of_bounds:
        _announce_display(self, context)  # pairs that touch now are of meshes
        return
    shown = self.display.shapes_drawn
    setattr(self.display, SWITCHES[self.shape], True)
    if len(shown) == 1 and shown[0] != self.shape and shown[0] not in self.added_shapes:
        setattr(self.display, SWITCHES[shown[0]], False)


def _show_added_shapes(self: COLLISION_BOUNDS_PG_scene, _context: Context) -> None:
    for name in self.bound_shapes[len(DEFAULT_SHAPES) :]:
        setattr(self.display, SHAPE_KINDS[name].switch, True)


_UPDATES: dict[str, Callable[[Any, Context], None]] = {
    **dict.fromkeys(("padding", "box_axes", "parts", "parts_tolerance"), _announce_display),
    "shape": _show_shape,
    **{name: clear_picker(name) for name in OPTIONS_WITH_PICKER},
}
"""What follows from a change of an option."""


@options.with_properties(
    **{
        name: option_property(name, **({"update": _UPDATES[name]} if name in _UPDATES else {}))
        for name in (*OPTIONS["bounds"], *OPTIONS["contacts"])
    }
)
class COLLISION_BOUNDS_PG_scene(options.HasOptions, PropertyGroup):
    """Settings of the panels for one scene, among them the options of its jobs."""

    scope: option_property("scope", default="SELECTED")
    added_shapes: option_property("added_shapes", update=_show_added_shapes)
    use_scene_range: flag(
        "Scene Range", "Scan the frame range of the scene", default=True, update=_start_with_scene_range
    )
    frame_start: IntProperty(name="Start", description="First frame of the scan", default=1)
    frame_end: IntProperty(name="End", description="Last frame of the scan", default=250)
    frame_step: IntProperty(name="Step", description="Number of frames between samples", default=1, min=1)
    pickers: PointerProperty(type=COLLISION_BOUNDS_PG_pickers)

    display: PointerProperty(type=COLLISION_BOUNDS_PG_display)
    gltf: PointerProperty(type=COLLISION_BOUNDS_PG_gltf)
    colliders: PointerProperty(type=COLLISION_BOUNDS_PG_colliders)

    rows: CollectionProperty(type=COLLISION_BOUNDS_PG_contact_row)
    active_row: IntProperty(
        name="Contact",
        description="Click a row to jump to its frame and select its pair",
        default=-1,
        update=announces(options.active_contact_changed),
    )
    contact_list: PointerProperty(type=COLLISION_BOUNDS_PG_contact_list)
    result_id: StringProperty(options={"HIDDEN"})
    baseline: StringProperty(
        name="Baseline",
        description="Report of an earlier scan, to compare contacts with: which are new, and which are gone",
        subtype="FILE_PATH",
    )
    keep_results: flag(
        "Keep Results in File",
        "Save contacts with the file, as a text block, and show them when it is opened again",
    )
    kept_results: PointerProperty(
        type=bpy.types.Text, name="Kept Results", description="Text block with the contacts of the last save"
    )

    @property
    def results(self) -> result_store.Results:
        """Return the results of the scene in this session; empty ones if it has none."""
        return result_store.get(self.result_id)

    @property
    def bounds_fit(self) -> FitSettings:
        """Return the fit settings of Compute Bounds, which alone can enclose a vertex group."""
        return with_options(FitSettings(), option_values(self, "bounds"))

    @property
    def bound_shapes(self) -> tuple[BoundShape, ...]:
        return (*DEFAULT_SHAPES, *(name for name in BOUND_SHAPES if name in self.added_shapes))

    @property
    def shape_of_bounds(self) -> ShapeName:
        """Return the shape whose contacts the viewport shows: that of collision checks, if it can."""
        return self.shape if self.shape in SWITCHES else _SHOWN_AT_FIRST

    @property
    def takes_obstacles(self) -> bool:
        """Return whether the collision shape can be tested against the meshes of obstacles."""
        return self.shape in OBSTACLE_SHAPES

    def names_of_option(self, option: str) -> tuple[str, ...]:
        """Return the patterns of a group or of obstacles: of what was chosen, or as typed; empty for none."""
        typed = getattr(self, option)
        return getattr(self.pickers, option).patterns() or ((typed,) if typed else ())


def settings_of(context: Context) -> COLLISION_BOUNDS_PG_scene:
    return settings_on(context.scene)


def selected_count(context: Context) -> int | None:
    """Return the number of selected objects that buttons work on; None if they work on all visible ones."""
    if settings_of(context).scope != "SELECTED" or not context.view_layer.objects.selected:
        return None
    selected = context.view_layer.objects.selected
    if len(selected) > _COUNTED:
        return len(selected)
    return len(_usable(selected))


def _usable(selected: Iterable[Any]) -> set[Any]:
    """Return the selected objects that may have bounds. A collider stands for its object."""
    objects = {collider_owner(item) or item for item in selected}
    return {
        item for item in objects if (item.type in MESH_LIKE or item.is_instancer) and not is_collider(item)
    }


def is_alone(context: Context) -> bool:
    """Return whether the only selected object has no parts or instances that could touch each other."""
    usable = _usable(context.view_layer.objects.selected[:_COUNTED])
    if len(usable) != 1:
        return False
    (item,) = usable
    makes_instances = item.is_instancer or any(modifier.type == "NODES" for modifier in item.modifiers)
    return not (makes_instances or item.particle_systems or has_own_settings(item))


def has_results(context: Context) -> bool:
    return context.scene is not None and settings_of(context).results.bounds is not None


def contact_settings(settings: COLLISION_BOUNDS_PG_scene) -> ContactSettings:
    frames = (settings.frame_start, settings.frame_end, settings.frame_step)
    patterns = {
        option.name: settings.names_of_option(name)
        for name, option in OPTIONS["contacts"].items()
        if name in OPTIONS_WITH_PICKER
    }
    if not settings.takes_obstacles:
        # While the shape is a box, obstacles are greyed out but kept.
        patterns["obstacles"] = ()
    values = {
        **option_values(settings, "contacts"),
        **patterns,
        "frames": None if settings.use_scene_range else frames,
        "selected_only": settings.scope == "SELECTED",
    }
    return with_options(ContactSettings(fit=fit_settings(settings)), values)


def attach() -> None:
    bpy.types.Scene.collision_bounds = PointerProperty(type=COLLISION_BOUNDS_PG_scene)  # type: ignore[attr-defined]


def detach() -> None:
    del bpy.types.Scene.collision_bounds  # type: ignore[attr-defined]


def settings_on(scene: bpy.types.Scene) -> COLLISION_BOUNDS_PG_scene:
    return scene.collision_bounds  # type: ignore[attr-defined]


def fit_settings(settings: COLLISION_BOUNDS_PG_scene) -> FitSettings:
    """Return the fit settings; lengths in single precision become the decimals that were typed."""
    return replace(settings.bounds_fit, vertex_group=None)


def envelopes_on(settings: COLLISION_BOUNDS_PG_scene) -> Result | None:
    """Return the swept bounds of a scene, or None if they are missing or out of date."""
    return settings.results.fresh_envelopes(fit_settings(settings))


def exported_result(settings: COLLISION_BOUNDS_PG_scene) -> Result | None:
    """Return the contacts of a scene, else its bounds, with swept bounds of the same frames; None without.

    Swept bounds enclose all vertices, so they are not added to bounds of a vertex group.
    """
    results = settings.results
    result, envelopes = results.contacts or results.bounds, envelopes_on(settings)
    if result is None or envelopes is None or result.vertex_group is not None:
        return result
    return result.with_envelopes_of(envelopes) or result


SceneSettings: TypeAlias = COLLISION_BOUNDS_PG_scene
