"""In Blender's window: the guide's tour, from installing to a file opened again, by mouse and keys."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3] / "scripts"))
sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from hands import Hands, Steps, run
from mathutils import Vector

from example_scene import projectile_contact_frame

PAIR = ("Plate", "Projectile")
STATION = ((-3.4, -1.3, 0.6), 4.5, (1.15, 0, 0.5))
MARKERS = 0.5
"""Where that button is across the sidebar: several share a line."""
FAR = 0.5
"""How far a side of the override is dragged."""


def written(hands: Hands, name: str) -> None:
    """What is shown, as a file; the export button has its own step."""
    bpy.ops.collision_bounds.export_json(filepath=str(hands.folder / f"{name}.json"))


def installed(hands: Hands) -> Steps:
    """Install from Disk, with the zip chosen in the file browser."""
    with bpy.context.temp_override(window=hands.window, area=hands.area, region=hands.region("WINDOW")):
        bpy.ops.extensions.package_install_files("INVOKE_DEFAULT")
    yield from hands.save_dialog(Path(sys.argv[-1]))
    yield from hands.until(lambda: hasattr(bpy.types.Scene, "collision_bounds"), "it is installed")


def clicked(hands: Hands, name: str) -> Steps:
    """Click an object in the viewport; where its middle is."""
    thing = bpy.data.objects[name]
    corners = [thing.matrix_world @ Vector(corner) for corner in thing.bound_box]
    place = hands.seen_at(tuple(sum(corners, Vector()) / 8))
    yield from hands.point(*place)
    yield from hands.click()
    return place


def exported(hands: Hands, name: str) -> Steps:
    """Scroll down to Export JSON, press it, take the proposed name, and put the file aside."""
    region = hands.region("UI")
    yield from hands.point(region.x + 0.3 * region.width, region.y + 0.5 * region.height)
    hands.xdotool("click", "--repeat", 12, "--delay", 30, 5)
    yield from hands.settle()
    yield from hands.press("collision_bounds.export_json")
    yield from hands.save_dialog()
    Path(bpy.data.filepath).with_suffix(".json").rename(hands.folder / f"{name}.json")


def override() -> dict[str, Any]:
    """The override as it is now, and the markers, which are in the file as well."""
    own = bpy.data.objects["Crate"].collision_bounds
    return {
        "override": own.override,
        "center": list(own.center),
        "half_extents": list(own.half_extents),
        "markers": sorted((marker.name, marker.frame) for marker in bpy.context.scene.timeline_markers),
    }


def timeline(hands: Hands) -> bpy.types.Area:
    """The area of the timeline."""
    return next(area for area in hands.window.screen.areas if area.type == "DOPESHEET_EDITOR")


def sidebar(hands: Hands, note: str, name: str, tall: int, below: int = 0) -> None:
    """A picture of a part of the sidebar, that far below its top."""
    region = hands.region("UI")
    hands.crop(note, name, (region.x, region.y + region.height - below - tall, region.width, tall))


def viewport(hands: Hands, name: str, across: float = 0.42) -> Steps:
    """A picture of the middle of the viewport."""
    yield from hands.smoothed(hands.folder / f"{name}.ppm")
    region = hands.region("WINDOW")
    hands.crop(
        name, name, (region.x + across * region.width - 300, region.y + region.height / 2 - 200, 600, 400)
    )


def fit(hands: Hands) -> Steps:
    """Select, compute, change an option, back, forward and back, compute, export."""
    plate = yield from clicked(hands, "Plate")
    yield from hands.note("before")
    yield from hands.press("collision_bounds.compute_bounds")
    yield from hands.note("one", plate=plate)
    written(hands, "one")
    yield from hands.choose("collision_bounds.scope", "VISIBLE")
    yield from hands.press("collision_bounds.compute_bounds")
    yield from hands.note("computed")
    yield from viewport(hands, "bounds")
    written(hands, "computed")

    yield from hands.over_option(0)  # padding
    yield from hands.click(times=2)
    yield from hands.keys("ctrl+a", "0", "period", "2", "5", "Return")
    yield from hands.note("padded")
    region = hands.region("HUD")
    hands.crop("padded", "options", (region.x, region.y, region.width, region.height))
    written(hands, "padded")
    yield from hands.keys("ctrl+z")
    yield from hands.note("undone")
    written(hands, "undone")
    yield from hands.keys("ctrl+shift+z")
    yield from hands.note("redone")
    written(hands, "redone")

    yield from hands.keys("ctrl+z")
    yield from hands.press("collision_bounds.compute_bounds")
    yield from hands.note("without padding")
    yield from exported(hands, "bounds")


def author(hands: Hands) -> Steps:
    """Set the crate's box by hand."""
    crate = bpy.data.objects["Crate"]
    hands.look_at(tuple(crate.matrix_world.translation), 3.5, (1.1, 0, 0.6))
    yield from hands.settle()
    yield from clicked(hands, "Crate")
    yield from hands.unfold(1)
    yield from hands.press("collision_bounds.override_from_fit")
    yield from hands.note("by hand", **override())
    half = bpy.data.objects["Crate"].collision_bounds.half_extents[0]
    sides = [bpy.data.objects["Crate"].matrix_world @ Vector((x, 0, 0)) for x in (half, half + FAR)]
    before, after = (hands.seen_at(tuple(side)) for side in sides)
    yield from hands.drag(before, after)
    yield from hands.note("sized", **override(), side=after)
    yield from viewport(hands, "override", across=0.5)
    yield from hands.keys("ctrl+z")
    yield from hands.note("not sized", **override(), side=after)
    yield from hands.keys("ctrl+shift+z")
    yield from hands.note("sized again", **override(), side=after)
    yield from hands.unfold(1)


def scan(hands: Hands) -> Steps:
    """Stop a scan of far more frames than there is time for, then scan those of the scene."""
    hands.look_at(*STATION)
    hands.settings.use_scene_range = False
    hands.settings.frame_end = 1_000_000
    yield from hands.note("before the scan")
    yield from hands.press("collision_bounds.find_contacts")
    yield 1.5
    yield from hands.note("scanning")
    yield from hands.keys("Escape")
    yield from hands.until(lambda: len(hands.settings.rows), "the scan stops")
    yield from hands.note("stopped")
    written(hands, "stopped")
    hands.settings.use_scene_range = True
    partial = hands.settings.result_id
    yield from hands.press("collision_bounds.find_contacts")
    yield from hands.until(lambda: hands.settings.result_id != partial, "the second scan ends")
    yield from hands.note("found")


def read(hands: Hands) -> Steps:
    """Click a row, mark, export, hide."""
    yield from hands.click_row(*PAIR)
    place = bpy.data.objects["Projectile"].matrix_world.translation
    yield from hands.note(
        "contact", projectile=hands.seen_at(place), closed_form_frame=projectile_contact_frame()
    )
    yield from viewport(hands, "contact")
    sidebar(hands, "contact", "list", 400, below=258)
    yield from hands.press("collision_bounds.contact_markers", MARKERS)
    yield from hands.note("marked", **override())
    area = timeline(hands)
    hands.crop("marked", "markers", (area.x, area.y, 700, area.height))
    yield from exported(hands, "contacts")
    for name in ("hidden", "shown"):
        yield from hands.find(hands.region("HEADER"), "overlay.show_overlays", down=False)
        yield from hands.click()
        yield from hands.note(name, overlays=hands.area.spaces.active.overlay.show_overlays)


def story(hands: Hands) -> Steps:
    """The chapters of the guide."""
    # Beside the example, which other stories begin with too.
    bpy.ops.wm.save_as_mainfile(filepath=str(hands.folder / "saved.blend"))
    hands.look_at(*STATION)
    yield from hands.keys("Escape")  # Blender's welcome, where it has no preferences yet
    yield from hands.note("bare", tab=hasattr(bpy.types.Scene, "collision_bounds"))
    yield from installed(hands)
    yield from hands.open_tab("Collision Bounds")
    area = timeline(hands)
    edge = area.y + area.height
    yield from hands.drag((area.x + 600, edge), (area.x + 600, edge + 40))  # room for markers
    yield from hands.note("opened", version=bpy.app.version_string)
    sidebar(hands, "opened", "tab", 520)
    yield from fit(hands)
    yield from author(hands)
    yield from scan(hands)
    yield from read(hands)

    hands.settings.method = "ritter"
    yield from hands.over_viewport()
    yield from hands.keys("ctrl+s")
    yield from hands.until(lambda: not bpy.data.is_dirty, "the file is saved")
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    yield from hands.settle()
    yield from hands.note("saved and opened again", **override())
    yield from hands.open_tab("Collision Bounds")
    yield from hands.press("collision_bounds.compute_bounds")
    yield from hands.note("computed again")


run(story)
