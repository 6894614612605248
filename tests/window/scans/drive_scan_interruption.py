"""In Blender's window: interrupt scans by Esc, errors, files, closing the window, disabling the extension."""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
from window_driver import PACKAGE, Steps, WindowDriver, module


def start_scan(window: bpy.types.Window) -> None:
    """Start a scan in a window, of too many frames to complete."""
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    settings = window.scene.collision_bounds
    settings.scope, settings.use_scene_range, settings.frame_end = "VISIBLE", False, 100_000
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.collision_bounds.find_contacts("INVOKE_DEFAULT")


def state() -> dict[str, Any]:
    """Return what an interrupted scan must not change: data, frame, selection, handlers and the file."""
    scene, handlers = bpy.context.scene, bpy.app.handlers
    lists = {name: getattr(handlers, name) for name in dir(handlers)}
    return {
        "data": {
            prop.identifier: sorted(block.name_full for block in getattr(bpy.data, prop.identifier))
            for prop in bpy.data.bl_rna.properties
            if prop.type == "COLLECTION" and prop.identifier not in ("all_ids", "texts")
        },
        "frame": (scene.name, scene.frame_current, scene.frame_subframe),
        "selected": sorted(item.name for item in bpy.context.view_layer.objects if item.select_get()),
        "mast": tuple(bpy.data.objects["Mast"].location),
        "mover": [[round(x, 6) for x in row] for row in bpy.data.objects["Projectile"].matrix_world],
        "handlers": {
            name: [function.__qualname__ for function in entries]
            for name, entries in lists.items()
            if isinstance(entries, list)
        },
        "file": hashlib.sha256(Path(bpy.data.filepath).read_bytes()).hexdigest(),
    }


def remove_what_is_played() -> None:
    """Remove all that keeps a scan from reading keyframes and a private scene."""
    if bpy.context.scene.rigidbody_world is not None:
        bpy.ops.rigidbody.world_remove()
    for item in list(bpy.context.scene.objects):
        has_nodes = any(modifier.type == "NODES" for modifier in item.modifiers)
        if item.instance_type != "NONE" or has_nodes or item.rigid_body is not None:
            bpy.data.objects.remove(item)


def failing_at(call: int) -> Callable[..., Any]:
    """Return a replacement for a method that fails when it is called for the given time."""
    scanner = module("core.scan.pair_scanner").PairScanner
    original, calls = scanner.process, [0]

    def process(self: Any, *given: Any) -> Any:
        calls[0] += 1
        if calls[0] >= call:
            scanner.process = original
            raise ZeroDivisionError("on purpose")
        return original(self, *given)

    scanner.process = process
    return original


def interrupt(driver: WindowDriver, kind: str, rng: random.Random) -> Steps:
    """Run a scan, interrupt it at a random moment, and note what has changed, also after an undo."""
    scene = bpy.context.scene
    scene.frame_set(rng.randrange(5, 50), subframe=rng.choice([0.0, 0.25]))
    mast = bpy.data.objects["Mast"]
    location = tuple(mast.location)
    mast.location.z += 1.0
    with bpy.context.temp_override(window=driver.window):
        bpy.ops.ed.undo_push(message="Move Mast")
    yield from driver.move_to_viewport()
    result, before = driver.settings.result_id, state()
    scanner = module("core.scan.pair_scanner").PairScanner
    original = failing_at(rng.randrange(1, 4)) if kind == "error" else scanner.process
    start_scan(driver.window)
    was_running = driver.scan is not None
    if kind != "error":
        yield rng.uniform(0.0, 2.0)
    if kind in ("Esc", "Esc twice"):
        yield from driver.press_keys("Escape")
        if kind == "Esc twice" and driver.scan is not None:
            yield from driver.press_keys("Escape")
    elif kind == "file":
        bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    elif kind == "stop":
        # On a busy machine, a random moment may be before the first result of every scan.
        yield from driver.wait_until(lambda: driver.scan.has_results, "the scan has results to keep")
        bpy.ops.collision_bounds.stop_scan()
    yield from driver.wait_until(lambda: driver.scan is None, f"the scan ends after {kind}")
    scanner.process = original
    after, is_kept = state(), kind != "file" and driver.settings.result_id != result
    undone = []
    if kind == "file":
        # The file that was opened is at its own frame, without the step.
        for key in ("frame", "mast", "mover", "selected"):
            before[key] = after[key]
    else:
        for _ in range(2 if is_kept else 1):
            with bpy.context.temp_override(window=driver.window):
                bpy.ops.ed.undo()
            yield from driver.wait_for_redraw()
            undone.append(tuple(bpy.data.objects["Mast"].location) == location)
    changed = {key: (before[key], after[key]) for key in before if before[key] != after[key]}
    entry = {"kind": kind, "ran": was_running, "kept": is_kept, "changed": changed, "undone": undone}
    driver.notes["random"].append(entry)


def interrupt_at_random(driver: WindowDriver, count: int) -> Steps:
    """Interrupt scans of the example, and of the example without all that has to be played."""
    rng = random.Random(0)
    path = bpy.data.filepath
    driver.notes["random"] = []
    kinds = ("Esc", "error", "stop", "file", "Esc twice")
    for number in range(count):
        if number == count // 2:
            remove_what_is_played()
            keyed = str(driver.folder / "keyed.blend")
            bpy.ops.wm.save_as_mainfile(filepath=keyed)
            # The file is without the data of the removed objects.
            bpy.ops.wm.open_mainfile(filepath=keyed)
            yield 1.0
        yield from interrupt(driver, kinds[number % len(kinds)], rng)
    bpy.ops.wm.open_mainfile(filepath=path)
    yield 1.0


def keep_the_playhead(driver: WindowDriver) -> Steps:
    """Scan the example without all that has to be played, and note the frames that the window shows."""
    path = bpy.data.filepath
    remove_what_is_played()
    bpy.context.scene.frame_set(7)
    start_scan(driver.window)
    yield from driver.wait_for_scan(60)
    frames = []
    for _ in range(20):
        frames.append(bpy.context.scene.frame_current)
        yield 0.05
    text = driver.scan.text
    yield from driver.note("keyed, scanning", frames=frames, text=text)
    yield from driver.press_keys("Escape")
    yield from driver.wait_until(lambda: driver.scan is None, "the scan stops")
    bpy.ops.wm.open_mainfile(filepath=path)
    yield 1.0


def click_while_scanning(driver: WindowDriver) -> Steps:
    """Click a switch of the sidebar during a scan that keeps a private scene, and undo both steps."""
    path = bpy.data.filepath
    remove_what_is_played()
    # Boxes of linearly bent meshes need no evaluation.
    bpy.data.objects["Arm"].modifiers[0].use_deform_preserve_volume = True
    item = bpy.data.objects["Projectile"].copy()
    bpy.context.scene.collection.objects.link(item)
    item.animation_data_clear()
    item.driver_add("location", 2).driver.expression = "sin(frame)"
    bpy.context.view_layer.objects.active = item
    yield from driver.open_tab("Collision Bounds")
    yield from driver.open_active_object()
    # The switch in the header of a panel.
    x, y = yield from driver.find_button(driver.region("UI"), "use_object_settings", across=0.16)
    start_scan(driver.window)
    yield from driver.wait_for_scan(20)
    entry: dict[str, Any] = {"scanning": sorted(scene.name for scene in bpy.data.scenes)}
    yield from driver.move_mouse(x, y)
    yield from driver.click()
    yield from driver.wait_until(lambda: item.collision_bounds.use_object_settings, "the switch is on")
    seen: set[str] = set()
    for _ in range(20):
        seen |= {scene.name for scene in bpy.data.scenes}
        yield 0.05
    entry.update(clicked=sorted(seen), running=driver.scan is not None)
    yield from driver.press_keys("Escape")
    yield from driver.wait_until(lambda: driver.scan is None, "the scan stops")
    for step in ("stopped", "undone", "undone twice"):
        if step != "stopped":
            with bpy.context.temp_override(window=driver.window):
                bpy.ops.ed.undo()
            yield from driver.wait_for_redraw()
        entry[step] = sorted(scene.name for scene in bpy.data.scenes)
    driver.notes["clicked"] = entry
    bpy.ops.wm.open_mainfile(filepath=path)
    yield 1.0


def scenario(driver: WindowDriver) -> Steps:
    """Start a scan before each interruption."""
    yield from keep_the_playhead(driver)
    yield from click_while_scanning(driver)
    yield from interrupt_at_random(driver, int(sys.argv[-1]))
    start_scan(driver.window)
    yield from driver.wait_until(lambda: bpy.context.scene.frame_current > 5, "the scan has started")
    driver.notes["file opened"] = {"running": driver.scan is not None}
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    yield 1.0
    driver.notes["file opened"].update(
        running_after=driver.scan is not None, frame=bpy.context.scene.frame_current
    )

    bpy.ops.wm.window_new()
    yield 1.0
    window = bpy.context.window_manager.windows[-1]
    bpy.context.scene.frame_set(3)
    start_scan(window)
    yield from driver.wait_until(lambda: bpy.context.scene.frame_current > 5, "the scan has started")
    driver.notes["window closed"] = {"running": driver.scan is not None}
    with bpy.context.temp_override(window=window):
        bpy.ops.wm.window_close()
    yield 1.0
    driver.notes["window closed"].update(
        running_after=driver.scan is not None, frame=bpy.context.scene.frame_current
    )

    with bpy.context.temp_override(window=driver.window):
        bpy.ops.screen.animation_play()
    yield 0.5
    playing = driver.window.screen.is_animation_playing
    start_scan(driver.window)
    yield 1.0
    driver.notes["playing"] = {"before": playing, "after": driver.window.screen.is_animation_playing}
    try:
        start_scan(driver.window)
    except RuntimeError as error:
        driver.notes["second scan"] = {"error": str(error)}
    bpy.ops.preferences.addon_disable(module=PACKAGE)
    yield 1.0
    driver.notes["disabled"] = {"properties": hasattr(bpy.types.Scene, "collision_bounds")}
