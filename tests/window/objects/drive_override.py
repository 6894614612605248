"""In Blender's window: create an override box, resize and move it by its handles, undo and redo."""

from __future__ import annotations

from typing import Any

import bpy
from mathutils import Vector
from window_driver import Steps, WindowDriver, module

_DRAG_DISTANCE = 0.5


def object_settings() -> Any:
    """Return the settings of the object, looked up in each call because undo replaces them."""
    return bpy.data.objects["Crate"].collision_bounds


def override_state() -> dict[str, Any]:
    """Return the current shape, center and size of the override."""
    settings = object_settings()
    return {
        "override": settings.override,
        "center": list(settings.center),
        "half_extents": list(settings.half_extents),
    }


def measured_size() -> float:
    """Return the size of the box along X, as the panel shows it; 0 while it is out of date."""
    (found,) = module("ui.kept_checks")._measures.values()
    return 0.0 if found.stale else float(found.quality.shapes[1].size[0])


def window_position(driver: WindowDriver, point: Vector) -> tuple[float, float]:
    """Project a point of the object's local space to the window."""
    return driver.window_position(tuple(bpy.data.objects["Crate"].matrix_world @ point))


def bound_corner() -> Vector:
    """Return the corner of the bound with the largest x, the smallest y and the smallest z."""
    signs = [Vector((x, y, z)) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    matrix = bpy.data.objects["Crate"].matrix_world
    center, half = Vector(object_settings().center), Vector(object_settings().half_extents)
    corners = [matrix @ (center + sign * half) for sign in signs]
    return Vector((max(c.x for c in corners), min(c.y for c in corners), min(c.z for c in corners)))


def resize(driver: WindowDriver) -> Steps:
    """Drag a side, undo and redo, and return the window position of the box's new corner."""
    half = object_settings().half_extents[0]
    corner = Vector(
        (half + _DRAG_DISTANCE, object_settings().half_extents[1], object_settings().half_extents[2])
    )
    positions = {"new_corner": window_position(driver, corner)}
    side, target = Vector((half, 0, 0)), Vector((half + _DRAG_DISTANCE, 0, 0))
    yield from driver.drag(window_position(driver, side), window_position(driver, target))
    yield from driver.wait_until(measured_size, "measurement after the drag")
    yield from driver.note("resized", **override_state(), **positions, measured=measured_size())
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("undone", **override_state(), **positions)
    yield from driver.press_keys("ctrl+shift+z")
    yield from driver.note("redone", **override_state(), **positions)
    return positions


def scenario(driver: WindowDriver) -> Steps:
    """Compute bounds, start from the fit, resize, undo, redo, move, hide the handles."""
    crate = bpy.data.objects["Crate"]
    driver.select(crate)
    driver.set_view(tuple(crate.matrix_world.translation), 3.5, (1.1, 0, 0.6))
    yield from driver.open_tab("Collision Bounds")
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.toggle_panels(3, 1)  # measurements, custom shape
    yield from driver.note("panels open", **override_state())
    yield from driver.click_button("collision_bounds.override_from_fit")
    yield from driver.note("from fit", **override_state())
    positions = yield from resize(driver)

    x, y = window_position(driver, Vector(object_settings().center))
    yield from driver.drag((x, y), (x + 60, y + 40))
    yield from driver.note("moved", **override_state(), **positions)
    driver.area.spaces.active.show_gizmo = False
    positions["bound_corner"] = driver.window_position(tuple(bound_corner()))
    yield from driver.note("without handles", **override_state(), **positions)
    for shape in ("sphere", "box"):  # the previous shape has no effect
        object_settings().override = shape
        yield from driver.click_button("collision_bounds.override_from_fit")
        yield from driver.note(f"{shape} from fit again", **override_state())
    yield from driver.toggle_panels(0)  # object settings
    yield from driver.note("object settings")
    yield from driver.toggle_panels(0)
    yield from choose_response(driver)


def choose_response(driver: WindowDriver) -> Steps:
    """Fold Custom Shape, open Collision Response, choose the next response with the wheel, and undo."""
    yield from driver.toggle_panels(1, 2)
    yield from driver.wait_for_redraw()
    yield from driver.find_button(driver.region("UI"), "collision_bounds.response")
    yield from driver.turn_wheel()
    yield from driver.note("response", response=object_settings().response)
    yield from driver.move_to_viewport()
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("response undone", response=object_settings().response)
