"""Run Blender as a program: commands without a window, and drive scripts with one. Runs outside Blender."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.paths import TOP

HERE = Path(__file__).resolve().parent

PACKAGE = "bl_ext.user_default.collision_bounds"

FREE_COLOR = (0.16, 0.52, 1.0)
CONTACT_COLOR = (1.0, 0.16, 0.1)
FAINT_ALPHA = 0.3

SMALL = (1000, 800)
"""Size of the window for scripts whose pictures are not measured, because software rendering is slow."""

Pixels = NDArray[np.float64]
Mask = NDArray[np.bool_]


def environment_variables(home: Path) -> dict[str, str]:
    """Return the environment of a Blender with preferences and extensions from `home` only."""
    home.mkdir(parents=True, exist_ok=True)
    inherited = {name: value for name, value in os.environ.items() if name != "WAYLAND_DISPLAY"}
    folders = {"BLENDER_USER_RESOURCES": home, "HOME": home, "TMPDIR": home}
    # Software rendering compiles shaders for seconds: the next Blender takes the compiled ones from here.
    folders["MESA_SHADER_CACHE_DIR"] = home.parent / "shaders"
    return {**inherited, **{name: str(path) for name, path in folders.items()}}


def run_blender(home: Path, *arguments: object, seconds: float = 300) -> subprocess.CompletedProcess[str]:
    """Run Blender without a window to its end."""
    command = [os.environ["BLENDER"], *(str(word) for word in arguments)]
    return _run(command, environment_variables(home), seconds)


def _run(command: list[str], environment: dict[str, str], seconds: float) -> subprocess.CompletedProcess[str]:
    """Run a command; on a timeout, end it and all processes that it has started."""
    process = subprocess.Popen(
        command,
        cwd=TOP,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            out, err = process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
        err += f"\nnot done after {seconds} seconds"
        return subprocess.CompletedProcess(command, -signal.SIGTERM, out, err)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@dataclass(frozen=True)
class Recording:
    """Output of a drive script: notes by name, a screenshot for each note, and Blender's printed output."""

    folder: Path
    notes: dict[str, Any]
    log: str = ""

    def screenshot(self, name: str) -> Pixels:
        """Return the screenshot of a note, (height, width, 3) in 0 to 1, first row at the top."""
        content = (self.folder / f"{name}.ppm").read_bytes()
        kind, size, maximum, values = content.split(b"\n", 3)
        assert (kind, maximum) == (b"P6", b"255"), "import writes another kind of picture than expected"
        width, height = (int(word) for word in size.split())
        return np.frombuffer(values, np.uint8).reshape(height, width, 3) / 255.0

    def viewport(self, name: str) -> Pixels:
        """Return the part of the screenshot with only the 3D view: no sidebar, toolbar, header, gizmo."""
        regions, height = self.notes[name]["regions"], self.notes[name]["height"]
        x, y, width, tall = regions["WINDOW"]
        left = x + regions["TOOLS"][2]
        # The navigation gizmo is left of the sidebar, the Adjust Last Operation panel at the bottom left.
        right = x + width - 2 * max(regions["UI"][2], 100)
        lower, upper = y + tall // 5, y + tall - tall // 10
        return self.screenshot(name)[height - upper : height - lower, left:right]

    def square_around(self, name: str, position: tuple[float, float], distance: int) -> Pixels:
        """Return a square of the screenshot around a position from the window's bottom left."""
        x, row = int(position[0]), int(self.notes[name]["height"] - 1 - position[1])
        return self.screenshot(name)[row - distance : row + distance + 1, x - distance : x + distance + 1]

    def document(self, name: str) -> dict[str, Any]:
        """Read a JSON file that the script has written."""
        document: dict[str, Any] = json.loads((self.folder / f"{name}.json").read_text("utf-8"))
        return document


def drive(
    script: str,
    scene: Path,
    home: Path,
    folder: Path,
    size: tuple[int, int] = (1400, 900),
    seconds: float = 600,
    more: tuple[object, ...] = (),
) -> Recording:
    """Open a scene in a window and run a drive script in it. Skip the test if clicking is impossible.

    Parameters
    ----------
    script
        path of the drive script, relative to this folder
    scene
        blend file to open
    home
        folder of Blender's preferences and extensions
    folder
        new folder for the script's output
    size
        width and height of the window in pixels
    seconds
        timeout
    more
        further arguments of the script, after the output folder

    Returns
    -------
    Recording
        notes, screenshots and log of the script
    """
    folder.mkdir(parents=True)
    window = ["--window-geometry", "0", "0", *map(str, size)]
    folders = [str(HERE), str(TOP / "scripts")]
    start = f"import sys; sys.path[:0] = {folders}; import window_driver; window_driver.run({script!r})"
    python = ["--python-expr", start, "--", str(folder), *map(str, more)]
    command = [os.environ["BLENDER"], *window, str(scene), *python]
    ended = _run(command, environment_variables(home), seconds)
    log = f"{ended.stdout[-4000:]}\n{ended.stderr[-4000:]}"
    result = folder / "result.json"
    if not result.is_file():
        if "display" in log.lower() and ended.returncode not in (0, -signal.SIGTERM):
            pytest.skip("Blender finds no screen to open its window on")
        pytest.fail(f"{script} did not finish:\n{log}", pytrace=False)
    outcome = json.loads(result.read_text("utf-8"))
    if "missing" in outcome:
        pytest.skip(outcome["missing"])
    if "error" in outcome:
        pytest.fail(f"{script}, screenshots in {folder}:\n{outcome['error']}\n{log}", pytrace=False)
    return Recording(folder, outcome["notes"], f"{ended.stdout}\n{ended.stderr}")


# ---- Colors


def has_color(picture: Pixels, color: tuple[float, float, float]) -> Mask:
    """Return the mask of pixels of that color, with a tolerance for smoothing and rounding inside a line."""
    return np.abs(picture - color).max(axis=-1) < 0.08


def count_pixels(picture: Pixels, color: tuple[float, float, float]) -> int:
    """Count the pixels of that color."""
    return int(has_color(picture, color).sum())


def is_reddish(picture: Pixels) -> Mask:
    """Return the mask of pixels that are redder than the objects of the example: tinted as in contact."""
    return picture[..., 0] - picture[..., 1:].max(axis=-1) > 0.1


def linear_from_srgb(picture: Pixels) -> Pixels:
    """Convert sRGB values to linear light, which Blender's viewport blends."""
    return np.where(picture <= 0.04045, picture / 12.92, ((picture + 0.055) / 1.055) ** 2.4)


def blend_alphas(before: Pixels, after: Pixels, color: tuple[float, float, float]) -> NDArray[np.float64]:
    """Return the opacity at which `color` was blended over each pixel that changed towards it."""
    old, new, full = linear_from_srgb(before), linear_from_srgb(after), linear_from_srgb(np.asarray(color))
    offset = full - old
    alpha = ((new - old) * offset).sum(axis=-1) / (offset**2).sum(axis=-1)
    is_blended = np.abs(old + alpha[..., None] * offset - new).max(axis=-1) < 0.02
    return alpha[is_blended & (alpha > 0.1)]
