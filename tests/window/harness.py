"""Blender as a program: commands without a window, and drive scripts with one. Runs outside Blender."""

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

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]

PACKAGE = "bl_ext.user_default.collision_bounds"

FREE = (0.16, 0.52, 1.0)
CONTACT = (1.0, 0.16, 0.1)
FAINT = 0.3

Pixels = NDArray[np.float64]
Mask = NDArray[np.bool_]


def variables(home: Path) -> dict[str, str]:
    """The environment of a Blender whose preferences and extensions are in `home` and nowhere else."""
    home.mkdir(parents=True, exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if name != "WAYLAND_DISPLAY"}
    return {**kept, "BLENDER_USER_RESOURCES": str(home), "HOME": str(home), "TMPDIR": str(home)}


def blender(home: Path, *arguments: object, seconds: float = 300) -> subprocess.CompletedProcess[str]:
    """Run Blender without a window to its end."""
    return _run([os.environ["BLENDER"], *(str(word) for word in arguments)], variables(home), seconds)


def _run(command: list[str], environment: dict[str, str], seconds: float) -> subprocess.CompletedProcess[str]:
    """Run a command; when the time is up, end it and all that it has started."""
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
class Told:
    """What a drive script brought back: notes by name, a picture for each, and what Blender printed."""

    folder: Path
    notes: dict[str, Any]
    log: str = ""

    def picture(self, name: str) -> Pixels:
        """(height, width, 3) in 0 to 1, first row at the top."""
        content = (self.folder / f"{name}.ppm").read_bytes()
        kind, size, most, values = content.split(b"\n", 3)
        assert (kind, most) == (b"P6", b"255"), "import writes another kind of picture than expected"
        width, height = (int(word) for word in size.split())
        return np.frombuffer(values, np.uint8).reshape(height, width, 3) / 255.0

    def viewport(self, name: str) -> Pixels:
        """The part of the picture that shows nothing but the 3D view: no sidebar, toolbar, header, gizmo."""
        regions, height = self.notes[name]["regions"], self.notes[name]["height"]
        x, y, width, tall = regions["WINDOW"]
        left = x + regions["TOOLS"][2]
        # The navigation gizmo is left of the sidebar; the panel of the last operation at the bottom left.
        right = x + width - 2 * max(regions["UI"][2], 100)
        lower, upper = y + tall // 5, y + tall - tall // 10
        return self.picture(name)[height - upper : height - lower, left:right]

    def around(self, name: str, place: tuple[float, float], distance: int) -> Pixels:
        """A square of the picture around a place that is counted from the bottom left."""
        x, row = int(place[0]), int(self.notes[name]["height"] - 1 - place[1])
        return self.picture(name)[row - distance : row + distance + 1, x - distance : x + distance + 1]

    def document(self, name: str) -> dict[str, Any]:
        """A JSON file that the script has written."""
        found: dict[str, Any] = json.loads((self.folder / f"{name}.json").read_text("utf-8"))
        return found


def drive(
    script: str,
    scene: Path,
    home: Path,
    folder: Path,
    size: tuple[int, int] = (1400, 900),
    seconds: float = 600,
    more: tuple[object, ...] = (),
) -> Told:
    """Open `scene` in a window and run a drive script in it. Skips where there is no way to click.

    more : words for the script, after the folder for what it brings back
    """
    folder.mkdir(parents=True)
    window = ["--window-geometry", "0", "0", *map(str, size)]
    python = ["--python", str(HERE / script), "--", str(folder), *map(str, more)]
    command = [os.environ["BLENDER"], *window, str(scene), *python]
    ended = _run(command, variables(home), seconds)
    log = f"{ended.stdout[-4000:]}\n{ended.stderr[-4000:]}"
    result = folder / "result.json"
    if not result.is_file():
        if "display" in log.lower() and ended.returncode not in (0, -signal.SIGTERM):
            pytest.skip("Blender finds no screen to open its window on")
        pytest.fail(f"{script} did not come to its end:\n{log}", pytrace=False)
    told = json.loads(result.read_text("utf-8"))
    if "missing" in told:
        pytest.skip(told["missing"])
    if "error" in told:
        pytest.fail(f"{script}, pictures in {folder}:\n{told['error']}\n{log}", pytrace=False)
    return Told(folder, told["notes"], f"{ended.stdout}\n{ended.stderr}")


# ---- Colours


def like(picture: Pixels, color: tuple[float, float, float]) -> Mask:
    """Pixels of that color, give or take what smoothing and rounding do in the middle of a line."""
    return np.abs(picture - color).max(axis=-1) < 0.08


def count(picture: Pixels, color: tuple[float, float, float]) -> int:
    """How many pixels have that color."""
    return int(like(picture, color).sum())


def linear(picture: Pixels) -> Pixels:
    """Light instead of sRGB numbers: what Blender's viewport blends."""
    return np.where(picture <= 0.04045, picture / 12.92, ((picture + 0.055) / 1.055) ** 2.4)


def alphas(before: Pixels, after: Pixels, color: tuple[float, float, float]) -> NDArray[np.float64]:
    """How strongly `color` was laid over each pixel that has changed towards it."""
    old, new, full = linear(before), linear(after), linear(np.asarray(color))
    way = full - old
    alpha = ((new - old) * way).sum(axis=-1) / (way**2).sum(axis=-1)
    on_the_way = np.abs(old + alpha[..., None] * way - new).max(axis=-1) < 0.02
    return alpha[on_the_way & (alpha > 0.1)]
