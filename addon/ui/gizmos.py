"""Handles in the viewport for a shape set by hand: drag a side to size it, the ring to move it."""

from __future__ import annotations

from math import pi
from typing import Any, ClassVar

import bpy
import numpy as np
from bpy.types import Context, Gizmo, GizmoGroup
from mathutils import Matrix

from ..scene.own_settings import PROPERTY
from ..scene.walk import MESH_LIKE
from .object_settings import OVERRIDE_OPTIONS
from .unit_shapes import ball_segments

_LEAST = 1e-4
"""A cage without any size could not be taken hold of."""
_TO_X = Matrix.Rotation(pi / 2, 4, "Y")
"""From z, along which arrows point."""
_TWEAK = "GIZMOGROUP_OT_gizmo_tweak"
_SOON = 0.05  # seconds


def _own() -> Any:
    """The settings of the active object: looked up anew each time, it may have been undone in between."""
    item = bpy.context.object
    return None if item is None else getattr(item, PROPERTY)


def _has(context: Context, shape: str) -> bool:
    item = context.object
    return (
        item is not None
        and item.type in MESH_LIKE
        and item.mode == "OBJECT"
        and item.library is None
        and item.visible_get()
        and getattr(item, PROPERTY).override == shape
    )


def _paint(gizmo: Any, context: Context) -> Any:
    """The same with the colours of the theme."""
    colors = context.preferences.themes[0].user_interface
    gizmo.color, gizmo.alpha = colors.gizmo_primary, 0.7
    gizmo.color_highlight, gizmo.alpha_highlight = colors.gizmo_hi, 1.0
    return gizmo


def _ring(group: GizmoGroup, context: Context) -> Any:
    """The handle that moves the middle."""
    ring = _paint(group.gizmos.new("GIZMO_GT_move_3d"), context)
    ring.draw_style, ring.draw_options = "RING_2D", {"ALIGN_VIEW", "FILL_SELECT"}
    ring.scale_basis = 0.15
    ring.target_set_handler("offset", get=_center, set=_set_center)
    return ring


# ---- Undo: Blender makes a step of what an operator does, and a handle of ours is none


def _state() -> tuple[object, ...]:
    own = _own()
    if own is None:
        return ()
    return tuple(np.ravel(getattr(own, name)).tolist() for name in OVERRIDE_OPTIONS if name != "override")


_before: tuple[object, ...] = ()


def _begin() -> None:
    """Look out for the end of the drag that begins now."""
    global _before
    _before = _state()
    if not bpy.app.timers.is_registered(_end):
        bpy.app.timers.register(_end, first_interval=_SOON)


def _end() -> float | None:
    windows = bpy.context.window_manager.windows
    if any(operator.bl_idname == _TWEAK for window in windows for operator in window.modal_operators):
        return _SOON
    # Stopped by Esc, all is as before.
    if windows and _state() != _before:
        with bpy.context.temp_override(window=windows[0]):  # type: ignore[attr-defined]
            bpy.ops.ed.undo_push(message="Change Override")
    return None


class _Handles:
    """What the groups for both shapes have in common."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options: ClassVar = {"3D", "PERSISTENT"}

    def invoke_prepare(self, _context: Context, _gizmo: Gizmo) -> None:
        """A drag begins."""
        _begin()


class BoxHandles(_Handles, GizmoGroup):
    """A cage around the box, with a ring in its middle."""

    bl_idname = "COLLISION_BOUNDS_GGT_box"
    bl_label = "Box of Collision Bounds"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """For the active object, if it has a box."""
        return _has(context, "box")

    def setup(self, context: Context) -> None:
        """Make the handles."""
        self.cage = _paint(self.gizmos.new("GIZMO_GT_cage_3d"), context)
        self.cage.draw_style, self.cage.transform = "BOX", {"SCALE", "TRANSLATE"}
        self.cage.target_set_handler("matrix", get=_box, set=_set_box)
        self.ring = _ring(self, context)

    def draw_prepare(self, context: Context) -> None:
        """Follow the object."""
        self.cage.matrix_basis = self.ring.matrix_basis = context.object.matrix_world


class SphereHandles(_Handles, GizmoGroup):
    """A handle for the radius, a ring to move the middle, and an outline."""

    bl_idname = "COLLISION_BOUNDS_GGT_sphere"
    bl_label = "Sphere of Collision Bounds"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """For the active object, if it has a sphere."""
        return _has(context, "sphere")

    def setup(self, context: Context) -> None:
        """Make the handles."""
        self.arrow = _paint(self.gizmos.new("GIZMO_GT_arrow_3d"), context)
        self.arrow.draw_style, self.arrow.length = "BOX", 0.0
        self.arrow.target_set_handler("offset", get=_radius, set=_set_radius)
        self.ring = _ring(self, context)
        _paint(self.gizmos.new(SphereOutline.bl_idname), context)

    def draw_prepare(self, context: Context) -> None:
        """Follow the object."""
        matrix = context.object.matrix_world
        self.ring.matrix_basis = matrix
        self.arrow.matrix_basis = matrix @ Matrix.Translation(_own().center) @ _TO_X


class SphereOutline(Gizmo):
    """Three circles that cannot be taken hold of."""

    bl_idname = "COLLISION_BOUNDS_GT_sphere"

    def setup(self) -> None:
        """Make the circles, of radius 1."""
        self.circles = self.new_custom_shape("LINES", ball_segments(48).tolist())

    def draw(self, context: Context) -> None:
        """Draw them as large as the sphere."""
        own = _own()
        size = Matrix.Diagonal((own.radius, own.radius, own.radius, 1.0))
        matrix = context.object.matrix_world @ Matrix.Translation(own.center) @ size
        self.draw_custom_shape(self.circles, matrix=matrix)


# ---- What handles read and write


def _box() -> list[float]:
    own = _own()
    size = [max(2 * half, _LEAST) for half in own.half_extents]
    matrix = Matrix.Translation(own.center) @ Matrix.Diagonal((*size, 1.0))
    return [matrix[row][column] for column in range(4) for row in range(4)]


def _set_box(value: Any) -> None:
    own = _own()
    own.center = value[12:15]
    own.half_extents = [abs(value[5 * axis]) / 2 for axis in range(3)]


def _radius() -> float:
    return float(_own().radius)


def _set_radius(value: float) -> None:
    _own().radius = max(value, 0.0)


def _center() -> Any:
    return _own().center


def _set_center(value: Any) -> None:
    _own().center = value


CLASSES = (SphereOutline, BoxHandles, SphereHandles)
