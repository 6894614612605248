"""Settings of a scene, and the rows of its result list. Saved in the file, undone with the rest."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Context, PropertyGroup

from ..scene.jobs import BoundsSettings, ContactSettings, as_typed
from ..scene.pairs import split_at_commas
from ..scene.playback import go_to
from ..scene.subjects import Selection
from . import overlay
from .options import (
    CLEARANCE,
    CONFIRM,
    GROUP_A,
    GROUP_B,
    IGNORE_COLLECTION,
    IGNORE_PARENTS,
    IGNORED,
    METHOD,
    MOTION,
    OBSTACLES,
    ONE_SIDED,
    PADDING,
    SCOPE,
    SHAPE,
    STATIC_PAIRS,
)


def _redraw(_self: PropertyGroup, context: Context) -> None:
    overlay.refresh(context)


def _go_to_row(settings: SceneSettings, _context: Context) -> None:
    """Clicking a row jumps to its frame, sub-frame included."""
    if 0 <= settings.active_row < len(settings.rows):
        scene: Any = settings.id_data
        go_to(scene, settings.rows[settings.active_row].frame)


class ContactRow(PropertyGroup):
    """One line of the result list: a contact, or a near miss."""

    a: StringProperty(name="A", description="First object of the pair")
    b: StringProperty(name="B", description="Second object of the pair")
    frame: FloatProperty(name="Frame", description="First contact, or closest approach", precision=3)
    value: FloatProperty(name="Depth or Gap", description="Deepest overlap, or the gap of a near miss")
    is_near_miss: BoolProperty(name="Near Miss", description="The pair never touches")
    tunnelling: BoolProperty(name="Tunnelling", description="No whole frame shows this contact")
    at_start: BoolProperty(name="At Start", description="In contact when the scan begins")
    uncertainty: FloatProperty(name="Uncertainty", description="Frames by which the frame may be off")
    linear: BoolProperty(name="Linear", description="Found by straight lines between frames")
    meshes: EnumProperty(
        name="Meshes",
        description="What the meshes themselves do",
        items=(
            ("UNKNOWN", "Not Asked", "They were not asked, or cannot be"),
            ("TOUCH", "Touch", "They touch too"),
            ("NEVER", "Never", "Only the bounds touch"),
        ),
    )
    mesh_frame: FloatProperty(name="Mesh Frame", description="When the meshes first touch", precision=3)


class SceneSettings(PropertyGroup):
    """What the panel shows for a scene."""

    scope: EnumProperty(**SCOPE, default="SELECTED")
    method: EnumProperty(**METHOD, default="minimal", update=_redraw)
    padding: FloatProperty(**PADDING, update=_redraw)

    shape: EnumProperty(**SHAPE, default="aabb", update=_redraw)
    obstacles: StringProperty(**OBSTACLES)
    one_sided: BoolProperty(**ONE_SIDED)
    motion: EnumProperty(**MOTION, default="adaptive")
    use_scene_range: BoolProperty(
        name="Scene Range", description="Scan the scene's own frame range", default=True
    )
    frame_start: IntProperty(name="Start", description="First frame of the scan", default=1)
    frame_end: IntProperty(name="End", description="Last frame of the scan", default=250)
    frame_step: IntProperty(name="Step", description="Frames from one sample to the next", default=1, min=1)
    clearance: FloatProperty(**CLEARANCE)
    confirm: BoolProperty(**CONFIRM)

    group_a: StringProperty(**GROUP_A)
    group_b: StringProperty(**GROUP_B)
    ignored: StringProperty(**IGNORED)
    ignore_parents: BoolProperty(**IGNORE_PARENTS, default=True)
    ignore_collection: BoolProperty(**IGNORE_COLLECTION)
    static_pairs: BoolProperty(**STATIC_PAIRS)

    show_overlay: BoolProperty(
        name="Show Bounds",
        description="Draw the bounds over the viewport: blue when free, red when in contact at this frame",
        default=True,
        update=_redraw,
    )
    show_spheres: BoolProperty(name="Spheres", description="Draw spheres", default=True, update=_redraw)
    show_boxes: BoolProperty(name="Boxes", description="Draw boxes", default=True, update=_redraw)

    rows: CollectionProperty(type=ContactRow)
    active_row: IntProperty(
        name="Contact", description="Click a row to jump to its frame", default=-1, update=_go_to_row
    )
    result_id: StringProperty(options={"HIDDEN"})


def settings_of(context: Context) -> SceneSettings:
    """The settings of the context's scene."""
    return overlay.settings_on(context.scene)


def bounds_settings(settings: SceneSettings) -> BoundsSettings:
    """The panel's settings for the bounds job."""
    return BoundsSettings(selection=_selection(settings), fit=overlay.fit_settings(settings))


def contact_settings(settings: SceneSettings) -> ContactSettings:
    """The panel's settings for the contacts job."""
    frames = (settings.frame_start, settings.frame_end, settings.frame_step)
    return ContactSettings(
        selection=_selection(settings),
        shape=settings.shape,
        fit=overlay.fit_settings(settings),
        frames=None if settings.use_scene_range else frames,
        motion=settings.motion,
        clearance=as_typed(settings.clearance),
        confirm=settings.confirm,
        group_a=settings.group_a or None,
        group_b=settings.group_b or None,
        ignored=split_at_commas(settings.ignored),
        ignore_parents=settings.ignore_parents,
        ignore_collection=settings.ignore_collection,
        static_pairs=settings.static_pairs,
        # Kept while the shape is a box, greyed out.
        obstacles=(settings.obstacles or None) if has_spheres(settings) else None,
        one_sided=settings.one_sided,
    )


def has_spheres(settings: SceneSettings) -> bool:
    """Whether spheres stand in for objects, which can bump into meshes."""
    return settings.shape in ("sphere", "spheres")


def _selection(settings: SceneSettings) -> Selection:
    return Selection(selected_only=settings.scope == "SELECTED")


def attach() -> None:
    """Give every scene its settings."""
    bpy.types.Scene.collision_bounds = PointerProperty(type=SceneSettings)  # type: ignore[attr-defined]


def detach() -> None:
    """Take the settings away again."""
    del bpy.types.Scene.collision_bounds  # type: ignore[attr-defined]
