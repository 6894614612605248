"""Hands and eyes inside Blender: real mouse and keys by xdotool, pictures by ImageMagick's import.

A drive script is a generator: what it yields are seconds to give Blender for events and drawing. Buttons are
found by moving the mouse along a region and asking Blender what is under it; no place is written down here.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, ClassVar

import bpy

Steps = Generator[float, None, Any]

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "images" / "guide"

_TURN = 0.01  # until Blender's next turn: it handles events, then draws, then asks the story to go on
_ARRIVAL = 5.0  # seconds at most until Blender has seen the mouse or a key
_LONGEST = 120  # seconds at most for what is sure to come
_DRAWING = 0.3  # for a click to do its work and the window to be drawn
_PATIENCE = (0.0, 0.1, 0.5)  # seconds more at each place, in each round
_STEP = 14  # from one probe to the next; a button is 20 pixels high
_HEADER = 26  # from one folded panel to the next
_TO_FIRST = 32  # from the scene's last button to the first panel for the active object
_TAB = 60  # from one tab to the next; ours is 95 pixels high


class CannotClickError(Exception):
    """This machine has not got what it takes to click."""


class LastEvent(bpy.types.Operator):
    """Tell the last event that a window has seen"""

    bl_idname = "wm.last_event_of_drive"
    bl_label = "Last Event"
    bl_options: ClassVar = {"INTERNAL"}
    seen: ClassVar[tuple[int, int, str, str]] = (0, 0, "", "")

    def invoke(self, _context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Called from a script, the event is the one before."""
        LastEvent.seen = (event.mouse_x, event.mouse_y, event.type, event.value)
        return {"CANCELLED"}


def run(story: Callable[[Hands], Steps]) -> None:
    """Play the story once the window is up, write result.json into the folder named on the command line."""
    folder = Path(sys.argv[sys.argv.index("--") + 1])
    outcome: dict[str, Any] = {"notes": {}}

    def whole() -> Steps:
        yield 0.5
        bpy.utils.register_class(LastEvent)
        # For its smoothing the viewport draws each still picture as often as it has samples.
        bpy.context.preferences.system.viewport_aa = "OFF"
        hands = Hands(folder, outcome["notes"])
        yield from hands.settle()
        yield from story(hands)

    steps = whole()

    def step() -> float | None:
        try:
            return next(steps)
        except StopIteration:
            pass
        except CannotClickError as missing:
            outcome["missing"] = str(missing)
        except Exception:
            outcome["error"] = traceback.format_exc()
            subprocess.run(["import", "-window", "root", folder / "error.png"], check=False)
        (folder / "result.json").write_text(json.dumps(outcome, indent=1), "utf-8")
        bpy.ops.wm.quit_blender()
        return None

    bpy.app.timers.register(step, first_interval=0.5, persistent=True)


class Hands:
    """One Blender window with a 3D viewport."""

    def __init__(self, folder: Path, notes: dict[str, Any]) -> None:
        for program in ("xdotool", "import"):
            if shutil.which(program) is None:
                raise CannotClickError(f"clicking needs {program}, which is not on this machine")
        self.folder = folder
        self.notes = notes
        ids = self.window_ids()
        if not ids:
            raise CannotClickError("xdotool finds no window of Blender: is this an X11 screen?")
        self.id = ids[0]
        self.offsets: dict[str, int] = {}  # where buttons were found before

    # ---- What there is

    @property
    def window(self) -> bpy.types.Window:
        """The main window."""
        return bpy.context.window_manager.windows[0]

    @property
    def area(self) -> bpy.types.Area:
        """The largest 3D viewport."""
        areas = [area for area in self.window.screen.areas if area.type == "VIEW_3D"]
        return max(areas, key=lambda area: area.width * area.height)

    def region(self, kind: str) -> bpy.types.Region:
        """The viewport's region of that type."""
        return next(region for region in self.area.regions if region.type == kind)

    @property
    def settings(self) -> Any:
        """The scene's settings."""
        return bpy.context.scene.collision_bounds

    def window_ids(self) -> list[str]:
        """What X11 calls Blender's windows, oldest first."""
        command = ["xdotool", "search", "--onlyvisible", "--pid", str(os.getpid())]
        found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
        return sorted(found, key=int)

    # ---- Mouse and keys

    def xdotool(self, *words: object) -> None:
        """Run one xdotool command line."""
        subprocess.run(["xdotool", *(str(word) for word in words)], check=True)

    def point(self, x: float, y: float, window: bpy.types.Window | None = None, x11: str = "") -> Steps:
        """Move the mouse to a place that Blender counts from the bottom left."""
        height = (window or self.window).height
        self.xdotool("mousemove", "--window", x11 or self.id, int(x), int(height - 1 - y))
        yield from self.arrival(
            lambda seen: abs(seen[0] - int(x)) <= 2 and abs(seen[1] - int(y)) <= 2, window
        )

    def click(self, times: int = 1) -> Steps:
        """Press the left button where the mouse is."""
        self.xdotool("click", "--repeat", times, "--delay", 60, 1)
        yield from self.arrival(lambda seen: seen[2:] == ("LEFTMOUSE", "RELEASE"))
        yield from self.settle()

    def keys(self, *names: str) -> Steps:
        """Press keys, such as ctrl+z."""
        self.xdotool("key", "--delay", 60, *names)
        yield from self.arrival(lambda seen: "MOUSE" not in seen[2] and seen[3] == "RELEASE")
        yield from self.settle()

    def arrival(
        self, arrived: Callable[[tuple[int, int, str, str]], bool], window: bpy.types.Window | None = None
    ) -> Steps:
        """Wait until Blender has seen an event, and has handled and drawn what comes of it.

        arrived : tells it by the mouse's place in the window, and the last event's type and value
        """
        end = time.monotonic() + _ARRIVAL
        yield _TURN
        while time.monotonic() < end:
            with bpy.context.temp_override(window=window or self.window):
                bpy.ops.wm.last_event_of_drive("INVOKE_DEFAULT")
            if arrived(LastEvent.seen):
                break
            yield _TURN
        yield _TURN

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> Steps:
        """Drag what is at a place of the window to another."""
        yield from self.point(*start)
        yield 0.5
        self.xdotool("mousedown", 1)
        yield 0.3
        for part in (0.2, 0.4, 0.6, 0.8, 1.0):
            yield from self.point(*(a + (b - a) * part for a, b in zip(start, end, strict=True)))
            yield 0.2
        self.xdotool("mouseup", 1)
        yield 0.5

    def over_viewport(self) -> Steps:
        """Rest the mouse on an empty place of the viewport."""
        region = self.region("WINDOW")
        yield from self.point(region.x + 0.45 * region.width, region.y + 0.12 * region.height)
        yield from self.settle()

    def settle(self) -> Steps:
        """Let Blender work and draw, twice, since a draw can ask for another."""
        for _ in range(2):
            yield _DRAWING / 2

    def until(self, what: Callable[[], object], name: str) -> Steps:
        """Wait for something to become true, as long as even a busy machine may take."""
        end = time.monotonic() + _LONGEST
        while not what():
            if time.monotonic() > end:
                raise TimeoutError(f"{name}: not within {_LONGEST} seconds")
            yield 0.05
        yield from self.settle()

    # ---- Buttons

    def under_mouse(self, region: bpy.types.Region, window: Any = None, area: Any = None) -> str | None:
        """The button the mouse is over: a Python command, or the path of a property."""
        manager = bpy.context.window_manager
        around = {"window": window or self.window, "area": area or self.area, "region": region}
        with bpy.context.temp_override(**around):
            for operator in (bpy.ops.ui.copy_python_command_button, bpy.ops.ui.copy_data_path_button):
                if operator.poll():
                    manager.clipboard = ""
                    operator()
                    return manager.clipboard
        return None

    def find(
        self,
        region: bpy.types.Region,
        wanted: str,
        down: bool = True,
        window: Any = None,
        area: Any = None,
        across: float = 0.6,
    ) -> Steps:
        """Move along the middle of a region, from the top down or from right to left, until over `wanted`.

        across : where in the region's width the way down is

        Blender may be busy drawing while the mouse passes by: what was not found is looked for again, slower.
        """
        x11 = self.window_ids()[-1] if window else ""
        # What a script has set does not draw the panel anew, and a grey button would stay grey.
        (area or self.area).tag_redraw()
        yield from self.settle()
        seen = []
        offsets = [*range(4, region.height if down else region.width, _STEP)]
        if wanted in self.offsets:
            offsets.insert(0, self.offsets[wanted])
        for extra, offset in ((extra, offset) for extra in _PATIENCE for offset in offsets):
            if down:
                x, y = region.x + across * region.width, region.y + region.height - offset
            else:
                x, y = region.x + region.width - offset, region.y + region.height / 2
            yield from self.point(x, y, window, x11)
            if extra:
                yield extra
            name = self.under_mouse(region, window, area)
            seen.append(name)
            if name is not None and wanted in name:
                self.offsets[wanted] = offset
                x, y = (x, y - 3) if down else (x - 3, y)  # away from its rim
                yield from self.point(x, y, window, x11)
                return x, y
        raise LookupError(f"{wanted} is not in the {region.type} region: {sorted({n for n in seen if n})}")

    def press(self, wanted: str, across: float = 0.6) -> Steps:
        """Click a button of the sidebar."""
        yield from self.find(self.region("UI"), wanted, across=across)
        yield from self.click()

    def choose(self, wanted: str, value: str) -> Steps:
        """Open a menu of the sidebar and click around its button until the property has the value.

        A menu opens below its button or above, with 20 pixels an entry; a click beside it only closes it.
        """
        name = wanted.split(".")[-1]
        for entry in (1, 2, 3, 4, -1, -2, -3, -4):
            x, y = yield from self.find(self.region("UI"), wanted)
            yield from self.click()
            yield from self.point(x, y - 20 * entry)
            yield from self.click()
            if getattr(self.settings, name) == value:
                return
        raise LookupError(f"{wanted} has no entry for {value}")

    def open_tab(self, category: str) -> Steps:
        """Open the sidebar with its key, and click its tabs until ours is open."""
        if self.region("UI").width <= 1:
            yield from self.over_viewport()
            yield from self.keys("n")
            yield from self.until(lambda: self.region("UI").width > 1, "the sidebar opens")
        region = self.region("UI")
        for offset in range(15, region.height, _TAB):
            yield from self.point(region.x + region.width - 8, region.y + region.height - offset)
            yield from self.click()
            if region.active_panel_category == category:
                return
        raise LookupError(f"the sidebar has no tab {category}")

    def click_row(self, a: str, b: str) -> Steps:
        """Click rows of the result list, from the top, until the one of this pair is active."""
        region = self.region("UI")
        x, top = yield from self.find(region, "collision_bounds.active_row")
        for step in range(10):
            yield from self.point(x, top - 20 * step)
            yield from self.click()
            active = self.settings.active_row
            if active >= 0 and {self.settings.rows[active].a, self.settings.rows[active].b} == {a, b}:
                return
        raise LookupError(f"no row of {a} and {b}")

    def over_option(self, from_below: int) -> Steps:
        """Rest the mouse on an option of the panel of the last operation, opening that panel first.

        Blender gives these options no path, so they are counted: 0 is the lowest.
        """
        if self.region("HUD").height < 40:
            region = self.region("HUD")
            yield from self.point(region.x + region.width / 2, region.y + region.height / 2)
            yield from self.click()
            yield from self.until(lambda: self.region("HUD").height > 40, "the panel opens")
        region = self.region("HUD")
        yield from self.point(region.x + 0.6 * region.width, region.y + 17 + 22.5 * from_below)

    def unfold(self, *panels: int) -> Steps:
        """Open panels for the active object, or fold them, in an order in which they stay in place.

        They are counted from the first, which is below the scene's last button.
        """
        x, y = yield from self.find(self.region("UI"), "collision_bounds.compute_envelope")
        for number in panels:
            yield from self.point(x, y - _TO_FIRST - number * _HEADER)
            yield from self.click()

    def save_dialog(self, file: Path | None = None) -> Steps:
        """Confirm the file browser in a window of its own: with `file`, or with the name it proposes."""
        windows = bpy.context.window_manager.windows
        yield from self.until(lambda: len(windows) > 1, "the file browser opens")
        yield 0.5
        window = windows[-1]
        area = next(area for area in window.screen.areas if area.type == "FILE_BROWSER")
        if file is not None:
            area.spaces.active.params.directory = os.fsencode(file.parent)
            area.spaces.active.params.filename = file.name
            yield 1.0
        region = next(region for region in area.regions if region.type == "EXECUTE")
        yield from self.find(region, "bpy.ops.file.execute", down=False, window=window, area=area)
        yield from self.click()
        yield from self.until(lambda: len(windows) == 1, "the file browser closes")

    # ---- Eyes

    def note(self, name: str, picture: bool = True, **more: Any) -> Steps:
        """Write down the state, and take a picture with the mouse out of the way."""
        scene = bpy.context.scene
        facts = {
            "frame": scene.frame_current,
            "subframe": scene.frame_subframe,
            "selected": sorted(thing.name for thing in bpy.context.view_layer.objects if thing.select_get()),
            "operators": [operator.bl_idname for operator in bpy.context.window_manager.operators],
            "regions": {r.type: (r.x, r.y, r.width, r.height) for r in self.area.regions},
            "height": self.window.height,
        }
        if hasattr(scene, "collision_bounds"):
            settings = self.settings
            facts["has_results"] = bpy.ops.collision_bounds.clear_results.poll()
            facts["settings"] = {
                key: getattr(settings, key) for key in ("scope", "method", "padding", "shape", "active_row")
            }
            facts["rows"] = [
                {key: getattr(row, key) for key in ("a", "b", "frame", "tunnelling", "is_near_miss")}
                for row in settings.rows
            ]
        if picture:
            yield from self.over_viewport()
            self.photograph(self.folder / f"{name}.ppm")
        self.notes[name] = {**facts, **more}

    def photograph(self, path: Path) -> None:
        """Save what the screen shows of the main window."""
        subprocess.run(["import", "-silent", "-window", self.id, "-depth", "8", "-strip", path], check=True)

    def smoothed(self, path: Path) -> Steps:
        """Take a picture for the guide, with the viewport's own smoothing; PNG where the path ends so."""
        bpy.context.preferences.system.viewport_aa = "8"
        self.area.tag_redraw()
        for _ in range(12):
            yield 0.03
        self.photograph(path)
        bpy.context.preferences.system.viewport_aa = "OFF"

    def crop(self, note: str, name: str, box: tuple[float, float, float, float]) -> None:
        """Cut a picture for the guide out of that of a note, and put beside it the one that the guide has.

        box : left, bottom, width and height, counted from the window's bottom left
        """
        left, bottom, width, tall = (int(number) for number in box)
        place = f"{width}x{tall}+{left}+{self.window.height - bottom - tall}"
        whole, fresh = self.folder / f"{note}.ppm", self.folder / f"{name}.png"
        few = ["+dither", "-colors", "160", "-strip", f"png8:{fresh}"]
        subprocess.run(["convert", whole, "-crop", place, "+repage", *few], check=True)
        for kind, path in (("fresh", fresh), ("kept", GUIDE / fresh.name)):
            if path.is_file():
                subprocess.run(["convert", path, self.folder / f"{kind} {name}.ppm"], check=True)

    def look_at(self, target: tuple[float, float, float], distance: float, angles: tuple[float, ...]) -> None:
        """Turn the viewport to a place, in perspective."""
        from mathutils import Euler

        view = self.area.spaces.active.region_3d
        view.view_perspective = "PERSP"
        view.view_location, view.view_distance = target, distance
        view.view_rotation = Euler(angles).to_quaternion()

    def seen_at(self, place: tuple[float, float, float]) -> tuple[float, float]:
        """Where a place of the world is in the window, from the bottom left."""
        from bpy_extras.view3d_utils import location_3d_to_region_2d

        region = self.region("WINDOW")
        at = location_3d_to_region_2d(region, self.area.spaces.active.region_3d, place)
        return region.x + at[0], region.y + at[1]
