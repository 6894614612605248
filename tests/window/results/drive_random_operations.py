"""In Blender's window: fifty common operations in random order, with the overlay on."""

from __future__ import annotations

import resource
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import bpy
from window_driver import PACKAGE, Steps, WindowDriver

COUNT = 50
SEED = 4


def count_handlers() -> Counter[str]:
    """Count the extension's handlers in Blender's lists, by list and function."""
    return Counter(
        f"{kind}: {handler.__module__}.{handler.__name__}"
        for kind in dir(bpy.app.handlers)
        if isinstance(listed := getattr(bpy.app.handlers, kind), list)
        for handler in listed
        if handler.__module__.startswith(PACKAGE)
    )


def dict_sizes() -> dict[str, int]:
    """Return the sizes of the extension's module-level dicts, by module and name."""
    return {
        f"{name[len(PACKAGE) :]}.{key}": len(value)
        for name, module in list(sys.modules.items())
        if name.startswith(PACKAGE) and module is not None
        for key, value in vars(module).items()
        if isinstance(value, dict) and not key.startswith("__") and not key.isupper()
    }


def memory_in_use() -> float:
    """Return the current memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


class RandomOperations:
    """Common operations of users. No Blender object is kept from one operation to the next."""

    def __init__(self, driver: WindowDriver, random: Random) -> None:
        self.driver = driver
        self.random = random

    def viewport_context(self) -> Any:
        driver = self.driver
        return driver.context()

    def random_object(self) -> Any:
        return self.random.choice(list(bpy.context.view_layer.objects) or [None])

    def select_random_object(self) -> Any:
        """Select one object, deselect all others, and return it."""
        chosen = self.random_object()
        for item in bpy.context.view_layer.objects:
            item.select_set(item == chosen)
        bpy.context.view_layer.objects.active = chosen
        return chosen

    def add(self) -> None:
        at = [self.random.uniform(-2, 2) for _ in range(3)]
        bpy.ops.mesh.primitive_cube_add(size=0.5, location=at)

    def delete(self) -> None:
        if self.select_random_object():
            bpy.ops.object.delete()

    def duplicate(self) -> None:
        if self.select_random_object():
            bpy.ops.object.duplicate()

    def rename(self) -> None:
        if chosen := self.random_object():
            chosen.name = f"Renamed {self.random.random():.3f}"

    def move(self) -> None:
        if self.select_random_object():
            bpy.ops.transform.translate(value=(0.1, 0.2, 0))

    def hide(self) -> None:
        if chosen := self.random_object():
            chosen.hide_set(not chosen.hide_get())

    def edit(self) -> None:
        chosen = self.select_random_object()
        if chosen and chosen.type == "MESH" and not chosen.hide_get():
            bpy.ops.object.mode_set(mode="EDIT")
            bpy.ops.mesh.select_all(action="SELECT")
            bpy.ops.transform.resize(value=(1.1, 1, 1))
            bpy.ops.object.mode_set(mode="OBJECT")

    def local_view(self) -> None:
        self.select_random_object()
        if bpy.ops.view3d.localview.poll():
            bpy.ops.view3d.localview()

    def undo(self) -> None:
        if bpy.ops.ed.undo.poll():
            bpy.ops.ed.undo()

    def redo(self) -> None:
        if bpy.ops.ed.redo.poll():
            bpy.ops.ed.redo()

    def load(self) -> None:
        bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)

    def new_scene(self) -> None:
        bpy.ops.scene.new(type="FULL_COPY" if self.random.random() < 0.5 else "EMPTY")

    def switch_scene(self) -> None:
        self.driver.window.scene = self.random.choice(list(bpy.data.scenes))

    def delete_scene(self) -> None:
        if len(bpy.data.scenes) > 1:
            bpy.ops.scene.delete()

    def disable_and_enable(self) -> None:
        bpy.ops.preferences.addon_disable(module=PACKAGE)
        bpy.ops.preferences.addon_enable(module=PACKAGE)

    def play(self) -> None:
        bpy.ops.screen.animation_play()

    def scrub(self) -> None:
        bpy.context.scene.frame_set(self.random.randrange(1, 60), subframe=self.random.random())

    def compute(self) -> None:
        bpy.context.scene.collision_bounds.scope = "VISIBLE"
        self.run_operator(bpy.ops.collision_bounds.compute_bounds)

    def find_contacts(self) -> None:
        settings = bpy.context.scene.collision_bounds
        settings.scope, settings.shape = "VISIBLE", self.random.choice(["aabb", "sphere", "obb", "spheres"])
        settings.use_scene_range, settings.frame_start, settings.frame_end = False, 1, 12
        self.run_operator(bpy.ops.collision_bounds.find_contacts, "EXEC_DEFAULT")

    def click_row(self) -> None:
        settings = bpy.context.scene.collision_bounds
        if settings.rows:
            settings.active_row = self.random.randrange(len(settings.rows))

    @staticmethod
    def run_operator(operator: Callable[..., Any], *arguments: Any) -> None:
        """Run an operator, and ignore errors that it reports, which Blender raises as RuntimeError."""
        try:
            operator(*arguments)
        except RuntimeError as error:
            if "Traceback" in str(error):
                raise

    def stop_playback(self) -> None:
        """Stop animation playback."""
        if self.driver.window.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)


HELPERS = ("viewport_context", "random_object", "select_random_object", "run_operator", "stop_playback")
OPERATIONS = [name for name in vars(RandomOperations) if name not in HELPERS and not name.startswith("_")]


def scenario(driver: WindowDriver) -> Steps:
    """Perform each operation at least once, and further operations at random, in random order."""
    random = Random(SEED)
    operations = RandomOperations(driver, random)
    driver.set_view((-3.4, -1.3, 0.6), 4.5, (1.15, 0, 0.5))
    before = count_handlers()
    repeatable = [name for name in OPERATIONS if name != "load"]
    order = [*OPERATIONS, *random.choices(repeatable, k=COUNT - len(OPERATIONS))]
    random.shuffle(order)
    memory = []
    with operations.viewport_context():
        operations.compute()
    for name in order:
        with operations.viewport_context():
            getattr(operations, name)()
        yield 0.25 if name == "play" else 0.08
        with operations.viewport_context():
            operations.stop_playback()
            if not bpy.context.scene.collision_bounds.result_id:
                operations.compute()
        yield 0.05
        memory.append(memory_in_use())
    yield from driver.note(
        "ended",
        screenshot=False,
        order=order,
        memory=memory,
        handlers_before=before,
        handlers_after=count_handlers(),
        dict_sizes=dict_sizes(),
    )
    operations.load()
    yield from driver.wait_for_redraw()
    driver.set_view((-3.4, -1.3, 0.6), 4.5, (1.15, 0, 0.5))
    with operations.viewport_context():
        operations.compute()
    yield from driver.note("file reloaded")
