"""Tracks of a scene written to a file, compared with playback; numbers as text, compared with json."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from addon.core.numeric.arrays import Floats
from addon.core.progress import run_to_end
from addon.formats.document.json_writer import lists_of_numbers

from .scenes.scans import FRAMES, Keyed, playback
from .tables import THIS_PROJECT, Call, Competitor, Row, Table, Target


def _write(case: Keyed) -> Call:
    scene = case.scene()
    from addon.formats import file_text, write_text
    from addon.scene.jobs.bounds import bounds_in_parts
    from addon.scene.settings import BoundsSettings

    for frame in (1, 2):
        scene.frame_set(frame)  # Blender allocates memory at the first frames

    def write() -> tuple[int, int]:
        before = _peak_megabytes()
        result = run_to_end(bounds_in_parts(scene, BoundsSettings(tracks=True)))
        with TemporaryDirectory() as folder:
            path = Path(folder, "tracks.json")
            write_text(path, file_text(result.document("unreal"), "json"))
            return path.stat().st_size >> 20, _peak_megabytes() - before

    return write


def _peak_megabytes() -> int:
    """Return the peak memory of this process in megabytes; 0 where the system does not report it."""
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak >> (20 if sys.platform == "darwin" else 10)


def _describe(case: Keyed, results: Any) -> str:
    if "write" not in results:
        return ""
    size, growth = results["write"]
    tracks = 80 * case.count * FRAMES >> 20
    return f"{size} MB of text; memory grew by {growth} MB; tracks in memory: {tracks} MB"


TRACKS = Table(
    "tracks",
    f"boxes and spheres at {FRAMES} frames",
    (Competitor("write", _write), Competitor("frame_set", playback)),
    # The larger case is first: after the smaller one its estimated time would exceed the limit.
    [
        Row(
            f"{count} objects",
            partial(Keyed, count, "obb", "linear"),
            count * FRAMES,
            1,
            [Target(2, "frame_set")],
        )
        for count in (10_000, 1000)
    ],
    _describe,
    clock=perf_counter,
    seconds_each=12.0,
)

NUMBERS = 300_000


def _coordinates(decimals: int) -> tuple[Floats, int]:
    rng = np.random.default_rng(0)
    return np.round(rng.uniform(-1000, 1000, (NUMBERS // 3, 3)), decimals), decimals


def _lists_of_numbers(case: tuple[Floats, int]) -> Call:
    return lambda: lists_of_numbers(*case, np.full(NUMBERS // 750, 250))


def _json(case: tuple[Floats, int]) -> Call:
    values, _ = case
    return lambda: [json.dumps(rows.tolist()) for rows in np.split(values, NUMBERS // 750)]


def _check_text(case: Any, results: Any) -> str:
    return "" if results[THIS_PROJECT] == results["json"] else "another text than json's"


NUMBER_TEXT = Table(
    "number-text",
    "rounded numbers as text, per number",
    (Competitor(THIS_PROJECT, _lists_of_numbers), Competitor("json", _json)),
    [
        Row(
            f"{decimals} decimals",
            partial(_coordinates, decimals),
            NUMBERS,
            NUMBERS,
            [Target(3, "json", faster=True)],
        )
        for decimals in (3, 6, 9)
    ],
    check=_check_text,
)
