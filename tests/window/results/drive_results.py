"""In Blender's window: scans stopped by Esc and by button, rows, markers, sorting, a loaded report."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from hands import Hands, Steps, run

PAIR = ("Plate", "Projectile")
NEXT, FRAME, MARKERS, COPY = 0.16, 0.23, 0.5, 0.57
"""Where buttons are across the sidebar: several share a line."""


def markers() -> list[tuple[str, int]]:
    """All markers of the timeline."""
    return sorted((marker.name, marker.frame) for marker in bpy.context.scene.timeline_markers)


def active() -> str | None:
    """The name of the active object."""
    item = bpy.context.view_layer.objects.active
    return item.name if item else None


def stop_in_the_middle(hands: Hands, name: str, stop: Steps) -> Steps:
    """Scan far more frames than there is time for, and stop that."""
    hands.settings.use_scene_range = False
    hands.settings.frame_end = 1_000_000
    before = hands.settings.result_id
    yield from hands.press("collision_bounds.find_contacts")
    # Blender is busy now: look for the button where it is bound to be.
    hands.offsets["collision_bounds.stop_scan"] = hands.offsets["collision_bounds.find_contacts"] + 30
    yield 1.5
    yield from hands.note(f"{name}, scanning")
    yield from stop
    yield from hands.until(lambda: hands.settings.result_id != before, "the scan stops")
    yield from hands.note(name)
    path = hands.folder / f"{name}.json"
    bpy.ops.collision_bounds.export_json(filepath=str(path))
    hands.settings.use_scene_range = True


def story(hands: Hands) -> Steps:
    """Stop, stop again, scan, click, mark, sort, load."""
    hands.look_at((-3.4, -1.3, 0.6), 4.5, (1.15, 0, 0.5))
    yield from hands.open_tab("Collision Bounds")
    hands.settings.scope = "VISIBLE"
    scene = bpy.context.scene
    bpy.data.objects["Crate"].select_set(True)
    scene.frame_set(7, subframe=0.25)
    yield from hands.note("before")
    yield from stop_in_the_middle(hands, "by Esc", hands.keys("Escape"))
    yield from stop_in_the_middle(hands, "by button", hands.press("collision_bounds.stop_scan"))

    before = hands.settings.result_id
    yield from hands.press("collision_bounds.find_contacts")
    yield from hands.until(lambda: hands.settings.result_id != before, "the scan ends")
    yield from hands.note("found")
    path = hands.folder / "found.json"
    bpy.ops.collision_bounds.export_json(filepath=str(path), preset="gltf")
    yield from hands.click_row(*PAIR)
    place = bpy.data.objects["Projectile"].matrix_world.translation
    yield from hands.note("clicked", projectile=hands.seen_at(place), active=active())

    yield from hands.press("collision_bounds.contact_markers", MARKERS)
    yield from hands.note("marked", markers=markers())
    scene.timeline_markers.new("mine", frame=24)
    yield from hands.press("collision_bounds.contact_markers", MARKERS)
    yield from hands.note("unmarked", markers=markers())

    yield from hands.press("collision_bounds.copy_contacts", COPY)
    hands.notes["copied"] = {"text": bpy.context.window_manager.clipboard}
    yield from hands.press("collision_bounds.frame_pair", FRAME)
    yield 0.6
    yield from hands.note("framed", where=tuple(hands.area.spaces.active.region_3d.view_location))

    hands.settings.contact_list.sort_by = "NAME"
    hands.settings.contact_list.reverse = True
    kept = hands.settings.active_row
    yield from hands.press("collision_bounds.go_to_contact", NEXT)
    yield from hands.note("sorted", kept=kept, active=active())

    bpy.ops.collision_bounds.clear_results()
    bpy.ops.collision_bounds.load_report(filepath=str(path))
    yield from hands.note("loaded")


run(story)
