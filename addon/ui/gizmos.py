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
from .fit_measurements import measure_active
from .overlay.state import redraw
from .overlay.unit_meshes import UnitLines, box_lines, sphere_lines

_FACES = tuple((axis, sign) for axis in range(3) for sign in (1, -1))
"""Axis and side of each face of a box."""
_TWEAK = "GIZMOGROUP_OT_gizmo_tweak"
_POLL_INTERVAL = 0.05
"""Seconds between two checks whether a drag has ended."""


def _active_settings() -> Any:
    """Return the settings of the active object. Never cached, because undo invalidates them."""
    item = bpy.context.object
    return None if item is None else getattr(item, SETTINGS_PROPERTY)


def _has_override(context: Context, shape: str) -> bool:
    """Return whether the active object has an override of that shape, and can be edited."""
    item = context.object
    return (
        item is not None
        and item.type in MESH_LIKE
        and item.mode == "OBJECT"
        and item.library is None
        and item.visible_get()
        and getattr(item, SETTINGS_PROPERTY).override == shape
    )


def _with_theme_colors(gizmo: Any, context: Context) -> Any:
    """Return the gizmo, in the colors of the theme."""
    colors = context.preferences.themes[0].user_interface
    gizmo.color, gizmo.alpha = colors.gizmo_primary, 0.7
    gizmo.color_highlight, gizmo.alpha_highlight = colors.gizmo_hi, 1.0
    return gizmo


def _set_center(value: Any) -> None:
    _active_settings().center = value


def _set_radius(value: float) -> None:
    _active_settings().radius = max(value, 0.0)


def _ring(group: GizmoGroup, context: Context) -> Any:
    """Add the handle that moves the center."""
    ring = _with_theme_colors(group.gizmos.new("GIZMO_GT_move_3d"), context)
    ring.draw_style, ring.draw_options = "RING_2D", {"ALIGN_VIEW", "FILL_SELECT"}
    ring.scale_basis = 0.15
    ring.target_set_handler("offset", get=lambda: _active_settings().center, set=_set_center)
    return ring


def _face_handle(group: GizmoGroup, context: Context, face: tuple[int, int]) -> Any:
    """Add the handle that moves a face of the box, given by its axis and side."""
    axis, sign = face
    handle = _with_theme_colors(group.gizmos.new("GIZMO_GT_arrow_3d"), context)
    handle.draw_style, handle.length = "BOX", 0.0

    def size() -> float:
        return 2.0 * float(_active_settings().half_extents[axis])

    def set_size(value: float) -> None:
        settings, value = _active_settings(), max(value, 0.0)
        opposite = settings.center[axis] - sign * settings.half_extents[axis]
        settings.center[axis] = opposite + sign * value / 2
        settings.half_extents[axis] = value / 2

    handle.target_set_handler("offset", get=size, set=set_size)
    return handle


def _rotation_to(axis: int, sign: int) -> Matrix:
    """Return a rotation from Z, along which arrows point, to an axis or its opposite."""
    direction = Vector((0.0, 0.0, 0.0))
    direction[axis] = sign
    return Vector((0.0, 0.0, 1.0)).rotation_difference(direction).to_matrix().to_4x4()


# ---- Undo: Blender pushes a step for an operator, but not for a gizmo of an extension


def _override_values() -> tuple[object, ...]:
    """Return the values of the active object's override, to compare."""
    settings = _active_settings()
    if settings is None:
        return ()
    return tuple(
        np.ravel(getattr(settings, name)).tolist() for name in OVERRIDE_OPTIONS if name != "override"
    )


class _DragWatcher:
    """Pushes an undo step at the end of a drag, unless Esc has cancelled it."""

    def __init__(self) -> None:
        self._values_before: tuple[object, ...] = ()
        self._timer = self._check_end

    def start(self) -> None:
        """Watch the drag that begins now."""
        self._values_before = _override_values()
        if not bpy.app.timers.is_registered(self._timer):
            bpy.app.timers.register(self._timer, first_interval=_POLL_INTERVAL)

    def _check_end(self) -> float | None:
        """Return the seconds until the next check; None at the end."""
        windows = bpy.context.window_manager.windows
        if any(operator.bl_idname == _TWEAK for window in windows for operator in window.modal_operators):
            return _POLL_INTERVAL
        # After Esc all values are as before.
        if windows and _override_values() != self._values_before:
            with bpy.context.temp_override(window=windows[0]):  # type: ignore[attr-defined]
                # Vertices outside are counted at once.
                measure_active(bpy.context)
                bpy.ops.ed.undo_push(message="Change Custom Shape")
            redraw()
        return None


_drag_watcher = _DragWatcher()


class _Outline:
    """Lines around a custom shape that cannot be dragged."""

    lines: ClassVar[UnitLines]

    @staticmethod
    def half_extents(settings: Any) -> Any:
        """Return the half extents of the box around the shape."""
        return settings.half_extents

    def setup(self) -> None:
        """Create the lines, of a shape of size 1."""
        self.shape = self.new_custom_shape("LINES", self.lines.segments.tolist())  # type: ignore[attr-defined]

    def draw(self, context: Context) -> None:
        """Draw the lines at the size of the shape."""
        settings = _active_settings()
        size = Matrix.Diagonal((*self.half_extents(settings), 1.0))
        matrix = context.object.matrix_world @ Matrix.Translation(settings.center) @ size
        self.draw_custom_shape(self.shape, matrix=matrix)  # type: ignore[attr-defined]


class SphereOutline(_Outline, Gizmo):
    """Three circles."""

    bl_idname = "COLLISION_BOUNDS_GT_sphere"
    lines = sphere_lines(48)

    @staticmethod
    def half_extents(settings: Any) -> Any:
        """Return the radius three times."""
        return [settings.radius] * 3


class BoxOutline(_Outline, Gizmo):
    """Twelve edges."""

    bl_idname = "COLLISION_BOUNDS_GT_box"
    lines = box_lines()


class _GizmoGroup:
    """Base of the gizmo groups of both shapes."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options: ClassVar = {"3D", "PERSISTENT"}

    def invoke_prepare(self, _context: Context, _gizmo: Gizmo) -> None:
        """Watch the drag that begins."""
        _drag_watcher.start()


class COLLISION_BOUNDS_GGT_box(_GizmoGroup, GizmoGroup):
    """A handle on each face of the box of an override, with a ring at its center."""

    bl_idname = "COLLISION_BOUNDS_GGT_box"
    bl_label = "Custom Box"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether the active object has a box as its override."""
        return _has_override(context, "box")

    def setup(self, context: Context) -> None:
        """Create the gizmos."""
        _with_theme_colors(self.gizmos.new(BoxOutline.bl_idname), context)
        self.faces = [_face_handle(self, context, face) for face in _FACES]
        self.ring = _ring(self, context)

    def draw_prepare(self, context: Context) -> None:
        """Move the gizmos to the object."""
        matrix, settings = context.object.matrix_world, _active_settings()
        self.ring.matrix_basis = matrix
        for (axis, sign), handle in zip(_FACES, self.faces, strict=True):
            # From the face opposite, which stays where it is during the drag.
            start = settings.center.copy()
            start[axis] -= sign * settings.half_extents[axis]
            handle.matrix_basis = matrix @ Matrix.Translation(start) @ _rotation_to(axis, sign)


class COLLISION_BOUNDS_GGT_sphere(_GizmoGroup, GizmoGroup):
    """Handle for the radius of a sphere, a ring that moves its center, and an outline."""

    bl_idname = "COLLISION_BOUNDS_GGT_sphere"
    bl_label = "Custom Sphere"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether the active object has a sphere as its override."""
        return _has_override(context, "sphere")

    def setup(self, context: Context) -> None:
        """Create the gizmos."""
        self.arrow = _with_theme_colors(self.gizmos.new("GIZMO_GT_arrow_3d"), context)
        self.arrow.draw_style, self.arrow.length = "BOX", 0.0
        self.arrow.target_set_handler("offset", get=lambda: _active_settings().radius, set=_set_radius)
        self.ring = _ring(self, context)
        _with_theme_colors(self.gizmos.new(SphereOutline.bl_idname), context)

    def draw_prepare(self, context: Context) -> None:
        """Move the gizmos to the object."""
        matrix = context.object.matrix_world
        self.ring.matrix_basis = matrix
        self.arrow.matrix_basis = matrix @ Matrix.Translation(_active_settings().center) @ _rotation_to(0, 1)
