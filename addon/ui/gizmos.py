"""Gizmos of custom shapes: drag a face of the box or the handle of the sphere to resize, the ring to move.

The code calls a custom shape an override, as the JSON document does.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import bpy
import numpy as np
from bpy.types import Context, Gizmo, GizmoGroup
from mathutils import Matrix, Vector

from ..scene.blender.object_properties import OVERRIDE_OPTIONS
from .kept_checks import measure_active, settings_of_active
from .overlay.state import redraw
from .overlay.unit_meshes import box_lines, sphere_lines

_TWEAK = "GIZMOGROUP_OT_gizmo_tweak"
_POLL_INTERVAL = 0.05
"""Seconds between two checks whether a drag has ended."""


def _with_theme_colors(gizmo: Any, context: Context) -> Any:
    colors = context.preferences.themes[0].user_interface
    gizmo.color, gizmo.alpha = colors.gizmo_primary, 0.7
    gizmo.color_highlight, gizmo.alpha_highlight = colors.gizmo_hi, 1.0
    return gizmo


# ---- Undo: Blender pushes a step for an operator, but not for a gizmo: a timer detects the end of a drag


_values_before: list[object] = []
"""Values of the override when the drag that is watched began."""


def _override_values() -> list[object]:
    """Return the values of the active object's override, to compare."""
    settings = settings_of_active(bpy.context)
    return [np.ravel(getattr(settings, name, ())).tolist() for name in OVERRIDE_OPTIONS[1:]]


def _check_end() -> float | None:
    """Push an undo step at the end of a drag, unless Esc has cancelled it; until then, return a delay."""
    windows = bpy.context.window_manager.windows
    if any(operator.bl_idname == _TWEAK for window in windows for operator in window.modal_operators):
        return _POLL_INTERVAL
    # After Esc all values are as before.
    if windows and _override_values() != _values_before:
        with bpy.context.temp_override(window=windows[0]):  # type: ignore[attr-defined]
            # Vertices outside are counted at once.
            measure_active(bpy.context)
            bpy.ops.ed.undo_push(message="Change Custom Shape")
        redraw()
    return None


class COLLISION_BOUNDS_GT_outline(Gizmo):
    """Lines around a custom shape that cannot be dragged."""

    def setup(self) -> None:
        """Create the lines of both shapes, of size 1: twelve edges, and three circles."""
        lines = {"box": box_lines(), "sphere": sphere_lines(48)}
        self.shapes: Any = {
            shape: self.new_custom_shape("LINES", each.segments.tolist()) for shape, each in lines.items()
        }

    def draw(self, context: Context) -> None:
        """Draw the lines at the size of the shape, which may be gone since the last poll."""
        settings = settings_of_active(context)
        if settings is None or settings.override == "none":
            return
        extents = settings.half_extents if settings.override == "box" else [settings.radius] * 3
        matrix = context.object.matrix_world @ Matrix.Translation(settings.center)
        matrix @= Matrix.Diagonal((*extents, 1.0))
        self.draw_custom_shape(self.shapes[settings.override], matrix=matrix)


_SIDES = tuple((axis, sign) for axis in range(3) for sign in (1, -1))
"""Axis and sign of each face of a box."""


class COLLISION_BOUNDS_GGT_custom_shape(GizmoGroup):
    """An outline, a ring that moves the center, and handles: one on each face of a box, or for the radius."""

    bl_label = "Custom Shape"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options: ClassVar = {"3D", "PERSISTENT"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        item, settings = context.object, settings_of_active(context)
        return (
            settings is not None
            and settings.override != "none"
            and item.mode == "OBJECT"
            and item.library is None
            and item.visible_get()
        )

    def setup(self: Any, context: Context) -> None:
        _with_theme_colors(self.gizmos.new("COLLISION_BOUNDS_GT_outline"), context)
        self.handles = []
        for axis, sign in _SIDES:
            handle = _with_theme_colors(self.gizmos.new("GIZMO_GT_arrow_3d"), context)
            handle.draw_style, handle.length = "BOX", 0.0
            get, set_ = partial(_size, axis), partial(_resize, axis, sign)
            handle.target_set_handler("offset", get=get, set=set_)
            self.handles.append(handle)
        self.ring = _with_theme_colors(self.gizmos.new("GIZMO_GT_move_3d"), context)
        self.ring.draw_style, self.ring.draw_options = "RING_2D", {"ALIGN_VIEW", "FILL_SELECT"}
        self.ring.scale_basis = 0.15
        self.ring.target_set_handler(
            "offset",
            get=lambda: settings_of_active(bpy.context).center,
            set=lambda value: setattr(settings_of_active(bpy.context), "center", value),
        )

    def invoke_prepare(self, _context: Context, _gizmo: Gizmo) -> None:
        """Watch the drag that begins."""
        _values_before[:] = _override_values()
        if not bpy.app.timers.is_registered(_check_end):
            bpy.app.timers.register(_check_end, first_interval=_POLL_INTERVAL)

    def draw_prepare(self: Any, context: Context) -> None:
        """Move the gizmos to the object; a sphere has the first handle alone."""
        matrix, settings = context.object.matrix_world, settings_of_active(context)
        is_box = settings.override == "box"
        self.ring.matrix_basis = matrix
        for (axis, sign), handle in zip(_SIDES, self.handles, strict=True):
            handle.hide = not is_box and handle is not self.handles[0]
            start = settings.center.copy()
            # From the center of the face opposite, which stays where it is during the drag.
            start[axis] -= sign * settings.half_extents[axis] if is_box else 0.0
            # Arrows point along Z.
            direction = Vector((0.0, 0.0, 0.0))
            direction[axis] = sign
            turn = Vector((0.0, 0.0, 1.0)).rotation_difference(direction)
            handle.matrix_basis = matrix @ Matrix.Translation(start) @ turn.to_matrix().to_4x4()


def _size(axis: int) -> float:
    """Return the length of an edge of the box, or the radius of the sphere."""
    settings = settings_of_active(bpy.context)
    return float(2.0 * settings.half_extents[axis] if settings.override == "box" else settings.radius)


def _resize(axis: int, sign: int, value: float) -> None:
    """Move a face of the box, or set the radius of the sphere."""
    settings, value = settings_of_active(bpy.context), max(value, 0.0)
    if settings.override == "sphere":
        settings.radius = value
        return
    opposite = settings.center[axis] - sign * settings.half_extents[axis]
    settings.center[axis] = opposite + sign * value / 2
    settings.half_extents[axis] = value / 2
