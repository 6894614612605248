"""Drive a window of Blender from inside: mouse and keys by xdotool, screenshots by ImageMagick's import.

A drive script defines `scenario`, a generator that yields the seconds which Blender gets for events and
drawing. A button is found by moving the mouse along a region and reading which button is under it. No
positions are stored here.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import bpy

Steps = Generator[float, None, Any]

PACKAGE = "bl_ext.user_default.collision_bounds"
GUIDE = Path(__file__).resolve().parents[2] / "docs" / "images" / "guide"

_NEXT_CYCLE = (
    0.01  # until Blender's next cycle: it handles events, then draws, then runs the timer of the script
)
_EVENT_TIMEOUT = 5.0  # maximum seconds until Blender has received the mouse or a key
_TIMEOUT = 300  # maximum seconds for a condition that is sure to become true
_DRAWING = 0.12  # for a click to take effect and the window to be drawn, in several cycles
_PANEL_ANIMATION = 0.35  # while panels move, because one above them was opened or has got more rows
_CYCLES = 4  # for a requested redraw, which can request another
_PROBE_WAITS = (0.0, 0.1, 0.5)  # additional seconds at each position, in each round
_SIDEBAR_ROUNDS = ((5, 0.0), (4, 0.0), (4, 0.1), (5, 0.1), (4, 0.5), (5, 0.5))
"""Rounds through the sidebar after the first one, because it may be too low for its panels: button of the
wheel before the round, and additional seconds at each position."""
_PREVIOUS, _LIST_MENU = 0.07, 0.59
"""Horizontal positions of buttons below the contact list, as fractions of the sidebar's width."""
_PROBE_STEP = 14  # from one probe to the next; a button is 20 pixels high
_HALF_BUTTON = 10
_PANEL_HEADER = 26  # from one folded panel to the next
_SWITCH = 0.16  # horizontal position of the switch in a header, as a fraction of the sidebar's width
_ABOVE_OBJECT_SETTINGS = {"Fit Settings": 3, "Swept Bounds": 2}
"""Folded panels under Bounds, by the number of headers up from that of Object Settings."""
_ABOVE_FIND_CONTACTS = 90
"""Pixels at a scale of 1 from Find Contacts up to the header of Active Object, while that panel is folded."""
_TAB = 60  # from one probe of the tabs to the next; the tab of the extension is 95 pixels high


class CannotClickError(Exception):
    """The machine lacks a program or a screen that clicking needs."""


class LastEvent(bpy.types.Operator):
    """Record the last event that a window has received."""

    bl_idname = "wm.last_event_of_drive"
    bl_label = "Last Event"
    bl_options: ClassVar = {"INTERNAL"}
    received: ClassVar[tuple[int, int, str, str]] = (0, 0, "", "")

    def invoke(self, _context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Store the event, which is the previous one when a script calls the operator."""
        LastEvent.received = (event.mouse_x, event.mouse_y, event.type, event.value)
        return {"CANCELLED"}


def run(script: str) -> None:
    """Run a drive script once the window is up, and write result.json to the folder on the command line."""
    folder = Path(sys.argv[sys.argv.index("--") + 1])
    outcome: dict[str, Any] = {"notes": {}}

    def prepared_scenario() -> Steps:
        yield 0.5
        bpy.utils.register_class(LastEvent)
        driver = WindowDriver(folder, outcome["notes"])
        driver.draw_details(False)
        yield from driver.wait_for_redraw()
        path = Path(__file__).parent / script
        sys.path.insert(0, str(path.parent))
        yield from importlib.import_module(path.stem).scenario(driver)

    steps = prepared_scenario()

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


def _scrolled(region: bpy.types.Region) -> float:
    """Return by how many pixels the contents of a region are scrolled down."""
    return -region.view2d.region_to_view(0, region.height)[1]


def module(name: str) -> Any:
    """Return a module of the extension."""
    return importlib.import_module(f"{PACKAGE}.{name}")


class _Probes:
    """Order of the probes along a region in a search for a button.

    The first ones are where the button was seen, or else at the top. A place is a position in the contents of
    the region, an offset one in its visible part: from the top or from the right.
    """

    def __init__(self, region: bpy.types.Region, down: bool, wanted: str, seen: dict[str, float]) -> None:
        self._region, self._down = region, down
        self._length = region.height if down else region.width
        self._seen, self._before = seen, dict(seen)
        self._places = [place for name, place in seen.items() if wanted in name]
        self._expected = self._places
        self._tried: set[tuple[float, int]] = set()

    def default_rounds(self) -> Sequence[tuple[int, float]]:
        """Return button of the wheel or 0, and additional seconds at each position, for each round."""
        if self._region.type != "UI" or not self._down:
            return [(0, wait) for wait in _PROBE_WAITS]
        top, wheel = _scrolled(self._region), 0
        if self._places and not any(top <= place < top + self._length for place in self._places):
            wheel = 5 if min(self._places) > top else 4
        return [(wheel, 0.0), *_SIDEBAR_ROUNDS]

    def next_offset(self, wait: float) -> int | None:
        """Return the offset of the next probe; None if all places in view were tried with this wait."""
        top = int(_scrolled(self._region))
        in_view = range(top + 4 + -(top + 4) % _PROBE_STEP, top + self._length, _PROBE_STEP)
        untried = [place for place in in_view if (wait, place) not in self._tried]
        if not untried:
            return None
        place = min(untried, key=self._priority)
        self._tried.add((wait, place))
        return place - top

    def untried_above(self, wait: float, place: int) -> int:
        """Return the number of places directly above this one where the button can be, too."""
        above = 0
        while self._down and place > 0 and (wait, place - _PROBE_STEP) not in self._tried:
            above, place = above + 1, place - _PROBE_STEP
        return above

    def see(self, name: str, place: float) -> None:
        """Note the place of a button: when panels were opened or folded, the wanted one has moved as far."""
        if name in self._before:
            self._expected = [expected + place - self._before[name] for expected in self._places]
        if name:
            self._seen[name] = place

    def _priority(self, place: int) -> tuple[float, int]:
        # Of several buttons, the first one from the top is wanted.
        return min((abs(place - expected) // _PROBE_STEP for expected in self._expected), default=0), place


def _enter_button(
    name_at: Callable[..., Steps], wanted: str, position: tuple[float, float], down: bool, above: int
) -> Steps:
    """Return a position within a button from one on its edge; None if the button is no longer there.

    Of several rows, the first one is wanted: `above` is how many can be above the position.
    """
    x, y = position
    for _ in range(above):
        if wanted not in (yield from name_at(x, y + _PROBE_STEP)):
            break
        y += _PROBE_STEP
    for away in (-4, 4):
        inner = (x, y + away) if down else (x + away, y)
        if wanted in (yield from name_at(*inner)):
            return inner
    return None


def _position(region: bpy.types.Region, down: bool, across: float, offset: int) -> tuple[float, float]:
    """Return the position in the window of a probe, from the region's top down or from right to left."""
    if down:
        return region.x + across * region.width, region.y + region.height - offset
    return region.x + region.width - offset, region.y + region.height / 2


class WindowDriver:
    """Mouse, keys, screenshots and notes for one Blender window with a 3D viewport."""

    def __init__(self, folder: Path, notes: dict[str, Any]) -> None:
        for program in ("xdotool", "import"):
            if shutil.which(program) is None:
                raise CannotClickError(f"clicking needs {program}, which is not on this machine")
        self.folder = folder
        self.notes = notes
        self._last_input = time.monotonic()  # when a button or key was released
        self._is_active_object_open = False
        ids = self.x11_ids()
        if not ids:
            raise CannotClickError("xdotool finds no window of Blender: is this an X11 screen?")
        self.x11_id = ids[0]
        # Where this script and those before it have seen buttons: kind of region -> name -> position in the
        # contents of the region, from the top or from the right.
        self._seen_file = folder.parent / "seen_buttons.json"
        self.seen_buttons: dict[str, dict[str, float]] = {}
        if self._seen_file.is_file():
            self.seen_buttons = json.loads(self._seen_file.read_text("utf-8"))

    # ---- Window, areas and regions

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
        """Return the viewport's region of that type."""
        return next(region for region in self.area.regions if region.type == kind)

    @property
    def settings(self) -> Any:
        """The scene's settings."""
        return bpy.context.scene.collision_bounds

    @property
    def result(self) -> Any:
        """The results of the extension that the scene shows."""
        return module("scene.jobs.result_store").get(self.settings.result_id)

    @property
    def scan(self) -> Any:
        """The state of the running job of the extension; None if none runs."""
        return module("ui.job_state").running()

    def context(self, kind: str = "WINDOW") -> Any:
        """Return a context override for the viewport's region of that type."""
        return bpy.context.temp_override(
            window=self.window, screen=self.window.screen, area=self.area, region=self.region(kind)
        )

    def select(self, item: bpy.types.Object) -> None:
        """Make an object the active one and the only one that is selected, as a step that can be undone."""
        for other in bpy.context.view_layer.objects:
            other.select_set(other == item)
        bpy.context.view_layer.objects.active = item
        bpy.ops.ed.undo_push(message="Select")

    def write_document(self, name: str) -> Path:
        """Write the shown result to a JSON file without the button, and return its path."""
        path = self.folder / f"{name}.json"
        bpy.ops.collision_bounds.export_json(filepath=str(path))
        return path

    def wait_for_scan(self, frame: float) -> Steps:
        """Wait until the scan that runs has come to a frame."""
        yield from self.wait_until(
            lambda: self.scan and self.scan._progress and self.scan._progress.time >= frame,
            f"a scan of frame {frame}",
        )

    def x11_ids(self) -> list[str]:
        """Return the X11 identifiers of Blender's windows, oldest first."""
        command = ["xdotool", "search", "--onlyvisible", "--pid", str(os.getpid())]
        listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
        return sorted(listed, key=int)

    # ---- Mouse and keys

    def xdotool(self, *words: object) -> None:
        """Run one xdotool command line."""
        subprocess.run(["xdotool", *(str(word) for word in words)], check=True)

    def move_mouse(self, x: float, y: float, window: bpy.types.Window | None = None, x11: str = "") -> Steps:
        """Move the mouse to a position in Blender's coordinates, from the window's bottom left."""
        height = (window or self.window).height
        self.xdotool("mousemove", "--window", x11 or self.x11_id, int(x), int(height - 1 - y))
        yield from self.wait_for_event(
            lambda event: abs(event[0] - int(x)) <= 2 and abs(event[1] - int(y)) <= 2, window
        )

    def click(self, times: int = 1) -> Steps:
        """Press and release the left button at the mouse's position."""
        self.xdotool("click", "--repeat", times, "--delay", 60, 1)
        yield from self.wait_for_event(lambda event: event[2:] == ("LEFTMOUSE", "RELEASE"))
        yield from self.wait_for_effect()

    def press_keys(self, *names: str) -> Steps:
        """Press keys, such as ctrl+z."""
        self.xdotool("key", "--delay", 60, *names)
        yield from self.wait_for_event(lambda event: "MOUSE" not in event[2] and event[3] == "RELEASE")
        yield from self.wait_for_effect()

    def wait_for_effect(self) -> Steps:
        """Let Blender draw what the last click or key has changed; panels may move for longer."""
        self._last_input = time.monotonic()
        yield from self.wait_for_redraw()

    def wait_for_event(
        self,
        is_received: Callable[[tuple[int, int, str, str]], bool],
        window: bpy.types.Window | None = None,
    ) -> Steps:
        """Wait until Blender has received an event, has handled it, and has drawn its effect.

        Parameters
        ----------
        is_received
            predicate of the last event: the mouse's x and y in the window, type, value
        window
            window that receives the event, the main window by default
        """
        end = time.monotonic() + _EVENT_TIMEOUT
        yield _NEXT_CYCLE
        while time.monotonic() < end:
            with bpy.context.temp_override(window=window or self.window):
                bpy.ops.wm.last_event_of_drive("INVOKE_DEFAULT")
            if is_received(LastEvent.received):
                break
            yield _NEXT_CYCLE
        yield _NEXT_CYCLE

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> Steps:
        """Drag with the left button from one position of the window to another."""
        yield from self.move_mouse(*start)
        yield 0.5
        self.xdotool("mousedown", 1)
        yield 0.3
        for part in (0.2, 0.4, 0.6, 0.8, 1.0):
            yield from self.move_mouse(*(a + (b - a) * part for a, b in zip(start, end, strict=True)))
            yield 0.2
        self.xdotool("mouseup", 1)
        yield 0.5

    def move_to_viewport(self) -> Steps:
        """Move the mouse to an empty position of the viewport."""
        region = self.region("WINDOW")
        yield from self.move_mouse(region.x + 0.45 * region.width, region.y + 0.12 * region.height)
        yield from self.wait_for_redraw()

    def wait_for_redraw(self) -> Steps:
        """Let Blender work and draw, three times, because one redraw can request another."""
        for _ in range(3):
            yield _DRAWING / 3

    def wait_for_panels(self) -> Steps:
        """Wait until panels no longer move after the last click or key."""
        left = self._last_input + _PANEL_ANIMATION - time.monotonic()
        if left > 0:
            yield left

    def wait_until(self, condition: Callable[[], object], name: str) -> Steps:
        """Wait until the condition is true, with a timeout that is sufficient for a busy machine."""
        end = time.monotonic() + _TIMEOUT
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"{name}: not within {_TIMEOUT} seconds")
            yield 0.05
        yield from self.wait_for_redraw()

    # ---- Buttons

    def button_under_mouse(
        self, region: bpy.types.Region, window: Any = None, area: Any = None
    ) -> str | None:
        """Return the Python command or the property path of the button under the mouse, or None."""
        manager = bpy.context.window_manager
        context = {"window": window or self.window, "area": area or self.area, "region": region}
        with bpy.context.temp_override(**context):
            for operator in (bpy.ops.ui.copy_python_command_button, bpy.ops.ui.copy_data_path_button):
                if operator.poll():
                    manager.clipboard = ""
                    operator()
                    return manager.clipboard
        return None

    def redraw(self, area: bpy.types.Area) -> Steps:
        """Draw an area, because a change by a script does not: a disabled button would stay grey."""
        area.tag_redraw()
        for _ in range(_CYCLES):
            yield _NEXT_CYCLE

    def find_button(
        self,
        region: bpy.types.Region,
        wanted: str,
        down: bool = True,
        window: Any = None,
        area: Any = None,
        across: float = 0.6,
        rounds: Sequence[tuple[int, float]] = (),
    ) -> Steps:
        """Move the mouse through a region until it is over a button, and return the position.

        The search starts where the button was seen before. A search without success is repeated more slowly,
        in the sidebar also at both of its ends.

        Parameters
        ----------
        region
            region to search
        wanted
            part of the button's Python command or property path
        down
            search from the top down; otherwise from right to left, at half the height
        window
            window of the region, the main window by default
        area
            area of the region, the 3D viewport by default
        across
            horizontal position of the search, as a fraction of the region's width
        rounds
            rounds to search in: button of the wheel before it or 0, and additional seconds at each position
        """
        x11 = self.x11_ids()[-1] if window else ""
        yield from self.wait_for_panels()
        yield from self.redraw(area or self.area)
        seen = self.seen_buttons.setdefault(region.type, {})
        probes = _Probes(region, down, wanted, seen)

        def name_at(x: float, y: float, wait: float = 0.0) -> Steps:
            yield from self.move_mouse(x, y, window, x11)
            yield wait
            return self.button_under_mouse(region, window, area) or ""

        for wheel, wait in rounds or probes.default_rounds():
            if wheel:
                yield from self.scroll_sidebar(wheel)
            while (offset := probes.next_offset(wait)) is not None:
                x, y = _position(region, down, across, offset)
                name = yield from name_at(x, y, wait)
                place = offset + int(_scrolled(region))
                probes.see(name, place)
                if wanted not in name:
                    continue
                self._seen_file.write_text(json.dumps(self.seen_buttons), "utf-8")
                above = probes.untried_above(wait, place)
                inner = yield from _enter_button(name_at, wanted, (x, y), down, above)
                if inner:
                    return inner
        raise LookupError(f"{wanted} is not in the {region.type} region; seen until now: {sorted(seen)}")

    def expect_button(self, wanted: str, at: str) -> None:
        """Start the next search for a button where another one was found."""
        for seen in self.seen_buttons.values():
            for place in [place for name, place in seen.items() if at in name]:
                seen[wanted] = place

    def scroll_sidebar(self, button: int) -> Steps:
        """Scroll the sidebar to its end with the wheel: 5 down, 4 up."""
        region = self.region("UI")
        # Above a list, the wheel scrolls that.
        for height in (region.height - 30, 30):
            yield from self.move_mouse(region.x + 0.4 * region.width, region.y + height)
            for _ in range(8):
                before = _scrolled(region)
                self.xdotool("click", "--repeat", 4, "--delay", 20, button)
                yield 0.1
                if _scrolled(region) == before:
                    break
        yield from self.wait_for_redraw()

    def open_collider_panel(self) -> Steps:
        """Fold the panels around Colliders that are open, and open Colliders."""
        folded = (0, 1, 3) if self._is_active_object_open else (0, 3)
        self._is_active_object_open = False
        yield from self.click_panel_headers(*folded, 2)

    def click_panel_headers(self, *numbers: int) -> Steps:
        """Click the headers of panels, each below panels that are folded: this folds or opens them."""
        region = self.region("UI")
        x, top = region.x + 0.4 * region.width, region.y + region.height - 16
        for number in numbers:
            yield from self.wait_for_panels()
            yield from self.move_mouse(x, top - number * _PANEL_HEADER)
            yield from self.click()

    def find_whole_button(self, wanted: str, across: float = 0.6) -> Steps:
        """Find a button of the sidebar, scrolled so that it is not cut off, and return its position."""
        region = self.region("UI")
        x, y = yield from self.find_button(region, wanted, across=across)
        if y < region.y + _HALF_BUTTON:
            yield from self.scroll_sidebar(5)
            x, y = yield from self.find_button(region, wanted, across=across)
        return x, y

    def click_button(self, wanted: str, across: float = 0.6) -> Steps:
        """Click a button of the sidebar."""
        yield from self.find_whole_button(wanted, across)
        yield from self.click()

    def find_contacts(self, button: str = "collision_bounds.find_contacts") -> Steps:
        """Click a button that finds contacts, and wait for the result."""
        before = self.settings.result_id
        yield from self.click_button(button)
        yield from self.wait_until(lambda: self.settings.result_id != before, "the scan ends")

    def turn_wheel(self, button: int = 5) -> Steps:
        """Step the option under the mouse with Ctrl and the wheel: 5 to the next value, 4 to the last."""
        self.xdotool("keydown", "ctrl", "click", button, "keyup", "ctrl")
        yield from self.wait_for_redraw()

    def choose_from_menu(self, wanted: str, value: str) -> Steps:
        """Open a menu of the sidebar and click around its button until the property has the value.

        A menu opens below or above its button, with 20 pixels for each entry. A click outside only closes it.
        """
        name = wanted.split(".")[-1]
        for entry in (*range(1, 9), *range(-1, -9, -1)):
            x, y = yield from self.find_button(self.region("UI"), wanted)
            yield from self.click()
            yield from self.move_mouse(x, y - 20 * entry)
            yield from self.click()
            if getattr(self.settings, name) == value:
                return
        raise LookupError(f"{wanted} has no entry for {value}")

    def choose_from_list_menu(self, entry: int | str) -> Steps:
        """Open the menu below the contact list, and choose an entry, counted from 1, or by its key.

        Blender gives menus no path, so its button is found by its place in the row of Previous Contact.
        """
        region = self.region("UI")
        _, y = yield from self.find_whole_button("collision_bounds.go_to_contact", _PREVIOUS)
        x = region.x + _LIST_MENU * region.width
        yield from self.move_mouse(x, y)
        yield from self.click()
        yield from self.wait_for_redraw()
        # Blender numbers the entries of a menu. Their places depend on the room below the button.
        yield from self.press_keys(str(entry))
        yield from self.wait_for_redraw()

    def open_tab(self, category: str) -> Steps:
        """Open the sidebar with its key, and click its tabs until the tab `category` is open."""
        if self.region("UI").width <= 1:
            yield from self.move_to_viewport()
            yield from self.press_keys("n")
            yield from self.wait_until(lambda: self.region("UI").width > 1, "the sidebar opens")
        region = self.region("UI")
        for offset in range(15, region.height, _TAB):
            yield from self.move_mouse(region.x + region.width - 8, region.y + region.height - offset)
            yield from self.click()
            if region.active_panel_category == category:
                return
        raise LookupError(f"the sidebar has no tab {category}")

    def click_row(self, a: str, b: str) -> Steps:
        """Click rows of the result list, from the top, until the row of this pair is active."""
        region = self.region("UI")
        x, top = yield from self.find_button(region, "collision_bounds.active_row")
        for step in range(10):
            yield from self.move_mouse(x, top - 20 * step)
            yield from self.click()
            active = self.settings.active_row
            if active >= 0 and {self.settings.rows[active].a, self.settings.rows[active].b} == {a, b}:
                return
        raise LookupError(f"no row of {a} and {b}")

    def move_to_redo_option(self, from_below: int) -> Steps:
        """Open the Adjust Last Operation panel, and move the mouse to one of its options.

        Blender gives these options no path, so they are counted: 0 is the lowest.
        """
        if self.region("HUD").height < 40:
            region = self.region("HUD")
            yield from self.move_mouse(region.x + region.width / 2, region.y + region.height / 2)
            yield from self.click()
            yield from self.wait_until(lambda: self.region("HUD").height > 40, "the panel opens")
        region = self.region("HUD")
        yield from self.move_mouse(region.x + 0.6 * region.width, region.y + 17 + 22.5 * from_below)

    def toggle_panels(self, *panels: int) -> Steps:
        """Open or fold panels for the active object, in an order in which the following ones stay in place.

        The panel that they are in is opened the first time. They are counted from Object Settings, whose
        header is found by its switch. It has one only while the active object has geometry.
        """
        region = self.region("UI")
        yield from self.open_active_object()
        _, y = yield from self.find_button(region, "use_object_settings", across=_SWITCH)
        for number in panels:
            yield from self.wait_for_panels()
            yield from self.move_mouse(region.x + 0.6 * region.width, y - number * _PANEL_HEADER)
            yield from self.click()

    def open_active_object(self) -> Steps:
        """Open the panel Active Object, unless it was opened before."""
        if not self._is_active_object_open:
            x, y = yield from self.find_button(self.region("UI"), "collision_bounds.find_contacts")
            scale = bpy.context.preferences.system.ui_scale
            yield from self.move_mouse(x, y + _ABOVE_FIND_CONTACTS * scale)
            yield from self.click()
            self._is_active_object_open = True

    def fold_active_object(self) -> Steps:
        """Fold the panel Active Object, whose header is above that of Object Settings."""
        yield from self.toggle_panels(-1)
        self._is_active_object_open = False

    def open_bounds_panel(self, name: str) -> Steps:
        """Open a folded panel under Bounds by its header; those between it and Object Settings are folded."""
        yield from self.toggle_panels(-_ABOVE_OBJECT_SETTINGS[name])

    def confirm_file_browser(self, file: Path | None = None) -> Steps:
        """Confirm the file browser, which is a separate window: with `file`, or with the proposed name."""
        windows = bpy.context.window_manager.windows
        yield from self.wait_until(lambda: len(windows) > 1, "the file browser opens")
        yield 0.5
        window = windows[-1]
        area = next(area for area in window.screen.areas if area.type == "FILE_BROWSER")
        if file is not None:
            area.spaces.active.params.directory = os.fsencode(file.parent)
            area.spaces.active.params.filename = file.name
            yield 1.0
        region = next(region for region in area.regions if region.type == "EXECUTE")
        yield from self.find_button(region, "bpy.ops.file.execute", down=False, window=window, area=area)
        # Without `click`, which would wait in vain for an event of the main window.
        self.xdotool("click", 1)
        yield from self.wait_until(lambda: len(windows) == 1, "the file browser closes")

    # ---- Notes and screenshots

    def note(self, name: str, screenshot: bool = True, **more: Any) -> Steps:
        """Write down the state, and take a screenshot with the mouse over an empty position."""
        scene = bpy.context.scene
        state = {
            "frame": scene.frame_current,
            "subframe": scene.frame_subframe,
            "selected": sorted(item.name for item in bpy.context.view_layer.objects if item.select_get()),
            "operators": [operator.bl_idname for operator in bpy.context.window_manager.operators],
            "regions": {r.type: (r.x, r.y, r.width, r.height) for r in self.area.regions},
            "height": self.window.height,
        }
        if hasattr(scene, "collision_bounds"):
            settings = self.settings
            state["has_results"] = bpy.ops.collision_bounds.clear_results.poll()
            state["settings"] = {
                key: getattr(settings, key) for key in ("scope", "box_axes", "padding", "shape", "active_row")
            }
            state["rows"] = [
                {key: getattr(row, key) for key in ("a", "b", "frame", "tunnelling", "is_near_miss")}
                for row in settings.rows
            ]
        if screenshot:
            yield from self.move_to_viewport()
            yield from self.wait_for_panels()
            self.take_screenshot(self.folder / f"{name}.ppm")
        self.notes[name] = {**state, **more}

    def take_screenshot(self, path: Path) -> None:
        """Save a picture of the main window."""
        subprocess.run(
            ["import", "-silent", "-window", self.x11_id, "-depth", "8", "-strip", path], check=True
        )

    def draw_details(self, on: bool) -> None:
        """Draw the viewport as by default, or without smoothing, grid and outlines: in half of the time."""
        system = bpy.context.preferences.system
        # With smoothing, the viewport draws each still picture once for each sample.
        system.viewport_aa, system.use_overlay_smooth_wire = ("8" if on else "OFF"), on
        for area in self.window.screen.areas:
            if area.type == "VIEW_3D":
                view = area.spaces.active
                view.overlay.show_floor = view.shading.show_object_outline = on

    def take_smoothed_screenshot(self, path: Path) -> Steps:
        """Save a picture of the main window with the viewport's smoothing on, as PNG if the path ends so."""
        self.draw_details(True)
        self.area.tag_redraw()
        for _ in range(12):
            yield 0.03
        self.take_screenshot(path)
        self.draw_details(False)

    def crop_guide_picture(self, note: str, name: str, box: tuple[float, float, float, float]) -> None:
        """Crop a picture for the guide from a screenshot, and convert it and the guide's current picture.

        Parameters
        ----------
        note
            name of the note, or of the screenshot
        name
            name of the guide's picture
        box
            left, bottom, width and height, from the window's bottom left
        """
        left, bottom, width, tall = (int(number) for number in box)
        geometry = f"{width}x{tall}+{left}+{self.window.height - bottom - tall}"
        whole, taken = self.folder / f"{note}.ppm", self.folder / f"{name}.png"
        palette = ["+dither", "-colors", "160", "-strip", f"png8:{taken}"]
        subprocess.run(["convert", whole, "-crop", geometry, "+repage", *palette], check=True)
        for kind, path in (("new", taken), ("current", GUIDE / taken.name)):
            if path.is_file():
                subprocess.run(["convert", path, self.folder / f"{kind} {name}.ppm"], check=True)

    def set_view(
        self, target: tuple[float, float, float], distance: float, angles: tuple[float, ...]
    ) -> None:
        """Point the viewport at a position of the world, in perspective."""
        from mathutils import Euler

        view = self.area.spaces.active.region_3d
        view.view_perspective = "PERSP"
        view.view_location, view.view_distance = target, distance
        view.view_rotation = Euler(angles).to_quaternion()

    def window_position(self, point: tuple[float, float, float]) -> tuple[float, float]:
        """Project a point of the world to the window, from its bottom left."""
        from bpy_extras.view3d_utils import location_3d_to_region_2d

        region = self.region("WINDOW")
        position = location_3d_to_region_2d(region, self.area.spaces.active.region_3d, point)
        return region.x + position[0], region.y + position[1]
