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

from ..scene import session
from ..scene.jobs import BoundsSettings, ContactSettings
from ..scene.own_settings import as_typed
from ..scene.pairs import split_at_commas
from ..scene.selection import Selection
from . import overlay
from .collider_settings import ColliderSettings
from .contact_rows import ContactRow, ListSettings
from .display_settings import SWITCHES, DisplaySettings
from .gltf_export import GltfSettings
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
from .pair_selection import show_active_row
from .preferences import preferences
from .scene_settings import fit_settings, settings_on


def _show_shape(self: SceneSettings, _context: Context) -> None:
    """What is checked for contact is shown."""
    setattr(self.display, SWITCHES[self.shape], True)


class SceneSettings(PropertyGroup):
    """What the panel shows for a scene."""

    scope: EnumProperty(**SCOPE, default="SELECTED")
    method: EnumProperty(**METHOD, default="minimal", update=overlay.look_again)
    padding: FloatProperty(**PADDING, update=overlay.look_again)

    shape: EnumProperty(**SHAPE, default="aabb", update=_show_shape)
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

    display: PointerProperty(type=DisplaySettings)
    gltf: PointerProperty(type=GltfSettings)
    colliders: PointerProperty(type=ColliderSettings)

    rows: CollectionProperty(type=ContactRow)
    active_row: IntProperty(
        name="Contact",
        description="Click a row to jump to its time and select its pair",
        default=-1,
        update=show_active_row,
    )
    listing: PointerProperty(type=ListSettings)
    result_id: StringProperty(options={"HIDDEN"})


def settings_of(context: Context) -> SceneSettings:
    """The settings of the context's scene."""
    return settings_on(context.scene)


def begun(context: Context) -> SceneSettings:
    """The settings, for an operator: what nobody has set in this scene begins as the preferences have it."""
    settings = settings_of(context)
    if not settings.is_property_set("padding") and preferences().padding:
        settings.padding = preferences().padding
    return settings


def has_objects(context: Context) -> bool:
    """Whether something is selected, if the tab's buttons are about what is.

    Their polls do not ask: a script may say that it means all that is visible.
    """
    return settings_of(context).scope != "SELECTED" or bool(context.view_layer.objects.selected)


class OnObjects:
    """An operator on objects, whose button is grey where nothing is selected."""

    @classmethod
    def description(cls, context: Context, properties: Any) -> str:
        """What it does, and what is missing."""
        text = str(cls.__doc__)
        if context.scene is None or properties.is_property_set("scope") or has_objects(context):
            return text
        return f"{text}.\n\nNothing is selected: select something, or set Objects to All Visible"


def has_results(context: Context) -> bool:
    """Whether the context's scene shows anything."""
    return context.scene is not None and session.get(settings_of(context).result_id).bounds is not None


def bounds_settings(settings: SceneSettings) -> BoundsSettings:
    """The panel's settings for the bounds job."""
    return BoundsSettings(selection=_selection(settings), fit=fit_settings(settings))


def contact_settings(settings: SceneSettings) -> ContactSettings:
    """The panel's settings for the contacts job."""
    frames = (settings.frame_start, settings.frame_end, settings.frame_step)
    return ContactSettings(
        selection=_selection(settings),
        shape=settings.shape,
        fit=fit_settings(settings),
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


CLASSES = (SceneSettings,)
