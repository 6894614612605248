"""In Blender's window: scan 1000 keyed objects, 1000 with drivers, and meshes, and measure the slices."""

from __future__ import annotations

import time
from typing import Any

import bpy
import numpy as np
from window_driver import Steps, WindowDriver, module

COUNT = 1000
INTERVAL = 0.01
"""Seconds between two calls of the timer that is observed."""
ROOM = 22.0
"""Side of the room in which objects move, which gives more than 10,000 contacts."""
BALLS, ROOM_OF_BALLS = 120, 10.0
"""Balls, and the side of their room, in which more than 50 pairs touch."""


def fill_scene() -> None:
    """Replace all objects by small boxes that move at random, with five keys each."""
    bpy.data.batch_remove(bpy.data.objects)
    scene, rng = bpy.context.scene, np.random.default_rng(0)
    if scene.rigidbody_world is not None:
        with bpy.context.temp_override(scene=scene):
            bpy.ops.rigidbody.world_remove()
    scene.frame_start, scene.frame_end = 1, 250
    mesh = bpy.data.meshes.new("Body")
    scene.collision_bounds.shape = "aabb"  # the bodies have no faces
    mesh.from_pydata(rng.uniform(-0.5, 0.5, (42, 3)).tolist(), [], [])
    for index in range(COUNT):
        item = bpy.data.objects.new(f"Body {index:04}", mesh)
        scene.collection.objects.link(item)
        home = rng.uniform(0, ROOM, 3)
        for frame in (1, 60, 125, 190, 250):
            item.location = home + rng.normal(size=3) * 2
            item.keyframe_insert("location", frame=frame)
    scene.frame_set(1)


def add_drivers() -> None:
    """Turn all objects by drivers of the frame, too."""
    for index, item in enumerate(bpy.context.scene.objects):
        item.driver_add("rotation_euler", 2).driver.expression = f"sin(frame * 0.05 + {index * 0.1:.1f})"


def fill_with_balls() -> None:
    """Replace all objects by balls of 320 triangles that move at random and touch."""
    bpy.data.batch_remove(bpy.data.objects)
    scene, rng = bpy.context.scene, np.random.default_rng(1)
    scene.frame_start, scene.frame_end = 1, 120
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.5)
    mesh = bpy.context.object.data
    bpy.data.batch_remove(bpy.data.objects)
    for index in range(BALLS):
        item = bpy.data.objects.new(f"Ball {index:03}", mesh)
        scene.collection.objects.link(item)
        home = rng.uniform(0, ROOM_OF_BALLS, 3)
        for frame in (1, 30, 60, 90, 120):
            item.location, item.rotation_euler = home + rng.normal(size=3), rng.uniform(-2, 2, 3)
            item.keyframe_insert("location", frame=frame)
            item.keyframe_insert("rotation_euler", frame=frame)
    scene.frame_set(1)


class Clock:
    """Measures the slices of the job, and by how much a timer is late."""

    def __init__(self) -> None:
        self.slices: list[float] = []
        self.late: list[float] = []
        self.draws = 0
        self.is_running = True
        self._handle = bpy.types.SpaceView3D.draw_handler_add(self._count, (), "WINDOW", "POST_PIXEL")
        self._last = time.perf_counter()
        self._job: Any = module("ui.operators.command").ModalJob
        self._modal = modal = self._job.modal
        slices = self.slices

        def timed(operator: Any, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
            began = time.process_time()
            outcome: set[str] = modal(operator, context, event)
            # The last slice shows the results.
            if outcome != {"FINISHED"}:
                slices.append(time.process_time() - began)
            return outcome

        self._job.modal = timed
        bpy.app.timers.register(self._tick, first_interval=INTERVAL)

    def _count(self) -> None:
        self.draws += 1

    def _tick(self) -> float | None:
        now = time.perf_counter()
        self.late.append(now - self._last - INTERVAL)
        self._last = now
        return INTERVAL if self.is_running else None

    def end(self) -> None:
        """Stop measuring."""
        self.is_running = False
        self._job.modal = self._modal
        bpy.types.SpaceView3D.draw_handler_remove(self._handle, "WINDOW")


def redraw_time() -> float:
    """Return the seconds of one redraw of the window."""
    began = time.perf_counter()
    bpy.ops.wm.redraw_timer(type="DRAW_WIN_SWAP", iterations=1)
    return time.perf_counter() - began


def scan(driver: WindowDriver, name: str) -> Steps:
    """Scan with the button, and note what was measured."""
    redraws = [redraw_time() for _ in range(3)]
    yield from driver.find_button(driver.region("UI"), "collision_bounds.find_contacts")
    clock = Clock()
    driver.xdotool("click", 1)
    yield from driver.wait_until(lambda: driver.scan is not None, "the scan starts")
    while driver.scan is not None:
        yield 0.1
    clock.end()
    redraws += [redraw_time() for _ in range(3)]
    driver.notes[name] = {
        "slices": clock.slices,
        "late": max(clock.late),
        "redraw": max(redraws),
        "draws": clock.draws,
        "contacts": sum(not row.is_near_miss for row in driver.settings.rows),
    }


def scenario(driver: WindowDriver) -> Steps:
    """Scan a scene of keyed objects, the same with drivers, and meshes, which are the default."""
    fill_scene()
    driver.set_view((ROOM / 2,) * 3, 60, (1.1, 0, 0.5))
    yield from driver.open_tab("Collision Bounds")
    yield from scan(driver, "keyed")
    add_drivers()
    yield from scan(driver, "drivers")
    fill_with_balls()
    # The menu is in the middle of the sidebar, which is scrolled to its ends only.
    driver.settings.shape = "mesh"
    yield from scan(driver, "meshes")
