"""Gizmos of custom shapes: drag a face of the box or the handle of the sphere to resize, the ring to move.

The code calls a custom shape an override, as the JSON document does.
"""

from __future__ import annotations

from typing import Any, ClassVar

import bpy
import numpy as np
from bpy.types import Context, Gizmo, GizmoGroup
from mathutils import Matrix, Vector

from ..scene.blender.instances import MESH_LIKE
from ..scene.blender.object_properties import OVERRIDE_OPTIONS
from ..scene.blender.object_settings import SETTINGS_PROPERTY
from .kept_checks import measure_active
from .overlay.state import redraw
from .overlay.unit_meshes import box_lines, sphere_lines

_TWEAK = "GIZMOGROUP_OT_gizmo_tweak"
_POLL_INTERVAL = 0.05
"""Seconds between two checks whether a drag has ended."""


def _active_settings() -> Any:
    """Return the settings of the active object. Never cached, because undo invalidates them."""
    item = bpy.context.object
    return None if item is None else getattr(item, SETTINGS_PROPERTY)


def _with_theme_colors(gizmo: Any, context: Context) -> Any:
    """Return the gizmo, in the colors of the theme."""
    colors = context.preferences.themes[0].user_interface
    gizmo.color, gizmo.alpha = colors.gizmo_primary, 0.7
    gizmo.color_highlight, gizmo.alpha_highlight = colors.gizmo_hi, 1.0
    return gizmo


# ---- Undo: Blender pushes a step for an operator, but not for a gizmo of an extension


def _override_values() -> tuple[object, ...]:
    """Return the values of the active object's override, to compare."""
    settings = _active_settings()
    if settings is None:
        return ()
    return tuple(
        np.ravel(getattr(settings, name)).tolist() for name in OVERRIDE_OPTIONS if name != "override"
    )


class _Drag:
    """State of the drag that is watched."""

    values_before: tuple[object, ...] = ()


def _check_end() -> float | None:
    """Push an undo step at the end of a drag, unless Esc has cancelled it; until then, return a delay."""
    windows = bpy.context.window_manager.windows
    if any(operator.bl_idname == _TWEAK for window in windows for operator in window.modal_operators):
        return _POLL_INTERVAL
    # After Esc all values are as before.
    if windows and _override_values() != _Drag.values_before:
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
        """Draw the lines at the size of the shape."""
        settings = _active_settings()
        extents = settings.half_extents if settings.override == "box" else [settings.radius] * 3
        matrix = context.object.matrix_world @ Matrix.Translation(settings.center)
        matrix @= Matrix.Diagonal((*extents, 1.0))
        self.draw_custom_shape(self.shapes[settings.override], matrix=matrix)


class _GizmoGroup:
    """Base of the gizmo groups of both shapes: an outline, handles of sizes, a ring that moves the center.

    shape : Override that a group is for.
    directions : Axis and side of each handle.
    """

    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options: ClassVar = {"3D", "PERSISTENT"}
    shape: ClassVar[str]
    directions: ClassVar[tuple[tuple[int, int], ...]]

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether the active object has an override of that shape, and can be edited."""
        item = context.object
        return (
            item is not None
            and item.type in MESH_LIKE
            and item.mode == "OBJECT"
            and item.library is None
            and item.visible_get()
            and getattr(item, SETTINGS_PROPERTY).override == cls.shape
        )

    @staticmethod
    def start(settings: Any, _axis: int, _sign: int) -> Any:
        """Return the point from which a handle measures its size."""
        return settings.center

    @staticmethod
    def size(settings: Any, axis: int) -> float:
        """Return the size along an axis."""
        raise NotImplementedError

    @staticmethod
    def resize(settings: Any, axis: int, sign: int, value: float) -> None:
        """Set the size that a handle changes."""
        raise NotImplementedError

    def setup(self: Any, context: Context) -> None:
        """Create the gizmos."""
        _with_theme_colors(self.gizmos.new("COLLISION_BOUNDS_GT_outline"), context)
        self.handles = [self._new_handle(context, *direction) for direction in self.directions]
        self.ring = _with_theme_colors(self.gizmos.new("GIZMO_GT_move_3d"), context)
        self.ring.draw_style, self.ring.draw_options = "RING_2D", {"ALIGN_VIEW", "FILL_SELECT"}
        self.ring.scale_basis = 0.15
        self.ring.target_set_handler(
            "offset",
            get=lambda: _active_settings().center,
            set=lambda value: setattr(_active_settings(), "center", value),
        )

    def _new_handle(self: Any, context: Context, axis: int, sign: int) -> Any:
        handle, cls = _with_theme_colors(self.gizmos.new("GIZMO_GT_arrow_3d"), context), type(self)
        handle.draw_style, handle.length = "BOX", 0.0
        handle.target_set_handler(
            "offset",
            get=lambda: cls.size(_active_settings(), axis),
            set=lambda value: cls.resize(_active_settings(), axis, sign, max(value, 0.0)),
        )
        return handle

    def invoke_prepare(self, _context: Context, _gizmo: Gizmo) -> None:
        """Watch the drag that begins."""
        _Drag.values_before = _override_values()
        if not bpy.app.timers.is_registered(_check_end):
            bpy.app.timers.register(_check_end, first_interval=_POLL_INTERVAL)

    def draw_prepare(self: Any, context: Context) -> None:
        """Move the gizmos to the object."""
        matrix, settings = context.object.matrix_world, _active_settings()
        self.ring.matrix_basis = matrix
        for (axis, sign), handle in zip(self.directions, self.handles, strict=True):
            start = Matrix.Translation(self.start(settings, axis, sign))
            # Arrows point along Z.
            direction = Vector((0.0, 0.0, 0.0))
            direction[axis] = sign
            turn = Vector((0.0, 0.0, 1.0)).rotation_difference(direction)
            handle.matrix_basis = matrix @ start @ turn.to_matrix().to_4x4()


class COLLISION_BOUNDS_GGT_box(_GizmoGroup, GizmoGroup):
    """A handle on each face of the box of an override, with a ring at its center."""

    bl_label = "Custom Box"
    shape = "box"
    directions = tuple((axis, sign) for axis in range(3) for sign in (1, -1))

    @staticmethod
    def start(settings: Any, axis: int, sign: int) -> Any:
        """Return the center of the face opposite, which stays where it is during the drag."""
        start = settings.center.copy()
        start[axis] -= sign * settings.half_extents[axis]
        return start

    @staticmethod
    def size(settings: Any, axis: int) -> float:
        """Return the length of an edge."""
        return 2.0 * float(settings.half_extents[axis])

    @staticmethod
    def resize(settings: Any, axis: int, sign: int, value: float) -> None:
        """Move a face."""
        opposite = settings.center[axis] - sign * settings.half_extents[axis]
        settings.center[axis] = opposite + sign * value / 2
        settings.half_extents[axis] = value / 2


class COLLISION_BOUNDS_GGT_sphere(_GizmoGroup, GizmoGroup):
    """Handle for the radius of a sphere, a ring that moves its center, and an outline."""

    bl_label = "Custom Sphere"
    shape = "sphere"
    directions = ((0, 1),)

    @staticmethod
    def size(settings: Any, _axis: int) -> float:
        """Return the radius."""
        return float(settings.radius)

    @staticmethod
    def resize(settings: Any, _axis: int, _sign: int, value: float) -> None:
        """Set the radius."""
        settings.radius = value
