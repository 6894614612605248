"""In Blender's window: fifty rounds of whatever users do, in any order, with the overlay on."""

from __future__ import annotations

import random
import resource
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from hands import Hands, Steps, run

PACKAGE = "bl_ext.user_default.collision_bounds"
ROUNDS = 50
SEED = 4


def handlers() -> Counter[str]:
    """How many of the extension's are in each of Blender's lists."""
    return Counter(
        f"{kind}: {handler.__module__}.{handler.__name__}"
        for kind in dir(bpy.app.handlers)
        if isinstance(listed := getattr(bpy.app.handlers, kind), list)
        for handler in listed
        if handler.__module__.startswith(PACKAGE)
    )


def kept() -> dict[str, int]:
    """What the extension holds on to, by module and name."""
    return {
        f"{name[len(PACKAGE) :]}.{key}": len(value)
        for name, module in list(sys.modules.items())
        if name.startswith(PACKAGE) and module is not None
        for key, value in vars(module).items()
        if isinstance(value, dict) and not key.startswith("__") and not key.isupper()
    }


def megabytes() -> float:
    """Memory in use by this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


class Rounds:
    """One thing at a time. Nothing of Blender's is held from one to the next."""

    def __init__(self, hands: Hands, chance: random.Random) -> None:
        self.hands = hands
        self.chance = chance

    def around(self) -> Any:
        hands = self.hands
        return bpy.context.temp_override(window=hands.window, area=hands.area, region=hands.region("WINDOW"))

    def any_object(self) -> Any:
        return self.chance.choice(list(bpy.context.view_layer.objects) or [None])

    def pick(self) -> Any:
        """Make one object the selection."""
        chosen = self.any_object()
        for thing in bpy.context.view_layer.objects:
            thing.select_set(thing == chosen)
        bpy.context.view_layer.objects.active = chosen
        return chosen

    def add(self) -> None:
        at = [self.chance.uniform(-2, 2) for _ in range(3)]
        bpy.ops.mesh.primitive_cube_add(size=0.5, location=at)

    def delete(self) -> None:
        if self.pick():
            bpy.ops.object.delete()

    def duplicate(self) -> None:
        if self.pick():
            bpy.ops.object.duplicate()

    def rename(self) -> None:
        if chosen := self.any_object():
            chosen.name = f"Renamed {self.chance.random():.3f}"

    def move(self) -> None:
        if self.pick():
            bpy.ops.transform.translate(value=(0.1, 0.2, 0))

    def hide(self) -> None:
        if chosen := self.any_object():
            chosen.hide_set(not chosen.hide_get())

    def edit(self) -> None:
        chosen = self.pick()
        if chosen and chosen.type == "MESH" and not chosen.hide_get():
            bpy.ops.object.mode_set(mode="EDIT")
            bpy.ops.mesh.select_all(action="SELECT")
            bpy.ops.transform.resize(value=(1.1, 1, 1))
            bpy.ops.object.mode_set(mode="OBJECT")

    def local_view(self) -> None:
        self.pick()
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
        bpy.ops.scene.new(type="FULL_COPY" if self.chance.random() < 0.5 else "EMPTY")

    def other_scene(self) -> None:
        self.hands.window.scene = self.chance.choice(list(bpy.data.scenes))

    def delete_scene(self) -> None:
        if len(bpy.data.scenes) > 1:
            bpy.ops.scene.delete()

    def disable_and_enable(self) -> None:
        bpy.ops.preferences.addon_disable(module=PACKAGE)
        bpy.ops.preferences.addon_enable(module=PACKAGE)

    def play(self) -> None:
        bpy.ops.screen.animation_play()

    def scrub(self) -> None:
        bpy.context.scene.frame_set(self.chance.randrange(1, 60), subframe=self.chance.random())

    def compute(self) -> None:
        bpy.context.scene.collision_bounds.scope = "VISIBLE"
        self.tried(bpy.ops.collision_bounds.compute_bounds)

    def find_contacts(self) -> None:
        settings = bpy.context.scene.collision_bounds
        settings.scope, settings.shape = "VISIBLE", self.chance.choice(["aabb", "sphere", "obb", "spheres"])
        settings.use_scene_range, settings.frame_start, settings.frame_end = False, 1, 12
        self.tried(bpy.ops.collision_bounds.find_contacts, "EXEC_DEFAULT")

    def click_row(self) -> None:
        settings = bpy.context.scene.collision_bounds
        if settings.rows:
            settings.active_row = self.chance.randrange(len(settings.rows))

    @staticmethod
    def tried(operator: Callable[..., Any], *arguments: Any) -> None:
        """An operator that says why it cannot, raises that as RuntimeError: "Error: ..."."""
        try:
            operator(*arguments)
        except RuntimeError as error:
            if "Traceback" in str(error):
                raise

    def clean_up(self) -> None:
        """Stop playing."""
        if self.hands.window.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)


WHAT = [name for name in vars(Rounds) if name not in ("around", "any_object", "pick", "tried", "clean_up")]
WHAT = [name for name in WHAT if not name.startswith("_")]


def story(hands: Hands) -> Steps:
    """Each thing at least once, and on at random."""
    chance = random.Random(SEED)
    rounds = Rounds(hands, chance)
    hands.look_at((-3.4, -1.3, 0.6), 4.5, (1.15, 0, 0.5))
    before = handlers()
    order = [*WHAT, *chance.choices([name for name in WHAT if name != "load"], k=ROUNDS - len(WHAT))]
    chance.shuffle(order)
    memory = []
    with rounds.around():
        rounds.compute()
    for name in order:
        with rounds.around():
            getattr(rounds, name)()
        yield 0.25 if name == "play" else 0.08
        with rounds.around():
            rounds.clean_up()
            if not bpy.context.scene.collision_bounds.result_id:
                rounds.compute()
        yield 0.05
        memory.append(megabytes())
    yield from hands.note(
        "ended",
        picture=False,
        order=order,
        memory=memory,
        handlers_before=before,
        handlers_after=handlers(),
        kept=kept(),
    )
    rounds.load()
    yield from hands.settle()
    hands.look_at((-3.4, -1.3, 0.6), 4.5, (1.15, 0, 0.5))
    with rounds.around():
        rounds.compute()
    yield from hands.note("loaded again")


run(story)
