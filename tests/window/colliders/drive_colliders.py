"""In Blender's window: create colliders with the button, change their kind, undo, redo, remove them."""

from __future__ import annotations

import bpy
from window_driver import Steps, WindowDriver


def colliders() -> list[list[object]]:
    """Return name, parent and number of vertices of each collider."""
    items = [item for item in bpy.context.scene.objects if "collision_bounds_collider" in item]
    return sorted([item.name, item.parent.name, len(item.data.vertices)] for item in items)


def count_data() -> tuple[int, int, int]:
    """Return the numbers of objects, meshes and collections in the file."""
    return len(bpy.data.objects), len(bpy.data.meshes), len(bpy.data.collections)


def scenario(driver: WindowDriver) -> Steps:
    """Create boxes, change them to spheres, replace them by hulls, undo, redo, remove, undo."""
    driver.set_view((-3.4, -1.3, 0.6), 9, (1.15, 0, 0.5))
    yield from driver.open_tab("Collision Bounds")
    bpy.ops.object.select_all(action="DESELECT")
    for name in ("Crate", "Launcher"):
        bpy.data.objects[name].select_set(True)
    bpy.ops.ed.undo_push(message="Selected")  # changed options start from this undo step
    before, materials = count_data(), len(bpy.data.materials)
    yield from driver.open_collider_panel()
    yield from driver.click_button("collision_bounds.create_colliders")
    yield from driver.note("boxes", colliders=colliders())
    yield from driver.move_to_redo_option(4)
    yield from driver.turn_wheel()
    yield from driver.note("spheres", colliders=colliders())
    driver.settings.colliders.kind = "hull"
    yield from driver.click_button("collision_bounds.create_colliders")
    yield from driver.note("hulls", colliders=colliders())
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("undone", screenshot=False, colliders=colliders())
    yield from driver.press_keys("ctrl+shift+z")
    yield from driver.note("redone", screenshot=False, colliders=colliders())
    yield from driver.click_button("collision_bounds.remove_colliders", across=0.82)
    yield from driver.note("removed", colliders=colliders(), before=before, after=count_data())
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("removal undone", screenshot=False, colliders=colliders())
    yield from surfaces(driver, materials)
    yield from convex_parts(driver)
    yield from checked(driver)


def checked(driver: WindowDriver) -> Steps:
    """Check colliders of which one is too small, click on its problem, clear the list, check again, undo."""
    yield from driver.click_button("collision_bounds.create_colliders")
    small = bpy.data.objects["UCX_Crate_00"]
    small.scale *= 0.5
    bpy.ops.object.select_all(action="DESELECT")
    bpy.ops.ed.undo_push(message="Made smaller")
    yield from driver.click_button("collision_bounds.check_colliders")
    yield from driver.note("problem", selected=selected())
    yield from driver.click_button("collision_bounds.select_collider_problem", across=0.25)
    yield from driver.note("problem clicked", selected=selected())
    yield from driver.click_button("collision_bounds.clear_collider_check", across=0.82)
    yield from driver.note("problems cleared", selected=selected())
    small = bpy.data.objects["UCX_Crate_00"]
    small.scale *= 2
    yield from driver.click_button("collision_bounds.check_colliders")
    yield from driver.note("no problem", selected=selected())


def selected() -> list[str]:
    """Return the names of the selected objects."""
    return sorted(item.name for item in bpy.context.selected_objects)


def convex_parts(driver: WindowDriver) -> Steps:
    """Create a hull of each object, and raise the number of its parts below Adjust Last Operation."""
    yield from driver.click_button("collision_bounds.create_colliders")
    yield from driver.note("one part", screenshot=False, colliders=colliders())
    yield from driver.move_to_redo_option(4)
    for _ in range(7):
        yield from driver.turn_wheel(4)
    yield from driver.note("eight parts", colliders=colliders(), parts=driver.settings.colliders.parts)
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("parts undone", screenshot=False, colliders=colliders())


def surfaces(driver: WindowDriver, materials: int) -> Steps:
    """Switch surfaces off and on, hide a collider, hide all bounds, and move an object with a collider."""
    driver.set_view((0.5, -1.3, 0.6), 11, (1.15, 0, 0.5))  # both are left of the sidebar
    yield from driver.wait_for_redraw()
    yield from driver.note("filled")
    yield from driver.click_button("colliders.show_surfaces")
    made = [item for item in bpy.data.objects if "collision_bounds_collider" in item]
    slots, new = sum(len(item.material_slots) for item in made), len(bpy.data.materials) - materials
    yield from driver.note("not filled", materials=new, slots=slots)
    yield from driver.click_button("colliders.show_surfaces")
    yield from driver.note("filled again")
    bpy.data.objects["UCX_Launcher_00"].hide_set(True)
    yield from driver.wait_for_redraw()
    yield from driver.note("launcher hidden")
    bpy.data.objects["UCX_Launcher_00"].hide_set(False)
    driver.settings.display.show_overlay = False
    yield from driver.note("display off")
    driver.settings.display.show_overlay = True
    crate = bpy.data.objects["Crate"]
    before_move = crate.location.copy()
    crate.location.z += 1.5
    yield from driver.wait_for_redraw()
    yield from driver.note("moved")
    crate.location = before_move
    yield from driver.wait_for_redraw()
    yield from driver.note("moved back")
    yield from driver.click_button("collision_bounds.remove_colliders", across=0.82)
    yield from driver.note("removed at last")
