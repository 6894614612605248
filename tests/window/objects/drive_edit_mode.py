"""In Blender's window: colliders around faces that are clicked in Edit Mode, undone, redone and changed."""

from __future__ import annotations

from typing import Any

import bmesh
import bpy
import numpy as np
from window_driver import Steps, WindowDriver

FROM_SELECTION = "collision_bounds.colliders_from_selection"


def crate() -> bpy.types.Object:
    """Return the object, looked up in each call because undo replaces it."""
    return bpy.data.objects["Crate"]


def state() -> dict[str, Any]:
    """Return mode, number of selected faces, and the local box around each collider."""
    faces = bmesh.from_edit_mesh(crate().data).faces if crate().mode == "EDIT" else []
    boxes = {}
    for item in bpy.context.scene.objects:
        if "collision_bounds_collider" in item:
            points = np.array([vertex.co for vertex in item.data.vertices])
            boxes[item.name] = [points.min(axis=0).tolist(), points.max(axis=0).tolist(), len(points)]
    return {"mode": bpy.context.mode, "faces": [face.index for face in faces if face.select], "boxes": boxes}


def corners() -> list[list[float]]:
    """Return the vertices of the crate's face toward +Z, in its space."""
    mesh = crate().data
    face = next(face for face in mesh.polygons if face.normal[2] > 0.9)
    return [list(mesh.vertices[index].co) for index in face.vertices]


def face_position(driver: WindowDriver, axis: int) -> tuple[float, float]:
    """Return the window position of the center of the crate's face toward +axis."""
    face = next(face for face in crate().data.polygons if face.normal[axis] > 0.9)
    return driver.window_position(tuple(crate().matrix_world @ face.center))


def click_face(driver: WindowDriver, axis: int) -> Steps:
    """Click the face toward +axis in the viewport."""
    yield from driver.move_mouse(*face_position(driver, axis))
    yield from driver.click()


def override() -> dict[str, Any]:
    """Return the custom shape of the crate."""
    settings = crate().collision_bounds
    half, more = list(settings.half_extents), [entry.shape for entry in settings.more_shapes]
    return {"override": settings.override, "center": list(settings.center), "half": half, "more": more}


def custom_shape(driver: WindowDriver) -> Steps:
    """Set the custom shape around a face, undo, redo, and leave it undone with nothing selected."""
    yield from click_face(driver, 2)
    yield from driver.click_button("collision_bounds.override_from_selection")
    yield from driver.note("custom shape", **state(), **override(), corners=corners())
    yield from driver.move_to_viewport()
    for keys, name in (("ctrl+z", "shape undone"), ("ctrl+shift+z", "shape redone")):
        yield from driver.press_keys(keys)
        yield from driver.note(name, screenshot=False, **state(), **override())
    yield from driver.click_button("collision_bounds.add_custom_shape", across=0.75)
    yield from driver.note("sphere added", **state(), **override())
    yield from driver.click_button("collision_bounds.remove_custom_shape", across=0.82)
    yield from driver.note("box removed", screenshot=False, **state(), **override())
    yield from driver.move_to_viewport()
    for name in ("removal undone", "sphere undone", ""):
        yield from driver.press_keys("ctrl+z")
        if name:
            yield from driver.note(name, screenshot=False, **state(), **override())
    yield from driver.click_button("collision_bounds.override_from_fit")
    yield from driver.note("from fit", screenshot=False, **state(), **override())
    yield from driver.move_to_viewport()
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("from fit undone", screenshot=False, **state(), **override())
    yield from driver.press_keys("alt+a")


def scenario(driver: WindowDriver) -> Steps:
    """Enter Edit Mode by keys, click a face, create a collider, undo, redo, change its kind, add another."""
    driver.select(crate())
    driver.set_view(tuple(crate().matrix_world.translation), 3.5, (1.0, 0, 0.9))
    yield from driver.open_tab("Collision Bounds")
    yield from driver.toggle_panels(1)  # custom shape
    yield from driver.move_to_viewport()
    for keys in ("Tab", "3", "alt+a"):
        yield from driver.press_keys(keys)
    yield from custom_shape(driver)
    yield from driver.scroll_sidebar(4)
    yield from driver.open_collider_panel()
    yield from driver.note("edit mode", **state())
    yield from driver.click_button(FROM_SELECTION)
    yield from driver.note("nothing selected", screenshot=False, **state())
    yield from driver.press_keys("Escape")  # closes the error
    yield from click_face(driver, 2)
    yield from driver.note("face", screenshot=False, **state(), corners=corners())
    yield from driver.click_button(FROM_SELECTION)
    yield from driver.note("box", **state())
    yield from driver.move_to_viewport()
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("undone", screenshot=False, **state())
    yield from driver.press_keys("ctrl+shift+z")
    yield from driver.note("redone", screenshot=False, **state())
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("undone again", **state())
    yield from driver.click_button(FROM_SELECTION)
    yield from driver.move_to_redo_option(2)
    yield from driver.turn_wheel()
    yield from driver.note("sphere", **state())
    yield from driver.move_to_viewport()
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("ball undone", screenshot=False, **state())
